"""What becomes of NumPy's and SciPy's elementwise functions?

A row of the table that names a ufunc gives its replacement; the rest are short formulas.  Results
are NumPy numbers, also where the operand was a Python float.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.primitives.table import TABLE, Primitive
from jitad.primitives.unloaded import Unloaded, loaded
from jitad.tape.types import INT, Array, Scalar, named, promote
from jitad.values import extents
from jitad.values.broadcast import BOUNDS, as_operand, cast, elementwise, shape_of
from jitad.values.kind import fail, is_number, is_python, require, type_of
from jitad.values.number import Number, bind
from jitad.values.quick import quickly
from jitad.values.registry import call, implementation, replaces, write_out


def numpy_number(value: Any) -> Any:
    """A scalar result as a NumPy number (it may have been computed from Python ones)."""
    if isinstance(value, Number) and is_python(value):
        return cast(value, np.dtype(type_of(value).dtype))
    if type(value) in (bool, int, float):
        return np.dtype(type(value)).type(value)
    return value


_USUAL = {"order": "K", "subok": True}


def as_ufunc(original: Any, compute: Callable[..., Any]) -> Callable[..., Any]:
    """compute(*operands) as a function with a ufunc's other arguments."""

    def replacement(
        *args: Any, out: Any = None, where: Any = True, dtype: Any = None,
        casting: str = "same_kind", **others: Any
    ) -> Any:  # fmt: skip
        if casting != "same_kind":
            # operands that "unsafe" would make ints of are another function's
            whole = dtype is not None and np.dtype(dtype).kind != "f"
            others |= {"casting": casting} if casting != "unsafe" or whole else {}
        for word, value in others.items():
            if _USUAL.get(word, replacement) != value:
                raise fail(JitadTypeError, f"{word}= of np.{original.__name__} is not supported on "
                           "traced or differentiated values")  # fmt: skip
        nin = original.nin
        if len(args) > nin:
            args, out = args[:nin], args[nin]
        out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        args = tuple(map(as_operand, args))
        kind = None if dtype is not None else result_dtype(original, args)
        if dtype is not None:
            args = _in_loop_of(original, args, dtype)
        result = numpy_number(compute(*args))
        if kind is not None and type_of(result).dtype != kind.str[1:]:
            result = elementwise("cast", result, dtype=kind.str[1:])
        if dtype is not None:
            from jitad.values.numpy.creation import astype

            result = astype(result, dtype)
        if where is not True:
            if out is None:
                raise fail(JitadTypeError, f"where= of np.{original.__name__} without out= leaves "
                           "elements that have no value", "Use np.where on the result, or pass "
                           "out=.")  # fmt: skip
            result = elementwise("where", where, result, out)
        if out is not None and casting == "unsafe":
            result = elementwise("cast", result, dtype=out.dtype.str[1:])
        return result if out is None else write_out(out, result, spread=True)

    replacement.__name__ = original.__name__
    return replacement


_PYTHON: dict[str, Any] = {"f": float, "i": int, "b": np.dtype(bool)}


