"""Bodies under mutual gravity, moved in place by leapfrog steps, compared with target positions.

    x += dt/2 v;   v += dt a(x);   x += dt/2 v          (repeated)
    a_i = sum over j of  m_j (x_j - x_i) / (|x_j - x_i|² + eps²)^(3/2)
    f = 1/2 * sum of |x - target|²

Source: the drift-kick-drift leapfrog and Plummer's softening, as in S. J. Aarseth, Gravitational
N-Body Simulations. Arguments: `pos`, `vel`, `target` (n, 3) and `mass` (n), all float64; `dt`
float; `steps` int. Differentiated in `pos` and `vel`, the initial state, which a call leaves as it
was.
"""

import math

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, Dims, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 4, "steps": 3},
    "medium": {"n": 24, "steps": 20},
    "large": {"n": 128, "steps": 40},
}
EPS2 = 0.01


def objective(pos: Array, vel: Array, mass: Array, target: Array, dt: float, steps: int) -> float:
    pos = pos.copy()
    vel = vel.copy()
    n = len(mass)
    for _ in range(steps):
        pos += 0.5 * dt * vel
        for i in range(n):
            for j in range(i + 1, n):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + EPS2
                pull = dt / (r2 * math.sqrt(r2))
                vel[i, 0] += mass[j] * pull * dx
                vel[i, 1] += mass[j] * pull * dy
                vel[i, 2] += mass[j] * pull * dz
                vel[j, 0] -= mass[i] * pull * dx
                vel[j, 1] -= mass[i] * pull * dy
                vel[j, 2] -= mass[i] * pull * dz
        pos += 0.5 * dt * vel
    return 0.5 * np.sum((pos - target) ** 2)


# All pairs twice, a body against a row of bodies: no store in the inner loop, so that it runs in
# lanes. That is several times faster than each pair once. The body itself adds zero.
@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _kick(x: Array, v: Array, mass: Array, dt: float) -> None:
    n = len(mass)
    xs, ys, zs = x[0], x[1], x[2]
    for i in range(n):
        xi, yi, zi = xs[i], ys[i], zs[i]
        ax = ay = az = 0.0
        for j in range(n):
            dx, dy, dz = xs[j] - xi, ys[j] - yi, zs[j] - zi
            r2 = dx * dx + dy * dy + dz * dz + EPS2
            pull = mass[j] / (r2 * math.sqrt(r2))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        v[0, i] += dt * ax
        v[1, i] += dt * ay
        v[2, i] += dt * az


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _unkick(x: Array, gx: Array, gv: Array, mass: Array, dt: float) -> None:
    """Add to gx what the sensitivity gv of the velocities means for the positions x."""
    n = len(mass)
    xs, ys, zs = x[0], x[1], x[2]
    bx, by, bz = gv[0], gv[1], gv[2]
    for i in range(n):
        xi, yi, zi, mi = xs[i], ys[i], zs[i], mass[i]
        bxi, byi, bzi = bx[i], by[i], bz[i]
        sx = sy = sz = 0.0
        for j in range(n):
            dx, dy, dz = xs[j] - xi, ys[j] - yi, zs[j] - zi
            ir2 = 1.0 / (dx * dx + dy * dy + dz * dz + EPS2)
            ir3 = ir2 * math.sqrt(ir2)
            # i is pulled by j's mass and j by i's; the two sensitivities act along one distance.
            wx = mass[j] * bxi - mi * bx[j]
            wy = mass[j] * byi - mi * by[j]
            wz = mass[j] * bzi - mi * bz[j]
            along = 3.0 * ir2 * (wx * dx + wy * dy + wz * dz)
            sx += ir3 * (along * dx - wx)
            sy += ir3 * (along * dy - wy)
            sz += ir3 * (along * dz - wz)
        gx[0, i] += dt * sx
        gx[1, i] += dt * sy
        gx[2, i] += dt * sz


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _drift(x: Array, v: Array, h: float, out: Array) -> None:
    for c in range(3):
        for i in range(x.shape[1]):
            out[c, i] = x[c, i] + h * v[c, i]


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    pos: Array, vel: Array, mass: Array, target: Array, dt: float, steps: int
) -> tuple[float, tuple[Array, Array]]:
    n = len(mass)
    h = 0.5 * dt
    x = np.empty((3, n))
    v = np.empty((3, n))
    for i in range(n):
        for c in range(3):
            x[c, i] = pos[i, c]
            v[c, i] = vel[i, c]
    # Of each step, only the positions in its middle matter to the way back.
    middles = np.empty((steps, 3, n))
    for t in range(steps):
        middle = middles[t]
        _drift(x, v, h, middle)
        _kick(middle, v, mass, dt)
        _drift(middle, v, h, x)

    value = 0.0
    gv = v
    for i in range(n):
        for c in range(3):
            r = x[c, i] - target[i, c]
            value += r * r
            x[c, i] = r
            gv[c, i] = 0.0
    gx = x
    for t in range(steps - 1, -1, -1):
        _drift(gv, gx, h, gv)
        _unkick(middles[t], gx, gv, mass, dt)
        _drift(gv, gx, h, gv)
    g_pos = np.empty((n, 3))
    g_vel = np.empty((n, 3))
    for i in range(n):
        for c in range(3):
            g_pos[i, c] = gx[c, i]
            g_vel[i, c] = gv[c, i]
    return 0.5 * value, (g_pos, g_vel)


def inputs(
    size: str | Dims = "small", seed: int = 0
) -> tuple[Array, Array, Array, Array, float, int]:
    dims = pick(size, SIZES)
    n = dims["n"]
    rng = np.random.default_rng(seed)
    pos = rng.normal(size=(n, 3))
    vel = 0.3 * rng.normal(size=(n, 3))
    mass = rng.uniform(0.5, 1.5, n) / n
    target = pos + dims["steps"] * 0.01 * vel + 0.05 * rng.normal(size=(n, 3))
    return pos, vel, mass, target, 0.01, dims["steps"]
