"""What becomes of NumPy's functions that fold an array along axes?

`sum`, `max` and `min` are primitives; means, variances and norms are formulas over them; products,
cumulative sums and positions of extremes are loops along the axis, which is how their derivatives
come out right (also at zeros, and of every order).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.primitives.table import TABLE
from jitad.tape.build import Leaf
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import (
    as_operand,
    cast,
    elementwise,
    require_fit,
    shape_of,
    shape_text,
)
from jitad.values.extents import Int
from jitad.values.kind import fail, require, type_of
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.numpy.ufuncs import numpy_number
from jitad.values.registry import call, implementation, replaces, write_out


def axes_of(axis: Any, ndim: int, of_number: bool = True) -> tuple[int, ...]:
    """The axes that an `axis=` argument names, in order and non-negative.

    `of_number`: a number counts as an array of one element, as in NumPy's reductions.
    """
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    out = []
    for k in given:
        k = extents.as_int(k, "an axis")
        if isinstance(k, Leaf):
            k = k.known("an axis")
        if not ndim and of_number and given is not axis and k in (0, -1):
            continue
        if not -ndim <= k < ndim:
            raise fail(JitadValueError, f"axis {k} is out of bounds for array of dimension {ndim}")
        out.append(k % ndim)
    if len(set(out)) != len(out):
        raise fail(JitadValueError, "duplicate value in 'axis'")
    return tuple(sorted(out))


def one_axis(axis: Any, ndim: int) -> int:
    """The axis that an `axis=` argument names, where there may be but one."""
    if isinstance(axis, tuple):
        raise fail(JitadTypeError, "'tuple' object cannot be interpreted as an integer: it is one "
                   "axis here")  # fmt: skip
    found = axes_of(axis, ndim)
    if not found:
        raise fail(JitadValueError, f"axis {axis} is out of bounds for array of dimension {ndim}")
    return found[0]


def counts_as_flat(axis: Any, ndim: int) -> bool:
    """Is no axis named, or one of a number, which counts as an array of one element?"""
    return axis is None or (not ndim and not axes_of(axis, ndim))


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
        if value is not _NO_VALUE:
            raise fail(JitadTypeError, f"{word}= of np.{name} is not supported on traced or "
                       "differentiated arrays")  # fmt: skip


def _reduction(
    original: Any, compute: Callable[[Any, tuple[int, ...]], Any], join: str = "",
    neutral: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """`compute(content, axes)` as a function with NumPy's arguments.

    `join` takes the initial value in; `neutral` stands where a mask leaves an element out.
    """

    def replacement(a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
                    keepdims: Any = False, initial: Any = _NO_VALUE, where: Any = True,
                    **others: Any) -> Any:  # fmt: skip
        _refuse(original.__name__, others)
        if where is _NO_VALUE:
            where = True
        if where is not True:
            a = _masked(original, a, where, initial if neutral is None else neutral)
        content = _content(a)
        if dtype is not None:
            content = cast(content, np.dtype(dtype))
        shape = shape_of(content)
        axes = axes_of(axis, len(shape))
        if initial is None:
            initial = _NO_VALUE
        if initial is not _NO_VALUE and join in _EXTREMES and axes:
            result = compute(_with_first(content, initial, axes), (0,))
            return _finish(result, shape, axes, keepdims is True, out)
        result = compute(content, axes) if axes else along_none(content)
        if dtype is not None:  # integers were added up in 64 bits
            result = cast(result, np.dtype(dtype))
        if initial is not _NO_VALUE:
            initial = cast(_content(initial), np.dtype(type_of(result).dtype))
            result = _content(elementwise(join, result, initial))
        return _finish(result, shape, axes, keepdims is True, out)

    def along_none(content: Any) -> Any:
        # Each element is the reduction of an array that holds it alone.
        shape = shape_of(content)
        alone = bind("reshape", content, 1, *shape) if shape else bind("pack", strong(content))
        return compute(alone, (0,))

    replacement.__name__ = original.__name__
    replaces(original)(_without_dtype(replacement) if original in _NO_DTYPE else replacement)
    return replacement


_EXTREMES = ("maximum", "minimum")


def _with_first(content: Any, initial: Any, axes: tuple[int, ...]) -> Any:
    """The initial value, a candidate like the elements, of which there may be none."""
    moved, _ = _moved(content, axes)
    others = shape_of(moved)[1:]
    first = bind("broadcast", cast(_content(initial), np.dtype(type_of(content).dtype)),
                 1, *others, axes=())  # fmt: skip
    return call(np.concatenate, [wrap(first), wrap(moved)]).content


def _masked(original: Any, a: Any, where: Any, otherwise: Any) -> Any:
    """The elements that a mask leaves out replaced by a value that doesn't count."""
    if otherwise is _NO_VALUE:
        raise fail(JitadValueError, f"reduction operation {original.__name__} does not have an "
                   "identity, so to use a where mask one has to specify 'initial'")  # fmt: skip
    a, where = as_operand(a), as_operand(where)
    own, shape = shape_of(where), shape_of(a)
    require_fit(own, shape, lambda: f"where= of np.{original.__name__}, of shape "
                f"{shape_text(own)}, does not fit an array of shape {shape_text(shape)}")
    return elementwise("where", where, a, otherwise)


