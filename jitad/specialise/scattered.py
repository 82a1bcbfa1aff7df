"""Which additions at places of an index array need no array of zeros?

The adjoint of `z[rows, labels]` is an array of zeros that is added to at those places.  Where it
joins another contribution of the same extents, which fills an array anyway, it is added there:
neither are zeros written, nor are they added.  In which order an adjoint's contributions are added
is the engine's own choice.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars
from jitad.tape.types import Array


def scattered(tape: Tape) -> Tape:
    """The tape with such additions made where the other contribution is (changed in place)."""
    _block(tape.body)
    return tape


def _block(block: Block) -> None:
    for e in block.equations:
        for b in e.blocks:
            _block(b)
    if not any(e.op == "accum_take" for e in block.equations):
        return
    made = {v: e for e in block.equations for v in e.outs}
    uses = Counter(chain(block.results, *(
        chain(e.ins, free_vars(*e.blocks)) for e in block.equations)))  # fmt: skip
    moved: set[Equation] = set()
    out: list[Equation] = []
    for e in block.equations:
        found = _sum(e, made, uses)
        if found is None:
            out.append(e)
            continue
        steps, other = found
        moved.update(steps)
        out += _added(e, steps, other)
    block.equations = [e for e in out if e not in moved]


def _sum(
    e: Equation, made: dict[Var, Equation], uses: Counter[Atom]
) -> tuple[list[Equation], Var] | None:
    """From zeros to the first operand of a sum of arrays, step by step, and the other operand."""
    if e.op != "add" or not all(isinstance(a, Var) and a.shape == e.outs[0].shape for a in e.ins):
        return None
    for a, other in (e.ins, e.ins[::-1]):
        steps: list[Equation] = []
        while isinstance(a, Var) and uses[a] == 1 and a in made:
            x = made[a]
            steps.insert(0, x)
            if x.op == "full":
                value = x.ins[0]
                zero = isinstance(value, Lit) and not value.value and x.params.get("adjoint")
                whole = zero and a.type.dtype == other.type.dtype  # type: ignore[union-attr]
                if whole and any(s.op == "accum_take" for s in steps):
                    assert isinstance(other, Var)
                    return steps, other
                break
            if x.op not in ("accum_take", "reshape"):
                break
            a = x.ins[0]
    return None


def _added(e: Equation, steps: list[Equation], other: Var) -> list[Equation]:
    """The same steps from the other operand on."""
    (result,) = e.outs
    start = steps[0].outs[0]
    assert isinstance(start.type, Array) and isinstance(other.type, Array)
    out: list[Equation] = []
    now = other
    if start.shape != other.shape:
        now = Var(Array(other.type.dtype, start.type.ndim), start.shape)
        out.append(Equation("reshape", (other, *start.shape), (now,), {}, (), e.pos))
    for s in steps[1:]:
        new = Var(s.outs[0].type, s.outs[0].shape, s.outs[0].name)
        out.append(Equation(s.op, (now, *s.ins[1:]), (new,), s.params, (), s.pos))
        now = new
    out[-1].outs = (result,)
    return out
