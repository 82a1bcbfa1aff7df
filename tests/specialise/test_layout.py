"""Are arrays held transposed where loops ask for it, and does it change nothing but memory?

The truth for values is the function run by Python, for derivatives its differences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad

X = np.random.default_rng(3).uniform(0.5, 1.5, (8, 3))


def across(x: Any, y: Any) -> Any:
    """A loop over points that wants one coordinate after another: the reason for turning."""
    total = 0.0
    for i in range(len(y)):
        for k in range(len(y)):
            for j in range(len(y)):
                total += (y[j, 0] - y[i, 1]) * y[j, 2] * x[j, k % 3] + y[k, 1]
    return total


def carried(x: Any) -> Any:
    y = x.copy()
    for t in range(3):
        for i in range(len(y) - 1):
            y[i + 1, 0] += 0.5 * y[i, 1] * y[i, 2]
            y[i, 2] -= 0.1 * y[i, 0]
        y += 0.1 * x * (t + 1)
    return across(x, y) + np.sum(y)


def chosen(x: Any) -> Any:
    y = x * 2.0 if x[0, 0] > 0.1 else np.ones((len(x), 3))
    if x[0, 1] > 0.1:
        for i in range(len(y)):
            y[i, 0] *= y[i, 1]
    return across(x, y)


def replaced(x: Any) -> Any:
    """The argument itself, which can't be turned, takes the place of an array that is."""
    y, z = x * 2.0, x * 3.0
    if x[0, 1] > 0.1:
        y = x
    for t in range(len(x)):
        if t == 2:
            z = x
    return across(x, y) * across(x, z)


def repeated(x: Any) -> Any:
    y = np.zeros((len(x), 3))
    y += x
    while y[0, 0] < 10.0:
        for i in range(len(y)):
            y[i, 0] = y[i, 0] * y[i, 1] + 0.3
            y[i, 1] = 0.9 * y[i, 1] + 0.2
    return across(x, y)


def viewed(x: Any) -> Any:
    """What else may happen to such an array: rows, columns, reductions, products, other shapes."""
    y = x * x
    rows = np.sum(y, axis=1)
    row, column = y[1], y[:, 2]
    flat = y.reshape(len(x) * 3)
    return (across(x, y) + np.sum(rows * column) + row[0] * flat[4] + np.sum(y @ y[0])
            + np.max(y) + np.sum((y.T @ y)[0]))  # fmt: skip


def partly(x: Any) -> Any:
    """Rows and columns are written in place."""
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] * 2.0
    y[:, 1] = x[:, 0]
    return across(x, y)


def in_three_axes(x: Any) -> Any:
    y = np.zeros((len(x), 2, x.shape[1]))
    for i in range(len(x)):
        for c in range(3):
            y[i, 0, c] = x[i, c]
            y[i, 1, c] = x[i, 2 - c] * x[i, c]
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            for k in range(len(x)):
                total += y[j, 0, 1] * y[i, 1, 2] + y[k, 1, 0] * y[k, 0, 2] / y[k, 1, 2]
                total += y[k, 0, 0] * y[k, 1, 1] * y[k, 0, 1]
    return total + np.sum(y[2])


def returned_with_three_axes(x: Any) -> Any:
    """To be put back as they were, where each axis went to another place."""
    y = np.zeros((len(x), 2, x.shape[1]))
    for i in range(len(x)):
        for c in range(3):
            y[i, 0, c] = x[i, c]
            y[i, 1, c] = x[i, 2 - c] * x[i, c]
    for _ in range(len(x)):
        for i in range(1, len(x)):
            for k in range(i):
                y[k, 0, 0] += 0.1 * y[k, 1, 1] * y[k, 0, 1] / y[k, 1, 2]
    return y


