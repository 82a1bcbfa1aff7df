"""Are sparse Jacobians and Hessians right, found without being told, and never stale?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import least_squares

import jitad
from jitad import JitadError, hessian, jacfwd, sparse_hessian, sparse_jacobian
from jitad.errors import JitadTypeError, JitadValueError
from jitad.sparsity.colouring import (
    Plan,
    acyclic,
    by_columns,
    by_rows,
    by_substitution,
    greedy,
    star,
    symmetric,
)
from jitad.sparsity.places import NotLocal
from kernels import ba
from tests.jacobians.truth import complex_step, rosenbrock, rosenbrock_hessian

RNG = np.random.default_rng(5)


@pytest.fixture(params=["in passing", "by directions"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to compute entries."""
    if request.param == "by directions":

        def never(*args: Any) -> Any:
            raise NotLocal

        monkeypatch.setattr("jitad.operators.sparse.direct", never)
    return str(request.param)



# -- colouring ------------------------------------------------------------------------------------


def decompressed(plan: Plan, matrix: Any, pattern: Any) -> Any:
    """The matrix from its products alone, as a kernel does it."""
    products = np.stack([matrix @ (plan.colours == c) for c in range(plan.count)])
    for one, other in plan.taken:
        products.flat[other] -= products.flat[one]
    data = products[plan.of, plan.at]
    return sparse.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape).toarray()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("density", [0.02, 0.1, 0.4])
def test_entries_can_be_told_apart(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((30, 20)) < density, rng.standard_normal((30, 20)), 0.0)
    pattern = sparse.csr_array(dense != 0.0)
    np.testing.assert_array_equal(decompressed(by_columns(pattern), dense, pattern), dense)
    np.testing.assert_array_equal(decompressed(by_rows(pattern), dense.T, pattern), dense)
    square = dense[:20] + dense[:20].T
    pattern = sparse.csr_array(square != 0.0)
    np.testing.assert_array_equal(decompressed(symmetric(pattern), square, pattern), square)
    plan = by_substitution(pattern)
    np.testing.assert_allclose(decompressed(plan, square, pattern), square, atol=1e-12)
    assert plan.count <= symmetric(pattern).count


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("density", [0.1, 0.3])
def test_acyclic_colouring_by_its_definition(seed: int, density: float) -> None:
    """No two neighbours of one colour; the vertices of two colours have fewer edges than
    vertices, however many parts they fall into."""
    n = 24
    a = np.random.default_rng(seed).random((n, n)) < density
    a = a | a.T
    np.fill_diagonal(a, True)
    c = acyclic(sparse.csr_array(a))
    edges = a & ~np.eye(n, dtype=bool)
    for one in range(c.max() + 1):
        assert not edges[np.ix_(c == one, c == one)].any()
        for two in range(one):
            part = edges[np.ix_((c == one) | (c == two), (c == one) | (c == two))]
            trees = sparse.csgraph.connected_components(part)[0]
            assert part.sum() // 2 == len(part) - trees


