"""Are objects whose attributes are not all that they hold, or not as read, taken apart rightly?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from jitad import grad, jacfwd, jit, jit_grad, jvp, vjp
from jitad.errors import JitadTypeError


@dataclass
class Failure(Exception):
    a: float


@dataclass
class Table(dict):
    a: float


@dataclass
class Series(list):
    a: float


@dataclass
class Doubled:
    a: float

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        return 2.0 * found if name == "a" else found


class DoubledToo:
    def __init__(self, a: float) -> None:
        self.a = a

    __getattribute__ = Doubled.__getattribute__


class Times:
    """Read as so many times what is held under the same name."""

    def __init__(self, by: float, kept: bool) -> None:
        self.by, self.kept = by, kept

    def __get__(self, of: Any, kind: Any = None) -> Any:
        return 1.5 if of is None else of.__dict__["a"] * self.by

    def __set__(self, of: Any, value: Any) -> None:
        of.__dict__["a"] = value / self.by if self.kept else value


class Checked:
    def __get__(self, of: Any, kind: Any = None) -> Any:
        return 1.5 if of is None else of.__dict__["a"]

    def __set__(self, of: Any, value: Any) -> None:
        of.__dict__["a"] = value


class Both:
    def __init__(self, a: float) -> None:
        self.a = a


class InUnits(Both):
    a = Times(1000.0, True)


class Twice(Both):
    a = Times(2.0, False)


@dataclass
class TwiceToo:
    a: float = Times(2.0, False)  # type: ignore[assignment]


@dataclass
class InUnitsToo:
    a: float = Times(1000.0, True)  # type: ignore[assignment]


class CheckedOne(Both):
    a = Checked()


class Single(Both):
    def __copy__(self) -> Single:
        return self


class Pair(NamedTuple):
    a: float
    b: float


class Tripled(Pair):
    def __getitem__(self, k: Any) -> Any:
        return tuple.__getitem__(self, k) * 3.0


class FiveTimes(Pair):
    def __iter__(self) -> Any:
        return (v * 5.0 for v in tuple.__iter__(self))


class TripledToo(tuple):
    __getitem__ = Tripled.__getitem__


def square(e: Any) -> Any:
    return e.a**2


def table() -> Table:
    out = Table(2.0)
    out["k"] = 3.0
    return out


@pytest.mark.parametrize("operator", [grad, jit_grad])
def test_a_dataclass_that_is_an_exception_is_its_attributes(operator: Callable[..., Any]) -> None:
    e = Failure(2.0)
    assert operator(square)(e) == {"a": 4.0}
    assert e == Failure(2.0) and jit(square)(e) == 4.0


UNSEEN = {"dict": table, "list": lambda: Series(2.0), "doubled": lambda: Doubled(2.0),
          "doubled, no dataclass": lambda: DoubledToo(2.0),
          "by a descriptor": lambda: Twice(2.0), "in other units": lambda: InUnits(2.0),
          "a field by a descriptor": lambda: TwiceToo(2.0)}  # fmt: skip


@pytest.mark.parametrize("kind", UNSEEN)
@pytest.mark.parametrize("operator", [grad, jit_grad, jacfwd])
def test_others_are_refused_by_name(operator: Callable[..., Any], kind: str) -> None:
    thing = UNSEEN[kind]()
    with pytest.raises(JitadTypeError, match=r"argument 0 .e. (is a|has no floats)|is computed"):
        operator(square)(thing)
    with pytest.raises(JitadTypeError, match=r"is a|is computed"):
        jvp(square, (thing,), (thing,))
    with pytest.raises(JitadTypeError, match=r"is a|is computed"):
        vjp(square, thing)


@pytest.mark.parametrize("kind", UNSEEN)
def test_and_read_as_they_are(kind: str) -> None:
    """The second time, too, when something was written meanwhile."""
    thing = UNSEEN[kind]()
    value, slope = jit(square), jit_grad(lambda y: y * y * square(thing))
    for a in (2.0, 3.0):
        thing.a = a
        assert value(thing) == square(thing) == thing.a**2
        assert slope(1.5) == grad(lambda y: y * y * square(thing))(1.5) == 3.0 * square(thing)


def test_what_descriptors_give_back_is_a_part() -> None:
    for thing in (InUnitsToo(2.0), CheckedOne(2.0)):
        found = grad(square)(thing)
        assert (found["a"] if isinstance(found, dict) else found.a) == pytest.approx(4.0, rel=1e-15)
        assert thing.a == 2.0 and jit(lambda y, e=thing: y * square(e))(1.0) == 4.0


class Reversed:
    def __get__(self, of: Any, kind: Any = None) -> Any:
        return (1.5,) if of is None else of.__dict__["a"][::-1]

    def __set__(self, of: Any, value: Any) -> None:
        of.__dict__["a"] = value


@dataclass
class Several:
    a: tuple[float, ...] = Reversed()  # type: ignore[assignment]


@dataclass
class SeveralChecked:
    a: tuple[float, ...] = Checked()  # type: ignore[assignment]


def test_fields_of_complex_numbers_and_of_several() -> None:
    for thing, f in ((TwiceToo(1.0 + 2.0j), lambda e: abs(e.a)),  # type: ignore[arg-type]
                     (Several((2.0, 3.0)), lambda e: e.a[0] ** 2 * e.a[1])):  # fmt: skip
        with pytest.raises(JitadTypeError, match="is computed"):
            grad(f)(thing)
    found = grad(lambda e: e.a[0] ** 2 * e.a[1])(SeveralChecked((2.0, 3.0)))
    assert found.a == (12.0, 4.0)


def test_what_can_not_be_copied_is_not_written_to() -> None:
    one = Single(2.0)
    for operator in (grad, jit_grad):
        with pytest.raises(JitadTypeError, match="copying it gives itself"):
            operator(square)(one)
        assert one.a == 2.0


def by_item(q: Any) -> Any:
    return q[0] ** 2 * q[1]


def by_loop(q: Any) -> Any:
    total = 0.0
    for v in q:
        total += v * v
    return total * len(q)


@pytest.mark.filterwarnings("ignore::jitad.errors.FallbackWarning")
@pytest.mark.parametrize("kind", [Tripled, FiveTimes, TripledToo])
@pytest.mark.parametrize("f", [by_item, by_loop])
def test_tuples_that_are_not_read_as_they_are_held(kind: Any, f: Callable[..., Any]) -> None:
    """As arguments they are refused; from outside, and made inside, they do what they do."""
    q = tuple.__new__(kind, (3.0, 2.0))
    for operator in (grad, jit_grad):
        with pytest.raises(JitadTypeError, match=r"argument 0 .*(is a|has no floats)"):
            operator(f)(q)
    given, outside = jit(f, fallback=True), jit(lambda y: y * f(q), fallback=True)
    for _ in range(2):
        assert given(q) == outside(1.0) == f(q)

    def inside(y: Any) -> Any:
        return f(kind(y, 2.0) if kind is not TripledToo else kind((y, 2.0)))

    h = 1e-6
    expected = (inside(3.0 + h) - inside(3.0 - h)) / (2.0 * h)
    for operator in (grad, jit_grad):
        assert operator(inside)(3.0) == pytest.approx(expected, rel=1e-7)
