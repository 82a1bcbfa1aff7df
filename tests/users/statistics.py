"""Which programs do people write who estimate?"""

import itertools
import math
import operator
from collections import Counter, namedtuple
from dataclasses import dataclass
from functools import partial

import numba
import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add

DATA = [2.1, 1.7, 3.0, 2.4, 1.2, 2.8]
GROUPS = ["a", "b", "a", "c", "b", "a"]


def log_normal(x, mu, sigma):
    return -0.5 * ((x - mu) / sigma) ** 2 - math.log(sigma) - 0.5 * math.log(2 * math.pi)


@program(scalar(1.5, 2.5), scalar(0.5, 1.0))
def normal_likelihood(mu, sigma):
    return sum(log_normal(x, mu, sigma) for x in DATA)


@program(array(3, low=1.0, high=2.5), scalar(0.5, 1.0))
def random_effects(effects, sigma):
    index = {name: k for k, name in enumerate(sorted(set(GROUPS)))}
    total = sum(log_normal(e, 2.0, 1.0) for e in effects)
    for x, g in zip(DATA, GROUPS):
        total += log_normal(x, effects[index[g]], sigma)
    return total


@program(array(4, low=0.1, high=0.9))
def counts_by_name(p):
    words = "the cat and the dog and the bird".split()
    counts = Counter(words)
    total = 0.0
    for k, (word, n) in enumerate(counts.most_common(4)):
        total += n * np.log(p[k]) * len(word)
    return total


@program(array(5, low=0.2, high=1.5))
def dirichlet_log_density(alpha):
    x = [0.1, 0.3, 0.2, 0.25, 0.15]
    log_beta = sum(math.lgamma(a) for a in alpha) - math.lgamma(sum(alpha))
    return sum((a - 1.0) * math.log(v) for a, v in zip(alpha, x)) - log_beta


@program(scalar(0.2, 0.8), scalar(0.2, 0.8))
def hidden_markov_viterbi(stay, emit):
    """The likeliest path's log probability, by comparison."""
    log = np.log
    trans = [[log(stay), log(1 - stay)], [log(1 - stay), log(stay)]]
    obs = [0, 0, 1, 1, 0, 1]
    scores = [log(0.5) + (log(emit) if obs[0] == s else log(1 - emit)) for s in (0, 1)]
    for o in obs[1:]:
        new = []
        for s in (0, 1):
            best = max(scores[r] + trans[r][s] for r in (0, 1))
            new.append(best + (log(emit) if o == s else log(1 - emit)))
        scores = new
    return max(scores)


@program(array(2), scalar(0.1, 0.9))
def ewma_variance(start, lam):
    returns = [0.4, -0.2, 0.7, -0.5, 0.1]
    var = start[0] ** 2 + 0.1
    out = []
    for r in returns:
        var = lam * var + (1 - lam) * (r - 0.1 * start[1]) ** 2
        out.append(math.log(var) + r * r / var)
    return sum(out)


@program(array(6, low=-1.0, high=1.0), truth="differences")
def median_of_means(x):
    blocks = [x[i : i + 2].mean() for i in range(0, len(x), 2)]
    return sorted(blocks)[1] ** 2 + max(blocks)


@program(array(6, low=0.5, high=1.5))
def weighted_quantile_by_sorting(w):
    order = sorted(range(6), key=lambda i: DATA[i])
    total, acc = sum(w), 0.0
    for i in order:
        if acc + w[i] > 0.5 * total:
            return DATA[i] * (acc / total) + w[i] ** 2
        acc += w[i]
    return acc


@program(array(8, low=-1.0, high=1.0))
def trimmed_mean(x):
    s = np.sort(x)
    inner = s[2:-2]
    return inner.mean() ** 2 + inner[0] * inner[-1]


def autocovariance(x, lag):
    n = len(x)
    m = sum(x) / n
    return sum((x[i] - m) * (x[i + lag] - m) for i in range(n - lag)) / n


@program(array(9))
def durbin_levinson(x):
    gamma = [autocovariance(x, k) for k in range(4)]
    phi = [gamma[1] / gamma[0]]
    v = gamma[0] * (1 - phi[0] ** 2)
    for k in range(2, 4):
        last = (gamma[k] - sum(phi[j] * gamma[k - 1 - j] for j in range(k - 1))) / v
        phi = [phi[j] - last * phi[k - 2 - j] for j in range(k - 1)] + [last]
        v *= 1 - last**2
    return v + sum(p * p for p in phi)


@numba.njit
def local_level(y, q, r, out):
    a, p, ll = 0.0, 10.0, 0.0
    for t in range(y.shape[0]):
        f = p + r
        e = y[t] - a
        k = p / f
        a = a + k * e
        p = p * (1.0 - k) + q
        out[t] = a
        ll -= 0.5 * (np.log(f) + e * e / f)
    return ll


@program(scalar(0.1, 0.5), scalar(0.5, 1.0), tags="njit scratch")
def local_level_likelihood(q, r):
    y = np.array(DATA)
    smooth = np.zeros(len(y))
    ll = local_level(y, q, r, smooth)
    return ll + 0.1 * np.sum(np.diff(smooth) ** 2)