def test_fewer_directions_by_substitution(way: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(x[2:] ** 2 * np.sin(x[1:-1]) * x[:-2])

    x = RNG.standard_normal(40)
    star_, acyclic_ = sparse_hessian(f), sparse_hessian(f, colouring="acyclic")
    exact = hessian(f)(x)
    np.testing.assert_allclose(star_(x).toarray(), exact, atol=1e-12)
    np.testing.assert_allclose(acyclic_(x).toarray(), exact, atol=1e-11)
    if way == "by directions":
        assert 1 < acyclic_.sweeps(x) < star_.sweeps(x)
    with pytest.raises(JitadValueError, match="colouring='best'"):
        sparse_hessian(f, colouring="best")


@pytest.mark.parametrize("seed", range(5))
def test_star_colouring_by_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.random((14, 14)) < 0.2
    a = a | a.T
    np.fill_diagonal(a, True)
    c = star(sparse.csr_array(a))
    edges = [(i, j) for i in range(14) for j in range(14) if i != j and a[i, j]]
    assert all(c[i] != c[j] for i, j in edges)
    near = {i: [j for k, j in edges if k == i] for i in range(14)}
    for v in range(14):
        for w in near[v]:
            for x in near[w]:
                for y in near[x]:
                    if len({v, w, x, y}) == 4:
                        assert len({c[v], c[w], c[x], c[y]}) > 2


def test_bands_and_arrows_take_few_colours() -> None:
    n = 200
    band = sparse.csr_array(np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1) != 0.0)
    assert int(greedy(band).max()) + 1 == 3
    arrow = np.eye(n, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    assert symmetric(sparse.csr_array(arrow)).count == 2  # by columns it would take n


# -- values ---------------------------------------------------------------------------------------


def test_rosenbrock(way: str) -> None:
    h = sparse_hessian(rosenbrock)
    x = np.linspace(-1.0, 1.0, 50)
    np.testing.assert_allclose(h(x).toarray(), rosenbrock_hessian(x), atol=1e-10)
    x = np.linspace(-1.0, 1.0, 100_000)
    assert h.sweeps(x) == (1 if way == "in passing" else 3)
    band = h(x)
    assert band.nnz == 3 * len(x) - 2
    np.testing.assert_allclose(band.diagonal(1), -400.0 * x[:-1], atol=1e-9)


def test_bundle_adjustment_by_blocks(way: str) -> None:
    args = ba.inputs({"n": 2, "m": 3, "p": 5})
    j = sparse_jacobian(ba.residuals, (0, 1, 2))
    found = j(*args)
    blocks = jacfwd(ba.residuals, (0, 1, 2))(*args)
    dense = np.vstack([
        np.hstack([np.reshape(b, (np.size(y), -1)) for b in row])
        for row, y in zip(blocks, ba.residuals(*args), strict=True)
    ])  # fmt: skip
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-9, atol=1e-9)
    p = len(args[4])
    # 10 of a camera's 11 (the offset of the other axis is none), 3 of a point, a weight; and
    # the weight alone
    assert j.pattern(*args).nnz == 2 * p * 14 + p
    assert j.sweeps(*args) <= 20


def test_one_row_that_is_full_goes_by_rows(way: str) -> None:
    def f(x: Any) -> Any:
        return np.concatenate([x[1:] * x[:-1], np.array([np.sum(x * x)])])

    x = RNG.standard_normal(40)
    j = sparse_jacobian(f)
    exact = np.zeros((40, 40))
    for i in range(39):
        exact[i, i], exact[i, i + 1] = x[i + 1], x[i]
    exact[39] = 2.0 * x
    np.testing.assert_allclose(j(x).toarray(), exact, rtol=1e-12)
    assert j.sweeps(x) == 3


def test_structures_and_float32(way: str) -> None:
    def f(p: Any, k: int) -> Any:
        return {"a": p["w"][1:] * p["b"], "c": p["w"] * k}

    w = np.arange(1.0, 4.0)
    found = sparse_jacobian(f)({"b": 5.0, "w": w}, 2).toarray()
    exact = np.zeros((5, 4))
    exact[0, 0], exact[1, 0] = w[1:]
    exact[0, 2] = exact[1, 3] = 5.0
    exact[2:, 1:] = 2.0 * np.eye(3)
    np.testing.assert_allclose(found, exact)
    j = sparse_jacobian(lambda x: x * x)(np.arange(5, dtype=np.float32))
    assert j.dtype == np.float32
    np.testing.assert_array_equal(j.toarray(), np.diag(2.0 * np.arange(5)))


