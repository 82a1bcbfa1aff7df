"""Are entries right that are computed in passing, and in their places; and where is that done?

Truth: complex steps (`tests/jacobians/truth.py`), products of matrices, patterns by index sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from jitad import sparse_hessian, sparse_jacobian
from jitad.errors import JitadIndexError
from jitad.sparsity import places
from jitad.sparsity.places import Layout, Terms
from jitad.sweeps.partials import eliminated
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Var, lit
from jitad.tape.types import FLOAT
from tests.jacobians.truth import complex_step
from tests.sparsity import programs
from tests.sparsity.programs import EXACT, LARGER, N
from tests.sparsity.test_pattern import jacobian_at

RNG = np.random.default_rng(3)
X = np.linspace(0.3, 1.7, N)

# -- elimination ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_elimination_gives_the_sum_over_all_paths(seed: int) -> None:
    """The Jacobian is that of the linear equations v = x P, for random graphs."""
    rng = np.random.default_rng(seed)
    inputs, inner = rng.integers(1, 5), rng.integers(1, 12)
    n = inputs + inner
    b = Builder()
    vs = [Var(FLOAT) for _ in range(n)]
    p = np.zeros((n, n))  # p[u, v]: of v by u
    graph: Any = {}
    for v in range(inputs, n):
        before = np.flatnonzero(rng.random(v) < 0.5)
        p[before, v] = rng.choice([1.0, -1.0, 0.5, 3.0, -2.0], len(before))
        graph[vs[v]] = {vs[u]: b.input(FLOAT) if abs(p[u, v]) != 1.0 else lit(p[u, v])
                        for u in before}  # fmt: skip
    given = [p[vs.index(u), vs.index(v)] for v in graph for u, c in graph[v].items()
             if isinstance(c, Var)]  # fmt: skip
    ends = [*range(inputs, n)][:: rng.integers(1, 3)]  # some are on the way to others
    found = eliminated(b, graph, [vs[k] for k in ends], lambda v: v in vs[:inputs])
    exact = np.linalg.inv(np.eye(n) - p)
    block = Block(b.blocks[0].params, b.blocks[0].equations, [])
    for k, edges in zip(ends, found, strict=True):
        block.results = list(edges.values())
        numbers = dict(zip(edges, interpret(block, given), strict=True))
        row = [numbers.get(u, 0.0) for u in vs[:inputs]]
        np.testing.assert_allclose(row, exact[:inputs, k], rtol=1e-12, atol=1e-12)


# -- places ---------------------------------------------------------------------------------------


def written(layout: Layout, shapes: list[tuple[int, ...]], numbers: list[Any]) -> Any:
    """The entries as a kernel makes them, in plain Python: batches hold one site each here."""
    data = np.full(layout.numbers[0], 0.0 if layout.zero else np.nan)
    data = data if layout.covered else np.zeros(layout.numbers[0])

    def number(n: places.Number) -> int:
        return n.value + (0 if n.at is None else layout.numbers[n.at])

    for site, shape, values in zip(layout.sites, shapes, numbers, strict=True):
        for turn, at in enumerate(np.ndindex(*shape)):
            for k, alone in enumerate(site.alone):
                v = values[(*at, k)]
                if site.table is not None:
                    column, distance = site.columns[k]
                    to = int(layout.tables[site.table - 1][turn * site.width + column])
                    is_first = to < 0
                    to = (~to if is_first else to) + distance
                    v += 0.0 if alone or is_first else data[to]
                    data[to] = v
                    continue
                to = number(site.first[k]) + sum(
                    i * number(s) for i, s in zip(at, site.strides, strict=True)
                )
                data[to] = v if alone else data[to] + v
    return data


def laid_out(rows: list[Any], columns: list[Any], shape: tuple[int, int]) -> None:
    terms = Terms(tuple(rows), tuple(columns), tuple(range(len(rows))), shape)
    pattern = terms.pattern()
    numbers = [RNG.standard_normal(r.shape) for r in rows]
    exact = np.zeros(shape)
    for r, c, v in zip(rows, columns, numbers, strict=True):
        there = (r >= 0) & (c >= 0)
        np.add.at(exact, (r[there], c[there]), v[there])
    found = written(places.layout(terms, pattern), [r.shape[:-1] for r in rows], numbers)
    entries = sparse.csr_array((found[: pattern.nnz], pattern.indices, pattern.indptr), shape)
    np.testing.assert_allclose(entries.toarray(), exact, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_terms_anywhere(seed: int) -> None:
    """Several in a place, some nowhere, in one site or in two."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(-1, 7, (4, 3)), rng.integers(-1, 7, (2, 3, 2))]
    columns = [rng.integers(-1, 5, r.shape) for r in rows]
    laid_out(rows[: 1 + seed % 2], columns[: 1 + seed % 2], (7, 5))


