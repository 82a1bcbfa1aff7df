"""What stands in the border that `np.pad` puts around an array, in each of its modes?"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import as_operand, elementwise, shape_of
from jitad.values.extents import Int
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.creation import filled
from jitad.values.numpy.rearranging import along, cast_to
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import broadcast_to, concatenate, handle
from jitad.values.registry import call, replaces

Pair = tuple[Any, Any]
_OPTIONS = {
    "constant": "constant_values", "linear_ramp": "end_values", "reflect": "reflect_type",
    "symmetric": "reflect_type", "maximum": "stat_length", "mean": "stat_length",
    "median": "stat_length", "minimum": "stat_length",
}  # fmt: skip
_STATISTICS = {"maximum": np.max, "mean": np.mean, "median": np.median, "minimum": np.min}
_PLACES = ("edge", "reflect", "symmetric", "wrap")


@replaces(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **others: Any) -> Any:
    a = handle(array)
    if mode not in (*_OPTIONS, *_PLACES, "empty"):
        what = f"mode={mode!r}" if isinstance(mode, str) else "a function for its mode"
        raise fail(JitadTypeError, f"np.pad with {what} is not supported here",
                   "Pad by constants, and write the border yourself.")  # fmt: skip
    option = others.pop(_OPTIONS.get(mode, ""), None)
    if others:
        raise fail(JitadValueError, f"unsupported keyword arguments for mode {mode!r}: "
                   + ", ".join(others))  # fmt: skip
    for axis, widths in enumerate(_widths(pad_width, a.ndim)):
        before, after = widths
        if mode not in ("constant", "empty") and any(isinstance(w, Number) or w for w in widths):
            what = f"can't extend empty axis {axis} by mode {mode!r}"
            extents.require_at_least(a.shape[axis], 1, what, "Pad by constants.")
        if mode in ("constant", "empty"):
            first, last = _for_axis(0 if option is None else option, axis, a.ndim)
            a = _framed(a, axis, _edge(a, axis, before, first), _edge(a, axis, after, last))
        elif mode == "linear_ramp":
            ends = _for_axis(0 if option is None else option, axis, a.ndim)
            a = _ramps(a, axis, widths, ends)
        elif mode in _STATISTICS:
            lengths = _for_axis(option, axis, a.ndim)
            a = _statistics(a, axis, widths, lengths, _STATISTICS[mode])
        elif option == "odd":
            a = _turned(a, axis, widths, mode)
        else:
            places = _inside(_places(a, axis, widths), a.shape[axis], mode)
            a = a[along(axis, places)]
    return call(np.copy, a)


# -- arguments ------------------------------------------------------------------------------------


def _widths(width: Any, ndim: int) -> list[tuple[Int, Int]]:
    if isinstance(width, dict):
        every = {one_axis(k, ndim): w for k, w in width.items()}
        pairs = [_for_axis(every.get(k, 0), 0, 1) for k in range(ndim)]
    else:
        pairs = [_for_axis(width, k, ndim) for k in range(ndim)]
    return [(_width(i), _width(j)) for i, j in pairs]


def _width(given: Any) -> Int:
    n = extents.as_int(given, "pad_width")
    return extents.number_of(n, "index can't contain negative values")


def _for_axis(given: Any, axis: int, ndim: int) -> Pair:
    """What a number, a pair, or a pair for each axis says of both sides of one axis."""
    if not isinstance(given, (tuple, list, np.ndarray)):
        return given, given
    items = list(given)
    rows = [isinstance(i, (tuple, list)) or len(shape_of(i)) > 0 for i in items]
    if all(rows) and len(items) in (1, ndim):
        items = list(items[axis if len(items) == ndim else 0])
    if any(isinstance(i, (tuple, list)) for i in items) or len(items) not in (1, 2):
        raise fail(JitadValueError, "what np.pad is given must be a number, a pair, or a pair for "
                   "each axis")  # fmt: skip
    return items[0], items[-1]


# -- the borders ----------------------------------------------------------------------------------


def _framed(a: ArrayHandle, axis: int, *border: Any) -> ArrayHandle:
    parts = [b for b in (border[0], a, border[1]) if b is not None]
    return concatenate(parts, axis) if len(parts) > 1 else a


def _edge(a: ArrayHandle, axis: int, n: Int, value: Any) -> Any:
    """A border of n equal rows; None where there is none."""
    if not isinstance(n, Number) and n == 0:
        return None
    shape = tuple(n if k == axis else m for k, m in enumerate(a.shape))
    value = as_operand(value)
    if shape_of(value):
        return broadcast_to(cast_to(handle(value), a.dtype), shape)
    value = value.content if isinstance(value, ArrayHandle) else value
    return filled(value if isinstance(value, Number) else a.dtype.type(value), shape, a.dtype)


def _row(a: ArrayHandle, axis: int, k: Int) -> Any:
    """Row k along an axis, which stays, with extent 1."""
    return call(np.expand_dims, a[along(axis, k)], axis)


def _ramps(a: ArrayHandle, axis: int, widths: Pair, ends: Pair) -> ArrayHandle:
    """Lines from the outermost element to the value at the end, on both sides."""

    def ramp(n: Int, near: Any, end: Any) -> Any:
        if not isinstance(n, Number) and n == 0:
            return None
        line = call(np.linspace, handle(end), near[along(axis, 0)], n, endpoint=False, axis=axis)
        return cast_to(line, a.dtype)

    first = ramp(widths[0], _row(a, axis, 0), ends[0])
    last = ramp(widths[1], _row(a, axis, -1), ends[1])
    back = None if last is None else call(np.flip, last, axis)
    return _framed(a, axis, first, back)


def _statistics(a: ArrayHandle, axis: int, widths: Pair, lengths: Pair, of: Any) -> ArrayHandle:
    """The mean, say, of the elements next to the border, or of all."""

    def border(n: Int, part: Any) -> Any:
        if not isinstance(n, Number) and n == 0:
            return None
        found = call(of, a[along(axis, part)], axis=axis, keepdims=True)
        if a.dtype.kind in "iu":
            found = call(np.round, found)
        return _edge(a, axis, n, cast_to(handle(found), a.dtype))

    n = a.shape[axis]
    first, last = (n if k is None else extents.smallest(k, n) for k in lengths)
    return _framed(a, axis, border(widths[0], slice(0, first)),
                   border(widths[1], slice(extents.sub(n, last), None)))  # fmt: skip


def _turned(a: ArrayHandle, axis: int, widths: Pair, mode: str) -> ArrayHandle:
    """Mirrored at both ends, and each mirror image turned over at the end's value."""
    n = a.shape[axis]
    period = n if mode == "symmetric" else extents.sub(n, 1)
    for w in widths:
        if not extents.at_least(period, w):
            require(bind("le", w, period), JitadError, "np.pad with reflect_type='odd' is "
                    "supported for borders narrower than the array", "Pad twice.")  # fmt: skip
    places = _inside(_places(a, axis, widths), n, mode)
    shown = a[along(axis, places)]
    k = _places(a, axis, widths).with_axes(tuple(range(1, a.ndim - axis)))
    below, above = elementwise("lt", k, 0), elementwise("ge", k, n)
    ends = [elementwise("sub", elementwise("mul", 2, _row(a, axis, at)), shown) for at in (0, -1)]
    return handle(elementwise("where", below, ends[0], elementwise("where", above, ends[1], shown)))


def _places(a: ArrayHandle, axis: int, widths: Pair) -> Any:
    """The indices of the padded axis, counted from the first element of the array."""
    total = extents.add(extents.add(widths[0], a.shape[axis]), widths[1])
    return elementwise("sub", call(np.arange, total), widths[0])


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
    k = elementwise("minimum", k, back)
    one = mode == "reflect" and not extents.assume_at_least(n, 2)  # which is shown everywhere
    return elementwise("minimum", k, extents.sub(n, 1)) if one else k
