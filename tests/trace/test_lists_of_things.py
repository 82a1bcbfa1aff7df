"""Do long loops over lists of objects and dicts stay loops, whatever other names these have?

Such a list becomes one of rows, of which elements are copies: each write must reach what other
names hold, or be refused, and then the loop is written out.
"""

import copy
import math
from dataclasses import dataclass

import numpy as np
import pytest

from jitad import jit, jit_grad

N = 24
X = np.array([0.3137, 0.7291, -0.2173])


class P:
    def __init__(self, x, v=0.0, m=1.0):
        self.x, self.v, self.m, self.n = x, v, m, 0

    def kick(self, a):
        self.v += a
        self.n += 1

    def move(self, dt):
        self.x += dt * self.v


@dataclass
class Cell:
    x: float
    w: float = 1.0
    tag: str = "a"


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Vec:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def squared(self):
        return self.x**2 + self.y**2


class Body:
    def __init__(self, p, v):
        self.p, self.v = p, v


def made(x, n=N):
    return [P(x[i % len(x)] + 0.1 * i) for i in range(n)]


def pull(p, q):
    return 0.01 * math.sin(q.x - p.x)


def each_pulls_each(x, n=N):
    ps = made(x, n)
    for _ in range(5):
        for p in ps:
            for q in ps:
                if q is not p:
                    p.kick(pull(p, q))
        for p in ps:
            p.move(0.1)
    return sum(p.x * p.v for p in ps)


def by_numbers(x, n=N):
    ps = [Slotted(x[i % 3] * i, 0.0) for i in range(n)]
    for i in range(n):
        for j in range(i):
            a, b = ps[i], ps[j]
            d = math.tanh(a.x - b.x)
            a.y += d
            b.y -= d * 0.5
            a.x, b.x = a.x + 0.01 * b.y, b.x - 0.01 * a.y
    return sum(p.x * p.y for p in ps)


def perhaps_one(x, n=N):
    ps = [Slotted(x[i % 3] * i, 0.0) for i in range(n)]
    for i in range(n):
        for j in range(n):
            a, b = ps[i], ps[j]
            a.y = 0.9 * a.y + 0.1 * b.x
            b.x = 0.5 * b.x + 0.2 * a.y
            a.y += 0.1 * b.x * b.y
    return sum(p.x * p.y for p in ps)


def three_neighbours(x, n=N):
    ps = [Slotted(x[i % 3] * i, 0.0) for i in range(n)]
    for _ in range(20):
        for i in range(1, n - 1):
            left, c, right = ps[i - 1], ps[i], ps[i + 1]
            c.y += 0.1 * (left.x - 2.0 * c.x + right.x)
            left.y -= 0.01 * c.y
            right.y -= 0.01 * c.y
            c.x += 0.1 * c.y + 0.01 * left.y * right.y
    return sum(p.x * p.y for p in ps)


def of_lists_in_dicts(x, n=N):
    ps = [{"pos": [x[0] * i, x[1]], "vel": [0.0, 0.1]} for i in range(n)]
    for _ in range(5):
        for p in ps:
            for q in ps:
                if q is not p:
                    for k in range(2):
                        p["vel"][k] += 0.01 * math.sin(q["pos"][k] - p["pos"][k])
        for p in ps:
            for k in range(2):
                p["pos"][k] += 0.1 * p["vel"][k]
    return sum(p["pos"][0] * p["vel"][1] for p in ps)


def of_objects_in_objects(x, n=N):
    ps = [Body(Vec(x[0] * i, x[1]), Vec(0.0, 0.1)) for i in range(n)]
    for _ in range(5):
        for p in ps:
            f = Vec(0.0, 0.0)
            for q in ps:
                if q is p:
                    continue
                d = q.p - p.p
                f = f + d * (1.0 / (d.squared() + 0.1))
            p.v = p.v + f * 0.01
        for p in ps:
            p.p = p.p + p.v * 0.1
    return sum(p.p.squared() * p.v.x for p in ps)


def of_arrays_in_objects(x, n=N):
    ps = [Body(np.array([x[0] * i, x[1]]), np.zeros(2)) for i in range(n)]
    for _ in range(5):
        for p in ps:
            p.v = np.zeros(2)
            for q in ps:
                if q is p:
                    continue
                d = q.p - p.p
                p.v = p.v + d / (d @ d + 0.1)
        for p in ps:
            p.p = p.p + p.v * 0.01
    return sum(np.sum(p.p * p.v) for p in ps)


