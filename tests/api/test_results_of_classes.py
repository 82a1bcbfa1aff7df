"""Do objects of the user's classes leave a kernel as they are, whatever their constructors take?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from jitad import JitadError, grad, jit, jit_grad
from tests.api.test_entries import Checked


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
