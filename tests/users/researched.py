"""Which programs have scientists, who index by what libraries give and use options of NumPy?"""

import numpy as np
import scipy.integrate as si
import scipy.interpolate as sint
import scipy.signal as sg
import scipy.special as sp
import scipy.stats as st

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add

THIRDS = np.array([0, 2, 1, 1, 0, 2, 1])


@program(array(6, 3, low=0.0, high=4.0), truth="differences")
def molecules_in_a_box(pos):
    side = 4.0
    i, j = np.triu_indices(len(pos), 1)
    d = pos[i] - pos[j]
    d -= side * np.round(d / side)
    r2 = (d**2).sum(1) + 0.6
    close = r2 < 3.5
    inverse = r2[close] ** -3
    force = np.zeros_like(pos)
    pull = (24.0 * (2.0 * inverse**2 - inverse) / r2[close])[:, None] * d[close]
    np.add.at(force, i[close], pull)
    np.subtract.at(force, j[close], pull)
    return np.sum(inverse**2 - inverse) + 1e-3 * np.sum(force**2)


@program(array(6, 3), array(6, low=0.3, high=1.7), truth="differences", seed=2)
def network_of_neighbours(x, w):
    i, j = np.triu_indices(len(x), k=1)
    d = np.linalg.norm(x[i] - x[j], axis=1)
    near = d < np.median(d)
    ii, jj = i[near], j[near]
    laplacian = np.zeros((len(x), len(x)))
    np.add.at(laplacian, (ii, jj), -w[ii] * w[jj] * d[near])
    laplacian += laplacian.T
    laplacian[np.diag_indices_from(laplacian)] = -laplacian.sum(axis=1)
    rows, cols = np.tril_indices(len(x), -1)
    heat = np.linalg.solve(np.eye(len(x)) + laplacian, w)
    return heat @ heat + laplacian[rows, cols][d > 1.0].sum()


@program(array(3, 10), array(3, 10), scalar(0.2, 0.4), truth="differences")
def capon_spectrum(re, im, angle):
    x = re + 1j * im
    covariance = np.cov(x) + 0.1 * np.eye(3)
    steering = np.vander(np.exp(1j * np.pi * np.sin([angle, angle + 0.4])), 3, increasing=True).T
    weights = np.linalg.solve(covariance, steering)
    power = 1.0 / np.real(np.sum(steering.conj() * weights, axis=0))
    return power[0] / power[1] + np.sum(np.abs(np.corrcoef(x)[0, 1:]))


@program(scalar(0.5, 0.9), array(2, low=0.1, high=0.3), truth="differences")
def cauchys_integral(radius, center):
    t = np.linspace(0.0, 2.0 * np.pi, 33)
    z = center[0] + 1j * center[1] + radius * np.exp(1j * t)
    around = np.trapezoid(np.exp(z) / ((z**2 + 4.0) * (z - center[0])), z)
    ends = np.r_[z[:2], 1j, 2.0]
    return np.abs(around) + np.real(np.prod(ends))


@program(array(4, low=0.6, high=1.7), array(5, low=0.5, high=4.0), truth="differences")
def survival_with_censoring(p, t):
    seen = np.array([True, False, True, True, False])
    fit = np.sum(st.gamma.logpdf(t[seen], p[0], scale=p[1]))
    fit += np.sum(st.gamma.logsf(t[~seen], p[0], scale=p[1]))
    return fit + st.gamma.ppf(0.5, p[0], scale=p[1]) + np.sum(st.chi2.sf(t, 4.0 * p[3]))


@program(array(3, low=0.8, high=2.5), array(6, low=0.1, high=0.9), truth="differences")
def probability_transforms(p, y):
    z = st.norm.ppf(st.beta.cdf(y, p[0], p[1]))
    tails = st.t.logcdf(z, 3.0 + p[2])
    return np.sum(z * tails) + np.sum(st.beta.ppf([0.1, 0.9], p[0], p[1]))


@program(array(3, 4))
def views_of_one_array(x):
    y = x.astype(x.dtype, copy=False) * 1.0
    same = y.astype(y.dtype, copy=False)
    same[0] *= 2.0
    again = np.asarray(y, dtype=y.dtype)
    again[:, -1] += y[:, 0]
    flat = y.ravel()
    flat[::3] = 0.5
    last = np.array(y, copy=None)
    last[-1, 1] = flat[1]
    return np.sum(y * np.arange(12.0).reshape(3, 4)) + np.sum(same**2) + flat[1] * flat[-1]


