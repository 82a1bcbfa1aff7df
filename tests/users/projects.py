"""Which programs do people write in projects: the numerical cores of well-known ones?"""

import copy
import functools
import itertools
import logging
import math
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar, several

logger = logging.getLogger(__name__)
catalogue = Catalogue()
program = catalogue.add


class Value:
    """micrograd"""

    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, other):
        assert isinstance(other, (int, float)), "only supporting int/float powers for now"
        out = Value(self.data**other, (self,), f"**{other}")

        def _backward():
            self.grad += other * self.data ** (other - 1) * out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,), "ReLU")

        def _backward():
            self.grad += (out.data > 0) * out.grad

        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t**2) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + -other

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * other ** (-1)

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


class Neuron:
    def __init__(self, w, b, nonlin=True):
        self.w = [Value(wi) for wi in w]
        self.b = Value(b)
        self.nonlin = nonlin

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        return act.tanh() if self.nonlin else act

    def parameters(self):
        return self.w + [self.b]


@program(array(3, 3), array(3), array(2), truth="differences")
def micrograd_gradient_norm(W, b, x):
    """Gradient penalty: norm of the micrograd gradient, differentiated from outside."""
    hidden = [Neuron(W[i, :2], b[i]) for i in range(2)]
    out = Neuron(W[2, :2], b[2], nonlin=False)
    inputs = [Value(v) for v in x]
    y = out([h(inputs) for h in hidden])
    loss = (y - 0.5) ** 2 + 0.01 * sum((p * p for n in hidden for p in n.parameters()), Value(0.0))
    loss.backward()
    ps = [p for n in hidden + [out] for p in n.parameters()]
    return loss.data + sum(p.grad**2 for p in ps)


def leapfrog(q, p, eps, grad):
    p = p - 0.5 * eps * grad(q)
    q = q + eps * p
    p = p - 0.5 * eps * grad(q)
    return (q, p)


def build_tree(q, p, v, j, eps, grad):
    if j == 0:
        q, p = leapfrog(q, p, v * eps, grad)
        return (q, p, q, p, q, 1)
    qm, pm, qp, pp, qs, n = build_tree(q, p, v, j - 1, eps, grad)
    if v == -1:
        qm, pm, _, _, q2, n2 = build_tree(qm, pm, v, j - 1, eps, grad)
    else:
        _, _, qp, pp, q2, n2 = build_tree(qp, pp, v, j - 1, eps, grad)
    qs = (n * qs + n2 * q2) / (n + n2)
    return (qm, pm, qp, pp, qs, n + n2)


@program(array(3), array(3), scalar(0.05, 0.2), truth="differences")
def nuts_tree(q, p, eps):
    grad = lambda q: q + 0.2 * q**3
    qm = qp = q
    pm = pp = p
    directions = [1, -1, 1, 1]
    mean = q
    for j, v in enumerate(directions):
        if v == -1:
            qm, pm, _, _, qs, _ = build_tree(qm, pm, v, j, eps, grad)
        else:
            _, _, qp, pp, qs, _ = build_tree(qp, pp, v, j, eps, grad)
        mean = mean + 0.5 * (qs - mean)
        dq = qp - qm
        if np.dot(dq, pm) < 0 or np.dot(dq, pp) < 0:
            break
    return np.sum(mean**2) + np.sum(qp * qm)


@dataclass(frozen=True)
class LocalLinearTrend:
    sigma_level: float
    sigma_slope: float
    sigma_obs: float = 1.0

    @property
    def T(self):
        return np.array([[1.0, 1.0], [0.0, 1.0]])

    @property
    def Q(self):
        return np.diag([self.sigma_level**2, self.sigma_slope**2])

    def loglike(self, y, a=None, P=None):
        Z = np.array([1.0, 0.0])
        a = np.zeros(2) if a is None else a
        P = 10.0 * np.eye(2) if P is None else P
        ll = 0.0
        nobs = 0
        for yt in y:
            if not np.isnan(yt):
                v = yt - Z @ a
                F = Z @ P @ Z + self.sigma_obs**2
                Kt = P @ Z / F
                a = a + Kt * v
                P = P - np.outer(Kt, Z @ P)
                ll -= 0.5 * (math.log(2 * math.pi * F) + v**2 / F)
                nobs += 1
            a = self.T @ a
            P = self.T @ P @ self.T.T + self.Q
        return (ll, nobs)


