"""The Jacobian of bundle adjustment as the rows of a sparse matrix: `kernels.ba`, block by block.

An observation has two residuals, which depend on the 15 numbers of its camera, its point and its
weight, and a residual of its weight alone. The 3p rows are the residuals of observations, two each,
then those of weights; the columns cameras (11 each), points (3 each), weights.
"""

import numpy as np

from jitad import derivative, jacrev
from kernels import ba
from kernels.common import Array, Ints


def residual(cam: Array, point: Array, weight: float, feat: Array) -> Array:
    return weight * (ba.project(cam, point) - feat)


def weight_residual(weight: float) -> float:
    return 1.0 - weight * weight


def jacobian(
    cams: Array, points: Array, weights: Array, feats: Array, obs: Ints
) -> tuple[Ints, Ints, Array]:
    """Where the rows begin (3p + 1), and the column (31p) and value (31p) of each entry."""
    n, m, p = len(cams), len(points), len(obs)
    blocks, weight_slope = jacrev(residual, (0, 1, 2)), derivative(weight_residual)
    rows = np.empty(3 * p + 1, dtype=np.int64)
    cols = np.empty(31 * p, dtype=np.int64)
    vals = np.empty(31 * p)
    for i in range(p):
        c, q = obs[i]
        by_cam, by_point, by_weight = blocks(cams[c], points[q], weights[i], feats[i])
        for r in range(2):
            row = 30 * i + 15 * r
            rows[2 * i + r] = row
            cols[row : row + 11] = 11 * c + np.arange(11)
            cols[row + 11 : row + 14] = 11 * n + 3 * q + np.arange(3)
            cols[row + 14] = 11 * n + 3 * m + i
            vals[row : row + 11] = by_cam[r]
            vals[row + 11 : row + 14] = by_point[r]
            vals[row + 14] = by_weight[r]
        rows[2 * p + i] = 30 * p + i
        cols[30 * p + i] = 11 * n + 3 * m + i
        vals[30 * p + i] = weight_slope(weights[i])
    rows[3 * p] = 31 * p
    return rows, cols, vals
