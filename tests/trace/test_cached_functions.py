"""Does a function that keeps its results run once for each argument, and give the same thing?

Also where a condition decides whether it has run before.  The truth is the function itself.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_value_and_grad


def written_under_a_condition(x):
    @functools.lru_cache
    def ones(k):
        return np.ones(3) * k

    if x[0] > 0:
        ones(1)[0] = x[0]
    return ones(1).sum() * x[1]


def counted(x):
    n = 0

    @functools.cache
    def double(k):
        nonlocal n
        n += 1
        return k * 2.0

    s = double(1) if x[0] > 0 else 0.0
    for k in range(len(x)):
        s += double(k) * x[k]
    return s + double(1) + n * x[1]


def cleared(x):
    @functools.lru_cache
    def parts(k):
        return [x[0] * k]

    if x[0] > 0:
        parts(2).append(x[1])
        parts(3).append(x[1])
        parts.cache_clear()
        parts(3).append(x[2])
    return sum(parts(2)) + sum(parts(3))


def by_methods(x):
    class Counter:
        def __init__(self):
            self.n = 0

        @functools.lru_cache  # noqa: B019
        def asked(self, k):
            self.n += 1
            return k * 1.5

    a, b = Counter(), Counter()
    s = 0.0
    for v in x:
        if v > 0.5:
            s += a.asked(1) + b.asked(2) * v
    return s + a.n * x[0] + b.n


@pytest.mark.parametrize("f", [written_under_a_condition, counted, cleared, by_methods])
def test_as_often_as_in_python(f) -> None:
    for x in (np.array([0.3, 1.2, -0.7]), np.array([-0.3, 0.2, 0.7])):
        value, slope = jit_value_and_grad(f)(x)
        assert value == pytest.approx(f(x))
        np.testing.assert_allclose(slope, grad(f)(x))
        h = 1e-6 * np.eye(3)
        np.testing.assert_allclose(slope, [(f(x + d) - f(x - d)) / 2e-6 for d in h], atol=1e-8)


def test_what_it_counts_is_refused() -> None:
    def asked(x):
        @functools.cache
        def same(k):
            return k * x

        return same(1) + same(1) + same.cache_info().hits

    with pytest.raises(JitadError, match="cache_info tells what"):
        jit(asked)(2.0)
