"""What does the k-th derivative cost, and is it right?  Operations in the kernel are counted.

Values are closed forms, and Taylor coefficients that mpmath computes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath
import pytest

from jitad import derivative, grad, jit
from jitad.tape.ir import Block, walk
from tests.nesting.plain import plain_tape

ORDERS = range(1, 7)


def loop(x: Any) -> Any:
    s = x
    for i in range(8):
        s = 0.9 * s * (1.0 - 0.3 * s) + x / (i + 2.0)
    return s


def order(f: Callable[..., Any], k: int, operator: Callable[..., Any] = derivative) -> Any:
    for _ in range(k):
        f = operator(f)
    return f


def operations(body: Block) -> int:
    """Equations of the tape, those of a loop's body once."""
    return sum(1 for e in walk(body) if e.op not in ("for", "if", "while"))


@pytest.mark.parametrize("k", ORDERS)
def test_of_sin_and_exp(k: int) -> None:
    """However they are nested, one function is left, with a sign or without."""
    cycle = (math.sin, math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x))
    for f, want, most in ((math.sin, cycle[k % 4](0.7), 2), (math.exp, math.exp(0.7), 1)):
        compiled = jit(order(f, k))
        assert compiled(0.7) == pytest.approx(want, rel=1e-15)
        tape = plain_tape(order(f, k), 0.7)
        arithmetic = [e for e in walk(tape.body) if e.op in ("sin", "cos", "exp", "neg", "mul")]
        assert len(arithmetic) <= most, compiled.tape()


@pytest.mark.parametrize("modes", ["F" * k for k in ORDERS] + [
    "".join(m) for k in (2, 3) for m in itertools.product("FR", repeat=k)
])  # fmt: skip
def test_of_a_loop(modes: str) -> None:
    f: Any = loop
    for m in modes:
        f = derivative(f) if m == "F" else grad(f)
    with mpmath.workdps(50):
        coefficients = mpmath.taylor(loop, mpmath.mpf(0.3), len(modes))
    want = float(coefficients[-1] * math.factorial(len(modes)))
    assert jit(f)(0.3) == pytest.approx(want, rel=1e-11)
    if len(modes) <= 3:
        assert f(0.3) == pytest.approx(want, rel=1e-11)


def test_operations_of_a_loop_are_bounded() -> None:
    """By order: at most three times as many, as in a tower of dual numbers, and at first far fewer
    (2 for a sum, 3 for a product, nothing for constants)."""
    counts = [operations(plain_tape(order(loop, k), 0.3).body) for k in range(6)]
    for before, after in itertools.pairwise(counts):
        assert after <= 3 * before, counts
    assert counts[3] <= 8 * counts[0], counts


def test_reverse_over_reverse_is_bounded() -> None:
    counts = [operations(plain_tape(order(loop, k, grad), 0.3).body) for k in range(4)]
    for before, after in itertools.pairwise(counts):
        assert after <= 3 * before, counts
