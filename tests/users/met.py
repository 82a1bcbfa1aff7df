"""Which programs do people write who keep what they meet, in dicts, sets, trees and generators?"""

import abc
import bisect
import functools
import heapq
import itertools
import math
import operator
import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = functools.partial(catalogue.add, truth="differences")


def roads_of(w):
    ends = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]
    roads = defaultdict(list)
    for (u, v), c in zip(ends, w, strict=True):
        roads[u].append((v, c))
        roads[v].append((u, c))
    return roads


@program(array(7, low=0.3, high=3.0))
def path_by_a_star(w):
    roads, left = roads_of(w), {0: 0.5, 1: 0.4, 2: 0.2, 3: 0.1, 4: 0.0}
    came, cost, frontier = {0: None}, {0: 0.0}, [(0.0, 0)]
    while frontier:
        _, u = heapq.heappop(frontier)
        if u == 4:
            break
        for v, c in roads[u]:
            new = cost[u] + c
            if v not in cost or new < cost[v]:
                cost[v], came[v] = new, u
                heapq.heappush(frontier, (new + left[v], v))
    path, at = [], 4
    while at is not None:
        path.append(at)
        at = came[at]
    return cost[4] ** 2 + 0.1 * len(path) + sum(cost[p] for p in path)


@program(array(3, low=0.4, high=2.5), scalar(0.4, 0.7))
def turns_at_the_processor(work, quantum):
    queue, t, finish = deque(enumerate(work)), 0.0, {}
    while queue:
        job, left = queue.popleft()
        run = min(left, quantum)
        t += run
        if left - run > 1e-9:
            queue.append((job, left - run))
        else:
            finish[job] = t
    return sum(finish.values()) + finish[0] ** 2


@program(array(3, 3, low=0.0, high=1.0))
def engaged_couples(score):
    n = len(score)
    liked = [sorted(range(n), key=lambda j: -score[i, j]) for i in range(n)]
    engaged, free, asked = {}, list(range(n)), [0] * n
    while free:
        i = free.pop()
        j = liked[i][asked[i]]
        asked[i] += 1
        if j not in engaged:
            engaged[j] = i
        elif score[i, j] > score[engaged[j], j]:
            free.append(engaged[j])
            engaged[j] = i
        else:
            free.append(i)
    return sum(score[i, j] ** 2 for j, i in engaged.items())


@program(array(4, low=-2.0, high=4.0))
def tallies_of_signs(x):
    tally, seen = defaultdict(float), Counter()
    for v in x:
        key = "up" if v > 0.0 else "down"
        tally[key] += v * v
        seen[key] += 1
    return sum(tally[k] / seen[k] for k in sorted(tally)) + seen.most_common(1)[0][1]


@program(array(4, low=0.2, high=0.9))
def colours_by_greed(w):
    near, colour = defaultdict(set), {}
    for (a, b), c in zip([(0, 1), (1, 2), (2, 3), (0, 3)], w, strict=True):
        if c > 0.5:
            near[a].add(b)
            near[b].add(a)
    for v in range(4):
        used = {colour[u] for u in near[v] if u in colour}
        colour[v] = next(c for c in itertools.count() if c not in used)
    return sum(colour[v] * w[v] for v in range(4)) + w[0] * len(set(colour.values()))


@program(array(4, 2, low=0.0, high=3.0))
def tree_by_prim(p):
    inside, outside, total = {0}, set(range(1, len(p))), 0.0
    while outside:
        d, j = min((math.dist(p[i], p[j]), j) for i in inside for j in outside)
        total += d
        inside.add(j)
        outside.remove(j)
    return total


class Branch:
    __slots__ = ("key", "left", "right")

    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def insert(self, key):
        side = "left" if key < self.key else "right"
        if getattr(self, side) is None:
            setattr(self, side, Branch(key))
        else:
            getattr(self, side).insert(key)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right


@program(array(3, low=0.0, high=3.0))
def search_tree_in_order(x):
    root = Branch(x[0])
    for v in x[1:]:
        root.insert(v)
    return sum((k + 1) * v for k, v in enumerate(root))


class Ring:
    def __init__(self, value, after=None):
        self.value, self.after = value, after


class Necklace:
    def __init__(self, values):
        self.head = None
        for v in values:
            self.head = Ring(v, self.head)

    def __iter__(self):
        at = self.head
        while at is not None:
            yield at.value
            at = at.after

    def drop(self, unwanted):
        before = at = Ring(None, self.head)
        while at.after:
            if unwanted(at.after.value):
                at.after = at.after.after
            else:
                at = at.after
        self.head = before.after


