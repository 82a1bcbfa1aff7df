"""Which programs have users who write whole arrays: solvers, models and losses of SciPy?"""

import math

import numpy as np
import scipy.fft
import scipy.linalg as sl
import scipy.ndimage as nd
import scipy.spatial.distance as sd
import scipy.special as sp
import scipy.stats as st

from tests.catalogue.entry import Catalogue, array

catalogue = Catalogue()
program = catalogue.add


@program(array(24, low=0.2, high=1.3), truth="differences")
def weno_burgers(v):
    u = v.copy()
    for _ in range(3):
        f = 0.5 * u**2
        a, b, c, d, e = (np.roll(f, k) for k in (2, 1, 0, -1, -2))
        smooth = np.stack([
            13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2,
            13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2,
            13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2,
        ])  # fmt: skip
        w = np.array([0.1, 0.6, 0.3])[:, None] / (1e-2 + smooth) ** 2
        w /= w.sum(axis=0, keepdims=True)
        q = np.array([2 * a - 7 * b + 11 * c, -b + 5 * c + 2 * d, 2 * c + 5 * d - e]) / 6
        flux = np.einsum("kx,kx->x", w, q)
        u = u - 0.02 * (flux - np.roll(flux, 1))
    return np.sum(u**2)


@program(array(9, 9), truth="differences")
def multigrid_cycle(f):
    def smoothed(u, f, h, times):
        for _ in range(times):
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            u[1:-1, 1:-1] = 0.25 * (around - h * h * f[1:-1, 1:-1])
        return u

    def cycle(u, f, h):
        if u.shape[0] <= 3:
            return smoothed(u, f, h, 3)
        u = smoothed(u, f, h, 2)
        r = np.zeros_like(u)
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        r[1:-1, 1:-1] = f[1:-1, 1:-1] - (around - 4 * u[1:-1, 1:-1]) / h**2
        coarse = np.zeros(((r.shape[0] + 1) // 2,) * 2)
        coarse[1:-1, 1:-1] = r[2:-2:2, 2:-2:2]
        error = cycle(np.zeros_like(coarse), coarse, 2 * h)
        fine = np.zeros_like(u)
        fine[::2, ::2] = error
        fine[1::2, ::2] = 0.5 * (error[1:] + error[:-1])
        fine[:, 1::2] = 0.5 * (fine[:, :-1:2] + fine[:, 2::2])
        u += fine
        return smoothed(u, f, h, 2)

    return 100.0 * np.sum(cycle(np.zeros_like(f), f, 1 / 8) * f)


@program(array(6, 7, low=0.2), truth="differences")
def alternating_directions(u):
    def bands(n):
        ab = np.zeros((3, n))
        ab[0, 1:], ab[1], ab[2, :-1] = -0.3, 1.6, -0.3
        return ab

    for _ in range(2):
        right = u.copy()
        right[:, 1:-1] += 0.3 * np.diff(u, 2, axis=1)
        u = sl.solve_banded((1, 1), bands(u.shape[0]), right)
        right = u.copy()
        right[1:-1] += 0.3 * np.diff(u, n=2, axis=0)
        u = sl.solve_banded((1, 1), bands(u.shape[1]), right.T).T
    return np.sum(np.sin(u))


@program(array(3), array(9, 2, low=0.0), array(9), truth="differences", argnums=(0,))
def relevance_of_inputs(theta, x, y):
    d = ((x[:, None, :] - x[None, :, :]) / np.exp(theta[:2])) ** 2
    k = np.exp(-0.5 * d.sum(-1)) + np.exp(theta[2]) * np.eye(len(x))
    factor = np.linalg.cholesky(k)
    half = 0.5 * y @ sl.cho_solve((factor, True), y)
    return half + np.log(np.diagonal(factor)).sum() + 0.5 * len(y) * math.log(2 * math.pi)


@program(array(7, 2), truth="differences")
def neighbour_embedding(y):
    i, j = np.indices((7, 7))
    p = np.exp(-0.3 * np.abs(i - j))
    np.fill_diagonal(p, 0.0)
    p = np.maximum(p / p.sum(), 1e-12)
    near = 1.0 / (1.0 + sd.squareform(sd.pdist(y, "sqeuclidean")))
    near[range(7), range(7)] = 0.0
    q = np.maximum(near / near.sum(), 1e-12)
    return np.sum(p * np.log(p / q))


@program(array(3, 3), array(3, 4), truth="differences")
def markov_chain_in_logs(steps, symbols):
    a = steps - sp.logsumexp(steps, axis=1, keepdims=True)
    b = sp.log_softmax(symbols, axis=1)
    seen = np.array([0, 3, 1, 2, 2, 0])
    alpha = b[:, seen[0]] - np.log(3)
    for o in seen[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + a, axis=0) + b[:, o]
    return -sp.logsumexp(alpha)


@program(array(8, 8, low=0.0), truth="differences")
def tomography(image):
    middle = (image.shape[0] - 1) / 2
    s = np.arange(image.shape[0]) - middle
    total = 0.0
    for angle in np.linspace(0.1, np.pi, 4, endpoint=False):
        x = middle + s[:, None] * np.cos(angle) - s[None, :] * np.sin(angle)
        y = middle + s[:, None] * np.sin(angle) + s[None, :] * np.cos(angle)
        rays = nd.map_coordinates(image, [x, y], order=1, mode="constant", cval=0.0).sum(axis=1)
        total += np.sum(np.gradient(rays) ** 2)
    return total


@program(array(5, 6, low=0.0), truth="differences")
def transport_in_logs(cost):
    eps, f, g = 0.05, np.zeros(5), np.zeros(6)
    for _ in range(10):
        f = -eps * sp.logsumexp((g[None] - cost) / eps - np.log(6), axis=1)
        g = -eps * sp.logsumexp((f[:, None] - cost) / eps - np.log(5), axis=0)
    return f.mean() + g.mean()


@program(array(6, 6), truth="differences")
def writes_through_views(a):
    b = a.copy()
    np.einsum("ii->i", b)[...] += 1.0
    b.T[np.triu_indices(6, 1)] *= 2.0
    blocks = b.reshape(2, 3, 2, 3)
    blocks[0, :, 1] = blocks[1, :, 0] ** 2
    b[b > 1.5] -= 0.5
    b[[0, 2]] = b[[2, 0]]
    np.add.at(b, ([0, 0, 1], [1, 1, 2]), a[0, :3])
    inner = b[1:-1, 1:-1]
    inner[...] = inner + inner.T
    return np.sum(b**2)


@program(array(3), truth="differences")
def nothing_to_add(a):
    none, rows = a[3:], np.zeros((0, 3))
    total = none.sum() + np.prod(none) + (rows @ a).sum() + np.concatenate([none, a])[0]
    total += np.sum(rows, axis=0) @ a + np.max(none, initial=0.5) * a[1]
    total += np.vstack([rows, a])[0, 1]
    return total + np.linalg.norm(none) + np.einsum("i,i->", none, none) + np.sum(a**2)


@program(array(3, 3), truth="differences")
def distance_of_covariances(a):
    """Along the geodesic of positive matrices, and half way."""
    m = a @ a.T + np.eye(3)
    between = sl.logm(m @ np.diag([1.0, 2.0, 3.0]))
    return np.sum(between * between.T) + np.trace(sl.fractional_matrix_power(m, 0.5))


@program(array(6, 6, low=0.1), truth="differences")
def compressed_image(image):
    c = scipy.fft.dctn(image, norm="ortho")
    kept = c * np.exp(-0.1 * np.add.outer(np.arange(6), np.arange(6)))
    back = scipy.fft.idctn(kept, norm="ortho")
    return np.sum((back - image) ** 2) + np.sum(back**3)


@program(array(12, low=0.2, high=1.3), truth="differences")
def moments_of_a_sample(x):
    z = st.zscore(x)
    shape = st.skew(x) ** 2 + 0.25 * st.kurtosis(x, bias=False) ** 2
    means = st.gmean(x) - st.hmean(x, weights=np.arange(1.0, 13.0))
    return shape + means + st.entropy(x) + z[3] * st.sem(x)
