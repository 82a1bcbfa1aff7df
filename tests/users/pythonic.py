"""Which programs do people write who like Python's data structures?"""

import contextlib
import copy
import functools
import itertools
import math
from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict, deque
from dataclasses import asdict, astuple, dataclass, field, replace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from tests.catalogue.entry import Catalogue, array, scalar

catalogue = Catalogue()
program = catalogue.add


class Shape(ABC):
    registry = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Shape.registry[cls.__name__.lower()] = cls

    @abstractmethod
    def area(self): ...

    def scaled(self, by):
        return type(self)(*(by * v for v in self.__dict__.values()))

    def __lt__(self, other):
        return self.area() < other.area()


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2


class Rectangle(Shape):
    def __init__(self, a, b):
        self.a, self.b = a, b

    def area(self):
        return self.a * self.b


@program(scalar(0.5, 1.0), scalar(1.5, 2.0), scalar(0.5, 1.5))
def shapes_from_a_registry(r, a, b):
    specs = [("circle", (r,)), ("rectangle", (a, b)), ("circle", (0.5 * b,))]
    shapes = [Shape.registry[name](*given) for name, given in specs]
    largest = max(s.area() for s in shapes)
    return sum(s.scaled(2.0).area() for s in shapes) + largest**2


@dataclass(order=True)
class Item:
    weight: float
    value: float = field(compare=False)
    name: str = field(default="", compare=False)


@program(array(3, low=1.0, high=2.0), array(3, low=1.0, high=2.0))
def fractional_knapsack(weights, values):
    items = [Item(w, v) for w, v in zip(weights, values)]
    left, total = 2.5, 0.0
    for item in sorted(items, key=lambda i: -i.value / i.weight):
        if item.weight <= left:
            left -= item.weight
            total += item.value
        else:
            total += item.value * left / item.weight
            break
    return total


@program(scalar(0.5, 1.5), scalar(0.5, 1.5))
def dataclasses_converted(a, b):
    @dataclass
    class Point:
        x: float
        y: float = 2.0

    p = Point(a)
    q = replace(p, y=b)
    d = asdict(q)
    x, y = astuple(p)
    return d["x"] * d["y"] + x * y**2 + copy.copy(q).y


@program(array(4, low=0.5, high=1.5))
def grouped_by_key(x):
    names = ["b", "a", "b", "c"]
    rows = sorted(zip(names, range(4)), key=lambda r: r[0])
    total = 0.0
    for name, group in itertools.groupby(rows, key=lambda r: r[0]):
        product = math.prod(x[k] for _, k in group)
        total += product * (ord(name) - 96)
    return total


@program(scalar(0.5, 1.5))
def memo_in_a_dict(x):
    memo = {0: 1.0, 1: x}

    def chebyshev(n):
        if n not in memo:
            memo[n] = 2 * x * chebyshev(n - 1) - chebyshev(n - 2)
        return memo[n]

    return chebyshev(6) + len(memo)


@program(scalar(0.5, 1.5))
def cached_function(x):
    @functools.cache
    def binomial(n, k):
        return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)

    return sum(binomial(6, k) * x**k for k in range(7))


@program(scalar(0.2, 0.8), scalar(0.2, 0.8))
def events_in_a_queue(rate, decay):
    queue = deque([("arrive", 1.0), ("serve", 0.5)])
    level, log = 1.0, []
    while queue and len(log) < 8:
        kind, size = queue.popleft()
        if kind == "arrive":
            level += rate * size
            queue.append(("serve", size * 0.7))
        else:
            level *= 1 - decay * size
            queue.append(("arrive", size * 0.9))
        log.append(level)
    return sum(log)


class Matrix:
    def __init__(self, rows):
        self.rows = [list(r) for r in rows]

    @classmethod
    def identity(cls, n):
        return cls([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*other.rows)]
                       for r in self.rows])  # fmt: skip

    def __getitem__(self, ij):
        return self.rows[ij[0]][ij[1]]

    def __setitem__(self, ij, v):
        self.rows[ij[0]][ij[1]] = v

    def __pow__(self, n):
        out, base = Matrix.identity(len(self.rows)), self
        while n:
            if n & 1:
                out = out @ base
            base, n = base @ base, n >> 1
        return out

    @property
    def trace(self):
        return sum(self[i, i] for i in range(len(self.rows)))