def _in_loop_of(ufunc: Any, args: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """The operands as NumPy computes with them where the result's dtype is given."""
    kinds = [type_of(a).dtype for a in args]
    if ufunc.nout != 1 or any(k[0] not in "biuf" for k in kinds):
        return args
    signature = (*(None for _ in args), np.dtype(dtype))
    try:
        wanted = ufunc.resolve_dtypes(
            (*map(np.dtype, kinds), None), signature=signature, casting="same_kind"
        )
    except TypeError:
        return args
    whole = (k[0] in "biu" and w.kind in "iuf" and w.itemsize > 2
             for k, w in zip(kinds, wanted, strict=False))  # fmt: skip
    return tuple(
        elementwise("cast", a, dtype=w.str[1:]) if take and k != w.str[1:] else a
        for a, k, w, take in zip(args, kinds, wanted, whole, strict=False)
    )


def result_dtype(ufunc: Any, args: tuple[Any, ...]) -> Any:
    """What NumPy gives operands of these dtypes; None of functions that give several results."""
    types = tuple(map(type_of, args))
    if ufunc.nout > 1 or len(types) != ufunc.nin:
        return None
    try:
        found = _resolved(ufunc, types)
    except TypeError as error:
        raise fail(JitadTypeError, str(error).splitlines()[0]) from None
    if found.char == "e":
        kinds = " and ".join(map(named, types))
        raise fail(JitadTypeError, f"np.{ufunc.__name__} of {kinds} gives float16 in NumPy, which "
                   "is not supported", "Convert it first: x.astype(float).")  # fmt: skip
    return found


@functools.cache
def _resolved(ufunc: Any, types: tuple[Scalar | Array, ...]) -> Any:
    given = (_PYTHON[t.dtype[0]] if isinstance(t, Scalar) and t.py else np.dtype(t.dtype)
             for t in types)  # fmt: skip
    return ufunc.resolve_dtypes((*given, None))[-1]


def _is_integer(*args: Any) -> bool:
    return all(type_of(a).dtype[0] in "iub" for a in args)


def _of_row(name: str) -> Callable[..., Any]:
    if name == "copysign":
        return lambda *args: elementwise(name, *(
            elementwise("cast", a, dtype="f8") if type_of(a).dtype == "b1" else a for a in args))
    if name == "pow":
        return _power
    if name in ("lshift", "rshift"):
        return functools.partial(_shift, name)
    if name == "invert":
        return lambda a: elementwise(name, numpy_number(a))  # a bool, where Python's is an int
    if name not in ("floor", "ceil", "trunc", "square", "reciprocal"):
        return lambda *args: elementwise(name, *args)

    def compute(*args: Any) -> Any:
        if _is_integer(*args):
            match name:
                case "floor" | "ceil" | "trunc":  # integers stay integers
                    return elementwise("mul", args[0], 1)
                case "square":
                    return elementwise("mul", args[0], args[0])
                case "reciprocal":
                    raise fail(JitadTypeError, "np.reciprocal of integers truncates",
                               "Write 1.0 / x.")  # fmt: skip
        return elementwise(name, *args)

    return compute


def _power(a: Any, b: Any) -> Any:
    """Integers stay integers, so that a negative exponent has no result."""
    known = not isinstance(b, Number) and isinstance(b, int) and b >= 0
    if not known and _is_integer(a, b) and type_of(b).dtype[0] == "i":
        fine = call(np.all, elementwise("ge", b, 0))
        for n in (*shape_of(a), *shape_of(b)):  # of no elements, none is to a negative power
            if not extents.assume_at_least(n, 1):
                fine = elementwise("logical_or", fine, elementwise("eq", n, 0))
        require(fine, JitadValueError,
                "Integers to negative integer powers are not allowed", "Make the base a float.")
    if type(b) is float and b == 0.5 and shape_of(a):  # to NumPy that is the root, at -inf, too
        return elementwise("sqrt", a)
    return elementwise("pow", a, b)


def _shift(name: str, a: Any, b: Any) -> Any:
    """By more bits than there are, or fewer than none: all of them are shifted out."""
    dtype = np.dtype(promote(type_of(a), type_of(b))[0])
    bits = 8 * dtype.itemsize
    if dtype.kind not in "iu" or (isinstance(b, int) and 0 <= b < bits):
        return elementwise(name, a, b)
    fits = elementwise("logical_and", elementwise("ge", b, 0), elementwise("lt", b, bits))
    if name == "rshift" and dtype.kind == "i":
        return elementwise(name, a, elementwise("where", fits, b, bits - 1))
    found = elementwise(name, a, elementwise("where", fits, b, 0))
    return elementwise("where", fits, found, elementwise("mul", found, 0))


def enter(row: Primitive) -> None:
    """A row's ufunc becomes the row."""
    ufunc: Any = loaded(row.numpy)
    usual: Any = replaces(ufunc)(as_ufunc(ufunc, _of_row(row.name)))

    # Of a Python number beside float32, functions whose first loop is of doubles give doubles.
    wide = isinstance(row.numpy, Unloaded) and set(ufunc.types[0].partition("->")[0]) != {"f"}

    def quick(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == ufunc.nin:
            weak = wide and any(type(a) is float or type(a) is int for a in args)
            out = None if weak else quickly(row, args)
            if out is not None:
                return out
        return replaced(*args, **kwargs)

    replaced: Any = implementation(ufunc)
    replaces(ufunc, plain=False)(functools.update_wrapper(quick, usual))


for _row in list(TABLE.values()):
    if isinstance(_row.numpy, np.ufunc) and _row.elementwise:
        enter(_row)


def as_row(name: str) -> Callable[..., Any]:
    return lambda *args: elementwise(name, *args)


add, sub, mul, div = as_row("add"), as_row("sub"), as_row("mul"), as_row("div")
where, log, exp = as_row("where"), as_row("log"), as_row("exp")


def xlogy(x: Any, y: Any) -> Any:
    """x log y, zero at x = 0 whatever y (and so is its derivative in y)."""
    return _product_at_zero(x, y, 0.0, "log")


def xlog1py(x: Any, y: Any) -> Any:
    return _product_at_zero(x, y, -1.0, "log1p")


def _product_at_zero(x: Any, y: Any, pole: float, name: str) -> Any:
    """At x = 0 the logarithm is the slope in x; where it has no finite one, zero is taken."""
    finite = elementwise("logical_and", elementwise("gt", y, pole), elementwise("lt", y, math.inf))
    skipped = elementwise("logical_and", elementwise("eq", x, 0.0),
                          elementwise("logical_not", finite))  # fmt: skip
    number = elementwise("logical_and", skipped, elementwise("eq", y, y))  # nan stays
    return mul(x, elementwise(name, where(number, 1.0, y)))


def logit(p: Any) -> Any:
    """log(p / (1 - p)); about one half, where both logarithms are alike, by what is beside it."""
    middle = elementwise("lt", elementwise("abs", sub(p, 0.5)), 0.2)
    near, far = where(middle, p, 0.5), where(middle, 0.25, p)
    s = sub(mul(2.0, near), 1.0)
    beside = sub(elementwise("log1p", s), elementwise("log1p", elementwise("neg", s)))
    return where(middle, beside, sub(log(far), elementwise("log1p", elementwise("neg", far))))


def log_expit(x: Any) -> Any:
    return elementwise("neg", elementwise("logaddexp", 0.0, elementwise("neg", x)))


def float_of(x: Any) -> str:
    dtype = type_of(x).dtype
    return dtype if dtype[0] == "f" else "f8"


def _heaviside(x: Any, at_zero: Any) -> Any:
    above = where(elementwise("gt", x, 0), 1.0, where(elementwise("isnan", x), x, 0.0))
    return where(elementwise("eq", x, 0), at_zero, above)


def _float_power(x: Any, y: Any) -> Any:
    """In double precision, whatever the operands are."""
    return elementwise("pow", *(elementwise("cast", a, dtype="f8") for a in (x, y)))


def _ldexp(x: Any, n: Any) -> Any:
    """In three steps: no power of two on the way leaves the floats."""
    n = elementwise("cast", n, dtype="f8")
    n = elementwise("maximum", elementwise("minimum", n, 2200.0), -2200.0)
    third = elementwise("trunc", div(n, 3.0))
    most, rest = elementwise("exp2", third), elementwise("exp2", sub(n, mul(2.0, third)))
    return elementwise("cast", mul(mul(mul(x, rest), most), most), dtype=float_of(x))


for _original, _compute in (
    (np.positive, lambda x: mul(x, 1)),
    (np.ldexp, _ldexp),
    (np.conjugate, lambda x: mul(x, 1)),
    (np.fabs, lambda x: elementwise("abs", mul(x, 1.0))),
    (np.float_power, _float_power),
    (np.heaviside, _heaviside),
    (np.degrees, lambda x: mul(x, 180.0 / math.pi)),
    (np.rad2deg, lambda x: mul(x, 180.0 / math.pi)),
    (np.radians, lambda x: mul(x, math.pi / 180.0)),
    (np.deg2rad, lambda x: mul(x, math.pi / 180.0)),
    (np.logical_xor, lambda a, b: elementwise("ne", elementwise("ne", a, 0),
                                              elementwise("ne", b, 0))),
    (np.signbit, lambda x: elementwise("lt", elementwise("copysign", 1.0, x), 0.0)),
    (np.logaddexp2, lambda a, b: div(elementwise("logaddexp", mul(a, math.log(2.0)),
                                                 mul(b, math.log(2.0))), math.log(2.0))),
):  # fmt: skip
    replaces(_original)(as_ufunc(_original, _compute))


@replaces(np.where)
def where_(condition: Any, *given: Any) -> Any:
    if not given:
        return call(np.nonzero, condition)
    if len(given) != 2:
        raise fail(JitadValueError, "either both or neither of x and y should be given")
    x, y = given
    result = numpy_number(elementwise("where", condition, x, y))
    if isinstance(result, (bool, int, float)):  # of two kinds, the common one as in NumPy
        result = np.dtype(promote(type_of(x), type_of(y))[0]).type(result)
    return call(np.array, result)


def _python_bound(inside: str, bound: Any, end: int) -> Any:
    if not is_number(bound) or type_of(bound) != INT:
        return bound
    return bind("where", bind(inside, bound, end), bound, end)


@replaces(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **other: Any) -> Any:
    low, high = other.pop("min", a_min), other.pop("max", a_max)
    if other:
        raise fail(JitadTypeError, f"{next(iter(other))}= of np.clip is not supported here")
    result = as_operand(a)
    if (bounds := BOUNDS.get(type_of(result).dtype)) is not None:  # beyond all there is is no bound
        low = _python_bound("gt", low, int(bounds.min))
        high = _python_bound("lt", high, int(bounds.max)) if bounds.bits < 64 else high
    if low is not None:
        result = elementwise("maximum", low, result)  # of equal zeros the second is the result
    if high is not None:
        result = elementwise("minimum", high, result)
    if low is not None and high is not None:  # one function of three operands in NumPy
        kind, _ = promote(*(type_of(as_operand(x)) for x in (a, low, high)))
        if kind[0] == "f" and type_of(result).dtype != kind:
            result = elementwise("cast", result, dtype=kind)
    return numpy_number(result) if out is None else write_out(out, result, spread=True)


@replaces(np.round, np.around)
def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Rounds half to even; with decimals as NumPy does it, by scaling."""
    if _is_integer(as_operand(a)):
        if decimals and type_of(as_operand(a)).dtype == "b1":
            raise fail(JitadTypeError, "np.round: a multiple of bools is no bool",
                       "Convert them first.")  # fmt: skip
        if decimals < 0:
            raise fail(JitadTypeError, "np.round of integers to tens is not supported here")
        result = elementwise("mul", a, 1)
    elif decimals == 0:
        result = elementwise("rint", a)
    else:
        scale = 10.0 ** abs(decimals)
        up, down = ("mul", "div") if decimals > 0 else ("div", "mul")
        result = elementwise(down, elementwise("rint", elementwise(up, a, scale)), scale)
    return numpy_number(result) if out is None else write_out(out, result)


@replaces(np.isrealobj)
def isrealobj(x: Any) -> bool:
    return type_of(as_operand(x)).dtype[0] != "c"


@replaces(np.isreal)
def isreal(x: Any) -> Any:
    """True everywhere: what is differentiated is real."""
    return call(np.ones_like, x, dtype=bool)


@replaces(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    near = elementwise("abs", sub(a, b))
    margin = add(atol, mul(rtol, elementwise("abs", b)))
    fine = elementwise("logical_and", elementwise("le", near, margin), elementwise("isfinite", b))
    out = elementwise("logical_or", fine, elementwise("eq", a, b))
    if equal_nan:
        neither = elementwise("logical_and", elementwise("isnan", a), elementwise("isnan", b))
        out = elementwise("logical_or", out, neither)
    return numpy_number(out)


@replaces(np.allclose)
def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> Any:  # fmt: skip
    return call(np.all, isclose(a, b, rtol, atol, equal_nan))


@replaces(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None,
               neginf: Any = None) -> Any:  # fmt: skip
    if not copy and hasattr(x, "_parent"):
        x[...] = nan_to_num(x, True, nan, posinf, neginf)
        return x if x.shape else x[()]
    x = as_operand(x)
    if type_of(x).dtype[0] in "biu":  # which have neither
        return call(np.copy, x) if np.ndim(x) else x
    limits = np.finfo(type_of(x).dtype)
    top = limits.max if posinf is None else posinf
    bottom = limits.min if neginf is None else neginf
    x = where(elementwise("isnan", x), nan, x)
    infinite = elementwise("isinf", x)
    above = elementwise("gt", x, 0)
    x = where(elementwise("logical_and", infinite, above), top, x)
    return where(elementwise("logical_and", infinite, elementwise("logical_not", above)), bottom, x)


@replaces(np.real)
def real(x: Any) -> Any:
    given = as_operand(x)
    return given.real if isinstance(given, Number) else given  # True.real is 1
