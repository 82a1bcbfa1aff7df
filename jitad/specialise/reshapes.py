"""Which changes of shape are only another way to look at an array?

A reshape needs its operand in memory and in order, so what is computed element by element can't
pass through it.  One that undoes another is dropped; one that only adds or removes axes of one
element, or calls one extent by another name, becomes a slice and a broadcast, which are index maps.
Where the result is written to, or carried, it stays what it is: a view that may be written in
place.  Two extents are one if an equation of the block, or of one around it, could not be computed
otherwise: a row added to each row of a matrix is as long as they are.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.specialise.together import Equal
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, is_array, lit
from jitad.tape.types import Array

_WRITES = ("store", "accum", "store_slice", "accum_slice", "store_take", "accum_take")


def reshapes(tape: Tape) -> Tape:
    """The tape with such reshapes replaced (in place)."""
    _block(tape.body, {}, {}, Equal())
    return tape


def _block(
    block: Block, sources: dict[Var, Equation], same: dict[Var, Var], equal: Equal
) -> None:
    """`sources`: reshapes in sight, by what they give; `same`: arrays that are others; `equal`:
    extents, here."""
    in_place = _in_place(block)
    out: list[Equation] = []
    for e in block.equations:
        e.ins = tuple(same.get(a, a) if isinstance(a, Var) else a for a in e.ins)
        for b in e.blocks:
            _block(b, dict(sources), same, equal.copy())
        if e.op != "reshape":
            _learn(e, equal)
            out.append(e)
            continue
        (a, *dims), (v,) = e.ins, e.outs
        source = sources.get(a) if isinstance(a, Var) else None
        if source is not None and a not in in_place and source.ins[0] not in in_place:
            a = source.ins[0]
            e.ins = (a, *dims)
        sources[v] = e
        if v in in_place or not isinstance(a, Var):
            out.append(e)
        elif list(map(equal.find, a.shape)) == list(map(equal.find, dims)):
            same[v] = a
        else:
            out += _viewed(a, tuple(dims), e, equal) or [e]
    block.equations = out
    block.results = [same.get(a, a) if isinstance(a, Var) else a for a in block.results]


def _learn(e: Equation, equal: Equal) -> None:
    """Which extents must be equal, as the equation is computed?"""
    if e.op == "broadcast":
        kept = [e.outs[0].shape[k] for k in e.params["axes"]]
        pairs = [*zip(e.ins[0].shape, kept, strict=False)]
    elif not e.blocks and e.op in TABLE and TABLE[e.op].elementwise and is_array(e.outs[0]):
        pairs = [p for a in e.ins for p in zip(a.shape, e.outs[0].shape, strict=False)]
    else:
        return
    for one, other in pairs:
        equal.join(one, other)


def _in_place(block: Block) -> set[Atom]:
    """Arrays of the block that may be written where they are."""
    out: set[Atom] = set(block.results)
    for e in block.equations:
        if e.op in _WRITES:
            out.add(e.ins[0])
        elif e.op in ("for", "while", "implicit"):
            out.update(e.ins)
    return out


def _viewed(a: Var, dims: tuple[Atom, ...], e: Equation, equal: Equal) -> list[Equation]:
    """The reshape as views, if only axes of one element come and go.

    One extent may differ from what it was: there are as many elements, so it has the same value.
    """
    one = lit(1)
    kept = [k for k, n in enumerate(a.shape) if n != one]
    axes = tuple(k for k, n in enumerate(dims) if n != one)
    if not kept or len(kept) != len(axes):
        return []
    new = {k: dims[j] for k, j in zip(kept, axes, strict=True)}
    renamed = sum(a.shape[k] != n for k, n in new.items())
    if sum(equal.find(a.shape[k]) != equal.find(n) for k, n in new.items()) > 1:
        return []
    out: list[Equation] = []
    assert isinstance(a.type, Array)
    if renamed or len(kept) < len(a.shape):
        operands: list[Atom] = []
        for k in range(len(a.shape)):
            operands += [lit(0), one, new[k]] if k in kept else [lit(0)]
        kinds = "".join("r" if k in kept else "i" for k in range(len(a.shape)))
        part = Var(Array(a.type.dtype, len(kept)), tuple(new.values()))
        out.append(Equation("slice", (a, *operands), (part,), {"kinds": kinds}, (), e.pos))
        a = part
    if len(axes) < len(dims):
        shape = Var(Array(a.type.dtype, len(dims)), dims)  # type: ignore[union-attr]
        out.append(Equation("broadcast", (a, *dims), (shape,), {"axes": axes}, (), e.pos))
    (v,) = e.outs
    out[-1].outs = (v,)
    return out
