"""What holds of complex values beyond single functions: conventions, kinds, places, refusals.

Truth: derivatives by hand, mpmath's for holomorphic functions, NumPy's values on branch cuts.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jitad
from jitad.errors import JitadError, JitadTypeError, JitadZeroDivisionError
from tests.engines import ENGINES

Z = 0.7 - 1.3j
ARRAY = np.array([1.0 + 2.0j, -0.5 + 0.1j, 0.3 - 2.0j])


def agree(f: Any, *args: Any, want: Any, rtol: float = 1e-12) -> None:
    for name in ENGINES:
        found = ENGINES[name](f, *args)
        np.testing.assert_allclose(found, want, rtol=rtol, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (3, 0)])
@pytest.mark.parametrize("real", [True, False])
def test_signs_of_qr_are_lapacks(shape: tuple[int, int], real: bool) -> None:
    """Those where LAPACK leaves a column alone included: real ones that have their form already."""
    rng = np.random.default_rng(3)
    a = np.triu(rng.normal(size=shape)) + (0j if real else 1j * rng.normal(size=shape))
    found = jitad.jit(lambda a: tuple(np.linalg.qr(a)))(a)
    for x, want in zip(found, np.linalg.qr(a), strict=True):
        np.testing.assert_allclose(x, want, atol=1e-14)


# -- conventions ----------------------------------------------------------------------------------


def test_gradients_are_those_of_jax() -> None:
    """df/dx - i df/dy."""
    agree(jitad.grad(lambda z: abs(z) ** 2), Z, want=2 * Z.conjugate())
    agree(jitad.grad(lambda z: (z * z).real), Z, want=2 * Z)  # of Re f for holomorphic f: f'
    agree(jitad.grad(lambda z: (z * z).imag), Z, want=-2j * Z)
    agree(jitad.grad(lambda z: z.real * 3.0 + z.imag * 5.0), Z, want=3 - 5j)
    agree(jitad.grad(lambda z: np.sum(np.abs(z) ** 2)), ARRAY, want=2 * ARRAY.conj())


def test_sensitivities_and_tangents() -> None:
    """Of a holomorphic function both are products with f', of `conj` they are conjugated."""
    c = 0.4 + 0.9j

    def pulled(z, c):
        return jitad.vjp(lambda z: z * z * z, z)[1](c)[0]

    def pushed(z, c):
        return jitad.jvp(lambda z: z * z * z, (z,), (c,))[1]

    for f in (pulled, pushed):
        agree(f, Z, c, want=3 * Z * Z * c)
    agree(lambda z, c: jitad.vjp(np.conj, z)[1](c)[0], Z, c, want=c.conjugate())
    agree(lambda z, c: jitad.jvp(np.conj, (z,), (c,))[1], Z, c, want=c.conjugate())
    agree(lambda z: jitad.vjp(lambda z: z * 2j, z)[1](1.0)[0], Z, want=2j)  # real: no conjugate


def test_derivative_of_a_gradient() -> None:
    """d/dt of the gradient of |z|^4 / 4 along d: |z|^2 conj(d) + 2 Re(conj(z) d) conj(z)."""
    d = 1.0 + 0.5j

    def slope(z, d):
        return jitad.jvp(jitad.grad(lambda z: abs(z) ** 4 / 4), (z,), (d,))[1]

    want = abs(Z) ** 2 * d.conjugate() + 2 * (Z.conjugate() * d).real * Z.conjugate()
    agree(slope, Z, d, want=want)


def test_structures_keep_their_kinds() -> None:
    p = {"a": 2.0, "w": ARRAY, "z": Z, "n": 3}

    def f(p):
        return p["a"] * np.sum((p["w"] * p["z"]).real) * p["n"]

    for name in ENGINES:
        g = ENGINES[name](jitad.grad(f), p)
        assert isinstance(g["a"], float) and isinstance(g["z"], complex)
        assert g["w"].dtype == complex
        np.testing.assert_allclose(g["w"], np.full(3, 6.0 * Z))
        assert g["z"] == pytest.approx(6.0 * np.sum(ARRAY))


def test_rules_of_ones_own() -> None:
    """Sensitivities inside rules are those that vjp takes and gives."""
    square = jitad.custom_vjp(lambda z: z * z)
    square.defvjp(lambda z: (z * z, z), lambda z, ct: (2 * z * ct,))
    agree(jitad.grad(lambda z: square(z).imag), Z, want=-2j * Z)
    forward = jitad.custom_jvp(lambda z: z * z)
    forward.defjvp(lambda p, t: (p[0] * p[0], 2 * p[0] * t[0]))
    agree(jitad.grad(lambda z: forward(z).imag), Z, want=-2j * Z)


# -- functions ------------------------------------------------------------------------------------

