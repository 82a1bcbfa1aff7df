"""Which recurrences are read as the loop has left them, and are all gradients right?

The truth is a derivative by complex steps of the function itself, run by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit_grad

X = np.random.default_rng(3).uniform(0.5, 1.5, 7)


def prefix(x: Any) -> Any:
    y = 0.0 * x
    for i in range(len(x)):
        y[i] = x[i] - 0.3 * np.dot(x[:i] * y[:i], y[:i])
    return np.sum(y * y)


def suffix(x: Any) -> Any:
    y = 0.0 * x
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] + 0.1 * np.dot(y[i + 1 :], y[i + 1 :])
    return np.sum(y * y)


def two_back(x: Any) -> Any:
    y = x.copy()
    for i in range(2, len(x)):
        y[i] = x[i] * y[i - 1] + y[i - 2] * y[i - 2]
    return np.sum(y * y)


def columns(x: Any) -> Any:
    y = np.outer(x, x)
    for j in range(1, len(x)):
        y[:, j] = x * y[:, j - 1] * y[:, j - 1]
    return np.sum(y)


def after_the_write(x: Any) -> Any:
    """What has just been written is read in the same iteration, by an inner loop, too."""
    y, total = 0.0 * x, 0.0
    for i in range(len(x)):
        y[i] = x[i] * x[i]
        for j in range(3):
            total = total + y[i] * y[i] * x[j]
    return total


def steps_of_two(x: Any) -> Any:
    y = x.copy()
    for i in range(2, len(x), 2):
        y[i] = x[i] * y[i - 2] * y[i - 1]
    return np.sum(y * y)


SETTLED = [prefix, suffix, two_back, columns, after_the_write, steps_of_two]


def ahead(x: Any) -> Any:
    """What is read will be overwritten."""
    y = x.copy()
    for i in range(len(x) - 1):
        y[i] = y[i + 1] * y[i + 1]
    return np.sum(y * y)


def in_place(x: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        y[i] = y[i] * y[i]
    return np.sum(y * y)


def twice(x: Any) -> Any:
    """Read between two writes to one place."""
    y = x.copy()
    total = 0.0
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
        total = total + y[i] * y[i]
        y[i] = total * x[i]
    return np.sum(y * y)


def standing(x: Any) -> Any:
    """The place of the writes doesn't move."""
    y = x.copy()
    for i in range(len(x)):
        y[0] = y[0] * x[i] + y[1] * y[0]
    return np.sum(y * y)


def slice_too_long(x: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        y[i] = np.dot(y[: i + 1], y[: i + 1])
    return np.sum(y)


def two_places(x: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = y[i - 1] * x[i]
        y[i + 1] = y[i] * y[i]
    return np.sum(y)


def again_and_again(x: Any) -> Any:
    """A loop around runs over the same places."""
    y = x.copy()
    for _ in range(3):
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i] + y[i - 1] * y[i - 1] * x[i]
    return np.sum(y * y)


def written_later(x: Any) -> Any:
    """After the loop, what it has left is overwritten."""
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i] * y[i - 1]
    total = np.sum(y * y)
    for i in range(len(x) - 2, -1, -1):
        y[i] = y[i + 1] * y[i + 1]
    y[0] = 2.0 * x[0]
    return total + np.sum(y)


def whole(x: Any) -> Any:
    """All of the array is read in each iteration."""
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = np.sum(y * y) * x[i]
    return np.sum(y)


def whole_further_in(x: Any) -> Any:
    """An inner loop, which carries no version of the array, uses more than its elements."""
    y, s = x.copy(), x[0]
    for _ in range(len(x)):
        y[1] = s
        for e in x:
            if np.real(e) > 0.6:
                s = 0.3 * (x @ y) + np.cos(s)
    return s


def whole_in_a_while(x: Any) -> Any:
    y, s = x.copy(), x[0]
    for i in range(len(x)):
        y[i] = s
        t = 1.0
        while np.real(t) < 4.0:
            t = t + np.real(np.sin(s) ** 2)
            s = 0.2 * (x @ np.roll(y, 1)) + np.cos(s * x[0])
    return s


def from_the_other_end(x: Any) -> Any:
    """Places that the loop has yet to write are read mirrored."""
    y = x.copy()
    for i in range(len(x) - 1):
        y[i] = y[len(x) - 1 - i] * y[len(x) - 1 - i]
    return np.sum(y * y)


OTHERS = [ahead, in_place, twice, standing, slice_too_long, two_places, again_and_again,
          written_later, whole, whole_further_in, whole_in_a_while, from_the_other_end]  # fmt: skip


def by_complex_steps(f: Callable[[Any], Any], x: Any) -> Any:
    out = np.empty(len(x))
    for k in range(len(x)):
        moved = x.astype(complex)
        moved[k] += 1e-30j
        out[k] = f(moved).imag / 1e-30
    return out


@pytest.mark.parametrize("f", SETTLED + OTHERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [2, 7])
def test_gradients(f: Callable[[Any], Any], n: int) -> None:
    x = X[:n] if f is not after_the_write or n > 2 else X[:3]
    expected = by_complex_steps(f, x)
    found = jit_grad(f)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def records_the_array(f: Callable[[Any], Any]) -> bool:
    g = jit_grad(f)
    g(X)
    return "kept" in g.source


@pytest.mark.parametrize("f", SETTLED, ids=lambda f: f.__name__)
def test_nothing_is_recorded(f: Callable[[Any], Any]) -> None:
    assert not records_the_array(f)


@pytest.mark.parametrize("f", [ahead, in_place, twice, from_the_other_end],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_what_is_overwritten_is_recorded(f: Callable[[Any], Any]) -> None:
    assert records_the_array(f)
