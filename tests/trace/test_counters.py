"""Is what Counters do in Python, by comparing their counts, the same with traced counts?"""

from collections import Counter

import numpy as np
import pytest

import jitad
from tests.truth import differences


def counts(x):
    return Counter({"a": x, "b": 2.0 * x, "c": -x * x, "d": 1.0})


def weighed(c):
    return sum((k + 2) * v for k, v in enumerate(c.values())) + len(c)


def summed(x):
    return weighed(counts(x) + Counter(a=0.8, e=x))


def reduced(x):
    return weighed(counts(x) - Counter(a=0.8, c=-1.5))


def both(x):
    return weighed(counts(x) & Counter(a=0.8, b=1.5, d=2.0))


def either(x):
    return weighed(counts(x) | Counter(a=0.8, c=x, f=0.5))


def positive(x):
    return weighed(+counts(x)) - weighed(-counts(x))


def in_place(x):
    c = d = counts(x)
    c += Counter(a=0.8)
    c -= Counter(d=x)
    c |= Counter(c=x * x)
    c &= Counter(a=2.0, b=1.7, c=3.0, d=9.0)
    assert c is d
    return weighed(d)


def all_in_order(x):
    return sum((k + 1) * v for k, (_, v) in enumerate(counts(x).most_common()))


def two_of_them(x):
    (first, most), (second, next_) = counts(x).most_common(2)
    return most * 3.0 + next_ + len(first + second)


def by_loops(x):
    c = Counter()
    for k in range(7):
        c[k % 3] += x * k
        if c[1] > 3.0:
            c[1] -= x
    return sum(v * (n + 1) for n, (_, v) in enumerate(c.most_common()))


ALL = [summed, reduced, both, either, positive, in_place, all_in_order, two_of_them, by_loops]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.3, 0.7, 1.3, -0.6])
def test_counts_are_compared_as_python_does(f, x):
    expected, error = differences(f, (x,), (0,), [1.0])
    for operator in (jitad.value_and_grad, jitad.jit_value_and_grad):
        value, slope = operator(f)(x)
        assert value == pytest.approx(f(x), rel=1e-13)
        assert abs(slope - expected) <= 1e-7 * (1.0 + abs(expected)) + 10 * error


def test_of_arrays():
    def f(x):
        c = Counter(dict(enumerate(x)))
        return sum(v * (k + 1) for k, (_, v) in enumerate(c.most_common(3)))

    x = np.array([0.3, 1.2, -0.5, 0.9])
    np.testing.assert_allclose(jitad.jit_grad(f)(x), [3.0, 1.0, 0.0, 2.0])
