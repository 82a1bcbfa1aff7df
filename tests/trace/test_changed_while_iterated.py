"""Is a list that gets longer or shorter while a loop goes over it never read wrongly by a kernel?

Python's loop goes on with what was appended, and passes over what moved to another place.  A kernel
does the same, or says that it can't, and then the eager engine computes.
"""

import itertools

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad, set_fallback
from tests.engines import in_place_of_a_kernel

REFUSED = "while it is iterated over|has become an element|became an element|holds copies"


def _rows(x, n=3):
    return [x * (k + 1) for k in range(n)]


def _total(rows, s=0.0):
    for r in rows:
        s += r * r
    return s + 100 * len(rows)


def left_by_break(x):
    rows = _rows(x)
    for r in rows:
        if r > 3.0:
            rows.append(5.0 * x)
            break
    return _total(rows)


def left_by_return(x):
    rows = _rows(x)
    for r in rows:
        if r > 3.0:
            rows.append(5.0 * x)
            return _total(rows)
    return _total(rows, 1.0)


def gone_on_with(x):
    rows = _rows(x)
    for r in rows:
        if r > 3.0 and len(rows) < 6:
            rows.append(r + 1.0)
    return _total(rows)


def numbered(x):
    rows = _rows(x)
    for k, r in enumerate(rows):
        rows[k] = r * x
        if r > 3.0:
            rows.append(5.0)
            break
    return _total(rows)


def in_pairs(x):
    rows = _rows(x)
    for r, _q in zip(rows, _rows(x), strict=False):
        if r > 3.0:
            rows.append(x)
            break
    return _total(rows)


def backwards(x):
    rows = _rows(x)
    for r in reversed(rows):
        if r > 3.0:
            rows.append(x)
            break
    return _total(rows)


def mapped(x):
    rows = _rows(x)
    for r in map(float, rows):
        if r > 3.0:
            rows.append(x)
            break
    return _total(rows)


def one_by_one(x):
    rows, s = _rows(x), 0.0
    it = iter(rows)
    for _ in range(3):
        r = next(it)
        s += r
        if r > 3.0:
            rows.append(5.0)
    return _total(rows, s)


def generated(x):
    rows = _rows(x)
    for r in (v * 2.0 for v in rows):
        if r > 3.0:
            rows.append(x)
            break
    return _total(rows)


def chained(x):
    rows = _rows(x)
    for r in itertools.chain(rows, [1.0]):
        if r > 3.0:
            rows.append(x)
            break
    return _total(rows)


def shorter(x):
    rows = _rows(x)
    for r in rows:
        if r > 3.0:
            rows.pop()
            break
    return _total(rows)


def removed(x):
    rows, s = _rows(x), 0.0
    for r in rows:
        s += r
        if r < 3.0:
            rows.remove(r)
    return _total(rows, s)


def twice(x):
    rows, s = _rows(x), 0.0
    for a in rows:
        for b in rows:
            if a * b > 7.0:
                rows.append(1.0)
                break
        s += a
        if len(rows) > 5:
            break
    return _total(rows, s)


def by_a_function(x):
    rows = _rows(x)

    def visit(v):
        if v > 3.0 and len(rows) < 6:
            rows.append(1.0)
        return v * x

    return _total([visit(v) for v in rows]) + sum(map(visit, rows))


def any_of_them(x):
    rows = _rows(x)
    if any(r > 3.0 and not rows.append(x) for r in rows):
        rows.append(2.0)
    return _total(rows)


def of_arrays(x):
    rows = [np.array([1.0, 2.0]) * x, np.array([3.0, 4.0]) * x, np.array([5.0, 6.0]) * x]
    for r in rows:
        r *= x
        if r[0] > 6.0:
            rows.append(np.array([7.0, 8.0]))
            break
    return _total([r.sum() for r in rows])


def of_lists(x):
    rows = [[1.0 * x], [2.0 * x], [3.0 * x]]
    for r in rows:
        r[0] *= x
        if r[0] > 3.0:
            rows.append([5.0])
            break
    return _total([r[0] for r in rows])


def at_the_last(x):
    """How long the list is, the kernel alone knows; the last iteration makes it longer."""
    rows, n = [], 0
    while len(rows) < x * 3.0:
        rows.append(x * len(rows))
    for r in rows:
        n += 1
        if r > x * 4.0:
            rows.append(0.0)
    return _total(rows, 1000.0 * n)


def at_the_last_numbered(x):
    rows, n = [], 0
    while len(rows) < x * 3.0:
        rows.append(x * len(rows))
    for k, r in enumerate(rows):
        n += k
        if r > x * 4.0:
            rows.append(0.0)
    return _total(rows, 1000.0 * n)


def many(x):
    rows = _rows(x, 120)
    for r in rows:
        if r > 30.0:
            rows.append(x)
            break
    return _total(rows)


def over_a_copy(x):
    rows = _rows(x)
    for r in list(rows):
        if r > 3.0:
            rows.append(r + 1.0)
    return _total(rows)


def worklist(x):
    todo, s = [x], 0.0
    for v in todo:
        s += v * v
        if v < 5.0:
            todo.append(v * 2.0)
    return s + len(todo)


