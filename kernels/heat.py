"""Heat spreading over a plate by explicit steps in place, compared with a target at the end.

    u[inner] += alpha * (u[up] + u[down] + u[left] + u[right] - 4 u[inner])   (repeated)
    f = 1/2 * sum of (u - target)²

Source: forward Euler in time and the five-point Laplacian in space (FTCS), any textbook; `alpha`
is diffusivity * dt / dx², at most 1/4 for stability. Arguments: `u0` and `target` (rows, columns)
float64; `alpha` float; `steps` int. The rim keeps its values. Differentiated in `u0` and `alpha`.
"""

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, Dims, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 5, "steps": 3},
    "medium": {"n": 64, "steps": 20},
    "large": {"n": 200, "steps": 50},
}


def objective(u0: Array, alpha: float, target: Array, steps: int) -> float:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += alpha * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
    return 0.5 * np.sum((u - target) ** 2)


# The two loop nests are functions of their own because the compiler then knows which plates they
# touch. Left inside the loops over time, whose buffers swap, they do not run in lanes.
@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _step(u: Array, alpha: float, out: Array) -> None:
    rows, cols = u.shape
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            spread = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
            out[i, j] = u[i, j] + alpha * spread


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _unstep(u: Array, lam: Array, alpha: float, out: Array) -> float:
    """Pull lam back over a step from u into `out`, and return its part in alpha's derivative."""
    # The stencil is its own transpose: the adjoint gathers as the step does.
    rows, cols = u.shape
    g_alpha = 0.0
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            spread = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
            g_alpha += lam[i, j] * spread
            back = lam[i - 1, j] + lam[i + 1, j] + lam[i, j - 1] + lam[i, j + 1] - 4.0 * lam[i, j]
            out[i, j] = lam[i, j] + alpha * back
    return g_alpha


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    u0: Array, alpha: float, target: Array, steps: int
) -> tuple[float, tuple[Array, float]]:
    rows, cols = u0.shape
    # The step is linear in u, but alpha's derivative needs every u. Writing each step to its own
    # page keeps them all without a copy. The rim never changes.
    pages = np.empty((steps + 1, rows, cols))
    pages[0] = u0
    for t in range(steps):
        page, following = pages[t], pages[t + 1]
        for j in range(cols):
            following[0, j] = u0[0, j]
            following[rows - 1, j] = u0[rows - 1, j]
        for i in range(1, rows - 1):
            following[i, 0] = u0[i, 0]
            following[i, cols - 1] = u0[i, cols - 1]
        _step(page, alpha, following)

    g = np.empty((rows, cols))  # gathers the rim's sensitivity; the inner part is filled in last
    lam = np.zeros((rows, cols))  # the inner part's, on a rim of zeros that no loop need test for
    new = np.zeros((rows, cols))
    value = 0.0
    for i in range(rows):
        for j in range(cols):
            r = pages[steps, i, j] - target[i, j]
            value += r * r
            g[i, j] = r
    lam[1:-1, 1:-1] = g[1:-1, 1:-1]
    g_alpha = 0.0
    for t in range(steps - 1, -1, -1):
        for j in range(1, cols - 1):
            g[0, j] += alpha * lam[1, j]
            g[rows - 1, j] += alpha * lam[rows - 2, j]
        for i in range(1, rows - 1):
            g[i, 0] += alpha * lam[i, 1]
            g[i, cols - 1] += alpha * lam[i, cols - 2]
        g_alpha += _unstep(pages[t], lam, alpha, new)
        lam, new = new, lam
    g[1:-1, 1:-1] = lam[1:-1, 1:-1]
    return 0.5 * value, (g, g_alpha)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, float, Array, int]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (dims["n"], dims["n"] + 1)
    x, y = np.meshgrid(np.linspace(0, 1, shape[1]), np.linspace(0, 1, shape[0]))
    u0 = np.exp(-20.0 * ((x - 0.4) ** 2 + (y - 0.6) ** 2)) + 0.05 * rng.normal(size=shape)
    target = np.exp(-12.0 * ((x - 0.45) ** 2 + (y - 0.55) ** 2))
    return u0, 0.2, target, dims["steps"]
