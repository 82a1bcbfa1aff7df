"""Which programs do people write who simulate?"""

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numba
import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


def rk4_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@program(scalar(0.5, 1.5), scalar(0.1, 0.4), tags="closure list-of-arrays")
def van_der_pol_path(mu, y0):
    def rhs(t, y):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    ys = [np.array([y0, 0.0])]
    for n in range(20):
        ys.append(rk4_step(rhs, 0.1 * n, ys[-1], 0.1))
    path = np.array(ys)
    return np.sum(path[:, 0] ** 2) * 0.1 + path[-1, 1]


@program(scalar(0.5, 1.5), scalar(1.0, 2.0), tags="while list growth")
def falling_until_the_ground(v0, h0):
    """Heights are kept until the ball lands; the loop's length depends on the data."""
    t, h, v = 0.0, h0, v0
    heights = [h0]
    while h > 0.0:
        v -= 9.81 * 0.01
        h += v * 0.01
        t += 0.01
        heights.append(h)
    return sum(heights) * 0.01 + t * v0


@program(scalar(0.5, 1.5), scalar(0.5, 1.0), tags="while list growth last")
def relaxation_history(x0, rate):
    xs = [x0]
    while abs(xs[-1]) > 0.05:
        xs.append(xs[-1] - rate * 0.3 * math_sin(xs[-1]))
    return sum(x * x for x in xs) / 10.0


def math_sin(x):
    return np.sin(x)


@program(scalar(1.0, 2.0), scalar(0.2, 0.6), tags="while list growth array")
def adaptive_steps(y0, rate):
    """Heun against Euler, steps of its own choice, the path integrated afterwards."""
    t, h, y = 0.0, 0.1, y0
    ts, ys = [t], [y]
    while t < 2.0:
        k1 = -rate * y * y
        k2 = -rate * (y + h * k1) ** 2
        error = abs(0.5 * h * (k2 - k1))
        if error < 1e-3:
            t += h
            y += 0.5 * h * (k1 + k2)
            ts.append(t)
            ys.append(y)
        h = h * 1.5 if error < 2.5e-4 else h * 0.7 if error > 1e-3 else h
    t, y = np.array(ts), np.array(ys)
    return np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(t))


@dataclass(frozen=True)
class Body:
    mass: float
    position: np.ndarray
    velocity: np.ndarray

    def moved(self, force, dt):
        v = self.velocity + dt * force / self.mass
        return replace(self, position=self.position + dt * v, velocity=v)

    def kinetic(self):
        return 0.5 * self.mass * self.velocity @ self.velocity


def gravity(a, b):
    d = b.position - a.position
    r2 = d @ d + 0.01
    return a.mass * b.mass * d / r2**1.5


@program(array(2, low=0.5, high=1.5), array(2, low=-0.3, high=0.3))
def three_bodies_frozen(m, v):
    bodies = [
        Body(m[0], np.array([0.0, 0.0]), v),
        Body(m[1], np.array([1.0, 0.0]), np.array([0.0, 0.8])),
        Body(0.1, np.array([0.0, 2.0]), -v),
    ]
    for _ in range(5):
        forces = [
            sum((gravity(a, b) for b in bodies if b is not a), np.zeros(2)) for a in bodies
        ]
        bodies = [b.moved(f, 0.05) for b, f in zip(bodies, forces)]
    return sum(b.kinetic() for b in bodies) + bodies[0].position[1]


@numba.njit
def laplacian(u, out):
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
    return out


@program(array(5, 6), scalar(0.05, 0.2), tags="njit out scratch swap")
def heat_with_scratch(u0, k):
    u = u0.copy()
    scratch = np.zeros_like(u)
    for _ in range(4):
        lap = laplacian(u, scratch)
        u += k * lap
        scratch[:] = 0.0
    return np.sum(u**2)


@program(array(8), scalar(0.1, 0.4), tags="copyto swap")
def wave_leapfrog(u0, c):
    previous, current = u0.copy(), u0.copy()
    new = np.empty_like(u0)
    for _ in range(6):
        new[0] = new[-1] = 0.0
        new[1:-1] = (
            2 * current[1:-1] - previous[1:-1]
            + c * c * (current[2:] - 2 * current[1:-1] + current[:-2])
        )
        np.copyto(previous, current)
        current, new = new, current
    return np.sum(current**2) + np.sum(previous * current)


@program(array(6, low=0.5, high=1.5), tags="out=")
def potential_with_out(x):
    r = np.empty_like(x)
    np.subtract(x, x.mean(), out=r)
    np.multiply(r, r, out=r)
    np.exp(-r, out=r)
    r += 0.5 * x
    return r.sum()


class Spring:
    def __init__(self, k, rest=1.0):
        self.k = k
        self.rest = rest

    def force(self, length):
        return -self.k * (length - self.rest)

    def energy(self, length):
        return 0.5 * self.k * (length - self.rest) ** 2


class Damped(Spring):
    def __init__(self, k, c, rest=1.0):
        super().__init__(k, rest)
        self.c = c
        self.lost = 0.0

    def force(self, length, speed=0.0):
        self.lost += self.c * speed**2
        return super().force(length) - self.c * speed


@program(scalar(2.0, 4.0), scalar(0.1, 0.4), scalar(1.2, 1.5))
def damped_spring_class(k, c, x):
    spring = Damped(k, c)
    v = 0.0
    for _ in range(15):
        v += 0.05 * spring.force(x, speed=v)
        x += 0.05 * v
    return spring.energy(x) + 0.05 * spring.lost


