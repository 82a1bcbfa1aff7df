"""Uses of sparse matrices, splines, tables, images and polynomials."""

from __future__ import annotations

import numpy as np
import scipy.integrate as si
import scipy.interpolate as ip
import scipy.ndimage as nd
import scipy.sparse as ss
import scipy.sparse.linalg as ssl
from numpy.polynomial import (
    Chebyshev,
    Polynomial,
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

from tests.breadth.case import add, draws

r, n = draws(23)

# -- sparse matrices ------------------------------------------------------------------------------

_A = ss.random(4, 4, 0.5, random_state=1) + ss.eye(4)
A = {form: _A.asformat(form) for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")}
CSR, ARRAY, WIDE = A["csr"], ss.csr_array(_A), ss.random(3, 4, 0.7, format="coo", random_state=2)
V = n(4)
for form, matrix in A.items():
    add(f"sparse.{form}", lambda x, m=matrix: (m @ x, m.T @ x, x @ m), V, narrow=False,
        native=form in ("csr", "lil"))  # fmt: skip
add("sparse.products", lambda x: (CSR.dot(x), CSR * x, WIDE @ x, WIDE.T @ (WIDE @ x)), V,
    narrow=False)  # fmt: skip
add("sparse.products", lambda x: (CSR @ x, x.T @ CSR), n(4, 3), narrow=False)
add("sparse.parts", lambda x: (
    (m := ss.diags([x, x[1:] ** 2], [0, 1], format="csr"))[[0, -1, 0]].toarray(),
    m[:, x > np.median(x)].toarray(), m[1:, [2, 0]].toarray(), CSR[[2, 1]] @ x,
    m.multiply(CSR).toarray(), (m + m.T).multiply(m).toarray()), V, native=True)  # fmt: skip
add("sparse.multiply", lambda x: (CSR.multiply(x) @ x, CSR.multiply(x[:, None]) @ x,
                                  (ARRAY * x).sum(axis=0), (ARRAY * x).sum(axis=1)), V,
    narrow=False)  # fmt: skip
add("sparse.arithmetic", lambda x: ((x[0] * CSR - CSR.T / x[1] + (-CSR) * 2.0) @ x, CSR.diagonal(),
                                    CSR.sum() * x, CSR.toarray() @ x), V, narrow=False)  # fmt: skip
add("sparse.csr_matrix", lambda x: (
    ss.csr_matrix((x, ([0, 1, 2, 2], [1, 2, 3, 3])), shape=(4, 4)) @ x,
    ss.csr_matrix((x, np.array([1, 0, 2, 3]), np.array([0, 1, 1, 4, 4])), shape=(4, 4)) @ x,
    ss.coo_matrix((x, (np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0])))) @ x,
    ss.csc_array((x, ([0, 1, 2, 2], [1, 2, 3, 3])), shape=(4, 4)).T @ x), V,
    narrow=False, native=True)  # fmt: skip
add("sparse.diags", lambda x: (ss.diags([x, -x[1:], 2.0 * x[:3]], [0, 1, -1]) @ x,
                               ss.diags([1.0, -2.0], [0, 1], shape=(4, 4)) @ x, ss.eye(4) @ x), V,
    narrow=False)  # fmt: skip
add("sparse.spsolve", lambda x: (
    ssl.spsolve(A["csc"], x), ssl.spsolve(ss.diags([x + 4.0, x[1:]], [0, 1], format="csc"), x)), V,
    narrow=False)  # fmt: skip
MANY = np.linspace(0.5, 1.5, 66)


def _systems(x):
    many = ss.diags([MANY + 3.0, 0.3 * MANY[1:] * x[0]], [0, 1], format="csc") * x[1]
    lu, solve = ssl.splu(many), ssl.factorized(many)
    right = np.concatenate([x, MANY[4:]])
    first = lu.solve(right)
    return (first[:3], lu.solve(first, "T")[-3:], solve(right)[:2],
            ssl.spsolve(many, np.stack([first, right], axis=1))[:2])  # fmt: skip


