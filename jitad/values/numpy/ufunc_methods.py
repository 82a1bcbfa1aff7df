"""What becomes of `np.add.outer`, `.reduce`, `.reduceat`, `.accumulate` and `.at` of every ufunc?

The reductions that have a name (`np.sum` of `np.add`) are those; the others of two operands are
loops along the axis.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents, picking, registry
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, cast, shape_of
from jitad.values.extents import Int
from jitad.values.indexing import Pick, parse
from jitad.values.kind import fail, require
from jitad.values.loops import fold
from jitad.values.number import bind
from jitad.values.numpy.reductions import (
    axes_of,
    cumulative,
    one_axis,
    part,
    row_of,
    strong,
    with_part,
)
from jitad.values.numpy.shaping import broadcast_to, expand_dims, handle, moveaxis, reshape
from jitad.values.registry import call

_NAMED = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.logical_and: np.all, np.logical_or: np.any,
}  # fmt: skip

_OF_TRUTH = (np.logical_and, np.logical_or, np.logical_xor)
_LIMITED = (np.power, np.left_shift, np.right_shift)  # which are not for all ints


@registry.replaces_methods
def method(ufunc: Any, name: str) -> Callable[..., Any]:
    """The replacement of `getattr(ufunc, name)`."""
    found = _METHODS.get(name)
    if found is None:
        raise fail(JitadTypeError, f"np.{ufunc.__name__}.{name} is not supported on traced or "
                   "differentiated arrays")  # fmt: skip
    return functools.partial(found, ufunc)


def _outer(ufunc: Any, a: Any, b: Any, /, **others: Any) -> Any:
    # It makes arrays of both, so a Python number is no weaker than the other.
    a, b = (x if shape_of(x) else strong(x) for x in map(as_operand, (a, b)))
    if shape_of(a) and shape_of(b):
        a = handle(a)
        a = a.with_axes(tuple(range(a.ndim, a.ndim + len(shape_of(b)))))
    return call(ufunc, a, b, **others)


def _reduce(ufunc: Any, array: Any, /, axis: Any = 0, dtype: Any = None, out: Any = None,
            keepdims: bool = False, **others: Any) -> Any:  # fmt: skip
    if ufunc in _NAMED:
        named = _NAMED[ufunc]
        if dtype is not None and ufunc not in (np.add, np.multiply):
            array = handle(array).astype(dtype)
        elif dtype is not None:
            others["dtype"] = dtype
        return call(named, array, axis=axis, out=out, keepdims=keepdims, **others)
    found = _folded(ufunc, handle(array), axis, dtype, keepdims, **others)
    return found if out is None else registry.write_out(out, found)


def _folded(ufunc: Any, a: ArrayHandle, axis: Any, dtype: Any, keepdims: bool,
            initial: Any = None, where: Any = True) -> Any:  # fmt: skip
    """One element after the other, in a loop."""
    a = a.astype(_folding(ufunc, a.dtype) if dtype is None else np.dtype(dtype))
    axes, name = axes_of(axis, a.ndim), ufunc.__name__
    start = ufunc.identity if initial is None else initial
    if len(axes) > 1 and ufunc.identity is None and ufunc not in (np.fmax, np.fmin):
        raise fail(JitadValueError, f"reduction operation {name!r} is not reorderable, so at most "
                   "one axis may be specified")  # fmt: skip
    if where is not True and start is None:
        raise fail(JitadValueError, f"reduction operation {name!r} does not have an identity, so "
                   "to use a where mask one has to specify 'initial'")  # fmt: skip
    if not axes:  # each element is folded alone, or with what is given
        a, axes, keepdims = expand_dims(a, 0), (0,), False
        where = where if where is True else expand_dims(broadcast_to(where, a.shape[1:]), 0)
    elements, n = _in_front(a, axes)
    if initial is None and where is True:
        done, after = _first(elements, n, start, name), 1
    else:
        done, after = cast(_row(start, elements), a.dtype), 0
    mask = None if where is True else _in_front(broadcast_to(where, a.shape), axes)[0]
    one = _step(ufunc, a.dtype)

    def step(k: Int, done: Any) -> tuple[Any]:
        k = extents.add(k, after)
        new = one(done, part(elements, k))
        return (new if mask is None else bind("where", part(mask, k), new, done),)

    (done,) = fold(extents.sub(n, after), (done,), step, elements)
    found = wrap(done)
    return call(np.expand_dims, found, axes) if keepdims else found


def _in_front(a: ArrayHandle, axes: tuple[int, ...]) -> tuple[Any, Int]:
    """The content with the folded axes as one, in front; and its extent."""
    moved = moveaxis(a, axes, tuple(range(len(axes))))
    n = extents.product(moved.shape[: len(axes)])
    return reshape(moved, (n, *moved.shape[len(axes) :])).content, n


def _row(value: Any, elements: Any) -> Any:
    """A number, as often as a row has elements."""
    rest = shape_of(elements)[1:]
    return call(np.full, rest, value).content if rest else value


def _first(elements: Any, n: Int, identity: Any, name: str) -> Any:
    """The first row; where there is none, the identity, if there is one."""
    if extents.at_least(n, 1):
        return part(elements, 0)
    if identity is None:
        there = n >= 1 if isinstance(n, int) else bind("ge", n, 1)
        require(there, JitadValueError, f"zero-size array to reduction operation {name} which has "
                "no identity")  # fmt: skip
        return part(elements, 0)
    a = wrap(elements)
    both = call(np.concatenate, [call(np.full, (1, *a.shape[1:]), identity, dtype=a.dtype), a])
    return part(both.content, extents.smallest(n, 1))


def _folding(ufunc: Any, dtype: Any) -> Any:
    """In what numbers of this dtype are folded."""
    found = ufunc.resolve_dtypes((dtype, dtype, None))[-1]
    if found.kind == "b" and ufunc is not np.logical_xor:
        raise fail(JitadTypeError, f"np.{ufunc.__name__}.reduce is not supported on traced or "
                   "differentiated arrays")  # fmt: skip
    return found


def _step(ufunc: Any, dtype: Any, operands: int = 2) -> Callable[..., Any]:
    """What folding does to the content that it has and the next one."""
    row = row_of(ufunc, operands)
    if row is not None and (ufunc not in _LIMITED or np.dtype(dtype).kind == "f"):
        return lambda *given: bind(row, *given)

    def step(*given: Any) -> Any:
        found = call(ufunc, *map(wrap, given))
        return cast(found.content if isinstance(found, ArrayHandle) else found, dtype)

    return step


def _accumulate(ufunc: Any, array: Any, /, axis: int = 0, dtype: Any = None,
                out: Any = None) -> Any:  # fmt: skip
    a = handle(array)
    if not a.ndim:
        raise fail(JitadTypeError, "cannot accumulate on a scalar")
    if ufunc in _OF_TRUTH:
        a = a.astype(bool)
    if dtype is None and ufunc in (np.maximum, np.minimum, *_OF_TRUTH):
        dtype = a.dtype
    elif dtype is None and ufunc not in _NAMED:
        dtype = _folding(ufunc, a.dtype)
    return cumulative(_step(ufunc, dtype))(a, axis, dtype, out)


def _at(ufunc: Any, a: Any, indices: Any, b: Any = None, /) -> None:
    """One index after the other, so that equal indices act again on what the first has left."""
    if not shape_of(a) and not isinstance(a, ArrayHandle):
        raise fail(JitadTypeError, "a number can't be written to: NumPy has an array without axes "
                   "here, if anything", "Use the result of the ufunc itself.")  # fmt: skip
    a = handle(a)
    if ufunc in (np.add, np.subtract):
        picking.accumulate(a, indices, b if ufunc is np.add else call(np.negative, b))
        return
    entries = parse(indices, a.shape)
    if not any(isinstance(e, Pick) for e in entries):
        a[indices] = call(ufunc, a[indices]) if b is None else call(ufunc, a[indices], b)
        return
    one = _step(ufunc, a.dtype, 1 if b is None else 2)
    content, places, view, shape, (at, axes) = picking.selected(a, entries)
    values = None
    if b is not None:
        wide = moveaxis(broadcast_to(b, shape), tuple(range(at, at + axes)), tuple(range(axes)))
        count = extents.product(shape[at : at + axes])
        values = reshape(wide, (count, *wide.shape[axes:])).content

    def step(k: Int, done: Any) -> tuple[Any]:
        place = bind("cast", part(places, k), dtype="i8", py=True)
        operands = (part(done, place),) if values is None else (part(done, place), part(values, k))
        new = one(*operands)
        return (with_part(done, place, bind("cast", new, dtype=a.dtype.str[1:])),)

    (done,) = fold(places.shape[0], (call(np.copy, wrap(content)).content,), step, places)
    view.assign(reshape(wrap(done), view.shape))


def _reduceat(ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None,
              out: Any = None) -> Any:  # fmt: skip
    """Each stretch from one index to before the next; where the next isn't larger, one element."""
    a = handle(array)
    if ufunc in _OF_TRUTH:
        a = a.astype(bool)
    elif dtype is None and ufunc not in _NAMED:
        dtype = _folding(ufunc, a.dtype)
    if dtype is None and a.dtype.kind in "biu" and ufunc in (np.add, np.multiply):
        dtype = np.uint64 if a.dtype.kind == "u" else int
    a = a if dtype is None else a.astype(dtype)
    axis = one_axis(axis, a.ndim)
    moved = call(np.copy, moveaxis(a, axis, 0))
    n, places = moved.shape[0], handle(indices)
    starts = picking.in_range(places, n, False)
    ends = call(np.concatenate, [places[1:], call(np.full, 1, n)])
    content, first = moved.content, handle(starts).content
    last, one = handle(ends).content, _step(ufunc, a.dtype)
    done = call(np.copy, moved[starts]).content  # the first of each

    def fold_one(k: Int, done: Any) -> tuple[Any]:
        begin = bind("cast", part(first, k), dtype="i8", py=True)
        count = extents.sub(extents.sub(bind("cast", part(last, k), dtype="i8", py=True), begin), 1)

        def step(j: Int, total: Any) -> tuple[Any]:
            new = one(total, part(content, extents.add(extents.add(begin, j), 1)))
            return (new,)

        (total,) = fold(count, (part(done, k),), step, content)
        return (with_part(done, k, total),)

    (done,) = fold(places.shape[0], (done,), fold_one, content, first, last)
    found = moveaxis(wrap(done), 0, axis)
    return found if out is None else registry.write_out(out, found)


_METHODS: dict[str, Any] = {
    "outer": _outer, "reduce": _reduce, "accumulate": _accumulate, "at": _at,
    "reduceat": _reduceat,
}  # fmt: skip

