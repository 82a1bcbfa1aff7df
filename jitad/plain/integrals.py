"""How is an integral found?  Plain Python, rewritten as user code is.

A range is a piece between two breaks, in which places go from 0 to 1; an interval is a part of a
piece.  The intervals are found first, from the values alone; the integral is a sum over them, in
which breaks may move.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def place(begin: Any, end: Any, t: Any) -> Any:
    """A place of a piece, and how fast it moves with t.

    A cubic, flat at both ends: roots and logarithms there, of which an integrand may be infinite,
    become smooth enough.
    """
    return begin + (end - begin) * (t * t * (3.0 - 2.0 * t)), (end - begin) * (6.0 * t * (1.0 - t))


def intervals(
    f: Any, breaks: Any, rule: Any, epsabs: Any, epsrel: Any, limit: int
) -> tuple[Any, Any, Any, Any, Any]:
    """The intervals (piece, left, right), how far off the sum over them may be, and is it near?

    The interval with the largest error is halved until the sum of all is small enough.
    Source: Piessens, de Doncker-Kapenga, Überhuber & Kahaner, *QUADPACK*: its adaptive scheme and
    its estimate of errors.
    """
    pieces = len(breaks) - 1
    owner = np.zeros(limit, int)
    left, right = np.zeros(limit), np.zeros(limit)
    area, error = np.zeros(limit), np.zeros(limit)
    for k in range(pieces):
        owner[k] = k
        right[k] = 1.0
        error[k] = np.inf  # not looked at yet
    count = pieces
    done, near = False, False
    uncertain = np.inf
    while not done:
        worst = np.argmax(error)
        begin, end = breaks[owner[worst]], breaks[owner[worst] + 1]
        if error[worst] == np.inf:
            area[worst], error[worst] = over(f, begin, end, left[worst], right[worst], rule)
        else:
            uncertain = np.sum(error)
            near = bool(uncertain <= np.maximum(epsabs, epsrel * np.abs(np.sum(area))))
            done = near or count >= limit
            if not done:
                middle = 0.5 * (left[worst] + right[worst])
                owner[count] = owner[worst]
                left[count], right[count] = middle, right[worst]
                right[worst] = middle
                error[worst] = np.inf
                error[count] = np.inf
                count += 1
    return owner[:count], left[:count], right[:count], float(uncertain), near


def over(f: Any, begin: Any, end: Any, left: Any, right: Any, rule: Any) -> tuple[Any, Any]:
    """Kronrod's rule for one interval, and how far off it may be."""
    nodes, kronrod, gauss = rule
    half = 0.5 * (right - left)
    y = np.zeros(len(nodes))
    for k in range(len(nodes)):
        x, speed = place(begin, end, left + half * (1.0 + nodes[k]))
        y[k] = half * speed * f(x)
    total = np.sum(kronrod * y)
    size = np.sum(kronrod * np.abs(y))
    spread = np.sum(kronrod * np.abs(y - 0.5 * total))
    off = np.abs(total - np.sum(gauss * y))
    if spread != 0.0 and off != 0.0:
        off = spread * np.minimum(1.0, (200.0 * off / spread) ** 1.5)
    off = np.maximum(off, 50.0 * 2.220446049250313e-16 * size)
    return total, float(off) if off < np.inf else np.nan


def total(f: Any, breaks: Any, owner: Any, left: Any, right: Any, rule: Any) -> Any:
    """The sum over all intervals."""
    nodes, kronrod, _ = rule
    out = 0.0
    for i in range(len(owner)):
        begin, end = breaks[owner[i]], breaks[owner[i] + 1]
        half = 0.5 * (right[i] - left[i])
        for k in range(len(nodes)):
            x, speed = place(begin, end, left[i] + half * (1.0 + nodes[k]))
            out += kronrod[k] * half * speed * f(x)
    return out


def outwards(f: Any, begin: Any, way: float) -> Any:
    """The integrand on (0, 1) that stands for f from `begin` to infinity, up or down."""

    def inner(t: Any) -> Any:
        return f(begin + way * (1.0 - t) / t) / (t * t)

    return inner


def both_ways(f: Any) -> Any:
    """The integrand on (0, 1) that stands for f on the whole line."""

    def inner(t: Any) -> Any:
        x = (1.0 - t) / t
        return (f(x) + f(-x)) / (t * t)

    return inner
