"""What LLVM code does a scalar function of the preamble become?

A row of `_TABLE` gives the typing rule (operand types -> the type that all operands are cast to,
or None), the result's type where it is another one, and the lowering (LLVM values -> LLVM value).
Functions of the C library are declared so that loops over them vectorise (`libm`); the rest is a
few instructions without branches, for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types

from jitad.emit import numba_private
from jitad.emit.libraries import libm
from jitad.emit.libraries.polygamma import polygamma
from jitad.primitives import moments
from jitad.primitives.several import PARTS, WOFZ, Part
from jitad.primitives.special import OPERANDS
from jitad.primitives.table import SMALL_POWERS

Value = Any  # of LLVM
Type = Any  # of Numba


class Site:
    """Where code is generated: Numba's target context, LLVM's builder, the operands' type."""

    def __init__(self, context: Any, builder: Any, type: Type) -> None:
        self.context, self.b, self.type = context, builder, type

    @property
    def is_float(self) -> bool:
        return isinstance(self.type, types.Float)

    def const(self, value: float) -> Value:
        return self.context.get_constant(self.type, value)

    def libm(self, name: str, *args: Value) -> Value:
        return self.b.call(libm.declare(self.b.module, name, args[0].type, len(args)), args)

    def intrinsic(self, name: str, *args: Value, flags: Sequence[str] = ()) -> Value:
        t = args[0].type
        fnty = ir.FunctionType(t, [t] * len(args))
        function = self.b.module.declare_intrinsic(f"llvm.{name}", [t], fnty)
        return self.b.call(function, args, fastmath=flags)

    def less(self, op: str, x: Value, y: Value) -> Value:
        """A comparison that is false for NaN; `op` as in Python."""
        if self.is_float:
            return self.b.fcmp_unordered(op, x, y) if op == "!=" else self.b.fcmp_ordered(op, x, y)
        signed = isinstance(self.type, types.Integer) and self.type.signed
        return (self.b.icmp_signed if signed else self.b.icmp_unsigned)(op, x, y)

    def isnan(self, x: Value) -> Value:
        return self.b.fcmp_unordered("uno", x, x)


Lowering = Callable[..., Value]

# -- typing rules ---------------------------------------------------------------------------------


def _float(*ts: Type) -> Type | None:
    """float32 for float32 alone, else float64; no other than real numbers."""
    ts = tuple(types.unliteral(t) for t in ts)
    if not all(isinstance(t, (types.Float, types.Integer, types.Boolean)) for t in ts):
        return None
    return types.float32 if all(t == types.float32 for t in ts) else types.float64


def _number(*ts: Type) -> Type | None:
    """Integers and bools stay what they are; a mix is promoted."""
    ts = tuple(types.unliteral(t) for t in ts)
    if any(isinstance(t, types.Float) for t in ts):
        return _float(*ts)
    if not all(isinstance(t, (types.Integer, types.Boolean)) for t in ts):
        return None
    return ts[0] if all(t == ts[0] for t in ts) else types.int64


# -- lowerings ------------------------------------------------------------------------------------


def _libm(name: str) -> Lowering:
    return lambda s, *args: s.libm(name, *args)


def _intrinsic(name: str) -> Lowering:
    return lambda s, *args: s.intrinsic(name, *args)


def _rounding(name: str) -> Lowering:
    """Integers are round already."""
    return lambda s, x: s.intrinsic(name, x) if s.is_float else x


def _expit(s: Site, x: Value) -> Value:
    # by exp(-|x|), which can't overflow; exact relatively on both sides
    z = s.libm("exp", s.b.fneg(s.intrinsic("fabs", x)))
    top = s.b.select(s.less(">=", x, s.const(0.0)), s.const(1.0), z)
    return s.b.fdiv(top, s.b.fadd(s.const(1.0), z))


def _sech2(s: Site, x: Value) -> Value:
    t = s.libm("exp", s.b.fmul(s.const(-2.0), s.intrinsic("fabs", x)))
    below = s.b.fadd(s.const(1.0), t)
    return s.b.fdiv(s.b.fmul(s.const(4.0), t), s.b.fmul(below, below))


def _logaddexp(s: Site, x: Value, y: Value) -> Value:
    gap = s.b.fneg(s.intrinsic("fabs", s.b.fsub(x, y)))
    high = s.b.select(s.less(">", x, y), x, y)
    out = s.b.fadd(high, s.libm("log1p", s.libm("exp", gap)))
    # equal operands apart, because inf - inf is no gap; a NaN in either has made gap a NaN
    return s.b.select(s.less("==", x, y), s.b.fadd(x, s.const(math.log(2.0))), out)


def _square(s: Site, x: Value) -> Value:
    return s.b.fmul(x, x) if s.is_float else s.b.mul(x, x)


