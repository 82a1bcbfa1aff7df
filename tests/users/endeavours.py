"""Which programs mix records, registries and recorded paths with arithmetic on arrays?"""

import collections
import dataclasses
import enum
import functools
import heapq
import itertools
import logging
import math
import operator
import statistics
from dataclasses import dataclass

import numba
import numpy as np
import scipy.optimize as so
import scipy.sparse as ss
import scipy.sparse.linalg

from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add
log = logging.getLogger(__name__)


class Frame:
    def __init__(self, **columns):
        self._columns = dict(columns)

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, list):
            return Frame(**{k: self._columns[k] for k in key})
        return Frame(**{k: v[key] for k, v in self._columns.items()})

    def __setitem__(self, key, value):
        self._columns[key] = np.broadcast_to(value, (len(self),)).copy()

    def __len__(self):
        return len(next(iter(self._columns.values())))

    def groupby(self, key):
        keys = self._columns[key]
        for value in sorted(set(keys.tolist())):
            yield value, self[keys == value]

    def apply(self, f):
        return {k: f(v) for k, v in self._columns.items()}


@program(array(6), scalar(0.5, 1.5), np.array([0, 1, 0, 2, 1, 0]), truth="differences")
def frame_by_groups(x, w, group):
    frame = Frame(x=x, group=group)
    frame["y"] = w * frame["x"] ** 2
    frame["one"] = 1.0
    found = {}
    for key, part in frame.groupby("group"):
        found[key] = part["y"].mean() + part[["x", "one"]].apply(np.sum)["x"] * w
    return max(found.values()) + sum(v * (k + 1) for k, v in found.items())


@program(array(3, low=0.5, high=2.0), [0, 1, 2, 0, 1, 1, 2])
def costs_of_a_cache(cost, requests):
    cache, total = collections.OrderedDict(), 0.0
    for key in requests:
        if key in cache:
            cache.move_to_end(key)
            total += 0.1 * cache[key]
        else:
            total += cost[key] ** 2
            cache[key] = cost[key] * total
            if len(cache) > 2:
                _, dropped = cache.popitem(last=False)
                total += 0.01 * dropped
    return total * functools.reduce(operator.mul, cache.values())


def minmod(r):
    return np.maximum(0.0, np.minimum(1.0, r))


def superbee(r):
    return np.maximum.reduce([np.zeros_like(r), np.minimum(2 * r, 1.0), np.minimum(r, 2.0)])


def van_leer(r):
    return (r + np.abs(r)) / (1.0 + np.abs(r))


LIMITERS = {f.__name__: f for f in (minmod, superbee, van_leer)}


@program(array(9), scalar(0.2, 0.5), "superbee", truth="differences")
def limited_advection(u, c, limiter="minmod"):
    phi, u = LIMITERS[limiter], u.copy()
    for _ in range(3):
        du = np.roll(u, -1) - u
        r = np.roll(du, 1) / np.where(np.abs(du) < 1e-12, 1e-12, du)
        face = u + 0.5 * phi(r) * (1 - c) * du
        u -= c * (face - np.roll(face, 1))
    return np.sum(u**2) + u[3] * u[-2]


def impedance(net, w):
    match net:
        case ("R", value):
            return complex(value)
        case ("L", value):
            return 1j * w * value
        case ("C", value):
            return 1 / (1j * w * value)
        case ("series", *parts):
            return sum((impedance(p, w) for p in parts), 0j)
        case ("parallel", *parts):
            return 1 / sum(1 / impedance(p, w) for p in parts)
        case _:
            raise ValueError(f"unknown {net[0]}")


@program(scalar(1.0, 2.0), scalar(0.3, 0.6), scalar(0.1, 0.3), np.array([0.5, 1.0, 2.0]),
         truth="differences")  # fmt: skip
def gain_of_a_network(r, inductance, capacity, frequencies):
    inner = ("series", ("R", 2 * r), ("L", 0.1))
    net = ("series", ("R", r), ("parallel", ("L", inductance), ("C", capacity), inner))
    total = 0.0
    for w in frequencies:
        z = impedance(net, w)
        total += abs(z) ** 2 / len(frequencies) + math.atan2(z.imag, z.real)
    return total


