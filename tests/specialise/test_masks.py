"""Is arithmetic on masked elements done for the whole array, and does what was left out do no harm?

The truth is written by hand, or is the derivative by complex steps of the function in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, jit, jit_grad, jvp
from tests.sweeps.test_settled import by_complex_steps

X = np.array([0.5, -0.0, 2.0, 0.0, 1.5])


def powers(x: Any) -> Any:
    y = x * x
    apart = np.real(y) > 0.0
    y[apart] = y[apart] ** (-1.5)
    return np.sum(y * (1.0 + x))


def two_arrays(x: Any) -> Any:
    y, z = x * 2.0, 1.0 / (2.0 + x)
    m = np.real(x) > 0.7
    y[m] = np.log(y[m]) * z[m] - y[m]
    return np.sum(y * y)


def with_numbers(x: Any) -> Any:
    y = x.copy()
    m = np.real(y) != 0.0
    s = np.sum(x)
    y[m] = s / y[m] + s
    return np.sum(y)


def augmented(x: Any) -> Any:
    y = 3.0 * x
    y[np.real(x) > 0.2] *= 2.0
    y[np.real(x) > 0.2] += x[np.real(x) > 0.2] ** 2
    return np.sum(y * y)


def summed(x: Any) -> Any:
    return np.sum(np.log(x[np.real(x) > 0.0])) + np.sum((1.0 / x)[np.real(x) > 0.2])


def in_two_axes(x: Any) -> Any:
    d = x[:, np.newaxis] - x[np.newaxis, :]
    r = d * d
    m = np.real(r) > 1e-3
    r[m] = 1.0 / np.sqrt(r[m])
    return np.sum(r)


def in_a_loop(x: Any) -> Any:
    z = 0.0 * x
    for _ in range(4):
        inside = np.abs(np.real(z)) < 2.0
        z[inside] = z[inside] * z[inside] + x[inside]
    return np.sum(z)


PROGRAMS = [powers, two_arrays, with_numbers, augmented, in_two_axes, in_a_loop]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_those_of_the_elements_chosen(f: Callable[[Any], Any]) -> None:
    with np.errstate(all="ignore"):
        value, expected = f(X), by_complex_steps(f, X)
    assert np.all(np.isfinite(expected))
    g = jit_grad(f)
    np.testing.assert_allclose(g(X), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(jit(f)(X), value, rtol=1e-13)
    assert "positions" not in str(g.tape("decided"))
    along = jit(lambda x: jvp(f, (x,), (np.ones(len(x)),))[1])(X)
    np.testing.assert_allclose(along, np.sum(expected), rtol=1e-12, atol=1e-12)


def test_sums_of_chosen_elements() -> None:
    chosen = X > 0.0
    # of sum(log) 1/x where x > 0, and of sum(1/x) -1/x² where x > 0.2; the zeros take no part,
    # but 1/x was computed for them: there 0 * inf is NumPy's own
    g = jit_grad(lambda x: np.sum(np.log(x[x > 0.0])))
    np.testing.assert_allclose(g(X), np.where(chosen, 1.0 / np.where(chosen, X, 1.0), 0.0))
    assert "positions" not in str(g.tape("decided"))


@pytest.mark.parametrize("x", [np.zeros(0), np.zeros(1), np.ones(1), -np.ones(3)])
def test_nothing_or_everything_is_chosen(x: Any) -> None:
    expected = by_complex_steps(two_arrays, x)
    np.testing.assert_allclose(jit_grad(two_arrays)(x), expected, rtol=1e-12)


def test_second_derivatives() -> None:
    def slope(x: Any) -> Any:
        return np.sum(jit_grad(powers)(x))

    # of x^-3 (1 + x) the second derivative is 12 x^-5 + 6 x^-4; of x² (1 + x) at zero 2
    x = np.array([0.5, 2.0, 1.5])
    np.testing.assert_allclose(jit_grad(slope)(x), 12.0 * x**-5 + 6.0 * x**-4, rtol=1e-12)
    assert np.all(np.isfinite(jit_grad(slope)(X)))


def test_indices_that_are_not_all_of_the_array_stay_indices() -> None:
    """Positions in a short mask pick from a longer array."""

    def f(x: Any, y: Any) -> Any:
        (at,) = np.nonzero(x > 0.0)
        z = y.copy()
        z[at] = z[at] * z[at]
        return np.sum(z)

    y = np.arange(7.0)
    np.testing.assert_allclose(jit_grad(f, argnums=1)(X, y), np.where(
        np.isin(np.arange(7), np.flatnonzero(X > 0.0)), 2.0 * y, 1.0))  # fmt: skip


def test_a_mask_of_another_length_is_an_error() -> None:
    def f(x: Any, m: Any) -> Any:
        y = x.copy()
        y[m > 0.0] = y[m > 0.0] ** 2
        return np.sum(y)

    with pytest.raises(JitadError):
        jit_grad(f)(X, np.ones(4))