@program(array(4, low=-2.0, high=3.0))
def necklace_without_negatives(x):
    necklace = Necklace(x)
    necklace.drop(lambda v: v < 0.0)
    return sum(v * (k + 1) for k, v in enumerate(necklace)) + x[0]


class Formula:
    """expr: term {+- term}, term: factor {*/ factor}, factor: atom [^ factor]"""

    def __init__(self, text, names):
        self.words = re.findall(r"\d+\.?\d*|\w+|[-+*/()^]", text)
        self.at, self.names = 0, names

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else None

    def eat(self):
        self.at += 1
        return self.words[self.at - 1]

    def expr(self):
        v = self.term()
        while self.peek() in ("+", "-"):
            v = v + self.term() if self.eat() == "+" else v - self.term()
        return v

    def term(self):
        v = self.factor()
        while self.peek() in ("*", "/"):
            by_product = self.eat() == "*"
            r = self.factor()
            v = v * r if by_product else v / r
        return v

    def factor(self):
        base = self.atom()
        if self.peek() == "^":
            self.eat()
            return base ** self.factor()
        return base

    def atom(self):
        word = self.eat()
        if word == "-":
            return -self.factor()
        if word[0].isdigit():
            return float(word)
        if word != "(" and self.peek() != "(":
            return self.names[word]
        if word != "(":
            self.eat()
        v = self.expr()
        self.eat()
        return v if word == "(" else getattr(math, word)(v)


@program(scalar(0.5, 2.0), scalar(1.0, 3.0))
def formula_by_descent(x, y):
    return Formula("x*(y + 3)^2 - sin(x)/y", {"x": x, "y": y}).expr()


def smooth(values, a):
    s = None
    for v in values:
        s = v if s is None else a * v + (1 - a) * s
        yield s


def clipped(values, low, high):
    yield from (min(max(v, low), high) for v in values)


def neighbours(values):
    values = iter(values)
    before = next(values)
    for v in values:
        yield before, v
        before = v


@program(array(5, low=0.6, high=1.9), scalar(0.3, 0.9))
def readings_in_a_pipeline(x, a):
    readings = (v * 1.5 for v in x)
    return sum((b - c) ** 2 for b, c in neighbours(clipped(smooth(readings, a), 0.5, 3.0)))


class Poly:
    def __init__(self, *c):
        self.c = list(c)

    def __call__(self, x):
        return functools.reduce(lambda s, c: s * x + c, reversed(self.c), 0.0)

    def __add__(self, o):
        return Poly(*(a + b for a, b in itertools.zip_longest(self.c, o.c, fillvalue=0.0)))

    def __mul__(self, o):
        out = [0.0] * (len(self.c) + len(o.c) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(self.c), enumerate(o.c)):
            out[i + j] += a * b
        return Poly(*out)

    def __pow__(self, n):
        return functools.reduce(operator.mul, [self] * n, Poly(1.0))

    def slope(self):
        return Poly(*(k * c for k, c in enumerate(self.c) if k))


@program(array(3, low=-1.0, high=2.0), scalar(0.3, 1.2))
def powers_of_polynomials(c, x):
    p = Poly(*c)
    return (p**3 + p.slope() * Poly(0.5, 1.0))(x)


def spread(first, *rest):
    return first - sum(rest) / (1 + len(rest))


@program(scalar(0.3, 4.0))
def calls_with_all_that_grew(x):
    parts = [x]
    while parts[-1] < 6.0:
        parts.append(parts[-1] * 1.9)
    return spread(*parts) + max(*parts, 0.0) + spread(2.0, *parts, x)


@program(array(3, low=-2.0, high=3.0))
def floats_that_are_sorted(x):
    values = list(map(float, x))
    values.sort(key=lambda v: -v)
    return sum(w * v for w, v in zip(map(float, range(1, 4)), values, strict=True))


@program(array(4, low=0.5, high=3.0))
def medians_as_they_come(x):
    ordered, out = [], []
    for v in x:
        bisect.insort(ordered, v)
        h = len(ordered) // 2
        out.append(ordered[h] if len(ordered) % 2 else (ordered[h - 1] + ordered[h]) / 2)
    return sum((k + 1) * m for k, m in enumerate(out))