HOLOMORPHIC = {
    np.exp: mpmath.exp, np.log: mpmath.log, np.sqrt: mpmath.sqrt, np.sin: mpmath.sin,
    np.cos: mpmath.cos, np.tan: mpmath.tan, np.sinh: mpmath.sinh, np.cosh: mpmath.cosh,
    np.tanh: mpmath.tanh, np.arcsin: mpmath.asin, np.arccos: mpmath.acos, np.arctan: mpmath.atan,
    np.arcsinh: mpmath.asinh, np.arccosh: mpmath.acosh, np.arctanh: mpmath.atanh,
    np.log1p: lambda z: mpmath.log(1 + z), np.expm1: mpmath.expm1, np.reciprocal: lambda z: 1 / z,
}  # fmt: skip


@pytest.mark.parametrize("f", HOLOMORPHIC, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Any) -> None:
    """The gradient of Re f is f'; relative to its size, near zero, near one, far away."""
    for z in (0.3 + 0.2j, -2.0 + 0.5j, 1.0 + 1e-6j, 1e-5 - 1e-7j, -4.0 - 30.0j, 0.5j, 25.0 - 1.0j):
        with mpmath.workdps(40):
            value = complex(HOLOMORPHIC[f](mpmath.mpc(z)))
            slope = complex(mpmath.diff(HOLOMORPHIC[f], mpmath.mpc(z), h=mpmath.mpf(10) ** -15))
        found, tangent = jitad.jvp(lambda z: f(z), (z,), (1.0 + 0j,))
        gradient = jitad.grad(lambda z: f(z).real)(z)
        assert abs(found - value) <= 4e-15 * abs(value), z
        for got in (tangent, gradient):
            assert abs(got - slope) <= 1e-13 * abs(slope) + 1e-300, z


@given(st.tuples(*[st.sampled_from([0.0, -0.0, 0.5, -0.5, 2.0, -2.0])] * 2))
@settings(max_examples=36)
def test_branch_cuts_are_those_of_numpy(parts: tuple[float, float]) -> None:
    z = complex(*parts)
    for f in (np.sqrt, np.log, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh,
              np.angle):  # fmt: skip
        with np.errstate(all="ignore"):
            want = f(z)
            found = jitad.jvp(lambda z, f=f: f(z), (z,), (0j,))[0]
        if np.isfinite(want):
            assert found == pytest.approx(want, rel=1e-14, abs=1e-15), f


# -- control flow, kinds, places ------------------------------------------------------------------


def test_numbers_become_complex_on_some_paths() -> None:
    def f(z, n):
        total = 0
        for k in range(n):
            total += z**k / (k + 1) if k % 2 else z.real
        w = total if abs(total) < 100.0 else 1.0
        while abs(w) < 50.0:
            w = w * (1.5 + 0.5j)
        return w * w.conjugate() + w

    agree(f, Z, 5, want=f(Z, 5))
    h, d = 1e-6, 0.3 + 0.8j
    want = (f(Z + h * d, 5).imag - f(Z - h * d, 5).imag) / (2 * h)
    for name in ENGINES:
        g = ENGINES[name](jitad.grad(lambda z, n: f(z, n).imag), Z, 5)
        assert (g * d).real == pytest.approx(want, rel=1e-7)


@pytest.mark.parametrize("engine", ENGINES)
def test_arrays_become_complex_in_a_loop(engine: str) -> None:
    """How often it runs only the kernel knows; where it does not, the imaginary part is zero."""
    def evolved(v, limit):
        psi = v * 0.5
        t = 0.0
        while t * v[0] < limit:
            psi = np.exp(-0.1j * v) * psi + 0.25 * v[::-1]
            t += 0.5
        return np.abs(psi.sum()) ** 2 + psi[1].real

    def swapped(v, limit):
        a, b = v + 0.0, np.outer(v, v)
        while np.abs(a).max() < limit:
            a, b = 1.5 * a + 1j * b[0], b * (1.0 + 0.5j)
        return np.abs(a).sum() + np.abs(b).sum()

    v = np.array([0.7, -1.3, 0.4])
    for f in (evolved, swapped):
        for limit in (0.0, 4.0):
            value, gradient = ENGINES[engine](jitad.value_and_grad(f), v, limit)
            assert value == pytest.approx(f(v, limit), rel=1e-12)
            h = 1e-6
            want = [(f(v + h * e, limit) - f(v - h * e, limit)) / (2 * h) for e in np.eye(3)]
            np.testing.assert_allclose(gradient, want, rtol=1e-7, atol=1e-8)


def test_captured_values_are_read_anew() -> None:
    scale, data = [2.0 + 1.0j], ARRAY.copy()

    def f(x):
        return np.abs(np.sum(data * x)) * abs(scale[0])

    g = jitad.jit_grad(f)
    for _ in range(2):
        assert g(1.5) == pytest.approx(abs(np.sum(data)) * abs(scale[0]))
        scale[0], data[0] = 1j, 5.0
    assert len(g.specialisations) == 1


