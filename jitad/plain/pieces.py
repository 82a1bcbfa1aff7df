"""What is the course of a differential equation between its steps, and where do events lie on it?
Plain Python, rewritten as user code is.

Each step has a polynomial in x, the share of the step that has gone by; without a constant, which
is the state at its start.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.plain.courses import crossed, derivative, stages


class Solution:
    """The course as a function of time.  `by_turns`: polynomials in x and 1 - x, by turns."""

    def __init__(self, ts: Any, states: Any, pieces: Any, by_turns: bool) -> None:
        self.ts, self.states, self.pieces, self.by_turns = ts, states, pieces, by_turns

    @property
    def t_min(self) -> Any:
        return np.minimum(self.ts[0], self.ts[-1])

    @property
    def t_max(self) -> Any:
        return np.maximum(self.ts[0], self.ts[-1])

    def __call__(self, t: Any) -> Any:
        t = np.asarray(t, float)
        way = np.where(self.ts[-1] > self.ts[0], 1.0, -1.0)
        at = np.searchsorted(way * self.ts, way * t, side="left") - 1
        at = np.minimum(np.maximum(at, 0), len(self.ts) - 2)
        if t.ndim == 0:
            return self.on(at, t)
        x = (t - self.ts[at]) / (self.ts[at + 1] - self.ts[at])
        total = within(np.swapaxes(self.pieces[at], 0, 1), x[:, np.newaxis], self.by_turns)
        return np.transpose(self.states[at] + total)

    def on(self, k: Any, t: Any) -> Any:
        """The state at one time by the polynomial of step k."""
        x = (t - self.ts[k]) / (self.ts[k + 1] - self.ts[k])
        return self.states[k] + within(self.pieces[k], x, self.by_turns)


def within(piece: Any, x: Any, by_turns: bool) -> Any:
    """How far the state has gone: a polynomial by its coefficients, the lowest first."""
    total = np.zeros_like(piece[0])
    for j in range(piece.shape[0]):
        total = total + piece[piece.shape[0] - 1 - j]
        total = total * (1.0 - x) if by_turns and j % 2 == 1 else total * x
    return total


def explicit(f: Any, times: Any, y: Any, a: Any, c: Any, last: int, between: Any) -> Any:
    """By a Runge-Kutta method: the states at all times, and the polynomials."""
    by_turns = last < len(c) - 1
    rows = len(between) + 3 if by_turns else between.shape[1]
    states = np.zeros((len(times), len(y)), y.dtype)
    pieces = np.zeros((len(times) - 1, rows, len(y)), y.dtype)
    states[0] = y
    start = derivative(f, times[0], 1.0 * y)
    for k in range(len(times) - 1):
        h = times[k + 1] - times[k]
        slopes = stages(f, times[k], y, start, h, a, c)
        there = y + (a[last] @ slopes) * h
        if by_turns:
            change = there - y
            pieces[k, 0] = change
            pieces[k, 1] = h * slopes[0] - change
            pieces[k, 2] = 2.0 * change - h * (slopes[last] + slopes[0])
            pieces[k, 3:] = h * (between @ slopes)
        else:
            pieces[k] = h * (between.T @ slopes)
        y = there
        states[k + 1] = y
        start = slopes[last]
    return states, pieces


def steps_with(event: Any, way: float, times: Any, states: Any) -> Any:
    """The steps in which an event lies."""
    marks = np.zeros(len(times))
    for k in range(len(times)):
        marks[k] = event(times[k], 1.0 * states[k])
    return np.flatnonzero(crossed(marks[:-1], marks[1:], way))


def places(event: Any, solution: Any, steps: Any, locate: Any) -> Any:
    """When the event is met in each of these steps."""
    out = np.zeros(len(steps))
    for i in range(len(steps)):
        k = steps[i]
        out[i] = locate(lambda t, k=k: event(t, solution.on(k, t)), solution.ts[k],
                        solution.ts[k + 1])  # fmt: skip
    return out


def sooner(met: Any, which: int, end: Any, way: Any) -> Any:
    """The end, or where an event that ends all is met before."""
    if len(met) > which:
        return met[which] if way * (met[which] - end) < 0.0 else end
    return end


def ended(solution: Any, end: Any, stopped: Any) -> Any:
    """Times and states up to the end, which lies in the last step."""
    times, states = solution.ts, solution.states
    last = np.where(stopped, solution.on(len(times) - 2, end), states[-1])
    times = np.concatenate([times[:-1], np.reshape(end, 1)])
    return times, np.concatenate([states[:-1], np.reshape(last, (1, -1))])


def message(stopped: Any) -> Any:
    if stopped:
        return "A termination event occurred."
    return "The solver successfully reached the end of the integration interval."


def in_order(at: Any, t0: Any, t1: Any) -> Any:
    """Do the places lie between the ends, one after the other?"""
    way = 1.0 if t1 > t0 else -1.0
    inside = bool(way * (at[0] - t0) >= 0.0 and way * (at[-1] - t1) <= 0.0)
    return inside and bool(np.all(way * (at[1:] - at[:-1]) >= 0.0))
