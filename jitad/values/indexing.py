"""What does the index of a subscript mean?

`parse` turns what stands between the brackets into one entry an axis (`At`, `Range`, `New`), with
negative indices wrapped and bounds checked: at once where they are known, by a `check` equation
in front where they are traced, not at all where they are proved.  Index arrays and masks stay as
they are, as `Pick` entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadExtentError, JitadIndexError, JitadTypeError, JitadValueError
from jitad.immutable import immutable
from jitad.tape.build import Leaf
from jitad.values.extents import (
    Int,
    add,
    as_int,
    assume_at_least,
    at_least,
    constant_difference,
    floordiv,
    largest,
    smallest,
    sub,
)
from jitad.values.kind import fail, require, type_of
from jitad.values.number import Number, bind
from jitad.values.registry import call
from jitad.values.views import At, Entry, New, Range


@immutable(slots=True, eq=False)
class Pick:
    """An array of indices (`dtype` of kind 'i'), or a mask over `axes` axes ('b').

    Where `unused` holds, which may be traced, nothing is picked by the indices.
    """

    array: Any  # ndarray or handle
    axes: int = 1
    unused: Any = False


def parse(index: Any, shape: tuple[Int, ...]) -> list[Entry | Pick]:
    """One entry an axis, ellipsis and missing axes filled in."""
    items = list(index) if isinstance(index, tuple) else [index]
    items = [_array_or_item(i) for i in items]
    used = sum(i.axes if isinstance(i, Pick) else i is not None for i in items if i is not ...)
    dots = sum(i is ... for i in items)
    if dots > 1:
        raise fail(JitadIndexError, "an index can only have a single ellipsis ('...')")
    if used > len(shape):
        raise fail(JitadIndexError, f"too many indices for array: array is {len(shape)}-"
                   f"dimensional, but {used} were indexed")  # fmt: skip
    fill = [slice(None)] * (len(shape) - used)
    at = next((k for k, i in enumerate(items) if i is ...), None)
    items = items + fill if at is None else items[:at] + fill + items[at + 1 :]

    out: list[Entry | Pick] = []
    axis = 0
    for item in items:
        if item is None:
            out.append(New())
        elif isinstance(item, Pick):
            out.append(item)
            axis += item.axes
        else:
            n = shape[axis]
            is_slice = isinstance(item, slice)
            out.append(slice_range(item, n) if is_slice else At(position(item, n, axis)))
            axis += 1
    return out


def has_bool(index: Any) -> bool:
    """True where a single bool stands among the items of a subscript."""
    items = index if isinstance(index, tuple) else (index,)
    return any(map(_is_bool, items))


def has_ellipsis(index: Any) -> bool:
    return index is ... or (isinstance(index, tuple) and any(i is ... for i in index))


def _is_bool(item: Any) -> bool:
    if isinstance(item, (bool, np.bool_)):
        return True
    dtype = None if isinstance(item, (int, slice)) else getattr(item, "dtype", None)
    if dtype is None and isinstance(item, Number):
        dtype = np.dtype(type_of(item).dtype)
    return dtype is not None and dtype.kind == "b" and not getattr(item, "ndim", 0)


def bools_as_masks(index: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Two subscripts for one with single bools: a new axis for each, then a mask over that.

    So `a[True]` has one axis more than `a`, and `a[False]` no elements on it, as in NumPy.
    """
    items = index if isinstance(index, tuple) else (index,)
    new: list[Any] = []
    mask: list[Any] = []
    for item in items:
        if _is_bool(item):
            new.append(None)
            plain = not isinstance(getattr(item, "content", item), Number)
            mask.append(np.array([bool(item)]) if plain else call(np.reshape, item, (1,)))
            continue
        if item is None or item is ...:
            new.append(item)
            mask.append(slice(None) if item is None else item)
            continue
        many = isinstance(item, (list, tuple, range)) and len(item) > 0
        item = call(np.array, list(item)) if many else item
        over = getattr(item, "dtype", np.dtype(int)).kind == "b"
        new += [slice(None)] * (item.ndim if over else 1)
        mask.append(item)
    return tuple(new), tuple(mask)


