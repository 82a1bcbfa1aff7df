"""What is computed of stretched arrays that could be computed before they are stretched?

A number that is broadcast to an array's extents may stand beside the array as the number that it
is, and one that it does nothing to is gone with the next folding.  A dear operation on a row that
is broadcast over all rows is done once for the row: `x / y[np.newaxis]` has an adjoint with `1 / y`
in it.  Cheap operations stay where they are, in the nest that uses them.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, is_array
from jitad.tape.types import Array


def narrow(tape: Tape) -> Tape:
    """The tape with such operations done before the broadcast (in place)."""
    _block(tape.body, {})
    return tape


def _block(block: Block, stretched: dict[Atom, Equation]) -> None:
    """`stretched`: the broadcasts in sight, by what they give."""
    out: list[Equation] = []
    for e in block.equations:
        for b in e.blocks:
            _block(b, dict(stretched))
        if e.op == "broadcast":
            stretched[e.outs[0]] = e
        elif not e.blocks and TABLE[e.op].elementwise and is_array(e.outs[0]):
            e.ins = _plain(e, stretched)
            if e.op == "div" or TABLE[e.op].dear:
                out += _before(e, stretched)
                continue
        out.append(e)
    block.equations = out


def _plain(e: Equation, stretched: dict[Atom, Equation]) -> tuple[Atom, ...]:
    """The operands, with broadcast numbers as numbers where an array is left beside them."""
    ins = tuple(
        stretched[a].ins[0] if a in stretched and not is_array(stretched[a].ins[0]) else a
        for a in e.ins
    )
    if not any(map(is_array, ins)):
        return e.ins
    same = TABLE[e.op].infer(*ins, **e.params)[0][0] == e.outs[0].type
    return ins if same else e.ins


def _before(e: Equation, stretched: dict[Atom, Equation]) -> list[Equation]:
    """The operation on what its operands were before, if they were all stretched alike."""
    found = [stretched.get(a) for a in e.ins if is_array(a)]
    first = found[0]
    if first is None or any(
        x is None or x.params != first.params or x.ins[1:] != first.ins[1:] for x in found
    ):  # fmt: skip
        return [e]
    ins = tuple(stretched[a].ins[0] if is_array(a) else a for a in e.ins)
    (v,) = e.outs
    assert isinstance(v.type, Array)
    t = TABLE[e.op].infer(*ins, **e.params)[0][0]
    if not is_array(first.ins[0]) or t.dtype != v.type.dtype:  # type: ignore[union-attr]
        return [e]
    small = Var(t, first.ins[0].shape, v.name)
    wide = Equation("broadcast", (small, *first.ins[1:]), (v,), first.params, (), e.pos)
    stretched[v] = wide
    return [Equation(e.op, ins, (small,), e.params, (), e.pos), wide]
