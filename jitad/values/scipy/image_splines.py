"""What becomes of the interpolation of scipy.ndimage: images at places between their points?

A spline of an order up to 5 goes through the points: its coefficients solve a banded system along
each axis, and around a place some of them are weighed.  Computed in double precision, as in SciPy.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.ndimage as nd
import scipy.special as sp

from jitad.errors import JitadError, JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.active import is_traced
from jitad.values.extents import Int
from jitad.values.kind import fail, require
from jitad.values.number import Number
from jitad.values.numpy.orders import _python_int
from jitad.values.numpy.reductions import axes_of, one_axis
from jitad.values.numpy.shaping import handle, moveaxis, reshape
from jitad.values.registry import call, replaces
from jitad.values.scipy.images import _for_all, _given, _image
from jitad.values.scipy.interpolants import weighed

# A B-spline of each order at whole numbers, from its middle on.
_AT_POINTS = {2: (6 / 8, 1 / 8), 3: (4 / 6, 1 / 6), 4: (230 / 384, 76 / 384, 1 / 384),
              5: (66 / 120, 26 / 120, 1 / 120)}  # fmt: skip
_MODES = ("constant", "nearest", "mirror", "reflect")
_FEWEST = 16  # of fewer points, SciPy begins its recursion for `reflect` with another number
_BESIDE = 12  # points that are put beside an image whose edges go on


def _mode(mode: str) -> str:
    mode = {"grid-mirror": "reflect"}.get(mode, mode)
    if mode not in _MODES:
        raise fail(JitadTypeError, f"mode={mode!r} of interpolation is not supported here")
    return mode


# -- the coefficients of a spline through the points ----------------------------------------------


def _coefficients(a: Any, axis: int, order: int, mode: str) -> Any:
    """Those whose spline goes through the points along an axis."""
    moved = moveaxis(a, axis, 0)
    n, rest = moved.shape[0], moved.shape[1:]
    if order < 2 or (not isinstance(n, Number) and n < 2):
        return a
    if mode == "reflect":
        require(n >= _FEWEST if not isinstance(n, Number) else call(np.greater_equal, n, _FEWEST),
                JitadError, f"in images of fewer than {_FEWEST} points SciPy's splines of "
                "mode='reflect' don't go through the points: that is not supported here",
                "Use mode='mirror' or 'nearest'.")  # fmt: skip
    shares = _AT_POINTS[order]
    reach, rows = len(shares) - 1, call(np.arange, n)
    band = call(np.zeros, (2 * reach + 1, n))
    for j in range(-reach, reach + 1):
        column = _index(rows + j, n, "reflect" if mode in ("reflect", "nearest") else "mirror")
        call(np.add.at, band, (reach + rows - column, column), shares[abs(j)])
    flat = reshape(moved, (n, extents.product(rest)))
    found = reshape(call(sl.solve_banded, (reach, reach), band, flat), (n, *rest))
    return moveaxis(handle(found), 0, axis)


@replaces(nd.spline_filter1d)
def spline_filter1d(input: Any, order: int = 3, axis: int = -1, output: Any = np.float64,
                    mode: str = "mirror") -> Any:  # fmt: skip
    a = _image(input)
    axis = one_axis(axis, a.ndim)
    return _given(_coefficients(a, axis, _order(order), _mode(mode)), input, output)


@replaces(nd.spline_filter)
def spline_filter(input: Any, order: int = 3, output: Any = np.float64,
                  mode: str = "mirror") -> Any:  # fmt: skip
    a = _image(input)
    for axis in range(a.ndim):
        a = _coefficients(a, axis, _order(order), _mode(mode))
    return _given(a, input, output)


def _order(order: Any) -> int:
    order = int(order)
    if not 0 <= order <= 5:
        raise fail(JitadValueError, "spline order not supported")
    return order


# -- around a place -------------------------------------------------------------------------------


def _mapped(t: Any, n: Int, mode: str) -> Any:
    """A coordinate as one in the array."""
    if mode == "nearest":
        return call(np.clip, t, 0, extents.sub(n, 1))
    if mode == "mirror":
        if not isinstance(n, Number) and n == 1:
            return t * 0  # one point is its own mirror image
        period = extents.mul(2, extents.largest(extents.sub(n, 1), 1))
        t = call(np.remainder, t, period)
        t = call(np.minimum, t, period - t)
        return t if extents.at_least(n, 2) else call(np.minimum, t, extents.sub(n, 1))
    return t


def _index(i: Any, n: Int, mode: str) -> Any:
    if mode == "reflect":
        i = call(np.remainder, i, extents.mul(2, n))
        return call(np.where, i >= n, extents.sub(extents.mul(2, n), 1) - i, i)
    if mode == "mirror" and (isinstance(n, Number) or n > 1):
        return _mapped(i, n, mode)
    return call(np.clip, i, 0, extents.sub(n, 1))


def _around(t: Any, n: Int, order: int, mode: str) -> list[tuple[Any, Any]]:
    """The points around a coordinate, and what each counts."""
    if order == 0:
        return [(_index(call(np.floor, t + 0.5).astype(int), n, mode), 1.0)]
    shift = 0.0 if order % 2 else 0.5
    low = call(np.floor, t + shift)
    u, first = t + shift - low, low.astype(int) - order // 2
    shares: list[Any] = [1.0]
    for r in range(1, order + 1):  # B-splines whose knots are whole numbers (Cox and de Boor)
        up: list[Any] = [0.0] * (r + 1)
        for j, share in enumerate(shares):
            up[j] = up[j] + (j + 1.0 - u) * share / r
            up[j + 1] = up[j + 1] + (u + (r - 1.0 - j)) * share / r
        shares = up
    # where nothing lies beyond the edge, the splines were made as if it were a mirror
    beyond = "mirror" if mode == "constant" and order > 1 else mode
    return [(_index(first + j, n, beyond), share) for j, share in enumerate(shares)]


def _corners(a: Any, around: Any) -> Any:
    found: Any = 0.0
    for corner in itertools.product(*around):
        found = found + a[tuple(i for i, _ in corner)] * math.prod(w for _, w in corner)
    return found


@replaces(nd.map_coordinates)
def map_coordinates(input: Any, coordinates: Any, output: Any = None, order: int = 3,
                    mode: str = "constant", cval: Any = 0.0,
                    prefilter: bool = True) -> Any:  # fmt: skip
    a, order, mode = _image(input), _order(order), _mode(mode)
    places = coordinates if isinstance(coordinates, (list, tuple)) else handle(coordinates)
    if len(places) != a.ndim:
        raise fail(JitadValueError, "invalid shape for coordinate array")
    beside = _BESIDE if prefilter and order > 1 and mode == "nearest" else 0
    a = call(np.pad, a, beside, mode="edge") if beside else a
    for axis in range(a.ndim if prefilter else 0):
        a = _coefficients(a, axis, order, mode)
    inside: Any = True
    around = []
    for d in range(a.ndim):
        n, t = a.shape[d], handle(places[d]) * 1.0 + beside
        if mode == "constant":
            within = call(np.logical_and, t >= 0.0, t <= extents.sub(n, 1))
            inside = within if inside is True else call(np.logical_and, inside, within)
        t = t if mode == "nearest" and order > 1 else _mapped(t, n, mode)
        around.append(_around(t, n, order, mode))
    found = weighed(a, around) if order > 1 else _corners(a, around)
    if inside is not True:
        found = call(np.where, inside, found, cval)
    return _given(found, input, output)


# -- moved, stretched, turned ---------------------------------------------------------------------


def _on_grid(a: Any, shape: Any, source: Any, *how: Any) -> Any:
    axes = [source(d, call(np.arange, n)) for d, n in enumerate(shape)]
    coordinates = call(np.meshgrid, *axes, indexing="ij")
    return map_coordinates(a, list(coordinates), None, *how)


@replaces(nd.shift)
def shift(input: Any, shift: Any, output: Any = None, order: int = 3, mode: str = "constant",
          cval: Any = 0.0, prefilter: bool = True) -> Any:  # fmt: skip
    a = handle(input)
    by = handle(shift)
    each = [by[k] for k in range(a.ndim)] if by.ndim else [by[()]] * a.ndim
    found = _on_grid(a, a.shape, lambda d, i: i - each[d], order, mode, cval, prefilter)
    return _given(found, input, output)


def _zoomed(n: Int, factor: Any) -> Int:
    if not isinstance(n, Number):
        return round(n * factor)
    return _python_int(call(np.rint, call(np.multiply, float(factor), n)))


def _step(n: Int, m: Int) -> Any:
    """From one place to the next, for m of them among n."""
    if not isinstance(n, Number) and not isinstance(m, Number):
        return (n - 1) / (m - 1) if m > 1 else 1.0
    gaps = call(np.maximum, extents.sub(m, 1), 1)
    wide = call(np.true_divide, extents.sub(n, 1), gaps)
    return call(np.where, call(np.greater, m, 1), wide, 1.0)


@replaces(nd.zoom)
def zoom(input: Any, zoom: Any, output: Any = None, order: int = 3, mode: str = "constant",
         cval: Any = 0.0, prefilter: bool = True, *, grid_mode: bool = False) -> Any:  # fmt: skip
    a = handle(input)
    factors = _for_all(zoom, a.ndim)
    if grid_mode or any(isinstance(f, Number) for f in factors):
        raise fail(JitadTypeError, "zoom is supported by known factors, without grid_mode=")
    shape = [_zoomed(n, f) for n, f in zip(a.shape, factors, strict=True)]
    steps = [_step(n, m) for n, m in zip(a.shape, shape, strict=True)]
    found = _on_grid(a, shape, lambda d, i: i * steps[d], order, mode, cval,
                     prefilter)  # fmt: skip
    return _given(found, input, output)


@replaces(nd.affine_transform)
def affine_transform(input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None,
                     output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
                     prefilter: bool = True) -> Any:  # fmt: skip
    a, m, by = handle(input), handle(matrix), handle(offset)
    n = a.ndim
    if m.ndim == 2 and m.shape[1] == n + 1:
        m, by = m[:n, :n], m[:n, n]
    m = call(np.diag, m) if m.ndim == 1 else m
    each = [by[k] for k in range(n)] if by.ndim else [by[()]] * n
    shape = a.shape if output_shape is None else output_shape
    grid = call(np.meshgrid, *(call(np.arange, k) for k in shape), indexing="ij")
    places = [sum((m[d, k] * grid[k] for k in range(n)), each[d]) for d in range(n)]
    return _given(map_coordinates(a, places, None, order, mode, cval, prefilter), input, output)


@replaces(nd.rotate)
def rotate(input: Any, angle: Any, axes: Any = (1, 0), reshape: bool = True, output: Any = None,
           order: int = 3, mode: str = "constant", cval: Any = 0.0,
           prefilter: bool = True) -> Any:  # fmt: skip
    """About the middle; `reshape`: into an array that holds all of it, for a known angle."""
    a = handle(input)
    if a.ndim != 2 or sorted(axes_of(tuple(axes), 2)) != [0, 1]:
        raise fail(JitadTypeError, "rotate is supported for arrays with two axes",
                   "Turn one plane after the other.")  # fmt: skip
    c, s = call(sp.cosdg, angle), call(sp.sindg, angle)
    turn = call(np.array, [[c, s], [call(np.negative, s), c]])
    shape = a.shape
    if reshape:
        if is_traced(angle):
            raise fail(JitadTypeError, "how large an array is that holds all of an image depends "
                       "on the angle, which is traced", "Give reshape=False.")  # fmt: skip
        sizes = [a._static(n, "an extent of an array that is turned") for n in a.shape]
        corners = np.array([[0, 0, sizes[0], sizes[0]], [0, sizes[1], 0, sizes[1]]])
        shape = tuple(np.add(np.ptp(turn.peek() @ corners, axis=1), 0.5).astype(int).tolist())
    middles = [[call(np.multiply, extents.sub(n, 1), 0.5) for n in s] for s in (a.shape, shape)]
    offset = call(np.subtract, middles[0], call(np.matmul, turn, call(np.array, middles[1])))
    return affine_transform(a, turn, offset, shape, output, order, mode, cval, prefilter)
