"""Are lists of unknown length what they are in Python, inside of others, as tuples, and in parts?

Every program is run by Python, and its derivative taken by differences; x decides how long the
lists get.
"""

import numpy as np
import pytest

import jitad
from tests.truth import differences

X = np.array([1.3, 0.4, 2.2, 0.7, 1.9, 0.2])
OTHER = np.array([0.6, 1.4, 0.3, 2.5, 0.9, 1.1])


def runs(x):
    out, run = [], [x[0]]
    for k in range(1, len(x)):
        a, b = x[k - 1], x[k]
        if b > a:
            run.append(b)
        else:
            out.append(run)
            run = [b]
    out.append(run)
    return out


def rising_runs(x):
    return sum(sum(r) ** 2 * len(r) for r in runs(x))


def longest_run(x):
    return sum(max(runs(x), key=len)) + sorted(runs(x), key=sum)[0][0]


def three_deep(x):
    outer, v = [], 0.5 * x[1]
    while v < 3.0:
        middle, w = [], v
        while w < 6.0:
            inner, u = [], w
            while u < 9.0:
                inner.append(u * x[0])
                u *= 1.7
            middle.append(inner)
            w *= 1.5
        outer.append(middle)
        v *= 1.7
    return sum(sum(sum(i) * len(i) for i in m) for m in outer)


def with_tags(x):
    steps, v = [], x[0]
    while abs(v) < 20.0:
        steps.append(("up" if v > 0.0 else "down", v))
        v *= -1.7 * (1.0 + 0.1 * x[1])
    return sum(w * w if tag == "up" else -3.0 * w for tag, w in steps)


def as_tuples(x):
    t = tuple(e * x[0] for e in x if e > 0.65)
    u = t[1:] + t[:1]
    return sum(a * b for a, b in zip(t, u, strict=True)) + (1.0 if t == u else x[0]) * len(t)


def a_tuple_gets_longer(x):
    t, v = (), x[0]
    while v < 9.0:
        t += (v,)
        v *= 1.7
    return sum(a * b for a, b in zip(t, t[::-1], strict=True)) + max(t)


def parts_assigned(x):
    xs = [e for e in x if e > 0.5]
    xs[::2] = [e * e for e in xs[::2]]
    xs[1:1] = [x[0], 2.0 * x[1]]
    xs[-1:] = []
    del xs[2:3]
    return sum(e * (k + 1) for k, e in enumerate(xs))


def as_long_as_its_place(x):
    table = [[x[0]], [x[1], x[2]]]
    longer = [e for e in x if e > 0.5]
    table.append(longer)
    rows = [r for r in table if sum(r) > 1.0]
    return sum(r[-1] * len(r) for r in rows)


def simplex(x):
    """A step of Nelder and Mead's, the points kept in a list."""

    def cost(p):
        return (p[0] - 1.0) ** 2 + 3.0 * (p[1] + 0.5) ** 2 + 0.3 * p[0] * p[1]

    points = [list(x[:2]), list(x[2:4]), list(x[4:])]
    scored = sorted([(cost(p), p) for p in points], key=lambda s: s[0])
    best, worst = scored[0], scored[-1]
    reflected = [b + 0.5 * (b - w) for b, w in zip(best[1], worst[1], strict=True)]
    if cost(reflected) < best[0]:
        del scored[-1]
        scored.append((cost(reflected), reflected))
    else:
        scored = [scored[0]] + [
            (cost(q), q) for q in [[0.5 * e for e in p] for _, p in scored[1:]]
        ]
    return scored[0][0] + scored[-1][1][0]


# -- lists under several names --------------------------------------------------------------------


def longer_under_a_new_name(x):
    ys = [x[0]]
    zs = ys
    if x[0] < 1.0:
        zs = zs + [x[1], x[2]]
    zs.append(5.0)
    return len(ys) * x[0] + len(zs)


def both_get_longer(x):
    ys = [e for e in x if e > 0.65]
    zs = ys
    if x[0] < 1.0:
        zs = zs + [x[1]]
    ys.append(5.0)
    return len(ys) * x[0] + len(zs) * x[1]


def none_or_another_name(x):
    ys, table = [x[0]], {"a": x[1]}
    zs = other = None
    if x[0] < 1.0:
        zs, other = ys, table
    if zs is not None:
        zs.append(1.0)
        zs[0] = 2.0 * x[1]
        other["a"] = 3.0
    return len(ys) * x[0] + ys[0] + table["a"]


# -- functions that call themselves ---------------------------------------------------------------


