"""What becomes of NumPy's statistics: averages, covariances, and what ignores nan?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError, JitadValueError, JitadZeroDivisionError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import as_operand, elementwise, require_same, shape_of
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.products import matmul
from jitad.values.numpy.reductions import axes_of, counted, one_axis
from jitad.values.numpy.shaping import broadcast_to, concatenate, handle, reshape
from jitad.values.registry import call, of_complex, replaces, write_out

# -- averages -------------------------------------------------------------------------------------


@replaces(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *,
            keepdims: Any = False) -> Any:  # fmt: skip
    a = handle(a)
    axes = axes_of(axis, a.ndim)
    keepdims = keepdims is True
    if weights is None:
        found = call(np.mean, a, axis=axis, keepdims=keepdims)
        total: Any = elementwise("mul", extents.product(a.shape[k] for k in axes), 1.0)
    else:
        w = handle(weights)
        kind = np.result_type(a.dtype, w.dtype, *((np.float64,) if a.dtype.kind in "iub" else ()))
        w = w if w.dtype == kind else w.astype(kind)
        if w.ndim != a.ndim:
            if w.ndim != 1 or len(axes) != 1:
                raise fail(JitadTypeError, "1D weights expected when shapes of a and weights "
                           "differ.")  # fmt: skip
            require_same(w.shape[0], a.shape[axes[0]], lambda: "Length of weights not compatible "
                         "with specified axis.")  # fmt: skip
            w = reshape(w, tuple(w.shape[0] if k == axes[0] else 1 for k in range(a.ndim)))
            w = broadcast_to(w, a.shape)
        total = call(np.sum, w, axis=axis, keepdims=keepdims)
        require(call(np.all, elementwise("ne", total, 0)), JitadZeroDivisionError,
                "Weights sum to zero, can't be normalized")  # fmt: skip
        weighted = call(np.sum, elementwise("mul", a, w), axis=axis, keepdims=keepdims)
        found = elementwise("div", weighted, total)
    if not returned:
        return found
    if shape_of(found) and not shape_of(total):
        total = call(np.full, shape_of(found), total)
    return found, total


@replaces(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    ends = [call(f, a, axis=axis, keepdims=keepdims is True) for f in (np.max, np.min)]
    found = elementwise("sub", *ends)
    return found if out is None else write_out(out, found)


@replaces(np.cov)
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
        fweights: Any = None, aweights: Any = None, *, dtype: Any = None) -> Any:  # fmt: skip
    x = _rows(m, rowvar)
    if y is not None:
        x = concatenate([x, _rows(y, rowvar)], 0)
    x = x if x.dtype == float else x.astype(float)
    x = x if dtype is None else x.astype(dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    for given in (fweights, aweights):
        if given is not None:
            w = handle(given) if w is None else elementwise("mul", w, given)
    if w is None:
        center = call(np.mean, x, axis=1, keepdims=True)
        number: Any = extents.sub(x.shape[1], ddof)
        turned = elementwise("sub", x, center)
        product = matmul(turned, turned.T)
    else:
        center = average(x, 1, w, keepdims=True)
        total = call(np.sum, w)
        number = total
        if ddof:
            by = ddof if aweights is None else elementwise("div", elementwise(
                "mul", ddof, call(np.sum, elementwise("mul", w, aweights))), total)  # fmt: skip
            number = elementwise("sub", total, by)
        turned = elementwise("sub", x, center)
        product = matmul(turned, elementwise("mul", turned, w).T)
    if isinstance(number, int):  # too few observations give nan, as 0 * inf
        scale: Any = 1.0 / number if number > 0 else math.inf
    else:
        scale = elementwise("div", 1.0, elementwise("maximum", number, 0))
    found = elementwise("mul", product, scale)
    one = not isinstance(x.shape[0], Number) and x.shape[0] == 1
    if not one and not extents.at_least(x.shape[0], 2):  # the number of axes depends on it
        require(bind("ne", x.shape[0], 1), JitadError, "the covariance of one row is a number,"
                " and how many rows there are is not known while tracing",
                "Use np.var for one row.")  # fmt: skip
    return found[0, 0, ...] if one else found  # an array without axes, which can be written to


def _rows(m: Any, rowvar: bool) -> ArrayHandle:
    m = handle(m)
    if m.ndim > 2:
        raise fail(JitadValueError, "m has more than 2 dimensions")
    x = call(np.atleast_2d, m)
    return x if rowvar or m.ndim == 1 else x.T


@replaces(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = cov(x, y, rowvar, dtype=dtype)
    if not shape_of(c):
        return elementwise("div", c, c)
    size = call(np.sqrt, call(np.diag, c))
    c = elementwise("div", elementwise("div", c, size.with_axes((1,))), size.with_axes((0,)))
    return call(np.clip, c, -1.0, 1.0)


# -- without nan ----------------------------------------------------------------------------------


def _ignoring(original: Any, of: Any, value: Any) -> None:
    """nan counts as `value`."""

    @replaces(original)
    def replacement(a: Any, *args: Any, **kwargs: Any) -> Any:
        a = handle(a)
        return call(of, elementwise("where", elementwise("isnan", a), value, a), *args, **kwargs)

    @of_complex(original)
    def of_complex_numbers(a: Any, *args: Any, **kwargs: Any) -> Any:
        return call(of, call(np.where, call(np.isnan, a), value, a), *args, **kwargs)


_ignoring(np.nansum, np.sum, 0)
_ignoring(np.nanprod, np.prod, 1)
_ignoring(np.nancumsum, np.cumsum, 0)
_ignoring(np.nancumprod, np.cumprod, 1)


def _there(a: Any, where: Any) -> Any:
    number = elementwise("logical_not", elementwise("isnan", a))
    every = where is True or where is np._NoValue
    return number if every else elementwise("logical_and", number, where)


def _moment(original: Any, of: Any) -> None:
    @replaces(original)
    def replacement(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *args: Any,
                    where: Any = True, **kwargs: Any) -> Any:  # fmt: skip
        a = handle(a)
        axis = axis if a.ndim else None
        there = _there(a, where)
        clean = elementwise("where", there, a, 0)
        found = call(of, clean, axis, dtype, None, *args, where=there, **kwargs)
        if original is not np.nanmean:  # where NumPy gives nan, not inf, for too few elements
            found = elementwise("where", elementwise("isinf", found), np.nan, found)
        return found if out is None else write_out(out, found)


for _original, _of in ((np.nanmean, np.mean), (np.nanvar, np.var), (np.nanstd, np.std)):
    _moment(_original, _of)


def _extreme(original: Any, of: Any, worst: float) -> None:
    @replaces(original)
    def replacement(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False,
                    **kwargs: Any) -> Any:  # fmt: skip
        a = handle(a)
        if a.dtype.kind != "f":  # and stays what it is
            return call(of, a, axis=axis, out=out, keepdims=keepdims is True, **kwargs)
        there = _there(a, True)
        found = call(of, elementwise("where", there, a, worst), axis=axis,
                     keepdims=keepdims is True, **kwargs)  # fmt: skip
        if kwargs.get("initial", np._NoValue) is np._NoValue:
            some = elementwise("gt", counted(a, axis, keepdims is True, there), 0)
            found = elementwise("where", some, found, np.nan)
        return found if out is None else write_out(out, found)


_extreme(np.nanmax, np.max, -np.inf)
_extreme(np.nanmin, np.min, np.inf)


def _position(original: Any, of: Any, worst: float) -> None:
    @replaces(original)
    def replacement(a: Any, *args: Any, **kwargs: Any) -> Any:
        a = handle(a)
        if a.dtype.kind == "f":
            a = elementwise("where", elementwise("isnan", a), worst, a)
        return call(of, a, *args, **kwargs)


_position(np.nanargmax, np.argmax, -np.inf)
_position(np.nanargmin, np.argmin, np.inf)


# -- running sums ---------------------------------------------------------------------------------


def _running(original: Any, plain: Any, first: int) -> None:
    @replaces(original)
    def replacement(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
                    include_initial: bool = False) -> Any:  # fmt: skip
        x = call(np.atleast_1d, handle(x))
        if axis is None and x.ndim > 1:
            raise fail(JitadValueError, "For arrays which have more than one dimension ``axis`` "
                       "argument is required.")  # fmt: skip
        axis = 0 if axis is None else one_axis(axis, x.ndim)
        found = call(plain, x, axis=axis, dtype=dtype)
        if include_initial:
            shape = tuple(1 if k == axis else n for k, n in enumerate(x.shape))
            found = concatenate([call(np.full, shape, first, dtype=found.dtype), found], axis)
        return found if out is None else write_out(out, found)


_running(np.cumulative_sum, np.cumsum, 0)
_running(np.cumulative_prod, np.cumprod, 1)


# -- questions ------------------------------------------------------------------------------------


def _sign_of_infinity(original: Any, comparison: str) -> None:
    @replaces(original)
    def replacement(x: Any, out: Any = None) -> Any:
        x = as_operand(x)
        found = elementwise("logical_and", elementwise("isinf", x), elementwise(comparison, x, 0))
        return found if out is None else write_out(out, found)


_sign_of_infinity(np.isposinf, "gt")
_sign_of_infinity(np.isneginf, "lt")


@replaces(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    return call(np.all, elementwise("eq", handle(a1), handle(a2)))


@replaces(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    a, b = handle(a1), handle(a2)
    if a.ndim != b.ndim:
        return False
    for n, m in zip(a.shape, b.shape, strict=True):
        if not extents.same(n, m):
            if bool(elementwise("ne", n, m)):
                return False
    same = elementwise("eq", a, b)
    if equal_nan:
        both = elementwise("logical_and", elementwise("isnan", a), elementwise("isnan", b))
        same = elementwise("logical_or", same, both)
    return call(np.all, same)


@replaces(np.isin)
def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
         kind: Any = None) -> Any:  # fmt: skip
    """By comparing each with each."""
    e, t = handle(element), call(np.ravel, test_elements)
    wide = e.with_axes((e.ndim,))
    found = call(np.any, elementwise("eq", wide, t), axis=-1)
    return elementwise("logical_not", found) if invert else found


