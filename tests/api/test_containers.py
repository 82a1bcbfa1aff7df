"""Containers of every class, as arguments, captured and returned: seen anew or refused, not stale.

What a call can't take apart or guard is refused with what to pass instead.
"""

from __future__ import annotations

import array
import collections
import functools
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from jitad import (
    JitadError,
    derivative,
    grad,
    jit,
    jit_grad,
    jvp,
    register_structure,
    vjp,
)
from jitad.errors import JitadTypeError


class MyDict(dict):
    pass


class MyList(list):
    pass


class MyUserDict(collections.UserDict):
    def __getitem__(self, key):
        return super().__getitem__(key)


class Bag:
    """A container of the user's own: its methods are traced."""

    def __init__(self, *values):
        self.values = list(values)

    def __getitem__(self, k):
        return self.values[k]

    def __len__(self):
        return len(self.values)


def first(c):
    return c[0]


def at_a(c):
    return c["a"]


def total(c):
    s = 0.0
    for v in c:
        s = s + v
    return s


def count(c):
    return float(len(c))


def truth(c):
    return 1.0 if c else 2.0


def has_b(c):
    return 1.0 if "b" in c else 2.0


Make = Callable[[], Any]
Change = Callable[[Any], Any]


def put(key: Any) -> Change:
    return lambda c: c.__setitem__(key, 5.0)


def proxy() -> Any:
    return types.MappingProxyType({"a": 1.0})


# name -> (make, change, read)
SEEN: dict[str, tuple[Make, Change, Any]] = {
    "list": (lambda: [1.0], put(0), first),
    "dict": (lambda: {"a": 1.0}, put("a"), at_a),
    "dict in": (lambda: {"a": 1.0}, put("b"), has_b),
    "deque": (lambda: collections.deque([1.0]), put(0), first),
    "deque's length": (lambda: collections.deque([1.0]), lambda c: c.append(2.0), count),
    "OrderedDict": (lambda: collections.OrderedDict(a=1.0), put("a"), at_a),
    "defaultdict": (lambda: collections.defaultdict(float, a=1.0), put("a"), at_a),
    "Counter": (lambda: collections.Counter(a=1), put("a"), at_a),
    "a dict": (lambda: MyDict(a=1.0), put("a"), at_a),
    "a list": (lambda: MyList([1.0]), put(0), first),
    "a list's sum": (lambda: MyList([1.0]), lambda c: c.append(2.0), total),
    "set": (lambda: {1.0}, lambda c: c.add(2.0), total),
    "namespace": (
        lambda: types.SimpleNamespace(a=1.0), lambda c: setattr(c, "a", 5.0), lambda c: c.a,
    ),
    "UserDict": (lambda: collections.UserDict(a=1.0), put("a"), at_a),
    "UserDict's length": (lambda: collections.UserDict(a=1.0), put("b"), count),
    "UserDict's truth": (collections.UserDict, put("a"), truth),
    "UserDict in": (lambda: collections.UserDict(a=1.0), put("b"), has_b),
    "a UserDict": (lambda: MyUserDict(a=1.0), put("a"), at_a),
    "UserList": (lambda: collections.UserList([1.0]), put(0), first),
    "UserList's sum": (lambda: collections.UserList([1.0]), lambda c: c.append(2.0), total),
    "ChainMap": (lambda: collections.ChainMap({}, {"a": 1.0}), put("a"), at_a),
    "ChainMap in": (lambda: collections.ChainMap({"a": 1.0}), put("b"), has_b),
    "own class": (lambda: Bag(1.0), lambda c: c.values.__setitem__(0, 5.0), first),
    "own class's length": (lambda: Bag(1.0), lambda c: c.values.append(5.0), count),
}  # fmt: skip

REFUSED: dict[str, tuple[Make, Any]] = {
    "array": (lambda: array.array("d", [1.0]), total),
    "memoryview": (lambda: memoryview(np.ones(1)), first),
    "bytearray": (lambda: bytearray(b"a"), first),
    "proxy": (proxy, at_a),
    "values": (lambda: {"a": 1.0}.values(), total),
    "items": (lambda: {"a": 1.0}.items(), count),
    "iterator": (lambda: iter([1.0, 2.0]), next),
    "generator": (lambda: (v for v in [1.0, 2.0]), next),
    "counter": (lambda: itertools.count(1.0), next),
}


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("name", SEEN)
def test_a_change_is_seen(name: str, captured: bool) -> None:
    make, change, read = SEEN[name]
    c = make()
    if captured:
        g = jit(lambda x: read(c) * x)
        call: Any = lambda: (g(3.0), read(c) * 3.0)
    else:
        g = jit(lambda c, x: read(c) * x)
        call = lambda: (g(c, 3.0), read(c) * 3.0)
    before, expected = call()
    assert before == expected
    change(c)
    after, expected = call()
    assert after == expected != before


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_seen_is_refused(name: str, captured: bool) -> None:
    make, read = REFUSED[name]
    c = make()
    text = "content a trace can't follow|which a call would advance"
    with pytest.raises(JitadError, match=text):
        if captured:
            jit_grad(lambda x: read(c) * x)(3.0)
        else:
            jit_grad(lambda c, x: read(c) * x, 1)(c, 3.0)
    if hasattr(c, "__next__"):
        assert next(c) == 1.0  # nothing was used up