@dataclass(order=True)
class Event:
    time: float
    kind: str = field(compare=False)


@program(array(4, low=0.1, high=1.5), scalar(0.4, 1.2))
def customers_at_a_counter(gaps, service):
    events, waiting, busy, waits = [], deque(), False, 0.0
    for t in itertools.accumulate(gaps):
        heapq.heappush(events, Event(t, "arrive"))
    while events:
        e = heapq.heappop(events)
        if e.kind == "arrive":
            waiting.append(e.time)
        else:
            busy = False
        if waiting and not busy:
            waits += (e.time - waiting.popleft()) ** 2 + 0.1 * e.time
            busy = True
            heapq.heappush(events, Event(e.time + service, "leave"))
    return waits


@program(array(4, low=9.0, high=11.0), array(4, low=0.5, high=3.0))
def crossing_of_orders(prices, sizes):
    bids, asks, gained = [], [], 0.0
    for k, (p, q) in enumerate(zip(prices, sizes, strict=True)):
        heapq.heappush(bids if k % 2 else asks, (-p if k % 2 else p, q))
        while bids and asks and -bids[0][0] >= asks[0][0]:
            (bp, bq), (ap, aq) = heapq.heappop(bids), heapq.heappop(asks)
            traded = min(bq, aq)
            gained += traded * (-bp - ap)
            if bq > traded:
                heapq.heappush(bids, (bp, bq - traded))
            if aq > traded:
                heapq.heappush(asks, (ap, aq - traded))
    return gained + sum(q for _, q in bids) - sum(p * q for p, q in asks)


class Quat(NamedTuple):
    w: float
    x: float
    y: float
    z: float

    def __mul__(self, o):
        return Quat(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )

    def unit(self):
        n = math.sqrt(sum(c * c for c in self))
        return self._replace(**{k: getattr(self, k) / n for k in self._fields})


@program(array(3, low=-1.0, high=1.0))
def spin_by_quaternions(omega):
    q = Quat(1.0, 0.0, 0.0, 0.0)
    for _ in range(5):
        q = Quat(*(a + 0.05 * b for a, b in zip(q, Quat(0.0, *omega) * q, strict=True))).unit()
    turned = q * Quat(0.0, 1.0, 0.0, 0.0) * Quat(q.w, -q.x, -q.y, -q.z)
    return turned.x + 2.0 * turned.y + 3.0 * turned.z


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

    def __lt__(self, other):
        return self.area() < other.area()


@dataclass
class Disc(Shape):
    r: float

    def area(self):
        return math.pi * self.r**2


@dataclass
class Tile(Shape):
    w: float
    h: float

    def area(self):
        return self.w * self.h


@program(scalar(0.2, 1.5), scalar(0.2, 2.5))
def shapes_by_size(a, b):
    shapes = [Disc(a), Tile(a, b), Tile(b, b)]
    ranked = sum(k * s.area() for k, s in enumerate(sorted(shapes), 1))
    return ranked + {Disc: 2.0, Tile: 3.0}[type(max(shapes))] * max(shapes).area()


class Rollback:
    def __init__(self, account):
        self.account = account

    def __enter__(self):
        self.saved = dict(self.account)
        return self.account

    def __exit__(self, kind, error, where):
        if kind is ValueError:
            self.account.clear()
            self.account.update(self.saved)
            return True
        return False


@program(scalar(2.0, 9.0), scalar(2.5, 3.5))
def purchases_that_are_taken_back(cash, price):
    account = {"cash": cash, "units": 0.0}
    for k in range(3):
        with Rollback(account) as a:
            a["cash"] -= price * (1 + 0.1 * k)
            a["units"] += 1 + 0.5 * k
            if a["cash"] < 0.0:
                raise ValueError("broke")
    return account["cash"] ** 2 + account["units"] * price


@program(scalar(0.5, 1.5), scalar(0.2, 0.9))
def accepted_steps(a, b):
    t, y, h, accepted = 0.0, 0.5, 0.3, []
    while t < 2.0:
        h = min(h, 2.0 - t)
        k1 = a * y - b * y * y
        k2 = a * (y + h * k1) - b * (y + h * k1) ** 2
        if abs(h * (k2 - k1) / 2) < 0.01:
            t, y = t + h, y + h * (k1 + k2) / 2
            accepted.append((t, y))
            h *= 1.3
        else:
            h *= 0.5
    return y + np.mean([v * v for _, v in accepted])
