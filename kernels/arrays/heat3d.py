"""Heat in a body whose conductivity varies, by explicit steps in place, compared with a target.

    u[inner] += k[inner] * (sum of u's six neighbours - 6 u[inner])   (repeated)
    f = 1/2 * sum of (u - target)²

Source: forward Euler and the seven-point Laplacian, any textbook. Arguments: `u0`, `k`, `target`
(nx, ny, nz) float64; `steps` int. The rim keeps its values. Differentiated in `u0` and `k`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 4, "steps": 2},
    "medium": {"n": 20, "steps": 10},
    "large": {"n": 64, "steps": 20},
}


def objective(u0: Array, k: Array, target: Array, steps: int) -> float:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] += k[1:-1, 1:-1, 1:-1] * (
            u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
            - 6.0 * u[1:-1, 1:-1, 1:-1]
        )  # fmt: skip
    return 0.5 * np.sum((u - target) ** 2)


@by_hand
def _step(u: Array, k: Array, out: Array) -> None:
    nx, ny, nz = u.shape
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            for l in range(1, nz - 1):
                around = (
                    u[i + 1, j, l] + u[i - 1, j, l] + u[i, j + 1, l] + u[i, j - 1, l]
                    + u[i, j, l + 1] + u[i, j, l - 1]
                )  # fmt: skip
                out[i, j, l] = u[i, j, l] + k[i, j, l] * (around - 6.0 * u[i, j, l])


@by_hand
def _unstep(u: Array, k: Array, lam: Array, pull: Array, g_k: Array) -> None:
    """Pull lam back over the step from u, in place; pull is scratch with a rim of zeros."""
    nx, ny, nz = u.shape
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            for l in range(1, nz - 1):
                around = (
                    u[i + 1, j, l] + u[i - 1, j, l] + u[i, j + 1, l] + u[i, j - 1, l]
                    + u[i, j, l + 1] + u[i, j, l - 1]
                )  # fmt: skip
                g_k[i, j, l] += lam[i, j, l] * (around - 6.0 * u[i, j, l])
                pull[i, j, l] = k[i, j, l] * lam[i, j, l]
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            for l in range(1, nz - 1):
                around = (
                    pull[i + 1, j, l] + pull[i - 1, j, l] + pull[i, j + 1, l] + pull[i, j - 1, l]
                    + pull[i, j, l + 1] + pull[i, j, l - 1]
                )  # fmt: skip
                lam[i, j, l] += around - 6.0 * pull[i, j, l]


@by_hand
def _sides(pull: Array, g: Array) -> None:
    """What the six sides of the rim are pulled by."""
    nx, ny, nz = g.shape
    for j in range(1, ny - 1):
        for l in range(1, nz - 1):
            g[0, j, l] += pull[1, j, l]
            g[nx - 1, j, l] += pull[nx - 2, j, l]
    for i in range(1, nx - 1):
        for l in range(1, nz - 1):
            g[i, 0, l] += pull[i, 1, l]
            g[i, ny - 1, l] += pull[i, ny - 2, l]
        for j in range(1, ny - 1):
            g[i, j, 0] += pull[i, j, 1]
            g[i, j, nz - 1] += pull[i, j, nz - 2]


@by_hand
def gradient(
    u0: Array, k: Array, target: Array, steps: int
) -> tuple[float, tuple[Array, Array]]:
    nx, ny, nz = u0.shape
    pages = np.empty((steps + 1, nx, ny, nz))
    pages[0] = u0
    for t in range(steps):
        following = pages[t + 1]
        following[0], following[nx - 1] = u0[0], u0[nx - 1]
        for i in range(1, nx - 1):
            for l in range(nz):
                following[i, 0, l], following[i, ny - 1, l] = u0[i, 0, l], u0[i, ny - 1, l]
            for j in range(ny):
                following[i, j, 0], following[i, j, nz - 1] = u0[i, j, 0], u0[i, j, nz - 1]
        _step(pages[t], k, following)
    value = 0.0
    g, pull = np.empty((nx, ny, nz)), np.zeros((nx, ny, nz))
    for i in range(nx):
        for j in range(ny):
            for l in range(nz):
                r = pages[steps, i, j, l] - target[i, j, l]
                value += r * r
                g[i, j, l] = r
    g_k = np.zeros((nx, ny, nz))
    for t in range(steps - 1, -1, -1):
        _unstep(pages[t], k, g, pull, g_k)
        _sides(pull, g)
    return 0.5 * value, (g, g_k)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, int]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (dims["n"], dims["n"] + 1, dims["n"] + 2)
    k = rng.uniform(0.05, 0.15, shape)
    return rng.normal(size=shape), k, rng.normal(size=shape), dims["steps"]
