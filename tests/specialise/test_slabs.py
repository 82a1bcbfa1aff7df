"""Arrays that inner loops record lie in one array outside: is there room, whatever the trip counts?

Run as plain Python the emitted source raises where an index is out of bounds.  The truth is a
derivative by complex steps of the function itself, run by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit_grad
from tests.engines import as_emitted
from tests.sweeps.test_settled import by_complex_steps

X = np.random.default_rng(2).uniform(0.5, 1.5, 4)


def step(v: Any, x: Any) -> Any:
    return np.sin(v) * np.sum(v) * 0.3 + x * v


def growing(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        v = x * x[i]
        for _ in range(i + 1):
            v = step(v, x)
        total += np.sum(v * v)
    return total


def shrinking(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        v = x * x[i]
        for _ in range(len(x) - i):
            v = step(v, x)
        total += np.sum(v * v)
    return total


def downwards(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1, -1, -1):
        v = x * x[i]
        for _ in range(2 * i - 1):
            v = step(v, x)
        total += np.sum(v * v)
    return total


def in_two_loops(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(i, len(x)):
            v = x * x[j]
            for _ in range(j - i + 1):
                v = step(v, x)
            total += np.sum(v * v)
    return total


def by_twos(x: Any) -> Any:
    total = 0.0
    for i in range(0, len(x), 2):
        v = x * x[i]
        for _ in range(i):
            v = step(v, x)
        total += np.sum(v * v)
    return total


def by_data(x: Any) -> Any:
    """As often as a number in an array says."""
    times = np.array([2, 0, 3, 1])
    total = 0.0
    for i in range(len(x)):
        v = x * x[i]
        for _ in range(times[i % 4]):
            v = step(v, x)
        total += np.sum(v * v)
    return total


def lengths(x: Any) -> Any:
    """What is recorded has another length each time."""
    total = 0.0
    for i in range(len(x)):
        v = 1.0 * x[: i + 1]
        for _ in range(3 * i):
            v = step(v, x[: i + 1])
        total += np.sum(v * v)
    return total


PROGRAMS = [growing, shrinking, downwards, in_two_loops, by_twos, by_data, lengths]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    g = jit_grad(f)
    for n in (4, 2):
        x = X[:n]
        expected = by_complex_steps(f, x)
        atol = 1e-12 * np.abs(expected).max()
        np.testing.assert_allclose(as_emitted(grad(f), x), expected, rtol=1e-10, atol=atol)
        np.testing.assert_allclose(g(x), expected, rtol=1e-10, atol=atol)


@pytest.mark.parametrize("f", [growing, shrinking, downwards, in_two_loops],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_one_array_outside_of_all_loops(f: Callable[[Any], Any]) -> None:
    g = jit_grad(f)
    g(X)
    assert "    kept = empty(np.float64, " in g.source and "_top" not in g.source
