"""Are things from outside read anew at each call: what a condition chose of them, properties?"""

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError


class Inner:
    def __init__(self, k):
        self.k = k


class Rate:
    def __init__(self, k, name):
        self.k, self.name = k, name
        self.levels = [k, 2.0]
        self.table = {"low": k}
        self.array = np.array([k, 1.0])
        self.inner = Inner(k)

    def of(self, x):
        return self.k * x

    def __call__(self, x):
        return self.k * x * x


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


RATES = [Rate(1.0, "a"), Rate(2.0, "bb")]
SLOTTED = [Slotted(1.0), Slotted(2.0)]
LISTS = [[1.0, 2.0], [2.0, 3.0]]
DICTS = [{"k": 1.0}, {"k": 2.0}]
ARRAYS = [np.array([1.0]), np.array([2.0])]


def best():
    return max(RATES, key=lambda r: r.k)


def by_a_branch(x):
    rate = RATES[0] if x > 1.0 else RATES[1]
    return rate.k * x + rate.inner.k * len(rate.name)


def taken_over(x):
    rate = RATES[0]
    if RATES[1].k * x > rate.k:
        rate = RATES[1]
    return rate.levels[0] * x + rate.table["low"] + rate.array[0] * x * x


def collected(x):
    found = []
    while x < 4.0:
        found.append(RATES[0] if x > 2.0 else RATES[1])
        x = 1.5 * x
    return sum(r.k * x for r in found) + found[0].inner.k


def or_made(x):
    rate = Rate(3.0 * x, "a") if x > 1.0 else RATES[0]
    return rate.k * x + rate.array[0]


FOUND = [
    by_a_branch, taken_over, collected, or_made,
    lambda x: best().of(x), lambda x: best()(x),
    lambda x: sorted(RATES, key=lambda r: -r.k)[0].k * x,
    lambda x: (SLOTTED[0] if x > 1.0 else SLOTTED[1]).k * x,
    lambda x: (LISTS[0] if x > 1.0 else LISTS[1])[0] * x,
    lambda x: (DICTS[0] if x > 1.0 else DICTS[1])["k"] * x,
    lambda x: (ARRAYS[0] if x > 1.0 else ARRAYS[1])[0] * x,
]  # fmt: skip


def change(k):
    for j in range(2):
        v = k + 3.0 * (1 - j)
        RATES[j].k = RATES[j].inner.k = RATES[j].levels[0] = RATES[j].table["low"] = v
        RATES[j].array[0] = SLOTTED[j].k = LISTS[j][0] = DICTS[j]["k"] = ARRAYS[j][0] = v


@pytest.mark.parametrize("f", FOUND, ids=range(len(FOUND)))
def test_what_is_in_it_may_change_between_calls(f):
    value, slope = jitad.jit(f), jitad.jit_grad(f)
    try:
        for k in (1.0, 5.0, 7.0):
            change(k)
            for x in (0.7, 1.3):
                assert value(x) == pytest.approx(f(x), rel=1e-12)
                step = 1e-5
                expected = (f(x + step) - f(x - step)) / (2.0 * step)
                assert slope(x) == pytest.approx(expected, rel=1e-6)
    finally:
        change(1.0)


class Stop:
    def __init__(self, k):
        self.k, self.next = k, None


def test_objects_that_point_at_each_other():
    first, second = Stop(1.0), Stop(2.0)
    first.next, second.next = second, first

    def around(x):
        at, t = (first if x > 1.0 else second), 0.0
        for _ in range(3):
            t += at.k * x
            at = at.next
        return t

    def found(x):
        def search(at, v):
            return at.k * v if v > 5.0 else search(at.next, 1.5 * v)

        return search(first, x)

    compiled = jitad.jit(around)
    for k in (1.0, 4.0):
        first.k = k
        expected = [around(x) for x in (0.7, 1.5)]
        assert [compiled(x) for x in (0.7, 1.5)] == pytest.approx(expected)
    with pytest.raises(JitadError, match="may be a part of itself"):
        jitad.jit(found, fallback=False)(0.7)


def test_a_property_may_become_another_between_calls():
    class Tank:
        level = property(lambda self: 2.0)

    tank = Tank()

    def f(x):
        return tank.level * x

    compiled = jitad.jit(f)
    assert compiled(3.0) == 6.0
    Tank.level = property(lambda self: 5.0)
    assert compiled(3.0) == 15.0


def test_what_an_object_answers_to_any_name_is_not_asked_for_by_the_engine():
    class Record:
        def __init__(self):
            self.fields = {"rate": 2.0}

        def __getattr__(self, name):
            return self.fields[name]  # a KeyError of what is not there

    record = Record()

    def f(x):
        return record.rate * x

    assert jitad.jit_grad(f)(3.0) == 2.0
    record.fields["rate"] = 7.0
    assert jitad.jit_grad(f)(3.0) == 7.0
