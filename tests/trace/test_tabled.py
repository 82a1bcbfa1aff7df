"""Do dicts that get keys which only the kernel knows do what they do in plain Python?"""

import heapq
import itertools
import math
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import on_tape


def counted(x):
    d = {}
    for v in x:
        d[int(v)] = d.get(int(v), 0) + 1
    return sum(n * n * v for n, v in zip(d.values(), x)) + len(d)


def begun_with_one(x):
    d = {0: x[0]}
    for v in x:
        k = int(v)
        if k in d:
            d[k] += v * v
        else:
            d[k] = v
    return sum(k * v for k, v in d.items()) + (d[1] if 1 in d else 10.0)


def grouped(x):
    groups = defaultdict(list)
    for v in x:
        groups[int(v)].append(v)
    return sum((k + 1) * sum(g) ** 2 / len(g) for k, g in groups.items())


def sorted_groups(x):
    groups = {}
    for v in x:
        groups.setdefault(int(v) % 3, []).append(v)
    means = [sum(g) / len(g) for _, g in sorted(groups.items())]
    return sum((k + 1) * m * m for k, m in enumerate(means))


def tuples_for_keys(x):
    seen = {}
    at = (0, 0)
    for v in x:
        at = (at[0] + 1, at[1]) if v > 1.5 else (at[0], at[1] + int(v))
        seen[at] = seen.get(at, 0.0) + v
    return sum((i + 2 * j) * v for (i, j), v in seen.items()) + seen.get((1, 0), 0.0)


def taken_out(x):
    d = defaultdict(float)
    for v in x:
        d[int(v)] += v
        if int(v) == 2:
            del d[2]
    gone = d.pop(1, 0.5)
    key, last = d.popitem() if d else (7, x[0])
    return gone * 3.0 + last * (key + 1) + sum(d.values())


def order_of_keys(x):
    d = OrderedDict()
    for v in x:
        d[int(v)] = v
    keys = list(d)
    return sum((i + 1) * k * x[0] for i, k in enumerate(keys)) + sum(
        (i + 1) * v for i, v in enumerate(reversed(d.values())))  # fmt: skip


def keys_of_floats(x):
    d = {}
    for k in range(len(x)):
        d[math.floor(x[k]) / 2.0] = k * x[k]
    return max(d.values()) + sum(d[k] * k for k in sorted(d))


def best_by_value(x):
    d = Counter()
    for v in x:
        d[int(v)] += v
    return max(d, key=d.get) * x[0] + d[99] + min(d.items(), key=lambda kv: kv[1])[1]


def in_a_comprehension(x):
    d = {int(v): v * v for v in x}
    e = {k: v for k, v in d.items() if k != 1}
    return sum(d.values()) + 2.0 * sum(e.values()) + len(e)


def copied_and_merged(x):
    d = {}
    for v in x:
        d[int(v)] = v
    e, f = d.copy(), dict(d)
    e[int(x[0])] = 5.0 * x[1]
    e.update({1: x[2], 50: x[0]})
    f.clear()
    f[int(x[1])] = 1.0
    return sum(d.values()) + 2.0 * sum(e.values()) + len(f) + (50 in e) + (50 in d)


class Cache:
    def __init__(self):
        self.known, self.hits = {}, 0

    def root(self, n, x):
        if n in self.known:
            self.hits += 1
        else:
            self.known[n] = math.sqrt(n + x)
        return self.known[n]


def cache_of_an_object(x):
    cache = Cache()
    return sum(cache.root(int(v) ** 2, x[0]) * v for v in x) + cache.hits


def under_a_condition(x):
    d = {}
    if x[0] > 1.0:
        d[int(x[1])] = x[1]
        d[int(x[2])] = x[2]
    return sum(d.values()) + (x[0] if 3 in d else 0.0)


def walked_back(x):
    came, cost, heap = {0: None}, {0: 0.0}, [(0.0, 0)]
    roads = {0: [(1, x[0]), (2, x[1])], 1: [(3, x[2])], 2: [(1, 0.3), (3, x[3])], 3: []}
    while heap:
        d, u = heapq.heappop(heap)
        for v, w in roads[u]:
            if v not in cost or d + w < cost[v]:
                cost[v], came[v] = d + w, u
                heapq.heappush(heap, (d + w, v))
    path, at = [], 3
    while at is not None:
        path.append(at)
        at = came[at]
    return cost[3] ** 2 + sum(cost[p] for p in path) + len(path)


def most_common(x):
    c, d, e = Counter(int(v) for v in x), Counter(), Counter()
    for v in x:
        d["large" if v > 1.0 else "small"] += v
        e.update([int(v), 2])
    (k, n), *_ = c.most_common(1)
    word, total = d.most_common()[0]
    return n * (k + 1) * x[0] + len(word) * total + sum(e.values()) * e[2] * x[1]


