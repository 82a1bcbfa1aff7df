"""Does a call see what is there now, where it was another thing when the kernel was made?

Things outside are replaced, or changed in place, between calls; the truth is the function itself.
What no trace can follow may be refused, but never be what it was.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import ipaddress
import itertools
import json
import math
import operator
import pathlib
import pickle
import re
import types
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad

K: Any = None  # what the functions read
L: Any = None


def same_now(
    f: Callable[..., Any], first: Any, *steps: Callable[[Any], Any], may_refuse: bool = False
) -> None:
    """f(x, thing), with the thing as a global and as an argument, after each of the steps.

    A step changes the thing, or gives another one.
    """
    global K
    by_global = jit(lambda x: f(x, K))
    by_argument = jit(f)
    for call in (lambda: by_global(1.5), lambda: by_argument(1.5, K)):
        K = first() if callable(first) else first
        for step in (None, *steps):
            new = step(K) if step is not None else None
            K = K if new is None else new
            try:
                got = call()
            except JitadError:
                assert may_refuse
                continue
            assert got == f(1.5, K), (step, K)


# -- objects of libraries that never change -------------------------------------------------------

_UTC, _AHEAD = datetime.UTC, datetime.timezone(datetime.timedelta(hours=1))
UNCHANGING = {
    "a fraction": (fractions.Fraction(1, 2), fractions.Fraction(1113, 4)),
    "a decimal": (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    "another decimal": (decimal.Decimal("1.0"), decimal.Decimal("2.5")),
    "a date": (datetime.date(2000, 1, 1), datetime.date(2001, 5, 1)),
    "a time": (datetime.datetime(2000, 1, 1, 5, tzinfo=_UTC),
               datetime.datetime(2000, 1, 1, 6, tzinfo=_AHEAD)),
    "a span": (datetime.timedelta(1), datetime.timedelta(2)),
    "a path": (pathlib.PurePosixPath("/a"), pathlib.PurePosixPath("/abc/d")),
    "a uuid": (uuid.UUID(int=1), uuid.UUID(int=2**100)),
    "an address": (ipaddress.ip_address("1.2.3.4"), ipaddress.ip_address("1.2.30.4")),
    "a pattern": (re.compile("a"), re.compile("zz")),
    "a range": (range(3), range(1, 30, 2)),
    "a dtype": (np.dtype("f8"), np.dtype("f4")),
}  # fmt: skip
ASKED = {
    "its text": lambda x, k: x * len(str(k)),
    "its repr": lambda x, k: x * len(f"{k!r}"),
    "in a text": lambda x, k: x * len(f"{k}"),
    "in an old text": lambda x, k: x * len("%s" % (k,)),  # noqa: UP031
    "equal": lambda x, k: x * (2.0 if k == UNCHANGING["a fraction"][0] else 3.0),
    "in a list": lambda x, k: x * (2.0 if k in [pair[0] for pair in UNCHANGING.values()] else 3.0),
    "its hash": lambda x, k: x * (hash(k) % 1000),
    "a key": lambda x, k: x * {pair[0]: 2.0 for pair in UNCHANGING.values()}.get(k, 3.0),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("what", UNCHANGING)
def test_objects_of_libraries(what: str, asked: str) -> None:
    one, other = UNCHANGING[what]
    same_now(ASKED[asked], one, lambda _: other, lambda _: copy.copy(one))


@pytest.mark.parametrize("f", [
    lambda x, k: x * float(k), lambda x, k: x * (k.numerator / k.denominator),
    lambda x, k: x * (1.0 if k > 1 else 2.0), lambda x, k: x * float(k * 2),
    lambda x, k: x * int(k), lambda x, k: x * round(k), lambda x, k: x * bool(k),
    lambda x, k: x * complex(k).real, lambda x, k: x * k, lambda x, k: k / x - k,
    lambda x, k: x**k, lambda x, k: x if x > k else -x, lambda x, k: x * abs(-k) // k,
])  # fmt: skip
def test_fractions(f: Callable[..., Any]) -> None:
    one, other = fractions.Fraction(1, 2), fractions.Fraction(7, 4)
    same_now(f, one, lambda _: other, lambda _: fractions.Fraction(1), lambda _: one)


def test_fractions_take_part_in_derivatives() -> None:
    k = fractions.Fraction(1, 2)
    for f, slope in ((lambda x: x * k * x, 1.3), (lambda x: k / x, -0.5 / 1.3**2),
                     (lambda x: np.exp(x * k), 0.5 * math.exp(0.65))):  # fmt: skip
        assert grad(f)(1.3) == pytest.approx(slope, rel=1e-14)
        assert jit_grad(f)(1.3) == pytest.approx(slope, rel=1e-14)


# -- objects of the user's, with a dict or with slots ---------------------------------------------


@dataclasses.dataclass(slots=True, order=True)
class Slotted:
    k: float = 2.0
    n: int = 3


@dataclasses.dataclass(slots=True, frozen=True)
class FrozenSlotted:
    k: float = 2.0
    n: int = 3


@dataclasses.dataclass(frozen=True)
class Frozen:
    k: float = 2.0
    n: int = 3


@dataclasses.dataclass
class Plain:
    k: float = 2.0
    n: int = 3


class Written:
    __slots__ = ("k", "n")

    def __init__(self, k: float = 2.0, n: int = 3) -> None:
        self.k, self.n = k, n

    def __eq__(self, other: Any) -> bool:
        return bool(self.k == other.k and self.n == other.n)

    def __lt__(self, other: Any) -> bool:
        return bool(self.k < other.k)

    def __hash__(self) -> int:
        return hash(self.n)

    def __float__(self) -> float:
        return self.k * 1.0

    def __repr__(self) -> str:
        return f"Written({self.k}, {self.n})"


class Both(Written):
    __slots__ = ("__dict__",)


def changed(thing: Any) -> Any:
    if isinstance(thing, types.SimpleNamespace) or not getattr(thing, "__dataclass_params__", None):
        thing.k, thing.n = 70.5, 12
        return None
    return dataclasses.replace(thing, k=70.5, n=12)


def _namespace(k: float = 2.0, n: int = 3) -> Any:
    return types.SimpleNamespace(k=k, n=n)


_BY_K = operator.attrgetter("k")
LOOKS = {
    "asdict": lambda x, k: x * dataclasses.asdict(k)["k"],
    "astuple": lambda x, k: x * dataclasses.astuple(k)[0],
    "fields": lambda x, k: x * sum(getattr(k, f.name) for f in dataclasses.fields(k)),
    "copy": lambda x, k: x * copy.copy(k).k * copy.deepcopy(k).n,
    "attrgetter": lambda x, k: x * _BY_K(k),
    "equal": lambda x, k: x * (2.0 if k == type(k)() else 1.0),
    "unequal": lambda x, k: x * (2.0 if k != type(k)(2.0) else 1.0),
    "below": lambda x, k: x * (2.0 if type(k)(5.0) < k else 1.0),
    "in a list": lambda x, k: x * (2.0 if k in [type(k)()] else 1.0),
    "in a tuple": lambda x, k: x * (2.0 if (k, 1) == (type(k)(), 1) else 1.0),
    "in a dict": lambda x, k: x * (2.0 if {"a": k} == {"a": type(k)()} else 1.0),
    "its place": lambda x, k: x * ([type(k)(1.0), k].index(type(k)(1.0)) + 1.0),
    "how often": lambda x, k: x * [k, k].count(type(k)()),
    "sorted": lambda x, k: x * sorted([k, type(k)(5.0)])[0].k,
    "greatest": lambda x, k: x * max([k, type(k)(5.0)], key=_BY_K).k,
    "repr": lambda x, k: x * len(repr(k)),
    "text": lambda x, k: x * len(str(k)),
    "in a text": lambda x, k: x * len(f"{k}{k!r}"),
    "in an old text": lambda x, k: x * len("%s %r" % (k, k)),  # noqa: UP031
    "formatted": lambda x, k: x * len("{} {!r}".format(k, k)),  # noqa: UP032
    "joined": lambda x, k: x * len(",".join(map(str, [k]))),
    "json": lambda x, k: x * len(json.dumps(k, default=str)),
    "hash": lambda x, k: x * (hash(k) % 1000),
    "a key": lambda x, k: x * {type(k)(): 1.0}.get(k, 2.0),
    "a key that is there": lambda x, k: x * (3.0 if k in {type(k)(): 1.0} else 2.0),
    "in a set": lambda x, k: x * len({k, type(k)()}),
    "float": lambda x, k: x * float(k),
    "float64": lambda x, k: x * np.float64(k),
    "root": lambda x, k: x * math.sqrt(k),
    "pickled": lambda x, k: x * pickle.loads(pickle.dumps(k)).k,
    "replaced": lambda x, k: x * dataclasses.replace(k, n=4).k,
    "reduced": lambda x, k: x * len(str(k.__reduce_ex__(2))),
    "by object": lambda x, k: x * object.__getattribute__(k, "k"),
    "by name": lambda x, k: x * k.__getattribute__("k"),
    "by a method": lambda x, k: x * len(operator.methodcaller("__repr__")(k)),
    "by operator": lambda x, k: x * (2.0 if operator.eq(k, type(k)()) else 1.0),
    "asked itself": lambda x, k: x * (2.0 if k.__eq__(type(k)()) else 1.0),
    "groups": lambda x, k: x * sum(n for n, _ in itertools.groupby([k], key=lambda t: t.n)),
    "folded": lambda x, k: x * functools.reduce(lambda a, b: a + b.k, [k, k], 0.0),
    "all": lambda x, k: x * sum(vars(k).values()),
    "an entry": lambda x, k: x * (2.0 if "k" in vars(k) else 3.0) * vars(k)["k"],
    "matched": lambda x, k: _matched(x, k),
}


def _matched(x: Any, k: Any) -> Any:
    match k:
        case Plain(k=2.0) | Slotted(k=2.0) | Frozen(k=2.0) | FrozenSlotted(k=2.0):
            return x
        case Written(n=3) | types.SimpleNamespace(n=3):
            return 2.0 * x
    return 3.0 * x


def _python_does(look: str, kind: Any) -> bool:
    try:
        LOOKS[look](1.5, kind())
    except Exception:
        return False
    return True


KINDS = (Slotted, FrozenSlotted, Frozen, Plain, Written, Both, _namespace)


@pytest.mark.parametrize(
    ("kind", "look"), [(k, look) for k in KINDS for look in LOOKS if _python_does(look, k)]
)
def test_objects_that_hold_numbers(kind: Any, look: str) -> None:
    same_now(LOOKS[look], kind, changed, lambda thing: kind(), may_refuse=True)


# -- one thing, or two ----------------------------------------------------------------------------


class Thing:
    k = 1.0


ALIKE: dict[str, Callable[[float], Any]] = {
    "an array": lambda v: np.full(2, v),
    "complex": lambda v: np.full(2, v) * (1 + 0j),
    "ints": lambda v: np.full(2, int(v)),
    "a list": lambda v: [v, v],
    "a dict": lambda v: {0: v},
}


@pytest.mark.parametrize("derived", [False, True])
@pytest.mark.parametrize("what", ALIKE)
def test_two_names_of_one_thing_of_which_one_gets_another(what: str, derived: bool) -> None:
    global K, L

    def f(x: float) -> Any:
        return x * (K[0] + 10 * L[0]).real

    g = jit_grad(f) if derived else jit(f)
    make = ALIKE[what]
    K = L = make(1.0)
    assert g(1.0) == f(1.0)
    K = make(2.0)
    assert g(1.0) == f(1.0)  # the other name means what it did
    L = make(3.0)
    assert g(1.0) == f(1.0)
    K = L
    assert g(1.0) == f(1.0)


IDENTITY = {
    "is": lambda a, b: 2.0 if a is b else 3.0,
    "is not": lambda a, b: 2.0 if a is not b else 3.0,
    "one of a list": lambda a, b: 2.0 if any(a is t for t in [b, a]) else 3.0,
    "id": lambda a, b: 2.0 if id(a) == id(b) else 3.0,
}
BY_HASH = {
    "a list": lambda a, b: 2.0 if a in [b] else 3.0,
    "its place": lambda a, b: [b, a].index(a) + 1.0,
    "how often": lambda a, b: [b, a].count(a),
    "equal": lambda a, b: 2.0 if a == b else 3.0,
    "a key": lambda a, b: {b: 2.0}.get(a, 3.0),
    "a key that is there": lambda a, b: 2.0 if a in {b: 2.0} else 3.0,
    "a set": lambda a, b: len({a, b}),
}


MAKE: list[Callable[[], Any]] = [
    lambda: [1.0], lambda: {"a": 1.0}, Thing, lambda: np.ones(3), lambda: {1.0},
    lambda: np.ones(3) * 1j,
]  # fmt: skip


@pytest.mark.parametrize("first", ["one", "two"])
@pytest.mark.parametrize(
    ("asked", "make"), [*itertools.product(IDENTITY, MAKE), *((b, Thing) for b in BY_HASH)]
)
def test_what_is_one_thing(asked: str, make: Any, first: str) -> None:
    global K, L
    told = {**IDENTITY, **BY_HASH}[asked]

    def f(x: float) -> Any:
        return x * told(K, L)

    g = jit(f)
    for state in (first, "two" if first == "one" else "one") * 2:
        K, L = make(), make()
        L = K if state == "one" else L
        assert g(1.0) == f(1.0), state


_TABLE = {Thing(): 2.0, Thing(): 5.0}


def test_keys_that_are_things() -> None:
    global K
    g = jit(lambda x: x * _TABLE.get(K, 3.0))
    for K in [Thing(), *_TABLE, Thing(), *_TABLE]:
        assert g(1.0) == _TABLE.get(K, 3.0)


# -- numbers of other classes ---------------------------------------------------------------------


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Flag(enum.IntFlag):
    A = 1
    B = 2


class Size(float, enum.Enum):
    SMALL = 1.5
    LARGE = 2.5


class Count(int):
    pass


class Length(float):
    pass


@pytest.mark.parametrize("values", [
    [Level.LOW, Level.HIGH, 3, Level.LOW, 4, Level.HIGH], [Flag.A, Flag.B, 3, Flag.A | Flag.B],
    [Size.SMALL, Size.LARGE, 2.0, Size.SMALL], [Count(1), Count(2), 3, Count(4)],
    [Length(1.0), Length(2.0), 3.0, Length(4.0)], [1, np.int8(3), 2, True, np.bool_(True), 2.5],
    [1, 2, 2**70, 3, -(2**63), 2**63, 2**63 - 1, 2**64, 4],
])  # fmt: skip
@pytest.mark.parametrize("f", [
    lambda x, k: x * k, lambda x, k: x * (k + 1.0) if k > 1 else x,
])  # fmt: skip
def test_numbers_of_many_classes(f: Any, values: list[Any]) -> None:
    rest = [lambda _, v=v: v for v in values[1:]]
    same_now(f, values[0], *rest, may_refuse=any(abs(int(v)) >= 2**63 for v in values))
    same_now(lambda x, k: f(x, k[0]), [values[0]], *[
        lambda _, v=v: [v] for v in values[1:] if abs(int(v)) < 2**63
    ])  # fmt: skip


class Word(str):
    w: Any


class Data(bytes):
    w: Any


class Pair(tuple):
    w: Any


class Named(collections.namedtuple("Named", "a b")):
    w: Any


class Phase(complex):
    w: Any


class Row(list):
    w: Any


class Table(dict):
    w: Any


class Seen(set):
    w: Any


OF_CLASSES: list[Callable[[], Any]] = [
    lambda: Word("ab"), lambda: Data(b"a"), lambda: Count(2), lambda: Length(2.0),
    lambda: Phase(1j), lambda: Pair((1.0, 2.0)), lambda: Named(1.0, 2.0), lambda: Row([1.0]),
    lambda: Table(a=1.0), lambda: Seen({1}),
]  # fmt: skip


@pytest.mark.parametrize("make", OF_CLASSES)
@pytest.mark.parametrize("f", [
    lambda x: x * K.w, lambda x: x * getattr(K, "w", 1.0),
    lambda x: x * (2.0 if hasattr(K, "z") else 3.0),
    lambda x: x * (2.0 if isinstance(K, (Length, Phase, Word)) else 3.0),
    lambda x: x * sum(vars(K).values()),
])  # fmt: skip
def test_attributes_of_numbers_texts_and_containers(f: Any, make: Any) -> None:
    """Classes of the user's that are numbers, texts or containers, and have attributes."""
    global K
    compiled = jit(f)
    for step in range(6):
        if step % 3 == 0:
            K = make()
        K.w = 1.5 + step
        if step == 2:
            K.z = 1.0
        try:
            got = compiled(1.0)
        except (JitadError, AttributeError):
            continue
        assert got == f(1.0)


# -- functions that keep their results ------------------------------------------------------------

_SCALE = [2.0]


@functools.lru_cache(maxsize=2)
def scaled(n: int) -> float:
    return _SCALE[0] * n


def test_results_that_are_kept_no_longer() -> None:
    scaled.cache_clear()
    _SCALE[0] = 2.0
    g = jit(lambda x: x * scaled(2))
    assert g(1.0) == 4.0
    _SCALE[0] = 3.0
    assert g(1.0) == scaled(2) == 4.0  # as it is kept
    scaled.cache_clear()
    assert g(1.0) == scaled(2) == 6.0
    _SCALE[0] = 5.0
    scaled(7), scaled(8)  # there is room for two
    assert g(1.0) == scaled(2) == 10.0
