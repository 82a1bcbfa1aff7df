"""What becomes of NumPy's functions that fold an array along axes?

`sum`, `max` and `min` are primitives; means, variances and norms are formulas over them; products,
cumulative sums and positions of extremes are loops along the axis, which is how their derivatives
come out right (also at zeros, and of every order).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from jitad.errors import JitadTypeError, JitadValueError
from jitad.tape.build import Leaf
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, cast, elementwise, shape_of
from jitad.values.extents import Int
from jitad.values.kind import fail, require, type_of
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.registry import call, implementation, replaces, write_out
from jitad.values.ufuncs import numpy_number


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that an `axis=` argument names, in order and non-negative."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    out = []
    for k in given:
        k = extents.as_int(k, "an axis")
        if isinstance(k, Leaf):
            k = k.known("an axis")
        if not -ndim <= k < ndim:
            raise fail(JitadValueError, f"axis {k} is out of bounds for array of dimension {ndim}")
        out.append(k % ndim)
    if len(set(out)) != len(out):
        raise fail(JitadValueError, "duplicate value in 'axis'")
    return tuple(sorted(out))


def _content(a: Any) -> Any:
    a = as_operand(a)
    return a.content if isinstance(a, ArrayHandle) else a


def _keep(result: Any, shape: tuple[Int, ...], axes: tuple[int, ...]) -> Any:
    """The reduced axes again, with extent 1."""
    dims = tuple(1 if k in axes else n for k, n in enumerate(shape))
    if shape_of(result):
        return bind("reshape", result, *dims)
    return bind("broadcast", result, *dims, axes=())


def _finish(result: Any, shape: tuple[Int, ...], axes: tuple[int, ...], keepdims: bool,
            out: Any) -> Any:  # fmt: skip
    if keepdims and shape:
        result = _keep(result, shape, axes)
    result = wrap(numpy_number(result))
    return result if out is None else write_out(out, result)


_NO_VALUE = np._NoValue  # what NumPy passes on for an argument that was not given


def _refuse(name: str, others: dict[str, Any]) -> None:
    for word, value in others.items():
        if value is not _NO_VALUE and not (word == "where" and value is True):
            raise fail(JitadTypeError, f"{word}= of np.{name} is not supported on traced or "
                       "differentiated arrays")  # fmt: skip


def _reduction(original: Any, compute: Callable[[Any, tuple[int, ...]], Any]) -> Callable[..., Any]:
    """`compute(content, axes)` as a function with NumPy's arguments."""

    def replacement(a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
                    keepdims: Any = False, **others: Any) -> Any:  # fmt: skip
        _refuse(original.__name__, others)
        content = _content(a)
        if dtype is not None:
            content = cast(content, np.dtype(dtype))
        shape = shape_of(content)
        axes = axes_of(axis, len(shape))
        result = compute(content, axes) if axes else compute_scalar(content)
        return _finish(result, shape, axes, keepdims is True, out)

    def compute_scalar(content: Any) -> Any:
        # A scalar is the reduction of an array that holds it alone.
        return content if shape_of(content) else compute(bind("pack", _strong(content)), (0,))

    replacement.__name__ = original.__name__
    replaces(original)(_without_dtype(replacement) if original in _NO_DTYPE else replacement)
    return replacement


_NO_DTYPE = (np.max, np.min, np.any, np.all)  # their third argument is out=


def _without_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False,
                    **others: Any) -> Any:  # fmt: skip
        return function(a, axis, None, out, keepdims, **others)

    return replacement


def _strong(x: Any) -> Any:
    return cast(x, np.dtype(type_of(x).dtype))


def count(content: Any, axes: tuple[int, ...]) -> Int:
    """How many elements a reduction folds into one."""
    return extents.product(content.shape[k] for k in axes)


def _sum(a: Any, axes: tuple[int, ...]) -> Any:
    return bind("sum", a, axes=axes)


def _extreme(row: str) -> Callable[..., Any]:
    def compute(a: Any, axes: tuple[int, ...]) -> Any:
        n = count(a, axes)
        if not extents.at_least(n, 1):
            require(bind("ge", n, 1), JitadValueError, "zero-size array to reduction operation "
                    f"{row[1:]} which has no identity")  # fmt: skip
        return bind(row, a, axes=axes)

    return compute