@program(scalar(10.0, 20.0), scalar(0.4, 0.9), tags="early return loop")
def range_of_a_projectile(speed, angle):
    def fly(drag):
        x, y = 0.0, 0.0
        vx, vy = speed * np.cos(angle), speed * np.sin(angle)
        for _ in range(1000):
            v = np.sqrt(vx * vx + vy * vy)
            x_new, y_new = x + 0.02 * vx, y + 0.02 * vy
            if y_new < 0.0:
                return x + (x_new - x) * y / (y - y_new)
            vx -= 0.02 * drag * v * vx
            vy -= 0.02 * (9.81 + drag * v * vy)
            x, y = x_new, y_new
        return x

    return fly(0.0) + fly(0.01)


@program(array(4, low=0.2, high=1.0), tags="with contextmanager")
def layers_under_a_context(depth):
    state = {"level": 1.0}

    @contextmanager
    def scaled(by):
        old = state["level"]
        state["level"] = old * by
        try:
            yield state
        finally:
            state["level"] = old

    total = 0.0
    for d in depth:
        with scaled(d) as s:
            total += s["level"] ** 2
            with scaled(0.5):
                total += state["level"]
    return total * state["level"]


@program(array(5, 2), tags="combinations")
def coulomb_by_combinations(points):
    import itertools

    total = 0.0
    for p, q in itertools.combinations(points, 2):
        total += 1.0 / np.sqrt(np.sum((p - q) ** 2) + 0.1)
    return total


@program(scalar(0.1, 0.9), tags="generator")
def energy_from_a_generator(e0):
    def trajectory(x, v, dt, n):
        for _ in range(n):
            v -= dt * np.sin(x)
            x += dt * v
            yield x, v

    return sum(0.5 * v * v - np.cos(x) for x, v in trajectory(e0, 0.0, 0.1, 25)) / 25


@program(array(3), array(3), tags="class operators")
def vectors_with_operators(p, q):
    class Vec:
        __slots__ = ("x", "y", "z")

        def __init__(self, x, y, z):
            self.x, self.y, self.z = x, y, z

        def __add__(self, o):
            return Vec(self.x + o.x, self.y + o.y, self.z + o.z)

        def __rmul__(self, s):
            return Vec(s * self.x, s * self.y, s * self.z)

        def __matmul__(self, o):
            return self.x * o.x + self.y * o.y + self.z * o.z

        def cross(self, o):
            return Vec(
                self.y * o.z - self.z * o.y,
                self.z * o.x - self.x * o.z,
                self.x * o.y - self.y * o.x,
            )

        def __iter__(self):
            yield from (self.x, self.y, self.z)

    a, b = Vec(*p), Vec(*q)
    c = a.cross(b + 0.5 * a)
    return c @ c + sum(v**3 for v in c)


@program(array(7, low=0.1, high=1.0), tags="tridiagonal swap")
def thomas_solver(d):
    n = len(d)
    a, b, c = -np.ones(n), 3.0 * np.ones(n), -np.ones(n)
    cp, dp = np.zeros(n), np.zeros(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x**2)


@program(scalar(0.2, 0.8), scalar(1.0, 2.0), tags="state machine strings")
def thermostat(k, start):
    temperature, mode, switched = start, "off", 0
    heat = 0.0
    for step in range(30):
        if mode == "off" and step % 7 == 3:
            mode, switched = "on", switched + 1
        elif mode == "on" and step % 5 == 4:
            mode = "off"
        power = 0.3 if mode == "on" else 0.0
        heat += power * temperature
        temperature += 0.1 * (power - k * (temperature - 1.0))
    return temperature + 0.01 * heat * switched


@program(array(4, low=0.3, high=0.9), tags="selector array")
def chosen_buffer(x):
    hot, cold = np.zeros(2), np.ones(2)
    for e in x:
        target = hot if e > 0.6 else cold
        target[0] += e
        target[1] *= e
    return hot[0] * cold[1] + np.sum(hot**2) + cold[0]


@program(array(6, low=0.5, high=1.5), tags="views")
def views_of_one_state(s):
    state = s * 1.0
    position, velocity = state[:3], state[3:]
    for _ in range(5):
        velocity -= 0.1 * position
        position += 0.1 * velocity
    return np.sum(state**2) + position[0] * state[3]


@program(array(2), array(2, low=0.5, high=1.0))
def orbit_with_energy_check(q, p):
    q, p = q.copy(), p.copy()
    assert q.shape == p.shape, "positions and momenta differ"
    r = np.hypot(q[0] + 2.0, q[1])
    if r < 1e-6:
        raise ZeroDivisionError("collision")
    for _ in range(10):
        p -= 0.05 * (q + np.array([2.0, 0.0])) / r**3
        q += 0.05 * p
        r = np.hypot(q[0] + 2.0, q[1])
    return p @ p / 2 - 1.0 / r


def lorentz_factor(v, c=1.0):
    try:
        return 1.0 / math.sqrt(1.0 - (v / c) ** 2)
    except ZeroDivisionError as error:
        raise ValueError("faster than light") from error


@program(scalar(0.2, 0.6), truth="differences", tags="try traced")
def relativistic_energy(v):
    return lorentz_factor(v) + 0.5 * lorentz_factor(v, c=2.0)
