"""A convolution of images with many channels, pixel by pixel with slices, compared with a target.

    out[:, i, j, :] = sum of x[:, i:i+K, j:j+K, :, None] * weights[None] over axes 1, 2, 3, + bias
    f = 1/2 * sum of (out - target)²

Source: the layer of a convolutional network as written in NPBench. Arguments: `x` (n, h, w, cin),
`weights` (k, k, cin, cout), `bias` (cout), `target` (n, h-k+1, w-k+1, cout), float64.
Differentiated in `x`, `weights` and `bias`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1, 2)
SIZES = {
    "small": {"n": 2, "h": 4, "k": 2, "cin": 2, "cout": 3},
    "medium": {"n": 2, "h": 12, "k": 3, "cin": 3, "cout": 8},
    "large": {"n": 4, "h": 32, "k": 5, "cin": 3, "cout": 16},
}


def convolved(x: Array, weights: Array) -> Array:
    size = weights.shape[0]
    rows, cols = x.shape[1] - size + 1, x.shape[2] - size + 1
    out = np.empty((x.shape[0], rows, cols, weights.shape[3]))
    for i in range(rows):
        for j in range(cols):
            out[:, i, j, :] = np.sum(
                x[:, i : i + size, j : j + size, :, np.newaxis] * weights[np.newaxis],
                axis=(1, 2, 3),
            )
    return out


def objective(x: Array, weights: Array, bias: Array, target: Array) -> float:
    return 0.5 * np.sum((convolved(x, weights) + bias - target) ** 2)


@by_hand
def convolve(x: Array, weights: Array, bias: Array, out: Array) -> None:
    size, _, cin, cout = weights.shape
    n, rows, cols, _ = out.shape
    for m in range(n):
        for i in range(rows):
            for j in range(cols):
                for d in range(cout):
                    out[m, i, j, d] = bias[d]
                for a in range(size):
                    for b in range(size):
                        for c in range(cin):
                            s = x[m, i + a, j + b, c]
                            for d in range(cout):
                                out[m, i, j, d] += s * weights[a, b, c, d]


@by_hand
def unconvolve(
    x: Array, weights: Array, lam: Array, g_x: Array, g_weights: Array, g_bias: Array
) -> None:
    """Add the sensitivities of what went into a convolution whose result has lam."""
    size, _, cin, cout = weights.shape
    n, rows, cols, _ = lam.shape
    for m in range(n):
        for i in range(rows):
            for j in range(cols):
                for d in range(cout):
                    g_bias[d] += lam[m, i, j, d]
                for a in range(size):
                    for b in range(size):
                        for c in range(cin):
                            s, t = x[m, i + a, j + b, c], 0.0
                            for d in range(cout):
                                t += lam[m, i, j, d] * weights[a, b, c, d]
                                g_weights[a, b, c, d] += s * lam[m, i, j, d]
                            g_x[m, i + a, j + b, c] += t


@by_hand
def gradient(
    x: Array, weights: Array, bias: Array, target: Array
) -> tuple[float, tuple[Array, Array, Array]]:
    out = np.empty_like(target)
    convolve(x, weights, bias, out)
    value = 0.0
    flat, wanted = out.ravel(), target.ravel()
    for i in range(flat.size):
        flat[i] -= wanted[i]
        value += flat[i] * flat[i]
    g_x, g_weights, g_bias = np.zeros_like(x), np.zeros_like(weights), np.zeros_like(bias)
    unconvolve(x, weights, out, g_x, g_weights, g_bias)
    return 0.5 * value, (g_x, g_weights, g_bias)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Array]:
    d = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(d["n"], d["h"], d["h"] + 1, d["cin"]))
    weights = rng.normal(size=(d["k"], d["k"], d["cin"], d["cout"]))
    out = (d["n"], d["h"] - d["k"] + 1, d["h"] - d["k"] + 2, d["cout"])
    return x, weights, rng.normal(size=d["cout"]), rng.normal(size=out)