def _array_or_item(item: Any) -> Any:
    if isinstance(item, (list, tuple, range)):  # a tuple within the subscript's own
        item = list(item)
        item = call(np.array, item) if item else np.array(item, dtype=np.intp)
    elif hasattr(item, "start") and hasattr(item, "count"):  # a range with a traced bound
        item = call(np.arange, item.start, item.stop, item.step)
    dtype = getattr(item, "dtype", None)
    ndim = getattr(item, "ndim", 0)
    if dtype is None or not ndim:
        if isinstance(item, np.ndarray):
            return item[()]
        return item.content if hasattr(item, "content") else item
    if dtype.kind not in "iub":
        raise fail(JitadIndexError, "arrays used as indices must be of integer (or boolean) type")
    return Pick(item, ndim if dtype.kind == "b" else 1)


def position(item: Any, n: Int, axis: int, or_end: bool = False) -> Int:
    """An index of an axis of extent n as a non-negative one, checked; the end may be one, too."""
    try:
        i = as_int(item)
    except JitadTypeError as e:
        raise fail(JitadIndexError, "only integers, slices, ellipsis, newaxis and integer or "
                   f"boolean arrays are valid indices: {e.what}", e.remedy) from None  # fmt: skip
    if not isinstance(i, Number) and not isinstance(n, Number):
        if not -n <= i < n + or_end:
            raise fail(JitadIndexError,
                       f"index {i} is out of bounds for axis {axis} with size {n}")  # fmt: skip
        return i + n if i < 0 else i
    shown = f"index {i}" if not isinstance(i, Number) else "index"
    what = f"{shown} is out of bounds for axis {axis}"
    if not isinstance(n, Number):
        what += f" with size {n}"
    if not at_least(i, 0) and not at_least(add(n, i), 0):
        require(bind("ge", add(n, i), 0), JitadIndexError, what)
    last = n if or_end else sub(n, 1)
    if not at_least(last, i):
        require(bind("le" if or_end else "lt", i, n), JitadIndexError, what)
    return wrap(i, n)


def wrap(i: Int, n: Int) -> Int:
    """Negative indices count from the end."""
    if not isinstance(i, Number):
        return add(n, i) if i < 0 else i
    return i if at_least(i, 0) else bind("where", bind("lt", i, 0), add(i, n), i)


def slice_range(item: slice, n: Int) -> Range:
    """A slice of an axis of extent n; bounds beyond the ends are clipped, as in Python."""
    step = 1 if item.step is None else as_int(item.step, "the step of a slice")
    if isinstance(step, Leaf):
        step = step.known("the step of a slice")
    if step == 0:
        raise fail(JitadValueError, "slice step cannot be zero")
    if step == 1 and item.start is None and item.stop is None:
        return Range(0, 1, n)
    start = None if item.start is None else as_int(item.start, "the start of a slice")
    stop = None if item.stop is None else as_int(item.stop, "the stop of a slice")
    if not any(isinstance(x, Number) for x in (start, stop, n)):
        plain = range(*slice(start, stop, step).indices(n))
        return Range(plain.start, step, len(plain))
    return _upwards(start, stop, step, n) if step > 0 else _downwards(start, stop, step, n)


def _upwards(start: Int | None, stop: Int | None, step: int, n: Int) -> Range:
    first: Int = 0 if start is None else wrap(start, n)
    end = n if stop is None else wrap(stop, n)
    distance = constant_difference(end, first)
    if distance is not None and (distance <= 0 or _inside(first, end, n)):
        return Range(first, step, max(0, -(-distance // step)))
    # A start beyond the end needs no clipping: the count is zero then.
    first, end = largest(first, 0), smallest(end, n)
    return Range(first, step, _count(sub(end, first), step))


def _inside(first: Int, end: Int, n: Int) -> bool:
    """May a slice of known length be taken not to reach beyond the ends, so that it keeps it?

    `a[:3]` may where a guard of the kernel says so; in `a[i:i+2]` the bounds are checked.
    """
    needed = constant_difference(n, first) if isinstance(end, Number) else end
    if needed is not None:
        return assume_at_least(n, needed)
    for small, large in ((0, first), (end, n)):
        if not at_least(large, small):
            require(bind("le", small, large), JitadExtentError, "a slice of fixed length reaches "
                    "beyond the end of an array whose length is not known while tracing",
                    "Where fewer elements will do, slice up to min(stop, len(a)).")  # fmt: skip
    return True


def _downwards(start: Int | None, stop: Int | None, step: int, n: Int) -> Range:
    first = sub(n, 1) if start is None else smallest(wrap(start, n), sub(n, 1))
    end: Int = -1 if stop is None else largest(wrap(stop, n), -1)
    return Range(first, step, _count(sub(first, end), -step))


def _count(distance: Int, step: int) -> Int:
    if step != 1:
        distance = floordiv(add(distance, step - 1), step)
    return largest(distance, 0)
