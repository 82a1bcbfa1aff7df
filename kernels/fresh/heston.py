"""What is a call worth where variance is random as well?  Heston's model, by Euler's steps.

    v' = v + kappa (theta - v+) h + xi sqrt(v+ h) z1,   s' = s + (r - v+ / 2) h + sqrt(v+ h) z2

with v+ = max(v, 1e-8) and s the logarithm of the price. Source: Lord, Koekkoek & van Dijk (2010),
full truncation. Arguments: `p` (5) float64: kappa, theta, xi, rho, v at the start; `z` (paths,
steps, 2) independent normal numbers; `strike`, `rate` floats. Differentiated in `p`.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
LEAST = 1e-8  # at zero the root has no derivative
SIZES = {
    "small": {"paths": 3, "steps": 4},
    "medium": {"paths": 100, "steps": 50},
    "large": {"paths": 2000, "steps": 250},
}


def objective(p: Array, z: Array, strike: float, rate: float) -> float:
    kappa, theta, xi, rho, v0 = p
    paths, steps = z.shape[:2]
    h = 1.0 / steps
    total = 0.0
    for i in range(paths):
        v, s = v0, 0.0
        for t in range(steps):
            plus = max(v, LEAST)
            root = np.sqrt(plus * h)
            turned = rho * z[i, t, 0] + np.sqrt(1.0 - rho * rho) * z[i, t, 1]
            s += (rate - 0.5 * plus) * h + root * turned
            v += kappa * (theta - plus) * h + xi * root * z[i, t, 0]
        total += max(np.exp(s) - strike, 0.0)
    return np.exp(-rate) * total / paths


@by_hand
def gradient(p: Array, z: Array, strike: float, rate: float) -> tuple[float, Array]:
    kappa, theta, xi, rho, v0 = p[0], p[1], p[2], p[3], p[4]
    paths, steps = z.shape[0], z.shape[1]
    h, other = 1.0 / steps, np.sqrt(1.0 - rho * rho)
    vs, total = np.empty(steps), 0.0
    g_kappa, g_theta, g_xi, g_rho, g_v = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(paths):
        v, s = v0, 0.0
        for t in range(steps):
            vs[t] = v
            plus = max(v, LEAST)
            root = np.sqrt(plus * h)
            s += (rate - 0.5 * plus) * h + root * (rho * z[i, t, 0] + other * z[i, t, 1])
            v += kappa * (theta - plus) * h + xi * root * z[i, t, 0]
        worth = np.exp(s)
        if worth > strike:
            total += worth - strike
            v_bar = 0.0
            for t in range(steps - 1, -1, -1):
                plus, z0, z1 = max(vs[t], LEAST), z[i, t, 0], z[i, t, 1]
                root = np.sqrt(plus * h)
                g_rho += worth * root * (z0 - rho / other * z1)
                g_xi += v_bar * root * z0
                g_kappa += v_bar * (theta - plus) * h
                g_theta += v_bar * kappa * h
                if vs[t] > LEAST:
                    root_bar = worth * (rho * z0 + other * z1) + v_bar * xi * z0
                    v_bar += root_bar * 0.5 * h / root - 0.5 * h * worth - v_bar * kappa * h
            g_v += v_bar
    scale = np.exp(-rate) / paths
    return scale * total, scale * np.array([g_kappa, g_theta, g_xi, g_rho, g_v])


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, float, float]:
    n = pick(size, SIZES)
    z = np.random.default_rng(seed).normal(size=(n["paths"], n["steps"], 2))
    return np.array([1.5, 0.06, 0.3, -0.6, 0.05]), z, 0.8, 0.02