def test_written_arguments() -> None:
    def f(z):
        z[1:] *= 1j
        z.real[0] = 7.0
        return z

    compiled = jitad.jit(f)
    for _ in range(2):
        z, w = ARRAY.copy(), ARRAY.copy()
        np.testing.assert_allclose(compiled(z), f(w))
        np.testing.assert_array_equal(z, w)
    z = ARRAY.copy()
    jitad.grad(lambda z: np.sum(f(z).imag))(z)
    np.testing.assert_array_equal(z, ARRAY)


@pytest.mark.parametrize("shape", [(0,), (), (2, 0, 3), (1,), (1, 1)])
def test_small_arrays(shape: tuple[int, ...]) -> None:
    z = np.full(shape, Z)

    def f(z):
        return np.sum(np.abs(z * z) ** 2) + np.real(np.prod(z)) + np.sum(np.exp(z).imag)

    each = 4 * abs(Z) ** 2 * Z.conjugate() - 1j * cmath.exp(Z)
    each = each + (1.0 if z.size else 0.0)
    for run in (jitad.grad(f), jitad.jit_grad(f)):
        np.testing.assert_allclose(run(z), np.full(shape, each))


def test_strides_and_narrow_arrays() -> None:
    wide = np.arange(12.0).reshape(3, 4) * (1 + 2j)
    for z in (wide.T, wide[::2, ::-1], np.asfortranarray(wide), wide.astype(np.complex64)):
        g = jitad.jit_grad(lambda z: np.sum(np.abs(z) ** 2))(z)
        assert g.dtype == z.dtype and g.shape == z.shape
        np.testing.assert_allclose(g, 2 * z.conj())


def test_calls_from_native_code() -> None:
    g = jitad.jit_grad(lambda z, w: np.sum(np.abs(z * w) ** 2))

    @numba.njit
    def called(z, w):
        return g(z, w)

    assert called(Z, ARRAY) == pytest.approx(2 * Z.conjugate() * np.sum(np.abs(ARRAY) ** 2))


def test_what_values_are() -> None:
    def f(z, a):
        assert isinstance(z, complex) and type(z) is complex and not isinstance(z, float)
        assert isinstance(a, np.ndarray) and np.iscomplexobj(a) and a.dtype == complex
        assert a.ndim == 1 and len(a) == 3 and a.imag.dtype == float
        x = z.real
        return x.conjugate() + x.imag + a[0].real

    agree(f, Z, ARRAY, want=Z.real + 1.0)


REFUSED = [
    (lambda z: abs(z) if z < 2j else 1.0, "not supported on complex"),
    (lambda z: float(z), "not supported on complex|can't become a float"),
    (lambda z: np.floor(z), "not supported on complex"),
    (lambda z: math.sin(z), "not supported on complex|can't become a float"),
    (lambda z: np.max(np.array([z, 1j])), "not supported on complex"),
    (lambda z: np.full(2, z, dtype=float), "complex"),
    (lambda z: np.zeros(2).__setitem__(0, z), "can't be stored in an array of float64"),
    (lambda z: np.copyto(np.zeros(2), z * np.ones(2)), "can't be stored"),
    (lambda z: np.add(np.ones(2), z, out=np.zeros(2)), "cast"),
    (lambda z: (z * np.ones(2)).astype(float), "discards"),
    (lambda z: np.linalg.svd(z * np.eye(2))[0], "phases"),
    (lambda z: np.sum(np.ones(2), axis=z), "complex"),
]


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_what_is_refused(k: int) -> None:
    f, message = REFUSED[k]
    for run in (lambda z: jitad.jvp(f, (z,), (1j,)), jitad.jit(f)):
        with pytest.raises((JitadError, TypeError), match=message) as caught:
            run(Z)
        assert "test_complex.py" in str(caught.value) or isinstance(caught.value, JitadTypeError)


def test_division_by_zero() -> None:
    with pytest.raises(JitadZeroDivisionError, match="complex division by zero"):
        jitad.jit(lambda z: 1.0 / (z - z))(Z)
    with pytest.raises(JitadTypeError, match="returned a complex value"):
        jitad.grad(lambda z: z)(Z)


@pytest.mark.parametrize("dtype", [int, float])
def test_an_imaginary_number_over_zero(dtype: type) -> None:
    def f(v):
        return 1j / v, np.divide(-2j, v), np.conj(1j / v), 1j * v / v, (2.0 + 1j) / v

    v = np.array([1, 0, -2], dtype)
    with np.errstate(all="ignore"):
        for found, want in zip(jitad.jit(f)(v), f(v), strict=True):
            np.testing.assert_array_equal(found, want)
