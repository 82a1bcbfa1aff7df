"""What becomes of NumPy's functions that rearrange arrays, by way of simpler ones?

Each is a short program over views, joins and index arrays (`shaping`, `picking`), so that every
engine, mode and order follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadExtentError, JitadIndexError, JitadTypeError, JitadValueError
from jitad.tape.build import Leaf
from jitad.tape.types import promote
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import (
    as_operand,
    cast,
    common_shape,
    elementwise,
    require_same,
    shape_of,
)
from jitad.values.extents import Int
from jitad.values.kind import fail, require, type_of
from jitad.values.number import Number, bind
from jitad.values.numpy.creation import array, filled, shape_tuple
from jitad.values.numpy.products import diag
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import (
    broadcast_to,
    concatenate,
    handle,
    moveaxis,
    ravel,
    reshape,
    swapaxes,
)
from jitad.values.numpy.ufuncs import numpy_number
from jitad.values.registry import call, replaces, write_out


def along(axis: int, key: Any) -> tuple[Any, ...]:
    """The subscript that indexes one axis and leaves those before it."""
    return (*(slice(None),) * axis, key)


# -- turning --------------------------------------------------------------------------------------


@replaces(np.rot90, plain=False)
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> ArrayHandle:
    m = handle(m)
    i, j = (one_axis(int(a), m.ndim) for a in axes)
    if i == j:
        raise fail(JitadValueError, "Axes must be different.")
    if isinstance(k, Leaf):
        raise fail(JitadTypeError, "how often np.rot90 turns is not known while tracing",
                   "Ask for each: if k == 1: ...")  # fmt: skip
    back = slice(None, None, -1)
    match k % 4:
        case 0:
            return m[...]
        case 1:
            return swapaxes(m[along(j, back)], i, j)
        case 2:
            return m[along(i, back)][along(j, back)]
        case _:
            return swapaxes(m, i, j)[along(j, back)]


@replaces(np.rollaxis, plain=False)
def rollaxis(a: Any, axis: int, start: int = 0) -> ArrayHandle:
    a = handle(a)
    axis = one_axis(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise fail(JitadValueError, f"start {start} is out of bounds for {a.ndim} axes")
    return moveaxis(a, axis, start - 1 if axis < start else start)


@replaces(np.atleast_3d, plain=False)
def atleast_3d(*arrays: Any) -> Any:
    out = []
    for a in map(handle, arrays):
        new: dict[int, tuple[int, ...]] = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
        out.append(a.with_axes(new[a.ndim]) if a.ndim < 3 else a)
    return out[0] if len(out) == 1 else tuple(out)


# -- putting together -----------------------------------------------------------------------------


@replaces(np.dstack)
def dstack(tup: Any) -> Any:
    return concatenate([atleast_3d(a) for a in tup], 2)


@replaces(np.block)
def block(arrays: Any) -> Any:
    """Innermost lists join along the last axis, those around them along the one before it."""

    def depth(x: Any) -> int:
        return 1 + depth(x[0]) if isinstance(x, list) else 0

    def ndims(x: Any) -> int:
        return max(map(ndims, x)) if isinstance(x, list) else handle(x).ndim

    levels = depth(arrays)
    ndim = max(levels, ndims(arrays))

    def join(x: Any, level: int) -> ArrayHandle:
        if not isinstance(x, list):
            if level < levels:
                raise fail(JitadValueError, "the lists of np.block are not equally deep")
            x = handle(x)
            return x.with_axes(tuple(range(ndim - x.ndim))) if x.ndim < ndim else x
        return concatenate([join(y, level + 1) for y in x], ndim - levels + level)

    return array(join(arrays, 0))


@replaces(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """At one place, a row of values or several; or at several known places, one at each."""
    arr = handle(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = one_axis(axis, arr.ndim)
    values = cast_to(handle(values), arr.dtype)
    if isinstance(obj, slice) or shape_of(as_operand(obj)):
        return _inserted(arr, obj, values, axis)
    from jitad.values.indexing import position

    n = arr.shape[axis]
    at = position(obj, n, axis, or_end=True)
    if values.ndim <= 1 and not values.ndim:
        values = reshape(values, (1,) * arr.ndim)
    elif values.ndim < arr.ndim:
        values = values.with_axes(tuple(range(arr.ndim - values.ndim)))
        values = moveaxis(values, 0, axis)
    shape = list(arr.shape)
    shape[axis] = values.shape[axis]
    parts = [arr[along(axis, slice(0, at))], broadcast_to(values, tuple(shape)),
             arr[along(axis, slice(at, None))]]  # fmt: skip
    return concatenate(parts, axis)


def _inserted(arr: ArrayHandle, obj: Any, values: ArrayHandle, axis: int) -> Any:
    """At several known places: all rows taken from those of the array and those inserted."""
    n = arr._static(arr.shape[axis], "the length of what is inserted into")
    places = obj.peek() if isinstance(obj, ArrayHandle) else obj
    if isinstance(places, Number):
        raise fail(JitadTypeError, "np.insert at traced places is not supported",
                   "Insert at one place, or use np.concatenate.")  # fmt: skip
    count = len(np.insert(np.arange(n), places, 0)) - n
    which = np.insert(np.arange(n), places, n + np.arange(count))  # NumPy's own order
    shape = tuple(count if k == axis else m for k, m in enumerate(arr.shape))
    return concatenate([arr, broadcast_to(values, shape)], axis)[along(axis, which)]


def cast_to(a: ArrayHandle, dtype: Any) -> ArrayHandle:
    return a if a.dtype == dtype else ArrayHandle(cast(a.content, np.dtype(dtype)))


@replaces(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr = handle(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = one_axis(axis, arr.ndim)
    if isinstance(obj, (slice, list, tuple, np.ndarray, ArrayHandle)) and not (
        isinstance(obj, ArrayHandle) and not obj.ndim
    ):
        plain = obj.peek() if isinstance(obj, ArrayHandle) else obj
        n = arr._static(arr.shape[axis], "the length of what is deleted from")
        if isinstance(plain, Number):
            raise fail(JitadTypeError, "np.delete at traced places is not supported",
                       "Use a mask.")  # fmt: skip
        kept = np.delete(np.arange(n), plain)
        return arr[along(axis, kept)]
    from jitad.values.indexing import position

    at = position(obj, arr.shape[axis], axis)
    after = slice(extents.add(at, 1), None)
    return concatenate([arr[along(axis, slice(0, at))], arr[along(axis, after)]], axis)


@replaces(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """The elements again and again, until the shape is full."""
    flat, shape = ravel(a), shape_tuple(new_shape)
    total = extents.product(shape)
    if not isinstance(flat.shape[0], Number) and not flat.shape[0]:
        return filled(0, shape, flat.dtype)
    if isinstance(flat.shape[0], Number):
        require(bind("ge", flat.shape[0], 1), JitadExtentError, "np.resize of no elements gives "
                "zeros, and whether there are some is not known while tracing",
                "Make the array with np.zeros.")  # fmt: skip
    places = elementwise("mod", call(np.arange, total), flat.shape[0])
    return reshape(flat[places], shape)


# -- diagonals ------------------------------------------------------------------------------------


@replaces(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    return diag(ravel(v), k)


@replaces(np.fill_diagonal, plain=False)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Every (n + 1)-th element of a matrix of n columns; it wraps where there are more rows."""
    a = handle(a)
    if a.ndim < 2:
        raise fail(JitadValueError, "array must be at least 2-d")
    if a.ndim == 2:
        step = extents.add(a.shape[1], 1)
    else:
        for n in a.shape[1:]:
            require_same(n, a.shape[0], lambda: "All dimensions of input must be of equal length")
        step = extents.as_int(sum(a.shape[0] ** k for k in range(a.ndim)))
    flat = a.flattened()
    end = flat.shape[0] if wrap or a.ndim > 2 else extents.smallest(
        flat.shape[0], extents.mul(a.shape[1], a.shape[1]))  # fmt: skip
    at = call(np.arange, 0, end, step)
    val = handle(val)
    if _are_some(val, "fill_diagonal"):
        flat[at] = resize(val, at.shape) if val.ndim else val[()]


