"""What become Python's `math` functions of traced and differentiated numbers?

They compute by the primitives; where Python raises (a domain error, an overflow) a check says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from jitad.errors import JitadIntegerError, JitadTypeError, JitadValueError
from jitad.values import operators
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise
from jitad.values.kind import fail, require, type_of, wrong_type
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.python_functions import to_bool, to_float, to_python
from jitad.values.registry import call, replaces

_Test = Callable[..., Any]


def _math(
    original: Any, row: str, inside: _Test | None = None, overflow: bool = False
) -> None:
    """math.f as the row's primitive; `inside` holds in its domain, `overflow`: it may exceed it."""

    @replaces(original)
    def replacement(*args: Any) -> Any:
        given = tuple(map(to_float, args))
        if inside is not None:
            require(inside(*given), JitadValueError, "math domain error")
        y = bind(row, *given)
        if overflow:
            operators.finite(y, given, "math range error")
        return to_python(y)


def _not(x: Any) -> Any:
    return bind("logical_not", x)


def _or(a: Any, b: Any) -> Any:
    return bind("logical_or", a, b)


def _outside(test: _Test) -> _Test:
    """The domain, given what lies outside it (nan is always inside)."""
    return lambda *args: _not(test(*args))


for _name in ("tanh", "atan", "asinh", "erf", "erfc"):
    _math(getattr(math, _name), _name)
for _name in ("exp", "expm1", "sinh", "cosh", "exp2"):
    _math(getattr(math, _name), _name, overflow=True)
for _name in ("sin", "cos", "tan"):
    _math(getattr(math, _name), _name, _outside(lambda x: bind("isinf", x)))
for _name in ("log2", "log10"):
    _math(getattr(math, _name), _name, _outside(lambda x: bind("le", x, 0.0)))
_math(math.log1p, "log1p", _outside(lambda x: bind("le", x, -1.0)))
_math(math.sqrt, "sqrt", _outside(lambda x: bind("lt", x, 0.0)))
_math(math.cbrt, "cbrt")
for _name in ("asin", "acos"):
    _math(getattr(math, _name), _name, _outside(lambda x: bind("gt", bind("abs", x), 1.0)))
_math(math.acosh, "acosh", _outside(lambda x: bind("lt", x, 1.0)))
_math(math.atanh, "atanh", _outside(lambda x: bind("ge", bind("abs", x), 1.0)))
_math(math.atan2, "atan2")
_math(math.copysign, "copysign")
_math(math.fabs, "abs")


def _bad_fmod(a: Any, b: Any) -> Any:
    infinite = bind("logical_and", bind("isinf", a), _not(bind("isnan", b)))
    return _or(infinite, bind("logical_and", bind("eq", b, 0.0), _not(bind("isnan", a))))


def _whole_and_not_positive(x: Any) -> Any:
    whole = bind("eq", x, bind("floor", x))
    return bind("logical_and", bind("le", x, 0.0), whole)


_math(math.fmod, "fmod", _outside(_bad_fmod))
_math(math.gamma, "gamma", _outside(_whole_and_not_positive), overflow=True)


def _whole(x: Any, what: str) -> Any:
    """An int of Python's that is no float, and not negative."""
    if type_of(x).dtype[0] not in "iub":
        raise wrong_type("a float can't be interpreted as an integer", "Convert it with int(...).")
    n = to_python(x)
    require(bind("ge", n, 0), JitadValueError, f"{what} not defined for negative values")
    return n


_WIDE = "the integer needs more than 64 bits"


@replaces(math.factorial)
def factorial(n: Any) -> Any:
    n = _whole(n, "factorial()")
    require(bind("le", n, 20), JitadIntegerError, _WIDE,
            "Use math.gamma(n + 1.0), which is a float.")  # fmt: skip
    return fold(n, (1,), lambda k, p: (bind("mul", p, bind("add", k, 1)),), n)[0]


@replaces(math.comb)
def comb(n: Any, k: Any) -> Any:
    n, k = _whole(n, "comb()"), _whole(k, "comb()")
    require(bind("le", n, 61), JitadIntegerError, _WIDE,
            "Use scipy.special.comb(n, k), which is a float.")  # fmt: skip
    few = bind("minimum", k, bind("maximum", bind("sub", n, k), 0))

    def step(i: Any, p: Any) -> tuple[Any]:
        return (bind("floordiv", bind("mul", p, bind("sub", n, i)), bind("add", i, 1)),)

    return bind("where", bind("gt", k, n), 0, fold(few, (1,), step, n, k)[0])


@replaces(math.lgamma)
def lgamma(x: Any) -> Any:
    x = to_float(x)
    at_pole = bind("logical_and", _whole_and_not_positive(x), _not(bind("isinf", x)))
    require(_not(at_pole), JitadValueError, "math domain error")
    # The row is SciPy's function, which differs from Python's in this point alone.
    return to_python(bind("lgamma", bind("where", bind("eq", x, -math.inf), math.inf, x)))


@replaces(math.log)
def log(x: Any, base: Any = None) -> Any:
    x = to_float(x)
    require(_not(bind("le", x, 0.0)), JitadValueError, "math domain error")
    y = to_python(bind("log", x))
    return y if base is None else operators.div(y, call(math.log, base))


@replaces(math.pow)
def math_pow(a: Any, b: Any) -> Any:
    a, b = to_float(a), to_float(b)
    y = bind("pow", a, b)
    # Finite operands without a real result: a negative base and a fraction, a pole at zero.
    finite_operands = bind("logical_and", bind("isfinite", a), bind("isfinite", b))
    pole = bind("logical_and", bind("eq", a, 0.0), bind("lt", b, 0.0))
    bad = bind("logical_and", finite_operands, _or(bind("isnan", y), pole))
    require(_not(bad), JitadValueError, "math domain error")
    operators.finite(y, (a, b), "math range error")
    return to_python(y)


