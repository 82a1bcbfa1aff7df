"""Which programs do people copy from textbooks, and from the insides of packages?"""

import math

import numpy as np
from numba import njit

import jitad
from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add


rng = np.random.default_rng(7)


def savgol_coeffs(window, order, deriv=0):
    half = window // 2
    b = np.array([[k**i for i in range(order + 1)] for k in range(-half, half + 1)], dtype=float)
    return np.linalg.pinv(b)[deriv] * math.factorial(deriv)


@program(rng.normal(size=30).cumsum(), 0.3, truth="differences")
def savgol_penalty(y, lam):
    window, order = 7, 3
    half = window // 2
    m = savgol_coeffs(window, order, deriv=1)
    first = y[0] - np.abs(y[1 : half + 1][::-1] - y[0])
    last = y[-1] + np.abs(y[-half - 1 : -1][::-1] - y[-1])
    ypad = np.concatenate((first, y, last))
    dy = np.convolve(m[::-1], ypad, mode="valid")
    return lam * np.sum(dy**2) + np.sum((y - y.mean()) ** 2) / len(y)


@program(
    np.sort(rng.uniform(0, 10, 25)),
    rng.normal(size=25),
    np.array([0.7, 1.3, 2.9]),
    truth="differences",
)
def lomb_scargle(t, x, freqs):
    x = x - x.mean()
    pgram = np.zeros(len(freqs))
    for i, w in enumerate(freqs):
        tau = math.atan2(np.sin(2 * w * t).sum(), np.cos(2 * w * t).sum()) / (2 * w)
        c = np.cos(w * (t - tau))
        s = np.sin(w * (t - tau))
        pgram[i] = 0.5 * (np.dot(x, c) ** 2 / np.dot(c, c) + np.dot(x, s) ** 2 / np.dot(s, s))
    return pgram.max() + 0.3 * pgram.sum()


@program(
    rng.normal(size=(10, 2)),
    np.sign(rng.normal(size=10)),
    np.array([0.1, -0.2, 0.3]),
    argnums=(0, 2),
    truth="differences",
)
def adaboost_soft(X, y, thresholds):
    n = X.shape[0]
    w = np.full(n, 1 / n)
    F = np.zeros(n)
    for m, th in enumerate(thresholds):
        j = m % X.shape[1]
        pred = np.tanh(4 * (X[:, j] - th))
        err = np.sum(w * (1 - y * pred)) / 2
        err = min(max(err, 1e-10), 1 - 1e-10)
        alpha = 0.5 * np.log((1 - err) / err)
        F += alpha * pred
        w *= np.exp(-alpha * y * pred)
        w /= w.sum()
    return np.mean(np.exp(-y * F))


class KernelRidge:
    def __init__(self, alpha=1.0, gamma=None, kernel="rbf"):
        self.alpha, self.gamma, self.kernel = alpha, gamma, kernel

    def _k(self, A, B):
        gamma = self.gamma if self.gamma is not None else 1.0 / A.shape[1]
        if self.kernel == "rbf":
            sq = (A**2).sum(1)[:, None] + (B**2).sum(1)[None, :] - 2 * A @ B.T
            return np.exp(-gamma * np.maximum(sq, 0))
        elif self.kernel == "poly":
            return (gamma * A @ B.T + 1) ** 3
        raise NotImplementedError(self.kernel)

    def fit(self, X, y):
        self.X_ = X
        K = self._k(X, X)
        K.flat[:: len(K) + 1] += self.alpha
        self.dual_coef_ = np.linalg.solve(K, y)
        return self

    def predict(self, X):
        return self._k(X, self.X_) @ self.dual_coef_


Xk, yk = rng.normal(size=(12, 2)), rng.normal(size=12)


