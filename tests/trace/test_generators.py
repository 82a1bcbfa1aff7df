"""Do generators and other iterators give what they give in plain Python, or a clear error?

They are advanced from one place and suspended in another, so nothing may be left open in them, and
none that was there before may be advanced on a path that may not be taken.
"""

from __future__ import annotations

import gc
import itertools
import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad
from tests.truth import differences


def endless(x):
    k = 0
    while True:
        yield x * k
        k += 1


def three(x):
    yield x
    yield 2 * x
    yield 3 * x


def some(x, n=5):
    for k in range(n):
        yield x * k


def halving(n, x):
    while n:
        yield x * n
        n //= 2


def nested(x):
    yield from three(x)
    for y in some(x, 2):
        yield y * y
    return


def guarded(x):
    try:
        for k in range(3):
            yield x / (k + 1)
    finally:
        x = 0.0


def caught(x):
    try:
        yield x
        yield x * x
    except ValueError:
        yield 0.0


def first_of_endless(x):
    g = endless(x)
    return next(g) + next(g) + next(g)


def two_together(x):
    s = 0.0
    for a, b in zip(three(x), some(x), strict=False):
        s += a * b
    return s


def endless_with_list(x):
    s = 0.0
    for w, a in zip([1.0, 2.0, 3.0], endless(x), strict=False):
        s += w * a
    return s


def endless_with_array(x):
    s = 0.0
    for w, a in zip(x * np.ones(4), endless(x), strict=False):
        s += w * a
    return s


def one_twice(x):
    s, g = 0.0, some(x)
    for a, b in zip(g, g, strict=False):
        s += a * b
    return s


def numbered(x):
    s = 0.0
    for k, a in enumerate(endless(x)):
        if k > 3:
            break
        s += a * k
    return s


def in_a_branch(x):
    return sum(three(x)) * 2.0 if x > 1.0 else sum(some(x))


def in_a_loop(x):
    s = 0.0
    for k in range(7):
        for a, b in zip(three(x), halving(5, x), strict=False):
            s += a * b * k
    return s


def advanced_in_a_loop(x):
    g = endless(x)
    s = 0.0
    for k in range(6):
        s += k * next(g)
    return s


def left_in_the_middle(x):
    s = 0.0
    for g in (guarded(x), caught(x), nested(x), endless(x)):
        s += next(g) * next(g)
    return s


def sent(x):
    def averages():
        total, n, got = 0.0, 0, None
        while True:
            got = yield (total / n if n else 0.0)
            total, n = total + got, n + 1

    g = averages()
    next(g)
    return g.send(x) + g.send(x * x) + g.send(3.0)


WORKING: list[Callable[[Any], Any]] = [
    first_of_endless, two_together, endless_with_list, endless_with_array, one_twice, numbered,
    in_a_branch, in_a_loop, advanced_in_a_loop, left_in_the_middle, sent,
    lambda x: sum(nested(x)),
    lambda x: sum(halving(9, x)),
    lambda x: sum(guarded(x)) + sum(caught(x)),
    lambda x: sum(itertools.islice(endless(x), 2, 6)),
    lambda x: sum(map(lambda a, b: a * b, three(x), endless(x))),
    lambda x: sum(itertools.chain(three(x), some(x))),
    lambda x: max(some(x)) + next(iter(nested(x))),
    lambda x: sum(a for a in some(x) for _ in range(2)),
    lambda x: np.sum(np.array(list(three(x))) ** 2),
    lambda x: sum(a * b for a, b in itertools.pairwise(three(x))),
]  # fmt: skip


@pytest.mark.parametrize("f", WORKING)
def test_generators(f: Callable[[Any], Any]) -> None:
    g, x, h = jit_grad(f), 1.7, 1e-5
    expected = (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h)
    assert jit(f)(x) == pytest.approx(f(x), rel=1e-14)
    for _ in range(2):
        assert g(x) == pytest.approx(expected, rel=1e-8)
    assert grad(f)(x) == pytest.approx(expected, rel=1e-8)
    gc.collect()  # generators that were not used up are closed without a word


def doubling(x):
    while x < 10.0:
        yield x
        x = 2.0 * x


def under_a_condition(x):
    if x > 0.0:
        yield x
    yield x * x


def delegated_under_a_condition(x):
    if x > 0.0:
        yield from three(x)


def advanced_under_a_condition(x):
    g = three(x)
    if x > 0.0:
        return next(g) + next(g)
    return next(g)


def mapped_under_a_condition(x):
    g = three(x)
    if x > 0.0:
        return next(map(abs, g))
    return next(g)


def zipped_under_a_condition(x):
    g = three(x)
    s = 0.0
    if x > 0.0:
        for a, b in zip(g, [1.0], strict=False):
            s += a * b
    return s + next(g)


def sent_under_a_condition(x):
    def totals():
        total = 0.0
        while True:
            total += yield total

    g = totals()
    next(g)
    if x > 0.0:
        g.send(x)
    return g.send(2.0 * x)


REFUSED = [
    (sent_under_a_condition, "iterator can't be advanced under a traced condition"),
    (advanced_under_a_condition, "iterator can't be advanced under a traced condition"),
    (mapped_under_a_condition, "can't be advanced under a traced condition"),
    (zipped_under_a_condition, "can't be advanced under a traced condition"),
]


def first_of_a_list_that_data_fill(x):
    kept = [0.5, *(p for p in (x, 2 * x, 3 * x) if p > 0.9)]
    return x * next((p for p in kept if p > 0.6), 0.4) + next(p for p in kept if p < 0.9)


