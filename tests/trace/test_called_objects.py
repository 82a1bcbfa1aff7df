"""Are objects that can be called things like any other, where a condition or loop makes them?"""

import numpy as np
import pytest

import jitad


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return self.k * x

    def __repr__(self):
        return f"Scale({self.k})"  # of one whose writes are undone, it raises


def made_on_each_path(x):
    scale = Scale(x) if x > 1.0 else Scale(2.0)
    return scale(x)


def made_on_one_path(x):
    scale = Scale(x)
    if x > 1.0:
        scale = Scale(x * x)
    scale.k += 1.0
    return scale(x)


def or_none(x):
    scale = None
    if x > 1.0:
        scale = Scale(x * x)
    return scale(x) if scale else x


def one_of_two_is_written(x):
    p, q = Scale(x), Scale(3.0)
    chosen = p if x > 1.0 else q
    chosen.k *= 2.0
    return p(x) + q(x * x)


def made_by_each_iteration(x):
    scale = Scale(1.0)
    for v in np.ones(4) * x:
        scale = Scale(scale.k + v * x)
    return scale(x)


def in_a_list_that_grows(x):
    scales, v = [], x
    while v < 10.0:
        scales.append(Scale(v))
        v = 2.0 * v
    return sum(scale(x) for scale in scales)


def polynomial_of_each_path(x):
    p = np.polynomial.Polynomial([x, 2.0]) if x > 1.0 else np.polynomial.Polynomial([1.0, x])
    return p(x)


PROGRAMS = [made_on_each_path, made_on_one_path, or_none, one_of_two_is_written,
            made_by_each_iteration, in_a_list_that_grows, polynomial_of_each_path]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_slopes(f):
    compiled, h = jitad.jit_value_and_grad(f, fallback=False), 1e-5
    for x in (2.0, 0.5):
        slope = (f(x + h) - f(x - h)) / (2.0 * h)
        for run in (jitad.value_and_grad(f), compiled):
            value, got = run(x)
            assert value == pytest.approx(f(x), rel=1e-13)
            assert got == pytest.approx(slope, rel=1e-7)
