"""Which matrices are so small that systems with them are solved number by number?

Those of up to three rows, as filters, rigid bodies and reactions in a cell have them: what a
library does with one takes longer to ask for than to do.  The factors, and what is solved with
them, become arithmetic of their elements: the very elimination that LAPACK does, the larger pivot
chosen by comparison instead of a jump, so that many of them run abreast.  Done before
differentiation, the sweeps go through plain numbers.  Only determinants are written as sums of
products, not by factors: so they are differentiable, as often as one likes, where the matrix is
singular, too.

Source: Golub & Van Loan, "Matrix Computations", 3.1 (substitution), 3.4 (partial pivoting), 4.2
(Cholesky); Magnus & Neudecker 1988, 8.3 (cofactors).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.specialise.scalarise import LARGEST
from jitad.tape.build import Builder
from jitad.tape.copy import rebuilt
from jitad.tape.ir import Atom, Lit, Tape, Var, lit, walk
from jitad.tape.types import Scalar

ROWS = 3

Rows = list[list[Atom]]


def systems(tape: Tape) -> Tape:
    """The tape with small matrices factored, and small systems solved, in the open."""
    if not any(_open(e.op, e.ins) for e in walk(tape.body)):
        return tape
    return Tape(tape.name, rebuilt(_Opening(), tape.body), tape.pos, tape.functions)


def _open(op: str, ins: tuple[Atom, ...]) -> bool:
    """Is it about matrices that are small, of known extents?"""
    if op not in _OPENED:
        return False
    shapes = [_extents(a) for a in ins if a.shape]
    if not all(shapes) or not all(a.type.dtype in ("f8", "f4") for a in ins if a.shape):  # type: ignore[union-attr]
        return False
    n, *_ = (s[1] for s in shapes)
    return n <= ROWS and all(math.prod(s) <= LARGEST for s in shapes)


def _extents(a: Atom) -> tuple[int, ...]:
    """Those of a matrix that has elements, if they are literals."""
    known = tuple(d.value for d in a.shape if isinstance(d, Lit))
    return known if len(known) == len(a.shape) == 2 and 0 not in known else ()


class _Opening(Builder):
    """Emits arithmetic instead of equations of small matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.swaps: dict[Atom, list[list[Atom]]] = {}  # of factors: `_pivot`

    def emit(self, op: str, *ins: Atom, **params: Any) -> Any:
        if _open(op, ins):
            return _OPENED[op](self, *ins, **params)
        return super().emit(op, *ins, **params)

    # -- between arrays and their elements --------------------------------------------------------

    def rows(self, a: Atom) -> Rows:
        n, m = _extents(a)
        return [[self.emit("load", a, lit(i), lit(j)) for j in range(m)] for i in range(n)]

    def matrix(self, rows: Rows) -> Var:
        packed = self.emit("pack", *itertools.chain(*rows))
        return self.emit("reshape", packed, lit(len(rows)), lit(len(rows[0])))

    # -- arithmetic -------------------------------------------------------------------------------

    def less(self, x: Atom, factor: Atom, y: Atom) -> Atom:
        """x - factor * y; as in LAPACK, what is not there does not count."""
        if _is(y, 0) or _is(factor, 0):
            return x
        return self.emit("sub", x, self.emit("mul", factor, y))

    def total(self, terms: list[Atom], op: str = "add") -> Atom:
        out = terms[0]
        for term in terms[1:]:
            out = self.emit(op, out, term)
        return out


def _is(a: Atom, value: float) -> bool:
    return isinstance(a, Lit) and a.value == value


def _number(value: float, like: Atom) -> Lit:
    dtype: str = like.type.dtype  # type: ignore[union-attr]
    return Lit(np.dtype(dtype).type(value), Scalar(dtype))


# -- LU: the packed form is that of `primitives/matrices` -----------------------------------------


def _pivot(b: _Opening, column: list[Atom]) -> list[Atom]:
    """For each row but the first: is it its number that is the largest?  At most one is."""
    best = b.emit("abs", column[0])
    wins: list[Atom] = []
    for x in column[1:]:
        size = b.emit("abs", x)
        larger = b.emit("gt", size, best)
        best = b.emit("where", larger, size, best)
        other = b.emit("logical_not", larger)
        wins = [b.emit("logical_and", w, other) for w in wins]
        wins.append(larger)
    return wins


def _swapped(b: _Opening, wins: list[Atom], rows: Rows) -> Rows:
    """The first row exchanged with the one that wins."""
    first = rows[0]
    for win, row in zip(wins, rows[1:], strict=True):
        first = [b.emit("where", win, y, x) for x, y in zip(first, row, strict=True)]
    rest = [[b.emit("where", win, x, y) for x, y in zip(rows[0], row, strict=True)]
            for win, row in zip(wins, rows[1:], strict=True)]  # fmt: skip
    return [first, *rest]


def _lu(b: _Opening, a: Atom, _: Atom) -> Var:
    rows, n, swaps = b.rows(a), _extents(a)[0], []
    places: list[Atom] = []
    for k in range(n):
        wins = _pivot(b, [row[k] for row in rows[k:]])
        swaps.append(wins)
        rows[k:] = _swapped(b, wins, rows[k:])
        pivot = rows[k][k]
        place: Atom = _number(k, a)
        for i, win in enumerate(wins, k + 1):
            place = b.emit("where", win, _number(i, a), place)
        places.append(place)
        if k + 1 < n:  # a column of zeros stays one
            divisor = b.emit("where", b.emit("eq", pivot, _number(0, a)), _number(1, a), pivot)
        for row in rows[k + 1 :]:
            row[k] = b.emit("div", row[k], divisor)
            for j in range(k + 1, n):
                row[j] = b.less(row[j], row[k], rows[k][j])
    packed = b.matrix([*map(list, zip(*rows, strict=True)), places])
    b.swaps[packed] = swaps
    return packed


