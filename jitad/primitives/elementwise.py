"""Which scalar functions apply element by element, and what are their partial derivatives?

A row's `partials` gets `o`, the operands and the result, and gives one factor an operand (None
where the derivative is zero).  Conventions: at a tie `maximum`, `minimum` share the derivative
equally, `where` takes the branch that Python takes, `abs`, `sign`, and `hypot` and `atan2` of two
zeros, have derivative 0 at 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.primitives.table import (
    Chain,
    Inferred,
    Primitive,
    arithmetic,
    bitwise,
    boolean,
    dtype_of,
    floating,
    like,
    register,
    shifted,
    signed,
)
from jitad.primitives.unloaded import Unloaded
from jitad.tape.ir import Atom
from jitad.tape.types import promote, type_of_constant

ANY = (-3.0, 3.0)
POSITIVE = (0.1, 4.0)
UNIT = (-0.9, 0.9)
# Rows whose derivative may be infinite where their value is finite.
UPRIGHT = ("sqrt", "cbrt", "pow", "asin", "acos", "acosh")


def _row(name: str, evaluate: Any, emit: str, partials: Any = None, **more: Any) -> None:
    more.setdefault("infer", floating)
    more.setdefault("domain", (ANY,))
    if isinstance(evaluate, (np.ufunc, Unloaded)):
        more.setdefault("numpy", evaluate)
    register(
        Primitive(name, evaluate, emit=emit, partials=partials, elementwise=True, **more)
    )


def _special(name: str) -> Unloaded:
    return Unloaded("scipy.special", name)


def _binary(name: str, evaluate: Any, emit: str, partials: Any = None, **more: Any) -> None:
    more.setdefault("infer", arithmetic)
    more.setdefault("domain", (ANY, ANY))
    _row(name, evaluate, emit, partials, **more)


# -- arithmetic -----------------------------------------------------------------------------------

_binary("add", lambda a, b: a + b, "{0} + {1}", lambda o, a, b, y: (1.0, 1.0), tame=True,
        numpy=np.add)  # fmt: skip
_binary("sub", lambda a, b: a - b, "{0} - {1}", lambda o, a, b, y: (1.0, -1.0), infer=signed,
        tame=True, numpy=np.subtract)  # fmt: skip
_binary("mul", lambda a, b: a * b, "{0} * {1}", lambda o, a, b, y: (b, a), tame=True,
        numpy=np.multiply)  # fmt: skip


def _div_partials(o: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    inverse = o.div(1.0, b)  # once for both: a division takes as long as many products
    return inverse, Chain(inverse, -y)


_binary(
    "div",
    np.true_divide,
    "{0} / {1}",
    _div_partials,
    infer=floating,
    domain=(ANY, POSITIVE),
    numpy=np.divide,
)


def _rescale(d: Any) -> Any:
    """A power of two that makes a divisor moderate: 1, save for the largest and the smallest."""
    size = np.abs(d)
    return np.where(size < 2.0**-900, 2.0**200, np.where(size > 2.0**900, 2.0**-200, 1.0))[()]


# The engine's own, made of divisions when they have been differentiated: (x / d) * s, 1 / d known.
_row("rescale", _rescale, "rescale({0})")
_row("quotient", lambda x, d, inverse, s: np.true_divide(x, d) * s, "quotient({0}, {1}, {2}, {3})",
     domain=(ANY, POSITIVE, POSITIVE, POSITIVE))  # fmt: skip


def _floordiv(a: Any, b: Any) -> Any:
    return a // b if _ints(a, b) else np.floor_divide(a, b)


def _mod(a: Any, b: Any) -> Any:
    return a % b if _ints(a, b) else np.remainder(a, b)


def _ints(a: Any, b: Any) -> bool:
    """Python's, of any size; of floats what Python raises is a check of the tracer's."""
    return isinstance(a, int) and isinstance(b, int)


_binary("floordiv", _floordiv, "{0} // {1}", lambda o, a, b, y: (None, None),
        flat=True, domain=(ANY, POSITIVE), numpy=np.floor_divide)  # fmt: skip
_binary("mod", _mod, "{0} % {1}", lambda o, a, b, y: (1.0, -o.floordiv(a, b)),
        domain=(ANY, POSITIVE), numpy=np.remainder)  # fmt: skip
_binary("fmod", np.fmod, "fmod({0}, {1})", lambda o, a, b, y: (1.0, -o.trunc(a / b)),
        domain=(ANY, POSITIVE))  # fmt: skip
_row("neg", lambda a: -a, "-{0}", lambda o, a, y: (-1.0,), infer=signed, tame=True,
     numpy=np.negative)  # fmt: skip
_row("abs", abs, "abs({0})", lambda o, a, y: (o.sign(a),), infer=arithmetic, tame=True,
     numpy=np.absolute)  # fmt: skip
_row("sign", lambda a: np.sign(np.multiply(a, 1) if dtype_of(a) == "b1" else a), "sign({0})",
     lambda o, a, y: (None,), infer=arithmetic, flat=True, tame=True, numpy=np.sign)  # fmt: skip


def _pow_evaluate(a: Any, b: Any) -> Any:
    if _ints(a, b):
        return a**b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        a = np.float64(a)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.power(a, b)
    return a**b  # IEEE: 0.0**-1 is inf; np.power takes 0.5 for the root, which -inf has none of


def _pow_infer(a: Atom, b: Atom, **_: Any) -> Inferred:
    dtype, py = promote(a.type, b.type)
    return like((a, b), dtype, py)


def power_partials(o: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    # b * a**(b-1) is right at a == 0 for b >= 1; for b == 0 the factor b must win over 0**-1,
    # but there alone: elsewhere it varies with b at b == 0, too.  For b < 0 it may overflow where
    # a is tiny and varies as little: then a tangent is divided by a first.
    # y * log(a) has limit 0 at a == 0 where b > 0; for a < 0 the function of b is not real.
    base: Any
    if isinstance(b, (int, float)) and not isinstance(b, bool):
        if b < 0:
            base = Chain(b * y, o.div(1.0, a))
        else:
            base = 0.0 if b == 0 else (1.0 if b == 1 else (2.0 * a if b == 2 else b * a ** (b - 1)))
    else:
        less = o.lt(b, 0)
        base = b * o.where(less, y, a ** (b - 1))
        base = o.where(o.logical_and(o.eq(b, 0), o.eq(a, 0)), 0.0, base)
        base = Chain(base, o.where(less, o.div(1.0, o.where(less, a, 1.0)), 1.0))
    if not o.wanted(1):
        return base, None
    by_exponent = o.where(o.gt(a, 0), y * o.log(o.where(o.gt(a, 0), a, 1.0)), math.nan)
    return base, o.where(o.logical_and(o.eq(a, 0), o.gt(b, 0)), 0.0, by_exponent)


_binary("pow", _pow_evaluate, "pow({0}, {1})", power_partials, infer=_pow_infer,
        domain=(POSITIVE, ANY), dear=True, numpy=np.power)  # fmt: skip
_binary("hypot", np.hypot, "hypot({0}, {1})",
        lambda o, a, b, y: (o.unit(a, b, y), o.unit(b, a, y)),
        infer=floating, tame=True, dear=True)  # fmt: skip


def _unit(a: Any, b: Any, size: Any) -> Any:
    none = np.equal(size, 0)
    quotient = a / np.where(none, 1, size)
    return np.where(none, quotient * 0, quotient)[()]


def _inverse(o: Any, size: Any) -> Any:
    none = o.eq(size, 0)
    return o.where(none, 0.0, 1.0 / o.where(none, 1.0, size))


def _unit_partials(o: Any, a: Any, b: Any, size: Any, y: Any) -> tuple[Any, Any, None]:
    other, inverse = o.unit(b, a, size), _inverse(o, size)
    return Chain(other * other, inverse), Chain(-(y * other), inverse), None


# The engine's own: a / size for size = hypot(a, b), a function of a and b.  As a quotient its
# derivative, 1 / size - a**2 / size**3, would cancel where a is the larger one.
_row("unit", _unit, "unit({0}, {1}, {2})", _unit_partials, domain=(ANY, ANY, POSITIVE))


def _atan2_partials(o: Any, a: Any, b: Any) -> tuple[Any, Any]:
    size = o.hypot(a, b)  # whose square may overflow
    inverse = _inverse(o, size)
    return Chain(o.unit(b, a, size), inverse), Chain(-o.unit(a, b, size), inverse)


_binary("atan2", np.arctan2, "atan2({0}, {1})",
        lambda o, a, b, y: _atan2_partials(o, a, b), infer=floating, dear=True)  # fmt: skip
_binary("copysign", np.copysign, "copysign({0}, {1})",
        lambda o, a, b, y: (o.sign(a) * o.copysign(1.0, b), None), infer=floating,
        tame=True)  # fmt: skip


def _logaddexp_partials(o: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    """Two that are -inf weigh the same: their difference is nan, and their sum may not matter."""
    gap = o.where(o.eq(y, -math.inf), 0.0, a - b)
    return o.expit(gap), o.expit(-gap)


_binary("logaddexp", np.logaddexp, "logaddexp({0}, {1})", _logaddexp_partials, infer=floating,
        tame=True, dear=True)  # fmt: skip


# -- choice ---------------------------------------------------------------------------------------


def _tie(o: Any, y: Any, first: Any, other: Any) -> Any:
    """1 where `first` wins, 1/2 at a tie, 0 otherwise; a float of y's width."""
    share = o.where(other, 0.5, 1.0)
    return o.where(first, o.cast(share, dtype="f4") if dtype_of(y) == "f4" else share, 0.0)