@program(0.5, 0.7, "rbf", truth="differences")
def krr_cv(alpha, gamma, kernel):
    folds = np.array_split(np.arange(len(yk)), 3)
    scores = []
    for test in folds:
        train = np.setdiff1d(np.arange(len(yk)), test)
        m = KernelRidge(alpha=alpha, gamma=gamma, kernel=kernel).fit(Xk[train], yk[train])
        scores.append(((m.predict(Xk[test]) - yk[test]) ** 2).mean())
    return np.mean(scores)


yl = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2])


@program(rng.normal(size=(11, 3)) + yl[:, None], yl, truth="differences")
def lda_loglik(X, y):
    classes = np.unique(y)
    priors = {}
    means = {}
    Sw = np.zeros((X.shape[1], X.shape[1]))
    for c in classes:
        Xc = X[y == c]
        priors[c] = len(Xc) / len(X)
        means[c] = Xc.mean(axis=0)
        Sw += (Xc - means[c]).T.dot(Xc - means[c])
    Sw /= len(X) - len(classes)
    inv = np.linalg.inv(Sw + 0.1 * np.eye(X.shape[1]))
    scores = np.array(
        [
            [
                x @ inv @ means[c] - 0.5 * means[c] @ inv @ means[c] + np.log(priors[c])
                for c in classes
            ]
            for x in X
        ]
    )
    scores -= scores.max(axis=1)[:, None]
    logp = scores - np.log(np.exp(scores).sum(axis=1))[:, None]
    return -logp[np.arange(len(y)), y].mean()


@program(
    np.array([0.4, 0.2, 0.3]),
    10 + rng.normal(size=20) + 2 * np.sin(np.arange(20) * np.pi / 2),
    "add",
    truth="differences",
)
def holt_winters(params, y, seasonal="add", m=4):
    alpha, beta, gamma = params
    level = y[:m].mean()
    trend = (y[m : 2 * m].sum() - y[:m].sum()) / m**2
    if seasonal == "add":
        s = [y[i] - level for i in range(m)]
    else:
        s = [y[i] / level for i in range(m)]
    sse = 0.0
    for t in range(m, len(y)):
        if seasonal == "add":
            yhat = level + trend + s[t % m]
            new_level = alpha * (y[t] - s[t % m]) + (1 - alpha) * (level + trend)
            new_s = gamma * (y[t] - new_level) + (1 - gamma) * s[t % m]
        else:
            yhat = (level + trend) * s[t % m]
            new_level = alpha * (y[t] / s[t % m]) + (1 - alpha) * (level + trend)
            new_s = gamma * (y[t] / new_level) + (1 - gamma) * s[t % m]
        trend = beta * (new_level - level) + (1 - beta) * trend
        level = new_level
        s[t % m] = new_s
        sse += (y[t] - yhat) ** 2
    return sse


def logdensity(q, prec):
    return -0.5 * q @ prec @ q - 0.1 * np.sum(q**4)


@program(
    np.array([0.3, -0.5]),
    np.array([1.0, 0.2]),
    0.1,
    np.array([[2.0, 0.3], [0.3, 1.0]]),
    truth="differences",
)
def hmc_step(q, p, eps, prec):
    grad_u = lambda q: -jitad.grad(logdensity)(q, prec)
    q, p = np.copy(q), np.copy(p)
    h0 = -logdensity(q, prec) + 0.5 * p @ p
    p -= 0.5 * eps * grad_u(q)
    for i in range(6):
        q += eps * p
        if i != 5:
            p -= eps * grad_u(q)
    p -= 0.5 * eps * grad_u(q)
    p = -p
    h1 = -logdensity(q, prec) + 0.5 * p @ p
    return (h1 - h0) * 100 + q @ q


