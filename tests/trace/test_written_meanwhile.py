"""Does a loop see what is written to what it goes over under another name?

The names are exchanged, rebound or chosen by conditions, so that a kernel may not know whether they
are of one list, deque or array: then it says so, and the eager engine computes.
"""

import itertools
from collections import deque

import numpy as np
import pytest

from tests.trace.running import kernel_or_refusal


def extended_and_rebound(y):
    l8 = [1.0, *(2.0 for p9 in (1, y) if p9)]
    n = 0
    for e16 in l8:
        n += 1
        l8.extend(0.5 for p in tuple(l8))
        l8 = [e16, 1.0]
    return n * 100 + sum(l8)


def appended_and_rebound(y):
    l8 = [1.0, *(2.0 for p9 in (1, y) if p9)]
    n = 0
    for e16 in l8:
        n += 1
        if len(l8) < 5:
            l8.append(3.0)
        l8 = [e16, 1.0]
    return n * 100 + sum(l8)


def by_another_name(y):
    l8 = [1.0, *(2.0 for p9 in (1, y) if p9)]
    n = 0
    k = l8
    for e16 in k:
        n += 1
        l8.append(3.0)
        l8 = [e16, 1.0]
    return n * 100 + sum(l8) + 1000 * sum(k)


def written_and_rebound(y):
    l8 = [1.0, *(2.0 for p9 in (1, y) if p9)]
    n = 0
    for e16 in l8:
        n += 1
        l8[-1] = 9.0
        l8 = [e16, 1.0]
    return n * 100 + sum(l8)


def numbered_and_rebound(y):
    l8 = [1.0, *(2.0 for p9 in (1, y) if p9)]
    n = 0
    for _k, e16 in enumerate(l8):
        n += 1
        l8[-1] = 9.0
        l8 = [e16, 1.0]
    return n * 100 + sum(l8)


def long_and_rebound(y):
    l8 = [1.0, *(2.0 for p9 in (1, y) if p9)]
    n = 0
    for e16 in l8:
        n += 1
        l8.append(3.0)
        l8 = [e16, *(2.0 for p9 in (1, y) if p9)]
    return n * 100 + sum(l8)


def not_gone_over(y):
    l8 = [1.0, *(2.0 for p9 in (1, y) if p9)]
    old = l8
    for k in range(3):
        l8.append(3.0 * k)
        l8 = [y, 1.0 * k]
    return sum(l8) + 100 * sum(old)


def array_rebound(y):
    a = np.arange(1.0, 5.0) * y
    n = 0.0
    for e in a:
        n += e
        a[-1] = 9.0
        a = np.array([e, 1.0, 2.0, 3.0])
    return n * 100 + np.sum(a)


def array_numbered(y):
    a = np.arange(1.0, 5.0) * y
    n = 0.0
    for _k, e in enumerate(a):
        n += e
        a[-1] = 9.0
        a = a * 2.0
    return n * 100 + np.sum(a)


def rows_rebound(y):
    a = np.ones((4, 3)) * y
    n = 0.0
    for r in a:
        n += r.sum()
        a[-1, 0] = 9.0 + y
        a = a * 2.0
    return n * 100 + np.sum(a)


def long_list_rebound(y):
    a = [y * k for k in range(300)]
    n = 0.0
    for r in a:
        n += r
        a[-1] = 9.0 + y
        a = [y] * 300
    return n * 100 + sum(a)


def lists_exchanged(y):
    a = [y * k for k in range(300)]
    b = [y] * 300
    n = 0.0
    for r in a:
        n += r
        a[-1] = 9.0 + n
        a, b = (b, a)
    return n * 100 + sum(a)


def in_pairs_exchanged(y):
    a = [y * k for k in range(300)]
    b = [y] * 300
    n = 0.0
    for r, _q in zip(a, b):
        n += r
        a[-1] = 9.0 + n
        a, b = (b, a)
    return n * 100 + sum(a)


def backwards_exchanged(y):
    a = [y * k for k in range(300)]
    b = [y] * 300
    n = 0.0
    for r in reversed(a):
        n += r
        a[0] = 9.0 + n
        a, b = (b, a)
    return n * 100 + sum(a)


def chosen_meanwhile(y):
    d = {"a": [y, 2 * y], "b": [y]}
    cur = d["a"]
    n = 0.0
    for e in cur:
        n += e
        if y > 0.3:
            cur = d["b"]
        cur[-1] = 7.0
    return n


def other_name_written(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, y]
    n = 0.0
    c = a if y > 0.5 else b
    for e in a:
        n += e
        c[-1] = n
    return n


def chosen_and_written(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, y]
    n = 0.0
    c = a if y > 0.5 else b
    for e in c:
        n += e
        a[-1] = n
    return n


def iterator_of_chosen(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, y]
    n = 0.0
    c = a if y > 0.5 else b
    it = iter(c)
    a[1] = 9.0
    for e in it:
        n += e
    return n


def iterator_gone_on(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, y]
    n = 0.0
    c = a if y > 0.5 else b
    it = iter(a)
    next(it)
    c[1] = 9.0
    for e in it:
        n += e
    return n


def genexpr_of_one(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, y]
    n = 0.0
    c = a if y > 0.5 else b
    it = (e * 2 for e in a)
    c[1] = 9.0
    for e in it:
        n += e
    return n


