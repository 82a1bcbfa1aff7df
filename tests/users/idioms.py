"""Which idioms of Python do programs of numbers use: classes, protocols, decorators, contexts?"""

import abc
import contextlib
import functools
import itertools
import math
import types
from dataclasses import dataclass, field
from enum import Flag, IntEnum, auto
from typing import TypedDict

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


class Kernel(abc.ABC):
    registry: dict = {}

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Kernel.registry[cls.__name__.lower()] = cls

    @abc.abstractmethod
    def __call__(self, a, b): ...
    def __add__(self, other):
        return SumKernel(self, other)

    def __mul__(self, s):
        return Scaled(self, s)

    __rmul__ = __mul__


class RBF(Kernel):
    def __init__(self, length):
        self.length = length

    def __call__(self, a, b):
        return math.exp(-0.5 * ((a - b) / self.length) ** 2)


class Linear(Kernel):
    def __call__(self, a, b):
        return a * b


class SumKernel(Kernel):
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, a, b):
        return sum(p(a, b) for p in self.parts)


class Scaled(Kernel):
    def __init__(self, k, s):
        self.k, self.s = k, s

    def __call__(self, a, b):
        return self.s * self.k(a, b)


@program(scalar(0.5, 1.0), scalar(0.1, 0.5), array(4), truth="differences")
def kernel_algebra(length, scale, xs):
    k = Kernel.registry["rbf"](length) + scale * Linear()
    K = np.array([[k(a, b) for b in xs] for a in xs]) + 0.1 * np.eye(len(xs))
    return np.linalg.slogdet(K)[1]


@functools.singledispatch
def area(shape):
    raise NotImplementedError(type(shape).__name__)


@dataclass(slots=True, frozen=True)
class Circle:
    r: float


@dataclass(slots=True, frozen=True)
class Rect:
    w: float
    h: float = 1.0


@area.register
def _(shape: Circle):
    return math.pi * shape.r**2


@area.register(Rect)
def _(shape):
    return shape.w * shape.h


@program(scalar(0.5, 1.0), scalar(0.5, 1.0), truth="differences")
def single_dispatch(r, w):
    return sum(map(area, [Circle(r), Rect(w), Rect(h=r, w=w)]))


class Interval:
    def __init__(self, lo, hi=None):
        self.lo, self.hi = (lo, lo) if hi is None else (lo, hi)

    def __add__(self, o):
        return Interval(self.lo + o.lo, self.hi + o.hi)

    def __mul__(self, o):
        ps = [a * b for a in (self.lo, self.hi) for b in (o.lo, o.hi)]
        return Interval(min(ps), max(ps))

    def __contains__(self, x):
        return self.lo <= x <= self.hi

    @property
    def width(self):
        return self.hi - self.lo

    def __repr__(self):
        return f"[{self.lo}, {self.hi}]"


@program(scalar(0.5, 1.0), scalar(0.1, 0.3), truth="differences")
def interval_arithmetic(x, e):
    i = Interval(x - e, x + e)
    j = i * i + i * Interval(-2.0, 1.0)
    return j.width + (j.hi if 0.0 in j else j.lo)


class Polynomial:
    def __init__(self, *c):
        self.c = list(c)

    def __call__(self, x):
        return functools.reduce(lambda acc, k: acc * x + k, reversed(self.c), 0.0)

    def __mul__(self, o):
        out = [0.0] * (len(self) + len(o) - 1)
        for i, a in enumerate(self):
            for j, b in enumerate(o):
                out[i + j] += a * b
        return Polynomial(*out)

    def __pow__(self, n):
        out = Polynomial(1.0)
        for _ in range(n):
            out = out * self
        return out

    def __len__(self):
        return len(self.c)

    def __iter__(self):
        return iter(self.c)

    def __getitem__(self, k):
        return self.c[k]

    def deriv(self):
        return Polynomial(*[k * a for k, a in enumerate(self.c)][1:])


@program(array(3), scalar(0.5, 1.0), truth="differences")
def polynomial_class(c, x):
    p = Polynomial(*c) ** 3
    return p(x) + p.deriv()(0.5 * x) + p[2]


class RunningConfig(TypedDict, total=False):
    lr: float
    steps: int
    momentum: float


DEFAULTS: RunningConfig = {"lr": 0.1, "steps": 5, "momentum": 0.0}


def train(theta, **overrides):
    cfg = DEFAULTS | overrides
    v = np.zeros_like(theta)
    for _ in range(cfg["steps"]):
        g = 2 * theta + np.cos(theta)
        v = cfg["momentum"] * v - cfg["lr"] * g
        theta = theta + v
    return theta


