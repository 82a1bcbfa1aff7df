"""Which reverse loops are needed only where a condition holds?

What a minimum, a clipped value or a branch did not take has sensitivity zero: `where(p, s, 0)`.
A loop whose results have no other sensitivity adds nothing to any adjoint unless p holds, so its
reverse loop stands under that condition.  The nearest of many points costs the reverse sweep one
loop over coordinates then, not one a point.  Where the sensitivity is zero nothing is multiplied by
it, as everywhere in a sweep.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Block, Lit, Var
from jitad.tape.types import Array, Stack


def condition(b: Builder, seeds: Sequence[Atom]) -> Atom | None:
    """What has to hold for any of these not to be zero, if the tape says so."""
    found = [_condition(b, s) for s in seeds]
    return found[0] if found and all(f is not None and f == found[0] for f in found) else None


def _condition(b: Builder, seed: Atom) -> Atom | None:
    e = b.sources.get(seed) if isinstance(seed, Var) else None
    if e is None or e.op not in ("where", "if") or isinstance(e.outs[0].type, Stack):
        return None
    predicate = e.ins[0]
    one, other = e.ins[1:] if e.op == "where" else (
        block.results[e.outs.index(seed)] for block in e.blocks
    )  # fmt: skip
    if isinstance(predicate.type, Array):
        return None
    if _is_zero(other):
        return predicate
    return b.emit("logical_not", predicate) if _is_zero(one) else None


def _is_zero(a: Atom) -> bool:
    return isinstance(a, Lit) and a.value == 0


def under(
    b: Builder, predicate: Atom, ins: tuple[Atom, ...], outs: Sequence[Var], body: Block
) -> None:
    """A `for` that runs only then; else its results are what it starts from."""
    with b.block() as then:
        inner = tuple(Var(v.type, v.shape, "") for v in outs)
        then.results = list(b.structured("for", ins, inner, (body,)))
    b.structured("if", (predicate,), tuple(outs), (then, Block([], [], list(ins[3:]))))
