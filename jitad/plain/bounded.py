"""How is a minimum between bounds found?  Plain Python, rewritten as user code is.

Newton's method for the elements that are free, while those at a bound that the slope pushes against
stay there; steps end at the bounds.
Source: D. Bertsekas, *Projected Newton methods for optimization problems with simple constraints*,
SIAM J. Control and Optimization 20 (1982).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.plain.iterations import downhill, inverted, jacobian, steepest

Leaves = list[Any]


def descend(
    x: Leaves, tol: float, most: int, f: Any, slope: Any, low: Any, high: Any
) -> tuple[Leaves, Leaves, Any]:
    """A minimum of f with low <= x <= high, and which elements are at which bound."""
    v = np.minimum(np.maximum(x[0], low), high)
    value = f(v)
    shift, moved, count = 0.0, np.inf, 0
    near = tol
    while moved > near and count < most:
        g = slope(v)
        at_low, at_high = held(v, g, low, high)
        free = np.where(np.logical_or(at_low, at_high), 0.0, 1.0)
        g = free * g
        h = alone(jacobian(slope, v), free)
        size = steepest(h)
        done, tries = False, 0
        moved = np.inf
        while not done and tries < 60:
            step, positive = downhill(h, shift, g)
            to = np.minimum(np.maximum(v - step, low), high)
            then = f(to) if positive else value
            length = np.max(np.abs(step))  # what a bound cuts off may be no small step
            down = np.sum(g * (v - to))
            near = tol * np.maximum(1.0, np.max(np.abs(v)))
            tiny = positive and length <= near  # rounding decides whether the value decreases
            noise = 1e-15 * np.abs(value)
            if tiny or (positive and down > 0.0 and then <= value - 1e-4 * down + noise):
                done = True
                v = to
                value = then
                moved = length if shift == 0.0 else np.inf
                shift = 0.1 * shift if shift > 1e-6 * size and not tiny else 0.0
            else:
                shift = 10.0 * shift if shift > 0.0 else 1e-3 * size
            tries += 1
        count += 1 if done else most
    g = slope(v)
    at_low, at_high = held(v, g, low, high)
    free = np.where(np.logical_or(at_low, at_high), 0.0, 1.0)
    h = jacobian(slope, v)
    positive = downhill(alone(h, free), 0.0, free * g)[1]
    inverse = inverted(rows_alone(h, free))
    ok = moved <= near and positive and np.sum(np.abs(inverse)) < np.inf
    return [v], [inverse, at_low, at_high], ok


def held(v: Any, g: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The elements that stay at a bound: the function decreases beyond, or there is no room."""
    return (np.logical_and(v <= low, np.logical_or(g > 0.0, low >= high)),
            np.logical_and(np.logical_and(v >= high, g < 0.0), low < high))  # fmt: skip


def alone(h: Any, free: Any) -> Any:
    """The Hessian of the free elements; the others are apart from them, with curvature one."""
    n = len(free)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = h[i, j] * free[i] * free[j]
        out[i, i] += 1.0 - free[i]
    return out


def rows_alone(h: Any, free: Any) -> Any:
    """The Jacobian of `residual`."""
    n = len(free)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = h[i, j] * free[i]
        out[i, i] += 1.0 - free[i]
    return out


def residual(v: Any, g: Any, low: Any, high: Any, at_low: Any, at_high: Any) -> Any:
    """Zero at the minimum: the slopes of the free elements, and how far the others are off."""
    # an infinite bound is that of no element
    low, high = np.where(at_low, low, 0.0), np.where(at_high, high, 0.0)
    return np.where(at_low, v - low, np.where(at_high, v - high, g))
