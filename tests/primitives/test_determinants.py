"""Are derivatives of a determinant right where the matrix is singular, or nearly, or ill scaled?

The truth is computed with fractions: second derivatives are minors, and along a direction the
determinant is a polynomial.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import jitad


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    rows, out = [list(r) for r in rows], Fraction(1)
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot], out = rows[pivot], rows[k], -out
        out *= rows[k][k]
        for i in range(k + 1, len(rows)):
            by = rows[i][k] / rows[k][k]
            rows[i] = [x - by * y for x, y in zip(rows[i], rows[k], strict=True)]
    return out


def _exact(a: Any) -> list[list[Fraction]]:
    return [[Fraction(float(x)) for x in row] for row in a]


def _second(a: Any) -> Any:
    n, exact = len(a), _exact(a)
    out = np.zeros((n,) * 4)
    for i, j, k, m in itertools.product(range(n), repeat=4):
        if i != k and j != m:
            rest = [[exact[p][q] for q in range(n) if q not in (j, m)]
                    for p in range(n) if p not in (i, k)]  # fmt: skip
            sign = (-1) ** (i + j + k + m + (i < k) + (j < m))
            out[i, j, k, m] = sign * _determinant(rest)
    return out


def _along(a: Any, e: Any, order: int) -> float:
    """The derivative of the polynomial det(a + t e) at zero, by what it is at integers."""
    n, (a, e) = len(a), (_exact(a), _exact(e))
    values = [
        _determinant([[x + t * y for x, y in zip(p, q, strict=True)]
                      for p, q in zip(a, e, strict=True)]) for t in range(n + 1)
    ]  # fmt: skip
    powers = [[Fraction(t**k) for k in range(n + 1)] for t in range(n + 1)]
    replaced = [[v if k == order else x for k, x in enumerate(row)]
                for row, v in zip(powers, values, strict=True)]  # fmt: skip
    factorial = int(np.prod(np.arange(1, order + 1)))
    return float(factorial * _determinant(replaced) / _determinant(powers))


def _of_rank(n: int, rank: int) -> Any:
    random = np.random.default_rng(10 * n + rank)
    left, right = (random.integers(-3, 4, (n, rank)).astype(float) for _ in range(2))
    return left @ right.T


SIZES = 2.0 ** np.array([-300, 0, 300, 10])
MATRICES = {
    **{f"rank {r} of {n}": _of_rank(n, r) for n, r in ((1, 0), (2, 0), (2, 1), (3, 1), (3, 2))},
    **{f"rank {r} of 4": _of_rank(4, r) for r in range(5)},
    "rank 2 of 6": _of_rank(6, 2),
    "nearly singular": _of_rank(4, 2) + 2.0**-30 * np.eye(4),
    "rows of all sizes": _of_rank(4, 4) * SIZES[:, None],
    "columns of all sizes, two rows the same": _of_rank(4, 4)[[0, 1, 1, 2]] * SIZES,
    "diagonal": np.diag([1e-10, 1.0, 1e10, 3.0]),
}
CURVATURES = (jitad.hessian(np.linalg.det), jitad.jit_hessian(np.linalg.det))


@pytest.mark.parametrize("name", MATRICES)
def test_second_derivatives(name):
    a = MATRICES[name]
    expected = _second(a)
    scale = np.ones(expected.shape)  # of an element by those of its row or its column
    if name.startswith("rows"):
        scale *= (SIZES[:, None] * SIZES)[:, None, :, None]
    if name.startswith("columns"):
        scale *= (SIZES[:, None] * SIZES)[None, :, None, :]
    for way in CURVATURES:
        error = np.abs((way(a) - expected) * scale)
        assert np.max(error) <= 1e-12 * max(np.max(np.abs(expected * scale)), 1.0)
        if name == "diagonal":
            np.testing.assert_allclose(way(a), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("way", [jitad.grad, jitad.jit_grad])
def test_the_gradient_of_a_singular_matrix_whose_columns_differ_in_size(way):
    a = MATRICES["columns of all sizes, two rows the same"]
    exact, expected = _exact(a), np.zeros((4, 4))
    for i, j in np.ndindex(4, 4):
        rest = [row[:j] + row[j + 1 :] for k, row in enumerate(exact) if k != i]
        expected[i, j] = (-1) ** (i + j) * _determinant(rest)
    scale = np.max(np.abs(expected), axis=0)
    np.testing.assert_allclose(way(np.linalg.det)(a) / scale, expected / scale, atol=1e-13)


def _moved(t, a, e):
    return np.linalg.det(a + t * e)


HIGHER = [jitad.derivative(jitad.derivative(jitad.derivative(_moved))),
          jitad.grad(jitad.derivative(jitad.grad(_moved)))]  # fmt: skip
HIGHER += [jitad.jit(f) for f in HIGHER]


@pytest.mark.parametrize("name", ["rank 4 of 4", "rank 3 of 4", "rank 2 of 4", "rank 1 of 4",
                                  "nearly singular"])  # fmt: skip
def test_third_derivatives(name):
    a = MATRICES[name]
    e = np.random.default_rng(3).integers(-3, 4, a.shape).astype(float)
    for f in HIGHER:
        np.testing.assert_allclose(f(0.0, a, e), _along(a, e, 3), rtol=1e-9, atol=1e-9)
    fourth = jitad.derivative(HIGHER[0])(0.0, a, e)
    np.testing.assert_allclose(fourth, _along(a, e, 4), rtol=1e-9)


def test_what_is_not_known_of_low_ranks_is_nan_and_no_number():
    for f in HIGHER:
        assert np.isnan(f(0.0, _of_rank(6, 2), np.eye(6)))


@pytest.mark.parametrize("way", CURVATURES)
def test_of_a_matrix_with_nan_it_is_nan(way):
    a = _of_rank(4, 4)
    a[1, 2] = np.nan
    assert np.isnan(way(a)).any()


@pytest.mark.parametrize("way", CURVATURES)
def test_single_precision(way):
    a = _of_rank(4, 3)
    expected = _second(a)
    found = way(a.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.max(np.abs(expected)))