def first_place_in_a_list_that_data_fill(x):
    powers = [x]
    while powers[-1] < 5.0:
        powers.append(powers[-1] * 1.5)
    return next(k for k, p in enumerate(powers) if p > 2.0 * x) * x


TAKEN = [
    first_of_a_list_that_data_fill,
    first_place_in_a_list_that_data_fill,
    lambda x: next(under_a_condition(x)),
    lambda x: next(doubling(x)),
    lambda x: next(delegated_under_a_condition(x)),
]


@pytest.mark.parametrize("f", TAKEN)
def test_the_first_that_is_yielded(f: Callable[[Any], Any]) -> None:
    for x in (1.7, 0.4):
        assert jit(f)(x) == f(x)
        want = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert jit_grad(f)(x) == pytest.approx(want, abs=1e-6)


@pytest.mark.parametrize(("f", "text"), REFUSED)
def test_what_depends_on_traced_values_is_refused(f: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(JitadError, match=text):
        jit_grad(f)(1.7)
    gc.collect()
    assert grad(f)(1.7) is not None  # eagerly it works


def test_chained_arrays():
    def f(x):
        return sum(v * v for v in itertools.chain.from_iterable([x, x * x])) + sum(
            itertools.chain.from_iterable(zip(x, x))
        )

    x = np.array([0.5, 1.5])
    want = 2 * x + 4 * x**3 + 2
    np.testing.assert_allclose(jit_grad(f)(x), want)
    np.testing.assert_allclose(grad(f)(x), want)


def growing(x):
    while True:
        x = x * 1.01
        yield x


def some_and_the_next(x):
    g = growing(x)
    return sum(itertools.islice(g, 3)) + next(g) + list(itertools.islice(g, 1, 7, 2))[1]


def some_through_others(x):
    numbered = enumerate(growing(x), 1)
    both = itertools.chain([x], (v * v for v in itertools.count(x)))
    first = next(both) * next(map(math.sin, growing(x)))
    some = sum(k * v for k, v in itertools.islice(numbered, 3))
    return first + some + next(numbered)[1] + next(both)


@pytest.mark.parametrize("f", [some_and_the_next, some_through_others])
def test_endless_generators_go_on_after_some_were_taken(f: Callable[[Any], Any]) -> None:
    assert jit(f)(1.7) == pytest.approx(f(1.7), rel=1e-14)
    want = (f(1.7 + 1e-6) - f(1.7 - 1e-6)) / 2e-6
    assert jit_grad(f)(1.7) == pytest.approx(want, rel=1e-6)


def until_it_is_large(x):
    g = growing(x)
    for v in g:
        if v > 2.0:
            break
    return v + next(g, 0.0)


def numbered_until_it_is_large(x):
    g = growing(x)
    for _, v in enumerate(g):
        if v > 2.0:
            break
    return v + next(g, 0.0)


@pytest.mark.parametrize("f", [until_it_is_large, numbered_until_it_is_large])
def test_one_that_a_traced_condition_left_is_not_at_its_end(f: Callable[[Any], Any]) -> None:
    with pytest.raises(JitadError, match="can't go on after a loop that a traced condition left"):
        jit(f)(1.7)


def test_a_list_that_is_written_while_it_is_cycled_through():
    def f(x, a):
        w, total = [1.0, x], 0.0
        for v, c in zip(a[a > 0.1], itertools.cycle(w)):
            w[1] += 1.0
            total += v * c
        return total

    with pytest.raises(JitadError, match="written while"):
        jit(f)(0.7, np.array([1.0, 2.0, 3.0]))


def positive(x: Any) -> Any:
    for k, v in enumerate(x):
        if v > 0.0:
            yield k, v


def extended(x: Any) -> Any:
    values = [1.0]
    values.extend(v * values[-1] * len(values) for _, v in positive(x))
    values += (v for _, v in positive(x))
    return sum(v * n for n, v in enumerate(values))


def both_ends(x: Any) -> Any:
    queue = deque([x[0]])
    queue.extend(v for _, v in positive(x))
    queue.extendleft(2.0 * v for _, v in positive(x))
    queue += (v for v in x if v < 0.5)
    return sum(v * n for n, v in enumerate(queue))


def in_a_dict(x: Any) -> Any:
    found = {0: x[1]}
    found.update(positive(x))
    again = dict(((k, v * v) for k, v in positive(x)), more=x[2])
    return sum(found.values()) + len(found) * found[0] + sum(again.values()) * len(again)


def in_a_set(x: Any) -> Any:
    places = {0}
    places.update(k for k, _ in positive(x))
    return len(places) * x[0]


@pytest.mark.parametrize("f", [extended, both_ends, in_a_dict, in_a_set])
def test_containers_take_in_what_is_yielded_under_conditions(f: Callable[[Any], Any]) -> None:
    g = jit_grad(f, fallback=False)
    for x in (np.array([1.2, -2.0, 3.0]), np.array([-1.0, -2.0, -3.0])):
        slope, _ = differences(f, (x,), (0,), [np.array([1.0, -0.5, 2.0])], 1e-3)
        for derivative in (grad(f)(x), g(x), g(x)):
            assert derivative @ [1.0, -0.5, 2.0] == pytest.approx(slope, abs=1e-7)
        assert jit(f)(x) == pytest.approx(f(x), rel=1e-13)
