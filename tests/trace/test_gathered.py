"""Is a set or deque whose elements only the kernel knows what it is in Python?"""

import copy
from collections import deque

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.truth import differences

POINTS = (2.3, 1.2, 0.4, -1.3)


def some(x):
    s = {1, 5}
    if x > 1.0:
        s.add(3)
    if x > 0.0:
        s.discard(5)
    return s


def put_in_and_taken_out(x):
    s = some(x)
    t = s
    s |= {2, 3}
    t.remove(1)
    return x * len(s) + x * x * sum(s) + (x if 5 in t else 3.0 * x) + max(s) * x


def missing(x):
    try:
        some(x).remove(3)
    except KeyError:
        return 7.0 * x
    return 2.0 * x


def in_the_operators(x):
    s, t = some(x), {3, 5, 7}
    sets = (s | t, s & t, s - t, s ^ t, t - s, frozenset(t) & s)
    s &= {1, 3}
    return x * sum(len(v) * 10**k for k, v in enumerate(sets)) + len(s) * x * x


def in_the_methods(x):
    s, t = some(x), {3, 5, 7}
    sets = [s.union(t, {8}), s.intersection(t), s.difference(t, [1]), s.symmetric_difference(t)]
    s.update([3, 4], {9})
    s.difference_update({9})
    s.symmetric_difference_update({4, 6})
    sets.append(s)
    return x * sum(len(v) * 10**k for k, v in enumerate(sets)) + sum(sorted(s)) * x * x


def compared(x):
    s = some(x)
    said = (s == {1, 3}, s != {1}, s <= {1, 3}, s < {1, 3, 5}, s >= {1}, s > {1, 5}, bool(s),
            s.isdisjoint({3}), s.issubset([1, 5]), s.issuperset({5}),
            not s - {1, 3, 5})  # fmt: skip
    return x * sum(2**k for k, v in enumerate(said) if v)


def copied(x):
    s = some(x)
    t, u, v, w = s.copy(), copy.copy(s), set(s), frozenset(s)
    t.add(7)
    u.clear()
    v.discard(1)
    return x * sum(len(e) * 10**k for k, e in enumerate((s, t, u, v, w, copy.deepcopy(s))))


def of_what_is_chosen(x):
    s = set()
    for name, v in (("a", x), ("b", -x), ("c", x - 1.0)):
        s.add(name if v > 0.0 else "none")
    return x * len(s) + (x * x if "none" in s else 0.0)


def of_numbers_written_down(x):
    s = {int(x), int(2.0 * x), 1}
    t = {int(v) for v in (x, x + 0.5, 3.0 * x)}
    return x * len(s) + 10.0 * x * len(set([int(x), 2])) + x * len(t)


def of_tuples(x):
    seen, at, n = set(), (0, 0), 0
    while at not in seen and n < 20:
        seen.add(at)
        at = (int(at[0] * 2 + x) % 3, int(at[1] + abs(x)) % 2)
        n += 1
    return n * x + len(seen) * x * x


