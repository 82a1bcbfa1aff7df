"""Does a loop over a dict see what is written to it meanwhile, whatever its name?"""

import pytest

from tests.trace.running import kernel_or_refusal


def values_of_chosen(y):
    d = {"a": y, "b": 2 * y}
    e = {"a": 3 * y, "c": y}
    n = 0.0
    c = d if y > 0.5 else e
    it = iter(c.values())
    d["b"] = 9.0
    return n + sum(it) * 1000


def items_of_chosen(y):
    d = {"a": y, "b": 2 * y}
    e = {"a": 3 * y, "c": y}
    n = 0.0
    c = d if y > 0.5 else e
    for _k, v in c.items():
        n += v
        d["b"] = 9.0
        e["c"] = 7.0
    return n


def dict_written(y):
    d = {"a": y, "b": 2 * y}
    n = 0.0
    for _k, v in d.items():
        n += v
        if y > 0.5:
            d["b"] = 9.0
    return n


def items_gone_on(y):
    d = {"a": y, "b": 2 * y}
    n = 0.0
    it = iter(d.items())
    _k, v = next(it)
    d["b"] = 9.0 * y
    for _k, v in it:
        n += v
    return n


def values_lazily(y):
    d = {"a": y, "b": 2 * y}
    n = 0.0
    if y > 0.5:
        d["c"] = y
    it = (v for v in d.values())
    d["b"] = 9.0 * y
    for v in it:
        n += v
    return n


def perhaps_a_key(y):
    d = {"a": y, "b": 2 * y}
    n = 0.0
    if y > 0.5:
        d["c"] = y
    for k, v in d.items():
        n += v
        d["b"] = 9.0
        if k == "a" and "c" in d:
            d["c"] = 7.0
    return n


def keys_gone_over(y):
    d = {"a": y, "b": 2 * y}
    n = 0.0
    if y > 0.5:
        d["c"] = y
    for k in d:
        n += d.get(k, 0.5)
        if n > 2.0:
            d["b"] = 9.0
    return n


def dicts_exchanged(y):
    d = {"a": y, "b": 2 * y}
    e = {"a": 3 * y, "b": y}
    n = 0.0
    for _k in range(3):
        for v in d.values():
            n = n * 1.1 + v
            e["a"] = n
        d, e = (e, d)
    return n


def dicts_exchanged_often(y):
    d = {"a": y, "b": 2 * y}
    e = {"a": 3 * y, "b": y}
    n = 0.0
    for _k in range(300):
        for v in d.values():
            n = n * 0.5 + v
            e["a"] = n * 0.3
        d, e = (e, d)
    return n


def dict_by_parity(y):
    d = {"a": y, "b": 2 * y}
    e = {"a": 3 * y, "b": y}
    n = 0.0
    for k in range(300):
        c = d if k % 2 else e
        for v in c.values():
            n = n * 0.5 + v
            e["b"] = n * 0.3
    return n


def dict_by_value(y):
    d = {"a": y, "b": 2 * y}
    e = {"a": 3 * y, "b": y}
    n = 0.0
    cur = d
    for _k in range(300):
        for v in cur.values():
            n = n * 0.5 + v
            d["b"] = n * 0.3
        if n > 0.7:
            cur = e
        else:
            cur = d
    return n


def key_of_the_kernel(y):
    d = {int(3 * y): y, 7: 2 * y}
    n = 0.0
    for k, v in d.items():
        n += v * (k + 1)
        d[7] = 9.0
    return n


def iterator_of_values(y):
    d = {int(3 * y): y, 7: 2 * y}
    n = 0.0
    it = iter(d.values())
    d[7] = 9.0
    for v in it:
        n += v
    return n


def counted_keys(y):
    d = {}
    n = 0.0
    for k in range(int(4 * y) + 1):
        d[k % 3] = y * k
    for k, v in d.items():
        n += v * (k + 1)
        d[0] = n
    for v in d.values():
        n += v
        d[max(d)] = 5.0
    return n


FUNCTIONS = [
    values_of_chosen, items_of_chosen, dict_written, items_gone_on, values_lazily,
    perhaps_a_key, keys_gone_over, dicts_exchanged, dicts_exchanged_often, dict_by_parity,
    dict_by_value, key_of_the_kernel, iterator_of_values, counted_keys,
]  # fmt: skip

WHY = "may be the same as what was written|chose can't be used here"


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_written_is_seen(f):
    kernel_or_refusal(f, (0.26, 1.51, 0.8), WHY)


def test_most_are_kernels():
    assert sum(kernel_or_refusal(f, (0.26,), WHY) for f in FUNCTIONS) > len(FUNCTIONS) * 0.55