def quick(xs):
    if len(xs) <= 1:
        return xs
    p = xs[0]
    return quick([e for e in xs[1:] if e < p]) + [p] + quick([e for e in xs[1:] if e >= p])


def sorted_by_parting(x):
    return sum(e * k for k, e in enumerate(quick([e for e in x if e > 0.3])))


def merge(a, b):
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] < b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out + a[i:] + b[j:]


def by_merging(xs):
    if len(xs) <= 1:
        return xs
    half = len(xs) // 2
    return merge(by_merging(xs[:half]), by_merging(xs[half:]))


def sorted_by_merging(x):
    return sum(e * k for k, e in enumerate(by_merging(list(x * x[0]))))


def squares(xs):
    return [] if not xs else [xs[0] ** 2] + squares(xs[1:])


def rest_first(x):
    return sum(e * k for k, e in enumerate(squares(tuple(e for e in x if e > 0.5))))


def best(xs):
    if len(xs) == 1:
        return xs[0]
    half = len(xs) // 2
    a, b = best(xs[:half]), best(xs[half:])
    return 1.1 * a if a > b else b + 0.1 * a


def tournament(x):
    return best([e for e in x if e > 0.3])


def returned_itself(x):
    """A list that comes back as it was given is the same list."""

    def at_least_two(xs):
        return xs if len(xs) > 1 else at_least_two([*xs, x[0]] if False else xs + [x[0]])

    ys = [e for e in x if e > 2.0]
    zs = at_least_two(ys)
    return sum(zs) * len(ys)


PROGRAMS = [longer_under_a_new_name, both_get_longer, none_or_another_name, sorted_by_parting,
            sorted_by_merging, rest_first, tournament, returned_itself,
            rising_runs, longest_run, three_deep, with_tags, as_tuples, a_tuple_gets_longer,
            parts_assigned, as_long_as_its_place, simplex]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_pythons_list(f):
    compiled = jitad.jit(jitad.value_and_grad(f), fallback=False)
    for x in (X, OTHER, X):
        want = f(x.copy())
        value, gradient = compiled(x.copy())
        assert value == pytest.approx(want, rel=1e-12)
        for k in range(len(x)):
            direction = np.zeros(len(x))
            direction[k] = 1.0
            slope, error = differences(f, (x,), (0,), [direction], 1e-3)
            assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-6 + 10 * error)
    assert len(compiled.specialisations) == 1


def test_they_come_back_as_they_are():
    given = jitad.jit(runs, fallback=False)
    assert given(X) == runs(X)
    assert given(OTHER) == runs(OTHER)
    firsts = jitad.jit(lambda x: tuple((r[0], "long" if len(r) > 1 else "short") for r in runs(x)))
    assert firsts(X) == tuple((r[0], "long" if len(r) > 1 else "short") for r in runs(X))


def test_more_elements_inside_than_there_is_room_for():
    def of_length(x):
        rows, v = [], x
        while v < 3.0:
            rows.append([v * k for k in range(int(30.0 * v))])
            v += 0.7
        return sum(sum(r) for r in rows)

    slope, _ = differences(of_length, (0.31,), (0,), [1.0], 1e-4)
    assert jitad.jit_grad(of_length, fallback=False)(0.31) == pytest.approx(slope, rel=1e-7)


def test_a_tuple_is_not_written():
    def written(x):
        t = tuple(e for e in x if e > 0.5)
        t[0] = 1.0
        return sum(t)

    with pytest.raises(TypeError, match="does not support item assignment"):
        jitad.jit_grad(written)(X)


def test_lists_of_arrays_as_long_as_lists_that_grew_inside():
    """How long these are, is known in the iteration alone."""

    def begun(a, c):
        def row():
            found = [1.0]
            for j in range(1, len(a) + 1):
                found.append(a[0] * j)
            return np.array(found)

        rows = [row()]
        for k in range(len(c)):
            rows.append(row() * c[k])
        return np.sum(np.stack(rows))

    def empty(a, c):
        rows = []
        for k in range(len(c)):
            found = [1.0]
            for j in range(1, len(a) + 1):
                found.append(a[0] * j)
            rows.append(np.array(found) * c[k])
        return np.sum(np.stack(rows))

    a, c = np.array([0.5, 2.0, 1.0, 3.0, 1.0, 1.0]), np.arange(1.0, 7.0)
    for f, slope in ((begun, 21.0 * 22.0), (empty, 21.0 * 21.0)):
        assert jitad.jit(f)(a, c) == pytest.approx(f(a, c), rel=1e-14)
        np.testing.assert_allclose(jitad.jit_grad(f)(a, c), [slope, 0, 0, 0, 0, 0], rtol=1e-14)
