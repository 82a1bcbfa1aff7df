"""How is the least value of a function of one number found?  Plain Python, as user code is.

Comparisons are written so that nan ends a search without convergence.
Source: R. Brent, *Algorithms for Minimization without Derivatives*, ch. 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGER = 0.5 * (1.0 + 5.0**0.5)  # the golden ratio
_SMALLER = 2.0 - _LARGER
_TINY, _FURTHEST = 1e-21, 110.0
_NEAREST, _ROOT_EPS = 1e-11, float(np.sqrt(np.finfo(float).eps))


def downhill(f: Any, a: Any, b: Any, most: Any) -> Any:
    """Three places of which the middle one is the lowest, and is it?

    From the first two on, downhill, by longer and longer steps and by parabolas.
    """
    a, b = float(a), float(b)
    fa, fb = float(f(a)), float(f(b))
    if fa < fb:
        a, fa, b, fb = b, fb, a, fa
    c = b + _LARGER * (b - a)
    fc = float(f(c))
    count = 0
    while fc < fb and count < most:
        left, right = (b - a) * (fb - fc), (b - c) * (fb - fa)
        bent = 2.0 * (right - left)
        bent = 2.0 * _TINY if np.abs(bent) < _TINY else bent
        d = float(b - np.divide((b - c) * right - (b - a) * left, bent))
        limit = b + _FURTHEST * (c - b)
        between = (d - c) * (b - d) > 0.0
        beyond = not between and (d - limit) * (c - d) > 0.0
        if not between and not beyond:
            d = limit if (d - limit) * (limit - c) >= 0.0 else c + _LARGER * (c - b)
        fd = float(f(d))
        if between and fd < fc:
            a, fa, b, fb = b, fb, d, fd
        elif between and fd > fb:
            c, fc = d, fd
        else:
            if between or (beyond and fd < fc):
                if beyond:
                    b, fb, c, fc = c, fc, d, fd
                d = c + _LARGER * (c - b)
                fd = float(f(d))
            a, fa, b, fb, c, fc = b, fb, c, fc, d, fd
        count += 1
    return a, b, c, bool(fb <= fc and fb <= fa)


def lowest(f: Any, a: Any, b: Any, x: Any, fixed: Any, rel: Any, most: Any) -> Any:
    """Between a and b, from x on (by default that of the golden section): (x, converged, rounds).

    x is the lowest place so far, v and w are those before it.  It ends where x is known to twice
    `fixed + rel * |x|`.
    """
    a, b = min(float(a), float(b)), max(float(a), float(b))
    x = a + _SMALLER * (b - a) if x is None else float(x)
    fx = float(f(x))
    v, fv, w, fw = x, fx, x, fx
    step, before = 0.0, 0.0
    done, count = False, 0
    while not done and count < most and fx == fx:
        middle = 0.5 * (a + b)
        near = rel * np.abs(x) + fixed
        done = bool(np.abs(x - middle) <= 2.0 * near - 0.5 * (b - a))
        if not done:
            r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
            p, q = (x - v) * q - (x - w) * r, 2.0 * (q - r)
            p = -p if q > 0.0 else p
            q = np.abs(q)
            curved = (np.abs(before) > near and np.abs(p) < np.abs(0.5 * q * before)
                      and p > q * (a - x) and p < q * (b - x))  # fmt: skip
            if curved:
                before = step
                step = float(np.divide(p, q))
                at = x + step
                if at - a < 2.0 * near or b - at < 2.0 * near:
                    step = float(np.copysign(near, middle - x))
            else:
                before = (a if x >= middle else b) - x
                step = _SMALLER * before
            at = float(x + (step if np.abs(step) >= near else np.copysign(near, step)))
            fat = float(f(at))
            if fat <= fx:
                if at >= x:
                    a = x
                else:
                    b = x
                v, fv, w, fw, x, fx = w, fw, x, fx, at, fat
            else:
                if at < x:
                    a = at
                else:
                    b = at
                if fat <= fw or w == x:
                    v, fv, w, fw = w, fw, at, fat
                elif fat <= fv or v == x or v == w:
                    v, fv = at, fat
            count += 1
    return x, done, count


def in_bracket(f: Any, a: Any, x: Any, b: Any, tol: Any, most: Any) -> Any:
    """From two places, or three of which the middle one is lower: what `lowest` gives, and was
    there such a place?"""
    if x is None:
        a, x, b, lower = downhill(f, a, b, 1000)
    else:
        lower = bool(f(x) < f(a) and f(x) < f(b))
    return *lowest(f, a, b, x, _NEAREST, tol, most), lower


def in_bounds(f: Any, a: Any, b: Any, tol: Any, most: Any) -> Any:
    return *lowest(f, a, b, None, tol / 3.0, _ROOT_EPS, most), bool(a <= b)


def polished(x: Any, slope: Any, bend: Any) -> Any:
    """The place to the last digits, which differences of values don't show, by Newton's method.

    A step that leads far is none of this kind: the function is not smooth there, or has no bottom.
    """
    count, step = 0, np.inf
    far = 1e-3 * (1.0 + np.abs(x))
    while count < 8 and np.abs(step) > 1e-15 * np.abs(x):
        step = np.divide(slope(x), bend(x))
        count = count + 1 if np.abs(step) < far else 9
        x = float(x - step) if count < 9 else x
    return x
