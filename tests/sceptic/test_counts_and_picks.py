"""Do functions of counts, and sizes that only the kernel knows, give what Python gives?

Factorials of a loop's index, diagonals by index arrays, least squares over rows
that a mask selects.
"""

import math

import numpy as np
import pytest
from scipy.special import comb

import jitad
from tests.engines import as_emitted
from tests.truth import ridders

X = np.random.default_rng(0).normal(size=(6, 2))


def taylor_terms(x, n):
    return sum(x[0, 0] ** k / math.factorial(k) for k in range(n)) + math.comb(n, 3) * x[1, 1]


def binomial_while_large(x, n):
    total, k = 0.0, 0
    while math.comb(n, k) * 0.3**k > 1e-3:
        total += math.comb(n, k) * x[0, 0] ** k
        k += 1
    return total


def least_squares_of_selected_rows(x, n):
    a = x[x[:, 0] > 0.0][:n]
    found, residuals, _, _ = np.linalg.lstsq(a, np.sin(a[:, 0]), rcond=None)
    return np.sum(found) + np.sum(residuals) + len(residuals)


def diagonals(x, n):
    a = x.T @ x
    a[np.diag_indices_from(a)] += x[0, 0]
    a[range(len(a)), range(len(a))] *= x[0, 1]
    a[np.diag_indices(len(a))] -= 0.5
    return np.sum(a * a)


def polynomial_object(x, n):
    p = np.poly1d([1.0, -2.0, 0.5])
    return p(x[0, 0]) + n * np.sum(p(x[1]))


PROGRAMS = [
    polynomial_object, taylor_terms, binomial_while_large, least_squares_of_selected_rows,
    diagonals,
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_gradient(program, n):
    expected = np.zeros(X.shape)
    for at in np.ndindex(X.shape):
        unit = np.zeros(X.shape)
        unit[at] = 1.0
        expected[at] = ridders(lambda h, u=unit: float(program(X + h * u, n)), 0.01)[0]
    for run in (lambda f, *a: f(*a), as_emitted):
        value, gradient = run(jitad.value_and_grad(program), X, n)
        assert value == pytest.approx(program(X, n), rel=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("n", [0, 1, 20, 33, 61])
def test_binomials_of_all_sizes_that_fit(n):
    f = lambda x, n, k: x * math.comb(n, k)
    for k in {0, 1, n // 2, n, n + 1}:
        assert as_emitted(f, 1.0, n, k) == pytest.approx(comb(n, k), rel=1e-14)


def test_what_does_not_fit_is_refused():
    f = jitad.jit(lambda x, n: x * math.factorial(n))
    assert f(1.0, 20) == float(math.factorial(20))
    with pytest.raises(OverflowError, match=r"more than 64 bits(.|\n)*math\.gamma"):
        f(1.0, 21)
    with pytest.raises(ValueError, match="not defined for negative values"):
        f(1.0, -1)
