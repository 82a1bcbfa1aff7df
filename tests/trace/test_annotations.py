"""What annotations are made of may be read while a function runs: by it, or by a library."""

import typing
from numbers import Real
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NewType,
    Optional,
    Protocol,
    TypedDict,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
    runtime_checkable,
)

import numpy as np
import numpy.typing as npt
import pytest

from jitad import jit, jit_value_and_grad, value_and_grad

Floats = np.float32 | np.float64
Numbers = int | float
Either = Union[int, np.ndarray]  # noqa: UP007
Rows = list[int]
Unit = Annotated[float, "unit"]
Names = Literal["a", "b"]
Array = npt.NDArray[np.float64]
T = TypeVar("T")
Length = NewType("Length", float)
X = np.array([1.0, 2.0, 3.0])


class Held(Generic[T]):
    def __init__(self, value: T) -> None:
        self.value = value

    def get(self) -> T:
        return self.value


HeldFloat = Held[float]


class Point(TypedDict):
    a: float


@runtime_checkable
class Gets(Protocol):
    def get(self) -> Any: ...


@overload
def twice(x: int) -> int: ...
@overload
def twice(x: float) -> float: ...
def twice(x):
    return x * 2


def dtypes_of_a_union(x, dtype=np.float64):
    assert dtype in Floats.__args__
    return np.sum(np.asarray(x, dtype) ** 2)


def is_one_of(x):
    known = x[0] * 2 if isinstance(2.0, Numbers) else x[1]
    return known * (x[0] if isinstance(x, Either) else 2.0) + isinstance(x[0], Floats) * x[2]


def made_inside(x):
    numbers = int | np.floating
    return x[0] if isinstance(x[0], numbers) else x[1]


def casts(x):
    y: Rows = [1, 2]
    z = cast(Array, x)
    return z[y[0]] + (x[0] if get_origin(Rows) is list else 0.0) + len(get_args(Names)) * x[1]


def arguments(x):
    return (x[0] if "a" in get_args(Names) else x[1]) + len(Unit.__metadata__) * x[2]


def annotated_inside(x):
    found: Optional[float] = None  # noqa: UP045

    def g(y: Floats) -> Rows:
        return y * 2

    return g(x[0]) if found is None else x[1]


def new_types_and_generics(x):
    return Length(x[0]) * Held[float](x[0]).get() * HeldFloat(x[1]).get()


def typed_dicts(x):
    p: Point = Point(a=x[0])
    return p["a"] ** 2


def protocols(x):
    held = isinstance(Held(x[0]), Gets) and isinstance(np.sum(x), Real)
    return twice(x[0]) if held and T.__name__ == "T" else x[1]


def hints(x):
    return (x * len(typing.get_type_hints(Held.get))).sum()


PROGRAMS = [dtypes_of_a_union, is_one_of, made_inside, casts, arguments, annotated_inside,
            new_types_and_generics, typed_dicts, protocols, hints]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    true = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    for engine in (jit_value_and_grad, value_and_grad):
        value, gradient = engine(f)(X)
        assert value == f(X)
        np.testing.assert_allclose(gradient, true, rtol=1e-8, atol=1e-9)


def test_another_annotation_is_seen(monkeypatch):
    def f(x):
        return x[0] if float in get_args(Numbers) else x[1]

    kernel = jit(f)
    assert kernel(X) == 1.0
    monkeypatch.setitem(globals(), "Numbers", int | str)
    assert kernel(X) == 2.0