@program(array(5, 3), array(3, 3), truth="differences")
def path_of_viterbi(emission, transition):
    steps, states = emission.shape
    score = np.empty((steps, states))
    back = np.zeros((steps, states), dtype=int)
    score[0] = emission[0]
    for t in range(1, steps):
        candidates = score[t - 1][:, None] + transition
        back[t] = candidates.argmax(axis=0)
        score[t] = candidates[back[t], np.arange(states)] + emission[t]
    path = [int(score[-1].argmax())]
    for t in range(steps - 1, 0, -1):
        path.append(back[t, path[-1]])
    path.reverse()
    seen = emission[np.arange(steps), path]
    return np.sum(seen**2) + sum(transition[a, b] ** 2 for a, b in itertools.pairwise(path))


@program(array(3, low=95.0, high=105.0), scalar(4.0, 6.0), truth="differences")
def yields_by_closures(prices, coupon):
    def price(y, n):
        return sum(coupon / (1 + y) ** k for k in range(1, n + 1)) + 100 / (1 + y) ** n

    found = [so.brentq(lambda y: price(y, n) - p, 0.0, 1.0, xtol=1e-14)
             for n, p in enumerate(prices, start=2)]  # fmt: skip
    return 10 * (max(found) - min(found)) + sum(found)


class Depleted(Exception):
    def __init__(self, left):
        super().__init__(left)
        self.left = left


def drained(level, rate):
    if level < rate:
        raise Depleted(level)
    return level - rate


@program(scalar(2.5, 3.0), np.array([0.5, 1.0, 1.2, 0.9, 0.1]))
def tank_that_is_refilled(level, rates):
    delivered, shortages = 0.0, 0
    for r in rates:
        try:
            level = drained(level, r)
        except Depleted as e:
            delivered += e.left
            level = 2.0 * r
            shortages += 1
        else:
            delivered += r
        finally:
            delivered *= 0.99
    return delivered**2 + level * shortages


@program(array(4, 4), array(4), truth="differences")
def rows_exchanged_in_place(a, b):
    lu, x, n, sign = a.copy(), b.copy(), len(b), 1
    for k in range(n):
        p = k + int(np.argmax(np.abs(lu[k:, k])))
        if p != k:
            lu[[k, p]] = lu[[p, k]]
            x[[k, p]] = x[[p, k]]
            sign = -sign
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
        x[k + 1 :] -= lu[k + 1 :, k] * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - lu[k, k + 1 :] @ x[k + 1 :]) / lu[k, k]
    return sign * np.prod(np.diag(lu)) + np.sum(np.tanh(x))


class Layer:
    registry: dict = {}

    def __init_subclass__(cls, /, tag, **more):
        super().__init_subclass__(**more)
        Layer.registry[tag] = cls

    def __init__(self, p):
        self.p = p

    def __rshift__(self, other):
        return Chain((self, other))


class Affine(Layer, tag="affine"):
    def forward(self, x):
        return self.p[0] * x + self.p[1]


class Soft(Layer, tag="soft"):
    def forward(self, x):
        return np.log1p(np.exp(-np.abs(self.p * x))) + np.maximum(self.p * x, 0)


class Chain(Layer, tag="chain"):
    def forward(self, x):
        return functools.reduce(lambda x, layer: layer.forward(x), self.p, x)

    def __rshift__(self, other):
        return Chain((*self.p, other))


@program(several(lambda a, s: {"affine": a, "soft": s}, array(2), scalar(0.5, 1.5)), array(4),
         truth="differences")  # fmt: skip
def layers_by_their_tags(params, x):
    layers = [Layer.registry[tag](p) for tag, p in params.items()]
    y = functools.reduce(operator.rshift, layers).forward(x)
    return np.mean(y**2) + sum(isinstance(layer, Soft) for layer in layers)


