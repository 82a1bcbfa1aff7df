"""What is one element of an array, in terms of numbers?

An array that is computed element by element need not be made where single elements are wanted:
its equations are written for the element, down to what has memory.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Lit, lit
from jitad.tape.types import Array

Index = tuple[Atom, ...]
Known = dict[tuple[Atom, Index], Atom]


def element(b: Builder, a: Atom, index: Index, known: Known) -> Atom:
    """Element `index` of an array; a number is the same everywhere.  `known`: those made before
    in the open block."""
    if not isinstance(a.type, Array):
        return a
    todo: list[tuple[Atom, Index]] = [(a, index)]
    while todo:  # no recursion: chains of equations may be long
        now, at = todo[-1]
        if (now, at) in known:
            todo.pop()
            continue
        wanted = _operands(b, now, at)
        missing = [w for w in wanted or () if isinstance(w[0].type, Array) and w not in known]
        if missing:
            todo += missing
            continue
        known[now, at] = _made(b, now, at, wanted, known)
        todo.pop()
    return known[a, index]


def _operands(b: Builder, a: Atom, at: Index) -> list[tuple[Atom, Index]] | None:
    """Of what the element is computed, and of which elements of those; None: it is read."""
    e = b.sources.get(a)  # type: ignore[arg-type]
    if e is None or e.blocks or len(e.outs) != 1 or e.op not in TABLE:
        return None
    match e.op:
        case "full":
            return [(e.ins[0], ())]
        case "broadcast":
            return [(e.ins[0], tuple(at[k] for k in e.params["axes"]))]
        case "transpose":
            back = sorted(range(len(at)), key=lambda k: e.params["perm"][k])
            return [(e.ins[0], tuple(at[k] for k in back))]
        case "slice":
            return [(e.ins[0], _sliced(b, e.params["kinds"], e.ins[1:], at))]
    if TABLE[e.op].elementwise:
        return [(x, at) for x in e.ins]
    return None


def _sliced(b: Builder, kinds: str, operands: tuple[Atom, ...], at: Index) -> Index:
    out, rest, own = [], list(operands), list(at)
    for kind in kinds:
        start = rest.pop(0)
        if kind == "i":
            out.append(start)
            continue
        step, _ = rest.pop(0), rest.pop(0)
        along = own.pop(0)
        along = along if step == lit(1) else b.emit("mul", along, step)
        out.append(b.emit("add", start, along))
    return tuple(out)


def _made(
    b: Builder, a: Atom, at: Index, wanted: list[tuple[Atom, Index]] | None, known: Known
) -> Atom:
    if wanted is None:
        return b.emit("load", a, *at)
    ins = [known[w] if isinstance(w[0].type, Array) else w[0] for w in wanted]
    e = b.sources[a]  # type: ignore[index]
    if not TABLE[e.op].elementwise:
        (x,) = ins
        dtype = e.outs[0].type.dtype  # type: ignore[union-attr]
        if isinstance(x, Lit) or x.type.dtype != dtype:  # type: ignore[union-attr]
            return b.emit("cast", x, dtype=dtype)
        return x
    return b.emit(e.op, *ins, **e.params)
