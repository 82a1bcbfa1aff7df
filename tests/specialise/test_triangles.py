"""Are systems of Cholesky factors solved by substitution, with the same derivatives?"""

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES, kernel_of


def covariance(x):
    return np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2) + 0.1 * np.eye(len(x))


def twice(x):
    f = np.linalg.cholesky(covariance(x))
    alpha = np.linalg.solve(f.T, np.linalg.solve(f, np.sin(x)))
    return np.sin(x) @ alpha


def inverse(x):
    return np.sum(np.linalg.inv(np.linalg.cholesky(covariance(x)).T) ** 2)


def upper(x):
    right = np.stack([np.cos(x), x], axis=1)
    return np.sum(np.linalg.solve(np.linalg.cholesky(covariance(x), upper=True).T, right) ** 2)


def by_lu(f, x):
    """The same without a Cholesky decomposition, on complex numbers."""
    k = covariance(x)
    if f is twice:
        return np.sin(x) @ np.linalg.solve(k, np.sin(x))
    if f is inverse:
        return np.trace(np.linalg.inv(k))
    right = np.stack([np.cos(x), x], axis=1)
    return np.trace(right.T @ np.linalg.solve(k, right))


X = np.array([0.3, -1.2, 0.8, 2.0, -0.4])


@pytest.mark.parametrize("f", [twice, inverse, upper])
@pytest.mark.parametrize("way", ["tape", "native"])
def test_the_derivative_is_that_of_the_whole_system(f, way):
    value, slope = ENGINES[way](jitad.value_and_grad(f), X)
    truth = np.array([by_lu(f, X + 1e-30j * e).imag / 1e-30 for e in np.eye(len(X))])
    np.testing.assert_allclose(value, by_lu(f, X), rtol=1e-12)
    np.testing.assert_allclose(slope, truth, rtol=1e-10)


@pytest.mark.parametrize("f", [twice, inverse, upper])
def test_nothing_is_factored_again(f):
    source = kernel_of(jitad.value_and_grad(f), X)[1].source
    assert " = lu(" not in source and " = solve(" not in source and "trisolve(" in source


def test_other_matrices_are_factored():
    source = kernel_of(lambda x: np.linalg.solve(np.linalg.cholesky(covariance(x)) + 1.0, x), X)
    assert " = solve(" in source[1].source
