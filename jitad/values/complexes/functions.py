"""What are the elementary functions of complex numbers, in terms of real ones?

Branch cuts are those of C and NumPy.  Where a textbook formula cancels, another one stands here.
Of two formulas for halves of the plane each holds on a neighbourhood of its half, so that
derivatives of any order are right on the line between them, too.

Sources: Kahan 1987, "Branch cuts for complex elementary functions"; Smith 1962 (division).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import as_operand, elementwise, shape_of
from jitad.values.complexes.lifts import finished, taken_out, times_i
from jitad.values.complexes.number import Complex, minus, over, pair, parts, plus, times
from jitad.values.complexes.parts import as_float, weak
from jitad.values.kind import fail, is_python, require, type_of
from jitad.values.number import Number
from jitad.values.numpy.ufuncs import numpy_number
from jitad.values.python_functions import to_float, to_python
from jitad.values.registry import call, is_complex, of_complex, replaces

_e = elementwise
Real = Any


def _filled(z: Any) -> tuple[Real, Real]:
    """Both parts, zeros where there is none."""
    re, im = parts(z)
    if re is None or im is None:
        made = pair(re, im)
        return parts(made) if isinstance(made, Complex) else (made.real, made.imag)
    return re, im


def _not_negative(x: Real) -> Real:
    """x >= 0, which for -0.0 is false: it lies on the other side of a branch cut."""
    return _e("ge", _e("copysign", 1.0, x), 0.0)


def _size(x: Real, y: Real) -> Real:
    return _e("hypot", x, y)


def _angle(x: Real, y: Real) -> Real:
    return _e("atan2", y, x)


def absolute(z: Any) -> Real:
    return _size(*_filled(z))


def exp(z: Any) -> Any:
    re, im = parts(z)
    if im is None:
        return pair(_e("exp", re), None)
    turn = pair(_e("cos", im), _e("sin", im))
    return turn if re is None else times(turn, pair(_e("exp", re), None))


def _log_size(x: Real, y: Real) -> Real:
    """log |z|; near the unit circle by log1p of |z|**2 - 1, which does not cancel there."""
    size = _size(x, y)
    near = _e("logical_and", _e("gt", size, 0.5), _e("lt", size, 2.0))
    first = _e("ge", _e("abs", x), _e("abs", y))
    u, v = _e("where", first, x, y), _e("where", first, y, x)
    excess = _e("add", _e("mul", _e("sub", u, 1.0), _e("add", u, 1.0)), _e("mul", v, v))
    inside = _e("mul", 0.5, _e("log1p", _e("where", near, excess, 0.0)))
    return _e("where", near, inside, _e("log", size))


def log(z: Any) -> Any:
    x, y = _filled(z)
    return pair(_log_size(x, y), _angle(x, y))


def log1p(z: Any) -> Any:
    x, y = _filled(z)
    shifted = _e("add", x, 1.0)
    near = _e("lt", _size(x, y), 0.5)
    excess = _e("add", _e("mul", x, _e("add", x, 2.0)), _e("mul", y, y))
    inside = _e("mul", 0.5, _e("log1p", _e("where", near, excess, 0.0)))
    return pair(_e("where", near, inside, _log_size(shifted, y)), _angle(shifted, y))


def expm1(z: Any) -> Any:
    x, y = _filled(z)
    half = _e("sin", _e("mul", y, 0.5))
    re = _e("sub", _e("mul", _e("expm1", x), _e("cos", y)), _e("mul", 2.0, _e("mul", half, half)))
    return pair(re, _e("mul", _e("exp", x), _e("sin", y)))


def sqrt(z: Any) -> Any:
    x, y = _filled(z)
    right = _e("ge", x, 0.0)
    size = _e("where", right, x, _e("neg", x))
    zero = _e("logical_and", _e("eq", x, 0.0), _e("eq", y, 0.0))
    t = _e("sqrt", _e("mul", 0.5, _e("add", size, _size(x, y))))
    across = _e("div", y, _e("where", zero, 1.0, _e("mul", 2.0, t)))
    up = _not_negative(y)
    re = _e("where", right, t, _e("where", up, across, _e("neg", across)))
    return pair(re, _e("where", right, across, _e("where", up, t, _e("neg", t))))


def sin(z: Any) -> Any:
    x, y = _filled(z)
    return pair(_e("mul", _e("sin", x), _e("cosh", y)), _e("mul", _e("cos", x), _e("sinh", y)))


def cos(z: Any) -> Any:
    x, y = _filled(z)
    return pair(_e("mul", _e("cos", x), _e("cosh", y)),
                _e("neg", _e("mul", _e("sin", x), _e("sinh", y))))  # fmt: skip


def sinh(z: Any) -> Any:
    x, y = _filled(z)
    return pair(_e("mul", _e("sinh", x), _e("cos", y)), _e("mul", _e("cosh", x), _e("sin", y)))


def cosh(z: Any) -> Any:
    x, y = _filled(z)
    return pair(_e("mul", _e("cosh", x), _e("cos", y)), _e("mul", _e("sinh", x), _e("sin", y)))


def tanh(z: Any) -> Any:
    """By q = exp(-2 |x|), which doesn't overflow; the denominator is |1 + q exp(2iy)|**2."""
    x, y = _filled(z)
    right = _e("ge", x, 0.0)
    size = _e("where", right, x, _e("neg", x))
    q = _e("exp", _e("mul", -2.0, size))
    c, s = _e("cos", y), _e("sin", y)
    rest = _e("expm1", _e("mul", -2.0, size))
    below = _e("add", _e("mul", rest, rest), _e("mul", _e("mul", 4.0, q), _e("mul", c, c)))
    re = _e("div", _e("neg", _e("expm1", _e("mul", -4.0, size))), below)
    im = _e("div", _e("mul", _e("mul", 4.0, q), _e("mul", s, c)), below)
    return pair(_e("where", right, re, _e("neg", re)), im)