def test_terms_in_even_places() -> None:
    """A band, its diagonal from two sites; a grid, whose rows of entries are of one length."""
    i = np.arange(9)[:, None]
    laid_out([np.concatenate([i, i, i + 1], 1)], [np.concatenate([i, i + 1, i + 1], 1)], (10, 10))
    at = np.arange(12).reshape(3, 4, 1)
    laid_out([np.concatenate([at, at], -1)], [np.concatenate([at, 12 + at], -1)], (12, 24))


def test_even_places_need_no_table() -> None:
    i = np.arange(100)[:, None]
    terms = Terms((np.concatenate([i, i], 1),), (np.concatenate([2 * i, 2 * i + 1], 1),), (0,),
                  (100, 200))  # fmt: skip
    (site,) = places.layout(terms, terms.pattern()).sites
    assert site.table is None and site.alone == (True, True)


# -- programs -------------------------------------------------------------------------------------

IN_PASSING = {
    "neighbours", "by_slices", "by_index_arrays", "by_indices_in_a_loop", "strides", "grid",
    "scratch", "overwritten", "transposed", "products",
}  # fmt: skip


@pytest.mark.parametrize("f", [*EXACT, *LARGER], ids=lambda f: f.__name__)
def test_entries_and_where_they_are_computed_in_passing(f: Any) -> None:
    j = sparse_jacobian(f)
    exact = jacobian_at(f, X)
    np.testing.assert_allclose(j(X).toarray(), exact, rtol=1e-7, atol=1e-8)
    if f in EXACT:
        np.testing.assert_array_equal(j.pattern(X).toarray(), np.abs(exact) > 1e-7)
    if f.__name__ in IN_PASSING:
        assert j.sweeps(X) == 1


def complex_of(f: Any) -> Any:
    return lambda x: np.reshape(complex_step(f, x), (-1, np.size(x)))


def twice_over(x: Any) -> Any:
    """Sums into one element, in a loop and by slices."""
    out = 0.0 * x
    for i in range(len(x) - 1):
        d = np.sin(x[i + 1] * x[i])
        out[i] += d
        out[i + 1] -= d
    out[1:] += x[:-1] ** 3
    return out


def a_number_for_all(x: Any) -> Any:
    return x[1:] * x[0] + x[2]


def into_parts(x: Any) -> Any:
    out = 0.0 * np.concatenate([x, x])
    out[: len(x)] = x * x
    out[len(x) :] = np.exp(x[::-1])
    out[3] = x[7] * out[3] if len(x) < 3 else x[7]
    return out[::-1]


def two_axes(x: Any) -> Any:
    u = np.reshape(x, (2, 4))
    return (u[1:, :-1] * u[:-1, 1:] + u[:-1, :-1] ** 2) * np.exp(u[0, 0])


def chosen_by_floats(x: Any) -> Any:
    out = 0.0 * x
    for i in range(len(x) - 1):
        a, c = x[i], x[i + 1]
        out[i] = a * c if a.real > 0.9 else c * c * c
    return out


def a_branch_in_a_branch(x: Any) -> Any:
    out = 0.0 * x
    for i in range(1, len(x)):
        y = x[i] * x[i - 1]
        z = y
        if y.real > 0.5:
            y = y * y
            if y.real > 2.0:
                z = np.sin(y) * z
        out[i] = z + y
    return out


PROGRAMS = (into_parts, two_axes, chosen_by_floats, a_branch_in_a_branch, a_number_for_all)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_more_programs(f: Any) -> None:
    j = sparse_jacobian(f)
    np.testing.assert_allclose(j(X).toarray(), complex_of(f)(X), rtol=1e-13, atol=1e-14)
    assert j.sweeps(X) == 1


def test_what_is_added_to() -> None:
    j = sparse_jacobian(twice_over)
    np.testing.assert_allclose(j(X).toarray(), complex_of(twice_over)(X), rtol=1e-13, atol=1e-14)