def with_gaps(n):

    def make(r):
        y = np.cumsum(r.normal(size=n))
        y[2::5] = np.nan
        return y

    return make


@program(scalar(0.2, 1.0), scalar(0.1, 0.4), with_gaps(20), truth="differences", argnums=(0, 1))
def kalman_missing(sl, ss, y):
    model = LocalLinearTrend(sl, ss)
    ll, nobs = model.loglike(y)
    return -ll / nobs


A = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]


@program(
    scalar(0.2, 0.5),
    scalar(0.3, 0.6),
    scalar(1.0, 2.0),
    lambda r: np.sort(r.uniform(0, 10, 15)),
    truth="differences",
    argnums=(0, 1, 2),
)
def hawkes_exponential(mu, alpha, beta, times, T=None):
    if T is None:
        T = times[-1] if len(times) else 1.0
    ll = -mu * T
    A = 0.0
    prev = None
    for t in times:
        if prev is not None:
            A = math.exp(-beta * (t - prev)) * (1.0 + A)
        ll += math.log(mu + alpha * A)
        prev = t
    ll -= alpha / beta * np.sum(1.0 - np.exp(-beta * (T - times)))
    return -ll


@program(array(3), array(12, 3), truth="differences", argnums=(0,))
def cox_ties(beta, X, method="efron"):
    times = np.array([1, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7, 8])
    event = np.array([1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1], dtype=bool)
    eta = X @ beta
    w = np.exp(eta)
    ll = 0.0
    for t in np.unique(times[event]):
        d_idx = np.flatnonzero((times == t) & event)
        risk = times >= t
        R = w[risk].sum()
        D = w[d_idx].sum()
        ll += eta[d_idx].sum()
        m = len(d_idx)
        if method == "efron":
            for l in range(m):
                ll -= np.log(R - l / m * D)
        else:
            ll -= m * np.log(R)
    return -ll


@program(array(2), array(8, 1), truth="differences", argnums=(0,))
def gp_laplace_classification(theta, X):
    """Laplace approximation by Newton iterations until it settles."""
    y = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    ell, sf = np.exp(theta)
    K = sf**2 * np.exp(-0.5 * (X - X.T) ** 2 / ell**2) + 1e-06 * np.eye(len(X))
    f = np.zeros(len(X))
    for it in range(50):
        pi = 1 / (1 + np.exp(-f))
        W = pi * (1 - pi)
        sW = np.sqrt(W)
        Bm = np.eye(len(X)) + sW[:, None] * K * sW[None, :]
        L = np.linalg.cholesky(Bm)
        b = W * f + (y + 1) / 2 - pi
        a = b - sW * np.linalg.solve(L.T, np.linalg.solve(L, sW * (K @ b)))
        f_new = K @ a
        done = np.max(np.abs(f_new - f)) < 1e-12
        f = f_new
        if done:
            logger.debug("converged after %d", it)
            break
    else:
        raise RuntimeError("Laplace did not converge")
    loglik = -np.sum(np.log1p(np.exp(-y * f)))
    return 0.5 * a @ f - loglik + np.sum(np.log(np.diag(L)))


class EarlyStopping:
    def __init__(self, patience=3, min_delta=0.0):
        self.patience, self.min_delta = (patience, min_delta)
        self.best, self.counter, self.best_state = (None, 0, None)

    def step(self, loss, state):
        if self.best is None or loss < self.best - self.min_delta:
            self.best, self.counter, self.best_state = (loss, 0, copy.deepcopy(state))
            return False
        self.counter += 1
        logger.debug("no improvement %d/%d", self.counter, self.patience)
        return self.counter >= self.patience


