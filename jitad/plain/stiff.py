"""How is a stiff differential equation followed through time?  Plain Python, rewritten as user code
is.

By Radau's method of order five.  The steps are found first, from the values alone, by simplified
Newton iterations; the course over them has the stages as roots, whose derivative is that of their
equations.
Source: Hairer & Wanner, *Solving Ordinary Differential Equations II*, ch. IV.8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.plain.courses import derivative, first_step, mean_square, met
from jitad.plain.pieces import within

_S = 6.0**0.5
C = np.array([(4.0 - _S) / 10.0, (4.0 + _S) / 10.0, 1.0])
A = np.array([
    [(88.0 - 7.0 * _S) / 360.0, (296.0 - 169.0 * _S) / 1800.0, (-2.0 + 3.0 * _S) / 225.0],
    [(296.0 + 169.0 * _S) / 1800.0, (88.0 + 7.0 * _S) / 360.0, (-2.0 - 3.0 * _S) / 225.0],
    [(16.0 - _S) / 36.0, (16.0 + _S) / 36.0, 1.0 / 9.0]])  # fmt: skip
ERROR = np.array([-13.0 - 7.0 * _S, -13.0 + 7.0 * _S, -1.0]) / 3.0
GAMMA = 3.0 + 3.0 ** (2.0 / 3.0) - 3.0 ** (1.0 / 3.0)  # the real eigenvalue of the inverse of A
# The polynomial through the stages, and what separates the eigenvectors of A.
BETWEEN = np.array([
    [13.0 / 3.0 + 7.0 * _S / 3.0, -23.0 / 3.0 - 22.0 * _S / 3.0, 10.0 / 3.0 + 5.0 * _S],
    [13.0 / 3.0 - 7.0 * _S / 3.0, -23.0 / 3.0 + 22.0 * _S / 3.0, 10.0 / 3.0 - 5.0 * _S],
    [1.0 / 3.0, -8.0 / 3.0, 10.0 / 3.0]])  # fmt: skip
APART = np.array([
    [4.17871859155190428, 0.32768282076106237, 0.52337644549944951],
    [-4.17871859155190428, -0.32768282076106237, 0.47662355450055044],
    [0.50287263494578682, -2.57192694985560522, 0.59603920482822492]])  # fmt: skip
ROUNDS = 6  # of Newton's method


def slopes_at(f: Any, t: Any, y: Any, h: Any, z: Any) -> Any:
    slopes = np.zeros((3, len(y)))
    for i in range(3):
        slopes[i] = derivative(f, t + C[i] * h, y + z[i])
    return slopes


def guessed(piece: Any, was: Any, y: Any, share: Any) -> Any:
    """The stages of a step by the polynomial of the one before, of whose length it has a share."""
    return was + within(piece[:, np.newaxis, :], (1.0 + C * share)[:, np.newaxis], False) - y


def inverses(j: Any, h: Any) -> Any:
    """What Newton's method for the stages and the estimate of the error multiply by."""
    n = len(j)
    whole = np.linalg.inv(np.eye(3 * n) - h * np.kron(A, j))
    return whole, np.linalg.inv(GAMMA / h * np.eye(n) - j)


def collocated(f: Any, t: Any, y: Any, h: Any, z: Any, scale: Any, tol: Any, inverse: Any) -> Any:
    """The stages, from a guess of them: (stages, converged, rounds, how fast)."""
    done, failed = False, False
    count, rate, before = 0, 0.0, 1.0
    while not done and not failed and count < ROUNDS:
        slopes = slopes_at(f, t, y, h, z)
        step = np.reshape(inverse @ np.reshape(h * (A @ slopes) - z, -1), (3, len(y)))
        size = mean_square(np.reshape((APART @ step) / scale, -1))
        rate = size / before if count > 0 else 0.0
        left = np.power(rate, 1.0 * (ROUNDS - count)) / np.where(rate < 1.0, 1.0 - rate, 1.0)
        failed = bool(not np.all(np.isfinite(slopes)) or rate >= 1.0 or left * size > tol)
        if not failed:
            z = z + step
            near = rate / np.where(rate < 1.0, 1.0 - rate, 1.0) * size
            done = bool(size == 0.0 or (count > 0 and near < tol))
            before = float(np.maximum(size, 1e-300))
        count += 1
    return z, done, count, rate