def by_enumerate_and_zip(x, n=N):
    ps = made(x, n)
    for _ in range(5):
        pulls = []
        for i, p in enumerate(ps):
            a = 0.0
            for j, q in enumerate(ps):
                if i != j:
                    a += pull(p, q)
            pulls.append(a)
        for p, a in zip(ps, pulls):
            p.kick(a)
            p.move(0.1)
    return sum(p.x * p.v for p in ps)


def under_conditions(x, n=N):
    ps = made(x, n)
    for _ in range(5):
        for p in ps:
            for q in ps:
                if q.x > p.x:
                    p.v += 0.01
                elif q is not p:
                    q.v -= 0.02 * p.x
                else:
                    p.x *= 1.01
    return sum(p.x * p.v for p in ps)


def both_by_numbers_in_place(x, n=N):
    ps = made(x, n)
    for _ in range(5):
        for i in range(n):
            for j in range(n):
                ps[i].v += pull(ps[i], ps[j])
                ps[j].x += 0.001 * ps[i].v
    return sum(p.x * p.v for p in ps)


def beside_copies(x, n=N):
    ps = made(x, n)
    for _ in range(5):
        old = [copy.copy(p) for p in ps]
        for p, o in zip(ps, old):
            for q in old:
                p.kick(pull(o, q))
            p.move(0.1)
    return sum(p.x * p.v for p in ps)


def which_count(x, n=N):
    ps = made(x, n)
    for _ in range(5):
        for p in ps:
            for q in ps:
                if q.x > p.x:
                    p.kick(0.01)
    return sum(p.x * p.v * p.n for p in ps) + ps[3].n


def with_those_behind(x, n=N):
    ps = made(x, n)
    for _ in range(5):
        for i, p in enumerate(ps):
            for q in ps[i + 1 :]:
                a = pull(p, q)
                p.v += a
                q.v -= a
        for p in ps:
            p.move(0.1)
    return sum(p.x * p.v for p in ps)


def beside_the_next(x, n=N):
    ps = made(x, n)
    for _ in range(9):
        for left, c, right in zip(ps[:-2], ps[1:-1], ps[2:]):
            c.v += 0.1 * (left.x - 2.0 * c.x + right.x)
            left.v -= 0.01 * c.v
        for p in ps[1:-1]:
            p.move(0.1)
        for k, p in enumerate(ps[::-1]):
            p.x *= 1.0 - 0.001 * k
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def sums_over_slices(x, n=N):
    ps = made(x, n)
    for _ in range(6):
        for i, p in enumerate(ps):
            p.v += sum(pull(p, q) for q in ps[i + 1 :]) - sum([pull(p, q) for q in ps[:i]])
        for p in ps:
            p.move(0.01)
    return sum(k * p.x * p.v for k, p in enumerate(ps))


def until_one_is_behind(x, n=N):
    ps = made(x, n)
    for _ in range(6):
        for i, p in enumerate(ps):
            for q in ps[i + 1 :]:
                if q.x < p.x:
                    break
                q.v += 0.01
                p.v -= 0.01 * q.x
        for p in ps:
            p.move(0.1)
    return sum(k * p.x * p.v for k, p in enumerate(ps))


LOOPS = [
    with_those_behind,
    beside_the_next,
    sums_over_slices,
    until_one_is_behind,
    each_pulls_each,
    by_numbers,
    perhaps_one,
    three_neighbours,
    of_lists_in_dicts,
    of_objects_in_objects,
    of_arrays_in_objects,
    by_enumerate_and_zip,
    under_conditions,
    both_by_numbers_in_place,
    beside_copies,
    which_count,
]


def check(f, *sizes):
    value, gradient = jit(f, fallback=False)(X, *sizes), jit_grad(f, fallback=False)(X, *sizes)
    assert value == pytest.approx(f(X.copy(), *sizes), rel=1e-9)
    steps = 1e-6 * np.eye(len(X))
    differences = [(f(X + h, *sizes) - f(X - h, *sizes)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, differences, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("f", LOOPS)
def test_loops(f):
    check(f)


@pytest.mark.parametrize("f", LOOPS)
def test_how_long_they_are_does_not_count(f):
    def size(n):
        g = jit_grad(lambda x: f(x, n), fallback=False)
        g(X)
        return g.tape("traced").count("\n")

    assert size(2 * N) == size(N)
