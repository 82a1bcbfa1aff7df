"""Is what conditions chose, and what is not there on other paths, the one or the other?

Keys of dicts, names, attributes: each holds one of several things, or nothing.
"""

import itertools
from collections import defaultdict

import numpy as np
import pytest

import jitad


def sets_by_key(x):
    near = defaultdict(set)
    if x[0] > 0.5:
        near[1].add(0)
    if x[1] > 0.5:
        near[1].add(2)
    return len(near[1]) * x[0]


def lists_by_key(x):
    near = {}
    if x[0] > 0.5:
        near.setdefault(1, []).append(x[0])
    if x[1] > 0.4:
        near.setdefault(1, []).append(2.0)
    return sum(near.get(1, [])) * x[0] + len(near)


def one_of_two_lists(x):
    a, b, d = [1.0], [x[0]], {}
    if x[0] > 0.5:
        d[1] = a if x[1] > 0.5 else b
    if 1 in d:
        d[1].append(2.0)
    return sum(a) + 3.0 * sum(b) + sum(d.get(1, ()))


def words_by_key(x):
    d = {}
    if x[0] > 0.5:
        d[1] = "a" if x[1] > 0.5 else "bcd"
    if x[1] > 0.3:
        d[1] = "hello" if x[0] > 0.8 else d.get(1, "nn")
    return len(d.get(1, "zz")) * x[0]


def a_name(x):
    if x[0] > 0.5:
        name = "a" if x[1] > 0.5 else "bcd"
    try:
        return len(name) * x[0]
    except NameError:
        return x[1]


class Thing:
    pass


def attributes(x):
    o = Thing()
    if x[0] > 0.5:
        o.v = [x[0]] if x[1] > 0.5 else [x[1], 1.0]
    if x[1] > 0.1:
        o.w = getattr(o, "v", [])
        o.w.append(3.0)
    return sum(getattr(o, "v", [])) + 2.0 * len(getattr(o, "w", []))


PROGRAMS = [sets_by_key, lists_by_key, one_of_two_lists, words_by_key, a_name, attributes]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    compiled = jitad.jit_value_and_grad(f, fallback=False)
    for x in map(np.array, itertools.product((0.2, 0.6, 0.9), (0.05, 0.35, 0.45, 0.7))):
        want = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
        for engine in (jitad.value_and_grad(f), compiled):
            value, gradient = engine(x)
            assert value == pytest.approx(f(x), rel=1e-14)
            np.testing.assert_allclose(gradient, want, rtol=1e-6, atol=1e-8)
