"""Are derivative operators on a tape right, where they are nested and take values from outside?

Truth: worked out by hand.  The first programs confuse perturbations where tags are mixed up
(Siskind & Pearlmutter 2005).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from jitad.specialise.resolve import resolve
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Tape
from jitad.tape.types import INT, Type
from jitad.tape.verify import verify
from jitad.values.number import o
from tests.sweeps.checks import agree, check
from tests.sweeps.handmade import REAL, VECTOR, for_, if_, jvp_, tape_of, vjp_

Derivative = Callable[[Builder, Callable[[Any], Any], Any], Any]


def by_vjp(b: Builder, f: Callable[[Any], Any], x: Any) -> Any:
    return vjp_(b, lambda y: [f(y)], [x], [1.0])[1][0]


def by_jvp(b: Builder, f: Callable[[Any], Any], x: Any) -> Any:
    return jvp_(b, lambda y: [f(y)], [x], [1.0])[1][0]


def resolved(types: Sequence[tuple[str, Type]], f: Callable[..., Any]) -> Block:
    return verify(resolve(Tape("nested", tape_of(types, f))), "resolve").body


MODES = pytest.mark.parametrize("d", [by_vjp, by_jvp])
INNER = pytest.mark.parametrize("e", [by_vjp, by_jvp])


@MODES
@INNER
def test_what_an_inner_function_takes_from_outside_is_constant(
    d: Derivative, e: Derivative
) -> None:
    """d/dx (x * d/dy (x + y)) = 1, and d/dx (x * d/dy (x * y)) = 2x"""

    def f(b: Builder, x: Any) -> Any:
        return (
            d(b, lambda x: x * e(b, lambda y: x + y, 1.0 * x), x),
            d(b, lambda x: x * e(b, lambda y: x * y, 1.0 * x), x),
        )

    agree("nested", interpret(resolved([("x", REAL)], f), [3.0]), [1.0, 6.0])


@MODES
@INNER
def test_second_and_third_derivatives(d: Derivative, e: Derivative) -> None:
    def f(b: Builder, x: Any) -> Any:
        second = d(b, lambda y: e(b, o.sin, y), x)
        third = d(b, lambda z: e(b, lambda y: d(b, o.exp, y * y), z), x)
        return second, third

    x = 0.7
    u = x * x  # exp'(u) = exp(u), so the third is the second derivative of exp(x**2)
    got = interpret(resolved([("x", REAL)], f), [x])
    agree("nested", got, [-math.sin(x), (4 * u + 2) * math.exp(u)])


@MODES
def test_an_operator_in_a_loop_and_in_a_branch(d: Derivative) -> None:
    """Each trip takes the derivative of y**2 * s at s, which is 2 s**2."""

    def f(b: Builder, x: Any, k: Any) -> Any:
        def body(i: Any, s: Any) -> list[Any]:
            return if_(b, o.lt(i, 2), lambda: [d(b, lambda y: y * y * s, s)], lambda: [s])

        return for_(b, 0, 1, k, [x], body)[0]

    block = resolved([("x", REAL), ("k", INT)], f)
    agree("loop", interpret(block, [0.3, 4]), [8 * 0.3**4])
    check(block, [0.3, 4], [0])


@MODES
def test_a_loop_in_an_operator(d: Derivative) -> None:
    """The function under the operator loops, and reads an array from outside."""

    def f(b: Builder, x: Any, u: Any) -> Any:
        def power(y: Any) -> Any:
            return for_(b, 0, 1, u.shape[0], [1.0], lambda i, s: [s * y + o.load(u, i)])[0]

        return d(b, power, x) * o.load(u, 0)

    u, x = np.array([0.5, -0.4, 1.2]), 0.8
    block = resolved([("x", REAL), ("u", VECTOR)], f)
    # power = x**3 + u0 x**2 + u1 x + u2
    agree("loop", interpret(block, [x, u]), [(3 * x * x + 2 * u[0] * x + u[1]) * u[0]])
    check(block, [x, u], [0, 1])


def test_a_gradient_step_by_an_array() -> None:
    """u - 0.1 grad(sum(sin(u) * c)), with c from outside: u - 0.1 cos(u) c."""

    def f(b: Builder, u: Any, c: Any) -> Any:
        _, (slope,) = vjp_(b, lambda v: [o.sum(o.sin(v) * c, axes=(0,))], [u], [1.0])
        return u - 0.1 * slope

    u, c = np.array([0.3, 0.4]), np.array([2.0, -1.0])
    block = resolved([("u", VECTOR), ("c", VECTOR)], f)
    agree("step", interpret(block, [u, c]), [u - 0.1 * np.cos(u) * c])
    check(block, [u, c], [0, 1])
