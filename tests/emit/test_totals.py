"""Are totals of rows used where they are at hand, and sums added where an array lies?

And only where that is right: what the inner loops still read, or somebody reads later, stays.  The
truth is the interpreter; random tapes of this kind are in `test_random.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad.specialise.together import together
from jitad.tape.build import Builder
from jitad.tape.ir import Tape, lit
from jitad.values.number import o
from tests.emit.running import check
from tests.emit.tapes import MATRIX, VECTOR, finish, loop

A = np.arange(12.0).reshape(4, 3) - 5.0
B = np.cos(np.arange(12.0)).reshape(4, 3)
X = np.array([2.0, -1.0, 0.5, 3.0])
Y = np.array([1.5, -2.0, 4.0])


def tape(f: Callable[..., Any]) -> Tape:
    """Of two matrices (n, m), a vector of n elements and one of m."""
    b = Builder()
    x, y = b.input(MATRIX, "x"), b.input(MATRIX, "y")
    u, v = b.input(VECTOR, "u"), b.input(VECTOR, "v")
    y.shape, u.shape, v.shape = x.shape, (x.shape[0],), (x.shape[1],)
    out = f(*map(b.leaf, (x, y, u, v)))
    return finish(b, "f", *map(b.atom, out if isinstance(out, tuple) else (out,)))


def source(f: Callable[..., Any]) -> str:
    return check(together(tape(f)), A, B, X, Y)


def rows(source: str) -> int:
    """Outer loops."""
    return source.count("\n    for ")


def spread(v: Any, like: Any, axis: int) -> Any:
    return o.broadcast(v, *like.shape, axes=(axis,))


# -- totals of rows -------------------------------------------------------------------------------


def test_a_total_is_used_behind_its_row() -> None:
    text = source(lambda x, y, u, v: o.exp(o.sum(x * y, axes=(1,))) - u)
    assert rows(text) == 1
    assert text.count("empty(") == 1  # the totals themselves need no memory


def test_totals_are_added_to_a_part_of_an_array() -> None:
    def f(x: Any, y: Any, u: Any, v: Any) -> Any:
        totals = o.sum(x * y, axes=(1,))
        return o.accum_slice(o.copy(x), totals, 0, 1, x.shape[0], 1, kinds="ri")

    text = source(f)
    assert "accum(" in text
    assert rows(text) == 2  # and the copy


def test_two_totals_of_one_nest() -> None:
    def f(x: Any, y: Any, u: Any, v: Any) -> Any:
        a, b = o.sum(x * y, axes=(1,)), o.sum(x, axes=(1,))
        return a * b + u, a - b

    source(f)


def test_a_nest_that_goes_over_all_again_waits_for_the_end_of_the_row() -> None:
    def f(x: Any, y: Any, u: Any, v: Any) -> Any:
        weights = o.exp(o.sum(x * y, axes=(1,))) - u
        return x * spread(weights, x, 0), o.sum(x, axes=(0, 1))

    source(f)


def test_what_the_inner_loops_read_is_not_written_behind_the_first_row() -> None:
    def f(x: Any, y: Any, u: Any, v: Any) -> Any:
        total = o.sum(y, axes=(1,))
        upside = o.slice(total, x.shape[0] - 1, -1, x.shape[0], kinds="r")
        return o.store_slice(o.copy(u), upside + total, 0, 1, x.shape[0], kinds="r")

    source(f)


def test_a_column_of_the_array_that_is_summed_is_written_behind_its_row() -> None:
    def f(x: Any, y: Any, u: Any, v: Any) -> Any:
        mine = o.copy(x)
        totals = o.sum(mine * y, axes=(1,))
        return o.store_slice(mine, totals, 0, 1, x.shape[0], 0, kinds="ri")

    source(f)


def test_another_row_of_the_array_that_is_summed_waits() -> None:
    def f(x: Any, y: Any, u: Any, v: Any) -> Any:
        mine = o.copy(x)
        totals = o.sum(mine * y, axes=(1,))
        back = o.slice(totals, x.shape[0] - 1, -1, x.shape[0], kinds="r")
        return o.store_slice(mine, back, 0, 1, x.shape[0], 0, kinds="ri")

    source(f)


# -- sums that are added to an array --------------------------------------------------------------


def accumulated(step: Callable[..., Any]) -> Tape:
    """Three times `step(x, y, i, what is carried)`, from the vectors on."""
    b = Builder()
    x, y = b.input(MATRIX, "x"), b.input(MATRIX, "y")
    u, v = b.input(VECTOR, "u"), b.input(VECTOR, "v")
    y.shape, u.shape, v.shape = x.shape, (x.shape[0],), (x.shape[1],)

    def body(i: Any, *carried: Any) -> Any:
        out = step(b.leaf(x), b.leaf(y), b.leaf(i), *map(b.leaf, carried))
        return tuple(map(b.atom, out))

    return finish(b, "f", *loop(b, lit(3), [u, v], body, names="u v"))


def grows(source: str) -> bool:
    """Is nothing summed up apart?"""
    return source.count("empty(") == 2  # copies of the arguments, where the sums go


def test_sums_are_added_where_the_array_lies() -> None:
    t = accumulated(lambda x, y, i, u, v: (
        u + o.sum(x * y, axes=(1,)), o.sum(x * (y + i), axes=(0,)) + v))  # fmt: skip
    assert grows(check(together(t), A, B, X, Y))


@pytest.mark.parametrize("axis", [0, 1])
def test_not_what_is_read_again_as_it_was(axis: int) -> None:
    def step(x: Any, y: Any, i: Any, u: Any, v: Any) -> Any:
        to = (v, u)[axis]
        new = to + o.sum(x * y, axes=(axis,))
        other = o.sum(to * to, axes=(0,))
        return (u, new * other) if axis == 0 else (new * other, v)

    check(together(accumulated(step)), A, B, X, Y)


@pytest.mark.parametrize("axis", [0, 1])
def test_not_what_the_sum_itself_reads(axis: int) -> None:
    def step(x: Any, y: Any, i: Any, u: Any, v: Any) -> Any:
        to = (v, u)[axis]
        new = to + o.sum(x * spread(to, x, 1 - axis), axes=(axis,))
        return (u, new) if axis == 0 else (new, v)

    check(together(accumulated(step)), A, B, X, Y)


def test_not_what_a_view_shows_later() -> None:
    def step(x: Any, y: Any, i: Any, u: Any, v: Any) -> Any:
        back = o.slice(u, u.shape[0] - 1, -1, u.shape[0], kinds="r")
        new = u + o.sum(x * y, axes=(1,))
        return new - back, v

    check(together(accumulated(step)), A, B, X, Y)


def test_what_was_read_before_does_not_matter() -> None:
    def step(x: Any, y: Any, i: Any, u: Any, v: Any) -> Any:
        weights = o.exp(u * 0.01)
        return u + o.sum(x * spread(weights, x, 0), axes=(1,)), v + o.sum(y, axes=(0,))

    check(together(accumulated(step)), A, B, X, Y)


def test_two_sums_onto_one_array() -> None:
    def step(x: Any, y: Any, i: Any, u: Any, v: Any) -> Any:
        return (u + o.sum(x, axes=(1,)) + o.sum(y, axes=(1,)),
                v + o.sum(x * y, axes=(0,)) + o.sum(y, axes=(0,)))  # fmt: skip

    check(together(accumulated(step)), A, B, X, Y)


def test_arguments_stay_as_they_are() -> None:
    source(lambda x, y, u, v: (u + o.sum(x, axes=(1,)), v + o.sum(y, axes=(0,))))


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0), (1, 1)])
def test_nothing_to_sum(shape: tuple[int, int]) -> None:
    t = accumulated(lambda x, y, i, u, v: (
        u + o.sum(x * y, axes=(1,)), o.sum(x * y, axes=(0,)) + v))  # fmt: skip
    a = np.ones(shape)
    check(together(t), a, a + 1.0, np.ones(shape[0]), np.ones(shape[1]))
