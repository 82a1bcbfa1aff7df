"""What do NumPy's objects give that make arrays from what stands between brackets?

`np.r_`, `np.c_`, `np.mgrid`, `np.ogrid`: ranges of slices, joined or spread over a grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.tape.types import promote
from jitad.values import extents, journal
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, elementwise, shape_of
from jitad.values.complexes.number import Complex
from jitad.values.kind import fail, is_number, is_python, require, type_of
from jitad.values.number import bind
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import broadcast_to, handle, moveaxis
from jitad.values.registry import call, call_of_part, call_plain, of_complex, of_each_part, replaces
from jitad.values.views import Shown


def _traced(key: Any) -> bool:
    items = key if isinstance(key, tuple) else (key,)
    return any(any_traced((i.start, i.stop, i.step)) if isinstance(i, slice) else any_traced((i,))
               for i in items)  # fmt: skip


def _lent(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_lent, key))
    if isinstance(key, slice):
        return slice(*map(_lent, (key.start, key.stop, key.step)))
    return key.peek() if hasattr(key, "peek") else key


def spanned(s: slice) -> ArrayHandle:
    """The numbers of a slice; an imaginary step says how many there are, both ends among them."""
    start = 0 if s.start is None else s.start
    if isinstance(s.step, complex):
        return handle(call(np.linspace, start, s.stop, int(abs(s.step))))
    return handle(call(np.arange, start, s.stop, 1 if s.step is None else s.step))


# -- joined ---------------------------------------------------------------------------------------


def _joins(maker: Any) -> None:
    original = maker.__getitem__

    @replaces(original, plain=False)
    def join(key: Any) -> Any:
        if not _traced(key):
            return wrap(original(_lent(key)))
        return _joined(key if isinstance(key, tuple) else (key,), maker.axis, maker.ndmin,
                       maker.trans1d)  # fmt: skip


def _joined(items: tuple[Any, ...], axis: int, ndmin: int, place: int) -> Any:
    """`place`: where the axes of what has fewer than `ndmin` go."""
    if isinstance(items[0], str):
        axis, ndmin, place = _directive(items[0], axis, ndmin, place)
        items = items[1:]
    parts, types = [], []
    for item in items:
        a = spanned(item) if isinstance(item, slice) else handle(as_operand(item))
        ranged = isinstance(item, slice)
        types.append(type_of(a if ranged else as_operand(item)))  # Python's numbers are weak
        if not shape_of(a) and not ranged:
            a = call(np.atleast_1d, a)
            a = a.with_axes(tuple(range(ndmin - 1))) if ndmin > 1 else a
        elif a.ndim < ndmin:
            new = ndmin - a.ndim
            front = place % (new + 1) if place != -1 else new
            a = a.with_axes(tuple(k for k in range(ndmin) if not front <= k < front + a.ndim))
        parts.append(a)
    return call(np.concatenate, parts, axis, dtype=promote(*types)[0])


def _directive(text: str, axis: int, ndmin: int, place: int) -> tuple[int, int, int]:
    try:
        numbers = [int(x) for x in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        raise fail(JitadTypeError, f"the directive {text!r} is not supported here",
                   "Write 'axis', 'axis,ndmin' or 'axis,ndmin,place'.")  # fmt: skip
    given = (*numbers, *(axis, ndmin, place)[len(numbers) :])
    return given[0], given[1], given[2]


for _maker in (np.r_, np.c_):
    _joins(_maker)


# -- grids ----------------------------------------------------------------------------------------


def _spans(maker: Any) -> None:
    original = maker.__getitem__

    @replaces(original, plain=False)
    def grid(key: Any) -> Any:
        if not _traced(key):
            return wrap_all(original(_lent(key)))
        if isinstance(key, slice):
            return spanned(key)
        common = np.dtype(promote(*map(type_of, _numbers(key)))[0])
        axes = [spanned(s).astype(common) for s in key]
        shape = tuple(a.shape[0] for a in axes)
        every = [a.with_axes(tuple(j for j in range(len(axes)) if j != k))
                 for k, a in enumerate(axes)]  # fmt: skip
        if maker.sparse:
            return tuple(every)
        return call(np.stack, [broadcast_to(a, shape) for a in every])


def _numbers(key: tuple[slice, ...]) -> list[Any]:
    """What the ranges begin and end with, and their steps: grids are of one dtype."""
    found = [x for s in key for x in (0, s.start, s.stop, s.step) if x is not None]
    return [abs(x) if isinstance(x, complex) else x for x in found]


def wrap_all(value: Any) -> Any:
    return tuple(map(wrap, value)) if isinstance(value, tuple) else wrap(value)


for _grids in (np.mgrid, np.ogrid):
    _spans(_grids)


# -- elements with their places -------------------------------------------------------------------


@replaces(np.ndenumerate, plain=False)
def ndenumerate(arr: Any) -> Any:
    """Pairs of an index and the element there, in C order; the extents must be known."""
    a = handle(arr)
    shape = tuple(a._static(n, "an extent for np.ndenumerate") for n in a.shape)
    pairs = ((k, a[k]) for k in np.ndindex(*shape))
    journal.made(pairs)
    return pairs


@replaces(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Flat indices as one index for each axis."""
    dims = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    indices = elementwise("cast", as_operand(indices), dtype="i8")
    inside = elementwise("logical_and", elementwise("ge", indices, 0),
                         elementwise("lt", indices, extents.product(dims)))  # fmt: skip
    require(call(np.all, inside), JitadValueError, "an index is out of bounds for the shape")
    out = []
    for n in reversed(dims) if order == "C" else dims:
        out.append(call(np.remainder, indices, n))
        indices = call(np.floor_divide, indices, n)
    return tuple(reversed(out) if order == "C" else out)


