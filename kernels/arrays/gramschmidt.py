"""Orthogonal columns by the modified process of Gram and Schmidt, weighted and summed.

    R[k, k] = |A[:, k]|,  Q[:, k] = A[:, k] / R[k, k],  A[:, j] -= Q[:, k] (Q[:, k]·A[:, j]) for j > k
    f = sum of V * Q + sum of W * R

Source: PolyBench's gramschmidt. Arguments: `A0`, `V` (m, n), `W` (n, n), float64. Differentiated
in `A0`.
"""  # noqa: E501

import math

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {"small": {"m": 5, "n": 3}, "medium": {"m": 60, "n": 30}, "large": {"m": 240, "n": 200}}


def objective(A0: Array, V: Array, W: Array) -> float:
    A = A0.copy()
    n = A.shape[1]
    Q = np.zeros_like(A)
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum(V * Q) + np.sum(W * R)


@by_hand
def gradient(A0: Array, V: Array, W: Array) -> tuple[float, Array]:
    m, n = A0.shape
    # Columns as rows, which are contiguous.
    A, g = np.empty((n, m)), np.empty((n, m))
    for i in range(m):
        for k in range(n):
            A[k, i] = A0[i, k]
            g[k, i] = V[i, k]
    R = np.zeros((n, n))
    value = 0.0
    for k in range(n):
        s = 0.0
        for i in range(m):
            s += A[k, i] * A[k, i]
        R[k, k] = math.sqrt(s)
        value += W[k, k] * R[k, k]
        for i in range(m):
            A[k, i] /= R[k, k]
            value += g[k, i] * A[k, i]
        for j in range(k + 1, n):
            s = 0.0
            for i in range(m):
                s += A[k, i] * A[j, i]
            R[k, j] = s
            value += W[k, j] * s
            for i in range(m):
                A[j, i] -= A[k, i] * s
    # A now holds Q. On the way back column j regains what was taken from it, last first; g holds
    # the sensitivity of Q's column until its turn has come, of A's from then on.
    lasts = A.copy()
    for j in range(n):
        for i in range(m):
            lasts[j, i] *= R[j, j]
    for k in range(n - 1, -1, -1):
        for j in range(n - 1, k, -1):
            s = W[k, j]
            for i in range(m):
                lasts[j, i] += A[k, i] * R[k, j]
                s -= A[k, i] * g[j, i]
            for i in range(m):
                g[k, i] += s * lasts[j, i] - R[k, j] * g[j, i]
                g[j, i] += s * A[k, i]
        s = 0.0
        for i in range(m):
            s += g[k, i] * A[k, i]
        for i in range(m):
            g[k, i] = (g[k, i] - s * A[k, i]) / R[k, k] + W[k, k] * A[k, i]
    out = np.empty((m, n))
    for i in range(m):
        for k in range(n):
            out[i, k] = g[k, i]
    return value, out


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    shape = (dims["m"], dims["n"])
    return rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=(dims["n"],) * 2)
