"""Which programs do people write who build things: filters, robots, lenses, trusses?"""

import cmath
import functools
import itertools
import math
import operator
from collections import deque, namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numba import njit

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


class State(namedtuple("State", "m P")):
    __slots__ = ()

    def predict(self, F, Q):
        return self._replace(m=F @ self.m, P=F @ self.P @ F.T + Q)

    def update(self, z, H, R):
        S = H @ self.P @ H.T + R
        K = np.linalg.solve(S, H @ self.P).T
        r = z - H @ self.m
        ll = -0.5 * (
            r @ np.linalg.solve(S, r) + np.linalg.slogdet(S)[1] + len(r) * math.log(2 * math.pi)
        )
        return State(self.m + K @ r, self.P - K @ S @ K.T), ll


@program(scalar(0.1, 0.5), scalar(0.3, 0.8), array(6, 1), truth="differences")
def kalman_namedtuple(q, r, zs):
    dt = 0.5
    F = np.array([[1.0, dt], [0.0, 1.0]])
    Q = q * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    H = np.array([[1.0, 0.0]])
    R = np.diag([r])
    s, total = State(np.zeros(2), np.eye(2)), 0.0
    for z in zs:
        s = s.predict(F, Q)
        s, ll = s.update(z, H, R)
        total += ll
    return -total


@program(array(4, 2), scalar(0.1, 0.3), truth="differences")
def soft_bezier_raster(ctrl, width):
    ts = np.linspace(0, 1, 9)
    pts = (
        ((1 - ts) ** 3)[:, None] * ctrl[0]
        + (3 * (1 - ts) ** 2 * ts)[:, None] * ctrl[1]
        + np.outer(3 * (1 - ts) * ts**2, ctrl[2])
        + np.multiply.outer(ts**3, ctrl[3])
    )
    gy, gx = np.mgrid[-1:1:5j, -1:1:5j]
    grid = np.stack([gx.ravel(), gy.ravel()], axis=-1)
    d2 = ((grid[:, None, :] - pts[None]) ** 2).sum(-1)
    soft = -width * np.log(np.exp(-d2 / width).sum(1))
    img = 1.0 / (1.0 + np.exp(soft / 0.1 - 1.0)).reshape(5, 5)
    return (img * gx[0]).sum() + img.mean()


class Op(Enum):
    ADD = "+"
    MUL = "*"
    SIN = "sin"
    CONST = "c"
    VAR = "v"


@dataclass(frozen=True)
class Node:
    op: Op
    args: tuple = ()
    value: object = None


def evaluate(n, env):
    if n.op is Op.CONST:
        return n.value
    if n.op is Op.VAR:
        return env[n.value]
    vals = [evaluate(a, env) for a in n.args]
    if n.op is Op.ADD:
        return functools.reduce(operator.add, vals)
    elif n.op is Op.MUL:
        return functools.reduce(operator.mul, vals, 1)
    return math.sin(*vals)


def parse(tokens):
    tok = tokens.popleft()
    if tok == "(":
        op = Op(tokens.popleft())
        args = []
        while tokens[0] != ")":
            args.append(parse(tokens))
        tokens.popleft()
        return Node(op, tuple(args))
    try:
        return Node(Op.CONST, value=float(tok))
    except ValueError:
        return Node(Op.VAR, value=tok)


@program(scalar(0.5, 1.0), scalar(0.5, 1.0), truth="differences")
def lisp_expression(x, y):
    src = "( + ( * x y 2.5 ) ( sin ( + x ( * y y ) ) ) 3 )"
    tree = parse(deque(src.split()))
    return evaluate(tree, {"x": x, "y": y})