def arctanh(z: Any) -> Any:
    x, y = _filled(z)
    less, more, square = _e("sub", 1.0, x), _e("add", 1.0, x), _e("mul", y, y)
    ratio = _e("div", _e("mul", 4.0, x), _e("add", _e("mul", less, less), square))
    turn = _angle(_e("sub", _e("mul", less, more), square), _e("mul", 2.0, y))
    turn = _e("where", _e("isinf", y), _e("copysign", np.pi, y), turn)
    # log1p(-ratio') of the mirror image, where 1 + ratio would cancel
    back = _e("div", _e("mul", -4.0, x), _e("add", _e("mul", more, more), square))
    right = _e("ge", x, 0.0)
    re = _e("where", right, _e("log1p", _e("where", right, ratio, 0.0)),
            _e("neg", _e("log1p", _e("where", right, 0.0, back))))  # fmt: skip
    re = _e("where", _e("isinf", x), _e("copysign", 0.0, x), re)
    return pair(_e("mul", 0.25, re), _e("mul", 0.5, turn))


def _roots(z: Any) -> tuple[Any, Any]:
    """sqrt(1 - z), sqrt(1 + z), signs of zeros being kept."""
    x, y = _filled(z)
    return (sqrt(pair(_e("sub", 1.0, x), _e("neg", y))), sqrt(pair(_e("add", 1.0, x), y)))


def _cross(a: Any, b: Any) -> Real:
    """The imaginary part of conj(a) b."""
    (p, q), (r, s) = _filled(a), _filled(b)
    return _e("sub", _e("mul", p, s), _e("mul", q, r))


def _inner(a: Any, b: Any) -> Real:
    """The real part of conj(a) b."""
    (p, q), (r, s) = _filled(a), _filled(b)
    return _e("add", _e("mul", p, r), _e("mul", q, s))


def arcsin(z: Any) -> Any:
    less, more = _roots(z)
    (p, q), (r, s) = _filled(less), _filled(more)
    flat = _e("sub", _e("mul", p, r), _e("mul", q, s))
    return pair(_angle(flat, _filled(z)[0]), _e("asinh", _cross(less, more)))


