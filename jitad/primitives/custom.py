"""How does a call of a function with derivative rules of its own stand on a tape?

    outs = custom rule=...  primals, others

The rule's blocks are closed: besides their parameters they use nothing, so that the equation moves
and is copied like any primitive, and no pass looks into it.  `primals` are the float operands
that have derivatives by the rule; `others` what the blocks use from around them, which must have
none.  `specialise.resolve` puts the function's block in its place; where a derivative is taken,
the sweep does so with the rule (`sweeps.custom`).

    function   (primals, others)                    -> results
    jvp        (primals, tangents, others)          -> results, tangents of the float results
    forward    (primals, others)                    -> results, kept
    backward   (kept, others, sensitivities)        -> sensitivities of the primals

There is one tangent a primal and one sensitivity a float result.  A function that has none of the
last three is differentiated as it is, and recomputed when the reverse sweep gets there (a
checkpoint).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

from jitad.immutable import immutable
from jitad.primitives.table import Inferred, Primitive, register, same_as_first
from jitad.tape.ir import Atom, Block, Equation, Var
from jitad.tape.types import Type, is_float


@immutable(eq=False)
class Rule:
    """The blocks of a `custom` equation; `takes[k]` is the result of `backward` for primal k."""

    name: str
    primals: int
    function: Block
    jvp: Block | None = None
    forward: Block | None = None
    backward: Block | None = None
    takes: tuple[int | None, ...] = ()
    refused: str = ""  # why no derivative of it may be taken
    resolved: bool = False  # no derivative operator is left in the blocks

    @property
    def __name__(self) -> str:
        """What a printed tape shows."""
        return self.name

    @cached_property
    def floats(self) -> tuple[int, ...]:
        """Which results have derivatives."""
        return tuple(k for k, a in enumerate(self.function.results) if is_float(a.type))

    @property
    def blocks(self) -> list[Block]:
        found = (self.function, self.jvp, self.forward, self.backward)
        return [block for block in found if block is not None]

    def changed(self, change: Callable[[Block], Block], **fields: Any) -> Rule:
        """The rule with every block changed."""
        blocks: dict[str, Any] = {
            name: change(block)
            for name in ("function", "jvp", "forward", "backward")
            if (block := getattr(self, name)) is not None
        }
        return replace(self, **blocks, **fields)

    @cached_property
    def silent(self) -> Rule:
        """The rule without effects, for where they have happened already."""
        return self.changed(_without_effects)


def _without_effects(block: Block) -> Block:
    out = []
    for e in block.equations:
        if e.op in ("check", "print"):
            continue
        params = {"rule": e.params["rule"].silent} if e.op == "custom" else e.params
        blocks = tuple(map(_without_effects, e.blocks))
        out.append(Equation(e.op, e.ins, e.outs, params, blocks, e.pos))
    return Block(block.params, out, block.results)


def _infer(*ins: Atom, rule: Rule) -> Inferred:
    """The results' types; extents where they are those of operands or literal."""
    known: dict[Any, Atom] = dict(zip(rule.function.params, ins, strict=True))
    for p, a in zip(rule.function.params, ins, strict=True):
        known.update(zip(p.shape, a.shape, strict=False))
    out: list[tuple[Type, tuple[Atom, ...]]] = []
    for a in rule.function.results:
        dims = [known.get(d) if isinstance(d, Var) else d for d in a.shape]
        out.append((a.type, () if any(d is None for d in dims) else tuple(dims)))  # type: ignore[arg-type]
    return tuple(out)


def _infer_attached(*ins: Atom, rule: Rule, pullback: Any) -> Inferred:
    return tuple((a.type, a.shape) for a in ins[: len(rule.function.results)])


def _unresolved(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("a tape with rules must be resolved before it is interpreted")


def _by_sweep(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("sweeps.custom differentiates it")


register(Primitive("custom", _unresolved, _infer, vjp=_by_sweep, effect=True, fresh=True))

# x, of which no derivative of any order sees how it depends on anything (`jitad.stop_gradient`)
register(Primitive(
    "stop", lambda x: x, same_as_first, elementwise=True, tame=True, constant=True,
))  # fmt: skip

# In the place of a derivative that nobody knows, and that `like` and the others would have a part
# in.  Where it is not needed it is dead code; where it is, `sweeps.custom` makes it an error.
register(Primitive(
    "unknown", _unresolved, same_as_first, fresh=True,
    jvp=lambda o, ins, ts, y, missing: o.unknown(
        y, *(t for t in ts if t is not None), missing=missing),
    vjp=lambda o, ct, *ins, missing: tuple(
        o.unknown(a, ct, missing=missing) for a in ins[:-1]),
))  # fmt: skip

# (results, primals, kept, others) -> results, which have the rule's derivative by the primals
register(Primitive(
    "attach_rule", _unresolved, _infer_attached, vjp=_by_sweep, dear=True, fresh=True,
))  # fmt: skip


