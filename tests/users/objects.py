"""Which programs do people write who know all of Python, its classes above all?"""

import functools
import itertools
import math
import operator
import types
from collections import OrderedDict, defaultdict
from contextlib import ExitStack, contextmanager, nullcontext

import numpy as np
from scipy.special import logsumexp

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


NEG = -1e30


def log_add(*xs):
    m = max(xs)
    if m <= NEG:
        return NEG
    return m + math.log(sum(math.exp(x - m) for x in xs))


@program(array(4, 4, low=-1.0, high=1.0), truth="differences")
def ctc_forward(logits):
    labels = [1, 2]
    logp = logits - logsumexp(logits, axis=1, keepdims=True)
    ext = [0]
    for l in labels:
        ext += [l, 0]
    S, T = len(ext), len(logp)
    alpha = np.full((T, S), NEG)
    alpha[0, 0] = logp[0, 0]
    alpha[0, 1] = logp[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            paths = [alpha[t - 1, s]]
            if s > 0:
                paths.append(alpha[t - 1, s - 1])
            if s > 1 and ext[s] != 0 and ext[s] != ext[s - 2]:
                paths.append(alpha[t - 1, s - 2])
            alpha[t, s] = log_add(*paths) + logp[t, ext[s]]
    return -log_add(alpha[-1, -1], alpha[-1, -2])


@program(array(5, low=0.01, high=0.05), scalar(0.02, 0.06), truth="differences")
def yield_curve_bootstrap(par_rates, spread):
    tenors = [1, 2, 3, 4, 5]
    dfs = {0: 1.0}
    for T, c in zip(tenors, par_rates):
        annuity = sum(dfs[t] for t in range(1, T))
        dfs[T] = (1 - c * annuity) / (1 + c)

    def df(t):
        if t in dfs:
            return dfs[t]
        lo = max(k for k in dfs if k <= t)
        hi = min(k for k in dfs if k >= t)
        w = (t - lo) / (hi - lo)
        return math.exp((1 - w) * math.log(dfs[lo]) + w * math.log(dfs[hi]))

    cash = [(0.5 * k, 2.5 + 100 * (k == 9)) for k in range(1, 10)]
    return sum(cf * df(t) * math.exp(-spread * t) for t, cf in cash)


@program(array(3), scalar(0.5, 2.0), truth="differences")
def metropolis_free_energy(field, beta):
    """All states of a small Ising ring, with memo."""
    n = len(field)
    states = list(itertools.product((-1, 1), repeat=n))

    def energy(s):
        return -sum(s[i] * s[(i + 1) % n] for i in range(n)) - sum(
            h * si for h, si in zip(field, s)
        )

    weights = {s: math.exp(-beta * energy(s)) for s in states}
    Z = sum(weights.values())
    m = sum(w * abs(sum(s)) for s, w in weights.items()) / Z / n
    return -math.log(Z) / beta + m


def det(m):
    if len(m) == 1:
        return m[0][0]
    return sum(
        (-1) ** c * m[0][c] * det([row[:c] + row[c + 1 :] for row in m[1:]]) for c in range(len(m))
    )


@program(array(3, 3), truth="differences")
def det_lists(A):
    return det([list(r) for r in A])


class Node:
    def __init__(self, value, children=()):
        self.value, self.children = value, list(children)

    def fold(self, f):
        return f(self.value, [c.fold(f) for c in self.children])

    def __iter__(self):
        yield self
        for c in self.children:
            yield from c


@program(array(6), truth="differences")
def nary_tree(v):
    leaf = Node(v[3])
    root = Node(v[0], [Node(v[1], [leaf, Node(v[4])]), Node(v[2], [Node(v[5])])])
    leaf.value *= 2.0
    total = root.fold(lambda x, cs: math.tanh(x + sum(cs)))
    return total + sum(n.value**2 * len(n.children) for n in root)


def adaptive(f, a, b, tol, depth=0):
    m = 0.5 * (a + b)
    whole = (b - a) * f(m)
    halves = 0.5 * (b - a) * (f(0.5 * (a + m)) + f(0.5 * (m + b)))
    if abs(whole - halves) < tol or depth > 12:
        return halves
    return adaptive(f, a, m, tol / 2, depth + 1) + adaptive(f, m, b, tol / 2, depth + 1)


@program(scalar(0.5, 2.0), scalar(1.0, 2.0))
def adaptive_quad(k, b):
    return adaptive(lambda t: math.exp(-k * t) * math.cos(3 * k * t), 0.0, b, 1e-4)


class Box:
    def __init__(self, v):
        self.v = v


@program(scalar(0.5, 1.5), scalar(0.5, 1.5), truth="differences")
def two_equal_boxes(x, y):
    a, b = Box(x), Box(x)
    c = a
    a.v = a.v * y
    if y > 0.0:
        b.v += 1.0
    return c.v * b.v + (a is c) - (a is b)


@program(array(4), truth="differences")
def dict_ops(x):
    d = defaultdict(list)
    for k, v in enumerate(x):
        d["ab"[k % 2]].append(v)
    e = {k: sum(v) for k, v in d.items()}
    e.update(c=e["a"] * e["b"])
    e.setdefault("d", x[0])
    e["a"] += e.pop("d")
    o = OrderedDict(sorted(e.items()))
    o.move_to_end("a")
    merged = {**o, "z": 2.0} | {"b": x[3]}
    return functools.reduce(operator.mul, merged.values()) + len(set(merged) & {"a", "q"})


def counter(start, step):
    v = start
    while True:
        got = yield v
        v = v + step if got is None else got


@program(scalar(0.5, 1.5), scalar(0.1, 0.5), truth="differences")
def generator_send(a, b):
    g = counter(a, b)
    s = next(g) + next(g)
    s += g.send(a * b)
    for v in itertools.islice(g, 4):
        s += v * v
    g.close()
    return s


class Poly:
    def __init__(self, *c):
        self.c = list(c)

    def __call__(self, x):
        return functools.reduce(lambda acc, a: acc * x + a, reversed(self.c), 0.0)

    def __add__(self, o):
        return Poly(*(a + b for a, b in itertools.zip_longest(self.c, o.c, fillvalue=0.0)))

    def __matmul__(self, o):
        r = [0.0] * (len(self.c) + len(o.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(o.c):
                r[i + j] += a * b
        return Poly(*r)

    @property
    def degree(self):
        return len(self.c) - 1

    @functools.cached_property
    def derivative(self):
        return Poly(*[k * a for k, a in enumerate(self.c)][1:])

    @classmethod
    def from_roots(cls, roots):
        return functools.reduce(operator.matmul, (cls(-r, 1.0) for r in roots))

    @staticmethod
    def norm(p):
        return math.sqrt(sum(a * a for a in p.c))

    def __getitem__(self, k):
        return self.c[k] if k <= self.degree else 0.0

    def __len__(self):
        return len(self.c)

    def __bool__(self):
        return len(self.c) > 0

    def __iter__(self):
        return iter(self.c)

    def __contains__(self, k):
        return 0 <= k <= self.degree


@program(array(4), scalar(0.5, 1.5), truth="differences")
def callable_objects(r, x):
    p = Poly.from_roots(r)
    q = p + Poly(x, x * x)
    return (
        q(0.3) * p.derivative(x)
        + Poly.norm(q)
        + sum(q) * (3 in q)
        + (q[7] if q else 1.0)
        + p.derivative.degree
    )


@program(scalar(0.5, 1.5), scalar(0.5, 1.5), truth="differences")
def walrus_match(x, y):
    if (n := x * y) > 1.0:
        n *= 2
    vals = [last := v * n for v in (x, y, 3.0)]

    def area(s):
        match s:
            case ("circle", r):
                return math.pi * r**2
            case {"kind": "rect", "w": w, "h": h, **rest}:
                return w * h + len(rest)
            case [a, b, *others] if a > b:
                return a - b + sum(others)
            case [a, b, *_]:
                return b - a
            case (float() | int()) as k:
                return k
            case Poly(c=[c0, *_]):
                return c0
            case None | "":
                return 0.0
            case _:
                raise TypeError(f"unknown shape {s!r}")

    return (
        sum(
            map(
                area,
                [
                    ("circle", x),
                    {"kind": "rect", "w": x, "h": y, "z": 1},
                    [x, y, n],
                    Poly(y, 1.0),
                    None,
                ],
            )
        )
        + last
        + sum(vals)
    )


class Timer:
    def __init__(self):
        self.total, self.depth = 0.0, 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, et, ev, tb):
        self.depth -= 1
        self.total += 1.0
        return et is ZeroDivisionError

    def add(self, v):
        self.total += v


@contextmanager
def scaled(obj, name, factor):
    old = getattr(obj, name)
    setattr(obj, name, old * factor)
    try:
        yield obj
    finally:
        setattr(obj, name, old)


@program(scalar(0.5, 1.5), scalar(0.5, 1.5), truth="differences")
def with_managers(x, y):
    t = Timer()
    p = types.SimpleNamespace(k=x, m=y)
    with t as u, scaled(p, "k", 3.0) as q:
        u.add(q.k * y)
        with scaled(p, "m", x):
            u.add(p.m)
    with t:
        raise ZeroDivisionError
    with ExitStack() as stack:
        stack.callback(lambda: t.add(x))
        v = stack.enter_context(nullcontext(y))
    try:
        try:
            raise KeyError("a")
        except (KeyError, ValueError) as e:
            t.add(len(e.args) * x)
        else:
            t.add(100.0)
        finally:
            t.add(y)
    except Exception:
        t.add(1000.0)
    return t.total * p.k + p.m * v + t.depth


@program(array(5), scalar(0.5, 1.5), truth="differences")
def nonlocal_items(x, s):
    total, log = 0.0, {"n": 0}
    obj = types.SimpleNamespace(acc=np.zeros(5), best=None)

    def visit(v):
        nonlocal total
        total = total * 0.9 + v * s
        log["n"] += 1
        obj.acc[log["n"] - 1 :] += v
        if obj.best is None or v > obj.best:
            obj.best = v

    for v in x:
        visit(v)
    total, obj.best = obj.best, total
    return total * log["n"] + obj.acc @ x + obj.best


@program(array(6), array(6), truth="differences")
def aliased_args(x, y):
    def saxpy(a, u, v):
        v += a * u

    z = np.concatenate((x, y))
    lo, hi = z[:6], z[6:]
    saxpy(2.0, lo, hi)
    saxpy(lo[0], hi, hi)
    saxpy(0.5, z[3:9], z[2:8])
    old = lo
    lo = lo * 2
    old[0] = 7.0
    holder = {"buf": z}
    holder["buf"][1:3] = holder["buf"][2:4]
    a = b = z[4:6]
    a -= 1
    b *= a
    return z.sum() + lo @ hi


@program(array(5), truth="differences")
def overwritten_needed(x):
    y = x.copy()
    for _ in range(4):
        y[1:] = np.sin(y[:-1]) * y[1:]
        y[0] = y[-1] ** 2
        y[:] = y[::-1]
        y *= y
    t = np.empty_like(y)
    np.exp(-y, out=t)
    y, t = t, y
    t[...] = np.sqrt(1 + y)
    s = y.sum()
    y.fill(0.0)
    return s + t.sum() + y[0]
