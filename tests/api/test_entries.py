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

from jitad import JitadError, grad, jit, jit_grad, jit_value_and_grad, register_structure
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


@dataclass
class Failure(Exception):
    level: Any


@dataclass
class Table(dict):  # type: ignore[type-arg]
    level: Any


@dataclass
class Items(list):  # type: ignore[type-arg]
    level: Any


@dataclass
class Anew:
    level: Any

    def __new__(cls, *_: Any) -> Anew:
        return object.__new__(cls)


@pytest.mark.parametrize("kind", [Failure, Table, Items, Anew])
@pytest.mark.parametrize("alone", [True, False])
def test_results_that_are_more_than_their_fields(kind: Any, alone: bool) -> None:
    """In calls after the first, too."""

    def f(x: Any) -> Any:
        out = kind(x * 2.0)
        if kind is Table:
            out["x"] = x
        if kind is Items:
            out.append(x)
        return out if alone else (out, [x, out])

    g = jit(f)
    for x in (3.0, 4.0, 5.0):
        got = g(x)
        if not alone:
            got, inside = got
            assert inside[1] is got
        assert type(got) is kind and got.level == 2.0 * x
        assert kind is not Table or dict(got) == {"x": x}
        assert kind is not Items or list(got) == [x]


class Named(list):  # type: ignore[type-arg]
    def __init__(self, level: Any, *items: Any) -> None:
        super().__init__(items)
        self.level = level


class MyItems(list):  # type: ignore[type-arg]
    pass


class Couple(tuple):  # type: ignore[type-arg]
    __slots__ = ()

    def __new__(cls, a: Any, b: Any) -> Couple:
        return super().__new__(cls, (a, b))


class Marked(tuple):  # type: ignore[type-arg]
    pass


def of_its_constructor(x):
    return Named(x * 2.0, x, 3.0 * x)


def that_gets_longer(x):
    out = Named(0.0)
    for k in range(4):
        out.append(x * k)
        out.level = out.level + x
    return out


def of_its_own_new(x):
    return [Couple(x, 2.0 * x)]


def with_an_attribute(x):
    out = Marked((x, 2.0 * x))
    out.mark = x * x
    return out


def chosen(x):
    out = Named(x, x)
    if x > 3.5:
        out.level = 2.0 * x
        out[0] = 5.0 * x
    return {"a": out}


class Thing:
    pass


class Slots:
    __slots__ = ("a", "b")


def checked(x):
    return Checked(x * x), [Checked(x * x).b]


class Empty(NamedTuple):
    pass


def without_fields(x):
    return Empty(), [x, Empty()]


def more_on_a_path(x):
    out, marked = Named(x, x), Marked((x,))
    if x > 3.5:
        out.more = marked.more = x
    return {"a": out, "c": marked}


def more_in_a_loop(x):
    out, k = Named(x, x), 0.0
    while k * x < 10.0:
        k += 1.0
        out.more = k * x
    return out


DERIVED = [of_its_constructor, that_gets_longer, of_its_own_new, with_an_attribute, chosen,
           more_on_a_path, more_in_a_loop, checked, without_fields]  # fmt: skip


@pytest.mark.parametrize("f", DERIVED)
def test_results_of_classes_derived_from_lists_and_tuples(f: Any) -> None:
    g = jit(f)
    for x in (3.0, 4.0, 5.0):
        for got, true in zip(flat(g(x)), flat(f(x)), strict=True):
            assert type(got) is type(true) and got == true
            assert getattr(got, "__dict__", None) == getattr(true, "__dict__", None)


@pytest.mark.parametrize("kind", [Thing, Slots])
def test_an_attribute_on_some_paths_only(kind: Any) -> None:
    def f(x: Any) -> Any:
        out = kind()
        out.a = x
        if x > 3.5:
            out.b = 2.0 * x
        return out

    g = jit(f)
    for x in (3.0, 4.0, 3.0, 5.0):
        got = g(x)
        assert type(got) is kind and got.a == x
        assert getattr(got, "b", "none") == (2.0 * x if x > 3.5 else "none")


class Keyed(dict):  # type: ignore[type-arg]
    def __new__(cls, level: Any, a: Any) -> Keyed:
        return super().__new__(cls)

    def __init__(self, level: Any, a: Any) -> None:
        super().__init__(a=a)
        self.level = level


def test_a_dict_whose_constructor_takes_other_things() -> None:
    def f(x: Any) -> Any:
        out = Keyed(2.0 * x, x)
        out["b"] = x * x
        return out

    g = jit(f)
    for x in (3.0, 4.0):
        got = g(x)
        assert (type(got), dict(got), got.level) == (Keyed, {"a": x, "b": x * x}, 2.0 * x)


def test_a_tuple_that_was_made_elsewhere() -> None:
    made = Couple(2.0, 3.0)  # of which there may be two
    for x in (3.0, 4.0):
        got, product = jit(lambda of, x: (of, of[0] * x))(made, x)
        assert (type(got), got, product) == (Couple, made, 2.0 * x)


@pytest.mark.parametrize("made", [Named(1.0, 2.0, 3.0), MyItems([2.0, 3.0])])
def test_what_was_made_elsewhere_is_handed_on(made: Any) -> None:
    """As itself, be it an argument or what the function has around it."""
    g, h = jit(lambda of, x: (of, of[0] * x)), jit(lambda x: [made, made[1] * x])
    for x in (3.0, 4.0):
        got, product = g(made, x)
        assert got is made and product == 2.0 * x
        kept, product = h(x)
        assert kept is made and product == 3.0 * x


@pytest.mark.parametrize("operator", [grad, jit_grad])
def test_no_derivative_by_attributes_alone(operator: Any) -> None:
    """What is in a container would be left out."""
    with pytest.raises(JitadError, match="argument 0"):
        operator(lambda of: of[0] * of.level)(Named(1.0, 2.0))


def test_a_function_over_a_name_that_some_paths_bind() -> None:
    def f(x: Any) -> Any:
        def inner(y: Any) -> Any:
            return y * k

        if x > 3.5:
            k = x
        return inner

    g = jit(f)
    for x in (4.0, 3.0, 5.0):
        inner = g(x)
        assert x < 3.5 or inner(2.0) == 2.0 * x


def test_columns_of_derived_lists_are_refused() -> None:
    def f(x: Any) -> Any:
        rows, k = [], 0.0
        while k * x < 7.0:
            k += 1.0
            rows.append(Named(k, x, k))
        return [list(column) for column in zip(*rows)]

    with pytest.raises(JitadError, match="by a star"):
        jit(f)(3.0)


def flat(value: Any) -> list[Any]:
    inside = value.values() if isinstance(value, dict) else value
    if not hasattr(inside, "__iter__"):
        return [value]
    return [value, *(p for v in inside for p in flat(v))]


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
