"""Uses of banded matrices, samples by Simpson and Romberg, linear fits in bounds, and of what SciPy
finds in data: matches, peaks, regions, hulls, neighbours.
"""

from __future__ import annotations

import numpy as np
import scipy.integrate as si
import scipy.linalg as sl
import scipy.ndimage as nd
import scipy.optimize as so
import scipy.signal as sg
from scipy.spatial import ConvexHull, Delaunay, KDTree
from scipy.spatial.distance import cdist

from tests.breadth.case import add, draws

r, n = draws(31)


def _bands(d, lower):
    rows = [0.2 * d, np.append(0.0, 0.5 * d[1:]), d + 3.0]
    rows[0] = np.append([0.0, 0.0], rows[0][2:])
    up = np.stack(rows)
    if not lower:
        return up
    return np.stack([up[2], np.append(up[1, 1:], 0.0), np.append(up[0, 2:], [0.0, 0.0])])


for lower in (False, True):
    add("scipy.linalg.solveh_banded", lambda d, b, w=lower: (
        sl.solveh_banded(_bands(d, w), b, lower=w), sl.solveh_banded(_bands(d, w), b[:, None] * b,
        lower=w)), r(5), n(5), narrow=False, native=not lower)  # fmt: skip
    add("scipy.linalg.cholesky_banded", lambda d, w=lower: sl.cholesky_banded(
        _bands(d, w), lower=w), r(5), narrow=False)  # fmt: skip
    add("scipy.linalg.cho_solve_banded", lambda d, b, w=lower: sl.cho_solve_banded(
        (_bands(d, w), w), b), r(5), n(5), narrow=False)  # fmt: skip
add("scipy.linalg.rq", lambda a: (*sl.rq(a), sl.rq(a, mode="r"), *sl.rq(a[:2], mode="economic")),
    n(4, 4), narrow=False)  # fmt: skip
X = np.cumsum(r(9))
for k in (8, 9):
    add("scipy.integrate.cumulative_simpson", lambda y, x, k=k: (
        si.cumulative_simpson(y[:k], x=np.cumsum(x[:k])),
        si.cumulative_simpson(y[:k] ** 2, dx=0.3, initial=0.0)), n(9), r(9),
        narrow=False)  # fmt: skip
add("scipy.integrate.romb", lambda y: (si.romb(y, 0.2), si.romb(y[:2]), si.romb(
    np.outer(y[:5], y), axis=0)), n(9), narrow=False)  # fmt: skip

# -- bounds ---------------------------------------------------------------------------------------

A, B = r(6, 3), r(6)
add("scipy.optimize.nnls", lambda a, b: so.nnls(a - 0.5, b), A, B, narrow=None)
add("scipy.optimize.lsq_linear", lambda a, b: (
    (f := so.lsq_linear(a, b, (-0.3, 0.2), tol=1e-14)).x, f.cost, f.fun), A, B, narrow=None,
    rtol=1e-4, order=1)  # fmt: skip

# -- what is found --------------------------------------------------------------------------------


def _matched(p, q):
    c = cdist(p, q)
    i, j = so.linear_sum_assignment(c)
    return c[i, j], p[i] * q[j]


add("scipy.optimize.linear_sum_assignment", _matched, n(3, 2), n(4, 2), narrow=None, native=True)
CURVE = np.sin(0.9 * np.arange(20.0)) * (1.0 + 0.07 * np.arange(20.0))
add("scipy.signal.find_peaks", lambda x: (
    x[sg.find_peaks(x)[0]], *(found := sg.find_peaks(x, height=0.1, prominence=0.2, threshold=0.0))[
        1].values(), x[found[0]]), CURVE, narrow=None)  # fmt: skip
add("scipy.signal.argrelmax", lambda x: x[sg.argrelmax(x)[0]], CURVE, narrow=None)
add("scipy.signal.argrelmin", lambda x: x[sg.argrelmin(x, order=2)], CURVE, narrow=None)
IMAGE = n(6, 7)
add("scipy.ndimage.label", lambda a: (
    np.sum(a * nd.label(a > 0.3)[0]), a * nd.label(a > 0.3)[1],
    nd.sum(a, nd.label(a > 0.3)[0], [1, 2])), IMAGE, narrow=None)  # fmt: skip
CLOUD = np.array([[0, 0], [2, 0.1], [0, 2.1], [2, 2], [1, 1.05], [0.5, 1.5], [1.7, 0.3], [1, -0.4]])
SPACE = np.array([[1.1, 0.6, 0], [0.3, 0.4, 2], [2.2, 1.6, 0.1], [0.2, 1.4, -1], [1.3, 2.6, 0.9]])
add("hull", lambda p, q: (
    (h := ConvexHull(p)).volume, h.area, np.sum(p[h.vertices] ** 2, axis=0), ConvexHull(q).volume,
    ConvexHull(q).area), CLOUD, SPACE, narrow=None)  # fmt: skip
add("triangles", lambda p: np.sum(p[Delaunay(p).simplices] ** 2, axis=(0, 1)), CLOUD, narrow=None)
add("tree", lambda p, q: (
    *KDTree(p).query(q[:, :2], k=2), KDTree(p).query(q[0, :2])[0], KDTree(p).query(q[:, :2])[0]),
    CLOUD, SPACE, narrow=None)  # fmt: skip
OUTSIDE = KDTree(CLOUD)
add("tree", lambda q: OUTSIDE.query(q[:, :2], k=2)[0], SPACE, narrow=None)


def _pairs(p):
    found = KDTree(p).query_pairs(0.9, output_type="ndarray")
    return np.sum((p[found[:, 0]] - p[found[:, 1]]) ** 2, axis=0)


def _ball(p, q):
    tree = KDTree(p)
    near = tree.query_ball_point(q[1, :2], 1.5)
    counts = tree.query_ball_point(q[:, :2], 1.5, return_length=True)
    return np.sum(p[near] * q[1, :2], axis=0) * len(near), counts * q[:, 0]


add("tree", _pairs, CLOUD, narrow=None)
add("tree", _ball, CLOUD, SPACE, narrow=None)
add("scipy.ndimage.binary_dilation", lambda a: a * nd.binary_dilation(
    a > 0.3, np.ones((3, 3)), mask=a > -0.5), IMAGE, narrow=None)  # fmt: skip
for f in (nd.binary_erosion, nd.binary_opening, nd.binary_closing, nd.binary_fill_holes):
    add(f"scipy.ndimage.{f.__name__}", lambda a, f=f: a * f(a > -0.9), IMAGE, narrow=None,
        order=1)
add("scipy.ndimage.binary_propagation", lambda a: a * nd.binary_propagation(
    a > 0.8, mask=a > -0.2), IMAGE, narrow=None, order=1)  # fmt: skip
add("scipy.ndimage.distance_transform_edt", lambda a: (
    a * (d := nd.distance_transform_edt(a > 0.1, return_indices=True))[0], a[tuple(d[1])]), IMAGE,
    narrow=None, order=1)  # fmt: skip
add("scipy.ndimage.distance_transform_cdt", lambda a: a * nd.distance_transform_cdt(a > 0.1),
    IMAGE, narrow=None, order=1)  # fmt: skip
