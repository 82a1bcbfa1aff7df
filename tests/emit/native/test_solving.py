"""Are systems solved column by column, where they are small, and at once, where they are large?"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from jitad import grad, jit, jit_grad
from jitad.emit.libraries.lapack import FEW


@jit
def solutions(a, b):
    upper = solve_triangular(a, b)
    return np.linalg.solve(a, b), upper, solve_triangular(a, b, trans=1, lower=True)


@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 5), (4, 0), (20, 100)])
def test_all_columns(n, k):
    assert (n * n * k > FEW) == (n == 20)
    random = np.random.default_rng([n, k])
    a, b = random.normal(size=(n, n)) + n * np.eye(n), random.normal(size=(n, k))
    full, upper, lower = solutions(a, b)
    np.testing.assert_allclose(a @ full, b, atol=1e-12)
    np.testing.assert_allclose(np.triu(a) @ upper, b, atol=1e-12)
    np.testing.assert_allclose(np.tril(a).T @ lower, b, atol=1e-12)


def _cofactor(a, i, j):
    """By exact minors, in rational numbers."""
    minor = [[Fraction(float(x)) for x in np.delete(row, j)] for row in np.delete(a, i, 0)]
    sign, n = (-1) ** (i + j), len(minor)
    for k in range(n):
        at = next((r for r in range(k, n) if minor[r][k]), None)
        if at is None:
            return 0.0
        if at != k:
            minor[k], minor[at], sign = minor[at], minor[k], -sign
        for r in range(k + 1, n):
            by = minor[r][k] / minor[k][k]
            minor[r] = [x - by * y for x, y in zip(minor[r], minor[k], strict=True)]
    return float(sign * math.prod(minor[k][k] for k in range(n)))


@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-6, 1e-14, 0.0])
def test_the_derivative_of_a_determinant_near_singular_matrices(smallest):
    """By the inverse where that is accurate, by singular values elsewhere."""
    random = np.random.default_rng(3)
    u, v = (np.linalg.qr(random.normal(size=(5, 5)))[0] for _ in range(2))
    a = np.round(u * [1.0, 2.0, 3.0, 1.5, smallest], 12) @ np.round(v, 12)
    truth = np.array([[_cofactor(a, i, j) for j in range(5)] for i in range(5)])
    for slope in (jit_grad(np.linalg.det)(a), grad(np.linalg.det)(a)):
        np.testing.assert_allclose(slope, truth, rtol=0, atol=2e-12 * np.max(np.abs(truth)))
