"""Does a recursion inside a differentiated function read what is around it there?

The function is closed over its surroundings when the trace ends; by then the block around it may
have been copied, as for a pullback or a value that needs no derivative.  Truth: the eager engine,
which knows no blocks, and slopes of plain Python by differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import natively, on_tape
from tests.truth import differences


def reads_a_value(x: Any, n: Any) -> Any:
    step = math.sin(x) * n

    def down(p: Any, k: Any) -> Any:
        return step if k < 1 else down(p * 0.5, k - 1) * p + step

    return down(x, n)


def reads_what_it_is_given(x: Any, n: Any) -> Any:
    def again(p: Any, k: Any) -> Any:
        if k < 1:
            return 0.1 * n * x
        return again(2.0, k - 1) * p

    return again(0.1 * n, n)


def calls_each_other(x: Any, n: Any) -> Any:
    a, b = x * x, math.exp(-x)

    def even(p: Any, k: Any) -> Any:
        return p * a if k < 1 else odd(p + b, k - 1)

    def odd(p: Any, k: Any) -> Any:
        return p - b if k < 1 else even(p * a + x, k - 1)

    return even(x, n)


def one_in_another(x: Any, n: Any) -> Any:
    a = math.cos(x)

    def outer(p: Any, k: Any) -> Any:
        b = p * a

        def inner(q: Any, j: Any) -> Any:
            return q + a if j < 1 else inner(q * b, j - 1)

        return inner(p, n) if k < 1 else outer(b + inner(x, k), k - 1)

    return outer(x, n)


def under_a_condition(x: Any, n: Any) -> Any:
    y = 1.0
    if x > 0.2:
        a = math.sqrt(x)

        def down(p: Any, k: Any) -> Any:
            return p if k < 1 else down(p * a, k - 1) + a

        for _ in range(n):
            y = down(y, n)
    return y


def reads_an_array(x: Any, n: Any) -> Any:
    a = np.array([x, x * x, 1.0]) * n

    def down(p: Any, k: Any) -> Any:
        return p + a[0] if k < 1 else down(p * a[k % 3], k - 1)

    return down(x, n)


PROGRAMS = [
    reads_a_value, reads_what_it_is_given, calls_each_other, one_in_another, under_a_condition,
    reads_an_array,
]  # fmt: skip


def unused(f: Callable[..., Any]) -> Callable[..., Any]:
    """The value needs no derivative, so that it stands where the derivative is taken."""

    def g(x: Any, n: Any) -> Any:
        kept = []

        def h(y: Any) -> Any:
            kept.append(f(y, n))
            return 1.0

        value, slope = jitad.value_and_grad(h)(x)
        return kept[0] * value + slope + x

    return g


def pulled_back(f: Callable[..., Any]) -> Callable[..., Any]:
    def g(x: Any, n: Any) -> Any:
        value, pullback = jitad.vjp(lambda y: f(y * x, n), x)
        return value * pullback(2.0)[0] + pullback(x)[0]

    return g


def pushed(f: Callable[..., Any]) -> Callable[..., Any]:
    def g(x: Any, n: Any) -> Any:
        value, tangent = jitad.jvp(lambda y: f(y * x, n), (x,), (2.0,))
        return value * tangent

    return g


def of_a_vector(f: Callable[..., Any]) -> Callable[..., Any]:
    def g(x: Any, n: Any) -> Any:
        both = np.array([x, 0.5 * x])
        h = lambda v: np.array([f(v[0], n), v[1] * x])
        return np.sum(jitad.jacobian(h)(both)) + np.sum(jitad.hessian(lambda v: h(v)[0])(both))

    return g


@pytest.mark.parametrize("operator", [unused, pulled_back, pushed, of_a_vector])
@pytest.mark.parametrize("f", PROGRAMS)
def test_engines_agree(f: Callable[..., Any], operator: Any) -> None:
    g = operator(f)
    slope = jitad.value_and_grad(g)
    want = slope(0.7, 3)
    np.testing.assert_allclose(on_tape(g, 0.7, 3), g(0.7, 3), rtol=1e-12)
    np.testing.assert_allclose(on_tape(slope, 0.7, 3), want, rtol=1e-11)
    np.testing.assert_allclose(on_tape(jitad.derivative(g), 0.7, 3), want[1], rtol=1e-11)
    if operator is unused:
        np.testing.assert_allclose(natively(slope, 0.7, 3), want, rtol=1e-11)


@pytest.mark.parametrize("f", PROGRAMS)
def test_pullbacks_are_slopes_of_plain_python(f: Callable[..., Any]) -> None:
    slope = natively(lambda x, n: jitad.vjp(lambda y: f(y, n), x)[1](1.0)[0], 0.7, 3)
    expected, error = differences(f, (0.7, 3), (0,), [1.0])
    assert abs(slope - expected) <= 1e-6 * abs(expected) + 10 * error