@replaces(math.hypot)
def hypot(*args: Any) -> Any:
    out: Any = bind("abs", to_float(args[0])) if args else 0.0
    for x in args[1:]:
        out = bind("hypot", out, to_float(x))
    operators.finite(out, tuple(map(to_float, args)), "math range error")
    return to_python(out)


@replaces(math.dist)
def dist(p: Any, q: Any) -> Any:
    if len(p) != len(q):
        raise fail(JitadValueError, "both points must have the same number of dimensions")
    return hypot(*(a - b for a, b in zip(p, q, strict=True)))


@replaces(math.degrees)
def degrees(x: Any) -> Any:
    return to_float(x) * (180.0 / math.pi)


@replaces(math.radians)
def radians(x: Any) -> Any:
    return to_float(x) * (math.pi / 180.0)


@replaces(math.prod)
def math_prod(values: Iterable[Any], *, start: Any = 1) -> Any:
    out = start
    for v in values:
        out = out * v
    return out


@replaces(math.fsum, plain=False)  # what a generator gives is seen only when it has given it
def fsum(values: Iterable[Any]) -> Any:
    """The sum and, apart, what its roundings lost (Neumaier, 1974)."""
    if not isinstance(values, ArrayHandle):
        values = [*values]
    if not any_traced([*values] if isinstance(values, list) else [values]):
        return math.fsum(values.peek() if isinstance(values, ArrayHandle) else values)

    def add(total: Any, lost: Any, x: Any) -> tuple[Any, Any]:
        after = total + x
        part = after - total
        return after, lost + ((total - (after - part)) + (x - part))

    total, lost = 0.0, 0.0
    if isinstance(values, ArrayHandle) and values.shape and isinstance(values.shape[0], Number):
        content = values.content
        total, lost = fold(values.shape[0], (total, lost), lambda k, total, lost: add(
            total, lost, to_float(bind("load", content, k))), content)  # fmt: skip
    else:
        for x in values:
            total, lost = add(total, lost, to_float(x))
    return to_python(bind("where", bind("isfinite", lost), total + lost, total))


@replaces(math.remainder)
def remainder(x: Any, y: Any) -> Any:
    x, y = to_float(x), to_float(y)
    require(_not(_bad_fmod(x, y)), JitadValueError, "math domain error")
    negative = bind("lt", bind("copysign", 1.0, x), 0.0)
    size = bind("where", negative, -x, x)  # which has a slope at zero, as abs has not
    divisor = bind("abs", y)
    m = bind("fmod", size, divisor)  # exact; the multiple that is nearest is this one or the next
    over = divisor - m
    tie = m - 2.0 * bind("fmod", 0.5 * (size - m), divisor)  # the even multiple
    nearest = bind("where", bind("lt", m, over), m, bind("where", bind("gt", m, over), -over, tie))
    nearest = bind("where", bind("isinf", divisor), size, nearest)
    return to_python(bind("where", negative, -nearest, nearest))


@replaces(math.modf)
def modf(x: Any) -> tuple[Any, Any]:
    x = to_float(x)
    fraction = bind("where", bind("isinf", x), bind("copysign", 0.0, x), bind("fmod", x, 1.0))
    return to_python(fraction), to_python(bind("trunc", x))


@replaces(math.frexp)
def frexp(x: Any) -> tuple[Any, Any]:
    x = to_float(x)
    subnormal = bind("lt", bind("abs", x), 2.0**-1021)
    z = x * bind("where", subnormal, 2.0**54, 1.0)
    usual = bind("logical_and", bind("isfinite", x), bind("ne", x, 0.0))
    size = bind("where", usual, bind("abs", z), 0.5)
    e = bind("floor", bind("log2", size)) + 1.0  # which rounding may have put off by one
    m = size * bind("exp2", -e)
    e = e + bind("where", bind("ge", m, 1.0), 1.0, bind("where", bind("lt", m, 0.5), -1.0, 0.0))
    exponent = bind("where", bind("logical_and", usual, subnormal), e - 54.0, e)
    mantissa = bind("where", usual, z * bind("exp2", -e), x)
    return to_python(mantissa), bind("cast", exponent, dtype="i8", py=True)


@replaces(math.ldexp)
def ldexp(x: Any, n: Any) -> Any:
    if type_of(n).dtype[0] not in "iub":
        raise fail(JitadTypeError, "Expected an int as second argument to ldexp.")
    x = to_float(x)
    n = bind("maximum", -2200.0, bind("minimum", 2200.0, to_float(n)))
    third = bind("trunc", n / 3.0)  # no power of two on the way leaves the floats
    y = x * bind("exp2", n - 2.0 * third) * bind("exp2", third) * bind("exp2", third)
    operators.finite(y, (x,), "math range error")
    return to_python(y)


def _refused(original: Any) -> None:
    @replaces(original)
    def refused(*args: Any) -> Any:
        what = f"math.{original.__name__} is not supported on traced or differentiated numbers"
        raise fail(JitadTypeError, what, "It is about the bits of a number: compute it outside.")


_refused(math.nextafter)
_refused(math.ulp)


for _name in ("isnan", "isinf", "isfinite"):
    _math(getattr(math, _name), _name)


@replaces(math.isclose)
def isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    near = elementwise("abs", elementwise("sub", a, b))
    largest = elementwise("maximum", elementwise("abs", a), elementwise("abs", b))
    margin = elementwise("maximum", elementwise("mul", rel_tol, largest), abs_tol)
    fine = elementwise("logical_and", elementwise("le", near, margin),
                       elementwise("isfinite", largest))  # fmt: skip
    return to_bool(elementwise("logical_or", fine, elementwise("eq", a, b)))
