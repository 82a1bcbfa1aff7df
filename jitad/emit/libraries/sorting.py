"""How are the orders of arrays found in compiled code?

Long rows are ordered digit by digit, short ones by a merge sort of indices (both are stable, and
need no recursion). With a binary search, compiled into their callers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable


def argsort(a: Any) -> Any:
    return np.argsort(a, axis=-1, kind="stable")


def searchsorted(a: Any, v: Any, right: bool) -> Any:
    return np.searchsorted(a, v, "right" if right else "left")


_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}


@overload(argsort, jit_options=_OPTIONS)
def _argsort(a):  # type: ignore[no-untyped-def]
    if not isinstance(a, types.Array) or not a.ndim:
        return None
    if a.dtype == types.float64:
        by_digits: Any = _floats_by_digits
    elif a.dtype == types.int64:
        by_digits = _ints_by_digits
    else:
        by_digits = _by_merging

    @register_jitable(**_OPTIONS)
    def ordered(flat, n):  # type: ignore[no-untyped-def]
        out = np.empty(len(flat), np.int64)
        start = 0
        while start < len(flat):
            if n < _FEW:
                _by_merging(flat, out, start, n)
            else:
                by_digits(flat, out, start, n)
            start += n
        return out

    if a.ndim == 1:
        return lambda a: ordered(a, len(a))
    return lambda a: ordered(a.reshape(-1), a.shape[-1]).reshape(a.shape)


_FEW = 256  # below, counting digits takes longer than comparing
_SIGN = np.uint64(1 << 63)
_ALL = np.uint64(2**64 - 1)
_INFINITE = np.uint64(0x7FF << 52)
_BITS = np.uint64(8)
_LAST = np.uint64(255)


# What is written here is typed and compiled before the first call of whatever sorts: it has loops
# instead of functions of NumPy's, and looks at parts of arrays by where they start.


@register_jitable(**_OPTIONS)
def _by_merging(flat, out, start, n):  # type: ignore[no-untyped-def]
    order, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        order[k] = k
    width = 1
    while width < n:
        low = 0
        while low < n:
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                second = i >= middle
                if i < middle and j < high:
                    x, y = flat[start + order[i]], flat[start + order[j]]
                    second = y < x or (x != x and y == y)
                if second:
                    spare[k] = order[j]
                    j += 1
                else:
                    spare[k] = order[i]
                    i += 1
            low += 2 * width
        order, spare = spare, order
        width *= 2
    for k in range(n):
        out[start + k] = order[k]


@register_jitable(**_OPTIONS)
def _floats_by_digits(flat, out, start, n):  # type: ignore[no-untyped-def]
    """The bits of floats count upwards, those of negative ones downwards; nan is the largest."""
    keys = np.empty(n, np.uint64)
    for k in range(n):
        b = np.float64(flat[start + k]).view(np.uint64)
        if b & ~_SIGN > _INFINITE:
            b = _ALL
        elif b == _SIGN:  # -0.0 is no less than 0.0
            b = _SIGN
        elif b & _SIGN:
            b = ~b
        else:
            b = b | _SIGN
        keys[k] = b
    _in_order_of(keys, out, start, n)


@register_jitable(**_OPTIONS)
def _ints_by_digits(flat, out, start, n):  # type: ignore[no-untyped-def]
    keys = np.empty(n, np.uint64)
    for k in range(n):
        keys[k] = np.uint64(flat[start + k]) ^ _SIGN
    _in_order_of(keys, out, start, n)


@register_jitable(**_OPTIONS)
def _in_order_of(keys, out, start, n):  # type: ignore[no-untyped-def]
    """Digit by digit, from the last; digits that all keys have in common are passed over."""
    counts = np.empty(8 * 256, np.int64)
    for k in range(8 * 256):
        counts[k] = 0
    places, others, spare = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.uint64)
    for k in range(n):
        places[k] = k
        key = keys[k]
        for d in range(0, 8 * 256, 256):
            counts[d + np.int64(key & _LAST)] += 1
            key >>= _BITS
    shift = np.uint64(0)
    for d in range(0, 8 * 256, 256):
        if counts[d + np.int64((keys[0] >> shift) & _LAST)] < n:
            total = 0
            for b in range(d, d + 256):
                count = counts[b]
                counts[b] = total
                total += count
            for k in range(n):
                key = keys[k]
                digit = d + np.int64((key >> shift) & _LAST)
                to = counts[digit]
                counts[digit] = to + 1
                spare[to] = key
                others[to] = places[k]
            keys, spare = spare, keys
            places, others = others, places
        shift += _BITS
    for k in range(n):
        out[start + k] = places[k]


@overload(searchsorted, jit_options=_OPTIONS)
def _searchsorted(a, v, right):  # type: ignore[no-untyped-def]
    if not isinstance(v, types.Array):
        return _search_one
    if v.ndim == 0:
        return None

    def implementation(a, v, right):  # type: ignore[no-untyped-def]
        flat = v.reshape(-1)
        out = np.empty(len(flat), np.int64)
        for k in range(len(flat)):
            out[k] = searchsorted(a, flat[k], right)
        return out.reshape(v.shape)

    return implementation


def _search_one(a, v, right):  # type: ignore[no-untyped-def]
    low, high = 0, len(a)
    while low < high:
        k = (low + high) // 2
        x = a[k]
        before = x < v or (x == x and v != v)  # nan is the largest
        if right:
            before = before or x == v or (x != x and v != v)
        if before:
            low = k + 1
        else:
            high = k
    return low
