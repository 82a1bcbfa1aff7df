"""Functions of NumPy's that Python calls, in `map`, `reduce`, `sorted` and the like."""

import functools
import itertools
import math

import numpy as np
import pytest

from jitad import jit_value_and_grad, value_and_grad


def traced(a):
    x, y = list(map(np.atleast_2d, (a, a * a)))
    return np.trace(x @ y)


def means(a):
    return sum(map(np.mean, [[a, a * 2], [a, 3.0]]))


def largest(a):
    return max([[a, a * 2], [a, 3.0]], key=np.sum)[1] * a


def ordered(a):
    return sorted([[a, a * 2], [a, 3.0]], key=np.linalg.norm)[1][1] * a


def folded(a):
    return functools.reduce(np.dot, [[a, a * 2], [a, 3.0]])


def gathered(a):
    return list(itertools.accumulate([a, a * 2, 3.0], np.maximum))[-1] * a


def diagonals(a):
    return np.trace(np.linalg.multi_dot(list(map(np.diag, [[a, a * 2], [a, 3.0]]))))


def lengths(a):
    return sum(v * v for v in itertools.starmap(np.hypot, [(a, 2.0), (a, a)]))


def numbers(a):
    kept = sum(filter(np.isfinite, [a, a * 2]))
    return list(map(np.float64, [a]))[0] * 2 + kept + sum(map(math.sqrt, [a, a]))


def arrays(a):
    x, y = map(np.ravel, np.broadcast_arrays(np.array([a, 1.0]), np.array([[2.0], [a]])))
    return np.sum(x * y)


def norms(a):
    return sum(map(np.linalg.norm, [np.array([a, 1.0]), [a, a]]))


@pytest.mark.parametrize("engine", [value_and_grad, jit_value_and_grad])
@pytest.mark.parametrize("f", [
    traced, means, largest, ordered, folded, gathered, diagonals, lengths, numbers, arrays, norms,
])  # fmt: skip
def test_functions_that_are_called(f, engine):
    value, found = engine(f)(2.0)
    h = 1e-5
    assert value == pytest.approx(f(2.0), rel=1e-14)
    assert found == pytest.approx((f(2.0 + h) - f(2.0 - h)) / (2 * h), rel=1e-7)


def numbers_and_arrays(e, n):
    """As is written for both: what can't be written to is a number."""
    try:
        e[abs(e) < 1e-3] = 0.0
        n[abs(n) < 1e-3] = 0.0
    except TypeError:
        if abs(e) < 1e-3:
            e = 0.0
        if abs(n) < 1e-3:
            n = 0.0
    return np.sum(np.hypot(e, n))


@pytest.mark.parametrize("engine", [value_and_grad, jit_value_and_grad])
def test_numbers_that_are_written_to(engine):
    assert engine(numbers_and_arrays, (0, 1))(3.0, 4.0) == (5.0, pytest.approx((0.6, 0.8)))
    assert engine(numbers_and_arrays, (0, 1))(1e-4, 4.0) == (4.0, (0.0, 1.0))
    e, n = np.array([3.0, 1e-4]), np.array([4.0, 2.0])
    value, found = engine(lambda e, n: numbers_and_arrays(e * 1.0, n * 1.0), (0, 1))(e, n)
    assert value == 7.0
    np.testing.assert_allclose(found, ([0.6, 0.0], [0.8, 1.0]))


def scaled(x):
    try:
        x[...] = x * 2
    except TypeError:
        x = x * 3
    return float(x) * x


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
@pytest.mark.parametrize("engine", [
    value_and_grad, functools.partial(jit_value_and_grad, fallback=True),
])  # fmt: skip
def test_arrays_without_axes_are_written_to(engine):
    assert engine(scaled)(2.0) == (36.0, 36.0)
    assert engine(scaled)(np.float64(2.0)) == (36.0, 36.0)
    assert engine(scaled)(np.array(2.0)) == (16.0, 16.0)