def small_ints_keep_their_order(x):
    left, order = set(range(5)), 0.0
    if x > 1.0:
        left.remove(2)
    while left:
        k = min(left, key=lambda j: abs(j - x) // 2)  # with ties
        left.remove(k)
        order = 10.0 * order + k
    return order * x + sum(k * x**k for k in sorted({3, 4} - left))


def in_a_recursion(x):
    def visit(k, seen):
        if k in seen:
            return 0.0
        return x * (k + 1) + visit(int(2 * k + abs(x)) % 5, seen | {k})

    return visit(0, frozenset())


def ends_of_a_deque(x):
    q = deque([x, 2.0 * x])
    if x > 1.0:
        q.append(3.0 * x)
    if x > 0.0:
        q.popleft()
    q.appendleft(4.0)
    q.extend([x, 1.0])
    q.extendleft((5.0, 6.0 * x))
    q.rotate(2)
    q[0] *= x
    del q[1]
    return sum((k + 1) * v for k, v in enumerate(q)) + q[-1] * len(q) + q.pop() * q.popleft()


def of_limited_length(x):
    q = deque([1.0], maxlen=2)
    if x > 0.0:
        q.append(x)
    q.append(2.0 * x)
    q.extendleft([3.0 * x])
    return sum(v * (k + 1) for k, v in enumerate(q)) + q.maxlen * x * len(q.copy())


def filled_in_a_loop(x):
    q, v, t = deque(maxlen=3), abs(x) + 0.1, 0.0
    while v < 40.0:
        v *= 1.7
        q.append(v)
        if len(q) > 2 and q[0] > 4.0:
            t += q.popleft() * q[-1]
            q.appendleft(x)
    return t + sum(q) + max(q) + (x if q == deque([1.0]) else 2.0 * x)


def empty(x):
    q = deque([x])
    if x > 0.0:
        q.clear()
    try:
        return q.popleft()
    except IndexError:
        return 3.0 * x


def in_an_array(x):
    q = deque([x, 2.0 * x])
    if x > 0.0:
        q.append(3.0 * x)
    return np.mean(q) + np.array(q)[0] + sorted(q)[0] + sum(reversed(q)) + list(q)[-1]


class Search:
    def __init__(self):
        self.seen, self.todo = set(), deque()

    def meets(self, k):
        if k in self.seen:
            return False
        self.seen.add(k)
        self.todo.append(k)
        return True


def others_that_can_be_gone_through_once(x):
    s = some(x)
    sets = [s.difference(e for e in (1, 3)), s.intersection(map(int, [5.0, 3.0, 1.0])),
            s.symmetric_difference(iter([5, 7, 7])), s.symmetric_difference([8, 8, int(x)])]
    said = s.issubset(e for e in (5, 3, 1)), s.isdisjoint(iter([7, 3]))
    s.difference_update(e for e in (3, 1))
    words = {"ab", "c"}
    if x > 1.0:
        words.add("b")
    sets += [s, words.difference("abc"), words.union("bd")]
    return x * sum(len(v) * 10**k for k, v in enumerate(sets)) + sum(said) * x * x


def sets_in_sets(x):
    s, t = frozenset(some(x)), frozenset({1, 5})
    found = s in {t}, (1, t) in {(1, s)}, s in [t, 3], [s] == [t], (2, s) != (2, t)
    return x + x * x * sum(2**k for k, v in enumerate(found) if v)


def full(x):
    q = deque([x], maxlen=2)
    if x > 1.0:
        q.append(2.0)
    try:
        q.insert(0, 3.0 * x)
    except IndexError:
        return x * len(q)
    return q[0] + 10.0 * q[-1]


def of_an_object(x):
    search, v, n = Search(), x, 0
    while v < 30.0 and n < 12:
        v = 1.5 * v + (1.0 if search.meets(int(v) % 4) else 0.0)
        n += 1
    return v * len(search.seen) + sum(search.todo) * x


FOUND = [
    put_in_and_taken_out, missing, in_the_operators, in_the_methods, compared, copied,
    of_what_is_chosen, of_numbers_written_down, of_tuples, small_ints_keep_their_order,
    in_a_recursion, ends_of_a_deque, of_limited_length, filled_in_a_loop, empty, in_an_array,
    others_that_can_be_gone_through_once, sets_in_sets, full, of_an_object,
]  # fmt: skip


@pytest.mark.parametrize("f", FOUND, ids=lambda f: f.__name__)
def test_it_is_what_it_is_in_python(f):
    value, slope = jitad.jit(f, fallback=False), jitad.jit_grad(f, fallback=False)
    for x in POINTS:
        assert value(x) == pytest.approx(f(x), rel=1e-12)
        expected, error = differences(f, (x,), (0,), [1.0], step=1e-3)
        assert slope(x) == pytest.approx(expected, rel=1e-7, abs=1e-7 + error)


def test_it_is_returned_and_written_outside():
    outside = {1}

    def given(x):
        outside.add(int(np.argmax(np.array([x, 1.0, 2.0]))))
        q = deque([1.0], maxlen=3)
        if x > 0.0:
            q.append(x)
        return some(x), q

    compiled = jitad.jit(given, fallback=False)
    for x in POINTS:
        got, got_outside = compiled(x), set(outside)
        outside.intersection_update({1})
        assert got == given(x) and got_outside == outside
        assert got[1].maxlen == 3
        outside.intersection_update({1})


REFUSED = {
    "order of the elements": lambda x: [v * x for v in some(x) | {9}],
    "asked for .pop": lambda x: some(x).pop() * x,
    "given to fromkeys": lambda x: dict.fromkeys(some(x), x)[1],
    "used here": lambda x: copy.deepcopy({"seen": some(x)})["seen"],
    "given to str": lambda x: len(str(some(x))),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_known_is_refused(why):
    with pytest.raises(JitadError, match=why) as error:
        jitad.jit(REFUSED[why], fallback=False)(1.5)
    assert "test_gathered.py" in str(error.value)


def order_of_ints(x):
    met = set()
    for v in x:
        met.add(int(v))
    return sum((k + 1) * e for k, e in enumerate(met))


def order_after_some_were_taken_out(x):
    met = {0, 1, 2, 3, 4, 5}
    for v in x:
        met.discard(int(v))
    return sum((k + 1) * e for k, e in enumerate(met))


def order_after_both(x):
    met = set()
    for v in x:
        if int(v) in met:
            met.discard(int(v))
        else:
            met.add(int(v))
    return sum((k + 1) * e for k, e in enumerate(met)) if len(met) > 9 else 0


@pytest.mark.parametrize("f", [order_of_ints, order_after_some_were_taken_out])
def test_the_order_of_a_set_is_pythons_or_refused(f):
    compiled, random, known = jitad.jit(f, fallback=False), np.random.default_rng(3), 0
    # Extents are known, so each has a kernel: those around which tables of sets grow.
    for n in (2, 4, 5, 7, 9, 18, 21, 28) * 12:
        x = random.integers(-1 if n % 7 == 0 else 0, random.integers(4, 40), n).astype(float)
        try:
            assert compiled(x) == f(x)
            known += 1
        except JitadError as error:
            assert "the order of the elements of this set" in str(error)
    assert known > 20


def test_the_order_of_a_set_that_both_gets_and_loses_elements_is_refused():
    with pytest.raises(JitadError, match="the order of the elements of this set"):
        jitad.jit(order_after_both, fallback=False)(np.array([1.0, 9.0]))


def tree_of_nearest(x):
    inside, outside, total = {0}, set(range(1, len(x))), 0.0
    while outside:
        d, j = min(((x[i] - x[j]) ** 2, j) for i in inside for j in outside)
        total += d
        inside.add(j)
        outside.remove(j)
    return total


def colours_of_neighbours(x):
    near = {k: set() for k in range(4)}
    for a, b in ((0, 1), (1, 2), (2, 3), (0, 3)):
        if x[a] * x[b] > 0.5:
            near[a].add(b)
            near[b].add(a)
    return sum(x[k] * j for k in near for j in near[k])


@pytest.mark.parametrize("f", [tree_of_nearest, colours_of_neighbours])
def test_loops_over_sets_of_ints(f):
    compiled = jitad.jit_value_and_grad(f, fallback=False)
    for x in (np.array([0.3, 1.2, 0.9, 2.0]), np.array([1.3, 0.2, 1.9, 0.4])):
        value, gradient = compiled(x)
        assert value == pytest.approx(f(x), rel=1e-14)
        want = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
        np.testing.assert_allclose(gradient, want, rtol=1e-6, atol=1e-8)
