"""Bundle adjustment: half the sum of squares of reprojection and weight residuals.

    y = X - C;   z = y rotated by r (axis times angle);   e = (z0, z1) / z2;   s = e·e
    residual = w ( f (1 + kappa0 s + kappa1 s²) e + u - feature ),    weight residual = 1 - w²

Source: the `ba` problem of ADBench and GradBench (Rodrigues' rotation, radial distortion).
Arguments: `cams` (n, 11), a camera being r (3), C (3), f, u (2), kappa (2); `points` (m, 3);
`weights` (p); `feats` (p, 2), all float64; `obs` (p, 2) int64, the camera and the point of each
observation. Differentiated in `cams`, `points` and `weights`.
"""

import math

import numpy as np
from numba import njit
from numba.extending import register_jitable

from kernels.common import SUMS, Array, Dims, Ints, pick

ARGNUMS = (0, 1, 2)
SIZES = {
    "small": {"n": 2, "m": 3, "p": 5},
    "medium": {"n": 10, "m": 200, "p": 1_000},
    "large": {"n": 49, "m": 7_776, "p": 31_843},
}


@register_jitable
def rotate(r: Array, y: Array) -> Array:
    angle2 = np.sum(r * r)
    if angle2 == 0.0:
        return y + np.cross(r, y)
    angle = math.sqrt(angle2)
    axis = r / angle
    along = np.sum(axis * y) * (1.0 - math.cos(angle))
    return y * math.cos(angle) + np.cross(axis, y) * math.sin(angle) + axis * along


@register_jitable
def project(cam: Array, point: Array) -> Array:
    z = rotate(cam[0:3], point - cam[3:6])
    e = z[0:2] / z[2]
    s = np.sum(e * e)
    return cam[6] * (1.0 + cam[9] * s + cam[10] * s * s) * e + cam[7:9]


@register_jitable
def residuals(
    cams: Array, points: Array, weights: Array, feats: Array, obs: Ints
) -> tuple[Array, Array]:
    """The reprojection residuals (p, 2) and the weight residuals (p)."""
    reprojection = np.zeros_like(feats)
    for i in range(len(obs)):
        projected = project(cams[obs[i, 0]], points[obs[i, 1]])
        reprojection[i] = weights[i] * (projected - feats[i])
    return reprojection, 1.0 - weights * weights


def objective(cams: Array, points: Array, weights: Array, feats: Array, obs: Ints) -> float:
    reprojection, weight = residuals(cams, points, weights, feats, obs)
    return 0.5 * np.sum(reprojection**2) + 0.5 * np.sum(weight**2)


def primal(cams: Array, points: Array, weights: Array, feats: Array, obs: Ints) -> float:
    """The objective without its small arrays, which Numba would allocate for every observation."""
    total = 0.0
    for i in range(len(obs)):
        cam, point, w = cams[obs[i, 0]], points[obs[i, 1]], weights[i]
        r0, r1, r2 = cam[0], cam[1], cam[2]
        y0, y1, y2 = point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]
        angle2 = r0 * r0 + r1 * r1 + r2 * r2
        sine, cosine, along = 1.0, 1.0, 0.0
        if angle2 > 0.0:
            angle = math.sqrt(angle2)
            r0, r1, r2 = r0 / angle, r1 / angle, r2 / angle
            sine, cosine = math.sin(angle), math.cos(angle)
            along = (1.0 - cosine) * (r0 * y0 + r1 * y1 + r2 * y2)
        z0 = y0 * cosine + (r1 * y2 - r2 * y1) * sine + r0 * along
        z1 = y1 * cosine + (r2 * y0 - r0 * y2) * sine + r1 * along
        z2 = y2 * cosine + (r0 * y1 - r1 * y0) * sine + r2 * along
        e0, e1 = z0 / z2, z1 / z2
        s = e0 * e0 + e1 * e1
        zoom = cam[6] * (1.0 + cam[9] * s + cam[10] * s * s)
        d0 = w * (zoom * e0 + cam[7] - feats[i, 0])
        d1 = w * (zoom * e1 + cam[8] - feats[i, 1])
        total += d0 * d0 + d1 * d1 + (1.0 - w * w) ** 2
    return 0.5 * total


