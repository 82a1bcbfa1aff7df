"""What becomes of functions that sort, rank and look up: sort, searchsorted, histogram, interp?

An order is an array of indices, which has no derivative; what is sorted is the array taken at it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadExtentError, JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, cast, elementwise, require_same, shape_of
from jitad.values.extents import Int
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.rearranging import taken_along
from jitad.values.numpy.reductions import counts_as_flat, one_axis
from jitad.values.numpy.shaping import handle, moveaxis, ravel
from jitad.values.registry import call, replaces

# -- sorting --------------------------------------------------------------------------------------


def _order_of(a: ArrayHandle, axis: int) -> ArrayHandle:
    """Indices along an axis that sort it; equals keep their order."""
    moved = moveaxis(a, axis, -1)
    return moveaxis(wrap(bind("argsort", moved.content)), -1, axis)


def _operand(a: Any, axis: Any) -> tuple[ArrayHandle, int]:
    a = handle(a)
    if axis is None:
        return ravel(a), 0
    return a, one_axis(axis, a.ndim)


@replaces(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *,
            stable: Any = None) -> Any:  # fmt: skip
    _refuse_fields(order)
    axis = None if counts_as_flat(axis, handle(a).ndim) else axis
    return _order_of(*_operand(a, axis))


@replaces(np.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Any:
    """The last key decides first: by every key in turn, the order of equals being kept."""
    order = None
    for key in keys:
        if order is None:
            order = call(np.argsort, key, axis=axis, kind="stable")
        else:
            sorted_key = call(np.take_along_axis, handle(key), order, axis)
            turned = call(np.argsort, sorted_key, axis=axis, kind="stable")
            order = call(np.take_along_axis, order, turned, axis)
    return order


def _refuse_fields(order: Any) -> None:
    if order is not None:
        raise fail(JitadTypeError, "order= names fields of records, which are not supported")


@replaces(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *,
         stable: Any = None) -> Any:  # fmt: skip
    _refuse_fields(order)
    a, axis = _operand(a, axis)
    return taken_along(a, _order_of(a, axis), axis)


@replaces(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect",
              order: Any = None) -> Any:  # fmt: skip
    """A sorted array is partitioned at every place."""
    _check_places(a, kth, axis)
    return sort(a, axis, None, order)


def _check_places(a: Any, kth: Any, axis: Any) -> None:
    h, at = _operand(a, axis)
    n = h.shape[at]
    empty: Any = False  # NumPy takes any place of nothing
    for d in h.shape:
        if not extents.at_least(d, 1):
            here = bind("eq", d, 0) if isinstance(d, Number) else d == 0
            empty = here if empty is False else bind("logical_or", empty, here)
    if empty is True:
        return
    for k in kth if isinstance(kth, (list, tuple, np.ndarray)) else (kth,):
        if isinstance(k, (int, np.integer)):
            least = int(k) + 1 if k >= 0 else -int(k)
        elif isinstance(k, Number) and not shape_of(k):
            least = bind("where", bind("ge", k, 0), extents.add(k, 1), extents.sub(0, k))
        else:
            continue
        if not extents.at_least(n, least):
            traced = isinstance(n, Number) or isinstance(least, Number)
            inside = bind("ge", n, least) if traced else n >= least
            what = "kth" if isinstance(k, Number) else f"kth(={k})"
            require(inside if empty is False else bind("logical_or", empty, inside),
                    JitadValueError, f"{what} out of bounds")


@replaces(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect",
                 order: Any = None) -> Any:  # fmt: skip
    axis = None if counts_as_flat(axis, handle(a).ndim) else axis
    _check_places(a, kth, axis)
    return argsort(a, axis, None, order)


# -- looking up -----------------------------------------------------------------------------------


def _search(a: ArrayHandle, v: Any, right: bool) -> Any:
    content = v.content if isinstance(v, ArrayHandle) else v
    return wrap(bind("searchsorted", a.content, content, right=right))


@replaces(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    a, v = handle(a), as_operand(v)
    if a.ndim != 1 or side not in ("left", "right"):
        raise fail(JitadValueError, "searchsorted takes an array of one axis, and side 'left' or "
                   "'right'")  # fmt: skip
    return _search(a if sorter is None else a[sorter], v, side == "right")


@replaces(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The bins rise or fall, all of them: neighbours say which of the two."""
    bins, x = handle(bins), as_operand(x)
    n = bins.shape[0]
    up = _search(bins, x, not right)
    down = elementwise("sub", n, _search(bins[::-1], x, not right))
    rises, falls = (
        elementwise("logical_not", call(np.any, elementwise(name, bins[:-1], bins[1:])))
        for name in ("gt", "lt")
    )
    require(elementwise("logical_or", rises, falls), JitadValueError,
            "bins must be monotonically increasing or decreasing")  # fmt: skip
    return elementwise("where", rises, up, down)


