"""Which programs do people write whose state are stacks, graphs and logs that fill as they go?"""

import contextlib
import heapq
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
