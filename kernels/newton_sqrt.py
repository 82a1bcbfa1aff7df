"""A sum of square roots, each found by Newton's iteration until it has converged.

    y = (1 + x) / 2;  while |y² - x| > tol * x:  y = (y + x / y) / 2

Source: Heron's method. Every element takes as many rounds as its size asks for, so the loop's
length is data. The derivative is that of the rounds as they were run, not the limit's 1/(2 sqrt x);
the two agree to about the tolerance. Arguments: `x` (n) float64, positive; `tol` float.
"""

import numpy as np
from numba import njit

from kernels.common import Array, pick

ARGNUMS = 0
SIZES = {"small": 10, "medium": 1_000, "large": 50_000}


def objective(x: Array, tol: float) -> float:
    total = 0.0
    for i in range(len(x)):
        y = 0.5 * (1.0 + x[i])
        while abs(y * y - x[i]) > tol * x[i]:
            y = 0.5 * (y + x[i] / y)
        total += y
    return total


# No flags: the test for convergence must see the rounding that the plain function sees, else an
# element at the brink runs one round more or less.
@njit(cache=True, error_model="numpy")
def gradient(x: Array, tol: float) -> tuple[float, Array]:
    n = len(x)
    g = np.empty(n)
    total = 0.0
    # One input makes one output: the tangent runs along in the loop and nothing is recorded.
    for i in range(n):
        a = x[i]
        y = 0.5 * (1.0 + a)
        dy = 0.5
        while abs(y * y - a) > tol * a:
            inverse = 1.0 / y
            quotient = a / y  # not a * inverse, which rounds differently; both run side by side
            dy = 0.5 * (dy + (1.0 - quotient * dy) * inverse)
            y = 0.5 * (y + quotient)
        total += y
        g[i] = dy
    return total, g


def inputs(size: str | int = "small", seed: int = 0) -> tuple[Array, float]:
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(-4.0, 6.0, pick(size, SIZES))), 1e-10