@program(array(3), scalar(0.05, 0.2), truth="differences")
def config_overrides(theta, lr):
    return np.sum(train(theta, lr=lr, momentum=0.9) ** 2) + train(theta, steps=2)[0]


@contextlib.contextmanager
def scaled(obj, s):
    old = obj.scale
    obj.scale = old * s
    try:
        yield obj
    finally:
        obj.scale = old


@program(scalar(0.5, 1.0), scalar(1.5, 2.0), truth="differences")
def context_scaling(x, s):
    o = types.SimpleNamespace(scale=1.0)
    with scaled(o, s) as a, scaled(o, x):
        inner = a.scale
        with contextlib.suppress(KeyError):
            {}["no"]
    with contextlib.ExitStack() as stack:
        stack.enter_context(scaled(o, x))
        inner += o.scale
    return inner * o.scale + x


def primes():
    seen = []
    for n in itertools.count(2):
        if all(n % p for p in seen):
            seen.append(n)
            yield n


@program(scalar(1.5, 3.0), truth="differences")
def euler_product(s):
    return math.prod(1 / (1 - p**-s) for p in itertools.islice(primes(), 10))


def memoised(fn):
    cache = {}

    @functools.wraps(fn)
    def inner(*key):
        if key not in cache:
            cache[key] = fn(*key)
        return cache[key]

    inner.cache = cache
    return inner


@program(array(5, low=0.5, high=1.5), truth="differences")
def matrix_chain_memo(c):
    dims = [2, 3, 1, 4, 2, 3]

    @memoised
    def best(i, j):
        if i == j:
            return 0.0
        return min(
            best(i, k) + best(k + 1, j) + c[k] * dims[i] * dims[k + 1] * dims[j + 1]
            for k in range(i, j)
        )

    v = best(0, 4)
    return v + 0.01 * len(best.cache)


class Permission(Flag):
    R = auto()
    W = auto()


class Level(IntEnum):
    LOW = 1
    HIGH = 3

    @property
    def weight(self):
        return 0.5 * self


@program(scalar(0.5, 1.0), truth="differences")
def enum_members(x):
    w = {Level.LOW: x, Level.HIGH: x * x}
    p = Permission.R | Permission.W
    s = sum(v * k.weight**k for k, v in w.items())
    if Permission.W in p:
        s *= Level["HIGH"]
    return s + Level(1) * math.sin(x)


@program(scalar(0.5, 1.0), scalar(0.5, 1.0), truth="differences")
def nonlocal_and_closures(x, y):
    def counter(start):
        n = start

        def bump(by=1):
            nonlocal n
            n += by
            return n

        return bump

    c, d = counter(x), counter(0)
    fs = [lambda z, k=k: z * k * c() for k in range(3)]
    total = sum(f(y) for f in fs)
    d()
    d(5)
    (last := c(y))
    return total * d() + last


@dataclass
class Particle:
    pos: np.ndarray
    vel: np.ndarray
    mass: float = 1.0
    history: list = field(default_factory=list)

    def kick(self, f, dt):
        self.vel = self.vel + f / self.mass * dt
        return self

    def drift(self, dt):
        self.pos = self.pos + self.vel * dt
        self.history.append(self.pos[0])
        return self


class World:
    gravity = -9.81

    def __init__(self, particles, springs):
        self.particles = particles
        self.springs = springs
        self.time = 0.0

    def forces(self):
        fs = [np.array([0.0, self.gravity * p.mass]) for p in self.particles]
        for (i, j), k in self.springs.items():
            a, b = self.particles[i], self.particles[j]
            d = b.pos - a.pos
            length = np.sqrt(np.sum(d * d))
            f = k * (length - 1.0) * d / length
            fs[i] += f
            fs[j] -= f
        return fs

    def step(self, dt):
        for p, f in zip(self.particles, self.forces()):
            p.kick(f, dt).drift(dt)
        self.time += dt


@program(array(3, 2, low=0.0, high=2.0), scalar(5.0, 10.0), scalar(0.5, 2.0), truth="differences")
def spring_world(x0, k, mass):
    ps = [Particle(x, np.zeros(2), mass=mass if i else 1.0) for i, x in enumerate(x0)]
    w = World(ps, {(0, 1): k, (1, 2): 0.5 * k, (0, 2): k})
    while w.time < 0.1:
        w.step(0.02)
    return sum(p.history[-1] * p.mass for p in w.particles) + ps[0].pos @ ps[1].vel
