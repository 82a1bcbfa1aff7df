"""The energy of points that springs join, in the plane.

    E = 1/2 * sum over springs of k (|x_i - x_j| - rest)²  +  weight * sum of heights

Arguments: `x` (n, 2) float64, the points; `k` (m), `rest` (m), the springs; `ends` (m, 2) int;
`weight` float. Differentiated in `x` and `k`.
"""

import numpy as np

from kernels.common import Array, Dims, Ints, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 4, "m": 5},
    "medium": {"n": 300, "m": 1000},
    "large": {"n": 30_000, "m": 100_000},
}


def objective(x: Array, k: Array, rest: Array, ends: Ints, weight: float) -> float:
    energy = weight * np.sum(x[:, 1])
    for e in range(len(k)):
        i, j = ends[e]
        d = x[i] - x[j]
        stretch = np.sqrt(d @ d) - rest[e]
        energy += 0.5 * k[e] * stretch**2
    return energy


@by_hand
def gradient(
    x: Array, k: Array, rest: Array, ends: Ints, weight: float
) -> tuple[float, tuple[Array, Array]]:
    g, by_k, energy = np.zeros_like(x), np.empty_like(k), 0.0
    for i in range(len(x)):
        g[i, 1] = weight
        energy += weight * x[i, 1]
    for e in range(len(k)):
        i, j = ends[e, 0], ends[e, 1]
        a, b = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
        length = np.sqrt(a * a + b * b)
        stretch = length - rest[e]
        by_k[e] = 0.5 * stretch * stretch
        energy += k[e] * by_k[e]
        pull = k[e] * stretch / length
        g[i, 0] += pull * a
        g[i, 1] += pull * b
        g[j, 0] -= pull * a
        g[j, 1] -= pull * b
    return energy, (g, by_k)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Ints, float]:
    n, m = (pick(size, SIZES)[key] for key in "nm")
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, m)
    ends = np.stack([first, (first + rng.integers(1, n, m)) % n], axis=1)
    return rng.normal(size=(n, 2)), rng.uniform(1.0, 2.0, m), rng.uniform(0.5, 1.0, m), ends, 0.3
