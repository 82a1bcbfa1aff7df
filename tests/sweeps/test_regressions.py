"""Do the tapes that once broke a sweep stay mended?  One test a fault, as small as it got."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitad import grad
from jitad.tape.build import Builder
from jitad.tape.ir import lit
from jitad.tape.types import INT
from jitad.values.number import o
from tests.engines import as_emitted
from tests.sweeps.checks import check
from tests.sweeps.handmade import REAL, VECTOR, for_, if_, tape_of


def test_a_loop_without_trips_gives_its_initial_value() -> None:
    """The body ignores what it carries, so only the loop's result depends on the start."""

    def f(b: Builder, x: Any, k: Any) -> Any:
        s = o.sin(x)
        return for_(b, 0, 1, k, [s], lambda i, t: [o.cos(s)])[0]

    for trips in (0, 2):
        check(tape_of([("x", REAL), ("k", INT)], f), [0.3, trips], [0])


def test_a_branch_meets_contributions_that_still_wait_for_the_whole() -> None:
    """The load's contribution comes first, to an adjoint that both branches then make whole."""

    def f(b: Builder, u: Any) -> Any:
        first = o.load(u, 0)
        chosen = if_(b, o.gt(first, 0.0), lambda: [u], lambda: [u * u])[0]
        return first * o.sum(chosen, axes=(0,)) + o.load(u, 1)

    for sign in (1.0, -1.0):
        check(tape_of([("u", VECTOR)], f), [sign * np.array([0.3, 0.4])], [0])


def test_a_recorded_array_has_its_extents() -> None:
    """The reverse of the reverse records an array whose extents nothing else asks for."""

    def f(b: Builder, x: Any, u: Any) -> Any:
        positive = o.gt(x, 0.0)

        def other() -> list[Any]:
            scale = b.leaf(b.emit("broadcast", lit(1.5), lit(1), axes=()))
            scaled = b.leaf(b.emit("mul", b.atom(o.cos(u)), b.atom(scale)))
            return if_(b, positive, lambda: [scaled], lambda: [u])

        (chosen,) = if_(b, positive, lambda: [u], other)
        return o.sum(chosen, axes=(0,))

    for x in (0.4, -0.4):
        check(tape_of([("x", REAL), ("u", VECTOR)], f), [x, np.array([0.3])], [1])


def test_a_stack_has_tangents_from_its_creation_on() -> None:
    """A record is pushed and popped in one branch: its tangents are, too, and theirs."""

    def f(b: Builder, x: Any, u: Any) -> Any:
        positive = o.gt(x, 0.0)
        empty = b.leaf(b.emit("stack", element=VECTOR))

        def push() -> list[Any]:
            changed = o.accum(u, o.abs(x), 1)
            return [b.leaf(b.emit("push", b.atom(empty), b.atom(changed)))]

        def pop() -> list[Any]:
            _, record = b.emit("pop", b.atom(full), *u.atom.shape)
            return [o.load(b.leaf(record), 1)]

        (full,) = if_(b, positive, push, lambda: [empty])
        return if_(b, positive, pop, lambda: [0.5])[0]

    block = tape_of([("x", REAL), ("u", VECTOR)], f)
    for x in (0.4, -0.4):
        check(block, [x, np.array([0.3, 0.2])], [0, 1])


def test_a_numpy_number_times_an_array_is_an_array_of_the_tape() -> None:
    """In rules NumPy's own operator must not dress the product as a user's array."""

    def f(b: Builder, u: Any) -> Any:
        scaled = b.leaf(b.emit("mul", b.atom(u), b.atom(np.float64(0.3))))
        return o.sum(o.sin(scaled), axes=(0,))

    check(tape_of([("u", VECTOR)], f), [np.array([0.3, 0.2])], [0])


def test_extents_that_a_loop_carries_are_a_past() -> None:
    """Which array a branch in a loop leaves is known from what it carries; so is its length."""

    def f(b: Builder, u: Any, v: Any) -> Any:
        grown = o.gt(o.load(v, 0), 0.2)

        def body(i: Any, w: Any) -> list[Any]:
            kept = if_(b, grown, lambda: [w], lambda: [o.sin(v)])[0]
            return [b.leaf(b.emit("pack", *(b.atom(o.load(kept, k)) for k in range(2))))]

        start = b.leaf(b.emit("pack", *(b.atom(o.load(u, k)) for k in range(2))))
        rounds = for_(b, 0, 1, 3, [start], lambda j, w: for_(b, 0, 1, 2, [w], body))
        return o.sum(rounds[0], axes=(0,))

    block = tape_of([("u", VECTOR), ("v", VECTOR)], f)
    for start in (0.1, 0.3):
        check(block, [np.array([0.3, 0.2]), np.array([start, 0.7])], [0, 1])


def test_what_is_taken_of_an_array_before_a_branch_overwrites_it() -> None:
    """It decides at the end of the branch, where the sweep begins: the array is not back yet."""

    def f(x, y, a, b):
        a = a.copy()
        for _ in range(3, 0, -1):
            try:
                for e in a:
                    math.sin(e) < math.sin(x)  # noqa: B015  raises at infinity
                y = np.sum(b[a > y])
                for _ in a:
                    a[1] = -1.5
                x = min(a[-4], y + 1.5)
            except ValueError:
                pass
        return x + np.sum(b * np.arange(1.0, 4.5))

    given = (0.4, 0.52, np.array([0.3, 0.55, 0.9, 0.1]), np.array([0.2, 0.7, -0.4, 0.6]))
    slopes = as_emitted(grad(f, (2, 3)), *given)
    for k, slope in zip((2, 3), slopes, strict=True):
        def along(h: float, k: int = k) -> list[float]:
            return [f(*given[:k], given[k] + h * e, *given[k + 1 :]) for e in np.eye(4)]

        np.testing.assert_allclose(slope, np.subtract(along(1e-6), along(-1e-6)) / 2e-6, atol=1e-7)


def test_what_is_taken_of_an_array_before_a_view_overwrites_it() -> None:
    """The same where the loop itself carries the array, and all of what is taken is wanted."""

    def f(x, y, a, b):
        b = b.copy()
        for k in range(len(a)):
            v = b[1:4:2]
            low = np.clip(b, -1.0, a)
            try:
                math.sin(y)  # raises at infinity
                v[v > y] *= 0.5
            except ValueError:
                pass
            x += np.min(low) * 0.5 * (v[k % 2] + y)
        return x

    given = (0.4, 0.52, np.array([0.3, 0.55, 0.9, 0.1]), np.array([0.2, 0.7, -0.4, 0.6]))
    slopes = as_emitted(grad(f, (2, 3)), *given)
    for k, slope in zip((2, 3), slopes, strict=True):
        def along(h: float, k: int = k) -> list[float]:
            return [f(*given[:k], given[k] + h * e, *given[k + 1 :]) for e in np.eye(4)]

        np.testing.assert_allclose(slope, np.subtract(along(1e-6), along(-1e-6)) / 2e-6, atol=1e-7)
