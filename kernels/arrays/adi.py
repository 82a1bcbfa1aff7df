"""Diffusion by alternating directions: each half step solves along columns, then along rows.

    (1 - k d²/dy²) v = (1 + k d²/dx²) u,   (1 - k d²/dx²) u = (1 + k d²/dy²) v   (repeated)
    f = 1/2 * sum of (u - target)²

Source: Peaceman and Rachford (1955), with Thomas' elimination written as in PolyBench's adi, the
coefficients varying. Arguments: `u0`, `k`, `target` (n, n) float64; `steps` int. The ends of each
solve are one. Differentiated in `u0` and `k`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 5, "steps": 2},
    "medium": {"n": 64, "steps": 10},
    "large": {"n": 300, "steps": 20},
}


def objective(u0: Array, k: Array, target: Array, steps: int) -> float:
    n = len(u0)
    u = u0.copy()
    v = np.zeros((n, n))
    q = np.zeros((n, n))
    p1, d1 = np.zeros((n, n)), np.ones((n, n))
    p2, d2 = np.zeros((n, n)), np.ones((n, n))
    for j in range(1, n - 1):
        d1[j, 1:-1] = 1.0 + 2.0 * k[j, 1:-1] - k[j, 1:-1] * p1[j - 1, 1:-1]
        p1[j, 1:-1] = k[j, 1:-1] / d1[j, 1:-1]
    for j in range(1, n - 1):
        d2[1:-1, j] = 1.0 + 2.0 * k[1:-1, j] - k[1:-1, j] * p2[1:-1, j - 1]
        p2[1:-1, j] = k[1:-1, j] / d2[1:-1, j]
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        q[0, 1:-1] = 1.0
        for j in range(1, n - 1):
            bend = u[j, :-2] - 2.0 * u[j, 1:-1] + u[j, 2:]
            q[j, 1:-1] = (u[j, 1:-1] + k[j, 1:-1] * (bend + q[j - 1, 1:-1])) / d1[j, 1:-1]
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p1[j, 1:-1] * v[j + 1, 1:-1] + q[j, 1:-1]
        u[1:-1, 0] = 1.0
        q[1:-1, 0] = 1.0
        for j in range(1, n - 1):
            bend = v[:-2, j] - 2.0 * v[1:-1, j] + v[2:, j]
            q[1:-1, j] = (v[1:-1, j] + k[1:-1, j] * (bend + q[1:-1, j - 1])) / d2[1:-1, j]
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p2[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
    return 0.5 * np.sum((u - target) ** 2)


@by_hand
def _eliminate(k: Array, d1: Array, p1: Array, d2: Array, p2: Array) -> None:
    n = len(k)
    for j in range(1, n - 1):
        for i in range(1, n - 1):
            d1[j, i] = 1.0 + 2.0 * k[j, i] - k[j, i] * p1[j - 1, i]
            p1[j, i] = k[j, i] / d1[j, i]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            d2[i, j] = 1.0 + 2.0 * k[i, j] - k[i, j] * p2[i, j - 1]
            p2[i, j] = k[i, j] / d2[i, j]


@by_hand
def _columns(u: Array, k: Array, d1: Array, p1: Array, v: Array) -> None:
    n = len(k)
    for i in range(1, n - 1):
        v[0, i], v[n - 1, i] = 1.0, 1.0
    for j in range(1, n - 1):
        for i in range(1, n - 1):
            bend = u[j, i - 1] - 2.0 * u[j, i] + u[j, i + 1]
            v[j, i] = (u[j, i] + k[j, i] * (bend + v[j - 1, i])) / d1[j, i]
    for j in range(n - 2, 0, -1):
        for i in range(1, n - 1):
            v[j, i] += p1[j, i] * v[j + 1, i]


@by_hand
def _rows(v: Array, k: Array, d2: Array, p2: Array, u: Array) -> None:
    n = len(k)
    for i in range(1, n - 1):
        u[i, 0], u[i, n - 1] = 1.0, 1.0
        for j in range(1, n - 1):
            bend = v[i - 1, j] - 2.0 * v[i, j] + v[i + 1, j]
            u[i, j] = (v[i, j] + k[i, j] * (bend + u[i, j - 1])) / d2[i, j]
        for j in range(n - 2, 0, -1):
            u[i, j] += p2[i, j] * u[i, j + 1]


# A half step is a linear solve. Its adjoint solves with the transposed matrix, whose factors are
# the same; what k is pulled by then is a product of that solution with bends of u and of v.
@by_hand
def _unrows(
    v: Array, u: Array, k: Array, d2: Array, p2: Array, lam: Array, g_k: Array, out: Array
) -> None:
    """From lam of u after the rows to `out` of v; lam becomes the transposed solution."""
    n = len(k)
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            lam[i, j] += p2[i, j - 1] * lam[i, j - 1]
        lam[i, n - 2] /= d2[i, n - 2]
        for j in range(n - 3, 0, -1):
            lam[i, j] = (lam[i, j] + k[i, j + 1] * lam[i, j + 1]) / d2[i, j]
        for j in range(1, n - 1):
            across = v[i - 1, j] - 2.0 * v[i, j] + v[i + 1, j]
            along = u[i, j - 1] - 2.0 * u[i, j] + u[i, j + 1]
            g_k[i, j] += lam[i, j] * (across + along)
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            above, below = k[i - 1, j] * lam[i - 1, j], k[i + 1, j] * lam[i + 1, j]
            out[i, j] = lam[i, j] * (1.0 - 2.0 * k[i, j]) + above + below


@by_hand
def _uncolumns(
    u: Array, v: Array, k: Array, d1: Array, p1: Array, lam: Array, g_k: Array, out: Array
) -> None:
    n = len(k)
    for j in range(1, n - 1):
        for i in range(1, n - 1):
            lam[j, i] += p1[j - 1, i] * lam[j - 1, i]
    for j in range(n - 2, 0, -1):
        for i in range(1, n - 1):
            lam[j, i] = (lam[j, i] + k[j + 1, i] * lam[j + 1, i]) / d1[j, i]
    for j in range(1, n - 1):
        for i in range(1, n - 1):
            across = u[j, i - 1] - 2.0 * u[j, i] + u[j, i + 1]
            along = v[j - 1, i] - 2.0 * v[j, i] + v[j + 1, i]
            g_k[j, i] += lam[j, i] * (across + along)
            left, right = k[j, i - 1] * lam[j, i - 1], k[j, i + 1] * lam[j, i + 1]
            out[j, i] = lam[j, i] * (1.0 - 2.0 * k[j, i]) + left + right


@by_hand
def gradient(
    u0: Array, k: Array, target: Array, steps: int
) -> tuple[float, tuple[Array, Array]]:
    n = len(u0)
    d1, p1 = np.ones((n, n)), np.zeros((n, n))
    d2, p2 = np.ones((n, n)), np.zeros((n, n))
    _eliminate(k, d1, p1, d2, p2)
    us, vs = np.empty((steps + 1, n, n)), np.empty((steps, n, n))
    us[0] = u0
    for t in range(steps):
        for i in range(n):
            us[t + 1, 0, i], us[t + 1, n - 1, i] = u0[0, i], u0[n - 1, i]
        _columns(us[t], k, d1, p1, vs[t])
        _rows(vs[t], k, d2, p2, us[t + 1])
    value = 0.0
    g, lam, mid = np.empty((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            g[i, j] = us[steps, i, j] - target[i, j]
            value += g[i, j] * g[i, j]
    lam[1:-1, 1:-1] = g[1:-1, 1:-1]
    g_k = np.zeros((n, n))
    for t in range(steps - 1, -1, -1):
        _unrows(vs[t], us[t + 1], k, d2, p2, lam, g_k, mid)
        _uncolumns(us[t], vs[t], k, d1, p1, mid, g_k, lam)
    if steps > 0:
        # In the first step the sides are u0's own; all later ones are one.
        for j in range(1, n - 1):
            g[j, 0], g[j, n - 1] = k[j, 1] * mid[j, 1], k[j, n - 2] * mid[j, n - 2]
    g[1:-1, 1:-1] = lam[1:-1, 1:-1]
    return 0.5 * value, (g, g_k)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, int]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (dims["n"], dims["n"])
    k = rng.uniform(0.2, 0.4, shape)
    return rng.normal(size=shape), k, rng.normal(size=shape), dims["steps"]
