"""What is still in place after nests of loops, and is it read only there?

Eliminations in place are read as they were left, without any record; random nests over two axes,
whose reads and writes overlap in all ways, must have the right gradient whatever is proved of them.
The truth is a derivative by complex steps of the function itself, run by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit_grad
from tests.engines import as_emitted
from tests.sweeps.test_settled import by_complex_steps

N = 5
X = np.random.default_rng(8).uniform(0.5, 1.5, N * N)


def matrix(x: Any) -> Any:
    return 0.2 * x.reshape(N, N) + 2.0 * np.eye(N)


def by_rows(x: Any) -> Any:
    """L and U in place, products of slices."""
    m = matrix(x)
    for i in range(N):
        for j in range(i):
            m[i, j] -= np.dot(m[i, :j], m[:j, j])
            m[i, j] /= m[j, j]
        for j in range(i, N):
            m[i, j] -= np.dot(m[i, :i], m[:i, j])
    return np.sum(m * m * m)


def by_pivots(x: Any) -> Any:
    """Each pivot's row is taken from all rows below it: records would grow with the cube of n."""
    m = matrix(x)
    for k in range(N):
        for i in range(k + 1, N):
            m[i, k] /= m[k, k]
            m[i, k + 1 :] -= m[i, k] * m[k, k + 1 :]
    return np.sum(m * m * m)


def downwards(x: Any) -> Any:
    m = matrix(x)
    for k in range(N - 1, -1, -1):
        for i in range(k - 1, -1, -1):
            m[i, k] /= m[k, k]
            m[i, :k] -= m[i, k] * m[k, :k]
    return np.sum(m * m * m)


def factors_apart(x: Any) -> Any:
    """What would be recorded, norms, quotients and products, lies in arrays already."""
    a, r, q = matrix(x), 0.0 * matrix(x), 0.0 * matrix(x)
    for k in range(N):
        r[k, k] = np.sqrt(np.dot(a[k], a[k]))
        q[k] = a[k] / r[k, k]
        for j in range(k + 1, N):
            r[k, j] = np.dot(q[k], a[j])
            r[k, j] = r[k, j] * r[k, k] / (r[k, j] + x[j])
    return np.sum(q * q * q) + np.sum(r)


def in_a_branch(x: Any) -> Any:
    m = matrix(x)
    for i in range(1, N):
        for j in range(N):
            if x[j] > 1.0:
                m[i, j] = m[i - 1, j] * m[i - 1, j]
            else:
                m[i, j] = m[i - 1, j] * x[i]
    return np.sum(m)


UNRECORDED = [by_rows, by_pivots, downwards, factors_apart, in_a_branch]


def overwritten_in_the_next_row(x: Any) -> Any:
    m = matrix(x)
    for i in range(1, N):
        for j in range(1, N):
            m[i, j] = m[i, j - 1] * m[i - 1, j]
            m[i - 1, j] = m[i, j] * x[j]
    return np.sum(m * m)


def overwritten_by_a_second_loop(x: Any) -> Any:
    m = matrix(x)
    for i in range(1, N):
        for j in range(N):
            m[i, j] = m[i - 1, j] * m[i - 1, j]
        for j in range(N - 1):
            m[i, j] = m[i, j + 1] * m[i, j]
    return np.sum(m * m)


def overwritten_from_inside(x: Any) -> Any:
    """A later run of an inner loop reaches back to where an earlier one has read."""
    m = matrix(x)
    for i in range(1, N):
        for j in range(i):
            m[i, j] = m[j, i] * m[i - 1, j]
            m[j, i] = x[i] * m[j, j]
    return np.sum(m * m)


def kept_and_overwritten(x: Any) -> Any:
    """What was stored is wanted backwards, and is stored over in a later iteration."""
    r = matrix(x)
    total = 0.0
    for k in range(N):
        for j in range(k, N):
            q = x[k] / r[k, j]
            r[0, j] = q
            total = total + q * q * q
    return total + np.sum(r)


def of_an_older_version(x: Any) -> Any:
    m = matrix(x)
    total = 0.0
    for i in range(1, N):
        before = m.copy()
        m[i] = m[i - 1] * m[i - 1]
        total = total + np.sum(before[i] * before[i])
    return total + np.sum(m)


OTHERS = [overwritten_in_the_next_row, overwritten_by_a_second_loop, overwritten_from_inside,
          kept_and_overwritten, of_an_older_version]  # fmt: skip


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("f", UNRECORDED + OTHERS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    g = jit_grad(f)
    close(g(X), by_complex_steps(f, X))
    assert "kept" not in g.source or f in OTHERS


def random_nest(seed: int) -> Callable[[Any], Any]:
    """Two loops over the inside of a matrix, with two writes and reads all around them."""
    rng = np.random.default_rng(seed)

    def shift() -> list[int]:
        return [int(k) for k in rng.integers(-1, 2, 4)]

    a, b, c, d, e, w, z = (shift() for _ in range(7))
    backwards, triangle, fixed, second = (bool(k) for k in rng.integers(0, 2, 4))

    def nest(x: Any) -> Any:
        m = matrix(x)
        for i in range(N - 2, 0, -1) if backwards else range(1, N - 1):
            for j in range(i, N - 1) if triangle else range(1, N - 1):
                p = m[i + a[0], j + a[1]] * m[i + b[0], j + b[1]]
                m[i + w[0], j + w[1]] = p * x[j] + m[j + c[0], i + c[1]]
                if second:
                    m[1 if fixed else i, j + z[1]] -= m[i + d[0], j + d[1]] * m[i + e[0], i + e[1]]
            m[i + z[0], :i] /= m[i + z[2], i + z[3]]
        return np.sum(m * m)

    return nest


@pytest.mark.parametrize("seed", range(24))
def test_random_nests(seed: int) -> None:
    f = random_nest(seed)
    close(as_emitted(grad(f), X), by_complex_steps(f, X))


def pooled(x: Any) -> Any:
    """What is largest of each window is there when it is asked for: in the result."""
    m = 1.0 * x
    rows, columns = m.shape[0] // 2, m.shape[1] // 2
    out = np.empty((rows, columns, m.shape[2]))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = np.max(m[2 * i : 2 * i + 2, 2 * j : 2 * j + 2], axis=(0, 1))
    return np.sum(out * out * out)


def test_what_an_inner_loop_has_stored() -> None:
    x = np.random.default_rng(8).uniform(0.5, 1.5, (6, 4, 3))
    expected = np.zeros(x.shape)
    for i in (0, 2, 4):
        for j in (0, 2):
            w = x[i : i + 2, j : j + 2]
            expected[i : i + 2, j : j + 2] = np.where(w == w.max((0, 1)), 3.0 * w * w, 0.0)
    close(jit_grad(pooled)(x), expected)
