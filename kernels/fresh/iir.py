"""A recursive filter compared with a target.

    y[t] = sum over k of b[k] x[t-k]  -  sum over k of a[k] y[t-1-k],   f = 1/2 * |y - target|²

Arguments: `b` (p), `a` (q), `x`, `target` (n) float64. Differentiated in `b` and `a`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 7, "p": 3, "q": 2},
    "medium": {"n": 500, "p": 5, "q": 4},
    "large": {"n": 50_000, "p": 8, "q": 8},
}


def objective(b: Array, a: Array, x: Array, target: Array) -> float:
    y = np.zeros(len(x))
    for t in range(len(x)):
        for k in range(min(t + 1, len(b))):
            y[t] += b[k] * x[t - k]
        for k in range(min(t, len(a))):
            y[t] -= a[k] * y[t - 1 - k]
    return 0.5 * np.sum((y - target) ** 2)


@by_hand
def gradient(b: Array, a: Array, x: Array, target: Array) -> tuple[float, tuple[Array, Array]]:
    n, y = len(x), np.empty(len(x))
    bar, g_b, g_a, value = np.empty(n), np.zeros(len(b)), np.zeros(len(a)), 0.0
    for t in range(n):
        s = 0.0
        for k in range(min(t + 1, len(b))):
            s += b[k] * x[t - k]
        for k in range(min(t, len(a))):
            s -= a[k] * y[t - 1 - k]
        y[t], bar[t] = s, s - target[t]
        value += 0.5 * bar[t] * bar[t]
    for t in range(n - 1, -1, -1):
        s = bar[t]
        for k in range(min(t + 1, len(b))):
            g_b[k] += s * x[t - k]
        for k in range(min(t, len(a))):
            g_a[k] -= s * y[t - 1 - k]
            bar[t - 1 - k] -= s * a[k]
    return value, (g_b, g_a)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Array]:
    n, p, q = (pick(size, SIZES)[key] for key in "npq")
    rng = np.random.default_rng(seed)
    return rng.normal(size=p), rng.normal(size=q) / (4 * q), rng.normal(size=n), rng.normal(size=n)
