"""Do loops over generators that yield under traced conditions do what they do in plain Python?

Whatever the generator waits in, and however the loop over it ends.
"""

import functools
import heapq
import itertools
import math

import numba
import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.trace import two_numbers


def positive(a):
    for v in a:
        if v > 0.0:
            yield v


def doubled(x):
    while x < 50.0:
        yield x
        x = x * 2.0


def endless(x):
    k = 0
    while True:
        if x * k > 1.0 or k % 3:
            yield x * k
        k += 1


def delegating(a):
    yield a[0]
    if a[1] > 0.0:
        yield from positive(a)
    yield a[2]


def pairs(a):
    for i in range(len(a)):
        for j in range(i):
            if a[i] > a[j]:
                yield i, j, a[i] - a[j]


def body_goes_on(a):
    s = 1.0
    for v in positive(a):
        s = s * math.sin(v) + v
    return s


def broken_off(a):
    s = 1.0
    for v in positive(a):
        s = s * math.sin(v) + v
        if s > 2.4:
            break
    else:
        s = s * a[0]
    return s * a[2]


def returned_from(a):
    s, n = 1.0, 0
    for v in positive(a):
        n += 1
        if v > 2.5:
            continue
        s = s * math.sin(v) + v
        if s > 2.2:
            return s * n
    return s


def of_unknown_length(a):
    return sum(v * v for v in doubled(abs(a[0]) + 1.0)) * 0.01


def without_end(a):
    s = 0.0
    for v in endless(abs(a[1]) + 0.1):
        s += v
        if s > 20.3:
            break
    return s


def delegated(a):
    s = 0.0
    for v in delegating(a):
        s = s * 0.5 + v
    return s


def one_in_another(a):
    s = 0.0
    for v in positive(a):
        for w in positive(-a):
            if v + w > 2.1:
                break
            s += v * w
        else:
            s += a[2]
            continue
        if s > 2.3:
            return s
    return s * 2.0


def tuples_of_it(a):
    s = 0.0
    for i, j, d in pairs(a):
        s += (i + 2 * j) * d
    return s


def taken_whole(a):
    many = list(positive(a))
    s = sum(many) * len(many) + max(positive(a)) * min(x * x for x in a if x > 0.0)
    return s + functools.reduce(lambda p, q: p * q, positive(a)) + sorted(positive(a))[0] * a[1]


def through_iterators(a):
    s = 0.0
    few = filter(lambda v: v < 2.6, positive(a))
    for k, v in enumerate(map(math.sin, few), 1):
        s += k * v
        if s > 3.3:
            break
    s += sum(itertools.takewhile(lambda v: v < 2.2, positive(a)))
    s += 0.1 * sum(itertools.islice(endless(abs(a[1]) + 0.1), 7))
    s += sum(itertools.chain(positive(a), [a[0]], positive(a[1:])))
    large = (v > 1.3 for v in positive(a))
    return s * a[0] if any(large) else s


def caught_around_it(a):
    s = 0.0
    try:
        for v in positive(a):
            s += v
            s += math.sqrt(2.3 - v)
    except ValueError:
        s = s * 3.0
    return s


def raised_in_the_body(a):
    s = 0.0
    try:
        for v in positive(a):
            if v > 2.0:
                raise KeyError(v)
            s += v
            if s > 100.0:
                break
        else:
            s *= 2.0
    except KeyError as e:
        s = s * 3.0 + e.args[0]
    return s


def caught_inside(a):
    def roots():
        for v in a:
            try:
                w = math.sqrt(v)
            except ValueError:
                w = -v * 2.0
            if w > 0.61:
                yield w

    s = 0.0
    for k, v in enumerate(roots()):
        s += v * (k + 1)
    return s


def finally_inside(a):
    done = [0.0]

    def slowly():
        for v in a:
            if v > 0.0:
                try:
                    yield v
                except Exception:
                    yield 100.0
                finally:
                    done[0] += v

    s = 0.0
    for v in slowly():
        s += v * v
        if s > 3.1:
            break
    return s + done[0] * 10.0


def places_written(a):
    class Box:
        pass

    box, n = Box(), 0
    box.v, seen, out = 0.0, [], np.zeros(6)

    def counted():
        nonlocal n
        for v in a:
            if v > 0.0:
                n += 1
                yield v * n

    for v in counted():
        box.v += v * v
        seen.append(v)
        out[n - 1] = v * box.v
    return box.v * len(seen) + sum(seen) * n + out @ np.arange(1.0, 7.0)


def newton(a):
    def iterates(x):
        while True:
            yield x
            x = 0.5 * (x + abs(a[0]) / x)

    last = 0.0
    for x in iterates(1.0):
        if abs(x - last) < 1e-12:
            break
        last = x
    return x * a[1]


class Tree:
    def __init__(self, v, left=None, right=None):
        self.v, self.left, self.right = v, left, right

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        if self.v > 0.0:
            yield self.v
        if self.right is not None:
            yield from self.right


