"""What do index arrays and masks select?

The axes that they index are merged into one, the indices into flat ones; `take` reads and
`store_take` writes along that axis.  Where slices separate them, the selected axis comes first.  A
mask stands for the indices at which it is true.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitad.errors import JitadExtentError, JitadIndexError, JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, elementwise, fit, require_same, shape_of, shape_text
from jitad.values.extents import Int
from jitad.values.indexing import Pick, parse
from jitad.values.kind import fail, present_builder, require, type_of
from jitad.values.layout import follows, laid_like, laid_out, loosen
from jitad.values.number import Number, bind
from jitad.values.numpy.reductions import counts_as_flat, one_axis
from jitad.values.registry import call, replaces, write_out
from jitad.values.views import At, Entry, Range

Shape = tuple[Int, ...]


def pick(a: ArrayHandle, entries: list[Entry | Pick]) -> Any:
    """A copy of the selected elements."""
    view, at, axes, index, picked = _select(a, entries)
    merged = _merged(view.content, at, axes)
    found = bind("take", merged, index, axis=at)
    out = wrap(_reshaped(found, _result_shape(view.shape, at, axes, picked)))
    if len(shape_of(out)) > 1:
        loosen(out) if at else follows(out, (a,))  # NumPy has what was picked in front
        lies = laid_out(view)
        if isinstance(lies, np.ndarray) and not any(isinstance(n, Number) for n in picked):
            index = np.zeros(picked, int), *(0 for _ in range(axes - 1))
            like = lies[(slice(None),) * at + index] if lies.size else lies
            return laid_like(out, like) if like.shape == out.shape else out
    return out


def put(a: ArrayHandle, entries: list[Entry | Pick], value: Any, row: str = "store_take") -> None:
    """Write the selected elements; of equal indices the last wins (or all are accumulated)."""
    masks = [e for e in entries if isinstance(e, Pick) and e.array.dtype.kind == "b"]
    if masks and len(entries) == 1 and masks[0].axes == a.ndim and len(shape_of(value)) > 1:
        raise fail(JitadTypeError, "boolean array indexing assignment requires a 0 or "
                   "1-dimensional input")  # fmt: skip
    if masks and not shape_of(value) and row == "store_take" and entries[0] is masks[0]:
        if all(isinstance(e, Range) for e in entries[1:]):
            _put_where(a, entries, masks[0], value)
            return
    view, at, axes, index, picked = _select(a, entries)
    shape = _result_shape(view.shape, at, axes, picked)
    traced = any(isinstance(c, Number) for c in (view.peek(), index))
    value = _without_leading(value, len(shape))
    content = _spread(fit(value, a.dtype, shape, traced), shape, a.dtype)
    flat = _result_shape(view.shape, at, axes, (index.shape[0],))
    merged = _merged(view.content, at, axes)
    new = bind(row, merged, _reshaped(content, flat), index, axis=at)
    view._write_all(_reshaped(new, view.shape))


def _without_leading(value: Any, ndim: int) -> Any:
    """Of values without elements NumPy drops leading axes of any extent here."""
    own = shape_of(value)
    lead, rest = own[: max(len(own) - ndim, 0)], own[max(len(own) - ndim, 0) :]
    if lead and any(type(n) is int and not n for n in rest):
        return call(np.zeros, rest, value.dtype)
    unknown = [bind("eq", n, 0) for n in rest if isinstance(n, Number)]
    if not lead or not unknown:
        return value
    none = functools.reduce(lambda a, b: bind("logical_or", a, b), unknown)
    for n in lead:
        require(bind("logical_or", none, bind("eq", n, 1)), JitadValueError,
                f"could not broadcast input array from shape {shape_text(own)} into what is picked")
    return call(np.reshape, value, rest)


def _put_where(a: ArrayHandle, entries: list[Any], mask: Pick, value: Any) -> None:
    whole = a._window(tuple(Range(0, 1, n) for n in a.shape[: mask.axes]) + tuple(entries[1:]))
    if not _some_fit(mask.array.shape, whole.shape[: mask.axes]):
        return
    trailing = len(whole.shape) - mask.axes
    condition = mask.array
    if trailing:
        handle = condition if isinstance(condition, ArrayHandle) else ArrayHandle(condition)
        condition = handle.with_axes(tuple(range(mask.axes, mask.axes + trailing)))
    value = fit(value, a.dtype, (), True)
    whole.assign(elementwise("where", condition, value, whole))


def _some_fit(own: Shape, extent: Shape) -> bool:
    """Has a mask elements, as many as there are along these axes?  NumPy lets one of none pass:
    where extents are not known, a call with others is traced for them."""
    if any(type(n) is int and not n for n in own) and not all(map(extents.same, own, extent)):
        return False
    builder = present_builder()
    caught = builder is not None and builder.catches(JitadIndexError)
    for n, m in zip(own, extent, strict=True):
        known = caught or not any(isinstance(k, Number) for k in (*own, m))
        require_same(n, m, _mask_text, JitadIndexError if known else JitadExtentError)
    return True


def _mask_text() -> str:
    return "boolean index did not match indexed array"


def _spread(content: Any, shape: Shape, dtype: np.dtype[Any]) -> Any:
    """A value that fits, stretched in full."""
    if isinstance(content, Number) or any(isinstance(n, Number) for n in shape):
        own = shape_of(content)
        return content if own else bind("full", content, *shape, dtype=dtype.str[1:])
    return np.array(np.broadcast_to(content, shape), dtype)


_Selection = tuple[ArrayHandle, int, int, Any, Shape]


def _select(a: ArrayHandle, entries: list[Entry | Pick]) -> _Selection:
    """(view by the basic entries, axis and number of axes picked, flat indices, their shape)."""
    advanced = [k for k, e in enumerate(entries) if isinstance(e, (Pick, At))]
    first = next(k for k, e in enumerate(entries) if isinstance(e, Pick))
    basic: list[Entry] = []
    axis = 0
    picked: list[tuple[Pick, Shape]] = []
    for e in entries:
        if isinstance(e, Pick):
            extent = a.shape[axis : axis + e.axes]
            basic += [Range(0, 1, n) for n in extent]
            picked.append((e, extent))
            axis += e.axes
        else:
            basic.append(e)
            axis += isinstance(e, (At, Range))
    at = sum(not isinstance(e, (Pick, At)) for e in entries[:first])
    view = a._window(tuple(basic))
    axes = sum(len(extent) for _, extent in picked)
    if advanced[-1] - advanced[0] + 1 > len(advanced):  # they come first, as NumPy has it
        at, view = 0, view.permuted(_picked_first(entries))
    index, shape = _flat_index(picked)
    return view, at, axes, index, shape


def selected(a: ArrayHandle, entries: list[Entry | Pick]) -> tuple[Any, ...]:
    """What index arrays select, in front: for writing slice by slice.

    (the content with one axis in front for all that are selected; flat indices of it; a view to
    write the content back to; the result's shape, and where in it the indices' axes are)
    """
    view, at, axes, index, picked = _select(a, entries)
    shape = _result_shape(view.shape, at, axes, picked)
    perm = (*range(at, at + axes), *range(at), *range(at + axes, view.ndim))
    view = view.permuted(perm)
    return _merged(view.content, 0, axes), index, view, shape, (at, len(picked))


def _picked_first(entries: list[Entry | Pick]) -> tuple[int, ...]:
    """The axes of a view by the basic entries: those that index arrays select, then the others."""
    of_arrays: list[int] = []
    others: list[int] = []
    axis = 0
    for e in entries:
        count = e.axes if isinstance(e, Pick) else 0 if isinstance(e, At) else 1
        (of_arrays if isinstance(e, Pick) else others).extend(range(axis, axis + count))
        axis += count
    return (*of_arrays, *others)


def _flat_index(picked: list[tuple[Pick, Shape]]) -> tuple[Any, Shape]:
    flat: Any = None
    # Indices that are broadcast away are not looked at.
    none = any(type(n) is int and not n for one, _ in picked for n in shape_of(one.array))
    for chosen, extent in picked:
        one, n = _indices(chosen.array, extent, True if none else chosen.unused)
        if flat is None:
            flat = one
        else:
            flat = elementwise("add", elementwise("mul", flat, n), one)
    handle = flat if isinstance(flat, ArrayHandle) else ArrayHandle(np.asarray(flat))
    flat = handle if handle.ndim == 1 else call(np.ravel, handle)
    return flat.content, handle.shape


def _indices(array: Any, extent: Shape, unused: Any = False) -> tuple[Any, Int]:
    """Non-negative indices of these axes, flat, checked if used; and how many there are."""
    handle = array if isinstance(array, ArrayHandle) else ArrayHandle(array)
    if handle.dtype.kind == "b":
        _some_fit(handle.shape, extent)
        return ArrayHandle(nonzero(call(np.ravel, handle).content)), extents.product(extent)
    (n,) = extent
    return (in_many_bits(handle) if unused is True else in_range(handle, n, unused=unused)), n


def in_many_bits(index: Any) -> Any:
    """Indices with which can be computed: an extent need not fit in the bits of a small int."""
    small = np.dtype(type_of(index).dtype).itemsize < 4
    return elementwise("cast", index, dtype="i8") if small else index


def in_range(index: Any, n: Int, negative: bool = True, unused: Any = False) -> Any:
    """The indices of an axis of extent n as non-negative ones, checked unless they are unused."""
    wrapped = index = in_many_bits(index)
    if negative:
        below = elementwise("lt", index, 0)
        wrapped = elementwise("where", below, elementwise("add", index, n), index)
    outside = elementwise("logical_or", elementwise("lt", wrapped, 0),
                          elementwise("ge", wrapped, n))  # fmt: skip
    none = elementwise("eq", call(np.count_nonzero, outside), 0)
    if unused is not False:
        none = elementwise("logical_or", none, unused)
    require(none, JitadIndexError, "an index of the index array is out of bounds"
            + ("" if isinstance(n, Number) else f" for an axis of size {n}"))  # fmt: skip
    return wrapped


def nonzero(mask: Any) -> Any:
    """The indices at which a mask of one axis is true."""
    if isinstance(mask, np.ndarray):
        return np.flatnonzero(mask)
    hits = bind("sum", bind("cast", mask, dtype="i8"), axes=(0,))
    return bind("positions", mask, bind("cast", hits, dtype="i8", py=True))


def _merged(content: Any, at: int, axes: int) -> Any:
    if axes == 1:
        return content
    shape = shape_of(content)
    dims = (*shape[:at], extents.product(shape[at : at + axes]), *shape[at + axes :])
    return bind("reshape", content, *dims)


def _result_shape(shape: Shape, at: int, axes: int, picked: Shape) -> Shape:
    return (*shape[:at], *picked, *shape[at + axes :])


def _reshaped(content: Any, shape: Shape) -> Any:
    own = shape_of(content)
    if len(own) == len(shape) and all(map(extents.same, own, shape)):
        return content
    return bind("reshape", content, *shape)


@replaces(np.nonzero)
def nonzero_(a: Any) -> tuple[Any, ...]:
    """The indices along each axis, in C order."""
    a = handle_of(a)
    if not a.ndim:
        raise fail(JitadTypeError, "nonzero of a number is not defined", "Use np.atleast_1d.")
    flat = nonzero(elementwise("ne", call(np.ravel, a), 0).content)
    out: list[Any] = []
    rest: Any = wrap(flat)
    for n in reversed(a.shape[1:]):
        out.append(elementwise("mod", rest, n))
        rest = elementwise("floordiv", rest, n)
    return (rest, *reversed(out))


def handle_of(a: Any) -> ArrayHandle:
    return a if isinstance(a, ArrayHandle) else call(np.array, a)


@replaces(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    return nonzero_(call(np.ravel, handle_of(a)))[0]


@replaces(np.argwhere)
def argwhere(a: Any) -> Any:
    a = handle_of(a)
    if not a.ndim:  # one row of no indices, or none
        return call(np.zeros, (flatnonzero(a).shape[0], 0), dtype=np.int64)
    return call(np.stack, nonzero_(a), axis=1)


@replaces(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    a = handle_of(a)
    if counts_as_flat(axis, a.ndim):
        a, axis = call(np.ravel, a), 0
    axis = one_axis(axis, a.ndim)
    if isinstance(indices, (list, tuple)) and not len(indices):
        indices = np.zeros(0, int)
    if mode == "raise" and not all(extents.assume_at_least(n, 1) for n in a.shape[:axis]):
        found = _taken_by_none(a, handle_of(indices), axis)
    else:
        found = a[(*(slice(None),) * axis, brought_in(indices, a.shape[axis], mode))]
    return found if out is None else write_out(out, found)


def _taken_by_none(a: ArrayHandle, indices: ArrayHandle, axis: int) -> Any:
    """Indices that nothing is taken with, for want of anything in front, are not looked at."""
    some = indices if indices.ndim else indices.with_axes((0,))
    entries = parse((*(slice(None),) * axis, some), a.shape)
    entries[axis] = Pick(some, unused=elementwise("eq", extents.product(a.shape[:axis]), 0))
    found = pick(a, entries)
    return found if indices.ndim else found.without_axes((axis,))


@replaces(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    (places,) = nonzero_(condition)
    return take(a, places, axis, out)


@replaces(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    return compress(call(np.ravel, condition), call(np.ravel, arr))


def brought_in(indices: Any, n: Int, mode: str) -> Any:
    """Indices of an axis of extent n as `mode=` says: outside is an error, the end, or modulo n."""
    if mode == "raise":
        return indices
    if mode not in ("wrap", "clip"):
        raise fail(JitadValueError, f"mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    indices = as_operand(indices)
    if type_of(indices).dtype[0] not in "iu":
        raise fail(JitadIndexError, "arrays used as indices must be of integer type")
    indices = in_many_bits(indices)
    if mode == "wrap":
        return elementwise("mod", indices, n)
    low = elementwise("maximum", indices, 0)  # numpy.take counts no negative ones from the end
    return elementwise("minimum", low, extents.sub(n, 1))


def accumulate(a: ArrayHandle, indices: Any, value: Any) -> None:
    """`np.add.at(a, indices, value)`: equal indices add up."""
    entries = parse(indices, a.shape)
    if any(isinstance(e, Pick) for e in entries):
        put(a, entries, value, "accum_take")
    else:
        a[indices] = elementwise("add", a[indices], value)
