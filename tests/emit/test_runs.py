"""Is a part of an array handed to a function where it lies, without a copy, and what it was then?

Plain Python and differences of it say what is right.
"""

import math

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, natively
from tests.truth import differences


def summed(a):
    if len(a) == 1:
        return math.sin(a[0])
    m = len(a) // 2
    return summed(a[:m]) * 1.5 + summed(a[m:])


def weighted(a, w):
    if len(a) < 2:
        return a[0] * w
    return weighted(a[1:], 0.5 * w + a[0]) + weighted(a[:-1], 0.3 * w)


def filled(a, by):
    """Writes all elements of what it is given, one a call."""
    if by > 0.1:
        a[int(by) % 3] += by * a[0]
        filled(a, 0.5 * by)


def of_halves(x):
    return summed(x)


def of_parts_that_overlap(x):
    return weighted(x[:5], 1.0) * summed(x[2:])


def of_a_row(x):
    m = np.outer(x, x[:4])
    return summed(m[2]) + summed(m[1, 1:]) * summed(m[:, 3])


def written_after_it_was_taken(x):
    a = x * 1.0
    before = a[1:4].copy()
    view = a[1:4]
    a[2] = 5.0 * x[0]
    first = summed(view) + 2.0 * summed(before)
    a[1:4] = x[:3]
    return first * summed(view)


def written_by_a_function_between(x):
    a = x * 1.0
    before = a[:3].copy()
    total = summed(a[:3])
    filled(a, 2.0)
    return total + 3.0 * summed(a[:3]) + summed(before) * summed(a[1:])


def handed_and_written_at_once(x):
    a = x * 1.0

    def moved(to, source, k):
        if k > 0.2:
            to[int(4.0 * k) % 3] += source[0] * k
            moved(to, source[1:], 0.6 * k)

    b = a * 2.0
    moved(b, a[1:], 1.0)
    moved(a, b[2:], 0.9)
    return summed(a) * summed(b)


def by_steps(x):
    return summed(x[::2]) * summed(x[::-1]) + summed(x[:0:-2])


def in_a_loop(x):
    total = 0.0
    for k in range(len(x) - 2):
        total += summed(x[k : k + 3]) * (k + 1.0)
    return total


PROGRAMS = [of_halves, of_parts_that_overlap, of_a_row, written_after_it_was_taken,
            written_by_a_function_between, handed_and_written_at_once, by_steps,
            in_a_loop]  # fmt: skip
X = np.array([0.3, -0.7, 1.1, 0.45, 0.8, -0.2, 0.6])
ALONG = np.array([0.5, -0.3, 0.8, 0.2, -0.6, 0.9, 0.4])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    given = X.copy()
    assert math.isclose(as_emitted(f, given), f(X.copy()), rel_tol=1e-12)
    want, error = differences(f, (X,), (0,), [ALONG], 1e-3)
    near = 1e-6 * max(abs(want), 1.0) + 10.0 * error
    assert abs(as_emitted(jitad.grad(f), given) @ ALONG - want) <= near

    def along(x):
        return jitad.jvp(f, (x,), (ALONG,))[1]

    assert abs(as_emitted(along, given) - want) <= near
    assert np.array_equal(given, X)


@pytest.mark.parametrize("f", [of_parts_that_overlap, handed_and_written_at_once],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_natively(f):
    gradient = jitad.grad(f)
    assert np.allclose(natively(gradient, X), gradient(X), rtol=1e-12)


def test_no_element_is_copied():
    f = jitad.jit(of_halves)
    f(X)
    assert f.source.count("run_of(") == 2 and "empty(" not in f.source
    g = jitad.jit_grad(of_halves)
    g(X)
    assert g.source.count("run_of(") == 2