FACTORS = ssl.splu(A["csc"].tocsc() + 4.0 * ss.eye(4, format="csc"))
add("sparse.spsolve", _systems, V, narrow=None)
add("sparse.splu", lambda x: (FACTORS.solve(x * x), FACTORS.solve(np.outer(x, x[:2]), "T")), V,
    narrow=None)  # fmt: skip

# -- splines and tables ---------------------------------------------------------------------------

X = np.array([0.0, 0.4, 1.1, 1.9, 2.5, 3.3])
Y, Y2 = n(6), n(6, 2)
OUT, IN = np.array([-0.2, 0.13, 1.3, 2.9, 3.6]), np.array([0.1, 0.7, 1.3, 2.07, 2.87])
MADE = {
    "CubicSpline": ip.CubicSpline(X, Y2), "PchipInterpolator": ip.PchipInterpolator(X, Y),
    "Akima1DInterpolator": ip.Akima1DInterpolator(X, Y, extrapolate=True),
    "CubicHermiteSpline": ip.CubicHermiteSpline(X, Y, Y[::-1]),
    "BSpline": ip.make_interp_spline(X, Y2), "PPoly": ip.PPoly(n(3, 5), X),
}  # fmt: skip
for name, made in MADE.items():
    add(f"scipy.interpolate.{name}", lambda x, s=made: s(x), OUT, narrow=False,
        native=name in ("CubicSpline", "BSpline"))  # fmt: skip
for name in ("CubicSpline", "BSpline"):
    add(f"scipy.interpolate.{name}", lambda x, s=MADE[name]: (
        s(x, 1), s.derivative(2)(x), s.antiderivative()(x), s.integrate(x[0], x[1])), IN,
        narrow=False)  # fmt: skip
ACROSS = ip.CubicSpline(X, Y2.T, axis=1)
add("scipy.interpolate.CubicSpline", lambda x: (ACROSS(x.reshape(2, 2)), ACROSS(x[0])), IN[:4],
    narrow=False)  # fmt: skip
