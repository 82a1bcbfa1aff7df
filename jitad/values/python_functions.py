"""What become Python's `math` functions and builtins of traced and differentiated numbers?

They compute by the primitives; where Python raises (a `math` domain error, an overflow) a check
says so.  `min` and `max` take the operand that Python takes, also at ties.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from jitad.errors import JitadOverflowError, JitadTypeError, JitadValueError
from jitad.tape.types import Scalar
from jitad.values import operators
from jitad.values.array import ArrayHandle
from jitad.values.complexes import Complex
from jitad.values.kind import fail, is_python, primal, require, type_of
from jitad.values.number import Number, bind
from jitad.values.registry import any_traced, call, of_complex, replaces

_PYTHON_TYPES = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def to_python(x: Any) -> Any:
    """The number as a Python number of the same kind."""
    t = type_of(x)
    if not isinstance(x, Number) or (isinstance(t, Scalar) and t.py):
        return x.item() if isinstance(x, np.generic) else x
    wide = {"f": "f8", "i": "i8", "u": "i8", "b": "b1", "c": "c16"}[t.dtype[0]]
    return bind("cast", x, dtype=wide, py=True)


def to_float(x: Any) -> Any:
    """What `float(x)` computes."""
    if isinstance(x, ArrayHandle):
        x = x._only("a float")
    if not isinstance(x, Number):
        return float(x)
    if type_of(x).dtype == "f8" and is_python(x):
        return x
    return bind("cast", x, dtype="f8", py=True)


# -- math -----------------------------------------------------------------------------------------

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


@replaces(math.fsum)
def fsum(values: Iterable[Any]) -> Any:
    raise fail(JitadTypeError, "math.fsum is not supported on traced or differentiated numbers",
               "Use sum(...) or np.sum(...).")  # fmt: skip


for _name in ("isnan", "isinf", "isfinite"):
    _math(getattr(math, _name), _name)


def _to_int(row: str) -> Callable[..., Any]:
    def convert(x: Any) -> Any:
        """The int, with the errors of Python for nan and infinities."""
        if isinstance(x, ArrayHandle):
            x = x._only("an int")
        if not isinstance(x, Number):
            return {"floor": math.floor, "ceil": math.ceil}.get(row, int)(x)
        if type_of(x).dtype[0] in "iub":
            return to_python(x) if type_of(x).dtype[0] != "b" else bind(
                "cast", x, dtype="i8", py=True)  # fmt: skip
        number = bind("logical_not", bind("isnan", x))
        require(number, JitadValueError, "cannot convert float NaN to integer")
        require(bind("lt", bind("abs", x), 2.0**63), JitadOverflowError,
                "the integer of this float needs more than 64 bits")  # fmt: skip
        return bind("cast", bind(row, x), dtype="i8", py=True)

    return convert


to_int = _to_int("trunc")
replaces(int)(to_int)
replaces(math.trunc)(to_int)
replaces(math.floor)(_to_int("floor"))
replaces(math.ceil)(_to_int("ceil"))
replaces(float)(to_float)


@replaces(bool)
def to_bool(x: Any = False) -> Any:
    if isinstance(x, ArrayHandle):
        x = x._only("a bool")
    if not isinstance(x, Number):
        return bool(x)
    if type_of(x).dtype == "b1" and is_python(x):
        return x
    return bind("cast", bind("ne", x, 0), dtype="b1", py=True)


# -- builtins -------------------------------------------------------------------------------------


@replaces(abs)
def abs_(x: Any) -> Any:
    return x.__abs__()


@replaces(round)
def round_(x: Any, ndigits: Any = None) -> Any:
    if ndigits is None and isinstance(x, Number):
        return _to_int("rint")(x)
    if type_of(x).dtype[0] in "iub" and isinstance(x, Number):
        raise fail(JitadTypeError, "round(int, digits) is not supported on traced numbers")
    if isinstance(x, ArrayHandle) or not is_python(x):
        return call(np.round, x, ndigits or 0)
    raise fail(JitadTypeError, "round(x, digits) is not supported on traced floats",
               "np.round(x, digits) is.")  # fmt: skip


def _extreme(original: Any, wins: str) -> None:
    @replaces(original, plain=False)
    def replacement(*args: Any, **named: Any) -> Any:
        if len(args) == 1:
            (values,) = args
            if isinstance(values, ArrayHandle) and isinstance(values.shape[0], Number):
                return call(np.max if wins == "gt" else np.min, values)
            args = tuple(values)  # a generator may hold traced numbers as well
            if not any_traced(args):
                return original(args, **named)
            named.pop("default", None)
        elif not any_traced(args):
            return original(*args, **named)
        if named:
            raise fail(JitadTypeError, f"{original.__name__} with {next(iter(named))}= is not "
                       "supported on traced or differentiated values")  # fmt: skip
        best = args[0]
        for x in args[1:]:
            if not isinstance(x, Number) and not isinstance(best, Number):
                best = original(best, x)
            else:
                best = bind("where", bind(wins, x, best), x, best)
        return best


_extreme(builtins.max, "gt")
_extreme(builtins.min, "lt")


@replaces(builtins.sum, plain=False)
def sum_(values: Any, start: Any = 0) -> Any:
    if isinstance(values, ArrayHandle) and values.shape and isinstance(values.shape[0], Number):
        total = call(np.sum, values, axis=0)
        return total if not isinstance(start, Number) and start == 0 else start + total
    for v in values:
        start = start + v
    return start


def _quantifier(original: Any, row: str) -> None:
    @replaces(original, plain=False)
    def replacement(values: Any) -> Any:
        if isinstance(values, ArrayHandle):
            return to_bool(call(np.any if original is any else np.all, values))
        out: Any = original is all
        for v in values:
            if not isinstance(v, (Number, ArrayHandle)):
                if bool(v) is not (original is all):
                    return original is not all  # what Python decides on, whatever came before
                continue
            v = to_bool(v)
            out = v if isinstance(out, bool) and out is (original is all) else bind(row, out, v)
        return out


_quantifier(any, "logical_or")
_quantifier(all, "logical_and")


@replaces(len, plain=False)
def len_(x: Any) -> Any:
    """The extent of a handle's first axis, which may be traced."""
    if isinstance(x, (ArrayHandle, Complex)):
        if not x.shape:
            raise TypeError("len() of unsized object")
        return x.shape[0]
    return len(x)


