"""The correlation of columns by one matrix product, its diagonal set to one, weighted and summed.

    z = (data - mean) / (sqrt(n) * std),   c = zᵀz with ones on the diagonal,   f = sum of W * c

Source: PolyBench's correlation, where columns that hardly vary are divided by one. Arguments:
`data` (n, m), `W` (m, m), float64. Differentiated in `data`.
"""

import math

import numpy as np

from kernels.arrays.covariance import centre
from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {"small": {"n": 5, "m": 3}, "medium": {"n": 100, "m": 40}, "large": {"n": 500, "m": 200}}


def objective(data: Array, W: Array) -> float:
    n, m = data.shape
    std = np.std(data, axis=0)
    std[std <= 0.1] = 1.0
    z = (data - np.mean(data, axis=0)) / (np.sqrt(n) * std)
    corr = z.T @ z
    for i in range(m):
        corr[i, i] = 1.0
    return np.sum(W * corr)


@by_hand
def gradient(data: Array, W: Array) -> tuple[float, Array]:
    n, m = data.shape
    z = centre(data)
    squares = np.zeros(m)
    for i in range(n):
        for j in range(m):
            squares[j] += z[i, j] * z[i, j]
    scale = np.empty(m)
    varies = np.empty(m)
    for j in range(m):
        std = math.sqrt(squares[j] / n)
        varies[j] = 0.0 if std <= 0.1 else 1.0
        scale[j] = 1.0 / (math.sqrt(n) * (1.0 if std <= 0.1 else std))
    for i in range(n):
        for j in range(m):
            z[i, j] *= scale[j]
    both = np.empty((m, m))
    value = 0.0
    for i in range(m):
        value += W[i, i]
        for j in range(m):
            both[i, j] = W[i, j] + W[j, i]
        both[i, i] = 0.0
    g = np.dot(z, both)
    along = np.zeros(m)
    for i in range(n):
        for j in range(m):
            along[j] += g[i, j] * z[i, j]
    for j in range(m):
        value += 0.5 * along[j]
        along[j] *= varies[j]
    for i in range(n):
        for j in range(m):
            g[i, j] = (g[i, j] - along[j] * z[i, j]) * scale[j]
    return value, g


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(dims["n"], dims["m"]))
    data[:, 1] *= 0.01
    return data, rng.normal(size=(dims["m"], dims["m"]))
