"""Dicts and lists whose element a traced number finds, heaps, generators taken apart, seeded draws.

Plain Python says what is right, on each side of every condition.
"""

import functools
import heapq
import math
import random
from types import FunctionType

import numba
import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import natively, on_tape
from tests.trace import two_numbers

# -- dicts and lists ------------------------------------------------------------------------------


def a_table(x, y):
    rates = {0: 1.0, 1: 2.0, 2: 3.0, 3: y}
    return rates[int(abs(x))] * x


def keys_of_any_kind(x, y):
    d = {5: x, 1: y, -2: 3.0, 0.5: x * y, "name": 7.0}
    k = int(2.0 * y) - 2
    return d.get(k, x * x) + (1.0 if k in d else y)


def a_missing_key(x, y):
    d = {0: y, 1: x * y}
    try:
        return d[int(2.0 * x)] * x
    except KeyError:
        return x * x * y


def a_histogram(x, y):
    bins = {0: 0.0, 1: 0.0, 2: 0.0, 3: 0.0}
    for v in np.array([x, y, x * y, x - y, 0.3, 2.1]):
        bins[int(abs(v)) % 4] += v * v
    return sum((k + 1.0) * v for k, v in bins.items())


def a_dict_of_arrays(x, y):
    d = {0: np.array([x, y]), 1: np.array([y, 1.0])}
    a = d[int(y) % 2]
    a[0] *= 3.0
    return d[0] @ d[1]


def a_list_as_a_table(x, y):
    t = [0.0] * 8
    k = 0
    while k < 5.0 * y and k < 7:
        t[k + 1] = t[k] * x + y
        k += 1
    return t[k] + 2.0 * t[3]


def a_list_of_pairs(x, y):
    t = [(0.0, 0), (x, 1), (y, 2)]
    for v in np.array([x, y, x * y]):
        k = int(abs(v)) % 3
        a, n = t[k]
        t[k] = (a + v, n + 1)
    return sum(a * n for a, n in t)


def an_alias_sees_it(x, y):
    t = [x, y, 1.0]
    same = t
    t[int(abs(x)) % 3] = x * y
    same.append(y)
    return sum((k + 1.0) * v for k, v in enumerate(same))


def sequences_of_different_lengths(x, y):
    graph = {0: [(1, x), (2, y)], 1: [(2, x * y)], 2: []}
    total = 0.0
    for node, weight in graph[int(abs(y)) % 3]:
        total += weight * (node + 1.0)
    for v in (x, y) if x > y else (y,):
        total *= v
    return total


# -- heaps ----------------------------------------------------------------------------------------


def smallest_first(x, y):
    heap = []
    for v in np.array([x, y, x * y, x - y, 0.3]):
        heapq.heappush(heap, v)
    total, k = 0.0, 1.0
    while heap:
        total += k * heapq.heappop(heap)
        k += 1.0
    return total


def where_all_elements_lie(x, y):
    heap = [x, y, x * y, x - y, 0.3, y - x]
    heapq.heapify(heap)
    a = heapq.heappushpop(heap, x * x)
    b = heapq.heapreplace(heap, 0.2 * y)
    return a + 2.0 * b + sum((k + 1.0) * v for k, v in enumerate(heap))


def merging_the_two_smallest(x, y):
    heap = []
    for k in range(4):
        heapq.heappush(heap, (abs(x * (k + 1.0) - y), k))
    total = 0.0
    while len(heap) > 1:
        (a, i), (b, j) = heapq.heappop(heap), heapq.heappop(heap)
        total += a * (i + 1.0) + b
        heapq.heappush(heap, (a + b, i + j))
    return total


def shortest_path(x, y):
    graph = {0: [(1, abs(x)), (2, abs(y))], 1: [(2, 0.3), (3, 2.0)], 2: [(3, x * x)], 3: []}
    far = {k: math.inf for k in graph}
    far[0] = 0.0
    queue = [(0.0, 0)]
    while queue:
        d, u = heapq.heappop(queue)
        if d > far[u]:
            continue
        for v, w in graph[u]:
            if d + w < far[v]:
                far[v] = d + w
                heapq.heappush(queue, (d + w, v))
    return far[3]


