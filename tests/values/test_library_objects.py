"""Are objects of libraries looked into safely: nothing stale, nothing baked in, clear refusals?"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate as si
import scipy.interpolate as ip
import scipy.optimize as so
import scipy.sparse as ss
import scipy.stats as st

from jitad import JitadError, grad, jit, jit_grad, jvp

X = np.array([0.3, -0.7, 1.1])


def test_numbers_of_a_sparse_matrix_are_inputs() -> None:
    """Written to, exchanged, of other entries, of another format: each time what is there now."""
    a = ss.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 0.0]]))
    holder = {"a": a}
    g = jit_grad(lambda x: np.sum((holder["a"] @ x) ** 2))

    def check() -> None:
        dense = holder["a"].toarray()
        np.testing.assert_allclose(g(X), 2.0 * dense.T @ (dense @ X), rtol=1e-12)

    check()
    a.data[:] = [4.0, -1.0, 2.0, 0.3]
    check()
    assert len(g.specialisations) == 1
    holder["a"] = ss.csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]))
    check()
    assert len(g.specialisations) == 1
    for other in (holder["a"].tocoo(), holder["a"].tolil(), ss.csr_array(np.ones((2, 3)))):
        holder["a"] = other
        check()


def test_in_a_loop_under_a_condition_as_an_argument() -> None:
    a = ss.csc_matrix(np.array([[1.0, 0.2, 0.0], [0.0, 0.9, 0.0], [0.1, 0.0, 0.8]]))

    def f(x, a, n):
        for _ in range(n):
            x = a @ x if x[0] > 0.0 else a.T @ x
        return np.sum(x**2)

    for x in (X, -X):
        h = 1e-6
        steps = [(f(x + h * e, a, 7) - f(x - h * e, a, 7)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(jit_grad(f)(x, a, 7), steps, rtol=1e-7)
        np.testing.assert_allclose(grad(f)(x, a, 7), steps, rtol=1e-7)


def test_a_derivative_leaves_the_matrix_alone() -> None:
    a = ss.csr_matrix(np.eye(3))
    before = a.copy()
    jit_grad(lambda x: np.sum((2.0 * a @ x) ** 2))(X)
    grad(lambda x: np.sum((2.0 * a @ x) ** 2))(X)
    assert (a != before).nnz == 0


def test_a_spline_that_is_exchanged() -> None:
    holder = [ip.CubicSpline([0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 2.0, 1.0])]
    g = jit_grad(lambda x: holder[0](x) * 2.0)
    for y in ([1.0, 0.0, 2.0, 1.0], [0.0, 1.0, -2.0, 5.0, 3.0]):
        holder[0] = ip.CubicSpline(np.arange(len(y)), y)
        assert g(1.3) == pytest.approx(2.0 * holder[0](1.3, 1), rel=1e-12)
    assert len(g.specialisations) <= 2


def test_a_frozen_distribution_that_is_exchanged() -> None:
    holder = [st.norm(0.5, scale=2.0)]
    g = jit_grad(lambda x: holder[0].logpdf(x))
    assert g(1.0) == pytest.approx(-0.5 / 4.0, rel=1e-12)
    holder[0] = st.norm(0.0, scale=1.0)
    assert g(1.0) == pytest.approx(-1.0, rel=1e-12)


@pytest.mark.parametrize("f", [
    lambda x: so.differential_evolution(lambda t: np.sum((t - x) ** 2), [(0.0, 1.0)] * 3).x[0],
    lambda x: so.shgo(lambda t: np.sum((t - x) ** 2), [(0.0, 1.0)] * 3).x[0],
    lambda x: si.solve_bvp(
        lambda t, y: -y * x[0], lambda a, b: a - 1.0, np.arange(2.0), np.ones((1, 2))).y[0, -1],
])  # fmt: skip
@pytest.mark.parametrize("derive", [grad, jit_grad])
def test_functions_that_call_the_users_say_what_to_write(derive, f) -> None:
    with pytest.raises(JitadError, match="is not supported on traced") as raised:
        derive(f)(X)
    text = str(raised.value)
    assert any(word in text for word in ("jitad.argmin", "jitad.root"))
    assert "test_library_objects.py" in text


def test_they_run_where_nothing_is_traced() -> None:
    def f(x):
        root = so.brentq(lambda t: t * t - 2.0, 0.0, 2.0)
        area, _ = si.quad(lambda t: t * t, 0.0, 1.0)
        return root * area * x * x

    want = 2.0 * 3.0 * np.sqrt(2.0) / 3.0
    assert grad(f)(3.0) == pytest.approx(want, rel=1e-9)
    assert jit_grad(f)(3.0) == pytest.approx(want, rel=1e-9)


def _doubled(x, a):
    a = ss.csr_matrix(a)
    a *= x[0]
    return a[0, 1]


def _held(x, a):
    a.setdiag(x)
    return a[1, 1]


def _written(x, a):
    a[0, 1] = x[0]
    return a[0, 1]


@pytest.mark.parametrize("f", [
    lambda x, a: np.sum(a[[0, 2], [0, 1]] @ x[:2]), lambda x, a: np.sum(a.rmatvec(x)),
    lambda x, a: np.sum(ss.csr_array(a)[0] @ x),
    lambda x, a: np.sum(a[::-1] @ x), lambda x, a: np.sum(np.asarray(a) @ x),
    lambda x, a: x[0] * a[3, 0], lambda x, a: np.sum(a + x[0]), lambda x, a: np.exp(a) @ x,
    # who shares the entries of what is written to is not known, but for two of the forms
    lambda x, a: _written(x, a.copy()), lambda x, a: _written(x, a),
    lambda x, a: _written(x, a.tocoo()),
    lambda x, a: _written(x, ss.lil_matrix((1 << 13, 1 << 13))),
    lambda x, a: ss.lil_matrix(np.outer(x, x)).nnz * x[0], lambda x, a: _doubled(x, np.outer(x, x)),
    lambda x, a: ss.triu(ss.lil_matrix(np.outer(x, x))).nnz * x[0], lambda x, a: _held(x, a.copy()),
    # entries of one place are not added up: how many there are is not known
    lambda x, a: x[0] * (a + a.T).nnz, lambda x, a: x[0] * (a @ a).nnz,
    lambda x, a: ss.kron(a, a).nnz * x[0],
    lambda x, a: (2.0 * ss.diags([x, x], [0, 1], format="csr")).nnz * x[0],
])  # fmt: skip
def test_what_a_sparse_matrix_can_not_do_here_is_refused(f) -> None:
    with pytest.raises((JitadError, TypeError, NotImplementedError)):
        jit_grad(f)(X, ss.csr_matrix(np.eye(3)))


def test_factors_that_are_exchanged() -> None:
    from scipy.sparse.linalg import splu

    holder = [splu(ss.csc_matrix(2.0 * np.eye(3)))]
    for g in (jit_grad(lambda x: np.sum(holder[0].solve(x)) * x[0] + holder[0].shape[0]),
              grad(lambda x: np.sum(holder[0].solve(x)) * x[0])):  # fmt: skip
        for scale in (2.0, 5.0):
            holder[0] = splu(ss.csc_matrix(scale * np.eye(3)))
            np.testing.assert_allclose(g(np.ones(3)), np.array([4.0, 1.0, 1.0]) / scale)


def test_a_singular_sparse_system_is_nan() -> None:
    """Small ones are dense, for which NumPy raises."""
    from scipy.sparse.linalg import spsolve

    def f(x, b):
        return np.sum(spsolve(ss.diags([x, x[1:]], [0, 1], format="csc"), b))

    x = np.ones(70)
    x[-1] = 0.0
    assert np.isnan(jit(f)(x, np.ones(70))) and np.isnan(grad(f)(x, np.ones(70))).any()


def test_a_coefficient_that_would_be_cut_off() -> None:
    from numpy.polynomial import polynomial

    f = jit(lambda c: polynomial.polymul(c, c))
    np.testing.assert_allclose(f(X), polynomial.polymul(X, X))
    with pytest.raises(JitadError, match="the highest power is zero"):
        f(np.array([1.0, 2.0, 0.0]))


def test_arrays_of_one_element_become_numbers() -> None:
    """`reshape(a, ())` and `broadcast_to(x, ())` are arrays without axes."""
    def f(x):
        v = np.ravel(x[0]) * x[1]
        return np.reshape(v, ()) + np.broadcast_to(x[2] * x[0], ()) + v.reshape(())

    want = [2.0 * X[1] + X[2], 2.0 * X[0], X[0]]
    np.testing.assert_allclose(jit_grad(f)(X), want, rtol=1e-12)
    np.testing.assert_allclose(grad(f)(X), want, rtol=1e-12)


@pytest.mark.parametrize("derive", [grad, jit_grad])
@pytest.mark.parametrize("make", [
    lambda a: np.ma.array(a, mask=[True, False, False]), lambda a: np.diag(a).view(np.matrix),
])  # fmt: skip
def test_arrays_with_arithmetic_of_their_own_are_refused(derive, make) -> None:
    """Also where they meet a traced array only: a mask would be lost, a product be another."""
    with pytest.raises(JitadError, match="arithmetic"):
        derive(lambda a: np.sum(np.abs(a)))(make(X))
    for f in (lambda x, a: np.sum(x * a), lambda x, a: np.sum(a + x)):
        with pytest.raises(JitadError, match=r"arithmetic|can't become a NumPy array"):
            derive(f)(X, make(X))


def test_what_is_too_wide_for_a_kernel_is_refused() -> None:
    wide = np.ones(3, np.longdouble)
    if wide.itemsize > 8:
        with pytest.raises(JitadError, match="of 32 and 64 bits"):
            jit_grad(lambda x: np.sum(x * np.asarray(wide, dtype=float)) + np.sum(wide))(X)


@pytest.mark.parametrize("f", [
    lambda x: np.any(x, axis=()), lambda x: np.all(x, axis=(), keepdims=True),
    lambda x: np.sum(x > 0.0, axis=()), lambda x: np.mean((4.0 * x).astype(int), axis=()),
    lambda x: np.max(x, axis=()), lambda x: np.gradient(x.astype("f4"), np.array([0.0, 1, 3])),
])  # fmt: skip
def test_dtypes_where_nothing_is_folded(f) -> None:
    want = f(X)
    for found in (jvp(f, (X,), (X,))[0], jit(f)(X)):
        assert found.dtype == want.dtype and found.shape == want.shape
        np.testing.assert_allclose(found, want, rtol=1e-6)


def test_distributions_compute_in_double_precision() -> None:
    x = X.astype(np.float32)
    for found in (jvp(st.norm.logpdf, (x,), (x,))[0], jit(st.norm.logpdf)(x)):
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, st.norm.logpdf(x), rtol=1e-12)


def test_operators_of_polynomials_of_any_length():
    def f(c):
        p = np.polynomial.Polynomial(c)
        return ((p * p - 2.0 * p + p.deriv()) + 1.0 - (0.5 - p))(2.0)

    compiled = jit_grad(f)
    for c in (np.array([0.1, 0.5, 0.9]), np.array([0.3, 0.7]), np.array([1.0, 2.0, 3.0, 4.0])):
        p, powers = np.polynomial.Polynomial(c)(2.0), 2.0 ** np.arange(len(c))
        slopes = np.arange(len(c)) * 2.0 ** (np.arange(len(c)) - 1.0)
        expected = (2.0 * p - 1.0) * powers + slopes
        np.testing.assert_allclose(compiled(c), expected, rtol=1e-12)
        np.testing.assert_allclose(grad(f)(c), expected, rtol=1e-12)


def test_iterations_that_are_cut_off_are_refused() -> None:
    from scipy.sparse.linalg import cg

    def f(x, most):
        return np.sum(cg(ss.diags([x], [0], format="csr"), np.ones(4), maxiter=most)[0])

    np.testing.assert_allclose(jit_grad(f)(np.full(4, 2.0), 10), np.full(4, -0.25))
    for run in (jit_grad(f), grad(f)):
        with pytest.raises(JitadError, match="fewer iterations than there are unknowns"):
            run(np.full(4, 2.0), 3)