for ends in ("not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.4))):
    add("scipy.interpolate.CubicSpline", lambda y, e=ends: ip.CubicSpline(X, y, bc_type=e)(OUT), Y,
        narrow=False, native=ends == "natural")  # fmt: skip
add("scipy.interpolate.CubicSpline", lambda x, y: ip.CubicSpline(np.cumsum(x), y)(OUT), r(6), Y,
    narrow=False)  # fmt: skip
add("scipy.interpolate.CubicSpline", lambda y: (
    ip.CubicSpline(X[:2], y[:2])(IN), ip.CubicSpline(X[:3], y[:3])(IN),
    ip.CubicSpline(X, np.append(y[:5], y[0]), bc_type="periodic")(OUT)), Y,
    narrow=False)  # fmt: skip
add("scipy.interpolate.PchipInterpolator", lambda y: ip.PchipInterpolator(X, y)(OUT), Y,
    narrow=False)  # fmt: skip
add("scipy.interpolate.CubicHermiteSpline",
    lambda y, d: ip.CubicHermiteSpline(X, y, d)(OUT), Y, n(6), narrow=False)  # fmt: skip
for k in (1, 2, 3, 5):
    add("scipy.interpolate.make_interp_spline",
        lambda y, k=k: ip.make_interp_spline(X, y, k)(IN), Y2, narrow=False)  # fmt: skip
T, C = MADE["BSpline"].t, n(6)
add("scipy.interpolate.BSpline", lambda c, x: ip.BSpline(T, c, 3)(x), C, IN, narrow=False)
for k in (1, 2, 3, 4, 5):
    add("scipy.interpolate.splrep", lambda y, x, k=k: (
        ip.splev(x, tck := ip.splrep(X, y, k=k)), ip.splev(x, tck, der=1), tck[0], tck[1]),
        n(len(X)), IN, narrow=False)  # fmt: skip
add("scipy.interpolate.splev", lambda x: (ip.splev(x, (T, C, 3)), ip.splev(x, (T, C, 3), 1)), IN,
    narrow=False)  # fmt: skip
LINE = ip.interp1d(X, Y, fill_value="extrapolate")
CAPPED = ip.interp1d(X, Y2, axis=0, bounds_error=False, fill_value=(1.0, 2.0))
CUBIC = ip.interp1d(X, Y, kind="cubic")
add("scipy.interpolate.interp1d", lambda x: (LINE(x), CAPPED(x)), OUT, narrow=False, native=True)
add("scipy.interpolate.interp1d", lambda x: CUBIC(x), IN, narrow=False)
for kind in ("linear", "quadratic", "cubic", "nearest", "previous", "next"):
    add("scipy.interpolate.interp1d", lambda y, k=kind: ip.interp1d(X, y, kind=k)(IN), Y,
        narrow=False)  # fmt: skip
GX, GY, G = np.array([0.0, 1.0, 2.5, 3.0]), np.linspace(0.0, 2.0, 5), n(4, 5)
GRID = ip.RegularGridInterpolator((GX, GY), G)
PLACES = np.array([[0.5, 0.3], [1.7, 1.9], [2.9, 0.1]])
add("scipy.interpolate.RegularGridInterpolator", lambda p: (GRID(p), GRID((p[:, 0], 1.1))), PLACES,
    narrow=False, native=True)  # fmt: skip
add("scipy.interpolate.RegularGridInterpolator", lambda v: (
    ip.RegularGridInterpolator((GX, GY), v)(PLACES),
    ip.RegularGridInterpolator((GX, GY), v, method="nearest")(PLACES)), G,
    narrow=False)  # fmt: skip

# -- images ---------------------------------------------------------------------------------------

IMAGE, W, W4 = n(5, 6), n(3, 3), n(2, 4)
for mode in ("reflect", "mirror", "nearest", "wrap", "constant"):
    add("scipy.ndimage.convolve", lambda a, w, m=mode: nd.convolve(a, w, mode=m, cval=0.7), IMAGE,
        W, narrow=mode == "wrap", native=mode == "mirror")  # fmt: skip
    add("scipy.ndimage.correlate", lambda a, m=mode: nd.correlate(a, W4, mode=m), IMAGE,
        narrow=False)  # fmt: skip
    add("scipy.ndimage.gaussian_filter", lambda a, m=mode: nd.gaussian_filter(a, 0.6, mode=m),
        IMAGE, narrow=False)  # fmt: skip
add("scipy.ndimage.convolve", lambda a: nd.convolve(a, W, origin=(1, -1)), IMAGE, narrow=False)
for name in ("convolve1d", "correlate1d"):
    add(f"scipy.ndimage.{name}", lambda a, w, f=getattr(nd, name): (
        f(a, w, axis=0), f(a, w, mode="nearest", origin=1)), IMAGE, n(4), narrow=False)  # fmt: skip
add("scipy.ndimage.gaussian_filter", lambda a: (
    nd.gaussian_filter(a, (1.0, 0.5), order=(1, 2)), nd.gaussian_filter(a, 2.0),
    nd.gaussian_filter(a, 1.0, axes=(1,)), nd.gaussian_filter(a, a[0, 0] ** 2 + 0.5, radius=2)),
    IMAGE, narrow=False)  # fmt: skip
add("scipy.ndimage.gaussian_filter1d", lambda a: nd.gaussian_filter1d(a, 1.3, axis=0), IMAGE,
    narrow=False)  # fmt: skip
add("scipy.ndimage.uniform_filter", lambda a: nd.uniform_filter(a, (2, 3)), IMAGE, narrow=False)
add("scipy.ndimage.uniform_filter1d", lambda a: nd.uniform_filter1d(a, 4, axis=0), IMAGE,
    narrow=False)  # fmt: skip
add("scipy.ndimage.sobel", lambda a: (nd.sobel(a), nd.sobel(a, axis=0)), IMAGE, narrow=False)
add("scipy.ndimage.prewitt", lambda a: nd.prewitt(a), IMAGE, narrow=False)
add("scipy.ndimage.laplace", lambda a: nd.laplace(a, mode="nearest"), IMAGE, narrow=False)
for name in ("maximum_filter", "minimum_filter"):
    add(f"scipy.ndimage.{name}", lambda a, f=getattr(nd, name): f(a, (2, 3)), IMAGE, narrow=False)
AT = np.array([[0.3, 1.7, -0.4, 4.6, 7.2, -3.3], [1.1, 2.2, 3.3, -0.2, 5.3, 11.7]])
for mode in ("constant", "nearest", "mirror", "reflect"):
    add("scipy.ndimage.map_coordinates", lambda a, m=mode: (
        nd.map_coordinates(a, AT, order=1, mode=m), nd.map_coordinates(a, AT, order=0, mode=m)),
        IMAGE, narrow=False)  # fmt: skip
add("scipy.ndimage.map_coordinates",
    lambda p: nd.map_coordinates(IMAGE, [p[0] + 2.2, p[1] + 2.2], order=1, mode="nearest"),
    0.3 * r(2, 4), narrow=False)  # fmt: skip
add("scipy.ndimage.shift", lambda a: (nd.shift(a, (0.3, -0.6), order=1),
                                      nd.shift(a, 0.4, order=1, mode="nearest")), IMAGE,
    narrow=False)  # fmt: skip
add("scipy.ndimage.zoom", lambda a: (nd.zoom(a, 2, order=1), nd.zoom(a, (1.6, 0.5), order=1)),
    IMAGE, narrow=False)  # fmt: skip

# -- polynomials ----------------------------------------------------------------------------------

P, S = Polynomial([1.0, 2.0, 3.0]), Chebyshev([1.0, 2.0, 3.0], domain=[0.0, 2.0])
AT4, C5 = r(4), n(5)
for f in (polynomial.polyval, chebyshev.chebval, legendre.legval, hermite.hermval,
          hermite_e.hermeval, laguerre.lagval):  # fmt: skip
    add(f"polynomial.{f.__name__}", lambda x, c, f=f: (f(x, c), f(x, c[:1]), f(x[0], c[:2])), AT4,
        C5, native=f is legendre.legval)  # fmt: skip
add("polynomial.polynomial", lambda c: (
    polynomial.polyder(c), polynomial.polyint(c), polynomial.polymul(c, c[:3]),
    polynomial.polyfit(AT4, c[:4], 2), polynomial.polyvander(c, 2)), C5, narrow=False)  # fmt: skip
add("polynomial.chebyshev", lambda c: (
    chebyshev.chebder(c), chebyshev.chebint(c), chebyshev.chebfit(AT4, c[:4], 2),
    chebyshev.chebvander(c, 3)), C5, narrow=False)  # fmt: skip
add("polynomial.Polynomial", lambda x: (P(x), S(x), P.deriv()(x)), AT4, narrow=False, native=True)
add("polynomial.Polynomial", lambda c: (
    Polynomial(c)(AT4), Chebyshev(c, domain=[0.0, 2.0])(AT4), Polynomial(c).deriv()(0.5),
    Polynomial(c).integ()(0.5), Polynomial.fit(AT4, c[:4], 2)(0.5)), C5, narrow=False)  # fmt: skip
add("scipy.integrate.fixed_quad", lambda k, b: si.fixed_quad(
    lambda t: np.exp(-t * k[0]), 0.0, b[0], n=4)[0], r(2), r(2), narrow=False)  # fmt: skip
