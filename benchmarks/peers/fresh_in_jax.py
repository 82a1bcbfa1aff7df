"""How do users of JAX write the functions of `kernels.fresh`?

Time is `lax.scan`, what is independent is batched, sums by places are `.at[...].add`.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from kernels.fresh.grayscott import DU, DV
from kernels.fresh.heston import LEAST


def kalman(logs, y):
    variances = jnp.exp(logs)
    F = jnp.array([[1.0, 1.0], [0.0, 1.0]])
    Q = jnp.diag(variances[:2])

    def step(state, seen):
        m, P = state
        m, P = F @ m, F @ P @ F.T + Q
        e, S = seen - m[0], P[0, 0] + variances[2]
        gain = P[:, 0] / S
        return (m + gain * e, P - jnp.outer(gain, P[0])), 0.5 * (jnp.log(S) + e * e / S)

    return jnp.sum(lax.scan(step, (jnp.zeros(2), 10.0 * jnp.eye(2)), y)[1])


def hmm(start, moves, shows, seen):
    A = moves / jnp.sum(moves, axis=1, keepdims=True)
    B = shows / jnp.sum(shows, axis=1, keepdims=True)

    def scaled(state):
        scale = jnp.sum(state)
        return state / scale, -jnp.log(scale)

    def step(state, emitted):
        return scaled((state @ A) * emitted)

    emitted = B.T[seen]
    state, first = scaled(start / jnp.sum(start) * emitted[0])
    return first + jnp.sum(lax.scan(step, state, emitted[1:])[1])


def heston(p, z, strike, rate):
    kappa, theta, xi, rho, v0 = p
    paths, steps = z.shape[:2]
    h = 1.0 / steps

    def step(state, drawn):
        v, s = state
        plus = jnp.maximum(v, LEAST)
        root = jnp.sqrt(plus * h)
        turned = rho * drawn[:, 0] + jnp.sqrt(1.0 - rho * rho) * drawn[:, 1]
        s = s + (rate - 0.5 * plus) * h + root * turned
        return (v + kappa * (theta - plus) * h + xi * root * drawn[:, 0], s), None

    begin = jnp.full(paths, v0), jnp.zeros(paths)
    (_, s), _ = lax.scan(step, begin, jnp.swapaxes(z, 0, 1))
    return jnp.exp(-rate) * jnp.mean(jnp.maximum(jnp.exp(s) - strike, 0.0))


def springs(x, k, rest, ends, weight):
    d = x[ends[:, 0]] - x[ends[:, 1]]
    stretch = jnp.sqrt(jnp.sum(d * d, 1)) - rest
    return weight * jnp.sum(x[:, 1]) + 0.5 * jnp.sum(k * stretch**2)


def meanfield(J, h, target, damping, rounds):
    def step(_, m):
        return (1.0 - damping) * m + damping * jnp.tanh(J @ m + h)

    return 0.5 * jnp.sum((lax.fori_loop(0, rounds, step, jnp.zeros_like(h)) - target) ** 2)


def grayscott(u, v, target, rates, steps):
    feed, kill = rates

    def laplacian(a):
        across = jnp.roll(a, 1, axis=0) + jnp.roll(a, -1, axis=0)
        return across + jnp.roll(a, 1, axis=1) + jnp.roll(a, -1, axis=1) - 4.0 * a

    def step(_, state):
        u, v = state
        reaction = u * v * v
        return (u + DU * laplacian(u) - reaction + feed * (1.0 - u),
                v + DV * laplacian(v) + reaction - (feed + kill) * v)  # fmt: skip

    _, v = lax.fori_loop(0, steps, step, (u, v))
    return 0.5 * jnp.sum((v - target) ** 2)


def iir(b, a, x, target):
    before = jnp.concatenate([jnp.zeros(len(b) - 1), x])
    forced = jnp.convolve(before, b, mode="valid")

    def step(past, here):
        y = here - a @ past
        return jnp.concatenate([y[None], past[:-1]]), y

    _, y = lax.scan(step, jnp.zeros(len(a)), forced)
    return 0.5 * jnp.sum((y - target) ** 2)


def thomas(logs, heat, seen):
    k = jnp.exp(logs)

    def down(state, row):
        c, d = state
        below, middle, above, right = row
        w = middle - below * c
        new = above / w, (right - below * d) / w
        return new, new

    def up(x, row):
        c, d = row
        x = d - c * x
        return x, x

    rows = -k[:-1], 1.0 + k[:-1] + k[1:], -k[1:], heat
    _, columns = lax.scan(down, (0.0, 0.0), rows)
    _, u = lax.scan(up, 0.0, columns, reverse=True)
    return 0.5 * jnp.sum((u - seen) ** 2)


def bilinear(table, motion, points, seen):
    n = len(table)
    cos, sin = motion[1] * jnp.cos(motion[0]), motion[1] * jnp.sin(motion[0])
    x = cos * points[:, 0] - sin * points[:, 1] + motion[2]
    y = sin * points[:, 0] + cos * points[:, 1] + motion[3]
    i = jnp.clip(jnp.floor(x).astype(int), 0, n - 2)
    j = jnp.clip(jnp.floor(y).astype(int), 0, n - 2)
    s, t = x - i, y - j
    upper = (1.0 - t) * table[i, j] + t * table[i, j + 1]
    lower = (1.0 - t) * table[i + 1, j] + t * table[i + 1, j + 1]
    return 0.5 * jnp.sum(((1.0 - s) * upper + s * lower - seen) ** 2)


def arm(angles, lengths, goals, tilts, effort):
    d, e = jnp.cos(tilts), jnp.sin(tilts)

    def turn(angle, d, e):
        c, s = jnp.cos(angle), jnp.sin(angle)
        about_z = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        about_x = jnp.array([[1.0, 0.0, 0.0], [0.0, d, -e], [0.0, e, d]])
        return about_z @ about_x

    @jax.vmap
    def hand(angles):
        def link(state, joint):
            R, hand = state
            angle, length, d, e = joint
            R = R @ turn(angle, d, e)
            return (R, hand + length * R[:, 2]), None

        (_, at), _ = lax.scan(link, (jnp.eye(3), jnp.zeros(3)), (angles, lengths, d, e))
        return at

    moved = jnp.sum((angles[1:] - angles[:-1]) ** 2)
    return 0.5 * effort * moved + 0.5 * jnp.sum((hand(angles) - goals) ** 2)


FRESH = kalman, hmm, heston, springs, meanfield, grayscott, iir, thomas, bilinear, arm
PROGRAMS: dict[str, Callable[..., Any]] = {f.__name__: f for f in FRESH}
