"""Is a loop nest joined to the one before it where that is right, and only there?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad.tape.build import Builder
from jitad.tape.ir import Tape
from jitad.tape.types import FLOAT
from jitad.values.number import o
from tests.emit.running import check
from tests.emit.tapes import MATRIX, VECTOR, branch, finish, loop

X = np.array([3.0, -1.0, 4.0, 1.5, -5.0])
Y = np.array([0.5, 2.0, -1.0, 1.0, 3.0])


def of_two(f: Callable[..., Any]) -> Tape:
    b = Builder()
    x, y = b.input(VECTOR, "x"), b.input(VECTOR, "y")
    return finish(b, "f", *(b.atom(v) for v in f(b.leaf(x), b.leaf(y))))


def nests(source: str) -> int:
    return source.count("for i in range")


def test_what_reads_the_same_is_one_nest() -> None:
    source = check(of_two(lambda x, y: (x * y, x + y, o.sum(x * x, axes=(0,)))), X, Y)
    assert nests(source) == 1


def test_what_reads_the_result_at_the_same_element() -> None:
    def f(x: Any, y: Any) -> Any:
        a = x * y
        return a, o.sum(a, axes=(0,)), a - y

    assert nests(check(of_two(f), X, Y)) == 1


def test_a_total_is_complete_before_it_is_used() -> None:
    def f(x: Any, y: Any) -> Any:
        total = o.sum(x, axes=(0,))
        return x / total, x * y

    assert nests(check(of_two(f), X, Y)) == 2


def test_a_neighbour_is_complete_before_it_is_read() -> None:
    def f(x: Any, y: Any) -> Any:
        a = x * y
        back = o.slice(a, 4, -1, 5, kinds="r")
        return a, back + x

    assert nests(check(of_two(f), X, Y)) == 2


def test_an_element_is_read_before_it_is_overwritten() -> None:
    def f(x: Any, y: Any) -> Any:
        a, c = x * y, x + y  # a's memory is c's next version, its first element read meanwhile
        first = o.slice(a, 1, 1, 4, kinds="r") * 2.0
        c = o.store_slice(c, first, 0, 1, 4, kinds="r")
        a = o.store_slice(a, o.slice(c, 0, 1, 4, kinds="r") + 1.0, 1, 1, 4, kinds="r")
        return a, c

    check(of_two(f), X, Y)


def test_strangers_stay_apart() -> None:
    source = check(of_two(lambda x, y: (x * 2.0, y * 3.0)), X, Y)
    assert nests(source) == 2


def test_other_extents_stay_apart() -> None:
    b = Builder()
    a, x = b.input(MATRIX, "a"), b.input(VECTOR, "x")
    la, lx = b.leaf(a), b.leaf(x)
    source = check(
        finish(b, "f", b.atom(la * 2.0), b.atom(o.sum(la, axes=(1,)) + lx), b.atom(lx * 2.0)),
        np.arange(15.0).reshape(5, 3), X,
    )  # fmt: skip
    assert nests(source) > 1


def test_a_nest_that_ends_a_loop_is_not_joined_from_outside() -> None:
    b = Builder()
    x = b.input(VECTOR, "x")

    def body(i: Any, u: Any) -> Any:
        return b.emit("mul", u, x)

    (u,) = loop(b, 3, [x], body)
    check(finish(b, "f", u, b.emit("add", u, x), b.emit("neg", x)), X)


@pytest.mark.parametrize("kind", ["amax", "amin"])
def test_what_has_an_order_stays_apart(kind: str) -> None:
    reduce = getattr(o, kind)
    assert nests(check(of_two(lambda x, y: (x * y, reduce(x, axes=(0,)))), X, Y)) == 2


def test_what_a_condition_needs_is_not_mixed_up() -> None:
    """Pages of branches are pages of their own."""
    b = Builder()
    x, c = b.input(VECTOR, "x"), b.input(FLOAT, "c")
    out = branch(
        b, b.emit("gt", c, b.atom(0.0)),
        lambda: [b.emit("mul", x, c)], lambda: [b.emit("add", x, c)],
    )  # fmt: skip
    check(finish(b, "f", *out, b.emit("neg", x)), X, 2.0)
    check(finish(b, "f", *out, b.emit("neg", x)), X, -2.0)
