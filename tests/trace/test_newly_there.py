"""Is seen what was not there at the first call, and would be found in the place of what was?

Plain Python says what is right, before and after.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import pytest

import jitad


class Base:
    def grown(self, x: Any) -> Any:
        return x * 2.0


class Between(Base):
    pass


class Derived(Between):
    def grown(self, x: Any) -> Any:
        return super().grown(x) + 1.0


class Answering:
    def __getattr__(self, name: str) -> Any:
        return 3.0


derived, answering = Derived(), Answering()


def above_what_is_there(x: Any) -> Any:
    return derived.grown(x)


def above_what_is_made(x: Any) -> Any:
    return Derived().grown(x)


def asked_of_what_is_there(x: Any) -> Any:
    return x * answering.rate


def asked_of_what_is_made(x: Any) -> Any:
    return x * Answering().rate


CHANGES = [
    (above_what_is_there, Between, "grown", lambda self, x: x * 5.0),
    (above_what_is_made, Between, "grown", lambda self, x: x * 5.0),
    (asked_of_what_is_there, answering, "rate", 5.0),
    (asked_of_what_is_there, Answering, "rate", 7.0),
    (asked_of_what_is_made, Answering, "rate", 7.0),
]


@pytest.mark.parametrize("k", range(len(CHANGES)))
def test_an_attribute_that_comes_before_what_was_found(k: int) -> None:
    f, owner, name, new = CHANGES[k]
    compiled, slope = jitad.jit(f), jitad.jit_grad(f)
    before = compiled(1.5), slope(1.5)
    assert before[0] == f(1.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, new, raising=False)
        assert compiled(1.5) == f(1.5) != before[0]
        assert slope(1.5) == pytest.approx((f(2.0) - f(1.0)), rel=1e-12)
    assert (compiled(1.5), slope(1.5)) == before


def dispatcher() -> Any:
    @functools.singledispatch
    def scaled(v: Any, x: Any) -> Any:
        return x

    @scaled.register
    def _(v: int, x: Any) -> Any:
        return x * 2.0

    return scaled


held = SimpleNamespace()


def dispatching(x: Any, v: Any) -> Any:
    return held.scaled(v, x)


def test_another_kind_that_is_dispatched_on() -> None:
    held.scaled = dispatcher()
    compiled = jitad.jit(dispatching)
    for kind, factor in ((str, 9.0), (int, 19.0), (object, 29.0), (bool, 39.0), (str, 49.0)):
        for v in (1, "a", True, None):
            assert compiled(1.5, v) == dispatching(1.5, v)
        held.scaled.register(kind)(lambda v, x, factor=factor: x * factor)
    for v in (1, "a", True, None):
        assert compiled(1.5, v) == dispatching(1.5, v)


def test_other_code_of_the_function_itself() -> None:
    """As a module has it whose functions are loaded again in place."""
    def line(x: Any, y: Any = 2.0) -> Any:
        return x * y

    def other(x: Any, y: Any) -> Any:
        return x - y

    compiled, slope = jitad.jit(line), jitad.jit_grad(line)
    assert (compiled(1.5), slope(1.5)) == (3.0, 2.0)
    line.__code__ = other.__code__
    assert (compiled(1.5), slope(1.5)) == (-0.5, 1.0)
    line.__defaults__ = (5.0,)
    assert (compiled(1.5), slope(1.5)) == (-3.5, 1.0)
