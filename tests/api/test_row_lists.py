"""Are long lists of tuples, lists, dicts and ints lists, at a cost that does not grow with them?"""

import copy
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

import jitad
from jitad import jit, jit_grad
from jitad.tape.ir import walk
from jitad.trace.around.rows import LONG
from tests.trace.running import traced
from tests.truth import differences


class Edge(NamedTuple):
    first: int
    second: int
    weight: float

    def pull(self, x):
        return self.weight * (x[self.first] - x[self.second])


def edges(n: int, kind: Any = lambda *parts: tuple(parts)) -> list[Any]:
    return [kind(k % 7, (k * 3 + 1) % 7, float(k % 5) - 1.5) for k in range(n)]


X = np.linspace(0.2, 1.4, 7)
EDGES = edges(100)


def springs(x, links):
    return sum(w * (x[i] - x[j]) ** 2 for i, j, w in links)


def counted(x, links):
    out = [0.0] * 7
    for i, j, w in links:
        out[i] += w * x[j]
        if w < 0:
            out[j] *= 0.9
    return sum(v * v for v in out)


def in_arrays(x, links):
    y = np.zeros(7)
    for k, (i, j, w) in enumerate(links):
        y[i] += w * x[j] * k
        y[-1 - j] -= x[i]
    return y @ y


def by_index(x, links):
    total = 0.0
    for k in range(1, len(links), 2):
        i, _, w = links[k]
        total += x[i] * w * links[k - 1][2] + x[links[-1][1]]
    return total


def in_order(x, links):
    low = min(links, key=lambda e: (e[2], e[0]))
    ranked = sorted(links, key=lambda e: -e[2])
    return x[low[1]] * ranked[3][2] + sum(x[i] for i, _, w in links[2:9] if w > 0)


def walked(x, links):
    here, k = 0, 0
    total = 0.0
    while k < 100:
        i, j, w = links[(k * 5 + here) % len(links)]
        here = j if x[i] > 0.5 else i
        total += w * x[here]
        k += 1
    return total


def made_new(x, links):
    kept = [(j, i, w * x[0]) for i, j, w in links if w > 0]
    kept.append((1, 2, x[3]))
    return sum(w * x[i] for i, _, w in kept) + len(kept)


def static(x, links):
    sizes = {}
    for i, j, _ in links:
        sizes[f"{i}-{j}"] = sizes.get(f"{i}-{j}", 0) + 1
    seen = {(i, j) for i, j, _ in links}
    return sum(x[0] * n for n in sizes.values()) + len(seen) * x[1]


ALL = [springs, counted, in_arrays, by_index, in_order, walked, made_new, static]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "kind", [lambda *parts: tuple(parts), Edge, lambda *parts: list(parts)],
    ids=["tuples", "named", "lists"],
)  # fmt: skip
def test_as_arguments_and_captured(f, kind):
    links = edges(LONG + 6, kind)
    before = copy.deepcopy(links)

    def captured(x):
        return f(x, links)

    expected, error = differences(captured, (X,), (0,), np.ones(7))
    for value, slope in (
        jitad.jit_value_and_grad(f)(X, links), jitad.jit_value_and_grad(captured)(X),
        jitad.value_and_grad(f)(X, links),
    ):  # fmt: skip
        assert value == pytest.approx(f(X, links), rel=1e-13)
        assert abs(slope.sum() - expected) <= 1e-7 * (1 + abs(expected)) + 10 * error
    assert links == before and type(links[0]) is type(before[0])


@pytest.mark.parametrize("f", [springs, counted, in_arrays, by_index, walked, made_new])
def test_lists_of_all_lengths_share_a_kernel(f):
    compiled = jit_grad(f)
    for n in (LONG + 6, 5000, 12_000):
        links = edges(n)
        expected, error = differences(lambda x: f(x, links), (X,), (0,), np.ones(7))
        assert abs(compiled(X, links).sum() - expected) <= 1e-6 * (1 + abs(expected)) + 10 * error
    assert compiled.specialisations == ["first call"]


def test_the_tape_does_not_grow_with_the_list():
    def of(n):
        links = edges(n)
        tape = traced(lambda x: springs(x, links) + counted(x, links), X).tape
        return len(list(walk(tape.body)))

    assert of(100) == of(3000)


def test_named_tuples_keep_their_methods():
    links = edges(200, Edge)

    def f(x):
        return sum(e.pull(x) ** 2 * e.weight for e in links) + links[3]._replace(weight=x[0]).weight

    value, slope = jitad.jit_value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    expected, error = differences(f, (X,), (0,), np.ones(7))
    assert abs(slope.sum() - expected) <= 1e-7 + 10 * error


def test_pairs_of_pairs_and_bools():
    rows = [((float(k), k % 3), k % 2 == 0) for k in range(150)]

    def f(x):
        total = 0.0
        for (a, k), even in rows:
            total += x[k] * a if even else -x[k]
        return total * (2.0 if rows[4][1] else 1.0)

    assert jit(f)(X) == pytest.approx(f(X))
    rows[4] = ((4.0, 1), False)
    assert jit(f)(X) == pytest.approx(f(X))