def worklist_of_pairs(x):
    todo, s = [(x, 0)], 0.0
    for v, depth in todo:
        s += v * v
        if depth < 3 and v > 0.3:
            todo.append((v * 2.0, depth + 1))
            todo.append((v * 0.5, depth + 1))
    return s


FUNCTIONS = [left_by_break, left_by_return, gone_on_with, numbered, in_pairs, backwards, mapped,
             one_by_one, generated, chained, shorter, removed, twice, by_a_function, any_of_them,
             of_arrays, of_lists, at_the_last, at_the_last_numbered, many, over_a_copy,
             worklist, worklist_of_pairs]  # fmt: skip
COMPILED = {*FUNCTIONS} - {mapped, one_by_one, chained, of_arrays}
POINTS = (1.7, 3.7, 1.1, 0.1)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_never_read_wrongly(f):
    compiled, derived = jit(f), jit_grad(f)
    for x in POINTS:
        want, h = f(x), 1e-6
        slope = (f(x + h) - f(x - h)) / (2.0 * h)
        for run, expected, within in ((compiled, want, 1e-12), (derived, slope, 1e-6)):
            try:
                got = run(x)
            except JitadError as e:
                assert f not in COMPILED
                assert any(word in str(e) for word in REFUSED.split("|")), e
            else:
                np.testing.assert_allclose(got, expected, rtol=within, atol=1e-6)
        np.testing.assert_allclose(in_place_of_a_kernel(f, x), want, rtol=1e-12)
        np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-6, atol=1e-6)


def test_the_eager_engine_takes_over():
    set_fallback(True)
    with pytest.warns(match="runs in the eager engine"):
        assert jit(one_by_one)(1.7) == one_by_one(1.7)


ROWS = []


def _set_up():
    ROWS[:] = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    return np.array([8.0, 16.0])


def appended_perhaps(x, a):
    ROWS[-1] *= 0.5
    if a[1] > 0.0:
        ROWS.append(a)
    return x


def popped_perhaps(x, a):
    if x > 0.0:
        ROWS.pop(0)
    return ROWS[0].sum()


def put_first(x, a):
    if x > 0.0:
        ROWS.insert(0, a)
    return x


def only_appended(x, a):
    if x > 0.0:
        ROWS.append(a)
    return x


@pytest.mark.parametrize("f", [appended_perhaps, popped_perhaps, put_first, only_appended])
def test_a_list_outside_holds_the_same_arrays(f):
    """Or else it is refused: copies would miss what is written to them later."""

    def run(way):
        a = _set_up()
        named = {id(r): f"row {k}" for k, r in enumerate(ROWS)} | {id(a): "a"}
        for _ in range(2 if f is popped_perhaps else 3):
            if len(ROWS) > 1:
                way(1.0, a)
        return [named.get(id(r), "new") for r in ROWS], np.array(ROWS).tolist(), a.tolist()

    try:
        got = run(jit(f))
    except JitadError as e:
        assert f is not only_appended
        assert "holds arrays, lists or objects" in str(e)
    else:
        assert got == run(f)


def values_of_before(x):
    d = {"a": x, "b": 2.0 * x}
    values, keys, items = d.values(), d.keys(), d.items()
    if x > 1.0:
        d["c"] = 3.0 * x
    s = sum(v * v for v in values) + len(values) + len(keys) + max(values)
    for k, v in items:
        s += v * len(k)
    if "c" in keys:
        s += 1.0
    return s + sum([*values]) + len(set(keys)) + sum(dict(items).values())


def keys_of_before(x):
    d = {"a": x, "b": 2.0 * x}
    keys = d.keys()
    if x > 1.0:
        del d["a"]
    return sum(d[k] * x for k in keys) + len(keys)


def values_handed_on(x):
    d = {"a": x, "b": 2.0 * x}
    values = d.values()
    if x > 1.0:
        d.pop("a")

    def total(*args):
        return sum(a * a for a in args) + len(args)

    return total(*values)


@pytest.mark.parametrize("f", [values_of_before, keys_of_before, values_handed_on])
def test_views_of_dicts_show_what_is_there_now(f):
    for x in POINTS:
        want, h = f(x), 1e-6
        np.testing.assert_allclose(jit(f)(x), want, rtol=1e-12)
        np.testing.assert_allclose(jit_grad(f)(x), (f(x + h) - f(x - h)) / (2.0 * h), rtol=1e-6)


@pytest.mark.parametrize("ask", [
    lambda keys: len(keys & {"c"}), lambda keys: keys == {"a"}, lambda keys: {"c"} <= keys,
    lambda keys: keys.isdisjoint({"c"}), lambda keys: len({"c"} - keys),
])  # fmt: skip
def test_views_of_dicts_that_are_sets_are_refused(ask):
    def f(x):
        d = {"a": x}
        keys = d.keys()
        if x > 1.0:
            d["c"] = x
        return 1.0 * ask(keys)

    with pytest.raises(JitadError, match="a dict that has a key on some paths only"):
        jit(f)(2.0)
