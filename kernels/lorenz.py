"""The misfit of a Lorenz system, integrated by Runge-Kutta steps, to a path observed at each step.

    x' = sigma (y - x),   y' = x (rho - z) - y,   z' = x y - beta z
    f  = dt/2 * sum over steps of |u[step] - observed[step]|²

Source: E. N. Lorenz, Journal of the Atmospheric Sciences 20 (1963); the classical fourth-order
Runge-Kutta method. Arguments: `params` (3) of sigma, rho, beta; `start` (3); `observed` (steps, 3),
all float64; `dt` float. Differentiated in `params` and `start`. The time covered stays the same at
every size, as chaos makes derivatives grow exponentially in it.
"""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from kernels.common import SUMS, Array, pick

ARGNUMS = (0, 1)
SIZES = {"small": 10, "medium": 1_000, "large": 40_000}
DURATION = 2.0


@register_jitable
def velocity(u: Array, params: Array) -> Array:
    return np.array(
        [
            params[0] * (u[1] - u[0]),
            u[0] * (params[1] - u[2]) - u[1],
            u[0] * u[1] - params[2] * u[2],
        ]
    )


def objective(params: Array, start: Array, observed: Array, dt: float) -> float:
    u = start
    total = 0.0
    for i in range(len(observed)):
        k1 = velocity(u, params)
        k2 = velocity(u + 0.5 * dt * k1, params)
        k3 = velocity(u + 0.5 * dt * k2, params)
        k4 = velocity(u + dt * k3, params)
        u = u + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        total += np.sum((u - observed[i]) ** 2)
    return 0.5 * dt * total


Triple = tuple[float, float, float]


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _velocity(x: float, y: float, z: float, s: float, r: float, b: float) -> Triple:
    return s * (y - x), x * (r - z) - y, x * y - b * z


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _step(
    x: float, y: float, z: float, s: float, r: float, b: float, dt: float
) -> tuple[Triple, Triple, Triple, Triple]:
    """The points at which stages two to four take the velocity, and the next state."""
    h = 0.5 * dt
    kx, ky, kz = _velocity(x, y, z, s, r, b)
    sx, sy, sz = kx, ky, kz
    x2, y2, z2 = x + h * kx, y + h * ky, z + h * kz
    kx, ky, kz = _velocity(x2, y2, z2, s, r, b)
    sx, sy, sz = sx + 2.0 * kx, sy + 2.0 * ky, sz + 2.0 * kz
    x3, y3, z3 = x + h * kx, y + h * ky, z + h * kz
    kx, ky, kz = _velocity(x3, y3, z3, s, r, b)
    sx, sy, sz = sx + 2.0 * kx, sy + 2.0 * ky, sz + 2.0 * kz
    x4, y4, z4 = x + dt * kx, y + dt * ky, z + dt * kz
    kx, ky, kz = _velocity(x4, y4, z4, s, r, b)
    w = dt / 6.0
    end = (x + w * (sx + kx), y + w * (sy + ky), z + w * (sz + kz))
    return (x2, y2, z2), (x3, y3, z3), (x4, y4, z4), end


