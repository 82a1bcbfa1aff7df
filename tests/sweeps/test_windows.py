"""Is what several windows of an array need recorded once, and are gradients what they were?

The truth is the complex step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit_grad
from tests.jacobians.truth import complex_step

rng = np.random.default_rng(11)


def flow(u: Any, steps: int = 3) -> Any:
    """Five windows of what is overwritten, in products."""
    u = u.copy()
    for _ in range(steps):
        un = u.copy()
        across = un[1:-1, 2:] - un[1:-1, :-2]
        along = un[2:, 1:-1] - un[:-2, 1:-1]
        u[1:-1, 1:-1] = un[1:-1, 1:-1] * (1.0 + 0.1 * across * along) - 0.1 * across**2
        u[0, :] = 0.5
        u[:, -1] = u[:, -2]
    return np.sum(u * u)


def in_place(u: Any, steps: int = 3) -> Any:
    """Windows of versions in between, and of one that a branch has written."""
    u = u.copy()
    for t in range(steps):
        u[1:-1] = u[1:-1] * u[:-2] * u[2:]
        if t == 1:
            u[0] = u[1] * 2.0
        u[:-1] = u[:-1] + 0.5 * u[1:] * u[:-1] ** 2
    return np.sum(np.sin(u))


def rows_of_rows(u: Any, steps: int = 3) -> Any:
    """Loops in loops; windows along one axis, an index along the other is no window."""
    u = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            u[i, 1:-1] = u[i, :-2] * u[i, 2:] + 0.5 * u[i - 1, 1:-1] * u[i + 1, 1:-1]
        u[1:-1] = u[2:] * u[:-2] * 0.3
    return np.sum(u * u)


def far_apart(u: Any, steps: int = 3) -> Any:
    """Their hull would be more than they are."""
    u = u.copy()
    for _ in range(steps):
        u[:2] = u[:2] * u[8:10] * u[:2]
        u[8:10] = np.sin(u[8:10]) * u[1:3]
    return np.sum(u * u)


def reversed_and_spread(u: Any, steps: int = 3) -> Any:
    """Steps other than one."""
    u = u.copy()
    for _ in range(steps):
        u[::2] = u[::2] * u[::-2] + u[1::2] ** 2
    return np.sum(u * u)


@pytest.mark.parametrize(
    ("f", "shapes"),
    [(flow, [(6, 5), (3, 3), (2, 4), (1, 2)]), (in_place, [(7,), (3,), (2,)]),
     (rows_of_rows, [(5, 6), (2, 2)]), (far_apart, [(10,)]), (reversed_and_spread, [(8,)])],
    ids=lambda f: getattr(f, "__name__", ""),
)  # fmt: skip
def test_gradients(f: Callable[[Any], Any], shapes: list[tuple[int, ...]]) -> None:
    g = jit_grad(f)
    for shape in shapes:
        x = rng.uniform(0.3, 1.2, shape)
        before = x.copy()
        expected = complex_step(f, x)
        np.testing.assert_allclose(g(x, 3), expected, rtol=1e-11, atol=1e-12)
        assert np.array_equal(x, before)



def test_five_windows_are_one_record() -> None:
    g = jit_grad(flow)
    g(np.ones((5, 5)), 3)
    pushed = [line for line in g.tape("resolve").splitlines() if "[:,:]> = push" in line]
    assert len(pushed) == 1
