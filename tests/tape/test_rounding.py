"""Does rounding stay Python's where a decision hangs on it, and is it free elsewhere?

The truth is Python's own arithmetic.  Functions are called with c = a, d = b, which the tracer
can't know: their products are rounded alike, and are not if one is fused with the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from jitad import jit, jit_grad
from jitad.emit.numba_private import host_features
from jitad.tape.build import Builder
from jitad.tape.ir import Block, Var, lit
from jitad.tape.rounding import exact
from jitad.tape.rounding import rounded as sums_rounded
from jitad.tape.types import FLOAT

NUMBERS = np.random.default_rng(5).uniform(0.1, 1.0, (50, 2)).tolist()


def compared(a: float, b: float, c: float, d: float) -> float:
    return 1.0 if a * d - b * c == 0.0 else 2.0


def under_a_root(a: float, b: float, c: float, d: float) -> float:
    return math.sqrt(a * b - c * d) + math.sqrt(c * d - a * b)


def divided_by(a: float, b: float, c: float, d: float) -> float:
    return 1.0 / np.float64(1e-300 + (a * b - c * d))


def rounded(a: float, b: float, c: float, d: float) -> float:
    return math.floor(a * b - c * d) + math.floor(c * d - a * b)


def negated(a: float, b: float, c: float, d: float) -> float:
    return 1.0 if -(a * d) + b * c == 0.0 else 2.0


def through_a_loop(a: float, b: float, c: float, d: float) -> float:
    x = y = 0.0
    for _ in range(3):
        x, y = a * b - y, c * d - x
    return 1.0 if x == y else 0.0


def in_an_array(a: float, b: float, c: float, d: float) -> float:
    x = np.zeros(2)
    x[0] = a * b
    x[1] = x[0] - d * c
    return 1.0 if x[1] == 0.0 else 0.0


def along_an_array(a: float, b: float, c: float, d: float) -> float:
    x = np.array([a, b, a]) * np.array([b, c, b]) - np.array([c, d, c]) * np.array([d, a, d])
    return float(np.sum(np.where(x == 0.0, 1.0, 0.0)))


def with_a_power(a: float, b: float, c: float, d: float) -> float:
    return math.floor(a**2 - c * c) + math.floor(np.square(b) - d * d) + math.floor(a**3 - c**3)


DECIDED = [compared, under_a_root, divided_by, rounded, negated, through_a_loop, in_an_array,
           along_an_array, with_a_power]  # fmt: skip


@pytest.mark.parametrize("f", DECIDED, ids=lambda f: f.__name__)
def test_decisions_are_those_of_python(f: Callable[..., float]) -> None:
    compiled = jit(f)
    for a, b in NUMBERS:
        assert compiled(a, b, a, b) == f(a, b, a, b)


def test_a_decision_in_the_derivative() -> None:
    """The gradient jumps where the function's branch does."""

    def f(a: float, b: float, c: float, d: float) -> float:
        gap = a * d - b * c
        return a if gap >= 0.0 and gap <= 0.0 else -a

    g = jit_grad(f)
    for a, b in NUMBERS:
        assert g(a, b, a, b) == 1.0


@pytest.mark.skipif("fma" not in host_features(), reason="the processor has no such instruction")
def test_other_sums_are_fused() -> None:
    compiled = jit(lambda a, b, c: a * b + c)
    for a, b in NUMBERS:
        assert compiled(a, b, -(a * b)) == float(Fraction(a) * Fraction(b) - Fraction(a * b))


def test_what_is_exact() -> None:
    """From a comparison backwards, but not beside it."""
    b = Builder()
    x = b.input(FLOAT, "x")
    decides, free = b.emit("mul", x, x), b.emit("mul", x, lit(3.0))
    choice = b.emit("where", b.emit("lt", decides, lit(1.0)), free, x)
    block = Block([x], b.blocks[0].equations, [choice])
    assert {v for v in exact(block) if isinstance(v, Var)} == {x, decides}


@pytest.mark.parametrize("product", ["mul", "square", "pow"])
def test_sums_with_products_are_rounded_twice(product: str) -> None:
    """Whatever the product is called; not the sum beside it, on which nothing hangs."""
    b = Builder()
    x, y = b.input(FLOAT, "x"), b.input(FLOAT, "y")
    ins = {"mul": (x, x), "square": (x,), "pow": (x, lit(2.0))}[product]
    decides, free = (b.emit("add", b.emit(product, *ins), y) for _ in range(2))
    choice = b.emit("where", b.emit("lt", decides, lit(1.0)), free, x)
    block = Block([x, y], b.blocks[0].equations, [choice])
    assert [e.outs for e in sums_rounded(block, {})] == [(decides,)]