# -- choosing -------------------------------------------------------------------------------------


def taken_along(a: ArrayHandle, indices: Any, axis: int) -> Any:
    """a at indices along an axis, the two being equal in all others; indices are in range."""
    if a.ndim == 1:
        return wrap(bind("take", a.content, handle(indices).content, axis=0))
    moved, at = moveaxis(a, axis, -1), moveaxis(handle(indices), axis, -1)
    n = moved.shape[-1]
    rows = extents.product(moved.shape[:-1])
    starts = elementwise("mul", call(np.arange, rows), n)
    flat = elementwise("add", reshape(at, (rows, at.shape[-1])), starts.with_axes((1,)))
    found = bind("take", ravel(moved).content, ravel(flat).content, axis=0)
    return moveaxis(reshape(wrap(found), at.shape), -1, axis)


def _wrapped(indices: Any, n: Int) -> Any:
    from jitad.values.picking import in_range

    return in_range(handle(indices), n)


def _fitting(a: ArrayHandle, indices: ArrayHandle, axis: int) -> tuple[ArrayHandle, ArrayHandle]:
    """Both stretched to each other, but along the axis."""
    if a.ndim != indices.ndim:
        raise fail(JitadValueError, "`indices` and `arr` must have the same number of dimensions")
    thin = [[1 if k == axis else n for k, n in enumerate(x.shape)] for x in (a, indices)]
    shape = common_shape([tuple(t) for t in thin])
    wide = [[x.shape[axis] if k == axis else n for k, n in enumerate(shape)] for x in (a, indices)]
    return broadcast_to(a, tuple(wide[0])), broadcast_to(indices, tuple(wide[1]))


