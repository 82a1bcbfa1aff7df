"""The log-density of a Gaussian, by Cholesky's decomposition and a triangular solve with slices.

    A = L Lᵀ row by row in place,  L z = y,   f = sum of log L[i, i] + 1/2 * z·z

Source: PolyBench's cholesky with NumPy's products of slices, as in NPBench; the adjoint after
S. P. Smith, Journal of Computational and Graphical Statistics 4 (1995). Arguments: `A` (n, n),
positive definite, of which the lower triangle is read; `y` (n), float64. Differentiated in both.
"""

import math

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {"small": {"n": 4}, "medium": {"n": 60}, "large": {"n": 400}}


def objective(A: Array, y: Array) -> float:
    n = len(y)
    L = A.copy()
    for i in range(n):
        for j in range(i):
            L[i, j] -= np.dot(L[i, :j], L[j, :j])
            L[i, j] /= L[j, j]
        L[i, i] -= np.dot(L[i, :i], L[i, :i])
        L[i, i] = np.sqrt(L[i, i])
    z = np.zeros(n)
    for i in range(n):
        z[i] = (y[i] - np.dot(L[i, :i], z[:i])) / L[i, i]
    return np.sum(np.log(np.diag(L))) + 0.5 * np.sum(z * z)


@by_hand
def _decompose(L: Array) -> None:
    n = len(L)
    for i in range(n):
        for j in range(i):
            s = L[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]
        s = L[i, i]
        for k in range(i):
            s -= L[i, k] * L[i, k]
        L[i, i] = math.sqrt(s)


@by_hand
def _undecompose(L: Array, g: Array) -> None:
    for i in range(len(L) - 1, -1, -1):
        g[i, i] *= 0.5 / L[i, i]
        for k in range(i):
            g[i, k] -= 2.0 * g[i, i] * L[i, k]
        for j in range(i - 1, -1, -1):
            g[i, j] /= L[j, j]
            s = g[i, j]
            g[j, j] -= s * L[i, j]
            for k in range(j):
                g[i, k] -= s * L[j, k]
                g[j, k] -= s * L[i, k]


@by_hand
def gradient(A: Array, y: Array) -> tuple[float, tuple[Array, Array]]:
    n = len(y)
    L = A.copy()
    _decompose(L)
    z = np.empty(n)
    logs = squares = 0.0
    for i in range(n):
        s = y[i]
        for k in range(i):
            s -= L[i, k] * z[k]
        z[i] = s / L[i, i]
        logs += math.log(L[i, i])
        squares += z[i] * z[i]
    w = z.copy()
    g = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        w[i] /= L[i, i]
        for k in range(i):
            w[k] -= w[i] * L[i, k]
            g[i, k] = -w[i] * z[k]
        g[i, i] = 1.0 / L[i, i] - w[i] * z[i]
    _undecompose(L, g)
    return logs + 0.5 * squares, (g, w)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array]:
    n = pick(size, SIZES)["n"]
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n))
    return a @ a.T / n + np.eye(n), rng.normal(size=n)
