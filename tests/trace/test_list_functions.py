"""What do functions of Python give of lists whose length only the kernel knows, and of long ones?

Truth: Python, at calls that differ in what is kept.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import operator
from typing import Any

import numpy as np
import pytest

import jitad

OF_A_LIST = {
    "map of two": lambda a, x: list(map(operator.mul, a, x)),
    "map of three": lambda a, x: sum(map(lambda u, v, w: u * v - w, a, a[1:], x)),
    "filter": lambda a, x: list(filter(lambda v: v > 0.5, a)),
    "filter none": lambda a, x: sum(filter(None, a)),
    "filter bool": lambda a, x: sum(filter(bool, a)),
    "takewhile": lambda a, x: list(itertools.takewhile(lambda v: v > 0.3, a)),
    "dropwhile": lambda a, x: list(itertools.dropwhile(lambda v: v > 0.3, a)),
    "filter of a map": lambda a, x: sum(filter(lambda v: v > 0.4, map(np.sin, x))) + len(a),
    "filterfalse of a map": lambda a, x: list(
        itertools.filterfalse(lambda v: v > 0.4, map(np.sin, x))),
    "takewhile of a map": lambda a, x: list(itertools.takewhile(lambda v: v > 0.2, map(abs, x))),
    "dropwhile of powers": lambda a, x: sum(itertools.dropwhile(
        lambda v: v > 0.3, itertools.accumulate(itertools.repeat(x[0], 5), operator.mul))),
    "compress": lambda a, x: list(itertools.compress(a, [v > 0.5 for v in a])),
    "accumulate from": lambda a, x: list(itertools.accumulate(a, initial=x[0])),
    "discounted": lambda a, x: list(itertools.accumulate(a, lambda s, v: 0.9 * s + v, initial=1.0)),
    "product": lambda a, x: sum(u * v * v for u, v in itertools.product(a, x)),
    "product with itself": lambda a, x: sum(u - v * u for u, v in itertools.product(a, repeat=2)),
    "islice by number": lambda a, x: sum(sum(itertools.islice(a, i)) * x[i] for i in range(len(a))),
    "islices of others": lambda a, x: sum(
        sum(v * w for v, w in zip(itertools.islice(x, i, None), itertools.islice(a, i)))
        for i in range(len(a))),
    "chained": lambda a, x: list(itertools.chain.from_iterable([a, [x[0]], a])),
    "repeated": lambda a, x: a * 2 + [v for v in 2 * a],
    "a tuple repeated": lambda a, x: list((len(x) * tuple(a))[1:]),
    "islice": lambda a, x: list(itertools.islice(a, 1, None)) + list(itertools.islice(a, 1)),
    "starmap": lambda a, x: list(itertools.starmap(operator.mul, itertools.product(a, x))),
    "nlargest": lambda a, x: heapq.nlargest(2, a),
    "nsmallest by key": lambda a, x: heapq.nsmallest(1, a, key=lambda v: -v),
    "place of the largest": lambda a, x: a[max(range(len(a)), key=lambda k: a[k])] * x[0],
    "largest pair": lambda a, x: max(enumerate(a), key=lambda p: p[1])[1],
    "least of zip": lambda a, x: min(zip(a, a[::-1]))[1],
    "largest or": lambda a, x: max(zip(a, a), default=(9.0, 9.0))[0],
    "sorted zip": lambda a, x: [v for _, v in sorted(zip(a, a[::-1]))],
    "ranks": lambda a, x: [k * v for k, v in sorted(enumerate(a), key=lambda p: -p[1])],
    "array of two": lambda a, x: list(np.sum(np.array([a, [2.0 * v for v in a]]), axis=1)),
    "stack": lambda a, x: list(np.stack([a, a]) @ np.array(a)),
    "reduce of zip": lambda a, x: functools.reduce(lambda s, p: s + p[0] * p[1], zip(a, x), 0.0),
}  # fmt: skip
LISTS = {
    "known when called": lambda x: [v * v for v in x],
    "known to the kernel": lambda x: [v * v for v in x if v > 0.2],
}
CALLS = ([0.9, 0.5, -1.0, 0.6, 1.1], [0.3, -0.2, 0.7], [0.4, 0.8, 1.5, 0.1], [0.1, 1.2])


def numbers(value: Any) -> list[float]:
    return [float(v) for v in (value if isinstance(value, list) else [value])]


@pytest.mark.parametrize("f", OF_A_LIST.values(), ids=OF_A_LIST)
@pytest.mark.parametrize("made", LISTS.values(), ids=LISTS)
def test_functions_of_lists(made: Any, f: Any) -> None:
    def total(x: Any) -> Any:
        found = f(made(x), x)
        return sum((k + 1.0) * v for k, v in enumerate(found)) if isinstance(found, list) else found

    both = jitad.jit(lambda x: (f(made(x), x), jitad.grad(total)(x)))
    for call in CALLS[:2] if made is LISTS["known when called"] else CALLS:  # each has a kernel
        x = np.array(call)
        found, gradient = both(x)
        np.testing.assert_allclose(numbers(found), numbers(f(made(x), x)), rtol=1e-12)
        np.testing.assert_allclose(gradient, jitad.grad(total)(x), rtol=1e-12)


LONG = {
    "sorted": lambda x: sorted(x)[3] * x[0],
    "by key": lambda x: sum(k * v for k, v in enumerate(sorted(x, key=lambda v: (v > 0.5, -v)))),
    "places": lambda x: x[sorted(range(len(x)), key=lambda k: x[k])[1]],
    "pairs": lambda x: sorted(zip(x, x[::-1]), reverse=True)[0][1],
    "largest": lambda x: max(enumerate(x), key=lambda p: abs(p[1]))[1],
}


@pytest.mark.parametrize("f", LONG.values(), ids=LONG)
def test_long_sequences_in_order(f: Any) -> None:
    both = jitad.jit_value_and_grad(f)
    for n in (5, 100, 40):
        x = np.random.default_rng(n).normal(size=n)
        value, gradient = both(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(gradient, jitad.grad(f)(x), rtol=1e-12)


WITH_RANGES = {
    "right": lambda x: np.sum(x * range(len(x)) + range(1, len(x) + 1)),
    "left": lambda x: np.sum(range(len(x)) * x),
    "function": lambda x: np.sum(np.add(x, range(len(x))) * x),
    "weights": lambda x: np.average(x, weights=range(1, len(x) + 1)),
    "places": lambda x: np.trapezoid(x, range(len(x))),
}


@pytest.mark.parametrize("f", WITH_RANGES.values(), ids=WITH_RANGES)
def test_ranges_are_arrays_beside_arrays(f: Any) -> None:
    both = jitad.jit_value_and_grad(f)
    for x in (np.array([0.3, 0.7, -0.2]), np.array([1.0, 2.0])):
        value, gradient = both(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(gradient, jitad.grad(f)(x), rtol=1e-12)


def test_a_sum_of_arrays_that_may_be_none() -> None:
    def f(x: Any) -> Any:
        kept = [v for v in x if v > 0.0]
        return np.sum(sum(np.array([v, v]) for v in kept))

    np.testing.assert_array_equal(jitad.jit_grad(f)(np.ones(3)), [2.0, 2.0, 2.0])
    with pytest.raises(jitad.JitadError, match="ends before its variables"):
        jitad.jit_grad(f)(-np.ones(3))


def by_keys_of_few(x, y, k):
    """An element is written at a traced place; how many there are is known."""
    few = [0.6 * (0.25 + x), y, y * y]
    few[k % len(few)] = x * y
    first = sorted(few, key=lambda q: -q)
    last = sorted(few, key=lambda q: (q > 1.0, -q), reverse=True)
    return 3.0 * first[0] + first[1] + 0.5 * first[2] + 7.0 * last[0] + last[2]


@pytest.mark.parametrize("at", [(0.7, 1.1, 5), (2.0, -0.3, 4), (-1.0, 1.7, 0)])
def test_sorted_by_keys_where_the_length_is_known(at):
    for g in (jitad.jit_grad, jitad.grad):
        found = g(by_keys_of_few, (0, 1))(*at)
        h = 1e-6
        want = [
            (by_keys_of_few(at[0] + h, *at[1:]) - by_keys_of_few(at[0] - h, *at[1:])) / (2 * h),
            (by_keys_of_few(at[0], at[1] + h, at[2]) - by_keys_of_few(at[0], at[1] - h, at[2]))
            / (2 * h),
        ]
        assert found == pytest.approx(want, rel=1e-7, abs=1e-8)
    assert jitad.jit(by_keys_of_few)(*at) == pytest.approx(by_keys_of_few(*at), rel=1e-14)
