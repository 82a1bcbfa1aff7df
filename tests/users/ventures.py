"""Which programs do people write whose state are stacks, graphs and logs that fill as they go?"""

import contextlib
import heapq
import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.signal

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


@contextlib.contextmanager
def pushed(stack, frame):
    stack.append(frame)
    try:
        yield frame
    finally:
        stack.pop()


def turned(angle):
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


@program(scalar(0.3, 0.9), array(3, low=0.5, high=2.0), truth="differences")
def frames_on_an_exit_stack(theta, lengths):
    frames, reach = [np.eye(2)], 0.0
    with contextlib.ExitStack() as entered:
        for k, r in enumerate(lengths):
            frame = entered.enter_context(pushed(frames, frames[-1] @ turned(theta * (k + 1))))
            reach += (frame @ np.array([r, 1.0]))[0]
    assert len(frames) == 1
    return reach**2


ROADS = {"a": {"b": 0, "c": 1}, "b": {"c": 2, "d": 3}, "c": {"d": 4}, "d": {}}


@program(array(5, low=0.5, high=3.0), truth="differences")
def nearest_town_by_names(length):
    graph = {u: {v: length[k] for v, k in near.items()} for u, near in ROADS.items()}
    found, heap = {"a": 0.0}, [(0.0, "a")]
    while heap:
        d, town = heapq.heappop(heap)
        if d > found.get(town, math.inf):
            continue
        for near, w in graph[town].items():
            if d + w < found.get(near, math.inf):
                found[near] = d + w
                heapq.heappush(heap, (d + w, near))
    return found["d"] ** 2


class Till:
    __slots__ = ("cash", "log", "owed")

    def __init__(self, cash):
        self.cash, self.owed = cash, Counter()
        self.log = defaultdict(list)

    @property
    def low(self):
        return self.cash < 1.0

    def pay(self, name, amount):
        given = min(self.cash, amount)
        self.cash -= given
        self.log["paid"].append(given)
        if given < amount:
            self.owed[name] += amount - given
            self.log["short"].append(amount)


@program(scalar(2.0, 4.0), scalar(0.5, 1.5), scalar(2.5, 3.5), scalar(1.0, 2.0))
def till_that_runs_short(cash, a, b, c):
    till = Till(cash)
    for name, amount in (("ann", a), ("bob", b), ("cy", c)):
        till.pay(name, amount)
        if till.low:
            till.cash += 0.5
    late = sum(v * v for v in till.owed.values()) + till.owed["ann"]
    return late + sum(sum(v) for v in till.log.values()) * len(till.log) + till.cash


class Dim(NamedTuple):
    m: int = 0
    s: int = 0

    def __add__(self, other):
        return Dim(*(a + b for a, b in zip(self, other)))

    def __mul__(self, n):
        return Dim(*(a * n for a in self))


NUMBER = Dim()


@dataclass(frozen=True)
class Quantity:
    v: float
    dim: Dim = NUMBER

    def __mul__(self, other):
        if isinstance(other, Quantity):
            return Quantity(self.v * other.v, self.dim + other.dim)
        return Quantity(self.v * other, self.dim)

    __rmul__ = __mul__

    def __pow__(self, n):
        return Quantity(self.v**n, self.dim * n)

    def __add__(self, other):
        if self.dim != other.dim:
            raise TypeError(f"{self.dim} + {other.dim}")
        return Quantity(self.v + other.v, self.dim)

    def to(self, **unit):
        assert self.dim == Dim(**unit), "wrong unit"
        return self.v


@program(scalar(0.1, 0.4), scalar(1.0, 2.0))
def fall_in_units(drag, start):
    meter, second = (Quantity(1.0, Dim(**{u: 1})) for u in ("m", "s"))
    v, x, dt = start * meter * second**-1, 0.0 * meter, 0.05 * second
    for _ in range(8):
        a = 9.81 * meter * second**-2 + -drag * v**2 * meter**-1
        v = v + a * dt
        x = x + v * dt
    return x.to(m=1) * v.to(m=1, s=-1)


