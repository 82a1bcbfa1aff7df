"""Are products rewritten where that pays, and do they stay right?  Truth: complex steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit_grad
from tests.sweeps.test_settled import by_complex_steps

X = np.random.default_rng(6).uniform(0.5, 1.5, 6)
W = np.random.default_rng(7).normal(size=(3, 3))


def gram(x: Any) -> Any:
    a = x.reshape(2, 3)
    return np.sum((a.T @ a) * W)


def turned(x: Any) -> Any:
    a = x.reshape(2, 3)
    return np.sum(((a @ W).T @ (a * a)).T ** 2)


def used_again(x: Any) -> Any:
    a = np.outer(x[:3], x[3:])
    p, q = a @ W, a @ (a * a)
    return np.sum(p * p) + np.sum((p + q) * a)


def with_vectors(x: Any) -> Any:
    a = np.exp(np.outer(x, 1.0 / x))
    return np.sum(a @ x) + np.dot(x @ (a * x), x) + np.sum((a * a).T @ x) + x @ np.sin(a).T @ x


def in_a_loop(x: Any) -> Any:
    y = x[:3] * 1.0
    for k in range(3):
        y = (W * x[k]) @ y + (np.outer(y, x[3:]) + W).T @ y
    return np.sum(y * y)


@pytest.mark.parametrize("f", [gram, turned, used_again, with_vectors, in_a_loop],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_gradients(f: Callable[[Any], Any]) -> None:
    expected = by_complex_steps(f, X)
    found = jit_grad(f)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def source_of(f: Callable[[Any], Any]) -> str:
    g = jit_grad(f)
    g(X)
    return g.source


def test_the_adjoint_of_a_gram_matrix_is_one_product() -> None:
    """The value isn't asked for: of the two products of the adjoint one is left."""

    def f(a: Any, w: Any) -> Any:
        return np.sum((a.T @ a) * w)

    a, w = np.outer(X, X[:4]), np.outer(X[:4], X[2:])
    g = jit_grad(f)
    np.testing.assert_allclose(g(a, w), a @ (w + w.T), rtol=1e-13)
    assert g.source.count(" times(") + g.source.count("np.dot(") == 1


def test_what_is_computed_for_a_product_with_a_vector_has_no_memory() -> None:
    def f(x: Any) -> Any:
        a = np.outer(x, x)
        return np.sum((a * 2.0 + 1.0) @ x)

    assert "np.dot(" not in source_of(f) and " times(" not in source_of(f)
    assert "empty(np.float64, n, n)" not in source_of(f)
