"""Do `math` functions, builtins and operators give what Python gives, errors included?

Traced arguments are Python floats (or ints); an error of Python's must come as a check of the
tape with the same class and text, and eagerly as the same exception.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy
import pytest

import jitad
from jitad.errors import JitadError, JitadTypeError
from jitad.runtime import derivative
from jitad.tape.build import Builder, Leaf
from jitad.tape.interpret import interpret
from jitad.tape.types import Array, Scalar
from jitad.values import operators
from jitad.values.array import ArrayHandle
from jitad.values.functions import implementation
from jitad.values.ranges import Range
from tests.values import ways

POINTS = [0.3, 1.7, -0.4, -2.5, 0.0, 1.0, -1.0, 3.0, 720.0, math.inf, -math.inf, math.nan]
UNARY = [
    "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
    "gamma", "lgamma", "fabs", "floor", "ceil", "trunc", "degrees", "radians", "isnan", "isinf",
    "isfinite",
]  # fmt: skip
BINARY = ["atan2", "copysign", "fmod", "remainder", "hypot", "pow", "log"]


def outcome(f: Any, *args: Any) -> Any:
    """The value, or the class of the exception that Python raises."""
    try:
        return f(*args)
    except (ArithmeticError, ValueError) as e:
        for kind in (ZeroDivisionError, OverflowError, ValueError):
            if isinstance(e, kind):
                return kind
        raise


def traced(f: Any, *args: Any) -> Any:
    """The result of the tape; a Python number where the tape's type says so."""
    tape, given = ways.record(lambda np, *a: f(*a), *args, ints=True)
    (value,) = interpret(tape.body, given)
    t = tape.body.results[0].type
    python = {"f": float, "i": int, "b": bool}[t.dtype[0]]
    return python(value) if t.py else numpy.dtype(t.dtype).type(value)


def assert_like_python(f: Any, g: Any, *args: Any, exact_type: bool = True) -> None:
    """g, on traced arguments, does what f does on plain ones."""
    want = outcome(f, *args)
    found = outcome(traced, g, *args)
    if isinstance(want, type):
        assert found is want, (args, found, want)
    else:
        assert not isinstance(found, type), (args, found, want)
        assert found == pytest.approx(want, rel=1e-13, nan_ok=True), args
        if exact_type:
            assert type(found) is type(want)


@pytest.mark.parametrize("name", UNARY)
def test_math(name):
    original = getattr(math, name)
    for x in POINTS:
        want = outcome(original, x)
        assert_like_python(original, implementation(original), x)
        if not isinstance(want, type):
            assert implementation(original)(x) == pytest.approx(want, nan_ok=True)


@pytest.mark.parametrize("name", BINARY)
def test_math_of_two(name):
    original = getattr(math, name)
    for x in POINTS:
        for y in POINTS:
            assert_like_python(original, implementation(original), x, y)


def test_math_in_parts():
    points = [*POINTS, 5e-324, -1e-310, 2.0**-1022, 1.7e308, 2.0**60, 0.5 - 2**-54, 1 - 2**-53]
    for original in (math.frexp, math.modf):
        found = implementation(original)
        for x in points:
            for k in (0, 1):
                assert_like_python(lambda x, k=k: original(x)[k], lambda x, k=k: found(x)[k], x)
            part = traced(lambda x: found(x)[0], x)
            assert math.isnan(x) or math.copysign(1.0, part) == math.copysign(1.0, original(x)[0])
    for x in points:
        for n in (0, 3, -5, 1100, -1100, 2100, -2100, 10**6, -(10**6)):
            shifted = implementation(math.ldexp)
            assert_like_python(lambda x, n=n: math.ldexp(x, n), lambda x, n=n: shifted(x, n), x)
        assert_like_python(lambda x: x.is_integer(), lambda x: x.is_integer(), x)
    assert derivative(lambda x: implementation(math.frexp)(x)[0])(3.0) == 0.25
    assert derivative(lambda x: implementation(math.ldexp)(x, 3))(3.0) == 8.0
    assert derivative(lambda x: sum(implementation(math.modf)(x)) * x)(-2.5) == -5.0


