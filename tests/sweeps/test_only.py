"""Do reverse loops stand under the condition that their results were taken?  Values and work."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from jitad import hvp, jit, jit_grad

RNG = np.random.default_rng(7)
POINTS, CENTRES = RNG.normal(size=(9, 3)), RNG.normal(size=(4, 3))


def nearest(centres: Any, points: Any) -> Any:
    total = 0.0
    for i in range(len(points)):
        least = np.inf
        for c in range(len(centres)):
            square = 0.0
            for j in range(points.shape[1]):
                square += (points[i, j] - centres[c, j]) ** 2
            least = min(least, square)
        total += least
    return total


def farthest(centres: Any, points: Any) -> Any:
    """The same with the zero on the other side of the condition."""
    total = 0.0
    for i in range(len(points)):
        most = -1.0
        for c in range(len(centres)):
            square = 0.0
            for j in range(points.shape[1]):
                square += (points[i, j] - centres[c, j]) ** 2
            most = most if square <= most else square
        total += most
    return total


def clipped(centres: Any, points: Any) -> Any:
    """A sum that is wanted twice, once without a condition."""
    total = 0.0
    for i in range(len(points)):
        s = 0.0
        for j in range(points.shape[1]):
            s += points[i, j] * centres[0, j]
        total += (s if s > 0.0 else 0.0) + s * centres[1, 0]
    return total


def by_hand(f: Any) -> tuple[Any, Any]:
    """Gradient, and the Hessian's product with ones."""
    g = np.zeros_like(CENTRES)
    h = np.zeros_like(CENTRES)
    if f is clipped:
        s = POINTS @ CENTRES[0]
        g[0] = ((s > 0.0) + CENTRES[1, 0]) @ POINTS
        g[1, 0] = np.sum(s)
        h[0] = np.sum(POINTS, axis=0)
        h[1, 0] = np.sum(POINTS)
        return g, h
    squares = np.sum((POINTS[:, None] - CENTRES) ** 2, axis=2)
    chosen = np.argmin(squares, axis=1) if f is nearest else np.argmax(squares, axis=1)
    for i, c in enumerate(chosen):
        g[c] += 2.0 * (CENTRES[c] - POINTS[i])
        h[c] += 2.0
    return g, h


@pytest.mark.parametrize("f", [nearest, farthest, clipped])
def test_values(f: Any) -> None:
    g, h = by_hand(f)
    slope = jit_grad(f)
    np.testing.assert_allclose(slope(CENTRES, POINTS), g, rtol=1e-12, atol=1e-14)
    found = jit(hvp(f))(CENTRES, np.ones_like(CENTRES), POINTS)
    np.testing.assert_allclose(found, h, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", [nearest, farthest])
def test_only_what_was_taken_is_gone_through(f: Any) -> None:
    slope = jit_grad(f)
    slope(CENTRES, POINTS)
    conditional = re.search(r"\n( +)if (not )?\w+:\n(\1 +.*\n)*?\1 +for j", slope.source)
    assert conditional, slope.source


def test_infinities_of_what_was_not_taken_stay_there() -> None:
    points = POINTS.copy()
    centres = CENTRES.copy()
    centres[2] = np.inf  # its distance is infinite, and never the least
    g = jit_grad(nearest)(centres, points)
    assert np.all(g[2] == 0.0) and np.all(np.isfinite(g))
