"""Small programs as a sceptical user writes them: is every engine right on each?

Truth is an extrapolated difference of the plain Python function.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from jitad import derivative, grad, jit_value_and_grad

CASES = []


def case(*points):
    def enter(f):
        CASES.extend((f, x) for x in points)
        return f

    return enter


def difference(f, x):
    """Central differences, extrapolated twice."""
    h = 1e-3 * max(1.0, abs(x))
    d = [(f(x + h / k) - f(x - h / k)) / (2 * h / k) for k in (1, 2, 4)]
    once = [(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3]
    return (16 * once[1] - once[0]) / 15


@case(0.3, -2.2)
def for_else(x):
    for k in range(5):
        if x * k > 6:
            break
        x = x + 0.1 * k
    else:
        x = x * x
    return x


@case(0.3, 2.0)
def while_else(x):
    n = 0
    while x < 5:
        x = x * 1.5
        n += 1
        if n > 4:
            break
    else:
        x = math.sin(x)
    return x * n


@case(0.3, -0.4, 0.9)
def chained(x):
    return x**3 if -0.5 < x <= 0.5 else (x if not x < 0 else -x)


@case(1.3, 2.5)
def neg_steps(x):
    s = 0.0
    for i in range(7, -4, -3):
        for j in range(i, 0, -2):
            s += x**j / (abs(i) + 1)
    return s


@case(0.5, 3.5)
def early(x):
    for k in range(10):
        if k * x > 4:
            return x**k
        if x < 1:
            return math.exp(x) * k + x
    return x


@case(0.7)
def views(x):
    a = np.zeros((3, 4))
    v = a[::-1, 1:3]
    v[0] = x
    v[:, 1] += x * x
    a.T[2] *= 3.0
    return (a * np.arange(12.0).reshape(3, 4)).sum()


@case(0.7)
def negslice(x):
    a = np.arange(10.0) * x
    b = a[8:2:-2]
    b[::-1][0] = x**2
    a[-1:-4:-1] += a[:3]
    return np.sum(a * a) + b[-1]


@case(0.7)
def four_d(x):
    a = np.ones((2, 3, 2, 2)) * x
    a[1, :, ::-1, 0] = np.sin(a[0, :, :, 1])
    a[..., 1] **= 2
    return np.sum(a[:, 1:])


@case(0.7)
def clos(x):
    tot = 0.0

    def add(y, k=2):
        nonlocal tot
        tot += y**k
        return tot

    add(x)
    add(k=3, y=x)
    return tot * add(1.0)


class Ctr:
    def __init__(s):
        s.n = 0
        s.w = [1.0]

    def go(s, x):
        s.n += 1
        s.w.append(x)
        return x * s.n + sum(s.w)


@case(0.7)
def bound(x):
    c = Ctr()
    f = c.go
    return f(x) * f(x * 2) + c.n


@case(0.7)
def part(x):
    return functools.partial(lambda a, b, *r, c=1: a * b**c + sum(r), x, c=3)(x + 1, x, 2 * x)


@case(0.7)
def star(x):
    def f(*a, **k):
        return sum(a) * k["p"] + len(k)

    d = dict(p=x)
    return f(*[x, x * x], **d)


@case(0.5, 1.5, 2.5, -1.5)
def floor_mod(x):
    return (x * 7) % 2.3 + (x // 0.7) * x - math.fmod(x * 3, 1.1)


@case(0.4, -0.4)
def tern(x):
    return (x and x * 2) or 5.0


@case(0.6)
def nestedcomp(x):
    return sum([a * b for a in [x, x * x] for b in (1, x) if b is not a])


@case(2.3)
def newton(x):
    y = x
    while abs(y * y - x) > 1e-13:
        y = 0.5 * (y + x / y)
    return y


@case(0.3)
def dct(x):
    d = {k: x**i for i, k in enumerate("abc")}
    d["a"] += d.pop("c")
    return sum(d.values()) * d.get("z", 2)


@case(0.3)
def lst(x):
    l = [x] * 3
    l[1:2] = [x * x, 2.0]
    l.insert(0, x**3)
    l.reverse()
    return l[0] * l[-1] + l[2]


@case(1.1)
def swp(x):
    a, b = np.ones(3) * x, np.zeros(3)
    for _ in range(5):
        a, b = b + a * 0.5, a
    return np.sum(a * b)


@case(0.9)
def tryfin(x):
    try:
        y = x * 2
    finally:
        x = x + 1
    return x * y


@case(0.9)
def walrus(x):
    return (y := x * x) + y * (z := y + 1) * z


@case(0.9)
def sl(x):
    s = slice(None, None, -1)
    return np.dot(np.arange(4.0)[s] * x, np.linspace(0, x, 4))


@case(0.8)
def clipm(x):
    return (
        np.clip(np.array([x, 2 * x, -x]), -0.5, 1.2).sum()
        + np.maximum(x, 0.5)
        + min(x, x * x, 0.9)
        + max([x, 0.1])
    )


@case(0.8)
def reduces(x):
    a = x * np.arange(1.0, 7).reshape(2, 3)
    return a.prod(axis=1).sum() + a.max(axis=0)[1] * a.min() + a.std() + a.var(axis=0)[2]


@case(0.8)
def aug(x):
    a = np.ones(4) * x
    b = a
    b -= 0.1
    a[1:] *= b[:-1]
    a[a > 0.5] += x
    return a.sum()


@case(1.2)
def pows(x):
    return x**2 + x**-2 + x**0 + x**0.5 + 2**x + x**x + (-x) ** 3 + np.power(x, 3)


@case(0.8)
def inner(x):
    return derivative(lambda y: y * y * x)(x) + grad(lambda y: math.sin(x * y))(2.0)


@case(0.8)
def mat(x):
    A = np.array([[x, 1.0], [0.5, x * x]])
    return np.trace(A @ A.T) + np.linalg.norm(A) + np.outer(A[0], A[1])[1, 0]


@case(0.8)
def idx(x):
    a = np.arange(6.0) * x
    i = np.array([4, 1, 1])
    a[i] += 1.0
    k = int(x * 3)
    return a[i].sum() * a[k] * a[-k]


@case(0.8)
def ret_str(x):
    m = {"s": math.sin, "c": math.cos}
    return sum(m[c](x) for c in "scs")


@pytest.mark.parametrize(("f", "x"), CASES, ids=[f"{f.__name__}-{x}" for f, x in CASES])
def test_every_engine(f, x):
    expected = difference(f, x)
    value, slope = jit_value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-13)
    for got in (slope, grad(f)(x), derivative(f)(x)):
        assert got == pytest.approx(expected, rel=1e-7, abs=1e-7)
