"""Are tuples and lists compared as Python does, and do objects keep all that they hold?

The truth is the function itself, differenced.
"""

import math
from dataclasses import dataclass

import pytest

from jitad import grad, jit_grad
from tests.trace.test_protocols import Ranked, difference, scaled

SCALE = 1.0

# -- order ----------------------------------------------------------------------------------------


def by_tuples(x):
    pairs = sorted([(x, 1.0), (0.5, 2.0), (1.0, 3.0)], reverse=True)
    return sum((k + 1.0) * a * b for k, (a, b) in enumerate(pairs))


def first_of_tuples(x):
    return min((x, 1.0), (0.6, x))[1] * max([(0.0, x), (0.0, 1.0)])[1]


def compared_in_turn(x):
    y = x if (0.5, [x, 2.0]) < (0.5, [1.0, 0.0]) else x * x
    return y if (x, 1) == (x, 1.0) and [x] != [x, x] and (x, 2.0) >= (x, 1.0) else 0.0


def by_rank(x):
    ranked = sorted([Ranked(3.0), Ranked(1.0), Ranked(2.0)])
    return x * ranked[0].w * (max(ranked).w if x > 0.0 else 1.0)


@pytest.mark.parametrize("f", [by_tuples, first_of_tuples, compared_in_turn, by_rank],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_order(f):
    g = jit_grad(f, fallback=False)
    for x in (0.7, 1.3, 0.4):
        expected = pytest.approx(difference(f, x), rel=1e-8, abs=1e-8)
        assert g(x) == expected and grad(f)(x) == expected


# -- objects that branches and loops hand on ------------------------------------------------------


class Point:
    __slots__ = ("__y", "x")

    def __init__(self, x, y):
        self.x, self.__y = x, y

    def moved(self, by):
        return Point(self.x + by, self.__y * by)

    def size(self):
        return math.hypot(self.x, self.__y)


@dataclass
class Counted:
    x: float

    def __post_init__(self):
        self.uses = 0.0  # no field

    def used(self):
        self.uses += 1.0
        return self.x * self.uses


class Checked:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, thing, owner=None):
        return self if thing is None else thing.__dict__[self.name] * SCALE

    def __set__(self, thing, value):
        thing.__dict__[self.name] = scaled(value)


class WithChecked:
    x = Checked()


def with_slots(x):
    p = Point(x, 1.0)
    for k in range(6):
        if p.size() < 2.0 + k:
            p = p.moved(x)
    return p.size()


def with_more_than_fields(x):
    c = Counted(x)
    for k in range(6):
        if x * k > 1.0:
            c.used()
            c = Counted(c.x * x) if k == 3 else c
    return c.used() + c.uses


def with_values_under_descriptors(x):
    t = WithChecked()
    t.x = x
    if x > 1.0:
        t.x = x * x
        other = t
    else:
        other = WithChecked()
        other.x = 2.0 * x
    return t.x * other.x


def with_a_private_name(x, p=Point(0.5, 2.0)):
    return p.moved(x).size() * x


@pytest.mark.parametrize(
    "f", [with_a_private_name, with_slots, with_more_than_fields, with_values_under_descriptors],
    ids=lambda f: f.__name__)  # fmt: skip
def test_objects_keep_all_that_they_hold(f):
    g = jit_grad(f, fallback=False)
    for x in (0.7, 1.3, 0.4):
        assert g(x) == pytest.approx(difference(f, x), rel=1e-8, abs=1e-8)