def _reciprocal(s: Site, x: Value) -> Value:
    return s.b.fdiv(s.const(1.0), x)


def _sign(s: Site, x: Value) -> Value:
    zero, one = s.const(0), s.const(1)
    out = s.b.select(s.less(">", x, zero), one, zero)
    if s.is_float:
        out = s.b.select(s.less("<", x, zero), s.const(-1), out)
        return s.b.select(s.isnan(x), x, out)
    if isinstance(s.type, types.Integer) and s.type.signed:
        out = s.b.select(s.less("<", x, zero), s.const(-1), out)
    return out


def _extreme(op: str, of_nan: str) -> Lowering:
    """`of_nan`: "keep" gives NaN where an operand is one, "drop" gives the other operand.

    Of 0.0 and -0.0 the second is the result, as in NumPy and processors.
    """

    def lower(s: Site, x: Value, y: Value) -> Value:
        first = s.less(op, x, y)
        if s.is_float:
            first = s.b.or_(first, s.isnan(x if of_nan == "keep" else y))
        return s.b.select(first, x, y)

    return lower


def _of_many(op: str, name: str) -> Lowering:
    """As `_extreme`, in an operation that LLVM knows to be one of a reduction."""
    one = _extreme(op, "keep")

    def lower(s: Site, x: Value, y: Value) -> Value:
        return s.intrinsic(name, x, y, flags=("nsz",)) if s.is_float else one(s, x, y)

    return lower


def _isinf(s: Site, x: Value) -> Value:
    if not s.is_float:
        return ir.Constant(ir.IntType(1), 0)
    return s.less("==", s.intrinsic("fabs", x), s.const(math.inf))


def _isfinite(s: Site, x: Value) -> Value:
    if not s.is_float:
        return ir.Constant(ir.IntType(1), 1)
    return s.less("<", s.intrinsic("fabs", x), s.const(math.inf))


def _isnan(s: Site, x: Value) -> Value:
    return s.isnan(x) if s.is_float else ir.Constant(ir.IntType(1), 0)


def _fmod(s: Site, x: Value, y: Value) -> Value:
    if s.is_float:
        return s.b.frem(x, y)
    # the remainder by 0 is 0, as NumPy's; by -1 too (the hardware would trap at the lowest int)
    signed = isinstance(s.type, types.Integer) and s.type.signed
    bad = s.less("==", y, s.const(0))
    if signed:
        bad = s.b.or_(bad, s.less("==", y, s.const(-1)))
    safe = s.b.select(bad, s.const(1), y)
    return (s.b.srem if signed else s.b.urem)(x, safe)


def _integer_power(a: int, b: int) -> int:
    """By squaring, wrapping; a negative exponent is checked before, 0 stands for its fraction."""
    if b < 0:
        return a if (a == 1 or a == -1) and b & 1 else (1 if a == 1 or a == -1 else 0)
    out = 1
    while b > 0:
        if b & 1:
            out *= a
        a *= a
        b >>= 1
    return out


def _chain(s: Site, x: Value, n: int) -> Value:
    """x ** n by products, for small |n|: (1 / x) ** -n neither over- nor underflows early."""
    if n < 0:
        return _chain(s, s.b.fdiv(s.const(1.0), x), -n)
    out: Value = None
    while n:
        if n & 1:
            out = x if out is None else s.b.fmul(out, x)
        n >>= 1
        x = s.b.fmul(x, x) if n else x
    return s.const(1.0) if out is None else out


def _half(s: Site, x: Value, n: float) -> Value:
    """x ** n for small n halfway between integers: a square root, and products."""
    # pow takes minus zero and minus infinity for positive ones here, the root does not
    endless = s.less("==", x, s.const(-math.inf))
    x = s.b.fadd(s.b.select(endless, s.const(math.inf), x), s.const(0.0))
    whole = int(abs(n))
    if n == -0.5:
        return s.b.fdiv(s.const(1.0), s.intrinsic("sqrt", x))
    if n < 0.0:  # one division for all such powers of x; where 1 / x overflows the power does, too
        x = s.b.fdiv(s.const(1.0), x)
    root = s.intrinsic("sqrt", x)
    return s.b.fmul(_chain(s, x, whole), root) if whole else root


def _pow(s: Site, x: Value, y: Value) -> Value:
    if not s.is_float:
        sig = types.int64(types.int64, types.int64)
        wide = [s.context.cast(s.b, v, s.type, types.int64) for v in (x, y)]
        out = s.context.compile_internal(s.b, _integer_power, sig, wide)
        return s.context.cast(s.b, out, types.int64, s.type)
    if isinstance(y, ir.Constant) and isinstance(y.constant, (int, float)):
        n = float(y.constant)
        if n in SMALL_POWERS:
            return _chain(s, x, int(n)) if n.is_integer() else _half(s, x, n)
    return s.libm("pow", x, y)


