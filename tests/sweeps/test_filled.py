"""What a loop has filled with roots, and a program reads in part: has the rest no derivative?

Ways to fill a matrix with distances, whose diagonal is the root of zero, by ways to read what is
off the diagonal.  Truth: differences of plain NumPy, and tangents, which multiply by no zeros.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES

POINTS = np.array([0.3, 1.7, 0.9, 2.6])


# -- ways to fill ---------------------------------------------------------------------------------


def by_numbers(x):
    n = len(x)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            d[i, j] = math.sqrt((x[i] - x[j]) ** 2)
    return d


def by_rows(x):
    d = np.empty((len(x), len(x)))
    for i in range(len(x)):
        d[i] = np.sqrt((x - x[i]) ** 2)
    return d


def by_columns(x):
    d = np.empty((len(x), len(x)))
    for i in range(len(x)):
        d[:, i] = ((x - x[i]) ** 2) ** 0.5
    return d


def of_lists(x):
    return np.array([[np.sqrt((a - b) ** 2) for b in x] for a in x])


def of_rows(x):
    return np.stack([np.sqrt((x - a) ** 2) for a in x])


def flat(x):
    n = len(x)
    d, k = np.zeros(n * n), 0
    for i in range(n):
        for j in range(n):
            d[k] = np.cbrt((x[i] - x[j]) ** 2)
            k += 1
    return d.reshape(n, n)


def mirrored(x):
    n = len(x)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            d[i, j] = np.sqrt((x[i] - x[j]) ** 2)
            d[j, i] = d[i, j]
    return d


def under_a_condition(x):
    n = len(x)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if x[i] >= x[j]:
                d[i, j] = np.sqrt((x[i] - x[j]) ** 2)
            else:
                d[i, j] = 2.0 * np.sqrt((x[j] - x[i]) ** 2)
    return d


def while_there_are_some(x):
    n, i = len(x), 0
    d = np.zeros((n, n))
    while i < n:
        j = 0
        while j < n:
            d[i, j] = np.sqrt((x[i] - x[j]) ** 2)
            j += 1
        i += 1
    return d


def from_another(x):
    d, k = by_numbers(x), np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            k[i, j] = 1.0 - np.exp(-d[i, j])
    return k


def by_norms(x):
    p = np.stack([x, x * x], axis=1)
    d = np.zeros((len(p), len(p)))
    for i in range(len(p)):
        for j in range(len(p)):
            d[i, j] = np.linalg.norm(p[i] - p[j])
    return d


def angles(x):
    u = np.stack([np.cos(x), np.sin(x)], axis=1)
    a = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            a[i, j] = np.arccos(min(max(u[i, 0] * u[j, 0] + u[i, 1] * u[j, 1], -1.0), 1.0))
    return a


def turned(x):
    return 2.0 * by_rows(x).T


def changed_in_place(x):
    d = by_numbers(x)
    for i in range(len(x)):
        d[i] = d[i] + 0.5 * d[i]
    d *= 2.0
    return d


def again_and_again(x):
    d, y = np.zeros((len(x), len(x))), x.copy()
    for _ in range(3):
        y = 1.1 * y
        for i in range(len(x)):
            for j in range(len(x)):
                d[i, j] = np.sqrt((y[i] - y[j]) ** 2)
    return d


FILLS = [by_numbers, by_rows, by_columns, of_lists, of_rows, flat, mirrored, under_a_condition,
         while_there_are_some, from_another, by_norms, angles, turned, changed_in_place,
         again_and_again]  # fmt: skip


# -- ways to read ---------------------------------------------------------------------------------


def below(d):
    total = 0.0
    for i in range(len(d)):
        for j in range(i):
            total += 1.0 / d[i, j]
    return total


def if_not_the_same(d):
    total = 0.0
    for i in range(len(d)):
        for j in range(len(d)):
            if i != j:
                total += np.exp(-d[i, j])
    return total


def passed_over(d):
    total = 0.0
    for i in range(len(d)):
        for j in range(len(d)):
            if i == j:
                continue
            total += d[i, j] ** 1.5
    return total


def above_zero(d):
    total = 0.0
    for row in d:
        for v in row:
            if v > 0.0:
                total += 1.0 / v
    return total


def by_a_mask(d):
    return np.sum(np.log(d[~np.eye(len(d), dtype=bool)]))


def by_a_mask_of_values(d):
    return np.sum(d[d > 0.0] ** 2)


def with_a_diagonal(d):
    np.fill_diagonal(d, 1.0)
    return np.sum(1.0 / d)


def nearest_beside_infinity(d):
    for i in range(len(d)):
        d[i, i] = np.inf
    return np.sum(np.min(d, axis=1))


def chosen(d):
    return np.sum(np.where(np.eye(len(d)) == 1.0, 0.0, d) ** 2)


def triangle(d):
    return np.sum(3.0 * np.triu(d, 1))


def second_smallest(d):
    return np.sum(np.sort(d, axis=1)[:, 1])


def without_itself(d):
    return np.sum([np.sum(1.0 / np.delete(d[i], i)) for i in range(len(d))])


def to_the_right(d):
    total = 0.0
    for i in range(len(d) - 1):
        total += np.sum(1.0 / d[i, i + 1 :])
    return total


def nearest(d):
    total = 0.0
    for i in range(len(d)):
        best = np.inf
        for j in range(len(d)):
            if j != i and d[i, j] < best:
                best = d[i, j]
        total += best
    return total


def listed(d):
    return sum([1.0 / d[i, j] for i in range(len(d)) for j in range(len(d)) if i != j])


def into_another(d):
    w = np.zeros_like(d)
    for i in range(len(d)):
        for j in range(len(d)):
            if i != j:
                w[i, j] = 1.0 / d[i, j]
    return np.sum(w)


def overwritten_by_a_mask(d):
    d[np.eye(len(d), dtype=bool)] = 2.0
    return np.sum(np.log(d))


def off_the_diagonal(d):
    return np.sum(np.diagonal(d, 1) / d[0, 1:])


def _of_one(d, i):
    total = 0.0
    for j in range(len(d)):
        if j != i:
            total += 1.0 / d[i, j]
    return total


def by_calls(d):
    return sum(_of_one(d, i) for i in range(len(d)))


def extremes(d):
    return np.max(d) + np.min(d[d > 0.0])


READS = [below, if_not_the_same, passed_over, above_zero, by_a_mask, by_a_mask_of_values,
         with_a_diagonal, nearest_beside_infinity, chosen, triangle, second_smallest,
         without_itself, to_the_right, nearest, listed, into_another, overwritten_by_a_mask,
         off_the_diagonal, by_calls, extremes]  # fmt: skip

# Each way to fill with some ways to read, and each of these with some of those.
PAIRS = list(itertools.islice(zip(itertools.cycle(FILLS), itertools.cycle(READS), strict=False),
                              0, 2 * len(READS)))  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: f"{p[0].__name__}-{p[1].__name__}")
def test_what_is_not_read_has_no_part(pair):
    fill, read = pair

    def f(x):
        return read(fill(x))

    with np.errstate(all="ignore"):
        ahead, behind = ([f(POINTS + s * e) for e in 1e-6 * np.eye(4)] for s in (1.0, -1.0))
        forward = np.array([jitad.jvp(f, (POINTS,), (e,))[1] for e in np.eye(4)])
    np.testing.assert_allclose(forward, np.subtract(ahead, behind) / 2e-6, rtol=1e-5, atol=1e-6)
    for engine, run in ENGINES.items():
        gradient = jitad.grad(f) if engine == "eager" else jitad.jit_grad(f)
        with np.errstate(all="ignore"):
            found = run(gradient, POINTS)
        np.testing.assert_allclose(found, forward, rtol=1e-9, atol=1e-12, err_msg=engine)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_on_threads_in_float32_and_second_order(dtype):
    def f(x):
        return below(by_numbers(x))

    x = POINTS.astype(dtype)
    want = jitad.jit_grad(lambda x: sum(1.0 / abs(x[i] - x[j]) for i in range(4) for j in range(i)))
    with np.errstate(all="ignore"):
        found = jitad.jit_grad(f, parallel=2)(x)
        curved = jitad.jit_hvp(f)(x, np.array([1.0, 0.0, -1.0, 0.5], dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, want(x), rtol=3e-6)
    ends = [want(POINTS + s * 1e-5 * np.array([1.0, 0.0, -1.0, 0.5])) for s in (1.0, -1.0)]
    np.testing.assert_allclose(curved, (ends[0] - ends[1]) / 2e-5, rtol=1e-4)


# -- a number that happens to be zero is no such zero ---------------------------------------------


def roots(x):
    s = np.zeros(len(x))
    for i in range(len(x)):
        s[i] = np.sqrt(x[i])
    return s


def squares(x):
    s, total = roots(x), 0.0
    for i in range(len(x)):
        total -= s[i] * s[i]
    return total


def squares_under_a_condition(x):
    s, total = roots(x), 0.0
    for i in range(len(x)):
        if s[i] < 5.0:
            total -= s[i] ** 2
        else:
            total += s[i]
    return total


def squares_after_stores(x):
    s = roots(x)
    for i in range(1, len(x)):
        s[i] = 0.5 * s[i]
    return np.sum(-(s * s)) + s[1]


def squares_of_the_chosen(x):
    s = roots(x)
    return np.sum(np.where(np.arange(len(x)) < 2, -(s * s), s))


def squares_of_what_changes_places(x):
    a, b, total = roots(x), np.zeros(len(x)), 0.0
    for i in range(3):
        a, b = b, a
        total -= b[0] * b[0] + a[i]
    return total


def squares_again_and_again(x):
    s, total = np.zeros(len(x)), 0.0
    for _ in range(2):
        for i in range(len(x)):
            s[i] = np.sqrt(x[i])
        total -= s[0] ** 2 - s[1]
    return total


def _less(s, k):
    return 0.0 if k < 0 else _less(s, k - 1) - s[k] ** 2


def squares_by_recursion(x):
    s = roots(x)
    return s[1] + _less(s, len(x) - 2)


def squares_by_recursion_after_stores(x):
    s = roots(x)
    for i in range(1, len(x)):
        s[i] = 0.5 * s[i]
    return s[1] + _less(s, len(x) - 2) + np.sum(-(s * s))


@pytest.mark.parametrize("f", [squares, squares_under_a_condition, squares_after_stores,
                               squares_of_the_chosen, squares_of_what_changes_places,
                               squares_again_and_again, squares_by_recursion,
                               squares_by_recursion_after_stores],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_a_zero_that_was_added_stays_one(f):
    """What is -x near zero has the derivative -1: by the rules it may be nan, but not zero."""
    for engine, run in ENGINES.items():
        gradient = jitad.grad(f) if engine == "eager" else jitad.jit_grad(f)
        with np.errstate(all="ignore"):
            found = run(gradient, np.array([0.0, 1.0, 4.0, 9.0]))
        assert not np.isfinite(found[0]) and np.all(np.isfinite(found[1:])), engine


def test_recurrences_pay_for_nothing():
    """What a loop reads of what it fills is not watched: in factorisations that would cost most."""
    def cholesky(a):
        n = len(a)
        low = np.zeros((n, n))
        for i in range(n):
            for j in range(i):
                low[i, j] = (a[i, j] - low[i, :j] @ low[j, :j]) / low[j, j]
            low[i, i] = np.sqrt(a[i, i] - low[i, :i] @ low[i, :i])
        return low[n - 1, 0] + np.sum(np.log(np.diagonal(low)))

    g = jitad.jit_grad(cholesky)
    g(np.eye(3) + 0.1)
    assert "touched(" not in g.source


def test_softened_distances_pay_for_nothing():
    """A root of what is above zero has a derivative everywhere."""
    def softened(x):
        d = np.zeros((len(x), len(x)))
        for i in range(len(x)):
            for j in range(len(x)):
                d[i, j] = np.sqrt((x[i] - x[j]) ** 2 + 1e-6)
        return below(d) + np.sum((np.square(x) + 1.0)[1:] ** 0.5)

    g = jitad.jit_grad(softened)
    forward = [jitad.jvp(softened, (POINTS,), (e,))[1] for e in np.eye(4)]
    np.testing.assert_allclose(g(POINTS), forward, rtol=1e-12)
    assert "touched(" not in g.source and "unsigned(" not in g.source