def _mean(a: Any, axes: tuple[int, ...]) -> Any:
    if type_of(a).dtype[0] != "f":
        a = bind("cast", a, dtype="f8")
    return bind("div", _sum(a, axes), count(a, axes))


def _truth(a: Any, axes: tuple[int, ...]) -> Any:
    """How many elements are true."""
    return _sum(bind("cast", bind("ne", a, 0), dtype="i8"), axes)


def _moved(a: Any, axes: tuple[int, ...]) -> tuple[Any, Int]:
    """The content with the folded axes as one, in front; and its extent."""
    shape = shape_of(a)
    others = tuple(k for k in range(len(shape)) if k not in axes)
    perm = axes + others
    if perm != tuple(range(len(shape))):
        a = bind("transpose", a, perm=perm)
    n = extents.product(shape[k] for k in axes)
    if len(axes) > 1:
        a = bind("reshape", a, n, *(shape[k] for k in others))
    return a, n


def part(a: Any, k: Int) -> Any:
    """Element or slice number k along the first axis."""
    return ArrayHandle(a).row(k) if len(shape_of(a)) == 1 else ArrayHandle(a).row(k).content


def with_part(a: Any, k: Int, value: Any) -> Any:
    """The array with another element or slice number k along the first axis."""
    rest = shape_of(a)[1:]
    operands = [x for n in rest for x in (0, 1, n)]
    if not rest:
        return bind("store", a, value, k)
    return bind("store_slice", a, value, k, *operands, kinds="i" + "r" * len(rest))


def _filled(value: Any, like: Any, dtype: str) -> Any:
    """A scalar, or an array with the extents of one."""
    shape = shape_of(like)
    return bind("full", value, *shape, dtype=dtype) if shape else np.dtype(dtype).type(value)


def _prod(a: Any, axes: tuple[int, ...]) -> Any:
    dtype = type_of(a).dtype
    dtype = "i8" if dtype[0] in "iub" else dtype
    a, n = _moved(cast(a, np.dtype(dtype)), axes)
    first = part(a, 0) if isinstance(n, int) and n else None
    if first is not None:
        return fold(n - 1, (first,), lambda k, p: (bind("mul", p, part(a, extents.add(k, 1))),),
                    a)[0]  # fmt: skip
    shape = shape_of(a)[1:]
    one = _ones(shape, dtype, a)
    return fold(n, (one,), lambda k, p: (bind("mul", p, part(a, k)),), a)[0]


def _ones(shape: tuple[Int, ...], dtype: str, like: Any) -> Any:
    return bind("full", 1, *shape, dtype=dtype) if shape else np.dtype(dtype).type(1)


_reduction(np.sum, _sum)
_reduction(np.mean, _mean)
_reduction(np.prod, _prod)
_reduction(np.max, _extreme("amax"))
_reduction(np.min, _extreme("amin"))
for _alias, _original in ((np.amax, np.max), (np.amin, np.min)):
    replaces(_alias)(implementation(_original))  # type: ignore[arg-type]
_reduction(np.any, lambda a, axes: bind("gt", _truth(a, axes), 0))
_reduction(np.all, lambda a, axes: bind("eq", _truth(a, axes), count(a, axes)))
replaces(np.count_nonzero)(
    lambda a, axis=None, *, keepdims=False: _finish(
        _truth(_content(a), axes_of(axis, len(shape_of(_content(a))))), shape_of(_content(a)),
        axes_of(axis, len(shape_of(_content(a)))), keepdims, None)
)  # fmt: skip


def _variance(a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    mean = call(np.mean, a, axis=axis, keepdims=axis is not None)
    deviation = elementwise("sub", a, mean)
    squares = call(np.sum, elementwise("mul", deviation, deviation), axis=axis, keepdims=keepdims)
    n = extents.product(shape_of(a)[k] for k in axes_of(axis, len(shape_of(a))))
    return elementwise("div", squares, extents.largest(extents.sub(n, ddof), 0) if isinstance(
        ddof, int) else elementwise("sub", n, ddof))  # fmt: skip


@replaces(np.var)
def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, **others: Any) -> Any:  # fmt: skip
    _refuse("var", others | ({} if dtype is None else {"dtype": dtype}))
    result = _variance(as_operand(a), axis, ddof, keepdims is True)
    return result if out is None else write_out(out, result)


