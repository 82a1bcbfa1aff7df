"""Is what is added to zeros stored, and are zeros left out, just where nobody can tell?

The truth is a gradient written by hand, or a derivative by complex steps of the function itself.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from jitad import grad, jit, jit_grad
from tests.sweeps.test_settled import by_complex_steps


def test_additions_to_parts_of_zeros_that_lie_apart_are_stores():
    """Both parts of complex numbers, columns, halves: none of them is added to another."""

    def power(x, w):
        z = np.fft.rfft(x)
        return np.sum(w * (z.real**2 + z.imag**2))

    x, w = np.array([1.0, -2.0, 0.5, 3.0, 1.5]), np.array([0.3, 1.0, -0.5])
    gradient = jit_grad(power)
    n = np.arange(5)
    angle = 2.0 * np.pi * np.outer(np.arange(3), n) / 5
    c, s = np.cos(angle), np.sin(angle)
    expected = 2.0 * (c.T @ (w * (c @ x)) + s.T @ (w * (s @ x)))
    np.testing.assert_allclose(gradient(x, w), expected, atol=1e-13)
    assert "zeros(" not in gradient.source and "accum(" not in gradient.source

    def columns(p):
        return np.sum(np.sin(p[:, 0]) * p[:, 2] ** 2)

    p = np.arange(12.0).reshape(4, 3) / 7.0
    expected = np.zeros((4, 3))
    expected[:, 0] = np.cos(p[:, 0]) * p[:, 2] ** 2
    expected[:, 2] = 2.0 * np.sin(p[:, 0]) * p[:, 2]
    gradient = jit_grad(columns)
    np.testing.assert_allclose(gradient(p), expected, rtol=1e-13)
    assert "accum(" not in gradient.source


@pytest.mark.parametrize(("first", "second"), [
    ((slice(None, 3),), (slice(3, None),)), ((slice(None, 4),), (slice(3, None),)),
    ((slice(None, -1),), (slice(1, None),)), ((slice(None, None, 2),), (slice(1, None, 2),)),
    ((slice(None),), (2,)), ((slice(5, None),), (slice(None, 5),)),
    ((slice(3, 3),), (slice(2, 4),)), ((slice(None, None, -1),), (slice(2, None),)),
])  # fmt: skip
def test_what_overlaps_is_added(first, second):
    """Also where slices, whose ends are known when the kernel runs, have no elements."""

    def f(x):
        return np.sum(np.exp(x[first])) + np.sum(x[second] ** 3)

    gradient = jit_grad(f)
    for n in (6, 2):
        x = np.linspace(0.3, 1.7, n)
        if second == (2,) and n == 2:
            continue
        expected = np.zeros(n)
        expected[first] += np.exp(x[first])
        expected[second] += 3.0 * x[second] ** 2
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-13)


def test_parts_whose_ends_are_arguments():
    def f(x, n, m):
        return np.sum(np.exp(x[:n])) + np.sum(x[m:] ** 3)

    gradient = jit_grad(f)
    x = np.linspace(0.3, 1.7, 6)
    for n, m in ((3, 3), (4, 3), (2, 4), (6, 0), (-2, -3), (0, 6), (9, 8)):
        expected = np.zeros(6)
        expected[:n] += np.exp(x[:n])
        expected[m:] += 3.0 * x[m:] ** 2
        np.testing.assert_allclose(gradient(x, n, m), expected, rtol=1e-13)


# -- in loops -------------------------------------------------------------------------------------


def rows(x):
    """Each row is written once: its adjoint is taken, and what it leaves is nobody's."""
    a = np.zeros((len(x), len(x)), x.dtype)
    for i in range(len(x)):
        a[i] = np.sin(x) * (i + 1.0)
    return np.sum(a * a * x)


def recurrence(x):
    a = np.zeros((len(x), len(x)), x.dtype)
    a[0] = x
    for i in range(1, len(x)):
        a[i] = np.sin(a[i - 1]) * x
    return np.sum(a[-1] * a[1])


