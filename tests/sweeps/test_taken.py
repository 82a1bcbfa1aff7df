"""Does a loop that keeps what one iteration computed have that iteration's derivative?

Truth: the derivative of what was kept, written by hand.
"""

import math

import numpy as np
import pytest

from jitad import grad, jit, jit_grad, jit_hessian, jit_jvp

X = np.array([0.5, -1.25, 2.0, 1.5, 2.0, -3.0])


def largest(x):
    m = -math.inf
    for e in x:
        m = max(m, e * e * e)
    return m


def least_after(x, start):
    m = start * start
    for i in range(len(x)):
        d = (x[i] - 1.0) ** 2
        if d < m:
            m = d
    return m


def nearest_pair(x, y):
    best, at = np.inf, 0
    for j in range(len(y) - 1, -1, -1):
        d = 0.0
        for i in range(len(x)):
            d += (x[i] - y[j]) ** 2
        if d < best:
            best = d
            at = j
    return best * y[at]


def assert_records_nothing(g):
    assert "kept" not in g.source, g.source


def unit(k, v, n=len(X)):
    out = np.zeros(n)
    out[k] = v
    return out


def test_the_largest():
    g = jit_grad(largest)
    np.testing.assert_allclose(g(X), unit(2, 12.0))  # the first of two that are equal
    np.testing.assert_allclose(g(-X), unit(5, 27.0))
    assert_records_nothing(g)
    np.testing.assert_allclose(grad(largest)(X), g(X))


@pytest.mark.parametrize("n", [0, 1, 6])
def test_where_none_is_taken_the_start_stays(n):
    g = jit_grad(least_after, (0, 1))
    x = X[:n]
    for start in (0.0, 0.1, -3.0):
        d = (x - 1.0) ** 2
        by_x, by_start = np.zeros(n), 2.0 * start
        if n and d.min() < start**2:
            by_x[d.argmin()], by_start = 2.0 * (x[d.argmin()] - 1.0), 0.0
        got = g(x, start)
        np.testing.assert_allclose(got[0], by_x)
        assert got[1] == pytest.approx(by_start)
    assert_records_nothing(g)


def test_a_sum_in_each_iteration_and_an_index_beside_it():
    y = np.array([4.0, 0.25, -2.0])
    g = jit_grad(nearest_pair, (0, 1))
    d = ((X[:, None] - y) ** 2).sum(axis=0)
    k = d.argmin()
    by_x, by_y = g(X, y)
    np.testing.assert_allclose(by_x, 2.0 * (X - y[k]) * y[k])
    np.testing.assert_allclose(by_y, unit(k, d[k] - 2.0 * (X - y[k]).sum() * y[k], 3))
    assert_records_nothing(g)


def test_forwards_and_twice():
    along = np.arange(1.0, 7.0)
    assert jit_jvp(largest)((X,), (along,))[1] == pytest.approx(12.0 * along[2])
    np.testing.assert_allclose(jit_hessian(largest)(X), np.diag(unit(2, 12.0)))


def test_an_infinite_slope_that_is_not_taken_stays_out():
    def f(x):
        m = 0.0
        for e in x:
            m = max(m, np.sqrt(e))
        return m

    np.testing.assert_allclose(jit_grad(f)(np.array([0.0, 4.0, 0.0])), [0.0, 0.25, 0.0])


def test_what_depends_on_the_past_is_recorded():
    def f(x):
        m = 1.0
        for e in x:
            if e * m > 0.75:
                m = 0.5 * e * m
        return m

    x = np.array([2.0, 0.5, 3.0])  # m: 1, then 1, 1, 1.5
    np.testing.assert_allclose(jit_grad(f)(x), [0.75, 0.0, 0.5])


def test_two_that_are_replaced_at_different_times():
    def f(x):
        low, high = np.inf, -np.inf
        for e in x:
            low, high = min(low, e * e), max(high, e * e)
        return high - 2.0 * low

    np.testing.assert_allclose(jit_grad(f)(X), unit(5, -6.0) - unit(0, 2.0))


def test_two_that_are_replaced_together():
    def f(x, y):
        best, other = np.inf, 0.0
        for i in range(len(x)):
            if x[i] * x[i] < best:
                best = x[i] * x[i]
                other = y[i] * x[i]
        return best + other

    g = jit_grad(f, (0, 1))
    by_x, by_y = g(X, np.arange(6.0) + 2.0)
    np.testing.assert_allclose(by_x, unit(0, 1.0 + 2.0))
    np.testing.assert_allclose(by_y, unit(0, 0.5))
    assert_records_nothing(g)


def test_a_sum_beside_it():
    def f(x):
        total, m = 0.0, -np.inf
        for e in x:
            total += e * e
            m = max(m, e)
        return total * m

    total = (X**2).sum()
    np.testing.assert_allclose(jit_grad(f)(X), 4.0 * X + unit(2, total))


def test_a_check_in_the_loop_is_made_where_it_was():
    def f(x):
        m = 0.0
        for e in x:
            m = max(m, math.log(e))
        return m

    assert jit(f)(np.array([1.0, math.e])) == 1.0
    with pytest.raises(ValueError, match="math domain error"):
        jit_grad(f)(np.array([2.0, -1.0]))
