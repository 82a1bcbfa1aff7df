"""Which products with columns are added up row by row, as what they are made of becomes known?

    for j: t = m[i, :j] @ m[:j, j], then finish m[i, j] with t

goes through columns of a matrix of which it needs the rows, too: however the matrix lies, one of
them strides.  But once m[i, j] is finished, its part of all later sums can be added, along row j:

    for j: t = s[j], then finish m[i, j] with t, then s[j + 1:] += m[i, j] * m[j, j + 1:]

A product of which nothing changes while the loop runs, m[i, :i] @ m[:i, j] or m[j, :i] @ m[:i, i],
is an element of one with a matrix, made before the loop.  As much is computed as before, and all of
it goes along rows, in the sweeps as well: nothing is held a second time, by columns (`mirrors`).

Done where row and column are of one matrix, if nothing is written to what is added between then
and when it was added before: the dependence test of `sweeps.settled`.
Source: the orders of a factorisation's loops; Dongarra, Gustavson & Karp 1984.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.sweeps.settled import Accesses, Integers, Theirs
from jitad.tape.copy import lit_zero
from jitad.tape.dead import remove_dead
from jitad.tape.ir import CALLS, STRUCTURED, Atom, Block, Equation, Lit, Tape, Var, lit, walk
from jitad.tape.linear import Linear, variable
from jitad.tape.types import BOOL, INT, Array, Scalar, Type

_PAIRS = 200  # of accesses looked at
_SHORT = 8  # an axis of fewer elements is not worth it
_START, _STEP = lit(0), lit(1)


def columns(tape: Tape) -> Tape:
    """The tape with such products added up by rows (in place)."""
    sources = {v: e for e in walk(tape.body) for v in e.outs}
    if _visit(tape.body, (), sources):
        remove_dead(tape.body)
    return tape


def _visit(block: Block, around: tuple[Equation, ...], sources: Mapping[Var, Equation]) -> bool:
    changed = False
    out: list[Equation] = []
    for e in block.equations:
        for b in e.blocks:
            changed |= _visit(b, (*around, e) if e.op in ("for", "while") else around, sources)
        if e.op == "for" and e.ins[1] == _STEP:
            for x in [x for x in e.blocks[0].equations if x.op in ("matmul", "sum")]:
                product = _Product(e, x, around, sources)
                if product.may_go_by_rows():
                    product.go()
                    out += product.before
                    changed = True
        out.append(e)
    block.equations = out
    return changed


@immutable
class _Part:
    """Part of a row or column of a matrix: the axis along which it lies, and where."""

    read: Equation
    axis: int
    at: Atom  # along the other axis
    start: Atom
    count: Atom


class _Product:
    """A product of two vectors in a loop."""

    def __init__(
        self, e: Equation, x: Equation, around: tuple[Equation, ...],
        sources: Mapping[Var, Equation],
    ) -> None:  # fmt: skip
        self.e, self.x, self.around, self.sources = e, x, around, sources
        self.body = e.blocks[0]
        self.j = variable(self.body.params[0])
        self.before: list[Equation] = []
        self.integers = Integers(sources)

    def may_go_by_rows(self) -> bool:
        """Is it one of a row and a column, of which one moves, both there in time?"""
        parts = [p for a in self._factors() if (p := self._part(a)) is not None]
        if {p.axis for p in parts} != {0, 1} or any(
            y.op in CALLS or (y.op not in STRUCTURED and TABLE[y.op].effect)
            for y in walk(self.body)
        ):
            return False
        self.dtype: str = self.x.outs[0].type.dtype  # type: ignore[union-attr]
        self.column, self.row = sorted(parts, key=lambda p: p.axis)
        of = self.integers.of
        self.fixed, self.moving = self.row, self.column
        if of(self.column.at).coefficient(self.body.params[0]) == 0:
            self.fixed, self.moving = self.column, self.row
        self.fixed_at, self.offset = of(self.fixed.at), of(self.moving.at) - self.j
        self.row_start, self.column_start = of(self.row.start), of(self.column.start)
        self.first, self.trips = of(self.e.ins[0]), of(self.e.ins[2])
        counts = of(self.row.count), of(self.column.count)  # which are the same number
        self.pushed = self.j - self.first in counts and self.moving is self.column
        stay = (self.fixed_at, self.row_start, self.column_start, self.offset)
        return (
            self._one_matrix()
            and all(map(self._stays, stay if self.pushed else (*stay, *counts)))
            and (not self.pushed or self._is_there())
            and all(map(self._in_time, (self.row, self.column)))
        )

    def _factors(self) -> tuple[Atom, ...]:
        """Of the product, or of the products that a sum is of."""
        if self.x.op == "matmul":
            return self.x.ins
        (a,) = self.x.ins
        made = self.sources.get(a) if isinstance(a, Var) else None
        return made.ins if made is not None and made.op == "mul" else ()

    def _part(self, a: Atom) -> _Part | None:
        read = self.sources.get(a) if isinstance(a, Var) else None
        if read is None or read.op != "slice" or len(read.ins[0].shape) != 2:
            return None
        if any(isinstance(n, Lit) and n.value < _SHORT for n in read.ins[0].shape):
            return None
        if read.ins[0].type.dtype != self.x.outs[0].type.dtype:  # type: ignore[union-attr]
            return None
        kinds, (_, *places) = read.params["kinds"], read.ins
        if kinds == "ir":
            at, start, step, count = places
        elif kinds == "ri":
            start, step, count, at = places
        else:
            return None
        return _Part(read, kinds.index("r"), at, start, count) if step == _STEP else None

    def _stays(self, form: Linear) -> bool:
        return not any(v in self.found.inside for v, _ in form.terms)

    def _one_matrix(self) -> bool:
        """Are both parts of one matrix as it is then, which the loop carries or leaves alone?"""
        for now in (self.row.read.ins[0], *self.body.params[1:]):
            found = Accesses(self.e.blocks, self.sources)
            found.integers = self.integers
            for loop in (*self.around, self.e):
                found.enter(loop)
            if now.type != self.row.read.ins[0].type or (
                now in found.inside and now not in self.body.params
            ):
                continue
            last = found.block(self.body, now)
            reads = [a for p in (self.row, self.column) for a in found.all
                     if a.equation is p.read and not a.stale]  # fmt: skip
            end = self.body.results[k - 1] if (k := self._number(now)) else now
            if len(reads) == 2 and found.plain and last is end and len(found.all) <= _PAIRS:
                self.found, self.reads, self.matrix, self.last = found, reads, now, last
                return True
        return False

    def _number(self, v: Atom) -> int:
        """Which of the parameters it is; 0 for what is none of the arrays."""
        return next((k for k, p in enumerate(self.body.params) if p is v), 0)

    def _is_there(self) -> bool:
        """Is there an element that an iteration ends with, and a row, also of the last one?"""
        top = {id(x) for x in self.body.equations}
        others = [a for a in self.found.all if id(a.equation) in top and a.low == a.high]
        element = [a.low for a in others if a.low[0] == self.fixed_at]
        done = self.j - self.first
        return any(self._proves(low[1] - self.row_start - done) for low in element) and any(
            self._proves(a.low[0] - self.column_start - done) for a in others
        )

    def _proves(self, goal: Linear, inside: bool = True) -> bool:
        """Is it never negative in the loop, or before it?"""
        known = self.integers.known
        before = known.mark()
        for held in self.reads[0].facts[: None if inside else -1]:
            known.assume(held)
        proved = known.proves(goal)
        known.forget(before)
        return proved

    def _in_time(self, part: _Part) -> bool:
        """Is nothing written to what it reads from when it is to be read?"""
        read = self.reads[0 if part is self.row else 1]
        writes = [a for a in self.found.all if a.written]
        if not self.pushed:
            return all(self.found.never(read, w, (), self._earlier) for w in writes)
        n = variable(Var(INT))  # of the element
        place = (self.row_start if part.axis else self.column_start) + n

        def since(theirs: Theirs) -> list[Linear]:
            after = self.first + n
            return [n, (self.j - after).plus(-1), (theirs(self.j) - after).plus(-1),
                    *self._earlier(theirs)]  # fmt: skip

        low = tuple(place if k == part.axis else a for k, a in enumerate(read.low))
        one = replace(read, low=low, high=low)
        return all(self.found.never(one, w, (), since) for w in writes)

    def _earlier(self, theirs: Theirs) -> list[Linear]:
        return [self.j - theirs(self.j)]

    # -- the loop as it is then -------------------------------------------------------------------

    def go(self) -> None:
        """Change the loop; what is to come before it is in `before`."""
        body, (t,) = self.body, self.x.outs
        done = self.j - self.first
        own: list[Equation] = []
        place = self._atom(done, own)
        sums = self._pushed(done) if self.pushed else self._made()
        own.append(Equation("load", (sums, place), (t,), {}, (), self.x.pos))
        at = body.equations.index(self.x)
        body.equations[at : at + 1] = own

    def _made(self) -> Var:
        """The products with all rows or columns that come, made before the loop."""
        n, some = self._iterations()
        if some is None:
            return self._product(n, self.before)
        made, none = Block(), Block()  # where there is no iteration, there may be no such row
        made.results = [self._product(n, made.equations)]
        none.results = [self._zeros(n, none.equations)]
        v = Var(Array(self.dtype, 1), (n,))
        self.before.append(Equation("if", (some,), (v,), {}, (made, none), self.x.pos))
        return v

    def _product(self, n: Atom, out: list[Equation]) -> Var:
        matrix = self.e.ins[2 + k] if (k := self._number(self.matrix)) else self.matrix
        of = self.integers.of
        at, to, row_start, rows, column_start, along = (
            self._atom(form, out)
            for form in (self.fixed_at, self.first + self.offset, self.row_start,
                         of(self.row.count), self.column_start, of(self.column.count))
        )  # fmt: skip
        row, column, new = (row_start, _STEP, rows), (column_start, _STEP, along), (to, _STEP, n)
        if self.moving is self.column:
            one = self._emit("slice", (matrix, at, *row), (rows,), out, kinds="ir")
            many = self._emit("slice", (matrix, *column, *new), (along, n), out, kinds="rr")
            factors = one, many
        else:
            one = self._emit("slice", (matrix, *column, at), (along,), out, kinds="ri")
            many = self._emit("slice", (matrix, *new, *row), (n, rows), out, kinds="rr")
            factors = many, self._emit("copy", (one,), (along,), out)
        return self._emit("matmul", factors, (n,), out)

    def _zeros(self, n: Atom, out: list[Equation]) -> Var:
        return self._emit("full", (lit_zero(self.dtype), n), (n,), out, dtype=self.dtype)

    def _iterations(self) -> tuple[Atom, Atom | None]:
        """How many there are, and whether there are any; None for the latter where there are."""
        n = self.e.ins[2]
        if self._proves(self.trips.plus(-1), inside=False):
            return n, None
        if not self._proves(self.trips, inside=False):
            n = self._emit("maximum", (n, _START), INT, self.before)
        return n, self._emit("lt", (_START, n), BOOL, self.before)

    def _pushed(self, done: Linear) -> Var:
        """The sums so far, which the loop carries: an iteration adds to those of later ones."""
        n, _ = self._iterations()
        sums = self._zeros(n, self.before)
        now, end = (Var(sums.type, (n,)) for _ in range(2))
        own: list[Equation] = []
        element, row, after, to, left = (
            self._atom(form, own)
            for form in (self.row_start + done, self.column_start + done, done.plus(1),
                         (self.j + self.offset).plus(1), (self.trips - done).plus(-1))
        )  # fmt: skip
        finished = (self.last, self._atom(self.fixed_at, own), element)
        one = self._emit("load", finished, Scalar(self.dtype), own)
        many = self._emit("slice", (self.last, row, to, _STEP, left), (left,), own, kinds="ir")
        added = self._emit("mul", (one, many), (left,), own)
        further = (now, added, after, _STEP, left)
        new = self._emit("accum_slice", further, (n,), own, kinds="r")
        self.body.equations += own
        self.body.params.append(now)
        self.body.results.append(new)
        self.e.ins = (*self.e.ins, sums)
        self.e.outs = (*self.e.outs, end)
        return now

    def _emit(
        self, op: str, ins: tuple[Atom, ...], made: tuple[Atom, ...] | Type,
        out: list[Equation], **params: object,
    ) -> Var:  # fmt: skip
        """`made`: the type, or of an array like the matrix the extents."""
        if isinstance(made, tuple):
            v = Var(Array(self.dtype, len(made)), made)
        else:
            v = Var(made)
        out.append(Equation(op, ins, (v,), params, (), self.x.pos))
        return v

    def _atom(self, form: Linear, out: list[Equation]) -> Atom:
        """An integer as a variable or literal."""
        total: Atom = lit(form.constant)
        for v, c in form.terms:
            term = v if c == 1 else self._emit("mul", (v, lit(c)), INT, out)
            total = term if total == lit(0) else self._emit("add", (total, term), INT, out)
        return total
