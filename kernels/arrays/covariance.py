"""The covariance of columns, filled in row by row and column by column, weighted and summed.

    c[i, i:] = c[i:, i] = (data[:, i] - mean)·(data[:, i:] - mean) / (n - 1),   f = sum of W * c

Source: PolyBench's covariance as written in NPBench. Arguments: `data` (n, m), `W` (m, m),
float64. Differentiated in `data`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {"small": {"n": 5, "m": 3}, "medium": {"n": 100, "m": 40}, "large": {"n": 500, "m": 200}}


def objective(data: Array, W: Array) -> float:
    n, m = data.shape
    centred = data - np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:, i] = centred[:, i] @ centred[:, i:] / (n - 1.0)
        cov[i, i:] = cov[i:, i]
    return np.sum(W * cov)


@by_hand
def centre(data: Array) -> Array:
    n, m = data.shape
    mean = np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += data[i, j]
    centred = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            centred[i, j] = data[i, j] - mean[j] / n
    return centred


@by_hand
def gradient(data: Array, W: Array) -> tuple[float, Array]:
    n, m = data.shape
    centred = centre(data)
    both = np.empty((m, m))  # the weights of a product of two columns, in either order
    for i in range(m):
        for j in range(m):
            both[i, j] = (W[i, j] + W[j, i]) / (n - 1.0)
    g = np.dot(centred, both)
    # Columns of g have no mean, as centred's have none. The value comes from the same product.
    value = 0.0
    for i in range(n):
        for j in range(m):
            value += g[i, j] * centred[i, j]
    return 0.5 * value, g


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    return rng.normal(size=(dims["n"], dims["m"])), rng.normal(size=(dims["m"], dims["m"]))