def tree(a):
    s = 1.0
    for v in Tree(a[0], Tree(a[1]), Tree(a[2], Tree(a[3]))):
        s = s * 0.7 + v
    return s


def iterators_without_end(a):
    x, s = 1.0, 0.0
    for _ in itertools.count(1, 2):
        x = 0.5 * (x + abs(a[0]) / x)
        if abs(x * x - abs(a[0])) < 1e-12:
            break
    for w in itertools.cycle([1.0, 2.0, 3.0]):
        s = s * w * 0.3 + abs(a[0])
        if s > 1.2 * abs(a[0]):
            break
    for v in itertools.repeat(a[3]):
        s = s * 0.9 + abs(v)
        if s > 2.0 * abs(a[3]) and s < 3.0:
            break
    for j, v in zip(itertools.count(1), a, strict=False):
        s += j * v
    return s * x


def counted_under_conditions(a):
    """Which of the counts is next depends on the path."""
    number, step = itertools.count(), itertools.count(0.5, a[0])
    heap = []
    for v in a:
        if v > 0.0:
            heapq.heappush(heap, (v * v, next(number), {"v": v * next(step)}))
    total = 0.0
    for k in range(len(a)):
        if a[k] < 1.0:
            total += next(step) * a[k]
    for p, n, d in heap:
        total += p * n + d["v"]
    return total * next(number) + sum(n * v for n, v in zip(number, a))


def grouped_where_it_is_yielded(a):
    def centred(values):
        values = list(values)
        mean = sum(values) / len(values)
        yield from (v - mean for v in values)

    runs = [(k, [*g]) for k, g in itertools.groupby(centred(a), key=lambda v: v > 0.0)]
    more = [[*g] for _, g in itertools.groupby(a, key=lambda v: bool(v > 0.5))]
    return max(sum(g) * len(g) for _, g in runs) + sum(g[0] * g[-1] for g in more)


@numba.vectorize
def scaled(x, y):
    return x * y if x > 0.0 else x * x * y


@numba.vectorize(["float64(float64, float64)"])
def waved(x, y):
    return x * y + math.sin(x)


def ufuncs_of_numba(a):
    return scaled(a, 2.0).sum() * scaled(a[0], a[1]) + (waved(a[:, None], a) * a).sum()


def raised_in_loops_of_the_body(a):
    """What a loop had written before it raised is what the variables are afterwards."""
    y, seen, t = a[0], 0.0, 0.3
    try:
        for v in positive(a):
            while y < 4.0:
                seen += 0.5 * y
                if y > 1.4 and seen > v:
                    raise ValueError
                y = y * 1.3 + v
            for w in a:
                t = t * 0.7 + w * y
                if t < -w:
                    if y > 3.0:
                        y = y * w
                        raise KeyError
                    else:
                        t = w
                        raise ValueError
    except ValueError:
        y = y * seen
    except KeyError:
        y = y + 2.0 * seen
    return y * t + seen


PROGRAMS = [
    raised_in_loops_of_the_body,
    iterators_without_end, ufuncs_of_numba, counted_under_conditions, grouped_where_it_is_yielded,
    body_goes_on, broken_off, returned_from, of_unknown_length, without_end, delegated,
    one_in_another, tuples_of_it, taken_whole, through_iterators, caught_around_it,
    raised_in_the_body, caught_inside, finally_inside, places_written, newton, tree,
]  # fmt: skip
POINTS = [(1.0, 1.0), (0.7, -2.3)]


def of_numbers(f):
    """The program as one of two numbers, of which it is given six."""
    return lambda x, y: f(np.array([1.13 * x, -0.5 * y, x * y + 1.7, 0.31 * x, -x, 0.93 * y * y]))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(of_numbers(f), POINTS, 1e-4)


@pytest.mark.parametrize("f", [broken_off, one_in_another, finally_inside],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_natively(f):
    two_numbers.check_natively(of_numbers(f), POINTS)


def test_long_loops_stay_loops():
    def total(a):
        s = 0.0
        for v in positive(a):
            s += v * v
        return s

    g = jitad.jit_grad(total)
    a = np.linspace(-1.0, 1.0, 10_001)
    assert np.array_equal(g(a), np.where(a > 0.0, 2.0 * a, 0.0))
    assert g.source.count("\n") < 60


def test_what_the_body_raises_is_not_the_generators_to_catch():
    def guarded(a):
        try:
            yield from positive(a)
        except ValueError:
            yield 100.0

    def roots(a):
        s = 0.0
        try:
            for v in guarded(a):
                s += math.sqrt(1.0 - v)
        except ValueError:
            s = -s
        return s

    with pytest.raises(JitadError, match="waits in a `try` that would catch it"):
        jitad.jit(roots)(np.array([0.5, 2.0]))
    assert np.isclose(jitad.value_and_grad(roots)(np.array([0.5, 2.0]))[0], -math.sqrt(0.5))
