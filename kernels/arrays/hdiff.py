"""Horizontal diffusion with a limiter, level by level, compared with a target.

    lap = 4 x - its neighbours;  flux = difference of lap, none where it would go up the slope of x
    out = x - coeff * (divergence of the fluxes),   f = 1/2 * sum of (out - target)²

Source: the diffusion of the weather model COSMO, as written in NPBench. Arguments: `x` (ni+4, nj+4,
levels), `coeff`, `target` (ni, nj, levels), float64. Differentiated in `x` and `coeff`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 3, "levels": 2},
    "medium": {"n": 24, "levels": 16},
    "large": {"n": 100, "levels": 60},
}


def objective(x: Array, coeff: Array, target: Array) -> float:
    lap = 4.0 * x[1:-1, 1:-1, :] - (
        x[2:, 1:-1, :] + x[:-2, 1:-1, :] + x[1:-1, 2:, :] + x[1:-1, :-2, :]
    )
    rise = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
    uphill = rise * (x[2:-1, 2:-2, :] - x[1:-2, 2:-2, :]) > 0.0
    flx = np.where(uphill, 0.0, rise)
    rise = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
    uphill = rise * (x[2:-2, 2:-1, :] - x[2:-2, 1:-2, :]) > 0.0
    fly = np.where(uphill, 0.0, rise)
    out = x[2:-2, 2:-2, :] - coeff * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1])
    return 0.5 * np.sum((out - target) ** 2)


@by_hand
def gradient(x: Array, coeff: Array, target: Array) -> tuple[float, tuple[Array, Array]]:
    ni, nj, levels = coeff.shape
    lap = np.empty((ni + 2, nj + 2, levels))
    for i in range(ni + 2):
        for j in range(nj + 2):
            for k in range(levels):
                around = x[i + 2, j + 1, k] + x[i, j + 1, k] + x[i + 1, j + 2, k] + x[i + 1, j, k]
                lap[i, j, k] = 4.0 * x[i + 1, j + 1, k] - around
    flx, fly = np.empty((ni + 1, nj, levels)), np.empty((ni, nj + 1, levels))
    for i in range(ni + 1):
        for j in range(nj):
            for k in range(levels):
                rise = lap[i + 1, j + 1, k] - lap[i, j + 1, k]
                up = rise * (x[i + 2, j + 2, k] - x[i + 1, j + 2, k]) > 0.0
                flx[i, j, k] = 0.0 if up else rise
    for i in range(ni):
        for j in range(nj + 1):
            for k in range(levels):
                rise = lap[i + 1, j + 1, k] - lap[i + 1, j, k]
                up = rise * (x[i + 2, j + 2, k] - x[i + 2, j + 1, k]) > 0.0
                fly[i, j, k] = 0.0 if up else rise
    value = 0.0
    g, g_coeff = np.zeros_like(x), np.empty_like(coeff)
    lam = np.zeros((ni + 2, nj + 2, levels))  # of the divergence, on a rim of zeros
    for i in range(ni):
        for j in range(nj):
            for k in range(levels):
                div = flx[i + 1, j, k] - flx[i, j, k] + fly[i, j + 1, k] - fly[i, j, k]
                r = x[i + 2, j + 2, k] - coeff[i, j, k] * div - target[i, j, k]
                value += r * r
                g[i + 2, j + 2, k] = r
                g_coeff[i, j, k] = -r * div
                lam[i + 1, j + 1, k] = -r * coeff[i, j, k]
    # A flux is zero where the limiter holds, and so is its sensitivity.
    for i in range(ni + 1):
        for j in range(nj):
            for k in range(levels):
                through = lam[i, j + 1, k] - lam[i + 1, j + 1, k]
                flx[i, j, k] = 0.0 if flx[i, j, k] == 0.0 else through
    for i in range(ni):
        for j in range(nj + 1):
            for k in range(levels):
                through = lam[i + 1, j, k] - lam[i + 1, j + 1, k]
                fly[i, j, k] = 0.0 if fly[i, j, k] == 0.0 else through
    lap[:] = 0.0
    for i in range(ni + 1):
        for j in range(nj):
            for k in range(levels):
                lap[i + 1, j + 1, k] += flx[i, j, k]
                lap[i, j + 1, k] -= flx[i, j, k]
    for i in range(ni):
        for j in range(nj + 1):
            for k in range(levels):
                lap[i + 1, j + 1, k] += fly[i, j, k]
                lap[i + 1, j, k] -= fly[i, j, k]
    for i in range(ni + 2):
        for j in range(nj + 2):
            for k in range(levels):
                s = lap[i, j, k]
                g[i + 1, j + 1, k] += 4.0 * s
                g[i + 2, j + 1, k] -= s
                g[i, j + 1, k] -= s
                g[i + 1, j + 2, k] -= s
                g[i + 1, j, k] -= s
    return 0.5 * value, (g, g_coeff)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    n, levels = dims["n"], dims["levels"]
    inner = (n, n + 1, levels)
    x = rng.normal(size=(n + 4, n + 5, levels))
    return x, rng.uniform(0.05, 0.2, inner), rng.normal(size=inner)