@replaces(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    """One index for each axis as flat indices."""
    from jitad.values.picking import brought_in

    flat: Any = 0
    pairs = list(zip(multi_index, dims, strict=True))
    for index, n in pairs if order == "C" else reversed(pairs):
        index = elementwise("cast", as_operand(index), dtype="i8")
        if mode == "raise":
            inside = elementwise("logical_and", elementwise("ge", index, 0),
                                 elementwise("lt", index, n))  # fmt: skip
            require(call(np.all, inside), JitadValueError, "invalid entry in coordinates array")
        else:
            index = brought_in(index, n, mode)
        flat = call(np.add, call(np.multiply, flat, n), index)
    return flat


# -- what is there already ------------------------------------------------------------------------


@replaces(np.fromiter, plain=False)
def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    items = list(iter)
    return call(np.array, items if count < 0 else items[:count], dtype=dtype)


@replaces(np.require)
def require_(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    return _required(call, a, dtype, requirements)


@of_each_part(np.require)
def _required_of_part(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    return _required(call_of_part, a, dtype, requirements)


def _required(call: Any, a: Any, dtype: Any, requirements: Any) -> Any:
    """Arrays of a trace are aligned and may be written to; a copy where they lie otherwise."""
    asked = {str(r).upper()[:1] for r in requirements or ()}  # a text is its letters
    a = call(np.asarray, a, dtype)
    if {"C", "F"} <= asked:
        raise fail(JitadValueError, 'Cannot specify both "C" and "F" order')
    if asked & {"C", "F"} and len(shape_of(a)):
        a = call(np.ascontiguousarray if "C" in asked else np.asfortranarray, a)
    return a.copy() if "O" in asked and getattr(a, "base", None) is not None else a


@replaces(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    a = call(np.asarray, a, dtype)
    require(call(np.all, call(np.isfinite, a)), JitadValueError,
            "array must not contain infs or NaNs")  # fmt: skip
    return a


@replaces(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    def kind(x: Any) -> Any:
        if hasattr(x, "peek") and not (isinstance(x, Complex) and is_python(x)):
            return x.dtype
        if not is_number(x):
            return x
        weak = {"c": 0j, "f": 0.0, "i": 0, "b": False}
        return weak[type_of(x).dtype[0]] if is_python(x) else type_of(x).dtype

    return np.result_type(*map(kind, arrays_and_dtypes))


of_complex(np.result_type)(result_type)


@replaces(np.nditer, plain=False)
def nditer(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
    if any_traced([op]) or "write" in repr(op_flags):  # which would be to a copy
        raise fail(JitadTypeError, "np.nditer goes by where the elements lie in memory, which is "
                   "not known here", "Loop over a.flat, or over np.ndenumerate(a).")  # fmt: skip
    given = {} if op_flags is None else {"op_flags": op_flags}
    return call_plain(np.nditer, (op, flags or (), *args), given | kwargs)


@replaces(np.lib.stride_tricks.as_strided, plain=False)
def as_strided(*_: Any, **__: Any) -> Any:
    raise fail(JitadTypeError, "as_strided goes by where the elements lie in memory, which is not "
               "known here", "Use sliding_window_view, or a[indices].")  # fmt: skip


@replaces(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    return call(np.nonzero, call(np.tri, arr.shape[-2], arr.shape[-1], k, bool))


@replaces(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    below = call(np.tri, arr.shape[-2], arr.shape[-1], k - 1, bool)
    return call(np.nonzero, call(np.logical_not, below))


@replaces(np.diag_indices)
def diag_indices(n: Any, ndim: int = 2) -> Any:
    return (call(np.arange, n),) * ndim


@replaces(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    n, *rest = arr.shape
    if not rest:
        raise fail(JitadValueError, "input array must be at least 2-d")
    for m in rest:
        require(bind("eq", m, n), JitadValueError,
                "All dimensions of input must be of equal length")  # fmt: skip
    return diag_indices(n, len(arr.shape))


@replaces(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False,
                        writeable: bool = False) -> Any:  # fmt: skip
    """The elements under a window at each of its places."""
    if writeable:
        raise fail(JitadTypeError, "windows can't be written to here", "Write to the array.")
    a = handle(x)
    sizes = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    given = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(sizes) != len(given):
        raise fail(JitadValueError, "one window extent is needed for each axis")
    widths = [extents.as_int(n, "a window's extent") for n in sizes]
    axes = [one_axis(k, a.ndim) for k in given]
    shape = list(a.shape)
    for n, k in zip(widths, axes, strict=True):
        if not extents.at_least(shape[k], n):
            require(bind("ge", shape[k], n), JitadValueError,
                    "window shape cannot be larger than input array shape")  # fmt: skip
        shape[k] = extents.add(extents.sub(shape[k], n), 1)

    def make(content: Any, _: Any) -> Any:
        shown = ArrayHandle(content)
        for n, k in zip(widths, axes, strict=True):
            places = extents.add(extents.sub(shown.shape[k], n), 1)
            at = call(np.add, call(np.arange, places)[:, None], call(np.arange, n))
            shown = moveaxis(shown[(*(slice(None),) * k, at)], k + 1, -1)
        return shown.content

    return a.showing(Shown((*shape, *widths), make))