_NO_DTYPE = (np.max, np.min, np.any, np.all)  # their third argument is out=


def _without_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False,
                    **others: Any) -> Any:  # fmt: skip
        return function(a, axis, None, out, keepdims, **others)

    return replacement


def strong(x: Any) -> Any:
    """A scalar as a NumPy number."""
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


def _wide(dtype: str) -> str:
    """In what NumPy adds and multiplies numbers of this dtype: integers in 64 bits."""
    return {"i": "i8", "b": "i8", "u": "u8"}.get(dtype[0], dtype)


def _prod(a: Any, axes: tuple[int, ...]) -> Any:
    dtype = _wide(type_of(a).dtype)
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


_reduction(np.sum, _sum, "add", 0)
_reduction(np.prod, _prod, "mul", 1)
_reduction(np.max, _extreme("amax"), "maximum")
_reduction(np.min, _extreme("amin"), "minimum")
_plain_mean = _reduction(np.mean, _mean)
for _alias, _original in ((np.amax, np.max), (np.amin, np.min)):
    replaces(_alias)(implementation(_original))  # type: ignore[arg-type]
_reduction(np.any, lambda a, axes: bind("gt", _truth(a, axes), 0), neutral=False)
_reduction(np.all, lambda a, axes: bind("eq", _truth(a, axes), count(a, axes)), neutral=True)


def _refuse_axis(a: Any, axis: Any) -> None:
    """A number has a sum along an axis, in NumPy, but no mean without `where=`."""
    if axis not in (None, ()) and not shape_of(_content(a)):
        raise fail(JitadValueError, f"axis {axis} is out of bounds for array of dimension 0")