def _wide(lower: Lowering) -> Lowering:
    """Evaluate in float64 whatever the operands are."""

    def wide(s: Site, *args: Value) -> Value:
        site = Site(s.context, s.b, types.float64)
        out = lower(site, *(s.context.cast(s.b, a, s.type, types.float64) for a in args))
        return s.context.cast(s.b, out, types.float64, s.type)

    return wide


# Functions that SciPy has and the C library has not (or with a global variable for the sign),
# under the symbols of `cython_special`.
_FROM_SCIPY = ("digamma", "lgamma", *OPERANDS)
# But the GNU C library has a form of lgamma that hands the sign over, and is there already.
HAS_LGAMMA = libm.available("lgamma_r")


def _scipy(name: str) -> Lowering:
    def lower(s: Site, *args: Value) -> Value:
        flag = ir.IntType(32)  # Cython's: 0 for "call this very function"
        fnty = ir.FunctionType(args[0].type, [*(x.type for x in args), flag])
        function = numba_private.declare(s.b.module, fnty, f"jitad_{name}")
        return s.b.call(function, [*args, ir.Constant(flag, 0)])

    return _wide(lower)


def _part(part: Part) -> Lowering:
    """One of the results that SciPy's function writes, or gives as a complex number."""

    def lower(s: Site, *args: Value) -> Value:
        kind, symbol = args[0].type, f"jitad_{part.function}"
        if part.function == WOFZ:  # whose parts come and go as numbers of their own
            pair, flag = ir.LiteralStructType([kind, kind]), ir.IntType(32)
            fnty = ir.FunctionType(pair, [kind, kind, flag])
            function = numba_private.declare(s.b.module, fnty, symbol)
            return s.b.extract_value(s.b.call(function, [*args, ir.Constant(flag, 0)]), part.index)
        with s.b.goto_entry_block():
            slots = [s.b.alloca(kind) for _ in range(part.count)]
        fnty = ir.FunctionType(ir.VoidType(), [kind] * len(args) + [kind.as_pointer()] * len(slots))
        writes = numba_private.declare(s.b.module, fnty, symbol, ("nounwind",))
        s.b.call(writes, [*args, *slots])
        return s.b.load(slots[part.index])

    return _wide(lower)


def _lgamma(s: Site, x: Value) -> Value:
    flag = ir.IntType(32)
    with s.b.goto_entry_block():
        sign = s.b.alloca(flag)
    fnty = ir.FunctionType(x.type, [x.type, flag.as_pointer()])
    out = s.b.call(numba_private.declare(s.b.module, fnty, "lgamma_r", ("nounwind",)), [x, sign])
    lowest = s.less("==", x, s.const(-math.inf))  # SciPy's way
    return s.b.select(lowest, x, out)


def _polygamma(s: Site, n: Value, x: Value) -> Value:
    sig = types.float64(types.float64, types.float64)
    with s.b.if_else(s.less("==", n, s.const(0.0))) as (zero, other):
        with zero:
            first, first_from = _scipy("digamma")(s, x), s.b.block
        with other:
            rest, rest_from = s.context.compile_internal(s.b, polygamma, sig, [n, x]), s.b.block
    out = s.b.phi(x.type)
    out.add_incoming(first, first_from)
    out.add_incoming(rest, rest_from)
    return out


def _compiled(function: Any) -> Lowering:
    """A function of floats written in Python, compiled into the caller."""

    def lower(s: Site, *args: Value) -> Value:
        sig = types.float64(*([types.float64] * len(args)))
        return s.context.compile_internal(s.b, function, sig, args)

    return _wide(lower)


def _fadd(s: Site, x: Value, y: Value) -> Value:
    return s.b.fadd(x, y, flags=numba_private.ANY_ORDER) if s.is_float else s.b.add(x, y)


def _plus(s: Site, x: Value, y: Value) -> Value:
    return s.b.fadd(x, y, flags=numba_private.ROUNDED) if s.is_float else s.b.add(x, y)


def _unsigned(s: Site, x: Value) -> Value:
    return s.b.fadd(x, s.const(0.0), flags=numba_private.ROUNDED)


def _touched(s: Site, x: Value) -> Value:
    """Is it another number than -0.0?"""
    word = ir.IntType(32 if isinstance(x.type, ir.FloatType) else 64)
    sign = ir.Constant(word, -(1 << (word.width - 1)))
    return s.b.icmp_unsigned("!=", s.b.bitcast(x, word), sign)


def _unit(s: Site, x: Value, _y: Value, size: Value) -> Value:
    """x / size, 0 where size is."""
    zero = s.const(0.0)
    return s.b.select(s.less("==", size, zero), zero, s.b.fdiv(x, size))