def test_hessians_of_sums_of_local_terms() -> None:
    def by_loops(u: Any) -> Any:
        total = 0.0
        for i in range(len(u) - 1):
            for j in range(u.shape[1] - 1):
                total += np.sqrt(
                    1.0 + (u[i + 1, j] - u[i, j]) ** 2 + (u[i, j + 1] - u[i, j]) ** 2
                ) * u[i + 1, j + 1]  # fmt: skip
        return total

    def by_slices(u: Any) -> Any:
        down, right = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
        return np.sum(np.sqrt(1.0 + down**2 + right**2) * u[1:, 1:])

    def gradient(x: Any) -> Any:
        """By hand, in NumPy that takes complex numbers."""
        u = np.reshape(x, (3, 4))
        g = 0.0 * u
        down, right = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
        root, w = np.sqrt(1.0 + down**2 + right**2), u[1:, 1:]
        g[1:, 1:] += root
        g[1:, :-1] += w * down / root
        g[:-1, 1:] += w * right / root
        g[:-1, :-1] -= w * (down + right) / root
        return np.ravel(g)

    u = RNG.standard_normal((3, 4))
    exact = complex_step(gradient, np.ravel(u))
    for f in (by_loops, by_slices):
        h = sparse_hessian(f)
        np.testing.assert_allclose(h(u).toarray(), exact, rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(h.pattern(u).toarray(), exact != 0.0)
        assert h.sweeps(u) == 1


def test_infinities_of_what_is_not_taken_stay_there() -> None:
    def masked(x: Any) -> Any:
        return np.where(x > 0.0, np.sqrt(x), 0.0) * 2.0

    def branching(x: Any) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            y = np.sqrt(x[i])
            z = x[i]
            if x[i] > 0.0:
                z = 3.0 * y
            out[i] = z
        return out

    x = np.array([4.0, 0.0, 1.0])
    np.testing.assert_array_equal(sparse_jacobian(masked)(x).diagonal(), [0.5, 0.0, 1.0])
    j = sparse_jacobian(branching)
    np.testing.assert_array_equal(j(x).diagonal(), [0.75, 1.0, 1.5])
    assert j.sweeps(x) == 1


def test_arrays_that_share_cells_are_not_added_to_as_one() -> None:
    def f(x: Any) -> Any:
        a = x * x
        b = a.copy()
        b[1:] += x[:-1]
        return np.concatenate([a, b, a])

    exact = np.zeros((12, 4))
    x = np.arange(1.0, 5.0)
    for k in (0, 4, 8):
        exact[k : k + 4] = np.diag(2.0 * x)
    exact[5:8, :3] += np.eye(3)
    np.testing.assert_array_equal(sparse_jacobian(f)(x).toarray(), exact)


def test_one_row_for_several_results() -> None:
    def f(x: Any) -> Any:
        out = np.zeros(4)
        for i in range(4):
            out[i] = x[i] ** 2
        return np.stack([out, out])

    found = sparse_jacobian(f)(np.arange(1.0, 5.0)).toarray()
    np.testing.assert_array_equal(found, np.tile(np.diag([2.0, 4.0, 6.0, 8.0]), (2, 1)))


def test_float32_and_mixed_results() -> None:
    def f(x: Any) -> Any:
        return x[1:] * np.float32(0.5) * x[:-1]

    x = np.arange(1.0, 5.0, dtype=np.float32)
    found = sparse_jacobian(f)(x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray()[0], [1.0, 0.5, 0.0, 0.0])
    wide = sparse_jacobian(lambda x: np.array([2.0, 3.0]) * x[:2])(x)
    assert wide.dtype == np.float32
    np.testing.assert_array_equal(wide.toarray()[:, :2], np.diag([2.0, 3.0]))


def test_numbers_and_structures_as_arguments() -> None:
    def f(p: Any, scale: float, k: int) -> Any:
        return {"a": p["w"][1:] * p["b"] * scale, "c": p["w"] * k}

    p = {"w": np.arange(1.0, 4.0), "b": 5.0}
    found = sparse_jacobian(f, (0, 1))(p, 2.0, 3).toarray()
    w = p["w"]
    exact = np.zeros((5, 5))
    exact[0, 1] = exact[1, 2] = 10.0
    exact[:2, 3], exact[:2, 4] = 2.0 * w[1:], 5.0 * w[1:]
    exact[2:, :3] = 3.0 * np.eye(3)
    np.testing.assert_allclose(found, exact)


def test_a_pattern_that_is_given_orders_the_entries() -> None:
    def f(x: Any) -> Any:
        return x[1:] * x[:-1]

    x = np.arange(1.0, 5.0)
    exact = complex_step(f, x)
    full = sparse_jacobian(f, pattern=np.ones((3, 4)))
    assert full.entries(x).shape == (12,)
    np.testing.assert_array_equal(full(x).toarray(), exact)
    left = sparse_jacobian(f, pattern=np.eye(3, 4, k=1))
    np.testing.assert_array_equal(left(x).toarray(), np.triu(exact, 1))


def test_entries_are_those_of_the_pattern() -> None:
    j = sparse_jacobian(programs.grid)
    p = j.pattern(X)
    entries = sparse.csr_array((j.entries(X), p.indices, p.indptr), shape=p.shape)
    np.testing.assert_array_equal(entries.toarray(), j(X).toarray())


def test_kinds_of_arguments_may_change() -> None:
    j = sparse_jacobian(lambda x: x * x)
    for dtype in (np.float64, np.float32, np.float64):
        for n in (3, 5, 1, 3):
            x = np.arange(1, n + 1).astype(dtype)
            found = j(x)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found.toarray(), np.diag(2.0 * x))
    wide = np.arange(12.0)[::2]
    np.testing.assert_array_equal(j(wide).toarray(), np.diag(2.0 * wide))


def test_indices_are_checked() -> None:
    def f(x: Any, at: Any) -> Any:
        out = np.zeros(len(at))
        for k in range(len(at)):
            out[k] = x[at[k]] ** 2
        return out

    j = sparse_jacobian(f)
    j(np.ones(3), np.array([0, -1]))
    with pytest.raises(JitadIndexError, match="out of bounds"):
        j(np.ones(3), np.array([0, 3]))
