"""Gradient descent with a step that adapts itself, and gradients by forward and by reverse mode.

The optimiser of the Stalingrad benchmarks, to the letter: its results depend on the procedure. It
works on lists of numbers. Where it runs inside a function that is differentiated, all of it is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad import grad, jvp

Point = list[Any]
Operator = Callable[[Callable[[Point], Any]], Callable[[Point], Point]]


def forward_gradient(f: Callable[[Point], Any]) -> Callable[[Point], Point]:
    """The gradient by forward mode: one run of f a coordinate."""

    def gradient(x: Point) -> Point:
        n = len(x)
        units = [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
        return [jvp(f, (x,), (unit,))[1] for unit in units]

    return gradient


MODES: dict[str, Operator] = {"f": forward_gradient, "r": grad}


def magnitude(v: Point) -> Any:
    total = 0.0
    for e in v:
        total += e * e
    return np.sqrt(total)


def argmin(f: Callable[[Point], Any], x: Point, gradient: Operator) -> Point:
    g = gradient(f)
    fx, gx, eta, i = f(x), g(x), 1e-5, 0
    while True:
        if magnitude(gx) <= 1e-5:
            return x
        if i == 10:
            eta, i = 2.0 * eta, 0
            continue
        moved = [a - eta * b for a, b in zip(x, gx, strict=True)]
        if magnitude([a - b for a, b in zip(moved, x, strict=True)]) <= 1e-5:
            return x
        value = f(moved)
        if value < fx:
            x, fx, gx, i = moved, value, g(moved), i + 1
        else:
            eta, i = eta / 2.0, 0


def argmax(f: Callable[[Point], Any], x: Point, gradient: Operator) -> Point:
    return argmin(lambda v: 0.0 - f(v), x, gradient)


def maximum(f: Callable[[Point], Any], x: Point, gradient: Operator) -> Any:
    return f(argmax(f, x, gradient))


# How the programs by hand are compiled. No flag reorders arithmetic: loops end where rounding
# says, and both sides are to take as many rounds.
HAND = {"error_model": "numpy", "cache": True}
