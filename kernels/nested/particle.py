"""Where must a charge stand so that a particle falls through the origin?

A particle flies from (0, 8) with velocity (0.75, 0) past repelling charges at (10, 10 - w) and
(10, 0); its potential is p(x) = sum of 1 / |x - c|. Euler's steps of 0.1 follow the force -grad p
(the inner derivative) until the ground y = 0 is crossed; the last step is cut there. The square of
the landing point is minimised over w by gradient descent (the outer derivative, through the flight
with as many steps as it takes). Argument: `w` to start from, a float. Result: the best w.
"""

from typing import Any

import numpy as np
from numba import njit

from kernels.nested.descent import HAND, Operator, Point, argmin, magnitude

ARGUMENTS = (0.0,)
ANSWER = 0.20719187464861197
TOLERANCE = 1e-11  # the modes differ in the last digits of a descent of 84 steps


def landing(w: Any, inner: Operator) -> Any:
    """The square of where the particle lands."""
    charges = [[10.0, 10.0 - w], [10.0, 0.0]]
    x, v, dt = [0.0, 8.0], [0.75, 0.0], 1e-1

    def potential(q: Point) -> Any:
        total = 0.0
        for c in charges:
            total += 1.0 / magnitude([a - b for a, b in zip(q, c, strict=True)])
        return total

    force = inner(potential)
    while True:
        pull = [-1.0 * e for e in force(x)]
        moved = [a + dt * b for a, b in zip(x, v, strict=True)]
        if moved[1] > 0.0:
            x, v = moved, [a + dt * b for a, b in zip(v, pull, strict=True)]
        else:
            left = (0.0 - x[1]) / v[1]
            end = x[0] + left * v[0]
            return end * end


def program(w: float, outer: Operator, inner: Operator) -> float:
    return argmin(lambda u: landing(u[0], inner), [w], outer)[0]


@njit(**HAND)
def value(w: float) -> float:
    x, y, vx, vy, dt = 0.0, 8.0, 0.75, 0.0, 0.1
    while True:
        ax, ay, bx, by = x - 10.0, y - (10.0 - w), x - 10.0, y
        aa, bb = ax * ax + ay * ay, bx * bx + by * by
        p, q = 1.0 / (aa * np.sqrt(aa)), 1.0 / (bb * np.sqrt(bb))
        fx, fy = ax * p + bx * q, ay * p + by * q
        xn, yn = x + dt * vx, y + dt * vy
        if not yn > 0.0:
            end = x - y / vy * vx
            return end * end
        x, y = xn, yn
        vx += dt * fx
        vy += dt * fy


@njit(**HAND)
def slope(w: float) -> float:
    """The derivative of the value: a tangent for each number of the flight."""
    x, y, vx, vy, dt = 0.0, 8.0, 0.75, 0.0, 0.1
    tx, ty, sx, sy = 0.0, 0.0, 0.0, 0.0  # of position and velocity
    while True:
        ax, ay, bx, by = x - 10.0, y - (10.0 - w), x - 10.0, y
        aa, bb = ax * ax + ay * ay, bx * bx + by * by
        ra, rb = 1.0 / aa, 1.0 / bb
        p, q = ra * np.sqrt(ra), rb * np.sqrt(rb)
        fx, fy = ax * p + bx * q, ay * p + by * q
        sa = ty + 1.0
        tp = -3.0 * p * ra * (ax * tx + ay * sa)
        tq = -3.0 * q * rb * (bx * tx + by * ty)
        gx = tx * p + ax * tp + tx * q + bx * tq
        gy = sa * p + ay * tp + ty * q + by * tq
        xn, yn = x + dt * vx, y + dt * vy
        if not yn > 0.0:
            left = -y / vy
            t_left = -(ty + left * sy) / vy
            end = x + left * vx
            return 2.0 * end * (tx + t_left * vx + left * sx)
        x, y = xn, yn
        tx, ty = tx + dt * sx, ty + dt * sy
        vx += dt * fx
        vy += dt * fy
        sx += dt * gx
        sy += dt * gy


@njit(**HAND)
def by_hand(w: float) -> float:
    fx, g = value(w), slope(w)
    eta, i = 1e-5, 0
    while True:
        if np.sqrt(g * g) <= 1e-5:
            return w
        if i == 10:
            eta, i = 2.0 * eta, 0
            continue
        moved = w - eta * g
        step = moved - w
        if np.sqrt(step * step) <= 1e-5:
            return w
        f = value(moved)
        if f < fx:
            w, fx, i = moved, f, i + 1
            g = slope(w)
        else:
            eta, i = eta / 2.0, 0
