"""A multilayer perceptron of three layers with tanh between them, and the mean squared error.

    h1 = tanh(X W1 + b1);  h2 = tanh(h1 W2 + b2);  f = 1/(2 n) * sum of (h2 W3 + b3 - Y)²

Source: D. E. Rumelhart, G. E. Hinton, R. J. Williams, Nature 323 (1986). Arguments, all float64:
`W1` (inputs, hidden), `b1` (hidden), `W2` (hidden, hidden), `b2` (hidden), `W3` (hidden, outputs),
`b3` (outputs), `X` (n, inputs), `Y` (n, outputs). Differentiated in weights and biases.
"""

import math

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, Dims, pick

ARGNUMS = (0, 1, 2, 3, 4, 5)
SIZES = {
    "small": {"n": 4, "inputs": 3, "hidden": 4, "outputs": 2},
    "medium": {"n": 64, "inputs": 16, "hidden": 32, "outputs": 4},
    "large": {"n": 512, "inputs": 64, "hidden": 128, "outputs": 10},
}


def objective(
    W1: Array, b1: Array, W2: Array, b2: Array, W3: Array, b3: Array, X: Array, Y: Array
) -> float:
    h1 = np.tanh(X @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    error = h2 @ W3 + b3 - Y
    return 0.5 * np.sum(error * error) / len(X)


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _activate(h: Array, b: Array) -> None:
    for i in range(h.shape[0]):
        for j in range(h.shape[1]):
            h[i, j] = math.tanh(h[i, j] + b[j])


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def _deactivate(g: Array, h: Array, g_b: Array) -> None:
    """Turn the sensitivity g of h = tanh(z) into that of z, and sum it up for the bias."""
    for j in range(len(g_b)):
        g_b[j] = 0.0
    for i in range(h.shape[0]):
        for j in range(h.shape[1]):
            g[i, j] *= 1.0 - h[i, j] * h[i, j]
            g_b[j] += g[i, j]


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    W1: Array, b1: Array, W2: Array, b2: Array, W3: Array, b3: Array, X: Array, Y: Array
) -> tuple[float, tuple[Array, Array, Array, Array, Array, Array]]:
    n = X.shape[0]
    hidden, outputs = W3.shape
    h1 = np.dot(X, W1)
    _activate(h1, b1)
    h2 = np.dot(h1, W2)
    _activate(h2, b2)
    error = np.dot(h2, W3)
    g_b3 = np.zeros(outputs)
    value = 0.0
    for i in range(n):
        for j in range(outputs):
            e = error[i, j] + b3[j] - Y[i, j]
            value += e * e
            error[i, j] = e / n
            g_b3[j] += error[i, j]
    g_W3 = np.dot(h2.T, error)
    g_b2 = np.empty(hidden)
    g_h = np.dot(error, W3.T)
    _deactivate(g_h, h2, g_b2)
    g_W2 = np.dot(h1.T, g_h)
    g_b1 = np.empty(hidden)
    g_in = h2  # its last use is over; the next layer's sensitivity takes its place
    np.dot(g_h, W2.T, g_in)
    _deactivate(g_in, h1, g_b1)
    g_W1 = np.dot(X.T, g_in)
    return 0.5 * value / n, (g_W1, g_b1, g_W2, g_b2, g_W3, g_b3)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, ...]:
    dims = pick(size, SIZES)
    n, i, h, o = dims["n"], dims["inputs"], dims["hidden"], dims["outputs"]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, i))
    Y = np.sin(X @ rng.normal(size=(i, o)))
    return (
        rng.normal(size=(i, h)) / math.sqrt(i),
        0.1 * rng.normal(size=h),
        rng.normal(size=(h, h)) / math.sqrt(h),
        0.1 * rng.normal(size=h),
        rng.normal(size=(h, o)) / math.sqrt(h),
        0.1 * rng.normal(size=o),
        X,
        Y,
    )
