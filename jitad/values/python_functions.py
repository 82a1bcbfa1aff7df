"""What become Python's builtins of traced and differentiated numbers?

`min` and `max` take the operand that Python takes, also at ties.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from jitad.errors import JitadIntegerError, JitadTypeError, JitadValueError
from jitad.tape.build import Leaf
from jitad.tape.types import Scalar
from jitad.values import operators
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.kind import fail, is_python, primal, require, type_of
from jitad.values.number import Number, bind
from jitad.values.registry import call, of_complex, replaces

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
        require(bind("lt", bind("abs", x), 2.0**63), JitadIntegerError,
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
        if isinstance(ndigits, int) and ndigits >= 0:
            return to_python(x)
        raise fail(JitadTypeError, "round(int, negative digits) is not supported on traced numbers")
    if isinstance(x, ArrayHandle) or not is_python(x):
        return call(np.round, x, ndigits or 0)
    if not isinstance(ndigits, int) or abs(ndigits) > 22:  # where powers of ten are floats
        raise fail(JitadTypeError, "round(x, digits) needs digits that are known, and at most 22")
    return _round_decimal(x, ndigits)


def _round_decimal(x: Any, digits: int) -> Any:
    """The decimal nearest to the float x itself, where NumPy's is nearest to the rounded product.

    The product is exact but for `lost` (Dekker, 1971), which decides where it seems to be a tie.
    """
    scale = 10.0 ** abs(digits)
    if digits >= 0:
        p = x * scale
        lost = _product_error(x, scale, p)
    else:
        p = x / scale
        lost = (x - p * scale) - _product_error(p, scale, p * scale)
    down, nearest = bind("floor", p), bind("rint", p)
    above = bind("where", bind("gt", lost, 0.0), down + 1.0, down)
    tie = bind("logical_and", bind("eq", p - down, 0.5), bind("ne", lost, 0.0))
    n = bind("where", tie, above, nearest)
    y = n / scale if digits >= 0 else n * scale
    sensible = bind("lt", bind("abs", p), 2.0**52)  # else x has no digits to lose, or p overflowed
    return bind("where", sensible, y, bind("trunc", x) if digits < 0 else x)


def _product_error(a: Any, b: float, p: Any) -> Any:
    """a b - p, where p is a b as floats have it."""
    a_big, b_big = _upper_half(a), _upper_half(b)
    a_small, b_small = a - a_big, b - b_big
    return ((a_big * b_big - p) + a_big * b_small + a_small * b_big) + a_small * b_small


def _upper_half(x: Any) -> Any:
    c = 134217729.0 * x  # 2**27 + 1
    return c - (c - x)


def _first_extreme(values: ArrayHandle, wins: str) -> Any:
    """As Python finds it: the first of equal ones, and NaN only where it stands first."""
    if values.ndim > 1:
        raise fail(JitadValueError, "the truth value of an array with more than one element is "
                   "ambiguous", "Use np.max or np.min, with axis=.")  # fmt: skip
    place = np.argmax if wins == "gt" else np.argmin
    if values.dtype.kind != "f":
        return values[call(place, values)]
    nan = call(np.isnan, values)
    lowest = values.dtype.type(-np.inf if wins == "gt" else np.inf)
    k = call(place, call(np.where, nan, lowest, values))
    return values[call(np.where, nan[0], 0, k)]


def as_number(x: Any) -> Any:
    """The number in an array without axes; what is none of these stays."""
    return x.content if isinstance(x, ArrayHandle) and not x.ndim else x


def _extreme(original: Any, wins: str) -> None:
    @replaces(original, plain=False)
    def replacement(*args: Any, **named: Any) -> Any:
        if len(args) == 1:
            (values,) = args
            if isinstance(values, ArrayHandle) and isinstance(values.shape[0], Number):
                return _first_extreme(values, wins)
            args = tuple(values)  # a generator may hold traced numbers as well
            if not any_traced(args):
                return original(args, **named)
            named.pop("default", None)
        elif not any_traced(args):
            return original(*args, **named)
        if named:
            raise fail(JitadTypeError, f"{original.__name__} with {next(iter(named))}= is not "
                       "supported on traced or differentiated values")  # fmt: skip
        some = any(isinstance(x, ArrayHandle) for x in args)
        numbers = list(map(as_number, args))
        if some and not any(isinstance(x, Leaf) for x in numbers):
            return functools.reduce(original, args)  # each comparison can be decided
        best = numbers[0]
        for x in numbers[1:]:
            if not isinstance(x, Number) and not isinstance(best, Number):
                best = original(best, x)
            else:
                best = bind("where", bind(wins, x, best), x, best)
        return ArrayHandle(best, or_number=True) if some else best


_extreme(builtins.max, "gt")
_extreme(builtins.min, "lt")


@replaces(builtins.sum, plain=False)
def sum_(values: Any, start: Any = 0) -> Any:
    if isinstance(values, ArrayHandle) and values.shape and isinstance(values.shape[0], Number):
        kind = values.dtype  # as numbers of NumPy's are added one by one, which stay small
        total = call(np.sum, values, axis=0, dtype=kind if kind.kind in "iu" else None)
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
of_complex(pow)(operators.pow_)


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
    compiled = getattr(type(x), "jitclass", None)  # which Numba has made of the class
    return isinstance(x, of) or (
        compiled is not None
        and any(getattr(c, "class_type", None) is compiled for c in _classes(of))
    )


@replaces(type, plain=False)
def type_(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], (Number, ArrayHandle, Complex)):
        return python_type(args[0])
    return type(*args, **kwargs)


def is_value(x: Any) -> bool:
    """Does user code take it to be a number or an array?"""
    return isinstance(x, (Number, ArrayHandle, Complex))


@replaces(hasattr, plain=False)
def hasattr_(x: Any, name: str) -> bool:
    """Numbers and arrays have the attributes of any other of their class."""
    if not is_value(x):
        return hasattr(x, name)
    return name == "__class__" or any(name in vars(c) for c in python_type(x).__mro__)


@replaces(getattr, plain=False)
def getattr_(x: Any, name: str, *default: Any) -> Any:
    return default[0] if default and not hasattr_(x, name) else getattr(x, name)


@replaces(np.isscalar, plain=False)
def isscalar(x: Any) -> bool:
    return np.isscalar(x) or (is_value(x) and python_type(x) is not np.ndarray)


def _scalar_type(kind: Any) -> None:
    @replaces(kind)
    def convert(x: Any) -> Any:
        from jitad.values.numpy.creation import astype

        out = astype(x, kind, copy=False)  # an array of the kind is not copied
        return out if not isinstance(out, ArrayHandle) or out.ndim else out.content


of_complex(isinstance)(isinstance_)
of_complex(type)(type_)
of_complex(np.isscalar)(isscalar)
of_complex(bool)(lambda z: z != 0)
of_complex(builtins.sum)(sum_)
of_complex(len)(len_)

for _kind in (np.float64, np.float32, np.int64, np.int32, np.bool_):
    _scalar_type(_kind)
