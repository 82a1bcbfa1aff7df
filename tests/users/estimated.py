"""Which programs do people publish who price and who fit?"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg, special
from scipy.special import expit, logsumexp

from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add


def sabr_vol(F, K, T, alpha, beta, rho, nu):
    if abs(F - K) < 1e-12:
        fb = F ** (1 - beta)
        return (
            alpha
            / fb
            * (
                1
                + (
                    (1 - beta) ** 2 / 24 * alpha**2 / fb**2
                    + 0.25 * rho * beta * nu * alpha / fb
                    + (2 - 3 * rho**2) / 24 * nu**2
                )
                * T
            )
        )
    logfk = math.log(F / K)
    fkb = (F * K) ** ((1 - beta) / 2)
    z = nu / alpha * fkb * logfk
    x = math.log((math.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
    a = fkb * (1 + (1 - beta) ** 2 / 24 * logfk**2 + (1 - beta) ** 4 / 1920 * logfk**4)
    b = (
        1
        + (
            (1 - beta) ** 2 / 24 * alpha**2 / fkb**2
            + rho * beta * nu * alpha / (4 * fkb)
            + (2 - 3 * rho**2) / 24 * nu**2
        )
        * T
    )
    return alpha / a * (z / x) * b


@program(
    np.array([0.2, -0.3, 0.4]),
    [0.02, 0.025, 0.03, 0.035, 0.04],
    np.array([0.32, 0.29, 0.27, 0.275, 0.29]),
    0.5,
    argnums=(0,),
    truth="differences",
)
def sabr_fit(theta, strikes, vols, beta):
    alpha, rho, nu = theta
    F, T = (0.03, 2.0)
    res = [sabr_vol(F, K, T, alpha, beta, rho, nu) - v for K, v in zip(strikes, vols)]
    return sum(r**2 for r in res)


@program(np.array([[0.04, 0.01, 0.0], [0.01, 0.09, 0.02], [0.0, 0.02, 0.16]]), truth="differences")
def risk_parity(S):
    n = len(S)
    x = np.ones(n) / np.sqrt(np.diag(S))
    for _it in range(100):
        old = x.copy()
        for i in range(n):
            b = S[i] @ x - S[i, i] * x[i]
            x[i] = (-b + np.sqrt(b * b + 4 * S[i, i] / n)) / (2 * S[i, i])
        if np.max(np.abs(x - old)) < 1e-12:
            break
    w = x / x.sum()
    return np.dot(w, [1.0, 2.0, 3.0]) + np.sqrt(w @ S @ w)


@program(100.0, 0.2, 0.8, -0.1, 0.15, truth="differences")
def merton_jump(S, sigma, lam, muj, sj):
    K, T, r = (105.0, 1.0, 0.03)
    k = math.exp(muj + 0.5 * sj**2) - 1
    lp = lam * (1 + k)
    total, n = (0.0, 0)
    while True:
        weight = math.exp(-lp * T) * (lp * T) ** n / math.factorial(n)
        if n > 3 and weight < 1e-12:
            break
        rn = r - lam * k + n * math.log(1 + k) / T
        sn = math.sqrt(sigma**2 + n * sj**2 / T)
        d1 = (math.log(S / K) + (rn + 0.5 * sn**2) * T) / (sn * math.sqrt(T))
        N = lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2)))
        total += weight * (S * N(d1) - K * math.exp(-rn * T) * N(d1 - sn * math.sqrt(T)))
        n += 1
    return total


rng = np.random.default_rng(1)

groups = np.repeat(np.arange(4), [3, 4, 5, 3])

Xm = np.column_stack([np.ones(15), rng.normal(size=15)])

ym = Xm @ [1.0, 2.0] + rng.normal(size=4)[groups] + 0.3 * rng.normal(size=15)


@program(np.array([-0.5, 0.1, -0.3, -1.0]), truth="differences")
def mixed_model_reml(theta):
    L = np.array([[np.exp(theta[0]), 0.0], [theta[1], np.exp(theta[2])]])
    D = L @ L.T
    s2 = np.exp(2 * theta[3])
    XtVX = np.zeros((2, 2))
    XtVy = np.zeros(2)
    yVy = 0.0
    logdet = 0.0
    for g in np.unique(groups):
        rows = groups == g
        X, y = (Xm[rows], ym[rows])
        Zg = X
        V = Zg @ D @ Zg.T + s2 * np.eye(len(y))
        c, low = linalg.cho_factor(V, lower=True)
        XtVX += X.T @ linalg.cho_solve((c, low), X)
        XtVy += X.T @ linalg.cho_solve((c, low), y)
        yVy += y @ linalg.cho_solve((c, low), y)
        logdet += 2 * np.sum(np.log(np.diag(c)))
    beta = np.linalg.solve(XtVX, XtVy)
    rss = yVy - XtVy @ beta
    return 0.5 * (logdet + rss + np.linalg.slogdet(XtVX)[1])


@dataclass
class ARMA:
    ar: np.ndarray
    ma: np.ndarray

    def companion(self):
        r = max(len(self.ar), len(self.ma) + 1)
        T = np.zeros((r, r))
        T[: len(self.ar), 0] = self.ar
        T[:-1, 1:] = np.eye(r - 1)
        R = np.zeros(r)
        R[0] = 1.0
        R[1 : 1 + len(self.ma)] = self.ma
        return (T, R)


yts = np.sin(np.arange(30.0)) + 0.3 * rng.normal(size=30)


@program(ARMA(np.array([0.5, -0.2]), np.array([0.3])), -0.4, truth="differences")
def arma_exact_likelihood(model, log_sigma):
    T, R = model.companion()
    Q = np.outer(R, R)
    n = len(R)
    P = np.linalg.solve(np.eye(n * n) - np.kron(T, T), Q.ravel()).reshape(n, n)
    a = np.zeros(n)
    s2 = np.exp(2 * log_sigma)
    ll = 0.0
    for y in yts:
        v = y - a[0]
        F = P[0, 0]
        K = T @ P[:, 0] / F
        a = T @ a + K * v
        P = T @ P @ T.T - np.outer(K, K) * F + Q
        ll += -0.5 * (np.log(2 * np.pi * s2 * F) + v * v / (s2 * F))
    return -ll


Xo = rng.normal(size=(25, 2))

yo = rng.integers(0, 4, size=25)


@program(np.array([0.5, -0.3]), np.array([-1.0, 0.2, -0.1]), truth="differences")
def ordinal_logit(beta, raw):
    cuts = np.concatenate(([raw[0]], raw[0] + np.cumsum(np.exp(raw[1:]))))
    eta = Xo @ beta
    padded = np.r_[-np.inf, cuts, np.inf]
    p = expit(padded[yo + 1] - eta) - expit(padded[yo] - eta)
    return -np.log(np.clip(p, 1e-12, None)).sum()


time = np.array([5.0, 6, 6, 2, 4, 4, 8, 9, 1, 3])

event = np.array([1, 1, 1, 0, 1, 1, 0, 1, 1, 0])

Xc = rng.normal(size=(10, 3))


@program(np.array([0.1, -0.2, 0.3]), truth="differences")
def cox_efron(beta):
    order = np.argsort(-time, kind="stable")
    t, d, X = (time[order], event[order].astype(bool), Xc[order])
    eta = X @ beta
    w = np.exp(eta)
    ll, risk, i = (0.0, 0.0, 0)
    n = len(t)
    while i < n:
        j = i
        while j < n and t[j] == t[i]:
            j += 1
        risk += w[i:j].sum()
        dead = d[i:j]
        m = int(dead.sum())
        tied = w[i:j][dead].sum()
        ll += eta[i:j][dead].sum()
        for l in range(m):
            ll -= np.log(risk - l / m * tied)
        i = j
    return -ll


Xg = np.sort(rng.uniform(0, 4, 14))

yg = np.sin(2 * Xg) + 0.1 * rng.normal(size=14)


def sqdist(a, b):
    return (a[:, None] - b[None, :]) ** 2


KERNELS = {
    "rbf": lambda a, b, l: np.exp(-0.5 * sqdist(a, b) / l**2),
    "matern32": lambda a, b, l: (
        (1 + math.sqrt(3) * np.abs(a[:, None] - b) / l)
        * np.exp(-math.sqrt(3) * np.abs(a[:, None] - b) / l)
    ),
    "periodic": lambda a, b, l: np.exp(
        -2 * np.sin(np.pi * np.abs(a[:, None] - b[None, :]) / 2.0) ** 2 / l**2
    ),
    "rq": lambda a, b, l: (1 + sqdist(a, b) / (2 * 1.3 * l**2)) ** (-1.3),
}


@program(
    {"rbf": (0.1, 0.2), "matern32": (-0.2, 0.3), "periodic": (0.0, -0.5), "rq": (-1.0, 0.1)},
    -2.0,
    truth="differences",
)
def gp_sum_of_kernels(hyper, log_noise):
    K = np.zeros((len(Xg), len(Xg)))
    for name, (log_amp, log_len) in hyper.items():
        K += np.exp(2 * log_amp) * KERNELS[name](Xg, Xg, np.exp(log_len))
    K[np.diag_indices_from(K)] += np.exp(2 * log_noise) + 1e-08
    L = np.linalg.cholesky(K)
    alpha = linalg.solve_triangular(L.T, linalg.solve_triangular(L, yg, lower=True))
    return 0.5 * yg @ alpha + np.log(L.diagonal()).sum() + 0.5 * len(yg) * np.log(2 * np.pi)


@program(np.array([0.3, -0.2, 0.1]), np.array([0.7, 0.5]), truth="differences")
def nested_logit(beta, lam):
    nests = [[0, 1], [2, 3, 4]]
    X = np.arange(15.0).reshape(5, 3) / 10
    V = X @ beta
    incl = np.array([logsumexp(V[nest] / l) for nest, l in zip(nests, lam)])
    top = special.log_softmax(lam * incl)
    ll = 0.0
    for m, nest in enumerate(nests):
        for j in nest:
            ll += (j + 1) * (V[j] / lam[m] - incl[m] + top[m])
    return -ll