METHODS: dict[str, tuple[Make, Any]] = {
    "values": (lambda: {"a": 1.0, "b": 2.0}, lambda c: sum(c.values())),
    "items": (lambda: {"a": 1.0, "b": 2.0}, lambda c: sum(v * len(k) for k, v in c.items())),
    "keys": (lambda: {"a": 1.0, "b": 2.0}, lambda c: sum(c[k] for k in c.keys())),
    "get": (lambda: {"a": 1.0}, lambda c: c.get("a", 2.0) + c.get("b", 3.0)),
    "copy": (lambda: [1.0, 2.0], lambda c: c.copy()[1]),
    "index": (lambda: ["a", "b"], lambda c: float(c.index("b"))),
    "set": (lambda: {1.0, 2.0}, lambda c: sum(c.union({3.0}))),
    "deque": (lambda: collections.deque([1.0, 2.0]), lambda c: float(c.count(1.0))),
    "text": (lambda: "a b", lambda c: float(len(c.split()))),
}


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_containers_make_no_new_kernels(name: str, captured: bool) -> None:
    make, read = METHODS[name]
    c = make()
    g = jit(lambda x: read(c) * x) if captured else jit(lambda c, x: read(c) * x)
    for _ in range(4):
        assert (g(3.0) if captured else g(make(), 3.0)) == read(make()) * 3.0
    assert len(g.specialisations) == 1


def test_equal_objects_share_a_kernel() -> None:
    g = jit(lambda c, x: c[0] * x)
    for k in range(5):
        assert g(Bag(float(k)), 2.0) == 2.0 * k
    assert len(g.specialisations) == 1


MANY = [float(k) for k in range(20_000)]


@pytest.mark.parametrize(
    "call",
    [
        lambda: jit_grad(lambda p: sum(p))(tuple(MANY)),
        lambda: jit_grad(lambda p: p["a"][0])({"a": tuple(MANY)}),
        lambda: jit_grad(lambda p: sum(p))([*MANY, 1]),
        lambda: jit_grad(lambda x: x * sum(OTHERS))(2.0),
    ],
)
def test_too_many_numbers_one_by_one(call: Callable[[], Any]) -> None:
    with pytest.raises(JitadError, match=r"(Put them into|Make it) an array"):
        call()


OTHERS = (*MANY, 1.0)
TABLE = {f"k{k}": {"weight": 1.0 + k, "terms": [0.1 * k, 0.2, 0.3], "range": (0.5, 2.0 * k)}
         for k in range(300)}  # fmt: skip


def looked_up(x: float, name: str) -> float:
    row = TABLE[name]
    low, high = row["range"]
    total = 0.0
    for c in row["terms"]:
        total = total * x + c
    return total * row["weight"] * min(max(x, low), high)


def test_tables_outside_are_constants_that_are_compared() -> None:
    """More numbers than a kernel has inputs: it is made for them, until they are others."""
    g = jit_grad(looked_up, fallback=False)
    for name, x in (("k3", 0.7), ("k200", 1.3), ("k3", 0.2)):
        assert g(x, name) == pytest.approx(grad(looked_up)(x, name), rel=1e-14)
    before = g(0.7, "k3")
    row = TABLE["k3"]
    try:
        row["weight"] *= 2.0
        assert g(0.7, "k3") == pytest.approx(2.0 * before, rel=1e-14)
        row["terms"][0] += 1.0
        assert g(0.7, "k3") == pytest.approx(grad(looked_up)(0.7, "k3"), rel=1e-14)
    finally:
        row["weight"] /= 2.0
        row["terms"][0] -= 1.0
    assert g(0.7, "k3") == pytest.approx(before, rel=1e-14)


# -- what leaves ----------------------------------------------------------------------------------

LEAVING: dict[str, Callable[[Any], Any]] = {
    "iterator": lambda x: iter([x]),
    "generator": lambda x: (e for e in [x]),
    "map": lambda x: map(abs, [x]),
    "values": lambda x: {"a": x}.values(),
    "zip": lambda x: zip([x], [1.0]),
    "enumerate": lambda x: enumerate(np.ones(int(x)) * x),
    "range": lambda x: range(int(x)),
    "method": lambda x: [x].copy,
}


@pytest.mark.parametrize("name", LEAVING)
def test_nothing_traced_leaves(name: str) -> None:
    with pytest.raises(JitadError, match="leaves the compiled function"):
        jit(LEAVING[name])(3.0)


