"""Which products with columns are added up by rows, and does nothing else change?

The truth for values is the function run by Python, for gradients the complex step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import hessian, jit, jit_grad, jit_hessian
from tests.jacobians.truth import complex_step

rng = np.random.default_rng(5)
X = rng.normal(size=(9, 9)) / 3.0 + 3.0 * np.eye(9)


def crout(x: Any) -> Any:
    """LU decomposition, the lower rows with the diagonal's reciprocals."""
    m, n = x.copy(), len(x)
    for i in range(n):
        for j in range(i):
            m[i, j] = (m[i, j] - np.dot(m[i, :j], m[:j, j])) / m[j, j]
        for j in range(i, n):
            m[i, j] -= np.dot(m[i, :i], m[:i, j])
    return np.sum(m * m)


def no_pivots(x: Any) -> Any:
    """The rows that are added are not touched otherwise."""
    m, n = 0.3 * x, len(x)
    for i in range(n):
        for j in range(i):
            m[i, j] = m[i, j] - m[:j, j] @ m[i, :j]
        for j in range(i, n):
            m[i, j] -= np.dot(m[i, :i], m[:i, j])
    return np.sum(np.sin(m))


def bent(x: Any) -> Any:
    """The sums are needed again by the derivative."""
    m, n = 0.3 * x, len(x)
    for i in range(n):
        for j in range(i):
            m[i, j] = np.tanh(m[i, j] * np.sum(m[i, :j] * m[:j, j]))
    return np.sum(m * m)


def part(x: Any) -> Any:
    """Neither the first rows and columns nor the last belong to it."""
    m, n = 0.3 * x, len(x)
    for i in range(4, n - 1):
        for k in range(i - 3):
            m[i, 2 + k] -= m[i, 1 : 1 + k] @ m[2 : 2 + k, 2 + k]
        for j in range(i - 1, n - 1):
            m[i, j + 1] -= np.dot(m[i - 1, 1:i], m[: i - 1, j])
    return np.sum(m * m)


def doolittle(x: Any) -> Any:
    """Rows and columns in turns, the columns of products with rows that move."""
    m, n = x.copy(), len(x)
    for i in range(n):
        for j in range(i, n):
            m[i, j] -= m[i, :i] @ m[:i, j]
        for j in range(i + 1, n):
            m[j, i] = (m[j, i] - m[j, :i] @ m[:i, i]) / m[i, i]
    return np.sum(m * m)