def _choice(name: str, f: Any, wins: Callable[[Any, Any, Any, Any], Any]) -> None:
    """`wins(o, a, b, y)`: is y = f(a, b) a's?"""

    def partials(o: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any]:
        if dtype_of(y) == "f4":  # a float of Python's is compared as what it became
            a, b = (v if dtype_of(v) == "f4" else o.cast(v, dtype="f4") for v in (a, b))
        tie = o.eq(a, b)
        return _tie(o, y, wins(o, a, b, y), tie), _tie(o, y, wins(o, b, a, y), tie)

    _binary(name, f, f"{name}({{0}}, {{1}})", partials, tame=True, chooses=True)


_choice("maximum", np.maximum, lambda o, a, b, y: o.ge(a, b))
_choice("minimum", np.minimum, lambda o, a, b, y: o.le(a, b))
_choice("fmax", np.fmax, lambda o, a, b, y: o.eq(y, a))
_choice("fmin", np.fmin, lambda o, a, b, y: o.eq(y, a))


def _where_infer(c: Atom, a: Atom, b: Atom, **_: Any) -> Inferred:
    return like((c, a, b), *promote(a.type, b.type))


def _where(c: Any, a: Any, b: Any) -> Any:
    if np.ndim(c) or np.ndim(a) or np.ndim(b):
        return np.where(c, a, b)
    a, b = (v[()] if isinstance(v, np.ndarray) else v for v in (a, b))  # those without axes
    chosen = a if c else b
    if type(a) is type(b):
        return chosen
    dtype, py = promote(type_of_constant(a), type_of_constant(b))
    out = np.asarray(chosen).astype(dtype)[()]  # which takes the last bits of what does not fit
    return out.item() if py else out


