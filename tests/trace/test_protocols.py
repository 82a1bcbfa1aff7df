"""Is code of the user's traced where Python calls it by itself: `for`, `with`, properties, copies?

Each program reads the global SCALE there, and takes `math.exp` of what is differentiated, by
methods that no line of it calls.  The truth is the function itself, differenced.
"""

import contextlib
import copy
import dataclasses
import functools
import itertools
import math
import operator
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pytest

import jitad
from jitad import grad, jit_grad

SCALE = 1.0
T = TypeVar("T")


def scaled(x):
    return SCALE * math.exp(0.3 * x)


class Thing:
    rate = 1.0

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        yield scaled(self.w)
        yield self.w

    def __enter__(self):
        self.w = scaled(self.w)
        return self.w

    def __exit__(self, *error):
        self.w = self.w + scaled(self.w)

    def __getattr__(self, name):
        if name == "dynamic":
            return scaled(self.w)
        raise AttributeError(name)

    def __bool__(self):
        return scaled(self.w) > 2.0

    def __lt__(self, other):
        return SCALE * self.w < SCALE * other.w

    def __eq__(self, other):
        return scaled(self.w) > scaled(other.w)

    def __contains__(self, x):
        return scaled(self.w) > x

    def __reversed__(self):
        yield scaled(self.w)

    def __round__(self, n=0):
        return scaled(self.w)

    def __copy__(self):
        return Thing(scaled(self.w))

    def __deepcopy__(self, memo):
        return Thing(scaled(self.w))

    def __mul__(self, other):
        return scaled(self.w) * other

    def __radd__(self, other):
        return other + scaled(self.w)

    def __neg__(self):
        return -scaled(self.w)

    def __getitem__(self, k):
        return scaled(self.w) * k

    def __array__(self, dtype=None, copy=None):
        return np.array([SCALE, 2.0])

    @property
    def size(self):
        return scaled(self.w)

    @size.setter
    def size(self, value):
        self.w = scaled(value)

    @functools.cached_property
    def kept(self):
        return scaled(self.w)

    @functools.singledispatchmethod
    def by_class(self, value):
        return 100.0 * value

    @by_class.register
    def _(self, value: float):
        return scaled(value)

    part = functools.partialmethod(lambda self, a, b: a * scaled(b), 2.0)

    def times(self, x):
        return x * self.rate * SCALE


class Items:
    """Iterated by number."""

    def __init__(self, w):
        self.w = w

    def __getitem__(self, k):
        if k >= 2:
            raise IndexError
        return scaled(self.w) * (k + 1)


class Steps:
    def __init__(self, w):
        self.w, self.n = w, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        self.w = scaled(self.w)
        return self.w


class Made:
    def __new__(cls, x):
        out = super().__new__(cls)
        out.w = scaled(x)
        return out


class Meta(type):
    def __call__(cls, *args):
        out = super().__call__(*args)
        out.z = scaled(out.w)
        return out


class OfMeta(metaclass=Meta):
    def __init__(self, w):
        self.w = w


class Derived(Thing):
    @property
    def size(self):
        return super().size * super().rate


class Descriptor:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, thing, owner=None):
        return self if thing is None else scaled(getattr(thing, self.name))

    def __set__(self, thing, value):
        setattr(thing, self.name, scaled(value))


class Described:
    d = Descriptor()


class Logged:
    def __init__(self, x):
        object.__setattr__(self, "log", {})
        self.x = x

    def __setattr__(self, name, value):
        self.log[name] = value
        super().__setattr__(name, scaled(value))


@dataclass
class Record:
    x: float
    s: float = field(default_factory=lambda: SCALE)
    y: float = field(init=False)

    def __post_init__(self):
        self.y = scaled(self.x)


@dataclass(slots=True, frozen=True)
class Slotted:
    x: float
    seed: dataclasses.InitVar[float] = 2.0
    y: float = 0.0

    def __post_init__(self, seed):
        object.__setattr__(self, "y", seed * scaled(self.x))


class Box(Generic[T]):
    def __init__(self, w):
        self.w = scaled(w)


class Row(NamedTuple):
    x: float

    @property
    def size(self):
        return scaled(self.x)


class Colour(Enum):
    RED = 1.0

    @property
    def strength(self):
        return scaled(self.value)


class Level(IntEnum):
    LOW = 1
    HIGH = 3


class Rights(Flag):
    READ = 1
    WRITE = 2


def chosen_by(level, x):
    return {Level.LOW: x, Level.HIGH: x * x}[level] * (x, 2.0 * x)[x > 0.0]


class Rows(dict):
    def __missing__(self, key):
        self[key] = scaled(self["x"])
        return self[key]

    def __getitem__(self, key):
        return SCALE * super().__getitem__(key)


class Numbers(list):
    def __getitem__(self, k):
        return SCALE * super().__getitem__(k)

    def append(self, value):
        super().append(scaled(value))


@functools.total_ordering
class Ranked:
    def __init__(self, w):
        self.w = w

    def __eq__(self, other):
        return self.w == other.w

    def __lt__(self, other):
        return SCALE * self.w < SCALE * other.w


@functools.singledispatch
def by_class(value):
    return 100.0 * value


@by_class.register
def _(value: float):
    return scaled(value)


def scales(f):
    @functools.wraps(f)
    def inner(*args):
        return SCALE * f(*args)

    return inner


def decorated(x):
    @scales
    def square(y):
        return y * y

    class Local:
        rate = SCALE
        twice = 2.0 * rate

        SCALE = 5.0

        def times(self, y):
            return self.rate * self.twice * y * SCALE

    return square(x) * Local().times(x)


@contextlib.contextmanager
def context(x):
    yield scaled(x)


