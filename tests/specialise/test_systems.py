"""Are small systems solved in the open, with LAPACK's values and the right derivatives?

The truth is NumPy's own LAPACK on complex numbers, by complex steps; Cholesky's is a plain loop.
"""

import itertools
import re

import numpy as np
import pytest
import scipy.linalg

import jitad
from jitad.specialise.systems import systems
from jitad.tape.ir import walk
from tests.engines import ENGINES, kernel_of

SIZES = (1, 2, 3)
LIBRARY = {"lu", "solve", "determinant", "log_size", "lu_sign", "cofactors", "cholesky", "trisolve"}


def entries(n, dtype=np.float64, seed=0):
    """A matrix, as numbers in a row; the same number on the diagonal and far from it."""
    random = np.random.default_rng(seed)
    return (random.uniform(-2, 2, (n, n)) + 0.1 * np.eye(n)).ravel().astype(dtype)


def weighted(a):
    return np.sum(np.sin(1.0 + np.arange(a.size)) * a.reshape(a.size))


def solve(x, n):
    a = x[: n * n].reshape(n, n)
    right = np.stack([np.cos(x[:n]), x[n - 1 :: -1]], axis=1)
    return weighted(np.linalg.solve(a, right))


def solve_vector(x, n):
    return weighted(np.linalg.solve(x[: n * n].reshape(n, n).T, np.cos(x[:n])))


def inverse(x, n):
    return weighted(np.linalg.inv(x[: n * n].reshape(n, n)))


def determinant(x, n):
    return np.linalg.det(x[: n * n].reshape(n, n)) ** 2


def log_size(x, n):
    return np.linalg.slogdet(x[: n * n].reshape(n, n))[1]


def factored(x, n):
    factors = scipy.linalg.lu_factor(x[: n * n].reshape(n, n))
    return weighted(scipy.linalg.lu_solve(factors, np.cos(x[:n]), trans=1))


def triangular(x, n):
    a = x[: n * n].reshape(n, n)
    upper = scipy.linalg.solve_triangular(a, np.cos(x[:n]), trans=1)
    return weighted(scipy.linalg.solve_triangular(a, upper, lower=True, unit_diagonal=True))


def root(x, n):
    m = x[: n * n].reshape(n, n)
    return weighted(np.linalg.cholesky(m @ m.T + 0.5 * np.eye(n)))


def _root_by_hand(x, n):
    m = x[: n * n].reshape(n, n)
    a = m @ m.T + 0.5 * np.eye(n)
    f = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - f[i, :j] @ f[j, :j]
            f[i, j] = np.sqrt(rest) if i == j else rest / f[j, j]
    return weighted(f)


def _log_size_by_hand(x, n):
    d = np.linalg.det(x[: n * n].reshape(n, n))
    return np.log(d if d.real > 0 else -d)


def _factored_by_hand(x, n):
    return weighted(np.linalg.solve(x[: n * n].reshape(n, n).T, np.cos(x[:n])))


FUNCTIONS = {
    solve: solve, solve_vector: solve_vector, inverse: inverse, determinant: determinant,
    log_size: _log_size_by_hand, factored: _factored_by_hand, triangular: triangular,
    root: _root_by_hand,
}  # fmt: skip


def gradient_of(f, x, n):
    out = np.empty(len(x))
    for k in range(len(x)):
        step = x.astype(complex)
        step[k] += 1e-30j
        out[k] = f(step, n).imag / 1e-30
    return out


def curvature_of(f, x, n, d, h=1e-3):
    def slope(t):
        return gradient_of(f, x + t * d, n)

    near, far = (slope(h / 2) - slope(-h / 2)) / h, (slope(h) - slope(-h)) / (2 * h)
    return (4 * near - far) / 3


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_derivatives_are_those_of_lapack(f, n):
    x, truth = entries(n), FUNCTIONS[f]
    d = np.cos(np.arange(len(x)))
    slope, bend = gradient_of(truth, x, n), curvature_of(truth, x, n, d)
    at = dict(rtol=1e-10, atol=1e-10 * max(1.0, np.max(np.abs(slope))))
    for way in ("eager", "tape", "native"):
        run = ENGINES[way]
        value, found = run(jitad.value_and_grad(f), x, n)
        np.testing.assert_allclose(value, f(x, n), rtol=1e-12)
        np.testing.assert_allclose(found, slope, **at)
        if way != "native":
            moved = run(lambda x, d: jitad.jvp(lambda x: jitad.grad(f)(x, n), (x,), (d,))[1], x, d)
            np.testing.assert_allclose(moved, bend, rtol=1e-5, atol=1e-6 * np.max(np.abs(bend)))


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not factored], ids=lambda f: f.__name__)
def test_no_library_is_asked(f):
    source = kernel_of(lambda x: jitad.value_and_grad(f)(x, 3), entries(3))[1].source
    (imported,) = re.findall("from jitad.emit.preamble import (.*)", source)
    assert LIBRARY.isdisjoint(imported.split(", "))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_larger_pivot_is_taken(order):
    """Without it, what is solved with a tiny first pivot is lost."""
    a = np.array([[1e-20, 1.0, 2.0], [3.0, 1e-17, 1.0], [1.0, 2.0, 1e-18]])[list(order)]
    b = np.array([1.0, 2.0, 3.0])

    def x_of(a, b):
        return np.linalg.solve(a.reshape(3, 3), b)

    def turned(a, b):
        return np.linalg.inv(a.reshape(3, 3)).T @ b

    for f in (x_of, turned):
        for way in ("tape", "native"):
            np.testing.assert_allclose(ENGINES[way](f, a.ravel(), b), f(a, b), rtol=1e-14)


