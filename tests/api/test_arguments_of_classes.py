"""Are objects whose attributes are not all that they hold, or not as read, taken apart rightly?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
          "doubled, no dataclass": lambda: DoubledToo(2.0)}  # fmt: skip


@pytest.mark.parametrize("kind", UNSEEN)
@pytest.mark.parametrize("operator", [grad, jit_grad, jacfwd])
def test_others_are_refused_by_name(operator: Callable[..., Any], kind: str) -> None:
    thing = UNSEEN[kind]()
    with pytest.raises(JitadTypeError, match=r"argument 0 .e. (is a|has no floats)"):
        operator(square)(thing)
    with pytest.raises(JitadTypeError, match="is a"):
        jvp(square, (thing,), (thing,))
    with pytest.raises(JitadTypeError, match="is a"):
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
