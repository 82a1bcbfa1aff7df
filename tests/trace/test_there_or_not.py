"""What if a place that a call has written on some paths is there, or not, at the next call?

An attribute or a global that a function makes under a condition: a kernel that was traced while it
was missing must not take it away, nor give it the value of the class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitad
from tests.api.counting import compilations

GRID = np.array([0.1, 0.2, 0.3, 0.4])


class Model:
    rate = 0.25


MODEL: Any = Model()


def an_attribute(y):
    if y > 0.15:
        MODEL.late = y * y
    return y


def in_a_loop(y):
    for e in GRID:
        if y > e:
            MODEL.late = 2.0 * y * e
    return y


def that_is_read(y):
    if y > 0.15:
        MODEL.late = y * y
    return y * getattr(MODEL, "late", 0.5)


def that_the_class_has(y):
    if y > 0.15:
        MODEL.rate = y * y
    return y * MODEL.rate


def in_a_derivative(y):
    def inside(p):
        if p > 0.15:
            MODEL.late = p * p
        return p * p

    return jitad.grad(inside)(y)


def a_global(y):
    global SEEN
    if y > 0.15:
        SEEN = y * y
    return y


def _closed_over():
    def write(y):
        nonlocal late
        if y > 0.15:
            late = y * y
        return y

    def read():
        try:
            return late
        except NameError:
            return None

    def take_away():
        nonlocal late
        late = 0.0
        del late

    if len(GRID) > 9:
        late = 0.0
    return write, read, take_away


a_variable_around, read_around, take_away = _closed_over()


def by_continue(y):
    for e in GRID:
        if y < e:
            continue
        MODEL.late = 0.75
    return y


FUNCTIONS = [an_attribute, in_a_loop, that_is_read, in_a_derivative, a_global,
             a_variable_around, by_continue]  # fmt: skip


def begin() -> None:
    MODEL.__dict__.clear()
    globals().pop("SEEN", None)
    take_away()


def state() -> dict[str, Any]:
    seen = {"SEEN": globals()["SEEN"]} if "SEEN" in globals() else {}
    return vars(MODEL) | seen | ({} if read_around() is None else {"around": read_around()})


def histories(call: Any, order: tuple[Any, ...]) -> list[Any]:
    begin()
    out: list[Any] = []
    for y in order:
        if y is None:
            begin()
        else:
            out.append((call(y), state()))
    return out


ORDERS = [(0.05, 0.5, 0.05, 0.25), (0.5, 0.05, None, 0.05, 0.5), (0.05, None, 0.5, 0.05)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_calls_in_a_row(f, order):
    want = histories(f, order)
    for got in (histories(jitad.jit(f), order),
                histories(lambda y: jitad.value_and_grad(f)(y)[0], order),
                histories((lambda g: lambda y: g(y)[0])(jitad.jit_value_and_grad(f)), order)):
        assert [s.keys() for _, s in got] == [s.keys() for _, s in want]
        for (value, there), (expected, then) in zip(got, want, strict=True):
            assert value == pytest.approx(expected, rel=1e-14)
            assert there == pytest.approx(then, rel=1e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_one_that_the_class_has_keeps_its_value(order):
    """The object may get one of its own, with the value of the class."""
    want = histories(that_the_class_has, order)
    got = histories(jitad.jit(that_the_class_has), order)
    assert [value for value, _ in got] == pytest.approx([value for value, _ in want], rel=1e-14)


def test_what_is_written_in_any_case_asks_for_no_other_kernel():
    def f(y):
        MODEL.rate = MODEL.rate * y
        MODEL.late = y
        return MODEL.rate

    begin()
    compiled = jitad.jit(f)
    with compilations() as made:
        compiled(0.5)
        MODEL.rate = 0.5
        compiled(0.5)
    assert len(made) == 1
