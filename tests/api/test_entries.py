"""Do calls go straight to the kernel, whatever their arguments are made of, and only where it fits?

A steady call must not come to `_slow`; a call that differs in structure, types or values that the
trace relied on must give what the plain function gives.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad import grad, jit, jit_grad, jit_value_and_grad, register_structure
from tests.api.counting import calls_of, compilations


class Pair(NamedTuple):
    w: Any
    b: Any


class Checked(Pair):
    __slots__ = ()

    def __new__(cls, w: Any) -> Checked:
        if w < 0.0:
            raise ValueError("negative")
        return super().__new__(cls, w, 2.0 * w)


@dataclass
class Data:
    w: Any
    b: Any


@dataclass(frozen=True)
class Slotted:
    __slots__ = ("b", "w")
    w: Any
    b: Any


@dataclass
class WithDict:
    w: Any


@dataclass(slots=True)
class SlotsToo(WithDict):
    b: Any


@dataclass
class DictToo:
    __slots__ = ("__dict__", "b")
    w: Any
    b: Any


class Registered:
    def __init__(self, w: Any, b: Any, scale: int = 1) -> None:
        self.w, self.b, self.scale = w, b, scale

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other)


register_structure(
    Registered, lambda v: ((v.w, v.b), v.scale), lambda parts, scale: Registered(*parts, scale)
)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that were not taken by an entry."""
    return calls_of("_slow", monkeypatch)


def sequence(p):
    return p[0] * p[0] * 3.0 + p[1]


def named(p):
    return p.w * p.w * 3.0 + p.b


def mapped(p):
    return p["w"] * p["w"] * 3.0 + p["b"]


KINDS: dict[str, tuple[Any, Any, Any]] = {
    "tuple": (sequence, (2.0, 1.0), (12.0, 1.0)),
    "list": (sequence, [2.0, 1.0], [12.0, 1.0]),
    "dict": (mapped, {"w": 2.0, "b": 1.0}, {"w": 12.0, "b": 1.0}),
    "OrderedDict": (
        mapped, collections.OrderedDict(w=2.0, b=1.0), collections.OrderedDict(w=12.0, b=1.0),
    ),
    "NamedTuple": (named, Pair(2.0, 1.0), Pair(12.0, 1.0)),
    "NamedTuple of another constructor": (
        named, tuple.__new__(Checked, (2.0, 1.0)), tuple.__new__(Checked, (12.0, 1.0))),
    "dataclass": (named, Data(2.0, 1.0), Data(12.0, 1.0)),
    "slots": (named, Slotted(2.0, 1.0), Slotted(12.0, 1.0)),
    "slots beside a dict": (named, SlotsToo(2.0, 1.0), SlotsToo(12.0, 1.0)),
    "a dict beside slots": (named, DictToo(2.0, 1.0), DictToo(12.0, 1.0)),
    "registered": (named, Registered(2.0, 1.0), Registered(12.0, 1.0)),
    "nested": (lambda p: sequence(p[0]) + mapped(p[1]), ((2.0, 1.0), {"w": 1.0, "b": 0.0}),
               ((12.0, 1.0), {"w": 6.0, "b": 1.0})),
    "None inside": (lambda p: p[0] * 3.0 if p[1] is None else p[0], (2.0, None), (3.0, None)),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_steady_call_is_taken_by_the_entry(name: str, slow: list[Any]) -> None:
    f, p, expected = KINDS[name]
    g = jit_grad(f)
    for _ in range(4):
        got = g(p)
        assert type(got) is type(p) and got == expected
    assert len(slow) == 1
    assert g(p) is not p


def test_keywords_and_texts(slow: list[Any]) -> None:
    def f(x, how="square", *, scale=1.0, data=None):
        y = x * x if how == "square" else x
        return scale * y + (0.0 if data is None else x * data["a"][0])

    g = jit_grad(f)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((3.0,), {"scale": 2.0}), ((3.0, "plain"), {}), ((3.0, "square"), {}),
        ((3.0,), {"how": "plain", "scale": 5.0}), ((3.0,), {"scale": 5.0, "how": "plain"}),
        ((3.0,), {"data": {"a": (4.0,)}}), ((3.0,), {"data": None}),
        ((3.0,), {"data": {"a": (4.0, 1)}}),
    ]  # fmt: skip
    for args, kwargs in calls * 2:
        expected = grad(f)(*args, **kwargs)
        assert g(*args, **kwargs) == expected
        known = len(slow)
        assert g(*args, **kwargs) == g(*args, **kwargs) == expected
        assert len(slow) == known


