"""A minimum of maxima, by gradient descent around gradient ascent.

    min over (x1, y1) of max over (x2, y2) of (x1² + y1²) - (x2² + y2²)

Each player starts at the given point. The outer gradient goes through the whole inner ascent; then
one more ascent says where the second player ends. Argument: `start`, two floats. Result: both
players' points.
"""

from typing import Any

import numpy as np
from numba import njit

from kernels.nested.descent import HAND, Operator, Point, argmax, argmin, maximum

ARGUMENTS = ([1.0, 1.0],)
ANSWER = ([8.246324826140356e-06] * 2, [8.246324826140356e-06] * 2)
TOLERANCE = 1e-12


def cost(a: Point, b: Point) -> Any:
    return (a[0] * a[0] + a[1] * a[1]) - (b[0] * b[0] + b[1] * b[1])


def program(start: Point, outer: Operator, inner: Operator) -> tuple[Point, Point]:
    first = argmin(lambda a: maximum(lambda b: cost(a, b), start, inner), start, outer)
    second = argmax(lambda b: cost(first, b), start, inner)
    return first, second


# By hand: (x, y) moves along (dx, dy) for the outer derivative; the second player's point (u, v)
# has tangents along both outer coordinates, since the ascent is differentiated as it is.


@njit(**HAND)
def ascent(x: float, y: float, u: float, v: float) -> tuple[float, float]:
    """Where the second player ends against (x, y)."""
    fx = -((x * x + y * y) - (u * u + v * v))
    g, h = 2.0 * u, 2.0 * v
    eta, i = 1e-5, 0
    while True:
        if np.sqrt(g * g + h * h) <= 1e-5:
            return u, v
        if i == 10:
            eta, i = 2.0 * eta, 0
            continue
        un, vn = u - eta * g, v - eta * h
        du, dv = un - u, vn - v
        if np.sqrt(du * du + dv * dv) <= 1e-5:
            return u, v
        f = -((x * x + y * y) - (un * un + vn * vn))
        if f < fx:
            u, v, fx, i = un, vn, f, i + 1
            g, h = 2.0 * u, 2.0 * v
        else:
            eta, i = eta / 2.0, 0


@njit(**HAND)
def ascent_with_tangents(
    x: float, y: float, u: float, v: float
) -> tuple[float, float, float, float, float, float]:
    """The same, with the derivatives of (u, v) by x and by y."""
    ux, uy, vx, vy = 0.0, 0.0, 0.0, 0.0
    fx = -((x * x + y * y) - (u * u + v * v))
    g, h = 2.0 * u, 2.0 * v
    eta, i = 1e-5, 0
    while True:
        if np.sqrt(g * g + h * h) <= 1e-5:
            return u, v, ux, uy, vx, vy
        if i == 10:
            eta, i = 2.0 * eta, 0
            continue
        un, vn = u - eta * g, v - eta * h
        du, dv = un - u, vn - v
        if np.sqrt(du * du + dv * dv) <= 1e-5:
            return u, v, ux, uy, vx, vy
        f = -((x * x + y * y) - (un * un + vn * vn))
        if f < fx:
            shrink = 1.0 - 2.0 * eta
            ux, uy, vx, vy = shrink * ux, shrink * uy, shrink * vx, shrink * vy
            u, v, fx, i = un, vn, f, i + 1
            g, h = 2.0 * u, 2.0 * v
        else:
            eta, i = eta / 2.0, 0


@njit(**HAND)
def value(x: float, y: float, s: float, t: float) -> float:
    u, v = ascent(x, y, s, t)
    return (x * x + y * y) - (u * u + v * v)


@njit(**HAND)
def slope(x: float, y: float, s: float, t: float) -> tuple[float, float]:
    u, v, ux, uy, vx, vy = ascent_with_tangents(x, y, s, t)
    return 2.0 * (x - u * ux - v * vx), 2.0 * (y - u * uy - v * vy)


@njit(**HAND)
def descent(s: float, t: float) -> tuple[tuple[float, float], tuple[float, float]]:
    x, y = s, t
    fx = value(x, y, s, t)
    g, h = slope(x, y, s, t)
    eta, i = 1e-5, 0
    while True:
        if np.sqrt(g * g + h * h) <= 1e-5:
            break
        if i == 10:
            eta, i = 2.0 * eta, 0
            continue
        xn, yn = x - eta * g, y - eta * h
        dx, dy = xn - x, yn - y
        if np.sqrt(dx * dx + dy * dy) <= 1e-5:
            break
        f = value(xn, yn, s, t)
        if f < fx:
            x, y, fx, i = xn, yn, f, i + 1
            g, h = slope(x, y, s, t)
        else:
            eta, i = eta / 2.0, 0
    return (x, y), ascent(x, y, s, t)


def by_hand(start: Point) -> tuple[tuple[float, float], tuple[float, float]]:
    return descent(start[0], start[1])