@replaces(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Given, or equally far apart between the ends of the range or of the numbers."""
    if isinstance(bins, str):
        raise fail(JitadTypeError, f"bins={bins!r} looks at the numbers for how many bins there "
                   "are", "Pass bins= as a number, or the edges.")  # fmt: skip
    edges = as_operand(bins)
    if shape_of(edges):
        return handle(edges)
    flat = ravel(a)
    if range is None and not isinstance(flat.shape[0], Number) and not flat.shape[0]:
        range = (0.0, 1.0)  # as NumPy has it for no numbers
    if range is None and not extents.assume_at_least(flat.shape[0], 1):
        require(bind("ge", flat.shape[0], 1), JitadExtentError, "np.histogram of no numbers has "
                "edges from 0 to 1, and whether there are some is not known while tracing",
                "Pass range= or the edges.")  # fmt: skip
    low, high = (call(np.min, flat), call(np.max, flat)) if range is None else range
    same = elementwise("eq", low, high)
    low, high = (elementwise("add", x, elementwise("where", same, d, 0.0))
                 for x, d in ((low, -0.5), (high, 0.5)))  # fmt: skip
    return call(np.linspace, low, high, extents.add(extents.as_int(bins, "bins"), 1))


@replaces(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None,
              weights: Any = None) -> Any:  # fmt: skip
    """Counts (of which the weights have derivatives) and edges."""
    from jitad.values.picking import accumulate

    flat, edges = ravel(a), histogram_bin_edges(a, bins, range)
    n = extents.sub(edges.shape[0], 1)
    at = elementwise("sub", _search(edges, flat, True), 1)
    last = elementwise("eq", flat, edges[-1])
    at = elementwise("where", last, extents.sub(n, 1), at)
    inside = elementwise("logical_and", elementwise("ge", at, 0), elementwise("lt", at, n))
    at = elementwise("where", inside, at, 0)
    one = call(np.ones, flat.shape, dtype=int) if weights is None else ravel(weights)
    counts = call(np.zeros, n, dtype=one.dtype)
    accumulate(counts, at, elementwise("where", inside, one, one.dtype.type(0)))
    if density:
        total = call(np.sum, counts)
        counts = elementwise("div", elementwise("div", counts, call(np.diff, edges)), total)
    return counts, edges


@replaces(np.bincount)
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    from jitad.values.picking import accumulate

    x = handle(x)
    if weights is None:
        one = call(np.ones, x.shape, dtype=int)
    else:
        one = handle(weights)
        if one.ndim != 1:
            raise fail(JitadValueError, "np.bincount takes weights along one axis")
        require_same(x.shape[0], one.shape[0], lambda: "the weights and the list don't have the "
                     "same length")  # fmt: skip
        one = one if one.dtype == float else one.astype(float)
    require(elementwise("ge", call(np.min, x, initial=0), 0), JitadValueError,
            "np.bincount takes no negative numbers")  # fmt: skip
    least = extents.number_of(minlength, "'minlength' must not be negative")
    top = extents.add(_python_int(call(np.max, x, initial=-1)), 1)
    counts = call(np.zeros, extents.largest(top, least), dtype=one.dtype)
    accumulate(counts, x, one)
    return counts


def _python_int(n: Any) -> Int:
    return bind("cast", n, dtype="i8", py=True) if isinstance(n, Number) else int(n)


@replaces(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None,
           period: Any = None) -> Any:  # fmt: skip
    """On the line through the neighbours; at a knot the slope is that of the piece after it."""
    xp, fp = (h if h.dtype == float else h.astype(float) for h in (handle(xp), handle(fp)))
    if xp.ndim != 1 or fp.ndim != 1:
        raise fail(JitadValueError, "data points of interp must be arrays of one axis")
    require_same(fp.shape[0], xp.shape[0], lambda: "fp and xp are not of the same length.")
    x = elementwise("mul", x, 1.0)
    x = x if isinstance(x, ArrayHandle) else cast(x, np.dtype("f8"))
    if period is not None:
        period = elementwise("abs", period)
        x, xp = elementwise("mod", x, period), elementwise("mod", xp, period)
        by = _order_of(xp, 0)
        xp, fp = xp[by], fp[by]
        xp = call(np.concatenate, [elementwise("sub", xp[-1:], period), xp,
                                   elementwise("add", xp[:1], period)])  # fmt: skip
        fp = call(np.concatenate, [fp[-1:], fp, fp[:1]])
        left = right = None
    n = xp.shape[0]
    several = extents.assume_at_least(n, 2)
    extents.require_at_least(n, 1, "array of sample points is empty")
    if not isinstance(n, Number) and n == 1:
        inside = call(np.broadcast_to, fp[0], shape_of(x)) if shape_of(x) else fp[0]
    else:
        k = elementwise("sub", _search(xp, x, True), 1)
        last = extents.sub(n, 2) if several else extents.largest(extents.sub(n, 2), 0)
        k = elementwise("minimum", elementwise("maximum", k, 0), last)
        after = elementwise("add", k, 1)
        if not several:
            after = elementwise("minimum", after, extents.sub(n, 1))
        rise, run = elementwise("sub", fp[after], fp[k]), elementwise("sub", xp[after], xp[k])
        slope = elementwise("div", rise, run)
        inside = elementwise("add", elementwise("mul", slope, elementwise("sub", x, xp[k])), fp[k])
        # Where that is not finite, from the other side, as NumPy does it; at a knot, its value.
        back = elementwise("sub", x, xp[after])
        other = elementwise("add", elementwise("mul", slope, back), fp[after])
        flat = elementwise("logical_and", elementwise("eq", fp[k], fp[after]),
                           elementwise("eq", x, x))  # fmt: skip
        level = elementwise("logical_and", elementwise("isnan", other), flat)
        other = elementwise("where", level, fp[k], other)
        for at in (k, after):
            other = elementwise("where", elementwise("eq", x, xp[at]), fp[at], other)
        inside = elementwise("where", elementwise("isnan", inside), other, inside)
        if not several:
            inside = elementwise("where", elementwise("eq", n, 1), fp[0], inside)
    first, last = (fp[0] if left is None else left), (fp[-1] if right is None else right)
    inside = elementwise("where", elementwise("lt", x, xp[0]), first, inside)
    return elementwise("where", elementwise("gt", x, xp[-1]), last, inside)