def squared(x: Any) -> Any:
    """A matrix that no loop changes; one product an iteration is not used."""
    y, total = np.cos(x), 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += np.dot(y[i, :], y[:, j]) ** 2 + 0.1 * np.dot(y[i, :2], y[2:4, 1 + j // 2])
    return total


def wide(x: Any) -> Any:
    """There are more columns than rows, and an outer loop that ends when it likes."""
    m = np.concatenate((x, np.sin(x)), axis=1)
    t = 0
    while t < 2:
        for i in range(len(x)):
            for j in range(i):
                m[i, j] = (m[i, j] - np.dot(m[i, :j], m[:j, j])) / (2.0 + m[j, j])
            for j in range(i, 2 * len(x)):
                m[i, j] -= np.dot(m[i, :i], m[:i, j])
        t += 1
    return np.sum(m * m)


def at_times(x: Any) -> Any:
    """Loops that don't run at times, and would read what is not there."""
    m, n = 0.3 * x, len(x)
    for i in range(n + 2):
        for j in range(i, n):
            m[i, j] -= m[i, :i] @ m[:i, j]
        for j in range(i + 1, n):
            m[j, i] -= m[j, :i] @ m[:i, i]
        for j in range(n - i - 2):
            m[i, j] -= m[i, :j] @ m[:j, j]
    return np.sum(m * m)


PROGRAMS = [crout, no_pivots, bent, part, doolittle, squared, wide, at_times]


@pytest.mark.parametrize(
    ("f", "n"), [*((f, 6) for f in PROGRAMS), (crout, 9), (crout, 2), (bent, 3)]
)
def test_values_and_gradients(f: Callable[[Any], Any], n: int) -> None:
    x = X[:n, :n]
    before = x.copy()
    primal, gradient = jit(f), jit_grad(f)
    assert np.isclose(primal(x), f(x), rtol=1e-12)
    expected = complex_step(f, x)
    assert np.allclose(gradient(x), expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
    assert changed(primal) and changed(gradient)
    assert np.array_equal(x, before)


def test_derivatives_of_derivatives() -> None:
    x = X[:3, :3]
    assert np.allclose(jit_hessian(bent)(x), hessian(bent)(x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("turned", [X[::-1].T, np.asfortranarray(X), X.astype(np.float32)],
                         ids=["strided", "by columns", "float32"])  # fmt: skip
def test_arguments_of_any_layout_and_type(turned: Any) -> None:
    expected = complex_step(crout, turned.astype(float))
    tolerance = 2e-5 if turned.dtype == np.float32 else 1e-11
    scale = np.abs(expected).max()
    assert np.allclose(jit_grad(crout)(turned), expected, rtol=0.0, atol=tolerance * scale)


def test_nothing_strides_in_the_inner_loops_and_nothing_is_held_twice() -> None:
    g = jit_grad(crout)
    g(X)
    loop = r"\n( +)for (\w) in range\((?:1, )?\w+\):\n((?:\1    (?!for ).*\n)+)"
    inner = re.findall(loop, g.source)
    nested = [(index, text) for space, index, text in inner if len(space) > 8]
    assert len(nested) >= 4
    assert not any(re.search(rf"[\[ ]{index}, ", text) for index, text in nested)
    matrices = re.findall(r"(?:empty|zeros)\(np.float64, \w+, \w+\)", g.source)
    assert len(matrices) == 2  # the factors and their adjoint


def changed(compiled: Any) -> bool:
    """Has the pass changed the tape of a function that was called?"""
    return str(compiled.tape("turn")) != str(compiled.tape("columns"))


def elements_change(x: Any) -> Any:
    """What has been added would change afterwards."""
    m = 0.3 * x
    for i in range(len(x)):
        for j in range(i):
            m[i, j] -= np.dot(m[i, :j], m[:j, j])
            m[i, 0] *= 1.1
    return np.sum(m * m)


def columns_change(x: Any) -> Any:
    m, n = 0.3 * x, len(x)
    for i in range(n):
        for j in range(i):
            m[i, j] -= np.dot(m[i, :j], m[:j, j])
            m[j, n - 1] += m[i, j]
            m[0, j + 1] -= 0.1 * m[i, j]
    return np.sum(m * m)


def read_before(x: Any) -> Any:
    """An iteration changes columns that later ones read as a whole."""
    m = 0.3 * x
    for i in range(len(x) - 1):
        for j in range(i, len(x)):
            m[i, j] -= np.dot(m[i, :i], m[:i, j])
            m[i // 2, j] += 0.5
            m[0, len(x) - 1] *= 0.9
    return np.sum(m * m)


def one_more(x: Any) -> Any:
    """The element of the iteration itself is in its sum."""
    m = 0.3 * x
    for i in range(len(x)):
        for j in range(i):
            m[i, j] -= np.dot(m[i, : j + 1], m[: j + 1, j])
    return np.sum(m * m)


def past_the_end(x: Any) -> Any:
    """What the last iteration ends with is no element, nor is there such a row."""
    m, n, total = 0.3 * x, len(x), 0.0
    for i in range(n):
        for j in range(n + 1):
            total += np.dot(m[i, :j], m[:j, min(j, 1)])
    return total


def with_an_error(x: Any) -> Any:
    m = 0.3 * x
    for i in range(len(x)):
        for j in range(i):
            m[i, j] -= np.dot(m[i, :j], m[:j, j])
            if m[i, j] > 100.0:
                raise ValueError("too large")
    return np.sum(m * m)


def of_rows_only(x: Any) -> Any:
    m = 0.3 * x
    for i in range(len(x)):
        for j in range(i):
            m[i, j] -= np.dot(m[i, :j], m[j, :j])
    return np.sum(m * m)


OTHERS = [elements_change, columns_change, read_before, one_more, past_the_end, with_an_error,
          of_rows_only]  # fmt: skip


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_others_stay(f: Callable[[Any], Any]) -> None:
    primal, gradient = jit(f), jit_grad(f)
    assert np.isclose(primal(X), f(X), rtol=1e-12)
    expected = complex_step(f, X)
    assert np.allclose(gradient(X), expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
    assert not changed(primal) and not changed(gradient)
