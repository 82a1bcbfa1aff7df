"""Which programs ask their own objects, dicts and generators what is in them by now?"""

import collections
import dataclasses
import enum
import heapq
import itertools
import math
import operator
import re
from collections import Counter, defaultdict
from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np

import jitad
from tests.catalogue.entry import Catalogue, array, scalar, several

catalogue = Catalogue()
program = catalogue.add


class Prior(enum.Enum):
    NORMAL = enum.auto()
    POSITIVE = enum.auto()
    UNIT = enum.auto()

    def transform(self, z):
        if self is Prior.NORMAL:
            return z, 0.0
        if self is Prior.POSITIVE:
            return math.exp(z), z
        s = 1.0 / (1.0 + math.exp(-z))
        return s, math.log(s) + math.log1p(-s)

    def log_density(self, v):
        return {
            Prior.NORMAL: lambda: -0.5 * v * v,
            Prior.POSITIVE: lambda: -v,
            Prior.UNIT: lambda: math.log(v) + 2.0 * math.log(1.0 - v),
        }[self]()


PRIORS = {"mu": Prior.NORMAL, "sigma": Prior.POSITIVE, "w": Prior.UNIT}


@program(array(3), array(4), truth="differences")
def posterior_by_names(z, data):
    values, total = {}, 0.0
    for (name, prior), at in zip(PRIORS.items(), z):
        values[name], scale = prior.transform(at)
        total += prior.log_density(values[name]) + scale
    mu, sigma, w = operator.itemgetter("mu", "sigma", "w")(values)
    for x in data:
        r = (x - mu) / sigma
        inside = math.log(w) - 0.5 * r**2 - math.log(sigma)
        total += np.logaddexp(inside, math.log1p(-w) - 0.5 * x * x)
    return -total


ROADS = {"s": ["a", "b"], "a": ["b", "t"], "b": ["t", "c"], "c": ["t"], "t": []}
LENGTHS = {("s", "a"): 0, ("s", "b"): 1, ("a", "b"): 2, ("a", "t"): 3, ("b", "t"): 4,
           ("b", "c"): 5, ("c", "t"): 6}  # fmt: skip


@program(array(7, low=0.5, high=3.0), truth="differences")
def shortest_way_by_names(w):
    distance = {n: math.inf for n in ROADS}
    distance["s"] = 0.0
    queue, seen = [(0.0, "s")], set()
    while queue:
        d, u = heapq.heappop(queue)
        if u in seen:
            continue
        seen.add(u)
        for v in ROADS[u]:
            new = d + w[LENGTHS[u, v]]
            if new < distance[v]:
                distance[v] = new
                heapq.heappush(queue, (new, v))
    return distance["t"] ** 2 + distance["c"]


class Sensor:
    def __init__(self, raw):
        self.raw = raw

    @property
    def gain(self):
        return self._gain if hasattr(self, "_gain") else 1.0

    @gain.setter
    def gain(self, v):
        if v <= 0.0:
            raise ValueError(f"gain {v} must be positive")
        self._gain = v

    def __getattr__(self, name):
        if name.startswith("ch"):
            return self.raw[int(name[2:])]
        raise AttributeError(name)


@program(array(4), truth="differences")
def calibrated_sensors(x):
    total = 0.0
    for k in range(2):
        sensor = Sensor(x[2 * k : 2 * k + 2])
        try:
            sensor.gain = sensor.ch0
        except ValueError:
            total -= sensor.ch1
        finally:
            total += sensor.gain * sensor.ch1
        if sensor.ch1 > 0.0:
            sensor.offset = sensor.ch1 * sensor.ch0
        total += getattr(sensor, "offset", sensor.raw.sum()) ** 2
    return total


@program(array(6), scalar(0.2, 0.9), truth="differences")
def alarms_in_a_journal(x, threshold):
    journal, worst = [], {}

    def alarms():
        for k, v in enumerate(x):
            if abs(v) > threshold * (1.0 + 0.1 * len(journal)):
                yield k, v

    journal.extend(v * (k + 1) for k, v in alarms())
    journal += (v * v for _, v in alarms())
    worst.update((k, abs(v)) for k, v in alarms())
    return sum(journal) + sum(v * (k + 1) for k, v in worst.items()) + len(worst) * x[0]


REACTIONS = """
A + B -> C ; k1
C -> A + B ; k2
2 A -> D ; k3
"""


def amounts(side):
    count = Counter()
    for term in side.split("+"):
        parts = term.split()
        count[parts[-1]] += int(parts[0]) if len(parts) == 2 else 1
    return count


def rates_of(*k):
    return dict(zip(("k1", "k2", "k3"), k))


def start(a, b):
    return {"A": a, "B": b, "C": 0.0, "D": 0.0}


@program(several(rates_of, scalar(0.5, 1.5), scalar(0.1, 0.5), scalar(0.2, 0.8)),
         several(start, scalar(0.5, 1.0), scalar(0.5, 1.0)), truth="differences")  # fmt: skip
