"""Are changes of shape views where they can be, and right where they can't?

The truth is the derivative by complex steps of the function in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit_grad
from tests.sweeps.test_settled import by_complex_steps

X = np.random.default_rng(5).uniform(0.5, 1.5, 6)


def pairs(x: Any) -> Any:
    column = x.reshape(len(x), 1)
    d = column.T - column
    return np.sum(d * d * np.exp(d))


def there_and_back(x: Any) -> Any:
    y = np.reshape(np.reshape(x * x, (3, 2)), (6,))
    return np.sum(y * x)


def extra_axes(x: Any) -> Any:
    y = np.expand_dims(x.reshape(2, 3), 1) * np.ones((4, 1))
    return np.sum(np.squeeze(y[:, :1]) ** 2) + np.sum(y**3)


def written_through(x: Any) -> Any:
    y = 2.0 * x
    z = y.reshape(6, 1)
    z[2:, 0] = y[:4] * y[2:]
    y.reshape(1, 6)[0, 0] = x[5]
    return np.sum(y * y) + np.sum(z)


def carried(x: Any) -> Any:
    y = x.reshape(6, 1).copy()
    for k in range(3):
        y[1:] = y[1:] * y[:-1] + x[k]
    return np.sum(y.reshape(6) * x)


def all_ones(x: Any) -> Any:
    return np.sum(np.reshape(np.sum(x * x), (1, 1)) * x.reshape(1, 6))


PROGRAMS = [pairs, there_and_back, extra_axes, written_through, carried, all_ones]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    expected = by_complex_steps(f, X)
    found = jit_grad(f)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("f", [pairs, there_and_back], ids=lambda f: f.__name__)
def test_no_shape_is_changed_on_the_way(f: Callable[[Any], Any]) -> None:
    """Only the result may have to be given the shape that it is returned in."""
    g = jit_grad(f)
    g(X)
    assert g.source.count(".reshape(") <= 1
