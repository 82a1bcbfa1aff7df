"""Do records share a buffer where they go side by side, and only there?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit


def pendulum(x: Any) -> Any:
    """Two numbers a step, until it turns."""
    v, t = 0.5, 0.0
    while v > 0.0:
        x, v = x + 0.1 * v, v - 0.1 * np.sin(x) * x
        t += x * v
    return t


def branching(x: Any) -> Any:
    """What is recorded depends on the branch."""
    s, y = x, 1.0
    while s < 50.0:
        if s * y > 5.0:
            y = 0.5 * y * np.cos(s) + 1.0
            s = s + 1.0 + y * y
        else:
            s = s * x + 1.0
            y = y + 0.3 * np.sin(s)
    return s * y


def nested(x: Any) -> Any:
    """Records of an inner loop between those of the outer one."""
    s, t = x, 1.0
    while s < 40.0:
        u = s
        while u > 1.0:
            u, t = 0.5 * u, t + 0.1 * np.sin(u * t)
        s = s * 1.7 + 0.1 * u * np.cos(t)
    return s * t


def within_a_counted_loop(x: Any) -> Any:
    total = 0.0
    for k in range(4):
        u, w = x + k, x
        while u > 1.0:
            u, w = 0.6 * u + 0.1 * np.sin(w), w + u * w * 0.1
        total += u * w
    return total


def of_both_widths(x: Any) -> Any:
    s, t = x, np.float32(1.0)
    while s < 30.0:
        s, t = s * 1.3 + t, t * np.float32(0.9) + np.float32(0.01) * s
    return s * t


def two_loops(x: Any) -> Any:
    y = x
    while y < 9.0:
        x, y = x * np.cos(y), y + x * x + 0.3
    while x < 3.0:
        x, y = x + 0.1 * y * y, y * np.sin(x)
    return x * y


def turning(x: Any) -> Any:
    """A counted loop each of whose iterations waits for the one before."""
    u, v = x, 1.0
    for k in range(6):
        u, v = u * np.cos(0.1 * v) + 0.1 * k, v * np.sin(u) + 1.0
    return u * v


def turning_in_turns(x: Any) -> Any:
    """As many records as there were iterations of the loop around so far."""
    u, v = x, 1.0
    for n in range(5):
        for k in range(n):
            u, v = u * np.cos(0.1 * v) + 0.1 * k, v * np.sin(u) + 1.0
        v = v * u
    return u * v


def sums_side_by_side(x: Any) -> Any:
    """No iteration waits: what is recorded stays apart."""
    total, other = 0.0, 0.0
    for k in range(7):
        y = np.exp(-x * k)
        z = np.sin(y + x)
        total += y * z
        other += z * z
    return np.sin(total) * other


PROGRAMS: dict[Callable[[Any], Any], int] = {  # and how many buffers their gradients have
    pendulum: 1, branching: 3, nested: 3, within_a_counted_loop: 1, of_both_widths: 2, two_loops: 2,
    turning: 1, turning_in_turns: 3, sums_side_by_side: 4,
}  # fmt: skip


def slope(f: Callable[[float], float], x: float) -> float:
    h = 1e-4
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12.0 * h)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    g = jit(grad(f))
    for x in (1.1, 1.4, 2.3):
        assert g(x) == pytest.approx(grad(f)(x), rel=1e-6 if f is of_both_widths else 1e-13)
        if f is not of_both_widths:
            assert g(x) == pytest.approx(slope(lambda x: float(f(x)), x), rel=1e-5)
    buffers = set(re.findall(r"(\w+) = empty\(", g.source))
    assert len(buffers) <= PROGRAMS[f], g.source


@pytest.mark.parametrize("f", [pendulum, branching, nested], ids=lambda f: f.__name__)
def test_second_derivatives_by_reverse_mode(f: Callable[[Any], Any]) -> None:
    second = jit(grad(grad(f)))
    exact = slope(lambda x: grad(f)(x), 1.4)
    assert second(1.4) == pytest.approx(exact, rel=1e-7)