@replaces(np.std)
def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, **others: Any) -> Any:  # fmt: skip
    result = elementwise("sqrt", var(a, axis, dtype, None, ddof, keepdims, **others))
    return result if out is None else write_out(out, result)


@replaces(np.average)
def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return call(np.mean, a, axis=axis)
    weighted = call(np.sum, elementwise("mul", a, weights), axis=axis)
    return elementwise("div", weighted, call(np.sum, weights, axis=axis))


# -- loops along an axis --------------------------------------------------------------------------


def _cumulative(row: str) -> Callable[..., Any]:
    def replacement(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        a = as_operand(a)
        if axis is None:
            a, axis = call(np.ravel, a), 0
        a = ArrayHandle(_content(a))
        kind = np.dtype(dtype or ("i8" if a.dtype.kind in "iub" else a.dtype))
        (axis,) = axes_of(axis, a.ndim)
        moved = call(np.copy, call(np.moveaxis, a, axis, 0))
        content = cast(moved.content, kind)

        def step(k: Int, done: Any) -> tuple[Any]:
            after = extents.add(k, 1)
            return (with_part(done, after, bind(row, part(done, k), part(done, after))),)

        # A negative count means none, and the bare bound lets the indices be proved.
        (done,) = fold(extents.sub(content.shape[0], 1), (content,), step)
        result = call(np.moveaxis, ArrayHandle(done), 0, axis)
        return result if out is None else write_out(out, result)

    return replacement


replaces(np.cumsum)(_cumulative("add"))
replaces(np.cumprod)(_cumulative("mul"))


def _position(wins: str) -> Callable[..., Any]:
    def replacement(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        content = _content(a)
        shape = shape_of(content)
        axes = axes_of(axis, len(shape))
        moved, n = _moved(content, axes)
        require(n >= 1 if not isinstance(n, Number) else bind("ge", n, 1), JitadValueError,
                "attempt to get the position of an extreme of an empty sequence")  # fmt: skip

        def step(k: Int, best: Any, at: Any) -> tuple[Any, Any]:
            k = extents.add(k, 1)
            x = part(moved, k)
            # NumPy takes the first of equals, and the first nan before all.
            number = bind("logical_not", bind("isnan", best))
            first_nan = bind("logical_and", bind("isnan", x), number)
            better = bind("logical_or", bind(wins, x, best), first_nan)
            k = cast(k, np.dtype("i8"))
            if shape_of(at):
                k = bind("broadcast", k, *shape_of(at), axes=())
            return bind("where", better, x, best), bind("where", better, k, at)

        first = part(moved, 0)
        at = _filled(0, first, "i8")
        _, at = fold(extents.sub(n, 1), (first, at), step, moved)
        return _finish(at, shape, axes, keepdims is True, out)

    return replacement


replaces(np.argmax)(_position("gt"))
replaces(np.argmin)(_position("lt"))


# -- log-sum-exp ----------------------------------------------------------------------------------


@replaces(sp.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False,
              return_sign: bool = False) -> Any:  # fmt: skip
    if return_sign:
        raise fail(JitadTypeError, "return_sign= of logsumexp is not supported here")
    a = as_operand(a)
    top = call(np.max, a, axis=axis, keepdims=axis is not None or keepdims)
    top = elementwise("where", elementwise("isfinite", top), top, 0.0)
    terms = elementwise("exp", elementwise("sub", a, top))
    if b is not None:
        terms = elementwise("mul", b, terms)
    total = elementwise("log", call(np.sum, terms, axis=axis, keepdims=keepdims))
    if not keepdims and axis is not None:
        top = call(np.sum, top, axis=axis)  # of one element each
    return elementwise("add", total, top)


@replaces(sp.softmax)
def softmax(x: Any, axis: Any = None) -> Any:
    shifted = elementwise("exp", elementwise("sub", x, call(np.max, x, axis=axis, keepdims=True)))
    return elementwise("div", shifted, call(np.sum, shifted, axis=axis, keepdims=True))


@replaces(sp.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Any:
    return elementwise("sub", x, logsumexp(x, axis=axis, keepdims=True))
