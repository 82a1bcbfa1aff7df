"""What becomes interpolation between scattered points: `griddata` and the classes behind it?

SciPy finds the simplex, or the neighbour, that a place has; the weights of its corners are the
solution of a small system, which depends on all places smoothly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as ip
import scipy.spatial as sp

from jitad.errors import JitadTypeError
from jitad.operators.found import answers, indices
from jitad.values.kind import fail
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.stand_ins import Read, StandIn, stands_for


def _corners(points: Any, at: Any) -> Any:
    """Those of the simplex of each place, or of the first one, and whether it is in that."""
    net = sp.Delaunay(points)
    which = net.find_simplex(at)
    return net.simplices[which].astype(int), which >= 0


_find = answers(_corners, (indices(2), indices(1, bool)))
_nearest = answers(lambda points, at: sp.cKDTree(points).query(at)[1].astype(int), indices())


class Scattered(StandIn):
    """Values at points, with which a subclass finds one at another place."""

    def __init__(self, points: Any, values: Any, fill: Any = np.nan) -> None:
        self.points, self.values, self._fill = _places(points), handle(values), fill
        if self.points.ndim != 2:
            raise fail(JitadTypeError, "points on a line are not supported here", "Use np.interp.")

    def __call__(self, *places: Any) -> Any:
        at = _places(places if len(places) > 1 else places[0])
        rows = call(np.reshape, at, (-1, self.points.shape[1]))
        return call(np.reshape, self._at(rows), (*at.shape[:-1], *self.values.shape[1:]))

    def _at(self, rows: Any) -> Any:
        raise NotImplementedError


def _places(given: Any) -> Any:
    """A row of coordinates each."""
    if isinstance(given, tuple):
        parts = call(np.broadcast_arrays, *(call(np.asarray, x, float) for x in given))
        return handle(call(np.stack, parts, axis=-1))
    return handle(call(np.asarray, given, float))


class Linear(Scattered):
    _what = "LinearNDInterpolator"

    def _at(self, rows: Any) -> Any:
        corners, inside = _find(self.points, rows)
        d = self.points._static(self.points.shape[1], "the number of axes")
        corners = call(np.reshape, corners, (rows.shape[0], d + 1))
        inside = call(np.reshape, inside, (rows.shape[0],))
        sides = self.points[corners[:, :d]] - self.points[corners[:, d]][:, None]
        away = rows - self.points[corners[:, d]]
        turned = call(np.swapaxes, sides, 1, 2)
        weights = call(np.linalg.solve, turned, away[:, :, None])[:, :, 0]
        last = self.values[corners[:, d]]
        total = last
        for k in range(d):
            weight = call(np.reshape, weights[:, k], (-1, *(1 for _ in last.shape[1:])))
            total = total + weight * (self.values[corners[:, k]] - last)
        inside = call(np.reshape, inside, (-1, *(1 for _ in last.shape[1:])))
        return call(np.where, inside, total, self._fill)


class Nearest(Scattered):
    _what = "NearestNDInterpolator"

    def _at(self, rows: Any) -> Any:
        return self.values[call(np.reshape, _nearest(self.points, rows), (rows.shape[0],))]


def _unscaled(rescale: Any, kind: str) -> None:
    if rescale:
        raise fail(JitadTypeError, f"rescale= of {kind} is not supported on traced or "
                   "differentiated values", "Scale the points yourself.")  # fmt: skip


@replaces(ip.LinearNDInterpolator)
def linear(points: Any, values: Any, fill_value: Any = np.nan, rescale: Any = False) -> Linear:
    _unscaled(rescale, "LinearNDInterpolator")
    return Linear(points, values, fill_value)


@replaces(ip.NearestNDInterpolator)
def nearest(x: Any, y: Any, rescale: Any = False, tree_options: Any = None) -> Nearest:
    _unscaled(rescale, "NearestNDInterpolator")
    return Nearest(x, y)


@stands_for(ip.LinearNDInterpolator)
def linear_outside(value: Any, read: Read) -> Linear:
    _unscaled(value.scale is not None, "LinearNDInterpolator")
    values = call(np.reshape, read("values"), (-1, *value.values_shape))
    return Linear(read("points"), values, value.fill_value)


@stands_for(ip.NearestNDInterpolator)
def nearest_outside(value: Any, read: Read) -> Nearest:
    _unscaled(value.scale is not None, "NearestNDInterpolator")
    return Nearest(read("points"), read("values"))


@replaces(ip.griddata)
def griddata(points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan,
             rescale: Any = False) -> Any:  # fmt: skip
    _unscaled(rescale, "griddata")
    if method == "nearest":
        return Nearest(points, values)(xi)
    if method != "linear":
        raise fail(JitadTypeError, f"griddata by method={method!r} is not supported on traced or "
                   "differentiated values", "Use 'linear', or RBFInterpolator.")  # fmt: skip
    return Linear(points, values, fill_value)(xi)