def test_the_hessian_of_springs_between_nodes_that_data_tell(way: str) -> None:
    """A node has many springs: what the gradient adds to it has several sources."""
    n = 12
    ends = np.array([(i, (i + k) % n) for i in range(n) for k in (1, 2, 5)])

    def energy(p: Any) -> Any:
        d = p[ends[:, 1]] - p[ends[:, 0]]
        return np.sum((np.sqrt(np.sum(d * d, axis=1)) - 1.0) ** 2)

    def gradient(p: Any) -> Any:
        d = p[ends[:, 1]] - p[ends[:, 0]]
        length = np.sqrt(np.sum(d * d, axis=1))
        f = (2.0 * (length - 1.0) / length)[:, None] * d
        g = 0.0 * p
        np.add.at(g, ends[:, 1], f)
        np.add.at(g, ends[:, 0], -f)
        return g

    p = RNG.standard_normal((n, 2))
    exact = np.reshape(complex_step(gradient, p), (2 * n, 2 * n))
    h = sparse_hessian(energy)
    np.testing.assert_allclose(h(p).toarray(), exact, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(h.pattern(p).toarray(), exact != 0.0)
    j = sparse_jacobian(gradient)
    np.testing.assert_allclose(j(p).toarray(), exact, rtol=1e-10, atol=1e-10)


def test_a_constant_has_an_empty_pattern(way: str) -> None:
    found = sparse_jacobian(lambda x: np.ones(3))(np.ones(4))
    assert found.shape == (3, 4) and found.nnz == 0


def test_a_pattern_can_be_given(way: str) -> None:
    def f(x: Any) -> Any:
        return x * x

    found = sparse_jacobian(f, pattern=np.eye(5))(np.arange(5.0))
    np.testing.assert_array_equal(found.toarray(), np.diag(2.0 * np.arange(5.0)))
    with pytest.raises(JitadValueError, match="shape"):
        sparse_jacobian(f, pattern=np.eye(4))(np.arange(5.0))


# -- never stale ----------------------------------------------------------------------------------


def test_ints_and_lengths_that_change_are_seen(way: str) -> None:
    def f(x: Any, at: Any) -> Any:
        out = np.zeros(len(at))
        for k in range(len(at)):
            out[k] = x[at[k]] ** 2
        return out

    x = np.arange(1.0, 6.0)
    j = sparse_jacobian(f)
    for at in ([0, 1, 2], [4, 4, 3], [2], [0, 1, 2]):
        exact = np.zeros((len(at), 5))
        exact[np.arange(len(at)), at] = 2.0 * x[at]
        np.testing.assert_array_equal(j(x, np.array(at)).toarray(), exact)
    np.testing.assert_array_equal(j(x[:3], np.array([0, 1])).toarray(), 2.0 * np.eye(3)[:2] * x[:3])


def test_ints_from_around_are_seen(way: str) -> None:
    at = np.array([0, 1])

    def f(x: Any) -> Any:
        return x[at] * 3.0

    j, x = sparse_jacobian(f), np.ones(3)
    np.testing.assert_array_equal(j(x).toarray(), 3.0 * np.eye(3)[[0, 1]])
    at[0] = 2
    np.testing.assert_array_equal(j(x).toarray(), 3.0 * np.eye(3)[[2, 1]])


def test_a_result_is_the_callers_own(way: str) -> None:
    j = sparse_jacobian(lambda x: x * x)
    first = j(np.ones(3))
    first.data[:] = first.indices[:] = 0
    np.testing.assert_array_equal(j(np.ones(3)).toarray(), 2.0 * np.eye(3))


def test_arguments_are_not_changed(way: str) -> None:
    def f(x: Any) -> Any:
        x[0] = 3.0 * x[1]
        return x * x

    x = np.array([1.0, 2.0, 5.0])
    found = sparse_jacobian(f)(x)
    np.testing.assert_array_equal(x, [1.0, 2.0, 5.0])
    np.testing.assert_array_equal(found.toarray(), [[0, 36, 0], [0, 4, 0], [0, 0, 10]])


def test_what_is_refused(way: str) -> None:
    with pytest.raises(JitadTypeError, match="no floats"):
        sparse_jacobian(lambda n: n)(3)
    with pytest.raises(JitadTypeError, match="mix"):
        sparse_jacobian(lambda x, y: x * y, (0, 1))(np.ones(2), np.ones(2, np.float32))
    with pytest.raises(JitadError, match="SciPy array"):
        jitad.jit(lambda x: sparse_jacobian(lambda y: y * y)(x))(np.ones(2))
    with pytest.raises(JitadError, match="can't be differentiated"):
        jitad.grad(lambda x: sparse_jacobian(lambda y: y * y)(x).sum())(np.ones(2))
    with pytest.raises(JitadError, match=r"takes from around it\n.*test_sparse.py"):
        jitad.grad(lambda a: sparse_jacobian(lambda y: a * y)(np.ones(2)).sum())(2.0)


# -- in use ---------------------------------------------------------------------------------------


def test_least_squares_with_a_sparse_jacobian(way: str) -> None:
    """A curve of which the second differences and the distance from data are small."""
    data = np.sin(np.linspace(0.0, 3.0, 60)) + 0.05 * RNG.standard_normal(60)

    def residual(x: Any) -> Any:
        return np.concatenate([x - data, 10.0 * (x[2:] - 2.0 * x[1:-1] + x[:-2])])

    j = sparse_jacobian(residual)
    found = least_squares(residual, np.zeros(60), jac=j, method="trf")
    d = np.diff(np.eye(60), 2, axis=0)
    exact = np.linalg.solve(np.eye(60) + 100.0 * d.T @ d, data)
    np.testing.assert_allclose(found.x, exact, atol=1e-5)
    assert j.sweeps(np.zeros(60)) == (1 if way == "in passing" else 3)
