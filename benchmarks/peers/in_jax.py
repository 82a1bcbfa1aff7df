"""How do users of JAX write the kernels that need loops or assignments?

Loops over time are `lax.scan` or `lax.fori_loop`, assignments `.at[...].set`. All is compiled, in
double precision and on one thread; numbers that are not differentiated are static arguments.
"""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import solve_triangular

from benchmarks.peers import fresh_in_jax
from benchmarks.peers.shared import Peer, programs
from kernels.nbody import EPS2

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_cpu_enable_async_dispatch", False)  # no hand-over between threads

MISSING: dict[str, str] = {}
PEER = Peer(np=jnp, asarray=jnp.asarray, erf=jax.scipy.special.erf, cross=jnp.cross,
            logsumexp=lambda x, axis: jax.scipy.special.logsumexp(x, axis=axis),
            softmax=jax.nn.softmax, amax=jnp.max,
            added_at=lambda x, places, m: jnp.zeros(m).at[places].add(x))  # fmt: skip
INNER = np.s_[1:-1, 1:-1]


def value_and_gradient(
    program: Callable[..., Any], argnums: tuple[int, ...], arguments: tuple[Any, ...]
) -> Callable[[], Any]:
    numbers = (k for k, a in enumerate(arguments) if isinstance(a, (int, float)))
    static = tuple(k for k in numbers if k not in argnums)
    compiled = jax.jit(jax.value_and_grad(program, argnums), static_argnums=static)
    given = [a if k in static else jnp.asarray(a) for k, a in enumerate(arguments)]
    return lambda: jax.block_until_ready(compiled(*given))


def newton_sqrt(x, tol):
    def body(_, y):
        return jnp.where(jnp.abs(y * y - x) > tol * x, 0.5 * (y + x / y), y)

    return jnp.sum(lax.fori_loop(0, 20, body, 0.5 * (1.0 + x)))


def lorenz(params, start, observed, dt):
    def velocity(u):
        return jnp.stack([params[0] * (u[1] - u[0]), u[0] * (params[1] - u[2]) - u[1],
                          u[0] * u[1] - params[2] * u[2]])  # fmt: skip

    def step(u, seen):
        k1 = velocity(u)
        k2 = velocity(u + 0.5 * dt * k1)
        k3 = velocity(u + 0.5 * dt * k2)
        k4 = velocity(u + dt * k3)
        u = u + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return u, jnp.sum((u - seen) ** 2)

    _, errors = lax.scan(step, start, observed)
    return 0.5 * dt * jnp.sum(errors)


def around(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def heat(u0, alpha, target, steps):
    def step(_, u):
        return u.at[INNER].add(alpha * (around(u) - 4.0 * u[INNER]))

    return 0.5 * jnp.sum((lax.fori_loop(0, steps, step, u0) - target) ** 2)


def burgers(u0, nu, target, dx, dt, steps):
    def step(_, u):
        convection = u[1:-1] * (u[1:-1] - u[:-2]) / dx
        diffusion = nu * (u[2:] - 2.0 * u[1:-1] + u[:-2]) / dx**2
        return u.at[1:-1].add(dt * (diffusion - convection))

    return 0.5 * dx * jnp.sum((lax.fori_loop(0, steps, step, u0) - target) ** 2)


def nbody(pos, vel, mass, target, dt, steps):
    def step(_, state):
        pos, vel = state
        pos = pos + 0.5 * dt * vel
        apart = pos[None] - pos[:, None]
        r2 = jnp.sum(apart * apart, 2) + EPS2
        vel = vel + jnp.einsum("ij,ijk->ik", dt * mass / (r2 * jnp.sqrt(r2)), apart)
        return pos + 0.5 * dt * vel, vel

    pos, _ = lax.fori_loop(0, steps, step, (pos, vel))
    return 0.5 * jnp.sum((pos - target) ** 2)


def jacobi2d(a0, target, rounds):
    def average(a, b):
        return b.at[INNER].set(0.2 * (a[INNER] + around(a)))

    def step(_, state):
        a, b = state
        b = average(a, b)
        return average(b, a), b

    a, _ = lax.fori_loop(0, rounds, step, (a0, a0))
    return 0.5 * jnp.sum((a - target) ** 2)


def heat3d(u0, k, target, steps):
    inner = np.s_[1:-1, 1:-1, 1:-1]

    def step(_, u):
        near = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
                + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])  # fmt: skip
        return u.at[inner].add(k[inner] * (near - 6.0 * u[inner]))

    return 0.5 * jnp.sum((lax.fori_loop(0, steps, step, u0) - target) ** 2)


