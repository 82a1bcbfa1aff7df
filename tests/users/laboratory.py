"""Which programs do people write in a laboratory: filters, plants, masked data, circuits, beams?"""

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.stats
from scipy.spatial import cKDTree
from scipy.special import expit, logsumexp

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add

TIME = np.linspace(0.0, 4.0, 40)
NOISY = np.sin(3.0 * TIME) + 0.3 * np.sin(17.0 * TIME)


@program(scalar(0.1, 0.3), scalar(0.5, 1.5), truth="differences")
def cutoff_of_a_filter(cutoff, gain):
    sos = scipy.signal.butter(2, cutoff, output="sos")
    return np.mean((gain * scipy.signal.sosfilt(sos, NOISY) - np.sin(3.0 * TIME)) ** 2)


@dataclass(frozen=True)
class Plant:
    stiffness: float
    damping: float

    def sampled(self, dt):
        a = np.array([[0.0, 1.0], [-self.stiffness, -self.damping]])
        b = np.array([[0.0], [1.0]])
        return scipy.signal.cont2discrete((a, b, np.eye(2), np.zeros((2, 1))), dt)[:2]


@program(scalar(1.0, 3.0), scalar(0.2, 0.8), array(2, low=0.1, high=1.0), truth="differences")
def gains_for_a_sampled_plant(stiffness, damping, gains):
    a, b = Plant(stiffness, damping).sampled(0.2)
    x, cost = np.array([1.0, 0.0]), 0.0
    for _ in range(12):
        u = -gains @ x
        cost += x @ x + 0.1 * u**2
        x = a @ x + b[:, 0] * u
    return cost


BUOY = np.ma.masked_invalid(np.where(np.arange(40) % 7 == 3, np.nan, np.cos(TIME)))


@program(array(3, low=0.5, high=1.5), truth="differences")
def fit_with_gaps(p):
    model = p[0] * np.cos(p[1] * TIME) + 0.1 * p[2]
    rest = BUOY - model
    late = np.ma.masked_where(TIME > 2.0, model**2)
    return (rest**2).mean() + rest.std() + 0.1 * late.sum() / late.count()


@program(array(65, low=1.0, high=2.0), truth="differences")
def heat_by_kept_factors(conductivity):
    n = len(conductivity)
    beside = -conductivity[1:]
    stiff = scipy.sparse.diags([2.0 * conductivity + 1.0, beside, beside], [0, 1, -1])
    step = scipy.sparse.linalg.splu((scipy.sparse.eye(n) + 0.1 * stiff).tocsc())
    u = np.sin(np.linspace(0.0, math.pi, n))
    return step.solve(step.solve(u) * conductivity) @ u


@program(array(7, 2, low=0.0, high=2.0), truth="differences")
def soft_spheres_by_a_tree(points):
    pairs = cKDTree(points).query_pairs(0.9, output_type="ndarray")
    apart = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return np.sum((0.9 - apart) ** 2) + 0.01 * np.sum(points**2)


@program(array(3, low=0.5, high=1.0), array(2, low=0.8, high=1.2), truth="differences")
def profit_of_a_plan(price, supply):
    plan = scipy.optimize.linprog(-price, A_ub=[[1.0, 2.0, 1.0], [0.5, 0.3, 1.5]], b_ub=supply,
                                  bounds=[(0.0, 0.6)] * 3)  # fmt: skip
    return -plan.fun + plan.x @ plan.x


@program(array(2), array(2, low=0.5, high=1.5), truth="differences")
def robust_location_with_a_prior(centre, spread):
    seen = np.array([[0.3, 0.1], [1.2, -0.4], [5.0, 4.0], [0.2, 0.6]])
    shape = np.diag(spread) + 0.1
    law = scipy.stats.multivariate_t(centre, shape, df=4)
    return -law.logpdf(seen).sum() - scipy.stats.wishart.logpdf(shape, 5, np.eye(2))


@program(array(2, low=0.5, high=2.0), truth="differences")
def expected_shortfall_by_moments(p):
    loss = scipy.stats.lognorm(0.4 * p[0], scale=p[1])
    low, high = loss.interval(0.8)
    return loss.mean() + 2.0 * loss.std() + loss.entropy() + (high - low) / loss.median()


WIRES = {("a", "b"): 0, ("b", "c"): 1, ("a", "c"): 2, ("c", "d"): 3, ("b", "d"): 4}


