"""Which programs do people write who model, fit and simulate, in the idioms of every day?"""

import copy
import enum
import functools
import itertools
import math
import operator
from collections import defaultdict, deque, namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add


rng = np.random.default_rng(13)


@dataclass
class HullWhite:
    a: float
    sigma: float
    n: int = 6
    dt: float = 0.5

    def build(self, discount):
        M = -self.a * self.dt
        dr = self.sigma * math.sqrt(3 * self.dt)
        jmax = math.ceil(0.184 / 0.5)
        jmax = max(jmax, 3)
        Q = {0: 1.0}
        alphas = []
        for i in range(self.n):
            s = sum(q * math.exp(-j * dr * self.dt) for j, q in Q.items())
            alpha = (math.log(s) - math.log(discount(self.dt * (i + 1)))) / self.dt
            alphas.append(alpha)
            nxt = defaultdict(float)
            for j, q in Q.items():
                df = math.exp(-(alpha + j * dr) * self.dt)
                if abs(j) < jmax:
                    pu = 1 / 6 + (j * j * M * M + j * M) / 2
                    pm = 2 / 3 - j * j * M * M
                    pd = 1 / 6 + (j * j * M * M - j * M) / 2
                    for k, p in ((j + 1, pu), (j, pm), (j - 1, pd)):
                        nxt[k] += q * p * df
                else:
                    s_ = 1 if j > 0 else -1
                    nxt[j] += q * 0.8 * df
                    nxt[j - s_] += q * 0.2 * df
            Q = dict(nxt)
        return alphas, Q


@program(HullWhite(0.1, 0.01), 0.03, truth="differences")
def hull_white_tree(model, y):
    alphas, Q = model.build(lambda t: math.exp(-y * t - 0.001 * t * t))
    return sum(a * a for a in alphas) * 100 + sum(
        q * math.exp(-0.01 * j) for j, q in sorted(Q.items())
    )


class PID:
    def __init__(self, Kp, Ki, Kd, setpoint=1.0, output_limits=(-2.0, 2.0), sample=0.05):
        self.Kp, self.Ki, self.Kd = Kp, Ki, Kd
        self.setpoint, self.limits, self.dt = setpoint, output_limits, sample
        self.reset()

    def reset(self):
        self._integral = 0.0
        self._last_error = None

    def _clamp(self, v):
        lo, hi = self.limits
        if v is None:
            return None
        elif (hi is not None) and (v > hi):
            return hi
        elif (lo is not None) and (v < lo):
            return lo
        return v

    def __call__(self, y):
        error = self.setpoint - y
        d = 0.0 if self._last_error is None else (error - self._last_error) / self.dt
        self._integral = self._clamp(self._integral + self.Ki * error * self.dt)
        out = self.Kp * error + self._integral + self.Kd * d
        self._last_error = error
        return self._clamp(out)


@program(np.array([3.0, 1.0, 0.05]), truth="differences")
def pid_cost(gains):
    pid = PID(*gains)
    y, v, cost = 0.0, 0.0, 0.0
    for _k in range(60):
        u = pid(y)
        v += 0.05 * (u - 0.8 * v - y)
        y += 0.05 * v
        cost += (1 - y) ** 2 + 1e-3 * u**2
    return cost


@program(np.array([0.5, 1.0, 0.8, 0.6, 1.2]), 1.0, truth="differences")
def hardy_cross(r, demand):
    Q = {
        "AB": 0.5 * demand,
        "BC": 0.3 * demand,
        "AD": -0.5 * demand,
        "DC": -0.5 * demand,
        "BD": 0.2 * demand,
    }
    R = dict(zip(Q, r))
    loops = [[("AB", 1), ("BD", 1), ("AD", 1)], [("BC", 1), ("DC", 1), ("BD", -1)]]
    for _it in range(100):
        worst = 0.0
        for loop in loops:
            num = sum(s * R[p] * Q[p] * abs(Q[p]) for p, s in loop)
            den = sum(2 * R[p] * abs(Q[p]) for p, s in loop)
            dq = -num / den
            for p, s in loop:
                Q[p] += s * dq
            worst = max(worst, abs(dq))
        if worst < 1e-13:
            break
    return sum(R[p] * abs(q) ** 3 for p, q in Q.items())


