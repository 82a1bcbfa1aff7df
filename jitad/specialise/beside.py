"""Which rows does a loop carry, or a branch leave, that an array beside them holds as well?

Where `row = t[i]` stands before a loop that writes to `row`, the trace writes to the list, and puts
it back into the rows of `t` each time (`trace/containers/writtenback.py`).  Both are carried, and a
row is copied for each element that is written.  But the row is what the array has there: before the
loop, and at the end of an iteration if at its head.  So it is taken from the array where it is
needed, and its writes become ones to the array (`elements`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitad.immutable import immutable
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, walk
from jitad.tape.types import Array


@immutable
class Held:
    """The slice of an array, of these kinds and operands, is a row that the tape has as well."""

    array: Atom
    row: Atom
    kinds: str
    operands: tuple[Atom, ...]

    def of(self, atoms: Any, pair: tuple[int, int]) -> Held:
        """The same of two others."""
        return Held(atoms[pair[0]], atoms[pair[1]], self.kinds, self.operands)


All = dict[Held, None]  # in a known order
Pairs = dict[int, tuple[int, Held]]  # where a row is, and the array, among what is carried or left


def beside(tape: Tape) -> Tape:
    """The tape without such rows among what loops carry and branches leave (in place)."""
    if any(e.op == "store_slice" for e in walk(tape.body)):
        _rewrite(tape.body, {})
    return tape


def _rewrite(block: Block, held: All) -> None:
    held, out = dict(held), list[Equation]()
    for e in block.equations:
        pairs = _pairs(e, held)
        after = _after(e, pairs)
        slices = [_slice(e.outs, q, p, h, e) for q, (p, h) in pairs.items()]
        for b in e.blocks:
            if e.op == "for":
                heads = [_slice(b.params[1:], q, p, h, e) for q, (p, h) in pairs.items()]
                b.equations[:0] = heads
                b.params = [v for k, v in enumerate(b.params) if k - 1 not in pairs]
            if pairs:
                b.results = _without(b.results, pairs)
            _rewrite(b, held)
        if pairs:
            e.ins = (*e.ins[:3], *_without(e.ins[3:], pairs)) if e.op == "for" else e.ins
            e.outs = tuple(_without(e.outs, pairs))
        held.update(after)
        out += [e, *slices]
    block.equations = out


def _slice(atoms: Any, row: int, array: int, held: Held, e: Equation) -> Equation:
    ins, params = (atoms[array], *held.operands), {"kinds": held.kinds}
    return Equation("slice", ins, (atoms[row],), params, (), e.pos)


def _without(atoms: Any, pairs: Pairs) -> list[Any]:
    return [a for k, a in enumerate(atoms) if k not in pairs]


def _flow(block: Block, held: All) -> All:
    """What holds at the end of a block, given what holds before it."""
    held = dict(held)
    for e in block.equations:
        held.update(_after(e, _pairs(e, held)))
    return held


def _after(e: Equation, pairs: Pairs) -> All:
    """What an equation adds to that."""
    match e.op:
        case "slice":
            return {Held(e.ins[0], e.outs[0], e.params["kinds"], e.ins[1:]): None}
        case "store_slice":
            kinds = e.params["kinds"]
            row = e.ins[1]
            if isinstance(row.type, Array) and row.type.ndim == kinds.count("r"):
                return {Held(e.outs[0], row, kinds, e.ins[2:]): None}
    return {h.of(e.outs, (p, q)): None for q, (p, h) in pairs.items()}


def _pairs(e: Equation, held: All) -> Pairs:
    """The rows that a loop carries, or branches leave, with their arrays."""
    if sum(isinstance(v.type, Array) for v in e.outs) < 2:
        return {}
    if e.op == "for":
        return _carried(e, held)
    return _left(e, held) if e.op == "if" else {}


def _carried(e: Equation, held: All) -> Pairs:
    (body,) = e.blocks
    params, found = body.params[1:], Pairs()
    for q, p, h in _among(e.ins[3:], held):
        found.setdefault(q, (p, h))
    while found:
        heads = {h.of(params, (p, q)): None for q, (p, h) in found.items()}
        ends = _flow(body, held | heads)
        kept = {q: (p, h) for q, (p, h) in found.items() if h.of(body.results, (p, q)) in ends}
        if len(kept) == len(found):
            break
        found = kept
    return {q: (p, h) for q, (p, h) in found.items() if p not in found}


def _left(e: Equation, held: All) -> Pairs:
    """Operands that a branch computes are not those of the other."""
    first, second = e.blocks
    ends, found = _flow(second, held), Pairs()
    for q, p, h in _among(first.results, _flow(first, held)):
        if h.of(second.results, (p, q)) in ends:
            found.setdefault(q, (p, h))
    return {q: (p, h) for q, (p, h) in found.items() if p not in found}


def _among(atoms: Any, held: All) -> Iterator[tuple[int, int, Held]]:
    """Which of the atoms are a row, and which the array that holds it?"""
    places: dict[Atom, list[int]] = {}
    for k, a in enumerate(atoms):
        if isinstance(a, Var):
            places.setdefault(a, []).append(k)
    for h in held:
        for q in places.get(h.row, ()):
            for p in places.get(h.array, ()):
                yield q, p, h
