"""Does the work of derivatives of recursive functions grow as their own?  Counted, never timed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.calls.arguments import abstract
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.trace.trace import trace
from tests.sweeps.counting import counted

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """The interpreter of tapes takes several frames for each call."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(limit)


def operations(f: Function, *args: Any) -> int:
    """Scalar operations of the tape that a kernel would be made of."""
    leaves, structure = flatten((args, {}))
    traced = trace(f, *unflatten(structure, map(abstract, leaves)))
    plain = specialise(traced.tape)
    assert plain.functions, "it was unfolded"
    _, done = counted(plain.body, traced.arguments(f, args, {}), plain.functions)
    return done.total()


def chain(x: Any, n: int) -> Any:
    """Each level wants what the level below gives before it knows its sensitivity."""
    return x * x if n == 0 else math.sin(chain(x * 0.99, n - 1)) * x


def product(x: Any, n: int) -> Any:
    return x if n == 0 else x * product(x, n - 1)


def pairs(x: Any, n: int) -> Any:
    def one(z: Any, k: int) -> Any:
        return z if k <= 0 else math.sin(other(z * x, k - 1)) + x

    def other(z: Any, k: int) -> Any:
        return z * x if k <= 0 else math.exp(-one(z + x, k - 1))

    return one(x, n)


def halves(x: Any, n: int) -> Any:
    """A tree of n leaves."""
    def over(lo: int, hi: int) -> Any:
        if hi - lo < 2:
            return math.sin(x * lo)
        mid = (lo + hi) // 2
        return math.sin(over(lo, mid) * over(mid, hi) + x)

    return over(0, n)


def looped(x: Any, n: int) -> Any:
    """A loop in every call; calls in a loop, in which results are wanted."""
    def level(k: int, z: Any) -> Any:
        total = z
        for j in range(3):
            total = math.sin(total * (j + 1.0) + x)
        for _ in range(1):
            if k > 0:
                total = total * math.cos(level(k - 1, total * z))
        return total

    return level(n, x)


def heap(x: Any) -> Any:
    """One array in all calls, read at one place in each."""
    def under(k: int) -> Any:
        if k >= len(x):
            return 0.5
        return math.sin(under(2 * k + 1) + x[k] * under(2 * k + 2))

    return under(0)


def filled(x: Any) -> Any:
    """One array in all calls, written at one place in each."""
    y = x * 1.0

    def go(k: int) -> None:
        if k < len(y):
            y[k] = math.sin(y[k - 1] * y[k])
            go(k + 1)

    go(1)
    return y[-1]


def given(x: Any) -> Any:
    """An array that each call hands to the next one, changed."""
    def go(a: Any, k: int) -> Any:
        if k == len(a):
            return a
        a[k] = a[k] * a[k - 1]
        return go(a, k + 1)

    return go(x * 1.0, 1)[-1]


NUMBERS = [chain, product, pairs, halves, looped]
ARRAYS = [heap, filled, given]
SECOND = [chain, product, pairs, halves, looped]


def sized(f: Function, n: int) -> tuple[Any, ...]:
    return (0.7, n) if f in NUMBERS else (np.linspace(0.4, 0.9, n),)


@pytest.mark.parametrize("f", [*NUMBERS, *ARRAYS])
def test_a_gradient_is_a_small_multiple_of_the_function(f: Function) -> None:
    for n in (20, 80):
        own = operations(f, *sized(f, n))
        assert operations(jitad.value_and_grad(f), *sized(f, n)) <= 6 * own


@pytest.mark.parametrize("f", [*NUMBERS, *ARRAYS])
def test_forward_mode_is_a_small_multiple_too(f: Function) -> None:
    def forward(*args: Any) -> Any:
        x = args[0]
        return jitad.jvp(lambda x: f(x, *args[1:]), (x,), (x * 0.5,))

    for n in (20, 80):
        assert operations(forward, *sized(f, n)) <= 5 * operations(f, *sized(f, n))


@pytest.mark.parametrize("f", SECOND)
@pytest.mark.parametrize(
    "operator",
    {
        "forward over reverse": lambda f: jitad.derivative(jitad.grad(f)),
        "reverse over forward": lambda f: jitad.grad(jitad.derivative(f)),
        "reverse over reverse": lambda f: jitad.grad(jitad.grad(f)),
    }.items(),
    ids=lambda case: case[0],
)  # fmt: skip
def test_second_derivatives_are_linear(f: Function, operator: tuple[str, Function]) -> None:
    few, many = (operations(operator[1](f), *sized(f, n)) for n in (20, 80))
    assert many <= 4.4 * few