# One pass: an observation's sensitivities go straight to its camera, point and weight, and nothing
# is kept. The rotation is taken anew for each observation, as the formula does.
@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    cams: Array, points: Array, weights: Array, feats: Array, obs: Ints
) -> tuple[float, tuple[Array, Array, Array]]:
    g_cams = np.zeros(cams.shape)
    g_points = np.zeros(points.shape)
    g_weights = np.empty(len(weights))
    total = 0.0
    for i in range(len(obs)):
        cam, point, w = cams[obs[i, 0]], points[obs[i, 1]], weights[i]
        y0, y1, y2 = point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]
        # Without a rotation the axis is r itself: sine 1, cosine 1 give z = y + r × y.
        a0, a1, a2 = cam[0], cam[1], cam[2]
        angle2 = a0 * a0 + a1 * a1 + a2 * a2
        sine, cosine, inverse = 1.0, 1.0, 0.0
        if angle2 > 0.0:
            angle = math.sqrt(angle2)
            inverse = 1.0 / angle
            a0, a1, a2 = a0 * inverse, a1 * inverse, a2 * inverse
            sine, cosine = math.sin(angle), math.cos(angle)
        x0, x1, x2 = a1 * y2 - a2 * y1, a2 * y0 - a0 * y2, a0 * y1 - a1 * y0
        versine = 1.0 - cosine
        ay = a0 * y0 + a1 * y1 + a2 * y2
        along = versine * ay
        z0 = y0 * cosine + x0 * sine + a0 * along
        z1 = y1 * cosine + x1 * sine + a1 * along
        z2 = y2 * cosine + x2 * sine + a2 * along
        depth = 1.0 / z2
        e0, e1 = z0 * depth, z1 * depth
        s = e0 * e0 + e1 * e1
        f, kappa0, kappa1 = cam[6], cam[9], cam[10]
        bend = 1.0 + s * (kappa0 + s * kappa1)
        d0 = f * bend * e0 + cam[7] - feats[i, 0]
        d1 = f * bend * e1 + cam[8] - feats[i, 1]
        slack = 1.0 - w * w
        total += w * w * (d0 * d0 + d1 * d1) + slack * slack
        g_weights[i] = w * (d0 * d0 + d1 * d1) - 2.0 * w * slack

        # From here on a name with b in front is the sensitivity of what the rest names.
        bu0, bu1 = w * w * d0, w * w * d1
        radial = bu0 * e0 + bu1 * e1
        bs = f * radial * (kappa0 + 2.0 * kappa1 * s)
        be0 = f * bend * bu0 + 2.0 * bs * e0
        be1 = f * bend * bu1 + 2.0 * bs * e1
        bz0, bz1, bz2 = be0 * depth, be1 * depth, -(be0 * e0 + be1 * e1) * depth
        az = a0 * bz0 + a1 * bz1 + a2 * bz2
        va = versine * az
        by0 = cosine * bz0 + sine * (bz1 * a2 - bz2 * a1) + va * a0
        by1 = cosine * bz1 + sine * (bz2 * a0 - bz0 * a2) + va * a1
        by2 = cosine * bz2 + sine * (bz0 * a1 - bz1 * a0) + va * a2
        ba0 = sine * (y1 * bz2 - y2 * bz1) + along * bz0 + va * y0
        ba1 = sine * (y2 * bz0 - y0 * bz2) + along * bz1 + va * y1
        ba2 = sine * (y0 * bz1 - y1 * bz0) + along * bz2 + va * y2
        g = g_cams[obs[i, 0]]
        if angle2 > 0.0:
            b_angle = (
                cosine * (x0 * bz0 + x1 * bz1 + x2 * bz2)
                - sine * (y0 * bz0 + y1 * bz1 + y2 * bz2)
                + sine * ay * az
            )
            # The axis is r over its length: what points along the axis turns nothing.
            turn = b_angle - inverse * (a0 * ba0 + a1 * ba1 + a2 * ba2)
            ba0, ba1, ba2 = inverse * ba0, inverse * ba1, inverse * ba2
            ba0, ba1, ba2 = ba0 + turn * a0, ba1 + turn * a1, ba2 + turn * a2
        g[0] += ba0
        g[1] += ba1
        g[2] += ba2
        g[3] -= by0
        g[4] -= by1
        g[5] -= by2
        g[6] += radial * bend
        g[7] += bu0
        g[8] += bu1
        g[9] += f * radial * s
        g[10] += f * radial * s * s
        h = g_points[obs[i, 1]]
        h[0] += by0
        h[1] += by1
        h[2] += by2
    return 0.5 * total, (g_cams, g_points, g_weights)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Array, Ints]:
    dims = pick(size, SIZES)
    n, m, p = dims["n"], dims["m"], dims["p"]
    rng = np.random.default_rng(seed)
    cams = np.empty((n, 11))
    cams[:, 0:3] = 0.3 * rng.normal(size=(n, 3))
    cams[0, 0:3] = 0.0  # the branch without rotation
    cams[:, 3:6] = rng.normal(size=(n, 3)) + np.array([0.0, 0.0, -10.0])
    cams[:, 6] = rng.uniform(400.0, 600.0, n)
    cams[:, 7:9] = 5.0 * rng.normal(size=(n, 2))
    cams[:, 9:11] = np.array([0.05, -0.01]) * rng.normal(size=(n, 2))
    points = rng.uniform(-2.0, 2.0, (m, 3))
    obs = np.stack([np.arange(p) % n, rng.permutation(np.arange(p) % m)], axis=1).astype(np.int64)
    feats = np.empty((p, 2))
    for i in range(p):
        feats[i] = project(cams[obs[i, 0]], points[obs[i, 1]]) + rng.normal(size=2)
    return cams, points, rng.uniform(0.5, 1.1, p), feats, obs
