"""Is a loop nest joined to the one before it where that is right, and only there?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit
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


def columns(a: Any, x: Any, p: int, q: int) -> Any:
    a[:, p] = x
    a[:, q] = 2.0 * x


def read_again(a: Any, x: Any, p: int, q: int) -> Any:
    a[:, p] = x
    a[:, q] = 2.0 * x + a[::-1, p]


def row_and_column(a: Any, x: Any, p: int, q: int) -> Any:
    a[p] = x
    a[:, q] = 2.0 * x


def shifted(a: Any, x: Any, p: int, q: int) -> Any:
    a[1:, p] = x[1:]
    a[:-1, q] = 2.0 * x[1:]


def planes(a: Any, x: Any, p: int, q: int) -> Any:
    b = a.reshape(4, 2, 2)
    b[:, :, p % 2] = x[:, None]
    b[:, :, q % 2] = 2.0 * x[:, None]


JOINED = {columns: True, planes: True, read_again: False, row_and_column: False, shifted: False}


@pytest.mark.parametrize("write", JOINED)
def test_places_that_may_be_the_same(write: Any) -> None:
    """Columns whose numbers only the call knows: what is written last stays, also of one column."""

    def f(a: Any, x: Any, p: int, q: int) -> Any:
        out = a + 0.0
        write(out, x, p, q)
        return out

    a, x = np.arange(16.0).reshape(4, 4), np.array([3.0, -1.0, 4.0, 1.5])
    compiled = jit(f)
    for p, q in ((0, 2), (3, 1), (2, 2)):
        np.testing.assert_array_equal(compiled(a, x, p, q), f(a, x, p, q))
    written = compiled.source.rpartition("empty(")[2]
    stores = [part.count("store(") + part.count("] = ") for part in written.split("for i in")]
    assert (max(stores) > 1) == JOINED[write], written