def _rescale(s: Site, d: Value) -> Value:
    size = s.intrinsic("fabs", d)
    small, large = s.const(2.0**-900), s.const(2.0**900)
    high = s.b.select(s.less(">", size, large), s.const(2.0**-200), s.const(1.0))
    return s.b.select(s.less("<", size, small), s.const(2.0**200), high)


def _quotient(s: Site, x: Value, d: Value, inverse: Value, scale: Value) -> Value:
    """x / d * scale, rounded as the division would be."""
    if "fma" not in numba_private.host_features():
        return s.b.fmul(s.b.fdiv(x, d), scale)
    guess = s.b.fmul(x, inverse)
    rest = s.b.fma(s.b.fneg(guess), d, x)
    better = s.b.fma(rest, inverse, guess)
    # of infinities the remainder is none, and zeros lose their sign: there the guess is right
    sound = s.b.fcmp_ordered("!=", better, s.const(0.0))
    return s.b.fmul(s.b.select(sound, better, guess), scale)


def _product_fits(s: Site, x: Value, y: Value) -> Value:
    both = ir.LiteralStructType([x.type, ir.IntType(1)])
    fnty = ir.FunctionType(both, [x.type, y.type])
    name = f"llvm.smul.with.overflow.i{x.type.width}"
    pair = s.b.call(numba_private.declare(s.b.module, fnty, name, ()), [x, y])
    return s.b.not_(s.b.extract_value(pair, 1))


def _inside(s: Site, i: Value, n: Value) -> Value:
    """One comparison: without a sign, what is negative is larger than any extent."""
    return s.b.icmp_unsigned("<", i, n)


def _word(*ts: Type) -> Type | None:
    whole = (types.Integer, types.Boolean)
    return types.int64 if all(isinstance(types.unliteral(t), whole) for t in ts) else None


def _where(s: Site, c: Value, a: Value, b: Value) -> Value:
    return s.b.select(s.less("!=", c, s.const(0)), a, b)


def _double(*ts: Type) -> Type | None:
    return types.float64 if _float(*ts) is not None else None


_bool = types.boolean
_TABLE: dict[str, tuple[Callable[..., Type | None], Type | None, Lowering]] = {
    **{
        name: (_float, None, _libm(name))
        for name in (
            "cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh "
            "tanh asinh acosh atanh erf erfc atan2 hypot"
        ).split()
    },
    "gamma": (_float, None, _libm("tgamma")),
    "sqrt": (_float, None, _intrinsic("sqrt")),
    "copysign": (_float, None, _intrinsic("copysign")),
    **{name: (_number, None, _rounding(name)) for name in ("floor", "ceil", "trunc", "rint")},
    **{name: (_float, None, _scipy(name)) for name in _FROM_SCIPY},
    **{name: (_float, None, _part(part)) for name, part in PARTS.items()},
    **({"lgamma": (_float, None, _wide(_lgamma))} if HAS_LGAMMA else {}),
    "polygamma": (_float, None, _wide(_polygamma)),
    **{name: (_float, None, _compiled(f)) for name, f in moments.NUMBERS.items()},
    "expit": (_float, None, _expit),
    "sech2": (_float, None, _sech2),
    "logaddexp": (_float, None, _logaddexp),
    "square": (_number, None, _square),
    "reciprocal": (_float, None, _reciprocal),
    "sign": (_number, None, _sign),
    "maximum": (_number, None, _extreme(">", "keep")),
    "minimum": (_number, None, _extreme("<", "keep")),
    "highest": (_number, None, _of_many(">=", "maximum")),
    "lowest": (_number, None, _of_many("<=", "minimum")),
    "fmax": (_number, None, _extreme(">", "drop")),
    "fmin": (_number, None, _extreme("<", "drop")),
    "fmod": (_number, None, _fmod),
    "pow": (_number, None, _pow),
    "isnan": (_number, _bool, _isnan),
    "isinf": (_number, _bool, _isinf),
    "isfinite": (_number, _bool, _isfinite),
    "fadd": (_number, None, _fadd),
    "plus": (_number, None, _plus),
    "where": (lambda c, a, b: _number(a, b), None, _where),
    "product_fits": (_word, _bool, _product_fits),
    "inside": (_word, _bool, _inside),
    "unit": (_float, None, _unit),
    "unsigned": (_float, None, _unsigned),
    "touched": (_float, _bool, _touched),
    "rescale": (_double, None, _rescale),
    "quotient": (_double, None, _quotient),
}


def register(name: str, function: Any) -> None:
    """Tell Numba that `function` is the row `name`."""
    rule, result, lower = _TABLE[name]

    def typer(*ts: Type) -> Any:
        at = rule(*ts)
        return None if at is None else (result or at)(*([at] * len(ts)))

    def lowering(context: Any, builder: Any, sig: Any, args: Any) -> Value:
        return lower(Site(context, builder, sig.args[0]), *args)

    numba_private.define(function, typer, lowering)