class Vec(NamedTuple):
    x: float
    y: float

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y)

    def __mul__(self, s):
        return Vec(self.x * s, self.y * s)

    __rmul__ = __mul__

    def dot(self, o):
        return self.x * o.x + self.y * o.y

    @property
    def norm(self):
        return math.sqrt(self.dot(self))

    def unit(self):
        return self * (1 / self.norm)


def refract(d, n, eta):
    cosi = -d.dot(n)
    if cosi < 0:
        n, cosi = n * -1.0, -cosi
    k = 1 - eta**2 * (1 - cosi**2)
    if k < 0:
        return None
    return (d * eta + n * (eta * cosi - math.sqrt(k))).unit()


@program([(0.0, 5.0, 1.5), (1.0, -6.0, 1.0)], 0.3, truth="differences")
def lens_spot(surfaces, h):
    total = 0.0
    for y0 in (0.1, h, -h):
        p, d, n1 = Vec(-2.0, y0), Vec(1.0, 0.0), 1.0
        ok = True
        for z, R, n2 in surfaces:
            c = Vec(z + R, 0.0)
            oc = p - c
            b = oc.dot(d)
            disc = b * b - (oc.dot(oc) - R * R)
            if disc < 0:
                ok = False
                break
            t = -b - math.sqrt(disc) if R > 0 else -b + math.sqrt(disc)
            p = p + t * d
            d = refract(d, (p - c).unit(), n1 / n2)
            if d is None:
                ok = False
                break
            n1 = n2
        if ok:
            t = (8.0 - p.x) / d.x
            total += (p.y + t * d.y) ** 2
    return total


@functools.cache
def _knots(n, p):
    return [0.0] * p + list(np.linspace(0, 1, n - p + 1)) + [1.0] * p


def basis(i, p, u, U):
    if p == 0:
        return 1.0 if U[i] <= u < U[i + 1] else 0.0
    left = 0.0 if U[i + p] == U[i] else (u - U[i]) / (U[i + p] - U[i]) * basis(i, p - 1, u, U)
    right = (
        0.0
        if U[i + p + 1] == U[i + 1]
        else (U[i + p + 1] - u) / (U[i + p + 1] - U[i + 1]) * basis(i + 1, p - 1, u, U)
    )
    return left + right


@program(rng.normal(size=(5, 4)), 0.37, 0.61, truth="differences")
def bspline_surface(P, u, v, p=2):
    n, m = P.shape
    U, V = _knots(n, p), _knots(m, p)
    s = 0.0
    for i in range(n):
        Nu = basis(i, p, u, U)
        for j in range(m):
            s += Nu * basis(j, p, v, V) * P[i, j]
    return s**2


@program(rng.uniform(-1, 1, 12), 0.99, 40, truth="differences")
def karplus_strong(wavetable, decay, n):
    buf = wavetable.copy()
    samples, cur, prev = [], 0, 0.0
    while len(samples) < n:
        buf[cur] = decay * 0.5 * (buf[cur] + prev)
        samples.append(buf[cur])
        prev = samples[-1]
        cur += 1
        cur = cur % buf.size
    s = np.array(samples)
    return np.sum(s**2) + s[-1]


@program(
    np.sin(2 * np.pi * np.arange(64) / 11.3) + 0.1 * rng.normal(size=64), 0.3, truth="differences"
)
def yin_period(x, threshold):
    W = len(x) // 2
    d = np.zeros(W)
    for tau in range(1, W):
        d[tau] = np.sum((x[:W] - x[tau : tau + W]) ** 2)
    cmnd = np.ones(W)
    running = 0.0
    for tau in range(1, W):
        running += d[tau]
        cmnd[tau] = d[tau] * tau / running
    tau = 2
    while tau < W - 1:
        if cmnd[tau] < threshold:
            while tau + 1 < W - 1 and cmnd[tau + 1] < cmnd[tau]:
                tau += 1
            break
        tau += 1
    a, b, c = cmnd[tau - 1], cmnd[tau], cmnd[tau + 1]
    return tau + 0.5 * (a - c) / (a - 2 * b + c)


