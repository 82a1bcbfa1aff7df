"""Are elements of lists of unknown length what a derivative that was taken meanwhile wrote to them?

Such a list holds its elements in arrays, which belong to it: a derivative hands them on, where it
changes no array of the caller's.
"""

import math

import numpy as np
import pytest

from jitad import grad, jit, jit_grad, jvp, value_and_grad

X = np.array([0.31, -0.7, 0.52])


class P:
    def __init__(self, x, v):
        self.x, self.v = x, v


class Held:
    def __init__(self, v):
        self.a, self.values = np.array([v, 2.0 * v]), [v]


def grown(x):
    return [P(v, 1.0) for v in x if v > 0.0]


def read_inside(x):
    ps = grown(x)

    def inner(y):
        ps[0].x = y * 2.0
        return y * ps[0].x

    return grad(inner)(x[0]) + ps[0].x


def read_before(x):
    ps = grown(x)
    p = ps[0]

    def inner(y):
        p.x = y * 2.0
        return y * ps[0].x

    return grad(inner)(x[0]) + ps[0].x + p.x


def another_one(x):
    ps = grown(x)
    p = ps[-1]

    def inner(y):
        ps[0].x = y * 2.0
        return y * p.x

    return grad(inner)(x[0]) + ps[0].x + p.x


def in_a_long_loop(x):
    ps = [P(x[i % 3], 1.0) for i in range(20)]

    def inner(y):
        for p in ps:
            for q in ps:
                p.v += 0.01 * math.sin(q.x - p.x) * y
        return sum(p.v for p in ps)

    return grad(inner)(x[0]) + ps[0].v + ps[3].v * ps[2].x


def forces(x):
    ps = [P(x[i % 3], 1.0) for i in range(20)]
    for p in ps:

        def energy(z, p=p):
            return sum(math.cos(q.x - z) for q in ps if q is not p)

        p.v += grad(energy)(p.x)
    for p in ps:
        p.x += 0.1 * p.v
    return sum(k * p.v * p.x for k, p in enumerate(ps))


def again_and_again(x):
    ps, t = grown(x), 0.0
    for k in range(3):

        def inner(y):
            ps[-1].x += y
            ps[0].v = ps[-1].x * y
            return y * ps[-1].x + ps[0].v

        t += grad(inner)(x[0] * k)
    return t + ps[-1].x * ps[0].v


def all_of_them(x):
    ps = grown(x)
    q = ps[0]

    def inner(y):
        for p in ps:
            p.x += y * p.v
        return sum(p.x for p in ps)

    value, slope = value_and_grad(inner)(x[0])
    return value + slope * x[2] + q.x + ps[-1].x


def forward(x):
    ps = grown(x)
    q = ps[0]

    def inner(y):
        ps[0].x *= y
        return ps[0].x * q.x

    value, slope = jvp(inner, (x[0],), (1.0,))
    return value + slope * x[2] + q.x


def one_in_the_other(x):
    ps = grown(x)
    q = ps[0]

    def outer(z):
        def inner(y):
            ps[0].x = ps[0].x * y + z
            return ps[0].x * q.x * z

        return grad(inner)(z * 0.5)

    return grad(outer)(x[0]) + q.x * ps[0].x


def under_a_condition(x):
    ps, slope = grown(x), 1.0
    if x[0] > 0.0:

        def inner(y):
            ps[0].x = ps[0].x * y
            return ps[0].x

        slope = grad(inner)(x[2])
    return slope + ps[0].x


def arrays_and_lists(x):
    ps = [Held(v) for v in x if v > 0.0]

    def inner(y):
        ps[0].a = ps[0].a * y
        ps[-1].values.append(y)
        return np.sum(ps[0].a) * ps[-1].values[-1]

    slope = grad(inner)(x[0])
    return slope + ps[0].a[1] + len(ps[-1].values) * ps[-1].values[0]


PROGRAMS = [
    read_inside,
    read_before,
    another_one,
    in_a_long_loop,
    forces,
    again_and_again,
    all_of_them,
    forward,
    one_in_the_other,
    under_a_condition,
    arrays_and_lists,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_written(f):
    assert jit(f, fallback=False)(X) == pytest.approx(f(X), rel=1e-12)
    differences = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(jit_grad(f, fallback=False)(X), differences, rtol=1e-6, atol=1e-6)