def downwards(x):
    n = len(x)
    a = np.zeros((n, n), x.dtype)
    a[n - 1] = x * x
    for i in range(n - 2, -1, -1):
        a[i] = a[i + 1] * x + a[n - 1]
    return np.sum(a[0] * a[0]) + np.sum(a[1])


LEFT_OUT = [rows, recurrence, downwards]


def twice(x):
    """The second loop takes what the first has written."""
    a = np.zeros((4, len(x)), x.dtype)
    for i in range(4):
        a[i] = x * (i + 1.0)
    for i in range(4):
        a[i] = a[i] * a[3 - i] * x
    return np.sum(a)


def again(x):
    """An element is written and read in two iterations that follow each other."""
    a = x.copy()
    total = 0.0
    for i in range(len(x) - 1):
        a[i] = a[i] * x[i + 1]
        a[i + 1] = a[i] + a[i + 1] * a[i + 1]
        total = total + a[i] * a[i + 1]
    return total + np.sum(a)


def one_place(x):
    a = x.copy()
    for i in range(4):
        a[1] = a[1] * a[2] + x[i % len(x)]
        a[2] = a[1] * x[0]
    return a[1] * a[2]


def rounds(x):
    """An outer loop comes to each place again."""
    a = np.zeros((3, len(x)), x.dtype)
    for k in range(3):
        for i in range(1, 3):
            a[i] = a[i - 1] * x + a[i] * 0.5 + k
        a[0] = a[2] * x
    return np.sum(a * a)


def backwards_in_place(x):
    a = x.copy()
    for i in range(len(x) - 1):
        a[i] = a[i + 1] * a[i]
    for i in range(len(x) - 2, -1, -1):
        a[i] = a[i + 1] * x[i]
    return np.sum(a * a)


def under_conditions(x):
    a = np.zeros((4, len(x)), x.dtype)
    for i in range(4):
        if x[0].real > 0.25 * i:
            a[i] = x * x
        else:
            a[i // 2] = a[i // 2] + x
        a[3 - i] += a[i] * x
    return np.sum(a * a)


def halves_that_meet(x):
    a = np.zeros(len(x) + 2, x.dtype)
    for i in range(3):
        a[i : i + 3] = a[i : i + 3] * 0.5 + x[:3]
    return np.sum(a * a * a)


def until(x):
    a, i = np.zeros((6, len(x)), x.dtype), 0
    while i < 5 and np.sum(a[i].real) < 50.0:
        a[i + 1] = a[i] * x + x
        i += 1
    return np.sum(a[i] * a[1])


def read_as_a_whole(x):
    a = np.zeros((4, len(x)), x.dtype)
    total = 0.0
    for i in range(4):
        a[i] = x * (i + 1.0)
        total = total + np.sum(a * a)
    return total


def picked(x):
    a, b = np.zeros(len(x), x.dtype), x * x
    for i in range(5):
        k = (i * i) % len(x)
        a[k] = b[k] + a[(k + 1) % len(x)]
        b[k] = a[k] * x[i % len(x)]
    return np.sum(a * b)


KEPT = [twice, again, one_place, rounds, backwards_in_place, under_conditions, halves_that_meet,
        until, read_as_a_whole, picked]  # fmt: skip


@pytest.mark.parametrize("f", LEFT_OUT + KEPT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [3, 5])
def test_arrays_that_loops_write(f, n):
    x = np.random.default_rng(n).uniform(0.5, 1.2, n)
    gradient = jit_grad(f)
    np.testing.assert_allclose(gradient(x), by_complex_steps(f, x), rtol=1e-12)
    if f in LEFT_OUT:
        assert not re.search(r"store\(\w+, 0\.0,|, \w+\] = 0\.0$", gradient.source, re.MULTILINE)


@pytest.mark.parametrize("f", LEFT_OUT + KEPT, ids=lambda f: f.__name__)
def test_to_second_order(f):
    x = np.random.default_rng(1).uniform(0.5, 1.2, 3)
    d = np.array([0.3, -1.0, 0.7])
    slope = jit_grad(lambda v: np.sum(grad(f)(v) * d))

    def gradient(v):
        return grad(f)(v)

    step = 1e-5
    expected = (gradient(x + step * d) - gradient(x - step * d)) / (2.0 * step)
    np.testing.assert_allclose(slope(x), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [rows, again, one_place, halves_that_meet], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1])
