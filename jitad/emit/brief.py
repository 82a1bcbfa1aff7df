"""Up to how many elements of its arguments is a kernel so brief that other threads can wait?

A kernel lets go of Python's lock while it runs, which takes a tenth of the time of a small call.
Other threads wait for the lock much longer than a brief kernel runs, so that keeps it.  How long a
kernel takes is estimated from its tape, as far as that follows from how many elements the arguments
have; where it doesn't (a loop over a number that is given, a function that calls itself, a callback
to Python), the lock is let go.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from jitad.primitives import TABLE
from jitad.tape.ir import Block, Lit, Tape, Var
from jitad.tape.types import Scalar

# Nanoseconds, about: a kernel may keep the lock so long, where Python's own switches take 5 ms.
BUDGET = 20_000
_SIZES = (4096, 1024, 256, 128, 64, 32, 16, 8, 0)
_DEAR = 20
_MAKING = 50  # an array
_DEPTH = 8  # of expressions

# Beside what is done to each element: what takes as long as there are elements read and written.
_SWEEPING = frozenset((
    "slice", "store_slice", "accum_slice", "take", "store_take", "accum_take", "full", "blank",
    "iota", "copy", "pad", "broadcast", "reshape", "transpose", "concatenate", "sum", "amax",
    "amin", "matmul",
))  # fmt: skip
_TOUCHING = ("dim", "load", "store", "accum", "check")  # one element, or none

Extents = tuple[Any, ...]  # whose product says how often something is done: of atoms, and of what
#                            a loop counts from and to
Makers = dict[Var, Any]  # an equation, or what a counter goes from and to


class _Unlimited(Exception):
    """How long it takes doesn't follow from the arguments' elements."""


def brief(tape: Tape) -> int:
    """The number of elements of all arguments up to which a kernel is brief; -1: it never is."""
    counts: Counter[Extents] = Counter()
    makers: Makers = dict.fromkeys(tape.body.params)
    try:
        _count(tape.body, (), counts, makers)
        for n in _SIZES:
            if sum(c * _product(times, makers, n) for times, c in counts.items()) <= BUDGET:
                return n
    except _Unlimited:
        pass
    return -1


def _count(block: Block, around: Extents, counts: Counter[Extents], makers: Makers) -> None:
    """Add up what the block takes, by how often that is."""
    here = 0
    for e in block.equations:
        for v in e.outs:
            makers[v] = e
        match e.op:
            case "for":
                inner, ends = e.blocks[0], (e.ins[0], e.ins[2])
                makers.update(dict.fromkeys(inner.params))
                makers[inner.params[0]] = ends
                _count(inner, (*around, ends), counts, makers)
            case "if":
                for b in e.blocks:
                    _count(b, around, counts, makers)
            case _:
                row = TABLE.get(e.op)
                if row is None or not (row.elementwise or e.op in _SWEEPING or e.op in _TOUCHING):
                    raise _Unlimited
                cost = _DEAR if row.dear else 1
                if e.op in _TOUCHING or (row.elementwise and type(e.outs[0].type) is Scalar):
                    here += cost
                    continue
                here += _MAKING
                whole: Extents = max((a.shape for a in (*e.outs, *e.ins)), key=len)
                if e.op == "matmul":
                    whole = (*e.outs[0].shape, e.ins[0].shape[-1])
                counts[*around, *whole] += cost
    counts[around] += here
    if here > BUDGET:
        raise _Unlimited


def _product(times: Extents, makers: Makers, n: int) -> float:
    return math.prod(max(1.0, _magnitude(a, makers, n, 0)) for a in times)


def _magnitude(atom: Any, makers: Makers, n: int, depth: int) -> float:
    """No more than this is an integer away from zero, if the arguments have n elements; what a loop
    counts from and to, together."""
    if isinstance(atom, tuple):
        return sum(_magnitude(a, makers, n, depth) for a in atom)
    if isinstance(atom, Lit):
        return float(abs(atom.value))
    maker = makers.get(atom)
    if maker is None or depth > _DEPTH:
        raise _Unlimited

    def of(a: Any) -> float:
        return _magnitude(a, makers, n, depth + 1)

    if isinstance(maker, tuple):
        return of(maker)
    match maker.op:
        case "dim":
            array = maker.ins[0]
            extent = array.shape[maker.params["axis"]]
            return float(n) if extent is maker.outs[0] else of(extent)
        case "add" | "sub":
            return sum(map(of, maker.ins))
        case "mul":
            return math.prod(map(of, maker.ins))
        case "neg" | "floordiv" | "abs":
            return of(maker.ins[0])
        case "maximum" | "minimum":
            return max(map(of, maker.ins))
        case "where":
            return max(map(of, maker.ins[1:]))
    raise _Unlimited
