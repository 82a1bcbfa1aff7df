"""Do nests over the same rows run together, where each row waits for its own only?

The truth is NumPy for values, the eager engine (which has no loops) for gradients.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import jit, jit_value_and_grad, value_and_grad

RNG = np.random.default_rng(11)
X, W = RNG.normal(size=(2, 6, 6))


def shares(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


def standardised(x):
    away = x - np.mean(x, axis=1)[:, None]
    return away / np.sqrt(np.mean(away * away, axis=1) + 0.1)[:, None]


def in_turned_rows(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e * np.sum(e, axis=1)[::-1][:, None]


def of_rows_before(x):
    top = np.max(x, axis=1)
    e = np.exp(x - top[:, None])
    e[1:] = e[1:] * e[:-1]
    return e / np.sum(e, axis=1)[:, None]


def of_rows_after(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    e[:-1] = e[:-1] + np.sin(e[1:])
    return e * np.max(e, axis=1)[:, None]


def by_columns_then_rows(x):
    e = np.exp(x - np.max(x, axis=0))
    e = e / np.sum(e, axis=0)
    return e * np.max(e, axis=1)[:, None] / np.sum(e * e)


def turned(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e * np.sum(e, axis=1)[:, None] + np.sin(e.T) * np.max(e, axis=0)[:, None]


def one_after_the_other(x):
    for _ in range(3):
        e = np.exp(x - np.max(x, axis=1)[:, None])
        x = x + e / np.sum(e, axis=1)[:, None] * np.max(x[::-1], axis=1)[:, None]
    return x


ALL = (shares, standardised, in_turned_rows, of_rows_before, of_rows_after, by_columns_then_rows,
       turned, one_after_the_other)  # fmt: skip


@pytest.mark.parametrize("function", ALL)
def test_values_and_gradients(function):
    def weighed(x):
        return np.sum(W * function(x))

    value, gradient = jit_value_and_grad(weighed)(X)
    np.testing.assert_allclose(value, weighed(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, value_and_grad(weighed)(X)[1], rtol=1e-10, atol=1e-13)


def outer_loops(function) -> int:
    compiled = jit(function)
    np.testing.assert_allclose(compiled(X), function(X), rtol=1e-13)
    return sum(line.startswith("    for ") for line in compiled.source.splitlines())


def test_rows_are_read_once():
    assert outer_loops(shares) == 1
    assert outer_loops(lambda x: x / np.max(np.abs(x), axis=1)[:, None]) == 1


def test_what_waits_for_other_rows_stays_behind():
    assert outer_loops(in_turned_rows) == 2
    assert outer_loops(lambda x: np.exp(x) / np.sum(np.exp(x))) > 1
    assert outer_loops(lambda x: x / np.sum(x, axis=0)) > 1
