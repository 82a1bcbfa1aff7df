"""What is measured of what SciPy finds in data: is it of the data as they were, and of all?"""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.spatial as ss

import jitad
from tests.engines import ENGINES

POINTS = np.array([[0.1, 0.2], [0.9, 0.8], [0.5, 0.4], [0.2, 0.9]])


def measured_after_a_write(points):
    hull = ss.ConvexHull(points)
    points *= 2.0
    return hull.volume + hull.area


def nearest_after_a_write(points):
    data = points * 1.0
    tree = ss.KDTree(data, copy_data=True)
    data *= 2.0
    return tree.query(np.array([0.45, 0.45]))[0] + data[0, 0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", [measured_after_a_write, nearest_after_a_write])
def test_data_as_they_were(f, engine):
    def alone(points):
        return f(points * 1.0)

    value, gradient = ENGINES[engine](jitad.value_and_grad(alone), POINTS)
    np.testing.assert_allclose(value, alone(POINTS), rtol=1e-13)
    h = 1e-6
    for k in np.ndindex(POINTS.shape):
        step = np.zeros_like(POINTS)
        step[k] = h
        want = (alone(POINTS + step) - alone(POINTS - step)) / (2 * h)
        assert gradient[k] == pytest.approx(want, rel=1e-7, abs=1e-8)


def test_a_space_without_edges_is_refused():
    outside = ss.KDTree(POINTS, boxsize=1.0)
    for f in (lambda p: ss.KDTree(p, boxsize=1.0).query(p[0] * 0.1)[0],
              lambda p: outside.query(p[0])[0]):  # fmt: skip
        with pytest.raises(jitad.JitadError, match="boxsize"):
            jitad.jit(f, fallback=False)(POINTS)


def test_sets_and_lists_of_neighbours_are_refused():
    for f in (lambda p: len(ss.KDTree(p).query_pairs(0.5)) * p[0, 0],
              lambda p: len(ss.KDTree(p).query_ball_point(p, 0.5)[0]) * p[0, 0]):  # fmt: skip
        with pytest.raises(jitad.JitadError, match="query_"):
            jitad.jit(f, fallback=False)(POINTS)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unused", [np.nan, np.inf, 7.0])
def test_corners_of_bands_are_not_looked_at(unused, lower, engine):
    full = np.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
    b = np.array([1.0, -2.0, 0.5])
    factor = np.linalg.cholesky(full)
    if lower:
        ab = np.array([[4.0, 5.0, 6.0], [1.0, 2.0, unused]])
        cb = np.array([np.diag(factor), [*np.diag(factor, -1), unused]])
    else:
        ab = np.array([[unused, 1.0, 2.0], [4.0, 5.0, 6.0]])
        cb = np.array([[unused, *np.diag(factor, -1)], np.diag(factor)])

    def f(ab, cb, b):
        one = sl.solveh_banded(ab, b, lower=lower, check_finite=False)
        two = sl.cho_solve_banded((cb, lower), b, check_finite=False)
        three = sl.cholesky_banded(ab, lower=lower, check_finite=False)
        return np.sum(one) + 2.0 * np.sum(two) + (three[0, 0] if lower else three[-1, 0])

    of_ab, of_cb, of_b = ENGINES[engine](jitad.grad(f, (0, 1, 2)), ab, cb, b)
    np.testing.assert_allclose(of_b, 3.0 * np.linalg.solve(full, np.ones(3)), rtol=1e-12)
    corner = (1, 2) if lower else (0, 0)
    assert of_ab[corner] == of_cb[corner] == 0.0
    assert np.isfinite(of_ab).all() and np.isfinite(of_cb).all()
