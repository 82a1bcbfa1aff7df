"""Deriche's recursive filter: two recursions along the rows of an image, two along its columns.

    y[j] = a1 x[j] + a2 x[j-1] + b1 y[j-1] + b2 y[j-2]  to the right, and its like to the left
    f = 1/2 * sum of (smoothed - target)²

Source: R. Deriche, INRIA report 1893 (1993), with the coefficients of PolyBench. Arguments: `img`,
`target` (rows, columns) float64; `alpha` float. Differentiated in `img` and `alpha`.
"""

import math

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {"small": {"n": 5}, "medium": {"n": 64}, "large": {"n": 500}}


def objective(img: Array, alpha: float, target: Array) -> float:
    e = np.exp(-alpha)
    k = (1.0 - e) * (1.0 - e) / (1.0 + alpha * e * 2.0 - e * e)
    a1, a2, a3, a4 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e
    b1, b2 = 2.0 ** (-alpha), -e * e
    rows, cols = img.shape

    y1 = np.empty_like(img)
    y2 = np.empty_like(img)
    y1[:, 0] = a1 * img[:, 0]
    y1[:, 1] = a1 * img[:, 1] + a2 * img[:, 0] + b1 * y1[:, 0]
    for j in range(2, cols):
        y1[:, j] = a1 * img[:, j] + a2 * img[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * img[:, -1]
    for j in range(cols - 3, -1, -1):
        y2[:, j] = a3 * img[:, j + 1] + a4 * img[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
    mid = y1 + y2

    y1[0, :] = a1 * mid[0, :]
    y1[1, :] = a1 * mid[1, :] + a2 * mid[0, :] + b1 * y1[0, :]
    for i in range(2, rows):
        y1[i, :] = a1 * mid[i, :] + a2 * mid[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[-1, :] = 0.0
    y2[-2, :] = a3 * mid[-1, :]
    for i in range(rows - 3, -1, -1):
        y2[i, :] = a3 * mid[i + 1, :] + a4 * mid[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
    return 0.5 * np.sum((y1 + y2 - target) ** 2)


Six = tuple[float, float, float, float, float, float]


# Both directions recur along the first axis, of a transposed copy for the rows: what is next to
# each other in memory is independent then, and runs in lanes.
@by_hand
def _smooth(x: Array, c: Six, y1: Array, y2: Array) -> None:
    a1, a2, a3, a4, b1, b2 = c
    n, m = x.shape
    for j in range(m):
        y1[0, j] = a1 * x[0, j]
        y1[1, j] = a1 * x[1, j] + a2 * x[0, j] + b1 * y1[0, j]
        y2[n - 1, j] = 0.0
        y2[n - 2, j] = a3 * x[n - 1, j]
    for i in range(2, n):
        for j in range(m):
            y1[i, j] = a1 * x[i, j] + a2 * x[i - 1, j] + b1 * y1[i - 1, j] + b2 * y1[i - 2, j]
    for i in range(n - 3, -1, -1):
        for j in range(m):
            y2[i, j] = a3 * x[i + 1, j] + a4 * x[i + 2, j] + b1 * y2[i + 1, j] + b2 * y2[i + 2, j]


@by_hand
def _unsmooth(x: Array, c: Six, y1: Array, y2: Array, lam: Array, s: Array, g: Array) -> Six:
    """Sensitivity of x into g, from lam of the sum of y1 and y2; s is scratch."""
    a1, a2, a3, a4, b1, b2 = c
    n, m = x.shape
    g1 = g2 = g3 = g4 = h1 = h2 = 0.0
    for i in range(n - 1, -1, -1):
        for j in range(m):
            t = lam[i, j]
            if i < n - 1:
                t += b1 * s[i + 1, j]
            if i < n - 2:
                t += b2 * s[i + 2, j]
            s[i, j] = t
            g1 += t * x[i, j]
            g[i, j] = a1 * t
            if i < n - 1:
                g[i, j] += a2 * s[i + 1, j]
            if i >= 1:
                g2 += t * x[i - 1, j]
                h1 += t * y1[i - 1, j]
            if i >= 2:
                h2 += t * y1[i - 2, j]
    for i in range(n - 1):
        for j in range(m):
            t = lam[i, j]
            if i >= 1:
                t += b1 * s[i - 1, j]
            if i >= 2:
                t += b2 * s[i - 2, j]
            s[i, j] = t
            g3 += t * x[i + 1, j]
            h1 += t * y2[i + 1, j]
            g[i + 1, j] += a3 * t
            if i >= 1:
                g[i + 1, j] += a4 * s[i - 1, j]
            if i < n - 2:
                g4 += t * x[i + 2, j]
                h2 += t * y2[i + 2, j]
    return g1, g2, g3, g4, h1, h2


@by_hand
def gradient(img: Array, alpha: float, target: Array) -> tuple[float, tuple[Array, float]]:
    e = math.exp(-alpha)
    below = 1.0 + 2.0 * alpha * e - e * e
    k = (1.0 - e) * (1.0 - e) / below
    b1 = math.exp(-alpha * math.log(2.0))
    c = (k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e, b1, -e * e)
    rows, cols = img.shape
    x = np.ascontiguousarray(img.T)
    y1, y2 = np.empty((cols, rows)), np.empty((cols, rows))
    _smooth(x, c, y1, y2)
    mid = np.empty((rows, cols))
    for i in range(rows):
        for j in range(cols):
            mid[i, j] = y1[j, i] + y2[j, i]
    z1, z2 = np.empty((rows, cols)), np.empty((rows, cols))
    _smooth(mid, c, z1, z2)
    value = 0.0
    lam, s, g = np.empty((rows, cols)), np.empty((rows, cols)), np.empty((rows, cols))
    for i in range(rows):
        for j in range(cols):
            r = z1[i, j] + z2[i, j] - target[i, j]
            value += r * r
            lam[i, j] = r
    second = _unsmooth(mid, c, z1, z2, lam, s, g)
    lam_t, s_t, g_t = np.ascontiguousarray(g.T), lam.reshape(cols, rows), s.reshape(cols, rows)
    first = _unsmooth(x, c, y1, y2, lam_t, s_t, g_t)
    g[:] = g_t.T
    g1, g2, g3 = first[0] + second[0], first[1] + second[1], first[2] + second[2]
    g4, h1, h2 = first[3] + second[3], first[4] + second[4], first[5] + second[5]
    g_k = g1 + g2 * e * (alpha - 1.0) + g3 * e * (alpha + 1.0) - g4 * e * e
    g_e = g2 * k * (alpha - 1.0) + g3 * k * (alpha + 1.0) - 2.0 * e * (g4 * k + h2)
    g_e += g_k * (-2.0 * (1.0 - e) - k * (2.0 * alpha - 2.0 * e)) / below
    g_alpha = k * e * (g2 + g3) - g_k * k * 2.0 * e / below - math.log(2.0) * b1 * h1 - g_e * e
    return 0.5 * value, (g, g_alpha)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, float, Array]:
    n = pick(size, SIZES)["n"]
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(n, n + 1)), 0.25, rng.uniform(size=(n, n + 1))