def colours(x):
    near, colour = defaultdict(set), {}
    for a, b in ((0, 1), (1, 2), (2, 3), (0, 3)):
        if x[a] + x[b] > 3.0:
            near[a].add(b)
            near[b].add(a)
    for v in range(4):
        used = {colour[u] for u in near[v] if u in colour}
        colour[v] = next(c for c in itertools.count() if c not in used)
    return sum(colour[v] * x[v] for v in range(4)) + len(set(colour.values()))


def totals_and_counts(x):
    counts, totals = Counter(), defaultdict(float)
    for v in x:
        counts[int(v)] += 1
        totals[int(v)] += v
    return sum(totals[k] ** 2 / counts[k] for k in totals) + len([k for k in counts if k > 1])


def weighted(d, *, by):
    return sum(by[k] * v for k, v in d.items())


def handed_to_functions(x):
    d, e = {}, {}
    for v in x:
        d[int(v)] = v
        e[int(v)] = e.get(int(v), 1.0) + v
    cache = Cache()
    cache.known = d
    return weighted(d, by=e) + cache.root(5, x[0]) + (lambda c, n: c[n] * len(c))(e, int(x[1]))


def counts_of_some(x):
    c, e = Counter(int(v) for v in x if v > 0.5), Counter()
    e.update([int(v) for v in x if v > 1.0])
    e.update(Counter([1, 1]))
    most = max(c, key=c.get)
    return most * x[0] + sum(c.values()) * x[1] + (2 in c.values()) * x[2] + e[1] * x[3] * len(e)


def merged_into_others(x):
    d = {}
    for v in x:
        d[int(v)] = v
    begun = {1: x[0], 7: x[1]}
    begun |= d
    updated = {2: 5.0}
    updated.update(d)
    dicts = [{1: x[0], **d}, {1: x[0]} | d, begun, updated]
    orders = [*map(list, dicts[:2]), list(reversed(d))]
    return sum(sum(e.values()) for e in dicts) + sum((i + 1) * k for o in orders
                                                     for i, k in enumerate(o))  # fmt: skip


def known_on_some_paths(x):
    d = {0: x[0]}
    if x[1] > 1.0:
        d[1] = x[1]
    if x[2] > 1.0:
        d[2] = x[2] * x[2]
    return d.get(int(x[3]), 0.5) * x[1] + d.get(int(x[0]), x[3])


PROGRAMS = [counts_of_some, totals_and_counts, handed_to_functions,
            known_on_some_paths, merged_into_others, most_common, colours, counted,
            begun_with_one, grouped, sorted_groups, tuples_for_keys, taken_out,
            order_of_keys, keys_of_floats, best_by_value,
            in_a_comprehension, copied_and_merged, cache_of_an_object, under_a_condition,
            walked_back]  # fmt: skip