def test_remainder_is_exact():
    found = implementation(math.remainder)
    for x, y in [(7.5, 5.0), (12.5, 5.0), (2.5, 5.0), (-2.5, 5.0), (1e300, 0.7), (3.0, -0.7),
                 (1.0, math.inf)]:
        assert traced(found, x, y) == math.remainder(x, y)
    assert derivative(lambda x: found(x, 0.7))(2.3) == 1.0
    assert derivative(lambda y: found(2.3, y))(0.7) == -3.0


def test_fsum_is_exact():
    found = implementation(math.fsum)
    values = [1.0, 1e100, 1.0, -1e100, 0.1, 0.1, 0.1]
    for some in (values, values[:3], [0.1] * 10, [math.inf, 1.0], [1e16, 1.0, 1.0]):
        by_list = traced(lambda x, some=some: found([x, *some]), 0.0)
        by_array = traced(lambda a: found(a), numpy.array(some))
        assert by_list == by_array == math.fsum(some) or abs(math.fsum(some)) > 1e99
    assert derivative(lambda x: found([x, 1e100, x * x, -1e100]))(3.0) == 7.0


def test_rounding_to_digits_is_of_the_decimal():
    rng = numpy.random.default_rng(5)
    values = rng.normal(size=60) * 30
    given = [(float(numpy.round(v, d + 1)), d) for v in values for d in (0, 1, 2, 5)]
    given += [(2.675, 2), (1.115, 2), (0.5, 0), (25.0, -1), (35.0, -1), (-14999.5, -4),
              (1e300, 3), (0.285, 2)]
    for x, d in [*given, (math.inf, 1), (math.nan, 1), (12345.678, -2), (5e-324, 3), (1.5e22, -22)]:
        want = round(x, d)
        found = traced(lambda x, d=d: implementation(round)(x, d), x)
        assert found == want or (math.isnan(found) and math.isnan(want)), (x, d)
    assert derivative(lambda x: round(x, 2) * x)(1.239) == 1.24
    assert traced(lambda n: implementation(round)(n, 2), 7) == 7


def test_math_of_ints_and_more():
    assert_like_python(math.sqrt, implementation(math.sqrt), 4)
    assert_like_python(math.hypot, implementation(math.hypot), 1.0, 2.0, -3.0)
    assert_like_python(math.hypot, implementation(math.hypot), -3.0)
    f = lambda a, b: implementation(math.dist)((a, b), (0.5, 0.25))
    assert_like_python(lambda a, b: math.dist((a, b), (0.5, 0.25)), f, 1.0, 2.0)


NUMBERS = [2.5, -1.5, 0.0, 3, -2, 0, 1, math.inf]
OPERATORS = {
    "/": (lambda a, b: a / b, operators.div),
    "//": (lambda a, b: a // b, operators.floordiv),
    "%": (lambda a, b: a % b, operators.mod),
}


@pytest.mark.parametrize("sign", list(OPERATORS))
def test_division_of_python_numbers(sign):
    plain, ours = OPERATORS[sign]
    for a in NUMBERS:
        for b in NUMBERS:
            assert outcome(ours, a, b) == pytest.approx(outcome(plain, a, b), nan_ok=True)
            if math.isinf(a) and sign != "/":
                continue  # NumPy and Python agree on nan, but warn
            assert_like_python(plain, ours, a, b)
            want = outcome(plain, a, b)
            for f in (lambda x, b=b: ours(x, b), lambda x, a=a: ours(a, x)):
                at = a if f.__defaults__ == (b,) and f.__code__.co_varnames[1] == "b" else b
                eager = outcome(lambda f=f, at=at: derivative(f)(float(at)))
                assert isinstance(eager, type) == isinstance(want, type)


def test_division_of_numpy_numbers_is_ieee():
    def f(np: Any, a: Any, x: Any) -> Any:
        strong = np.float64(x)
        return operators.div(x, a[0]), operators.div(strong, x - x), operators.mod(a[1], a[0])

    a = numpy.array([0.0, 1.0])
    found = ways.on_tape(f, a, 2.0)
    assert found[:2] == [math.inf, math.inf] and math.isnan(found[2])


POWERS = [(2.0, 3), (2.0, 0.5), (-2.0, 3), (-2.0, 2.0), (0.0, 2), (0.0, 0), (2, 3), (-3, 2),
          (1.5, -2), (0.0, -1.0), (0.0, -2), (10.0, 400.0), (-1.0, 3)]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), POWERS)
