"""Which conductivity explains the temperatures of a rod?  A tridiagonal system, solved by Thomas.

    u[i] - (k[i+1] (u[i+1] - u[i]) - k[i] (u[i] - u[i-1])) = heat[i],   u = 0 at both ends
    f = 1/2 * |u - seen|²

Arguments: `logs` (n + 1), the logarithms of k; `heat`, `seen` (n) float64. Differentiated in
`logs`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {"small": {"n": 4}, "medium": {"n": 500}, "large": {"n": 100_000}}


def solve(below: Array, middle: Array, above: Array, right: Array) -> Array:
    n = len(right)
    c, d, x = np.zeros(n), np.zeros(n), np.zeros(n)
    c[0], d[0] = above[0] / middle[0], right[0] / middle[0]
    for i in range(1, n):
        w = middle[i] - below[i] * c[i - 1]
        c[i] = above[i] / w
        d[i] = (right[i] - below[i] * d[i - 1]) / w
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def objective(logs: Array, heat: Array, seen: Array) -> float:
    k = np.exp(logs)
    u = solve(-k[:-1], 1.0 + k[:-1] + k[1:], -k[1:], heat)
    return 0.5 * np.sum((u - seen) ** 2)


@by_hand
def gradient(logs: Array, heat: Array, seen: Array) -> tuple[float, Array]:
    # The matrix is symmetric: its adjoint system has the same factors.
    n = len(heat)
    k, c, w, u, y, value = np.exp(logs), np.empty(n), np.empty(n), np.empty(n), np.empty(n), 0.0
    w[0] = 1.0 / (1.0 + k[0] + k[1])
    c[0] = -k[1] * w[0]
    u[0] = heat[0] * w[0]
    for i in range(1, n):
        w[i] = 1.0 / (1.0 + k[i] + k[i + 1] + k[i] * c[i - 1])
        c[i] = -k[i + 1] * w[i]
        u[i] = (heat[i] + k[i] * u[i - 1]) * w[i]
    for i in range(n - 2, -1, -1):
        u[i] -= c[i] * u[i + 1]
    for i in range(n):
        y[i] = u[i] - seen[i]
        value += 0.5 * y[i] * y[i]
    y[0] *= w[0]
    for i in range(1, n):
        y[i] = (y[i] + k[i] * y[i - 1]) * w[i]
    for i in range(n - 2, -1, -1):
        y[i] -= c[i] * y[i + 1]
    g = np.empty(n + 1)
    g[0], g[n] = -k[0] * u[0] * y[0], -k[n] * u[n - 1] * y[n - 1]
    for i in range(1, n):
        g[i] = -k[i] * (u[i] - u[i - 1]) * (y[i] - y[i - 1])
    return value, g


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array]:
    n = pick(size, SIZES)["n"]
    rng = np.random.default_rng(seed)
    logs = 0.3 * rng.normal(size=n + 1)
    return logs, rng.normal(size=n), rng.normal(size=n)
