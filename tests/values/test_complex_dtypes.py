"""Is what is made of complex operands of the dtype asked for, and are real dtypes refused?"""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.signal as sg
import scipy.special as sp
import scipy.stats as st

from jitad import JitadError, jit, jvp

Z = np.array([0.5 + 0.3j, 1.2 - 0.4j])

CASES = {
    "asarray": lambda z, k: np.asarray(z, k),
    "asarray of a list": lambda z, k: np.asarray([z[0], 1.0], dtype=k),
    "asanyarray": lambda z, k: np.asanyarray(z, dtype=k),
    "ascontiguousarray": lambda z, k: np.ascontiguousarray(z, k),
    "require": lambda z, k: np.require(z, k),
    "array": lambda z, k: np.array(z, dtype=k),
    "astype": lambda z, k: z.astype(k),
    "sum": lambda z, k: np.sum(z, 0, k),
    "method": lambda z, k: z.sum(dtype=k),
    "mean": lambda z, k: np.mean(z, dtype=k),
    "cumsum": lambda z, k: np.cumsum(z, 0, k),
    "nancumsum": lambda z, k: np.nancumsum(z, dtype=k),
    "prod": lambda z, k: np.prod(z, dtype=k),
    "concatenate": lambda z, k: np.concatenate([z, [np.complex64(1.0)]], dtype=k),
    "stack": lambda z, k: np.stack([z.astype("c8"), z], dtype=k),
    "linspace": lambda z, k: np.linspace(z[0], 2.0, 3, dtype=k),
    "einsum": lambda z, k: np.einsum("i,j->ij", z.astype("c8"), z.astype("c8"), dtype=k),
    "full": lambda z, k: np.full(2, z[0], dtype=k),
}
ENGINES = {"compiled": jit, "eager": lambda f: lambda z: jvp(f, (z,), (z,))[0]}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


@pytest.mark.parametrize("kind", [complex, "complex64"])
@pytest.mark.parametrize("made", CASES.values(), ids=CASES)
@engines
def test_complex_dtypes(engine: Any, made: Any, kind: Any) -> None:
    expected = made(Z, kind)
    out = engine(lambda z: made(z, kind))(Z)
    assert np.result_type(out) == expected.dtype or isinstance(out, complex)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


@pytest.mark.parametrize("made", CASES.values(), ids=CASES)
@engines
def test_real_dtypes(engine: Any, made: Any) -> None:
    with pytest.raises(JitadError, match=r"real|complex") as caught:
        engine(lambda z: made(z, float))(Z)
    assert "test_complex_dtypes.py" in str(caught.value)


@engines
def test_elements_that_are_no_numbers(engine: Any) -> None:
    def f(z: Any) -> Any:
        z = np.where(z.real > 1.0, complex(np.nan, 1.0), z)
        return np.nansum(z), np.nanprod(z), np.nancumsum(z), np.isscalar(z[0]), np.isscalar(z)

    for out, expected in zip(engine(f)(Z), f(Z), strict=True):
        np.testing.assert_allclose(out, expected)


@engines
def test_common_dtypes(engine: Any) -> None:
    def f(z: Any) -> Any:
        some = np.zeros(2, np.float32)
        return np.zeros(2, np.result_type(z[0], some)) + np.zeros(2, np.result_type(some, 1j)) * z

    assert engine(f)(Z).dtype == f(Z).dtype
    assert engine(lambda z: f(z.astype("c8")))(Z).dtype == f(Z.astype("c8")).dtype


@pytest.mark.parametrize("f", [np.atleast_1d, np.atleast_3d, np.broadcast_arrays, np.meshgrid])
@engines
def test_what_goes_side_by_side_stays_real_or_complex(f: Any, engine: Any) -> None:
    """Of several operands each has a result of its own."""
    real = np.array([1.5, 2.5])

    def g(z: Any) -> Any:
        return f(real * 2.0, z, real > 2.0)

    for got, want in zip(engine(g)(Z), g(Z), strict=True):
        assert got.dtype == want.dtype and np.array_equal(got, want)


NUMBERS = {
    "operators": lambda z, t: (z + t, t - z, z * z, z / t, t / z, z**2, t**z, -z, +z, 1j * t),
    "methods": lambda z, t: (z.conjugate(), z.real, abs(z), pow(z, 2), complex(t, t), (z == z) * t),
    "ufuncs": lambda z, t: (np.exp(z), np.sqrt(1j * t), np.add(z, t), np.abs(z), np.conj(z),
                            np.sin(z) * 1j, np.isnan(z) * 1.0, np.power(z, 2), np.square(z)),
    "functions": lambda z, t: (np.angle(z), np.real(z), np.imag(t), np.prod([z, z]), np.sinc(t),
                               np.modf(t)[0], np.divmod(t, 0.3)[1], cmath.exp(z), sp.factorial(t),
                               st.norm.logpdf(t), st.poisson.pmf(2, t), np.imag([t, t])),
}  # fmt: skip


@engines
@pytest.mark.parametrize("made", NUMBERS.values(), ids=NUMBERS)
def test_python_numbers_take_the_precision_of_what_they_meet_and_those_of_numpy_do_not(
    engine: Any, made: Any
) -> None:
    def f(z: Any) -> Any:
        t = z.real
        return [n * np.ones(2, np.complex64) for n in made(z, t)]

    expected, found = f(0.3 + 0.4j), engine(f)(0.3 + 0.4j)
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


@pytest.mark.parametrize("f", [
    lambda z: np.sum(sl.subspace_angles(np.outer(z, [1.0, 2.0]) + np.eye(3, 2), np.eye(3, 2))),
    lambda z: np.sum(np.abs(sl.hessenberg(np.outer(z, z)))),
    lambda z: np.abs(sg.tf2ss(z[:1], [1.0, 2.0])[2][0, 0]),
])  # fmt: skip
def test_plain_python_for_real_numbers_is_not_run_on_complex_ones(f):
    with pytest.raises(JitadError, match="complex"):
        jit(f, fallback=False)(np.array([1.0 + 1.0j, 2.0, 0.5j]))