def with_context(x):
    with context(x) as y:
        return y


def with_thing(x):
    t = Thing(x)
    with t as inside:
        pass
    return inside + t.w


def augmented(x):
    total = 0.0
    total += Thing(x)
    return total


def unpacked(x):
    a, *b = Thing(x)
    return a * b[0]


def sized(x):
    t = Thing(x)
    t.size = x
    return t.w + t.size


def described(x):
    d = Described()
    d.d = x
    return d.d


def delegated(x):
    def inner():
        yield from Thing(x)

    return sum(inner())


def appended(x):
    numbers = Numbers([x])
    numbers.append(x)
    return numbers[1] + len(numbers)


PROGRAMS = {
    "for": lambda x: sum([v for v in Thing(x)]),
    "sum": lambda x: sum(Thing(x)),
    "sum of a generator": lambda x: sum(2.0 * v for v in Thing(x)),
    "list": lambda x: list(Thing(x))[0],
    "star": lambda x: math.hypot(*Thing(x)),
    "list display": lambda x: [*Thing(x)][0],
    "unpacked": unpacked,
    "zip": lambda x: [a * b for a, b in zip(Thing(x), [1.0, 2.0])][1],
    "map": lambda x: list(map(scaled, Thing(x)))[1],
    "map of a builtin": lambda x: list(map(math.exp, [x, 2.0]))[0],
    "max": lambda x: max(Thing(x)),
    "islice": lambda x: sum(itertools.islice(Thing(x), 1)),
    "dict": lambda x: {k: v for k, v in enumerate(Thing(x))}[0],
    "yield from": delegated,
    "next": lambda x: sum(Steps(x)),
    "by number": lambda x: sum(Items(x)),
    "reversed": lambda x: list(reversed(Thing(x)))[0],
    "decorator": decorated,
    "with": with_thing,
    "contextmanager": with_context,
    "truth": lambda x: x if Thing(x) else x * x,
    "not": lambda x: x if not Thing(x) else x * x,
    "ne": lambda x: x if Thing(x) != Thing(1.0) else x * x,
    "lists equal": lambda x: x if [Thing(1.5)] == [Thing(1.0)] else x * x,
    "in a list": lambda x: x if Thing(0.5) in [Thing(1.0)] else x * x,
    "in": lambda x: x if 2.0 in Thing(x) else x * x,
    "sorted": lambda x: x * sorted([Ranked(1.0), Ranked(2.0)])[0].w,
    "total ordering": lambda x: x if Ranked(x) >= Ranked(1.0) else x * x,
    "round": lambda x: round(Thing(x)),
    "binary": lambda x: Thing(x) * x,
    "unary": lambda x: -Thing(x),
    "augmented": augmented,
    "sum of things": lambda x: sum([Thing(x), Thing(1.0)], 0.0),
    "item": lambda x: Thing(x)[2],
    "array": lambda x: x * np.asarray(Thing(x)).sum(),
    "property": lambda x: Thing(x).size,
    "property above": lambda x: Derived(x).size,
    "property set": sized,
    "cached property": lambda x: Thing(x).kept,
    "getattr": lambda x: Thing(x).dynamic,
    "descriptor": described,
    "setattr": lambda x: Logged(x).x,
    "class attribute": lambda x: Thing(x).times(x),
    "attrgetter": lambda x: operator.attrgetter("size")(Thing(x)),
    "methodcaller": lambda x: operator.methodcaller("times", x)(Thing(x)),
    "copy": lambda x: copy.copy(Thing(x)).w,
    "deepcopy": lambda x: copy.deepcopy(Thing(x)).w,
    "new": lambda x: Made(x).w,
    "metaclass": lambda x: OfMeta(x).z,
    "dataclass": lambda x: Record(x).y * Record(x).s,
    "replace": lambda x: dataclasses.replace(Record(1.0), x=x).y,
    "slots": lambda x: Slotted(x).y * Slotted(x, 3.0).y,
    "generic": lambda x: Box[float](x).w,
    "named tuple": lambda x: Row(x).size,
    "member of an enum": lambda x: Slotted(x, Level.HIGH).y * Level.HIGH + chosen_by(Level.LOW, x),
    "flag": lambda x: x if Rights.READ in Rights.READ | Rights.WRITE else x * x,
    "enum": lambda x: x * Colour.RED.strength,
    "missing": lambda x: Rows(x=x)["k"],
    "kind of list": appended,
    "singledispatch": lambda x: by_class(x),
    "singledispatchmethod": lambda x: Thing(x).by_class(x),
    "partialmethod": lambda x: Thing(x).part(x),
}


@pytest.fixture(autouse=True)
def restored():
    global SCALE
    yield
    SCALE = Thing.rate = 1.0


def difference(f, x):
    h = 1e-3
    first, second = ((f(x + k * h) - f(x - k * h)) / (2 * k * h) for k in (1, 2))
    return (4.0 * first - second) / 3.0


@pytest.mark.parametrize("engine", [grad, lambda f: jit_grad(f, fallback=False)],
                         ids=["eager", "compiled"])  # fmt: skip
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_python_calls_is_traced(name, engine):
    global SCALE
    f = PROGRAMS[name]
    g = engine(f)
    for SCALE in (1.0, 2.5, -3.0):  # the programs read it
        Thing.rate = SCALE
        assert g(0.7) == pytest.approx(difference(f, 0.7), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("f", [
    lambda x: list(map(float, x))[1] * x[0],
    lambda x: sum(map(float, [x[0], x[1]])),
    lambda x: sum(map(int, x)) * x[0],
])  # fmt: skip
def test_a_class_of_numbers_is_mapped(f):
    x = np.array([1.5, 2.5])
    assert jitad.jit(f)(x) == f(x)
