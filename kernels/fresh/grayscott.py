"""Two substances that react and diffuse in the plane, with edges that meet, compared with a target.

    u' = u + du lap(u) - u v² + feed (1 - u),   v' = v + dv lap(v) + u v² - (feed + kill) v

Source: Pearson, *Complex Patterns in a Simple System* (1993). Arguments: `u`, `v`, `target` (n, n)
float64; `rates` (2): feed and kill; `steps` int. Differentiated in `u`, `v` and `rates`.
f = 1/2 * sum of (v - target)² at the end.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1, 3)
SIZES = {
    "small": {"n": 4, "steps": 3},
    "medium": {"n": 32, "steps": 20},
    "large": {"n": 128, "steps": 50},
}
DU, DV = 0.16, 0.08


def laplacian(a: Array) -> Array:
    across = np.roll(a, 1, axis=0) + np.roll(a, -1, axis=0)
    along = np.roll(a, 1, axis=1) + np.roll(a, -1, axis=1)
    return across + along - 4.0 * a


def objective(u: Array, v: Array, target: Array, rates: Array, steps: int) -> float:
    feed, kill = rates
    for _ in range(steps):
        reaction = u * v * v
        u, v = (
            u + DU * laplacian(u) - reaction + feed * (1.0 - u),
            v + DV * laplacian(v) + reaction - (feed + kill) * v,
        )
    return 0.5 * np.sum((v - target) ** 2)


@by_hand
def gradient(
    u: Array, v: Array, target: Array, rates: Array, steps: int
) -> tuple[float, tuple[Array, Array, Array]]:
    n, feed, kill = len(u), rates[0], rates[1]
    us, vs = np.empty((steps + 1, n, n)), np.empty((steps + 1, n, n))
    us[0], vs[0] = u, v
    for t in range(steps):
        a, b, p, q = us[t], vs[t], us[t + 1], vs[t + 1]
        for i in range(n):
            up, down = (i - 1) % n, (i + 1) % n
            for j in range(n):
                left = j - 1 if j > 0 else n - 1
                right = j + 1 if j < n - 1 else 0
                x, y = a[i, j], b[i, j]
                reaction = x * y * y
                lap_u = a[up, j] + a[down, j] + a[i, left] + a[i, right] - 4.0 * x
                lap_v = b[up, j] + b[down, j] + b[i, left] + b[i, right] - 4.0 * y
                p[i, j] = x + DU * lap_u - reaction + feed * (1.0 - x)
                q[i, j] = y + DV * lap_v + reaction - (feed + kill) * y
    g_u, g_v, value = np.zeros((n, n)), np.empty((n, n)), 0.0
    for i in range(n):
        for j in range(n):
            g_v[i, j] = vs[steps, i, j] - target[i, j]
            value += 0.5 * g_v[i, j] * g_v[i, j]
    h_u, h_v, g_feed, g_kill = np.empty((n, n)), np.empty((n, n)), 0.0, 0.0
    for t in range(steps - 1, -1, -1):
        a, b = us[t], vs[t]
        for i in range(n):
            up, down = (i - 1) % n, (i + 1) % n
            for j in range(n):
                left = j - 1 if j > 0 else n - 1
                right = j + 1 if j < n - 1 else 0
                x, y, r, s = a[i, j], b[i, j], g_u[i, j], g_v[i, j]
                lap_u = g_u[up, j] + g_u[down, j] + g_u[i, left] + g_u[i, right] - 4.0 * r
                lap_v = g_v[up, j] + g_v[down, j] + g_v[i, left] + g_v[i, right] - 4.0 * s
                h_u[i, j] = r + DU * lap_u + (s - r) * y * y - feed * r
                h_v[i, j] = s + DV * lap_v + (s - r) * 2.0 * x * y - (feed + kill) * s
                g_feed += r * (1.0 - x) - s * y
                g_kill -= s * y
        g_u, g_v, h_u, h_v = h_u, h_v, g_u, g_v
    return value, (g_u, g_v, np.array([g_feed, g_kill]))


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Array, int]:
    dims = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    u, v, target = (rng.uniform(0.0, 1.0, (dims["n"], dims["n"])) for _ in range(3))
    return u, v, target, np.array([0.035, 0.06]), dims["steps"]
