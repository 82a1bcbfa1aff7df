"""How is the root of a function of one number found?  Plain Python, rewritten as user code is.

Each search gives (root, converged, iterations, calls).  Comparisons are written so that nan ends a
loop without convergence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.operators.api import jvp


def bracketed(f: Any, a: Any, b: Any, xtol: Any, rtol: Any, most: Any) -> Any:
    """Brent's method; before what all give, do the ends have different signs?

    b is the best place so far, c is on the other side of the root, a was the best before.
    Source: R. Brent, *Algorithms for Minimization without Derivatives*, ch. 4.
    """
    a, b = float(a), float(b)
    fa, fb = float(f(a)), float(f(b))
    different = (fa <= 0.0 and fb >= 0.0) or (fa >= 0.0 and fb <= 0.0)
    c, fc = a, fa
    step = before = b - a
    done = not different
    count = 0
    while not done and count < most:
        if np.abs(fc) < np.abs(fb):
            a, fa = b, fb
            b, fb = c, fc
            c, fc = a, fa
        near = 0.5 * (xtol + rtol * np.abs(b))
        half = 0.5 * (c - b)
        done = bool(fb == 0.0 or np.abs(half) <= near)
        if not done:
            if np.abs(before) < near or np.abs(fa) <= np.abs(fb):
                step = before = half
            else:
                s = np.divide(fb, fa)
                r = np.divide(fb, fc)
                q = np.divide(fa, fc)
                secant = a == c  # else through three points
                curved = 2.0 * half * q * (q - r) - (b - a) * (r - 1.0)
                p = 2.0 * half * s if secant else s * curved
                d = 1.0 - s if secant else (q - 1.0) * (r - 1.0) * (s - 1.0)
                d = -d if p > 0.0 else d
                p = np.abs(p)
                short = 2.0 * p < np.minimum(3.0 * half * d - np.abs(near * d), np.abs(before * d))
                before = step if short else half
                step = float(np.divide(p, d)) if short else half
            a, fa = b, fb
            b = float(b + (step if np.abs(step) > near else np.copysign(near, half)))
            fb = float(f(b))
            count += 1
            if (fb > 0.0) == (fc > 0.0):
                c, fc = a, fa
                step = before = b - a
    return different, b, done, count, count + 2


def secant(f: Any, x0: Any, x1: Any, tol: Any, rtol: Any, most: Any) -> Any:
    """Through the last two points; from a point beside x0 where no other is given."""
    p0 = float(x0)
    if x1 is None:
        p1 = 1.0001 * p0
        p1 = p1 + 1e-4 if p1 >= 0.0 else p1 - 1e-4
    else:
        p1 = float(x1)
    q0, q1 = float(f(p0)), float(f(p1))
    if np.abs(q1) < np.abs(q0):
        p0, p1 = p1, p0
        q0, q1 = q1, q0
    p, count = p1, 0
    found, lost = False, False
    while not found and not lost and count < most:
        if q1 == q0:
            lost = bool(p1 != p0)
            found = not lost
            p = 0.5 * (p1 + p0)
        else:
            if np.abs(q1) > np.abs(q0):
                ratio = np.divide(q0, q1)
                p = float(np.divide(p0 - ratio * p1, 1.0 - ratio))
            else:
                ratio = np.divide(q1, q0)
                p = float(np.divide(p1 - ratio * p0, 1.0 - ratio))
            found = bool(np.abs(p - p1) <= tol + rtol * np.abs(p1))
            if not found:
                p0, q0 = p1, q1
                p1 = p
                q1 = float(f(p1))
        count += 1
    return p, found, count, count + 1


def newton(f: Any, slope: Any, bend: Any, x0: Any, tol: Any, rtol: Any, most: Any) -> Any:
    """Along the tangent, or by Halley's method where the second derivative is given."""
    p, count = float(x0), 0
    found, lost = False, False
    while not found and not lost and count < most:
        value = float(f(p))
        if value == 0.0:
            found = True
        else:
            rise = float(slope(p))
            lost = bool(rise == 0.0)
            if not lost:
                step = float(np.divide(value, rise))
                if bend is not None:
                    share = 0.5 * step * float(bend(p)) / rise
                    step = float(np.divide(step, 1.0 - share)) if np.abs(share) < 1.0 else step
                found = bool(np.abs(step) <= tol + rtol * np.abs(p))
                p = p - step
        count += 1
    return p, found, count, count * (2 if bend is None else 3)


def newton_each(f: Any, slope: Any, bend: Any, x0: Any, tol: Any, most: Any) -> Any:
    """Newton's method for every element of an array by itself."""
    p, moved, count = 1.0 * x0, np.inf, 0
    while not moved < tol and moved == moved and count < most:
        value, rise = f(p), slope(p)
        step = np.where(value == 0.0, 0.0, np.divide(value, rise))
        if bend is not None:
            share = 0.5 * step * bend(p) / rise
            step = np.where(np.abs(share) < 1.0, np.divide(step, 1.0 - share), step)
        p = p - step
        moved = np.max(np.abs(step))
        count += 1
    return p, bool(moved < tol), count, 2 * count


def accelerated(f: Any, x0: Any, tol: Any, most: Any, aitken: bool) -> Any:
    """A fixed point of f; with Steffensen's method each element by itself jumps to the limit that
    two rounds suggest."""
    p, gap, count = 1.0 * x0, np.inf, 0
    while not gap < tol and gap == gap and count < most:
        one = f(p)
        if aitken:
            two = f(one)
            d = two - 2.0 * one + p
            new = np.where(d == 0.0, two, p - np.divide((one - p) * (one - p), d))
        else:
            new = one
        if np.ndim(x0) == 0:
            new = float(new)
        gap = np.max(np.abs(np.where(p == 0.0, new, np.divide(new - p, p))))
        p = new
        count += 1
    return p, bool(gap < tol), count, 2 * count if aitken else count


# -- the equation of the solution -----------------------------------------------------------------


def slope_of(f: Any, x: Any) -> Any:
    """Of an array: each element's own."""
    return jvp(f, (x,), (np.ones_like(x) if np.ndim(x) else 1.0,))[1]


def inverse_slope(f: Any, x: Any, near: Any) -> tuple[Any, Any]:
    """1/f'(x), by which a root moves; and is x a root, no place where f jumps over zero?

    A root is a place that a Newton step leaves by no more than the tolerance that it was found to.
    """
    inverse = np.divide(1.0, slope_of(f, x))
    value = f(x)
    return inverse, bool(np.all((np.abs(value * inverse) <= near) | (value == 0.0)))


def corrected(x: Any, inverse: Any, f: Any) -> Any:
    return x - inverse * f(x)
