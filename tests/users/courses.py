"""Which programs are written in courses on models: of language, of markets, of epidemics?"""

import abc
import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


class KVCache:
    def __init__(self):
        self.keys, self.values = ([], [])

    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        return (np.stack(self.keys), np.array(self.values))

    def __len__(self):
        return len(self.keys)


@program(array(5, 4), array(3, 4, 4), truth="differences")
def kv_cache_decoder(tokens, W, n_heads=2):
    Wq, Wk, Wv = W
    caches = [KVCache() for _ in range(n_heads)]
    outs = []
    for _t, x in enumerate(tokens):
        q, k, v = (x @ Wq, x @ Wk, x @ Wv)
        heads = []
        for _h, (cache, qh, kh, vh) in enumerate(
            zip(caches, np.split(q, n_heads), np.split(k, n_heads), np.split(v, n_heads))
        ):
            K, V = cache.append(kh, vh)
            a = K @ qh / np.sqrt(len(qh))
            a = np.exp(a - a.max())
            a /= a.sum()
            heads.append(a @ V)
        outs.append(x + np.concatenate(heads))
    assert len(caches[0]) == len(tokens)
    return np.mean(np.array(outs) ** 2)


@program(array(6, 3), array(4, 3), array(4, 3, 2), truth="differences")
def top_k_experts(x, gate, experts, k=2):
    out = np.zeros((x.shape[0], 2))
    Counter()
    for i, xi in enumerate(x):
        logits = gate @ xi
        top = np.argsort(logits)[::-1][:k]
        w = np.exp(logits[top] - logits[top].max())
        w = w / np.sum(w)
        for j, e in enumerate(top):
            out[i] += w[j] * (xi @ experts[e])
    return np.sum(np.tanh(out)) + 0.01 * np.sum(out**2)


@program(array(3, 2), array(4, 2), truth="differences")
def bpr_epochs(P, Q, lr=0.1, reg=0.01):
    triples = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 1], [0, 2, 3]])
    P = np.array(P)
    Q = np.array(Q)
    loss = 0.0
    for u, i, j in triples:
        x = P[u] @ (Q[i] - Q[j])
        s = 1 / (1 + np.exp(x))
        loss -= np.log(1 - s)
        pu = P[u].copy()
        P[u] += lr * (s * (Q[i] - Q[j]) - reg * pu)
        Q[i] += lr * (s * pu - reg * Q[i])
        Q[j] += lr * (-s * pu - reg * Q[j])
    return loss + np.linalg.norm(P) + np.linalg.norm(Q)


@program(array(5, low=0.5, high=1.5), array(5), array(4), truth="differences")
def item_response_2pl(a, b, theta):
    resp = np.array([[1, 0, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, -1, 1], [0, 1, 0, 1, -1]])
    p = 1 / (1 + np.exp(-a[None, :] * (theta[:, None] - b)))
    seen = resp >= 0
    ll = np.where(resp == 1, np.log(p), np.log1p(-p))
    prior = -0.5 * theta @ theta - 0.5 * np.sum(b**2) - np.sum(np.log(a) ** 2)
    return -(np.sum(ll[seen]) + prior)


class SARIMA:
    def __init__(self, order=(1, 0, 1), seasonal=(1, 1, 0, 4)):
        self.order, self.seasonal = (order, seasonal)

    def split(self, params):
        p, _d, q = self.order
        P, _D, Q, _s = self.seasonal
        it = iter(params)
        take = lambda n: [next(it) for _ in range(n)]
        return (take(p), take(q), take(P), take(Q), next(it))

    def css(self, params, y):
        ar, ma, sar, _sma, logs = self.split(params)
        _p, d, _q = self.order
        P, D, _Q, s = self.seasonal
        for _ in range(d):
            y = np.diff(y)
        for _ in range(D):
            y = y[s:] - y[:-s]
        poly = np.r_[1.0, [-a for a in ar]]
        seas = np.zeros(P * s + 1)
        seas[0] = 1.0
        for k, c in enumerate(sar, 1):
            seas[k * s] = -c
        full = np.convolve(poly, seas)
        e = np.zeros_like(y)
        for t in range(len(y)):
            acc = 0.0
            for k in range(min(t + 1, len(full))):
                acc += full[k] * y[t - k]
            for k, m in enumerate(ma, start=1):
                if t - k >= 0:
                    acc -= m * e[t - k]
            e[t] = acc
        return 0.5 * len(y) * logs + 0.5 * np.exp(-logs) * np.sum(e**2)


@program(array(4, low=-0.4, high=0.4), array(20), truth="differences")
def sarima_css(params, y):
    return SARIMA().css(params, y)


class Copula(abc.ABC):
    registry = {}

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Copula.registry[cls.__name__.lower()] = cls

    def __init__(self, theta):
        self.theta = theta

    @abc.abstractmethod
    def logpdf(self, u, v): ...

    @classmethod
    def make(cls, name, theta):
        try:
            return cls.registry[name](theta)
        except KeyError:
            raise ValueError(f"unknown copula {name!r}") from None


class Clayton(Copula):
    def logpdf(self, u, v):
        t = self.theta
        return (
            np.log1p(t)
            - (1 + t) * (np.log(u) + np.log(v))
            - (2 + 1 / t) * np.log(u ** (-t) + v ** (-t) - 1)
        )


