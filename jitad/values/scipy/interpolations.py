"""What becomes of scipy.interpolate's functions that make an interpolant and ask it at once, and of
polynomials through points?
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as si

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.scipy.interpolants import Spline, make_interp_spline, with_axes
from jitad.values.stand_ins import Read, StandIn, stands_for


@replaces(si.interpn)
def interpn(points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True,
            fill_value: Any = np.nan) -> Any:  # fmt: skip
    return call(si.RegularGridInterpolator, points, values, method, bounds_error, fill_value)(xi)


@replaces(si.pchip_interpolate)
def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    made = call(si.PchipInterpolator, xi, yi, axis=axis)
    if isinstance(der, (list, tuple)):
        return [made(x, k) for k in der]
    return made(x, der)


class Through(StandIn):
    """The polynomial through some points, by the products of Lagrange."""

    _what = "polynomial through points"

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __call__(self, x: Any) -> Any:
        at, nodes = handle(x), self.x
        n = nodes._static(nodes.shape[0], "the number of points of a polynomial")
        shape = at.shape
        at, found = call(np.ravel, at), 0.0
        for k in range(n):
            share: Any = 1.0
            for j in range(n):
                share = share if j == k else share * (at - nodes[j]) / (nodes[k] - nodes[j])
            found = found + with_axes(share, self.y.ndim - 1) * self.y[k]
        return call(np.reshape, found, (*shape, *self.y.shape[1:]))


def _through(x: Any, y: Any, axis: int, name: str) -> Through:
    if axis != 0:
        raise fail(JitadTypeError, f"axis={axis} of {name} is not supported here",
                   "Move the axis first.")  # fmt: skip
    return Through(*(a if a.dtype == np.float64 else a.astype(float)
                     for a in (handle(x), handle(y))))  # fmt: skip


@replaces(si.BarycentricInterpolator, plain=False)
def barycentric_interpolator(xi: Any, yi: Any, axis: int = 0) -> Through:
    return _through(xi, yi, axis, "BarycentricInterpolator")


@replaces(si.KroghInterpolator, plain=False)
def krogh_interpolator(xi: Any, yi: Any, axis: int = 0) -> Through:
    """Of points that differ: equal ones, which stand for derivatives, divide by zero."""
    return _through(xi, yi, axis, "KroghInterpolator")


@replaces(si.barycentric_interpolate)
def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: int = 0) -> Any:
    return _through(xi, yi, axis, "barycentric_interpolate")(x)


@replaces(si.krogh_interpolate)
def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    if der != 0:
        raise fail(JitadTypeError, "der= of krogh_interpolate is not supported here",
                   "Differentiate the polynomial.")  # fmt: skip
    return _through(xi, yi, axis, "krogh_interpolate")(x)


@stands_for(si.BarycentricInterpolator)
def of_outside(value: Any, read: Read) -> Through:
    y = handle(read("yi"))
    return Through(handle(read("xi")), call(np.reshape, y, (-1, *read("_y_extra_shape"))))


# -- splines of FITPACK ---------------------------------------------------------------------------


class Univariate(Spline):
    """A spline of one variable, with the names that its methods have there."""

    _what = "spline of one variable"

    def integral(self, a: Any, b: Any) -> Any:
        return self.integrate(a, b)


@replaces(si.InterpolatedUnivariateSpline, plain=False)
def interpolated_univariate_spline(x: Any, y: Any, w: Any = None, bbox: Any = (None, None),
                                   k: int = 3, ext: Any = 0,
                                   check_finite: bool = False) -> Any:  # fmt: skip
    """The spline of `make_interp_spline`, which takes the same knots for odd degrees."""
    if w is not None or any(b is not None for b in bbox) or ext not in (0, "extrapolate"):
        raise fail(JitadTypeError, "w=, bbox= and ext= of a spline of one variable are "
                   "not supported here", "Use make_interp_spline.")  # fmt: skip
    if k % 2 == 0:
        raise fail(JitadTypeError, "splines of one variable of even degree are not supported",
                   "Use make_interp_spline.")  # fmt: skip
    made = make_interp_spline(x, y, k)
    return Univariate(made.t, made.c, made.k, True, 0)


@replaces(si.UnivariateSpline, plain=False)
def univariate_spline(x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3,
                      s: Any = None, ext: Any = 0, check_finite: bool = False) -> Any:  # fmt: skip
    """Through all points; else the knots depend on the values."""
    if isinstance(s, Number) or s != 0:
        raise fail(JitadTypeError, "the knots of a smoothing UnivariateSpline depend on the "
                   "values", "Pass s=0, or make it outside.")  # fmt: skip
    return interpolated_univariate_spline(x, y, w, bbox, k, ext)


@stands_for(si.UnivariateSpline, si.InterpolatedUnivariateSpline, si.LSQUnivariateSpline)
def univariate_of_outside(value: Any, read: Read) -> Univariate:
    if read("ext") != 0:
        raise fail(JitadTypeError, "ext= of a UnivariateSpline is not supported here",
                   "Clip the places.")  # fmt: skip
    t, c, k = read("_eval_args")
    t, c = handle(t), handle(c)
    return Univariate(t, c[: extents.sub(extents.sub(t.shape[0], k), 1)], int(k), True, 0)