@program(array(5, low=0.5, high=1.5), array(6), truth="differences")
def fem_add_at(k, u):
    conn = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    K = np.zeros((6, 6))
    ke = k[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    np.add.at(K, (conn[:, :, None], conn[:, None, :]), ke)
    return 0.5 * u @ K @ u


@njit
def hash32(x):
    x = (x ^ (x >> 16)) & 0xFFFFFFFF
    x = (x * 0x45D9F3B) & 0xFFFFFFFF
    return x ^ (x >> 16)


@program(array(4, 4), scalar(0.1, 0.9), truth="differences")
def value_noise(grid, t):
    s = 0.0
    for k in range(8):
        u = k * 0.31 + t
        v = k * 0.17 + t * t
        i, j = math.floor(u), math.floor(v)
        fu, fv = u - i, v - j

        def g(a, b):
            h = hash32(a * 73856093 ^ b * 19349663)
            return grid[h & 3, (h >> 2) & 3]

        su, sv = fu * fu * (3 - 2 * fu), fv * fv * (3 - 2 * fv)
        s += (
            (1 - su) * (1 - sv) * g(i, j)
            + su * (1 - sv) * g(i + 1, j)
            + (1 - su) * sv * g(i, j + 1)
            + su * sv * g(i + 1, j + 1)
        )
    return s * s


@njit
def lcg(state):
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


@program(scalar(0.1, 0.5), scalar(0.5, 1.0), truth="differences")
def mc_with_lcg(sigma, mu):
    state = 42
    acc = 0.0
    for _ in range(100):
        s = 0.0
        for _ in range(12):
            state = lcg(state)
            s += state / 0x7FFFFFFF
        acc += math.log1p(math.exp(8.0 * (math.exp(mu + sigma * (s - 6.0)) - 1.5))) / 8.0
    return acc / 100


@program(array(4, 4), truth="differences")
def jacobi_eigenvalues(m):
    a = m + m.T
    n = a.shape[0]
    for _sweep in range(6):
        off = 0.0
        for p in range(n):
            for q in range(p + 1, n):
                off += a[p, q] ** 2
        if off < 1e-20:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-14:
                    continue
                th = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = math.copysign(1.0, th) / (abs(th) + math.hypot(th, 1.0))
                c = 1 / math.sqrt(t * t + 1)
                s = t * c
                rp, rq = a[p].copy(), a[q].copy()
                a[p], a[q] = c * rp - s * rq, s * rp + c * rq
                cp, cq = a[:, p].copy(), a[:, q].copy()
                a[:, p], a[:, q] = c * cp - s * cq, s * cp + c * cq
    ev = np.sort(np.diag(a))
    return ev @ np.array([1.0, 2.0, 4.0, 8.0])


@program(array(5, 3), array(5), truth="differences")
def householder_least_squares(A, b):
    R, y = A.copy(), b.copy()
    _m, n = R.shape
    for k in range(n):
        x = R[k:, k]
        v = x.copy()
        v[0] += np.sign(x[0]) * np.sqrt(np.sum(x**2))
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        y[k:] -= 2.0 * v * (v @ y[k:])
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - np.dot(R[i, i + 1 : n], x[i + 1 :])) / R[i, i]
    return np.sum(x**2) + np.sum(y[n:] ** 2)


@program(array(16), scalar(0.2, 0.4), truth="differences")
def fft_wiener_filter(x, noise):
    X = np.fft.rfft(x)
    P = np.abs(X) ** 2
    H = P / (P + noise)
    y = np.fft.irfft(H * X, n=len(x))
    return np.sum((y - x) ** 2) + np.angle(X[1])


@program(array(12), scalar(0.1, 0.3), scalar(0.5, 1.5), truth="differences")
def biquad_cascade(x, f0, Q):
    def lowpass(f0, Q):
        w0 = 2 * math.pi * f0
        alpha = math.sin(w0) / (2 * Q)
        cw = math.cos(w0)
        a0 = 1 + alpha
        return [(1 - cw) / 2 / a0, (1 - cw) / a0, (1 - cw) / 2 / a0], [
            1,
            -2 * cw / a0,
            (1 - alpha) / a0,
        ]

    y = x
    for stage in range(2):
        (b0, b1, b2), (_, a1, a2) = lowpass(f0, Q * (stage + 1))
        z1 = z2 = 0.0
        out = []
        for s in y:
            o = b0 * s + z1
            z1, z2 = b1 * s - a1 * o + z2, b2 * s - a2 * o
            out.append(o)
        y = out
    return sum(map(lambda v: v * v, y))


@program(scalar(0.5, 1.0), scalar(0.1, 0.3), truth="differences")
def complex_transfer(r, l):
    def par(*zs):
        return 1 / sum(1 / z for z in zs)

    total = 0.0
    for w in (0.5, 1.0, 2.0):
        s = 1j * w
        z = par(r, s * l, 1 / (s * 0.7)) + 0.1
        total += abs(z) + cmath.phase(z) ** 2 + (z * z.conjugate()).real
    return total


@njit
def scan_sort(values, idx):
    n = len(values)
    for i in range(n):
        idx[i] = i
    for i in range(1, n):
        k = idx[i]
        j = i - 1
        while j >= 0 and values[idx[j]] > values[k]:
            idx[j + 1] = idx[j]
            j -= 1
        idx[j + 1] = k


@njit
def gini(x):
    idx = np.empty(len(x), dtype=np.int64)
    scan_sort(x, idx)
    tot = cum = 0.0
    for r, k in enumerate(idx):
        cum += (2 * (r + 1) - len(x) - 1) * x[k]
        tot += x[k]
    return cum / (len(x) * tot)


@program(
    lambda random: np.array([0.5, 1.9, 0.9, 3.1, 1.4, 2.4]) + random.uniform(0.0, 0.1, 6),
    truth="differences",
)
def gini_njit(x):
    return gini(x)


@njit
def crossing(a, b, level):
    n = min(a.size, b.size)
    for i in range(n - 1):
        if (a[i] - level) * (a[i + 1] - level) <= 0:
            w = (level - a[i]) / (a[i + 1] - a[i])
            return True, (1 - w) * b[i] + w * b[i + 1]
    return False, np.nan


@program(array(9), array(9), truth="differences")
def njit_tuple_result(a, b):
    found, v = crossing(np.cumsum(a), b, 0.2)
    if not found:
        return b.mean()
    return v**2


