"""Is what a loop or a branch finds, and had not before, the array or object that it is elsewhere?

`found = None` before a loop that sets it, or `return x` in the middle of one: on some paths there
is nothing yet.  What was there before stays what it is, under all its names, whichever is written.
"""

import numpy as np
import pytest

import jitad
from tests import truth


def halved(x):
    gap = x[0] - 1.0
    x[0] -= 0.5 * gap
    return abs(gap)


def returned_or_raised(x):
    for _ in range(100):
        if halved(x) < 1e-2:
            return x
    raise RuntimeError("no convergence")


def returned_from_while(x):
    while True:
        if halved(x) < 1e-2:
            return x


def returned_or_none(x):
    for _ in range(100):
        if halved(x) < 1e-2:
            return x
    return None


def returned_with_a_count(x):
    for it in range(100):
        if halved(x) < 1e-2:
            return x, it
    raise RuntimeError("no convergence")


def assigned_and_left(x):
    found = None
    for _ in range(100):
        if halved(x) < 1e-2:
            found = x
            break
    return found


def one_of_two(x):
    other = 2.0 * x
    for _ in range(100):
        if halved(other) < 0.3:
            return other
        if halved(x) < 0.12:
            return x
    return x


def made_on_the_way(x):
    best = None
    for k in range(6):
        y = x * (k + 1.0)
        y[0] -= 2.0
        if best is None or abs(y[0]) < abs(best[0]):
            best = y
        y[1] += 0.25
    return best


class Box:
    def __init__(self, content):
        self.content = content


def in_an_object(x):
    box, found = Box(x), None
    for _ in range(8):
        box.content = box.content * 0.9
        if box.content[0] < 1.5:
            found = box
    assert found is not None
    found.content = found.content + 1.0
    return box.content


FINDERS = [returned_or_raised, returned_from_while, returned_or_none, returned_with_a_count,
           assigned_and_left, one_of_two, made_on_the_way, in_an_object]  # fmt: skip


@pytest.mark.parametrize("operator", [jitad.value_and_grad, jitad.jit_value_and_grad])
@pytest.mark.parametrize("finder", FINDERS)
def test_it_is_the_same_under_all_names(finder, operator):
    def f(x):
        x = x + 0.1
        y = finder(x)
        if isinstance(y, tuple):
            y = y[0]
        before = np.sum(x * x)
        y[1] = y[0] * x[1] + np.sin(y[2])  # which x has too, if y is x
        x[2] *= 3.0
        return before + np.sum(x * y)

    g = operator(f)
    for x in (np.array([2.0, 3.0, 0.5]), np.array([1.7, -1.0, 0.2])):
        before = x.copy()
        value, slope = g(x)
        assert value == pytest.approx(f(x.copy()), rel=1e-12)
        for direction in truth.directions((x,), (0,)):
            expected, _ = truth.differences(f, (x,), (0,), direction, 1e-3)
            assert np.sum(slope * direction[0]) == pytest.approx(expected, rel=1e-7, abs=1e-7)
        np.testing.assert_array_equal(x, before)


def test_none_is_met_as_in_python():
    def f(x):
        x = 1.0 * x
        for _ in range(3):
            if halved(x) < 1e-2:
                return x
        return None

    g = jitad.jit_value_and_grad(lambda x: np.sum(f(x)))
    g(np.array([1.01, 1.0, 1.0]))
    with pytest.raises(TypeError):
        g(np.array([9.0, 1.0, 1.0]))
