"""Softmax along the last axis of scores of four dimensions, weighted and summed.

    p = exp(x - max) / sum of exp(x - max),   f = sum of W * p

Source: attention weights, as written in NPBench. Arguments: `x`, `W` (n, heads, m, m) float64.
Differentiated in `x`.
"""

import math

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {
    "small": {"n": 1, "heads": 2, "m": 3},
    "medium": {"n": 2, "heads": 4, "m": 32},
    "large": {"n": 8, "heads": 8, "m": 128},
}


def objective(x: Array, W: Array) -> float:
    largest = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - largest)
    return np.sum(W * (e / np.sum(e, axis=-1, keepdims=True)))


@by_hand
def gradient(x: Array, W: Array) -> tuple[float, Array]:
    n, heads, m, last = x.shape
    g = np.empty_like(x)
    value = 0.0
    for a in range(n):
        for b in range(heads):
            for i in range(m):
                largest = -math.inf
                for j in range(last):
                    largest = max(largest, x[a, b, i, j])
                total = weighted = 0.0
                for j in range(last):
                    e = math.exp(x[a, b, i, j] - largest)
                    g[a, b, i, j] = e
                    total += e
                    weighted += W[a, b, i, j] * e
                mean = weighted / total
                value += mean
                scale = 1.0 / total
                for j in range(last):
                    g[a, b, i, j] *= (W[a, b, i, j] - mean) * scale
    return value, g


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array]:
    d = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (d["n"], d["heads"], d["m"], d["m"])
    return rng.normal(size=shape), rng.normal(size=shape)
