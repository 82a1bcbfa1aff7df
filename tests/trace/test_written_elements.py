"""Do writes to elements get into lists of unknown length, or are they refused?

Nothing that may be the same element may go on with what it was before.
"""

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError

X = np.array([0.4, 0.9, -0.2, 0.7, 0.2])


class P:
    def __init__(self, x, v):
        self.x, self.v = (x, v)

    def step(self, dt):
        self.x += dt * self.v
        if self.x > 1.0:
            self.v = -self.v

    def kick(self, a):
        self.v += a


def grown(x):
    rows = []
    for v in x:
        if v > 0.0:
            rows.append([v, 2.0])
    return rows


def the_same_list_twice(x):
    row = [x[0]]
    rows = [row]
    for v in x:
        if v > 0.5:
            rows.append(row)
        rows[-1].append(v)
    return sum(len(r) for r in rows) * x[0] + row[0]


def one_list_in_two(x):
    row = [x[0]]
    rows = [row]
    other = [row]
    for v in x:
        if v > 0.0:
            rows.append([v])
            other.append([v])
    rows[0].append(x[1])
    return x[0] * sum(map(len, rows)) + x[1] * sum(map(len, other))


def a_copied_list(x):
    rows = grown(x)
    both = list(rows)
    rows[0][0] = 5.0 * x[0]
    return both[0][0] * x[1]


def an_element_read_before(x):
    rows = grown(x)
    first = rows[0]
    rows[0][0] = 5.0 * x[0]
    return first[0] * x[1]


def each_in_turn(x):
    rows = grown(x)
    for r in rows:
        r[0] *= 2.0
    for r in rows:
        r.append(r[0] * r[1])
    return sum(r[-1] * r[0] for r in rows)


def each_under_a_condition(x):
    rows = grown(x)
    for r in rows:
        if r[0] > 0.5:
            r[0] = 1.5 * r[0]
        else:
            r[1] += r[0]
    return sum((a * b for a, b in rows))


def objects_that_move(x):
    ps = []
    for v in x:
        if v > 0.0:
            ps.append(P(v, 1.0 + v))
    for _k in range(5):
        for p in ps:
            p.step(0.1)
    return sum(p.x * p.v for p in ps)


def objects_by_place(x):
    ps = []
    for v in x:
        if v > 0.0:
            ps.append(P(v, 1.0 + v))
    for p in ps:
        p.kick(p.x)
    ps[0].kick(x[1])
    ps[-1].x *= 2.0
    return sum(p.x * p.v for p in ps)


def an_element_taken_out(x):
    rows = grown(x)
    r = rows[0]
    rows.pop(0)
    r[0] = 3.0 * x[1]
    return r[0] + sum(q[0] * q[0] for q in rows)


def an_element_from_before_the_loop(x):
    rows = grown(x)
    last = rows[-1]
    total = 0.0
    for v in x:
        rows[-1][0] += v
        total += last[0]
    return total


def a_list_by_its_first_name(x):
    row0 = [x[0]]
    rows = [row0]
    t = 0.0
    for v in x:
        t += row0[0] * len(row0)
        if v > 0.3:
            rows.append([v])
        else:
            rows[-1].append(v)
    return t + len(rows)


def an_element_appended_again(x):
    rows = grown(x)
    rows.append(rows[0])
    rows[0][0] = 7.0 * x[0]
    return sum(r[0] for r in rows)


def an_element_appended_in_the_loop(x):
    rows = grown(x)
    for v in x:
        rows[0][0] += v
        rows.append(rows[0])
    return sum(r[0] for r in rows)


def elements_in_tuples_of_another(x):
    rows = grown(x)
    pairs = [(r, 1.0) for r in rows]
    rows[0][0] = 7.0 * x[0]
    return sum((r[0] for r, _ in pairs))


def one_element_by_two_names(x):
    rows = grown(x)
    for r in rows:
        q = r
        q[0] += 1.0
        r[0] *= 2.0
    return sum(r[0] ** 2 for r in rows)


