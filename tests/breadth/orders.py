"""Uses of functions that sort, rank and look up."""

from __future__ import annotations

import numpy as np

from tests.breadth.case import add, draws

r, n = draws(10)

V, M, T = n(7), n(4, 5), n(2, 3, 4)
TIES = np.array([1.0, 0.5, 1.0, 0.5, 2.0])

add("numpy.sort", lambda a: np.sort(a), V, native=True)
add("numpy.sort", lambda a: (np.sort(a), np.sort(a, axis=0), np.sort(a, None)), M, native=True)
add("numpy.sort", lambda a: np.sort(a, axis=1), T)


def sorted_in_place(a):
    b = a * 2.0
    b.sort(axis=0)
    return b


add("numpy.sort", sorted_in_place, M)
add("numpy.argsort", lambda a: a[np.argsort(a)], V)
add("numpy.argsort", lambda a: (np.argsort(a) * 1.0, np.argsort(a, axis=0) * 1.0), M, zero=True)
add("numpy.partition", lambda a: np.partition(a, 3)[3], V)
add("numpy.argpartition", lambda a: a[np.argpartition(a, 3)[3]], V)
add("numpy.unique", lambda a: np.unique(np.concatenate([a, a[:3]])), V)
add("numpy.median", lambda a: (np.median(a), np.median(a[:4])), V, native=True)
add("numpy.median", lambda a: (np.median(a, axis=0), np.median(a, 1, keepdims=True)), M)
add("numpy.median", lambda a: np.median(a, axis=(0, 2)), T)
add("numpy.quantile", lambda a: (np.quantile(a, 0.3), np.quantile(a, [0.1, 0.75])), V, native=True)
add("numpy.quantile", lambda a: np.quantile(a, 0.4, axis=1, keepdims=True), M, narrow=False)
for method in ("lower", "higher", "nearest", "midpoint"):
    add("numpy.quantile", lambda a, m=method: np.quantile(a, 0.3, method=m), V, narrow=False)
add("numpy.percentile", lambda a: np.percentile(a, 35.0), V, narrow=False)
add("numpy.percentile", lambda a: np.percentile(a, [35.0, 80.0], axis=0), M, narrow=False)
EDGES = np.array([-1.0, -0.2, 0.3, 1.0])
add("numpy.searchsorted", lambda a: np.searchsorted(EDGES, a) * 1.0, V, zero=True, native=True)
add("numpy.searchsorted", lambda a: np.searchsorted(np.sort(a), 0.1, "right") * a[0], V)
add("numpy.searchsorted", lambda a: np.searchsorted(EDGES, a, side="right") * a, M)
add("numpy.digitize", lambda a: np.digitize(a, EDGES) * a, V)
add("numpy.digitize", lambda a: np.digitize(a, EDGES[::-1], right=True) * a, V)
add("numpy.histogram", lambda a: np.histogram(a, EDGES)[0] * 1.0, V, zero=True)
add("numpy.histogram", lambda a: np.histogram(a, 4), V, narrow=False)
add("numpy.histogram", lambda a: np.histogram(V, EDGES, weights=a)[0], r(7), native=True)
add("numpy.bincount", lambda a: np.bincount([0, 2, 1, 2, 4, 0, 0], weights=a, minlength=6), V,
    narrow=False)  # fmt: skip
X, Y = np.array([0.0, 0.5, 1.2, 2.0]), n(4)
add("numpy.interp", lambda x, xp, fp: np.interp(x, xp, fp), r(6), X, Y, native=True)
add("numpy.interp", lambda x, fp: np.interp(x[0], X, fp, left=-1.0), r(2), Y)
add("numpy.interp", lambda x: np.interp(x, X, Y, left=-1.0, right=9.0), 3.0 * n(6))
add("numpy.interp", lambda x: np.interp(x, X, Y, period=2.5), 3.0 * n(6), narrow=False)
for method in ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "hazen", "weibull",
               "interpolated_inverted_cdf", "median_unbiased", "normal_unbiased"):  # fmt: skip
    add("numpy.quantile", lambda a, m=method: np.quantile(a, [0.0, 0.3, 0.5, 1.0], method=m), V)