def the_few(x, y):
    values = [x, y, x * y, 0.45]
    a, b = heapq.nsmallest(2, values)
    c = heapq.nlargest(3, np.array(values))[2]
    d = heapq.nsmallest(1, [(x, y), (y, x)], key=lambda p: -p[0])[0][1]
    return a + 2.0 * b + 3.0 * c + 4.0 * d


def merged(x, y):
    parts = sorted([x, y]), sorted([x * y, 0.5, x - y]), []
    return sum((k + 1.0) * v for k, v in enumerate(heapq.merge(*parts)))


# -- generators -----------------------------------------------------------------------------------


def large(values, least):
    for v in values:
        if v > least:
            yield v


def the_first(x, y):
    return next(large(np.array([x, y, 2.0]), 1.0)) * x + next(large([x, y], 1.5), y)


def none_by_default(x, y):
    found = next((v for v in np.array([x, x * y]) if v > 1.0), None)
    return y if found is None else found * found


def side_by_side(x, y):
    values = np.array([x, y, x * y, 3.0])
    total = sum(a * b for a, b in zip(large(values, 0.5), [x, y, 1.0], strict=False))
    return total + sum(a * b for a, b in zip(values, large(values, 0.3), strict=False))


def around_a_star(x, y):
    values = np.array([x, 4.0, y, x * y, 3.0])
    first, *rest = large(values, 0.5)
    *most, last = large(values, 0.2)
    return first * x + sum(rest) + last * len(most)


# -- what is drawn --------------------------------------------------------------------------------


def drawn_from_a_seed(x, y):
    rng = np.random.default_rng(3)
    z = rng.normal(size=4)
    return float(z @ z) * x + rng.uniform() * y + random.Random(5).gauss(x, y) ** 2


def drawn_around_parameters(x, y):
    rng = np.random.RandomState(3)
    return np.sum(rng.normal(x, y * y, size=3) ** 2) + rng.uniform(x, high=2.0 * y)


def drawn_in_a_loop(x, y):
    rng = np.random.default_rng(7)
    v = x
    for k in range(6):
        v += 0.1 * y * rng.normal() + 0.01 * k * v
    return v * rng.permutation(3)[1]


def parts_of_lists(x, y):
    values, pair = [x, -y, x * y, 2.0], (x, y, 3.0)
    k = 1 if x < y else 2
    rest = values[:k] + values[k + 1 :]
    return sum(values[k:]) * len(rest) + max(rest) + sum(pair[-k:]) + "abc".index("abc"[k]) * y


def heaviest_run(x, y):
    values, best, low, high, s, start = [x, -y, 3.0 * x, -1.0, y], -math.inf, 0, 0, 0.0, 0
    for i, v in enumerate(values):
        if s <= 0.0:
            s, start = v, i
        else:
            s += v
        if s > best:
            best, low, high = s, start, i
    return sum(values[low : high + 1]) * (high - low + 1)


def parts_written(x, y):
    values, k = [x, y, x * y], 1 if x < y else 2
    others = values[::-1]
    values[k:] = [2.0 * x]
    del others[:k]
    return sum((j + 1) * v for j, v in enumerate(values + others))


def written_down_by_a_chosen_key(x, y):
    prices = {"p": x, "q": y}
    best = max(prices, key=prices.get)
    without = {**prices, best: 0.0}
    found = {best: x * y, "r": y}
    return without["p"] + 2.0 * without["q"] + found.get("p", 3.0 * x) + len(found)