def elements_kept_in_another(x):
    rows = grown(x)
    acc = []
    for r in rows:
        acc.append(r)
        if r[0] > 0.5:
            acc[-1][0] = 2.0 * r[0]
    return sum(r[0] ** 2 for r in rows)


def dicts_in_a_list(x):
    d = []
    for v in x:
        if v > 0:
            d.append({"w": v, "n": 0})
    for e in d:
        e["n"] += 1
        e["w"] *= 2.0
    d[0]["w"] += x[0]
    return sum(e["w"] ** 2 * e["n"] for e in d)


def elements_of_a_slice(x):
    rows = grown(x)
    for r in rows[1:]:
        r[0] = 9.0 * x[0]
    return sum(r[0] ** 2 for r in rows)


def elements_given_to_a_function(x):
    rows = grown(x)

    def bump(r):
        r[0] += x[0]

    for r in rows:
        bump(r)
    bump(rows[-1])
    a, b = (rows[0], rows[1])
    a[0], b[0] = (b[0] + x[0], a[0])
    return sum((r[0] ** 2 * (k + 1) for k, r in enumerate(rows)))


def lists_in_elements(x):
    groups = []
    for v in x:
        if v > 0.0:
            groups.append([v, []])
        groups[-1][1].append(v * v)
    return sum(g[0] * sum(g[1]) for g in groups)


def rows_of_a_grid(x):
    grid = [[0.0] * 3 for _ in range(len(x))]
    for k in range(len(x)):
        for j in range(3):
            grid[k][j] += x[k] * j
        if k:
            grid[k][0] += grid[k - 1][2]
    return sum(g[0] + g[2] for g in grid)


def elements_kept_under_a_condition(x):
    rows = grown(x)
    keep = []
    for r in rows:
        r[0] *= 2.0
        if r[0] > 1.0:
            keep.append(r)
    rows[0][0] = 9.0 * x[0]
    return sum(r[0] for r in keep)


def a_list_from_before_by_its_name(x):
    tail = [x[1]]
    rows = [[x[0]], tail]
    for v in x:
        if v > 0.5:
            rows.append([v])
    rows[1].append(x[2])
    return len(tail) * x[0] + tail[-1] * x[1]


def a_stale_element_put_back(x):
    rows = grown(x)
    first, last = rows[0], rows[-1]
    last[0] = 3.0 * x[0]
    rows[0] = first
    return sum(r[0] for r in rows)


def a_part_of_a_stale_element(x):
    ps = []
    for v in x:
        if v > 0.0:
            ps.append(P([v], [1.0]))
    inside = ps[0].x
    ps[0].v.append(2.0)
    again = ps[0]
    again.x = [5.0 * x[0]]
    inside.append(x[1])
    return ps[0].x[0] + len(inside)


def in_an_iteration_that_is_undone(x):
    rows, total = grown(x), 0.0
    first = rows[0]
    while total < 3.0:
        first[0] += 1.0
        total += first[0]
    return rows[0][0]


def by_the_dict_of_an_object(x):
    ps = []
    for v in x:
        if v > 0.0:
            ps.append(P(v, 1.0))
    for p in ps:
        vars(p)["x"] = p.x * 2.0
    return sum(p.x for p in ps)


def read_by_the_dict_of_an_object(x):
    ps = []
    for v in x:
        if v > 0.0:
            ps.append(P(v, 1.0))
    inside = vars(ps[0])
    ps[0].x *= 2.0
    return inside["x"]


def in_an_iteration_and_read_there(x):
    rows, total = grown(x), 0.0
    while total < 3.0:
        rows[0][0] += 1.0
        total += rows[0][0]
    return rows[0][0] * total


WRITTEN = [
    elements_of_a_slice,
    an_element_read_before,
    an_element_from_before_the_loop,
    a_stale_element_put_back,
    in_an_iteration_that_is_undone,
    read_by_the_dict_of_an_object,
    in_an_iteration_and_read_there,
    each_in_turn,
    each_under_a_condition,
    objects_that_move,
    objects_by_place,
    one_element_by_two_names,
    dicts_in_a_list,
    elements_given_to_a_function,
    lists_in_elements,
    rows_of_a_grid,
]
REFUSED = [
    the_same_list_twice,
    one_list_in_two,
    a_copied_list,
    an_element_taken_out,
    a_list_by_its_first_name,
    an_element_appended_again,
    an_element_appended_in_the_loop,
    elements_in_tuples_of_another,
    elements_kept_in_another,
    elements_kept_under_a_condition,
    a_list_from_before_by_its_name,
    a_part_of_a_stale_element,
    by_the_dict_of_an_object,
]