@program(array(3, low=0.2, high=1.0), scalar(0.5, 2.0))
def recurrence_of_polynomials(c, x):
    p = np.polynomial.Polynomial(c)
    before, now = p**0, p
    for n in range(1, 3):
        before, now = now, (2 * n + 1) / (n + 1) * p * now - n / (n + 1) * before
    return now(x) + (p.deriv() * p + 1.0)(x)


@program(array(24), scalar(0.1, 0.6), truth="differences")
def envelope_of_a_filtered_signal(x, feedback):
    smooth = scipy.signal.filtfilt([0.4, 0.3], np.array([1.0, -0.3]) * (1.0 + feedback), x)
    envelope = np.abs(scipy.signal.hilbert(scipy.signal.detrend(smooth)))
    return np.sum(envelope) * envelope.max()


@program(array(5, low=0.1, high=1.0), scalar(0.5, 2.0), truth="differences")
def generator_left_early(x, limit):
    closed = []

    def running():
        total = 0.0
        try:
            for v in x:
                total += v * v
                yield total
        finally:
            closed.append(total)

    steps = running()
    first = next(steps) + next(steps)
    del steps
    return first * limit + closed[0] ** 2


@program(array(4, low=0.2, high=0.9), scalar(0.3, 0.6), truth="differences")
def histories_of_a_food_web(growth, attack):
    eats, names = {2: [0, 1], 3: [1, 2]}, ["grass", "algae", "hare", "fox"]
    n, history = np.array([1.0, 0.8, 0.5, 0.2]), defaultdict(list)
    for _ in range(40):
        change = growth * n * (1.0 - n)
        for hunter, preys in eats.items():
            for prey in preys:
                flux = attack * n[hunter] * n[prey] / (1.0 + 0.2 * n[prey])
                change[prey] -= flux
                change[hunter] += 0.3 * flux
        n = np.maximum(n + 0.05 * change, 0.0)
        for name, size in zip(names, n):
            history[name].append(size)
    diversity = -sum(x * math.log(x) for x in n / n.sum())
    return diversity + sum(map(max, history.values()))


@dataclass
class Interval:
    low: float
    high: float

    def __add__(self, other):
        other = other if isinstance(other, Interval) else Interval(other, other)
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other):
        other = other if isinstance(other, Interval) else Interval(other, other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def halves(self):
        middle = 0.5 * (self.low + self.high)
        return Interval(self.low, middle), Interval(middle, self.high)


@program(array(3, low=0.5, high=1.5), truth="differences")
def lowest_by_branch_and_bound(c):
    def bounds(x):
        return x * x * c[0] + x * (-c[1]) + c[2]

    start, number = Interval(-3.7, 5.1), itertools.count()
    best, heap = math.inf, [(bounds(start).low, next(number), start)]
    for _ in range(3):
        _, _, widest = heapq.heappop(heap)
        at = 0.5 * (widest.low + widest.high)
        best = min(best, c[0] * at**2 - c[1] * at + c[2])
        for half in widest.halves():
            if (low := bounds(half).low) < best:
                heapq.heappush(heap, (low, next(number), half))
    return best + 0.01 * heap[0][0]


@program(array(12), truth="differences")
def longest_run_of_what_is_yielded(x):
    def centred(values):
        values = list(values)
        mean = sum(values) / len(values)
        yield from (v - mean for v in values)

    runs = [(up, [*g]) for up, g in itertools.groupby(centred(x), key=lambda v: v > 0.0)]
    _, longest = max(runs, key=lambda run: len(run[1]))
    steps = [b - a for a, b in itertools.pairwise(itertools.accumulate(x))]
    return sum(longest) ** 2 + math.fsum(s * s for s in steps) + len(runs)