def zip_of_several(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, y]
    n = 0.0
    c = a if y > 0.5 else b
    it = zip(a, reversed(a), enumerate(b))
    c[1] = 9.0
    for e, f, (k, g) in it:
        n += e + 10 * f + 100 * k * g
    return n


def lengths_differ(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y]
    n = 0.0
    c = a if y > 0.5 else b
    for e in c:
        n += e
        a[1] = 9.0
        b[1] = 7.0
    return n


def lengths_same(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, 1.0]
    n = 0.0
    c = a if y > 0.5 else b
    for e in c:
        n += e
        a[1] = 9.0
        b[1] = 7.0
    return n


def written_by_its_name(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, 1.0]
    n = 0.0
    c = a if y > 0.5 else b
    for e in c:
        n += e
        c[1] = 9.0
    return n


def written_in_between(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, 1.0]
    n = 0.0
    c = a if y > 0.5 else b
    for e in c:
        n += e
    a[0] = 5.0
    c[1] = 2.0
    for e in c:
        n += e * 10
    return n


def numbered_lengths(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y]
    n = 0.0
    c = a if y > 0.5 else b
    for k, e in enumerate(c):
        n += e * (k + 1)
        c[-1] = 9.0
    return n + sum(a) * 10 + sum(b) * 100


def mapped_chosen(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y]
    n = 0.0
    c = a if y > 0.5 else b
    it = map(lambda v: 2 * v, c)
    c[-1] = 9.0
    return n + sum(a) * 10 + sum(b) * 100 + sum(it) * 1000


def chained_chosen(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y]
    n = 0.0
    c = a if y > 0.5 else b
    it = itertools.chain(c, a)
    c[-1] = 9.0
    return n + sum(a) * 10 + sum(b) * 100 + sum(it) * 1000


def zipped_backwards(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y]
    n = 0.0
    c = a if y > 0.5 else b
    it = zip(c, reversed(c))
    c[-1] = 9.0
    for p, q in it:
        n += p * q
    return n + sum(a) * 10 + sum(b) * 100


def genexpr_of_chosen(y):
    a = [y, 2 * y, 3 * y]
    b = [y * 5, y, 1.0]
    n = 0.0
    c = a if y > 0.5 else b
    it = (2 * v for v in c)
    c[-1] = 9.0
    a[0] = 4.0
    return n + sum(a) * 10 + sum(b) * 100 + sum(it) * 1000


def deque_lazily(y):
    d = deque([y, 2 * y])
    n = 0.0
    if y > 0.5:
        d.append(3 * y)
    it = (v for v in d)
    d[1] = 9.0 * y
    for v in it:
        n += v
    return n


def deque_chosen(y):
    d = deque([y, 2 * y])
    e = deque([3 * y])
    n = 0.0
    c = d if y > 0.5 else e
    for v in c:
        n += v
        c[-1] = 7.0
    return n


def list_by_value(y):
    d = [y, 2 * y]
    e = [3 * y, y]
    n = 0.0
    cur = d
    for _k in range(300):
        for v in cur:
            n = n * 0.5 + v
            d[1] = n * 0.3
        if n > 0.7:
            cur = e
        else:
            cur = d
    return n


def deque_by_value(y):
    d = deque([y, 2 * y])
    e = deque([3 * y, y])
    n = 0.0
    cur = d
    for _k in range(300):
        for v in cur:
            n = n * 0.5 + v
            d[1] = n * 0.3
        if n > 0.7:
            cur = e
        else:
            cur = d
    return n


def longer_by_another_name(y):
    rack = [[y], [y]]
    c = rack[0] if y > 0.5 else rack[1]
    d = rack[0] if y * y > 0.25 else rack[1]
    s = 0.0
    for _ in c:
        s += 1.0
        if len(d) < 4:
            d.append(2.0 * y)
    return s + sum(rack[0]) + 10 * sum(rack[1])


def beside_a_longer_one(y):
    short, s = [y, 2.0 * y], 0.0
    for a, b in zip(short, [v for v in (y, 2.0, 3.0, y * y) if v > 0.1]):
        s += a * b
        if len(short) < 3:
            short.append(5.0)
    return s


FUNCTIONS = [
    longer_by_another_name, beside_a_longer_one,
    extended_and_rebound, appended_and_rebound, by_another_name, written_and_rebound,
    numbered_and_rebound, long_and_rebound, not_gone_over, array_rebound, array_numbered,
    rows_rebound, long_list_rebound, lists_exchanged, in_pairs_exchanged, backwards_exchanged,
    chosen_meanwhile, other_name_written, chosen_and_written, iterator_of_chosen,
    iterator_gone_on, genexpr_of_one, zip_of_several, lengths_differ, lengths_same,
    written_by_its_name, written_in_between, numbered_lengths, mapped_chosen, chained_chosen,
    zipped_backwards, genexpr_of_chosen, deque_lazily, deque_chosen, list_by_value,
    deque_by_value,
]  # fmt: skip

WHY = "may be the same as what was written|gets longer or shorter|chose can't be used here"


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_written_is_seen(f):
    kernel_or_refusal(f, (0.26, 1.51, 0.8), WHY)


def test_most_are_kernels():
    assert sum(kernel_or_refusal(f, (0.26,), WHY) for f in FUNCTIONS) > len(FUNCTIONS) * 0.55
