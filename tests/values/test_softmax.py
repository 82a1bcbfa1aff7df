"""Is what a softmax is divided by lest it overflow left out of its derivative, in every mode?

The truth is the derivative written by hand, which has no largest element in it.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from jitad import (
    derivative,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jit_grad,
    jit_hessian,
    jit_jvp,
    sparse_jacobian,
)

X = np.array([[1.0, 2.0, 2.0], [3.0, -1.0, 0.0], [800.0, 790.0, -np.inf]])  # a tie, large ones
W = np.arange(9.0).reshape(3, 3)


def weighed(x):
    return np.sum(W * softmax(x, axis=1))


def summed(x):
    return np.sum(logsumexp(x, axis=1) ** 2)


def by_hand(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


@pytest.mark.parametrize("way", [grad, jit_grad])
def test_gradients_by_hand(way):
    p = by_hand(X)
    expected = p * (W - np.sum(p * W, axis=1)[:, None])
    np.testing.assert_allclose(way(weighed)(X), expected, atol=1e-13)
    expected = 2.0 * logsumexp(X, axis=1)[:, None] * p
    np.testing.assert_allclose(way(summed)(X), expected, rtol=1e-13)


def test_the_largest_element_is_sought_once():
    for f in (weighed, summed):
        gradient = jit_grad(f)
        gradient(X)
        assert gradient.source.count("highest(") == 1 and gradient.source.count("= exp(") == 1
        assert "== a1[" not in gradient.source  # which would find the largest


def test_along_a_direction_and_of_second_order():
    x, t = X[0], np.array([0.3, -1.0, 0.7])
    p = by_hand(X)[0]
    np.testing.assert_allclose(jit_jvp(logsumexp)((x,), (t,))[1], p @ t, rtol=1e-13)
    np.testing.assert_allclose(derivative(lambda h: logsumexp(x + h * t))(0.0), p @ t, rtol=1e-13)
    curvature = np.diag(p) - np.outer(p, p)
    for way in (hessian, jit_hessian):
        np.testing.assert_allclose(way(logsumexp)(x), curvature, atol=1e-14)
    np.testing.assert_allclose(sparse_jacobian(softmax)(x).toarray(), curvature, atol=1e-14)
    logs = jit_grad(lambda x: log_softmax(x)[1])(x)
    np.testing.assert_allclose(logs, np.array([0.0, 1.0, 0.0]) - p, atol=1e-14)


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_where_one_outweighs_the_others(axis, keepdims):
    """What is left of a difference of nothing, to third order, against the same in many digits."""
    x = np.array([[0.0, 38.0], [-3.0, 1.0]])

    def summed(x, exp=np.exp, log=np.log):
        e = exp(x)
        return log(e.sum(axis=axis, keepdims=keepdims))

    def exact(x, t, order):
        with mpmath.workdps(120):
            many = np.vectorize(mpmath.mpf, otypes=[object])
            functions = (np.frompyfunc(f, 1, 1) for f in (mpmath.exp, mpmath.log))
            ways = list(functions)
            f = lambda h: np.sum(summed(many(x) + h * many(t), *ways))
            return float(mpmath.diff(f, 0, order, h=mpmath.mpf(10) ** -25))

    def along(h, x, t):
        return np.sum(logsumexp(x + h * t, axis=axis, keepdims=keepdims))

    for place in np.ndindex(2, 2):
        t = np.zeros((2, 2))
        t[place] = 1.0
        slopes = [derivative(grad(along)), grad(derivative(along)), jit_grad(derivative(along))]
        slopes += [derivative(derivative(derivative(along))), grad(grad(grad(along)))]
        for f, order in zip(slopes, (2, 2, 2, 3, 3), strict=True):
            np.testing.assert_allclose(f(0.0, x, t), exact(x, t, order), rtol=1e-10)


@pytest.mark.parametrize("f", [softmax, log_softmax])
def test_slopes_where_one_outweighs_the_others(f):
    x = np.array([0.0, 38.0, 3.0])
    with mpmath.workdps(60):
        e = [mpmath.exp(mpmath.mpf(v)) for v in x]
        p = [v / sum(e) for v in e]
        slopes = [[(p[i] if f is softmax else 1) * ((i == k) - p[k]) for k in range(3)]
                  for i in range(3)]  # fmt: skip
    expected = np.array(slopes, float)
    for way in (jacfwd, jacrev):
        np.testing.assert_allclose(way(f)(x), expected, rtol=1e-13)
        np.testing.assert_allclose(jit(way(f))(x), expected, rtol=1e-13)
        single = way(f)(x.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, expected, rtol=1e-4)