def primal(params: Array, start: Array, observed: Array, dt: float) -> float:
    """The objective without its small arrays, which Numba would allocate in every step."""
    s, r, b = params[0], params[1], params[2]
    u = (start[0], start[1], start[2])
    total = 0.0
    for i in range(len(observed)):
        u = _step(u[0], u[1], u[2], s, r, b, dt)[3]
        dx, dy, dz = u[0] - observed[i, 0], u[1] - observed[i, 1], u[2] - observed[i, 2]
        total += dx * dx + dy * dy + dz * dz
    return 0.5 * dt * total


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _pull(u: Triple, s: float, r: float, b: float, kx: float, ky: float, kz: float) -> Triple:
    """What the sensitivity (kx, ky, kz) of the velocity means for the point it is taken at."""
    return ky * (r - u[2]) - s * kx + kz * u[1], s * kx - ky + kz * u[0], -b * kz - ky * u[0]


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    params: Array, start: Array, observed: Array, dt: float
) -> tuple[float, tuple[Array, Array]]:
    steps = len(observed)
    s, r, b = params[0], params[1], params[2]
    # The state before each step is kept; the stages within a step are run again on the way back.
    path = np.empty((steps + 1, 3))
    x, y, z = start[0], start[1], start[2]
    path[0, 0], path[0, 1], path[0, 2] = x, y, z
    total = 0.0
    for i in range(steps):
        x, y, z = _step(x, y, z, s, r, b, dt)[3]
        path[i + 1, 0], path[i + 1, 1], path[i + 1, 2] = x, y, z
        dx, dy, dz = x - observed[i, 0], y - observed[i, 1], z - observed[i, 2]
        total += dx * dx + dy * dy + dz * dz

    gs = gr = gb = 0.0
    ax = ay = az = 0.0
    h, w1, w2 = 0.5 * dt, dt / 6.0, dt / 3.0
    for i in range(steps - 1, -1, -1):
        ax += dt * (path[i + 1, 0] - observed[i, 0])
        ay += dt * (path[i + 1, 1] - observed[i, 1])
        az += dt * (path[i + 1, 2] - observed[i, 2])
        u1 = (path[i, 0], path[i, 1], path[i, 2])
        u2, u3, u4, _ = _step(u1[0], u1[1], u1[2], s, r, b, dt)

        kx, ky, kz = w1 * ax, w1 * ay, w1 * az
        gs, gr, gb = gs + kx * (u4[1] - u4[0]), gr + ky * u4[0], gb - kz * u4[2]
        vx, vy, vz = _pull(u4, s, r, b, kx, ky, kz)
        sx, sy, sz = vx, vy, vz

        kx, ky, kz = w2 * ax + dt * vx, w2 * ay + dt * vy, w2 * az + dt * vz
        gs, gr, gb = gs + kx * (u3[1] - u3[0]), gr + ky * u3[0], gb - kz * u3[2]
        vx, vy, vz = _pull(u3, s, r, b, kx, ky, kz)
        sx, sy, sz = sx + vx, sy + vy, sz + vz

        kx, ky, kz = w2 * ax + h * vx, w2 * ay + h * vy, w2 * az + h * vz
        gs, gr, gb = gs + kx * (u2[1] - u2[0]), gr + ky * u2[0], gb - kz * u2[2]
        vx, vy, vz = _pull(u2, s, r, b, kx, ky, kz)
        sx, sy, sz = sx + vx, sy + vy, sz + vz

        kx, ky, kz = w1 * ax + h * vx, w1 * ay + h * vy, w1 * az + h * vz
        gs, gr, gb = gs + kx * (u1[1] - u1[0]), gr + ky * u1[0], gb - kz * u1[2]
        vx, vy, vz = _pull(u1, s, r, b, kx, ky, kz)
        ax, ay, az = ax + (sx + vx), ay + (sy + vy), az + (sz + vz)
    return 0.5 * dt * total, (np.array([gs, gr, gb]), np.array([ax, ay, az]))


def inputs(size: str | int = "small", seed: int = 0) -> tuple[Array, Array, Array, float]:
    steps = pick(size, SIZES)
    dt = DURATION / max(steps, 40)  # a step beyond 0.05 is far from the system's time scale
    rng = np.random.default_rng(seed)
    u = np.array([1.0, 1.0, 20.0])
    truth = np.array([10.0, 28.0, 8.0 / 3.0])
    observed = np.empty((steps, 3))
    for i in range(steps):  # Euler's method is model error enough, beside the noise
        u = u + dt * velocity(u, truth)
        observed[i] = u + 0.1 * rng.normal(size=3)
    return np.array([9.5, 27.0, 2.5]), np.array([1.1, 0.9, 20.5]), observed, dt
