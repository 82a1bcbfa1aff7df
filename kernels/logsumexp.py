"""The logarithm of a sum of exponentials, made safe by subtracting the largest element.

    f(x) = log( sum of exp(x - max x) ) + max x

Source: the `lse` problem of GradBench; the gradient is the softmax of x. Arguments: `x` (n)
float64, finite, n >= 1.
"""

import math

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, pick

ARGNUMS = 0
SIZES = {"small": 10, "medium": 10_000, "large": 400_000}


def objective(x: Array) -> float:
    a = np.max(x)
    return np.log(np.sum(np.exp(x - a))) + a


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(x: Array) -> tuple[float, Array]:
    n = len(x)
    # Four running maxima: one alone would wait for itself, once an element. Elements compared
    # twice at the end do no harm.
    a = b = c = d = x[0]
    for i in range(0, n - 3, 4):
        a = x[i] if x[i] > a else a
        b = x[i + 1] if x[i + 1] > b else b
        c = x[i + 2] if x[i + 2] > c else c
        d = x[i + 3] if x[i + 3] > d else d
    top = max(max(a, b), max(c, d))
    for i in range(max(n - 3, 0), n):
        top = x[i] if x[i] > top else top
    # The gradient is where the exponentials wait for their sum: no other store is needed.
    g = np.empty(n)
    total = 0.0
    for i in range(n):
        e = math.exp(x[i] - top)
        g[i] = e
        total += e
    scale = 1.0 / total
    for i in range(n):
        g[i] *= scale
    return math.log(total) + top, g


def inputs(size: str | int = "small", seed: int = 0) -> tuple[Array]:
    return (np.random.default_rng(seed).normal(0.0, 3.0, pick(size, SIZES)),)
