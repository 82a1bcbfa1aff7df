"""Sweeps of Gauss and Seidel over a plate in place, compared with a target at the end.

    a[i, j] = mean of the nine around it, those above and to the left already new   (repeated)
    f = 1/2 * sum of (a - target)²

Source: the nine-point sweep of PolyBench; a row's old neighbours are added as slices and its own
recurrence by a loop, as in NPBench. Arguments: `a0`, `target` (rows, columns) float64; `sweeps`
int. The rim keeps its values. Differentiated in `a0`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {
    "small": {"n": 5, "sweeps": 2},
    "medium": {"n": 64, "sweeps": 10},
    "large": {"n": 400, "sweeps": 20},
}


def objective(a0: Array, target: Array, sweeps: int) -> float:
    a = a0.copy()
    rows, cols = a.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:]
                + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )  # fmt: skip
            for j in range(1, cols - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0
    return 0.5 * np.sum((a - target) ** 2)


@by_hand
def _sweep(a: Array) -> None:
    rows, cols = a.shape
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            a[i, j] += (
                a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
            )  # fmt: skip
        left = a[i, 0]
        for j in range(1, cols - 1):
            left = (a[i, j] + left) * (1.0 / 9.0)
            a[i, j] = left


@by_hand
def _unsweep(g: Array, row: Array) -> None:
    """Pull the sensitivity back over a sweep, in place; `row` has zeros at its ends."""
    rows, cols = g.shape
    for i in range(rows - 2, 0, -1):
        right = 0.0
        for j in range(cols - 2, 0, -1):
            right = (g[i, j] + right) * (1.0 / 9.0)
            row[j] = right
        g[i, 0] += right
        # row[j] goes to the point itself, to its right, and to three above and three below.
        for j in range(1, cols - 1):
            three = row[j - 1] + row[j] + row[j + 1]
            g[i, j] = row[j] + row[j - 1]
            g[i - 1, j] += three
            g[i + 1, j] += three
        g[i, cols - 1] += row[cols - 2]
        g[i - 1, 0] += row[1]
        g[i + 1, 0] += row[1]
        g[i - 1, cols - 1] += row[cols - 2]
        g[i + 1, cols - 1] += row[cols - 2]


@by_hand
def gradient(a0: Array, target: Array, sweeps: int) -> tuple[float, Array]:
    rows, cols = a0.shape
    a = a0.copy()
    for _ in range(sweeps):
        _sweep(a)
    value = 0.0
    for i in range(rows):
        for j in range(cols):
            a[i, j] -= target[i, j]
            value += a[i, j] * a[i, j]
    row = np.zeros(cols)
    for _ in range(sweeps):
        _unsweep(a, row)
    return 0.5 * value, a


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, int]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (dims["n"], dims["n"] + 1)
    return rng.normal(size=shape), rng.normal(size=shape), dims["sweeps"]
