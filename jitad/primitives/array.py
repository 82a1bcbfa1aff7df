"""Which primitives work on whole arrays, and what are their transposes?

Arrays are immutable versions: `store` gives a new version, which emission writes in place where
the old one is dead.  New extents are operands, because shapes are values.  Indices are already
non-negative and checked when they get here.

A slice is described by `kinds`, a letter an axis of the base: `i` takes one index operand, `r`
takes three (start, step, count) and leaves an axis.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.primitives.table import (
    Inferred,
    Into,
    Primitive,
    dtype_of,
    element_of_first,
    register,
    same_as_first,
)
from jitad.tape.ir import Atom
from jitad.tape.types import INT, Array, Scalar, promote

# What hands elements on as they are: of the first operand, of all operands.
MOVES = ("reshape", "transpose", "broadcast", "slice", "load", "take")
JOINS = ("pack", "concatenate")
PARTS = ("slice", "load", "take")  # those that read a part of an array
STORES = ("store", "store_slice", "store_take")  # those that overwrite one
EXTREMES = ("amax", "amin")


def hands_on(row: Primitive, k: int) -> bool:
    """Is what it adds to the adjoint of operand k that of its result, elsewhere or in part?"""
    if row.update is not None:
        return k < 2
    return row.name in JOINS or (k == 0 and row.name in MOVES)


def _int(a: Any) -> int:
    return int(a)


# -- elements -------------------------------------------------------------------------------------


def _load(a: Any, *index: Any) -> Any:
    return a[tuple(map(_int, index))]


def _store(a: Any, v: Any, *index: Any) -> None:
    a[tuple(map(_int, index))] = v


def _accum(a: Any, v: Any, *index: Any) -> None:
    a[tuple(map(_int, index))] += v


def _updating(name: str, update: Callable[..., None], vjp: Callable[..., Any]) -> None:
    """A row that gives its first operand with a part of it changed."""

    def evaluate(a: Any, *rest: Any, **params: Any) -> Any:
        out = np.array(a)
        update(out, *rest, **params)
        return out

    register(Primitive(name, evaluate, same_as_first, linear=(0, 1), vjp=vjp, update=update))


# The cotangent of the part is read first: a sweep that owns ct may then change it in place.
def _store_vjp(o: Any, ct: Any, a: Any, v: Any, *rest: Any) -> tuple[Any, ...]:
    part = o.load(ct, *rest[:-1])
    return (o.store(ct, 0.0, *rest[:-1]), part) + (None,) * (len(rest) - 1)


def _accum_vjp(o: Any, ct: Any, a: Any, v: Any, *rest: Any) -> tuple[Any, ...]:
    return (ct, o.load(ct, *rest[:-1])) + (None,) * (len(rest) - 1)


register(Primitive(
    "dim", lambda a, *, axis: a.shape[axis], lambda a, *, axis: ((INT, ()),),
))  # fmt: skip
register(Primitive(
    "load", _load, element_of_first, linear=(0,),
    vjp=lambda o, ct, a, *rest: (Into("accum", (ct, *rest[:-1]), {}),) + (None,) * (len(rest) - 1),
))  # fmt: skip
_updating("store", _store, _store_vjp)
_updating("accum", _accum, _accum_vjp)

# -- slices ---------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def slice_key(kinds: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The NumPy index of a slice; negative steps are legal."""
    key: list[Any] = []
    rest = list(operands)
    for kind in kinds:
        if kind == "i":
            key.append(_int(rest.pop(0)))
            continue
        start, step, count = (_int(rest.pop(0)) for _ in range(3))
        stop = start + step * max(count, 0)
        key.append(slice(start, None if stop < 0 else stop, step) if count > 0 else slice(0, 0))
    return tuple(key)


def _slice(a: Any, *operands: Any, kinds: str) -> Any:
    part = _part(a, kinds, operands)
    return np.array(part)[()]  # a copy: `a` may be updated later


def _store_slice(a: Any, v: Any, *operands: Any, kinds: str) -> None:
    _part(a, kinds, operands)[...] = v


