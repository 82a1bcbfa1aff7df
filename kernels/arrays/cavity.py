"""Incompressible flow in a cavity with a moving lid: explicit steps and an iterated pressure.

    b from u and v;  Jacobi's iteration for the pressure, its boundary rows and columns set each time
    u, v by upwind advection, pressure gradient and diffusion;  their boundaries set each step
    f = 1/2 * sum of (u - target)² + v²

Source: L. A. Barba, G. F. Forsyth, "12 steps to Navier-Stokes", step 11, as in NPBench. Arguments:
`u0`, `v0`, `target` (rows, columns) float64; `nu`, `dt`, `h` float; `steps`, `rounds` int.
Differentiated in `u0`, `v0` and `nu`.
"""  # noqa: E501

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1, 2)
SIZES = {
    "small": {"n": 5, "steps": 2, "rounds": 2},
    "medium": {"n": 41, "steps": 10, "rounds": 10},
    "large": {"n": 161, "steps": 20, "rounds": 20},
}


def objective(
    u0: Array, v0: Array, nu: float, target: Array, dt: float, h: float, steps: int, rounds: int
) -> float:
    u, v = u0.copy(), v0.copy()
    p, b = np.zeros_like(u), np.zeros_like(u)
    c, d = dt / h, nu * dt / h**2
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        ux = (un[1:-1, 2:] - un[1:-1, :-2]) / (2.0 * h)
        uy = (un[2:, 1:-1] - un[:-2, 1:-1]) / (2.0 * h)
        vx = (vn[1:-1, 2:] - vn[1:-1, :-2]) / (2.0 * h)
        vy = (vn[2:, 1:-1] - vn[:-2, 1:-1]) / (2.0 * h)
        b[1:-1, 1:-1] = (ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2
        for _ in range(rounds):
            pn = p.copy()
            p[1:-1, 1:-1] = 0.25 * (
                pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]
                - h**2 * b[1:-1, 1:-1]
            )  # fmt: skip
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - c * un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - c * vn[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - 0.5 * c * (p[1:-1, 2:] - p[1:-1, :-2])
            + d * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1]
                   - 4.0 * un[1:-1, 1:-1])
        )  # fmt: skip
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - c * un[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - c * vn[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - 0.5 * c * (p[2:, 1:-1] - p[:-2, 1:-1])
            + d * (vn[1:-1, 2:] + vn[1:-1, :-2] + vn[2:, 1:-1] + vn[:-2, 1:-1]
                   - 4.0 * vn[1:-1, 1:-1])
        )  # fmt: skip
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = 1.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0
    return 0.5 * np.sum((u - target) ** 2 + v**2)


@by_hand
def _source(u: Array, v: Array, dt: float, h: float, b: Array) -> None:
    rows, cols = u.shape
    half = 0.5 / h
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            ux, uy = half * (u[i, j + 1] - u[i, j - 1]), half * (u[i + 1, j] - u[i - 1, j])
            vx, vy = half * (v[i, j + 1] - v[i, j - 1]), half * (v[i + 1, j] - v[i - 1, j])
            b[i, j] = h * h * ((ux + vy) / dt - ux * ux - 2.0 * uy * vx - vy * vy)


@by_hand
def _relax(p: Array, b: Array, out: Array) -> None:
    """One round of the pressure's iteration; b has the factor h² already."""
    rows, cols = p.shape
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            around = p[i, j + 1] + p[i, j - 1] + p[i + 1, j] + p[i - 1, j]
            out[i, j] = 0.25 * (around - b[i, j])
        out[i, 0], out[i, cols - 1] = out[i, 1], out[i, cols - 2]
    for j in range(cols):
        out[0, j], out[rows - 1, j] = out[1, j], 0.0


@by_hand
def _unrelax(lam: Array, g_b: Array, out: Array) -> None:
    """The same backwards; lam is used up."""
    rows, cols = lam.shape
    for j in range(cols):
        lam[1, j] += lam[0, j]
        lam[0, j], lam[rows - 1, j] = 0.0, 0.0
    for i in range(1, rows - 1):
        lam[i, 1] += lam[i, 0]
        lam[i, cols - 2] += lam[i, cols - 1]
        lam[i, 0], lam[i, cols - 1] = 0.0, 0.0
    for j in range(1, cols - 1):
        out[0, j], out[rows - 1, j] = 0.25 * lam[1, j], 0.25 * lam[rows - 2, j]
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            g_b[i, j] -= 0.25 * lam[i, j]
            around = lam[i, j + 1] + lam[i, j - 1] + lam[i + 1, j] + lam[i - 1, j]
            out[i, j] = 0.25 * around
        out[i, 0], out[i, cols - 1] = 0.25 * lam[i, 1], 0.25 * lam[i, cols - 2]


@by_hand
def _move(u: Array, v: Array, p: Array, c: float, d: float, u1: Array, v1: Array) -> None:
    rows, cols = u.shape
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            s, t = c * u[i, j], c * v[i, j]
            around = u[i, j + 1] + u[i, j - 1] + u[i + 1, j] + u[i - 1, j] - 4.0 * u[i, j]
            carried = s * (u[i, j] - u[i, j - 1]) + t * (u[i, j] - u[i - 1, j])
            u1[i, j] = u[i, j] - carried - 0.5 * c * (p[i, j + 1] - p[i, j - 1]) + d * around
            around = v[i, j + 1] + v[i, j - 1] + v[i + 1, j] + v[i - 1, j] - 4.0 * v[i, j]
            carried = s * (v[i, j] - v[i, j - 1]) + t * (v[i, j] - v[i - 1, j])
            v1[i, j] = v[i, j] - carried - 0.5 * c * (p[i + 1, j] - p[i - 1, j]) + d * around
        u1[i, 0], u1[i, cols - 1], v1[i, 0], v1[i, cols - 1] = 0.0, 0.0, 0.0, 0.0
    for j in range(cols):
        u1[0, j], u1[rows - 1, j], v1[0, j], v1[rows - 1, j] = 0.0, 1.0, 0.0, 0.0


@by_hand
def _unmove(
    u: Array, v: Array, a: Array, b: Array, c: float, d: float, g_u: Array, g_v: Array, g_p: Array
) -> float:
    """From a, b of the new u, v (inner parts) to g_u, g_v, g_p, to which it adds; and to d's."""
    rows, cols = u.shape
    g_d = 0.0
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            s, t, k = a[i, j], b[i, j], 0.5 * c
            around_u = u[i, j + 1] + u[i, j - 1] + u[i + 1, j] + u[i - 1, j] - 4.0 * u[i, j]
            around_v = v[i, j + 1] + v[i, j - 1] + v[i + 1, j] + v[i - 1, j] - 4.0 * v[i, j]
            g_d += s * around_u + t * around_v
            left = s * (u[i, j] - u[i, j - 1]) + t * (v[i, j] - v[i, j - 1])
            up = s * (u[i, j] - u[i - 1, j]) + t * (v[i, j] - v[i - 1, j])
            stay = 1.0 - c * u[i, j] - c * v[i, j] - 4.0 * d
            from_left, from_up = c * u[i, j] + d, c * v[i, j] + d
            g_u[i, j] += s * stay - c * left
            g_v[i, j] += t * stay - c * up
            g_u[i, j - 1] += s * from_left
            g_v[i, j - 1] += t * from_left
            g_u[i - 1, j] += s * from_up
            g_v[i - 1, j] += t * from_up
            g_u[i, j + 1] += d * s
            g_v[i, j + 1] += d * t
            g_u[i + 1, j] += d * s
            g_v[i + 1, j] += d * t
            g_p[i, j + 1] -= k * s
            g_p[i, j - 1] += k * s
            g_p[i + 1, j] -= k * t
            g_p[i - 1, j] += k * t
    return g_d


@by_hand
def _unsource(
    u: Array, v: Array, g_b: Array, dt: float, h: float, g_u: Array, g_v: Array
) -> None:
    rows, cols = u.shape
    half = 0.5 / h
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            ux, uy = half * (u[i, j + 1] - u[i, j - 1]), half * (u[i + 1, j] - u[i - 1, j])
            vx, vy = half * (v[i, j + 1] - v[i, j - 1]), half * (v[i + 1, j] - v[i - 1, j])
            s = half * h * h * g_b[i, j]
            a, b = s * (1.0 / dt - 2.0 * ux), s * (1.0 / dt - 2.0 * vy)
            g_u[i, j + 1] += a
            g_u[i, j - 1] -= a
            g_v[i + 1, j] += b
            g_v[i - 1, j] -= b
            g_u[i + 1, j] -= 2.0 * s * vx
            g_u[i - 1, j] += 2.0 * s * vx
            g_v[i, j + 1] -= 2.0 * s * uy
            g_v[i, j - 1] += 2.0 * s * uy


@by_hand
def gradient(
    u0: Array, v0: Array, nu: float, target: Array, dt: float, h: float, steps: int, rounds: int
) -> tuple[float, tuple[Array, Array, float]]:
    rows, cols = u0.shape
    c, d = dt / h, nu * dt / (h * h)
    us, vs = np.empty((steps + 1, rows, cols)), np.empty((steps + 1, rows, cols))
    us[0], vs[0] = u0, v0
    # Of the pressure nothing is kept: all that is done to it is linear.
    p, q, b = np.zeros((rows, cols)), np.zeros((rows, cols)), np.zeros((rows, cols))
    for t in range(steps):
        _source(us[t], vs[t], dt, h, b)
        for _ in range(rounds):
            _relax(p, b, q)
            p, q = q, p
        _move(us[t], vs[t], p, c, d, us[t + 1], vs[t + 1])
    value = 0.0
    a, e = np.empty((rows, cols)), np.empty((rows, cols))
    for i in range(rows):
        for j in range(cols):
            a[i, j] = us[steps, i, j] - target[i, j]
            e[i, j] = vs[steps, i, j]
            value += a[i, j] * a[i, j] + e[i, j] * e[i, j]
    g_u, g_v = np.empty((rows, cols)), np.empty((rows, cols))
    g_p, g_q, g_b = p, q, b
    g_p[:] = 0.0
    g_q[:] = 0.0
    g_d = 0.0
    for t in range(steps - 1, -1, -1):
        g_u[:] = 0.0
        g_v[:] = 0.0
        g_b[:] = 0.0
        g_d += _unmove(us[t], vs[t], a, e, c, d, g_u, g_v, g_p)
        for _ in range(rounds):
            _unrelax(g_p, g_b, g_q)
            g_p, g_q = g_q, g_p
        _unsource(us[t], vs[t], g_b, dt, h, g_u, g_v)
        a, g_u = g_u, a
        e, g_v = g_v, e
    return 0.5 * value, (a, e, dt / (h * h) * g_d)


def inputs(
    size: str | Dims = "small", seed: int = 0
) -> tuple[Array, Array, float, Array, float, float, int, int]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    n = dims["n"]
    shape = (n, n + 1)
    h = 2.0 / (n - 1)
    u, v, target = (0.1 * rng.normal(size=shape) for _ in range(3))
    return u, v, 0.1, target, 0.2 * h * h / 0.4, h, dims["steps"], dims["rounds"]