def test_power(a, b):
    assert_like_python(lambda a, b: a**b, operators.pow_, a, b)
    assert_like_python(lambda a: a**b, lambda a: operators.pow_(a, b), a)


def test_power_refusals():
    for args in ((-2.0, 0.5), (2, -1)):
        with pytest.raises(JitadTypeError):
            traced(operators.pow_, *args)
    assert traced(lambda a: operators.pow_(a, -1), 2) == 0.5
    with pytest.raises(JitadTypeError, match="modulus"):
        traced(lambda a: operators.pow_(a, 2, 3), 2)


BUILTINS = [
    (builtins.abs, (-1.5,)),
    (builtins.max, (1.5, 2.5)),
    (builtins.max, (2.5, 1.5, -1.0)),
    (builtins.min, (1.5, 2.5)),
    (builtins.min, (2.5, 1.5, -1.0)),
    (builtins.float, (3,)),
    (builtins.int, (-2.7,)),
    (builtins.int, (3,)),
    (builtins.bool, (0.0,)),
    (builtins.bool, (2,)),
    (builtins.round, (2.5,)),
    (builtins.round, (-3.5,)),
    (builtins.divmod, (7.5, -2.0)),
    (builtins.divmod, (7, 0)),
    (builtins.pow, (2.0, 3.0)),
]


@pytest.mark.parametrize(("f", "args"), BUILTINS)
def test_builtins(f, args):
    g = implementation(f)
    if f is divmod:
        assert_like_python(lambda a, b: divmod(a, b)[0], lambda a, b: g(a, b)[0], *args)
        assert_like_python(lambda a, b: divmod(a, b)[1], lambda a, b: g(a, b)[1], *args)
    else:
        assert_like_python(f, g, *args)
    assert outcome(g, *args) == outcome(f, *args)


def test_max_takes_what_python_takes():
    first = implementation(max)
    assert traced(lambda x: first(x, math.nan), 1.0) == 1.0
    assert math.isnan(traced(lambda x: first(math.nan, x), 1.0))
    assert derivative(lambda x: first(x * x, x))(1.0) == 2.0
    assert derivative(lambda x: first(x, x * x))(1.0) == 1.0
    assert first([3, 1, 2]) == 3 and first("ab", "b", key=len) == "ab"
    assert traced(lambda x: first(v * x for v in (1.0, 3.0, 2.0)), 2.0) == 6.0


def test_arithmetic_of_bools_gives_ints():
    for f in (lambda x: (x > 0) + (x > 1), lambda x: -(x > 0), lambda x: (x > 0) - True,
              lambda x: (x > 0) & (x > 1), lambda x: (x > 0) ^ True, lambda x: (x > 0) << 2,
              lambda x: (x > 0) * 2.5, lambda x: +(x > 0), lambda x: ~+(x > 0),
              lambda x: (x > 0).real, lambda x: (x > 0).imag, lambda x: (x > 0).conjugate(),
              lambda x: x.imag):  # fmt: skip
        for x in (0.5, 2.0):
            assert_like_python(f, f, x)


def test_sums():
    total = implementation(sum)
    assert traced(lambda x: total([x, 2, x * x]), 3.0) == 14.0
    assert traced(lambda x: total((x * k for k in range(3)), 1.0), 3.0) == 10.0
    assert ways.on_tape(lambda np, a: total(a), numpy.arange(4.0)) == [6.0]
    assert total(ArrayHandle(numpy.arange(4.0))) == 6.0


def test_any_and_all():
    some, every = implementation(any), implementation(all)
    for x in (-1.0, 0.5, 2.0):
        for g, f in ((some, any), (every, all)):
            assert_like_python(lambda x, f=f: f([x > 0, x > 1]),
                               lambda x, g=g: g([x > 0, x > 1]), x)
            assert_like_python(lambda x, f=f: f(x > k for k in (0, 1)),
                               lambda x, g=g: g(x > k for k in (0, 1)), x)  # fmt: skip
    assert traced(lambda x: some([x > 9, True]), 1.0) is True
    assert traced(lambda x: every([x > 9, False]), 1.0) is False
    assert some([]) is False and every([]) is True


