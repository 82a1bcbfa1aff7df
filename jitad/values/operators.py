"""What do `/`, `//`, `%` and `**` mean in user code?

For Python numbers a zero divisor raises, for NumPy numbers and arrays it gives inf or nan.  The
primitives are IEEE and total (derivative rules rely on that), so the rewritten code calls these,
which put the check in front.  On plain operands they are Python's operators.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from jitad.errors import (
    JitadIntegerError,
    JitadOverflowError,
    JitadTypeError,
    JitadValueError,
    JitadZeroDivisionError,
)
from jitad.values.kind import fail, is_number, is_python, primal, require, type_of
from jitad.values.number import Number, bind
from jitad.values.registry import any_complex, call


def _python_pair(a: Any, b: Any) -> bool:
    """True of two real Python numbers of which one is traced or tagged."""
    if not isinstance(a, Number) and not isinstance(b, Number):
        return False
    if isinstance(a, complex) or isinstance(b, complex):
        return False
    return is_number(a) and is_number(b) and is_python(a) and is_python(b)


def _nonzero(b: Any, what: str) -> None:
    if isinstance(b, Number):
        require(bind("ne", b, 0), JitadZeroDivisionError, what)
    elif b == 0:
        raise fail(JitadZeroDivisionError, what)


def _is_integer(x: Any) -> bool:
    return type_of(x).dtype[0] in "iub"


def div(a: Any, b: Any) -> Any:
    if _python_pair(a, b):
        integers = _is_integer(a) and _is_integer(b)
        _nonzero(b, "division by zero" if integers else "float division by zero")
    return operator.truediv(a, b)


def floordiv(a: Any, b: Any) -> Any:
    if _python_pair(a, b):
        integers = _is_integer(a) and _is_integer(b)
        what = "integer division or modulo by zero" if integers else "float floor division by zero"
        _nonzero(b, what)
        if integers and (isinstance(b, Number) or b == -1) and isinstance(a, Number):
            fine = _or(bind("ne", a, -(2**63)), bind("ne", b, -1))
            require(fine, JitadIntegerError, "the integer needs more than 64 bits")
    return operator.floordiv(a, b)


def lshift(a: Any, b: Any) -> Any:
    _check_count(a, b)
    if _python_pair(a, b):
        b = bind("minimum", b, 63)  # more is too much, unless a is zero
    elif is_number(a) and is_number(b) and (isinstance(a, Number) or isinstance(b, Number)):
        return call(np.left_shift, a, b)  # of NumPy's, which may be shifted by any number
    return operator.lshift(a, b)


def rshift(a: Any, b: Any) -> Any:
    _check_count(a, b)
    if _python_pair(a, b):
        b = bind("minimum", b, 63)  # that is all there is to shift
    elif is_number(a) and is_number(b) and (isinstance(a, Number) or isinstance(b, Number)):
        return call(np.right_shift, a, b)
    return operator.rshift(a, b)


def _check_count(a: Any, b: Any) -> None:
    if _python_pair(a, b):
        fine = bind("ge", b, 0) if isinstance(b, Number) else b >= 0
        require(fine, JitadValueError, "negative shift count")


def mod(a: Any, b: Any) -> Any:
    if isinstance(a, str):  # a text shows numbers without their tags
        if isinstance(b, dict):
            return a % {k: primal(v) for k, v in b.items()}
        return a % (tuple(map(primal, b)) if isinstance(b, tuple) else primal(b))
    if _python_pair(a, b):
        integers = _is_integer(a) and _is_integer(b)
        _nonzero(b, "integer modulo by zero" if integers else "float modulo")
    return operator.mod(a, b)


def divmod_(a: Any, b: Any) -> Any:
    return (floordiv(a, b), mod(a, b)) if _python_pair(a, b) else divmod(a, b)


def pow_(a: Any, b: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        if any(isinstance(x, Number) for x in (a, b, modulus)):
            raise fail(JitadTypeError, "pow with a modulus is not supported on traced integers")
        return pow(a, b, modulus)
    if not _python_pair(a, b):
        return _numpy_pow(a, b)
    return _python_pow(a, b)


def _numpy_pow(a: Any, b: Any) -> Any:
    """NumPy's power: integers stay integers, so that a negative exponent has no result."""
    numbers = is_number(a) and is_number(b) and not any_complex((a, b))
    if numbers and (isinstance(a, Number) or isinstance(b, Number)):
        if _is_integer(a) and _is_integer(b):
            require(b >= 0 if not isinstance(b, Number) else bind("ge", b, 0), JitadValueError,
                    "integers to negative integer powers are not allowed",
                    "Make the base a float.")  # fmt: skip
    return operator.pow(a, b)


def _python_pow(a: Any, b: Any) -> Any:
    if _is_integer(a) and _is_integer(b):
        if not isinstance(b, Number) and b < 0:
            _nonzero(a, "0.0 cannot be raised to a negative power")
            return bind("pow", bind("cast", a, dtype="f8", py=True), b)
        if isinstance(b, Number):
            require(bind("ge", b, 0), JitadTypeError,
                    "a traced negative exponent of an integer makes the result a float",
                    "Make the base a float: float(a) ** b.")  # fmt: skip
        return bind("pow", a, b)
    # Zero to a negative power, and a negative number to a fraction, which would be complex.
    if isinstance(b, Number) or b < 0:
        fine = _or(bind("ne", a, 0), bind("logical_not", bind("lt", b, 0)))  # b may be nan
        require(fine, JitadZeroDivisionError, "0.0 cannot be raised to a negative power")
    whole = bind("eq", b, bind("rint", b))
    if isinstance(whole, Number) or not whole:
        fine = _or(bind("logical_not", bind("lt", a, 0)), whole)
        require(fine, JitadTypeError, "a negative number to a fractional power is complex",
                "jitad computes with real numbers.")  # fmt: skip
    y = bind("pow", a, b)
    finite(y, (a, b), "(34, 'Numerical result out of range')")
    return y


def _or(a: Any, b: Any) -> Any:
    return bind("logical_or", a, b)


def finite(y: Any, args: tuple[Any, ...], what: str) -> None:
    """Python raises where finite operands give an infinite result."""
    ok = bind("logical_not", bind("isinf", y))
    if not isinstance(ok, Number) and ok:
        return
    for a in args:
        if isinstance(a, Number) or not np.isfinite(a):
            ok = _or(ok, bind("logical_not", bind("isfinite", a)))
    require(ok, JitadOverflowError, what)


def idiv(a: Any, b: Any) -> Any:
    return _in_place(operator.itruediv, div, a, b)


def ifloordiv(a: Any, b: Any) -> Any:
    return _in_place(operator.ifloordiv, floordiv, a, b)


def imod(a: Any, b: Any) -> Any:
    return _in_place(operator.imod, mod, a, b)


def ipow(a: Any, b: Any) -> Any:
    return _in_place(operator.ipow, pow_, a, b)


def ilshift(a: Any, b: Any) -> Any:
    return _in_place(operator.ilshift, lshift, a, b)


def irshift(a: Any, b: Any) -> Any:
    return _in_place(operator.irshift, rshift, a, b)


def _in_place(operate: Any, checked: Any, a: Any, b: Any) -> Any:
    return checked(a, b) if is_number(a) else operate(a, b)
