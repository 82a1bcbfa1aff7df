"""Are equal loops and branches computed once, and others not?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit, jvp
from jitad.specialise.simplify import simplify_block
from jitad.tape import same
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, walk
from jitad.values.number import o
from tests.sweeps.handmade import REAL, for_, if_, tape_of, while_

Maker = Callable[[Builder, Any, float], Any]


def power(b: Builder, x: Any, factor: float) -> Any:
    return for_(b, 0, 1, 5, [x], lambda i, s: [s * factor])[0]


def halved(b: Builder, x: Any, limit: float) -> Any:
    return while_(b, [x], lambda s: o.gt(s, limit), lambda s: [0.5 * s])[0]


def chosen(b: Builder, x: Any, limit: float) -> Any:
    return if_(b, o.gt(x, 0.5), lambda: [o.sin(x) * limit],
               lambda: [power(b, x, limit)])[0]  # fmt: skip


def loops(block: Block) -> int:
    return sum(e.op in ("for", "while", "if") for e in walk(block))


@pytest.mark.parametrize("make", [power, halved, chosen])
def test_equal_ones_are_shared(make: Maker) -> None:
    one = simplify_block(tape_of([("x", REAL)], lambda b, x: make(b, x, 0.75)))
    both = simplify_block(tape_of([("x", REAL)], lambda b, x: make(b, x, 0.75) * make(b, x, 0.75)))
    assert loops(both) == loops(one)
    assert interpret(both, [3.0])[0] == interpret(one, [3.0])[0] ** 2


@pytest.mark.parametrize("make", [power, halved, chosen])
def test_others_are_not(make: Maker) -> None:
    def f(b: Builder, x: Any) -> Any:
        return make(b, x, 0.75) * make(b, x, 0.8) + make(b, x + 1.0, 0.75)

    one = simplify_block(tape_of([("x", REAL)], lambda b, x: make(b, x, 0.75)))
    block = simplify_block(tape_of([("x", REAL)], f))
    assert loops(block) == 3 * loops(one)
    values = [
        interpret(tape_of([("x", REAL)], lambda b, x, c=c: make(b, x, c)), [y])[0]
        for y, c in ((3.0, 0.75), (3.0, 0.8), (4.0, 0.75))
    ]
    assert interpret(block, [3.0]) == [values[0] * values[1] + values[2]]


def test_not_across_branches() -> None:
    """What one branch has computed the other one doesn't have."""

    def f(b: Builder, x: Any) -> Any:
        def then() -> Any:
            return [power(b, x, 0.5)]

        (y,) = if_(b, o.gt(x, 0.0), then, lambda: [power(b, x, 0.5) + 1.0])
        return y + power(b, x, 0.5)

    block = simplify_block(tape_of([("x", REAL)], f))
    assert interpret(block, [2.0]) == [0.125]
    assert interpret(block, [-2.0]) == [0.875]


def collatz(x: Any) -> Any:
    count = 0
    while x > 1.0:
        x = 0.5 * x if x > 3.0 else x - 0.75
        count += 1
    return x * count


def test_directions_share_the_value() -> None:
    def f(x: Any, y: Any) -> Any:
        return collatz(x * y)

    def partials(x: Any, y: Any) -> Any:
        return jvp(f, (x, y), (1.0, 0.0))[1], jvp(f, (x, y), (0.0, 1.0))[1], f(x, y)

    compiled = jit(partials)
    found = compiled(5.0, 1.3)
    assert found[:2] == pytest.approx(grad(f, (0, 1))(5.0, 1.3), rel=1e-14)
    assert found[2] == pytest.approx(f(5.0, 1.3))


def test_prints_are_not_shared(capfd: pytest.CaptureFixture[str]) -> None:
    def loud(x: Any) -> Any:
        while x > 1.0:
            print("step")
            x = 0.5 * x
        return x

    assert jit(lambda x: loud(x) + loud(x))(3.0) == 1.5
    assert capfd.readouterr().out.count("step") == 4


def test_arrays_stay_apart() -> None:
    def f(x: Any) -> Any:
        def filled() -> Any:
            a = np.zeros(len(x))
            for i in range(len(x)):
                a[i] = x[i]
            return a

        a, b = filled(), filled()
        a[0] = 10.0
        return a, b

    a, b = jit(f)(np.array([1.0, 2.0]))
    assert a.tolist() == [10.0, 2.0]
    assert b.tolist() == [1.0, 2.0]


def test_nests_are_not_read_again_for_each_block_around_them(monkeypatch: Any) -> None:
    """Work on branches in branches grows with their number, not with its square."""

    def nest(depth: int) -> Block:
        def inside(b: Builder, x: Any, k: int) -> Any:
            if k == depth:
                return o.sin(x)
            return if_(b, o.gt(x, 0.1 * k), lambda: [inside(b, x * 1.5, k + 1)],
                       lambda: [x + 1.0 * k])[0]  # fmt: skip

        return tape_of([("x", REAL)], lambda b, x: inside(b, x, 0))

    read = 0
    equation = same._equation

    def counted(*args: Any) -> Any:
        nonlocal read
        read += 1
        return equation(*args)

    monkeypatch.setattr(same, "_equation", counted)
    for depth in (5, 40):
        simplify_block(nest(depth))
    assert read == 0  # none is like another