def steps(
    f: Any, jac: Any, t0: Any, t1: Any, y: Any, rtol: Any, atol: Any, largest: Any, first: Any,
    most: int, watched: Any,
) -> Any:  # fmt: skip
    """(times, calls of f, did no step get too small?, did they suffice?, did an event end them?)"""
    t, end = float(t0), float(t1)
    way = 1.0 if end > t else -1.0
    n = len(y)
    y = 1.0 * y
    start = derivative(f, t, 1.0 * y) + np.zeros(n)
    length = np.abs(end - t)
    if first is None:
        h = float(first_step(f, t, y, start, way, length, largest, 3, rtol, atol))
    else:
        h = float(first)
    tol = np.maximum(2.220446049250313e-15 / rtol, np.minimum(0.03, np.sqrt(rtol)))
    j, inverse, gate, made_for = np.zeros((n, n)), np.zeros((3 * n, 3 * n)), np.zeros((n, n)), 0.0
    piece, was, was_h = np.zeros((3, n)), 1.0 * y, 1.0  # the polynomial of the step before
    times = np.zeros(most + 1)
    times[0] = t
    count, calls, tries = 0, 2, 0
    asked, asked_before, error_before = h, 0.0, 0.0
    stale, current, fresh, rejected, begun = True, True, True, False, False
    small, arrived, stopped = False, False, False
    if watched is not None:
        marks = watched[0](t, 1.0 * y)
        seen = np.zeros(len(watched[1]))
    while not small and not arrived and count < most and tries < 100 * most:
        least = 10.0 * np.maximum(2.220446049250313e-16 * np.abs(t), 5e-324)
        if stale:
            j = jac(t, 1.0 * y)
            stale, current, fresh = False, True, True
        if not begun:
            if h > largest or h < least:
                h = float(np.maximum(np.minimum(h, largest), least))
                asked_before = 0.0
            asked = h
            begun = True
        small = bool(not h >= least)
        if not small:
            tries += 1
            ahead = t + h * way
            ahead = end if way * (ahead - end) > 0.0 else ahead
            step = ahead - t
            h = float(np.abs(step))
            if fresh or step != made_for:
                inverse, gate = inverses(j, step)
                made_for, fresh = step, False
            z = guessed(piece, was, y, step / was_h)
            scale = atol + np.abs(y) * rtol
            z, done, rounds, rate = collocated(f, t, y, step, z, scale, tol, inverse)
            calls += 3 * rounds
            if not done and not current:
                stale = True
            elif not done:
                h = 0.5 * h
                fresh = True
            else:
                there = y + z[2]
                guess = (ERROR @ z) / step
                wide = atol + np.maximum(np.abs(y), np.abs(there)) * rtol
                off = gate @ (start + guess)
                error = mean_square(off / wide)
                if rejected and error > 1.0:
                    error = mean_square((gate @ (derivative(f, t, y + off) + guess)) / wide)
                safe = 0.9 * (2 * ROUNDS + 1) / (2 * ROUNDS + rounds)
                grown = 1.0
                if asked_before > 0.0 and error > 0.0:
                    grown = float(h / asked_before * np.power(error_before / error, 0.25))
                factor = float(safe * np.minimum(1.0, grown) * np.power(error, -0.25))
                if not error <= 1.0:
                    h = h * (factor if factor > 0.2 else 0.2)
                    fresh, rejected = True, True
                else:
                    again = rounds > 2 and bool(rate > 1e-3)
                    factor = factor if factor < 10.0 else 10.0
                    fresh = again or factor >= 1.2
                    factor = factor if fresh else 1.0
                    piece, was, was_h = BETWEEN.T @ z, y, step
                    start = derivative(f, ahead, 1.0 * there) + np.zeros(n)
                    stale, current = again, again
                    asked_before, error_before = asked, float(error)
                    t, y = ahead, there
                    h = h * factor
                    count += 1
                    times[count] = t
                    arrived = bool(way * (t - end) >= 0.0)
                    rejected, begun = False, False
                    if watched is not None:
                        marks, seen, stopped = met(watched, t, y, marks, seen)
                        arrived = arrived or stopped
    return times[: count + 1], calls, not small, small or arrived, stopped


def staged(f: Any, jac: Any, t: Any, y: Any, h: Any, z: Any) -> Any:
    """The stages by Newton's method, the inverse of its Jacobian, convergence."""
    n = len(y)
    inverse = np.zeros((3 * n, 3 * n))
    moved, count = 1.0, 0
    while moved > 1e-9 and count < 30:
        j = np.transpose(jac(t, 1.0 * y, h, z), (1, 0, 2))
        within_all = np.reshape(A[:, np.newaxis, :, np.newaxis] * j, (3 * n, 3 * n))
        inverse = np.linalg.inv(np.eye(3 * n) - h * within_all)
        step = inverse @ missing(f, t, y, h, np.reshape(z, -1))
        z = z - np.reshape(step, (3, n))
        moved = np.max(np.abs(step)) / np.maximum(1e-9, np.max(np.abs(z)))
        count += 1
    return np.reshape(z, -1), inverse, bool(moved <= 1e-9)


def course(f: Any, times: Any, y: Any, solve: Any) -> Any:
    """The states at all times, and the polynomials; `solve` gives stages."""
    n = len(y)
    states = np.zeros((len(times), n))
    pieces = np.zeros((len(times) - 1, 3, n))
    states[0] = y
    piece, was, h_was = np.zeros((3, n)), 1.0 * y, 1.0
    for k in range(len(times) - 1):
        t, h = times[k], times[k + 1] - times[k]
        z = np.reshape(solve(t, y, h, guessed(piece, was, y, h / h_was)), (3, n))
        piece, was, h_was = BETWEEN.T @ z, 1.0 * y, h
        y = y + z[2]
        pieces[k] = piece
        states[k + 1] = y
    return states, pieces


def missing(f: Any, t: Any, y: Any, h: Any, v: Any) -> Any:
    """What the stages, in one vector, are off by."""
    z = np.reshape(v, (3, len(y)))
    return np.reshape(z - h * (A @ slopes_at(f, t, y, h, z)), -1)
