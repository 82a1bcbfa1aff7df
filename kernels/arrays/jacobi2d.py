"""Jacobi's iteration on a plate with two buffers, compared with a target at the end.

    b[inner] = (a[inner] + a[left] + a[right] + a[up] + a[down]) / 5;  the same from b to a
    f = 1/2 * sum of (a - target)²

Source: the five-point average of the suites PolyBench and NPBench. Arguments: `a0`, `target`
(rows, columns) float64; `rounds` int. The rim keeps its values. Differentiated in `a0`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {
    "small": {"n": 5, "rounds": 2},
    "medium": {"n": 64, "rounds": 10},
    "large": {"n": 400, "rounds": 25},
}


def objective(a0: Array, target: Array, rounds: int) -> float:
    a = a0.copy()
    b = a0.copy()
    for _ in range(rounds):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )
    return 0.5 * np.sum((a - target) ** 2)


@by_hand
def _average(a: Array, out: Array) -> None:
    rows, cols = a.shape
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            out[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


@by_hand
def gradient(a0: Array, target: Array, rounds: int) -> tuple[float, Array]:
    rows, cols = a0.shape
    a, b = a0.copy(), a0.copy()
    for _ in range(rounds):
        _average(a, b)
        _average(b, a)
    value = 0.0
    g = np.empty((rows, cols))  # gathers the rim's sensitivity; the inner part comes last
    for i in range(rows):
        for j in range(cols):
            g[i, j] = a[i, j] - target[i, j]
            value += g[i, j] * g[i, j]
    # The average is its own transpose on plates with a rim of zeros.
    lam, new = np.zeros((rows, cols)), np.zeros((rows, cols))
    lam[1:-1, 1:-1] = g[1:-1, 1:-1]
    for _ in range(2 * rounds):
        for j in range(1, cols - 1):
            g[0, j] += 0.2 * lam[1, j]
            g[rows - 1, j] += 0.2 * lam[rows - 2, j]
        for i in range(1, rows - 1):
            g[i, 0] += 0.2 * lam[i, 1]
            g[i, cols - 1] += 0.2 * lam[i, cols - 2]
        _average(lam, new)
        lam, new = new, lam
    g[1:-1, 1:-1] = lam[1:-1, 1:-1]
    return 0.5 * value, g


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, int]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (dims["n"], dims["n"] + 1)
    return rng.normal(size=shape), rng.normal(size=shape), dims["rounds"]
