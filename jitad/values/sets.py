"""What becomes of NumPy's functions of sets: unique elements, unions, members?

How many results there are depends on the values; they are the sorted elements that a mask selects.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise
from jitad.values.kind import fail
from jitad.values.orders import sort
from jitad.values.registry import call, replaces
from jitad.values.shaping import handle, ravel, reshape


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


def _news(flat: ArrayHandle) -> Any:
    """Where a sorted array shows an element that was not there before."""
    first = call(np.ones, extents.smallest(flat.shape[0], 1), dtype=bool)
    return call(np.concatenate, [first, elementwise("ne", flat[1:], flat[:-1])])


def _unique(a: Any) -> _All:
    """The first of equals of the sorted elements; where it was, who are its equals, how many."""
    a = handle(a)
    flat = ravel(a)
    order = call(np.argsort, flat, kind="stable")
    turned = flat[order]
    new = _news(turned)
    which = elementwise("sub", call(np.cumsum, new.astype(int)), 1)
    inverse = call(np.zeros, flat.shape, dtype=int)
    inverse[order] = which
    (starts,) = call(np.nonzero, new)
    ends = call(np.concatenate, [starts[1:], reshape(handle(flat.shape[0]), (1,))])
    if isinstance(flat.shape[0], int) and not flat.shape[0]:
        ends = starts
    counts = elementwise("sub", ends, starts)
    return _All(turned[new], order[new], reshape(inverse, a.shape), counts)


@replaces(np.unique)
def unique(ar: Any, return_index: bool = False, return_inverse: bool = False,
           return_counts: bool = False, axis: Any = None, *, equal_nan: bool = True,
           sorted: bool = True) -> Any:  # fmt: skip
    if axis is not None:
        raise fail(JitadTypeError, "axis= of np.unique, for unique rows, is not supported here")
    if not (return_index or return_inverse or return_counts):
        flat = sort(ravel(ar))
        return flat[_news(flat)]
    found = _unique(ar)
    asked = (True, return_index, return_inverse, return_counts)
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
    """Without the zeros in front and behind."""
    a = handle(filt)
    if a.ndim != 1 or axis not in (None, 0, -1):
        raise fail(JitadTypeError, "np.trim_zeros is supported for arrays of one axis")
    there = elementwise("ne", a, 0).astype(int)
    if "f" in trim.lower():
        kept = elementwise("gt", call(np.cumsum, there), 0)
        a, there = a[kept], there[kept]
    if "b" in trim.lower():
        kept = call(np.flip, elementwise("gt", call(np.cumsum, call(np.flip, there)), 0))
        a = a[kept]
    return a
