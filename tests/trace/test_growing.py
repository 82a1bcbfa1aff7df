"""Are lists of unknown length what they are in Python?

Every program is run by Python, and its derivative taken by differences; x decides how long the
lists get.
"""

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

import jitad
from tests.truth import differences

X = np.array([1.3, 0.4, 2.2, 0.7, 1.9, 0.2])


def sum_of_appended(x):
    xs = []
    v = x[0]
    while v < 10.0:
        xs.append(v)
        v = v * 1.7 + x[1]
    return sum(xs)


def last_element_decides(x):
    xs = [x[0]]
    while xs[-1] < 20.0:
        xs.append(xs[-1] * 1.5 + x[2])
    return xs[-1] + xs[0] * len(xs)


def indexed_from_both_ends(x):
    xs = [x[1], x[2]]
    while len(xs) < 3 or xs[-1] < 8.0:
        xs.append(xs[-1] + xs[-2] * x[0])
    return xs[1] * xs[-2] + xs[len(xs) // 2]


def kept_by_a_condition(x):
    kept = [e for e in x if e > 0.5]
    return sum(e * e for e in kept) / len(kept)


def kept_under_a_branch(x):
    small, large = [], []
    for e in x:
        if e > 1.0:
            large.append(e)
        else:
            small.append(e * 2.0)
    return sum(small) * sum(large) + len(large)


def kept_of_python_things(x):
    out = []
    for k, e in enumerate([x[0], x[1], x[2] * x[0], 3.0]):
        if e > 1.0:
            out.append(e * (k + 1))
    return math.prod(out) + out[-1] ** 2


def pairs(x):
    rows, t = [], 0.0
    while t < 3.0:
        rows.append((t, x[0] * t))
        t += 0.5 + x[1]
    return sum(a * b for a, b in rows) + rows[-1][1]


def lists_as_rows(x):
    rows, t = [], x[1]
    while t < 3.0:
        rows.append([t, x[0] * t, 1.0])
        t = t * 1.3
    a = np.array(rows)
    return np.sum(a**2) + a[-1, 1]


def arrays_as_elements(x):
    v = np.array([x[0], x[1]])
    path = [v]
    while v[0] < 9.0:
        v = v * np.array([1.5, 0.9]) + 0.1
        path.append(v)
    p = np.array(path)
    return p[:, 0].sum() * p[-1, 1] + np.stack(path).mean()


def copies_of_one_array(x):
    state = np.array([x[0], 0.0])
    seen = []
    while state[0] < 6.0:
        state[0] *= 1.4
        state[1] += state[0]
        seen.append(state.copy())
    return sum(s[1] for s in seen)


@dataclass
class Point:
    t: float
    y: float


def objects_as_elements(x):
    points, y = [], x[0]
    while y > 0.1:
        points.append(Point(len(points) * 0.5, y))
        y = y * 0.6
    return sum(p.t * p.y for p in points)


def dicts_as_elements(x):
    log, v = [], x[0]
    while v < 5.0:
        log.append({"v": v, "half": v / 2})
        v += x[3]
    return sum(d["v"] * d["half"] for d in log)


def stack_machine(x):
    stack, total = [x[0], x[2]], 0.0
    while stack:
        e = stack.pop()
        if e > 0.5:
            stack.append(e * 0.4)
            stack.append(e * 0.3)
        else:
            total += e * e
    return total


def queue_from_the_front(x):
    queue, total = [x[0]], 0.0
    while queue:
        e = queue.pop(0)
        total += np.sin(e)
        if e > 0.6:
            queue.append(e * 0.5)
            queue.append(e * 0.6)
    return total


def written_in_place(x):
    xs, v = [], x[0]
    while v < 9.0:
        xs.append(v)
        v += x[1] + 0.5
    for i in range(1, len(xs)):
        xs[i] = xs[i] + 0.5 * xs[i - 1]
    xs[0] *= 3.0
    xs[-1] = xs[-1] ** 2
    return sum(xs)


def swapped(x):
    xs, v = [], x[0]
    while v < 9.0:
        xs.append(v)
        v += x[1] + 0.5
    i, j = 0, len(xs) - 1
    while i < j:
        xs[i], xs[j] = xs[j], xs[i]
        i, j = i + 1, j - 1
    return sum(e * k for k, e in enumerate(xs))


def slices(x):
    xs, v = [], x[0]
    while v < 9.0:
        xs.append(v)
        v += x[1] + 0.5
    total = 0.0
    for a, b in zip(xs, xs[1:]):  # noqa: RUF007
        total += (b - a) * a
    return total + sum(xs[::2]) + sum(xs[-3:]) * xs[1:3][0] + sum(reversed(xs[:2]))


def functions_of_lists(x):
    xs, v = [], x[0]
    while v < 9.0:
        xs.append(v)
        v += x[1] + 0.5
    xs.append(0.1)
    return (
        max(xs) * min(xs) + sorted(xs)[0] * sorted(xs, reverse=True)[1] + np.mean(xs)
        + np.sum(np.array(xs) ** 2) + (2.0 if any(e > 8.0 for e in xs) else 1.0)
        + max(xs, key=lambda e: -((e - 3.0) ** 2)) + sum(map(lambda e: e * e, xs))
    )


def concatenated(x):
    xs, ys, v = [], [1.0], x[0]
    while v < 4.0:
        xs.append(v)
        v += x[1] + 0.5
    both = xs + ys + [x[2]]
    both += xs
    both.extend([v, v * v])
    return sum(e * (k + 1) for k, e in enumerate(both))


def two_names_of_one_list(x):
    xs = []
    same, v = xs, x[0]
    while v < 4.0:
        same.append(v)
        v += x[1]
    xs.append(100.0 * x[3])
    return sum(same) + len(xs)


def list_in_an_object(x):
    class Recorder:
        def __init__(self):
            self.values = []

        def record(self, v):
            self.values.append(v)
            return v

        @property
        def mean(self):
            return sum(self.values) / len(self.values)

    r, v = Recorder(), x[0]
    while v < 4.0:
        v = r.record(v * 1.2)
    return r.mean


def growing_in_two_loops(x):
    xs, v = [], x[0]
    while v < 4.0:
        w = v
        while w < 5.0:
            xs.append(w * v)
            w *= 1.5
        v *= 1.3
    while v > 1.0:
        xs.append(v)
        v *= 0.7
    return sum(e * e for e in xs)


def fresh_in_each_iteration(x):
    total, v = 0.0, x[0]
    while v < 4.0:
        inner, w = [], v
        while w < 6.0:
            inner.append(w)
            w += 1.0
        total += sum(inner) / len(inner)
        v *= 1.3
    return total


def more_than_there_is_room_for(x):
    xs, v = [], x[0]
    while len(xs) < 3000:
        xs.append(v)
        v = 0.999 * v + 0.001 * x[1]
        if v < 0.0:
            break
    return sum(xs) / len(xs)


def of_traced_length(x):
    ys = [np.sin(e) * k for k, e in enumerate(x)]
    best = ys[0]
    for y in ys:
        if y > best:
            best = y
    return best * sum(ys)


def left_early(x):
    seen = []
    for e in x:
        if e > 2.0:
            break
        if e < 0.5:
            continue
        seen.append(e)
    return sum(seen) * len(seen)


def found_in(x):
    xs, v = [], x[0]
    while v < 6.0:
        xs.append(v)
        v += 1.0
    first = xs[0]
    return (xs.index(first) + 1) * x[0] + (2.0 if first in xs else 1.0) * xs.count(first) * x[1]


def none_or_number(x):
    xs, v = [], x[0]
    while v < 8.0:
        xs.append(v if v > 2.0 else None)
        v += x[1] + 0.6
    total = 0.0
    for e in xs:
        if e is not None:
            total += e * e
    return total


def inserted_and_reversed(x):
    xs, v = [], x[0]
    while v < 5.0:
        xs.insert(0, v)
        xs.insert(1, 0.5 * v)
        v += x[1] + 0.6
    xs.reverse()
    return sum(e * k * k for k, e in enumerate(xs))


def ints_become_floats(x):
    xs = [0]
    while xs[-1] < 6.0:
        xs.append(xs[-1] + x[0])
    return sum(xs)


def compared(x):
    xs, ys, v = [], [], x[0]
    while v < 5.0:
        xs.append(v)
        ys.append(v * 1.0)
        v += x[1] + 0.6
    return (2.0 * x[0] if xs == ys else x[0]) + (3.0 if xs != [1.0] else 1.0) * x[1]


def rebound(x):
    xs, v = [], x[0]
    while v < 5.0:
        xs = [v] + xs
        v += x[1] + 0.6
    return sum(e * k for k, e in enumerate(xs))


def emptied(x):
    batch, total, v = [], 0.0, x[0]
    while v < 30.0:
        batch.append(v)
        if len(batch) == 3:
            total += batch[0] * batch[2]
            batch = []
        v *= 1.4
    return total + sum(batch)


def cleared(x):
    batch, total, v = [], 0.0, x[0]
    while v < 30.0:
        batch.append(v)
        if len(batch) == 3:
            total += batch[0] * batch[2]
            batch.clear()
        v *= 1.4
    return total + sum(batch)


def filtered(x):
    return sum(e * e for e in filter(lambda e: e > 0.6, x)) + sum(filter(lambda e: e < 1.0, x))


def one_list_in_two_places(x):
    pair = {"a": [x[0]], "b": None}
    pair["b"] = pair["a"]
    v = x[0]
    while v < 6.0:
        new = pair["a"] + [v]
        pair = {"a": new, "b": new}
        v += x[1] + 0.5
    pair["b"].append(x[2])
    return sum(pair["a"]) * len(pair["b"])


def sent_around(x):
    xs, ys, v = [x[0]], [x[0]], x[1]
    while v < 4.0:
        xs, ys = [e * 0.9 for e in xs], xs
        xs.append(v + ys[-1])
        v += 0.7
    return sum(xs) + xs[0] * ys[0]


def empty_or_not(x):
    none, some = [e for e in x if e > 50.0], [e for e in x if e > 1.0]
    return (none or [x[0] * 2.0])[0] * (some or [0.0])[0] + (1.0 if not none else 2.0)


def extremes_with_default(x):
    none, some = [e for e in x if e > 50.0], [e for e in x if e > 1.0]
    return min(none, default=x[1]) + max(some, default=0.0) * max(
        some, key=lambda v: -v, default=0.0
    )


def sorted_in_place(x):
    ys = [e for e in x if e > 0.25]
    ys.sort()
    zs = list(ys)
    zs.sort(reverse=True)
    ys.remove(ys[0])
    del ys[-1]
    return ys[0] * zs[0] + len(ys)


def popped_while_large(x):
    ys, k = sorted([e for e in x if e > 0.25]), 0
    while ys and ys[-1] > 0.6:
        k += 1
        ys.pop()
    return k * x[0] + len(ys)


def reduced_and_chained(x):
    ys = [e for e in x if e > 0.5]
    running = list(itertools.accumulate(ys))
    return (
        functools.reduce(lambda acc, _: acc + 1.0, ys, 0.0) * x[0]
        + sum(itertools.chain(ys, [x[1]])) + running[-1]
        + sum(a * b for a, b in itertools.combinations(ys, 2))
    )  # fmt: skip


def rebound_by_a_function(x):
    ys = [e for e in x if e > 0.5]

    def more():
        nonlocal ys
        ys = [*ys, x[1]] if False else ys + [x[1]]
        ys.append(x[0])

    more()
    more()
    return sum(e * k for k, e in enumerate(ys))


def names_of_the_large(x):
    named = {"a": x[0], "bc": x[1], "def": x[2]}
    names = [name for name, v in named.items() if v > 0.5 * x[3]]
    order, s = [], 0.0
    while named:
        least = min(named, key=named.get)
        order.append(least)
        s += named.pop(least) * len(order) * len(least)
        if s > 4.0:
            break
    return s * len(order[0]) * (len(names[-1]) if names else 3.0)


def parts_beyond_the_end(x):
    xs = [v for v in x if v > 0.5]
    ys, zs = list(xs), list(xs)
    del xs[5:]
    ys[4:] = [x[0], x[1]]
    zs[7:9] = []
    zs[-20:1] = [x[2], x[3]]
    zs[len(zs) + 1:] = xs
    return sum((k + 1) * v for part in (xs, ys, zs) for k, v in enumerate(part)) + len(zs) * x[0]


PROGRAMS = [f for f in list(globals().values()) if callable(f) and hasattr(f, "__code__")
            and f.__module__ == __name__]  # fmt: skip
OTHER = np.array([0.6, 1.4, 0.3, 2.5, 0.9, 1.1])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_pythons_list(f):
    compiled = jitad.jit(jitad.value_and_grad(f), fallback=False)
    eager = jitad.value_and_grad(f)
    for x in (X, OTHER, X):
        want = f(x.copy())
        for run in (compiled, eager):
            value, gradient = run(x.copy())
            assert value == pytest.approx(want, rel=1e-12)
            for k in range(len(x)):
                direction = np.zeros(len(x))
                direction[k] = 1.0
                slope, error = differences(f, (x,), (0,), [direction], 1e-3)
                assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-6 + 10 * error)
    assert len(compiled.specialisations) == 1
