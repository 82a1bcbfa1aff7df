"""Is a tangent, or a sensitivity, of its number's type, whatever kind of number is given for it?

One of NumPy's float64 for a float of Python's would widen what that leaves narrow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES

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


DATA = {
    "an int": (3, int), "a bool": (True, bool), "one of NumPy's": (np.int32(4), np.int32),
    "bools": (np.array([True, False]), np.bool_), "bytes": (np.arange(3, dtype=np.int8), np.int8),
    "words": (np.arange(3), np.int64), "no data": (np.array([], np.uint8), np.uint8),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", DATA)
def test_sensitivities_of_data_are_zeros_of_their_kind(kind: str, engine: str) -> None:
    data, of = DATA[kind]

    def pulled(x: Any, given: Any) -> Any:
        _, back = jitad.vjp(lambda x, given: x * np.sum(given), x, given)
        return back(1.0)

    slope, zeros = ENGINES[engine](pulled, 2.0, data)
    assert slope == np.sum(data)
    assert (zeros.dtype if isinstance(data, np.ndarray) else type(zeros)) == of
    np.testing.assert_array_equal(zeros, np.zeros_like(data))


BOTH = [np.arctan2, np.hypot, np.logaddexp, np.maximum, np.fmin, np.multiply, np.add, np.power,
        np.copysign, np.logaddexp2, lambda q, c: np.where(q, c, 2.0 * c)]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("of", BOTH)
@pytest.mark.parametrize("dtype", [bool, np.int8])
def test_sensitivities_of_narrow_numbers_beside_data(of: Any, dtype: Any, engine: str) -> None:
    """Bools count as none of the kinds that would widen them, in each of the rules' operations."""
    q = np.array([[True, False, True]] * 2).astype(dtype)

    def pulled(q: Any, c: Any) -> Any:
        value, back = jitad.vjp(lambda q, c: of(q, c + 1), q, c)
        return value, back(np.ones_like(value))

    value, (zeros, slope) = ENGINES[engine](pulled, q, C)
    assert (value.dtype, zeros.dtype, slope.dtype) == (np.float32, q.dtype, np.float32)
    wide, (_, true) = ENGINES["eager"](pulled, q, C.astype(np.float64))
    np.testing.assert_allclose(value, wide, rtol=1e-5)
    np.testing.assert_allclose(slope, true, rtol=1e-4, atol=1e-5)