@program(array(5, low=0.5, high=2.0), truth="differences")
def currents_by_names(resistance):
    nodes = sorted({n for wire in WIRES for n in wire})
    index = {n: k for k, n in enumerate(nodes)}
    g = np.zeros((len(nodes), len(nodes)))
    for (u, v), k in WIRES.items():
        i, j = index[u], index[v]
        for a, b in itertools.product((i, j), repeat=2):
            g[a, b] += (1.0 if a == b else -1.0) / resistance[k]
    kept = [k for n, k in index.items() if n != "d"]
    return np.linalg.solve(g[np.ix_(kept, kept)], np.eye(len(kept))[0])[0]


@program(scalar(1.0, 1.4), scalar(0.4, 0.6), truth="differences")
def when_to_stop_by_a_memo(start, up):
    @functools.cache
    def worth(t, k):
        price = start * 1.1**k * 0.9 ** (t - k)
        if t == 4:
            return max(price - 1.0, 0.0)
        return max(price - 1.0, 0.97 * (up * worth(t + 1, k + 1) + (1.0 - up) * worth(t + 1, k)))

    return worth(0, 0)


OPERATIONS = {"+": lambda a, b: a + b, "*": lambda a, b: a * b, "max": max}


@program(scalar(0.5, 1.5), scalar(0.1, 0.9), truth="differences")
def tree_by_match_and_a_table(x, y):
    names = {"x": x, "y": y}

    def value(tree):
        match tree:
            case str(name):
                return names[name]
            case int() | float():
                return tree
            case ("exp", inner):
                return math.exp(value(inner))
            case (op, left, right) if op in OPERATIONS:
                return OPERATIONS[op](value(left), value(right))
        raise SyntaxError(f"{tree!r}")

    return value(("+", ("*", "x", ("exp", ("*", "y", 2))), ("max", ("*", "y", -1), -0.5)))


@dataclass
class Gated:
    keep: np.ndarray
    make: np.ndarray

    def states(self, xs):
        h = np.zeros(len(self.keep))
        for x in xs:
            all_of = np.r_[x, h, 1.0]
            share = expit(self.keep @ all_of)
            h = share * h + (1.0 - share) * np.tanh(self.make @ all_of)
            yield h


@program(array(2, 4), array(2, 4), array(5, 1), truth="differences")
def gated_cell_as_a_generator(keep, make, xs):
    return sum(np.sum(h**2) for h in Gated(keep, make).states(xs))


class OutsideError(ValueError):
    def __init__(self, value, *, name):
        super().__init__(f"{name} = {value:.2f}")
        self.name = name


def rooted(value, name):
    if value < 0:
        raise OutsideError(value, name=name)
    return math.sqrt(value)


@program(array(4), truth="differences")
def roots_where_there_are_some(x):
    total, left_out = 0.0, []
    for k, v in enumerate(x):
        try:
            total += rooted(v, f"x{k}")
        except OutsideError as error:
            left_out.append(error.name)
            total += 0.1 * v * v
        finally:
            total *= 1.01
    return total


@program(array(2, low=-0.5, high=0.5), array(9), truth="differences")
def arma_by_its_states(p, y):
    move, drive = np.array([[p[0], 1.0], [0.2, 0.0]]), np.array([1.0, p[1]])
    cov, mean = scipy.linalg.solve_discrete_lyapunov(move, np.outer(drive, drive)), np.zeros(2)
    squares = logs = 0.0
    for v in y:
        off, size = v - mean[0], cov[0, 0]
        gain = move @ cov[:, 0] / size
        squares, logs = squares + off**2 / size, logs + math.log(size)
        mean = move @ mean + gain * off
        cov = move @ cov @ move.T + np.outer(drive, drive) - np.outer(gain, gain) * size
    return 0.5 * (logs + len(y) * math.log(squares / len(y)))


@program(array(3, 3), array(3), truth="differences")
def spectral_mixture_of_speech(weights, tilt):
    signal = NOISY[:32] * np.exp(0.1 * tilt[0] * TIME[:32])
    _, _, spectra = scipy.signal.stft(signal, nperseg=4, noverlap=2)
    power = np.log(np.abs(spectra) ** 2 + 0.1)
    scores = weights @ power + tilt[:, None]
    return np.mean(logsumexp(scores, axis=0) - scores[0])
