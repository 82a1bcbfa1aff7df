"""Are Python's integers exact, or refused, up to the ends of 64 bits?

However an operation is spelt: as operator, function, method, or handed to a library function.
Truth is Python itself.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import pytest

from jitad import jit, jit_grad

EDGES = (
    -(2**63), -(2**63) + 1, -(2**62), -(2**53) - 1, -3, -1, 0, 1, 2, 3, 62, 63, 64, 2**31,
    2**32 + 1, 2**53 + 1, 2**62 - 1, 2**62, 2**63 - 1,
)  # fmt: skip
Operation = Callable[..., Any]

UNARY: dict[str, Operation] = {
    "neg": lambda a: -a,
    "pos": lambda a: +a,
    "invert": lambda a: ~a,
    "abs": lambda a: abs(a),
    "operator.abs": lambda a: operator.abs(a),
    "operator.neg": lambda a: operator.neg(a),
    "__abs__": lambda a: a.__abs__(),
    "map abs": lambda a: next(map(abs, [a])),
    "int": lambda a: int(a),
    "round": lambda a: round(a),
    "float": lambda a: float(a),
    "// -1": lambda a: a // -1,
    "* -1": lambda a: a * -1,
    "square": lambda a: a**2,
    "decrement": lambda a: a - 1,
}
BINARY: dict[str, Operation] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "divmod": lambda a, b: divmod(a, b),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "rshift": lambda a, b: a >> b,
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
    "min": lambda a, b: min(a, b),
    "max": lambda a, b: max(a, b),
    "sum": lambda a, b: sum([a, b]),
    "prod": lambda a, b: math.prod([a, b]),
    "operator.mul": lambda a, b: operator.mul(a, b),
    "operator.iadd": lambda a, b: operator.iadd(a, b),
    "__mul__": lambda a, b: a.__mul__(b),
    "__rsub__": lambda a, b: a.__rsub__(b),
    "reduce": lambda a, b: functools.reduce(operator.mul, [a, b]),
    "accumulate": lambda a, b: list(itertools.accumulate([a, b])),
    "accumulate by": lambda a, b: list(itertools.accumulate([a, b], operator.mul)),
    "map": lambda a, b: next(map(operator.add, [a], [b])),
    "starmap": lambda a, b: next(itertools.starmap(operator.mul, [(a, b)])),
}
COUNTED: dict[str, Operation] = {  # the second is an exponent or a count of bits
    "pow": lambda a, b: a**b,
    "pow()": lambda a, b: pow(a, b),
    "operator.pow": lambda a, b: operator.pow(a, b),
    "lshift": lambda a, b: a << b,
}


def outcome(f: Operation, args: tuple[int, ...]) -> Any:
    try:
        return f(*args)
    except Exception as e:
        return type(e)


def fits(result: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return all(map(fits, result))
    return not isinstance(result, int) or -(2**63) <= result < 2**63


def check(f: Operation, args: tuple[int, ...], got: Any) -> None:
    expected = outcome(f, args)
    if isinstance(expected, type):
        assert isinstance(got, type) and issubclass(got, expected), args
    elif fits(expected):
        assert type(got) is type(expected) and got == expected, args
    else:
        assert isinstance(got, type) and issubclass(got, OverflowError), args


@pytest.mark.parametrize("name", UNARY)
def test_one_integer(name: str) -> None:
    g = jit(UNARY[name])
    for a in EDGES:
        check(UNARY[name], (a,), outcome(g, (a,)))


@pytest.mark.parametrize("name", BINARY)
def test_two_integers(name: str) -> None:
    g = jit(BINARY[name])
    for args in itertools.product(EDGES, EDGES):
        check(BINARY[name], args, outcome(g, args))


@pytest.mark.parametrize("name", COUNTED)
def test_counts(name: str) -> None:
    g = jit(COUNTED[name])
    for args in itertools.product((*EDGES, 5, -7), (0, 1, 2, 3, 7, 31, 62, 63, 64, 65, 200)):
        check(COUNTED[name], args, outcome(g, args))


def test_true_division() -> None:
    g = jit(lambda a, b: a / b)
    for a, b in itertools.product(EDGES, EDGES):
        if b:
            assert g(a, b) == pytest.approx(a / b, rel=4e-16)


def test_in_a_loop_that_overflows_at_its_end() -> None:
    def powers(x, n):
        p = 1
        for _ in range(n):
            p = p * -2
        return x * p

    g = jit_grad(powers)
    assert g(1.0, 62) == 2.0**62
    assert g(1.0, 63) == -(2.0**63)
    with pytest.raises(OverflowError):
        g(1.0, 64)
