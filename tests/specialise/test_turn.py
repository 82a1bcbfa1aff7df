"""Which loops are turned, so that each column's changes come together, and are gradients right?

The truth is a derivative by complex steps of the function itself, run by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit_grad
from tests.sweeps.test_settled import by_complex_steps

X = np.random.default_rng(5).uniform(0.5, 1.5, 5)


def matrix(x: Any) -> Any:
    return 0.3 * np.outer(x, x * x[::-1]) + 1.5 * np.eye(len(x))


def columns(x: Any) -> Any:
    """Modified Gram-Schmidt, right-looking."""
    a = matrix(x)
    q, r = np.zeros_like(a), np.zeros_like(a)
    for k in range(len(x)):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, len(x)):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return np.sum(q * matrix(x)) + np.sum(r * r * r)


def rows_in_place(x: Any) -> Any:
    """What is finished stands where it was, and the array is used afterwards."""
    a = matrix(x)
    for k in range(len(x)):
        a[k] = a[k] / np.sqrt(np.dot(a[k], a[k]))
        for j in range(k + 1, len(x)):
            a[j] = a[j] - a[k] * np.dot(a[k], a[j])
    return np.sum(a * a * a) + a[1, 0]


def from_one(x: Any) -> Any:
    """Neither the first row nor the last belongs to it."""
    a = matrix(x)
    s = np.zeros_like(a)
    for k in range(1, len(x) - 1):
        s[k] = np.sin(a[k])
        for j in range(k + 1, len(x) - 1):
            a[j] += s[k] * a[j] * a[j]
            s[j, 0] += 0.0 * x[0]
    return np.sum(a * s)


def bent(x: Any) -> Any:
    a = matrix(x)
    b = 0.0 * a
    for k in range(len(x)):
        b[:, k] = a[:, k] * a[0, k]
        for j in range(k + 1, len(x)):
            a[:, j] = np.tanh(a[:, j] + b[:, k] * k)
            a[:, j] += b[:, k] * a[:, j] * (j + 0.5)
    return np.sum(a * b)


TURNED = [columns, rows_in_place, bent]


def neighbours(x: Any) -> Any:
    """A change reads the column before, which another change has changed."""
    a = matrix(x)
    q = 0.0 * a
    for k in range(len(x)):
        q[:, k] = a[:, k] * a[:, k]
        for j in range(k + 1, len(x)):
            a[:, j] = a[:, j] * (q[:, k] + a[:, j - 1])
    return np.sum(a * q)


def ahead(x: Any) -> Any:
    """What finishes a column reads one that is yet to be changed."""
    a = matrix(x)
    q = 0.0 * a
    for k in range(len(x) - 1):
        q[:, k] = a[:, k] * a[:, k + 1]
        for j in range(k + 1, len(x) - 1):
            a[:, j] = a[:, j] * a[:, j] - q[:, k]
    return np.sum(a * q)


def from_the_start(x: Any) -> Any:
    """All columns are changed, finished ones too."""
    a = matrix(x)
    q = 0.0 * a
    for k in range(len(x)):
        q[:, k] = np.sin(a[:, k])
        for j in range(len(x)):
            a[:, j] = a[:, j] * q[:, k] + a[:, j] * a[:, j]
    return np.sum(a * q)


def shared(x: Any) -> Any:
    """All changes write to one place besides."""
    a = matrix(x)
    q, last = 0.0 * a, 0.0 * x
    for k in range(len(x)):
        q[:, k] = np.sin(a[:, k])
        for j in range(k + 1, len(x)):
            last[0] = 0.5 * last[0] * a[0, j] + a[1, j]
            a[:, j] = a[:, j] * q[:, k] * a[:, j]
    return np.sum(a * q) + last[0]


def refilled(x: Any) -> Any:
    """The factor of step k is overwritten by the next step."""
    a = matrix(x)
    f = 1.0 * x
    for k in range(len(x)):
        f[:] = a[:, k] * a[:, k]
        for j in range(k + 1, len(x)):
            a[:, j] = a[:, j] * f * a[:, j]
    return np.sum(a)


def linear(x: Any) -> Any:
    """Nothing of a column is wanted for the derivative of its change."""
    a = matrix(x)
    b = 1.0 * a
    for k in range(len(x)):
        b[:, k] = a[:, k] / a[k, k]
        for j in range(k + 1, len(x)):
            a[:, j] -= b[:, k] * x[j]
    return np.sum(a * b)


LEFT = [from_one, neighbours, ahead, from_the_start, shared, refilled, linear]


@pytest.mark.parametrize("f", TURNED + LEFT, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    g = jit_grad(f)
    for n in (5, 2):
        expected = by_complex_steps(f, X[:n])
        atol = 1e-12 * np.abs(expected).max()
        np.testing.assert_allclose(g(X[:n]), expected, rtol=1e-11, atol=atol)
    turned = str(g.tape("turn")) != str(g.tape("decided"))
    assert turned == (f in TURNED)


def test_raised_in_order() -> None:
    """What may raise stays in its order: the program's error is the first one."""

    def f(x: Any) -> Any:
        a = matrix(x)
        q = 0.0 * a
        for k in range(len(x)):
            if a[0, k] < 0.0:
                raise ValueError("finished")
            q[:, k] = np.sin(a[:, k])
            for j in range(k + 1, len(x)):
                if a[1, j] > 1e6:
                    raise KeyError("changed")
                a[:, j] = a[:, j] * q[:, k] * a[:, j]
        return np.sum(a * q)

    g = jit_grad(f)
    np.testing.assert_allclose(g(X[:3]), by_complex_steps(f, X[:3]), rtol=1e-10)
    with pytest.raises(ValueError, match="finished"):
        g(np.array([-1.0, 3.0, 1e5]))
