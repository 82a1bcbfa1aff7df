"""What becomes of interpolation in several variables: `bisplev`, `RBFInterpolator` and the like?

A surface is a table of coefficients of products of B-splines; a sum of radial functions solves a
dense system.  Both have derivatives by the places, and by the values that they go through.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate as si

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.broadcast import require_same
from jitad.values.kind import fail, require
from jitad.values.numpy.shaping import handle, ravel, reshape
from jitad.values.registry import call, replaces
from jitad.values.scipy.interpolants import Spline, _basis, floats, make_interp_spline, weighed
from jitad.values.stand_ins import Read, StandIn, stands_for


class Surface(StandIn):
    """A spline of two variables; beyond its ends it is as at them."""

    _what = "spline of two variables"

    def __init__(self, x: Spline, y: Spline) -> None:
        # x has the coefficients, with an axis for y behind; y is of its knots only
        self._x, self._y = x, y

    def _derived(self, dx: int, dy: int) -> Surface:
        x, knots = self._x, self._y
        rest = Spline(knots.t, x.c.T, knots.k)
        for _ in range(dy):
            rest = rest._derived()
        x = Spline(x.t, rest.c.T, x.k)
        for _ in range(dx):
            x = x._derived()
        return Surface(x, rest)

    def _parts(self, spline: Spline, places: Any, like: Spline) -> list[tuple[Any, Any]]:
        low, high = like._ends()
        at = call(np.clip, places, low, high)
        piece, k = spline._piece(at), spline.k
        return [(piece + (j - k), b) for j, b in enumerate(_basis(spline.t, at, piece, k))]

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        x, y = call(np.broadcast_arrays, floats(xi), floats(yi))
        shape, made = x.shape, self._derived(int(dx), int(dy))
        rows = made._parts(made._x, ravel(x), self._x)
        columns = made._parts(made._y, ravel(y), self._y)
        return reshape(weighed(made._x.c, (rows, columns)), shape)

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        if not grid:
            return self.ev(x, y, dx, dy)
        x, y = (call(np.atleast_1d, floats(a)) for a in (x, y))
        return self.ev(x[:, None], y[None, :], dx, dy)


@replaces(si.RectBivariateSpline, plain=False)
def rect_bivariate_spline(x: Any, y: Any, z: Any, bbox: Any = (None,) * 4, kx: int = 3,
                          ky: int = 3, s: float = 0, maxit: int = 20) -> Surface:  # fmt: skip
    """Through the values on a grid: a spline through splines."""
    if s != 0 or any(b is not None for b in bbox):
        raise fail(JitadTypeError, "s= and bbox= of RectBivariateSpline are not supported here")
    if kx % 2 == 0 or ky % 2 == 0:
        raise fail(JitadTypeError, "even degrees of RectBivariateSpline are not supported here",
                   "Use odd ones.")  # fmt: skip
    x, y, z = floats(x), floats(y), floats(z)
    for k, (given, name) in enumerate(((x, "x"), (y, "y"))):
        require_same(given.shape[0], z.shape[k], lambda name=name, k=k: f"{name} dimension of z "
                     f"must have same number of elements as {name}")  # fmt: skip
    along = make_interp_spline(y, z.T, ky)
    return Surface(make_interp_spline(x, along.c.T, kx), along)


@stands_for(si.RectBivariateSpline, si.SmoothBivariateSpline, si.LSQBivariateSpline)
def surface_of_outside(value: Any, read: Read) -> Surface:
    (tx, ty, c), (kx, ky) = read("tck"), read("degrees")
    return _of_coefficients(handle(tx), handle(ty), handle(c), kx, ky)


def _of_coefficients(tx: Any, ty: Any, c: Any, kx: int, ky: int) -> Surface:
    n, m = (extents.sub(t.shape[0], k + 1) for t, k in ((tx, kx), (ty, ky)))
    c = reshape(c, (n, m))
    return Surface(Spline(tx, c, kx), Spline(ty, c.T, ky))


@replaces(si.bisplev)
def bisplev(x: Any, y: Any, tck: Any, dx: int = 0, dy: int = 0) -> Any:
    """On the grid of x and y; without the axes of those that are one place."""
    tx, ty, c, kx, ky = tck
    x, y = (call(np.atleast_1d, floats(a)) for a in (x, y))
    if x.ndim != 1 or y.ndim != 1:
        raise fail(JitadValueError, "First two entries should be rank-1 arrays.")
    found = _of_coefficients(floats(tx), floats(ty), floats(c), kx, ky)(x, y, dx, dy)
    n, m = (a._static(a.shape[0], "the number of places of a spline") for a in (x, y))
    return found if n > 1 else found[0] if m > 1 else found[0, 0]


# -- sums of radial functions ---------------------------------------------------------------------


def _plate(s: Any) -> Any:
    """r^2 log r of the square of r."""
    none = call(np.equal, s, 0.0)
    return call(np.where, none, 0.0, 0.5 * s * call(np.log, call(np.where, none, 1.0, s)))


def _root(s: Any) -> Any:
    none = call(np.equal, s, 0.0)
    return call(np.where, none, 0.0, call(np.sqrt, call(np.where, none, 1.0, s)))


# of the square of the distance; and the degree of the polynomial that is needed beside
_KERNELS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "linear": (lambda s: -_root(s), 0), "thin_plate_spline": (_plate, 1),
    "cubic": (lambda s: s * _root(s), 1), "quintic": (lambda s: -s * s * _root(s), 2),
    "multiquadric": (lambda s: -call(np.sqrt, s + 1.0), 0),
    "inverse_multiquadric": (lambda s: 1.0 / call(np.sqrt, s + 1.0), -1),
    "inverse_quadratic": (lambda s: 1.0 / (s + 1.0), -1),
    "gaussian": (lambda s: call(np.exp, -s), -1),
}  # fmt: skip
_ALIKE = ("linear", "thin_plate_spline", "cubic", "quintic")  # whatever the scale is


class Radial(StandIn):
    """A sum of functions of the distances from points, and a polynomial."""

    _what = "sum of radial functions"

    def __init__(self, y: Any, d: Any, smoothing: Any, kernel: str, epsilon: Any,
                 degree: int) -> None:  # fmt: skip
        self._y, self._kernel, self._epsilon = y, _KERNELS[kernel][0], epsilon
        n, axes = y.shape[0], y._static(y.shape[1], "the number of coordinates of a point")
        self._powers = [p for total in range(degree + 1)
                        for p in itertools.combinations_with_replacement(range(axes), total)]
        self._rest = d.shape[1:]
        flat = reshape(d, (n, extents.product(self._rest)))
        system = self._near(y) + call(np.diag, call(np.broadcast_to, smoothing, (n,)))
        if self._powers:
            count = len(self._powers)
            beside = self._polynomial(y)
            none = call(np.zeros, (count, count))
            system = call(np.concatenate, [
                call(np.concatenate, [system, beside], axis=1),
                call(np.concatenate, [beside.T, none], axis=1)])  # fmt: skip
            zeros = call(np.zeros, (count, flat.shape[1]))
            flat = call(np.concatenate, [flat, zeros])
        self._shares = call(np.linalg.solve, system, flat)

    def _near(self, x: Any) -> Any:
        apart = (x[:, None, :] - self._y[None, :, :]) * self._epsilon
        return self._kernel(call(np.sum, apart * apart, axis=-1))

    def _polynomial(self, x: Any) -> Any:
        columns = [call(np.prod, x[:, list(p)], axis=1) for p in self._powers]
        return call(np.stack, columns, axis=1)

    def __call__(self, x: Any) -> Any:
        x = floats(x)
        parts = [self._near(x)] + ([self._polynomial(x)] if self._powers else [])
        found = call(np.matmul, call(np.concatenate, parts, axis=1), self._shares)
        return reshape(found, (x.shape[0], *self._rest))


@replaces(si.RBFInterpolator, plain=False)
def rbf_interpolator(y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0,
                     kernel: str = "thin_plate_spline", epsilon: Any = None,
                     degree: Any = None) -> Radial:  # fmt: skip
    if neighbors is not None:
        raise fail(JitadTypeError, "neighbors= of RBFInterpolator is not supported here")
    if kernel not in _KERNELS:
        raise fail(JitadValueError, f"`kernel` must be one of {set(_KERNELS)}.")
    if epsilon is None:
        require(kernel in _ALIKE, JitadValueError, "`epsilon` must be specified if `kernel` is not "
                f"one of {set(_ALIKE)}.")  # fmt: skip
        epsilon = 1.0
    least = _KERNELS[kernel][1]
    y, d = floats(y), floats(d)
    require_same(y.shape[0], d.shape[0], lambda: "the first axes of `y` and `d` differ")
    return Radial(y, d, floats(smoothing), kernel, epsilon,
                  max(least, 0) if degree is None else int(degree))


@stands_for(si.RBFInterpolator)
def radial_of_outside(value: Any, read: Read) -> Radial:
    if read("neighbors") is not None:
        raise fail(JitadTypeError, "neighbors= of RBFInterpolator is not supported here")
    y, d = handle(read("y")), handle(read("d"))
    d = reshape(d, (y.shape[0], *read("d_shape")))
    powers = value.powers
    degree = int(powers.sum(axis=1).max()) if len(powers) else -1
    return Radial(y, d, handle(read("smoothing")), read("kernel"), read("epsilon"), degree)
