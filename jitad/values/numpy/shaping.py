"""What becomes of NumPy's functions that rearrange arrays?

Those that give views in NumPy give views here; joining and repeating makes new arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadExtentError, JitadTypeError, JitadValueError
from jitad.tape.types import promote
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import (
    as_operand,
    cast,
    common_shape,
    elementwise,
    require_fit,
    require_same,
    shape_of,
    shape_text,
    stretch,
)
from jitad.values.extents import Int, as_int
from jitad.values.kind import fail, is_python, require
from jitad.values.layout import contiguous, is_spaced, perhaps_of
from jitad.values.number import Number, bind
from jitad.values.numpy.creation import arange, array, shape_tuple
from jitad.values.numpy.reductions import axes_of, counts_as_flat, one_axis
from jitad.values.registry import call, of_each_part, replaces, write_out
from jitad.values.stand_ins import StandIn
from jitad.values.views import Shown


def handle(a: Any) -> ArrayHandle:
    """The operand as a handle: itself, or a new one onto a number or a list."""
    a = as_operand(a)
    return a if isinstance(a, ArrayHandle) else array(a)


@replaces(np.shape, plain=False)
def shape(a: Any) -> tuple[Any, ...]:
    return shape_of(as_operand(a))


@replaces(np.ndim, plain=False)
def ndim(a: Any) -> int:
    return len(shape(a))


@replaces(np.size, plain=False)
def size(a: Any, axis: Any = None) -> Int:
    dims = shape(a)
    return extents.product(dims[k] for k in axes_of(axis, len(dims)))


@replaces(np.reshape, plain=False)
def reshape(a: Any, shape: Any = None, order: str = "C", *, newshape: Any = None,
            copy: Any = None) -> ArrayHandle:  # fmt: skip
    a = handle(a)
    wanted = shape if shape is not None else newshape
    items = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
    if order == "F":
        return transpose(reshape(transpose(a), tuple(reversed(items))))
    _refuse_layout(order, a)
    dims = [extents.signed(as_int(n, "an extent")) for n in items]
    total = size(a)
    holes = [k for k, n in enumerate(dims) if not isinstance(n, Number) and n == -1]
    if len(holes) > 1:
        raise fail(JitadValueError, "can only specify one unknown dimension")
    if holes:
        (hole,) = holes
        rest = [n for k, n in enumerate(dims) if k != hole]
        dims[hole] = _quotient(list(a.shape), rest)
    if not extents.same(extents.product(dims), total):
        require(_equal(extents.product(dims), total), JitadValueError, "cannot reshape array of "
                f"shape {shape_text(a.shape)} into shape {shape_text(tuple(items))}")  # fmt: skip
    return a.reshaped(tuple(dims))


def _refuse_layout(order: str, a: ArrayHandle) -> None:
    """Orders 'A' and 'K' are of memory: known of plain arrays, where they may mean C."""
    if order == "C" or (order in ("A", "K") and a.ndim < 2):
        return
    if order not in ("A", "K"):
        raise fail(JitadValueError, f"order must be one of 'C', 'F', 'A', or 'K', not {order!r}")
    plain = a.peek() if a.concrete else None
    if not isinstance(plain, np.ndarray) or not plain.flags.c_contiguous:
        raise fail(JitadTypeError, f"order={order!r} goes by where the elements lie in memory, "
                   "which is not known here", "Name the order: 'C' or 'F'.")  # fmt: skip


def _quotient(factors: list[Int], divisors: list[Int]) -> Int:
    """The unknown extent; common factors cancel, so that (n, m) as (n, -1) has m, not n m // n."""
    left = []
    for d in divisors:
        same = [k for k, n in enumerate(factors) if isinstance(d, Number) and extents.same(n, d)]
        if same:
            del factors[same[0]]
        else:
            left.append(d)
    total, rest = extents.product(factors), extents.product(left)
    if not isinstance(rest, Number) and rest == 0:
        raise fail(JitadValueError, "cannot reshape an empty array into an unknown dimension")
    return extents.floordiv(total, rest)


def _equal(n: Int, m: Int) -> Any:
    return bind("eq", n, m) if isinstance(n, Number) or isinstance(m, Number) else n == m


@replaces(np.ravel, plain=False)
def ravel(a: Any, order: str = "C") -> ArrayHandle:
    a = handle(call(np.asarray, a) if isinstance(a, StandIn) else a)  # of an np.matrix, too
    return _raveled(a, order, is_spaced(a))


