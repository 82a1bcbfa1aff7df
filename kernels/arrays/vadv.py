"""Vertical advection: a tridiagonal system in each column, swept forwards and backwards by planes.

    a x[k-1] + b x[k] + c x[k+1] = dtr * u_pos - a (u[k-1] - u[k]) - c (u[k+1] - u[k])
    f = 1/2 * sum of (dtr * (x - u_pos) - target)²

with a[k] = -w[k], c[k] = w[k+1], b = dtr - a - c, and w an eighth of two winds beside each other.
Source: the implicit advection of the weather model COSMO, as written in NPBench. Arguments: `u`,
`u_pos`, `target` (ni, nj, levels), `wind` (ni+1, nj, levels) float64; `dtr` float. Differentiated
in `u`, `wind` and `u_pos`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1, 2)
SIZES = {
    "small": {"n": 2, "levels": 4},
    "medium": {"n": 20, "levels": 20},
    "large": {"n": 100, "levels": 60},
}


def objective(u: Array, wind: Array, u_pos: Array, target: Array, dtr: float) -> float:
    ni, nj, levels = u.shape
    ccol = np.empty((ni, nj, levels))
    dcol = np.empty((ni, nj, levels))
    out = np.empty((ni, nj, levels))

    c = 0.125 * (wind[1:, :, 1] + wind[:-1, :, 1])
    divided = 1.0 / (dtr - c)
    ccol[:, :, 0] = c * divided
    dcol[:, :, 0] = (dtr * u_pos[:, :, 0] - c * (u[:, :, 1] - u[:, :, 0])) * divided
    for k in range(1, levels - 1):
        a = -0.125 * (wind[1:, :, k] + wind[:-1, :, k])
        c = 0.125 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
        b = dtr - a - c
        correction = -a * (u[:, :, k - 1] - u[:, :, k]) - c * (u[:, :, k + 1] - u[:, :, k])
        divided = 1.0 / (b - ccol[:, :, k - 1] * a)
        ccol[:, :, k] = c * divided
        dcol[:, :, k] = (dtr * u_pos[:, :, k] + correction - dcol[:, :, k - 1] * a) * divided
    a = -0.125 * (wind[1:, :, -1] + wind[:-1, :, -1])
    correction = -a * (u[:, :, -2] - u[:, :, -1])
    divided = 1.0 / (dtr - a - ccol[:, :, -2] * a)
    x = (dtr * u_pos[:, :, -1] + correction - dcol[:, :, -2] * a) * divided
    out[:, :, -1] = dtr * (x - u_pos[:, :, -1])
    for k in range(levels - 2, -1, -1):
        x = dcol[:, :, k] - ccol[:, :, k] * x
        out[:, :, k] = dtr * (x - u_pos[:, :, k])
    return 0.5 * np.sum((out - target) ** 2)


@by_hand
def gradient(
    u: Array, wind: Array, u_pos: Array, target: Array, dtr: float
) -> tuple[float, tuple[Array, Array, Array]]:
    ni, nj, n = u.shape
    g_u, g_wind, g_pos = np.zeros_like(u), np.zeros_like(wind), np.empty_like(u)
    # w[k] couples the levels k-1 and k. A column is solved, and its transposed, while in the cache.
    w, e, c, x, y = np.zeros(n + 1), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    value = 0.0
    for i in range(ni):
        for j in range(nj):
            for k in range(1, n):
                w[k] = 0.125 * (wind[i + 1, j, k] + wind[i, j, k])
            for k in range(n):
                d = dtr * u_pos[i, j, k]
                e[k] = dtr + w[k] - w[k + 1]
                if k > 0:
                    d += w[k] * (u[i, j, k - 1] - u[i, j, k] + x[k - 1])
                    e[k] += c[k - 1] * w[k]
                if k < n - 1:
                    d -= w[k + 1] * (u[i, j, k + 1] - u[i, j, k])
                c[k] = w[k + 1] / e[k]
                x[k] = d / e[k]
            for k in range(n - 2, -1, -1):
                x[k] -= c[k] * x[k + 1]
            for k in range(n):
                r = dtr * (x[k] - u_pos[i, j, k]) - target[i, j, k]
                value += r * r
                g_pos[i, j, k] = -dtr * r
                y[k] = dtr * r
                if k > 0:
                    y[k] -= c[k - 1] * y[k - 1]
            for k in range(n - 1, -1, -1):
                if k < n - 1:
                    y[k] += w[k + 1] * y[k + 1]
                y[k] /= e[k]
                g_pos[i, j, k] += dtr * y[k]
            for k in range(1, n):
                flow = w[k] * (y[k - 1] + y[k])
                apart = x[k - 1] - x[k] + u[i, j, k - 1] - u[i, j, k]
                g = 0.125 * (y[k] + y[k - 1]) * apart
                g_wind[i, j, k] += g
                g_wind[i + 1, j, k] += g
                g_u[i, j, k - 1] += flow
                g_u[i, j, k] -= flow
    return 0.5 * value, (g_u, g_wind, g_pos)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Array, float]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    n, levels = dims["n"], dims["levels"]
    shape = (n, n + 1, levels)
    u, u_pos, target = (rng.normal(size=shape) for _ in range(3))
    return u, rng.uniform(0.0, 1.0, (n + 1, n + 1, levels)), u_pos, target, 3.0
