"""A triangular system solved forwards, compared with a target.

    x[i] = (b[i] - L[i, :i]·x[:i]) / L[i, i],   f = 1/2 * |x - target|²

Source: PolyBench's trisolv. Arguments: `L` (n, n), of which the lower triangle is read; `b`,
`target` (n), float64. Differentiated in `L` and `b`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {"small": {"n": 4}, "medium": {"n": 200}, "large": {"n": 1000}}


def objective(L: Array, b: Array, target: Array) -> float:
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
    return 0.5 * np.sum((x - target) ** 2)


@by_hand
def gradient(L: Array, b: Array, target: Array) -> tuple[float, tuple[Array, Array]]:
    n = len(b)
    x, w, g = np.empty(n), np.empty(n), np.zeros((n, n))
    value = 0.0
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s / L[i, i]
        w[i] = x[i] - target[i]
        value += w[i] * w[i]
    for i in range(n - 1, -1, -1):
        w[i] /= L[i, i]
        s = w[i]
        for k in range(i):
            w[k] -= s * L[i, k]
            g[i, k] = -s * x[k]
        g[i, i] = -s * x[i]
    return 0.5 * value, (g, w)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array]:
    n = pick(size, SIZES)["n"]
    rng = np.random.default_rng(seed)
    L = np.tril(rng.normal(size=(n, n)), -1) / n + np.diag(rng.uniform(1.0, 2.0, n))
    return L, rng.normal(size=n), rng.normal(size=n)
