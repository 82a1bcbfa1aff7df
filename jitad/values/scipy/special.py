"""What becomes of the functions of scipy.special?

Those that are no rows of their own are short formulas over the rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sp

from jitad.errors import JitadTypeError
from jitad.primitives.table import TABLE
from jitad.primitives.unloaded import Unloaded
from jitad.values import extents
from jitad.values.array import wrap
from jitad.values.broadcast import as_operand, elementwise, shape_of
from jitad.values.kind import fail, type_of
from jitad.values.number import bind
from jitad.values.numpy.reductions import axes_of
from jitad.values.numpy.ufuncs import (
    add,
    as_row,
    as_ufunc,
    div,
    enter,
    exp,
    float_of,
    log_expit,
    logit,
    mul,
    numpy_number,
    sub,
    where,
    xlog1py,
    xlogy,
)
from jitad.values.registry import call, replaces

# -- log-sum-exp ----------------------------------------------------------------------------------


@replaces(sp.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False,
              return_sign: bool = False) -> Any:  # fmt: skip
    a = as_operand(a)
    marked = b is None and bool(shape_of(a))  # weighted, it varies as its parts do
    top = _largest(a, axis, axis is not None or keepdims)
    top = elementwise("where", elementwise("isfinite", top), top, 0.0)
    terms = elementwise("exp", elementwise("sub", elementwise("stop", a) if marked else a, top))
    if b is not None:
        terms = elementwise("mul", b, terms)
    total = call(np.sum, terms, axis=axis, keepdims=keepdims)
    none = elementwise("eq", total, 0.0)  # where the logarithm has an infinite slope, times zero
    sign = elementwise("sign", total)
    total = elementwise("abs", total) if return_sign else total
    whole = elementwise("where", none, 1.0, total)
    total = elementwise("where", none, -np.inf, elementwise("log", whole))
    if not keepdims and axis is not None:
        top = call(np.squeeze, top, axis=axis)
    found = elementwise("add", total, top)
    if marked:
        if not keepdims and axis is not None:
            whole = call(np.expand_dims, whole, axis)
        if keepdims:
            found = call(np.squeeze, found, axis=axis)
        shares = elementwise("mul", terms, elementwise("div", 1.0, whole))
        found = _marked("log_sum", found, a, axis, _marked("shares", shares, a, axis))
        if keepdims:
            axes = axes_of(axis, len(shape_of(a)))
            found = call(np.expand_dims, found, axes)
    return (found, sign) if return_sign else found


def _largest(a: Any, axis: Any, keepdims: bool, some: bool = False) -> Any:
    """What all is divided by lest `exp` overflow: it cancels, and so does how it varies.

    `some`: of nothing there is none, which is an error.
    """
    some = some or all(extents.assume_at_least(n, 1) for n in shape_of(a))
    least = {} if some else {"initial": -np.inf}
    return elementwise("stop", call(np.max, a, axis=axis, keepdims=keepdims, **least))


def _marked(name: str, value: Any, x: Any, axis: Any, *others: Any) -> Any:
    """The value, as what it is of x: see `primitives/shares`."""
    contents = [v.content if hasattr(v, "content") else v for v in (value, x, *others)]
    return wrap(bind(name, *contents, axes=axes_of(axis, len(shape_of(x)))))


@replaces(sp.softmax)
def softmax(x: Any, axis: Any = None) -> Any:
    x = as_operand(x)
    shifted = elementwise("sub", elementwise("stop", x), _largest(x, axis, True, True))
    terms = elementwise("exp", shifted)
    shares = elementwise("div", terms, call(np.sum, terms, axis=axis, keepdims=True))
    return _marked("shares", shares, x, axis) if shape_of(x) else shares


@replaces(sp.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Any:
    x = as_operand(x)
    if not shape_of(x):
        return elementwise("sub", x, logsumexp(x))
    fixed = elementwise("stop", x)
    logs = elementwise("sub", fixed, logsumexp(fixed, axis=axis, keepdims=True))
    return _marked("log_shares", logs, x, axis, softmax(x, axis))


# -- one formula each -----------------------------------------------------------------------------


def _power(x: Any, p: Any) -> Any:
    return elementwise("pow", x, p)


def _inv_boxcox(y: Any, p: Any) -> Any:
    """(1 + p y) ** (1 / p), and the exponential where p is zero."""
    return exp(mul(y, log1prel(mul(p, y))))


def log1prel(x: Any) -> Any:
    """log(1 + x) / x; near zero by the series of atanh, whose derivatives do not cancel there."""
    small = elementwise("lt", elementwise("abs", x), 0.25)
    inside, outside = where(small, x, 0.0), where(small, 1.0, x)
    half = div(1.0, add(inside, 2.0))  # log(1 + x) = 2 atanh(x / (2 + x))
    square = mul(mul(inside, half), mul(inside, half))
    near: Any = 0.0
    for k in reversed(range(10)):
        near = add(mul(near, square), 1.0 / (2 * k + 1))
    return where(small, mul(mul(2.0, half), near), div(elementwise("log1p", outside), outside))


def _gammaln(x: Any) -> Any:
    return elementwise("lgamma", x)


def _gammasgn(x: Any) -> Any:
    """The sign of the gamma function, which `lgamma` leaves out."""
    even = elementwise("eq", elementwise("mod", elementwise("floor", x), 2.0), 0.0)
    sign = where(elementwise("logical_or", elementwise("gt", x, 0.0), even), 1.0, -1.0)
    return elementwise("cast", sign, dtype=float_of(x))


def _huber(delta: Any, r: Any) -> Any:
    size = elementwise("abs", r)
    outside = mul(delta, sub(size, mul(0.5, delta)))
    found = where(elementwise("le", size, delta), mul(0.5, mul(r, r)), outside)
    return where(elementwise("lt", delta, 0.0), np.inf, found)


def _exprel(x: Any) -> Any:
    """(exp(x) - 1) / x; near zero by its series, whose derivatives do not cancel there."""
    small = elementwise("lt", elementwise("abs", x), 1.0)
    inside, outside = where(small, x, 0.0), where(small, 1.0, x)
    near: Any = 0.0
    for k in reversed(range(18)):
        near = add(mul(near, inside), 1.0 / math.factorial(k + 1))
    far = div(elementwise("expm1", outside), outside)
    return where(small, near, where(elementwise("eq", x, np.inf), np.inf, far))


def _f_share(a: Any, b: Any, this: Any, other: Any) -> Any:
    """What the distribution of Fisher and Snedecor has on one side, by the smaller part."""
    a, b = (where(elementwise("gt", v, 0.0), v, np.nan) for v in (a, b))
    small, both = elementwise("lt", this, other), add(this, other)
    left = elementwise("betainc", a, b, where(small, div(this, both), 0.25))
    return where(small, left, elementwise("betaincc", b, a, where(small, 0.25, div(other, both))))


def _not_below(x: Any) -> Any:
    """nan below zero, where a distribution is not asked for."""
    return where(elementwise("lt", x, 0.0), np.nan, x)


def _whole(n: Any) -> Any:
    """SciPy takes the whole part of what should be an int."""
    return elementwise("trunc", n) if type_of(n).dtype[0] == "f" else n


def _double(x: Any) -> Any:
    return elementwise("cast", mul(x, 1.0), dtype="f8")


for _row in list(TABLE.values()):
    if isinstance(_row.numpy, Unloaded):
        enter(_row)

for _original, _compute in (
    (sp.xlogy, xlogy),
    (sp.xlog1py, xlog1py),
    (sp.logit, logit),
    (sp.log_expit, log_expit),
    (sp.exp2, as_row("exp2")),
    (sp.expm1, as_row("expm1")),
    (sp.log1p, as_row("log1p")),
    (sp.cbrt, as_row("cbrt")),
    (sp.exp10, lambda x: exp(mul(x, math.log(10.0)))),
    (sp.entr, lambda x: where(elementwise("lt", x, 0.0), -np.inf, elementwise("neg", xlogy(x, x)))),
    (sp.ndtr, lambda x: mul(0.5, elementwise("erfc", mul(x, -math.sqrt(0.5))))),
    (sp.loggamma, lambda x: elementwise("lgamma", _not_below(x))),
    (sp.fdtr, lambda m, n, x: _f_share(mul(0.5, m), mul(0.5, n), mul(m, _not_below(x)), n)),
    (sp.fdtrc, lambda m, n, x: _f_share(mul(0.5, n), mul(0.5, m), n, mul(m, _not_below(x)))),
    (sp.inv_boxcox, _inv_boxcox),
    (sp.gammasgn, _gammasgn),
    (sp.huber, _huber),
    (sp.exprel, _exprel),
    (sp.cosm1, lambda x: mul(-2.0, _power(elementwise("sin", mul(x, 0.5)), 2))),
    (sp.radian, lambda d, m, s: mul(add(d, div(add(m, div(s, 60.0)), 60.0)), math.pi / 180.0)),
    (sp.chdtr, lambda v, x: elementwise("gammainc", mul(0.5, v), mul(0.5, x))),
    (sp.chdtrc, lambda v, x: elementwise("gammaincc", mul(0.5, v), mul(0.5, x))),
    (sp.pdtr, lambda k, m: elementwise("gammaincc", add(_whole(_not_below(k)), 1.0), m)),
    (sp.pdtrc, lambda k, m: elementwise("gammainc", add(_whole(_not_below(k)), 1.0), m)),
    (sp.gdtr, lambda a, b, x: elementwise("gammainc", b, mul(a, _not_below(x)))),
    (sp.gdtrc, lambda a, b, x: elementwise("gammaincc", b, mul(a, _not_below(x)))),
    (sp.jve, lambda v, x: elementwise("jv", v, x)),  # which are scaled off the real line
    (sp.yve, lambda v, x: elementwise("yv", v, x)),
    (sp.kn, lambda n, x: elementwise("kv", _whole(n), x)),
    (sp.yn, lambda n, x: elementwise("yv", _whole(n), x)),
):  # fmt: skip
    replaces(_original)(as_ufunc(_original, _compute))


def _spherical(original: Any, cylindric: str, factor: float, at_zero: Any) -> None:
    """A spherical Bessel function is the one of half an order more, over the root of x.

    About zero those of the first kind are their series, whose terms alternate for `at_zero` -1.
    """

    @replaces(original)
    def replacement(n: Any, z: Any, derivative: bool = False) -> Any:
        def value(n: Any, z: Any) -> Any:
            series = abs(at_zero) == 1.0
            small = (elementwise("lt", elementwise("abs", z), 0.5) if series
                     else elementwise("eq", z, 0.0))  # fmt: skip
            safe = where(small, 1.0, z)
            root = elementwise("sqrt", div(factor, safe))
            found = mul(root, elementwise(cylindric, add(n, 0.5), safe))
            near = _near_zero(n, where(small, z, 0.0), at_zero) if series else at_zero
            return where(small, near, found)

        if isinstance(n, np.ndarray) or not isinstance(n, (int, np.integer)):
            raise fail(JitadTypeError, f"the order of {original.__name__} must be a known int")
        z = mul(z, 1.0) if original is sp.spherical_kn else _double(z)  # it alone keeps float32
        if not derivative:
            return value(int(n), z)
        # by both neighbours, which divides nothing by z
        after = mul(1.0 if original is sp.spherical_in else -1.0, value(n + 1, z))
        if not n:
            return after
        before = mul(-1.0 if original is sp.spherical_kn else 1.0, value(n - 1, z))
        return div(add(mul(float(n), before), mul(n + 1.0, after)), 2.0 * n + 1.0)


def _near_zero(n: int, z: Any, sign: float) -> Any:
    """z**n / (2 n + 1)!! times the sum of (s z z / 2)**k / (k! (2 n + 3) ... (2 n + 2 k + 1))"""
    half = mul(mul(z, z), 0.5 * sign)
    total: Any = 1.0
    for k in reversed(range(1, 9)):
        total = add(mul(mul(total, half), 1.0 / (k * (2 * n + 2 * k + 1))), 1.0)
    first = 1.0 / math.prod(range(1, 2 * n + 2, 2))
    return mul(mul(_power(z, n), first), total)


_spherical(sp.spherical_jn, "jv", 0.5 * math.pi, -1.0)
_spherical(sp.spherical_yn, "yv", 0.5 * math.pi, -np.inf)
_spherical(sp.spherical_in, "iv", 0.5 * math.pi, 1.0)
_spherical(sp.spherical_kn, "kv", 0.5 * math.pi, np.inf)


@replaces(sp.polygamma)
def polygamma(n: Any, x: Any) -> Any:
    n, x = as_operand(n), as_operand(x)
    if type_of(n).dtype != "f4":  # its loops take the order in their own precision
        x = _double(x)
    return numpy_number(elementwise("polygamma", n, x))


@replaces(sp.multigammaln)
def multigammaln(a: Any, d: int) -> Any:
    total: Any = np.float64(0.25 * d * (d - 1) * math.log(math.pi))
    for k in range(d):
        total = add(total, _gammaln(sub(a, 0.5 * k)))
    return total


@replaces(sp.factorial)
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    if exact or extend != "zero":
        raise fail(JitadTypeError, "factorial(exact=True) is of ints that are known",
                   "Pass exact=False.")  # fmt: skip
    n = _double(n) if shape_of(n) else mul(n, 1.0)
    below = elementwise("lt", n, 0.0)
    return numpy_number(where(below, 0.0, elementwise("gamma", add(where(below, 1.0, n), 1.0))))


@replaces(sp.comb)
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    if exact or repetition:
        raise fail(JitadTypeError, "comb is supported without exact= and repetition=")
    N, k = mul(N, 1.0), mul(k, 1.0)
    possible = call(np.greater_equal, call(np.minimum, call(np.subtract, N, k), k), 0.0)
    return call(np.where, possible, elementwise("binom", N, k), 0.0)  # N >= k >= 0


