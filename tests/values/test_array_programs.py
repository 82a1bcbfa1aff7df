"""Do writable diagonals, empty slices with a start, and refusals of whole libraries work?"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.stats

from jitad import check_grads, grad, jit, jit_grad
from jitad.errors import JitadError, JitadTypeError


def by_diagonals(a):
    b = a.copy()
    d = np.einsum("iij->ij", b)
    d[0] *= 2.0
    d[1, 1] = a[0, 0, 1]
    d[:, 0] += 1.0
    np.einsum("iij->ji", b)[0] = 7.0
    return np.sum(b**2) + d[0, 1]


def by_the_long_diagonal(a):
    b = a.copy()
    d = np.einsum("iii->i", b)
    d[0] *= 2.0
    d += a[1, 1, 0]
    d[1] = a[0, 1, 0]
    return np.sum(b**2) + d[0] * d[1]


@pytest.mark.parametrize("f", [by_diagonals, by_the_long_diagonal])
def test_a_diagonal_by_einsum_is_written_through(f) -> None:
    a = np.arange(8.0).reshape(2, 2, 2)
    assert jit(f)(a) == f(a)
    check_grads(f, (a,))
    np.testing.assert_allclose(jit_grad(f)(a), grad(f)(a), rtol=1e-12)


def test_np_diagonal_stays_read_only() -> None:
    def f(a):
        d = a.copy().diagonal()
        d[0] = 1.0
        return d[0]

    with pytest.raises(ValueError, match="read-only"):
        jit(f)(np.eye(2))


def test_an_extreme_of_what_may_be_empty_starts_with_initial() -> None:
    def f(a, k):
        return np.max(a[k:], initial=0.5) + np.sum(np.min(a[k:, None], axis=0, initial=a[0]))

    a = np.array([0.2, 0.9, 0.7])
    for k in range(4):
        assert jit(f)(a, k) == f(a, k)
        check_grads(f, (a, k))


def test_equal_candidates_share_initial_s_derivative_in_both_engines() -> None:
    def f(a, low):
        return np.max(a, initial=low)

    for derivative in (grad(f, (0, 1)), jit_grad(f, (0, 1))):
        by_a, by_low = derivative(np.ones(3), 1.0)
        np.testing.assert_array_equal(by_a, np.full(3, 0.25))
        assert by_low == 0.25


@pytest.mark.parametrize(("f", "name"), [
    (lambda x: np.sum(scipy.signal.residue(x, [1.0, 2.0])[0]), "scipy.signal.residue"),
    (lambda x: np.sum(scipy.interpolate.SmoothBivariateSpline(x, x, x)(0.5, 0.5)),
     "scipy.interpolate.SmoothBivariateSpline"),
    (lambda x: scipy.stats.kendalltau(x, [1.0, 2.0, 4.0])[0], "scipy.stats.kendalltau"),
])  # fmt: skip
def test_what_nobody_entered_is_refused_by_its_public_name(f, name) -> None:
    for derivative in (grad(f), jit_grad(f)):
        with pytest.raises(JitadTypeError, match=f"{name} is not supported") as caught:
            derivative(np.array([1.0, 3.0, 2.0]))
        assert __file__ in str(caught.value)


def test_what_a_user_s_function_meets_inside_a_library_is_told_by_its_own_name() -> None:
    def wrapped(t, x):
        return np.nextafter(x, x)[0] * t

    def f(x):
        return scipy.integrate.fixed_quad(wrapped, 0.0, 1.0, args=(x,))[0]

    with pytest.raises(JitadTypeError, match="nextafter"):
        jit_grad(f)(np.ones(3))


SAMPLES = [np.full(5, 0.1), np.array([0.3, 0.1, 0.9]), np.array([0.3, -0.5]), np.array([0.3, 0.0])]


@pytest.mark.parametrize("x", SAMPLES, ids=["constant", "three", "negative", "zero"])
def test_summaries_at_the_edge_are_scipy_s(x) -> None:
    def f(x):
        return (scipy.stats.skew(x, bias=False), scipy.stats.kurtosis(x, bias=False),
                scipy.stats.hmean(x), scipy.stats.zscore(x)[0])  # fmt: skip

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = f(x)
        np.testing.assert_allclose(jit(f)(x), want, rtol=1e-9)


def test_a_logarithm_is_of_each_matrix_of_a_stack_and_of_no_singular_one() -> None:
    a = np.array([[2.0, 0.3], [0.1, 1.0]])
    many = np.stack([a + 0.1 * k * np.eye(2) for k in range(8)])
    want = np.stack([scipy.linalg.logm(m) for m in many])
    np.testing.assert_allclose(jit(lambda m: scipy.linalg.logm(m))(many), want, rtol=1e-11)
    wide = np.array([[1e-12, 1.0], [0.0, 1e12]])
    np.testing.assert_allclose(
        jit(lambda m: scipy.linalg.logm(m))(wide), scipy.linalg.logm(wide), rtol=1e-9, atol=1e-24)
    with pytest.raises(JitadError):
        jit(lambda m: scipy.linalg.logm(m))(np.diag([1.0, 0.0]))
