"""What becomes of the splines of scipy.interpolate?

A piecewise polynomial is its breakpoints and coefficients, a B-spline its knots and coefficients;
both have derivatives by the place and by what they were made of.  Where a piece begins, the place
belongs to it; beyond the ends the last pieces go on.

Sources: de Boor, *A Practical Guide to Splines* (ch. IV, IX, X, XIII); Fritsch and Butland 1984
(pchip), Akima 1970; details as in SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as si
import scipy.linalg as sl

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import as_operand, elementwise, require_same
from jitad.values.kind import fail, require
from jitad.values.numpy.shaping import handle, moveaxis, ravel, reshape
from jitad.values.registry import call, replaces
from jitad.values.stand_ins import Read, StandIn, adopt, stands_for


def floats(x: Any) -> ArrayHandle:
    x = handle(x)
    return x if x.dtype == np.float64 else x.astype(float)


def with_axes(x: ArrayHandle, axes: int) -> Any:
    """With so many axes of extent 1 behind."""
    return x.with_axes(tuple(range(x.ndim, x.ndim + axes))) if axes else x


def answer(found: Any, places: Any, axis: int) -> Any:
    """Values with the shape of the places at the front; it belongs at the axis of the data."""
    shape = tuple(getattr(as_operand(places), "shape", ()))
    rest = found.shape[1:]
    found = reshape(found, (*shape, *rest))
    if not axis or not shape:
        return found
    n, every = len(shape), tuple(range(found.ndim))
    return call(np.transpose, found, (*every[n : n + axis], *every[:n], *every[n + axis :]))


def weighed(a: Any, around: Any) -> Any:
    """The sum of the elements around each place, which has some (index, share) along each axis.

    They are gathered at once: one expression for each would be long.
    """
    n = len(around)
    keys, total = [], None
    for d, points in enumerate(around):
        others = tuple(k for k in range(n) if k != d)
        index, share = (handle(call(np.stack, call(np.broadcast_arrays, *(p[k] for p in points))))
                        for k in (0, 1))  # fmt: skip
        keys.append(index.with_axes(others))
        share = share.with_axes(others)
        total = share if total is None else total * share
    return call(np.sum, a[tuple(keys)] * total, axis=tuple(range(n)))


def _within(found: Any, x: ArrayHandle, low: Any, high: Any, outside: Any) -> Any:
    """The values, and others where x is not between low and high."""
    beyond = elementwise("logical_or", elementwise("lt", x, low), elementwise("gt", x, high))
    return call(np.where, with_axes(handle(beyond), found.ndim - 1), outside, found)


def _wrapped(x: Any, low: Any, high: Any) -> Any:
    return low + call(np.remainder, x - low, high - low)


class _Piecewise(StandIn):
    """What splines have in common: `_at(places)`, derivatives, where they end."""

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        how = self._extrapolate if extrapolate is None else extrapolate
        if nu:
            return self.derivative(nu)(x, extrapolate=how)
        flat = ravel(floats(x))
        low, high = self._ends()
        at = _wrapped(flat, low, high) if how == "periodic" else flat
        found = self._at(at)
        if how is not True and how != "periodic" and how is not None and not how:
            found = _within(found, flat, low, high, np.nan)
        return answer(found, x, self.axis)

    def derivative(self, nu: int = 1) -> Any:
        if nu < 0:
            return self.antiderivative(-nu)
        out = self
        for _ in range(nu):
            out = out._derived()
        return out

    def antiderivative(self, nu: int = 1) -> Any:
        if nu < 0:
            return self.derivative(-nu)
        out = self
        for _ in range(nu):
            out = out._integrated()
        return out

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        if (self._extrapolate if extrapolate is None else extrapolate) in (False, "periodic"):
            raise fail(JitadTypeError, "integrate() is supported for splines that go on beyond "
                       "their ends")  # fmt: skip
        total = self._integrated()
        return total(b, extrapolate=True) - total(a, extrapolate=True)


class Pieces(_Piecewise):
    """Polynomials in x - breakpoint, the highest power first."""

    _what = "piecewise polynomial"

    def __init__(self, c: Any, x: Any, extrapolate: Any, axis: int = 0) -> None:
        self.c, self.x = floats(c), floats(x)
        self._extrapolate, self.axis = extrapolate, axis

    @property
    def extrapolate(self) -> Any:
        return self._extrapolate

    def _order(self) -> int:
        return int(self.c._static(self.c.shape[0], "the order of a piecewise polynomial"))

    def _ends(self) -> tuple[Any, Any]:
        return self.x[0], self.x[-1]

    def _at(self, places: ArrayHandle) -> Any:
        last = extents.sub(self.x.shape[0], 2)
        piece = call(np.searchsorted, self.x, places, side="right") - 1
        piece = call(np.clip, piece, 0, last)
        s = with_axes(places - self.x[piece], self.c.ndim - 2)
        rows = [self.c[k] for k in range(self._order())]
        found = rows[0][piece]
        for row in rows[1:]:
            found = found * s + row[piece]
        return found if len(rows) > 1 else found + 0.0 * s

    def _derived(self) -> Any:
        n = self._order()
        if n == 1:
            return Pieces(self.c * 0.0, self.x, self._extrapolate, self.axis)
        powers = np.arange(n - 1.0, 0.0, -1.0).reshape(-1, *(1,) * (self.c.ndim - 1))
        return Pieces(self.c[:-1] * powers, self.x, self._extrapolate, self.axis)

    def _integrated(self) -> Any:
        n = self._order()
        powers = np.arange(float(n), 0.0, -1.0).reshape(-1, *(1,) * (self.c.ndim - 1))
        raised = self.c / powers
        h = with_axes(call(np.diff, self.x), self.c.ndim - 2)
        whole = raised[0] * h
        for k in range(1, n):
            whole = (whole + raised[k]) * h
        before = call(np.cumsum, whole, axis=0) - whole
        c = call(np.concatenate, [raised, before[None]])
        how = False if self._extrapolate == "periodic" else self._extrapolate
        return Pieces(c, self.x, how, self.axis)


class Spline(_Piecewise):
    """A sum of B-splines."""

    _what = "spline"

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any = True, axis: int = 0) -> None:
        self.t, self.c, self.k = floats(t), floats(c), int(k)
        self._extrapolate, self.axis = extrapolate, axis

    @property
    def extrapolate(self) -> Any:
        return self._extrapolate

    @property
    def tck(self) -> Any:
        return self.t, self.c, self.k

    def _count(self) -> Any:
        return extents.sub(self.t.shape[0], self.k + 1)

    def _ends(self) -> tuple[Any, Any]:
        return self.t[self.k], self.t[self._count()]

    def _piece(self, places: Any) -> Any:
        at = call(np.searchsorted, self.t, places, side="right") - 1
        return call(np.clip, at, self.k, extents.sub(self._count(), 1))

    def _at(self, places: ArrayHandle) -> Any:
        """De Boor's algorithm."""
        k, t, i = self.k, self.t, self._piece(places)
        more = self.c.ndim - 1
        d = [self.c[i + (j - k)] for j in range(k + 1)]
        for r in range(1, k + 1):
            for j in range(k, r - 1, -1):
                left, right = t[i + (j - k)], t[i + (j + 1 - r)]
                a = with_axes((places - left) / (right - left), more)
                d[j] = (1.0 - a) * d[j - 1] + a * d[j]
        return d[k]

    def _derived(self) -> Any:
        k, t = self.k, self.t
        if not k:
            return Spline(t, self.c * 0.0, 0, self._extrapolate, self.axis)
        n = self._count()
        c = self.c[:n]
        width = t[k + 1 : extents.add(n, k)] - t[1:n]
        none = elementwise("eq", width, 0.0)
        width = call(np.where, none, 1.0, width)
        steps = (c[1:] - c[:-1]) * float(k) / with_axes(handle(width), c.ndim - 1)
        return Spline(t[1:-1], steps, k - 1, self._extrapolate, self.axis)

    def _integrated(self) -> Any:
        k, t, n = self.k, self.t, self._count()
        c = self.c[:n]
        width = with_axes(t[k + 1 : extents.add(n, k + 1)] - t[:n], c.ndim - 1)
        total = call(np.cumsum, c * width, axis=0) / float(k + 1)
        total = call(np.concatenate, [call(np.zeros_like, total[:1]), total])
        t = call(np.concatenate, [t[:1], t, t[-1:]])
        how = False if self._extrapolate == "periodic" else self._extrapolate
        return Spline(t, total, k + 1, how, self.axis)