# where is linear in its branches; its own rule keeps infinities of the untaken one out.
register(Primitive(
    "where", _where, _where_infer, linear=(1, 2), elementwise=True, emit="{1} if {0} else {2}",
    vjp=lambda o, ct, c, a, b, y: (None, o.where(c, ct, 0.0), o.where(c, 0.0, ct)), numpy=np.where,
))  # fmt: skip

# -- functions of one variable --------------------------------------------------------------------

_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)


def _unary(
    name: str, evaluate: Any, partial: Any, domain: Any = ANY, dear: bool = True, tame: bool = False
) -> None:  # fmt: skip
    _row(name, evaluate, name + "({0})", lambda o, x, y: (partial(o, x, y),),
         domain=(domain,), dear=dear, tame=tame)  # fmt: skip


def _sech2(x: Any) -> Any:
    """1 / cosh(x)**2 = 1 - tanh(x)**2, without overflow or cancellation."""
    t = np.exp(-2.0 * np.abs(x))
    return 4.0 * t / ((1.0 + t) * (1.0 + t))


def _rest_of_one(o: Any, x: Any) -> Any:
    """1 - x * x, which neither cancels near one nor, differentiated, near zero."""
    return o.where(o.lt(o.abs(x), 0.5), 1.0 - x * x, (1.0 - x) * (1.0 + x))


