"""Do calls on whole arrays meet strides, loops, small arrays and empty ones as NumPy does?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import ENGINES

RNG = np.random.default_rng(2)
A = RNG.normal(size=(8, 8))
SQUARE = A[:4, :4] + 3.0 * np.eye(4)


def solved_again(a, b):
    """A factorisation in a loop of the tape, its result carried on."""
    for _ in range(len(b)):
        b = np.linalg.solve(a, b) + 0.1 * b
        a = a + 0.01 * np.outer(b, b)
    return np.sum(b * b)


def sorted_again(a, b):
    total = 0.0
    for i in range(len(b)):
        row = np.sort(a[i] * b)
        a[i] = row
        total += row[0] * row[-1] + np.median(row) * np.linalg.det(a)
    return total


def whole(a, b):
    m = a @ a.T
    return (np.sum(np.linalg.cholesky(m)) + np.einsum("ij,jk,k->", a, m, b)
            + np.sum(np.sort(a, axis=0)[1] * b) + np.linalg.eigvalsh(m)[0])  # fmt: skip


LAYOUTS = {
    "rows": SQUARE, "columns": np.asfortranarray(SQUARE),
    "backwards": np.ascontiguousarray(SQUARE[::-1, ::-1])[::-1, ::-1],
    "every other": np.repeat(np.repeat(SQUARE, 2, 0), 2, 1)[::2, ::2],
}  # fmt: skip
B = np.array([0.5, -1.0, 2.0, 0.3])


def slope(f: Any, a: Any, b: Any, d: Any, e: Any) -> float:
    def at(h: float) -> Any:
        return f(np.array(a + h * d), np.array(b + h * e))

    def central(h: float) -> float:
        return (at(h) - at(-h)) / (2 * h)

    return (4 * central(5e-4) - central(1e-3)) / 3


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", [solved_again, sorted_again, whole])
def test_layouts_and_loops(f: Any, layout: str) -> None:
    a = LAYOUTS[layout]
    before = a.copy()
    d, e = RNG.normal(size=a.shape), RNG.normal(size=B.shape)
    want = slope(f, SQUARE, B, d, e)
    for name in ("eager", "tape", *(["native"] if layout in ("rows", "every other") else [])):
        ga, gb = ENGINES[name](jitad.grad(f, argnums=(0, 1)), a, B)
        assert np.sum(ga * d) + np.sum(gb * e) == pytest.approx(want, rel=1e-6), name
        np.testing.assert_array_equal(a, before)


def test_small_arrays_of_scalars() -> None:
    def f(x, y, z):
        v = np.sort(np.array([x, y, z]))
        m = np.array([[x + 3.0, y], [z, 2.0]])
        return v[0] * v[2] ** 2 + np.linalg.det(m) + np.sum(np.linalg.solve(m, v[:2]))

    at = (0.5, -1.0, 2.0)
    want = [(f(*at[:k], at[k] + 1e-6, *at[k + 1 :]) - f(*at[:k], at[k] - 1e-6, *at[k + 1 :])) / 2e-6
            for k in range(3)]  # fmt: skip
    for name in ENGINES:
        found = ENGINES[name](jitad.grad(f, argnums=(0, 1, 2)), *at)
        np.testing.assert_allclose(found, want, rtol=1e-7, err_msg=name)


def test_nothing() -> None:
    def f(a):
        b = a[:0]
        c = a[:, None][:0] * a[:0]
        return (np.sum(np.sort(b)) + np.sum(a) + np.linalg.det(c) + np.sum(np.linalg.inv(c))
                + np.sum(np.linalg.cholesky(c)) + np.sum(np.convolve(a, a)) + np.nansum(b)
                + np.sum(np.einsum("ij,jk->ik", c, c)))  # fmt: skip

    a = np.array([1.0, 2.0])
    for name in ENGINES:
        assert ENGINES[name](f if name == "eager" else jitad.jit(f), a) == pytest.approx(f(a))
        np.testing.assert_allclose(ENGINES[name](jitad.grad(f), a), [7.0, 7.0])


@pytest.mark.parametrize("f, message", [
    (lambda a: np.sum(np.linalg.inv(a - a)), "Singular matrix"),
    (lambda a: np.sum(np.linalg.cholesky(-a @ a.T)), "not positive definite"),
])  # fmt: skip
def test_errors_are_those_of_numpy(f: Any, message: str) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        f(SQUARE)
    for run in (jitad.grad(f), jitad.jit_grad(f)):
        with pytest.raises(np.linalg.LinAlgError, match=message) as caught:
            run(SQUARE)
        assert isinstance(caught.value, JitadError)
        assert "test_layout.py" in str(caught.value)


def test_eigenvalues_that_coincide() -> None:
    """Their sum has a derivative; a single vector of them has none, and doesn't pretend."""
    g = jitad.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(np.eye(3))
    np.testing.assert_allclose(g, 2.0 * np.eye(3), atol=1e-14)
    with np.errstate(all="ignore"):
        g = jitad.grad(lambda a: np.linalg.eigh(a)[1][0, 1])(np.eye(3))
    assert np.isnan(g).any()