@of_each_part(np.ravel)
def _raveled(a: Any, order: str = "C", spaced: bool | None = False) -> ArrayHandle:
    a = handle(a)
    if order == "F":
        a = transpose(a)
    else:
        _refuse_layout(order, a)
    lies = contiguous(a) if spaced is False else (False if spaced else None)
    if not lies:  # where `reshape` may give a view of steps, this is a copy
        a = perhaps_of(a, array(a), lies)
    return a[:] if a.ndim == 1 else reshape(a, -1)


@replaces(np.transpose, plain=False)
def transpose(a: Any, axes: Any = None) -> ArrayHandle:
    a = handle(a)
    if axes is None:
        return a.permuted(tuple(reversed(range(a.ndim))))
    if len(axes) != a.ndim:
        raise fail(JitadValueError, "axes don't match array")
    perm = tuple(one_axis(int(k), a.ndim) for k in axes)
    if len(set(perm)) != a.ndim:
        raise fail(JitadValueError, "repeated axis in transpose")
    return a.permuted(perm)


@replaces(np.matrix_transpose, plain=False)
def matrix_transpose(a: Any) -> ArrayHandle:
    return swapaxes(a, -1, -2)


@replaces(np.swapaxes, plain=False)
def swapaxes(a: Any, axis1: int, axis2: int) -> ArrayHandle:
    a = handle(a)
    i, j = one_axis(axis1, a.ndim), one_axis(axis2, a.ndim)
    perm = list(range(a.ndim))
    perm[i], perm[j] = j, i
    return a.permuted(tuple(perm))


@replaces(np.moveaxis, plain=False)
def moveaxis(a: Any, source: Any, destination: Any) -> ArrayHandle:
    a = handle(a)
    source = source if isinstance(source, (tuple, list)) else (source,)
    destination = destination if isinstance(destination, (tuple, list)) else (destination,)
    if len(source) != len(destination):
        raise fail(JitadValueError, "source and destination must have the same number of axes")
    out = [one_axis(k, a.ndim) for k in source]
    into = [one_axis(k, a.ndim) for k in destination]
    perm = [k for k in range(a.ndim) if k not in out]
    for place, k in sorted(zip(into, out, strict=True)):
        perm.insert(place, k)
    return a.permuted(tuple(perm))


@replaces(np.squeeze, plain=False)
def squeeze(a: Any, axis: Any = None) -> ArrayHandle:
    a = handle(a)
    ones = tuple(k for k, n in enumerate(a.shape) if not isinstance(n, Number) and n == 1)
    if axis is None:
        for n in a.shape:
            if isinstance(n, Number):  # taken not to be 1, and the number of axes depends on it
                require(bind("ne", n, 1), JitadExtentError, "np.squeeze meets an extent of 1 "
                        "not known while tracing", "Name the axis: squeeze(axis=...).")  # fmt: skip
    axes = ones if axis is None else axes_of(axis, a.ndim)
    for k in axes:
        if k not in ones:
            one = extents.may_be_one(a.shape[k]) and bind("eq", a.shape[k], 1)
            require(one, JitadValueError, "cannot select an axis to squeeze out which has size "
                    "not equal to one")  # fmt: skip
    return a.without_axes(axes)


@replaces(np.expand_dims, plain=False)
def expand_dims(a: Any, axis: Any) -> ArrayHandle:
    a = handle(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return a.with_axes(axes_of(tuple(given), a.ndim + len(given)))


@replaces(np.atleast_1d, plain=False)
def atleast_1d(*arrays: Any) -> Any:
    out = [a if a.ndim else reshape(a, (1,)) for a in map(handle, arrays)]
    return out[0] if len(out) == 1 else tuple(out)


@replaces(np.atleast_2d, plain=False)
def atleast_2d(*arrays: Any) -> Any:
    out = [a if a.ndim > 1 else a.with_axes((0,)) for a in map(atleast_1d, arrays)]
    return out[0] if len(out) == 1 else tuple(out)


@replaces(np.flip, plain=False)
def flip(a: Any, axis: Any = None) -> ArrayHandle:
    a = handle(a)
    axes = axes_of(axis, a.ndim, of_number=False)
    return a[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(a.ndim))]


@replaces(np.flipud, plain=False)
def flipud(a: Any) -> ArrayHandle:
    return flip(a, 0)


@replaces(np.fliplr, plain=False)
def fliplr(a: Any) -> ArrayHandle:
    return flip(a, 1)


# -- new arrays -----------------------------------------------------------------------------------


@replaces(np.broadcast_to)
def broadcast_to(a: Any, shape: Any) -> ArrayHandle:
    a, dims = handle(a), shape_tuple(shape)
    if a.ndim > len(dims):
        raise fail(JitadValueError, "input operand has more dimensions than allowed by the shape")
    require_fit(a.shape, dims, lambda: f"cannot broadcast to shape {shape_text(dims)}")
    return a.showing(Shown(dims, stretch))


