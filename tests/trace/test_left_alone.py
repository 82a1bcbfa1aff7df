"""Does what a loop goes over stand still once a traced condition has left the loop?

What gives the items, a generator, a `map`, an iterator of the user's, writes or may fail when it is
asked for the next one; that may be asked for only where the loop goes on.
"""

import itertools

import pytest

from tests.trace.running import kernel_or_refusal


class Src:
    def __init__(self, l):
        self.l = l
        self.it = iter(l)
        self.n = 0

    def take(self, d=0.0):
        self.n += 1
        return next(self.it, d)

    def __iter__(self):
        for v in self.l:
            self.n += 1
            yield v


class It:
    def __init__(self, x):
        self.n = 0
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.x * self.n


class Seq:
    def __init__(self, x):
        self.n = 0
        self.x = x

    def __getitem__(self, k):
        self.n += 1
        if k > 3:
            raise IndexError
        return self.x * k


def own_iterator(x):
    it = It(x)
    for v in it:
        if v > 1.0:
            break
    return it.n * 10 + v


def mapped(x):
    log = []

    def g(v):
        log.append(v)
        return v

    for v in map(g, [x, 2 * x, 3 * x]):
        if v > 1.0:
            break
    return len(log) * 10 + v


def genexpr(x):
    log = []

    def g(v):
        log.append(v)
        return v

    for v in (g(w) for w in [x, 2 * x, 3 * x]):
        if v > 1.0:
            break
    return len(log) * 10 + v


def own_sequence(x):
    s = Seq(x)
    for v in s:
        if v > 1.0:
            break
    return s.n * 10 + v


def filtered(x):
    log = []

    def g(v):
        log.append(v)
        return v > 0.1

    for v in filter(g, [x, 2 * x, 3 * x]):
        if v > 1.0:
            break
    return len(log) * 10 + v


def while_it_holds(x):
    log = []

    def g(v):
        log.append(v)
        return v

    for v in itertools.takewhile(lambda q: g(q) < 2, [x, 2 * x, 3 * x]):
        if v > 1.0:
            break
    return len(log) * 10 + v


def any_of_them(x):
    log = []

    def g(v):
        log.append(v)
        return v

    return any(g(v) > 1.0 for v in [x, 2 * x, 3 * x]) * 1.0 + len(log)


def any_mapped(x):
    log = []

    def g(v):
        log.append(v)
        return v > 1.0

    return any(map(g, [x, 2 * x, 3 * x])) * 1.0 + len(log)


def all_of_them(x):
    log = []

    def g(v):
        log.append(v)
        return v > 1.0

    return all(g(v) for v in [3 * x, 2 * x, x]) * 1.0 + len(log)


def the_first(x):
    log = []

    def g(v):
        log.append(v)
        return v

    r = next((v for v in map(g, [x, 2 * x, 3 * x]) if v > 1.0), 0.0)
    return r + 10 * len(log)


def checks_behind(x):
    r = 0.0
    for v in (1.0 / w for w in [x, 2 * x, x - x]):
        r += v
        if v < 1.0:
            break
        if v < 10.0:
            break
    return r


def in_pairs(x):
    log = []

    def g(v):
        log.append(v)
        return v

    for a, _b in zip(map(g, [x, 2 * x, 3 * x]), [1, 2, 3]):
        if a > 1.0:
            break
    return len(log) * 10 + a


def numbered(x):
    log = []

    def g(v):
        log.append(v)
        return v

    for k, a in enumerate(map(g, [x, 2 * x, 3 * x])):  # noqa: B007
        if a > 1.0:
            break
    return len(log) * 10 + a + k


def drained(x):
    q = [x, 2 * x, 3 * x]

    def drain():
        while q:
            yield q.pop(0)

    for v in drain():
        if v > 1.0:
            break
    return len(q) + v