MADE: dict[str, Callable[[Any], Any]] = {
    "deque": lambda x: collections.deque([x, 2.0], maxlen=3),
    "defaultdict": lambda x: collections.defaultdict(float, a=x),
    "Counter": lambda x: collections.Counter(a=x),
    "inside": lambda x: {"a": [(collections.deque([x]), 1.0)]},
    "object": lambda x: Bag(x),
}


@pytest.mark.parametrize("name", MADE)
def test_containers_that_are_no_structures(name: str) -> None:
    """They may be made and returned, but a derivative would not see what is in them."""
    f = MADE[name]
    found = jit(f)(3.0)
    assert type(found) is type(f(3.0)) and (name == "object" or found == f(3.0))
    ways = [lambda x: derivative(f)(x), lambda x: jvp(f, (x,), (1.0,)), lambda x: vjp(f, x)[0]]
    for way in ways[: 2 if name == "object" else 3]:
        for run in (way, jit(way)):
            with pytest.raises(JitadTypeError, match="whose numbers jitad can't see"):
                run(3.0)


def test_functions_may_be_returned() -> None:
    """They hold the numbers that they need."""
    partial, closure = jit(lambda x: (functools.partial(abs, -x), lambda: 2.0 * x))(3.0)
    assert partial() == 3.0 and closure() == 6.0


def test_what_may_be_returned() -> None:
    out = jit(lambda x: (
        collections.OrderedDict(a=x), types.SimpleNamespace(a=x), [x], {"b": (x,)}, "text", Bag(x),
        collections.deque(["static"]), max,
    ))(3.0)  # fmt: skip
    assert out[:5] == (
        collections.OrderedDict(a=3.0), types.SimpleNamespace(a=3.0), [3.0], {"b": (3.0,)}, "text",
    )  # fmt: skip
    assert out[5].values == [3.0] and type(out[5]) is Bag
    assert out[6:] == (collections.deque(["static"]), max)


# -- registered classes ---------------------------------------------------------------------------


class Line:
    def __init__(self, slope: Any, offset: Any, name: str) -> None:
        self.slope, self.offset, self.name = slope, offset, name


register_structure(
    Line, lambda v: ((v.slope, v.offset), v.name), lambda parts, name: Line(*parts, name)
)


def test_registered_classes_are_arguments_of_kernels() -> None:
    def f(line, x):
        return np.sum(line.slope**2 * x) + line.offset * (2.0 if line.name == "a" else 3.0)

    g = jit_grad(f)
    x = np.array([1.0, 2.0])
    for slope, name in ((1.0, "a"), (4.0, "a"), (4.0, "b")):
        line = Line(np.array([slope, -1.0]), 1.0, name)
        for got in (g(line, x), grad(f)(line, x)):
            assert type(got) is Line and got.name == name
            np.testing.assert_array_equal(got.slope, 2 * line.slope * x)
            assert got.offset == (2.0 if name == "a" else 3.0)
    assert len(g.specialisations) == 2


# -- ranges ---------------------------------------------------------------------------------------


def ranges() -> Iterator[Any]:
    yield lambda n: sum(range(n))
    yield lambda n: sum(range(n, -n, -3), 10)
    yield lambda n: list(range(n))
    yield lambda n: tuple(range(1, n, 2))
    yield lambda n: [*range(n)][-1]
    yield lambda n: (len(range(n)), len(range(-n)), len(range(n, 0, -2)))
    yield lambda n: (range(n)[-1], range(3, n)[1])
    yield lambda n: (3 in range(n), n in range(0, n + 1, 2), n - 1 in range(n), -1 in range(n))
    yield lambda n: (2.0 in range(n), 2.5 in range(n), 3 not in range(n))
    yield lambda n: (max(range(n)), min(range(1, n)))
    yield lambda n: sorted(range(n), reverse=True)
    yield lambda n: dict(enumerate(range(n)))
    yield lambda n: np.prod([i + 1.0 for i in range(n)])
    yield lambda n: any(i > 3 for i in range(n))


@pytest.mark.parametrize("f", list(ranges()))
def test_ranges_of_traced_length(f: Any) -> None:
    g = jit(f)
    for n in (5, 8, 5):
        assert g(n) == f(n)


def test_a_sum_over_a_range_is_a_loop() -> None:
    g = jit(lambda n: sum(range(n)))
    for n in (0, -3, 10, 1000, 10**6):
        assert g(n) == sum(range(n))
    assert len(g.specialisations) == 1


def test_an_index_outside_a_range() -> None:
    with pytest.raises(IndexError, match="range object index out of range"):
        jit(lambda n, k: range(n)[k])(5, 5)


def test_a_list_of_a_long_range() -> None:
    f = jit(lambda n: len(list(range(n))))
    assert f(100_000) == 100_000
    assert f(7) == 7
    assert len(f.specialisations) == 1
