"""Is a vector whose length goes with the loops' counters as long as it gets from the beginning?

Random slices in nests of loops up and down; run as Python, a buffer that is too short is an
IndexError.  The truth is NumPy.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_value_and_grad
from tests.engines import as_emitted

X = np.linspace(-1.0, 2.0, 9)


def triangular(x: Any) -> Any:
    n = len(x)
    total = 0.0
    for i in range(n):
        v = np.sin(x[i:]) * x[i]
        total = total + np.sum(v * v[::-1])
    return total


def below(x: Any) -> Any:
    n = len(x)
    total = 0.0
    for i in range(n - 1, 0, -1):
        v = np.sin(x[:i]) + i
        total = total + np.sum(v * v[::-1])
    return total


def between(x: Any) -> Any:
    n = len(x)
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            v = np.sin(x[i:j]) * x[j]
            total = total + np.sum(v * v[::-1])
    return total


def every_second(x: Any) -> Any:
    n = len(x)
    total = 0.0
    for i in range(1, n - 2, 2):
        v = np.sin(x[i - 1 : n - i])
        total = total + np.sum(v * v[::-1])
    return total


def twice(x: Any) -> Any:
    n = len(x)
    total = 0.0
    for i in range(n // 2):
        v = np.sin(x[: 2 * i])
        total = total + np.sum(v * v[::-1])
    return total


PROGRAMS = [triangular, below, between, every_second, twice]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [9, 4, 2])
def test_values(f: Callable[[Any], Any], n: int) -> None:
    np.testing.assert_allclose(as_emitted(f, X[:n]), f(X[:n]), rtol=1e-13)


@pytest.mark.parametrize("f", PROGRAMS[:-1], ids=lambda f: f.__name__)
def test_no_buffer_grows(f: Callable[[Any], Any]) -> None:
    g = jit(f)
    g(X)
    assert "grown(" not in g.source
    assert "empty(" in g.source


def test_as_long_as_needed_and_no_longer() -> None:
    g = jit_value_and_grad(triangular)
    g(X)
    assert "empty(np.float64, max(n_0, 1))" in g.source


def test_loops_that_do_not_run() -> None:
    for f in PROGRAMS:
        g = jit(f)
        for n in (9, 2, 1, 0):
            assert g(X[:n]) == pytest.approx(f(X[:n]), rel=1e-13)


def random_lengths(seed: int) -> Callable[[Any], Any]:
    rng = random.Random(seed)
    first, last = rng.choice([0, 1, 2]), rng.choice([0, 1, 2])
    down, inner, step = rng.random() < 0.5, rng.random() < 0.5, rng.choice([1, 1, 2])
    a, b, shape = rng.choice([0, 1]), rng.choice([0, 1]), rng.randrange(4)

    def lengths(x: Any) -> Any:
        n = len(x)
        total = 0.0
        for i in range(n - 1 - last, first - 1, -step) if down else range(first, n - last, step):
            for j in range(i, n) if inner else range(n - i, -1, -2):
                if shape == 0:
                    v = np.exp(0.1 * x[a : j + b])
                elif shape == 1:
                    v = np.exp(0.1 * x[min(i, j) + a :])
                elif shape == 2:
                    v = np.exp(0.1 * x[i + a : j + b])
                else:
                    v = np.exp(0.1 * x[: n - i - b])
                total = total + np.sum(v * v[::-1]) * (1 + i)
        return total

    return lengths


@pytest.mark.parametrize("seed", range(40))
def test_random_lengths(seed: int) -> None:
    f = random_lengths(seed)
    np.testing.assert_allclose(as_emitted(f, X), f(X), rtol=1e-12)
