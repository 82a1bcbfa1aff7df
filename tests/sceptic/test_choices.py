"""Does a branch that np.where did not take stay out of the derivative, infinite as it may be?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES

X = np.array([-1.0, 0.0, 2.0, 1000.0])


def root(x: Any) -> Any:
    return np.sum(np.where(x > 1.0, np.sqrt(x - 0.5), x))


def used_twice(x: Any) -> Any:
    z = x - 0.5
    return np.sum(np.where(x < 1.0, 3.0 * x, np.log(z) * z))


def large(x: Any) -> Any:
    return np.sum(np.where(x < 10.0, x * np.exp(x), 2.0 * x))


def nested(x: Any) -> Any:
    return np.sum(np.where(x > -0.5, np.where(x > 1.0, 1.0 / (x * np.sqrt(x)), x), -x) * x)


def by_element(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + np.where(x[i] > 1.0, np.log(x[i]) / x[i], x[i])
    return total


SLOPES = {
    root: lambda x: np.where(x > 1.0, 0.5 / np.sqrt(abs(x - 0.5)), 1.0),
    used_twice: lambda x: np.where(x < 1.0, 3.0, np.log(abs(x - 0.5)) + 1.0),
    large: lambda x: np.where(x < 10.0, (1.0 + x) * np.exp(np.minimum(x, 10.0)), 2.0),
    nested: lambda x: np.where(
        x > -0.5, np.where(x > 1.0, -0.5 * np.maximum(x, 1.0) ** -1.5, 2.0 * x), -2.0 * x),
    by_element: lambda x: np.where(
        x > 1.0, (1.0 - np.log(np.maximum(x, 1.0))) / np.maximum(x, 1.0) ** 2, 1.0),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_gradients_are_those_of_the_branch_taken(f: Callable[..., Any], engine: str) -> None:
    got = ENGINES[engine](jitad.grad(f), X.copy())
    np.testing.assert_allclose(got, SLOPES[f](X), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_unmasked_use_is_not_hidden() -> None:
    def f(x: Any) -> Any:
        z = np.sqrt(x)
        return np.sum(np.where(x > 1.0, z, x)) + np.sum(z)

    for g in (jitad.grad(f), jitad.jit_grad(f)):
        assert np.isnan(g(X)[0]) and np.isinf(g(X)[1]) and np.isfinite(g(X)[2])