rng = np.random.default_rng(17)


class Bc(enum.Enum):
    DIRICHLET = "d"
    NEUMANN = "n"
    PERIODIC = "p"


@program(rng.normal(size=9), 0.2, Bc.NEUMANN, argnums=(0, 1), truth="differences")
def diffuse_bc(u, r, bc):
    u = np.array(u, copy=True)
    for _ in range(3):
        if bc is Bc.PERIODIC:
            lap = np.roll(u, 1) - 2 * u + np.roll(u, -1)
        else:
            left, right = (u[0], u[-1]) if bc == Bc.NEUMANN else (0.0, 0.0)
            padded = np.r_[left, u, right]
            lap = padded[:-2] - 2 * padded[1:-1] + padded[2:]
        u += r * lap
    return (u**2).sum()


def as_col(x):
    x = np.asarray(x, dtype=float)
    if x.ndim == 0:
        return x.reshape(1, 1)
    if x.ndim == 1:
        return x[:, None]
    return x


@program(np.array([0.1, 0.5, 0.9]), 2.0, truth="differences")
def scalar_or_array(x, p):
    def f(t):
        if np.isscalar(t):
            return t**p
        return np.array([f(float(v)) if isinstance(v, float) else v**p for v in t])

    A = as_col(x) @ as_col(x).T + as_col(p)
    return f(p) + f(x).sum() + A.sum()


@program(rng.normal(size=15), 3, truth="differences")
def rolling_median_dev(x, w):
    win = deque(maxlen=w)
    out = []
    for v in x:
        win.append(v)
        if len(win) < w:
            continue
        s = sorted(win)
        med = s[len(s) // 2]
        out.append(abs(v - med))
    return sum(o**2 for o in out) / max(len(out), 1)


@program(rng.normal(size=(5, 6)), 0.5, truth="differences")
def winsorise(X, c):
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    hi, lo = Z > c, Z < -c
    Z[hi] = c + np.log1p(Z[hi] - c)
    Z[lo] = -c - np.log1p(-Z[lo] - c)
    idx = np.where(hi.any(axis=1))[0]
    bonus = Z[idx].sum() if len(idx) else 0.0
    return np.abs(Z).sum() + bonus * 0.1 + np.count_nonzero(lo) * 0.01


@program([(0.3, 1.0), (0.7, -0.5), (0.1, 0.25)], 0.4, truth="differences")
def interval_scheduling(items, w):
    items = sorted(items, key=lambda t: (t[0], -t[1]))
    starts, vals = zip(*items)
    total = 0.0
    for (s1, v1), (s2, v2) in itertools.combinations(items, 2):
        gap = s2 - s1
        total += v1 * v2 * math.exp(-gap / w)
    if all(v > -1 for v in vals) and any(s > 0.5 for s in starts):
        total *= 1 + max(starts) - min(starts)
    acc = list(itertools.accumulate(vals, operator.add))
    return total + functools.reduce(operator.mul, (1 + a * a for a in acc), 1.0)


def build_kernel(x1, x2, *, kind="rbf", **hp):
    r2 = (x1 - x2) ** 2
    if kind == "rbf":
        return hp.get("var", 1.0) * np.exp(-0.5 * r2 / hp["ls"] ** 2)
    if kind == "rq":
        a = hp.pop("alpha", 1.0)
        return hp.get("var", 1.0) * (1 + r2 / (2 * a * hp["ls"] ** 2)) ** -a
    if kind == "sum":
        return sum(build_kernel(x1, x2, **k) for k in hp["parts"])
    raise ValueError(f"unknown kernel {kind!r}")


cfg0 = {
    "kind": "sum",
    "parts": [{"kind": "rbf", "ls": 0.5, "var": 1.2}, {"kind": "rq", "ls": 1.5, "alpha": 0.7}],
}


@program(
    cfg0, np.array([0.0, 0.4, 1.1]), np.array([1.0, -0.5, 0.3]), argnums=(0,), truth="differences"
)
def kernel_config(cfg, x, y):
    K = np.array([[build_kernel(a, b, **copy.deepcopy(cfg)) for b in x] for a in x]) + 0.1 * np.eye(
        len(x)
    )
    return y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1]