replaces(divmod)(operators.divmod_)
replaces(pow)(operators.pow_)


# -- types ----------------------------------------------------------------------------------------


def python_type(x: Any) -> type:
    """The class that user code takes the value to be of."""
    if isinstance(x, ArrayHandle):
        return np.ndarray
    if isinstance(x, Complex):
        return np.ndarray if x.shape else complex if is_python(x) else x.dtype.type
    x = primal(x)
    if not isinstance(x, Number):
        return type(x)
    t = type_of(x)
    if isinstance(t, Scalar) and t.py:
        return _PYTHON_TYPES[t.dtype[0]]
    return np.dtype(t.dtype).type


def _classes(of: Any) -> Iterable[type]:
    return (c for part in of for c in _classes(part)) if isinstance(of, tuple) else (of,)


@replaces(isinstance, plain=False)
def isinstance_(x: Any, of: Any) -> bool:
    """A traced float is a float, a handle an ndarray."""
    if isinstance(x, (Number, ArrayHandle, Complex)):
        own = type(x)
        if any(isinstance(c, type) and issubclass(own, c) and c is not object
               for c in _classes(of)):  # fmt: skip
            return True
        return issubclass(python_type(x), of)
    return isinstance(x, of)


@replaces(type, plain=False)
def type_(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], (Number, ArrayHandle, Complex)):
        return python_type(args[0])
    return type(*args, **kwargs)


def _scalar_type(kind: Any) -> None:
    @replaces(kind)
    def convert(x: Any) -> Any:
        from jitad.values.creation import astype

        out = astype(x, kind)
        return out if not isinstance(out, ArrayHandle) or out.ndim else out.content


of_complex(isinstance)(isinstance_)
of_complex(type)(type_)
of_complex(builtins.sum)(sum_)
of_complex(len)(len_)

for _kind in (np.float64, np.float32, np.int64, np.int32, np.bool_):
    _scalar_type(_kind)