@program(array(2, low=0.4, high=1.2), truth="differences")
def moments_of_a_density(p):
    def weighed(t):
        return np.array([1.0, t, t * t]) * np.exp(-p[0] * t * t + p[1] * t)

    m, _ = si.quad_vec(weighed, -4.0, 4.0, epsrel=1e-10)
    return m[1] / m[0] + m[2] / m[0] + np.log(m[0])


@program(array(6), array(4, low=0.3, high=3.7), truth="differences")
def calibration_curve(y, q):
    tck = sint.splrep(np.linspace(0.0, 4.0, len(y)), y)
    return np.sum(np.sin(q) * sint.splev(q, tck) ** 2)


@program(array(4, 6), truth="differences")
def coherence_of_what_was_seen(x):
    ok = np.array([[True, False, True, True, False, True]] * 4)
    z = sg.hilbert(x, axis=1)
    mean = np.mean(z, axis=1, where=ok, keepdims=True)
    spread = np.std(z, axis=1, where=ok)
    rest = np.nanvar(np.where(ok, z, np.nan), axis=1, ddof=1)
    return np.sum(np.abs(mean[:, 0]) / spread) + np.sum(rest)


@program(array(6, low=0.05, high=0.4), array(6, low=1.2, high=2.5), truth="differences",
         seed=2)
def reflection_of_thin_films(thickness, index):
    k = 2.0 * np.pi / 0.5
    m = np.eye(2, dtype=complex)
    for d, n in zip(thickness, index):
        phase = k * n * d
        m = m @ np.array([[np.cos(phase), 1j * np.sin(phase) / n],
                          [1j * n * np.sin(phase), np.cos(phase)]])  # fmt: skip
    top = m[0, 0] + m[0, 1] * 1.5 - m[1, 0] - m[1, 1] * 1.5
    bottom = m[0, 0] + m[0, 1] * 1.5 + m[1, 0] + m[1, 1] * 1.5
    return abs(top / bottom) ** 2 + np.angle(top / bottom)


@program(array(8), array(8, low=0.3, high=1.7), truth="differences")
def monotone_fit_by_means(y, w):
    n = len(y)
    sums = np.concatenate(([0.0], np.cumsum(y * w)))
    weights = np.concatenate(([0.0], np.cumsum(w)))
    i, j = np.ogrid[:n, :n]
    over = np.where(j >= i, weights[1:][None, :] - weights[:-1][:, None], 1.0)
    mean = np.where(j >= i, (sums[1:][None, :] - sums[:-1][:, None]) / over, np.inf)
    low = np.minimum.accumulate(mean[:, ::-1], axis=1)[:, ::-1]
    low = np.where(j >= i, low, -np.inf)
    fit = np.maximum.accumulate(low, axis=0)[np.arange(n), np.arange(n)]
    return np.sum(w * (fit - y) ** 2) + fit @ np.arange(n)


@program(scalar(1.0, 1.4), scalar(0.1, 0.5), scalar(0.2, 1.0), scalar(0.5, 1.0))
def velocity_of_a_star(period, e, omega, k):
    t = np.linspace(0.1, 2.0, 8)
    mean = 2.0 * np.pi * t / period
    anomaly = mean + e * np.sin(mean)
    for _ in range(8):
        anomaly -= (anomaly - e * np.sin(anomaly) - mean) / (1.0 - e * np.cos(anomaly))
    half = np.sqrt((1.0 + e) / (1.0 - e)) * np.tan(anomaly / 2.0)
    true = 2.0 * np.arctan(half)
    return np.sum((k * (np.cos(true + omega) + e * np.cos(omega))) ** 2)