@njit
def pava(y, w):
    n = y.size
    out = y.copy()
    wt = w.copy()
    blocks = 0
    val = np.empty(n)
    wei = np.empty(n)
    cnt = np.empty(n, np.int64)
    for i in range(n):
        val[blocks] = out[i]
        wei[blocks] = wt[i]
        cnt[blocks] = 1
        blocks += 1
        while blocks > 1 and val[blocks - 2] > val[blocks - 1]:
            tot = wei[blocks - 2] + wei[blocks - 1]
            val[blocks - 2] = (
                wei[blocks - 2] * val[blocks - 2] + wei[blocks - 1] * val[blocks - 1]
            ) / tot
            wei[blocks - 2] = tot
            cnt[blocks - 2] += cnt[blocks - 1]
            blocks -= 1
    k = 0
    for b in range(blocks):
        for _ in range(cnt[b]):
            out[k] = val[b]
            k += 1
    return out


@program(rng.normal(size=12).cumsum(), rng.uniform(0.5, 1.5, 12), truth="differences")
def isotonic_cal(y, w):
    fit = pava(y, w)
    return np.sum(w * (y - fit) ** 2) + np.sum(np.sin(fit))


rng = np.random.default_rng(11)


def build_neighbours(pos, L, rc):
    neigh = [[] for _ in pos]
    for i in range(len(pos)):
        for j in range(i + 1, len(pos)):
            d = pos[i] - pos[j]
            d -= L * np.rint(d / L)
            if d @ d < rc * rc:
                neigh[i].append(j)
    return neigh


pos_lj = (
    np.array([[x, y, 0.0] for x in range(3) for y in range(3)]) * 1.2
    + rng.normal(size=(9, 3)) * 0.05
)


nl = build_neighbours(pos_lj, 6.0, 2.0)


pairs = np.array([(i, j) for i, js in enumerate(nl) for j in js])


@program(pos_lj, pairs, truth="differences")
def lj_pairs_arrays(pos, pairs):
    i, j = pairs.T
    d = pos[i] - pos[j]
    r2 = np.einsum("ij,ij->i", d, d)
    s6 = r2**-3
    e = np.zeros(len(pos))
    np.add.at(e, i, 2 * (s6**2 - s6))
    np.add.at(e, j, 2 * (s6**2 - s6))
    return e.sum() + 0.1 * np.max(e)


@program(np.array([7000.0, 1200.0, 500.0]), np.array([-1.0, 7.2, 1.1]), truth="differences")
def orbital_elements(r_vec, v_vec, mu=398600.4418):
    r, _v = np.linalg.norm(r_vec), np.linalg.norm(v_vec)
    vr = np.dot(r_vec / r, v_vec)
    h_vec = np.cross(r_vec, v_vec)
    h = np.linalg.norm(h_vec)
    i = np.arccos(h_vec[2] / h)
    N_vec = np.cross([0, 0, 1], h_vec)
    N = np.linalg.norm(N_vec)
    Omega = 2 * np.pi - np.arccos(N_vec[0] / N) if N_vec[1] < 0 else np.arccos(N_vec[0] / N)
    e_vec = np.cross(v_vec, h_vec) / mu - r_vec / r
    e = np.linalg.norm(e_vec)
    omega = np.arccos(np.dot(N_vec, e_vec) / (N * e))
    if e_vec[2] < 0:
        omega = 2 * np.pi - omega
    nu = np.arccos(np.clip(np.dot(e_vec / e, r_vec / r), -1, 1))
    if vr < 0:
        nu = 2 * np.pi - nu
    a = h**2 / mu / (1 - e**2)
    return a / 7000 + i + Omega + e * np.cos(nu) + omega


H_TAB = np.array([0.0, 11e3, 20e3, 32e3, 47e3])


LAPSE = [-0.0065, 0.0, 0.001, 0.0028]


def isa(h):
    T, p = 288.15, 101325.0
    g0, R = 9.80665, 287.05287
    for k in range(len(LAPSE)):
        if h <= H_TAB[k]:
            break
        top = min(h, H_TAB[k + 1])
        dh = top - H_TAB[k]
        if LAPSE[k] == 0.0:
            p *= math.exp(-g0 * dh / (R * T))
        else:
            Tn = T + LAPSE[k] * dh
            p *= (Tn / T) ** (-g0 / (LAPSE[k] * R))
            T = Tn
    return T, p, p / (R * T)


