"""What do `reduce`, `accumulate` and `outer` of a function of two numbers compute that Numba has
vectorised?  Plain Python, rewritten as user code is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_NONE = object()


def reduce(f: Callable[..., Any], array: Any, axis: int = 0, *, keepdims: bool = False,
           initial: Any = _NONE) -> Any:  # fmt: skip
    given = np.asarray(array)
    rows = np.moveaxis(given, axis, 0)
    if initial is _NONE:
        if len(rows) == 0:
            raise ValueError("zero-size array to reduction operation which has no identity")
        total = rows[0]
    else:
        total = f(initial, rows[0]) if len(rows) else initial + np.zeros(rows.shape[1:])
    for k in range(1, len(rows)):
        total = f(total, rows[k])
    return np.expand_dims(total, axis) if keepdims else total


def accumulate(f: Callable[..., Any], array: Any, axis: int = 0) -> Any:
    rows = np.moveaxis(np.asarray(array), axis, 0)
    if len(rows) < 2:
        return np.copy(np.asarray(array))
    second = f(rows[0], rows[1])
    found = np.empty(rows.shape, np.asarray(second).dtype)
    found[0], found[1] = rows[0], second
    for k in range(2, len(rows)):
        found[k] = f(found[k - 1], rows[k])
    return np.moveaxis(found, 0, axis)


def outer(f: Callable[..., Any], one: Any, other: Any) -> Any:
    one, other = np.asarray(one), np.asarray(other)
    return f(np.reshape(one, one.shape + (1,) * other.ndim), other)
