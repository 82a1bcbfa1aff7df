"""Do loops that are left by `return` keep the value returned apart from those they carry?

Plain Python is the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import jitad
from tests.engines import ENGINES


def kept_by_a_branch(a: float) -> float:
    """Both branches inside leave `x` under its name, and a result around them must not take it."""
    x, b = 3.0, a
    while True:
        if b > 4.0:
            return x
        if b > 2.0:
            x, b = x * 2.0, b + 1.0
        else:
            b = b + 1.0


def after_continue(a: float) -> float:
    x, b = [3.0], a
    while True:
        if b > 4.0:
            return x[0] * b
        if b > 3.5:
            b = b * 2.0
            continue
        x, b = [x[0] * 2.0], b + 1.0


def descent(a: float) -> float:
    """Steps that grow and shrink, until the slope is small or a step is."""
    x, step, i = 0.0, 1e-2, 0
    fx = (x - a) ** 2
    while True:
        slope = 2.0 * (x - a)
        if abs(slope) <= 1e-4:
            return x
        if i == 10:
            step, i = 2.0 * step, 0
            continue
        xp = x - step * slope
        if abs(xp - x) <= 1e-6:
            return x
        fp = (xp - a) ** 2
        if fp < fx:
            x, fx, i = xp, fp, i + 1
        else:
            step, i = step / 2.0, 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", [kept_by_a_branch, after_continue, descent])
@pytest.mark.parametrize("a", [1.0, 2.5])
def test_value(engine: str, f: Callable[[float], float], a: float) -> None:
    assert ENGINES[engine](f, a) == f(a)


@pytest.mark.parametrize("operator", [jitad.grad, jitad.derivative])
@pytest.mark.parametrize("f", [after_continue, descent])
def test_derivative(operator: Callable[..., Any], f: Callable[[float], float]) -> None:
    step = 2.0**-20  # the same path on both sides of 1.3
    slope = (f(1.3 + step) - f(1.3 - step)) / (2.0 * step)
    assert jitad.jit(operator(f))(1.3) == pytest.approx(slope, rel=1e-6)
