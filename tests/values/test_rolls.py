"""Is `np.roll` the two slices that one would write, whatever the shift and the extent?

A roll is linear: its pullback rolls the cotangent back, which NumPy itself does here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import jit_grad
from tests.engines import eagerly

SHIFTS = (-7, -3, -1, 0, 1, 2, 4, 9)


def rolled(x: Any, w: Any, shift: Any) -> Any:
    return np.sum(w * np.roll(x, shift))


def rolled_rows(x: Any, w: Any, shift: Any) -> Any:
    return np.sum(w * np.roll(x, shift, 0))


def rolled_columns(x: Any, w: Any, shift: Any) -> Any:
    return np.sum(w * np.roll(x, (shift, 1), (1, -1)))


CASES = [
    (rolled, lambda w, s: np.roll(w, -s), 1),
    (rolled_rows, lambda w, s: np.roll(w, -s, 0), 2),
    (rolled_columns, lambda w, s: np.roll(w, -s - 1, 1), 2),
]


@pytest.mark.parametrize(("f", "back", "ndim"), CASES, ids=lambda p: getattr(p, "__name__", ""))
def test_one_function_for_all_extents(f: Any, back: Any, ndim: int) -> None:
    """Extents fall below the shift, meet it and are zero, after a longer one has been compiled."""
    rng = np.random.default_rng(2)
    for shift in (-3, 4):
        g = jit_grad(lambda x, w, shift=shift: f(x, w, shift))
        for n in (9, 4, 3, 2, 5, 1, 0):
            x, w = rng.normal(size=(2, *(n, n + 2)[:ndim]))
            assert np.array_equal(g(x, w), back(w, shift)), (shift, n)


@pytest.mark.parametrize("shift", SHIFTS)
def test_eager_and_traced_shifts(shift: int) -> None:
    x, w = np.random.default_rng(3).normal(size=(2, 5))
    assert np.array_equal(jit_grad(rolled)(x, w, shift), np.roll(w, -shift))
    assert eagerly(rolled, x, w, shift) == np.sum(w * np.roll(x, shift))


def laplacian_steps(u: Any, steps: int) -> Any:
    for _ in range(steps):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        u = u + 0.1 * (around - 4.0 * u) - 0.05 * u**3
    return np.sum(u**2)


def test_shifts_in_a_loop_are_windows() -> None:
    """No remainder is left, so that the windows lie where the passes can see it."""
    g = jit_grad(laplacian_steps)
    u = np.random.default_rng(4).normal(size=(6, 7))
    found = g(u, 4)
    assert "%" not in g.source.split("def grad", 1)[1]
    for place in ((0, 0), (5, 6), (2, 3), (0, 6)):
        moved = u.astype(complex)
        moved[place] += 1e-30j
        assert np.isclose(found[place], laplacian_steps(moved, 4).imag / 1e-30, rtol=1e-12)