@replaces(np.broadcast_arrays, plain=False)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[ArrayHandle, ...]:
    """What needs no stretching can be written to, as what it is a view of."""
    arrays = [handle(a) for a in args]
    shape = common_shape([a.shape for a in arrays])
    fits = [len(a.shape) == len(shape) and all(map(extents.same, a.shape, shape)) for a in arrays]
    return tuple(a[...] if f else broadcast_to(a, shape) for a, f in zip(arrays, fits, strict=True))


@replaces(np.concatenate)
def concatenate(arrays: Any, axis: Any = 0, out: Any = None, dtype: Any = None,
                casting: Any = "same_kind") -> Any:  # fmt: skip
    parts = [handle(a) for a in arrays]
    if not parts:
        raise fail(JitadValueError, "need at least one array to concatenate")
    weak = [axis is None and not shape_of(a) and is_python(as_operand(a)) for a in arrays]
    if axis is None:
        parts, axis = [ravel(p) for p in parts], 0
    if any(p.ndim != parts[0].ndim for p in parts) or not parts[0].ndim:
        raise fail(JitadValueError, "all the input arrays must have the same, non-zero number "
                   "of dimensions")  # fmt: skip
    axis = one_axis(axis, parts[0].ndim)
    for p in parts[1:]:
        for k, (n, m) in enumerate(zip(p.shape, parts[0].shape, strict=True)):
            if k != axis:
                require_same(n, m, lambda: "all the input array dimensions except for the "
                             "concatenation axis must match exactly")  # fmt: skip
    kinds = [p.dtype.type(0).item() if w else p.dtype for p, w in zip(parts, weak, strict=True)]
    kind = np.dtype(dtype or (np.result_type(*kinds) if any(weak) and not all(weak) else
                              promote(*(p.type for p in parts))[0]))  # fmt: skip
    kept = kind if out is None else out.dtype
    for p in parts:
        if not np.can_cast(p.dtype, kept, casting):
            raise fail(JitadTypeError, f"Cannot cast array data from {p.dtype!r} to {kept!r} "
                       f"according to the rule '{casting}'")  # fmt: skip
    extent: Int = 0
    for p in parts:
        extent = extents.add(extent, p.shape[axis]) if not _zero(extent) else p.shape[axis]
    content = bind("concatenate", *(cast(p.content, kind) for p in parts), extent, axis=axis)
    return wrap(content) if out is None else write_out(out, wrap(cast(content, out.dtype)))


def _zero(n: Int) -> bool:
    return not isinstance(n, Number) and n == 0


@replaces(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, **other: Any) -> Any:
    parts = [handle(a) for a in arrays]
    if not parts:
        raise fail(JitadValueError, "need at least one array to stack")
    if any(p.ndim != parts[0].ndim for p in parts):
        raise fail(JitadValueError, "all input arrays must have the same shape")
    axis = one_axis(axis, parts[0].ndim + 1)
    if not parts[0].ndim and (other or out is not None):
        return concatenate([atleast_1d(p) for p in parts], 0, out, **other)
    if not parts[0].ndim:
        kind = np.dtype(promote(*(p.type for p in parts))[0])
        return ArrayHandle(bind("pack", *(cast(p.content, kind) for p in parts)))
    return concatenate([p.with_axes((axis,)) for p in parts], axis, out, **other)


@replaces(np.vstack)
def vstack(arrays: Any, **other: Any) -> Any:
    return concatenate([atleast_2d(a) for a in arrays], 0, **other)


@replaces(np.hstack)
def hstack(arrays: Any, **other: Any) -> Any:
    parts = [atleast_1d(a) for a in arrays]
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, **other)


@replaces(np.column_stack)
def column_stack(arrays: Any) -> Any:
    parts = [handle(a) for a in arrays]
    return concatenate([atleast_2d(p).T if p.ndim < 2 else p for p in parts], 1)