_unary("sqrt", np.sqrt, lambda o, x, y: 0.5 * (1.0 / y), POSITIVE)
_unary("cbrt", np.cbrt, lambda o, x, y: 1.0 / (3.0 * y * y), POSITIVE)
_unary("exp", np.exp, lambda o, x, y: y)
_unary("exp2", np.exp2, lambda o, x, y: y * math.log(2.0))
_unary("expm1", np.expm1, lambda o, x, y: o.exp(x))
_unary("log", np.log, lambda o, x, y: 1.0 / x, POSITIVE)
_unary("log2", np.log2, lambda o, x, y: 1.0 / (x * math.log(2.0)), POSITIVE)
_unary("log10", np.log10, lambda o, x, y: 1.0 / (x * math.log(10.0)), POSITIVE)
_unary("log1p", np.log1p, lambda o, x, y: 1.0 / (1.0 + x), UNIT)
_unary("sin", np.sin, lambda o, x, y: o.cos(x), tame=True)
_unary("cos", np.cos, lambda o, x, y: -o.sin(x), tame=True)
_unary("tan", np.tan, lambda o, x, y: 1.0 + y * y, UNIT)
_unary("asin", np.arcsin, lambda o, x, y: 1.0 / o.sqrt(_rest_of_one(o, x)), UNIT)
_unary("acos", np.arccos, lambda o, x, y: -1.0 / o.sqrt(_rest_of_one(o, x)), UNIT)
_unary("atan", np.arctan, lambda o, x, y: 1.0 / (1.0 + x * x), tame=True)
_unary("sinh", np.sinh, lambda o, x, y: o.cosh(x))
_unary("cosh", np.cosh, lambda o, x, y: o.sinh(x))
_unary("tanh", np.tanh, lambda o, x, y: o.sech2(x), tame=True)
_unary("sech2", _sech2, lambda o, x, y: -2.0 * o.tanh(x) * y, tame=True)
_unary("asinh", np.arcsinh, lambda o, x, y: 1.0 / o.hypot(1.0, x), tame=True)
_unary("acosh", np.arccosh, lambda o, x, y: 1.0 / (o.sqrt(x - 1.0) * o.sqrt(x + 1.0)),
       (1.1, 4.0))  # fmt: skip
_unary("atanh", np.arctanh, lambda o, x, y: 1.0 / _rest_of_one(o, x), UNIT)
_unary("erf", _special("erf"), lambda o, x, y: _TWO_OVER_SQRT_PI * o.exp(-(x * x)), tame=True)
_unary("erfc", _special("erfc"), lambda o, x, y: -_TWO_OVER_SQRT_PI * o.exp(-(x * x)), tame=True)
_unary("gamma", _special("gamma"), lambda o, x, y: y * o.digamma(x), POSITIVE)
_unary("lgamma", _special("gammaln"), lambda o, x, y: o.digamma(x), POSITIVE)
_unary("digamma", _special("digamma"), lambda o, x, y: o.polygamma(1, x), POSITIVE)
_unary("expit", _special("expit"), lambda o, x, y: 0.25 * o.sech2(0.5 * x), tame=True)
_unary("square", np.square, lambda o, x, y: 2.0 * x, dear=False, tame=True)
_unary("reciprocal", np.reciprocal, lambda o, x, y: Chain(-y, y), POSITIVE, dear=False)