def _accum_slice(a: Any, v: Any, *operands: Any, kinds: str) -> None:
    part = _part(a, kinds, operands)
    part += v


def _part(a: Any, kinds: str, operands: tuple[Any, ...]) -> Any:
    """The slice as a view.  Of no elements it may be anywhere: a path may have no such array."""
    try:
        return a[(*slice_key(kinds, operands), ...)]
    except IndexError:
        counts, rest = [], list(operands)
        for kind in kinds:
            taken = [rest.pop(0) for _ in range(1 if kind == "i" else 3)]
            counts += taken[2:]
        if all(n > 0 for n in counts):
            raise
        return np.empty([max(int(n), 0) for n in counts], a.dtype)


def slice_extents(kinds: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The extents of a slice: the count operands, in order."""
    out, at = [], 0
    for kind in kinds:
        if kind == "i":
            at += 1
        else:
            out.append(operands[at + 2])
            at += 3
    return tuple(out)


def _slice_infer(a: Atom, *operands: Atom, kinds: str) -> Inferred:
    extents = slice_extents(kinds, operands)
    dtype = a.type.dtype  # type: ignore[union-attr]
    return ((Array(dtype, len(extents)), extents),) if extents else ((Scalar(dtype), ()),)


def _store_slice_vjp(o: Any, ct: Any, a: Any, v: Any, *rest: Any, kinds: str) -> tuple[Any, ...]:
    operands = rest[:-1]
    part = o.slice(ct, *operands, kinds=kinds)
    if not np_ndim(v):
        part = o.sum(part, axes=tuple(range(np_ndim(part)))) if np_ndim(part) else part
    return (o.store_slice(ct, 0.0, *operands, kinds=kinds), part) + (None,) * len(operands)


def _accum_slice_vjp(o: Any, ct: Any, a: Any, v: Any, *rest: Any, kinds: str) -> tuple[Any, ...]:
    operands = rest[:-1]
    part = o.slice(ct, *operands, kinds=kinds)
    if not np_ndim(v):
        part = o.sum(part, axes=tuple(range(np_ndim(part)))) if np_ndim(part) else part
    return (ct, part) + (None,) * len(operands)


def np_ndim(a: Any) -> int:
    """Number of axes of a plain number, an array or a Number."""
    return len(getattr(a, "shape", ()))


register(Primitive(
    "slice", _slice, _slice_infer, linear=(0,),
    vjp=lambda o, ct, a, *rest, kinds: (
        Into("accum_slice", (ct, *rest[:-1]), {"kinds": kinds}),) + (None,) * (len(rest) - 1),
))  # fmt: skip
_updating("store_slice", _store_slice, _store_slice_vjp)
_updating("accum_slice", _accum_slice, _accum_slice_vjp)

# -- rows by index arrays -------------------------------------------------------------------------


def _rows(axis: int, index: Any) -> tuple[Any, ...]:
    return (slice(None),) * axis + (index,)


def _take_infer(a: Atom, index: Atom, *, axis: int) -> Inferred:
    shape = (*a.shape[:axis], index.shape[0], *a.shape[axis + 1 :])
    return ((a.type, shape),)


def _store_take(a: Any, v: Any, index: Any, *, axis: int) -> None:
    if a.size:  # without elements nothing is picked, and indices are not looked at
        a[_rows(axis, index)] = v


def _accum_take(a: Any, v: Any, index: Any, *, axis: int) -> None:
    if a.size:
        np.add.at(a, _rows(axis, index), v)


def _accum_take_vjp(
    o: Any, ct: Any, a: Any, v: Any, index: Any, y: Any, *, axis: int
) -> tuple[Any, Any, None]:
    part = o.take(ct, index, axis=axis)
    if not np_ndim(v):
        part = o.sum(part, axes=tuple(range(np_ndim(part))))
    return ct, part, None


def _store_take_vjp(
    o: Any, ct: Any, a: Any, v: Any, index: Any, y: Any, *, axis: int
) -> tuple[Any, Any, None]:
    # Of equal indices the last one's value stays, so that only it has an adjoint.
    order = o.iota(index.shape[0], dtype="i8")
    winner = o.store_take(o.full(0, a.shape[axis], dtype="i8"), order, index, axis=0)
    picked = o.take(ct, index, axis=axis)
    won = o.broadcast(o.eq(o.take(winner, index, axis=0), order), *picked.shape, axes=(axis,))
    part = o.where(won, picked, 0.0)
    if not np_ndim(v):  # the zero of a tangent that has none
        part = o.sum(part, axes=tuple(range(np_ndim(part))))
    return o.store_take(ct, 0.0, index, axis=axis), part, None


# index: integers along one axis of a, non-negative and checked, itself an array of one axis
register(Primitive(
    "take", lambda a, index, *, axis: np.take(a, index, axis), _take_infer, linear=(0,),
    vjp=lambda o, ct, a, index, y, *, axis: (
        Into("accum_take", (ct, index), {"axis": axis}), None),
))  # fmt: skip
register(Primitive(  # where a mask of one axis is true, and how often that is
    "positions", lambda mask, count: np.flatnonzero(mask),
    lambda mask, count: ((Array("i8", 1), (count,)),),
))  # fmt: skip
_updating("store_take", _store_take, _store_take_vjp)  # of equal indices the last wins
_updating("accum_take", _accum_take, _accum_take_vjp)

# -- making arrays --------------------------------------------------------------------------------


# `adjoint`: zeros to which a sweep will add, in any order; sums of the user's keep theirs
def _full(v: Any, *dims: Any, dtype: str, adjoint: bool = False) -> Any:
    return np.full(tuple(map(_int, dims)), v, dtype)


register(Primitive(
    "full", _full, lambda v, *dims, dtype, adjoint=False: ((Array(dtype, len(dims)), dims),),
    linear=(0,), vjp=lambda o, ct, v, *rest, dtype, adjoint=False: (
        o.sum(ct, axes=tuple(range(len(rest) - 1))),)
    + (None,) * (len(rest) - 1), fresh=True,
))  # fmt: skip
def _blank(*dims: Any, dtype: str, start: str) -> Any:
    """In front of a loop that is not run, extents of what it would make may be negative."""
    kind = np.dtype(dtype)
    unset = np.nan if kind.kind == "f" else True if kind.kind == "b" else np.iinfo(kind).max
    shape = tuple(max(_int(n), 0) for n in dims)
    return np.full(shape, 0 if start == "zeros" else unset, dtype)


register(Primitive(  # "zeros" or "empty", each element of which is written by what follows
    "blank", _blank, lambda *dims, dtype, start: ((Array(dtype, len(dims)), dims),), fresh=True,
))  # fmt: skip
register(Primitive(
    "iota", lambda n, *, dtype: np.arange(_int(n), dtype=dtype),
    lambda n, *, dtype: ((Array(dtype, 1), (n,)),),
))  # fmt: skip
register(Primitive(
    "copy", np.array, same_as_first, linear=(0,), vjp=lambda o, ct, a, y: (ct,), fresh=True,
))  # fmt: skip


def _pack_infer(*ins: Atom) -> Inferred:
    from jitad.tape.ir import lit

    dtype, _ = promote(*(a.type for a in ins))
    return ((Array(dtype, 1), (lit(len(ins)),)),)


register(Primitive(  # a vector of scalars
    "pack", lambda *v: np.array(v, np.result_type(*v)), _pack_infer,
    jvp=lambda o, ins, dins, y: o.pack(*(0.0 if d is None else d for d in dins)),
    vjp=lambda o, ct, *ins: tuple(o.load(ct, k) for k in range(len(ins) - 1)), fresh=True,
    tame=True,
))  # fmt: skip



def _pad(a: Any, *operands: Any) -> Any:
    ndim = np.ndim(a)
    out = np.zeros(tuple(map(_int, operands[ndim:])), a.dtype)
    before = map(_int, operands[:ndim])
    out[tuple(slice(k, k + n) for k, n in zip(before, a.shape, strict=True))] = a
    return out


def _pad_vjp(o: Any, ct: Any, a: Any, *rest: Any) -> tuple[Any, ...]:
    ndim = np_ndim(a)
    operands = [x for k in range(ndim) for x in (rest[k], 1, o.dim(a, axis=k))]
    return (o.slice(ct, *operands, kinds="r" * ndim),) + (None,) * (len(rest) - 1)


# an array in a frame of zeros: how many are before it along each axis, then the new extents
register(Primitive(
    "pad", _pad,
    lambda a, *operands: ((a.type, operands[a.type.ndim :]),), linear=(0,),
    vjp=_pad_vjp,
))  # fmt: skip

# -- change of shape ------------------------------------------------------------------------------


def _broadcast(a: Any, *dims: Any, axes: tuple[int, ...]) -> Any:
    a = np.asarray(a)
    shape = [1] * len(dims)
    for extent, axis in zip(a.shape, axes, strict=True):
        shape[axis] = extent
    return np.broadcast_to(a.reshape(shape), tuple(map(_int, dims)))


def _others(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(k for k in range(ndim) if k not in axes)


# axis k of the operand becomes axis axes[k] of the result (increasing); the other axes are new
register(Primitive(
    "broadcast", _broadcast,
    lambda a, *dims, axes: ((Array(a.type.dtype, len(dims)), dims),), linear=(0,),
    vjp=lambda o, ct, a, *rest, axes: (
        o.sum(ct, axes=_others(len(rest) - 1, axes)) if len(rest) - 1 > len(axes) else ct,)
    + (None,) * (len(rest) - 1),
))  # fmt: skip
register(Primitive(
    "reshape", lambda a, *dims: np.reshape(a, tuple(map(_int, dims))),
    lambda a, *dims: ((Array(a.type.dtype, len(dims)), dims),), linear=(0,),
    vjp=lambda o, ct, a, *rest: (o.reshape(ct, *a.shape),) + (None,) * (len(rest) - 1),
))  # fmt: skip
register(Primitive(
    "transpose", lambda a, *, perm: np.transpose(a, perm),
    lambda a, *, perm: ((a.type, tuple(a.shape[k] for k in perm)),), linear=(0,),
    vjp=lambda o, ct, a, y, *, perm: (
        o.transpose(ct, perm=tuple(perm.index(k) for k in range(len(perm)))),),
))  # fmt: skip


def _concatenate_infer(*ins: Atom, axis: int) -> Inferred:
    *arrays, extent = ins
    dtype, _ = promote(*(a.type for a in arrays))
    shape = list(arrays[0].shape)
    shape[axis] = extent
    return ((Array(dtype, len(shape)), tuple(shape)),)


def _concatenate_jvp(o: Any, ins: Any, dins: Any, y: Any, *, axis: int) -> Any:
    parts = [o.full(0.0, *a.shape, dtype=dtype_of(a)) if d is None else d
             for a, d in zip(ins[:-1], dins[:-1], strict=True)]  # fmt: skip
    return o.concatenate(*parts, ins[-1], axis=axis)


def _concatenate_vjp(o: Any, ct: Any, *rest: Any, axis: int) -> tuple[Any, ...]:
    *arrays, _, _ = rest
    out, at = [], 0
    for a in arrays:
        operands: list[Any] = []
        for k, extent in enumerate(a.shape):
            operands += [at if k == axis else 0, 1, extent]
        out.append(o.slice(ct, *operands, kinds="r" * len(a.shape)))
        at = at + a.shape[axis]
    return (*out, None)


register(Primitive(  # (*arrays, extent of the result along axis)
    "concatenate", lambda *ins, axis: np.concatenate(ins[:-1], axis=axis), _concatenate_infer,
    jvp=_concatenate_jvp, vjp=_concatenate_vjp, fresh=True, tame=True,
))  # fmt: skip

# -- reductions -----------------------------------------------------------------------------------


def _reduced(a: Atom, *, axes: tuple[int, ...]) -> Inferred:
    dtype = a.type.dtype  # type: ignore[union-attr]
    kept = _others(len(a.shape), axes)
    if not kept:
        return ((Scalar(dtype), ()),)
    return ((Array(dtype, len(kept)), tuple(a.shape[k] for k in kept)),)


def _sum_infer(a: Atom, *, axes: tuple[int, ...]) -> Inferred:
    ((t, shape),) = _reduced(a, axes=axes)
    dtype = np.zeros(0, t.dtype).sum().dtype.str[1:]  # type: ignore[union-attr]
    return ((Array(dtype, len(shape)) if shape else Scalar(dtype), shape),)


def _spread(o: Any, v: Any, like: Any, axes: tuple[int, ...]) -> Any:
    """A reduction's result, repeated along the axes that it removed."""
    kept = _others(np_ndim(like), axes)
    return o.broadcast(v, *like.shape, axes=kept)


def hits(o: Any, a: Any, y: Any, axes: tuple[int, ...]) -> Any:
    """Where a is the extreme y."""
    return o.eq(a, _spread(o, y, a, axes))


def _shares(o: Any, a: Any, y: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """(where a is the extreme, how many of them share it)"""
    hit = hits(o, a, y, axes)
    return hit, o.sum(o.cast(hit, dtype=dtype_of(a)), axes=axes)


def _extreme_jvp(o: Any, ins: Any, dins: Any, y: Any, *, axes: tuple[int, ...]) -> Any:
    hit, number = _shares(o, ins[0], y, axes)
    return o.sum(o.where(hit, dins[0], 0.0), axes=axes) / number


def _extreme_vjp(o: Any, ct: Any, a: Any, y: Any, *, axes: tuple[int, ...]) -> tuple[Any, ...]:
    hit, number = _shares(o, a, y, axes)
    return (o.where(hit, _spread(o, ct / number, a, axes), 0.0),)


register(Primitive(
    "sum", lambda a, *, axes: np.add.reduce(a, axis=axes), _sum_infer, linear=(0,),
    vjp=lambda o, ct, a, y, *, axes: (_spread(o, ct, a, axes),),
))  # fmt: skip
for _name, _function in (("amax", np.max), ("amin", np.min)):
    register(Primitive(  # ties share the derivative equally
        _name, lambda a, *, axes, f=_function: f(a, axis=axes), _reduced,
        jvp=_extreme_jvp, vjp=_extreme_vjp, tame=True,
    ))  # fmt: skip

# -- products of matrices -------------------------------------------------------------------------


def _matmul_infer(a: Atom, b: Atom) -> Inferred:
    dtype, _ = promote(a.type, b.type)
    shape = a.shape[:-1] + (b.shape[1:] if len(b.shape) == 2 else ())
    return ((Array(dtype, len(shape)) if shape else Scalar(dtype), shape),)


def _outer(o: Any, a: Any, b: Any) -> Any:
    dims = (*a.shape, *b.shape)
    return o.broadcast(a, *dims, axes=(0,)) * o.broadcast(b, *dims, axes=(1,))


def _turn(o: Any, a: Any) -> Any:
    return o.transpose(a, perm=(1, 0))


def _matmul_vjp(o: Any, ct: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    parts: tuple[Callable[[], Any], Callable[[], Any]]
    match np_ndim(a), np_ndim(b):
        case 1, 1:
            parts = lambda: ct * b, lambda: ct * a
        case 2, 1:
            parts = lambda: _outer(o, ct, b), lambda: o.matmul(_turn(o, a), ct)
        case 1, 2:
            parts = lambda: o.matmul(b, ct), lambda: _outer(o, a, ct)
        case _:
            parts = lambda: o.matmul(ct, _turn(o, b)), lambda: o.matmul(_turn(o, a), ct)
    return parts[0]() if o.wanted(0) else None, parts[1]() if o.wanted(1) else None


def _matmul_jvp(o: Any, ins: Any, dins: Any, y: Any) -> Any:
    (a, b), (da, db) = ins, dins
    parts = [o.matmul(da, b)] if da is not None else []
    parts += [o.matmul(a, db)] if db is not None else []
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


register(Primitive(  # operands of one or two axes
    "matmul", lambda a, b: a @ b, _matmul_infer, jvp=_matmul_jvp, vjp=_matmul_vjp, dear=True,
    numpy=np.matmul, tame=True,
))  # fmt: skip

