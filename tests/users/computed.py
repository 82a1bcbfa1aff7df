"""Which programs do people publish who compute with series, orbits and particles?"""

import math

import numpy as np

from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add

rng = np.random.default_rng(4)


@program(0.2, 12, argnums=(0,), truth="differences")
def euler_append(k, n):
    t = np.array([0.0])
    y = np.array([1.0])
    for _i in range(n):
        y = np.append(y, y[-1] - 0.1 * k * y[-1] ** 2)
        t = np.append(t, t[-1] + 0.1)
    return np.trapezoid(y, t)


@program(np.array([1.0, 0.0]), 0.1, truth="differences")
def vstack_path(s, h):
    path = s[None, :]
    for _i in range(15):
        s = s + h * np.array([s[1], -s[0]])
        path = np.vstack((path, s))
    return np.sum(path[:, 0] ** 2) + np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


@program(rng.normal(size=9), truth="differences")
def shrink_pairwise(x):
    while len(x) > 1:
        if len(x) % 2:
            x = np.append(x, 0.0)
        x = np.logaddexp(x[::2], x[1::2])
    return x[0]


@program(rng.normal(size=9) ** 2, truth="differences")
def sieve_active(x):
    active = x
    total = 0.0
    while active.size > 0:
        total += active.sum()
        active = active[active > 0.5] * 0.7
    return total


@program(rng.normal(size=5), 0.4, truth="differences")
def divided_differences(y, at):
    x = np.linspace(0, 1, len(y))
    coef = []
    d = y
    for k in range(len(y)):
        coef.append(d[0])
        d = np.diff(d) / (x[k + 1 :] - x[: len(x) - k - 1])
    out = 0.0
    for k in reversed(range(len(coef))):
        out = out * (at - x[k]) + coef[k]
    return out


rng = np.random.default_rng(3)


@program(rng.uniform(0, 4, size=(12, 2)), 0.3, truth="differences")
def md_linked_cells(pos, sigma):
    L, nc = (4.0, 3)
    n = len(pos)
    head = -np.ones((nc, nc), dtype=int)
    nxt = -np.ones(n, dtype=int)
    for i in range(n):
        c = (pos[i] / L * nc).astype(int) % nc
        nxt[i] = head[c[0], c[1]]
        head[c[0], c[1]] = i
    e = 0.0
    for cx in range(nc):
        for cy in range(nc):
            for sx in (-1, 0, 1):
                for sy in (-1, 0, 1):
                    i = head[cx, cy]
                    while i != -1:
                        j = head[(cx + sx) % nc, (cy + sy) % nc]
                        while j != -1:
                            if j < i:
                                r = pos[i] - pos[j]
                                r -= L * np.rint(r / L)
                                d2 = np.dot(r, r)
                                if d2 < 1.7:
                                    s6 = (sigma * sigma / d2) ** 3
                                    e += 4.0 * (s6 * s6 - s6)
                            j = nxt[j]
                        i = nxt[i]
    return e


def stumpff(z):
    if z > 1e-06:
        s = math.sqrt(z)
        return ((1 - math.cos(s)) / z, (s - math.sin(s)) / s**3)
    elif z < -1e-06:
        s = math.sqrt(-z)
        return ((1 - math.cosh(s)) / z, (math.sinh(s) - s) / s**3)
    return (0.5 - z / 24, 1 / 6 - z / 120)


def kepler_universal(r0, v0, dt, mu=1.0):
    r, v2 = (np.linalg.norm(r0), v0 @ v0)
    vr = r0 @ v0 / r
    alpha = 2 / r - v2 / mu
    chi = math.sqrt(mu) * abs(alpha) * dt
    ratio, n = (1.0, 0)
    while abs(ratio) > 1e-13 and n < 100:
        n += 1
        z = alpha * chi**2
        C, S = stumpff(z)
        F = (
            r * vr / math.sqrt(mu) * chi**2 * C
            + (1 - alpha * r) * chi**3 * S
            + r * chi
            - math.sqrt(mu) * dt
        )
        dF = r * vr / math.sqrt(mu) * chi * (1 - z * S) + (1 - alpha * r) * chi**2 * C + r
        ratio = F / dF
        chi -= ratio
    z = alpha * chi**2
    C, S = stumpff(z)
    f = 1 - chi**2 / r * C
    g = dt - chi**3 * S / math.sqrt(mu)
    R = f * r0 + g * v0
    Rn = np.linalg.norm(R)
    fd = math.sqrt(mu) / (r * Rn) * (alpha * chi**3 * S - chi)
    gd = 1 - chi**2 / Rn * C
    return (R, fd * r0 + gd * v0)


@program(np.array([1.0, 0.1, 0.0]), np.array([0.0, 1.1, 0.2]), 1.7, truth="differences")
def orbit_miss(r0, v0, dt):
    R, V = kepler_universal(r0, v0, dt)
    h = np.cross(R, V)
    e = np.cross(V, h) - R / np.linalg.norm(R)
    return np.sum((R - [-0.5, 1.0, 0.1]) ** 2) + np.linalg.norm(e) + h[2]
