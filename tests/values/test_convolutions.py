"""Do convolutions of every mode, border and extent of a kernel give what SciPy gives?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal as sg

from jitad import check_grads
from tests.engines import on_tape

_random = np.random.default_rng(3)
KERNELS = [(2, 3), (3, 3), (1, 2), (4, 4), (4, 2), (6, 7)]
BORDERS = [("fill", 0), ("fill", 0.5), ("symm", 0), ("wrap", 0)]


@pytest.mark.parametrize("f", [sg.convolve2d, sg.correlate2d], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", KERNELS, ids=str)
def test_of_two_axes(f: Any, shape: tuple[int, int]) -> None:
    a, b = _random.normal(size=(5, 6)), _random.normal(size=shape)
    for mode in ("full", "same", "valid"):
        for border, fill in BORDERS:
            def g(a: Any, b: Any, how: Any = (mode, border, fill)) -> Any:
                return f(a, b, *how)

            want, found = g(a, b), on_tape(g, a, b)
            assert found.shape == want.shape
            np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", [sg.convolve, sg.correlate, sg.fftconvolve, sg.oaconvolve],
                         ids=lambda f: f.__name__)  # fmt: skip
@pytest.mark.parametrize("shape", [(2,), (4,), (7,), (2, 4), (4, 3)], ids=str)
def test_of_all_axes(f: Any, shape: tuple[int, ...]) -> None:
    a, b = _random.normal(size=(5, 6)[: len(shape)]), _random.normal(size=shape)
    for mode in ("full", "same", "valid"):
        def g(a: Any, b: Any, mode: str = mode) -> Any:
            return f(a, b, mode)

        np.testing.assert_allclose(on_tape(g, a, b), g(a, b), rtol=1e-10, atol=1e-12)


def test_derivatives_by_both() -> None:
    def f(a: Any, b: Any, fill: Any) -> Any:
        same = sg.correlate2d(a, b, "same", "symm") * sg.convolve2d(a, b, "same", "wrap")
        return np.sum(same**2) + np.sum(sg.convolve2d(a, b, "full", "fill", fill) ** 3)

    check_grads(f, (_random.normal(size=(3, 4)), _random.normal(size=(2, 3)), 0.4), order=2)
