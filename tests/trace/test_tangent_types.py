"""Is a tangent, or a sensitivity, of its number's type, whatever kind of number is given for it?

One of NumPy's float64 for a float of Python's would widen what that leaves narrow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitad

C = np.linspace(0.5, 1.5, 3).astype(np.float32)


def scaled_on_a_path(c: Any, s: Any) -> Any:
    z = c / (2.0 + c * c)
    if np.sum(z) > 0.1:
        z = z * s
    return z


def scaled_in_a_loop(c: Any, s: Any) -> Any:
    for _ in range(3):
        c = c * s + 0.5
    return c


def a_number(c: Any, s: Any) -> Any:
    while s < 1.0:
        s = s * 1.5
    return s * np.sum(c)


@pytest.mark.parametrize("f", [scaled_on_a_path, scaled_in_a_loop, a_number])
@pytest.mark.parametrize("t", [2.0, np.float64(2.0), np.float32(2.0), 2, np.array(2.0)])
@pytest.mark.parametrize("s", [0.5, np.float64(0.5), np.float32(0.5)])
def test_tangents(f: Any, t: Any, s: Any) -> None:
    want, slope = jitad.jvp(f, (C, s), (C, float(t)))
    found, along = jitad.jit_jvp(f, fallback=False)((C, s), (C, t))
    for x, y in ((found, want), (along, slope)):
        np.testing.assert_allclose(x, y, rtol=1e-5)
        assert np.asarray(x).dtype == np.asarray(y).dtype


@pytest.mark.parametrize("f", [scaled_on_a_path, scaled_in_a_loop, a_number])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sensitivities(f: Any, dtype: Any) -> None:
    ct = dtype(2.0) if f is a_number else np.full(3, dtype(2.0))
    want, back = jitad.vjp(f, C, 0.5)
    value, adjoints = jitad.jit_vjp(f, fallback=False)((C, 0.5), ct)
    np.testing.assert_allclose(value, want, rtol=1e-5)
    for x, y in zip(adjoints, back(np.asarray(ct, np.asarray(want).dtype)[()]), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5)
