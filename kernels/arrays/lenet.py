"""A small convolutional network: two convolutions by slices with pooling, two dense layers.

    h = pool(relu(conv(x, w1) + b1));  h = pool(relu(conv(h, w2) + b2));  h = relu(h w3 + b3)
    f = 1/2 * sum of (h w4 + b4 - target)² / n

Source: Y. LeCun et al., Proceedings of the IEEE 86 (1998), as written in NPBench. Arguments, all
float64: `x` (n, h, h, 1); `w1` (5, 5, 1, c1), `b1` (c1); `w2` (5, 5, c1, c2), `b2` (c2); `w3`
(features, hidden), `b3` (hidden); `w4` (hidden, 10), `b4` (10); `target` (n, 10). Differentiated in
weights and biases.
"""

import numpy as np

from kernels.arrays.conv2d import convolve, convolved, unconvolve
from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (1, 2, 3, 4, 5, 6, 7, 8)
SIZES = {
    "small": {"n": 1, "h": 16, "c1": 1, "c2": 2, "hidden": 3},
    "medium": {"n": 2, "h": 16, "c1": 4, "c2": 8, "hidden": 16},
    "large": {"n": 8, "h": 28, "c1": 6, "c2": 16, "hidden": 84},
}


def pooled(x: Array) -> Array:
    rows, cols = x.shape[1] // 2, x.shape[2] // 2
    out = np.empty((x.shape[0], rows, cols, x.shape[3]))
    for i in range(rows):
        for j in range(cols):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def objective(
    x: Array, w1: Array, b1: Array, w2: Array, b2: Array, w3: Array, b3: Array, w4: Array,
    b4: Array, target: Array,
) -> float:  # fmt: skip
    h = pooled(np.maximum(convolved(x, w1) + b1, 0.0))
    h = pooled(np.maximum(convolved(h, w2) + b2, 0.0))
    h = np.maximum(h.reshape(len(x), w3.shape[0]) @ w3 + b3, 0.0)
    return 0.5 * np.sum((h @ w4 + b4 - target) ** 2) / len(x)


@by_hand
def _pool(z: Array, out: Array) -> None:
    """The maximum of four, and of zero."""
    n, rows, cols, depth = out.shape
    for m in range(n):
        for i in range(rows):
            for j in range(cols):
                for d in range(depth):
                    top = max(z[m, 2 * i, 2 * j, d], z[m, 2 * i, 2 * j + 1, d])
                    low = max(z[m, 2 * i + 1, 2 * j, d], z[m, 2 * i + 1, 2 * j + 1, d])
                    out[m, i, j, d] = max(max(top, low), 0.0)


@by_hand
def _unpool(z: Array, out: Array, lam: Array) -> None:
    """Turn z into its own sensitivity, from lam of `out`."""
    n, rows, cols, depth = out.shape
    for m in range(n):
        for i in range(z.shape[1]):
            for j in range(z.shape[2]):
                for d in range(depth):
                    if i < 2 * rows and j < 2 * cols:
                        top = out[m, i // 2, j // 2, d]
                        taken = top > 0.0 and z[m, i, j, d] == top
                        z[m, i, j, d] = lam[m, i // 2, j // 2, d] if taken else 0.0
                    else:
                        z[m, i, j, d] = 0.0


@by_hand
def gradient(
    x: Array, w1: Array, b1: Array, w2: Array, b2: Array, w3: Array, b3: Array, w4: Array,
    b4: Array, target: Array,
) -> tuple[float, tuple[Array, Array, Array, Array, Array, Array, Array, Array]]:  # fmt: skip
    n, rows, cols, _ = x.shape
    rows, cols = rows - w1.shape[0] + 1, cols - w1.shape[1] + 1
    z1 = np.empty((n, rows, cols, len(b1)))
    convolve(x, w1, b1, z1)
    h1 = np.empty((n, rows // 2, cols // 2, len(b1)))
    _pool(z1, h1)
    rows, cols = rows // 2 - w2.shape[0] + 1, cols // 2 - w2.shape[1] + 1
    z2 = np.empty((n, rows, cols, len(b2)))
    convolve(h1, w2, b2, z2)
    h2 = np.empty((n, rows // 2, cols // 2, len(b2)))
    _pool(z2, h2)
    flat = h2.reshape(n, w3.shape[0])
    h3 = np.dot(flat, w3)
    for m in range(n):
        for d in range(len(b3)):
            h3[m, d] = max(h3[m, d] + b3[d], 0.0)
    error = np.dot(h3, w4)
    value = 0.0
    g_b4, g_b3 = np.zeros_like(b4), np.zeros_like(b3)
    for m in range(n):
        for d in range(len(b4)):
            e = error[m, d] + b4[d] - target[m, d]
            value += e * e
            error[m, d] = e / n
            g_b4[d] += e / n
    g_w4 = np.dot(h3.T, error)
    g_h3 = np.dot(error, w4.T)
    for m in range(n):
        for d in range(len(b3)):
            g_h3[m, d] = g_h3[m, d] if h3[m, d] > 0.0 else 0.0
            g_b3[d] += g_h3[m, d]
    g_w3 = np.dot(flat.T, g_h3)
    g_h2 = np.dot(g_h3, w3.T).reshape(h2.shape)
    _unpool(z2, h2, g_h2)
    g_h1, g_w2, g_b2 = np.zeros_like(h1), np.zeros_like(w2), np.zeros_like(b2)
    unconvolve(h1, w2, z2, g_h1, g_w2, g_b2)
    _unpool(z1, h1, g_h1)
    g_w1, g_b1 = np.zeros_like(w1), np.zeros_like(b1)
    size, _, cin, cout = w1.shape
    for m in range(n):  # nothing depends on the image's sensitivity
        for i in range(z1.shape[1]):
            for j in range(z1.shape[2]):
                for d in range(cout):
                    g_b1[d] += z1[m, i, j, d]
                for a in range(size):
                    for b in range(size):
                        for c in range(cin):
                            for d in range(cout):
                                g_w1[a, b, c, d] += x[m, i + a, j + b, c] * z1[m, i, j, d]
    return 0.5 * value / n, (g_w1, g_b1, g_w2, g_b2, g_w3, g_b3, g_w4, g_b4)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, ...]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    n, c1, c2, hidden = dims["n"], dims["c1"], dims["c2"], dims["hidden"]
    side = ((dims["h"] - 4) // 2 - 4) // 2
    features = side * side * c2

    def scaled(*shape: int) -> Array:
        return rng.normal(size=shape) / np.sqrt(np.prod(shape[:-1]))

    return (
        rng.normal(size=(n, dims["h"], dims["h"], 1)),
        scaled(5, 5, 1, c1), 0.1 * rng.normal(size=c1),
        scaled(5, 5, c1, c2), 0.1 * rng.normal(size=c2),
        scaled(features, hidden), 0.1 * rng.normal(size=hidden),
        scaled(hidden, 10), 0.1 * rng.normal(size=10),
        rng.normal(size=(n, 10)),
    )  # fmt: skip