@replaces(np.append)
def append(a: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:  # what is appended is an array first: a number of Python's doesn't adapt
        a, values = call(np.ravel, a), call(np.ravel, values)
    return concatenate([a, values], axis)


@replaces(np.tile)
def tile(a: Any, reps: Any) -> ArrayHandle:
    """Broadcast along new axes, then merge each with the axis that it repeats."""
    a = handle(a)
    counts = shape_tuple(reps)
    dims = (1,) * max(len(counts) - a.ndim, 0) + a.shape
    if not dims:
        return call(np.copy, a)
    counts = (1,) * (len(dims) - len(counts)) + counts
    wide = tuple(x for pair in zip(counts, dims, strict=True) for x in pair)
    axes = tuple(2 * k + 1 for k in range(len(dims) - a.ndim, len(dims)))
    content = bind("broadcast", a.content, *wide, axes=axes)
    merged = (extents.mul(c, n) for c, n in zip(counts, dims, strict=True))
    return ArrayHandle(bind("reshape", content, *merged))


@replaces(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> ArrayHandle:
    a = handle(a)
    if counts_as_flat(axis, a.ndim):
        a, axis = ravel(a), 0
    axis = one_axis(axis, a.ndim)
    counts = as_operand(repeats)
    if shape_of(counts):
        return _repeat_each(a, counts, axis)
    n = extents.number_of(as_int(repeats, "repeats"), "repeats may not be negative")
    wide = (*a.shape[: axis + 1], n, *a.shape[axis + 1 :])
    axes = tuple(k if k <= axis else k + 1 for k in range(a.ndim))
    content = bind("broadcast", a.content, *wide, axes=axes)
    dims = list(a.shape)
    dims[axis] = extents.mul(dims[axis], n)
    return ArrayHandle(bind("reshape", content, *dims))


def _repeat_each(a: ArrayHandle, counts: Any, axis: int) -> ArrayHandle:
    """Each row as often as its count says; the counts are data."""
    plain = counts.peek() if isinstance(counts, ArrayHandle) else counts
    if isinstance(plain, Number):
        raise fail(JitadTypeError, "np.repeat with traced counts is not supported here",
                   "Close over the counts, or index by an array.")  # fmt: skip
    n = a._static(a.shape[axis], "the length of what is repeated unequally")
    return a[(*(slice(None),) * axis, np.repeat(np.arange(n), plain))]


@replaces(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> ArrayHandle:
    a = handle(a)
    if isinstance(shift, (tuple, list)) or isinstance(axis, (tuple, list)):
        axes = axis if isinstance(axis, (tuple, list)) else [axis] * len(shift)
        shifts = shift if isinstance(shift, (tuple, list)) else [shift] * len(axes)
        if len(shifts) != len(axes):
            raise fail(JitadValueError, "'shift' and 'axis' should be of the same length")
        for one, k in zip(shifts, axes, strict=True):
            a = roll(a, one, k)
        return a
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), a.shape)
    axis = one_axis(axis, a.ndim)
    n = a.shape[axis]
    shift = as_int(shift, "the shift")
    cut = extents.sub(n, shift)
    if isinstance(shift, int) and extents.assume_at_least(n, abs(shift)):
        cut = cut if shift > 0 else -shift
    elif isinstance(n, Number) or isinstance(cut, Number):
        cut = bind("mod", cut, extents.largest(n, 1))
    else:
        cut = cut % n if n else 0
    lead = (slice(None),) * axis
    return concatenate([a[(*lead, slice(cut, None))], a[(*lead, slice(None, cut))]], axis)


@replaces(np.meshgrid)
def meshgrid(*arrays: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Each array along an axis of its own; copies of the whole grid unless they are sparse."""
    parts = [ravel(a) for a in arrays]
    shape = [p.shape[0] for p in parts]
    place = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        place[0], place[1] = 1, 0
    dims = tuple(shape[k] for k in place)
    if sparse:
        others = [tuple(j for j in range(len(parts)) if j != own) for own in place]
        every = [p.with_axes(axes) for p, axes in zip(parts, others, strict=True)]
        return tuple(array(e) for e in every) if copy else tuple(every)
    return tuple(ArrayHandle(bind("broadcast", p.content, *dims, axes=(place.index(k),)))
                 for k, p in enumerate(parts))  # fmt: skip


def _triangle(original: Any, wins: str) -> None:
    @replaces(original)
    def replacement(m: Any, k: int = 0) -> Any:
        """Where the column minus the row is at most (at least) k; zero elsewhere."""
        m = handle(m)
        if m.ndim == 1:  # NumPy's mask is a matrix, and the numbers are repeated
            m = broadcast_to(m, (m.shape[0], m.shape[0]))
        if not m.ndim:
            raise fail(JitadTypeError, f"np.{original.__name__} takes arrays with axes")
        rows = reshape(arange(m.shape[-2]), (m.shape[-2], 1))
        columns = reshape(arange(m.shape[-1]), (1, m.shape[-1]))
        inside = elementwise(wins, elementwise("sub", columns, rows), k)
        return elementwise("where", inside, m, m.dtype.type(0))


_triangle(np.triu, "ge")
_triangle(np.tril, "le")