def ordered_by_a_comparison(x, y):
    def compare(a, b):
        return -1 if abs(a) < abs(b) else int(abs(a) > abs(b))

    key = functools.cmp_to_key(compare)
    values = sorted([x, -y, 1.0, x * y], key=key)
    values.sort(key=functools.cmp_to_key(lambda a, b: b - a))
    return sum((k + 1) * v for k, v in enumerate(values)) * max([x, y, 0.7], key=key)


# -- functions that Numba has vectorised ----------------------------------------------------------


@numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def dot(a, b, out):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    out[0] = s


@numba.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def scaled(a, c, out):
    for i in range(len(a)):
        out[i] = c * a[i]


def of_a_guvectorised_function(x, y):
    a = np.array([[x, y], [y, 1.0], [x * y, 2.0]])
    out = np.zeros((3, 2))
    scaled(a, np.array([x, 1.0, y]), out)
    return np.sum(dot(a, np.array([y, x])) * np.array([1.0, 2.0, 3.0])) + np.sum(out**2)


PROGRAMS = [f for f in list(globals().values())
            if isinstance(f, FunctionType) and f.__module__ == __name__ and f is not large]
POINTS = [(1.31, 0.4), (0.6, 1.7), (-0.53, 0.2), (2.6, 1.1)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS if f is not the_first else [(1.31, 0.4), (0.6, 1.7)], 0.001)


@pytest.mark.parametrize("f", [a_histogram, a_list_as_a_table, shortest_path, drawn_in_a_loop],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_natively_to_second_order(f):
    two_numbers.check_natively(f, POINTS[:3])


def test_a_list_of_the_caller_is_written():
    def f(values, x):
        values[int(x)] = x
        values[0] += 1.0

    values = [1.0, 2.0, 3.0]
    jitad.jit(f)(values, 1.5)
    assert values == [2.0, 1.5, 3.0]


def test_a_new_key_is_no_error_that_is_caught():
    def f(x):
        d = {0: 1.0}
        try:
            d[int(x)] = x
        except Exception:
            return 0.0
        return d[0]

    compiled = jitad.jit(f)
    assert compiled(0.5) == 0.5
    assert compiled(1.5) == 1.0 and len(compiled.specialisations) == 2
    assert compiled(0.5) == 0.5 and len(compiled.specialisations) == 2

    def into_an_empty_one(x):
        d = {}
        d[int(x)] = x
        return d

    assert on_tape(into_an_empty_one, 1.0) == {1: 1.0}


def test_a_generator_does_not_go_on_after_a_traced_exit():
    """It would seem to have ended there."""

    def twice(x):
        g = large(x, 0.5)
        total = 0.0
        for v in g:
            total += v
            if v > 1.5:
                break
        for v in g:
            total += 10.0 * v
        return total

    def second(x):
        g = large(x, 0.5)
        return next(g) + next(g)

    for f in (twice, second):
        with pytest.raises(JitadError, match="a generator can't go on"):
            on_tape(f, np.array([0.3, 2.0, 1.1]))


def test_draws_that_a_kernel_would_have_to_repeat():
    def under_a_condition(x):
        rng = np.random.default_rng(3)
        return x * rng.normal() if x > 0.0 else x

    def in_a_while(x):
        rng = np.random.default_rng(3)
        while x < 3.0:
            x += rng.uniform()
        return x

    for f in (under_a_condition, in_a_while):
        with pytest.raises(JitadError, match="random numbers are drawn under a traced condition"):
            on_tape(f, 2.0)
    with pytest.raises(JitadError, match="something else at every call"):
        on_tape(lambda x: x * np.random.default_rng().normal(), 2.0)
    with pytest.raises(JitadError, match="exponential is given traced values"):
        on_tape(lambda x: np.random.default_rng(3).exponential(x), 2.0)


def test_draws_follow_the_length():
    def f(x):
        return np.sum(np.random.default_rng(3).normal(size=len(x)) * x)

    for n in (2, 5):
        assert natively(f, np.arange(1.0, n + 1.0)) == pytest.approx(f(np.arange(1.0, n + 1.0)))