def test_what_differs_is_not_taken() -> None:
    """Length, keys, their order, classes, types and extents, after a call that they differ from."""

    def total(p):
        out = 0.0
        for v in p.values() if isinstance(p, dict) else p:
            out = out * 10.0 + np.sum(v)
        return out

    g = jit(total)
    x = np.ones(3)
    arguments: list[Any] = [
        (1.0, 2.0), (1.0, 2.0, 3.0), [1.0, 2.0], (1.0, 2), (1.0, True), (1.0, np.float32(2)),
        (x, x), (x, x.astype(np.float32)), (x, np.ones((2, 2))), (x, np.ones(1)), (x, (1.0, 2.0)),
        {"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}, {"a": 1.0, "c": 2.0}, {"a": 1.0},
        Pair(1.0, 2.0), (), {},
    ]  # fmt: skip
    for p in arguments:
        for q in arguments:
            for r in (p, q, p):
                assert g(r) == pytest.approx(total(r), rel=1e-7)
    with compilations() as made:
        for p in arguments * 2:
            g(p)
    assert made == []


def test_the_fixed_part_of_a_registered_class() -> None:
    g = jit_value_and_grad(lambda p: p.w * p.scale)
    for scale in (1, 2, 1, 3):
        for _ in range(2):
            assert g(Registered(5.0, 0.0, scale)) == (5.0 * scale, Registered(scale, 0.0, scale))


def test_results_of_every_structure(slow: list[Any]) -> None:
    def f(x, a):
        y = np.exp(a)
        shared = [x]
        return {"t": (x, y), "l": [y, 2, "text", None], "n": Pair(shared, shared), 3: Data(x, y)}

    g = jit(f)
    a = np.array([0.0, 1.0])
    for _ in range(3):
        out = g(2.0, a)
        assert out["t"][0] == 2.0 and out["l"][1:] == [2, "text", None] and list(out) == [
            "t", "l", "n", 3]  # fmt: skip
        assert out["t"][1] is out["l"][0] is out[3].b  # one array, as in plain Python
        assert out["n"].w is out["n"].b
        np.testing.assert_array_equal(out[3].b, np.exp(a))
    twice = jit(lambda a: (a * 2.0,) * 2)
    for _ in range(3):
        p, q = twice(a)
        assert p is q
    again = jit(lambda x: ((y := 2.0 * x), y, [y, (y,)]))
    for _ in range(3):
        assert again(3.0) == (6.0, 6.0, [6.0, (6.0,)])


@pytest.mark.parametrize(
    "dtype", [np.float32, np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.uint64]
)
def test_numpy_numbers_keep_their_class(dtype: Any) -> None:
    """On the first call and by the entry; float64, int64 and bool are Python's."""

    def f(x, a):
        return x + dtype(1), (np.max(a), [a[0], len(a)])

    g = jit(f)
    x, a = dtype(3), np.array([1, 2], dtype)
    for _ in range(3):
        y, (top, (first, n)) = g(x, a)
        assert (y, top, first, n) == (4, 2, 1, 2)
        assert type(y) is type(top) is type(first) is dtype and type(n) is int
    if dtype is np.float32:
        assert type(jit_grad(lambda x: x * x)(x)) is dtype
    assert [type(v) for v in jit(lambda a, b: (a, b))(np.float64(1.0), np.int64(1))] == [float, int]


NUMBERS = tuple(float(k) for k in range(50))
NESTED = {"a": [1.0, (2.0, 3.0)], "b": np.array([1.0, 2.0])}


def test_captured_structures(slow: list[Any]) -> None:
    g = jit(lambda x: sum(v * x for v in NUMBERS) + NESTED["a"][1][0] * np.sum(NESTED["b"] * x))
    for _ in range(3):
        assert g(2.0) == 2.0 * sum(NUMBERS) + 12.0
    assert len(slow) == 1
    NESTED["a"][1] = (5.0, 3.0)  # type: ignore[index]
    assert g(2.0) == 2.0 * sum(NUMBERS) + 30.0
    assert len(slow) == 1
    NESTED["a"].append(1.0)  # type: ignore[attr-defined]
    assert g(2.0) == 2.0 * sum(NUMBERS) + 30.0
    NESTED["a"][1] = (2.0, 3.0)  # type: ignore[index]
    NESTED["a"].pop()  # type: ignore[attr-defined]


FACTOR = 2.0


def test_a_compiled_function_inside_another_is_traced_with_it() -> None:
    """Even where its arguments are known: what it captures may change."""
    global FACTOR
    log: list[float] = []

    def f(x):
        log.append(x)
        return FACTOR * x * x

    g = jit_grad(f)
    assert g(3.0) == 12.0
    over = jit(lambda x: x * g(3.0) + sum(map(g, [3.0, 1.0])))
    log.clear()
    assert over(1.0) == 12.0 + 16.0
    FACTOR = 5.0
    assert over(1.0) == 30.0 + 40.0
    assert log == [3.0, 3.0, 1.0] * 2
    FACTOR = 2.0