BY_WEIGHT = {"method": "inverted_cdf"}
add("numpy.quantile", lambda a, w: np.quantile(a, [0.0, 0.4, 1.0], weights=w, **BY_WEIGHT), V,
    r(len(V)))  # fmt: skip
add("numpy.quantile", lambda a: (
    np.quantile(a, [0.0, 0.3], 1, weights=[0, 2, 1, 0, 1], keepdims=True, **BY_WEIGHT),
    np.quantile(a, 0.4, weights=a > 0.7, **BY_WEIGHT),
    np.quantile(a, [[0.2], [0.9]], (0, -1), weights=np.ones(a.shape), **BY_WEIGHT)), M)  # fmt: skip
add("numpy.percentile", lambda a: np.percentile(a, 30, 0, weights=[1, 2, 1, 3], **BY_WEIGHT), M,
    native=True)  # fmt: skip
HOLES = np.zeros((4, 5), bool)
HOLES[0, 1] = HOLES[2, 3] = HOLES[2, 0] = True


def holed(a):
    return np.where(HOLES, np.nan, a)


add("numpy.nanpercentile", lambda a: np.nanpercentile(holed(a), [30.0, 80.0], axis=1), M,
    narrow=False)  # fmt: skip
add("numpy.nanquantile", lambda a: np.nanquantile(holed(a), 0.4, 1, method="hazen", keepdims=True),
    M, narrow=False)  # fmt: skip
add("numpy.nanmedian", lambda a: np.nanmedian(holed(a), axis=0), M)
add("numpy.nanmean", lambda a: np.nanmean(holed(a), where=M > 0.0), M)
add("numpy.histogram", lambda w: np.histogram(V, EDGES, weights=w**2, density=True), V,
    narrow=False)  # fmt: skip
add("numpy.histogram_bin_edges", lambda a: np.histogram_bin_edges(a, 4), V, narrow=False)
add("numpy.histogram_bin_edges", lambda a: np.histogram_bin_edges(V, EDGES) * a[:4], V)

# -- sets -----------------------------------------------------------------------------------------

add("numpy.unique",
    lambda a: np.unique(np.concatenate([a, a[:3]]), True, True, True), V, native=True)
add("numpy.unique", lambda a: np.unique(a[[0, 1, 0, 2]], axis=0), n(3, 2))
add("numpy.unique", lambda a: np.unique(a[:, [0, 1, 0, 2]], True, True, True, -1), n(2, 3),
    native=True)
add("numpy.unique", lambda a: np.unique(a.reshape(2, 2, 3)[[1, 0, 1]], axis=0), n(4, 3))
add("numpy.unique_all", lambda a: tuple(np.unique_all(np.concatenate([a, a[:3]]))), V)
add("numpy.unique_counts", lambda a: tuple(np.unique_counts(a)), V)
add("numpy.unique_inverse", lambda a: tuple(np.unique_inverse(a.reshape(2, 2, 5))), n(4, 5))
add("numpy.unique_values", lambda a: np.sort(np.unique_values(np.concatenate([a, a]))), V)
add("numpy.union1d", lambda a, b: np.union1d(a[:4], np.concatenate([a[2:], b])), V, n(2))
add("numpy.intersect1d", lambda a: np.intersect1d(a[:5], a[3:]), V)
add("numpy.setdiff1d", lambda a: np.setdiff1d(a[:5], a[3:]), V)
add("numpy.setxor1d", lambda a: np.setxor1d(a[:5], a[3:]), V)
add("numpy.trim_zeros", lambda a: np.trim_zeros(np.where(a > 0.2, a, 0.0)), V, native=True)
