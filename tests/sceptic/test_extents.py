"""Do kernels serve only calls whose extents they were made for?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad


def product(a: Any, b: Any) -> Any:
    return np.sum(a * b) + len(a)


def table(a: Any, b: Any) -> Any:
    return a[:, None] * b + np.sum(a)


def centred(a: Any, b: Any) -> Any:
    return np.sum((a - np.sum(a)) ** 2) * np.sum(b)


@pytest.mark.parametrize("f", [product, table, centred])
@pytest.mark.parametrize("order", [(3, 1, 5, 0, 2, 1, 4), (1, 3, 0, 1)])
def test_lengths_that_change_between_calls(f: Callable[..., Any], order: tuple[int, ...]) -> None:
    compiled = jitad.jit(f)
    for n in order:
        for m in {1, n}:
            a, b = np.arange(1.0, n + 1), np.full(m, 2.0)
            got, want = compiled(a, b), f(a, b)
            assert np.shape(got) == np.shape(want)
            np.testing.assert_allclose(got, want)
