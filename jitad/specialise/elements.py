"""Which elements of rows can be read and written in the array that the rows are of?

A list of lists is an array with a row a list (`trace/stretch.py`).  Reading `t[i][j]` takes the
row, then its element; writing it takes the row, writes the element and puts the row back.  On the
tape these are a slice, a load or a store, and the store of a slice.  Forwards they cost nothing,
since a slice is a view; but the adjoint of the element of a row is a row of zeros with one number
in it, so that derivatives would cost a row for each element.  What follows the slice in its own
block, or in a branch there, is made to name the array itself; and a number that is stored where it
was loaded, as the length of a row is that was written, is no store.

Values are those of the tape, so any of these is right.  An array that has been written since is
left alone, though: it would have to be copied for a later reader.
"""

from __future__ import annotations

from collections import Counter

from jitad.tape.ir import Atom, Block, Equation, Tape, Var, lit
from jitad.tape.types import Scalar

_WRITES = ("store", "accum", "store_slice", "accum_slice", "store_take", "accum_take")


def elements(tape: Tape) -> Tape:
    """The tape with such elements named in the arrays themselves (in place)."""
    _block(tape.body, set(), {}, {})
    return tape


def _block(
    block: Block, written: set[Atom], same: dict[Var, Atom], made: dict[Atom, Equation]
) -> None:
    """`written`: arrays whose memory has been given away; `same`: what is another variable;
    `made`: what gives the variables of this block, and of those that it is a branch in."""
    uses = Counter(a for e in block.equations for a in e.ins) + Counter(block.results)
    out: list[Equation] = []
    for e in block.equations:
        e.ins = tuple(same.get(a, a) if isinstance(a, Var) else a for a in e.ins)
        if e.blocks:
            written.update(e.ins)
        for inner in e.blocks:
            _block(inner, written, same, {**made} if e.op == "if" else {})
        if e.op == "load":
            e = _from_array(e, made, written)
        elif e.op == "store" and _is_there(e, made):
            same[e.outs[0]] = e.ins[0]
            continue
        elif e.op == "store_slice":
            *before, e = _into_array(e, made, uses)
            out += before
        if e.op in _WRITES:
            written.add(e.ins[0])
        made.update((v, e) for v in e.outs)
        out.append(e)
    block.equations = out
    block.results = [same.get(a, a) if isinstance(a, Var) else a for a in block.results]


def _from_array(e: Equation, made: dict[Atom, Equation], written: set[Atom]) -> Equation:
    """The load from the array that the row is a slice of, or the same one."""
    row, *index = e.ins
    source = made.get(row)
    while source is not None and source.op == "slice" and source.ins[0] not in written:
        at = _place(source, index)
        if at is None:
            break
        row, index = source.ins[0], at
        source = made.get(row)
    return e if row is e.ins[0] else Equation("load", (row, *index), e.outs, {}, (), e.pos)


def _place(slice_: Equation, index: list[Atom]) -> list[Atom] | None:
    """The index in the array of an element of the slice, if whole rows are sliced."""
    operands, rest, out = list(slice_.ins[1:]), list(index), []
    for kind in slice_.params["kinds"]:
        if kind == "i":
            out.append(operands.pop(0))
            continue
        start, step, *operands = operands
        operands.pop(0)
        if (start, step) != (lit(0), lit(1)):
            return None
        out.append(rest.pop(0))
    return out


def _into_array(
    e: Equation, made: dict[Atom, Equation], uses: Counter[Atom]
) -> list[Equation]:
    """The stores to elements of a row that is put back where it was taken, as ones to the array."""
    a, row, *operands = e.ins
    steps: list[Equation] = []
    source = made.get(row)
    # one that is needed elsewhere, too, stays
    while source is not None and source.op in ("store", "accum") and uses[source.outs[0]] == 1:
        steps.append(source)
        source = made.get(source.ins[0])
    if source is None or source.op != "slice" or source.params != e.params or not steps:
        return [e]
    if source.ins != (a, *operands):
        return [e]
    out: list[Equation] = []
    for step in reversed(steps):
        at = _place(source, list(step.ins[2:]))
        if at is None:
            return [e]
        (v,) = e.outs if step is steps[0] else (Var(e.outs[0].type, e.outs[0].shape),)
        out.append(Equation(step.op, (a, step.ins[1], *at), (v,), step.params, (), step.pos))
        a = v
    return out


def _is_there(e: Equation, made: dict[Atom, Equation]) -> bool:
    """Is what is stored what was loaded there?"""
    a, v, *index = e.ins
    source = made.get(v)
    while source is not None and source.op == "cast" and _is_kept(source):
        source = made.get(source.ins[0])
    return source is not None and source.op == "load" and source.ins == (a, *index)


def _is_kept(cast: Equation) -> bool:
    """A Python number becomes NumPy's, or the other way round."""
    one, other = cast.ins[0].type, cast.outs[0].type
    return isinstance(one, Scalar) and isinstance(other, Scalar) and one.dtype == other.dtype
