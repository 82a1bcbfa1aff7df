"""Logistic regression: the mean negative log-likelihood of labels ±1, with an L2 penalty.

    f(w) = 1/n * sum over i of log(1 + exp(-y[i] X[i]·w))  +  lam/2 * w·w

Source: any textbook, for example Hastie, Tibshirani, Friedman, The Elements of Statistical
Learning, section 4.4. Arguments: `w` (d), `X` (n, d), `y` (n) of -1.0 and 1.0, all float64; `lam`
float. Differentiated in `w`.
"""

import math

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, Dims, pick

ARGNUMS = 0
SIZES = {
    "small": {"n": 10, "d": 3},
    "medium": {"n": 1_000, "d": 20},
    "large": {"n": 50_000, "d": 50},
}


def objective(w: Array, X: Array, y: Array, lam: float) -> float:
    margins = y * (X @ w)
    return np.sum(np.logaddexp(0.0, -margins)) / len(y) + 0.5 * lam * np.sum(w * w)


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(w: Array, X: Array, y: Array, lam: float) -> tuple[float, Array]:
    n, d = X.shape
    g = np.zeros(d)
    total = 0.0
    # A row is used twice while it is in the cache: the matrix is read once, not twice.
    for i in range(n):
        row = X[i]
        z = 0.0
        for j in range(d):
            z += row[j] * w[j]
        margin = y[i] * z
        # exp only of negative numbers; one exponential serves the loss and its slope.
        e = math.exp(-abs(margin))
        if margin >= 0.0:
            total += math.log1p(e)
            slope = -y[i] * e / (1.0 + e)
        else:
            total += math.log1p(e) - margin
            slope = -y[i] / (1.0 + e)
        for j in range(d):
            g[j] += slope * row[j]
    squares = 0.0
    for j in range(d):
        squares += w[j] * w[j]
        g[j] = g[j] / n + lam * w[j]
    return total / n + 0.5 * lam * squares, g


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, float]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(dims["n"], dims["d"]))
    truth = rng.normal(size=dims["d"])
    y = np.where(X @ truth + rng.normal(size=dims["n"]) > 0.0, 1.0, -1.0)
    return 0.5 * rng.normal(size=dims["d"]), X, y, 0.01