def called_by_itself(x):
    log = []

    def g(v):
        log.append(v)
        return v

    r = 0.0
    for v in [x, 2 * x, 3 * x]:
        r += g(v)
        if r > 1.0:
            break
    return len(log) * 10 + r


def left_by_return(x):
    log = []

    def g(v):
        log.append(v)
        return v

    def f():
        for v in map(g, [x, 2 * x, 3 * x]):
            if v > 1.0:
                return v
        return 0.0

    return f() + 10 * len(log)


def accumulated(x):
    log = []

    def g(v):
        log.append(v)
        return v

    for v in itertools.accumulate([x, 2 * x, 3 * x], lambda p, q: g(p + q)):
        if v > 1.0:
            break
    return len(log) * 10 + v


def star_mapped(x):
    log = []

    def g(v):
        log.append(v)
        return v

    for v in itertools.starmap(lambda p, q: g(p * q), [(x, 2), (x, 3), (x, 4)]):
        if v > 1.0:
            break
    return len(log) * 10 + v


def method_that_yields(x):
    s = Src([x, 2 * x, 3 * x])
    r = 0.0
    for v in s:
        r += v * s.n
        if r > 1.0:
            break
    return r + s.n


def iterator_beside_itself(x):
    l = [v for v in (x, 2 * x, 3 * x, 0.4) if v > 0.3]
    it = iter(l)
    return sum((a * b for a, b in zip(it, it)))


def in_groups(x):
    l = [v for v in (x, 2 * x, 3 * x, 0.4) if v > 0.3]
    g = [iter(l)] * 2
    return sum((a * b for a, b in zip(*g)))


def raises_behind(x):
    def g():
        yield x
        yield 2 * x
        raise ValueError("late")

    r = 0.0
    for v in g():
        r += v
        if v > 0.1:
            break
    return r


def generator_that_moves_another(x):
    w = iter([1.0, 2.0, 3.0])

    def g():
        for v in [x, 2 * x, 3 * x]:
            yield (v * next(w))

    for v in g():
        if v > 1.0:
            break
    return v + 10 * sum(w)


def map_that_moves_another(x):
    w = iter([1.0, 2.0, 3.0])
    for v in map(lambda v: v * next(w), [x, 2 * x, 3 * x]):
        if v > 1.0:
            break
    return v + 10 * sum(w)


def genexpr_that_moves_another(x):
    w = iter([1.0, 2.0, 3.0])
    for v in (v * next(w) for v in [x, 2 * x, 3 * x]):
        if v > 1.0:
            break
    return v + 10 * sum(w)


class Moving:
    def __init__(self, x):
        self.w = iter([x, 2 * x, 3 * x])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.w)


def iterator_that_moves_another(x):
    it = Moving(x)
    for v in it:
        if v > 1.0:
            break
    return v + 10 * sum(it.w)


FUNCTIONS = [
    own_iterator, mapped, genexpr, own_sequence, filtered, while_it_holds, any_of_them, any_mapped,
    all_of_them, the_first, checks_behind, in_pairs, numbered, drained, called_by_itself,
    left_by_return, accumulated, star_mapped, method_that_yields,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_is_a_kernel(f):
    assert kernel_or_refusal(f, (0.36, 0.8, 1.7), "none is refused")


@pytest.mark.parametrize("f", [raises_behind, iterator_beside_itself, in_groups])
def test_it_is_refused(f):
    why = "writes, or fails, after a traced condition|in several places"
    assert not kernel_or_refusal(f, (0.36, 0.8, 1.7), why)


MOVING = [generator_that_moves_another, map_that_moves_another, genexpr_that_moves_another,
          iterator_that_moves_another]  # fmt: skip


@pytest.mark.parametrize("f", MOVING, ids=lambda f: f.__name__)
def test_what_moves_another_iterator_is_refused(f):
    assert not kernel_or_refusal(f, (0.36, 0.8, 1.7), "can't go on after|advanced under a traced")
