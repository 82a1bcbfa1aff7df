"""Are eigenvectors those that NumPy and SciPy give, and not their negatives?

Which of the two it is depends on the routine of LAPACK, and on what it is asked for: a function of
them, and its gradient, would else be another one's.
"""

import numpy as np
import pytest
import scipy.linalg as sl

import jitad

SIZES = (2, 3, 5, 8, 40)


def spd(a):
    return a @ a.conj().T + np.eye(len(a))


def parts(z):
    return z.real + 2.0 * z.imag


def band(a, count, lower):
    n = len(a)
    lines = [np.diag(a, -k if lower else k) for k in range(count)]
    rows = [
        np.concatenate([x, np.zeros(k)] if lower else [np.zeros(k), x])
        for k, x in enumerate(lines)
    ]
    assert len(rows[0]) == n
    return np.array(rows if lower else rows[::-1])


CALLS = {
    "numpy": lambda a: np.linalg.eigh(a)[1],
    "numpy, upper": lambda a: np.linalg.eigh(a, "U")[1],
    "a stack": lambda a: np.linalg.eigh(np.stack([a, a.T]), UPLO="u")[1],
    "scipy": lambda a: sl.eigh(a)[1],
    "scipy, upper": lambda a: sl.eigh(a, lower=False)[1],
    "some": lambda a: sl.eigh(a, subset_by_index=[0, 1])[1],
    "some, upper": lambda a: sl.eigh(a, lower=False, subset_by_index=[1, 1])[1],
    "evd": lambda a: sl.eigh(a, driver="evd")[1],
    "evx": lambda a: sl.eigh(a, driver="evx")[1],
    "generalised": lambda a: sl.eigh(a, spd(a))[1],
    "generalised, upper": lambda a: sl.eigh(a, spd(a), lower=False)[1],
    "generalised, some": lambda a: sl.eigh(a, spd(a), subset_by_index=[0, 1])[1],
    "tridiagonal": lambda a: sl.eigh_tridiagonal(np.diag(a), np.diag(a, 1))[1],
    "tridiagonal, stemr": lambda a: sl.eigh_tridiagonal(
        np.diag(a), np.diag(a, 1), lapack_driver="stemr")[1],
    "tridiagonal, some": lambda a: sl.eigh_tridiagonal(
        np.diag(a), np.diag(a, 1), select="i", select_range=(0, 1))[1],
    "banded": lambda a: sl.eig_banded(band(a, 2, True), lower=True)[1],
    "banded, upper": lambda a: sl.eig_banded(band(a, 2, False))[1],
    "banded, some": lambda a: sl.eig_banded(
        band(a, 2, True), lower=True, select="i", select_range=(0, 1))[1],
    "banded, all by place": lambda a: sl.eig_banded(
        band(a, 2, True), lower=True, select="i", select_range=(0, len(a) - 1))[1],
    "complex": lambda a: parts(np.linalg.eigh(a + 1j * a.T)[1]),
    "complex, upper": lambda a: parts(np.linalg.eigh(a + 1j * a.T, "U")[1]),
    "complex, scipy": lambda a: parts(sl.eigh(a + 1j * a.T)[1]),
    "complex, scipy, upper": lambda a: parts(sl.eigh(a + 1j * a.T, lower=False)[1]),
    "complex, generalised": lambda a: parts(sl.eigh(a + 1j * a.T, spd(a + 2j * a.T))[1]),
    "complex, generalised, upper": lambda a: parts(
        sl.eigh(a + 1j * a.T, spd(a), lower=False)[1]),
    "wide band": lambda a: sl.eig_banded(band(a, 3, True), lower=True)[1] if len(a) > 2 else a,
    "wide band, some": lambda a: sl.eig_banded(
        band(a, 3, False), select="i", select_range=(1, 2))[1] if len(a) > 2 else a,
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_vectors_have_the_signs_of_the_library(name):
    f = CALLS[name]
    rng = np.random.default_rng(len(name))
    compiled = jitad.jit(f, fallback=False)
    for n in SIZES:
        for _ in range(4):
            a = rng.normal(size=(n, n))
            expected = f(a)
            np.testing.assert_allclose(compiled(a), expected, atol=1e-9, err_msg=str(n))
            weights = rng.normal(size=expected.shape)
            value, _ = jitad.value_and_grad(lambda x, w=weights: np.sum(f(x) * w))(a)
            np.testing.assert_allclose(value, np.sum(expected * weights), atol=1e-9)


# With `syevr` the last bits decide: a difference may be one of a vector and its negative.
STEADY = [name for name in CALLS if name not in (
    "scipy", "scipy, upper", "some", "some, upper", "tridiagonal, stemr", "complex, scipy",
    "complex, scipy, upper")]  # fmt: skip


@pytest.mark.parametrize("name", STEADY)
def test_gradients_are_those_of_the_librarys_function(name):
    f = CALLS[name]
    rng = np.random.default_rng(7)
    a = rng.normal(size=(4, 4)) + np.diag([0.0, 2.0, 5.0, 9.0])
    weights, along = rng.normal(size=f(a).shape), rng.normal(size=a.shape)

    def g(x):
        return np.sum(f(x) * weights)

    h = 1e-4
    expected = (8 * (g(a + h * along) - g(a - h * along))
                - g(a + 2 * h * along) + g(a - 2 * h * along)) / (12 * h)  # fmt: skip
    for gradient in (jitad.grad(g), jitad.jit_grad(g, fallback=False)):
        assert np.sum(gradient(a) * along) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", ["numpy, upper", "scipy", "some", "evx"])
def test_signs_in_float32(name):
    f = CALLS[name]
    rng = np.random.default_rng(3)
    compiled = jitad.jit(f, fallback=False)
    for n in (3, 6):
        a = rng.normal(size=(n, n)).astype(np.float32)
        found = compiled(a)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, f(a), atol=2e-4)


FINITE = ["numpy, upper", "scipy", "some", "banded", "wide band", "complex, scipy"]


@pytest.mark.parametrize("name", FINITE)
def test_what_is_not_finite_raises(name):
    a = np.ones((4, 4))
    a[2, 2] = np.nan
    with pytest.raises(Exception, match=r"infs or NaNs|did not converge"):
        jitad.jit(CALLS[name], fallback=False)(a)
    with pytest.raises(Exception, match=r"infs or NaNs|did not converge"):
        jitad.vjp(CALLS[name], a)
