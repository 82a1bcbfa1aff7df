"""Is nothing recorded of a `while` loop whose float results are sums, whatever its past?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import derivative, jit, jit_grad, jit_value_and_grad

X = np.array([0.3, -1.2, 0.7, 2.1])
LINKS = np.array([2, 3, 1, 4, 0])


def along_a_list(x: Any, links: Any, h: Any) -> Any:
    """Ints, a float that changes its sign, and an array that is written: all without derivative."""
    after = links.copy()
    total, sign, at = 0.0, 1.0, after[4]
    while at != 4:
        total += sign * math.sin(x[at]) * x[0]
        here = at
        at, sign = after[here], -sign
        after[here] = 4
    return total + after[0]


def ever_smaller_steps(x: Any, links: Any, h: Any) -> Any:
    total = 0.0
    while h > 1e-3:
        total += h * math.exp(x[1] * h) * x[3]
        h *= 0.5
    return total


def until_it_is_enough(x: Any, links: Any, h: Any) -> Any:
    """The condition looks at the sum itself."""
    total, k = x[0], 1
    while total < 30.0:
        total += k * x[3] * x[3]
        k += 1
    return total * x[2]


def sums_in_sums(x: Any, links: Any, h: Any) -> Any:
    total, i = 0.0, links[4]
    while i < 4:
        inner, j = 0.0, i
        while j < 4:
            inner += x[i] * x[j] * (j + 1.0)
            j += 2
        total += math.sin(inner) if inner > 0.0 else inner * inner
        i += 1
    return total


def slope(f: Callable[[Any], Any], x: Any) -> Any:
    """Differences of fourth order; no step crosses a condition."""
    out, h = np.zeros(len(x)), 1e-3
    for k in range(len(x)):
        e = np.zeros(len(x))
        e[k] = h
        out[k] = (8.0 * (f(x + e) - f(x - e)) - (f(x + 2.0 * e) - f(x - 2.0 * e))) / (12.0 * h)
    return out


PROGRAMS = (along_a_list, ever_smaller_steps, until_it_is_enough, sums_in_sums)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f: Callable[[Any], Any]) -> None:
    g = jit_value_and_grad(f)
    value, gradient = g(X, LINKS, 1.0)
    assert value == pytest.approx(f(X, LINKS, 1.0), rel=1e-14)
    expected = slope(lambda x: f(x, LINKS, 1.0), X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-9)
    loops = [line for line in g.source.split("\n") if line.lstrip().startswith("while ")]
    if f is not sums_in_sums:  # whose inner sum is asked for before its sensitivity is known
        assert "kept" not in g.source and len(loops) == 1


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    along = np.array([0.5, -0.3, 0.2, 0.1])
    gradient = jit_grad(f)
    found = jit(derivative(lambda t, links, h: gradient(X + t * along, links, h)))(0.0, LINKS, 1.0)
    ends = [gradient(X + h * along, LINKS, 1.0) for h in (1e-4, -1e-4)]
    differences = (ends[0] - ends[1]) / 2e-4
    np.testing.assert_allclose(found, differences, rtol=1e-5, atol=1e-6)


def minors(a: Any, n: int, row: int, after: Any) -> Any:
    """A recursion that writes to an array of ints between its calls, and checks what it gives."""
    if row == n - 1:
        return a[row, after[n]]
    total, sign, before = 0.0, 1.0, n
    while after[before] != n:
        column = after[before]
        after[before] = after[column]
        total += sign * a[row, column] * minors(a, n, row + 1, after)
        after[before] = column
        sign, before = -sign, column
    return total


def determinant(a: Any) -> Any:
    n = len(a)
    after = np.arange(1, n + 2)
    after[n] = 0
    return minors(a, n, 0, after)


def test_a_determinant_is_one_recursion() -> None:
    a = np.random.default_rng(4).normal(size=(5, 5))
    g = jit_value_and_grad(determinant)
    value, gradient = g(a)
    assert value == pytest.approx(np.linalg.det(a), rel=1e-12)
    np.testing.assert_allclose(gradient, value * np.linalg.inv(a).T, rtol=1e-10)
    # the kernel and the function with its derivative in it; the forward part alone is not there
    names = re.findall(r"^def (\w+)", g.source, re.MULTILINE)
    assert names == ["minors_vjp", "value_and_grad_determinant"]
    assert len(re.findall(r"= minors_vjp\(", g.source)) == 2 and "kept" not in g.source
