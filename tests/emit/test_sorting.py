"""Are rows ordered as NumPy orders them, whatever their length and numbers?"""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from jitad.emit.libraries.sorting import argsort

order = njit(lambda a: argsort(a))


def rows(n: int) -> list[np.ndarray]:
    g = np.random.default_rng(n)
    wide = g.normal(size=n) * 10.0 ** g.integers(-300, 300, n)
    zeros = np.where(g.random(n) < 0.5, -0.0, 0.0)
    ends = np.where(g.random(n) < 0.5, np.inf, -np.inf)
    signed = np.copysign(np.nan, g.normal(size=n))
    return [
        wide, np.round(g.normal(size=n)), zeros, np.zeros(n), wide * 1e-300 * 1e-15,
        np.where(g.random(n) < 0.3, signed, np.where(g.random(n) < 0.5, ends, zeros)),
        g.integers(-3, 3, n), g.integers(-(2**62), 2**62, n) * 2,
    ]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 3000])
def test_order(n: int) -> None:
    for row in rows(n):
        kept = row.copy()
        assert np.array_equal(order(row), np.argsort(row, kind="stable")), row.dtype
        assert row.tobytes() == kept.tobytes()


@pytest.mark.parametrize("kind", [np.float32, np.int32, bool])
def test_other_kinds(kind: type) -> None:
    row = (10.0 * np.random.default_rng(1).normal(size=400)).astype(kind)
    assert np.array_equal(order(row), np.argsort(row, kind="stable"))


def test_rows_of_more_axes() -> None:
    a = np.random.default_rng(2).normal(size=(2, 3, 500)).round(1)
    assert np.array_equal(order(a), np.argsort(a, axis=-1, kind="stable"))
