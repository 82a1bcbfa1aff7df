"""Is what stands beside a generator in `zip`, or in groups, read in its turn, or refused?"""

import itertools

import numpy as np
import pytest

from tests.trace.running import kernel_or_refusal


def longer(x):
    return [v for v in (x, 2 * x, 0.4, 3 * x) if v > 0.5]


def numbered_after(x):
    l = longer(x)
    s = 0.0
    for v, (k, w) in zip((2 * v for v in l), enumerate(l)):
        s += v * (k + 1) * w
        l[-1] = 7.0
    return s


def keys_of_a_dict(x):
    l = longer(x)
    s = 0.0
    d = {3: x, 1: 2.0, 0: 7.0}
    for v, k in zip((2 * v for v in l), d):
        s += v * (k + 1)
    return s


def values_of_a_dict(x):
    l = longer(x)
    s = 0.0
    d = {"a": x, "b": 2.0}
    for v, k in zip((2 * v for v in l), d.values()):
        s += v * (k + 1)
        d["b"] = 9.0
    return s


def numbered_before(x):
    l = longer(x)
    s = 0.0
    for (k, w), v in zip(enumerate(l), (2 * v for v in l)):
        s += v * (k + 1) * w
        l[-1] = 7.0
    return s


class It:
    def __init__(self, l):
        self.l = l

    def __iter__(self):
        return iter(self.l)

    def __getitem__(self, k):
        return 100.0

    def __len__(self):
        return 50


def object_with_its_own_iterator(x):
    l = longer(x)
    s = 0.0
    for v, w in zip((2 * v for v in l), It([x, 2.0, 3.0])):
        s += v * w
    return s


def groups_written_away(x):
    a = np.array([x, 2 * x, 0.4, 3 * x])
    out = np.zeros(9)
    n = 0
    for _k, g in itertools.groupby(a, key=lambda v: v > 0.5):
        out[n] = sum(g)
        n += 1
    return np.sum(out * np.arange(9))


def groups_by_keys_that_count(x):
    l = [x, 2 * x, 0.4, 3 * x]
    calls = []
    s = 0.0

    def key(v):
        calls.append(1)
        return v > 0.5

    for _k, g in itertools.groupby(iter(l), key=key):
        s = s * 2 + sum(g)
    return s + len(calls)


def groups_of_texts(x):
    l = ["a", "a", "b", "c", "c"]
    calls = []
    s = 0.0

    def key(v):
        calls.append(1)
        return v

    for _k, g in itertools.groupby(iter(l), key=key):
        s = s * 2 + x * len(list(g))
    return s + len(calls)


def two_generators_and_an_array(x):
    l = longer(x)
    a = np.array([x, 2 * x, 3 * x, 4 * x])
    b = np.zeros(4)
    n = 0
    for v, w, z in zip((2 * v for v in l), (u * u for u in a), a):
        b[n] = v * w + z
        n += 1
    return np.sum(b)


def array_written(x):
    l = longer(x)
    s = 0.0
    a = np.array([x, 2 * x, 3 * x, 4 * x])
    n = 0
    for v, w, z in zip((2 * v for v in l), (u * u for u in a), a):
        s += v * w + z
        a[3] = 0.5
        n += 1
    return s


def beside_an_empty_one(x):
    l = longer(x)
    s = 0.0
    for v, w in zip([u for u in (x, 2 * x) if u > 1.0], (3 * v for v in l)):
        s += v * w
    return s


def effects_beside_an_empty_one(x):
    l = longer(x)
    s = 0.0
    log = []

    def g(v):
        log.append(v)
        return v * 2

    for v, w in zip([u for u in (x, 2 * x) if u > 0.7], (g(v) for v in [x, 1.0, 2.0, *l])):
        s += v * w
    return s + len(log)


COMPILED = [
    beside_an_empty_one, numbered_after, keys_of_a_dict, numbered_before, groups_of_texts,
    object_with_its_own_iterator, groups_written_away, two_generators_and_an_array,
]  # fmt: skip
REFUSED = [effects_beside_an_empty_one, values_of_a_dict, array_written, groups_by_keys_that_count]


@pytest.mark.parametrize("f", COMPILED, ids=lambda f: f.__name__)
def test_it_is_a_kernel(f):
    assert kernel_or_refusal(f, (0.32, 0.8, 0.1), "none is refused")


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_could_not_be_in_order_is_refused(f):
    assert not kernel_or_refusal(f, (0.32, 0.8, 0.1), "writes to what")
