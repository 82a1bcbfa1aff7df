"""Are largest and smallest elements NumPy's, in vectorised loops, NaN and infinities included?"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import grad, jit, jit_grad


@jit
def extremes(x):
    return np.max(x), np.min(x), np.max(x[::-1]), np.min(-x)


@jit
def along(x):
    return np.max(x, axis=0), np.max(x, axis=1), np.min(x, axis=0), np.min(x, axis=1)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_of_vectors(kind: type) -> None:
    g = np.random.default_rng(0)
    for n in (2, 3, 7, 8, 9, 31, 32, 33, 64, 100, 257):
        x = g.normal(size=n).astype(kind)
        for k in {0, 1, n // 2, n - 1}:
            for odd in (x[k], np.nan, -np.nan, np.inf, -np.inf):
                given = x.copy()
                given[k] = odd
                true = np.max(given), np.min(given), np.max(given), np.min(-given)
                np.testing.assert_array_equal(extremes(given), true)
    for sign in (1.0, -1.0):
        none = np.full(40, sign * np.inf, kind)
        np.testing.assert_array_equal(extremes(none)[:2], [none[0], none[0]])


@pytest.mark.parametrize("shape", [(2, 70), (70, 2), (9, 33)])
def test_along_axes(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    for _ in range(2):
        true = x.max(axis=0), x.max(axis=1), x.min(axis=0), x.min(axis=1)
        for a, b in zip(along(x), true, strict=True):
            np.testing.assert_array_equal(a, b)
        x[1, 1] = np.nan


def test_gradients_with_ties() -> None:
    """They share; 0.0 and -0.0 are the same."""
    x = np.full(50, -1.0)
    x[[3, 20, 49]] = 0.0, -0.0, 0.0
    expected = np.where(x == 0.0, 1.0 / 3.0, 0.0)
    np.testing.assert_allclose(jit_grad(lambda x: np.max(x))(x), expected)
    np.testing.assert_allclose(jit_grad(lambda x: np.min(x))(-x), expected)


@pytest.mark.parametrize("largest", [True, False])
def test_of_python(largest: bool) -> None:
    """The first of equal ones; NaN where it stands first only: as in Python, in both engines."""
    f = (lambda x: 2.0 * max(x)) if largest else (lambda x: 2.0 * min(x))
    compiled = jit_grad(f)
    nan = np.nan
    for x in ([1.0, 3.0, 3.0, 2.0], [2.0, 2.0], [1.0, nan, 0.5], [nan, 1.0, 2.0], [-np.inf, nan]):
        first = 0
        for k in range(len(x)):
            first = k if (x[k] > x[first] if largest else x[k] < x[first]) else first
        want = 2.0 * np.eye(len(x))[first]
        np.testing.assert_array_equal(jit(f)(np.array(x)), f(x))
        np.testing.assert_array_equal(grad(f)(np.array(x)), want)
        np.testing.assert_array_equal(compiled(np.array(x)), want)
    assert jit(f)(np.array([3, 4, 3])) == f([3, 4, 3])
