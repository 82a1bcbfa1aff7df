"""A table between whose entries is interpolated, at places that a turn and a shift move.

    f = 1/2 * sum over points of (table at (q · point) - seen)²

with q a turn by an angle, a scale and a shift: registration of images, in small. Arguments: `table`
(n, n), `motion` (4): angle, scale, shift; `points` (m, 2), `seen` (m) float64. Differentiated in
`table` and `motion`. Places outside take the nearest cell.
"""

import math

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"n": 4, "m": 6},
    "medium": {"n": 32, "m": 1000},
    "large": {"n": 256, "m": 100_000},
}


def objective(table: Array, motion: Array, points: Array, seen: Array) -> float:
    n = len(table)
    cos, sin = motion[1] * np.cos(motion[0]), motion[1] * np.sin(motion[0])
    total = 0.0
    for p in range(len(points)):
        x = cos * points[p, 0] - sin * points[p, 1] + motion[2]
        y = sin * points[p, 0] + cos * points[p, 1] + motion[3]
        i = min(max(math.floor(x), 0), n - 2)
        j = min(max(math.floor(y), 0), n - 2)
        s, t = x - i, y - j
        upper = (1.0 - t) * table[i, j] + t * table[i, j + 1]
        lower = (1.0 - t) * table[i + 1, j] + t * table[i + 1, j + 1]
        total += 0.5 * ((1.0 - s) * upper + s * lower - seen[p]) ** 2
    return total


@by_hand
def gradient(
    table: Array, motion: Array, points: Array, seen: Array
) -> tuple[float, tuple[Array, Array]]:
    n, g, total = len(table), np.zeros_like(table), 0.0
    c0, s0 = np.cos(motion[0]), np.sin(motion[0])
    cos, sin = motion[1] * c0, motion[1] * s0
    g_cos, g_sin, g_x, g_y = 0.0, 0.0, 0.0, 0.0
    for p in range(len(points)):
        a, b = points[p, 0], points[p, 1]
        x, y = cos * a - sin * b + motion[2], sin * a + cos * b + motion[3]
        i = min(max(int(np.floor(x)), 0), n - 2)
        j = min(max(int(np.floor(y)), 0), n - 2)
        s, t = x - i, y - j
        down, up = table[i + 1, j] - table[i, j], table[i + 1, j + 1] - table[i, j + 1]
        upper = (1.0 - t) * table[i, j] + t * table[i, j + 1]
        by_x = (1.0 - t) * down + t * up
        e = upper + s * by_x - seen[p]
        total += 0.5 * e * e
        lower_step = table[i + 1, j + 1] - table[i + 1, j]
        by_y = (1.0 - s) * (table[i, j + 1] - table[i, j]) + s * lower_step
        g[i, j] += e * (1.0 - s) * (1.0 - t)
        g[i, j + 1] += e * (1.0 - s) * t
        g[i + 1, j] += e * s * (1.0 - t)
        g[i + 1, j + 1] += e * s * t
        g_x += e * by_x
        g_y += e * by_y
        g_cos += e * (by_x * a + by_y * b)
        g_sin += e * (by_y * a - by_x * b)
    angle = motion[1] * (g_sin * c0 - g_cos * s0)
    return total, (g, np.array([angle, g_cos * c0 + g_sin * s0, g_x, g_y]))


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Array]:
    n, m = (pick(size, SIZES)[key] for key in "nm")
    rng = np.random.default_rng(seed)
    motion = np.array([0.2, 0.9, 0.3, -0.1])
    return rng.normal(size=(n, n)), motion, rng.uniform(0.0, n - 1.0, (m, 2)), rng.normal(size=m)