def seidel(a0, target, sweeps):
    def along(left, s):
        new = (left + s) / 9.0
        return new, new

    def row(above, rows):
        here, below = rows
        s = (here[1:-1] + above[:-2] + above[1:-1] + above[2:] + here[2:]
             + below[:-2] + below[1:-1] + below[2:])  # fmt: skip
        _, inner = lax.scan(along, here[0], s)
        new = here.at[1:-1].set(inner)
        return new, new

    def sweep(_, a):
        _, inner = lax.scan(row, a[0], (a[1:-1], a[2:]))
        return a.at[1:-1].set(inner)

    return 0.5 * jnp.sum((lax.fori_loop(0, sweeps, sweep, a0) - target) ** 2)


def fdtd(ex0, ey0, hz0, drive, target):
    def step(state, source):
        ex, ey, hz = state
        ey = ey.at[0, :].set(source)
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        return (ex, ey, hz.at[:-1, :-1].add(-0.7 * curl)), None

    (_, _, hz), _ = lax.scan(step, (ex0, ey0, hz0), drive)
    return 0.5 * jnp.sum((hz - target) ** 2)


def adi(u0, k, target, steps):
    """The second half step is the first one, transposed."""

    def eliminate(k):
        def row(p, kj):
            d = 1.0 + 2.0 * kj - kj * p
            return kj / d, (kj / d, d)

        return lax.scan(row, jnp.zeros(k.shape[1]), k)[1]

    def half(u, inner, k, p, d):
        """Solve along the first axis; the new values, with the rim of the old ones."""
        bend = u[1:-1, :-2] - 2.0 * inner + u[1:-1, 2:]

        def down(q, row):
            u, bend, k, d = row
            q = (u + k * (bend + q)) / d
            return q, q

        def up(v, row):
            p, q = row
            v = p * v + q
            return v, v

        ones = jnp.ones(k.shape[1])
        _, q = lax.scan(down, ones, (inner, bend, k, d))
        _, v = lax.scan(up, ones, (p, q), reverse=True)
        return v

    kin = k[INNER]
    p1, d1 = eliminate(kin)
    p2, d2 = eliminate(kin.T)

    def step(_, state):
        u, v = state
        v = v.at[0, 1:-1].set(1.0).at[-1, 1:-1].set(1.0)
        v = v.at[INNER].set(half(u, u[INNER], kin, p1, d1))
        u = u.at[1:-1, 0].set(1.0).at[1:-1, -1].set(1.0)
        u = u.at[INNER].set(half(v.T, v.T[INNER], kin.T, p2, d2).T)
        return u, v

    u, _ = lax.fori_loop(0, steps, step, (u0, jnp.zeros_like(u0)))
    return 0.5 * jnp.sum((u - target) ** 2)


def cholesky(A, y):
    L = jnp.linalg.cholesky(jnp.tril(A) + jnp.tril(A, -1).T)
    z = solve_triangular(L, y, lower=True)
    return jnp.sum(jnp.log(jnp.diag(L))) + 0.5 * jnp.sum(z * z)


