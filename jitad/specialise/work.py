"""How many operations does an iteration of a loop take, about?

A sum of products of extents and trip counts that are known before the loop, each with the number
of operations that are done so often.  Of what is known in the loop only, what goes up to such a
number, or down from it, is taken for that; anything else counts as a few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from jitad.primitives import TABLE
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Lit, Var, is_array, lit, walk
from jitad.tape.linear import Forms

_FEW = 8  # times that a loop of unknown length runs
_DEAR = 10  # operations that a function takes

Product = tuple[Var, ...]


class Work:
    """The operations of one iteration."""

    def __init__(self, e: Equation, forms: Forms) -> None:
        """Of this `for`."""
        (body,) = e.blocks
        self._forms = forms
        self._count = e.ins[2]
        self._ends: dict[Var, Atom] = {body.params[0]: e.ins[2]}  # of indices
        self._inside = {v for x in walk(body) for v in x.outs} | set(body.params)
        self._inside |= {p for x in walk(body) for b in x.blocks for p in b.params}
        self._found: Counter[Product] = Counter()
        self.uneven = False  # do iterations differ in how many there are?
        self._block(body, (), 1)

    def total(self, write: Callable[..., Atom]) -> Atom:
        """The operations of all iterations, as a number of the tape."""
        total: Atom = lit(0)
        for product, times in self._found.items():
            now: Atom = lit(times)
            for v in product:
                now = write("mul", now, v)
            total = now if total == lit(0) else write("add", total, now)
        return write("mul", total, self._count)

    def least(self) -> int:
        """The operations of an iteration that are not of loops and arrays of unknown size."""
        return self._found[()]

    def about(self, each: int) -> int:
        """The operations of an iteration, unknown extents and counts taken for `each`."""
        return sum(times * each ** len(product) for product, times in self._found.items())

    def enough(self, least: int) -> bool:
        """Can it take that many operations?"""
        if not isinstance(self._count, Lit) or not set(self._found) <= {()}:
            return True
        return self._found[()] * int(self._count.value) >= least

    def _block(self, block: Block, around: Product, times: int) -> None:
        for e in block.equations:
            match e.op:
                case "for":
                    self._ends[e.blocks[0].params[0]] = e.ins[2]
                    self._block(e.blocks[0], *self._times(around, times, e.ins[2]))
                case "while":
                    self.uneven = True
                    for b in e.blocks:
                        self._block(b, around, times * _FEW)
                case "if":
                    for b in e.blocks:
                        self._block(b, around, times)
                case _ if e.op not in STRUCTURED:
                    self._equation(e, around, times)

    def _equation(self, e: Equation, around: Product, times: int) -> None:
        if e.op in ("slice", "transpose", "broadcast", "dim", "reshape"):
            return
        row = TABLE[e.op]
        cost = _DEAR if row.dear and e.op != "pow" else 1
        extents: tuple[Atom, ...] = ()
        if e.op == "matmul":
            extents = (*e.ins[0].shape, *e.ins[1].shape[1:])
        elif e.op not in ("load", "store", "accum"):
            arrays = [a for a in (*e.ins, *e.outs) if is_array(a)]
            if e.op in ("store_slice", "accum_slice"):
                arrays = [a for a in e.ins[1:] if is_array(a)]
            extents = max((a.shape for a in arrays), key=len, default=())
        for n in extents:
            around, times = self._times(around, times, n)
        self._found[around] += times * cost

    def _times(self, around: Product, times: int, n: Atom) -> tuple[Product, int]:
        if isinstance(n, Lit):
            return around, times * max(int(n.value), 1)
        if n in self._inside:
            self.uneven = True
            for v, c in self._forms.of(n).terms:
                end = self._ends.get(v, v)
                if c > 0 and end not in self._inside:
                    return self._times(around, times, end)
            return around, times * _FEW
        return tuple(sorted((*around, n), key=lambda v: v.serial)), times
