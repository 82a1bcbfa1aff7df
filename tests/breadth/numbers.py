"""Uses of reductions, statistics, ufuncs' arguments and methods, sampled curves, polynomials."""

from __future__ import annotations

import numpy as np

from tests.breadth.case import add, draws

r, n = draws(9)

V, M, T = r(5), r(3, 4), r(2, 3, 4)
MASK = np.array([[True, False, True, True], [True] * 4, [False, True, True, False]])
HOLES = M.copy()
HOLES[0, 1] = HOLES[2, 3] = np.nan

ONE = np.zeros((3, 4))
ONE[1, 2] = M[1, 2]

# -- reductions -----------------------------------------------------------------------------------

add("numpy.sum", lambda a: (np.sum(a, where=MASK), np.sum(a, 1, initial=2.0)), M, native=True)
add("numpy.prod", lambda a: (np.prod(a, where=MASK), np.prod(a, 0, initial=2.0)), M)
add("numpy.prod", lambda a: np.prod(a - ONE, axis=1), M)  # a zero in it
add("numpy.max", lambda a: (np.max(a, where=MASK, initial=0.1), np.max(a, 1, initial=1.0)), M)
add("numpy.min", lambda a: (np.min(a, where=MASK, initial=5.0), np.min(a, 0, initial=1.0)), M)
add("numpy.mean", lambda a: (np.mean(a, where=MASK), np.mean(a, 1, where=MASK)), M)
add("numpy.var", lambda a: (np.var(a, where=MASK), np.var(a, (0, 1), ddof=1)), M)
add("numpy.std", lambda a: (np.std(a, 0, keepdims=True), np.std(a, axis=1, where=MASK)), M)
add("numpy.var", lambda a: np.var(a, correction=1), T)
add("numpy.any", lambda a: np.any(a > 1.0, where=MASK) * 1.0, M, zero=True)
add("numpy.all", lambda a: np.all(a > 0.1, axis=0, where=MASK) * 1.0, M, zero=True)
add("numpy.ptp", lambda a: (np.ptp(a), np.ptp(a, axis=1)), M)
add("numpy.average", lambda a, w: (np.average(a), np.average(a, 0, w)), M, r(3), native=True)
add("numpy.average", lambda a: (
    np.average(a, weights=a > 1.0), np.average(a > 1.0, weights=np.ones(M.shape)),
    np.average(a, 0, np.array([1, 2, 1], np.int8), returned=True),
    np.average(a, 1, [True, False, True, True])), M)  # fmt: skip
add("numpy.average", lambda a, w: np.average(a, weights=w, returned=True), M, r(3, 4))
add("numpy.cumprod", lambda a: (np.cumprod(a), a.cumprod(axis=1)), M, native=True)
add("numpy.cumsum", lambda a: (np.cumsum(a), np.cumsum(a, 0)), M)
add("numpy.cumulative_sum", lambda a: np.cumulative_sum(a, axis=1, include_initial=True), M)
add("numpy.cumulative_prod", lambda a: np.cumulative_prod(a), V)
add("numpy.cov", lambda a: (np.cov(a), np.cov(a, rowvar=False)), M, native=True, narrow=False)
add("numpy.cov", lambda a, b: (np.cov(a, b), np.cov(a, bias=True)), V, r(5), narrow=False)
add("numpy.cov", lambda a, w: np.cov(a, aweights=w, fweights=[1, 2, 1, 3]), M, r(4), narrow=False)
add("numpy.corrcoef", lambda a: np.corrcoef(a), M, rtol=1e-5, narrow=False)
add("numpy.corrcoef", lambda a, b: np.corrcoef(a, b)[0, 1], V, r(5), narrow=False)
for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"):
    f = getattr(np, name)
    add(f"numpy.{name}", lambda a, f=f: (f(a * HOLES), f(a * HOLES, axis=1)), r(3, 4),
        native=name in ("nanmean", "nanmax"))  # fmt: skip
add("numpy.nancumsum", lambda a: np.nancumsum(a * HOLES, axis=1), r(3, 4))
add("numpy.nancumprod", lambda a: np.nancumprod(a * HOLES), r(3, 4))
add("numpy.nanargmax", lambda a: np.nanargmax(a * HOLES) * 1.0, r(3, 4), zero=True)
add("numpy.nanargmin", lambda a: np.nanargmin(a * HOLES, axis=1) * 1.0, r(3, 4), zero=True)
add("numpy.isposinf", lambda a: np.isposinf(a) * a, V, order=1, zero=True)
add("numpy.isneginf", lambda a: np.isneginf(a) * 1.0, V, zero=True)
add("numpy.array_equal", lambda a: np.array_equal(a, 1.0 * a) * a, V)
add("numpy.isin", lambda a: np.isin(np.array([0, 2, 5]), [2, 5]) * a[:3], V)

# -- ufuncs ---------------------------------------------------------------------------------------


def where_and_out(a):
    b = np.full((3, 4), -1.0)
    np.log(a - 1.0, out=b, where=a > 1.0)
    return b, np.multiply(a, a, where=MASK, out=np.zeros((3, 4)))


add("numpy.log", where_and_out, M, native=True, narrow=False)


def out_of_others(a):
    b = np.zeros_like(a)
    np.sqrt(a, out=b)
    np.add(b, a, b)
    np.clip(b, 0.5, 2.0, out=b)
    np.cumsum(b, axis=1, out=b)
    c = np.zeros_like(a[0])
    np.sum(b, axis=0, out=c)
    return b, c


