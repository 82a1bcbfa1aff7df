"""How is a differential equation followed through time?  Plain Python, rewritten as user code is.

By explicit Runge-Kutta methods.  The steps are found first, from the values alone; the course over
them is computed once more, where it may be differentiated.
Source: Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, ch. II.4 to II.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def derivative(f: Any, t: Any, y: Any) -> Any:
    """What f gives, as SciPy takes it: numbers of any kind, one for all that is alike."""
    return np.broadcast_to(np.asarray(f(t, y), y.dtype), np.shape(y))


def stages(f: Any, t: Any, y: Any, start: Any, h: Any, a: Any, c: Any) -> Any:
    """All slopes of a step; row k of `a` says where the k-th is taken."""
    slopes = np.zeros((len(c), len(y)), y.dtype)
    slopes[0] = start
    for k in range(1, len(c)):
        slopes[k] = derivative(f, t + c[k] * h, y + (a[k] @ slopes) * h)
    return slopes


def mean_square(x: Any) -> Any:
    return np.sqrt(np.sum(squares(x)) / len(x))


def squares(x: Any) -> Any:
    return x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x


def first_step(
    f: Any, t: Any, y: Any, start: Any, way: Any, length: Any, largest: Any, order: int, rtol: Any,
    atol: Any,
) -> Any:  # fmt: skip
    scale = atol + np.abs(y) * rtol
    d0, d1 = mean_square(y / scale), mean_square(start / scale)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else float(np.divide(0.01 * d0, d1))
    h0 = np.minimum(h0, length)
    ahead = derivative(f, t + h0 * way, y + h0 * way * start)
    d2 = mean_square((ahead - start) / scale) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = float(np.maximum(1e-6, h0 * 1e-3))
    else:
        h1 = float(np.divide(0.01, np.maximum(d1, d2)) ** (1.0 / (order + 1)))
    return np.minimum(np.minimum(100.0 * h0, h1), np.minimum(length, largest))


def error_of(slopes: Any, h: Any, scale: Any, weights: Any) -> Any:
    """How large the error of a step is, in units of what is allowed; by two estimates for some."""
    if len(weights) == 1:
        return mean_square((weights[0] @ slopes) * h / scale)
    five = (weights[0] @ slopes) / scale
    three = (weights[1] @ slopes) / scale
    above, beside = np.sum(squares(five)), np.sum(squares(three))
    both = np.sqrt((above + 0.01 * beside) * len(scale))
    return np.where(both == 0.0, 0.0, np.abs(h) * np.divide(above, both))


def steps(
    f: Any, t0: Any, t1: Any, y: Any, method: Any, rtol: Any, atol: Any, largest: Any, first: Any,
    most: int, watched: Any,
) -> Any:  # fmt: skip
    """(times, calls of f, did no step get too small?, did they suffice?, did an event end them?)

    `watched`: functions of events, the ways they go, how often each may be met.
    """
    a, c, weights, order = method
    t, end = float(t0), float(t1)
    way = 1.0 if end > t else -1.0
    start = derivative(f, t, 1.0 * y) + np.zeros(len(y), y.dtype)
    calls = 1
    if first is None:
        length = np.abs(end - t)
        h = float(first_step(f, t, y, start, way, length, largest, order, rtol, atol))
        calls = 2
    else:
        h = float(first)
    times = np.zeros(most + 1)
    times[0] = t
    count, tries = 0, 0
    rejected, small, arrived, stopped = False, False, False, False
    if watched is not None:
        marks = watched[0](t, 1.0 * y)
        seen = np.zeros(len(watched[1]))
    while not small and not arrived and count < most:
        least = 10.0 * np.maximum(2.220446049250313e-16 * np.abs(t), 5e-324)
        if not rejected:
            h = float(np.maximum(np.minimum(h, largest), least))
        small = bool(not h >= least)
        if not small:
            ahead = t + h * way
            ahead = end if way * (ahead - end) > 0.0 else ahead
            step = ahead - t
            slopes = stages(f, t, y, start, step, a, c)
            there = y + (a[len(c) - 1] @ slopes) * step
            scale = atol + np.maximum(np.abs(y), np.abs(there)) * rtol
            error = error_of(slopes, step, scale, weights)
            factor = 0.9 * np.power(error, -1.0 / (order + 1))
            h = float(np.abs(step))
            if error < 1.0:
                factor = np.minimum(1.0 if rejected else 10.0, factor)
                count += 1
                times[count] = ahead
                t, y, start = ahead, there, slopes[len(c) - 1]
                arrived = bool(way * (t - end) >= 0.0)
                rejected = False
                if watched is not None:
                    marks, seen, stopped = met(watched, t, y, marks, seen)
                    arrived = arrived or stopped
            else:
                factor = factor if factor > 0.2 else 0.2
                rejected = True
            h = float(h * factor)
            tries += 1
    return times[: count + 1], calls + tries * (len(c) - 1), not small, small or arrived, stopped


def met(watched: Any, t: Any, y: Any, marks: Any, seen: Any) -> Any:
    """(the events' functions here, how often each was met by now, is that enough for one?)"""
    function, ways, enough = watched
    now = function(t, 1.0 * y)
    seen = seen + crossed(marks, now, ways)
    return now, seen, bool(np.any(seen >= enough))


def crossed(before: Any, after: Any, ways: Any) -> Any:
    """Which events lie between two times: their functions change sign, in the way asked for."""
    up = np.logical_and(before <= 0.0, after >= 0.0)
    down = np.logical_and(before >= 0.0, after <= 0.0)
    return np.logical_or(np.logical_and(up, ways >= 0.0), np.logical_and(down, ways <= 0.0))


def moved(times: Any, t0: Any, t1: Any, was0: Any, was1: Any) -> Any:
    """The times, which go along where the ends move; `was0` and `was1` are the ends' values."""
    share = (times - was0) / (was1 - was0)
    return times + ((t0 - was0) * (1.0 - share) + (t1 - was1) * share)


def course(f: Any, times: Any, y: Any, a: Any, c: Any) -> Any:
    """The state at all times, a row each."""
    out = np.zeros((len(times), len(y)), y.dtype)
    out[0] = y
    start = derivative(f, times[0], 1.0 * y)
    for k in range(len(times) - 1):
        h = times[k + 1] - times[k]
        slopes = stages(f, times[k], y, start, h, a, c)
        y = y + (a[len(c) - 1] @ slopes) * h
        out[k + 1] = y
        start = slopes[len(c) - 1]
    return out


def passed(times: Any, at: Any) -> tuple[Any, Any]:
    """How many of the places have been passed by each time but the first; are all in order?"""
    way = np.where(times[-1] > times[0], 1.0, -1.0)
    ordered = bool(np.all(way * (at[1:] - at[:-1]) >= 0.0))
    inside = bool(way * (at[0] - times[0]) >= 0.0 and way * (at[-1] - times[-1]) <= 0.0)
    return np.searchsorted(way * at, way * times, side="right"), inside and ordered


def course_at(
    f: Any, times: Any, y: Any, a: Any, c: Any, last: int, between: Any, at: Any, ends: Any
) -> Any:
    """The state at places, a row each: by the polynomial of the step that they are in.

    Slope `last` is that at the end of the step; those after it serve the polynomial.
    """
    out = np.zeros((len(at), len(y)), y.dtype)
    start = derivative(f, times[0], 1.0 * y)
    for k in range(len(times) - 1):
        h = times[k + 1] - times[k]
        slopes = stages(f, times[k], y, start, h, a, c)
        there = y + (a[last] @ slopes) * h
        first = ends[k] if k > 0 else 0
        for i in range(first, ends[k + 1]):
            x = (at[i] - times[k]) / h
            if last < len(c) - 1:
                out[i] = y + nested(y, there, slopes, h, last, between, x)
            else:
                out[i] = y + (powers(between, x) @ slopes) * h
        y = there
        start = slopes[last]
    return out


def powers(between: Any, x: Any) -> Any:
    """The weight of each slope: a polynomial in x without a constant."""
    total = np.zeros(between.shape[0])
    for j in range(between.shape[1]):
        total = total + between[:, between.shape[1] - 1 - j]
        total = total * x
    return total


def nested(y: Any, there: Any, slopes: Any, h: Any, last: int, between: Any, x: Any) -> Any:
    """The polynomial in x and 1 - x, by turns, that leads from y to the end of the step."""
    change = there - y
    total = np.zeros(len(y), y.dtype)
    for j in range(len(between)):
        i = len(between) - 1 - j
        total = total + h * (between[i] @ slopes)
        total = total * x if j % 2 == 0 else total * (1.0 - x)
    total = (total + 2.0 * change - h * (slopes[last] + slopes[0])) * x
    total = (total + h * slopes[0] - change) * (1.0 - x)
    return (total + change) * x