def test_determinants_are_differentiable_where_the_matrix_is_singular():
    """To second order, against the sum of products."""

    def det(x):
        return np.linalg.det(x.reshape(3, 3))

    def product(x):
        a, b, c, d, e, f, g, h, i = x
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)

    singular = np.outer([1.0, 2, 3], [4.0, 5, 6]), np.zeros((3, 3)), np.eye(3)[[0, 0, 2]]
    for x in map(np.ravel, singular):
        for way in ("tape", "native"):
            run = ENGINES[way]
            for operator in (jitad.grad, jitad.hessian):
                both = [run(operator(g), x) for g in (det, product)]
                np.testing.assert_allclose(*both, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_stacks_of_small_matrices_are_solved_in_the_open(n, dtype):
    a = np.stack([entries(n, dtype, seed) for seed in range(4)])

    def f(a):
        stack = a.reshape(4, n, n)
        inverse = np.linalg.inv(stack)
        return np.sum(np.linalg.slogdet(stack)[0]) + np.sum(inverse * np.sin(stack))

    value, slope = jitad.jit_value_and_grad(f)(a)
    assert slope.dtype == dtype
    wide = a.astype(np.float64)
    np.testing.assert_allclose(value, f(wide), rtol=1e-4 if dtype == np.float32 else 1e-12)

    def truth(x, _):
        stack = x.reshape(4, n, n)
        return np.sum(np.linalg.inv(stack) * np.sin(stack))

    np.testing.assert_allclose(
        slope.ravel(), gradient_of(truth, wide.ravel(), n),
        rtol=2e-3 if dtype == np.float32 else 1e-10, atol=1e-3 if dtype == np.float32 else 1e-9,
    )  # fmt: skip


@pytest.mark.parametrize("a", [[0.0, 0, 0, 0], [1.0, 2, 2, 4], [0.0, 1, 0, 3]])
def test_a_singular_matrix_is_an_error(a):
    f = jitad.jit(lambda x: np.linalg.inv(x.reshape(2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        f(np.array(a))
    assert jitad.jit(lambda x: np.linalg.det(x.reshape(2, 2)))(np.array(a)) == 0.0
    assert jitad.jit(lambda x: np.linalg.slogdet(x.reshape(2, 2)))(np.array(a)) == (0.0, -np.inf)


@pytest.mark.parametrize("a", [[-1.0, 0, 0, 1], [1.0, 2, 2, 4], [1.0, 2, 2, 3], [0.0, 0, 0, 0],
                               [np.nan, 0, 0, 1], [1.0, np.nan, np.nan, 1]])  # fmt: skip
def test_a_matrix_without_a_root_is_an_error(a):
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        jitad.jit(lambda x: np.linalg.cholesky(x.reshape(2, 2)))(np.array(a))


def test_only_the_lower_triangle_counts():
    """A root reads that triangle; what is above it has no derivative."""
    slope = jitad.jit_grad(lambda x: np.sum(np.linalg.cholesky(x.reshape(2, 2))))
    np.testing.assert_allclose(
        slope(np.array([4.0, 77.0, 2.0, 5.0])),
        [0.25 - 0.125 + 0.0625, 0.0, 0.5 - 0.25, 0.25], rtol=1e-14,
    )  # fmt: skip


def test_larger_ones_are_left_to_the_library():
    traced, _ = kernel_of(lambda x: np.linalg.inv(x.reshape(4, 4)), np.eye(4).ravel())
    kept = systems(traced.tape)
    assert kept is traced.tape and any(e.op == "solve" for e in walk(kept.body))
