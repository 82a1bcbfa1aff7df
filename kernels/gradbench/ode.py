"""A chain of reactions by the classical method of Runge and Kutta.

    y_0' = x_0,   y_i' = x_i y_(i-1),   y(0) = 0;   y(2) by `steps` steps of fourth order

Arguments: `x` (n) float64, the rates; `steps` int.
"""

import numpy as np

from kernels.common import Array


def slope(x: Array, y: Array) -> Array:
    change = np.empty_like(y)
    change[0] = x[0]
    change[1:] = x[1:] * y[:-1]
    return change


def objective(x: Array, steps: int) -> Array:
    """The values at the end, n of them."""
    y = np.zeros_like(x)
    h = 2.0 / steps
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + 0.5 * h * k1)
        k3 = slope(x, y + 0.5 * h * k2)
        k4 = slope(x, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def last(x: Array, steps: int) -> float:
    return objective(x, steps)[-1]
