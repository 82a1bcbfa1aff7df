"""Which programs do people write who model sequences, texts and tables?"""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add


@program(array(3, 3), array(3, 4), truth="differences")
def hmm_log_forward_backward(trans, emit):
    obs = [0, 3, 1, 1, 2, 0]
    logT = trans - np.logaddexp.reduce(trans, axis=1, keepdims=True)
    logE = emit - np.logaddexp.reduce(emit, axis=1)[:, None]
    alpha = np.full(3, -math.log(3)) + logE[:, obs[0]]
    for o in obs[1:]:
        alpha = np.logaddexp.reduce(alpha[:, np.newaxis] + logT, axis=0) + logE[:, o]
    return np.logaddexp.reduce(alpha)


class LSTMCell:
    def __init__(self, W, U, b):
        self.W, self.U, self.b = W, U, b

    def __call__(self, x, state):
        h, c = state
        z = self.W @ x + self.U @ h + self.b
        i, f, g, o = np.split(z, 4)
        sig = lambda a: 1 / (1 + np.exp(-a))
        c = sig(f) * c + sig(i) * np.tanh(g)
        h = sig(o) * np.tanh(c)
        return h, (h, c)


@program(array(12, 2), array(12, 3), array(5, 2), truth="differences")
def lstm_sequence(W, U, xs):
    cell = LSTMCell(W, U, np.zeros(12))
    state = np.zeros(3), np.zeros(3)
    outs = []
    for x in xs:
        out, state = cell(x, state)
        outs.append(out)
    return np.mean(np.stack(outs) ** 2)


