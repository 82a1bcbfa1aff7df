"""Which programs do people write who like functions, classes and generators, all at once?"""

import contextlib
import enum
import functools
import math
import operator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.catalogue.entry import Catalogue

catalogue = Catalogue()
program = catalogue.add
FOUR = np.array([0.5, 1.5, 0.7, 2.03])


@dataclass
class Net:
    layers: list = field(default_factory=list)

    def add(self, f):
        self.layers.append(f)
        return self

    def __call__(self, x):
        for f in self.layers:
            x = f(x)
        return x

    def __len__(self):
        return len(self.layers)

    def __iter__(self):
        return iter(self.layers)

    def __getitem__(self, k):
        return self.layers[k]


@program(0.7, 1.3, truth="differences")
def network_of_closures(a, b):
    net = Net()
    for k in range(3):
        net.add(lambda x, k=k: math.tanh(a * x + k * b))
    t = net(0.3)
    for f in net:
        t += f(a)
    return t * len(net) + net[-1](b) + sum(f(b) for f in net[:2])


@program(0.7, truth="differences")
def tree_with_a_memo(x):
    tree = ("a", [("b", [("d", []), ("e", [])]), ("c", [("d", []), ("e", [("d", [])])])])
    memo = {}
    calls = 0

    def weight(node):
        nonlocal calls
        name, children = node
        if name == "d" and name in memo:
            return memo[name]
        calls += 1
        w = math.sin(x) * (1 + len(children)) + sum(weight(c) * x for c in children)
        memo[name] = w
        return w

    return weight(tree) + calls * x + sum(memo.values())


@program(np.array([1.0, -0.5, 2.0, 0.3]), truth="differences")
def reduced_generator(x):
    def squares(it):
        for v in it:
            if v > 0:
                yield v * v
            else:
                yield -v

    return functools.reduce(lambda a, b: a * 0.5 + math.sin(b), squares(x), 1.0)


class Op(NamedTuple):
    kind: str
    arg: float = 1.0


@program(0.3, 1.2, truth="differences")
def instructions_by_match(x, y):
    prog = [Op("add", y), Op("mul", x), Op("sin"), Op("pow", 2), Op("nop")]
    s = x
    for op in prog:
        match op:
            case Op("add", a):
                s = s + a
            case Op("mul", arg=a):
                s = s * a
            case Op("sin"):
                s = math.sin(s)
            case Op(kind="pow", arg=int(n)):
                s = s**n
            case _:
                pass
    return s


class Scale:
    def __init__(self, log, f):
        self.log, self.f = log, f

    def __enter__(self):
        self.log.append(self.f)
        return self

    def __exit__(self, *exc):
        self.log.pop()
        return False


@program(0.3, 1.2, truth="differences")
def scales_on_a_stack(x, y):
    log = []

    def cur(v):
        for f in log:
            v = f * v
        return v

    with Scale(log, x):
        a = cur(y)
        with Scale(log, y) as s:
            b = cur(x) * s.f
            if y > 0:
                b = b * 2
        c = cur(1.0)
    return a + b * c + cur(3.0)


def counted(f):
    n = 0

    @functools.wraps(f)
    def inner(*a, **k):
        nonlocal n
        n += 1
        inner.calls = n
        return f(*a, **k) * n

    return inner


@program(0.3, truth="differences")
def calls_that_are_counted(x):
    @counted
    def g(y):
        return y * y + x

    t = g(x) + g(t := 2 * x)
    while t < 5:
        t = t + g(t)
    return t * g.calls


class State:
    def __init__(self, y):
        self._y = y.copy()
        self.writes = 0

    @property
    def pos(self):
        return self._y[:2]

    @pos.setter
    def pos(self, v):
        self._y[:2] = v
        self.writes += 1

    @property
    def vel(self):
        return self._y[2:]

    @vel.setter
    def vel(self, v):
        self._y[2:] = v
        self.writes += 1


@program(np.array([1.0, 0.0, 0.1, 0.9]), truth="differences")
def halves_of_a_state(y):
    s = State(y)
    for _ in range(5):
        s.vel -= 0.1 * s.pos
        s.pos += 0.1 * s.vel
    return s._y @ s._y * s.writes + s.pos[0]