@replaces(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    arr, indices = handle(arr), handle(indices)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = one_axis(axis, arr.ndim)
    arr, indices = _fitting(arr, indices, axis)
    return taken_along(arr, _wrapped(indices, arr.shape[axis]), axis)


@replaces(np.put_along_axis, plain=False)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    arr, indices = handle(arr), handle(indices)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = one_axis(axis, arr.ndim)
    _, indices = _fitting(arr, indices, axis)
    moved = moveaxis(arr, axis, -1)
    at = moveaxis(_wrapped(indices, arr.shape[axis]), axis, -1)
    rows = extents.product(moved.shape[:-1])
    starts = elementwise("mul", call(np.arange, rows), moved.shape[-1])
    flat = elementwise("add", reshape(at, (rows, at.shape[-1])), starts.with_axes((1,)))
    values = broadcast_to(cast_to(handle(values), arr.dtype), indices.shape)
    whole = ravel(array(moved))
    whole[ravel(flat)] = ravel(moveaxis(values, axis, -1))
    arr[...] = moveaxis(reshape(whole, moved.shape), -1, axis)


_WHETHER_SOME = ("np.{} of no values does nothing, and whether there are some is not known "
                 "while tracing")  # fmt: skip


@replaces(np.put, plain=False)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """The values again and again, until each index has one."""
    from jitad.values.picking import brought_in

    ind = np.zeros(0, int) if isinstance(ind, (list, tuple)) and not len(ind) else ind
    flat, ind = handle(a).flattened(), ravel(ind)
    if _are_some(v, "put"):
        values = resize(cast_to(handle(v), flat.dtype), ind.shape)
        try:
            flat[brought_in(ind, flat.shape[0], mode)] = values
        except JitadIndexError:
            if isinstance(call(np.size, v), Number):
                raise fail(JitadExtentError, _WHETHER_SOME.format("put")) from None
            raise
    else:
        fine = bind("logical_or", bind("eq", ind.shape[0], 0), bind("ne", flat.shape[0], 0))
        require(fine, JitadIndexError, "cannot replace elements of an empty array")


def _are_some(values: Any, name: str) -> bool:
    """Are there values that can be taken again and again?  Where there are none nothing is put."""
    n = call(np.size, values)
    if not isinstance(n, Number):
        return bool(n)
    require(bind("ge", n, 1), JitadExtentError, _WHETHER_SOME.format(name))
    return True


@replaces(np.place, plain=False)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """The values again and again, in the places where the mask is true."""
    flat, mask = handle(arr).flattened(), ravel(mask)
    require_same(flat.size, mask.size, lambda: "place: mask and data must be the same size")
    (places,) = call(np.nonzero, mask)
    if not _are_some(vals, "place"):
        none = elementwise("eq", call(np.size, places), 0)
        require(none, JitadValueError, "Cannot insert from an empty array!")
        return
    flat[places] = resize(cast_to(handle(vals), flat.dtype), places.shape)


@replaces(np.putmask, plain=False)
def putmask(a: Any, mask: Any, values: Any) -> None:
    a = handle(a)
    if _are_some(values, "putmask"):
        values = resize(cast_to(handle(values), a.dtype), a.shape)
        a[...] = elementwise("where", reshape(mask, a.shape), values, a)


@replaces(np.copyto, plain=False)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    dst = handle(dst)
    if where is True:
        dst[...] = src
        return
    kept = broadcast_to(src, dst.shape) if shape_of(as_operand(src)) else src
    dst[...] = elementwise("where", where, kept, dst)


@replaces(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not len(condlist):
        raise fail(JitadValueError, "list of cases must be same length as list of conditions")
    kinds = (type_of(as_operand(x)) for x in (*choicelist, default))
    out = elementwise("cast", default, dtype=promote(*kinds)[0])
    for c, x in reversed(list(zip(condlist, choicelist, strict=True))):
        out = elementwise("where", c, x, out)
    return handle(out)


@replaces(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Which of the choices each element of `a` names."""
    from jitad.values.picking import brought_in, in_range

    options = list(choices)
    at = handle(brought_in(handle(a), len(options), mode))
    if mode == "raise":
        shape = common_shape([shape_of(at), *(shape_of(as_operand(c)) for c in options)])
        if all(type(n) is not int or n for n in shape):  # where nothing is chosen it does not look
            at = in_range(at, len(options), negative=False)
    result = options[-1]
    for k in range(len(options) - 2, -1, -1):
        result = elementwise("where", elementwise("eq", at, k), options[k], result)
    if len(options) == 1:
        result = elementwise("where", elementwise("eq", at, 0), result, result)
    if out is not None:
        return write_out(out, result)
    return numpy_number(result)


@replaces(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Each piece is computed of the elements that its condition holds for, the last counts."""
    x = handle(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    conditions = [handle(elementwise("ne", handle(c), False)) for c in conditions]
    pieces = list(funclist)
    if len(pieces) == len(conditions) + 1:
        met = conditions[0]
        for c in conditions[1:]:
            met = elementwise("logical_or", met, c)
        conditions.append(elementwise("logical_not", met))
    if len(pieces) != len(conditions):
        raise fail(JitadValueError, "with as many conditions, there are as many functions, or one "
                   "more")  # fmt: skip
    out = call(np.zeros_like, x)
    for c, f in zip(conditions, pieces, strict=True):
        if not x.ndim:
            out = elementwise("where", c, f(x, *args, **kw) if callable(f) else f, out)
        else:
            out[c] = f(x[c], *args, **kw) if callable(f) else f
    return cast_to(handle(out), x.dtype)


@replaces(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """One axis after the other, each kept with extent 1."""
    a = handle(a)
    given = axes if isinstance(axes, (tuple, list, np.ndarray)) else (axes,)
    ndim = a.ndim
    for k in given:
        axis = one_axis(int(k), ndim)
        found = handle(func(a, axis))
        a = found if found.ndim == ndim else call(np.expand_dims, found, axis)
        if a.ndim != ndim:
            raise fail(JitadValueError, "function is not returning an array of the correct shape")
    return a


@replaces(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A loop in Python over the other axes, whose extents must be known.

    What the function gives is copied: it may be the same array each time.
    """
    a = handle(arr)
    axis = one_axis(axis, a.ndim)
    moved = moveaxis(a, axis, -1)
    around = tuple(a._static(n, "an extent for apply_along_axis") for n in moved.shape[:-1])
    every = np.ndindex(*around)
    found = [handle(call(np.array, func1d(moved[k], *args, **kwargs))) for k in every]
    stacked = reshape(call(np.stack, found), (*around, *found[0].shape))
    return moveaxis(stacked, -1, axis) if found[0].ndim == 1 else stacked
