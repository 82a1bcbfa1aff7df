"""Are matrices held twice where loops go through rows and columns, and does nothing else change?

The truth for values is the function run by Python, for gradients the complex step, or differences
where numbers are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad
from tests.jacobians.truth import complex_step
from tests.specialise.test_layout import differences

rng = np.random.default_rng(5)
X = rng.normal(size=(9, 9)) / 3.0 + 3.0 * np.eye(9)


def factored(x: Any) -> Any:
    """LU decomposition, Crout's way: products of rows and columns of what is being written."""
    m, n = x.copy(), len(x)
    for i in range(n):
        for j in range(i):
            m[i, j] = (m[i, j] - np.dot(m[i, :j] * 1.5, m[:j, j])) / m[j, j]
        for j in range(i, n):
            m[i, j] -= np.dot(m[i, :i] * 1.5, m[:i, j])
    return np.sum(m * m)


def by_elements(x: Any) -> Any:
    m, n = x.copy(), len(x)
    for i in range(n):
        for j in range(i):
            s = m[i, j]
            for k in range(j):
                s -= m[i, k] * m[k, j]
            m[i, j] = s / m[j, j]
        for j in range(i, n):
            s = m[i, j]
            for k in range(i):
                s -= m[i, k] * m[k, j]
            m[i, j] = s
    return np.sum(m * m)


def of_a_product(x: Any) -> Any:
    """The matrix is made in the tape, rows of it are written, and it is used as a whole."""
    m, n = x @ x, len(x)
    total = 0.0
    for t in range(n):
        for i in range(n):
            m[i, t] += 0.1 * np.dot(m[i], m[:, i])
        m[t] = 0.5 * m[t]
        m[:, t] *= 0.9
    for i in range(n):
        for j in range(n):
            total += np.dot(m[i] * 1.5, m[:, j])
    return total + np.sum((m @ m) * m.T)


def as_made(x: Any) -> Any:
    """No loop carries the matrix: the innermost reads it as it was made."""
    m, total = np.sin(x), 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += np.dot(m[i, : j // 2], m[: j // 2, j - 1]) * np.dot(m[:j, i], m[j, :j])
    return total


def chosen(x: Any) -> Any:
    """Paths meet, one of them with the argument itself, in a loop that ends when it likes."""
    m, n = x * 2.0, len(x)
    if x[0, 1] > 5.0:
        m = x
    s, k = 0.0, 0
    while k < n and s < 1e6:
        for i in range(n):
            for j in range(n):
                s += np.dot(m[i, :k] * 1.5, m[:k, j]) ** 2
        if s > 0.5:
            m[k, k] = 0.5 * s / (1.0 + s)
        k += 1
    return s + m[1, 2]


PROGRAMS = [factored, by_elements, of_a_product, as_made, chosen]


@pytest.mark.parametrize(
    ("f", "x"),
    [(factored, X), (factored, np.asfortranarray(X)), (factored, X[::2, ::2]),
     *((f, X[2:, 2:]) for f in PROGRAMS[1:])],
    ids=lambda a: getattr(a, "__name__", ""),
)  # fmt: skip
def test_values_and_gradients(f: Callable[[Any], Any], x: Any) -> None:
    before = x.copy()
    assert np.isclose(jit(f)(x), f(x), rtol=1e-12)
    slow = f is chosen  # compares
    expected = differences(f, x) if slow else complex_step(f, x)
    tolerance = (1e-8 if slow else 1e-11) * np.abs(expected).max()
    g = jit_grad(f)
    assert np.allclose(g(x), expected, rtol=0.0, atol=tolerance)
    assert changed(g)
    assert np.array_equal(x, before)


def changed(compiled: Any) -> bool:
    """Has the pass changed the tape of a function that was called?"""
    return str(compiled.tape("sink")) != str(compiled.tape("mirrors"))


def test_nothing_strides_in_the_inner_loops_of_a_factorisation() -> None:
    def f(x: Any) -> Any:
        m, n, total = x.copy(), len(x), 0.0
        for i in range(n):
            for j in range(i):
                m[i, j] = (m[i, j] - np.dot(m[i, :j] * 1.5, m[:j, j])) / m[j, j]
            for j in range(i, n):
                m[i, j] -= np.dot(m[i, :i] * 1.5, m[:i, j])
        for i in range(n):
            total += np.dot(m[i], m[i])
        return total

    g = jit_grad(f)
    assert np.allclose(g(X), complex_step(f, X), rtol=0.0, atol=1e-10)
    inner = [line for line in g.source.splitlines() if line.startswith(" " * 16)]
    assert sum("l]" in line or ", l)" in line for line in inner) >= 5
    assert not any("[l, " in line or ", l, " in line for line in inner)


def rows_only(x: Any) -> Any:
    m, total = x.copy(), 0.0
    for i in range(len(m)):
        for j in range(i):
            total += np.dot(m[i], m[j])
    return total


def written_as_often(x: Any) -> Any:
    m = x.copy()
    for i in range(len(m)):
        for j in range(len(m)):
            m[i, :j] = m[:j, j] * 0.5
    return np.sum(m)


@pytest.mark.parametrize("f", [rows_only, written_as_often], ids=lambda f: f.__name__)
def test_others_are_held_once(f: Callable[[Any], Any]) -> None:
    compiled = jit(f)
    compiled(X)
    assert not changed(compiled)


def summed_both_ways(x: Any) -> Any:
    """Sums of the user's keep their order: each element is small after it was large."""
    total = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            total[i, :] += 1e16 * x[j]
            total[:, j] += x[i]
            total[i, :] -= 1e16 * x[j]
    return total


def test_sums_of_the_user_keep_their_order() -> None:
    x = np.ones((9, 9))
    compiled = jit(summed_both_ways)
    assert np.array_equal(compiled(x), summed_both_ways(x))
    assert not changed(compiled)


def test_a_mirror_has_the_numbers_of_its_matrix() -> None:
    """To the last bit, also where a product and a sum may be one instruction."""

    def f(x: Any) -> Any:
        m, n = x.copy(), len(x)
        apart = 0.0
        for t in range(n):
            m[t, :] -= m[t, 0] * x[0]
            for i in range(n):
                for j in range(n):
                    one, other = np.dot(m[i], x[j]), np.dot(m[:, i], x[j])
                    apart += abs(one - other)
            for i in range(n):
                m[i, t] = m[t, i]
        return apart, np.max(np.abs(m - m.T))

    compiled = jit(f)
    assert np.allclose(compiled(X), f(X), rtol=1e-12, atol=0.0)
    assert changed(compiled)
