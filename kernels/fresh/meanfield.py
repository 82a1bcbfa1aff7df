"""The magnetisations of an Ising model in the mean field, by damped rounds, compared with a target.

    m <- (1 - d) m + d tanh(J m + h),   f = 1/2 * sum of (m - target)²

Source: Opper & Saad, *Advanced Mean Field Methods* (2001). Arguments: `J` (n, n), `h`, `target` (n)
float64; `damping` float; `rounds` int. Differentiated in `J` and `h`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 3, "rounds": 3},
    "medium": {"n": 60, "rounds": 30},
    "large": {"n": 300, "rounds": 50},
}


def objective(J: Array, h: Array, target: Array, damping: float, rounds: int) -> float:
    m = np.zeros(len(h))
    for _ in range(rounds):
        m = (1.0 - damping) * m + damping * np.tanh(J @ m + h)
    return 0.5 * np.sum((m - target) ** 2)


@by_hand
def gradient(
    J: Array, h: Array, target: Array, damping: float, rounds: int
) -> tuple[float, tuple[Array, Array]]:
    n = len(h)
    ms, ts = np.zeros((rounds + 1, n)), np.empty((rounds, n))
    for r in range(rounds):
        field = np.dot(J, ms[r])
        for i in range(n):
            ts[r, i] = np.tanh(field[i] + h[i])
            ms[r + 1, i] = (1.0 - damping) * ms[r, i] + damping * ts[r, i]
    bar, g_j, g_h, value = np.empty(n), np.zeros((n, n)), np.zeros(n), 0.0
    for i in range(n):
        bar[i] = ms[rounds, i] - target[i]
        value += 0.5 * bar[i] * bar[i]
    slopes = np.empty((rounds, n))
    for r in range(rounds - 1, -1, -1):
        back = slopes[r]
        for i in range(n):
            back[i] = damping * bar[i] * (1.0 - ts[r, i] * ts[r, i])
            g_h[i] += back[i]
            bar[i] *= 1.0 - damping
        for i in range(n):
            for j in range(n):
                bar[j] += back[i] * J[i, j]
    g_j = np.dot(slopes.T, ms[:rounds])
    return value, (g_j, g_h)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, float, int]:
    dims = pick(size, SIZES)
    n = dims["n"]
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, n)) / np.sqrt(n)
    return J, rng.normal(size=n), rng.uniform(-1.0, 1.0, n), 0.7, dims["rounds"]