@program(array(2, 6, 6), array(3, 2, 3, 3), array(3), truth="differences")
def conv_layer_loops(img, kern, bias):
    co, _ci, kh, kw = kern.shape
    _, H, W = img.shape
    out = np.empty((co, H - kh + 1, W - kw + 1))
    for o in range(co):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[o, i, j] = np.sum(kern[o] * img[:, i : i + kh, j : j + kw]) + bias[o]
    out = np.where(out > 0, out, 0.01 * out)
    pooled = out.reshape(co, out.shape[1] // 2, 2, out.shape[2] // 2, 2).max(axis=(2, 4))
    return np.sum(pooled**2)


@program(array(6, 4), array(4), array(4), truth="differences")
def batch_norm_dropout(x, gamma, beta):
    mask = np.array([True, False, True, True])
    mu, var = x.mean(0), x.var(0)
    y = gamma * (x - mu) / np.sqrt(var + 1e-5) + beta
    y = y * mask / mask.mean()
    y[:, 1] += 3
    return np.linalg.norm(y, ord="fro")


@program(array(10, 3), array(3, 3), truth="differences")
def embeddings_by_index(table, w):
    ids = np.array([[1, 3, 3], [0, 9, 2]])
    e = table[ids]  # (2, 3, 3)
    h = np.tanh(np.einsum("bti,ij->btj", e, w))
    att = np.exp(h @ h.transpose(0, 2, 1) / math.sqrt(3))
    att /= att.sum(axis=-1, keepdims=True)
    out = (att @ h)[:, -1]
    logits = out @ table.T
    lse = np.log(np.exp(logits).sum(-1))
    return np.mean(lse - logits[np.arange(2), [4, 7]])


@program(array(7, 4), truth="differences")
def ctc_loss(logits):
    labels = [1, 2, 2]
    ext = [0]
    for l in labels:
        ext += [l, 0]
    S, T = len(ext), logits.shape[0]
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    NEG = -np.inf
    alpha = np.full((T, S), NEG)
    alpha[0, 0] = logp[0, 0]
    alpha[0, 1] = logp[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            a = alpha[t - 1, s]
            if s > 0:
                a = np.logaddexp(a, alpha[t - 1, s - 1])
            if s > 1 and ext[s] != 0 and ext[s] != ext[s - 2]:
                a = np.logaddexp(a, alpha[t - 1, s - 2])
            alpha[t, s] = a + logp[t, ext[s]]
    return -np.logaddexp(alpha[-1, -1], alpha[-1, -2])


@dataclass
class SoftSplit:
    w: np.ndarray
    b: float
    left: "SoftSplit | float"
    right: "SoftSplit | float"


def route(node, x):
    if isinstance(node, SoftSplit):
        p = 1 / (1 + np.exp(-(node.w @ x + node.b)))
        return p * route(node.left, x) + (1 - p) * route(node.right, x)
    return node


@program(
    several(
        lambda a, b, c, d, e: SoftSplit(a, b, SoftSplit(c, 0.3, d, 2.0), e),
        array(2),
        scalar(-1, 1),
        array(2),
        scalar(-1, 1),
        scalar(-1, 1),
    ),
    array(5, 2),
    truth="differences",
)
def soft_decision_tree(tree, X):
    return sum(route(tree, x) ** 2 for x in X)


@program(array(4), scalar(0.5, 1.0), scalar(0.1, 0.3), truth="differences")
def gp_regression(y, length, noise):
    x = np.linspace(0, 1, 4)
    K = np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / length**2) + noise * np.identity(4)
    L = np.linalg.cholesky(K)
    # hand-written triangular solves
    a = np.zeros_like(y)
    for i in range(4):
        a[i] = (y[i] - L[i, :i] @ a[:i]) / L[i, i]
    b = np.zeros_like(y)
    for i in reversed(range(4)):
        b[i] = (a[i] - L[i + 1 :, i] @ b[i + 1 :]) / L[i, i]
    return 0.5 * y @ b + np.log(L.diagonal()).sum() + 2 * math.log(2 * math.pi)


@program(array(3, low=0.05, high=0.3), array(30), truth="differences")
def arma11_garch(theta, r):
    mu, phi, q = theta
    eps, h = np.zeros_like(r), np.empty_like(r)
    h[0] = r.var()
    ll = 0.0
    for t, rt in enumerate(r[1:], start=1):
        eps[t] = rt - mu - phi * r[t - 1] - q * eps[t - 1]
        h[t] = 0.1 + 0.1 * eps[t - 1] ** 2 + 0.6 * h[t - 1]
        ll -= 0.5 * (np.log(h[t]) + eps[t] ** 2 / h[t])
    return -ll / r.size


@program(array(2), scalar(0.3, 1.0), truth="differences")
def cox_partial_likelihood(beta, tie):
    X = np.array([[0.1, 1.2], [0.5, -0.3], [1.5, 0.2], [-0.7, 0.9], [0.0, -1.1]])
    times = np.array([5.0, 2.0, 7.0, 2.0, 9.0])
    event = np.array([1, 1, 0, 1, 1], dtype=bool)
    order = np.argsort(times, kind="stable")
    X, times, event = X[order], times[order], event[order]
    score = X @ beta
    ll = 0.0
    for i in np.flatnonzero(event):
        at_risk = times >= times[i]
        ll += score[i] - np.log(np.sum(np.exp(score[at_risk]))) * tie
    return -ll


@program(array(2), array(3, low=0.3, high=1.0), truth="differences")
def ordinal_regression(beta, gaps):
    cut = np.concatenate(([-np.inf], np.cumsum(gaps) - 1.0, [np.inf]))
    X = np.array([[0.1, 1.2], [0.5, -0.3], [1.5, 0.2], [-0.7, 0.9]])
    y = np.array([0, 1, 3, 2])
    eta = X @ beta
    cdf = lambda t: 0.5 * (1 + np.tanh(t / 2))
    p = cdf(cut[y + 1] - eta) - cdf(cut[y] - eta)
    return -np.log(p).sum()


@program(array(6, low=0.1, high=1.0), array(6, low=0.1, high=1.0), truth="differences")
def edit_distance_rolling(a, b):
    prev = [0.5 * j for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        cur = [0.5 * i]
        for j, y in enumerate(b, 1):
            cur.append(min(prev[j] + 0.5, cur[-1] + 0.5, prev[j - 1] + (x - y) ** 2))
        prev = cur
    return prev[-1]


@program(array(5, 5, low=0.1, high=2.0), truth="differences")
def floyd_warshall(w):
    d = w.copy()
    np.fill_diagonal(d, 0)
    n = d.shape[0]
    for k in range(n):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d.sum()


@program(array(6, low=0.2, high=2.0), truth="differences")
def bellman_ford(w):
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3), (3, 4)]
    dist = defaultdict(lambda: math.inf)
    dist[0] = 0.0
    for _ in range(4):
        changed = False
        for (u, v), c in zip(edges, w):
            if dist[u] + c < dist[v]:
                dist[v] = dist[u] + c
                changed = True
        if not changed:
            break
    return dist[4] + 0.5 * dist[3]