@program(array(4, low=0.1, high=0.5))
def search_tree_with_a_memo(p):
    memo = {}

    def cost(i, j):
        if i >= j:
            return 0.0
        if (i, j) not in memo:
            best = min(cost(i, r) + cost(r + 1, j) for r in range(i, j))
            memo[i, j] = sum(p[i:j]) + best
        return memo[i, j]

    return cost(0, len(p)) ** 2


@dataclass(frozen=True)
class Quaternion:
    w: float
    v: np.ndarray

    def __matmul__(self, o):
        v = self.w * o.v + o.w * self.v + np.cross(self.v, o.v)
        return Quaternion(self.w * o.w - self.v @ o.v, v)

    @property
    def conjugate(self):
        return dataclasses.replace(self, v=-self.v)

    def __abs__(self):
        return np.sqrt(self.w**2 + self.v @ self.v)

    def __truediv__(self, s):
        return Quaternion(self.w / s, self.v / s)

    @classmethod
    def about(cls, axis, angle):
        return cls(np.cos(angle / 2), np.sin(angle / 2) * np.asarray(axis) / np.linalg.norm(axis))


@program(array(3), array(4, 3))
def turns_by_quaternions(angles, points):
    q = functools.reduce(operator.matmul, map(Quaternion.about, np.eye(3), angles))
    q = q / abs(q)
    turned = [(q @ Quaternion(0.0, p) @ q.conjugate).v for p in points]
    return sum(np.sum((t - p) ** 2) for t, p in zip(turned, np.roll(points, 1, axis=1)))


@program(array(4, low=0.5, high=2.0), scalar(0.5, 1.5), truth="differences")
def bars_by_triplets(stiffness, load):
    n, rows, cols, vals = len(stiffness), [], [], []
    for e, a, b in itertools.product(range(n), (0, 1), (0, 1)):
        if e + a > 0 and e + b > 0:
            rows.append(e + a - 1)
            cols.append(e + b - 1)
            vals.append(stiffness[e] * (1 if a == b else -1))
    matrix = ss.csr_matrix((np.array(vals), (rows, cols)), shape=(n, n))
    f = np.zeros(n)
    f[-1] = load
    u = scipy.sparse.linalg.spsolve(matrix.tocsc(), f)
    return u[-1] + 0.5 * u @ (matrix @ u)


@dataclass
class Agent:
    cash: float
    goods: float = 1.0

    def utility(self):
        return math.log(self.cash) + 0.5 * math.log(self.goods)


@program(np.array([5.0, 4.0, 3.0]), scalar(0.5, 0.9), truth="differences")
def market_of_replaced_agents(cash, price):
    agents = {f"a{i}": Agent(c) for i, c in enumerate(cash)}
    for pair in itertools.combinations(sorted(agents), 2):
        buyer, seller = pair if agents[pair[0]].cash > agents[pair[1]].cash else pair[::-1]
        for name, way in ((buyer, 1), (seller, -1)):
            a = agents[name]
            agents[name] = dataclasses.replace(a, cash=a.cash - 0.1 * way * price,
                                               goods=a.goods + 0.1 * way)  # fmt: skip
    richest = max(agents.values(), key=lambda a: a.cash)
    return sum(a.utility() for a in agents.values()) - 0.1 * richest.cash


@numba.njit
def relaxed(a, w):
    for i in range(1, len(a) - 1):
        a[i] = (1 - w) * a[i] + 0.5 * w * (a[i - 1] + a[i + 1])
    return a


@program(array(4, 5), scalar(0.4, 0.9), truth="differences")
def rows_and_columns_smoothed(grid, w):
    g = grid.copy()
    for k, row in enumerate(g):
        g[k] = relaxed(row.copy(), w)
    for column in g.T:
        column[::-1][1:-1] += w * np.diff(column[::-1], n=2)
    return np.sum(g**2) + g[0, -1]


