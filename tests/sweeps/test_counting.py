"""Does the work of derivatives grow as it should?  Counted, never timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad.specialise.simplify import simplify_block
from jitad.sweeps.forward import jvp_block
from jitad.sweeps.reverse import vjp_block
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Tape
from jitad.tape.types import INT, is_float
from jitad.tape.verify import verify
from jitad.values.number import o
from tests.sweeps.checks import check
from tests.sweeps.counting import emissions, length, operations
from tests.sweeps.handmade import REAL, VECTOR, for_, if_, tape_of, while_
from tests.sweeps.programs import PROGRAMS, Program

# the first three do O(n**2) work themselves; an array that a branch chooses is recorded whole
SQUARE = ("layer", "triangle", "loop_in_a_branch", "written_through_a_choice")
LINEAR = [name for name in PROGRAMS if name not in SQUARE]


def gradient(block: Block, active: list[int]) -> Block:
    return simplify_block(vjp_block(simplify_block(block), active))


def work(program: Program, size: int) -> tuple[int, int]:
    """Scalar operations of the primal and of value and gradient."""
    block = simplify_block(program.block())
    args = program.point(size)
    seeds = [np.ones(np.shape(r)) for r in interpret(block, args)]
    primal = operations(block, args).total()
    return primal, operations(gradient(block, program.active), [*args, *seeds]).total()


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_work_is_a_small_multiple_of_the_primal(name: str) -> None:
    primal, both = work(PROGRAMS[name], 40)
    assert both <= 5 * primal


@pytest.mark.parametrize("name", LINEAR)
def test_gradient_work_is_linear_in_the_size(name: str) -> None:
    """n loads in a loop cost O(n) backwards, not O(n) each."""
    (_, small), (_, large) = work(PROGRAMS[name], 20), work(PROGRAMS[name], 80)
    assert large <= 4.4 * small


def test_an_overwritten_array_is_not_recorded_whole() -> None:
    """Each of the rounds reads and writes three elements of a long array: the rest costs once."""

    def f(b: Builder, x: Any, rounds: Any) -> Any:
        def one(t: Any, a: Any) -> list[Any]:
            def inner(i: Any, a: Any) -> list[Any]:
                here = o.load(a, i)
                return [o.store(a, o.sin(here * o.load(a, i + 1)), i)]

            return [for_(b, 0, 1, 3, [a], inner)[0]]

        return o.sum(for_(b, 0, 1, rounds, [o.copy(x)], one)[0], axes=(0,))

    block = gradient(tape_of([("x", VECTOR), ("rounds", INT)], f), [0])
    x = np.linspace(0.1, 1.0, 1000)
    none, some = (operations(block, [x, rounds, 1.0]).total() for rounds in (0, 10))
    assert some - none <= 10 * 3 * 60


@pytest.mark.parametrize("sweep", [vjp_block, jvp_block])
def test_tapes_do_not_grow_with_literal_trip_counts(sweep: Callable[..., Block]) -> None:
    def tape(trips: int) -> Block:
        def f(b: Builder, x: Any, u: Any) -> Any:
            def body(i: Any, s: Any) -> list[Any]:
                t = for_(b, 0, 1, trips, [s], lambda j, t: [o.sin(t) * x])[0]
                return [t + o.load(u, o.mod(i, 3))]

            return for_(b, 0, 1, trips, [x], body)[0]

        return sweep(simplify_block(tape_of([("x", REAL), ("u", VECTOR)], f)), [0, 1])

    assert length(tape(2)) == length(tape(1000))


# -- growth with the length of the program --------------------------------------------------------


def doublings(count: int) -> Block:
    """x = x + x, again and again: 2**count paths lead through it."""

    def f(b: Builder, x: Any) -> Any:
        for _ in range(count):
            x = x + x
        return x

    return tape_of([("x", REAL)], f)


def chain(kind: str, count: int) -> Block:
    """Loops or branches one after the other."""

    def f(b: Builder, x: Any, u: Any) -> Any:
        for k in range(count):
            match kind if kind != "mixed" else ("for", "while", "if")[k % 3]:
                case "for":
                    (x,) = for_(b, 0, 1, 2, [x], lambda i, s: [o.sin(s) + o.load(u, i)])
                case "while":
                    (x,) = while_(b, [x], lambda s: o.gt(s, 1.0), lambda s: [s * 0.5])
                case "if":
                    (x,) = if_(b, o.gt(x, 0.5), lambda x=x: [o.sin(x)], lambda x=x: [x * x])
                case _:
                    x = o.sin(x) + o.load(u, 0)
        return x

    return tape_of([("x", REAL), ("u", VECTOR)], f)


def asked(make: Callable[[], Block]) -> tuple[int, int, Block]:
    """Emissions and length of both sweeps over a tape."""
    block = make()
    active = [k for k, p in enumerate(block.params) if is_float(p.type)]
    with emissions() as done:
        reverse = gradient(block, active)
        forward = simplify_block(jvp_block(block, active))
    verify(Tape("chain", reverse))
    verify(Tape("chain", forward))
    return done.total(), length(reverse) + length(forward), reverse


def test_doublings_are_linear() -> None:
    few, shorter, _ = asked(lambda: doublings(50))
    many, longer, block = asked(lambda: doublings(200))
    assert many <= 4.2 * few
    assert longer <= 4.2 * shorter
    assert interpret(block, [1.0, 1.0]) == [2.0**200, 2.0**200]


@pytest.mark.parametrize("kind", ["for", "while", "if", "straight"])
def test_chains_are_linear(kind: str) -> None:
    check(chain(kind, 5), [0.7, np.array([0.3, 0.4])], [0, 1])
    few, shorter, _ = asked(lambda: chain(kind, 100))
    many, longer, _ = asked(lambda: chain(kind, 400))
    assert many <= 4.2 * few
    assert longer <= 4.2 * shorter


def test_a_long_chain_meets_no_recursion_limit() -> None:
    """Far more statements in a row than Python has stack frames."""
    block = chain("mixed", 2000)
    verify(Tape("chain", gradient(block, [0, 1])))
