"""A sparse matrix in rows (CSR) times a vector, a row at a time with an index array.

    y[i] = values[start[i]:start[i+1]] · x[columns[start[i]:start[i+1]]],  f = 1/2 * |y - target|²

Source: the format of Y. Saad, Iterative Methods for Sparse Linear Systems, section 3.4; NPBench's
spmv. Arguments: `values` (nonzeros), `x` (m), `target` (n) float64; `start` (n+1), `columns`
(nonzeros) int64. Differentiated in `values` and `x`.
"""

import numpy as np

from kernels.common import Array, Dims, Ints, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 5, "m": 6, "each": 3},
    "medium": {"n": 1_000, "m": 1_000, "each": 10},
    "large": {"n": 50_000, "m": 50_000, "each": 20},
}


def objective(values: Array, x: Array, start: Ints, columns: Ints, target: Array) -> float:
    y = np.empty(len(start) - 1)
    for i in range(len(y)):
        row = values[start[i] : start[i + 1]]
        y[i] = row @ x[columns[start[i] : start[i + 1]]]
    return 0.5 * np.sum((y - target) ** 2)


@by_hand
def gradient(
    values: Array, x: Array, start: Ints, columns: Ints, target: Array
) -> tuple[float, tuple[Array, Array]]:
    g_values, g_x = np.empty_like(values), np.zeros_like(x)
    value = 0.0
    for i in range(len(start) - 1):
        r = -target[i]
        for k in range(start[i], start[i + 1]):
            r += values[k] * x[columns[k]]
        value += r * r
        for k in range(start[i], start[i + 1]):
            g_values[k] = r * x[columns[k]]
            g_x[columns[k]] += r * values[k]
    return 0.5 * value, (g_values, g_x)


def inputs(
    size: str | Dims = "small", seed: int = 0
) -> tuple[Array, Array, Ints, Ints, Array]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 2 * dims["each"], dims["n"])
    start = np.concatenate([[0], np.cumsum(counts)])
    columns = rng.integers(0, dims["m"], start[-1])
    values, x = rng.normal(size=start[-1]), rng.normal(size=dims["m"])
    return values, x, start, columns, rng.normal(size=dims["n"])