@program(array(3), scalar(0.4, 0.6), array(8, 3), array(8), truth="differences", argnums=(0, 1))
def training_with_early_stopping(w0, lr, X, y):
    stop = EarlyStopping(patience=2)
    state = {"w": w0.copy(), "m": np.zeros_like(w0), "epoch": 0}
    while state["epoch"] < 30:
        r = X @ state["w"] - y
        state["m"] = 0.9 * state["m"] + X.T @ r / len(y)
        state["w"] = state["w"] - lr * state["m"]
        state["epoch"] += 1
        if stop.step(0.5 * np.mean((X @ state["w"] - y) ** 2), state):
            break
    return stop.best + 0.1 * np.sum(stop.best_state["w"] ** 2)


class Tableau(NamedTuple):
    c: tuple
    a: tuple
    b: tuple


TABLEAUS = {
    "heun": Tableau((0, 1), ((), (1,)), (0.5, 0.5)),
    "ralston": Tableau((0, 2 / 3), ((), (2 / 3,)), (0.25, 0.75)),
    "rk4": Tableau(
        (0, 0.5, 0.5, 1), ((), (0.5,), (0, 0.5), (0, 0, 1)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
    ),
}


@program(array(2, low=0.5, high=1.5), scalar(0.5, 1.0), truth="differences")
def butcher_tableaus(y0, mu):
    f = lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0] + 0.1 * np.cos(t)])
    ends = {}
    for name, tab in TABLEAUS.items():
        y, h = (y0, 0.1)
        for n in range(10):
            ks = []
            for ci, row in zip(tab.c, tab.a):
                ks.append(
                    f(
                        (n + ci) * h,
                        y + h * sum((a * k for a, k in zip(row, ks)), start=np.zeros(2)),
                    )
                )
            y = y + h * sum((b * k for b, k in zip(tab.b, ks)))
        ends[name] = y
    return (
        sum((np.linalg.norm(ends[a] - ends[b]) ** 2 for a, b in itertools.combinations(ends, 2)))
        * 1000.0
        + ends["rk4"] @ ends["rk4"]
    )


class Module:
    def __init__(self):
        self._params = OrderedDict()

    def __setattr__(self, k, v):
        if isinstance(v, np.ndarray):
            self.__dict__.setdefault("_params", OrderedDict())[k] = v
        super().__setattr__(k, v)

    def parameters(self):
        return list(self._params.values())


class Dense(Module):
    def __init__(self, W, b, act=np.tanh):
        super().__init__()
        self.W, self.b, self.act = (W, b, act)

    def __call__(self, x):
        return self.act(x @ self.W + self.b)


@program(
    several(lambda a, b, c, d: [(a, b), (c, d)], array(3, 4), array(4), array(4, 1), array(1)),
    array(5, 3),
    truth="differences",
    argnums=(0,),
)
def modules_with_setattr(layers, x):
    net = [Dense(W, b, act=a) for (W, b), a in zip(layers, (np.tanh, lambda z: z))]
    out = functools.reduce(lambda h, layer: layer(h), net, x)
    decay = sum((p**2).sum() for layer in net for p in layer.parameters())
    return np.mean(out**2) + 0.01 * decay


def simulate(policy, noise, verbose=False, callback=None):
    start = time.time()
    state, rewards = (np.array([1.0, 0.0]), [])
    for t, w in enumerate(noise):
        u = policy(state)
        state = np.array([[1, 0.1], [0, 1]]) @ state + np.array([0.0, 0.1]) * u + 0.01 * w
        rewards.append(-(state @ state) - 0.1 * u**2)
        if callback:
            callback(t, state)
        if verbose and t % 10 == 0:
            print(f"[{time.time() - start:.1f}s] step {t}: {rewards[-1]:.3f}")
    return np.array(rewards)


@program(
    array(2, low=-2, high=-0.5), lambda r: r.normal(size=(12, 2)), truth="differences", argnums=(0,)
)
def policy_gradient_rollout(K, noise):
    visited = []
    r = simulate(
        lambda s: K @ s, noise, callback=lambda t, s: visited.append(s[0]) if t % 3 == 0 else None
    )
    G = np.zeros_like(r)
    acc = 0.0
    for i in reversed(range(len(r))):
        acc = r[i] + 0.9 * acc
        G[i] = acc
    return -(G - G.mean()).std() + np.mean(visited)
