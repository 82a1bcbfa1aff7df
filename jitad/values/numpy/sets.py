"""What becomes of NumPy's functions of sets: unique elements, unions, members?

How many results there are depends on the values; they are the sorted elements that a mask selects.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise
from jitad.values.extents import as_int
from jitad.values.kind import fail
from jitad.values.loops import fold
from jitad.values.numpy.orders import sort
from jitad.values.numpy.reductions import axes_of
from jitad.values.numpy.shaping import handle, ravel, reshape
from jitad.values.registry import call, replaces


class _All(NamedTuple):
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class _Counts(NamedTuple):
    values: Any
    counts: Any


class _Inverse(NamedTuple):
    values: Any
    inverse_indices: Any


def _news(sorted_: ArrayHandle) -> Any:
    """Where a sorted array shows an element, or a row, that was not there before."""
    first = call(np.ones, extents.smallest(sorted_.shape[0], 1), dtype=bool)
    other = elementwise("ne", sorted_[1:], sorted_[:-1])
    return call(np.concatenate, [first, other if other.ndim == 1 else call(np.any, other, axis=1)])


def _by_rows(rows: ArrayHandle) -> Any:
    """The order of rows that compares their first elements first: sorted by the last one first."""
    n, m = rows.shape

    def step(k: Any, order: Any) -> tuple[Any, ...]:
        before = ArrayHandle(order)
        column = rows[:, extents.sub(extents.sub(m, 1), k)]
        return (before[call(np.argsort, column[before], kind="stable")].content,)

    (order,) = fold(m, (call(np.arange, n).content,), step, rows.content)
    return ArrayHandle(order)


def _unique(a: Any, axis: int | None = None) -> _All:
    """The first of equals of the sorted elements; where it was, who are its equals, how many.

    With an axis, of what lies at each place along it.
    """
    a = handle(a)
    front = None
    if axis is None:
        flat = ravel(a)
        order = call(np.argsort, flat, kind="stable")
    else:
        front = call(np.moveaxis, a, axis, 0)
        count = front.shape[0]
        flat = reshape(front, (count, functools.reduce(extents.mul, front.shape[1:], 1)))
        order = _by_rows(flat)
    turned = flat[order]
    new = _news(turned)
    which = elementwise("sub", call(np.cumsum, new.astype(int)), 1)
    inverse = call(np.zeros, flat.shape[:1], dtype=int)
    inverse[order] = which
    (starts,) = call(np.nonzero, new)
    ends = call(np.concatenate, [starts, reshape(handle(flat.shape[0]), (1,))])[1:]
    counts = elementwise("sub", ends, starts)
    if front is None:
        return _All(turned[new], order[new], reshape(inverse, a.shape), counts)
    found = call(np.moveaxis, front[order][new], 0, axis)
    return _All(found, order[new], inverse, counts)


@replaces(np.unique)
def unique(ar: Any, return_index: bool = False, return_inverse: bool = False,
           return_counts: bool = False, axis: Any = None, *, equal_nan: bool = True,
           sorted: bool = True) -> Any:  # fmt: skip
    asked = (True, return_index, return_inverse, return_counts)
    if axis is not None:
        found = _unique(ar, operator.index(axis))
        return tuple(x for x, wanted in zip(found, asked, strict=True) if wanted) if any(
            asked[1:]) else found.values  # fmt: skip
    if not any(asked[1:]):
        flat = sort(ravel(ar))
        return flat[_news(flat)]
    found = _unique(ar)
    return tuple(x for x, wanted in zip(found, asked, strict=True) if wanted)


@replaces(np.unique_all)
def unique_all(x: Any) -> Any:
    return _unique(x)


@replaces(np.unique_counts)
def unique_counts(x: Any) -> Any:
    found = _unique(x)
    return _Counts(found.values, found.counts)


@replaces(np.unique_inverse)
def unique_inverse(x: Any) -> Any:
    found = _unique(x)
    return _Inverse(found.values, found.inverse_indices)


@replaces(np.unique_values)
def unique_values(x: Any) -> Any:
    return unique(x)


@replaces(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(call(np.concatenate, [ravel(ar1), ravel(ar2)]))


def _members(ar1: Any, ar2: Any, assume_unique: bool, inside: bool) -> Any:
    first = ravel(ar1) if assume_unique else unique(ar1)
    return first[call(np.isin, first, ar2, invert=not inside)]


@replaces(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False,
                return_indices: bool = False) -> Any:  # fmt: skip
    if return_indices:
        raise fail(JitadTypeError, "return_indices= of np.intersect1d is not supported here")
    return _members(sort(ravel(ar1)), ar2, assume_unique, True)


@replaces(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    return _members(ar1, ar2, assume_unique, False)


@replaces(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    parts = [_members(ar1, ar2, assume_unique, False), _members(ar2, ar1, assume_unique, False)]
    return sort(call(np.concatenate, parts))


@replaces(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """The part without the zeros in front and behind, a view."""
    a, trim = handle(filt), trim.lower()
    if trim not in ("f", "b", "fb", "bf"):
        raise fail(JitadValueError, f"unexpected character(s) in `trim`: {trim!r}")
    there = elementwise("ne", a, 0)
    parts = [slice(None)] * a.ndim
    for k in axes_of(axis, a.ndim):
        others = tuple(m for m in range(a.ndim) if m != k)
        line = call(np.any, there, axis=others) if others else there
        first, behind = (call(np.count_nonzero, elementwise("eq", call(np.cumsum, side), 0))
                         for side in (line, call(np.flip, line)))  # fmt: skip
        last = extents.sub(a.shape[k], as_int(behind))
        parts[k] = slice(as_int(first) if "f" in trim else 0, last if "b" in trim else None)
    return a[tuple(parts)]