@program(array(4))
def matrix_class_power(x):
    m = Matrix([[x[0], x[1]], [x[2], x[3]]])
    m[0, 0] = m[0, 0] + 1.0
    return (m**5).trace + m[1, 0]


@program(scalar(0.5, 1.5), scalar(0.5, 1.5))
def pipeline_of_partials(a, b):
    def scale(x, by):
        return x * by

    def shift(x, *, by=0.0):
        return x + by

    steps = [functools.partial(scale, by=a), functools.partial(shift, by=b), math.exp, np.sqrt]
    return functools.reduce(lambda v, f: f(v), steps, 0.7)


@program(scalar(0.5, 1.5))
def decorated_with_counter(x):
    def counted(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            inner.calls += 1
            return f(*args, **kwargs)

        inner.calls = 0
        return inner

    @counted
    def g(v, power=2):
        return v**power

    total = g(x) + g(x, power=3) + g(2.0)
    return total * g.calls


@program(scalar(0.5, 1.5))
def nested_with_blocks(x):
    state = SimpleNamespace(depth=0, log=[])

    class Scope:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            state.depth += 1
            return self

        def __exit__(self, *exc):
            state.depth -= 1
            state.log.append(self.name)
            return False

        def weigh(self, v):
            return v * state.depth

    total = 0.0
    with Scope("a") as a:
        total += a.weigh(x)
        with Scope("b") as b, contextlib.suppress(KeyError):
            total += b.weigh(x * x)
            total += {}["missing"]
    return total * len(state.log)


@program(scalar(0.5, 1.5))
def try_finally_and_else(x):
    log = []

    def attempt(key):
        table = {"a": x, "b": x * x}
        try:
            value = table[key]
        except KeyError:
            log.append(1.0)
            return 0.5 * x
        else:
            return value
        finally:
            log.append(x)

    return attempt("a") + attempt("z") * attempt("b") + sum(log)


@program(array(6))
def chunks_and_windows(x):
    def chunks(v, n):
        for i in range(0, len(v), n):
            yield v[i : i + n]

    def windows(v, n):
        it = [v[k : len(v) - n + 1 + k] for k in range(n)]
        return zip(*it)

    total = sum(np.prod(c) for c in chunks(x, 2))
    return total + sum(a * b * c for a, b, c in windows([e for e in x], 3))


@program(array(5, low=0.2, high=1.0))
def itertools_medley(x):
    pairs = itertools.pairwise(x)
    total = sum((b - a) ** 2 for a, b in pairs)
    total += sum(a * b for a, b in itertools.product(x[:2], x[3:]))
    running = list(itertools.accumulate(x, lambda a, b: a * b + 0.1))
    first = list(itertools.islice(itertools.cycle(["p", "q"]), 5))
    return total + running[-1] + sum(v for v, f in zip(x, first) if f == "q")


@program(array(4, low=0.2, high=1.0))
def starred_everything(x):
    def f(a, b, *rest, scale=1.0, **named):
        return a * b * scale + sum(rest) ** 2 + named.get("extra", 0.0)

    first, *middle, last = [e * e for e in x.tolist()] if False else [x[0], x[1], x[2], x[3]]
    args, kw = (first, last), {"scale": middle[0]}
    return f(*args, *middle, **kw) + f(1.0, last, **{**kw, "extra": first})


class Tree(NamedTuple):
    value: float
    children: tuple = ()

    def fold(self, f):
        return f(self.value, [c.fold(f) for c in self.children])


@program(array(5))
def tree_fold(x):
    tree = Tree(x[0], (Tree(x[1], (Tree(x[2]), Tree(x[3]))), Tree(x[4])))
    total = tree.fold(lambda v, parts: v + 0.5 * sum(parts))
    depth = tree.fold(lambda v, parts: 1 + max(parts, default=0))
    return total**2 * depth


@dataclass
class Node:
    value: float
    next: object = None


@program(array(4))
def linked_list(x):
    head = None
    for v in [x[3], x[2], x[1], x[0]]:
        head = Node(v, head)
    total, at, k = 0.0, head, 1
    while at is not None:
        total += k * at.value**2
        at, k = at.next, k + 1
    head.next.value = total
    return head.next.value * head.value


@program(scalar(0.5, 1.5), scalar(0.5, 1.5))
def layered_settings(a, b):
    defaults = {"rate": 0.1, "power": 2}
    user = {"rate": a}
    settings = {**defaults, **user} | {"offset": b}
    return settings["rate"] ** settings["power"] * settings.setdefault("scale", 3.0) + settings[
        "offset"
    ]


@program(array(4, low=0.5, high=1.5))
def visitor_by_match(x):
    tree = ("add", ("mul", 0, 1), ("neg", ("pow", 2, 3)))

    def evaluate(node):
        match node:
            case ("add", left, right):
                return evaluate(left) + evaluate(right)
            case ("mul", left, right):
                return evaluate(left) * evaluate(right)
            case ("neg", inner):
                return -evaluate(inner)
            case ("pow", base, exponent):
                return evaluate(base) ** evaluate(exponent)
            case index:
                return x[index]

    return evaluate(tree)


@program(scalar(0.5, 1.5))
def boxes_with_identity(x):
    class Box:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            return self.v == other.v

    a, b = Box(x), Box(x)
    alias = a
    alias.v = alias.v * 2.0
    b.v += 1.0
    boxes = [a, b, a]
    for box in boxes:
        box.v *= 1.5
    return a.v * b.v + (1.0 if a is alias else 0.0) + (x if a is b else 0.0)


@program(scalar(0.5, 1.5), scalar(0.2, 0.8))
def bank_with_rollback(x, y):
    accounts = {"a": x, "b": y}

    def transfer(source, target, amount):
        saved = dict(accounts)
        accounts[source] -= amount
        accounts[target] += amount
        if accounts[source] < 0.0:
            accounts.update(saved)
            return False
        return True

    ok = transfer("a", "b", 0.3 * y)
    failed = transfer("b", "a", 10.0)
    return accounts["a"] * accounts["b"] ** 2 * (2.0 if ok else 1.0) * (3.0 if failed else 1.0)


@program(array(6, low=-1.0, high=1.0))
def dispatch_table_with_methods(x):
    class Machine:
        def __init__(self):
            self.acc, self.stack = 0.0, []

        def push(self, v):
            self.stack.append(v)

        def add(self, _):
            self.stack.append(self.stack.pop() + self.stack.pop())

        def mul(self, _):
            b, a = self.stack.pop(), self.stack.pop()
            self.stack.append(a * b)

        def run(self, code):
            for op, arg in code:
                getattr(self, op)(arg)
            return self.stack[-1]

    code = [("push", x[0]), ("push", x[1]), ("mul", None), ("push", x[2]), ("add", None),
            ("push", x[3]), ("mul", None)]  # fmt: skip
    return Machine().run(code) + x[4] * x[5]


@program(scalar(0.5, 1.5))
def generator_with_send(x):
    def averager():
        total, n = 0.0, 0
        average = 0.0
        while True:
            v = yield average
            total, n = total + v, n + 1
            average = total / n

    gen = averager()
    next(gen)
    out = [gen.send(v) for v in (x, x * x, 3.0)]
    gen.close()
    return sum(out)


@program(array(3, low=0.5, high=1.0))
def properties_with_setters(x):
    class Temperature:
        def __init__(self, celsius):
            self._c = celsius

        @property
        def fahrenheit(self):
            return self._c * 9 / 5 + 32

        @fahrenheit.setter
        def fahrenheit(self, v):
            self._c = (v - 32) * 5 / 9

    t = Temperature(x[0])
    t.fahrenheit += x[1]
    t.fahrenheit = t.fahrenheit * x[2]
    return t._c**2


@program(array(5, low=0.1, high=1.0))
def sparse_vector_in_a_dict(x):
    a = {k: v for k, v in enumerate(x) if k % 2 == 0}
    b = dict.fromkeys([0, 1, 4], 0.5)
    b[1] = x[3]
    dot = sum(a[k] * b[k] for k in a.keys() & b.keys())
    merged = defaultdict(float, a)
    for k, v in b.items():
        merged[k] += v
    merged.pop(2)
    return dot + sum(v * v for _, v in sorted(merged.items()))


@program(array(4, low=0.2, high=1.0))
def curried_and_composed(x):
    def curry(f, n):
        return f if n == 1 else lambda a: curry(functools.partial(f, a), n - 1)

    def compose(*fs):
        return functools.reduce(lambda f, g: lambda v: f(g(v)), fs)

    add3 = curry(lambda a, b, c: a * b + c, 3)
    return compose(math.sin, add3(x[0])(x[1]), lambda v: v**2)(x[2]) + x[3]


@program(scalar(0.2, 0.9))
def enumerated_states(p):
    chain = OrderedDict(sunny=("sunny", "rainy"), rainy=("rainy", "sunny"))
    prob = {"sunny": 1.0, "rainy": 0.0}
    for _ in range(5):
        new = dict.fromkeys(prob, 0.0)
        for state, (same, other) in chain.items():
            new[same] += prob[state] * p
            new[other] += prob[state] * (1 - p)
        prob = new
    return prob["sunny"] * 2.0 + prob["rainy"] ** 2


@program(array(4, low=0.5, high=1.5))
def swaps_and_rotations(x):
    a, b, c, d = x
    a, b = b, a
    c, d = d + a, c * b
    v = [a, b, c, d]
    v[0], v[-1] = v[-1], v[0]
    v = v[1:] + v[:1]
    v[1:3] = [v[2], v[1] * 2.0]
    del v[0]
    v.insert(1, a * d)
    return sum(e * (k + 1) for k, e in enumerate(v))


@program(array(2, low=0.5, high=1.5))
def string_keyed_units(x):
    factors = {"m": 1.0, "km": 1e3, "cm": 1e-2}

    def convert(value, unit):
        prefix, _, name = unit.partition("/")
        out = value * factors[prefix.strip()]
        if name:
            out /= factors[name]
        return out

    text = f"{'k'}m/cm"
    return convert(x[0], "km") / 1e3 + convert(x[1], text) / 1e5


@program(array(3, low=1.0, high=2.0))
def heaviest_by_name(x):
    weight = dict(zip("abc", x))
    name = max(weight, key=weight.get)
    return weight[name] ** 2 + len(name)


@program(scalar(0.5, 1.0), scalar(1.5, 2.0), scalar(0.5, 1.5))
def largest_shape(r, a, b):
    return max([Circle(r), Rectangle(a, b)], key=lambda s: s.area()).area() ** 2


@program(array(6, low=0.5, high=1.5))
def sliding_window_in_a_deque(x):
    window = deque(maxlen=3)
    total = 0.0
    for v in x:
        window.append(v)
        if len(window) == 3:
            total += window[0] * window[2] - window[1]
    return total


@program(array(5, low=0.2, high=2.0))
def partition_by_size(x):
    parts = {"small": [], "large": []}
    for v in x:
        parts["small" if v < 1.0 else "large"].append(v)
    return sum(v * v for v in parts["small"]) + sum(parts["large"])


@program(array(6, low=0.2, high=2.0))
def longest_run_above(x):
    run, best = [], []
    for v in x:
        if v > 0.8:
            run.append(v)
        else:
            run = []
        if len(run) > len(best):
            best = list(run)
    return sum(best) + len(best) * x[0]


@program(scalar(0.3, 0.9))
def collatz_like(x):
    orbit = [x]
    while len(orbit) < 20 and orbit[-1] < 5.0:
        last = orbit[-1]
        orbit.append(last * 1.5 if len(orbit) % 3 else last * 0.8)
    return max(orbit) + orbit.index(max(orbit)) * x + sum(orbit[1:4])