def arccos(z: Any) -> Any:
    less, more = _roots(z)
    turn = _angle(_filled(more)[0], _filled(less)[0])
    return pair(_e("mul", 2.0, turn), _e("asinh", _cross(more, less)))


def arccosh(z: Any) -> Any:
    x, y = _filled(z)
    less, more = sqrt(pair(_e("sub", x, 1.0), y)), sqrt(pair(_e("add", x, 1.0), y))
    turn = _angle(_filled(more)[0], _filled(less)[1])
    return pair(_e("asinh", _inner(less, more)), _e("mul", 2.0, turn))


def _around(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """-i f(iz): what tan is of tanh, arctan of arctanh, arcsinh of arcsin."""

    def turned(z: Any) -> Any:
        x, y = _filled(z)
        a, b = _filled(f(pair(_e("neg", y), x)))
        return pair(b, _e("neg", a))

    return turned


def _scaled(f: Callable[[Any], Any], factor: float) -> Callable[[Any], Any]:
    return lambda z: times(f(z), factor)


def sign(z: Any) -> Any:
    """z / |z|, zero at zero."""
    x, y = _filled(z)
    size = _size(x, y)
    safe = _e("where", _e("eq", size, 0.0), 1.0, size)
    return pair(_e("div", x, safe), _e("div", y, safe))


def conjugate(z: Any) -> Any:
    x, y = _filled(z)
    return pair(_e("mul", x, 1.0) if shape_of(x) else x, _e("neg", y))


MOST = 100  # larger whole exponents go through the logarithm, as NumPy has them


def power(a: Any, b: Any) -> Any:
    whole = _whole(b)
    if whole is not None:
        out = _powered(a, abs(whole))
        return out if whole >= 0 else over(1.0, out)
    x, y = _filled(a if isinstance(a, Complex) else as_float(
        as_operand(a), *(p for p in parts(b) if p is not None)))  # fmt: skip
    zero = _e("logical_and", _e("eq", x, 0.0), _e("eq", y, 0.0))
    safe = pair(_e("where", zero, 1.0, x), y)
    re, im = _filled(exp(times(b, log(safe))))
    c, d = _filled(b)
    nothing = _e("logical_and", _e("eq", c, 0.0), _e("eq", d, 0.0))
    bad = _e("logical_or", _e("lt", c, 0.0), _e("logical_and", _e("eq", c, 0.0), _e("ne", d, 0.0)))
    none, one, nan = (weak(v, re) for v in (0.0, 1.0, math.nan))
    limit = _e("where", bad, nan, none)
    return pair(_e("where", zero, _e("where", nothing, one, limit), re),
                _e("where", zero, limit, im))  # fmt: skip


def _whole(b: Any) -> int | None:
    """The exponent as a whole number, if it is a known and small one."""
    if isinstance(b, (complex, np.complexfloating)) and b.imag == 0.0:
        b = b.real
    known = isinstance(b, (int, np.integer, float, np.floating)) and float(b).is_integer()
    return int(b) if known and abs(int(b)) <= MOST else None


def _powered(a: Any, n: int) -> Any:
    """By repeated squares."""
    if n == 0:
        return plus(times(a, 0.0), 1.0) if shape_of(a) else 1.0 + 0j
    out, base = None, a
    while n:
        if n & 1:
            out = base if out is None else times(out, base)
        n >>= 1
        base = times(base, base) if n else base
    return plus(out, 0.0) if out is a else out


def equal(a: Any, b: Any) -> Any:
    (p, q), (r, s) = _filled(a), _filled(b)
    return _e("logical_and", _e("eq", p, r), _e("eq", q, s))


def not_equal(a: Any, b: Any) -> Any:
    (p, q), (r, s) = _filled(a), _filled(b)
    return _e("logical_or", _e("ne", p, r), _e("ne", q, s))


def _either(row: str, join: str) -> Callable[[Any], Any]:
    def test(z: Any) -> Any:
        x, y = _filled(z)
        return _e(join, _e(row, x), _e(row, y))

    return test


tan, arctan, arcsinh = _around(tanh), _around(arctanh), _around(arcsin)

ELEMENTWISE: dict[Any, Callable[..., Any]] = {
    np.add: plus, np.subtract: minus, np.multiply: times, np.true_divide: over,
    np.power: power,
    np.float_power: lambda a, b: power(call(np.asarray, a, dtype=complex), b),
    np.square: lambda z: times(z, z), np.reciprocal: lambda z: over(1.0, z),
    np.absolute: absolute, np.conjugate: conjugate, np.sign: sign,
    np.exp: exp, np.exp2: lambda z: exp(times(z, math.log(2.0))), np.expm1: expm1,
    np.log: log, np.log1p: log1p, np.log2: _scaled(log, 1.0 / math.log(2.0)),
    np.log10: _scaled(log, 1.0 / math.log(10.0)), np.sqrt: sqrt,
    np.sin: sin, np.cos: cos, np.tan: tan, np.sinh: sinh, np.cosh: cosh, np.tanh: tanh,
    np.arcsin: arcsin, np.arccos: arccos, np.arctan: arctan,
    np.arcsinh: arcsinh, np.arccosh: arccosh, np.arctanh: arctanh,
    np.equal: equal, np.not_equal: not_equal, np.isnan: _either("isnan", "logical_or"),
    np.isinf: _either("isinf", "logical_or"), np.isfinite: _either("isfinite", "logical_and"),
}  # fmt: skip


def _as_ufunc(ufunc: Any, compute: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        args, out, where = taken_out(ufunc, args, kwargs)
        if kwargs:
            raise fail(JitadTypeError, f"{next(iter(kwargs))}= of np.{ufunc.__name__} is not "
                       "supported on complex numbers here")  # fmt: skip
        result = compute(*map(_operand, args))
        if not shape_of(result):
            result = numpy_complex(result)
        if dtype is not None:
            result = result.astype(dtype)
        return finished(result, out, ufunc, where)

    return replacement


def _operand(x: Any) -> Any:
    return call(np.array, x) if isinstance(x, (list, tuple)) else x


def numpy_complex(z: Any) -> Any:
    """A number with parts of NumPy's."""
    if not isinstance(z, Complex):
        return numpy_number(z)
    if not (is_python(z.re) or is_python(z.im)):
        return z
    return Complex(*(_e("cast", p, dtype="f8") if is_python(p) and isinstance(p, Number)
                     else np.float64(p) if is_python(p) else p for p in (z.re, z.im)))  # fmt: skip


for _ufunc, _compute in ELEMENTWISE.items():
    of_complex(_ufunc)(_as_ufunc(_ufunc, _compute))


# -- parts ----------------------------------------------------------------------------------------


@of_complex(np.real)
def real(z: Any) -> Real:
    return z.real


@of_complex(np.imag)
def imag(z: Any) -> Real:
    return z.imag


@replaces(np.imag)
def _imag_of_real(x: Any) -> Any:
    if isinstance(x, (list, tuple)) or shape_of(x) or isinstance(x, ArrayHandle):
        return call(np.zeros_like, x)
    dtype = np.dtype(type_of(x).dtype)
    return dtype.type(0).item() if is_python(x) else dtype.type(0)


@replaces(np.angle)
def angle(z: Any, deg: bool = False) -> Real:
    if is_complex(z):
        x, y = _filled(z)
    else:
        x = call(np.array, z) if isinstance(z, (list, tuple)) else z
        y = call(np.zeros_like, x) if shape_of(x) else 0.0
    out = numpy_number(_angle(x, y))
    return _e("mul", out, 180.0 / math.pi) if deg else out


of_complex(np.angle)(angle)


@replaces(np.iscomplexobj)
@of_complex(np.iscomplexobj)
def iscomplexobj(z: Any) -> bool:
    return is_complex(z)


@of_complex(np.isrealobj)
def isrealobj(z: Any) -> bool:
    return False


@of_complex(np.isreal)
def isreal(z: Any) -> Any:
    return _e("eq", _filled(z)[1], 0.0)


@of_complex(np.iscomplex)
def iscomplex(z: Any) -> Any:
    return _e("ne", _filled(z)[1], 0.0)


@replaces(np.iscomplex)
def _iscomplex_of_real(x: Any) -> Any:
    return call(np.zeros_like, x, dtype=bool)


# -- Python's ------------------------------------------------------------------------------------


def python_complex(z: Any) -> Any:
    """A complex number with parts of Python's."""
    if isinstance(z, Complex):
        return pair(*(to_python(p) if isinstance(p, Number) else float(p) for p in (z.re, z.im)))
    return complex(z)


def _to_complex(re: Any = 0.0, im: Any = None) -> Any:
    """What `complex(re, im)` gives."""
    if isinstance(re, ArrayHandle):
        re = re._only("a complex")
    if im is None:
        return python_complex(re) if is_complex(re) else pair(to_float(re), None)
    whole = plus(re, times_i(im)) if is_complex(re) or is_complex(im) else pair(
        to_float(re), to_float(im))  # fmt: skip
    return python_complex(whole)


replaces(complex)(_to_complex)
of_complex(complex)(_to_complex)


def _numpy_type(kind: Any) -> None:
    part = kind(0).real.dtype

    def convert(z: Any = 0.0) -> Any:
        if isinstance(z, (list, tuple)) or shape_of(z) or isinstance(z, ArrayHandle):
            return call(np.asarray, z, dtype=kind)  # an array of the kind is not copied
        re, im = _filled(z) if is_complex(z) else (z, 0.0)
        return pair(*(_e("cast", p, dtype=part.str[1:]) if isinstance(p, Number) else part.type(p)
                      for p in (re, im)))  # fmt: skip

    replaces(kind)(convert)
    of_complex(kind)(convert)


_numpy_type(np.complex128)
_numpy_type(np.complex64)


def _of_cmath(name: str, compute: Callable[[Any], Any]) -> None:
    original = getattr(cmath, name)

    def replacement(z: Any) -> Any:
        z = _to_complex(z)
        if name in ("log", "log10"):
            x, y = _filled(z)
            fine = _e("logical_or", _e("ne", x, 0.0), _e("ne", y, 0.0))
            require(fine, JitadValueError, "math domain error")
        out = compute(z)
        return python_complex(out) if is_complex(out) else to_python(out)

    replacement.__name__ = name
    if name == "log":
        def with_base(z: Any, base: Any = None) -> Any:
            return replacement(z) if base is None else replacement(z) / call(cmath.log, base)

        replaces(original)(with_base)
        of_complex(original)(with_base)
        return
    replaces(original)(replacement)
    of_complex(original)(replacement)


for _name, _compute in {
    "exp": exp, "log": log, "log10": ELEMENTWISE[np.log10], "sqrt": sqrt, "sin": sin, "cos": cos,
    "tan": tan, "sinh": sinh, "cosh": cosh, "tanh": tanh, "asin": arcsin, "acos": arccos,
    "atan": arctan, "asinh": arcsinh, "acosh": arccosh, "atanh": arctanh, "phase": angle,
    "isnan": ELEMENTWISE[np.isnan], "isinf": ELEMENTWISE[np.isinf],
    "isfinite": ELEMENTWISE[np.isfinite],
}.items():
    _of_cmath(_name, _compute)


@replaces(cmath.polar)
def polar(z: Any) -> tuple[Real, Real]:
    z = _to_complex(z)
    return to_python(absolute(z)), to_python(angle(z))


of_complex(cmath.polar)(polar)


@replaces(cmath.rect)
def rect(r: Any, phi: Any) -> Any:
    r, phi = to_float(r), to_float(phi)
    return python_complex(pair(_e("mul", r, _e("cos", phi)), _e("mul", r, _e("sin", phi))))


@of_complex(abs)
def _abs(z: Any) -> Real:
    return z.__abs__()