Posterior = namedtuple("Posterior", ["a", "b"])


@program(several(Posterior, scalar(1.0, 3.0), scalar(1.0, 3.0)))
def conjugate_updates(prior):
    def update(p, outcome):
        return p._replace(a=p.a + 1) if outcome else p._replace(b=p.b + 1)

    history = list(itertools.accumulate([True, False, True, True], update, initial=prior))
    means = [p.a / (p.a + p.b) for p in history]
    return sum(m * math.log(m) for m in means) + means[-1]


@program(scalar(0.5, 1.5), scalar(0.1, 0.6))
def mcmc_with_given_draws(start, step):
    """Metropolis with the random numbers given: accepted states are kept."""
    draws = [(0.3, 0.2), (-0.8, 0.7), (1.1, 0.4), (0.5, 0.9), (-0.2, 0.1)]
    x, chain = start, []
    for z, u in draws:
        y = x + step * z
        if math.log(u) < (x * x - y * y) / 2:
            x = y
            chain.append(x)
    return sum(chain) / max(1, len(chain)) + x**2


@program(scalar(0.5, 1.5), array(5, low=0.1, high=0.9))
def rejection_until_accepted(scale, u):
    k, tries = 0, []
    while True:
        v = scale * u[k]
        tries.append(v)
        if v > 0.4 or k == 4:
            break
        k += 1
    return tries[-1] ** 2 + sum(tries)


@program(array(3), array(3))
def cross_validated_ridge(w, log_lam):
    x = np.arange(12.0).reshape(6, 2) / 10 - 0.5
    y = x[:, 0] - 0.5 * x[:, 1] + 0.1
    folds = [slice(0, 2), slice(2, 4), slice(4, 6)]
    score = 0.0
    for fold, lam in zip(folds, np.exp(log_lam)):
        mask = np.ones(6, dtype=bool)
        mask[fold] = False
        a = x[mask].T @ x[mask] + lam * np.eye(2)
        det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
        inverse = np.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]]) / det
        beta = inverse @ (x[mask].T @ y[mask]) * (1 + 0.1 * w[0])
        score += np.sum((x[fold] @ beta - y[fold]) ** 2)
    return score + np.sum(w**2)


@dataclass
class Running:
    n: int = 0
    mean: float = 0.0
    m2: float = 0.0

    def push(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (x - self.mean)

    def __iadd__(self, xs):
        for x in xs:
            self.push(x)
        return self

    @property
    def variance(self):
        return self.m2 / (self.n - 1) if self.n > 1 else 0.0


@program(array(7))
def welford(x):
    stats = Running()
    stats += x[:4]
    before = stats.variance
    stats += x[4:]
    return stats.variance * stats.mean + before


@program(array(4, low=0.5, high=2.0), scalar(0.3, 0.8))
def survival_by_walrus(times, rate):
    total, risk, k = 0.0, 4, 0
    while k < 4 and (hazard := rate * times[k]) > 0:
        total += math.log(hazard) - risk * hazard * 0.1
        risk -= 1
        k += 1
    return total


@program(array(5), tags="operator partial")
def moments_by_operator(x):
    mean = np.mean(x)
    centred = list(map(partial(operator.add, -mean), x))
    powers = [operator.pow] * 3
    return sum(
        f(np.mean(np.array(centred) ** 2), k + 1) for k, f in enumerate(powers)
    ) + operator.itemgetter(2)(centred)


@program(array(4, low=0.1, high=1.0))
def chow_liu_scores(p):
    joint = {(i, j): p[i] * p[j] / (p[i] + p[j]) for i, j in itertools.combinations(range(4), 2)}
    edges = sorted(joint, key=lambda e: e[0] + 2 * e[1])
    tree, seen = 0.0, {0}
    for i, j in edges:
        if i in seen and j not in seen:
            tree += joint[i, j]
            seen.add(j)
    return tree * len(seen)


@program(array(6, low=0.1, high=1.0))
def isotonic_pava(y):
    """Pool adjacent violators, with a stack of blocks."""
    blocks = []
    for v in y:
        blocks.append([v, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            m2, w2 = blocks.pop()
            m1, w1 = blocks.pop()
            blocks.append([(m1 * w1 + m2 * w2) / (w1 + w2), w1 + w2])
    return sum(m * m * w for m, w in blocks)


@program(array(5, low=0.2, high=2.0))
def kernel_density_at_points(h):
    points = np.array(DATA[:5])
    grid = np.linspace(1.0, 3.0, 4)
    dens = np.zeros_like(grid)
    for i, g in enumerate(grid):
        for p, w in zip(points, h):
            dens[i] += np.exp(-0.5 * ((g - p) / w) ** 2) / w
    return np.sum(np.log(dens))


@program(scalar(0.2, 0.9), truth="differences")
def bisect_on_a_cumulative_list(q):
    import bisect

    cumulative = list(itertools.accumulate(DATA))
    target = q * cumulative[-1]
    k = bisect.bisect_left(cumulative, target)
    low = cumulative[k - 1] if k > 0 else 0.0
    return k + (target - low) / DATA[k]
