"""How are fixed points, roots and minima found?  Plain Python, rewritten as user code is.

Each gives (solution, held, ok): the leaves of the solution, what its equation needs besides, and
whether the iteration has converged.  Comparisons are written so that nan ends a loop with ok false.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.operators.api import jvp

Leaves = list[Any]


def repeat(x: Leaves, tol: float, most: int, f: Any) -> tuple[Leaves, Leaves, Any]:
    """x, f(x), f(f(x)), ... until it changes no more."""
    gap, size, count = np.inf, 1.0, 0
    while gap > tol * size and count < most:
        y = f(x)
        gap, size = 0.0, 1.0
        for a, b in zip(x, y, strict=True):
            gap = np.maximum(gap, np.max(np.abs(b - a)))
            size = np.maximum(size, np.max(np.abs(b)))
        x = y
        count += 1
    return x, [], gap <= tol * size and size < np.inf


def newton(x: Leaves, tol: float, most: int, g: Any) -> tuple[Leaves, Leaves, Any]:
    """A root of g by Newton's method; a step is halved until |g| decreases."""
    v = x[0]
    now = g(v)
    moved, count = np.inf, 0
    near = tol
    while moved > near and count < most:
        step = solved(jacobian(g, v), now)
        moved = np.max(np.abs(step))
        near = tol * np.maximum(1.0, np.max(np.abs(v)))
        shorter = 1.0
        then = g(v - step)
        if moved > near:  # the last step is within rounding: |g| need not decrease
            was = np.sum(now * now)
            while not np.sum(then * then) < was and shorter > 1e-9:
                shorter = 0.5 * shorter
                then = g(v - shorter * step)
        v = v - shorter * step
        now = then
        count += 1
    inverse = inverted(jacobian(g, v))
    return [v], [inverse], moved <= near and np.sum(np.abs(inverse)) < np.inf


def descend(
    x: Leaves, tol: float, most: int, f: Any, slope: Any
) -> tuple[Leaves, Leaves, Any]:
    """A minimum of f by Newton's method; the Hessian is shifted until it is positive definite
    and the step goes downhill."""
    v = x[0]
    value = f(v)
    shift, moved, count = 0.0, np.inf, 0
    near = tol
    while moved > near and count < most:
        g = slope(v)
        h = jacobian(slope, v)
        size = steepest(h)
        done, tries = False, 0
        moved = np.inf
        while not done and tries < 60:
            step, positive = downhill(h, shift, g)
            then = f(v - step) if positive else value
            length = np.max(np.abs(step))
            near = tol * np.maximum(1.0, np.max(np.abs(v)))
            tiny = positive and length <= near  # rounding decides whether the value decreases
            noise = 1e-15 * np.abs(value)
            if tiny or (positive and then <= value - 1e-4 * np.sum(g * step) + noise):
                done = True
                v = v - step
                value = then
                moved = length if shift == 0.0 else np.inf
                shift = 0.1 * shift if shift > 1e-6 * size and not tiny else 0.0
            else:
                shift = 10.0 * shift if shift > 0.0 else 1e-3 * size
            tries += 1
        count += 1 if done else most
    h = jacobian(slope, v)
    positive = downhill(h, 0.0, slope(v))[1]
    inverse = inverted(h)
    return [v], [inverse], moved <= near and positive and np.sum(np.abs(inverse)) < np.inf


def steepest(h: Any) -> Any:
    """The largest curvature along an axis, by which a shift of the Hessian is measured."""
    size = 1e-300
    for i in range(len(h)):
        size = np.maximum(size, np.abs(h[i, i]))
    return size


def corrected(v: Any, inverse: Any, residual: Any) -> Any:
    """A Newton step with a given inverse of the Jacobian: it contracts at once."""
    return v - inverse @ residual(v)


# -- vectors and matrices -------------------------------------------------------------------------


def joined(xs: Leaves) -> Any:
    """All leaves in one vector."""
    if len(xs) == 1 and np.ndim(xs[0]) == 1:
        return xs[0]
    if all(np.ndim(x) == 0 for x in xs):
        return np.array(xs)
    return np.concatenate([np.reshape(x, -1) for x in xs])


def split(v: Any, like: Leaves) -> Leaves:
    """The leaves that a vector was joined from."""
    if len(like) == 1 and np.ndim(like[0]) == 1:
        return [v]
    out: Leaves = []
    at = 0
    for x in like:
        if np.ndim(x) == 0:
            out.append(v[at])
            at += 1
        else:
            out.append(np.reshape(v[at : at + np.size(x)], np.shape(x)))
            at += np.size(x)
    return out


def jacobian(g: Any, v: Any) -> Any:
    """Entry (i, j) is the derivative of g_i by v_j."""
    n = len(v)
    out = np.zeros((n, n))
    for j in range(n):
        unit = np.zeros(n)
        unit[j] = 1.0
        out[:, j] = jvp(g, (v,), (unit,))[1]
    return out


def solved(a: Any, b: Any) -> Any:
    """x with a x = b, by elimination with row exchanges; inf or nan where a is singular."""
    n = len(b)
    x = np.zeros((n, 1))
    for i in range(n):
        x[i, 0] = b[i]
    return eliminated(a, x)[:, 0]


def inverse_jacobian(g: Any, v: Any) -> Any:
    return inverted(jacobian(g, v))


def inverted(a: Any) -> Any:
    """The inverse of a matrix; inf or nan where it is singular."""
    n = len(a)
    unit = np.zeros((n, n))
    for i in range(n):
        unit[i, i] = 1.0
    return eliminated(a, unit)


def eliminated(a: Any, b: Any) -> Any:
    """The inverse of a times b (Gauss-Jordan, with the largest pivot of a column)."""
    n, m = b.shape
    a = a.copy()
    b = b.copy()
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if np.abs(a[i, k]) > np.abs(a[best, k]):
                best = i
        for j in range(n):
            one, other = a[k, j], a[best, j]
            a[k, j] = other
            a[best, j] = one
        for j in range(m):
            one, other = b[k, j], b[best, j]
            b[k, j] = other
            b[best, j] = one
        pivot = np.divide(1.0, a[k, k])
        for i in range(n):
            if i != k:
                factor = a[i, k] * pivot
                for j in range(k, n):
                    a[i, j] = a[i, j] - factor * a[k, j]
                for j in range(m):
                    b[i, j] = b[i, j] - factor * b[k, j]
        for j in range(m):
            b[k, j] = b[k, j] * pivot
        for j in range(k + 1, n):
            a[k, j] = a[k, j] * pivot
    return b


def downhill(h: Any, shift: float, g: Any) -> tuple[Any, Any]:
    """(h + shift) x = g by Cholesky; and whether all pivots are positive."""
    n = len(g)
    low = np.zeros((n, n))
    x = np.zeros(n)
    positive = True
    for j in range(n):
        d = h[j, j] + shift
        for k in range(j):
            d = d - low[j, k] * low[j, k]
        positive = positive and d > 0.0
        root = np.sqrt(np.maximum(d, 1e-300))
        low[j, j] = root
        for i in range(j + 1, n):
            s = 0.5 * (h[i, j] + h[j, i])
            for k in range(j):
                s = s - low[i, k] * low[j, k]
            low[i, j] = s / root
    for i in range(n):
        s = g[i]
        for k in range(i):
            s = s - low[i, k] * x[k]
        x[i] = s / low[i, i]
    for back in range(n):
        i = n - 1 - back
        s = x[i]
        for k in range(i + 1, n):
            s = s - low[k, i] * x[k]
        x[i] = s / low[i, i]
    return x, positive