def simpson(f, a, fa, b, fb):
    m = (a + b) / 2
    fm = f(m)
    return m, fm, abs(b - a) / 6 * (fa + 4 * fm + fb)


def quad_asr(f, a, fa, b, fb, eps, whole, m, fm):
    lm, flm, left = simpson(f, a, fa, m, fm)
    rm, frm, right = simpson(f, m, fm, b, fb)
    delta = left + right - whole
    if abs(delta) <= 15 * eps:
        return left + right + delta / 15
    return quad_asr(f, a, fa, m, fm, eps / 2, left, lm, flm) + quad_asr(
        f, m, fm, b, fb, eps / 2, right, rm, frm
    )


@program(scalar(0.5, 1.0), scalar(2.0, 3.0), truth="differences")
def adaptive_simpson_closure(p, b):
    def f(x):
        return math.exp(-p * x * x) * math.cos(3 * x)

    fa, fb = f(0.0), f(b)
    m, fm, whole = simpson(f, 0.0, fa, b, fb)
    return quad_asr(f, 0.0, fa, b, fb, 1e-6, whole, m, fm)


@program(scalar(0.05, 0.3), array(4, low=90, high=110), truth="differences")
def implied_vol_newton(guess, strikes):
    S, r, T, price = 100.0, 0.01, 1.0, 12.0

    def cdf(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))

    tot = 0.0
    for K in strikes:
        s = 0.3
        for _it in range(50):
            d1 = (math.log(S / K) + (r + 0.5 * s * s) * T) / (s * math.sqrt(T))
            d2 = d1 - s * math.sqrt(T)
            c = S * cdf(d1) - K * math.exp(-r * T) * cdf(d2)
            vega = S * math.sqrt(T) * math.exp(-0.5 * d1**2) / math.sqrt(2 * math.pi)
            step = (c - price) / vega
            s -= step
            if abs(step) < 1e-10:
                break
        tot += s * guess
    return tot


@program(array(4), array(3, 4, low=-0.3, high=0.3), truth="differences")
def ilqr_rollout(x0, us):
    dt = 0.1

    def dyn(x, u):
        px, py, th, v = x
        return np.array(
            [
                px + dt * v * np.cos(th),
                py + dt * v * np.sin(th),
                th + dt * u[0] + 0.1 * u[2],
                v + dt * u[1] - 0.05 * u[3] ** 2,
            ]
        )

    cost, x = 0.0, x0
    Q, R = np.diag([1.0, 1.0, 0.1, 0.1]), 0.01 * np.eye(4)
    for u in us:
        cost += x @ Q @ x + u.T @ R @ u
        x = dyn(x, u)
    goal = np.r_[1.0, 1.0, 0.0, 0.0]
    return cost + 10 * (x - goal) @ Q @ (x - goal)


class Matrix2(NamedTuple):
    a: float
    b: float
    c: float
    d: float

    def __matmul__(self, o):
        return Matrix2(
            self.a * o.a + self.b * o.c,
            self.a * o.b + self.b * o.d,
            self.c * o.a + self.d * o.c,
            self.c * o.b + self.d * o.d,
        )

    @classmethod
    def free(cls, L):
        return cls(1.0, L, 0.0, 1.0)

    @classmethod
    def lens(cls, f):
        return cls(1.0, 0.0, -1 / f, 1.0)

    @staticmethod
    def identity():
        return Matrix2(1, 0, 0, 1)


@program(array(3, low=0.5, high=1.0), array(2, low=2.0, high=3.0), truth="differences")
def abcd_optics(d, f):
    m = Matrix2.identity()
    for L, fl in itertools.zip_longest(d, f, fillvalue=None):
        m = Matrix2.free(L) @ m
        if fl is not None:
            m = Matrix2.lens(fl) @ m
    return (m.a + m.d) / 2 + m.b * m._asdict()["c"]


@njit
def tridiag(a, b, c, d):
    n = d.size
    cp = np.empty(n)
    dp = np.empty(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    for i in range(n - 2, -1, -1):
        dp[i] -= cp[i] * dp[i + 1]
    return dp


@program(array(12, low=0.0, high=1.0), scalar(0.1, 0.5), truth="differences")
def crank_nicolson_njit(u, r):
    n = u.shape[0]
    for _ in range(10):
        d = (1 - r) * u
        d[1:] += r / 2 * u[:-1]
        d[:-1] += r / 2 * u[1:]
        u = tridiag(np.full(n, -r / 2), np.full(n, 1 + r), np.full(n, -r / 2), d)
    return np.sum(u * np.linspace(0, 1, n))


@program(array(8), array(3), truth="differences")
def iir_from_state_space(u, a):
    A = np.zeros((3, 3))
    A[0] = -0.3 * a
    A[1:, :-1] = np.eye(2)
    B = np.array([[1.0], [0.0], [0.0]])
    C = np.array([[0.2, 0.5, 0.3]])
    x = np.zeros((3, 1))
    y = np.empty_like(u)
    for k, uk in enumerate(u):
        y[k] = (C @ x).item()
        x = A @ x + B * uk
    return np.sum(y**2)
