"""Which programs do people of many trades write, in the Python of each?"""

import bisect
import heapq
import itertools
import math
import operator
import re
from abc import ABC, abstractmethod
from collections import ChainMap
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add


@program(100.0, 0.2, 0.03, truth="differences")
def trinomial_tree_of_dict_nodes(spot, sigma, rate):
    steps, maturity, strike = 4, 1.0, 97.3
    dt = maturity / steps
    up = math.exp(sigma * math.sqrt(3.0 * dt))
    drift = (rate - 0.5 * sigma**2) * math.sqrt(dt / (12.0 * sigma**2))
    prob = {+1: 1 / 6 + drift, 0: 2 / 3, -1: 1 / 6 - drift}
    values = {j: max(spot * up**j - strike, 0.0) for j in range(-steps, steps + 1)}
    for step in reversed(range(steps)):
        fresh = {}
        for j in range(-step, step + 1):
            cont = math.exp(-rate * dt) * sum(p * values[j + k] for k, p in prob.items())
            intrinsic = spot * up**j - strike
            fresh[j] = cont if cont > intrinsic else intrinsic
        values = fresh
    return values[0]


class Instrument(ABC):
    def __init__(self, tenor, quote):
        self.tenor, self.quote = tenor, quote

    @abstractmethod
    def residual(self, curve): ...


class Deposit(Instrument):
    def residual(self, curve):
        return curve.df(self.tenor) * (1 + self.quote * self.tenor) - 1.0


class Swap(Instrument):
    def residual(self, curve):
        annuity = sum(curve.df(t + 1.0) for t in range(int(self.tenor)))
        return self.quote * annuity - (1.0 - curve.df(self.tenor))


class Curve:
    def __init__(self):
        self._times, self._logs = [0.0], [0.0]

    def df(self, t):
        i = bisect.bisect_left(self._times, t)
        if i < len(self._times) and self._times[i] == t:
            return math.exp(self._logs[i])
        if i == len(self._times):
            i -= 1
        t0, t1 = self._times[i - 1], self._times[i]
        w = (t - t0) / (t1 - t0)
        return math.exp((1 - w) * self._logs[i - 1] + w * self._logs[i])

    def solve(self, instrument):
        self._times.append(instrument.tenor)
        self._logs.append(-0.02 * instrument.tenor)
        for _ in range(50):
            f = instrument.residual(self)
            if abs(f) < 1e-13:
                break
            h = 1e-6
            self._logs[-1] += h
            slope = (instrument.residual(self) - f) / h
            self._logs[-1] -= h + f / slope
        else:
            raise RuntimeError("no convergence")


@program(np.array([0.021, 0.023, 0.026, 0.031]), truth="differences")
def curve_by_secant(quotes):
    kinds = [(Deposit, 0.5), (Deposit, 1.0), (Swap, 2.0), (Swap, 4.0)]
    curve = Curve()
    for (kind, tenor), q in zip(kinds, quotes):
        curve.solve(kind(tenor, q))
    return 100.0 * curve.df(3.3) + curve.df(1.5)


@dataclass
class Belief:
    mean: np.ndarray
    cov: np.ndarray
    log: list = field(default_factory=list)

    def __post_init__(self):
        self.dim = len(self.mean)


class Sensor(NamedTuple):
    beacon: tuple
    noise: float

    def predict(self, m):
        dx, dy = m[0] - self.beacon[0], m[1] - self.beacon[1]
        rng = math.hypot(dx, dy)
        return rng, np.array([[dx / rng, dy / rng, 0.0]])


@program(0.3, 0.7, np.array([0.9, 1.1, 1.3]), truth="differences")
def ekf_with_dataclasses(q, rnoise, ranges):
    b = Belief(np.array([0.1, 0.2, 0.05]), np.eye(3) * 0.5)
    sensors = itertools.cycle([Sensor((1.0, 0.0), rnoise), Sensor((0.0, 2.0), 2 * rnoise)])
    for z, sensor in zip(ranges, sensors):
        th = b.mean[2]
        F = np.array([[1, 0, -0.3 * math.sin(th)], [0, 1, 0.3 * math.cos(th)], [0, 0, 1]])
        b = replace(
            b,
            mean=b.mean + 0.3 * np.array([math.cos(th), math.sin(th), 0.1]),
            cov=F @ b.cov @ F.T + q * np.eye(3),
        )
        pred, H = sensor.predict(b.mean)
        S = (H @ b.cov @ H.T).item() + sensor.noise
        innov = z - pred
        if innov**2 > 9 * S:
            continue
        K = (b.cov @ H.T / S).ravel()
        b.mean = b.mean + K * innov
        b.cov -= np.outer(K, H @ b.cov)
        b.log.append(-0.5 * (innov**2 / S + math.log(S)))
    return sum(b.log) + np.trace(b.cov) + b.dim


