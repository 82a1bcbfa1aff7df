"""Rosenbrock's valley in n dimensions, the chained form.

    f(x) = sum over i < n - 1 of  100 (x[i+1] - x[i]²)² + (1 - x[i])²

Source: H. H. Rosenbrock, The Computer Journal 3 (1960), for n = 2; the sum over neighbours is the
usual extension. Arguments: `x` (n) float64, n >= 2.
"""

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, pick

ARGNUMS = 0
SIZES = {"small": 10, "medium": 10_000, "large": 1_000_000}


def objective(x: Array) -> float:
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(x: Array) -> tuple[float, Array]:
    n = len(x)
    g = np.empty(n)
    t = x[1] - x[0] * x[0]
    r = 1.0 - x[0]
    value = 100.0 * t * t + r * r
    g[0] = -400.0 * t * x[0] - 2.0 * r
    # Every element takes its two terms itself, at the price of one more t. Adding to g[i] and
    # g[i + 1] by turns would chain the iterations through memory and keep them out of lanes.
    left, here, right, inner = x[:-2], x[1:-1], x[2:], g[1:-1]
    for i in range(n - 2):
        before = here[i] - left[i] * left[i]
        t = right[i] - here[i] * here[i]
        r = 1.0 - here[i]
        value += 100.0 * t * t + r * r
        inner[i] = 200.0 * before - 400.0 * t * here[i] - 2.0 * r
    g[n - 1] = 200.0 * (x[n - 1] - x[n - 2] * x[n - 2])
    return value, g


def inputs(size: str | int = "small", seed: int = 0) -> tuple[Array]:
    return (np.random.default_rng(seed).uniform(-1.5, 1.5, pick(size, SIZES)),)
