"""What becomes of tables: `interp1d`, and values on a regular grid?

Lines or steps between points, or a spline through them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.interpolate as si

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import require_same
from jitad.values.kind import fail, require
from jitad.values.numpy.shaping import handle, moveaxis, ravel, reshape
from jitad.values.registry import call, replaces
from jitad.values.scipy.interpolants import answer, floats, make_interp_spline, with_axes
from jitad.values.stand_ins import Read, StandIn, adopt, stands_for


class Table(StandIn):
    """What `interp1d` makes: lines, steps or a spline between points."""

    _what = "interp1d"

    def __init__(self, x: Any, y: Any, kind: Any, axis: int, fill: Any, strict: bool,
                 made: Any = None) -> None:  # fmt: skip
        self.x, self._y, self.axis, self._of_x = floats(x), y, axis, x.dtype
        self._kind, self._fill, self._strict = kind, fill, strict
        degree = {"slinear": 1, "quadratic": 2, "cubic": 3}.get(kind, kind)
        self._spline = make_interp_spline(self.x, y, degree) if isinstance(degree, int) else made

    def __call__(self, x: Any) -> Any:
        places, last = ravel(floats(x)), extents.sub(self.x.shape[0], 1)
        low, high = self.x[0], self.x[-1]
        if self._strict:
            inside = call(np.logical_and, places >= low, places <= high)
            inside = call(np.logical_or, inside, call(np.isnan, places))
            require(call(np.all, inside), JitadValueError, "A value in x_new is outside the "
                    "interpolation range.")  # fmt: skip
        if self._spline is not None:
            found = self._spline._at(places)
            found = reshape(found, (places.shape[0], *self._y.shape[1:]))
        elif self._kind == "linear":
            hi = call(np.clip, call(np.searchsorted, self.x, places), 1, last)
            s = (places - self.x[hi - 1]) / (self.x[hi] - self.x[hi - 1])
            begin = self._y[hi - 1]
            found = begin + (self._y[hi] - begin) * with_axes(s, begin.ndim - 1)
            found = found.astype(np.result_type(self._of_x, self._y.dtype, handle(x).dtype))
        else:
            found = self._y[self._step(places, last)]
            found = found + (0.0 * with_axes(places, found.ndim - 1)).astype(found.dtype)
        if self._fill != "extrapolate" if isinstance(self._fill, str) else True:
            below, above = self._fill if isinstance(self._fill, tuple) else (self._fill,) * 2
            for beyond, value in ((places < low, below), (places > high, above)):
                value = handle(value).astype(found.dtype)
                found = call(np.where, with_axes(beyond, found.ndim - 1), value, found)
        return answer(found, x, self.axis)

    def _step(self, places: Any, last: Any) -> Any:
        if self._kind == "nearest":
            middles = (self.x[1:] + self.x[:-1]) * 0.5
            return call(np.clip, call(np.searchsorted, middles, places), 0, last)
        if self._kind == "nearest-up":
            middles = (self.x[1:] + self.x[:-1]) * 0.5
            return call(np.clip, call(np.searchsorted, middles, places, side="right"), 0, last)
        if self._kind == "next":
            return call(np.clip, call(np.searchsorted, self.x, places), 0, last)
        at = call(np.searchsorted, self.x, places, side="right") - 1
        return call(np.clip, at, 0, last)


_STEPS = ("nearest", "nearest-up", "previous", "next")
_KINDS = ("linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic",
          "cubic")  # fmt: skip


def _tabled(y: Any, kind: Any) -> ArrayHandle:
    """Steps are the values themselves, in their dtype, and lines are of that of both."""
    y = handle(y)
    return y if kind in (*_STEPS, "linear") and y.dtype.kind == "f" else floats(y)


@replaces(si.interp1d, plain=False)
def interp1d(x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True,
             bounds_error: Any = None, fill_value: Any = np.nan,
             assume_sorted: bool = False) -> Any:  # fmt: skip
    if kind not in _KINDS and not isinstance(kind, int):
        raise fail(JitadTypeError, f"kind={kind!r} of interp1d is not supported")
    x, y = handle(x), _tabled(y, kind)
    axis = axis % y.ndim
    y = moveaxis(y, axis, 0)
    if not assume_sorted:
        order = call(np.argsort, x, kind="stable")
        x, y = x[order], y[order]
    plain = isinstance(fill_value, float) and math.isnan(fill_value)
    through = isinstance(fill_value, str)
    strict = (plain if bounds_error is None else bool(bounds_error)) and not through
    return Table(x, y, kind, axis, fill_value, strict)


@stands_for(si.interp1d)
def table(value: Any, read: Read) -> Table:
    x, y, axis = read("x"), read("y"), read("axis")
    fill = "extrapolate" if value._extrapolate else (read("_fill_value_below"),
                                                     read("_fill_value_above"))  # fmt: skip
    made = adopt(read("_spline")) if value._kind == "spline" else None
    y = moveaxis(_tabled(y, value._kind), axis, 0)
    return Table(handle(x), y, read("_kind"), axis, fill,
                 read("bounds_error"), made)  # fmt: skip


class Grid(StandIn):
    """What `RegularGridInterpolator` makes: linear, or the nearest point, in each direction."""

    _what = "table on a grid"

    def __init__(self, points: Any, values: Any, method: str, strict: bool, fill: Any) -> None:
        if method not in ("linear", "nearest"):
            raise fail(JitadTypeError, f"method={method!r} of RegularGridInterpolator is not "
                       "supported", "Use 'linear', or splines.")  # fmt: skip
        self.grid = tuple(floats(p) for p in points)
        values = handle(values)
        self.values, self._fill = values if values.dtype.kind == "f" else floats(values), fill
        self._method, self._strict = method, strict

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        if nu is not None or method not in (None, self._method):
            raise fail(JitadTypeError, "method= and nu= of a call are not supported here")
        count = len(self.grid)
        if isinstance(xi, tuple):
            xi = call(np.stack, call(np.broadcast_arrays, *xi), axis=-1)
        xi = floats(xi)
        require_same(xi.shape[-1] if xi.ndim > 1 or count > 1 else 1, count,
                     lambda: "the points have another dimension than the grid")  # fmt: skip
        shape = xi.shape[:-1] if xi.ndim > 1 or count > 1 else xi.shape
        flat = reshape(xi, (extents.product(shape), count))
        inside: Any = True
        corners: list[tuple[Any, Any]] = [((), 1.0)]
        for d, x in enumerate(self.grid):
            at = flat[:, d]
            last = extents.sub(x.shape[0], 2)
            low = call(np.clip, call(np.searchsorted, x, at, side="right") - 1, 0, last)
            s = (at - x[low]) / (x[low + 1] - x[low])
            within = call(np.logical_and, at >= x[0], at <= x[-1])
            inside = within if inside is True else call(np.logical_and, inside, within)
            if self._method == "nearest":
                corners = [((*k, low + (s > 0.5)), w) for k, w in corners]
            else:
                both = ((low, 1.0 - s), (low + 1, s))
                corners = [((*k, i), w * v) for k, w in corners for i, v in both]
        if self._strict:
            require(call(np.all, inside), JitadValueError, "One of the requested xi is out of "
                    "bounds in dimension 0 or another")  # fmt: skip
        found: Any = 0.0
        more = self.values.ndim - count
        for k, w in corners:
            value = self.values[k]
            found = found + (value * with_axes(w, more) if isinstance(w, ArrayHandle) else value)
        if not self._strict and self._fill is not None:
            found = call(np.where, with_axes(inside, more), found, self._fill)
        return reshape(found, (*shape, *found.shape[1:]))


@replaces(si.RegularGridInterpolator, plain=False)
def regular_grid(points: Any, values: Any, method: str = "linear", bounds_error: bool = True,
                 fill_value: Any = np.nan, *, solver: Any = None,
                 solver_args: Any = None) -> Any:  # fmt: skip
    return Grid(points, values, method, bounds_error, fill_value)


@stands_for(si.RegularGridInterpolator)
def grid(value: Any, read: Read) -> Grid:
    return Grid(read("grid"), read("values"), read("method"), read("bounds_error"),
                read("fill_value"))  # fmt: skip
