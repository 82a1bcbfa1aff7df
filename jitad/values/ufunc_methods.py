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
from jitad.values.array import wrap
from jitad.values.broadcast import as_operand, shape_of
from jitad.values.extents import Int
from jitad.values.indexing import Pick, parse
from jitad.values.kind import fail
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.reductions import axes_of, cumulative, part, row_of, strong, with_part
from jitad.values.registry import call
from jitad.values.shaping import broadcast_to, handle, moveaxis, reshape

_NAMED = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.logical_and: np.all, np.logical_or: np.any,
}  # fmt: skip


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
    if axis is None and handle(array).ndim == 1:
        axis = 0
    if others or isinstance(axis, tuple) or axis is None:
        raise fail(JitadTypeError, f"np.{ufunc.__name__}.reduce is supported along one axis")
    row = row_of(ufunc)
    a = handle(array)
    a = a if dtype is None else a.astype(dtype)
    (axis,) = axes_of(axis, a.ndim)
    moved = moveaxis(a, axis, 0).content
    n = moved.shape[0]
    if not isinstance(n, Number) and not n:
        raise fail(JitadValueError, f"zero-size array to reduction operation {ufunc.__name__} "
                   "which has no identity")  # fmt: skip

    def step(k: Int, done: Any) -> tuple[Any]:
        return (bind(row, done, part(moved, extents.add(k, 1))),)

    (found,) = fold(extents.sub(n, 1), (part(moved, 0),), step, moved)
    found = wrap(found)
    found = call(np.expand_dims, found, axis) if keepdims else found
    return found if out is None else registry.write_out(out, found)


def _accumulate(ufunc: Any, array: Any, /, axis: int = 0, dtype: Any = None,
                out: Any = None) -> Any:  # fmt: skip
    return cumulative(row_of(ufunc))(array, axis, dtype, out)


def _at(ufunc: Any, a: Any, indices: Any, b: Any = None, /) -> None:
    """One index after the other, so that equal indices act again on what the first has left."""
    a = handle(a)
    if ufunc in (np.add, np.subtract):
        picking.accumulate(a, indices, b if ufunc is np.add else call(np.negative, b))
        return
    entries = parse(indices, a.shape)
    if not any(isinstance(e, Pick) for e in entries):
        a[indices] = call(ufunc, a[indices]) if b is None else call(ufunc, a[indices], b)
        return
    row = row_of(ufunc, 1 if b is None else 2)
    content, places, view, shape, (at, axes) = picking.selected(a, entries)
    values = None
    if b is not None:
        wide = moveaxis(broadcast_to(b, shape), tuple(range(at, at + axes)), tuple(range(axes)))
        count = extents.product(shape[at : at + axes])
        values = reshape(wide, (count, *wide.shape[axes:])).content

    def step(k: Int, done: Any) -> tuple[Any]:
        place = bind("cast", part(places, k), dtype="i8", py=True)
        operands = (part(done, place),) if values is None else (part(done, place), part(values, k))
        new = bind(row, *operands)
        return (with_part(done, place, bind("cast", new, dtype=a.dtype.str[1:])),)

    (done,) = fold(places.shape[0], (call(np.copy, wrap(content)).content,), step, places)
    view.assign(reshape(wrap(done), view.shape))


def _reduceat(ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None,
              out: Any = None) -> Any:  # fmt: skip
    """Each stretch from one index to before the next; where the next isn't larger, one element."""
    a = handle(array)
    a = a if dtype is None else a.astype(dtype)
    if dtype is None and a.dtype.kind == "b" and ufunc in (np.add, np.multiply):
        a = a.astype(int)
    (axis,) = axes_of(axis, a.ndim)
    moved = call(np.copy, moveaxis(a, axis, 0))
    n, places = moved.shape[0], handle(indices)
    starts = picking.in_range(places, n, False)
    ends = call(np.concatenate, [places[1:], call(np.full, 1, n)])
    content, first = moved.content, handle(starts).content
    last, row = handle(ends).content, row_of(ufunc)
    done = call(np.copy, moved[starts]).content  # the first of each

    def fold_one(k: Int, done: Any) -> tuple[Any]:
        begin = bind("cast", part(first, k), dtype="i8", py=True)
        count = extents.sub(extents.sub(bind("cast", part(last, k), dtype="i8", py=True), begin), 1)

        def step(j: Int, total: Any) -> tuple[Any]:
            new = bind(row, total, part(content, extents.add(extents.add(begin, j), 1)))
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