def test_what_the_list_holds_may_change_between_calls():
    links = edges(100)

    def f(x):
        return springs(x, links)

    compiled = jit(f)
    for change in (
        lambda: links.append((2, 3, 4.5)), lambda: links.__setitem__(0, (6, 5, -2.0)),
        lambda: links.extend(links[:50]), lambda: links.__setitem__(1, (6, 5, -2)),  # an int
        lambda: links.__setitem__(2, (1.0, 5, -2.0)),  # what is no index any more
    ):  # fmt: skip
        assert compiled(X) == pytest.approx(f(X), rel=1e-13)
        change()
    with pytest.raises((IndexError, TypeError, jitad.JitadError)):
        compiled(X)


def test_the_function_changes_the_list():
    def f(x, links):
        i, j, w = links.pop()
        links.append((j, i, w * x[0]))
        links[0] = (1, 2, x[1])
        links.insert(3, (0, 1, 0.5))
        return springs(x, links)

    mine, theirs = edges(100), edges(100)
    assert jit(f)(X, theirs) == pytest.approx(f(X, mine), rel=1e-13)
    assert theirs == mine and all(type(e) is tuple for e in theirs)
    assert all(type(v) in (int, float) for e in theirs for v in e)


def test_the_list_is_given_back():
    links = edges(100)
    assert jit(lambda x, e: (x[0], e))(X, links)[1] == links
    assert jit(lambda x: links)(X) == links
    i, j, w = jit(lambda x: links[7])(X)
    assert (i, j, w) == links[7] and type(i) is type(j) is int


LABELS = [(k * 5) % 4 for k in range(300)]


def of_labels(x):
    n = [0] * 4
    total = 0.0
    for label, v in zip(LABELS, np.linspace(0.0, 1.0, len(LABELS))):
        n[label] += 1
        total += x[label] * v if label > 1 else -v * x[0]
    return total + sum(n) + x[LABELS[3]] + sum(x[k] for k in LABELS[5:9])


def of_static_labels(x):
    counts = Counter(LABELS)
    shape = np.zeros((max(LABELS) + 1, len(set(LABELS))))
    shape[LABELS[1], :] = x[:4]
    return sum(x[k] * n for k, n in counts.items()) + shape.sum() + LABELS.index(3) * x[1]


def as_arrays(x):
    y = np.asarray(LABELS)
    some = np.take(x, LABELS[:3]).prod() + x[2] * sum(LABELS)
    return np.sum(x[LABELS]) + x[y][y == 2].sum() + some


@pytest.mark.parametrize("f", [of_labels, of_static_labels, as_arrays], ids=lambda f: f.__name__)
def test_lists_of_ints(f):
    expected, error = differences(f, (X,), (0,), np.ones(7))
    for operator in (jitad.jit_value_and_grad, jitad.value_and_grad):
        value, slope = operator(f)(X)
        assert value == pytest.approx(f(X), rel=1e-13)
        assert abs(slope.sum() - expected) <= 1e-7 * (1 + abs(expected)) + 10 * error


def test_ints_that_need_more_than_64_bits_come_apart():
    big = [2**70 + k for k in range(100)]

    def f(x):
        return x[0] * sum(b % 7 for b in big) + x[1] * (big[3] > 5)

    assert jit(f)(X) == pytest.approx(f(X))


def test_derivatives_by_what_tuples_hold():
    def f(rows):
        return sum(math.sin(a) * b for a, b in rows)

    rows = [(0.1 * k, 1.0 - 0.01 * k) for k in range(100)]
    slopes = jit_grad(f)(rows)
    assert type(slopes) is list and type(slopes[0]) is tuple and len(slopes) == 100
    expected = [(math.cos(a) * b, math.sin(a)) for a, b in rows]
    np.testing.assert_allclose(slopes, expected, rtol=1e-13)
    np.testing.assert_allclose(jitad.grad(f)(rows), expected, rtol=1e-13)


def but_the_largest(x, links):
    largest = max(links, key=lambda e: e[2])
    return sum(w * x[0] for e in links for w in [e[2]] if e is not largest)


def but_one_of_those_made(x):
    made = [(v, v) for v in x if v > 0.5]
    first = made[0]
    return sum(v for e in made for v in e if e is not first)


def put_in(x):
    made = [(v, v) for v in x if v > 0.5]
    other = (x[0], x[1])
    made.append(other)
    return x[0] if made[-1] is other else -x[0]


def the_chosen(x):
    pairs = [(1.0, x[0]), (2.0, 2.0 * x[1]), (3.0, -x[2])]
    best = pairs[0]
    for p in pairs:
        if p[1] > best[1]:
            best = p
    return sum(p[0] for p in pairs if p is not best)


def test_an_element_of_what_came_apart_is_itself():
    links = edges(100)

    def f(x, links):
        return x[0] if links[0] is links[0] and links[1] is not None else -x[0]

    assert jit(f)(X, links) == X[0]


