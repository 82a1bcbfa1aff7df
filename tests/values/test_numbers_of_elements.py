"""Is fewer than no elements refused as NumPy and Python refuse it, where only the kernel knows?"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad

PROGRAMS: dict[str, Callable[..., Any]] = {
    "zeros": lambda x, n: np.zeros(n).sum() * x,
    "zeros of two axes": lambda x, n: x + np.zeros((2, n)).sum(),
    "full": lambda x, n: np.sum(np.full(n, x)),
    "linspace": lambda x, n: np.sum(np.linspace(0.0, x, n)),
    "repeat": lambda x, n: np.sum(np.repeat(np.ones(2) * x, n)),
    "islice": lambda x, n: sum(itertools.islice([x] * 5, n)),
    "islice from": lambda x, n: sum(itertools.islice([x] * 5, n, None)),
    "bincount": lambda x, n: np.bincount(np.array([0, n]), np.array([1.0, x])).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_negative_numbers(name: str) -> None:
    f = PROGRAMS[name]
    for way in (jitad.jit(f), jitad.jit_grad(f), jitad.grad(f)):
        assert np.isfinite(way(0.7, 3))
        with pytest.raises(ValueError):
            way(0.7, -2)
        assert np.isfinite(way(0.7, 0))
    with pytest.raises(ValueError):
        f(0.7, -2)


def test_split_of_what_is_stretched_from_one_element() -> None:
    """In a derivative its length is first taken to be that of the one element."""

    def f(p, x):
        return np.sum(np.split(p[::2] - np.cumsum(x), 2)[1] ** 2)

    p, x = np.array([0, 1]), np.arange(4.0)
    assert np.allclose(jitad.jit_grad(f, 1, fallback=False)(p, x), [18.0, 18.0, 18.0, 12.0])
    with pytest.raises(ValueError, match="equal division"):
        jitad.jit_grad(f, 1, fallback=False)(p, x[:3])
