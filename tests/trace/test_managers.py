"""Does a `with` of the user's manager end as in Python, where the exception depends on numbers?"""

import math

import numpy as np
import pytest

import jitad
from tests.truth import differences


class Swallow:
    def __init__(self, *kinds):
        self.kinds, self.caught = kinds, False

    def __enter__(self):
        return self

    def __exit__(self, kind, error, where):
        if kind is not None and issubclass(kind, self.kinds):
            self.caught = True
            return True
        return False


class Counting:
    """It swallows nothing, but looks."""

    def __init__(self):
        self.well = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, where):
        if kind is None:
            self.well += 1


def swallowed(x):
    y, s = 1.0, Swallow(ValueError)
    with s:
        y = math.log(x)
    return y * x + (2.0 * x if s.caught else 0.0)


def raised_by_the_user(x):
    y = x
    with Swallow(ValueError, ZeroDivisionError) as s:
        if x < 0.0:
            raise ValueError("negative")
        y = x * x
    return 5.0 * y if s.caught else y


def several_places(x):
    total = 0.0
    for v in (x, 2.0, -x):
        with Swallow(ValueError):
            total += math.sqrt(v) * x
    return total


def another_kind(x):
    y = x
    try:
        with Swallow(KeyError) as s:
            y = math.log(x)
    except ValueError:
        y = 3.0 * x
    return y + s.caught


def looked_at(x):
    c, y = Counting(), x
    try:
        with c:
            y = 2.0 * math.log(x)
    except ValueError:
        y = 3.0 * x
    return y * (1 + c.well)


def in_a_loop_of_the_tape(x):
    total, bad = 0.0, 0
    for v in np.array([1.0, -2.0, 3.0]) * x:
        with Swallow(ValueError) as s:
            total += math.sqrt(v)
        bad += s.caught
    return total + bad * x


def returned_from(x):
    with Swallow(ValueError):
        return math.log(x)
    return 7.0 * x


def two_managers(x):
    with Swallow(ValueError) as a, Swallow(ZeroDivisionError) as b:
        return math.log(x) + 1.0 / x
    return 7.0 * x + a.caught + 2 * b.caught


PROGRAMS = [swallowed, raised_by_the_user, several_places, another_kind, looked_at,
            in_a_loop_of_the_tape, returned_from, two_managers]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_ends_as_in_python(f):
    compiled = jitad.jit(jitad.value_and_grad(f), fallback=False)
    for x in (1.5, -0.5):
        slope, _ = differences(f, (x,), (0,), [1.0], 1e-3)
        for run in (compiled, jitad.value_and_grad(f)):
            value, derivative = run(x)
            assert value == pytest.approx(f(x), rel=1e-13)
            assert derivative == pytest.approx(slope, rel=1e-7)
    assert len(compiled.specialisations) == 1


def test_what_is_not_swallowed_is_raised():
    def f(x):
        with Swallow(KeyError):
            return math.log(x)

    assert jitad.jit_grad(f)(2.0) == 0.5
    with pytest.raises(ValueError, match="math domain error"):
        jitad.jit_grad(f)(-2.0)
