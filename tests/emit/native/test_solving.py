"""Are systems solved column by column, where they are small, and at once, where they are large?"""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from jitad import jit
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
