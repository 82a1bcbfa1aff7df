"""What becomes of medians, percentiles and quantiles, with and without nan?

Each is an element of the sorted rows, or lies between two neighbours; the methods of NumPy say
where.  Formulas: R. J. Hyndman, Y. Fan, *The American Statistician* 50 (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import as_operand, cast, elementwise, require_same, shape_of
from jitad.values.extents import Int
from jitad.values.kind import fail, is_python, require, type_of
from jitad.values.number import Number, bind
from jitad.values.numpy.orders import sort
from jitad.values.numpy.rearranging import taken_along
from jitad.values.numpy.reductions import axes_of
from jitad.values.numpy.shaping import broadcast_to, concatenate, handle, ravel, reshape
from jitad.values.registry import call, replaces, write_out

_NO_VALUE = np._NoValue


def _folded(a: Any, axis: Any) -> tuple[ArrayHandle, tuple[Int, ...]]:
    """The array with the named axes as one, the last; and the shape with them kept as ones."""
    a = handle(a)
    axes = axes_of(axis, a.ndim, of_number=False)
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    moved = a.permuted((*kept, *axes))
    n = extents.product(a.shape[k] for k in axes)
    a = reshape(moved, (*(a.shape[k] for k in kept), n)) if len(axes) != 1 else moved
    return (a if a.dtype.kind == "f" else a.astype(float)), shape


def _not_empty(a: ArrayHandle) -> ArrayHandle:
    """nan along the last axis where there is nothing: it is the median of nothing."""
    missing = extents.largest(extents.sub(1, a.shape[-1]), 0)
    if not isinstance(missing, Number) and not missing:
        return a
    return concatenate([a, call(np.full, (*a.shape[:-1], missing), np.nan, dtype=a.dtype)], -1)


def _with_nan(found: Any, last: Any) -> Any:
    """nan where the largest is nan, which sorts last."""
    return elementwise("where", elementwise("isnan", last), last, found)


@replaces(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
           keepdims: bool = False) -> Any:  # fmt: skip
    a, shape = _folded(a, axis)
    a = sort(_not_empty(a), -1)
    n = a.shape[-1]
    low = a[..., extents.floordiv(extents.sub(n, 1), 2)]
    found = elementwise("mul", elementwise("add", low, a[..., extents.floordiv(n, 2)]), 0.5)
    found = _with_nan(found, a[..., -1])
    found = reshape(found, shape) if keepdims else found
    return found if out is None else write_out(out, found)


@replaces(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
              keepdims: Any = False) -> Any:  # fmt: skip
    return nanquantile(a, 0.5, axis, out, overwrite_input, keepdims=keepdims)


@replaces(np.quantile)
def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
             method: str = "linear", keepdims: Any = False, *,
             weights: Any = None) -> Any:  # fmt: skip
    return _quantiles(a, q, axis, out, method, keepdims, weights, False)


@replaces(np.nanquantile)
def nanquantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
                method: str = "linear", keepdims: Any = False, *,
                weights: Any = None) -> Any:  # fmt: skip
    return _quantiles(a, q, axis, out, method, keepdims, weights, True)


def _hundredth(q: Any) -> Any:
    q = as_operand(q)
    return elementwise("div", q, 100.0) if shape_of(q) else bind("div", q, 100.0)


@replaces(np.percentile)
def percentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    return quantile(a, _hundredth(q), *args, **kwargs)


@replaces(np.nanpercentile)
def nanpercentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    return nanquantile(a, _hundredth(q), *args, **kwargs)


def _quantiles(a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: Any, weights: Any,
               holes: bool) -> Any:  # fmt: skip
    """One quantile, or several in front; with holes, nan counts for nothing."""
    if weights is not None and holes:
        raise fail(JitadTypeError, "weights= of quantiles with nan is not supported here",
                   "Leave the nan out, and take np.quantile.")  # fmt: skip
    if method not in _PLACES:
        raise fail(JitadValueError, f"{method!r} is not a valid method. Use one of: "
                   + ", ".join(_PLACES))  # fmt: skip
    q = as_operand(q)
    inside = elementwise("logical_and", elementwise("ge", q, 0), elementwise("le", q, 1))
    require(call(np.all, inside), JitadValueError, "Quantiles must be in the range [0, 1]")
    keep = keepdims is not _NO_VALUE and bool(keepdims)
    shares = None if weights is None else _spread(handle(weights), handle(a), axis, method)
    a, shape = _folded(a, axis)
    if shares is None:
        a = sort(_not_empty(a) if holes else a, -1)
    else:
        a, shares = _by_size(a, _folded(shares, axis)[0])
    n = _numbers(a) if holes else a.shape[-1]

    def one(a: ArrayHandle, q: Any) -> Any:
        found = _quantile(a, q, n, method) if shares is None else _weighted(a, q, shares)
        found = found if holes else _with_nan(found, a[..., -1])
        return reshape(found, shape) if keep else found

    wide = a if a.dtype == float or method in _ONE_ELEMENT else a.astype(float)
    if shape_of(q):
        flat = ravel(handle(q))
        count = flat._static(flat.shape[0], "the number of quantiles")
        found = call(np.stack, [one(wide, flat[k]) for k in range(count)])
        found = reshape(found, (*shape_of(q), *found.shape[1:]))
    else:
        q = q[()] if isinstance(q, ArrayHandle) else q
        found = one(a if is_python(q) else wide, q)
    return found if out is None else write_out(out, found)


def _numbers(a: ArrayHandle) -> Any:
    """How many elements of each row are numbers; of none: one, which is nan."""
    there = elementwise("logical_not", elementwise("isnan", a)).astype(int)
    return elementwise("maximum", call(np.sum, there, axis=-1), 1)


# -- of weighted elements --------------------------------------------------------------------------


def _spread(w: ArrayHandle, a: ArrayHandle, axis: Any, method: str) -> ArrayHandle:
    """A weight for each element."""
    if method != "inverted_cdf":
        raise fail(JitadValueError, "Only method 'inverted_cdf' supports weights. Got: "
                   f"{method}.")  # fmt: skip
    axes = axes_of(axis, a.ndim)
    if w.ndim != a.ndim:
        if w.ndim != 1 or len(axes) != 1:
            raise fail(JitadTypeError, "1D weights expected when shapes of a and weights differ.")
        w = w.with_axes(tuple(k for k in range(a.ndim) if k != axes[0]))
    for k in axes:
        require_same(w.shape[k], a.shape[k], lambda: "Shape of weights must be consistent with "
                     "shape of a along specified axis.")  # fmt: skip
    right = call(np.all, elementwise("ge", w, 0))
    require(right, JitadValueError, "Weights must be non-negative.")
    return broadcast_to(w, a.shape)


def _by_size(a: ArrayHandle, w: ArrayHandle) -> tuple[ArrayHandle, Any]:
    """Rows sorted, and what share of the weight each element and those before it have."""
    order = call(np.argsort, a, axis=-1)
    a, w = taken_along(a, order, -1), taken_along(w, order, -1)
    total = call(np.cumsum, w, axis=-1, dtype=float)
    whole = total[..., -1:]
    sound = elementwise("logical_and", elementwise("gt", whole, 0.0), call(np.isfinite, whole))
    require(call(np.all, sound), JitadValueError, "Weights included NaN, inf or were all zero.")
    return a, elementwise("stop", elementwise("div", total, whole))


def _weighted(a: ArrayHandle, q: Any, shares: Any) -> Any:
    """The first element up to which there is a share of q, and more than nothing."""
    if type_of(q).dtype == "f4" and not is_python(q):
        shares = shares.astype(np.float32)
    before = elementwise("logical_or", elementwise("lt", shares, q), elementwise("eq", shares, 0.0))
    place = call(np.sum, before, axis=-1)
    return _at(a, elementwise("minimum", place, extents.sub(a.shape[-1], 1)))


# -- where a quantile is -------------------------------------------------------------------------


def _between(alpha: float, beta: float) -> Any:
    """The place, counted from zero, at which a quantile is interpolated linearly."""

    def place(n: Any, q: Any) -> Any:
        slack = elementwise("add", alpha, elementwise("mul", q, 1.0 - alpha - beta))
        return elementwise("sub", elementwise("add", elementwise("mul", n, q), slack), 1.0)

    return place


def _from_first(n: Any, q: Any) -> Any:
    return elementwise("mul", elementwise("mul", elementwise("sub", n, 1), 1.0), q)


def _rounded(name: str) -> Any:
    return lambda n, q: elementwise(name, _from_first(n, q))


def _next_unless(shift: float, at_place: Any) -> Any:
    """The place n q - shift if it is a whole number that `at_place` takes, else the one after."""

    def place(n: Any, q: Any) -> Any:
        at = elementwise("sub", elementwise("mul", n, q), shift)
        below = elementwise("floor", at)
        stays = elementwise("logical_and", elementwise("eq", at, below), at_place(below))
        return elementwise("where", stays, below, elementwise("add", below, 1.0))

    return place


_PLACES: dict[str, Any] = {
    "inverted_cdf": _next_unless(1.0, lambda at: True),
    "averaged_inverted_cdf": lambda n, q: elementwise("sub", elementwise("mul", n, q), 1.0),
    "closest_observation": _next_unless(
        1.5, lambda at: elementwise("eq", elementwise("mod", at, 2.0), 1.0)),
    "interpolated_inverted_cdf": _between(0.0, 1.0),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0.0, 0.0),
    "linear": _from_first,
    "median_unbiased": _between(1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": _between(3.0 / 8.0, 3.0 / 8.0),
    "lower": _rounded("floor"),
    "higher": _rounded("ceil"),
    "midpoint": _from_first,
    "nearest": _rounded("rint"),
}  # fmt: skip
# how much of the second neighbour counts, where it isn't what is left of the place
_PARTS: dict[str, Any] = {
    "midpoint": lambda part: elementwise("where", elementwise("eq", part, 0.0), 0.0, 0.5),
    "averaged_inverted_cdf": lambda part: elementwise(
        "where", elementwise("eq", part, 0.0), 0.5, 1.0),
}  # fmt: skip
_ONE_ELEMENT = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def _int(place: Any) -> Any:
    if shape_of(place):
        return elementwise("cast", place, dtype="i8")
    return bind("cast", place, dtype="i8", py=True)


def _at(a: ArrayHandle, places: Any) -> Any:
    """The element of each row at a place, which may be its own."""
    if not isinstance(places, ArrayHandle) or not places.ndim:
        return a[..., places]
    return taken_along(a, places[..., None], -1)[..., 0]


def _quantile(a: ArrayHandle, q: Any, n: Any, method: str) -> Any:
    """One quantile of sorted rows; interpolated as NumPy does it, from the nearer side."""
    last = elementwise("sub", n, 1)
    place = _PLACES[method](n, q)

    def element(place: Any) -> Any:
        inside = elementwise("maximum", place, 0.0)
        return _at(a, _int(elementwise("minimum", inside, elementwise("mul", last, 1.0))))

    if method in _ONE_ELEMENT:
        return element(place)
    below = elementwise("floor", place)
    low, high = element(below), element(elementwise("add", below, 1.0))
    part = elementwise("sub", place, below)
    part = _PARTS[method](part) if method in _PARTS else part
    part = elementwise("cast", part, dtype=a.dtype.str[1:]) if shape_of(part) else cast(
        part, a.dtype)  # fmt: skip
    gap = elementwise("sub", high, low)
    up = elementwise("add", low, elementwise("mul", gap, part))
    down = elementwise("sub", high, elementwise("mul", gap, elementwise("sub", 1.0, part)))
    return elementwise("where", elementwise("ge", part, 0.5), down, up)