@stands_for(si.PPoly, si.CubicSpline, si.PchipInterpolator, si.Akima1DInterpolator,
            si.CubicHermiteSpline)  # fmt: skip
def pieces(value: Any, read: Read) -> Pieces:
    return Pieces(read("c"), read("x"), read("extrapolate"), read("axis"))


@stands_for(si.BSpline)
def spline(value: Any, read: Read) -> Spline:
    return Spline(read("t"), read("c"), read("k"), read("extrapolate"), read("axis"))


@replaces(si.PPoly, plain=False)
def ppoly(c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> Any:
    return Pieces(c, x, True if extrapolate is None else extrapolate, axis)


@replaces(si.BSpline, plain=False)
def bspline(t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> Any:
    return Spline(t, moveaxis(floats(c), axis, 0), k, extrapolate, axis)


@replaces(si.splev)
def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    if ext not in (0, 1):
        raise fail(JitadTypeError, f"ext={ext} of splev is not supported here")
    t, c, k = tck if isinstance(tck, tuple) else adopt(tck).tck
    found = Spline(t, c, k, True)(x, der)
    if ext:
        low, high = Spline(t, c, k)._ends()
        found = answer(_within(ravel(found), ravel(floats(x)), low, high, 0.0), x, 0)
    return found


# -- made of data ---------------------------------------------------------------------------------


def _data(x: Any, y: Any, axis: int) -> tuple[ArrayHandle, ArrayHandle, int, int]:
    x, y = floats(x), floats(y)
    axis = axis % y.ndim
    y = moveaxis(y, axis, 0)
    require_same(x.shape[0], y.shape[0], lambda: "The length of `y` along `axis` doesn't match the "
                 "length of `x`")  # fmt: skip
    extents.require_at_least(x.shape[0], 2, "`x` must contain at least 2 elements.")
    rises = call(np.all, elementwise("gt", call(np.diff, x), 0.0))
    require(rises, JitadValueError, "`x` must be strictly increasing sequence.")
    return x, y, axis, int(x._static(x.shape[0], "the number of points of a spline"))


def _hermite(x: Any, y: Any, slopes: Any, extrapolate: Any, axis: int) -> Pieces:
    """The cubics that have these values and slopes."""
    h = with_axes(call(np.diff, x), y.ndim - 1)
    secant = call(np.diff, y, axis=0) / h
    t = (slopes[:-1] + slopes[1:] - 2.0 * secant) / h
    c = call(np.stack, [t / h, (secant - slopes[:-1]) / h - t, slopes[:-1], y[:-1]])
    return Pieces(c, x, extrapolate, axis)


@replaces(si.CubicHermiteSpline, plain=False)
def hermite(x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> Any:
    x, y, axis, _ = _data(x, y, axis)
    slopes = moveaxis(floats(dydx), axis, 0)
    return _hermite(x, y, slopes, True if extrapolate is None else extrapolate, axis)


_NAMED = {"clamped": (1, 0.0), "natural": (2, 0.0)}


@replaces(si.CubicSpline, plain=False)
def cubic_spline(x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot",
                 extrapolate: Any = None) -> Any:  # fmt: skip
    """The slopes at the points solve a tridiagonal system."""
    x, y, axis, n = _data(x, y, axis)
    if isinstance(bc_type, str):
        ends: list[Any] = [bc_type, bc_type]
    else:
        ends = list(bc_type)
    if extrapolate is None:
        extrapolate = "periodic" if "periodic" in ends else True
    if "periodic" in ends:
        return _hermite(x, y, _periodic_slopes(x, y, n), extrapolate, axis)
    ends = [_NAMED.get(e, e) if isinstance(e, str) else e for e in ends]
    more = y.ndim - 1
    h = call(np.diff, x)
    wide = with_axes(h, more)
    secant = call(np.diff, y, axis=0) / wide
    if n == 2:
        ends = [(1, secant[0]) if e == "not-a-knot" else e for e in ends]
    if n == 3 and ends[0] == "not-a-knot" and ends[1] == "not-a-knot":  # a parabola
        bend = (secant[1] - secant[0]) / (wide[0] + wide[1])
        ends = [(1, secant[0] - bend * wide[0]), (1, secant[1] + bend * wide[1])]
    one = call(np.ones, 1)
    none = call(np.zeros, 1)
    inner = 2.0 * (h[:-1] + h[1:])
    right = 3.0 * (wide[1:] * secant[:-1] + wide[:-1] * secant[1:])
    (d0, u0, b0), (dn, ln, bn) = (_end(e, h, wide, secant, last, n) for last, e in enumerate(ends))
    diagonal = call(np.concatenate, [one * d0, inner, one * dn])
    upper = call(np.concatenate, [none, one * u0, h[:-1]])
    lower = call(np.concatenate, [h[1:], one * ln, none])
    shape = (1, *y.shape[1:])
    given = [reshape(call(np.broadcast_to, b, y.shape[1:]), shape) for b in (b0, bn)]
    values = call(np.concatenate, [given[0], right, given[1]])
    slopes = call(sl.solve_banded, (1, 1), call(np.stack, [upper, diagonal, lower]),
                  reshape(values, (n, extents.product(y.shape[1:]))))  # fmt: skip
    return _hermite(x, y, reshape(slopes, y.shape), extrapolate, axis)


def _end(end: Any, h: Any, wide: Any, secant: Any, last: int, n: int) -> tuple[Any, Any, Any]:
    """The equation at one end: factors of the slope there and of the next, right-hand side."""
    near, next_ = (-1, -2) if last else (0, 1)
    if end == "not-a-knot":
        d = h[near] + h[next_]
        wd = wide[near] + wide[next_]
        b = ((wide[near] + 2.0 * wd) * wide[next_] * secant[near]
             + wide[near] ** 2 * secant[next_]) / wd  # fmt: skip
        return h[next_], d, b
    try:
        order, value = end
    except (TypeError, ValueError):
        raise fail(JitadValueError, f"bc_type={end!r} is not allowed") from None
    if order == 1:
        return 1.0, 0.0, value
    if order == 2:
        curve = 0.5 * value * wide[near] ** 2
        b = 3.0 * secant[near] * wide[near] + (curve if last else -curve)
        return 2.0 * h[near], h[near], b
    raise fail(JitadValueError, "the order of a condition at an end is 1 or 2")


def _periodic_slopes(x: Any, y: Any, n: int) -> Any:
    """The slopes of a closed curve, whose system is cyclic: solved as a dense one."""
    same = call(np.all, call(np.isclose, y[0], y[-1], rtol=1e-15, atol=1e-15))
    require(same, JitadValueError, "The first and last `y` point must be identical (within machine "
            "precision) when bc_type='periodic'.")  # fmt: skip
    m = n - 1
    if m < 3:
        raise fail(JitadTypeError, "a periodic spline needs four points here")
    more = y.ndim - 1
    h = call(np.diff, x)
    wide = with_axes(h, more)
    secant = call(np.diff, y, axis=0) / wide
    before, before_wide, secant_before = (call(np.roll, a, 1, axis=0) for a in (h, wide, secant))
    b = 3.0 * (wide * secant_before + before_wide * secant)
    matrix = call(np.diag, 2.0 * (h + before))
    matrix = matrix + call(np.roll, call(np.diag, before), 1, axis=1)
    matrix = matrix + call(np.roll, call(np.diag, h), -1, axis=1)
    slopes = call(np.linalg.solve, matrix, reshape(b, (m, extents.product(y.shape[1:]))))
    slopes = reshape(slopes, (m, *y.shape[1:]))
    return call(np.concatenate, [slopes, slopes[:1]])


@replaces(si.PchipInterpolator, plain=False)
def pchip(x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> Any:
    """Harmonic means of the secants, where they have one sign; Moler's rule at the ends."""
    x, y, axis, n = _data(x, y, axis)
    h = with_axes(call(np.diff, x), y.ndim - 1)
    m = call(np.diff, y, axis=0) / h
    how = True if extrapolate is None else extrapolate
    if n == 2:
        return _hermite(x, y, call(np.concatenate, [m, m]), how, axis)
    flat = call(np.logical_not, m[:-1] * m[1:] > 0.0)
    w1, w2 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    a, b = (call(np.where, flat, 1.0, s) for s in (m[:-1], m[1:]))
    inner = call(np.where, flat, 0.0, (w1 + w2) / (w1 / a + w2 / b))

    def end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
        d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
        turned = call(np.sign, d) != call(np.sign, m0)
        steep = call(np.logical_and, call(np.sign, m0) != call(np.sign, m1),
                     call(np.abs, d) > 3.0 * call(np.abs, m0))  # fmt: skip
        return call(np.where, turned, 0.0, call(np.where, steep, 3.0 * m0, d))

    first = end(h[:1], h[1:2], m[:1], m[1:2])
    last = end(h[-1:], h[-2:-1], m[-1:], m[-2:-1])
    return _hermite(x, y, call(np.concatenate, [first, inner, last]), how, axis)


@replaces(si.Akima1DInterpolator, plain=False)
def akima(x: Any, y: Any, axis: int = 0, *, method: str = "akima",
          extrapolate: Any = None) -> Any:  # fmt: skip
    """Means of the secants beside a point, each weighed by how little those beyond turn."""
    if method not in ("akima", "makima"):
        raise fail(JitadValueError, f"`method`={method!r} is unsupported.")
    x, y, axis, n = _data(x, y, axis)
    how = False if extrapolate is None else extrapolate
    m = call(np.diff, y, axis=0) / with_axes(call(np.diff, x), y.ndim - 1)
    if n == 2:
        return _hermite(x, y, call(np.concatenate, [m, m]), how, axis)
    for _ in range(2):  # secants beyond the ends, as of a parabola
        m = call(np.concatenate, [2.0 * m[:1] - m[1:2], m, 2.0 * m[-1:] - m[-2:-1]])
    turns = call(np.abs, call(np.diff, m, axis=0))
    if method == "makima":
        turns = turns + 0.5 * call(np.abs, m[1:] + m[:-1])
    right, left = turns[2:], turns[:-2]
    both = right + left
    turned = both > (0.0 if method == "makima" else 1e-9 * call(np.max, both, initial=-np.inf))
    both = call(np.where, turned, both, 1.0)
    slopes = call(np.where, turned, (right / both) * m[1:-2] + (left / both) * m[2:-1],
                  0.0 if method == "makima" else 0.5 * (m[3:] + m[:-3]))  # fmt: skip
    return _hermite(x, y, slopes, how, axis)


@replaces(si.make_interp_spline, plain=False)
def make_interp_spline(x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None,
                       axis: int = 0, check_finite: bool = True) -> Any:  # fmt: skip
    """The coefficients solve a system with a band of basis functions."""
    if bc_type not in (None, "not-a-knot", (None, None)):
        raise fail(JitadTypeError, f"bc_type={bc_type!r} of make_interp_spline is not supported "
                   "here", "Use CubicSpline.")  # fmt: skip
    x, y, axis, n = _data(x, y, axis)
    k = int(k)
    if n < k + 1:
        raise fail(JitadValueError, f"need {k + 1} points at least")
    if t is None:
        t = _knots(x, k)
    t = floats(t)
    empty = Spline(t, call(np.zeros, n), k)
    piece = empty._piece(x)
    basis = _basis(t, x, piece, k)
    rows = call(np.arange, n)
    band = call(np.zeros, (2 * k + 1, n))
    for j, b in enumerate(basis):
        column = piece + (j - k)
        call(np.add.at, band, (k + rows - column, column), b)
    columns = reshape(y, (n, extents.product(y.shape[1:])))
    c = call(sl.solve_banded, (k, k), band, columns) if k else columns
    return Spline(t, reshape(c, y.shape), k, True, axis)


@replaces(si.splrep, plain=False)
def splrep(x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3,
           task: int = 0, s: Any = None, t: Any = None, full_output: int = 0, per: int = 0,
           quiet: int = 1) -> Any:  # fmt: skip
    """Through all points; what smooths is found by a search."""
    smooth = w is not None if s is None else s != 0
    if smooth or task or full_output or per or any(v is not None for v in (xb, xe, t)):
        raise fail(JitadTypeError, "splrep is supported here where it interpolates (s=0)",
                   "Leave the other options out.")  # fmt: skip
    made = make_interp_spline(x, y, k)
    return made.t, call(np.concatenate, [made.c, call(np.zeros, int(k) + 1)]), int(k)


def _knots(x: Any, k: int) -> Any:
    """Where none are given: the points but those next to the ends, or the middles between them."""
    inner = x if k % 2 else (x[1:] + x[:-1]) * 0.5
    cut = (k + 1) // 2 if k % 2 else k // 2
    inner = inner[cut:-cut] if cut else inner
    if k == 0:
        return call(np.concatenate, [x, x[-1:]])
    return call(np.concatenate, [call(np.repeat, x[:1], k + 1), inner,
                                 call(np.repeat, x[-1:], k + 1)])  # fmt: skip


def _basis(t: Any, x: Any, piece: Any, k: int) -> list[Any]:
    """The k + 1 B-splines that are not zero in a piece (Cox and de Boor)."""
    found: list[Any] = [call(np.ones_like, x)]
    for r in range(1, k + 1):
        up: list[Any] = [0.0] * (r + 1)
        for j in range(r):
            left, right = t[piece + (j + 1 - r)], t[piece + (j + 1)]
            share = found[j] / (right - left)
            up[j] = up[j] + (right - x) * share
            up[j + 1] = up[j + 1] + (x - left) * share
        found = up
    return found
