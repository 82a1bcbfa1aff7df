"""Are bits of bools what they are in Python, an int, and in NumPy, a bool?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad

PROGRAMS: dict[str, Callable[..., Any]] = {
    "of Python's": lambda x: x * ~(x > 0.5),
    "of Python's, as a condition": lambda x: 3.0 * x if ~(x > 0.5) else x,
    "of Python's, and": lambda x: x * ((x > 0.5) & True),
    "of NumPy's": lambda x: x * ~np.bool_(x > 0.5),
    "of NumPy's, as a condition": lambda x: 3.0 * x if ~np.bool_(x > 0.5) else x,
    "of an array's": lambda x: np.sum(np.where(~(np.ones(2) * x > 0.5), 1.0, x)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("x", [0.7, 0.2])
def test_inverted(name: str, x: float) -> None:
    f = PROGRAMS[name]
    assert jitad.jit(f)(x) == pytest.approx(f(x), rel=1e-14)
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for gradient in (jitad.jit_grad(f), jitad.grad(f)):
        assert gradient(x) == pytest.approx(slope, rel=1e-7)
