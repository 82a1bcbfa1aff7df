"""Burgers' equation in one dimension with a double buffer, compared with a target at the end.

    un[i] = u[i] - dt/dx u[i] (u[i] - u[i-1]) + nu dt/dx² (u[i+1] - 2 u[i] + u[i-1]);  u, un = un, u
    f = dx/2 * sum of (u - target)²

Source: explicit Euler, upwind convection (u > 0) and central diffusion, as in L. A. Barba's "12
steps to Navier-Stokes", step 4. Arguments: `u0` and `target` (n) float64; `nu`, `dx`, `dt` float;
`steps` int. Both ends keep their values. Differentiated in `u0` and `nu`.
"""

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, Dims, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 12, "steps": 4},
    "medium": {"n": 200, "steps": 100},
    "large": {"n": 4_000, "steps": 500},
}


def objective(u0: Array, nu: float, target: Array, dx: float, dt: float, steps: int) -> float:
    n = len(u0)
    u = u0.copy()
    un = u0.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            convection = u[i] * (u[i] - u[i - 1]) / dx
            diffusion = nu * (u[i + 1] - 2.0 * u[i] + u[i - 1]) / dx**2
            un[i] = u[i] + dt * (diffusion - convection)
        u, un = un, u
    return 0.5 * dx * np.sum((u - target) ** 2)


# The two loops are functions of their own because the compiler then knows which rows they touch.
# Left inside the loops over time, whose buffers swap, they do not run in lanes: twice the time.
@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _step(u: Array, out: Array, c: float, d: float) -> None:
    for i in range(1, len(u) - 1):
        out[i] = u[i] - c * u[i] * (u[i] - u[i - 1]) + d * (u[i + 1] - 2.0 * u[i] + u[i - 1])


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _unstep(u: Array, lam: Array, out: Array, c: float, d: float) -> float:
    """Pull lam back over a step from u into `out`, and return its part in d's derivative."""
    # Point i is used by the new values i-1, i and i+1. Gathering from the three makes one store an
    # element, and lanes, where scattering to three would chain the iterations.
    g_d = 0.0
    for i in range(1, len(u) - 1):
        g_d += lam[i] * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        out[i] = (
            lam[i] * (1.0 - c * (2.0 * u[i] - u[i - 1]) - 2.0 * d)
            + lam[i + 1] * (c * u[i + 1] + d)
            + lam[i - 1] * d
        )
    return g_d


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    u0: Array, nu: float, target: Array, dx: float, dt: float, steps: int
) -> tuple[float, tuple[Array, float]]:
    n = len(u0)
    c = dt / dx
    scale = dt / (dx * dx)
    d = nu * scale
    # The step is quadratic in u: all that the way back needs is u before every step.
    path = np.empty((steps + 1, n))
    path[0] = u0
    for t in range(steps):
        path[t + 1, 0] = u0[0]
        path[t + 1, n - 1] = u0[n - 1]
        _step(path[t], path[t + 1], c, d)

    g = np.empty(n)
    lam = np.zeros(n)  # the inner part's sensitivity, between two zeros
    new = np.zeros(n)
    value = 0.0
    for i in range(n):
        r = path[steps, i] - target[i]
        value += r * r
        g[i] = dx * r
    lam[1:-1] = g[1:-1]
    g_d = 0.0
    for t in range(steps - 1, -1, -1):
        g[0] += lam[1] * (c * path[t, 1] + d)
        g[n - 1] += lam[n - 2] * d
        g_d += _unstep(path[t], lam, new, c, d)
        lam, new = new, lam
    g[1:-1] = lam[1:-1]
    return 0.5 * dx * value, (g, scale * g_d)


def inputs(
    size: str | Dims = "small", seed: int = 0
) -> tuple[Array, float, Array, float, float, int]:
    dims = pick(size, SIZES)
    n = dims["n"]
    rng = np.random.default_rng(seed)
    x = np.linspace(0.0, 2.0, n)
    dx = x[1] - x[0]
    nu = 0.2 * dx  # the cell Reynolds number stays the same, and so does stability
    u0 = 1.5 + np.sin(np.pi * x) + 0.1 * rng.uniform(-1.0, 1.0, n)
    target = 1.5 + np.sin(np.pi * (x - 0.1))
    return u0, float(nu), target, float(dx), float(0.2 * dx), dims["steps"]