def _polygamma(n: Any, x: Any) -> Any:
    out = _special("polygamma")(n, x)
    return out.astype(np.float32) if getattr(x, "dtype", None) == np.float32 else out


_binary("polygamma", _polygamma, "polygamma({0}, {1})",
        lambda o, n, x, y: (None, o.polygamma(n + 1, x)), infer=floating, dear=True,
        domain=((0, 2), POSITIVE))  # fmt: skip

# -- derivative zero ------------------------------------------------------------------------------

for _name, _function in {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
}.items():
    _row(_name, _function, _name + "({0})", lambda o, x, y: (None,), flat=True, tame=True)

# -- comparison and logic: no derivative at all ---------------------------------------------------

_ufunc: Any

for _name, _sign, _operator, _ufunc in (
    ("lt", "<", operator.lt, np.less),
    ("le", "<=", operator.le, np.less_equal),
    ("gt", ">", operator.gt, np.greater),
    ("ge", ">=", operator.ge, np.greater_equal),
    ("eq", "==", operator.eq, np.equal),
    ("ne", "!=", operator.ne, np.not_equal),
):
    _code = "{0} " + _sign + " {1}"
    _binary(_name, _operator, _code, infer=boolean, numpy=_ufunc)

_binary("logical_and", np.logical_and, "{0} and {1}", infer=boolean)
_binary("logical_or", np.logical_or, "{0} or {1}", infer=boolean)
_row("logical_not", np.logical_not, "not {0}", infer=boolean)
for _name, _ufunc in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
    _row(_name, _ufunc, _name + "({0})", infer=boolean)
for _name, _sign, _operator, _ufunc in (
    ("bitand", "&", operator.and_, np.bitwise_and),
    ("bitor", "|", operator.or_, np.bitwise_or),
    ("bitxor", "^", operator.xor, np.bitwise_xor),
    ("lshift", "<<", operator.lshift, np.left_shift),
    ("rshift", ">>", operator.rshift, np.right_shift),
):
    _code = "{0} " + _sign + " {1}"
    _type = shifted if "shift" in _name else bitwise
    _binary(_name, _operator, _code, infer=_type, numpy=_ufunc)
# Is the product of two integers below 2**63 in magnitude?
_binary("product_fits", lambda a, b: -(2**63) <= int(a) * int(b) < 2**63,
        "product_fits({0}, {1})", infer=boolean)  # fmt: skip
# Is an integer an index into so many elements that does not count from their end?
_binary("inside", lambda i, n: 0 <= i < n, "inside({0}, {1})", infer=boolean)
# What a derivative is made of where a zero that nothing was added to is -0.0, see sweeps.untouched.
_row("unsigned", lambda a: a + 0.0, "unsigned({0})", lambda o, a, y: (1.0,), infer=arithmetic,
     tame=True)  # fmt: skip
_row("touched", lambda a: (a != 0.0) | ~np.signbit(a), "touched({0})", infer=boolean)
# Of a Python bool the result is an int, of NumPy's a bool.
_row("invert", lambda a: ~int(a) if isinstance(a, bool) else ~a, "~{0}", infer=shifted,
     numpy=np.invert)  # fmt: skip


# -- change of type -------------------------------------------------------------------------------


def _cast(a: Any, *, dtype: str, py: bool = False) -> Any:
    out = np.asarray(a).astype(np.dtype(dtype))
    return out if np.ndim(a) else (out.item() if py else out[()])


def _cast_infer(a: Atom, *, dtype: str, py: bool = False) -> Inferred:
    return like((a,), dtype, py)


register(Primitive(
    "cast", _cast, _cast_infer, elementwise=True, emit="cast", tame=True,
    partials=lambda o, a, y, *, dtype, **_: (1.0 if dtype[0] in "fc" else None,),
))  # fmt: skip