class Frank(Copula):
    def logpdf(self, u, v):
        t = self.theta
        num = t * (1 - np.exp(-t)) * np.exp(-t * (u + v))
        return np.log(num) - 2 * np.log(
            1 - np.exp(-t) - (1 - np.exp(-t * u)) * (1 - np.exp(-t * v))
        )


class Gaussian(Copula):
    def logpdf(self, u, v):
        r = np.tanh(self.theta)
        x, y = (norm.ppf(u), norm.ppf(v))
        return -0.5 * np.log(1 - r**2) - (r**2 * (x**2 + y**2) - 2 * r * x * y) / (2 * (1 - r**2))


@program(array(3, low=0.5, high=1.5), array(2, 8, low=0.1, high=0.9), truth="differences")
def copula_mixture(theta, uv):
    names = ["clayton", "frank", "gaussian"]
    ll = 0.0
    for name, t in zip(names, theta):
        ll += Copula.make(name, t).logpdf(*uv).sum()
    try:
        Copula.make("gumbel", theta[0])
    except ValueError as e:
        assert "gumbel" in str(e)
    return ll


@dataclass
class Params:
    beta: float
    sigma: float = 0.2
    gamma: float = 0.14
    contact: np.ndarray | None = None

    def __post_init__(self):
        if self.contact is None:
            self.contact = np.array([[3.0, 1.0, 0.3], [1.0, 2.0, 0.5], [0.3, 0.5, 1.0]])

    @property
    def R0(self):
        return self.beta / self.gamma * np.max(np.abs(np.linalg.eigvalsh(self.contact)))


@program(scalar(0.05, 0.1), scalar(0.1, 0.3), truth="differences")
def seir_by_age(beta, sigma):
    p = Params(beta, sigma=sigma)
    N = np.array([1.0, 2.0, 0.8])
    state = dict(S=N - 0.001, E=np.zeros(3), I=np.full(3, 0.001), R=np.zeros(3))
    peak = 0.0
    hist = []
    for _day in range(40):
        lam = p.beta * p.contact @ (state["I"] / N)
        new_E, new_I, new_R = (lam * state["S"], p.sigma * state["E"], p.gamma * state["I"])
        state["S"] -= new_E
        state["E"] += new_E - new_I
        state["I"] += new_I - new_R
        state["R"] += new_R
        hist.append(state["I"].sum())
        peak = max(peak, hist[-1])
    return peak + 0.1 * p.R0 + state["R"].sum()


CORPUS = "the cat sat on the mat the dog sat on the cat".split()


@program(array(7, 3), array(3, 7), truth="differences")
def bigram_perplexity(E, W):
    vocab = {w: i for i, w in enumerate(dict.fromkeys(CORPUS))}
    ids = [vocab[w] for w in CORPUS]
    nll = 0.0
    for prev, cur in itertools.pairwise(ids):
        logits = E[prev] @ W
        logits = logits - np.max(logits)
        nll -= logits[cur] - np.log(np.exp(logits).sum())
    return np.exp(nll / (len(ids) - 1))


@program(array(3, low=0.3, high=0.7), truth="differences")
def ordinal_and_nested_logit(p):
    cuts = np.cumsum(np.r_[-1.0, np.exp(p)])
    F = lambda z: 1 / (1 + np.exp(-z))
    probs = np.diff(np.concatenate([[0.0], F(cuts), [1.0]]))
    nests = {"road": [0, 1], "rail": [2, 3, 4]}
    V, lam = (np.log(probs), {"road": p[0], "rail": p[1]})
    iv = {k: np.log(np.sum(np.exp(V[ix] / lam[k]))) for k, ix in nests.items()}
    den = np.logaddexp(*[lam[k] * iv[k] for k in nests])
    ll = 0.0
    for choice, n in Counter([0, 2, 2, 4, 1]).items():
        k = next((name for name, ix in nests.items() if choice in ix))
        ll += n * (V[choice] / lam[k] - iv[k] + lam[k] * iv[k] - den)
    return -ll


class Stream:
    def __init__(self):
        self.rows = []

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, i):
        return self.rows[i]

    def __len__(self):
        return len(self.rows)

    def __iadd__(self, other):
        self.rows.extend(other)
        return self

    def __contains__(self, x):
        return any(x is r for r in self.rows)


@program(array(5), truth="differences")
def container_protocol(x):
    s = Stream()
    s += [x[i] * x[i + 1] for i in range(len(x) - 1)]
    s += (np.sin(v) for v in x[-2:])
    assert len(s) == len(x) + 1
    return sum(v**2 for v in s) + s[-1] * s[0] + max(s)


@program(array(8), scalar(0.5, 1.5), truth="differences")
def neville_and_aitken(y, x):
    n = len(y)
    nodes = np.arange(n) * 0.4
    p = list(y)
    for k in range(1, n):
        p = [
            ((x - nodes[i + k]) * p[i] + (nodes[i] - x) * p[i + 1]) / (nodes[i] - nodes[i + k])
            for i in range(n - k)
        ]
    (value,) = p
    seq = list(itertools.accumulate(y, lambda a, b: 0.5 * a + b))
    accel = [a - (b - a) ** 2 / (c - 2 * b + a + 10.0) for a, b, c in zip(seq, seq[1:], seq[2:])]
    return value + accel.pop()
