"""Are methods, properties and functions seen that are replaced between calls?

As a cell of a notebook that is run again replaces them, or a patch of a class.  Plain Python says
what is right, before and after.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import jitad

Function = Callable[..., Any]


class Base:
    def __init__(self, k: Any) -> None:
        self.k = k

    def scaled(self, x: Any) -> Any:
        return x * self.k

    def area(self) -> Any:
        return self.k * self.k

    @property
    def double(self) -> Any:
        return self.k * 2

    @functools.cached_property
    def square(self) -> Any:
        return self.k * self.k

    @classmethod
    def of(cls, x: Any) -> Any:
        return cls(x * 2)

    @staticmethod
    def tripled(x: Any) -> Any:
        return x * 3

    def __mul__(self, other: Any) -> Any:
        return self.k * other

    def __getitem__(self, at: int) -> Any:
        return self.k + at

    def __call__(self, x: Any) -> Any:
        return self.k + x

    def __len__(self) -> int:
        return 2


class Derived(Base):
    def scaled(self, x: Any) -> Any:
        return super().scaled(x) * 2

    @property
    def double(self) -> Any:
        return super().double * 3


known = Derived(2.0)


def another_init(self: Any, k: Any) -> None:
    self.k = k * k


# What is asked for, and which attribute of which class becomes what.
CASES: dict[str, tuple[Function, type, str, Any]] = {
    "method": (lambda x: Base(x).scaled(x), Base, "scaled", lambda self, x: x * x * self.k),
    "method of a base": (lambda x: Derived(x).area(), Base, "area", lambda self: self.k * 5),
    "one of its own": (lambda x: Derived(x).area(), Derived, "area", lambda self: self.k * 5),
    "by super()": (lambda x: Derived(x).scaled(x), Base, "scaled", lambda self, x: x * 7),
    "by super() of a known one": (lambda x: known.scaled(x), Base, "scaled", lambda self, x: x * 7),
    "property": (lambda x: Base(x).double, Base, "double", property(lambda self: self.k * 9)),
    "property of a known one": (
        lambda x: known.double * x, Derived, "double", property(lambda self: self.k * 9)),
    "property by super()": (
        lambda x: Derived(x).double, Base, "double", property(lambda self: self.k * 9)),
    "cached property": (
        lambda x: Derived(x).square, Base, "square", property(lambda self: self.k * 9)),
    "class method": (lambda x: Derived.of(x).k, Base, "of", classmethod(lambda cls, x: cls(x * 4))),
    "class method of a thing": (
        lambda x: Base(x).of(x).k, Base, "of", classmethod(lambda cls, x: cls(x * 4))),
    "static method": (
        lambda x: Derived(x).tripled(x), Base, "tripled", staticmethod(lambda x: x * 4)),
    "operator": (lambda x: Base(x) * x, Base, "__mul__", lambda self, other: other * 3),
    "operator of a known one": (lambda x: known * x, Base, "__mul__", lambda self, x: x * 3),
    "item": (lambda x: Base(x)[1] * x, Base, "__getitem__", lambda self, at: at + 5),
    "call": (lambda x: Base(x)(x), Base, "__call__", lambda self, x: x * 6),
    "length": (lambda x: len(Base(x)) * x, Base, "__len__", lambda self: 4),
    "made": (lambda x: Derived(x).k, Base, "__init__", another_init),
}  # fmt: skip


def check(f: Function, compiled: tuple[Function, Function]) -> None:
    value, gradient = compiled
    assert value(1.3) == pytest.approx(f(1.3), rel=1e-14)
    h = 1e-6
    assert gradient(1.3) == pytest.approx((f(1.3 + h) - f(1.3 - h)) / (2 * h), rel=1e-7)
    assert gradient(1.3) == jitad.grad(f)(1.3)


@pytest.mark.parametrize("name", CASES)
def test_of_classes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f, cls, attribute, other = CASES[name]
    compiled = jitad.jit(f), jitad.jit_grad(f)
    before = f(1.3)
    check(f, compiled)
    with monkeypatch.context() as patch:
        patch.setattr(cls, attribute, other, raising=False)
        assert f(1.3) != before
        check(f, compiled)
    check(f, compiled)


def dispatching(k: float) -> Any:
    @functools.singledispatch
    def scaled(kind: Any, x: Any) -> Any:
        return x * k

    return scaled


def keeping(k: float) -> Any:
    @functools.cache
    def power(n: int) -> float:
        return k**n

    return power


def over_elements(k: float) -> Any:
    return numba.vectorize(lambda x: x * 2.0) if k == 2.0 else numba.vectorize(lambda x: x * 5.0)


def managing(k: float) -> Any:
    @contextlib.contextmanager
    def manager(x: Any) -> Any:
        yield x * k

    return manager


wrapped: Any = None


def managed(x: Any) -> Any:
    with wrapped(x) as inner:
        return inner * x


WRAPPED: dict[str, tuple[Function, Function]] = {
    "dispatched": (dispatching, lambda x: wrapped(1, x)),
    "kept": (keeping, lambda x: wrapped(3) * x),
    "Numba's, over elements": (over_elements, lambda x: np.sum(wrapped(np.ones(2) * x))),
    "a context manager": (managing, managed),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_of_what_libraries_wrap(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, f = WRAPPED[name]
    compiled = jitad.jit(f), jitad.jit_grad(f)
    for k in (2.0, 5.0):
        monkeypatch.setitem(globals(), "wrapped", make(k))
        check(f, compiled)


@functools.partial(lambda of, f: f, eval("3"))
def decorated(x: Any, k: Any = eval("2.0")) -> Any:
    return x * k


def test_decorators_and_defaults_are_no_part_of_a_function() -> None:
    """They have been run; what is refused inside of functions is not refused there."""
    assert jitad.jit_grad(decorated)(1.3) == 2.0