@replaces(np.mean)
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *,
         where: Any = True) -> Any:  # fmt: skip
    if where is True or where is _NO_VALUE:
        _refuse_axis(a, axis)
        return _plain_mean(a, axis, dtype, out, keepdims)
    total = call(np.sum, a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    found = elementwise("div", total, counted(a, axis, keepdims, where))
    return found if out is None else write_out(out, found)


def counted(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements a mask leaves in, in the type of the mean."""
    there = elementwise("where", where, call(np.ones_like, a, dtype=bool), False)
    n = call(np.sum, there, axis=axis, keepdims=keepdims)
    dtype = type_of(as_operand(a)).dtype
    return elementwise("cast", n, dtype=dtype if dtype[0] == "f" else "f8")


@replaces(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return call(np.sum, elementwise("ne", a, 0), axis=axis, keepdims=keepdims)


def _variance(a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any) -> Any:
    if where is True:
        _refuse_axis(a, axis)
    center = call(np.mean, a, axis=axis, keepdims=True, where=where) if mean is None else mean
    deviation = elementwise("sub", a, center)
    squares = call(np.sum, elementwise("mul", deviation, deviation), axis=axis, keepdims=keepdims,
                   where=where)  # fmt: skip
    if where is not True:
        n = elementwise("sub", counted(a, axis, keepdims, where), ddof)
        return elementwise("div", squares, elementwise("maximum", n, 0))
    n = extents.product(shape_of(a)[k] for k in axes_of(axis, len(shape_of(a))))
    return elementwise("div", squares, degrees_of_freedom(n, ddof))


def degrees_of_freedom(n: Int, ddof: Any) -> Any:
    """NumPy takes no fewer than none."""
    if isinstance(ddof, int):
        return extents.largest(extents.sub(n, ddof), 0)
    return elementwise("maximum", elementwise("sub", n, ddof), 0)


def _given(value: Any, otherwise: Any) -> Any:
    return otherwise if value is _NO_VALUE else value


@replaces(np.var)
def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, *, where: Any = True, mean: Any = _NO_VALUE,
        correction: Any = _NO_VALUE) -> Any:  # fmt: skip
    a = as_operand(a)
    if dtype is not None:
        a = elementwise("cast", a, dtype=np.dtype(dtype).str[1:])
    result = _variance(a, axis, _given(correction, ddof), keepdims is True, _given(where, True),
                       _given(mean, None))  # fmt: skip
    return result if out is None else write_out(out, result)


@replaces(np.std)
def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, **others: Any) -> Any:  # fmt: skip
    result = deviation(var(a, axis, dtype, None, ddof, keepdims, **others))
    return result if out is None else write_out(out, result)


def deviation(variance: Any) -> Any:
    """Its root; where all are equal, as one element is, the derivative is taken to be zero."""
    none = elementwise("eq", variance, 0)
    zero, one = map(np.dtype(type_of(as_operand(variance)).dtype).type, (0, 1))
    root = elementwise("sqrt", elementwise("where", none, one, variance))
    return elementwise("where", none, zero, root)


# -- loops along an axis --------------------------------------------------------------------------


def row_of(ufunc: Any, operands: int = 2) -> str | None:
    """The name of the row that a ufunc is, if it is one."""
    for row in TABLE.values():
        if row.numpy is ufunc and row.elementwise and ufunc.nin == operands:
            return row.name
    return None


def cumulative(one: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The function that gives all the steps of folding along an axis, each by `one`."""

    def replacement(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        a = as_operand(a)
        if axis is None or not shape_of(a):  # a number counts as an array that holds it alone
            axes_of(axis, 0)
            a, axis = call(np.ravel, a), 0
        a = ArrayHandle(_content(a))
        kind = np.dtype(dtype or _wide(a.dtype.str[1:]))
        axis = one_axis(axis, a.ndim)
        moved = call(np.copy, call(np.moveaxis, a, axis, 0))
        content = cast(moved.content, kind)

        def step(k: Int, done: Any) -> tuple[Any]:
            after = extents.add(k, 1)
            return (with_part(done, after, one(part(done, k), part(done, after))),)

        # A negative count means none, and the bare bound lets the indices be proved.
        (done,) = fold(extents.sub(content.shape[0], 1), (content,), step)
        result = call(np.moveaxis, ArrayHandle(done), 0, axis)
        return result if out is None else write_out(out, result)

    return replacement


replaces(np.cumsum)(cumulative(lambda done, x: bind("add", done, x)))
replaces(np.cumprod)(cumulative(lambda done, x: bind("mul", done, x)))


def _position(wins: str) -> Callable[..., Any]:
    def replacement(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        content = _content(a)
        if not shape_of(content):  # a number counts as an array that holds it alone
            content = bind("pack", strong(content))
            axes_of(axis, 0)
            axis, keepdims = 0, False
        shape = shape_of(content)
        axes = axes_of(axis, len(shape)) if axis is None else (one_axis(axis, len(shape)),)
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