@pytest.mark.parametrize("f", WRITTEN)
def test_written(f):
    value, gradient = jitad.jit_value_and_grad(f, fallback=False)(X)
    assert value == pytest.approx(f(X), rel=1e-12)
    steps = 1e-6 * np.eye(len(X))
    differences = [(f(X + h) - f(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("f", REFUSED)
def test_refused(f):
    with pytest.raises(JitadError, match=r"became an element of|may be the same as what was"):
        jitad.jit_grad(f, fallback=False)(X)


def objects(x):
    ps = []
    for v in x:
        if v > 0.0:
            ps.append(P(v, 1.0))
    return ps


def elements_of_a_slice_that_is_kept(x):
    rows = grown(x)
    part = rows[1:]
    for r in part:
        r[0] = 9.0 * x[0]
    return sum(r[0] ** 2 for r in rows)


def taken_out_in_a_loop_over_a_slice(x):
    rows = grown(x)
    for r in rows[1:]:
        r[0] += rows.pop(0)[0]
    return sum(r[0] ** 2 for r in rows)


def put_in_a_loop_over_a_slice(x):
    rows = grown(x)
    for k, r in enumerate(rows[1:]):
        rows[k + 1] = [x[0], 2.0]
        r[0] += 1.0
    return sum(r[0] ** 2 for r in rows)


@pytest.mark.parametrize(
    "f",
    [
        elements_of_a_slice_that_is_kept,
        taken_out_in_a_loop_over_a_slice,
        put_in_a_loop_over_a_slice,
    ],
)
def test_a_slice_that_is_not_what_the_list_is(f):
    with pytest.raises(JitadError, match=r"became an element of|in a loop over a slice"):
        jitad.jit_grad(f, fallback=False)(X)


def appended_in_a_loop_over_a_slice(x):
    rows = grown(x)
    for r in rows[1:]:
        rows.append([r[0] * x[1], 1.0])
        r[0] += 1.0
    return sum(r[0] ** 2 for r in rows)


def by_a_function_of_the_users(x):
    def enumerate(rows):
        return [(1.0, r) for r in rows[:1]] + [(2.0, rows[-1])]

    rows = grown(x)
    return sum(k * r[0] for k, r in enumerate(rows[1:]))


@pytest.mark.parametrize("f", [appended_in_a_loop_over_a_slice, by_a_function_of_the_users])
def test_a_slice_that_is_there_for_a_loop(f):
    test_written(f)


def two_names_in_one_object(x):
    ps = []
    for v in x:
        row = [v]
        if v > 0.0:
            ps.append(P(row, row))
    ps[0].x[0] = 7.0 * x[0]
    return ps[0].v[0]


def two_names_in_one_tuple(x):
    rows = []
    for v in x:
        row = [v]
        if v > 0.0:
            rows.append((row, (row, 1.0)))
    q = rows[-1]
    q[0][0] *= 3.0
    return q[1][0][0] + rows[-1][1][0][0]


def two_names_in_one_dict(x):
    rows = []
    for v in x:
        d = {"a": [v]}
        d["b"] = d["a"]
        if v > 0.0:
            rows.append(d)
    for d in rows:
        d["a"].append(1.0)
    return sum(len(d["b"]) * d["a"][0] for d in rows)


@pytest.mark.parametrize(
    "f", [two_names_in_one_object, two_names_in_one_tuple, two_names_in_one_dict]
)
def test_what_has_two_names_in_an_element_is_not_written(f):
    """Each name has a copy of its own in the rows."""
    with pytest.raises(JitadError, match="became an element of"):
        jitad.jit(f, fallback=False)(X)