def _factors(b: _Opening, lu: Atom) -> tuple[Rows, list[list[Atom]]]:
    """The factors in one matrix; and for each row which of those below it came up."""
    *columns, places = b.rows(lu)
    swaps = b.swaps.get(lu) or [
        [b.emit("eq", place, _number(i, lu)) for i in range(k + 1, len(places))]
        for k, place in enumerate(places)
    ]  # fmt: skip
    return [list(row) for row in zip(*columns, strict=True)], swaps


def _substitute(b: _Opening, a: Rows, x: Rows, upwards: bool, unit: bool) -> None:
    """x of a x = x for a triangle; `upwards`: the last row is solved first."""
    n = len(a)
    order = range(n - 1, -1, -1) if upwards else range(n)
    for done, i in enumerate(order):
        for c in range(len(x[i])):
            for j in order[:done]:
                x[i][c] = b.less(x[i][c], a[i][j], x[j][c])
            if not unit:
                x[i][c] = b.emit("div", x[i][c], a[i][i])


def _turned(a: Rows) -> Rows:
    return [list(row) for row in zip(*a, strict=True)]


def _solve(b: _Opening, _: Atom, lu: Atom, right: Atom, *, turned: bool) -> Var:
    (a, swaps), x = _factors(b, lu), b.rows(right)
    if turned:
        _substitute(b, _turned(a), x, upwards=False, unit=False)
        _substitute(b, _turned(a), x, upwards=True, unit=True)
    for k in range(len(a) - 1, -1, -1) if turned else range(len(a)):
        x[k:] = _swapped(b, swaps[k], x[k:])
    if not turned:
        _substitute(b, a, x, upwards=False, unit=True)
        _substitute(b, a, x, upwards=True, unit=False)
    return b.matrix(x)


def _sign(b: _Opening, lu: Atom) -> Atom:
    rows, swaps = _factors(b, lu)
    sign = b.total([b.emit("sign", row[k]) for k, row in enumerate(rows)], "mul")
    for win in itertools.chain(*swaps):
        sign = b.emit("where", win, b.emit("neg", sign), sign)
    return sign


def _log_size(b: _Opening, _: Atom, lu: Atom) -> Atom:
    rows, _swaps = _factors(b, lu)
    return b.total([b.emit("log", b.emit("abs", row[k])) for k, row in enumerate(rows)])


# -- determinants ---------------------------------------------------------------------------------


def _det(b: _Opening, a: Atom, _: Atom) -> Atom:
    rows = b.rows(a)
    return b.total([b.emit("mul", x, _cofactor(b, rows, 0, j)) for j, x in enumerate(rows[0])])


def _cofactor(b: _Opening, rows: Rows, i: int, j: int) -> Atom:
    """What an element is multiplied by: the rows and columns after its own, in turn, come first."""
    n = len(rows)
    if n == 1:
        return _number(1, rows[0][0])
    x = rows[(i + 1) % n][(j + 1) % n]
    if n == 2:
        return x if i == j else b.emit("neg", x)
    y = rows[(i + 2) % n][(j + 2) % n]
    across = b.emit("mul", rows[(i + 1) % n][(j + 2) % n], rows[(i + 2) % n][(j + 1) % n])
    return b.emit("sub", b.emit("mul", x, y), across)


def _cofactors(b: _Opening, a: Atom, _: Atom) -> Var:
    rows, all_ = b.rows(a), range(_extents(a)[0])
    return b.matrix([[_cofactor(b, rows, i, j) for j in all_] for i in all_])


# -- triangles ------------------------------------------------------------------------------------


def _trisolve(b: _Opening, a: Atom, right: Atom, *, lower: bool, turned: bool, unit: bool) -> Var:
    rows, x = b.rows(a), b.rows(right)
    _substitute(b, _turned(rows) if turned else rows, x, lower == turned, unit)
    return b.matrix(x)


def _cholesky(b: _Opening, a: Atom) -> Var:
    """Where there is no factor, its first element is nan, at which it is told."""
    rows, n, zero = b.rows(a), _extents(a)[0], _number(0, a)
    fine: list[Atom] = []
    for k in range(n):
        square = b.total([rows[k][k], *(b.emit("mul", x, x) for x in rows[k][:k])], "sub")
        fine.append(b.emit("gt", square, zero))
        rows[k][k] = b.emit("sqrt", b.emit("where", fine[k], square, _number(math.nan, a)))
        for row in rows[k + 1 :]:
            for j in range(k):
                row[k] = b.less(row[k], row[j], rows[k][j])
            row[k] = b.emit("div", row[k], rows[k][k])
        rows[k][k + 1 :] = [zero] * (n - k - 1)
    for one in fine[1:]:
        rows[0][0] = b.emit("where", one, rows[0][0], _number(math.nan, a))
    return b.matrix(rows)


_OPENED: dict[str, Callable[..., Any]] = {
    "lu": _lu, "solve": _solve, "lu_sign": _sign, "log_size": _log_size, "det": _det,
    "cofactors": _cofactors, "trisolve": _trisolve, "cholesky": _cholesky,
}  # fmt: skip
