"""Do loops store what they would add to an array of zeros, with the same results bit by bit?"""

import numpy as np
import pytest

from jitad import jit_grad
from jitad.specialise.assign import assign
from jitad.tape.types import INT
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import V, for_, in_loops, ops, tape_of

X = np.array([3.0, -1, 4, 1, -5, 9, -0.0, -6, 5])
N = len(X)


def spread(place, step=1, length=N, more=None):
    """For every i: a[place(i)] += x[i], where a begins as zeros."""

    def f(b, x, start, count):
        def body(i, a):
            a = o.accum(a, o.load(x, i), place(i))
            return [a if more is None else more(a, i, x)]

        return for_(b, start, step, count, [o.full(0.0, length, dtype="f8")], body)[0]

    return tape_of([("x", V), ("start", INT), ("count", INT)], f)


UP = [(X, s, c) for s, c in ((0, 9), (0, 0), (0, -2), (2, 5), (8, 1), (4, 5))]
DOWN = [(X, s, c) for s, c in ((8, 9), (8, 0), (3, -2), (6, 5), (0, 1), (4, 5))]


@pytest.mark.parametrize(
    ("place", "step", "points"),
    [
        (lambda i: i, 1, UP),
        (lambda i: i, -1, DOWN),
        (lambda i: 8 - i, 1, UP),
        (lambda i: 8 - i, -1, DOWN),
        (lambda i: i + 1, 1, [(X, s, c) for s, c in ((0, 8), (7, 1), (3, 0), (1, 4))]),
    ],
)
def test_what_is_added_once_is_stored(place, step, points):
    after = keeps(assign, spread(place, step), *points)
    assert not in_loops(after, "accum")
    assert len(in_loops(after, "store")) == 1
    assert not ops(after, "full")


@pytest.mark.parametrize(
    ("place", "step"), [(lambda i: i * 2, 1), (lambda i: i, 2), (lambda i: i * 0 + 3, 1)]
)
def test_places_with_gaps_or_met_twice_stay(place, step):
    points = [(X, 0, 4), (X, 1, 3), (X, 0, 0)]
    assert in_loops(keeps(assign, spread(place, step), *points), "accum")


def test_an_array_that_is_read_or_added_to_elsewhere_stays():
    for more in (
        lambda a, i, x: o.accum(a, 1.0, i),
        lambda a, i, x: o.accum(a, 1.0, 8 - i),
        lambda a, i, x: o.accum(a, o.load(a, 0), i),
    ):
        after = keeps(assign, spread(lambda i: i, more=more), *UP)
        assert in_loops(after, "accum")


def test_an_array_that_a_loop_around_goes_on_with_stays():
    def f(b, x, n):
        def outer(k, a):
            return for_(b, 0, 1, n, [a], lambda i, a: [o.accum(a, o.load(x, i), i)])

        return for_(b, 0, 1, 3, [o.full(0.0, N, dtype="f8")], outer)[0]

    assert in_loops(keeps(assign, tape_of([("x", V), ("n", INT)], f), (X, 5), (X, 0)), "accum")


def test_an_index_read_from_an_array_stays():
    def place(i):
        return o.cast(o.load(o.full(3.0, 9, dtype="f8"), i), dtype="i8", py=True)

    assert in_loops(keeps(assign, spread(place), *UP), "accum")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 20])
def test_a_gradient_of_neighbours(n):
    """d/dx of the sum over i < n - 1 of x[i] * x[i + 1]² is x[i + 1]² + 2 x[i - 1] x[i]."""

    def f(x):
        total = 0.0
        for i in range(len(x) - 1):
            total += x[i] * x[i + 1] ** 2
        return total

    x = np.linspace(1.0, 2.0, n)
    wanted = np.zeros(n)
    wanted[:-1] += x[1:] ** 2
    wanted[1:] += 2.0 * x[:-1] * x[1:]
    np.testing.assert_allclose(jit_grad(f)(x), wanted, rtol=1e-14)
