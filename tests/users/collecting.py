"""Which programs do people write that collect as they go, visit, send and call themselves?"""

import functools
import itertools
import math
from dataclasses import dataclass

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


@program(np.array([0.2, 0.5, -0.1, 0.4, 0.9, -0.3]), truth="differences")
def runs_of_sign(x):
    runs = [[x[0]]]
    for prev, v in itertools.pairwise(x):
        if (v > 0) == (prev > 0):
            runs[-1].append(v)
        else:
            runs.append([v])
    return sum(sum(r) ** 2 / len(r) for r in runs)


@program(np.array([0.2, 0.5, -0.1, 0.4, 0.9, -0.3]), truth="differences")
def lines_broken_at_width(w):
    lines, width = [[]], 0.0
    for v in w:
        if width + abs(v) > 1.0:
            lines.append([])
            width = 0.0
        lines[-1].append(v)
        width += abs(v)
    return sum((1.0 - sum(abs(v) for v in line)) ** 2 for line in lines)


@program(0.3, 1.1, truth="differences")
def trajectory_transposed(k, v):
    rows, t, x = [], 0.0, 0.0
    while x < 1.0:
        rows.append((t, x, v))
        x += 0.2 * v
        v -= 0.05 * k * x
        t += 0.2
    ts, xs, vs = zip(*rows)
    return sum(a * b for a, b in zip(xs, vs)) + max(ts) + min(vs)


class Expr:
    def __add__(self, o):
        return Add(self, lift(o))

    def __mul__(self, o):
        return Mul(self, lift(o))

    __radd__ = __add__
    __rmul__ = __mul__

    def accept(self, visitor):
        return getattr(visitor, "visit_" + type(self).__name__.lower())(self)


def lift(v):
    return v if isinstance(v, Expr) else Const(v)


@dataclass(frozen=True)
class Const(Expr):
    value: float


@dataclass(frozen=True)
class Sym(Expr):
    name: str


@dataclass(frozen=True)
class Add(Expr):
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Mul(Expr):
    left: Expr
    right: Expr


class Evaluator:
    def __init__(self, **env):
        self.env = env

    def visit_const(self, e):
        return e.value

    def visit_sym(self, e):
        return self.env[e.name]

    def visit_add(self, e):
        return e.left.accept(self) + e.right.accept(self)

    def visit_mul(self, e):
        return e.left.accept(self) * e.right.accept(self)


class Differ:
    def __init__(self, by):
        self.by = by

    def visit_const(self, e):
        return Const(0.0)

    def visit_sym(self, e):
        return Const(1.0 if e.name == self.by else 0.0)

    def visit_add(self, e):
        return e.left.accept(self) + e.right.accept(self)

    def visit_mul(self, e):
        return e.left.accept(self) * e.right + e.left * e.right.accept(self)


@program(0.8, 1.2, truth="differences")
def symbolic_by_visitors(a, b):
    x, y = Sym("x"), Sym("y")
    e = a * x * x + y * (x + b)
    return e.accept(Differ("x")).accept(Evaluator(x=b, y=a)) + e.accept(Evaluator(x=a, y=2.0))


def coroutine(f):
    @functools.wraps(f)
    def start(*a, **k):
        g = f(*a, **k)
        next(g)
        return g

    return start


@coroutine
def averager(target, alpha):
    mean = 0.0
    while True:
        x = yield
        mean += alpha * (x - mean)
        target.send(mean)


@coroutine
def collector(out):
    while True:
        out.append((yield))


@program(0.4, np.array([0.3, 0.9, -0.2]), truth="differences")
def coroutine_pipeline(alpha, x):
    out = []
    chain = averager(averager(collector(out), alpha), 0.5 * alpha)
    for v in x:
        chain.send(v)
    chain.close()
    return sum(o * o for o in out) + len(out)


class Joint:
    def __init__(self, length, parent=None):
        self.length, self.parent, self.angle = length, parent, 0.0

    @property
    def heading(self):
        return self.angle + (self.parent.heading if self.parent else 0.0)

    @property
    def tip(self):
        x, y = self.parent.tip if self.parent is not None else (0.0, 0.0)
        return x + self.length * math.cos(self.heading), y + self.length * math.sin(self.heading)


@program(np.array([0.3, 0.5, -0.2]), 0.9, truth="differences")
def arm_by_ccd(angles, target):
    joints = []
    for k, a in enumerate(angles):
        joints.append(Joint(1.0 / (k + 1), joints[-1] if joints else None))
        joints[-1].angle = a
    for _sweep in range(3):
        for j in reversed(joints):
            bx, by = j.parent.tip if j.parent else (0.0, 0.0)
            tx, ty = joints[-1].tip
            j.angle += math.atan2(target - by, 1.0 - bx) - math.atan2(ty - by, tx - bx)
    x, y = joints[-1].tip
    return (x - 1.0) ** 2 + (y - target) ** 2 + sum(j.angle for j in joints)


@program(np.array([[0.0, 0.0], [0.3, 1.2], [1.1, 0.9], [1.5, -0.1]]), truth="differences")
def flatten_bezier(pts):
    def split(p, depth=0):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = p
        flat = abs(x0 - 2 * x1 + x2) + abs(y1 - 2 * y2 + y3)
        if flat < 0.3 or depth > 5:
            return math.hypot(x3 - x0, y3 - y0)
        mid = lambda a, b: ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        a, b, c = mid(p[0], p[1]), mid(p[1], p[2]), mid(p[2], p[3])
        d, e = mid(a, b), mid(b, c)
        f = mid(d, e)
        return split([p[0], a, d, f], depth + 1) + split([f, e, c, p[3]], depth + 1)

    return split([tuple(p) for p in pts])
