"""Is what asks for a place, a key or an order that only the kernel knows what it is in Python?"""

import bisect
import heapq
import itertools
import operator

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.truth import differences

POINTS = (
    np.array([0.3, -0.7, 1.1, 0.2, -0.1]), np.array([-0.6, 0.9, 0.1, 0.8, 0.4]),
    np.array([0.5, 0.4, -0.3, -0.8, 0.7]),
)  # fmt: skip


def keys_of_tuples(x):
    table = {(i, j): x[i] * x[j] for i in range(3) for j in range(3)}
    i, j = (int(np.argmax(x[:3])), 2) if x[3] > x[4] else (0, int(np.argmin(x[:3])))
    table[i, j] += x[3]
    table[(j, i)] = x[4] * table.get((i, 7), 2.0)
    there = ((i, j) in table, (i, 5) in table, ("a", j) in table)
    return sum(v * k for k, v in enumerate(table.values())) + table[j, i] * (1 + there.count(True))


def no_such_tuple(x):
    try:
        return {(0, 1): x[0]}[int(np.argmax(x[:3])), 1]
    except KeyError:
        return 3.0 * x[1]


def keys_of_texts_in_tuples(x):
    side = "left" if x[0] > 0.0 else "right"
    count = {("left", 0): 1.0, ("right", 0): x[1], ("right", 1): x[2]}
    count[side, 0] += x[3]
    return sum(v * v for v in count.values()) * count[side, 0]


def in_a_dict_of_some_keys(x):
    found = {1: x[0]}
    if x[1] > 0.0:
        found[2] = x[2]
    k = int(np.argmax(x[:3]))
    return x[3] * (5.0 if k in found else 1.0)


def inserted_by_a_key(x):
    out, grown, v = [], [], abs(x[0]) + 0.1
    for k, e in enumerate(x):
        bisect.insort(out, (k, e), key=lambda p: -p[1])
    while v < 3.0:
        v *= 1.3
        bisect.insort_left(grown, (v, np.sin(3.0 * v)), key=operator.itemgetter(1))
    plain = sum(j * e * (k + 1) for j, (k, e) in enumerate(out))
    return plain + sum(j * a for j, (a, _) in enumerate(grown))


def bisected_by_a_key(x):
    rows = [(e, 1) for e in sorted(x)]
    at = bisect.bisect_left(range(5), 0.15, key=lambda k: sorted(x)[k])
    return x[0] * bisect.bisect(rows, 0.15, key=lambda r: r[0]) + x[1] * at


def beside_what_never_ends(x):
    some = [e for e in x if e > -0.5]
    t = sum(k * e for e, k in zip(some, itertools.count()))
    for e, k, w, c in zip(some, itertools.count(1, 2), itertools.cycle([1.0, 2.0]),
                          itertools.repeat(3.0)):  # fmt: skip
        t += e * k * w * c
    return t


def a_list_of_chosen_elements(x):
    kept = x[x > 0.0].tolist()
    return sum(e * k for k, e in enumerate(kept)) + len(kept) * x[0]


def powers_of_ints(x):
    n = int(np.argmax(x)) + 1
    return x[0] * pow(n, 2, 5) + x[1] * pow(3, n, 7) + x[2] * pow(n, -1, 7) + pow(n, n, n + 1)


def a_heap_of_things_without_order(x):
    heap, t = [], 0.0
    for k, e in enumerate(x):
        heapq.heappush(heap, (e, k, {"w": e * k}))
    while heap:
        e, k, d = heapq.heappop(heap)
        t = 0.5 * t + d["w"] * e
    return t


FOUND = [
    keys_of_tuples, no_such_tuple, keys_of_texts_in_tuples, in_a_dict_of_some_keys,
    inserted_by_a_key, bisected_by_a_key, beside_what_never_ends, a_list_of_chosen_elements,
    powers_of_ints, a_heap_of_things_without_order,
]  # fmt: skip


@pytest.mark.parametrize("f", FOUND, ids=lambda f: f.__name__)
def test_it_is_what_it_is_in_python(f):
    value, slope = jitad.jit(f, fallback=False), jitad.jit_grad(f, fallback=False)
    for x in POINTS:
        assert value(x) == pytest.approx(f(x), rel=1e-12)
        for direction in np.eye(5):
            expected, _ = differences(f, (x,), (0,), [direction], step=1e-3)
            assert slope(x) @ direction == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_things_without_order_that_are_compared():
    def least(x):
        heap = [(x, {"a": 1.0}), (2.0, {"a": x})]
        heapq.heapify(heap)
        return heap[0][0]

    compiled = jitad.jit(least, fallback=False)
    assert compiled(1.0) == 1.0 and compiled(3.0) == 2.0
    with pytest.raises(TypeError, match="'<' not supported between instances of 'dict'"):
        compiled(2.0)


def test_what_pow_refuses():
    power = jitad.jit(lambda x, n: x * pow(int(x), n, 6), fallback=False)
    assert power(5.0, -1) == 25.0
    with pytest.raises(ValueError, match="base is not invertible"):
        power(2.0, -1)
    with pytest.raises(ValueError, match="3rd argument cannot be 0"):
        jitad.jit(lambda x: x * pow(int(x), 2, int(x) - 5), fallback=False)(5.0)


def test_what_never_ends_has_nothing_left_after_it():
    def twice(x):
        numbers = itertools.count()
        t = sum(k * e for e, k in zip([e for e in x if e > 0.0], numbers))
        return t + next(numbers)

    with pytest.raises(JitadError, match="can't go on after a loop"):
        jitad.jit(twice, fallback=False)(POINTS[0])