class Gate:
    __slots__ = ("name", "targets", "matrix")

    def __init__(self, name, targets, matrix):
        self.name, self.targets, self.matrix = name, targets, matrix

    def __matmul__(self, other):
        return Gate(self.name + other.name, self.targets, self.matrix @ other.matrix)


class Circuit:
    def __init__(self, n):
        self.n, self.gates = n, []

    def __getattr__(self, name):
        makers = {
            "rx": lambda t: np.array(
                [[math.cos(t / 2), -1j * math.sin(t / 2)], [-1j * math.sin(t / 2), math.cos(t / 2)]]
            ),
            "ry": lambda t: np.array(
                [[math.cos(t / 2), -math.sin(t / 2)], [math.sin(t / 2), math.cos(t / 2)]]
            ),
        }
        if name not in makers:
            raise AttributeError(name)

        def add(target, angle):
            self.gates.append(Gate(name, (target,), makers[name](angle)))
            return self

        return add

    def cz(self, a, b):
        self.gates.append(Gate("cz", (a, b), None))
        return self

    def run(self):
        state = np.zeros(2**self.n, dtype=complex)
        state[0] = 1.0
        for g in self.gates:
            match g:
                case Gate(name="cz", targets=(a, b)):
                    for k in range(2**self.n):
                        if k >> a & 1 and k >> b & 1:
                            state[k] *= -1
                case Gate(targets=(t,), matrix=m):
                    new = state.copy()
                    for k in range(2**self.n):
                        if not k >> t & 1:
                            i, j = k, k | 1 << t
                            new[i] = m[0, 0] * state[i] + m[0, 1] * state[j]
                            new[j] = m[1, 0] * state[i] + m[1, 1] * state[j]
                    state = new
        return state


@program(np.array([0.3, 0.8, -0.4]), truth="differences")
def circuit_by_getattr(angles):
    c = Circuit(2)
    for k, a in enumerate(angles):
        c.rx(k % 2, a).ry((k + 1) % 2, 0.5 * a).cz(0, 1)
    psi = c.run()
    return sum(abs(amp) ** 2 * bin(k).count("1") for k, amp in enumerate(psi))


@program(np.array([0.3, 0.9, -0.4, 0.7]), truth="differences")
def beam_search_by_heapq(w):
    vocab = "abc"

    def score(prefix, ch):
        k = (ord(ch) - 97 + len(prefix)) % 4
        return w[k] - 0.1 * prefix.count(ch)

    beams = [(0.0, "")]
    for _ in range(3):
        candidates = [(s + score(p, ch), p + ch) for s, p in beams for ch in vocab]
        beams = heapq.nlargest(2, candidates, key=lambda c: c[0])
    return sum(math.exp(s) for s, _ in beams)


class Vec:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __iter__(self):
        yield self.x
        yield self.y
        yield self.z

    def __add__(self, o):
        return Vec(*(a + b for a, b in zip(self, o)))

    def __sub__(self, o):
        return Vec(*(a - b for a, b in zip(self, o)))

    def __mul__(self, k):
        return Vec(*(a * k for a in self))

    __rmul__ = __mul__

    def __abs__(self):
        return math.sqrt(sum(a * a for a in self))

    def __matmul__(self, o):
        return sum(map(operator.mul, self, o))


@dataclass(frozen=True)
class Hit:
    distance: float
    steps: int
    where: Vec


