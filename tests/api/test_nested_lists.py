"""Are lists of lists of numbers lists, at a cost that does not grow with them?"""

import copy

import numpy as np
import pytest

import jitad
from jitad import jit, jit_grad
from jitad.tape.ir import walk
from tests.trace.running import traced
from tests.truth import differences


def matrix(n, m=None):
    rng = np.random.default_rng(n)
    return (rng.normal(size=(n, m or n)) + np.eye(n, m or n) * n).tolist()


def vector(n):
    return np.random.default_rng(n + 1).normal(size=n).tolist()


def ragged(n):
    return [[0.1 * k * j for j in range(k % 5)] for k in range(n)]


def product(a, x):
    n = len(a)
    y = [0.0] * n
    for i in range(n):
        for j in range(len(x)):
            y[i] += a[i][j] * x[j]
    return sum(v * v for v in y)


def determinant(a, x):
    n = len(a)
    m = [row[:] for row in a]
    for k in range(n):
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            for j in range(k, n):
                m[i][j] -= f * m[k][j]
    d = x[0]
    for k in range(n):
        d *= m[k][k] / n
    return d


def squared(a, x):
    n = len(a)
    b = [[sum(a[i][k] * a[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    return sum(b[i][j] * x[i] for i in range(n) for j in range(n)) / n


def by_rows(a, x):
    return sum(sum(p * q for p, q in zip(row, x)) ** 2 for row in a) + max(a[1]) * min(a[-1])


def as_array(a, x):
    b = np.array(a)
    return b @ np.array(x) @ b[0] + b[:, 1].sum()


def columns(a, x):
    return sum(sum(c) * x[k] for k, c in enumerate(zip(*a)))


ALL = [product, determinant, squared, by_rows, as_array, columns]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [9, 12])
def test_values_and_derivatives(f, n):
    a, x = matrix(n), vector(n)
    before = copy.deepcopy(a)
    of_a, of_x = matrix(n), vector(n)
    to, along = np.array(a), np.array(of_a) / n
    of_a = along.tolist()
    expected, error = differences(
        lambda a, x: f(a.tolist(), x.tolist()), (to, np.array(x)), (0, 1), [along, np.array(of_x)]
    )
    value, slopes = jitad.jit_value_and_grad(f, (0, 1))(a, x)
    assert value == pytest.approx(f(a, x), rel=1e-11)
    assert type(slopes[0]) is list and type(slopes[0][0]) is list and type(slopes[0][0][0]) is float
    found = np.sum(np.array(slopes[0]) * of_a) + np.sum(np.array(slopes[1]) * of_x)
    assert abs(found - expected) <= 1e-6 * (1 + abs(expected)) + 10 * error
    np.testing.assert_allclose(slopes[0], jitad.grad(f)(a, x), rtol=1e-9, atol=1e-9)
    pushed = jit(lambda *p: jitad.jvp(f, p, (of_a, of_x)))(a, x)[1]
    assert pushed == pytest.approx(found, rel=1e-9)
    captured = jit_grad(lambda x: f(a, x))(x)
    np.testing.assert_allclose(captured, slopes[1], rtol=1e-10)
    assert a == before


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_matrices_of_all_sizes_share_a_kernel(f):
    compiled = jit_grad(f)
    for n in (9, 40, 60):
        a, x = matrix(n), np.array(vector(n))
        slopes = compiled(a, x)
        assert np.array(slopes).shape == (n, n)
        np.testing.assert_allclose(slopes, jitad.grad(f)(a, x), rtol=1e-8, atol=1e-8)
    assert compiled.specialisations == ["first call"]


def test_the_tape_does_not_grow_with_the_matrix():
    def of(n):
        a, x = matrix(n), vector(n)
        return len(list(walk(traced(lambda x: product(a, x) + determinant(a, x), x).tape.body)))

    assert abs(of(10) - of(40)) < 20  # `x` comes apart, if it is short


def neighbours(x, links):
    y = [0.0] * len(links)
    for i, near in enumerate(links):
        for j in near:
            y[i] += x[j] - x[i]
        if not near:
            y[i] = x[i] ** 2
    return sum(v * v for v in y) + sum(len(near) for near in links)


def searched(x, links):
    seen, todo, total = [False] * len(links), [0], 0.0
    while todo:
        i = todo.pop()
        if not seen[i]:
            seen[i] = True
            total = total * 0.5 + x[i]
            for j in links[i]:
                todo.append(j)
    return total


@pytest.mark.parametrize("f", [neighbours, searched], ids=lambda f: f.__name__)
def test_lists_of_several_lengths(f):
    links = [[(k * 3 + j) % 50 for j in range(k % 4)] for k in range(50)]
    links[0] = [3, 7, 11]
    x = np.linspace(0.3, 1.2, 50)
    expected, error = differences(lambda x: f(x, links), (x,), (0,), np.ones(50))
    for run in (jitad.jit_value_and_grad(f), jitad.jit_value_and_grad(lambda x, _: f(x, links))):
        for _ in range(2):
            value, slope = run(x, links)
            assert value == pytest.approx(f(x, links), rel=1e-12)
            assert abs(slope.sum() - expected) <= 1e-6 * (1 + abs(expected)) + 10 * error


def test_ragged_derivatives():
    def f(rows):
        return sum(v * v * (k + 1) for k, row in enumerate(rows) for v in row)

    rows = ragged(60)
    slopes = jit_grad(f)(rows)
    assert [len(r) for r in slopes] == [len(r) for r in rows]
    for k, (row, slope) in enumerate(zip(rows, slopes, strict=True)):
        np.testing.assert_allclose(slope, [2.0 * v * (k + 1) for v in row])


def writes_to_one(a, x):
    a[2][1] = x[0]
    return product(a, x)


def writes_to_all(a, x):
    for row in a:
        for j in range(len(row)):
            row[j] *= x[1]
    return product(a, x)


def exchanges(a, x):
    a[0], a[1] = a[1], a[0]
    row = a[3]
    row.append(x[0])
    return sum(map(sum, a))


def another_name(a, x):
    last = a[-1]
    before = sum(last)
    last[0] = 5.0
    return before + sum(a[-1]) + a[-1][0]


@pytest.mark.parametrize(
    "f", [writes_to_one, writes_to_all, exchanges, another_name], ids=lambda f: f.__name__
)
def test_matrices_that_are_written(f):
    mine, theirs, x = matrix(10), matrix(10), vector(10)
    rows = list(theirs)
    run = jit(lambda x: f(theirs, x))
    for _ in range(3):
        assert run(x) == pytest.approx(f(mine, x), rel=1e-12)
        assert [len(r) for r in theirs] == [len(r) for r in mine]
        for r, s in zip(theirs, mine, strict=True):
            assert r == pytest.approx(s, rel=1e-12)
        assert {*map(id, rows)} == {*map(id, theirs)}


def test_what_it_holds_may_change_between_calls():
    a, x = matrix(10), vector(10)
    run = jit(lambda x: by_rows(a, x))
    for change in (
        lambda: a[3].__setitem__(0, 7.0), lambda: a.append(a[0]), lambda: a[2].pop(),
        lambda: a[2].append(1.5), lambda: a.__setitem__(1, [1.0, 2.0]), lambda: a.reverse(),
        lambda: a[1].__setitem__(0, 3), lambda: a.__setitem__(slice(None), a[:3]),
    ):  # fmt: skip
        assert run(x) == pytest.approx(by_rows(a, x), rel=1e-12)
        change()
    assert run(x) == pytest.approx(by_rows(a, x), rel=1e-12)


def test_matrices_in_structures_and_rows_with_lists():
    data = [(vector(12), 0.1 * k) for k in range(70)]
    model = {"w": matrix(9, 12), "b": vector(9)}

    def f(model, data):
        total = 0.0
        for x, y in data:
            out = [sum(w * v for w, v in zip(row, x)) + b for row, b in zip(model["w"], model["b"])]
            total += (sum(out) - y) ** 2
        return total

    slopes = jit_grad(f)(model, data)
    expected = jitad.grad(f)(model, data)
    np.testing.assert_allclose(slopes["w"], expected["w"], rtol=1e-10)
    np.testing.assert_allclose(slopes["b"], expected["b"], rtol=1e-10)


def test_derivatives_by_lists_that_are_made_inside():
    def f(x):
        rows = [[v * 2.0 for v in x if v > w] for w in x if w > 0.0]
        slopes = jitad.grad(lambda r: sum(v * v for q in r for v in q))(rows)
        return [len(q) for q in slopes], sum(v for q in slopes for v in q)

    x = np.array([0.5, -1.0, 2.0, 1.0])
    assert jit(f)(x) == f(x) == ([2, 0, 1], 20.0)


def transposed(x, rows):
    first, *others = [list(c) for c in zip(*rows)]
    return first[3] * x + sum(map(sum, others)) + len(others) + max(first) * x


@pytest.mark.parametrize("rows", [matrix(40, 30), ragged(40)[4::5] * 6, [r[:] for r in ragged(60)]])
def test_columns_of_rows(rows):
    """As long as the shortest row is; there may be none."""
    rows = [[1.0, 2.0, *r] for r in rows]
    value, slope = jitad.jit_value_and_grad(transposed)(0.7, rows)
    assert value == pytest.approx(transposed(0.7, rows), rel=1e-12)
    assert slope == pytest.approx(transposed(1.0, rows) - transposed(0.0, rows), rel=1e-12)