@program(25.0, 300.0, truth="differences")
def rocket_ascent(mass, thrust_per_mass):
    h, v, m, t = 0.0, 0.0, mass, 0.0
    dt = 0.5
    while h < 30e3 and t < 20:
        T, _p, rho = isa(h)
        mach = v / math.sqrt(1.4 * 287.05 * T)
        cd = np.interp(mach, [0, 0.8, 1.0, 1.2, 2.0, 5.0], [0.3, 0.32, 0.6, 0.55, 0.4, 0.25])
        drag = 0.5 * rho * v * abs(v) * cd * 0.01
        v += dt * (thrust_per_mass * mass / m - 9.81 - drag / m)
        h += dt * v
        m -= dt * 0.005 * mass
        t += dt
    return h / 1000


@program(0.4, 0.1, rng.normal(size=(5, 5)) * 0.2, truth="differences")
def ising_mf(beta, h, J):
    J = (J + J.T) / 2
    np.fill_diagonal(J, 0)
    m = np.full(5, 0.1)
    for _sweep in range(60):
        m_old = m.copy()
        for i in range(5):
            m[i] = 0.5 * m[i] + 0.5 * np.tanh(beta * (h + J[i] @ m))
        if np.allclose(m, m_old, atol=1e-14, rtol=0):
            break
    p = (1 + m) / 2
    S = -np.sum(p * np.log(p) + (1 - p) * np.log(1 - p))
    return -0.5 * m @ J @ m - h * m.sum() - S / beta


@program(rng.normal(size=(5, 3)), rng.normal(size=5), truth="differences")
def givens_qr_lstsq(A, b):
    R = A.copy()
    qtb = b.astype(float).copy()
    m, n = R.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            a_, b_ = R[i - 1, j], R[i, j]
            if b_ == 0:
                c, s = 1.0, 0.0
            elif abs(b_) > abs(a_):
                tau = -a_ / b_
                s = 1 / np.sqrt(1 + tau**2)
                c = s * tau
            else:
                tau = -b_ / a_
                c = 1 / np.sqrt(1 + tau**2)
                s = c * tau
            G = np.array([[c, -s], [s, c]])
            R[i - 1 : i + 1, j:] = G @ R[i - 1 : i + 1, j:]
            qtb[i - 1 : i + 1] = G @ qtb[i - 1 : i + 1]
    x = np.zeros(n)
    for i in range(n)[::-1]:
        x[i] = (qtb[i] - R[i, i + 1 : n] @ x[i + 1 :]) / R[i, i]
    return np.sum(x**2) + np.linalg.norm(qtb[n:])


@program(rng.normal(size=16), 0.1, truth="differences")
def haar_denoise(x, thr):
    coeffs = []
    a = x
    while len(a) > 1:
        s = (a[0::2] + a[1::2]) / np.sqrt(2)
        d = (a[0::2] - a[1::2]) / np.sqrt(2)
        coeffs.append(np.sign(d) * np.maximum(np.abs(d) - thr, 0))
        a = s
    for d in coeffs[::-1]:
        out = np.empty(2 * len(a))
        out[0::2] = (a + d) / np.sqrt(2)
        out[1::2] = (a - d) / np.sqrt(2)
        a = out
    return np.sum((a - x) ** 2) + np.sum(np.diff(a) ** 2)


def fft_rec(x):
    n = len(x)
    if n == 1:
        return x
    if n % 2:
        raise ValueError("size must be a power of 2")
    even, odd = fft_rec(x[::2]), fft_rec(x[1::2])
    T = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + T, even - T])


@program(rng.normal(size=16), truth="differences")
def spectral_entropy(x):
    X = fft_rec(x * np.hanning(len(x)) + 0.1)
    p = np.abs(X) ** 2
    p = p / p.sum()
    return -np.sum(p * np.log(p + 1e-12))