@pytest.mark.parametrize("f", [
    but_one_of_those_made, put_in, the_chosen, lambda x: but_the_largest(x, EDGES),
])  # fmt: skip
def test_which_one_it_is_can_not_be_asked_of_copies(f):
    with pytest.raises(jitad.JitadError, match="`is` can't be asked of elements of a list"):
        jit(f)(X)


TERMS = [{"power": k % 4, "scale": 0.1 * k, "at": (k % 7, 0.5)} for k in range(400)]


def of_dicts(x):
    total = 0.0
    for t in TERMS:
        k, w = t["at"]
        total += t["scale"] * x[k] ** t["power"] * w
    named = {t["power"]: t for t in TERMS[:4]}
    return total + sum(v * x[0] for t in TERMS[5:8] for v in t["at"]) + named[2]["scale"]


def test_dicts():
    expected, error = differences(of_dicts, (X,), (0,), np.ones(7))
    for operator in (jitad.jit_value_and_grad, jitad.value_and_grad):
        value, slope = operator(of_dicts)(X)
        assert value == pytest.approx(of_dicts(X), rel=1e-13)
        assert abs(slope.sum() - expected) <= 1e-7 * (1 + abs(expected)) + 10 * error
    assert len(list(walk(traced(of_dicts, X).tape.body))) < 400


def rows_of(n=100):
    return [[k % 7, 0.1 * k] for k in range(n)]


def writes_to_a_row(x, rows, row):
    rows[3][1] = x[0]
    total = 0.0
    for r in rows:
        k, w = r
        total += x[k] * w
    return total


def writes_to_all(x, rows, row):
    for r in rows:
        r[1] *= x[0]
    return sum(x[k] * w for k, w in rows)


def writes_by_another_name(x, rows, row):
    before = sum(x[k] * w for k, w in rows)
    row[1] = x[1]
    return before * sum(x[k] * w for k, w in rows)


def makes_it_longer(x, rows, row):
    rows.append([2, x[0]])
    rows[0] = row
    row[1] = 7.5
    return sum(x[k] * w for k, w in rows)


@pytest.mark.parametrize("f", [
    writes_to_a_row, writes_to_all, writes_by_another_name, makes_it_longer,
], ids=lambda f: f.__name__)  # fmt: skip
def test_rows_that_are_written(f):
    """Whoever holds a row sees it; the rows stay the same lists."""
    mine, theirs = rows_of(), rows_of()
    expected = f(X, mine, mine[5])
    rows = list(theirs)
    run = jit(lambda x: f(x, theirs, theirs[5]))
    assert run(X) == pytest.approx(expected, rel=1e-13)
    assert theirs == mine
    assert all(r is s for r, s in zip(rows[1:], theirs[1:], strict=False))
    for _ in range(2):
        assert run(X) == pytest.approx(f(X, mine, mine[5]), rel=1e-13)
        assert theirs == mine and all(r is s for r, s in zip(rows[1:], theirs[1:], strict=False))


def test_what_is_made_of_rows_may_be_written():
    rows = rows_of()

    def f(x):
        mine = [list(r) for r in rows]
        for r in mine:
            r[1] *= x[r[0]]
        return sum(w for _, w in mine) + rows[3][1]

    for _ in range(2):
        assert jit(f)(X) == pytest.approx(f(X), rel=1e-13)
    assert rows == rows_of()


def test_derivatives_by_what_rows_hold():
    def f(points, scale):
        return sum((a * scale - b) ** 2 for a, b in points)

    points = [[0.1 * k, 1.0 - 0.01 * k] for k in range(100)]
    slopes = jit_grad(f)(points, 1.5)
    assert type(slopes) is list and type(slopes[0]) is list and len(slopes) == 100
    expected = [[2.0 * (1.5 * a - b) * 1.5, -2.0 * (1.5 * a - b)] for a, b in points]
    np.testing.assert_allclose(slopes, expected, rtol=1e-12)
    assert jit_grad(f, 1)(points, 1.5) == pytest.approx(jitad.grad(f, 1)(points, 1.5), rel=1e-12)


class Marked(NamedTuple):
    first: int
    weight: float


class WithMore(Marked):
    """Its objects have attributes of their own."""


def test_tuples_with_attributes_come_apart():
    rows = [WithMore(k % 7, 0.1 * k) for k in range(100)]

    def f(x):
        return sum(x[e.first] * e.weight for e in rows)

    assert jit(f)(X) == pytest.approx(f(X))
    rows[3].extra = 2.0
    with pytest.raises(jitad.JitadError, match="attributes of its own"):
        jit(f)(X)


@pytest.mark.parametrize("given", [[(1, 2.0)] * 2, [(1, 2.0), (1 + 0, X[0] * 0.0 + 2.0)]])
def test_which_one_it_is_can_not_be_asked_of_tuples_from_outside(given):
    """They are put together anew, of what the kernel is handed; or known, if it captures them."""
    def f(x, pairs):
        return x if pairs[0] is pairs[1] else -x

    with pytest.raises(jitad.JitadError, match="they are copies"):
        jit(f)(0.5, given)
    try:
        assert jit(lambda x: f(x, given))(0.5) == f(0.5, given)
    except jitad.JitadError as e:
        assert "they are copies" in str(e)
