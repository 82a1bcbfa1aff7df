"""How should the joints of an arm turn?  A chain of links in space, and what moving costs.

    R <- R Rz(angle) Rx(tilt of the link),   hand <- hand + R (0, 0, length)
    f = sum over times of |hand - goal|² / 2  +  effort/2 * sum of (angle - angle before)²

Arguments: `angles` (times, n), `lengths` (n), `goals` (times, 3) float64; `tilts` (n); `effort`
float. Differentiated in `angles` and `lengths`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = (0, 1)
SIZES = {
    "small": {"times": 3, "n": 2},
    "medium": {"times": 50, "n": 7},
    "large": {"times": 5000, "n": 12},
}


def turn(angle: float, tilt: float) -> Array:
    c, s, d, e = np.cos(angle), np.sin(angle), np.cos(tilt), np.sin(tilt)
    about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, d, -e], [0.0, e, d]])
    return about_z @ about_x


def objective(angles: Array, lengths: Array, goals: Array, tilts: Array, effort: float) -> float:
    total = 0.5 * effort * np.sum((angles[1:] - angles[:-1]) ** 2)
    for t in range(len(angles)):
        R, hand = np.eye(3), np.zeros(3)
        for k in range(len(lengths)):
            R = R @ turn(angles[t, k], tilts[k])
            hand = hand + lengths[k] * R[:, 2]
        total += 0.5 * np.sum((hand - goals[t]) ** 2)
    return total


@by_hand
def gradient(
    angles: Array, lengths: Array, goals: Array, tilts: Array, effort: float
) -> tuple[float, tuple[Array, Array]]:
    times, n = angles.shape
    g, by_length, total = np.zeros_like(angles), np.zeros(n), 0.0
    # The link turns about the axis before it: the hand moves by axis x (hand - joint).
    axes, joints, ends = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    cos_tilt, sin_tilt = np.cos(tilts), np.sin(tilts)
    R, T, hand = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for t in range(times):
        R[:], hand[:] = 0.0, 0.0
        for i in range(3):
            R[i, i] = 1.0
        for k in range(n):
            c, s, d, e = np.cos(angles[t, k]), np.sin(angles[t, k]), cos_tilt[k], sin_tilt[k]
            for i in range(3):
                axes[k, i], joints[k, i] = R[i, 2], hand[i]
                x, y = c * R[i, 0] + s * R[i, 1], c * R[i, 1] - s * R[i, 0]
                T[i, 0], T[i, 1], T[i, 2] = x, d * y + e * R[i, 2], d * R[i, 2] - e * y
                ends[k, i] = T[i, 2]
                hand[i] += lengths[k] * T[i, 2]
            R, T = T, R
        for i in range(3):
            hand[i] -= goals[t, i]
            total += 0.5 * hand[i] * hand[i]
        h0, h1, h2 = hand[0] + goals[t, 0], hand[1] + goals[t, 1], hand[2] + goals[t, 2]
        for k in range(n):
            a, b = axes[k], ends[k]
            r0, r1, r2 = h0 - joints[k, 0], h1 - joints[k, 1], h2 - joints[k, 2]
            g[t, k] = (hand[0] * (a[1] * r2 - a[2] * r1) + hand[1] * (a[2] * r0 - a[0] * r2)
                       + hand[2] * (a[0] * r1 - a[1] * r0))  # fmt: skip
            by_length[k] += hand[0] * b[0] + hand[1] * b[1] + hand[2] * b[2]
    for t in range(1, times):
        for k in range(n):
            step = angles[t, k] - angles[t - 1, k]
            total += 0.5 * effort * step * step
            g[t, k] += effort * step
            g[t - 1, k] -= effort * step
    return total, (g, by_length)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Array, float]:
    times, n = (pick(size, SIZES)[key] for key in ("times", "n"))
    rng = np.random.default_rng(seed)
    angles, goals = 0.3 * rng.normal(size=(times, n)), rng.normal(size=(times, 3))
    return angles, rng.uniform(0.5, 1.0, n), goals, rng.uniform(-1.0, 1.0, n), 0.1
