"""How is a Jacobian filled in, and a function run along an axis?  Plain Python, rewritten as user
code is.

Blocks have the axes of a result, then those of an argument.  Matrices here have one axis in the
place of all those that the sweeps run along.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def forward(push: Any, x: Any, n: Any, width: int, likes: list[tuple[Any, str]]) -> list[Any]:
    """For every result (its shape and dtype) its derivatives by the n elements of x, a column each.

    `push(tangents)` gives the tangents of all results for each of these tangents of x; `width`
    of them go through one sweep.  The last sweep may have some to spare.
    """
    out = [np.zeros((*shape, n), dtype) for shape, dtype in likes]
    for first in range(0, n, width):
        units = []
        for k in range(width):
            unit = np.zeros(n, x.dtype)
            if first + k < n:
                unit[first + k] = 1.0
            units.append(unit if x.ndim == 1 else np.reshape(unit, x.shape))
        # In one pass over each result, and without a condition: what is to spare is zeros, which
        # go to the last column, and that one's own follow.
        pushed = push(units)
        for j, a in enumerate(out):
            for k in reversed(range(width)):
                a[..., min(first + k, n - 1)] = pushed[k][j]
    return out


def reverse(pull: Any, y: Any, likes: list[tuple[Any, str]]) -> list[Any]:
    """For every argument (its shape and dtype) the derivatives of y's elements by it, a row each.

    `pull(seed)` gives the adjoints of all arguments for a sensitivity of y.
    """
    n = np.size(y)
    out = [np.zeros((n, *shape), dtype) for shape, dtype in likes]
    for i in range(n):
        seed = np.zeros(n, y.dtype)
        seed[i] = 1.0
        bars = pull(seed if y.ndim == 1 else np.reshape(seed, y.shape))
        for a, bar in zip(out, bars, strict=True):
            a[i] = bar
    return out


def along(f: Any, n: Any, likes: list[tuple[Any, str]]) -> list[Any]:
    """The results of f(0), ..., f(n - 1), each kind stacked along a first axis."""
    out = [np.empty((n, *shape), dtype) for shape, dtype in likes]
    for i in range(n):
        for a, value in zip(out, f(i), strict=True):
            a[i] = value
    return out


def compressed(
    push: Any, colours: list[Any], frame: Any, taken: Any, at: Any, width: int, dtype: str
) -> Any:
    """The entries of a sparse matrix from its products with sums of unit vectors.

    Direction c is the sum over the elements with `colours` c; the entries are the elements `at` of
    all products, one after the other, once the first of each pair in `taken` has been taken from
    the second.  `frame` has the shape of all products, or is their number, where one sweep gives
    them all.
    """
    if isinstance(frame, int):
        products = push(units(colours, 0, frame))
        table = np.empty((frame, len(products[0])), dtype)
        for k, product in enumerate(products):
            table[k] = product
    else:
        table = np.empty(frame.shape, dtype)
        for c in range(0, len(table), width):
            for k, product in enumerate(push(units(colours, c, width))):
                table[c + k] = product
    out = np.reshape(table, -1)
    for k in range(len(taken)):
        out[taken[k, 1]] -= out[taken[k, 0]]
    return out[at]


def units(colours: list[Any], first: Any, width: int) -> list[list[Any]]:
    return [[np.where(c == first + k, 1.0, 0.0) for c in colours] for k in range(width)]
