"""Are the extents of a recursion's arrays one number each, where they are, and only there?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad
from jitad.specialise.pipeline import stages
from jitad.tape.ir import walk
from kernels.gradbench import det


def checks(compiled: Any, stage: str) -> list[str]:
    traced = compiled._latest().tape
    tape = next(t for name, t in stages(traced) if name == stage)
    bodies = [tape.body, *(t.body for t in tape.functions.values())]
    return [e.params["message"] for body in bodies for e in walk(body) if e.op == "check"]


def test_what_is_lent_to_a_recursion_keeps_its_extents() -> None:
    g = jit_grad(det.objective)
    a = np.random.default_rng(0).uniform(size=16)
    expected = np.linalg.det(a.reshape(4, 4)) * np.linalg.inv(a.reshape(4, 4)).T
    np.testing.assert_allclose(g(a, 4), expected.ravel(), rtol=1e-12)
    before, after = checks(g, "simplify"), checks(g, "decided")
    assert any("changes its extents" in text for text in before)
    assert not any("changes its extents" in text for text in after)
    (minor,) = next(t for name, t in stages(g._latest().tape) if name == "returned"
                    ).functions.values()  # fmt: skip
    assert len(minor.body.params) == 4  # ell, row, after, a


def halves(x: Any, n: int) -> float:
    """Of x[:n]; n is the extent of x in the first call alone."""
    if n == 0:
        return 0.0
    return x[n - 1] + 2.0 * halves(x, n // 2)


def filled(x: Any, out: Any, n: int) -> float:
    """Stores to an array as long as x, from its end."""
    if n == 0:
        return 1.0
    out[n - 1] = x[n - 1]
    return out[n - 1] * filled(x, out, n - 1)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_numbers_that_are_extents_in_some_calls(n: int) -> None:
    x = np.linspace(1.0, 2.0, n)
    expected, at, factor = np.zeros(n), n, 1.0
    while at:
        expected[at - 1] += factor
        at, factor = at // 2, 2.0 * factor
    np.testing.assert_allclose(jit_grad(lambda x: halves(x, len(x)))(x), expected)
    found = jit_grad(lambda x: filled(x, np.zeros(len(x)), len(x)))(x)
    np.testing.assert_allclose(found, np.prod(x) / x)


def swapped(x: Any, y: Any, depth: int) -> float:
    """The arrays change places, and so do their extents."""
    if depth == 0:
        return x[len(x) - 1]
    y[0] = y[0] * x[len(x) - 1]
    return swapped(y, x, depth - 1) + len(x)


def test_arrays_of_two_lengths_that_change_places() -> None:
    def f(x: Any, depth: int) -> float:
        return swapped(x * 1.0, np.ones(3) * x[0], depth)

    for depth in range(4):
        x = np.array([1.5, 2.0])
        plain = f(x, depth)
        assert jit(f)(x, depth) == pytest.approx(plain)
        step = 1e-6 * np.eye(2)
        slope = [(f(x + s, depth) - f(x - s, depth)) / 2e-6 for s in step]
        np.testing.assert_allclose(jit_grad(f)(x, depth), slope, rtol=1e-7)