@program(array(4, 4, low=0.1, high=1.0), scalar(0.7, 0.9), truth="differences")
def pagerank(adj, damping):
    P = adj / adj.sum(axis=0)
    r = np.ones(4) / 4
    delta = 1.0
    it = 0
    while delta > 1e-10 and it < 200:
        new = damping * P @ r + (1 - damping) / 4
        delta = np.abs(new - r).sum()
        r = new
        it += 1
    return r @ np.arange(4)


@program(
    several(
        lambda a, b, c: {"emission": a, "trans": b, "init": c}, array(3, 2), array(3, 3), array(3)
    ),
    truth="differences",
)
def crf_viterbi(params):
    feats = np.array([[1.0, 0.0], [0.3, 0.7], [0.5, -0.5], [0.0, 1.0]])
    em = feats @ params["emission"].T
    score = params["init"] + em[0]
    back = []
    for t in range(1, len(em)):
        cand = score[:, None] + params["trans"]
        back.append(cand.argmax(0))
        score = cand.max(0) + em[t]
    path = [int(score.argmax())]
    for b in reversed(back):
        path.append(int(b[path[-1]]))
    path.reverse()
    gold = [0, 1, 1, 2]
    hamming = sum(p != g for p, g in zip(path, gold))
    return score.max() + hamming * 0.1


@program(array(8, low=-1, high=1), array(5, low=0.05, high=0.95), truth="differences")
def searchsorted_interp(y, q):
    xs = np.linspace(0, 1, 8)
    i = np.searchsorted(xs, q) - 1
    t = (q - xs[i]) / (xs[i + 1] - xs[i])
    m = np.gradient(y, xs)
    h = xs[1] - xs[0]
    v = (
        (2 * t**3 - 3 * t**2 + 1) * y[i]
        + (t**3 - 2 * t**2 + t) * h * m[i]
        + (-2 * t**3 + 3 * t**2) * y[i + 1]
        + (t**3 - t**2) * h * m[i + 1]
    )
    return np.sum(v**2) + np.trapezoid(v, q)


@program(array(6, low=0.5, high=3.0), scalar(1.0, 2.0), scalar(0.5, 1.0), truth="differences")
def weibull_censored(t, shape, scale):
    censored = [False, True, False, False, True, False]
    ll = 0.0
    for ti, c in zip(t, censored):
        z = (ti / scale) ** shape
        ll += -z if c else math.log(shape / scale) + (shape - 1) * math.log(ti / scale) - z
    return -ll


@program(scalar(0.5, 2.0), scalar(0.5, 2.0), truth="differences")
def dirichlet_multinomial(a, b):
    counts = Counter("abracadabra")
    alpha = {c: (a if c in "aeiou" else b) for c in counts}
    A, n = sum(alpha.values()), sum(counts.values())
    ll = gammaln(A) - gammaln(n + A)
    for c, k in sorted(counts.items()):
        ll += gammaln(k + alpha[c]) - gammaln(alpha[c])
    return ll
