"""Do the products of a loop become one, and is what the loop computes the same?

The truth for values is the function run by Python, for gradients the complex step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad
from jitad.errors import JitadError
from tests.jacobians.truth import complex_step

X = np.random.default_rng(7).normal(size=(6, 4))


def triangle(x: Any) -> Any:
    """Rows of the product from i on, stored in rows and columns."""
    m = x.shape[1]
    c = np.zeros((m, m), x.dtype)
    for i in range(m):
        c[i:, i] = x[:, i] @ x[:, i:] / 5.0
        c[i, i:] = c[i:, i]
    return np.sum(c**3)


def up_to(x: Any) -> Any:
    """Rows against rows, up to i and without it; both factors are computed."""
    y, z = np.sin(x), x * x
    n = len(x)
    c = np.ones((n, n), x.dtype)
    for i in range(n):
        c[i, :i] = z[:i] @ y[i]
    return np.sum(c * c * c[0, 1])


def whole(x: Any) -> Any:
    """Two matrices of different shape, one of them turned, and an effect in the loop."""
    y = np.cos(x) @ x.T
    c = np.zeros((x.shape[1], len(x)), x.dtype)
    for i in range(x.shape[1]):
        if i > 7:
            raise ValueError("no")
        c[i] = y.T @ x[:, i]
        c[i, 1] += c[i, 0] * c[i, 2]
    return np.sum(c * c)


@pytest.mark.parametrize("f", [triangle, up_to, whole], ids=lambda f: f.__name__)
def test_one_product_for_all_iterations(f: Callable[[Any], Any]) -> None:
    assert np.isclose(jit(f)(X), f(X), rtol=1e-13)
    g = jit_grad(f)
    expected = complex_step(f, X)
    assert np.allclose(g(X), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    (inside,) = products(g.tape("masks"))
    (outside,) = products(g.tape("families"))
    assert inside == inside.replace("f8[:,:]", "f8[:]") and outside.count(":,:") == 1


def products(tape: Any) -> list[str]:
    """Types of the products in loops of a tape; of those in front of them, if there are none."""
    lines = [line for line in str(tape).splitlines() if " = matmul " in line]
    deepest = max(len(line) - len(line.lstrip()) for line in lines)
    return [line.split(" = ")[0].split(":", 1)[1] for line in lines
            if len(line) - len(line.lstrip()) == deepest][-1:]  # fmt: skip


def windows(x: Any) -> Any:
    """Of the product of all rows these are a band."""
    n = len(x)
    c = np.zeros((n, n))
    for i in range(n):
        end = min(i + 2, n)
        c[i, i:end] = x[i:end] @ x[i]
    return np.sum(c)


def vectors_only(x: Any) -> Any:
    """Memory for the product of all would be more than there is."""
    total = np.zeros(len(x))
    for i in range(len(x)):
        total += np.sin(x @ x[i])
    return total


def some_rows(x: Any) -> Any:
    c = np.zeros((len(x), len(x)))
    for i in range(2):
        c[i] = x @ x[i]
    return c


def being_written(x: Any) -> Any:
    y, c = x.copy(), np.zeros((len(x), len(x)))
    for i in range(len(x)):
        c[i] = y @ y[i]
        y[i] *= 0.5
    return c


@pytest.mark.parametrize(
    "f", [windows, vectors_only, some_rows, being_written], ids=lambda f: f.__name__
)
def test_what_stays_in_its_loop(f: Callable[[Any], Any]) -> None:
    compiled = jit(f)
    np.testing.assert_allclose(compiled(X), f(X), rtol=1e-13)
    assert str(compiled.tape("masks")) == str(compiled.tape("families"))


def test_extents_that_do_not_fit_are_named() -> None:
    def f(x: Any, y: Any) -> Any:
        c = np.zeros((len(x), len(x)))
        for i in range(len(x)):
            c[i] = x @ y[i]
        return c

    y = np.ones((len(X), 4))
    g = jit(f)
    assert np.allclose(g(X, y), f(X, y))
    for wrong in (np.ones((6, 9)), np.ones((3, 4))):
        with pytest.raises((ValueError, IndexError)):
            f(X, wrong)
        with pytest.raises(JitadError):
            g(X, wrong)


def test_nothing_of_no_iterations() -> None:
    g = jit(triangle)
    assert g(X) == pytest.approx(triangle(X))
    assert g(np.ones((0, 3))) == 0.0
    assert g(np.ones((3, 0))) == 0.0