def test_types():
    b = Builder()
    x = Leaf(b, b.input(Scalar("f8", True)))
    y = Leaf(b, b.input(Scalar("f8")))
    n = Leaf(b, b.input(Scalar("i8", True)))
    a = ArrayHandle(Leaf(b, b.input(Array("f8", 1))))
    is_a, kind = implementation(isinstance), implementation(type)
    assert is_a(x, float) and not is_a(x, int) and is_a(x, (int, float)) and not is_a(x, str)
    assert is_a(y, float) and is_a(y, numpy.floating) and is_a(n, int) and not is_a(n, bool)
    assert is_a(a, numpy.ndarray) and not is_a(a, float) and is_a(1.0, float)
    assert is_a(x > 1.0, bool)
    assert kind(x) is float and kind(n) is int and kind(y) is numpy.float64
    assert kind(a) is numpy.ndarray and kind(3) is int and kind("T", (), {}).__name__ == "T"
    assert isinstance(implementation(len)(a), Leaf) and implementation(len)([1, 2]) == 2
    assert isinstance(implementation(range)(1, n), Range)
    assert implementation(range)(3) == range(3)
    with pytest.raises(JitadTypeError, match="bound of range"):
        implementation(range)(x)


def test_what_is_unknown_has_no_replacement():
    assert implementation(print) is None
    assert implementation(numpy.save) is None
    assert implementation([].append) is None


def test_unsupported_functions_are_refused_by_name():
    def f(np: Any, a: Any) -> Any:
        return numpy.packbits(a[0] > a[1])

    with pytest.raises(JitadTypeError, match=r"numpy\.packbits is not supported"):
        ways.on_tape(f, numpy.eye(2))


def test_arguments_that_are_not_supported_are_refused_by_name():
    """None is swallowed: what an argument says would be lost without a word."""
    for f, message in (
        (lambda np, a: numpy.matmul(a, a, axes=[(0, 1)] * 3), "axes= of matmul is not supported"),
        (lambda np, a: numpy.einsum("ij->i", a, casting="unsafe"), "casting= of einsum is not"),
        (lambda np, a: numpy.ravel(a, order="K"), "order='K' goes by where"),
    ):
        with pytest.raises(JitadTypeError, match=message):
            ways.on_tape(f, numpy.eye(2))


def test_numpy_protocols_reach_the_replacements():
    a = numpy.array([[1.0, 2.0], [3.0, 4.0]])

    def f(np: Any, a: Any) -> Any:
        return (numpy.sin(a), numpy.sum(a, axis=0), numpy.add.reduce(a), a[0] * numpy.ones(2),
                numpy.ones(2) @ a, numpy.concatenate([a, numpy.zeros((1, 2))]),
                numpy.multiply.outer(a[0], a[1]), numpy.float64(2.0) * a, 3 - a)  # fmt: skip

    for way in ways.WAYS.values():
        ways.assert_same(way(f, a), ways.on_ndarrays(f, a))


def test_numbers_and_arrays_meet():
    def f(np: Any, a: Any, x: float) -> Any:
        return x * a, a / x, numpy.ones(3) * x + a, numpy.sin(x), numpy.float64(2) * x

    args = numpy.array([1.0, 2.0, 3.0]), 0.5
    for way in ways.WAYS.values():
        ways.assert_same(way(f, *args), ways.on_ndarrays(f, *args))


def test_a_handle_refuses_to_leave():
    def f(np: Any, a: Any) -> Any:
        return numpy.asarray(numpy.array(a))

    with pytest.raises(JitadError, match="can't become a NumPy array"):
        ways.on_tape(f, numpy.ones(2))
    # a list has as many elements as the array in the call that is traced for
    assert len(ways.on_tape(lambda np, a: list(a), numpy.ones(2))) == 2
    plain = ArrayHandle(numpy.array([[2.5]]))
    assert float(plain) == 2.5 and bool(plain) and plain.item() == 2.5 and plain.tolist() == [[2.5]]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ArrayHandle(numpy.ones(2)))


@pytest.mark.parametrize("operator", [jitad.grad, jitad.jit_grad])
def test_exact_sum_of_a_generator(operator):
    """What it gives is known to be differentiated only when it has given it."""
    x = numpy.array([0.5, -1.5, 2.0])
    numpy.testing.assert_allclose(operator(lambda x: math.fsum(v * v for v in x))(x), 2.0 * x)
    tenths = operator(lambda x: x * math.fsum(0.1 for _ in range(10)))
    assert tenths(3.0) == pytest.approx(1.0, rel=1e-15)