def reactions_from_a_text(rates, initial):
    reactions = []
    for line in REACTIONS.strip().splitlines():
        equation, k = (part.strip() for part in line.split(";"))
        left, right = equation.split("->")
        reactions.append((amounts(left), amounts(right), k))
    held = dict(initial)
    for _ in range(20):
        change = defaultdict(float)
        for left, right, k in reactions:
            flow = rates[k] * math.prod(held[s] ** n for s, n in left.items())
            for s, n in left.items():
                change[s] -= n * flow
            for s, n in right.items():
                change[s] += n * flow
        for s in held:
            held[s] += 0.05 * change[s]
    return sum((i + 1) * c for i, c in enumerate(held.values()))


@program(scalar(0.5, 1.5), scalar(0.2, 0.9))
def calculator(x, y):
    order = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
    acts = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
            "**": operator.pow}  # fmt: skip
    names, values, waiting = {"x": x, "y": y}, [], []

    def act():
        b, a = values.pop(), values.pop()
        values.append(acts[waiting.pop()](a, b))

    for token in "3 * x + y ** 2 - x / ( 1 + y )".split():
        if token in order:
            while waiting and waiting[-1] != "(" and order[waiting[-1]] >= order[token]:
                act()
            waiting.append(token)
        elif token == "(":
            waiting.append(token)
        elif token == ")":
            while waiting[-1] != "(":
                act()
            waiting.pop()
        else:
            values.append(float(token) if re.fullmatch(r"\d+", token) else names[token])
    while waiting:
        act()
    return values[0]


@dataclass
class Moments:
    rate: float
    _: KW_ONLY
    decay: float = 0.9
    seed: InitVar[int] = 3
    state: dict = field(default_factory=dict, repr=False)

    def __post_init__(self, seed):
        self.floor = 1e-3 + 0.01 * seed

    def update(self, name, w, g):
        s = self.state.setdefault(name, {"m": np.zeros_like(w), "v": np.zeros_like(w), "t": 0})
        s["t"] += 1
        s["m"] += (1.0 - self.decay) * (g - s["m"])
        s["v"] *= 0.99
        s["v"] += 0.01 * g * g
        mean = s["m"] / (1.0 - self.decay ** s["t"])
        w -= self.rate * mean / (np.sqrt(s["v"] / (1.0 - 0.99 ** s["t"])) + self.floor)


@program(scalar(0.05, 0.2), scalar(0.6, 0.9), array(2, low=0.5, high=2.0), truth="differences")
def trained_by_moments(rate, decay, w):
    params = {"w": w.copy(), "b": np.array([0.5])}

    def loss(p):
        return np.sum((p["w"] * np.array([1.0, -1.0]) + p["b"] - np.array([0.3, 0.2])) ** 2)

    optimiser = Moments(rate, decay=decay)
    for _ in range(4):
        slopes = jitad.grad(loss)(params)
        for k in params:
            optimiser.update(k, params[k], slopes[k])
    return loss(params) + len(optimiser.state)


Event = collections.namedtuple("Event", "t kind value")


@program(array(5, low=0.1, high=1.5), scalar(0.5, 1.5), truth="differences")
def spills_of_a_tank(waits, rate):
    log, t, level = [], 0.0, 0.0
    for dt in waits:
        t += dt
        level += rate * dt
        if level > 1.0:
            log.append(Event(t, "spill", level - 1.0))
            level = 1.0
        elif level < 0.5:
            log.append(Event(t, "low", level))
    spills = [e for e in log if e.kind == "spill"]
    last = log[-1] if log else Event(0.0, "none", 0.0)
    rest = last.value if last.kind == "low" else level
    return sum(e.value * e.t for e in spills) + last.t * len(spills) + rest


class Congruential:
    def __init__(self, seed):
        self.seed = seed

    def __iter__(self):
        return self

    def __next__(self):
        self.seed = (1103515245 * self.seed + 12345) % 2**31
        return self.seed / 2**31


@program(scalar(0.1, 0.5), 42, truth="differences")
def option_by_an_own_generator(sigma, seed):
    numbers, total = Congruential(seed), 0.0
    for u, v in itertools.islice(zip(numbers, numbers), 20):
        z = math.sqrt(-2.0 * math.log(u + 1e-12)) * math.cos(2.0 * math.pi * v)
        total += max(math.exp(sigma * z - 0.5 * sigma**2) - 1.02, 0.0)
    return total / 20


@dataclass(frozen=True)
class Turn:
    w: float
    x: float
    y: float
    z: float

    def __mul__(self, o):
        return Turn(self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
                    self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
                    self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
                    self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w)  # fmt: skip

    @property
    def back(self):
        return dataclasses.replace(self, x=-self.x, y=-self.y, z=-self.z)

    @classmethod
    def about(cls, axis, angle):
        s = math.sin(angle / 2.0)
        return cls(math.cos(angle / 2.0), *(s * a for a in axis))

    def applied(self, v):
        t = self * Turn(0.0, *v) * self.back
        return np.array([t.x, t.y, t.z])


@program(array(4, low=-1.0, high=1.0))
def turned_in_turn(angles):
    axes = itertools.cycle([(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)])
    turn = Turn(1.0, 0.0, 0.0, 0.0)
    for axis, angle in zip(axes, angles):
        turn = turn * Turn.about(axis, angle)
    return turn.applied((0.4, 0.1, 1.2)) @ np.array([1.0, 2.0, 3.0])
