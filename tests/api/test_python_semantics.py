"""Do Python's numbers behave as in Python, and NumPy's as in NumPy, when they are compiled?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit, jvp

LARGEST = 2**63 - 1


def outcome(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result with its type, or the built-in class of the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = f(*args)
    except (ArithmeticError, ValueError, LookupError, TypeError) as e:
        return next(k for k in type(e).__mro__ if k.__module__ == "builtins")
    return value


def same(got: Any, want: Any) -> bool:
    if isinstance(want, type) or isinstance(got, type):
        return got is want
    if isinstance(want, np.ndarray):
        return got.dtype == want.dtype and np.array_equal(got, want, equal_nan=True)
    kind = {int: int, float: float, bool: bool}.get(type(want))
    alike = kind is None or type(got) is kind
    if isinstance(want, float) and math.isnan(want):
        return alike and math.isnan(got)
    signs = math.copysign(1, got) == math.copysign(1, want)
    return bool(alike and signs and math.isclose(got, want, rel_tol=1e-15))


NUMBERS: list[Any] = [-3, -1, 0, 1, 2, 7, -2.5, -0.0, 0.5, 3.0, True, math.inf, math.nan]
PAIRS = [(a, b) for a in NUMBERS for b in NUMBERS]

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "divmod": lambda a, b: divmod(a, b)[0],
    "+ - *": lambda a, b: a + b - a * b,
    "<": lambda a, b: (a < b) + 2 * (a == b) + 4 * (a >= b),
    "min max": lambda a, b: min(a, b) - max(b, a),
    "and or not": lambda a, b: (a and b) or not a,
    "fmod": lambda a, b: math.fmod(a, b),
    "atan2": lambda a, b: math.atan2(a, b),
    "copysign": lambda a, b: math.copysign(a, b),
    "hypot": lambda a, b: math.hypot(a, b),
}


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_python_numbers(name: str) -> None:
    f = BINARY[name]
    g = jit(f)
    for pair in PAIRS:
        got, want = outcome(g, pair), outcome(f, pair)
        if name in ("min max", "and or not"):  # a float or an int, which depends on the values
            assert got == want or (got != got and want != want), pair
        else:
            assert same(got, want), (pair, got, want)


UNARY: dict[str, Callable[[Any], Any]] = {
    name: (lambda f: lambda x: f(x))(getattr(math, name))
    for name in (
        "sqrt log log2 log10 log1p exp expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh "
        "atanh gamma lgamma erf erfc floor ceil trunc fabs cbrt exp2"
    ).split()
} | {
    "int": lambda x: int(x),
    "round": lambda x: round(x),
    "abs": lambda x: abs(x),
    "bool": lambda x: bool(x),
    "1/x": lambda x: 1 / x,
    "log base": lambda x: math.log(x, 10.0),
    "pow": lambda x: math.pow(x, 0.5),
    "degrees": lambda x: math.degrees(x),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_python_numbers(name: str) -> None:
    f = UNARY[name]
    g = jit(f)
    values = [*NUMBERS, 0.25, -0.75, 1.5, 800.0, -800.0, 1e300, -math.inf]
    for x in values:
        got, want = outcome(g, (x,)), outcome(f, (x,))
        if isinstance(want, int) and not isinstance(want, bool) and abs(want) > LARGEST:
            assert got is OverflowError, (x, got)
        elif isinstance(want, float) and math.isfinite(want) and isinstance(got, float):
            assert math.isclose(got, want, rel_tol=1e-13, abs_tol=1e-300), (x, got, want)
        else:
            assert same(got, want), (x, got, want)


INTEGERS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "add": (lambda a, b: a + b, [(LARGEST, 0), (LARGEST, 1), (-LARGEST, -1), (-LARGEST, -2)]),
    "sub": (lambda a, b: a - b, [(-LARGEST, 1), (-LARGEST, 2), (0, -LARGEST - 1)]),
    "mul": (lambda a, b: a * b, [(2**31, 2**31), (2**32, 2**32), (3037000499, 3037000499),
                                 (3037000500, 3037000500), (-(2**62), 4)]),
    "neg": (lambda a: -a, [(LARGEST,), (-LARGEST - 1,)]),
    "pow": (lambda a, b: a**b, [(2, 62), (2, 63), (10, 18), (10, 19), (-3, 39), (-3, 41), (0, 0)]),
    "shift": (lambda a, b: a << b, [(1, 62), (1, 63), (-1, 62), (1, -1), (5, 61)]),
    "right": (lambda a, b: a >> b, [(8, 2), (8, 70), (-8, 70), (8, -1)]),
    "floordiv": (lambda a, b: a // b, [(-LARGEST - 1, -1), (LARGEST, -1), (7, -2)]),
    "loop": (lambda n, k: _doubled(n, k), [(1, 62), (1, 63), (3, 61)]),
    "sum": (lambda a, b: sum([a, b, a]), [(2**61, 1), (2**62, 1)]),
}  # fmt: skip


def _doubled(n, k):
    for _ in range(k):
        n = n * 2
    return n


@pytest.mark.parametrize("name", INTEGERS)
def test_python_ints_past_64_bits_are_errors(name: str) -> None:
    f, cases = INTEGERS[name]
    g = jit(f)
    for args in cases:
        want = outcome(f, args)
        if isinstance(want, int) and not -LARGEST - 1 <= want <= LARGEST:
            want = OverflowError
        got = outcome(g, args)
        if want == -LARGEST - 1 or (isinstance(want, int) and abs(want) > LARGEST * (1 - 1e-14)):
            assert got in (want, OverflowError)  # the last few may be refused
        else:
            assert got == want and type(got) is type(want), (args, got, want)


def test_numpy_numbers_and_arrays_follow_numpy() -> None:
    def divide(a, b):
        return a / b

    def wrap(a):
        return a * a

    def log(x):
        return np.log(x)

    g, h, k = jit(divide), jit(wrap), jit(log)
    with np.errstate(all="ignore"):
        for a in (np.float64(1.0), np.float64(0.0), np.array([1.0, 0.0, -1.0])):
            for b in (np.float64(0.0), np.array([0.0, 2.0, -0.0])):
                np.testing.assert_array_equal(g(a, b), divide(a, b))
        big = np.array([2**40, 3], np.int64)
        np.testing.assert_array_equal(h(big), wrap(big))
        small = np.array([100, 3], np.int8)
        np.testing.assert_array_equal(h(small), wrap(small))
        assert h(small).dtype == np.int8
        values = np.array([-1.0, 0.0, 1.0, np.inf, np.nan])
        np.testing.assert_array_equal(k(values), log(values))
        assert math.isnan(k(np.float64(-1.0)))


@pytest.mark.parametrize(
    "f", [np.remainder, np.floor_divide, np.fmod, np.divide, np.divmod], ids=lambda f: f.__name__
)
def test_numpys_divisions_raise_nothing(f: Any) -> None:
    """Not of Python's numbers either, in no engine."""

    def divided(a, b):
        out = f(a, b)
        return out[0] + out[1] if f is np.divmod else out

    g = jit(divided)
    with np.errstate(all="ignore"):
        for pair in [(7.5, 0.0), (-7.5, -0.0), (0.0, 0.0), (-7.5, math.inf), (math.nan, 0.0)]:
            want = divided(*pair)
            np.testing.assert_equal(g(*pair), want)
            np.testing.assert_equal(jvp(divided, pair, (1.0, 1.0))[0], want)


def test_zero_to_a_power_that_is_no_number():
    def f(x):
        return 0.0 ** (x * x)

    for run in (jit(f), lambda x: jvp(f, (x,), (1.0,))[0]):
        assert math.isnan(run(math.nan)) and run(2.0) == 0.0


INDEXED: dict[str, Callable[..., Any]] = {
    "array": lambda a, i: a[i],
    "slice": lambda a, i: np.sum(a[i:]),
    "store": lambda a, i: _stored(a, i),
    "list": lambda a, i: [1.0, 2.0, 3.0][i],
    "two axes": lambda a, i: np.outer(a, a)[i, -i],
    "accumulated": lambda a, i: _accumulated(a, i),
}


def _stored(a, i):
    b = np.zeros(len(a))
    b[i] = 5.0
    return np.sum(b * a)


def _accumulated(a, i):
    s = 0.0
    for k in range(i):
        s += a[k]
    return s


@pytest.mark.parametrize("name", INDEXED)
def test_bounds(name: str) -> None:
    f = INDEXED[name]
    g = jit(f)
    a = np.array([1.0, 2.0, 4.0])
    for i in range(-5, 6):
        got, want = outcome(g, (a, i)), outcome(f, (a, i))
        assert same(got, want), (i, got, want)
