"""A linear system solved by LU decomposition in place, compared with a target.

    A = L U row by row,  L y = b,  U x = y,   f = 1/2 * |x - target|²

`gradient` is that of a solution, which takes no adjoint of the decomposition; `adjoint` goes back
through what the loops do, without being told what they are for.

Source: PolyBench's ludcmp with NumPy's products of slices, as in NPBench. Arguments: `A` (n, n),
diagonally dominant, `b`, `target` (n), float64. Differentiated in `A` and `b`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {"small": {"n": 4}, "medium": {"n": 60}, "large": {"n": 400}}


def objective(A: Array, b: Array, target: Array) -> float:
    n = len(b)
    M = A.copy()
    for i in range(n):
        for j in range(i):
            M[i, j] -= np.dot(M[i, :j], M[:j, j])
            M[i, j] /= M[j, j]
        for j in range(i, n):
            M[i, j] -= np.dot(M[i, :i], M[:i, j])
    x = np.zeros(n)
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[i] - np.dot(M[i, :i], y[:i])
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - np.dot(M[i, i + 1 :], x[i + 1 :])) / M[i, i]
    return 0.5 * np.sum((x - target) ** 2)


@by_hand
def _decomposed(A: Array) -> Array:
    """By operations on rows instead of products with columns: rows are contiguous."""
    n = len(A)
    M = A.copy()
    for i in range(n):
        for k in range(i):
            M[i, k] /= M[k, k]
            s = M[i, k]
            for j in range(k + 1, n):
                M[i, j] -= s * M[k, j]
    return M


@by_hand
def _solved(M: Array, b: Array, y: Array, x: Array) -> None:
    """L y = b, then U x = y; x may be y."""
    n = len(b)
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= M[i, k] * y[k]
        y[i] = s
    for i in range(n - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, n):
            s -= M[i, k] * x[k]
        x[i] = s / M[i, i]


@by_hand
def gradient(A: Array, b: Array, target: Array) -> tuple[float, tuple[Array, Array]]:
    n = len(b)
    M = _decomposed(A)
    x = np.empty(n)
    _solved(M, b, x, x)
    value = 0.0
    w = np.empty(n)
    for i in range(n):
        w[i] = x[i] - target[i]
        value += w[i] * w[i]
    # x solves A x = b: what b is pulled by solves with Aᵀ, and A's sensitivity is -w xᵀ.
    for i in range(n):
        w[i] /= M[i, i]
        for k in range(i + 1, n):
            w[k] -= w[i] * M[i, k]
    for i in range(n - 1, -1, -1):
        for k in range(i):
            w[k] -= w[i] * M[i, k]
    for i in range(n):
        for j in range(n):
            M[i, j] = -w[i] * x[j]
    return 0.5 * value, (M, w)


@by_hand
def adjoint(A: Array, b: Array, target: Array) -> tuple[float, tuple[Array, Array]]:
    n = len(b)
    M = _decomposed(A)
    y, x = np.empty(n), np.empty(n)
    _solved(M, b, y, x)
    value = 0.0
    w = np.empty(n)
    for i in range(n):
        w[i] = x[i] - target[i]
        value += w[i] * w[i]
    M_bar = np.empty((n, n))
    for i in range(n):  # back through U x = y: w becomes the adjoint of y
        w[i] /= M[i, i]
        for k in range(i + 1, n):
            w[k] -= w[i] * M[i, k]
        for k in range(i, n):
            M_bar[i, k] = -w[i] * x[k]
    for i in range(n - 1, -1, -1):  # and through L y = b: the adjoint of b
        for k in range(i):
            w[k] -= w[i] * M[i, k]
            M_bar[i, k] = -w[i] * y[k]
    for i in range(n - 1, -1, -1):
        for k in range(i - 1, -1, -1):
            s, t = M[i, k], M_bar[i, k]
            for j in range(k + 1, n):
                t -= M_bar[i, j] * M[k, j]
                M_bar[k, j] -= s * M_bar[i, j]
            t /= M[k, k]
            M_bar[k, k] -= t * s
            M_bar[i, k] = t
    return 0.5 * value, (M_bar, w)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array]:
    n = pick(size, SIZES)["n"]
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) / np.sqrt(n) + 3.0 * np.eye(n)
    return A, rng.normal(size=n), rng.normal(size=n)
