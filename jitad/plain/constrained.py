"""How is a minimum under constraints found?  Plain Python, rewritten as user code is.

By minima of the augmented Lagrangian, between the bounds; then Newton's method for the equations
that hold there: the slope of the Lagrangian is zero, and so are the constraints that are active.
Source: Nocedal & Wright, *Numerical Optimization*, ch. 12.3, 17.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.operators.api import grad
from jitad.plain import bounded
from jitad.plain.iterations import inverted, jacobian

Leaves = list[Any]


def descend(
    w: Leaves, tol: float, most: int, f: Any, equal: Any, above: Any, low: Any, high: Any,
    parts: Any,
) -> tuple[Leaves, Leaves, Any]:  # fmt: skip
    """The minimum with its multipliers, and which constraints and bounds are active."""
    n, m = parts
    v = w[0][:n]
    by_equal, by_above = 1.0 * w[0][n:m], 1.0 * w[0][m:]
    weight, off, before, count = 10.0, np.inf, np.inf, 0
    while off > 1e-7 and count < 40:

        def whole(x: Any, a: Any = by_equal, b: Any = by_above, weight: Any = weight) -> Any:
            return augmented(x, f, equal, above, a, b, weight)

        v = bounded.descend([v], 1e-9, most, whole, grad(whole), low, high)[0][0]
        c, d = equal(v), above(v)
        below = np.minimum(d, by_above / weight)
        by_equal = by_equal - weight * c
        by_above = np.maximum(by_above - weight * d, 0.0)
        off = np.maximum(largest(c), largest(below))
        weight = weight if off < 0.25 * before else 5.0 * weight
        before = off
        count += 1
    active = by_above > 1e-6 * np.maximum(1.0, largest(by_above))
    by_above = np.where(active, by_above, 0.0)
    g = grad(lambda x: lagrangian(x, f, equal, above, by_equal, by_above))(v)
    at_low, at_high = bounded.held(v, g, low, high)
    u = np.concatenate([v, by_equal, by_above])

    def missing(u: Any) -> Any:
        return residual(u, f, equal, above, low, high, parts, active, at_low, at_high)

    moved, count = np.inf, 0
    near = tol
    inverse = np.zeros((len(u), len(u)))
    while moved > near and count < 20:
        inverse = inverted(jacobian(missing, u))
        step = inverse @ missing(u)
        u = u - step
        near = tol * np.maximum(1.0, largest(u))
        moved = largest(step)
        count += 1
    wrong = np.maximum(largest(np.minimum(above(u[:n]), 0.0)), largest(np.minimum(u[m:], 0.0)))
    fine = off <= 1e-7 and moved <= near and wrong <= 1e-8 * np.maximum(1.0, largest(u))
    return [u], [inverse, active, at_low, at_high], fine and np.sum(np.abs(inverse)) < np.inf


def largest(x: Any) -> Any:
    return np.max(np.abs(np.append(x, 0.0)))


def augmented(x: Any, f: Any, equal: Any, above: Any, a: Any, b: Any, weight: Any) -> Any:
    c, d = equal(x), above(x)
    near = weight * d < b
    inside = np.where(near, 0.5 * weight * d * d - b * d, -0.5 * b * b / weight)
    return f(x) + 0.5 * weight * np.sum(c * c) - np.sum(a * c) + np.sum(inside)


def lagrangian(x: Any, f: Any, equal: Any, above: Any, a: Any, b: Any) -> Any:
    return f(x) - np.sum(a * equal(x)) - np.sum(b * above(x))


def residual(
    u: Any, f: Any, equal: Any, above: Any, low: Any, high: Any, parts: Any, active: Any,
    at_low: Any, at_high: Any,
) -> Any:  # fmt: skip
    """Zero at the minimum and its multipliers."""
    n, m = parts
    x, a, b = u[:n], u[n:m], u[m:]
    g = grad(lambda x: lagrangian(x, f, equal, above, a, b))(x)
    slopes = bounded.residual(x, g, low, high, at_low, at_high)
    return np.concatenate([slopes, equal(x), np.where(active, above(x), b)])