@program(array(3), scalar(0.9, 1.1), truth="differences")
def wealth_by_accumulate(x, r):
    wealth = list(itertools.accumulate(x, lambda w, d: w * r + d, initial=1.0))
    steps = [lambda v, k=k: v * wealth[k] for k in range(len(x))]
    last = functools.reduce(lambda total, f: f(total) + 1, steps, r)
    highest = max(itertools.accumulate(wealth, max))
    return last + highest + sum(map(operator.mul, wealth, wealth[1:]))


@program(scalar(1.0, 2.0), 1e-3, argnums=(0,), truth="differences")
def steps_by_their_errors(k, tolerance):
    def slope(t, y):
        return -k * (y - math.cos(t))

    t, y, h, history = 0.0, 0.0, 0.125, []
    while t < 1.0:
        k1 = slope(t, y)
        k2 = slope(t + h, y + h * k1)
        if abs(h * (k2 - k1)) / 2 <= 30 * tolerance:
            t += h
            y += h * (k1 + k2) / 2
            history.append({"t": t, "y": y, "h": h})
        else:
            h /= 2
    best = max(history, key=lambda r: r["y"])
    return y + sum(r["h"] * r["y"] for r in history) + best["t"] * best["y"]


@program(array(2), scalar(0.05, 0.15), True, truth="differences")
def training_that_is_told(w, rate, verbose=False):
    losses, told = [], []
    for epoch in range(5):
        loss = np.sum((w**2 - 1) ** 2)
        w = w - rate * 4 * w * (w**2 - 1)
        losses.append(loss)
        if verbose and epoch % 2 == 0:
            log.info("epoch %d loss %.4f", epoch, loss)
            told.append("w = {}, ".format(w) + "loss = %.3g" % loss)  # noqa: UP031, UP032
        if len(losses) > 1 and losses[-1] > losses[-2]:
            break
    return losses[-1] + 0.1 * min(losses) * len(told)


@program(np.sin(np.linspace(0.3, 9, 25)), scalar(0.1, 0.3), truth="differences")
def periods_between_crossings(y, level):
    times = []
    for i in range(1, len(y)):
        a, b = y[i - 1] - level, y[i] - level
        if a * b < 0:
            times.append(i - 1 + a / (a - b))
    if len(times) < 2:
        return float(len(times)) + y[0]
    periods = [t2 - t1 for t1, t2 in itertools.pairwise(times)]
    return statistics.mean(periods) + max(periods) - min(periods) + sum(heapq.nsmallest(2, times))


def turn(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


@program(array(7, 2), truth="differences", seed=4)
def area_of_a_hull(points):
    def half(points):
        out = []
        for q in points:
            while len(out) >= 2 and turn(out[-2], out[-1], q) <= 0:
                out.pop()
            out.append(q)
        return out[:-1]

    p = points[np.lexsort((points[:, 1], points[:, 0]))]
    hull = half(p) + half(p[::-1])
    return 0.5 * sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(hull, hull[1:] + hull[:1]))


@program(array(2, low=0.5, high=1.0), array(8, 2, low=0.1, high=0.9), argnums=(0,),
         truth="differences")  # fmt: skip
def reactions_that_are_drawn(rates, u):
    n, moves = np.array([5.0, 2.0]), np.array([[-1.0, 1.0], [1.0, -1.0]])
    t, i, area = 0.0, 0, 0.0
    while i < len(u):
        a = rates * n
        total = a.sum()
        if total <= 0:
            break
        tau = -np.log(u[i, 0]) / total
        area += n[0] * tau
        n = n + moves[np.searchsorted(np.cumsum(a) / total, u[i, 1])]
        t += tau
        i += 1
    return area / t + t


class Kind(enum.Enum):
    CALL = 1
    PUT = -1


@program(scalar(90.0, 110.0), scalar(0.1, 0.3), Kind.PUT, truth="differences")
def option_by_normal_dist(spot, volatility, kind):
    cdf = statistics.NormalDist().cdf
    d1 = math.log(spot / 100.0) / volatility + 0.5 * volatility
    sign = kind.value
    price = spot * cdf(sign * d1) - 100.0 * cdf(sign * (d1 - volatility))
    return sign * price + statistics.NormalDist(0.0, volatility).pdf(d1)
