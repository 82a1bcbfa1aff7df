"""Dicts made at once, of keys that the kernel relies on, have plain keys and not traced ones."""

import collections

import pytest

import jitad


def of_pairs(a, x):
    return dict(zip(a, (x, 2 * x), strict=False))


def of_a_list(a, x):
    return dict([(a[0], x), (a[1], 2 * x)], last=x)


def updated(a, x):
    d = {}
    d.update(zip(a, (x, 2 * x), strict=False))
    return d


def from_keys(a, x):
    return dict.fromkeys(a, x)


def by_comprehension(a, x):
    return {k: x for k in a}


def of_tuples(a, x):
    return dict([((a[0], "q"), x), ((a[0], (a[1],)), x)])


def counted(a, x):
    return collections.Counter(a)


def ordered(a, x):
    return collections.OrderedDict(zip(a, (x, x), strict=False))


def on_one_path(a, x):
    d = dict(zip(a, (x, 2 * x), strict=False))
    if x > 1.0:
        d = dict(zip(a, (3 * x, x), strict=False))
    return d


def what_keys_are(a, x):
    d = dict(zip(a, (x, 2 * x), strict=False))
    return list(d), sorted(d), max(d), sum(k * v for k, v in d.items())


MADE = [of_pairs, of_a_list, updated, from_keys, by_comprehension, of_tuples, counted, ordered,
        on_one_path, what_keys_are]  # fmt: skip


@pytest.mark.parametrize("f", MADE)
def test_keys(f):
    compiled = jitad.jit(f, fallback=False)
    for a, x in (((3, 4), 1.5), ((3, 4), 0.5), ((7, 1), 2.5)):
        found, expected = compiled(a, x), f(a, x)
        assert found == expected and type(found) is type(expected)
        assert repr(found) == repr(expected)