POINTS = [np.array([1.2, 2.7, 1.9, 3.3]), np.array([0.4, 3.6, 0.7, 0.2]),
          np.array([2.2, 2.3, 1.4, 5.5])]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    compiled = jitad.jit_value_and_grad(f, fallback=False)
    for x in POINTS:
        h = 1e-5
        want = [(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(4)]
        for engine in (jitad.value_and_grad(f), compiled):
            value, gradient = engine(x.copy())
            assert value == pytest.approx(f(x), rel=1e-13)
            np.testing.assert_allclose(gradient, want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("x", [0.7, 1.3])
def test_the_memo_of_a_recursion(x):
    def halved(x):
        memo = {}

        def value(rest, k):
            key = (int(rest), k)
            if rest < 0.5:
                return x
            if key in memo:
                return memo[key]
            memo[key] = out = x * value(rest - 1.0, k) + value(rest - 2.0, k + 1)
            return out

        return value(3.3 + x, 0) + len(memo)

    value, slope = on_tape(jitad.value_and_grad(halved), x)
    assert value == pytest.approx(halved(x), rel=1e-13)
    assert slope == pytest.approx((halved(x + 1e-6) - halved(x - 1e-6)) / 2e-6, rel=1e-6)


def test_dicts_of_all_lengths():
    compiled = jitad.jit(counted, fallback=False)
    for n, shift in itertools.product((2, 7, 300), (0.0, 2.0)):
        x = np.arange(float(n)) * 0.7 + shift
        assert compiled(x) == pytest.approx(counted(x), rel=1e-13)


def test_a_dict_as_a_result():
    def means(x):
        d = {}
        for v in x:
            d[int(v)] = (d[int(v)] + v) / 2.0 if int(v) in d else v
        return d

    x = np.array([1.5, 3.0, 1.1, 0.2])
    compiled = jitad.jit(means, fallback=False)
    assert compiled(x) == means(x) and list(compiled(x)) == [1, 3, 0]
    assert list(compiled(x + 1.0)) == [2, 4, 1]


def test_errors_are_pythons():
    def asked(x):
        d = {}
        for v in x:
            d[int(v)] = v
        return d[2]

    compiled = jitad.jit(asked, fallback=False)
    assert compiled(np.array([1.0, 2.5])) == 2.5
    with pytest.raises(KeyError):
        compiled(np.array([1.0, 3.5]))

    def emptied(x):
        d = {}
        d[int(x)] = x
        return d.popitem()[1] + d.popitem()[1]

    with pytest.raises(KeyError):
        jitad.jit(emptied, fallback=False)(1.0)


def test_dicts_with_all_their_keys_stay_what_they_are():
    """No kernel is made for dicts that get keys where none comes."""

    def histogram(x):
        d = dict.fromkeys(range(4), 0.0)
        for v in x:
            d[int(v)] += v
        return sum(k * v for k, v in d.items())

    compiled = jitad.jit(histogram)
    assert compiled(np.array([1.5, 3.0, 1.1])) == pytest.approx(11.6)
    assert compiled.specialisations == ["first call"]


@pytest.mark.parametrize("what", [
    lambda d, x: d == {1: x}, lambda d, x: [*map(d.fromkeys, (d,))], lambda d, x: dict(d, a=x),
    lambda d, x: str(d), lambda d, x: d.fromkeys(d, x),
])  # fmt: skip
def test_what_is_refused_names_the_line(what):
    def f(x):
        d = {}
        d[int(x)] = x
        d[int(x * x)] = 2.0 * x
        return 1.0 if what(d, x) else 0.0

    with pytest.raises(JitadError, match=r"dict|keys|list"):
        jitad.jit(f, fallback=False)(1.5)


KEYS = {
    "floats": lambda v: float(v), "floats and ints": lambda v: v if v > 1.5 else 1,
    "truths": lambda v: bool(v > 1.5), "tuples": lambda v: (int(v), v > 1.5, 1),
    "tuples in tuples": lambda v: (1, (int(v), -0.0 * v)), "with a float": lambda v: (int(v), v),
    "ints of other sizes": lambda v: np.int32(int(v)), "negative": lambda v: -int(v),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_each_kind_are_found_as_by_python(kind):
    """Also those that are compared with another kind of number."""
    key = KEYS[kind]

    def f(x, at):
        d, seen, first = {}, set(), []
        for v, a in zip(x, at):
            d[key(a)] = d.get(key(a), 1.0) * v
            if key(a) not in seen:
                first.append(key(a))
            seen.add(key(a))
        out = 1.0 * len(seen) + 3.0 * first.index(key(at[-1]))
        for other in (1, True, 0.0, 2.5, (1, False, 1), (1, (0, 0.0)), (2, 2.5), -1):
            out = out * 2.0 + (1.0 if other in d else 0.0) + (0.5 if other in seen else 0.0)
        return out + sum((k + 1) * v for k, v in enumerate(d.values()))

    for at in ([0.5, 2.5, 1.25, 0.5, 2.75, 2.5], [1.0, 2.0, 0.0, 1.0]):
        x, at = 0.1 * np.arange(len(at)) + 1.0, np.array(at)
        assert jitad.jit(f, fallback=False)(x, at) == pytest.approx(f(x, at), rel=1e-15)
        slope = jitad.jit_grad(f, fallback=False)(x, at)
        assert np.allclose(slope, jitad.grad(f)(x, at), rtol=1e-14)


def test_a_float_that_is_not_a_number_is_no_key_that_is_there():
    def f(x):
        d = {}
        for v in x:
            d[v * 1.0] = d.get(v * 1.0, 0.0) + 1.0
        return 1.0 * len(d)

    x = np.array([np.nan, 1.0, np.nan, 1.0])
    assert jitad.jit(f, fallback=False)(x) == f(x) == 3.0


def test_a_use_of_a_dict_costs_as_much_as_what_it_does():
    """Where a key is, is one equation, and not a loop that stands there at each use."""

    def f(x, uses):
        d = {}
        for v in x:
            d[int(v)] = v
        out = 0.0
        for k in range(uses):
            out += d.get(k, 1.0) + (2.0 if k in d else 0.0)
        return out

    def compiled(uses):
        run = jitad.jit_grad(lambda x: f(x, uses), fallback=False)
        run(np.array([1.5, 3.0]))
        return [n for n in (str(run.tape("traced")).count("while"), run.source.count("while "))]

    assert compiled(2) == compiled(6)
