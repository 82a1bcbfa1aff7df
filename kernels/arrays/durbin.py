"""Durbin's recursion for a Toeplitz system, whose solution grows by one element a step.

    y[:k] += alpha * y[:k] reversed,  y[k] = alpha = -(r[k] + r[:k] reversed · y[:k]) / beta
    f = 1/2 * |y - target|²

Source: PolyBench's durbin; G. Golub, C. Van Loan, Matrix Computations, section 4.7. Arguments: `r`,
`target` (n), float64. Differentiated in `r`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {"small": {"n": 5}, "medium": {"n": 100}, "large": {"n": 1000}}


def objective(r: Array, target: Array) -> float:
    y = np.zeros_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return 0.5 * np.sum((y - target) ** 2)


@by_hand
def gradient(r: Array, target: Array) -> tuple[float, Array]:
    n = len(r)
    ys = np.empty(n * (n + 1) // 2)  # row k, of k+1 elements, is y after step k
    alphas, betas = np.empty(n), np.empty(n)
    ys[0] = alphas[0] = -r[0]
    betas[0] = 1.0
    row = 0
    for k in range(1, n):
        betas[k] = betas[k - 1] * (1.0 - alphas[k - 1] * alphas[k - 1])
        s = r[k]
        for i in range(k):
            s += r[k - 1 - i] * ys[row + i]
        alpha = alphas[k] = -s / betas[k]
        for i in range(k):
            ys[row + k + i] = ys[row + i] + alpha * ys[row + k - 1 - i]
        row += k
        ys[row + k] = alpha
    value = 0.0
    g, g_r, new = np.empty(n), np.zeros(n), np.empty(n)
    for i in range(n):
        g[i] = ys[row + i] - target[i]
        value += g[i] * g[i]
    g_alpha = g_beta = 0.0
    for k in range(n - 1, 0, -1):
        row -= k
        g_alpha += g[k]
        for i in range(k):
            g_alpha += g[i] * ys[row + k - 1 - i]
        s = -g_alpha / betas[k]
        g_beta += s * alphas[k]
        g_r[k] += s
        for i in range(k):
            g_r[k - 1 - i] += s * ys[row + i]
            new[i] = g[i] + alphas[k] * g[k - 1 - i] + s * r[k - 1 - i]
        g, new = new, g
        g_alpha = -2.0 * alphas[k - 1] * betas[k - 1] * g_beta
        g_beta *= 1.0 - alphas[k - 1] * alphas[k - 1]
    g_r[0] -= g_alpha + g[0]
    return 0.5 * value, g_r


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array]:
    n = pick(size, SIZES)["n"]
    rng = np.random.default_rng(seed)
    r = 0.5 ** (1.0 + np.arange(n)) * rng.uniform(0.5, 1.0, n)
    return r, rng.normal(size=n)