def recorded(x: Any) -> Any:
    """The reverse sweep wants the array as it was in each step."""
    y, v = x.copy(), np.zeros((len(x), 3))
    for _ in range(len(x) // 3):
        for i in range(len(y)):
            for j in range(i):
                pull = 0.1 * y[j, 0] * y[i, 1] / (1.0 + y[j, 2] * y[j, 2])
                v[j, 0] += pull * y[j, 1]
                v[j, 2] -= pull
        y = y + 0.1 * v
    return np.sum(y * y)


def at_random(x: Any) -> Any:
    """Places that come from data are not neighbours in any order."""
    y = x.copy()
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            k = int(x[j, 0] * 5.0) % len(x)
            total += y[k, 0] * y[k, 1] * x[i, 0]
    return total


PROGRAMS = [carried, chosen, replaced, repeated, viewed, partly, in_three_axes, recorded, at_random]


def differences(f: Callable[[Any], Any], x: Any) -> Any:
    """Central differences of two steps, extrapolated."""
    out = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        slopes = []
        for step in (2e-4, 1e-4):
            high, low = x.copy(), x.copy()
            high[at] += step
            low[at] -= step
            slopes.append((f(high) - f(low)) / (2.0 * step))
        out[at] = (4.0 * slopes[1] - slopes[0]) / 3.0
    return out


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients(f: Callable[[Any], Any]) -> None:
    before = X.copy()
    assert np.isclose(jit(f)(X), f(X), rtol=1e-13)
    expected = differences(f, X)
    assert np.allclose(jit_grad(f)(X), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert np.array_equal(X, before)


def turned(f: Callable[[Any], Any]) -> bool:
    """Does the pass change the tape of the function?"""
    compiled = jit(f)
    compiled(X)
    return str(compiled.tape("gather")) != str(compiled.tape("lay out"))


def test_axes_are_put_back() -> None:
    f = jit(returned_with_three_axes)
    found = f(X)
    assert found.shape == (8, 2, 3)
    np.testing.assert_allclose(found, returned_with_three_axes(X), rtol=1e-13)
    turned = re.search(r"= (empty|zeros)\(np.float64, (.*)\)", f.source)
    assert turned is not None and not turned[2].startswith("n"), f.source


@pytest.mark.parametrize("f", [carried, chosen, repeated, viewed, partly, in_three_axes, recorded],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_points_are_held_by_coordinate(f: Callable[[Any], Any]) -> None:
    assert turned(f)


@pytest.mark.parametrize("f", [at_random], ids=lambda f: f.__name__)
def test_what_is_left_as_it_is(f: Callable[[Any], Any]) -> None:
    assert not turned(f)


def test_rows_are_left_as_they_are() -> None:
    """The inner loop goes along the last axis already."""

    def f(x: Any) -> Any:
        y = x.copy()
        total = 0.0
        for i in range(len(y)):
            for c in range(y.shape[1]):
                y[i, c] *= 2.0
                total += y[i, c]
        return total

    assert not turned(f)


def test_a_result_is_in_the_order_of_its_axes() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        for _ in range(len(y)):
            for i in range(1, len(y)):
                y[i, 0] += 0.1 * y[i - 1, 1] * y[i - 1, 2]
        return y

    assert turned(f)
    out = jit(f)(X)
    assert out.flags.c_contiguous
    assert np.allclose(out, f(X), rtol=1e-15)


def test_a_result_that_is_gone_through_once_is_not_turned_only_to_be_turned_back() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x[:, 0]) * x[:, 1] * x[:, 2])

    gradient = jit_grad(f)
    a, b, c = X.T
    expected = np.stack([np.cos(a) * b * c, np.sin(a) * c, np.sin(a) * b], axis=1)
    assert np.allclose(gradient(X), expected, rtol=1e-13)
    assert len(re.findall(r"^ +for ", gradient.source, re.MULTILINE)) == 1


def test_an_array_made_anew_is_recorded_as_a_whole() -> None:
    """Once a step, not element by element each time that one is read."""
    g = jit_grad(recorded)
    g(X)
    assert "kept = empty(" in g.source  # with a place for each step
    assert "kept1" not in g.source


def columns(x: Any) -> Any:
    """A recurrence along rows: each step goes down a column, of the argument too."""
    y = np.zeros((len(x), x.shape[1]))
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = 0.5 * y[:, j - 1] * x[:, j] + x[:, j - 1]
    return np.sum(y * y)


def test_a_parameter_is_turned_by_a_copy() -> None:
    x = np.random.default_rng(3).uniform(0.5, 1.5, (9, 12))
    g = jit_grad(columns)
    for a in (x, np.asfortranarray(x), x[::2, ::3]):
        got, before = g(a), a.copy()
        np.testing.assert_array_equal(a, before)
        want = np.empty(a.shape)
        for k in np.ndindex(a.shape):
            moved = a.astype(complex)
            moved[k] += 1e-30j
            want[k] = columns_of(moved) / 1e-30
        np.testing.assert_allclose(got, want, rtol=1e-12)
    loop = g.source[g.source.index("range(1, ") :]
    assert "x[i, j" not in loop and "load(x, i, j" not in loop


def columns_of(x: Any) -> float:
    y = np.zeros(x.shape, complex)
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = 0.5 * y[:, j - 1] * x[:, j] + x[:, j - 1]
    return float(np.sum(y * y).imag)


def first_columns(x: Any, n: int) -> Any:
    total = np.zeros(len(x))
    for j in range(n):
        total = total * 0.5 + x[:, j] * x[:, j]
    return total


def test_a_parameter_of_which_little_is_read_is_not_copied() -> None:
    f = jit(first_columns)
    x = np.random.default_rng(3).uniform(0.5, 1.5, (9, 12))
    np.testing.assert_allclose(f(x, 2), first_columns(x, 2), rtol=1e-14)
    copies = [e for e in f.tape("last fold").splitlines() if " = copy " in e]
    assert not copies


def test_parts_put_together_along_either_axis() -> None:
    def f(x: Any) -> Any:
        for _ in range(3):
            y = np.concatenate((x[:, :1] * 2.0, x[:, 1:]), axis=1)
            y = np.concatenate((y[:1] * 0.5, y[1:]), axis=0)
            x = y + 0.1 * np.sum(y, axis=0) + 0.2 * np.sum(y, axis=1)[:, None]
            x = x * 0.5 + 0.1 * across(x, y)
        return np.sum(x)

    x = X / 10.0
    assert np.isclose(jit(f)(x), f(x), rtol=1e-12)
