"""Which sparse matrices of derivatives does an expert write by hand for Numba?  The opponents of
`bench_sparse`.

Patterns are made beforehand; each function here fills in the entries, in CSR order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

Array = Any

# -- bundle adjustment: see kernels/ba.py ---------------------------------------------------------


# Columns of a row: the camera (rotation, centre, f, u0 or u1, kappa), the point, the weight.
@njit(cache=True, error_model="numpy")
def ba_jacobian(cams: Array, points: Array, weights: Array, feats: Array, obs: Array) -> Array:
    p = len(obs)
    data = np.empty(29 * p)
    for i in range(p):
        cam, point, w = cams[obs[i, 0]], points[obs[i, 1]], weights[i]
        y0, y1, y2 = point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]
        r0, r1, r2 = cam[0], cam[1], cam[2]
        angle2 = r0 * r0 + r1 * r1 + r2 * r2
        if angle2 > 0.0:
            angle = math.sqrt(angle2)
            inverse = 1.0 / angle
            a0, a1, a2 = r0 * inverse, r1 * inverse, r2 * inverse
            sine, cosine = math.sin(angle), math.cos(angle)
            versine = 1.0 - cosine
            ay = a0 * y0 + a1 * y1 + a2 * y2
            x0, x1, x2 = a1 * y2 - a2 * y1, a2 * y0 - a0 * y2, a0 * y1 - a1 * y0
            v = versine * ay
            z0 = y0 * cosine + x0 * sine + a0 * v
            z1 = y1 * cosine + x1 * sine + a1 * v
            z2 = y2 * cosine + x2 * sine + a2 * v
            # the rotation, which is dz/dy
            q00, q11, q22 = (cosine + versine * a0 * a0, cosine + versine * a1 * a1,
                             cosine + versine * a2 * a2)  # fmt: skip
            q01, q10 = versine * a0 * a1 - sine * a2, versine * a0 * a1 + sine * a2
            q02, q20 = versine * a0 * a2 + sine * a1, versine * a0 * a2 - sine * a1
            q12, q21 = versine * a1 * a2 - sine * a0, versine * a1 * a2 + sine * a0
            # by the angle, and by the axis
            t0 = cosine * x0 - sine * y0 + sine * ay * a0
            t1 = cosine * x1 - sine * y1 + sine * ay * a1
            t2 = cosine * x2 - sine * y2 + sine * ay * a2
            w0, w1, w2 = versine * y0, versine * y1, versine * y2
            s0, s1, s2 = sine * y0, sine * y1, sine * y2
            m00, m01, m02 = v + a0 * w0, a0 * w1 + s2, a0 * w2 - s1
            m10, m11, m12 = a1 * w0 - s2, v + a1 * w1, a1 * w2 + s0
            m20, m21, m22 = a2 * w0 + s1, a2 * w1 - s0, v + a2 * w2
            # by r: the axis is r / |r|
            g0 = t0 - inverse * (m00 * a0 + m01 * a1 + m02 * a2)
            g1 = t1 - inverse * (m10 * a0 + m11 * a1 + m12 * a2)
            g2 = t2 - inverse * (m20 * a0 + m21 * a1 + m22 * a2)
            d00, d01 = inverse * m00 + g0 * a0, inverse * m01 + g0 * a1
            d02 = inverse * m02 + g0 * a2
            d10, d11 = inverse * m10 + g1 * a0, inverse * m11 + g1 * a1
            d12 = inverse * m12 + g1 * a2
            d20, d21 = inverse * m20 + g2 * a0, inverse * m21 + g2 * a1
            d22 = inverse * m22 + g2 * a2
        else:
            z0, z1, z2 = y0 + r1 * y2 - r2 * y1, y1 + r2 * y0 - r0 * y2, y2 + r0 * y1 - r1 * y0
            q00, q01, q02, q10, q11, q12 = 1.0, -r2, r1, r2, 1.0, -r0
            q20, q21, q22 = -r1, r0, 1.0
            d00, d01, d02, d10, d11, d12 = 0.0, y2, -y1, -y2, 0.0, y0
            d20, d21, d22 = y1, -y0, 0.0
        depth = 1.0 / z2
        e0, e1 = z0 * depth, z1 * depth
        s = e0 * e0 + e1 * e1
        f, kappa0, kappa1 = cam[6], cam[9], cam[10]
        bend = 1.0 + s * (kappa0 + s * kappa1)
        slope = 2.0 * (kappa0 + 2.0 * kappa1 * s)
        wf = w * f
        c00, c11 = wf * (bend + slope * e0 * e0), wf * (bend + slope * e1 * e1)
        c01 = wf * slope * e0 * e1
        b00, b01 = c00 * depth, c01 * depth
        b02 = -(b00 * e0 + b01 * e1)
        b11, b10 = c11 * depth, c01 * depth
        b12 = -(b10 * e0 + b11 * e1)
        for row in range(2):
            k0, k1, k2 = (b00, b01, b02) if row == 0 else (b10, b11, b12)
            e = e0 if row == 0 else e1
            at = 28 * i + 14 * row
            data[at] = k0 * d00 + k1 * d10 + k2 * d20
            data[at + 1] = k0 * d01 + k1 * d11 + k2 * d21
            data[at + 2] = k0 * d02 + k1 * d12 + k2 * d22
            by0 = k0 * q00 + k1 * q10 + k2 * q20
            by1 = k0 * q01 + k1 * q11 + k2 * q21
            by2 = k0 * q02 + k1 * q12 + k2 * q22
            data[at + 3], data[at + 4], data[at + 5] = -by0, -by1, -by2
            data[at + 6] = w * bend * e
            data[at + 7] = w
            data[at + 8] = wf * s * e
            data[at + 9] = wf * s * s * e
            data[at + 10], data[at + 11], data[at + 12] = by0, by1, by2
            data[at + 13] = f * bend * e + cam[7 + row] - feats[i, row]
        data[28 * p + i] = -2.0 * w
    return data


# -- Rosenbrock's function ------------------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def rosenbrock_hessian(x: Array) -> Array:
    """A row at a time: x[i - 1] on the left, x[i + 1] on the right."""
    n = len(x)
    data = np.empty(3 * n - 2)
    data[0] = 1200.0 * x[0] * x[0] - 400.0 * x[1] + 2.0
    data[1] = -400.0 * x[0]
    for i in range(1, n - 1):
        data[3 * i - 1] = -400.0 * x[i - 1]
        data[3 * i] = 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 202.0
        data[3 * i + 1] = -400.0 * x[i]
    data[3 * n - 4] = -400.0 * x[n - 2]
    data[3 * n - 3] = 200.0
    return data


# -- the area of a surface over a grid ------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def surface_hessian(u: Array) -> Array:
    """Two passes: second derivatives of each cell, then a row of seven entries for each point."""
    n, m = u.shape
    hh = 1.0 / ((n - 1) * (m - 1))
    a, b, c = np.zeros((n, m)), np.zeros((n, m)), np.zeros((n, m))
    for i in range(n - 1):
        for j in range(m - 1):
            down, right = u[i + 1, j] - u[i, j], u[i, j + 1] - u[i, j]
            q2 = hh + down * down + right * right
            scale = 1.0 / (q2 * math.sqrt(q2))
            a[i, j] = (hh + right * right) * scale
            b[i, j] = -down * right * scale
            c[i, j] = (hh + down * down) * scale
    data = np.empty(n * m - 1 + 6 * (n - 1) * (m - 1))
    at = 0
    for i in range(n):
        for j in range(m):
            up, left = i > 0 and j < m - 1, j > 0 and i < n - 1
            own = i < n - 1 and j < m - 1
            if not (up or left or own):
                continue
            here = a[i, j] + 2.0 * b[i, j] + c[i, j]
            if up:
                k = i - 1
                data[at] = -(a[k, j] + b[k, j])
                data[at + 1] = b[k, j]
                at += 2
                here += a[k, j]
            if left:
                data[at] = -(b[i, j - 1] + c[i, j - 1])
                at += 1
                here += c[i, j - 1]
            data[at] = here
            at += 1
            if own:
                data[at] = -(b[i, j] + c[i, j])
                at += 1
            if left:
                data[at] = b[i, j - 1]
                at += 1
            if own:
                data[at] = -(a[i, j] + b[i, j])
                at += 1
    return data


# -- reaction and diffusion on a grid whose border is held ----------------------------------------


@njit(cache=True, error_model="numpy")
def reaction_diffusion_jacobian(u: Array) -> Array:
    n, m = u.shape
    data = np.empty(5 * (n - 2) * (m - 2) + 2 * n + 2 * m - 4)
    at = 0
    for i in range(n):
        if i == 0 or i == n - 1:
            data[at : at + m] = 1.0
            at += m
            continue
        data[at] = 1.0
        at += 1
        for j in range(1, m - 1):
            data[at] = data[at + 1] = data[at + 3] = data[at + 4] = 0.1
            data[at + 2] = 0.6 - 3.0 * u[i, j] * u[i, j]
            at += 5
        data[at] = 1.0
        at += 1
    return data


# -- a band ---------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def band_jacobian(x: Array) -> Array:
    n = len(x) - 2
    data = np.empty(3 * n)
    for i in range(n):
        e = math.exp(-x[i] * x[i + 1])
        data[3 * i] = -x[i + 1] * x[i + 2] * e
        data[3 * i + 1] = -x[i] * x[i + 2] * e
        data[3 * i + 2] = e
    return data


# -- an energy in three dimensions ----------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def solid_hessian(u: Array) -> Array:
    """A row of up to seven entries for each point that is in a cell."""
    n, m, p = u.shape
    data = np.empty(7 * n * m * p)
    at = 0
    for i in range(n):
        for j in range(m):
            for k in range(p):
                own = i < n - 1 and j < m - 1 and k < p - 1
                above = i > 0 and j < m - 1 and k < p - 1
                left = j > 0 and i < n - 1 and k < p - 1
                before = k > 0 and i < n - 1 and j < m - 1
                if not (own or above or left or before):
                    continue
                here = 0.0
                for there in (above, left, before):
                    if there:
                        data[at] = -1.0
                        at += 1
                        here += 1.0
                data[at] = here + 3.0 + 3.0 * u[i, j, k] ** 2 if own else here
                at += 1
                if own:
                    data[at] = data[at + 1] = data[at + 2] = -1.0
                    at += 3
    return data[:at]