@program(array(8, low=200.0, high=300.0), scalar(0.3, 0.9), truth="differences")
def heating_of_a_column(temperature, depth):
    n = len(temperature)
    through = np.exp(-np.diff(depth * np.linspace(0.0, 1.0, n + 1) ** 2))
    emitted = (temperature / 300.0) ** 4
    up, down = np.empty(n + 1), np.empty(n + 1)
    up[-1], down[0] = 1.0, 0.0
    for k in range(n - 1, -1, -1):
        up[k] = up[k + 1] * through[k] + emitted[k] * (1.0 - through[k])
    for k in range(n):
        down[k + 1] = down[k] * through[k] + emitted[k] * (1.0 - through[k])
    return np.sum(np.diff(up - down) ** 2) + np.sum(np.gradient(emitted, edge_order=2) ** 2)


@program(array(8, 2), truth="differences", seed=2)
def clusters_by_turns(x):
    centers = x[:3].copy()
    for _ in range(3):
        d = np.linalg.norm(x[:, np.newaxis, :] - centers[np.newaxis], axis=2)
        label = np.argmin(d + 0.01, axis=1)
        for k in range(3):
            mine = label == k
            if mine.any():
                centers[k] = 0.5 * centers[k] + 0.5 * x[mine].mean(axis=0)
    nearest = np.sort(np.sum((x[:, None] - centers) ** 2, axis=2), axis=1)
    return nearest[:, 0].sum() + (nearest[:, 0] / nearest[:, 1]).mean()


@program(array(7, 3), truth="differences")
def pooled_by_segment(h):
    total = np.zeros((3, h.shape[1]))
    np.add.at(total, THIRDS, h)
    mean = total / np.bincount(THIRDS, minlength=3)[:, None]
    top = np.full((3, h.shape[1]), -np.inf)
    np.maximum.at(top, THIRDS, h)
    share = np.exp(h[:, 0] - top[THIRDS, 0])
    below = np.zeros(3)
    np.add.at(below, THIRDS, share)
    return np.sum(mean * top) + np.sum((share / below[THIRDS]) ** 2)


@program(array(6), array(6, 3), truth="differences", seed=2)
def partial_likelihood(t, x):
    order = np.argsort(t)[::-1]
    eta = (x @ np.array([0.3, -0.2, 0.1]))[order]
    risk = np.logaddexp.accumulate(eta)
    hazard = np.cumsum(np.exp(-risk[::-1]))
    return np.sum(eta - risk) + hazard @ np.arange(6.0)


@program(array(3, 3), array(3), array(3, low=0.5, high=1.5), truth="differences")
def best_path_of_states(moves, mu, sigma):
    seen = np.array([0.2, -0.5, 1.0, 0.3, 0.9])
    steps = sp.log_softmax(moves, axis=1)
    fits = st.norm.logpdf(seen[:, None], mu, sigma)
    every = best = -np.log(3.0) + fits[0]
    back = np.zeros((len(seen), 3), dtype=int)
    for t in range(1, len(seen)):
        every = sp.logsumexp(every[:, None] + steps, axis=0) + fits[t]
        s = best[:, None] + steps
        back[t] = s.argmax(axis=0)
        best = s.max(axis=0) + fits[t]
    path = np.zeros(len(seen), dtype=int)
    path[-1] = np.argmax(best)
    for t in range(len(seen) - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return sp.logsumexp(every) + best.max() + np.sum(mu[path] * seen)


@program(array(4, 3), truth="differences")
def reflected_columns(a):
    m, n = a.shape
    r, q = a.copy(), np.eye(m)
    for j in range(n):
        v = r[j:, j].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        r[j:, j:] -= 2.0 * np.outer(v, v @ r[j:, j:])
        q[:, j:] -= 2.0 * np.outer(q[:, j:] @ v, v)
    return np.sum(np.abs(np.diag(r))) + q[0] @ np.arange(4.0)


@program(array(10), array(10, low=0.3, high=1.7), truth="differences")
def local_lines(y, w):
    order = np.argsort(y)
    share = np.cumsum(w[order]) / w.sum()
    middle = y[order][np.searchsorted(share, 0.5)]
    x = np.linspace(0.0, 1.0, len(y))
    fit = np.empty(len(y))
    for i in range(len(y)):
        d = np.abs(x - x[i])
        k = np.clip(1.0 - (d / np.sort(d)[5]) ** 3, 0.0, None) ** 3 * w
        design = np.vander(x - x[i], 2)
        fit[i] = np.linalg.solve((design.T * k) @ design, design.T @ (k * y))[-1]
    return middle + fit @ fit
