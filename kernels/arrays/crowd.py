"""Bodies under gravity without softening, by broadcasts over all pairs and a mask for the diagonal.

    r² of all pairs;  where r² > 0: r² becomes |r|^-3;  acceleration = (dx * |r|^-3) @ mass
    f = 1/2 * sum of (positions at the end - target)²

Source: leapfrog steps (kick, drift, kick) as in NPBench's nbody. Arguments: `pos`, `vel`, `target`
(n, 3), `mass` (n) float64; `dt` float; `steps` int. Differentiated in `pos`, `vel` and `mass`.
"""

import math

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1, 2)
SIZES = {
    "small": {"n": 3, "steps": 2},
    "medium": {"n": 32, "steps": 10},
    "large": {"n": 200, "steps": 20},
}


def accelerations(pos: Array, mass: Array) -> Array:
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv = dx**2 + dy**2 + dz**2
    apart = inv > 0.0
    inv[apart] = inv[apart] ** (-1.5)
    return np.stack(((dx * inv) @ mass, (dy * inv) @ mass, (dz * inv) @ mass), axis=1)


def objective(
    pos0: Array, vel0: Array, mass: Array, target: Array, dt: float, steps: int
) -> float:
    pos, vel = pos0.copy(), vel0.copy()
    acc = accelerations(pos, mass)
    for _ in range(steps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = accelerations(pos, mass)
        vel += 0.5 * dt * acc
    return 0.5 * np.sum((pos - target) ** 2)


@by_hand
def _accelerate(pos: Array, mass: Array, acc: Array) -> None:
    n = len(mass)
    for i in range(n):
        x, y, z = pos[0, i], pos[1, i], pos[2, i]
        ax = ay = az = 0.0
        for j in range(n):
            dx, dy, dz = pos[0, j] - x, pos[1, j] - y, pos[2, j] - z
            r2 = dx * dx + dy * dy + dz * dz
            s = mass[j] / (r2 * math.sqrt(r2)) if r2 > 0.0 else 0.0
            ax += dx * s
            ay += dy * s
            az += dz * s
        acc[0, i], acc[1, i], acc[2, i] = ax, ay, az


@by_hand
def _unaccelerate(pos: Array, mass: Array, lam: Array, g: Array, g_mass: Array) -> None:
    """Add what positions and masses are pulled by, from lam of the accelerations."""
    n = len(mass)
    for i in range(n):
        x, y, z = pos[0, i], pos[1, i], pos[2, i]
        lx, ly, lz, m = lam[0, i], lam[1, i], lam[2, i], mass[i]
        gx = gy = gz = gm = 0.0
        for j in range(n):
            dx, dy, dz = pos[0, j] - x, pos[1, j] - y, pos[2, j] - z
            r2 = dx * dx + dy * dy + dz * dz
            inv2 = 1.0 / r2 if r2 > 0.0 else 0.0
            s = inv2 * math.sqrt(inv2)
            # i is pulled by j's mass and j by i's; the two sensitivities act along one distance.
            wx = mass[j] * lx - m * lam[0, j]
            wy = mass[j] * ly - m * lam[1, j]
            wz = mass[j] * lz - m * lam[2, j]
            along = 3.0 * inv2 * (wx * dx + wy * dy + wz * dz)
            gx += s * (along * dx - wx)
            gy += s * (along * dy - wy)
            gz += s * (along * dz - wz)
            gm -= s * (lam[0, j] * dx + lam[1, j] * dy + lam[2, j] * dz)
        g[0, i] += gx
        g[1, i] += gy
        g[2, i] += gz
        g_mass[i] += gm


@by_hand
def gradient(
    pos0: Array, vel0: Array, mass: Array, target: Array, dt: float, steps: int
) -> tuple[float, tuple[Array, Array, Array]]:
    n = len(mass)
    pages, vel, acc = np.empty((steps + 1, 3, n)), np.empty((3, n)), np.empty((3, n))
    for i in range(n):
        for c in range(3):
            pages[0, c, i], vel[c, i] = pos0[i, c], vel0[i, c]
    for t in range(steps):
        # The second kick of a step and the first of the next are by one acceleration.
        _accelerate(pages[t], mass, acc)
        h = 0.5 * dt if t == 0 else dt
        for c in range(3):
            for i in range(n):
                vel[c, i] += h * acc[c, i]
                pages[t + 1, c, i] = pages[t, c, i] + dt * vel[c, i]
    value = 0.0
    lam, g, g_vel, g_mass = acc, np.empty((3, n)), np.zeros((3, n)), np.zeros(n)
    for c in range(3):
        for i in range(n):
            g[c, i] = pages[steps, c, i] - target[i, c]
            value += g[c, i] * g[c, i]
    for t in range(steps - 1, -1, -1):
        h = 0.5 * dt if t == 0 else dt
        for c in range(3):
            for i in range(n):
                g_vel[c, i] += dt * g[c, i]
                lam[c, i] = h * g_vel[c, i]
        _unaccelerate(pages[t], mass, lam, g, g_mass)
    g_pos, g_v = np.empty((n, 3)), np.empty((n, 3))
    for i in range(n):
        for c in range(3):
            g_pos[i, c], g_v[i, c] = g[c, i], g_vel[c, i]
    return 0.5 * value, (g_pos, g_v, g_mass)


def inputs(
    size: str | Dims = "small", seed: int = 0
) -> tuple[Array, Array, Array, Array, float, int]:
    dims = pick(size, SIZES)
    n = dims["n"]
    rng = np.random.default_rng(seed)
    # On a line of unit steps, so that no two come close: what is measured must not be a collision.
    pos = rng.normal(size=(n, 3))
    pos[:, 0] += 6.0 * np.arange(n)
    target = pos + rng.normal(size=(n, 3))
    return pos, rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, n), target, 0.01, dims["steps"]