def lu(A, b, target):
    n = len(b)
    rows = jnp.arange(n)

    def column(k, state):
        M, y = state
        factor = jnp.where(rows > k, M[:, k] / M[k, k], 0.0)
        return M - factor[:, None] * M[k], y - factor * y[k]

    def backwards(i, x):
        k = n - 1 - i
        left = jnp.dot(jnp.where(rows > k, U[k], 0.0), x)
        return x.at[k].set((y[k] - left) / U[k, k])

    U, y = lax.fori_loop(0, n - 1, column, (A, b))
    x = lax.fori_loop(0, n, backwards, jnp.zeros(n))
    return 0.5 * jnp.sum((x - target) ** 2)


def trisolve(L, b, target):
    return 0.5 * jnp.sum((solve_triangular(L, b, lower=True) - target) ** 2)


def gramschmidt(A0, V, W):
    Q, R = jnp.linalg.qr(A0)
    signs = jnp.sign(jnp.diag(R))
    return jnp.sum(V * (Q * signs)) + jnp.sum(W * (R * signs[:, None]))


def durbin(r, target):
    n = len(r)
    places = jnp.arange(n)
    backwards = r[::-1]

    def step(k, state):
        y, alpha, beta = state
        below = places < k
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + jnp.sum(jnp.where(below, jnp.roll(backwards, k - n), 0.0) * y)) / beta
        turned = jnp.where(below, jnp.roll(y[::-1], k - n), 0.0)
        return (y + alpha * turned).at[k].set(alpha), alpha, beta

    y = jnp.zeros_like(r).at[0].set(-r[0])
    y, _, _ = lax.fori_loop(1, n, step, (y, -r[0], 1.0))
    return 0.5 * jnp.sum((y - target) ** 2)


def deriche(img, alpha, target):
    e = jnp.exp(-alpha)
    k = (1.0 - e) * (1.0 - e) / (1.0 + alpha * e * 2.0 - e * e)
    a1, a2, a3, a4 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e
    b1, b2 = 2.0 ** (-alpha), -e * e

    def recur(state, u):
        y1, y2 = state
        y = u + b1 * y1 + b2 * y2
        return (y, y1), y

    def down(x):
        """Both directions along the first axis."""
        zero = jnp.zeros(x.shape[1])
        before = jnp.concatenate([zero[None], x[:-1]])
        _, causal = lax.scan(recur, (zero, zero), a1 * x + a2 * before)
        after = jnp.concatenate([x[1:], zero[None]])
        second = jnp.concatenate([x[2:], zero[None], zero[None]])
        _, back = lax.scan(recur, (zero, zero), a3 * after + a4 * second, reverse=True)
        return causal + back

    return 0.5 * jnp.sum((down(down(img.T).T) - target) ** 2)


def vadv(u, wind, u_pos, target, dtr):
    w = jnp.moveaxis(0.125 * (wind[1:] + wind[:-1]), 2, 0)
    u, pos = jnp.moveaxis(u, 2, 0), jnp.moveaxis(u_pos, 2, 0)
    zero = jnp.zeros_like(u[:1])
    a = jnp.concatenate([zero, -w[1:]])
    c = jnp.concatenate([w[1:], zero])
    below = jnp.concatenate([zero, u[:-1] - u[1:]])
    above = jnp.concatenate([u[1:] - u[:-1], zero])
    right = dtr * pos - a * below - c * above

    def down(state, row):
        ccol, dcol = state
        a, c, right = row
        divided = 1.0 / (dtr - a - c - ccol * a)
        new = c * divided, (right - dcol * a) * divided
        return new, new

    def up(x, row):
        ccol, dcol = row
        x = dcol - ccol * x
        return x, x

    _, columns = lax.scan(down, (zero[0], zero[0]), (a, c, right))
    _, x = lax.scan(up, zero[0], columns, reverse=True)
    return 0.5 * jnp.sum((dtr * (x - pos) - jnp.moveaxis(target, 2, 0)) ** 2)