add("numpy.sqrt", out_of_others, M)
add("numpy.add", lambda a, b: np.add.outer(a, b), V, r(3), native=True)
add("numpy.multiply", lambda a, b: (np.multiply.outer(a, b), np.multiply.reduce(a)), M, V)
add("numpy.add", lambda a: (np.add.reduce(a), np.add.reduce(a, axis=(0, 1))), M)
add("numpy.logaddexp", lambda a: (np.logaddexp.reduce(a), np.logaddexp.reduce(a, axis=1)), M)
add("numpy.subtract", lambda a: (np.subtract.reduce(a, 1, keepdims=True)), M)
add("numpy.maximum", lambda a: (np.maximum.accumulate(a), np.maximum.reduce(a, axis=1)), M)
add("numpy.add", lambda a: (np.add.accumulate(a, axis=1)), M)
add("numpy.hypot", lambda a: (np.hypot.reduce(a, axis=0), np.hypot.accumulate(a, 1)), M)
for name in ("add", "multiply", "maximum", "hypot"):
    f = getattr(np, name).reduceat
    add(f"numpy.{name}", lambda a, f=f: (f(a, [0, 2, 1], axis=1), f(a, [1, 1, 2])), M,
        native=name == "add")  # fmt: skip
I = np.array([0, 2, 2, 4])


def at(a):
    b, c, d = a.copy(), a.copy(), a.copy()
    np.add.at(b, I, a[:4])
    np.multiply.at(c, I, a[1:])
    np.square.at(d, I)
    np.subtract.at(d, [0, 0], a[0])
    return b, c, d


add("numpy.multiply", at, V, native=True)
add("numpy.ldexp", lambda a: np.ldexp(a, np.array([1, -2, 0, 3, 1])), V)
add("numpy.fix", lambda a: np.fix(np.floor(3.0 * a) + 0.3 * np.sin(a)), V, zero=True)


def written(f):
    """What a function of two results has written to the arrays that it was given."""
    def g(a):
        first, second = np.full_like(a, 7.0), np.zeros(a.shape)
        found = f(a, out=(first, second))
        return first, second, found, f(a, out=(None, second))

    return g


add("numpy.modf", written(lambda a, out: np.modf(3.0 * a, out=out)), V, native=True)
add("numpy.divmod", written(lambda a, out: np.divmod(a, 0.7, out=out)), V)
add("numpy.divmod", lambda a: np.divmod([a[0], a[1]], [0.7, a[2]]), V)
add("numpy.modf", lambda a: np.modf(np.arange(5) - 2.0 + 0.4 * a), V)
add("numpy.divmod", lambda a: np.divmod(5.0 + 0.1 * a, 2.0 + 0.1 * a[::-1]), V)
add("numpy.sinc", lambda a: (np.sinc(a), np.sinc(0.0 * a), np.sinc(1e-4 * a)), V, rtol=1e-5)
add("numpy.i0", lambda a: np.i0(a), n(5), narrow=False)
add("numpy.unwrap", lambda a: np.unwrap(5.0 * np.cumsum(a)), V)

# -- curves and polynomials -----------------------------------------------------------------------

for mode in ("full", "same", "valid"):
    for sizes in ((6, 3), (3, 6), (4, 4), (5, 2), (2, 5)):
        a, b = n(sizes[0]), n(sizes[1])
        quick = mode == "same" and sizes == (6, 3)
        add("numpy.convolve", lambda a, b, m=mode: np.convolve(a, b, m), a, b, native=quick)
        add("numpy.correlate", lambda a, b, m=mode: np.correlate(a, b, m), a, b)
add("numpy.diff", lambda a: (np.diff(a, 2), np.diff(a, axis=0), np.diff(a, prepend=0.0)), M)
add("numpy.ediff1d", lambda a: (np.ediff1d(a), np.ediff1d(a, to_begin=0.5, to_end=[1.0])), M)
add("numpy.gradient", lambda a: (np.gradient(a), np.gradient(a, 0.5)), V, native=True)
add("numpy.gradient", lambda a: np.gradient(a, 0.5, 2.0, edge_order=2), M)
add("numpy.gradient", lambda a, x: np.gradient(a, np.cumsum(x), axis=1), M, r(4), narrow=False)
add("numpy.gradient", lambda a, x: np.gradient(a, np.cumsum(x), edge_order=2), V, r(5),
    narrow=False)  # fmt: skip
add("numpy.trapezoid", lambda a: (np.trapezoid(a), np.trapezoid(a, dx=0.5, axis=0)), M)
add("numpy.trapezoid", lambda a, x: np.trapezoid(a, x), M, r(4), native=True)
add("numpy.polyval", lambda p, x: (np.polyval(p, x), np.polyval(p, x[0])), V, r(3), native=True)
add("numpy.polyval", lambda p, x: (np.polyval(p, x), np.polyval(p, x[0])), r(3, 2), r(2))
add("numpy.polyder", lambda p: (np.polyder(p), np.polyder(p, 2)), V)
add("numpy.polyint", lambda p: (np.polyint(p), np.polyint(p, 2, 1.0)), V, narrow=False)
add("numpy.polyadd", lambda p, q: np.polyadd(p, q), V, r(3))
add("numpy.polysub", lambda p, q: np.polysub(p, q), r(3), V)
add("numpy.polymul", lambda p, q: np.polymul(p, q), V, r(3))
add("numpy.poly", lambda a: np.poly(a), V, narrow=False)
add("numpy.polyfit", lambda x, y: np.polyfit(x, y, 2), r(6), r(6), rtol=1e-5, narrow=False)
