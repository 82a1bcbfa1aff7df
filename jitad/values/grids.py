"""What becomes of NumPy's functions that make arrays around arrays: borders, grids, patterns?"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import as_operand, elementwise, shape_of
from jitad.values.creation import filled, kind_of, shape_tuple
from jitad.values.extents import Int
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.rearranging import along
from jitad.values.reductions import axes_of
from jitad.values.registry import call, replaces
from jitad.values.shaping import broadcast_to, concatenate, handle, reshape

# -- borders -------------------------------------------------------------------------------------


def _pad_widths(width: Any, ndim: int) -> list[tuple[Int, Int]]:
    if isinstance(width, dict):
        every = {axes_of(k, ndim)[0]: w for k, w in width.items()}
        return [_pair(every.get(k, 0)) for k in range(ndim)]
    pairs = width if isinstance(width, (tuple, list, np.ndarray)) else (width,)
    if len(pairs) == ndim and all(np.ndim(p) == 1 for p in pairs):
        return [_pair(p) for p in pairs]
    if len(pairs) == 1:
        return [_pair(pairs[0])] * ndim
    if len(pairs) == 2 and not any(isinstance(p, (tuple, list)) for p in pairs):
        return [_pair(pairs)] * ndim
    raise fail(JitadValueError, "pad_width must be a number, a pair, or a pair for each axis")


def _pair(w: Any) -> tuple[Int, Int]:
    items = tuple(w) if isinstance(w, (tuple, list, np.ndarray)) else (w,)
    before, after = items if len(items) == 2 else (items[0], items[0])
    return extents.as_int(before, "pad_width"), extents.as_int(after, "pad_width")


@replaces(np.pad)
def pad(array: Any, pad_width: Any, mode: str = "constant", **others: Any) -> Any:
    a = handle(array)
    widths = _pad_widths(pad_width, a.ndim)
    if mode == "constant":
        fills = others.pop("constant_values", 0)
    if others or mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise fail(JitadTypeError, f"np.pad with mode={mode!r} and {sorted(others)} is not "
                   "supported here", "Use constant, edge, reflect, symmetric or wrap.")  # fmt: skip
    for axis, (before, after) in enumerate(widths):
        if mode == "constant":
            a = _padded(a, axis, before, after, *_constants(fills, axis, a.ndim))
            continue
        n = a.shape[axis]
        total = extents.add(extents.add(before, n), after)
        k = elementwise("sub", call(np.arange, total), before)
        a = a[along(axis, _inside(k, n, mode))]
    return call(np.copy, a)


def _constants(fills: Any, axis: int, ndim: int) -> tuple[Any, Any]:
    """The values in front and behind; given as pad widths are."""
    if not isinstance(fills, (tuple, list)) and not shape_of(as_operand(fills)):
        return fills, fills
    items = list(fills)
    if len(items) == ndim and all(np.ndim(i) for i in items):
        items = list(items[axis])
    elif len(items) == 1 and np.ndim(items[0]):
        items = list(items[0])
    return items[0], items[-1]


def _padded(a: ArrayHandle, axis: int, before: Int, after: Int, first: Any, last: Any) -> Any:
    parts = [a]
    for n, value, front in ((before, first, True), (after, last, False)):
        if not isinstance(n, Number) and n == 0:
            continue
        shape = tuple(n if k == axis else m for k, m in enumerate(a.shape))
        value = value if isinstance(value, Number) else a.dtype.type(value)
        more = filled(value, shape, a.dtype)
        parts = [more, *parts] if front else [*parts, more]
    return concatenate(parts, axis)


def _inside(k: Any, n: Int, mode: str) -> Any:
    """Where in an axis of extent n a padded index k, which may be outside, looks."""
    if mode == "edge":
        low = elementwise("maximum", k, 0)
        return elementwise("minimum", low, extents.sub(n, 1))
    if mode == "wrap":
        return elementwise("mod", k, n)
    # there and back again; "reflect" shows the ends once
    period = extents.mul(2, n if mode == "symmetric" else extents.largest(extents.sub(n, 1), 1))
    k = elementwise("mod", k, period)
    back = elementwise("sub", extents.sub(period, 1) if mode == "symmetric" else period, k)
    return elementwise("minimum", k, back)


# -- grids ----------------------------------------------------------------------------------------


@replaces(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    out = []
    for k, a in enumerate(map(handle, args)):
        if a.ndim != 1:
            raise fail(JitadValueError, "Cross index must be 1 dimensional")
        if a.dtype.kind == "b":
            (a,) = call(np.nonzero, a)
        out.append(a.with_axes(tuple(j for j in range(len(args)) if j != k)))
    return tuple(out)


@replaces(np.indices, plain=False)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    shape = shape_tuple(dimensions)
    out = []
    for k, n in enumerate(shape):
        a = call(np.arange, n).with_axes(tuple(j for j in range(len(shape)) if j != k))
        out.append(a if sparse else broadcast_to(a, shape))
    if sparse:
        return tuple(out)
    stacked = call(np.stack, out)
    return stacked if kind_of(dtype) == stacked.dtype else stacked.astype(dtype)


@replaces(np.fromfunction, plain=False)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    return function(*indices(shape, dtype), **kwargs)


@replaces(np.tri, plain=False)
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = float, **_: Any) -> Any:
    from jitad.values.creation import astype

    n, m = shape_tuple((N, N if M is None else M))
    rows, columns = call(np.arange, n).with_axes((1,)), call(np.arange, m).with_axes((0,))
    return astype(elementwise("ge", elementwise("add", rows, k), columns), dtype)


@replaces(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = handle(x)
    n = x.shape[0] if N is None else extents.as_int(N, "the number of columns")
    exponents = call(np.arange, n).with_axes((0,))
    if not increasing:
        exponents = elementwise("sub", extents.sub(n, 1), exponents)
    return elementwise("pow", x.with_axes((1,)), exponents)


@replaces(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Every element of a times all of b: axes in pairs, which are then merged."""
    a, b = handle(a), handle(b)
    ndim = max(a.ndim, b.ndim)
    if not ndim:
        return elementwise("mul", a, b)
    a = a.with_axes(tuple(range(ndim - a.ndim))) if a.ndim < ndim else a
    b = b.with_axes(tuple(range(ndim - b.ndim))) if b.ndim < ndim else b
    left = a.with_axes(tuple(range(1, 2 * ndim, 2)))
    right = b.with_axes(tuple(range(0, 2 * ndim, 2)))
    merged = tuple(extents.mul(n, m) for n, m in zip(a.shape, b.shape, strict=True))
    return reshape(elementwise("mul", left, right), merged)



