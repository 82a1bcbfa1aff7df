"""Are objects that can be called objects like any other, in branches, loops and lists?"""

import abc
import dataclasses
import functools
import operator

import numpy as np
import pytest

import jitad
from tests import truth


class Scaled:
    def __init__(self, by):
        self.by = by

    def __call__(self, t):
        return Scaled(self.by * t)

    def times(self, t):
        return self.by * t

    def __repr__(self):
        return f"Scaled({self.by:.3f})"


@dataclasses.dataclass
class Counting:
    slope: float
    calls: int = 0
    total: float = 0.0

    def __call__(self, t):
        self.calls += 1
        self.total += self.slope * t
        return self.total


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, t):
        return self.a * t + self.b


class Loss(abc.ABC):
    @abc.abstractmethod
    def __call__(self, r): ...


class Square(Loss):
    def __call__(self, r):
        return r * r


class Huber(Loss):
    def __init__(self, at):
        self.at = at

    def __call__(self, r):
        return r * r if abs(r) < self.at else self.at * (2 * abs(r) - self.at)


def made_in_branches(x):
    k = Scaled(x[0] * 3) if x[0] > x[1] else Scaled(x[1])
    return k.by**2 + k(2.0).by


def chosen(x):
    a, b = Scaled(x[0]), Scaled(x[1] * x[2])
    k = a if a.by > b.by else b
    return k(3.0)(2.0).by * a.by


def written_in_branches(x):
    c = Counting(x[0])
    if x[1] > 1.0:
        c(x[1])
        c.slope = x[2]
    return c(x[1]) * c.calls + c.slope


def written_in_loops(x):
    c, other = Counting(x[0]), Counting(x[1])
    for v in x:
        if v > 1.0:
            c(v)
        else:
            other(v * v)
    return c.total * c.calls + other.total


def rebound_in_a_while(x):
    f = Slotted(x[0], 0.5)
    while abs(f(1.0)) < 9.0:
        f = Slotted(f.a * 1.3, f(0.1))
    return f(x[1])


def in_lists(x):
    fs = [Slotted(v, 1.0) for v in x]
    fs.append(fs[0] if x[0] > x[1] else fs[1])
    fs.sort(key=lambda f: f.a)
    return functools.reduce(lambda s, f: f(s), fs, 1.0)


def of_several_classes(x):
    loss = Square() if x[0] > x[1] else Huber(0.4 * x[2])
    return sum(loss(v - 1.0) for v in x)


def grown(x):
    fs, v = [], x[0]
    while v < 6.0:
        fs.append(Slotted(v, x[1]))
        v *= 1.5
    return sum(f(0.5) for f in fs) * len(fs)


def or_none(x):
    f = None
    if x[0] > 1.0:
        f = Slotted(x[1], x[2])
    return f(x[0]) if f else x[1] * x[2]


def one_of_two_is_written(x):
    f, g = Slotted(x[0], 1.0), Slotted(3.0, x[1])
    at = f if x[0] > 1.0 else g
    at.a *= 2.0 * x[2]
    return f(x[0]) + g(x[1] * x[2])


def polynomial_of_each_path(x):
    p = np.polynomial.Polynomial(x) if x[0] > 1.0 else np.polynomial.Polynomial([1.0, x[2]])
    return p(x[1])


class Line:
    def __init__(self, *c):
        self.c = c

    def __call__(self, t):
        return self.c[0] + self.c[1] * t

    def __matmul__(self, other):
        return Line(self(other.c[0]), self.c[1] * other.c[1])

    def __lt__(self, other):
        return self.c[1] < other.c[1]


def composed_by_reduce(x):
    lines = [Line(x[0], x[1]), Line(x[1], x[2])] * 2
    whole = functools.reduce(operator.matmul, lines, Line(0.0, 1.0))
    return whole(x[2]) + min(lines[0], lines[1])(2.0)


PROGRAMS = [composed_by_reduce, made_in_branches, chosen, written_in_branches, written_in_loops,
            rebound_in_a_while, in_lists, of_several_classes, grown, or_none, one_of_two_is_written,
            polynomial_of_each_path]  # fmt: skip
POINTS = [np.array([0.7, 1.3, 0.4]), np.array([1.6, 0.9, 1.1])]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    compiled = jitad.jit_value_and_grad(f, fallback=False)
    for x in POINTS:
        want = [truth.ridders(lambda t, k=k, x=x: f(x + t * np.eye(3)[k]), 1e-3)[0]
                for k in range(3)]  # fmt: skip
        for engine in (jitad.value_and_grad(f), compiled):
            value, gradient = engine(x)
            assert value == pytest.approx(f(x), rel=1e-13)
            np.testing.assert_allclose(gradient, want, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("f", [jitad.jit_grad, lambda f: jitad.jit(lambda x: jitad.grad(f)(x))])
def test_texts_of_objects_are_not_asked_for(f):
    """An error, or a derivative of a method, needs no `repr`: it may want numbers."""

    def mixed(x):
        k = Scaled(x) if x > 1.0 else 3.0
        return k.by

    assert f(mixed)(2.0) == 1.0
    with pytest.raises(AttributeError, match="'float' object has no attribute 'by'"):
        f(mixed)(0.5)

    def of_a_method(x):
        return jitad.grad(Scaled(x).times)(2.0)  # by t: x

    assert f(of_a_method)(3.0) == 1.0
