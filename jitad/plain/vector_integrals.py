"""How is an integral of an array found?  Plain Python, rewritten as user code is.

As that of a number (`integrals`), with a norm of the elements where that has an absolute value.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def places(begin: Any, end: Any, rule: Any) -> Any:
    """The nodes of an interval."""
    half = 0.5 * (end - begin)
    return half, begin + half * (1.0 + rule[0])


def size_of(y: Any, largest: bool) -> Any:
    return np.max(np.abs(y)) if largest else np.sqrt(np.sum(y * y))


def over(f: Any, count: int, begin: Any, end: Any, rule: Any, largest: bool) -> tuple[Any, Any]:
    """Kronrod's rule for one interval, and how far off it may be."""
    half, nodes = places(begin, end, rule)
    y = np.zeros((len(nodes), count))
    for k in range(len(nodes)):
        y[k] = f(nodes[k])
    y = y * half
    total = rule[1] @ y
    off = size_of(total - rule[2] @ y, largest)
    size = size_of(rule[1] @ np.abs(y), largest)
    spread = size_of(rule[1] @ np.abs(y - 0.5 * total), largest)
    if spread != 0.0 and off != 0.0:
        off = spread * np.minimum(1.0, (200.0 * off / spread) ** 1.5)
    off = np.maximum(off, 50.0 * 2.220446049250313e-16 * size)
    return total, float(off) if off < np.inf else np.nan


def intervals(
    f: Any, breaks: Any, count: int, rule: Any, epsabs: Any, epsrel: Any, limit: int, largest: bool
) -> tuple[Any, Any, Any, Any, Any]:
    """The intervals (piece, left, right) in parts of pieces, how far off the sum is, is it near?"""
    pieces = len(breaks) - 1
    owner = np.zeros(limit, int)
    left, right, error = np.zeros(limit), np.zeros(limit), np.zeros(limit)
    area = np.zeros((limit, count))
    for k in range(pieces):
        owner[k] = k
        right[k] = 1.0
        error[k] = np.inf  # not looked at yet
    number = pieces
    done, near = False, False
    uncertain = np.inf
    while not done:
        worst = np.argmax(error)
        if error[worst] == np.inf:
            begin, end = breaks[owner[worst]], breaks[owner[worst] + 1]
            low, high = begin + (end - begin) * left[worst], begin + (end - begin) * right[worst]
            area[worst], error[worst] = over(f, count, low, high, rule, largest)
        else:
            uncertain = np.sum(error)
            whole = size_of(np.sum(area, axis=0), largest)
            near = bool(uncertain <= np.maximum(epsabs, epsrel * whole))
            done = near or number >= limit
            if not done:
                middle = 0.5 * (left[worst] + right[worst])
                owner[number] = owner[worst]
                left[number], right[number] = middle, right[worst]
                right[worst] = middle
                error[worst] = np.inf
                error[number] = np.inf
                number += 1
    return owner[:number], left[:number], right[:number], float(uncertain), near


def total(f: Any, breaks: Any, count: int, owner: Any, left: Any, right: Any, rule: Any) -> Any:
    """The sum over all intervals."""
    out = np.zeros(count)
    for i in range(len(owner)):
        begin, end = breaks[owner[i]], breaks[owner[i] + 1]
        low, high = begin + (end - begin) * left[i], begin + (end - begin) * right[i]
        half, nodes = places(low, high, rule)
        for k in range(len(nodes)):
            out += rule[1][k] * half * f(nodes[k])
    return out