class Grid:
    def __init__(self, n, m):
        self.d = np.zeros((n, m))
        self.n, self.m = n, m

    def __getitem__(self, ij):
        i, j = ij
        return self.d[i % self.n, j % self.m]

    def __setitem__(self, ij, v):
        i, j = ij
        self.d[i % self.n, j % self.m] = v

    def __len__(self):
        return self.n * self.m

    def __iter__(self):
        for i in range(self.n):
            for j in range(self.m):
                yield (i, j), self[i, j]

    def __contains__(self, v):
        return bool(np.any(self.d == v))


@program(np.arange(6.0) * 0.3 + 0.1, truth="differences")
def periodic_grid(x):
    g = Grid(2, 3)
    for k in range(6):
        g[k // 3, k % 3] = x[k]
    h = Grid(2, 3)
    for (i, j), v in g:
        h[i, j] = g[i - 1, j] + g[i + 1, j] * v + g[i, j + 1]
    return sum(v * v for _, v in h) / len(h)


class Model:
    def __init__(self, a, b):
        self.a, self.b = a, b
        self.evals = 0

    @functools.cached_property
    def norm(self):
        self.evals += 1
        return math.sqrt(self.a**2 + self.b**2)

    def at(self, x, *, scale=1.0):
        return scale * x * self.a / self.norm


@program(0.3, 1.2, truth="differences")
def cached_property_and_bound_partial(a, b):
    m = Model(a, b)
    f = functools.partial(m.at, scale=b)

    @functools.cache
    def binom(n, k):
        return 1 if k in (0, n) else binom(n - 1, k - 1) + binom(n - 1, k)

    return f(2.0) + f(a) * m.norm + m.evals * sum(binom(5, k) * a**k for k in range(6))


class Phase(enum.Enum):
    COLD = 0
    WARM = 1
    HOT = 2

    @classmethod
    def of(cls, t):
        if t < 0.5:
            return cls.COLD
        return cls.HOT if t > 2.0 else cls.WARM

    @property
    def rate(self):
        return {Phase.COLD: 0.1, Phase.WARM: 1.0, Phase.HOT: 2.5}[self]


@program(0.3, truth="differences")
def phases_of_matter(t):
    p = Phase.of(t)
    out = p.rate * t
    if p is Phase.HOT:
        out -= t**3
    match p:
        case Phase.COLD:
            out += 1.0 * t
        case Phase.WARM | Phase.HOT:
            out += t * p.value
    return out + sum(q.value * t for q in Phase)


class Stop(Exception):
    def __init__(self, v):
        self.v = v


@program(0.9, truth="differences")
def search_left_by_an_exception(x):
    def search(y, depth):
        if depth > 6:
            raise Stop(y * 2)
        if y > 4.0:
            raise Stop(y * y)
        search(y * 1.5, depth + 1)

    try:
        search(x, 0)
    except Stop as s:
        return s.v
    else:
        return 0.0
    finally:
        pass


@program(np.array([[1.0, 2.0, -3.0], [0.3, -0.1, 2.0]]), 0.1, truth="differences")
def first_negative_found(a, b):
    def find(a):
        for i in range(a.shape[0]):
            for j, v in enumerate(a[i]):
                if v < 0:
                    while v < 2:
                        v = v * -1.5 + b
                        if v > 1:
                            return v, (i, j)
        return 0.0, None

    v, where = find(a)
    if where is None:
        return v
    i, j = where
    return v * a[i, j] + i


@program(np.array([1.0, 2.0, -3.0, 4.0]), truth="differences")
def stars_everywhere(x):
    a, *b, c = x
    first, (second, *rest) = 1.0, [a, *b]
    d = {"p": a, "q": c, "r": second}

    def f(*args, p=0.0, **kw):
        return sum(args) * p + kw["q"] * kw["r"]

    l = [*rest, *(v * v for v in b), c]
    return f(*l, *b, **d) + first


@program(0.3, "quad", truth="differences")
def reverse_polish(x, kind):
    table = {"quad": lambda x: x * x, "cub": lambda x: x**3}

    def method_missing(x):
        return x

    ops = {"+": operator.add, "-": operator.sub, "*": operator.mul}
    stack = []
    for tok in "3 x * 2 x - *".split():
        if tok in ops:
            b, a = stack.pop(), stack.pop()
            stack.append(ops[tok](a, b))
        else:
            stack.append(x if tok == "x" else float(tok))
    return table.get(kind, method_missing)(x) + stack.pop()


@program(FOUR, truth="differences")
def getters(x):
    rows = [dict(a=v, b=v * v) for v in x]
    g = operator.itemgetter("a", "b")

    class P:
        pass

    ps = []
    for r in rows:
        p = P()
        p.__dict__.update(r)
        ps.append(p)
    ag = operator.attrgetter("a")
    m = operator.methodcaller("sum")
    return sum(a * b for a, b in map(g, rows)) + sum(map(ag, ps)) + m(x)


@program(0.3, 1.2, truth="differences")
def composed_and_curried(x, y):
    compose = lambda *fs: functools.reduce(lambda f, g: lambda v: f(g(v)), fs)
    curry = lambda f: lambda a: lambda b: f(a, b)
    h = compose(math.sin, curry(operator.mul)(x), lambda v: v if v > 0 else -2 * v)
    return (
        h(y) + sum(map(h, [x, y, 1.0])) + max(map(h, (x, y))) + any(h(v) > 0.5 for v in (x, y)) * x
    )


@program(0.3, 1.2, truth="differences")
def logged_roots(x, y):
    log = []

    def f(v):
        try:
            if v < 0:
                raise ValueError("negative")
            log.append(v)
            return math.sqrt(v)
        except ValueError as e:
            log.append(v * v)
            return len(str(e)) * v
        finally:
            log.append(x)

    return f(x) + f(y) + sum(log) * len(log)


@contextlib.contextmanager
def shifted(box, by):
    old = box["v"]
    box["v"] = old + by
    try:
        yield box
    finally:
        box["v"] = old


@program(0.3, 1.2, truth="differences")
def shifted_for_a_while(x, y):
    b = {"v": x}
    t = 0.0
    with shifted(b, y) as c, shifted(b, 1.0):
        t += c["v"] ** 2
        if t > 1:
            t = t * b["v"]
    with contextlib.ExitStack() as st:
        for k in range(3):
            st.enter_context(shifted(b, y * k))
        t += b["v"]
    with contextlib.suppress(ValueError):
        t += math.log(x)
    return t + b["v"]


@program(FOUR, 0.3, truth="differences")
def all_kinds_of_parameters(x, a):
    def f(p, /, q=2.0, *rest, r, s=3.0, **kw):
        return p * q + sum(rest) * r - s + kw.get("z", 0.0)

    args = (x[0], x[1], x[2], a)
    return f(*args, r=a) + f(a, r=x[1], z=x[2]) + f(*args[:2], r=1.0, s=x[3])


@program(0.4, truth="differences")
def running_average_by_send(x):
    def avg():
        t, n = 0.0, 0
        v = yield 0.0
        while True:
            t += v
            n += 1
            v = yield t / n

    g = avg()
    next(g)
    out = [g.send(x), g.send(x * x), g.send(1.0)]
    g.close()

    def gen():
        yield from (x * k for k in range(3))
        return x

    def outer():
        r = yield from gen()
        yield r * 10

    return sum(out) + sum(outer())


@program(FOUR, truth="differences")
def areas_by_single_dispatch(x):
    @functools.singledispatch
    def area(s):
        return 0.0

    @area.register
    def _(s: tuple):
        return s[0] * s[1]

    @area.register(dict)
    def _(s):
        return s["r"] ** 2

    return area((x[0], x[1])) + area({"r": x[2]}) + area(None)


@program(0.4, truth="differences")
def logarithm_or_nothing(x):
    t = 1.0
    with contextlib.suppress(ValueError):
        t += math.log(x)
        t *= 2.0
    return t * x