def test_arrays_of_few_elements(f, n):
    """What plain NumPy refuses is refused."""
    x = np.linspace(0.4, 0.9, n)
    try:
        expected = by_complex_steps(f, x) if n else f(x) * np.zeros(0)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            jit_grad(f)(x)
    else:
        np.testing.assert_allclose(jit_grad(f)(x), expected, rtol=1e-12)


def test_what_is_not_a_number_stays_where_it_is():
    def f(x):
        a, n = x[:, None] * np.ones(2), len(x) // 2
        for i in range(n):
            a[i] = x[:n] * x[i]
        for i in range(n):
            a[i] = a[i] * x[:n]
        return np.sum(a[:n])

    x = np.array([0.5, 2.0, np.inf, np.nan])
    # the sum of x_i x_j**2 over the first two
    expected = [3.0 * a * a + 2.0 * a * b + b * b for a, b in (x[:2], x[1::-1])]
    np.testing.assert_allclose(jit_grad(f)(x), [*expected, 0.0, 0.0], rtol=1e-13)
    np.testing.assert_allclose(grad(f)(x), [*expected, 0.0, 0.0], rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_added_at_places_goes_to_the_other_contribution(dtype):
    """Duplicates, places of two arrays, pairs of indices: no zeros, no sum of arrays."""

    def twice(x, i, j, w):
        return np.sum(w * x[i]) + np.sum(x[j] ** 2) + np.sum(np.sin(x))

    def pairs(z, labels, w):
        return np.sum(np.exp(z)) - np.sum(w * z[np.arange(len(z)), labels])

    rng = np.random.default_rng(0)
    x, w = rng.normal(size=7).astype(dtype), rng.normal(size=5).astype(dtype)
    i, j = np.array([3, 3, 0, -1, 3]), np.array([1, 3, 3])
    expected = np.cos(x)
    np.add.at(expected, i, w)
    np.add.at(expected, j, 2.0 * x[j])
    gradient = jit_grad(twice)
    near = dict(rtol=1e-5 if dtype == np.float32 else 1e-13)
    found = gradient(x, i, j, w)
    np.testing.assert_allclose(found, expected, **near)
    assert found.dtype == dtype
    assert "zeros(" not in gradient.source and gradient.source.count("accum(") == 2

    z, labels = rng.normal(size=(5, 4)).astype(dtype), np.array([0, 3, -1, 2, 0])
    expected = np.exp(z)
    expected[np.arange(5), labels] -= w
    gradient = jit_grad(pairs)
    np.testing.assert_allclose(gradient(z, labels, w), expected, **near)
    assert "zeros(" not in gradient.source


def test_a_contribution_that_is_used_again_stays_as_it_is():
    def f(x, i):
        dense = np.exp(x)
        return np.sum(x[i]) + np.sum(dense)

    def g(x, i):
        return grad(f)(x, i), np.exp(x)  # the other contribution is a result, too

    x, i = np.array([0.5, -1.0, 2.0]), np.array([1, 1])
    first, second = jit(g)(x, i)
    np.testing.assert_allclose(second, np.exp(x), rtol=1e-15)
    np.testing.assert_allclose(first, np.exp(x) + [0.0, 2.0, 0.0], rtol=1e-15)
    # what a user adds up in that order keeps it

    def mine(x, v, i, d):
        y = np.zeros(3)
        np.add.at(y, i, v)
        return y + d * x

    v, big = np.array([1.0, 1.0]), np.array([0.0, 1e16, 0.0])
    assert jit(mine)(np.ones(3), v, i, big)[1] == 1e16 + 2.0
