"""What other engines stumble over in array programs: is it right here, compiled and eager?

Gradients are written by hand beside each program, or are derivatives by complex steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit_grad
from tests.sweeps.test_settled import by_complex_steps

ENGINES = [pytest.param(jit_grad, id="compiled"), pytest.param(grad, id="eager")]
each_engine = pytest.mark.parametrize("engine", ENGINES)
X = np.random.default_rng(8).uniform(0.5, 1.5, 6)


# -- infinities in parts that take no part --------------------------------------------------------


@each_engine
def test_a_diagonal_of_zeros_is_masked(engine: Any) -> None:
    """1/r of all pairs but those of a body with itself: of two bodies the derivative is known."""

    def energy(x: Any) -> Any:
        d = x[:, np.newaxis] - x
        r2 = d * d
        apart = r2 > 0.0
        r2[apart] = r2[apart] ** (-0.5)
        return np.sum(r2)

    np.testing.assert_allclose(engine(energy)(np.array([1.0, 3.0])), [0.5, -0.5])


@each_engine
def test_a_root_of_zero_outside_of_the_triangle(engine: Any) -> None:
    def f(a: Any) -> Any:
        return np.sum(np.tril(np.sqrt(a)))

    a = np.array([[4.0, 0.0], [1.0, 16.0]])
    np.testing.assert_allclose(engine(f)(a), [[0.25, 0.0], [0.5, 0.125]])


@each_engine
def test_a_branch_of_where_that_is_infinite(engine: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.log(np.where(x > 0.0, x, 1.0)), 0.0))

    np.testing.assert_allclose(engine(f)(np.array([0.0, 2.0, -1.0])), [0.0, 0.5, 0.0])


@each_engine
def test_parts_that_are_not_read_may_be_infinite(engine: Any) -> None:
    def f(x: Any) -> Any:
        y = np.log(x)
        return np.sum(y[1:])

    with np.errstate(all="ignore"):
        np.testing.assert_allclose(engine(f)(np.array([2.0, 4.0, 0.5])), [0.0, 0.25, 2.0])


# -- views and slices -----------------------------------------------------------------------------


def views_of_views(x: Any) -> Any:
    y = np.outer(x, x)
    part = y[1:, ::2]
    corner = part[::-1][:2].T
    corner[0] = x[:2] * corner[1]
    corner *= 2.0
    part[0][1] = x[5] ** 2
    return np.sum(y * y)


def row_in_one_statement(x: Any) -> Any:
    y = x.copy()
    y[:4] += x[5] * np.flip(y[:4])
    y[1:] = y[:-1] * y[1:]
    y[::-1][:3] = y[:3] * y[3:]
    return np.sum(y * y)


def rows_in_turn(x: Any) -> Any:
    y = np.outer(x, x)
    for i in range(1, len(x) - 1):
        y[i, :] = y[i - 1, :] * y[i, ::-1]
        y[:, i] += y[:, i + 1] * y[i, :]
        y[i + 1, i:] = y[i, i:] * y[i - 1, : len(x) - i]
    return np.sum(np.sin(y))


def swapped_rows(x: Any) -> Any:
    y = np.outer(x, np.sqrt(x))
    for i in range(len(x) - 1):
        saved = y[i].copy()
        y[i] = y[i + 1] * y[i]
        y[i + 1] = saved
    return np.sum(y[0] * y[-1] ** 2)


def a_view_kept_over_a_write(x: Any) -> Any:
    y = x * x
    row = y[1:4]
    before = row * 1.0
    y[2] = x[0] * x[1]
    return np.sum(row * before) + np.sum(y)


@each_engine
@pytest.mark.parametrize("f", [views_of_views, row_in_one_statement, rows_in_turn, swapped_rows,
                               a_view_kept_over_a_write], ids=lambda f: f.__name__)  # fmt: skip
def test_slices(f: Callable[[Any], Any], engine: Any) -> None:
    expected = by_complex_steps(f, X)
    np.testing.assert_allclose(engine(f)(X), expected, rtol=1e-11, atol=1e-12)


# -- index arrays ---------------------------------------------------------------------------------


@each_engine
def test_equal_indices(engine: Any) -> None:
    at = np.array([1, 1, 4, 1])

    def f(x: Any) -> Any:
        y = x * 1.0
        y[at] += x[:4]  # of equal ones the last counts
        np.add.at(y, at, x[at] ** 2)  # all count
        return np.sum(y * np.arange(6.0)) + np.sum(x[at])

    weights = np.arange(6.0)
    expected = weights.copy()
    expected[3] += weights[1]  # y[1] = x[1] + x[3]
    expected[2] += weights[4]
    expected[1] += 3 * 2.0 * X[1] * weights[1]
    expected[4] += 2.0 * X[4] * weights[4]
    np.add.at(expected, at, 1.0)
    np.testing.assert_allclose(engine(f)(X), expected, rtol=1e-13)


# -- dtypes ---------------------------------------------------------------------------------------


@each_engine
def test_scratch_in_single_precision(engine: Any) -> None:
    """Values are rounded where the program rounds them; so is what they are multiplied with."""

    def f(x: Any) -> Any:
        y = np.zeros(len(x), np.float32)
        y[:] = x
        z = y * y
        return np.sum(z.astype(np.float64) * x)

    x32 = X.astype(np.float32).astype(np.float64)
    found = engine(f)(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, x32**2 + 2.0 * x32 * X, rtol=1e-6)


# -- few elements ---------------------------------------------------------------------------------


def gram_schmidt(x: Any) -> Any:
    a = np.outer(x, 1.0 + x) + np.diag(x)
    for k in range(len(x)):
        norm = np.sqrt(np.dot(a[:, k], a[:, k]))
        a[:, k] = a[:, k] / norm
        for j in range(k + 1, len(x)):
            a[:, j] -= a[:, k] * np.dot(a[:, k], a[:, j])
    return np.sum(a * x)


def smoothed(x: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        u[1:-1] = 0.25 * (u[:-2] + 2.0 * u[1:-1] + u[2:]) * u[1:-1]
    return np.sum(u * u)


def masked(x: Any) -> Any:
    y = 1.0 * x
    m = np.real(y) > 0.8
    y[m] = np.sqrt(y[m])
    return np.sum(y * x)


def prefix_sums(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.dot(x[:i], y[:i]) + x[i]
    return np.sum(y)


@each_engine
@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("f", [gram_schmidt, smoothed, masked, prefix_sums],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_few_elements(f: Callable[[Any], Any], n: int, engine: Any) -> None:
    x = X[:n]
    found = engine(f)(x)
    assert found.shape == (n,)
    np.testing.assert_allclose(found, by_complex_steps(f, x), rtol=1e-10, atol=1e-12)