def convolved(x, weights):
    return lax.conv_general_dilated(x, weights, (1, 1), "VALID",
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))  # fmt: skip


def conv2d(x, weights, bias, target):
    return 0.5 * jnp.sum((convolved(x, weights) + bias - target) ** 2)


def lenet(x, w1, b1, w2, b2, w3, b3, w4, b4, target):
    def pooled(z):
        return lax.reduce_window(z, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    h = pooled(jax.nn.relu(convolved(x, w1) + b1))
    h = pooled(jax.nn.relu(convolved(h, w2) + b2))
    h = jax.nn.relu(h.reshape(len(x), -1) @ w3 + b3)
    return 0.5 * jnp.sum((h @ w4 + b4 - target) ** 2) / len(x)


def cavity(u0, v0, nu, target, dt, h, steps, rounds):
    c, d = dt / h, nu * dt / h**2

    def relax(b):
        def one(_, p):
            p = p.at[INNER].set(0.25 * (around(p) - h**2 * b))
            p = p.at[:, -1].set(p[:, -2]).at[0, :].set(p[1, :])
            return p.at[:, 0].set(p[:, 1]).at[-1, :].set(0.0)

        return one

    def step(_, state):
        u, v, p = state
        ux, uy = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * h), (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * h)
        vx, vy = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * h), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * h)
        b = (ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2
        p = lax.fori_loop(0, rounds, relax(b), p)
        ui, vi = u[INNER], v[INNER]

        def moved(w, slope):
            wi = w[INNER]
            return (wi - c * ui * (wi - w[1:-1, :-2]) - c * vi * (wi - w[:-2, 1:-1])
                    - 0.5 * c * slope + d * (around(w) - 4.0 * wi))  # fmt: skip

        u1 = jnp.zeros_like(u).at[INNER].set(moved(u, p[1:-1, 2:] - p[1:-1, :-2]))
        v1 = jnp.zeros_like(v).at[INNER].set(moved(v, p[2:, 1:-1] - p[:-2, 1:-1]))
        return u1.at[-1, :].set(1.0), v1, p

    u, v, _ = lax.fori_loop(0, steps, step, (u0, v0, jnp.zeros_like(u0)))
    return 0.5 * jnp.sum((u - target) ** 2 + v**2)


def crowd(pos, vel, mass, target, dt, steps):
    def accelerations(pos):
        apart = pos[None] - pos[:, None]
        r2 = jnp.sum(apart * apart, 2)
        far = r2 > 0.0
        inv = jnp.where(far, jnp.where(far, r2, 1.0) ** -1.5, 0.0)
        return jnp.einsum("ij,ijk->ik", inv * mass, apart)

    def step(_, state):
        pos, vel, acc = state
        vel = vel + 0.5 * dt * acc
        pos = pos + dt * vel
        acc = accelerations(pos)
        return pos, vel + 0.5 * dt * acc, acc

    pos, _, _ = lax.fori_loop(0, steps, step, (pos, vel, accelerations(pos)))
    return 0.5 * jnp.sum((pos - target) ** 2)


def spmv(values, x, start, columns, target):
    rows = jnp.repeat(jnp.arange(len(target)), jnp.diff(start), total_repeat_length=len(values))
    y = jax.ops.segment_sum(values * x[columns], rows, len(target), indices_are_sorted=True)
    return 0.5 * jnp.sum((y - target) ** 2)


OWN = (newton_sqrt, lorenz, heat, burgers, nbody, jacobi2d, heat3d, seidel, fdtd, adi, cholesky, lu,
       trisolve, gramschmidt, durbin, deriche, vadv, conv2d, lenet, cavity, crowd,
       spmv)  # fmt: skip
PROGRAMS: dict[str, Callable[..., Any]] = {
    **programs(PEER), **fresh_in_jax.PROGRAMS, **{f.__name__: f for f in OWN}
}  # fmt: skip
