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
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from jitad.primitives import TABLE
from jitad.tape.ir import Block, Lit, Tape, Var
from jitad.tape.types import Scalar

# Nanoseconds, about: a kernel may keep the lock so long, where Python's own switches take 5 ms.
BUDGET = 20_000
_SIZES = (4096, 1024, 256, 128, 96, 64, 48, 32, 24, 16, 8, 0)
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
        known = _Magnitudes(makers)
        bounds = [(c, known.product(times)) for times, c in counts.items()]
        for n in _SIZES:
            if sum(c * x.of(known.extents, n) for c, x in bounds) <= BUDGET:
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


class _Bound(NamedTuple):
    """No more than this: a number times extents of the arguments, each so many times."""

    factor: float
    powers: Counter[Var]

    def of(self, extents: Mapping[Var, Var], n: int) -> float:
        """Where the arguments have n elements.  The extents of one array make no more than it has
        elements; so they make most where only the one is long that is there most often.  Several
        arrays make most where they share the elements as these powers are."""
        most: dict[Var, int] = {}
        for extent, power in self.powers.items():
            array = extents[extent]
            most[array] = max(most.get(array, 0), power)
        every = sum(most.values())
        return self.factor * math.prod(max(1.0, n * p / every) ** p for p in most.values())


_ONE = _Bound(1.0, Counter())


def _times(x: _Bound, y: _Bound) -> _Bound:
    return _Bound(max(1.0, x.factor) * max(1.0, y.factor), x.powers + y.powers)


class _Magnitudes:
    """How far from zero integers may be."""

    def __init__(self, makers: Makers) -> None:
        self.makers = makers
        self.extents: dict[Var, Var] = {}  # of which arguments they are

    def product(self, times: Extents) -> _Bound:
        return reduce(_times, [self.of(a, 0) for a in times], _ONE)

    def of(self, atom: Any, depth: int) -> _Bound:
        """Of an integer; of what a loop counts from and to, together."""
        if isinstance(atom, tuple):
            return self.either(atom, depth, sum)
        if isinstance(atom, Lit):
            return _Bound(float(abs(atom.value)), Counter())
        maker = self.makers.get(atom)
        if maker is None or depth > _DEPTH:
            raise _Unlimited
        if isinstance(maker, tuple):
            return self.of(maker, depth + 1)
        match maker.op:
            case "dim":
                array = maker.ins[0]
                extent = array.shape[maker.params["axis"]]
                if extent is not maker.outs[0]:
                    return self.of(extent, depth + 1)
                self.extents[extent] = array
                return _Bound(1.0, Counter((extent,)))
            case "add" | "sub":
                return self.either(maker.ins, depth, sum)
            case "mul":
                return reduce(_times, [self.of(a, depth + 1) for a in maker.ins], _ONE)
            case "neg" | "floordiv" | "abs":
                return self.of(maker.ins[0], depth + 1)
            case "maximum" | "minimum":
                return self.either(maker.ins, depth, max)
            case "where":
                return self.either(maker.ins[1:], depth, max)
        raise _Unlimited

    def either(
        self, atoms: Iterable[Any], depth: int, joined: Callable[[list[float]], float]
    ) -> _Bound:
        """What has a part of each, or is one of them: extents are no less than one."""
        parts = [self.of(a, depth + 1) for a in atoms]
        return _Bound(joined([x.factor for x in parts]), reduce(or_, [x.powers for x in parts]))