@program(rng.uniform(0.1, 1.0, (4, 4)), truth="differences")
def min_cost_path_soft(cost):
    memo = {}

    def go(i, j):
        if (i, j) in memo:
            return memo[i, j]
        if i == 0 and j == 0:
            val = cost[0, 0]
        else:
            prev = []
            if i > 0:
                prev.append(go(i - 1, j))
            if j > 0:
                prev.append(go(i, j - 1))
            if i > 0 and j > 0:
                prev.append(go(i - 1, j - 1) + 0.1)
            val = cost[i, j] - np.log(sum(np.exp(-p) for p in prev))
        memo[i, j] = val
        return val

    n, m = cost.shape
    return go(n - 1, m - 1)


@program(rng.normal(size=20).cumsum() * 0.1, 4, truth="differences")
def pacf_ld(x, nlags):
    x = x - np.mean(x)
    r = [np.dot(x[: len(x) - k], x[k:]) / len(x) for k in range(nlags + 1)]
    phi = {}
    sigma = r[0]
    pac = []
    for k in range(1, nlags + 1):
        acc = r[k] - sum(phi[k - 1, j] * r[k - j] for j in range(1, k))
        phi[k, k] = acc / sigma
        for j in range(1, k):
            phi[k, j] = phi[k - 1, j] - phi[k, k] * phi[k - 1, k - j]
        sigma *= 1 - phi[k, k] ** 2
        pac.append(phi[k, k])
    return np.log(sigma) + np.sum(np.square(pac))


@program(
    np.vstack([rng.normal(size=(4, 2)), rng.normal(size=(5, 2)) + 4]),
    np.array([0] * 4 + [1] * 5),
    truth="differences",
)
def silhouette(X, labels):
    D = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(-1) + 1e-12)
    scores = []
    for i in range(len(X)):
        same = [j for j in range(len(X)) if labels[j] == labels[i] and j != i]
        a = np.mean([D[i, j] for j in same])
        b = min(np.mean(D[i, labels == l]) for l in set(labels) - {labels[i]})
        scores.append((b - a) / max(a, b))
    return np.mean(scores)


Result = namedtuple("Result", "x fun nit success")


def bisect(f, a, b, xtol=1e-12, maxiter=100) -> Result:
    fa, fb = f(a), f(b)
    if fa * fb > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    it = 0
    while it < maxiter:
        it += 1
        m = 0.5 * (a + b)
        fm = f(m)
        if fm == 0 or (b - a) / 2 < xtol:
            break
        if np.sign(fm) == np.sign(fa):
            a, fa = m, fm
        else:
            b, fb = m, fm
    return Result(m, fm, it, abs(fm) < 1e-6)


@program(0.2, 100.0, argnums=(1,), truth="differences")
def implied_vol_bisect(sig, S):
    price = lambda v: (
        S * stats.norm.cdf((np.log(S / 95.0) + 0.5 * v * v) / v)
        - 95.0 * stats.norm.cdf((np.log(S / 95.0) - 0.5 * v * v) / v)
    )
    target = price(sig)
    r = bisect(lambda v: price(v) - target, 0.01, 1.0)
    assert r.success, r
    return price(r.x) + S


games = [("ann", "bob", 1), ("bob", "cat", 0), ("cat", "ann", 1), ("ann", "bob", 0)]


@program(20.0, {"ann": 1500.0, "bob": 1480.0, "cat": 1520.0}, truth="differences")
def elo(K, ratings):
    r = dict(ratings)
    ll = 0.0
    for a, b, s in games:
        e = 1 / (1 + 10 ** ((r[b] - r[a]) / 400))
        ll += s * math.log(e) + (1 - s) * math.log(1 - e)
        r[a] += K * (s - e)
        r[b] -= K * (s - e)
    return -ll + 1e-3 * max(r.values()) - 1e-3 * min(r.items(), key=lambda kv: kv[1])[1]
