"""What becomes of functions that sort, rank and look up: sort, median, searchsorted, interp?

An order is an array of indices, which has no derivative; what is sorted is the array taken at it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, cast, elementwise, shape_of
from jitad.values.extents import Int
from jitad.values.kind import fail, is_python, require
from jitad.values.number import Number, bind
from jitad.values.rearranging import taken_along
from jitad.values.reductions import axes_of
from jitad.values.registry import call, replaces, write_out
from jitad.values.shaping import handle, moveaxis, ravel, reshape

# -- sorting --------------------------------------------------------------------------------------


def _order_of(a: ArrayHandle, axis: int) -> ArrayHandle:
    """Indices along an axis that sort it; equals keep their order."""
    moved = moveaxis(a, axis, -1)
    return moveaxis(wrap(bind("argsort", moved.content)), -1, axis)


def _operand(a: Any, axis: Any) -> tuple[ArrayHandle, int]:
    a = handle(a)
    if axis is None:
        return ravel(a), 0
    return a, axes_of(axis, a.ndim)[0]


@replaces(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *,
            stable: Any = None) -> Any:  # fmt: skip
    _refuse_fields(order)
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
    return sort(a, axis, None, order)


@replaces(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect",
                 order: Any = None) -> Any:  # fmt: skip
    return argsort(a, axis, None, order)


@replaces(np.unique)
def unique(ar: Any, return_index: bool = False, return_inverse: bool = False,
           return_counts: bool = False, axis: Any = None, **_: Any) -> Any:  # fmt: skip
    """The first of equals of the sorted elements."""
    if return_index or return_inverse or return_counts or axis is not None:
        raise fail(JitadTypeError, "np.unique is supported for its values only")
    flat = sort(ravel(ar))
    first = call(np.ones, extents.smallest(flat.shape[0], 1), dtype=bool)
    new = call(np.concatenate, [first, elementwise("ne", flat[1:], flat[:-1])])
    return flat[new]


# -- quantiles ------------------------------------------------------------------------------------


def _folded(a: Any, axis: Any) -> tuple[ArrayHandle, tuple[Int, ...]]:
    """The array with the named axes as one, the last; and the shape with them kept as ones."""
    a = handle(a)
    axes = axes_of(axis, a.ndim)
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    moved = a.permuted((*kept, *axes))
    n = extents.product(a.shape[k] for k in axes)
    a = reshape(moved, (*(a.shape[k] for k in kept), n)) if len(axes) != 1 else moved
    return (a if a.dtype.kind == "f" else a.astype(float)), shape


def _with_nan(found: Any, last: Any) -> Any:
    """nan where the largest is nan, which sorts last."""
    return elementwise("where", elementwise("isnan", last), last, found)


@replaces(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
           keepdims: bool = False) -> Any:  # fmt: skip
    a, shape = _folded(a, axis)
    n = a.shape[-1]
    if not isinstance(n, Number) and not n:
        raise fail(JitadValueError, "the median of no elements is not supported here")
    a = sort(a, -1)
    low = a[..., extents.floordiv(extents.sub(n, 1), 2)]
    found = elementwise("mul", elementwise("add", low, a[..., extents.floordiv(n, 2)]), 0.5)
    found = _with_nan(found, a[..., -1])
    found = reshape(found, shape) if keepdims else found
    return found if out is None else write_out(out, found)


@replaces(np.quantile)
def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
             method: str = "linear", keepdims: bool = False, *,
             weights: Any = None) -> Any:  # fmt: skip
    q = as_operand(q)
    inside = elementwise("logical_and", elementwise("ge", q, 0), elementwise("le", q, 1))
    require(call(np.all, inside), JitadValueError, "Quantiles must be in the range [0, 1]")
    if method not in _PLACES or weights is not None:
        raise fail(JitadTypeError, "quantiles are supported without weights=, with method= "
                   + ", ".join(_PLACES))  # fmt: skip
    a, shape = _folded(a, axis)
    a = sort(a, -1)
    last = extents.sub(a.shape[-1], 1)
    if shape_of(q):
        flat = ravel(handle(q))
        a = a if a.dtype == float else a.astype(float)
        n = flat._static(flat.shape[0], "the number of quantiles")
        rows = [_quantile(a, flat[k], last, method) for k in range(n)]
        rows = [reshape(r, shape) if keepdims else r for r in rows]
        found = call(np.stack, rows)
        found = reshape(found, (*shape_of(q), *found.shape[1:]))
    else:
        q = q[()] if isinstance(q, ArrayHandle) else q
        a = a if is_python(q) or a.dtype == float else a.astype(float)
        found = _quantile(a, q, last, method)
        found = reshape(found, shape) if keepdims else found
    return found if out is None else write_out(out, found)


def _step(name: str) -> Any:
    return lambda place: elementwise(name, place)


_PLACES: dict[str, Any] = {
    "linear": None, "midpoint": None,
    "lower": _step("floor"), "higher": _step("ceil"), "nearest": _step("rint"),
}  # fmt: skip


def _quantile(a: ArrayHandle, q: Any, last: Int, method: str) -> Any:
    """One quantile of sorted rows; interpolated as NumPy does it, from the nearer side."""
    place = elementwise("mul", q, elementwise("mul", last, 1.0))
    if method in ("lower", "higher", "nearest"):
        at = bind("cast", _PLACES[method](place), dtype="i8", py=True)
        return _with_nan(a[..., at], a[..., -1])
    below = elementwise("floor", place)
    at = bind("cast", below, dtype="i8", py=True)
    low, high = a[..., at], a[..., extents.smallest(extents.add(at, 1), last)]
    part = elementwise("sub", place, below)
    part = cast(part, a.dtype)
    if method == "midpoint":
        part = elementwise("where", elementwise("eq", part, 0.0), 0.0, 0.5)
    gap = elementwise("sub", high, low)
    up = elementwise("add", low, elementwise("mul", gap, part))
    down = elementwise("sub", high, elementwise("mul", gap, elementwise("sub", 1.0, part)))
    found = elementwise("where", elementwise("ge", part, 0.5), down, up)
    return _with_nan(found, a[..., -1])


# -- without nan ----------------------------------------------------------------------------------


def _at(a: ArrayHandle, places: Any) -> Any:
    """The element of each row at a place of its own."""
    if not isinstance(places, ArrayHandle):
        return a[..., places]
    return taken_along(a, places[..., None], -1)[..., 0]


def _numbers(a: ArrayHandle) -> Any:
    """How many elements of each row are numbers; of none: one, which is nan."""
    there = elementwise("logical_not", elementwise("isnan", a)).astype(int)
    n = call(np.sum, there, axis=-1)
    return elementwise("maximum", n, 1)


def _ints(place: Any) -> Any:
    return elementwise("cast", place, dtype="i8")


@replaces(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
              keepdims: Any = False) -> Any:  # fmt: skip
    return nanquantile(a, 0.5, axis, out, overwrite_input, keepdims=keepdims)


@replaces(np.nanquantile)
def nanquantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
                method: str = "linear", keepdims: Any = False) -> Any:  # fmt: skip
    if method != "linear" or shape_of(as_operand(q)):
        raise fail(JitadTypeError, "np.nanquantile is supported for one q, by method='linear'")
    a, shape = _folded(a, axis)
    a = sort(a, -1)
    last = elementwise("sub", _numbers(a), 1)
    place = elementwise("mul", q, last)
    below = elementwise("floor", place)
    low = _at(a, _ints(below))
    high = _at(a, elementwise("minimum", _ints(elementwise("add", below, 1.0)), last))
    part = elementwise("cast", elementwise("sub", place, below), dtype=a.dtype.str[1:])
    gap = elementwise("sub", high, low)
    up = elementwise("add", low, elementwise("mul", gap, part))
    down = elementwise("sub", high, elementwise("mul", gap, elementwise("sub", 1.0, part)))
    found = elementwise("where", elementwise("ge", part, 0.5), down, up)
    found = reshape(found, shape) if keepdims is True else found
    return found if out is None else write_out(out, found)


@replaces(np.nanpercentile)
def nanpercentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    return nanquantile(a, bind("div", q, 100.0), *args, **kwargs)


@replaces(np.percentile)
def percentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    q = as_operand(q)
    part = elementwise("div", q, 100.0) if shape_of(q) else bind("div", q, 100.0)
    return quantile(a, part, *args, **kwargs)


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
    """The bins rise or fall; which of the two is looked up in the first and the last."""
    bins, x = handle(bins), as_operand(x)
    n = bins.shape[0]
    up = _search(bins, x, not right)
    down = elementwise("sub", n, _search(bins[::-1], x, right))
    return elementwise("where", elementwise("le", bins[0], bins[-1]), up, down)


@replaces(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None,
              weights: Any = None) -> Any:  # fmt: skip
    """Counts (of which the weights have derivatives) and edges."""
    flat = ravel(a)
    if isinstance(bins, str) or density:
        raise fail(JitadTypeError, "np.histogram is supported with bins= a number or the edges, "
                   "without density=")  # fmt: skip
    edges = as_operand(bins)
    if not shape_of(edges):
        low, high = (call(np.min, flat), call(np.max, flat)) if range is None else range
        same = elementwise("eq", low, high)
        low, high = (elementwise("add", x, elementwise("where", same, d, 0.0))
                     for x, d in ((low, -0.5), (high, 0.5)))  # fmt: skip
        edges = call(np.linspace, low, high, extents.add(extents.as_int(bins, "bins"), 1))
    edges = handle(edges)
    n = extents.sub(edges.shape[0], 1)
    at = elementwise("sub", _search(edges, flat, True), 1)
    last = elementwise("eq", flat, edges[-1])
    at = elementwise("where", last, extents.sub(n, 1), at)
    inside = elementwise("logical_and", elementwise("ge", at, 0), elementwise("lt", at, n))
    at = elementwise("where", inside, at, 0)
    weights = None if weights is None else ravel(weights)
    one = call(np.ones, flat.shape, dtype=int) if weights is None else weights
    from jitad.values.picking import accumulate

    counts = call(np.zeros, n, dtype=one.dtype)
    accumulate(counts, at, elementwise("where", inside, one, one.dtype.type(0)))
    return counts, edges


@replaces(np.bincount)
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    from jitad.values.picking import accumulate

    x = handle(x)
    if weights is None:
        one = call(np.ones, x.shape, dtype=int)
    else:
        one = handle(weights)
        one = one if one.dtype == float else one.astype(float)
    n = x.shape[0]
    top = 0 if not isinstance(n, Number) and not n else extents.add(_python_int(call(np.max, x)), 1)
    counts = call(np.zeros, extents.largest(top, minlength), dtype=one.dtype)
    accumulate(counts, x, one)
    return counts


def _python_int(n: Any) -> Int:
    return bind("cast", n, dtype="i8", py=True) if isinstance(n, Number) else int(n)


@replaces(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None,
           period: Any = None) -> Any:  # fmt: skip
    """On the line through the neighbours; at a knot the slope is that of the piece after it."""
    xp, fp = (h if h.dtype == float else h.astype(float) for h in (handle(xp), handle(fp)))
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
    if not isinstance(n, Number) and n < 1:
        raise fail(JitadValueError, "array of sample points is empty")
    if not isinstance(n, Number) and n == 1:
        inside = elementwise("add", elementwise("mul", x, 0.0), fp[0])
    else:
        k = elementwise("sub", _search(xp, x, True), 1)
        k = elementwise("minimum", elementwise("maximum", k, 0), extents.sub(n, 2))
        after = elementwise("add", k, 1)
        rise = elementwise("sub", fp[after], fp[k])
        slope = elementwise("div", rise, elementwise("sub", xp[after], xp[k]))
        inside = elementwise("add", elementwise("mul", slope, elementwise("sub", x, xp[k])), fp[k])
    first, last = (fp[0] if left is None else left), (fp[-1] if right is None else right)
    inside = elementwise("where", elementwise("lt", x, xp[0]), first, inside)
    return elementwise("where", elementwise("gt", x, xp[-1]), last, inside)

