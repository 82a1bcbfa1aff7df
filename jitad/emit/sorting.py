"""How are the orders of arrays found in compiled code?

A merge sort of indices (stable, no recursion) and a binary search, compiled into their callers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload


def argsort(a: Any) -> Any:
    return np.argsort(a, axis=-1, kind="stable")


def searchsorted(a: Any, v: Any, right: bool) -> Any:
    return np.searchsorted(a, v, "right" if right else "left")


_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}


@overload(argsort, jit_options=_OPTIONS)
def _argsort(a):  # type: ignore[no-untyped-def]
    if not isinstance(a, types.Array) or not a.ndim:
        return None

    def implementation(a):  # type: ignore[no-untyped-def]
        flat = a.reshape(-1)
        size, n = len(flat), a.shape[-1]
        out = np.empty(size, np.int64)
        spare = np.empty(n, np.int64)
        start = 0
        while start < size:
            order = out[start : start + n]
            row = flat[start : start + n]
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
                        if i < middle and j < high:
                            x, y = row[order[i]], row[order[j]]
                            second = y < x or (x != x and y == y)
                        else:
                            second = i >= middle
                        if second:
                            spare[k] = order[j]
                            j += 1
                        else:
                            spare[k] = order[i]
                            i += 1
                    low += 2 * width
                for k in range(n):
                    order[k] = spare[k]
                width *= 2
            start += n
        return out.reshape(a.shape)

    return implementation


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