@program(0.6, 0.4, truth="differences")
def march_until_hit(radius, smooth):
    sphere = lambda p: abs(p - Vec(0.0, 0.0, 3.0)) - radius
    plane = lambda p: p.y + 0.8

    def scene(p):
        a, b = sphere(p), plane(p)
        h = max(smooth - abs(a - b), 0.0) / smooth
        return min(a, b) - h * h * smooth / 4

    def march(direction):
        t = 0.0
        for step in range(200):
            p = direction * t
            d = scene(p)
            if d < 1e-9:
                return Hit(t, step, p)
            t += d
            if t > 20.0:
                return None
        return Hit(t, 200, direction * t)

    out = 0.0
    for k in range(-1, 2):
        d = Vec(0.1 * k, -0.1, 1.0)
        hit = march(d * (1 / abs(d)))
        if hit is None:
            out += 0.1
        else:
            out += hit.distance + hit.where @ Vec(0.1, 0.2, 0.3)
    return out


def oscillator(freq, rate=100.0):
    phase = 0.0
    while True:
        yield math.sin(2 * math.pi * phase)
        phase = (phase + freq / rate) % 1.0


class OnePole:
    def __init__(self, a):
        self.a, self.y = a, 0.0

    def __call__(self, x):
        self.y += self.a * (x - self.y)
        return self.y


class Chain(list):
    def process(self, x):
        for f in self:
            x = f(x)
        return x


@program(0.3, 7.3, truth="differences")
def synth_by_generators(a, freq):
    chain = Chain([OnePole(a), OnePole(0.5 * a), lambda x: math.tanh(2 * x)])
    energy = 0.0
    for x in itertools.islice(oscillator(freq), 30):
        energy += chain.process(x) ** 2
    return energy


@program(1.3, 0.6, truth="differences")
def armijo_descent(a, b):
    def f(x, y):
        return (a - x) ** 2 + 4 * (y - b * x * x) ** 2

    def df(x, y):
        return -2 * (a - x) - 16 * b * x * (y - b * x * x), 8 * (y - b * x * x)

    x, y = 0.2, 0.1
    for _it in range(4):
        gx, gy = df(x, y)
        step, f0 = 1.0, f(x, y)
        while step > 1e-6:
            xn, yn = x - step * gx, y - step * gy
            if f(xn, yn) <= f0 - 1e-4 * step * (gx * gx + gy * gy):
                break
            step /= 2
        else:
            return f0
        x, y = xn, yn
    return f(x, y) + x


def tokenize(s):
    return re.findall(r"\d+\.?\d*|[a-z]+|[-+*/^()]", s)


def parse_pratt(tokens):
    binding = {"+": 10, "-": 10, "*": 20, "/": 20, "^": 30}
    ops = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "^": operator.pow,
    }
    pos = 0

    def advance():
        nonlocal pos
        tok = tokens[pos]
        pos += 1
        return tok

    def expr(level=0):
        tok = advance()
        if tok == "(":
            left = expr()
            advance()
        elif tok == "-":
            inner = expr(25)
            left = lambda env, i=inner: -i(env)
        elif tok.isalpha():
            if pos < len(tokens) and tokens[pos] == "(":
                advance()
                arg = expr()
                advance()
                fn = getattr(math, tok)
                left = lambda env, f=fn, a=arg: f(a(env))
            else:
                left = lambda env, t=tok: env[t]
        else:
            left = lambda env, v=float(tok): v
        while pos < len(tokens) and binding.get(tokens[pos], 0) > level:
            op = advance()
            right = expr(binding[op] - (op == "^"))
            left = lambda env, o=ops[op], l=left, r=right: o(l(env), r(env))
        return left

    return expr()


@program(0.7, 1.4, truth="differences")
def pratt_parser(x, y):
    f = parse_pratt(tokenize("2*x^2 - sin(x*y)/(1+y) + -x^3 + exp(-y)"))
    env = ChainMap({"x": x}, {"y": y, "x": 0.0})
    return f(env)


@program(np.array([1.0, 3.0, 2.0, 2.5, 2.2, 4.0]), truth="differences")
def pool_adjacent_violators(y):
    blocks = []
    for v in y:
        blocks.append([v, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            v2, n2 = blocks.pop()
            v1, n1 = blocks.pop()
            blocks.append([(v1 * n1 + v2 * n2) / (n1 + n2), n1 + n2])
    fit = []
    for v, n in blocks:
        fit.extend([v] * n)
    return sum((a - b) ** 2 for a, b in zip(y, fit)) + fit[0] * fit[-1]
