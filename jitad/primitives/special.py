"""Which functions of scipy.special are rows of their own, and what are their derivatives?

All of them are evaluated by SciPy, in kernels through the addresses that it hands out.  Formulas:
Abramowitz & Stegun, *Handbook of Mathematical Functions* (7.1, 9.1, 9.6, 17.3, 26.5); those by the
shapes of incomplete gamma and beta functions are integrals (`moments`).  Where no form is known
(an order of a Bessel function) the partial derivative is `Unknown`: asking for it is an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jitad.primitives.elementwise import power_partials
from jitad.primitives.moments import (
    ABOVE,
    BELOW,
    beta_density,
    beta_slopes,
    gamma_density,
    gamma_slope,
    log_beta,
)
from jitad.primitives.table import Primitive, Unknown, floating, register
from jitad.primitives.unloaded import Unloaded

POSITIVE = (0.2, 5.0)
ANY = (-3.0, 3.0)
UNIT = (0.05, 0.95)

_ROOT_PI = math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_ROOT_HALF = math.sqrt(0.5)

OPERANDS: dict[str, int] = {}  # how many each of these functions has


def row(name: str, partials: Any, *domain: tuple[float, float]) -> None:
    OPERANDS[name] = len(domain)
    operands = ", ".join(f"{{{k}}}" for k in range(len(domain)))
    f = Unloaded("scipy.special", name)
    register(Primitive(
        name, f if len(domain) == 1 else _narrowing(f), floating, partials,
        emit=f"{name}({operands})", elementwise=True, dear=True, domain=domain, numpy=f,
    ))  # fmt: skip


def _narrowing(f: Any) -> Any:
    """SciPy widens float32 beside a Python number for some functions, NumPy and kernels don't."""

    def evaluate(*args: Any) -> Any:
        out = f(*args)
        narrow = out.dtype == np.float64 and np.result_type(*args) == np.float32
        return out.astype(np.float32) if narrow else out

    return evaluate


def unary(name: str, partial: Any, domain: tuple[float, float] = POSITIVE) -> None:
    row(name, lambda o, x, y: (partial(o, x, y),), domain)


def series(o: Any, u: Any, coefficients: Sequence[float]) -> Any:
    """The sum of c[k] u**k."""
    *rest, total = coefficients
    for c in reversed(rest):
        total = total * u + c
    return total


def _far(o: Any, x: Any, start: float, tail: Any, near: Any) -> Any:
    """tail(x) from x = start on, near(x) below: functions of which each holds on its side."""
    beyond = o.gt(x, start)
    return o.where(beyond, tail(o.where(beyond, x, start)), near(o.where(beyond, start, x)))


def _side(o: Any, x: Any) -> Any:
    """The sign of x, where what follows is analytic at zero on either side."""
    return o.where(o.lt(x, 0.0), -1.0, 1.0)


# -- Bessel functions -----------------------------------------------------------------------------


def _bessel_tail(o: Any, x: Any, order: Any, sign: float, factor: float) -> Any:
    """The derivative of factor * sum_k sign**k a_k x**(-k - 1/2), Hankel's expansion."""
    a: Any = factor
    terms: list[Any] = []
    for k in range(18):
        terms.append(-(k + 0.5) * a)
        a = a * (sign * (4.0 * order * order - (2 * k + 1) ** 2) / (8.0 * (k + 1)))
    inverse = 1.0 / x
    return series(o, inverse, terms) * inverse * o.sqrt(inverse)


def _scaled_bessel(name: str, order: int, sign: float, factor: float, near: Any) -> None:
    """exp(-x) I or exp(x) K: what the next order gives cancels for large x."""

    def partial(o: Any, x: Any, y: Any) -> Any:
        side = _side(o, x) if sign < 0.0 else 1.0  # I is even or odd
        out = _far(o, side * x, 50.0, lambda t: _bessel_tail(o, t, order, sign, factor),
                   lambda t: near(o, t, getattr(o, name)(t)))  # fmt: skip
        return out * o.sign(x) if order == 0 and sign < 0.0 else out  # it has a kink

    unary(name, partial, ANY if sign < 0.0 else POSITIVE)


def _i1_slope(o: Any, x: Any) -> Any:
    """I0(x) - I1(x) / x; about zero by its series: SciPy has nan there for the next order."""
    near = o.lt(o.abs(x), 1.0)
    inside, outside = o.where(near, 0.5 * x, 0.0), o.where(near, 1.0, x)
    terms = [(2 * k + 1) / (2.0 * math.factorial(k) * math.factorial(k + 1)) for k in range(10)]
    return o.where(near, series(o, inside * inside, terms), o.i0(outside) - o.i1(outside) / outside)


unary("j0", lambda o, x, y: -o.j1(x), ANY)
unary("j1", lambda o, x, y: 0.5 * (o.j0(x) - o.jv(2.0, x)), ANY)
unary("y0", lambda o, x, y: -o.y1(x))
unary("y1", lambda o, x, y: o.y0(x) - y / x)
unary("i0", lambda o, x, y: o.i1(x), ANY)
unary("i1", lambda o, x, y: _i1_slope(o, x), ANY)
_scaled_bessel("i0e", 0, -1.0, 1.0 / _ROOT_TWO_PI, lambda o, x, y: o.i1e(x) - y)
_scaled_bessel("i1e", 1, -1.0, 1.0 / _ROOT_TWO_PI,
               lambda o, x, y: o.exp(-x) * _i1_slope(o, x) - y)
unary("k0", lambda o, x, y: -o.k1(x))
unary("k1", lambda o, x, y: -o.k0(x) - y / x)
_scaled_bessel("k0e", 0, 1.0, math.sqrt(0.5 * math.pi), lambda o, x, y: y - o.k1e(x))
_scaled_bessel("k1e", 1, 1.0, math.sqrt(0.5 * math.pi), lambda o, x, y: y - o.k0e(x) - y / x)


def _order(name: str) -> Unknown:
    return Unknown(f"the derivative of {name} by its order")


for _name, _sign in (("jv", -1.0), ("yv", -1.0), ("iv", 1.0), ("kv", 1.0)):
    _half = -0.5 if _name == "kv" else 0.5

    def _partials(o: Any, v: Any, x: Any, y: Any, *, name: str = _name, sign: float = _sign,
                  half: float = _half) -> Any:  # fmt: skip
        f = getattr(o, name)
        return _order(name), half * (f(v - 1.0, x) + sign * f(v + 1.0, x))

    row(_name, _partials, (0.5, 3.0), POSITIVE)


def _struve(name: str, sign: float) -> None:
    """By both neighbours and the power by which they differ: Abramowitz & Stegun (12.1.10)."""

    def partials(o: Any, v: Any, x: Any, y: Any) -> Any:
        f = getattr(o, name)
        power = o.pow(0.5 * x, v) * o.rgamma(v + 1.5) / _ROOT_PI
        return _order(name), 0.5 * (f(v - 1.0, x) + sign * f(v + 1.0, x) + power)

    row(name, partials, (0.5, 3.0), POSITIVE)


_struve("struve", -1.0)
_struve("modstruve", 1.0)

# -- the normal distribution, the error functions --------------------------------------------------

# Their differential equations cancel for large x; expansions in 1 / x**2 don't.
_ERFCX = [(-1.0) ** (k + 1) * math.prod(range(1, 2 * k + 2, 2)) / 2.0**k for k in range(18)]


def _far_squares(o: Any, x: Any, factor: float, terms: Sequence[float]) -> Any:
    inverse = 1.0 / (x * x)
    return factor * inverse * series(o, inverse, terms)


unary("erfcx", lambda o, x, y: _far(
    o, x, 10.0, lambda t: _far_squares(o, t, 1.0 / _ROOT_PI, _ERFCX),
    lambda t: 2.0 * t * o.erfcx(t) - 2.0 / _ROOT_PI), ANY)  # fmt: skip
unary("erfinv", lambda o, x, y: (0.5 * _ROOT_PI) * o.exp(y * y), (-0.9, 0.9))
unary("erfcinv", lambda o, x, y: (-0.5 * _ROOT_PI) * o.exp(y * y), (0.1, 1.9))
unary("dawsn", lambda o, x, y: _far(
    o, _side(o, x) * x, 10.0, lambda t: _far_squares(o, t, -0.5, [abs(c) for c in _ERFCX]),
    lambda t: 1.0 - 2.0 * t * o.dawsn(t)), ANY)  # fmt: skip


def _log_ndtr_slope(o: Any, x: Any, y: Any) -> Any:
    """The density over the probability; below zero by a function in which neither underflows."""
    low = o.lt(x, 0.0)
    below = math.sqrt(2.0 / math.pi) / o.erfcx(o.where(low, -_ROOT_HALF * x, 0.0))
    return o.where(low, below, o.exp(-0.5 * x * x - y) / _ROOT_TWO_PI)


unary("log_ndtr", _log_ndtr_slope, ANY)
unary("ndtri", lambda o, x, y: _ROOT_TWO_PI * o.exp(0.5 * y * y), UNIT)

# -- integrals ------------------------------------------------------------------------------------

unary("expi", lambda o, x, y: o.exp(x) / x)
unary("exp1", lambda o, x, y: -o.exp(-x) / x)


def _log_slope(o: Any, x: Any) -> Any:
    """log(x) / (1 - x); about 1 by its series, whose derivatives do not cancel there."""
    near = o.lt(o.abs(x - 1.0), 0.1)
    far, off = o.where(near, 0.5, x), o.where(near, x - 1.0, 0.0)
    terms = [(-1.0) ** (k + 1) / (k + 1) for k in range(20)]
    return o.where(near, series(o, off, terms), o.log(far) / (1.0 - far))


unary("spence", lambda o, x, y: _log_slope(o, x))

# -- incomplete gamma and beta functions ----------------------------------------------------------


def _shape(name: str) -> Unknown:
    return Unknown(f"the derivative of {name} by a shape parameter")


def _by_shape(o: Any, side: float, a: Any, x: Any) -> Any:
    return gamma_slope(o, side, a, x) if o.wanted(0) else None


def _by_shapes(o: Any, side: float, a: Any, b: Any, x: Any) -> tuple[Any, ...]:
    """None where nobody wants them: they are integrals."""
    some = o.wanted(0) or o.wanted(1)
    return beta_slopes(o, side, a, b, x) if some else (None, None)


row("gammainc", lambda o, a, x, y: (
    _by_shape(o, BELOW, a, x), gamma_density(o, a, x)), POSITIVE, POSITIVE)  # fmt: skip
row("gammaincc", lambda o, a, x, y: (
    _by_shape(o, ABOVE, a, x), -gamma_density(o, a, x)), POSITIVE, POSITIVE)  # fmt: skip
row("betainc", lambda o, a, b, x, y: (
    *_by_shapes(o, BELOW, a, b, x), beta_density(o, a, b, x)),
    POSITIVE, POSITIVE, UNIT)  # fmt: skip
row("betaincc", lambda o, a, b, x, y: (
    *_by_shapes(o, ABOVE, a, b, x), -beta_density(o, a, b, x)),
    POSITIVE, POSITIVE, UNIT)  # fmt: skip


def _gamma_inverse(o: Any, a: Any, y: Any) -> tuple[Any, Any]:
    """By the shape, and by the part below."""
    slope = 1.0 / gamma_density(o, a, y)
    return -gamma_slope(o, BELOW, a, y) * slope if o.wanted(0) else None, slope


def _beta_inverse(o: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any, Any]:
    slope = 1.0 / beta_density(o, a, b, y)
    by_a, by_b = _by_shapes(o, BELOW, a, b, y)
    return *(None if d is None else -d * slope for d in (by_a, by_b)), slope


def _of_rest(partials: tuple[Any, ...]) -> tuple[Any, ...]:
    """Of an inverse by the rest: the same but for the sign of the last."""
    return (*partials[:-1], -partials[-1])


row("gammaincinv", lambda o, a, p, y: _gamma_inverse(o, a, y), POSITIVE, UNIT)
row("gammainccinv", lambda o, a, p, y: _of_rest(_gamma_inverse(o, a, y)), POSITIVE, UNIT)
row("betaincinv", lambda o, a, b, p, y: _beta_inverse(o, a, b, y), POSITIVE, POSITIVE, UNIT)
row("betainccinv", lambda o, a, b, p, y: _of_rest(_beta_inverse(o, a, b, y)),
    POSITIVE, POSITIVE, UNIT)  # fmt: skip

# -- relative entropies: at x = 0 no slope is taken, which is endless -----------------------------


def _log_ratio(o: Any, x: Any, y: Any) -> Any:
    inside = o.logical_and(o.gt(x, 0.0), o.gt(y, 0.0))
    x, y = o.where(inside, x, 1.0), o.where(inside, y, 1.0)
    return o.where(inside, o.log(x) - o.log(y), 0.0)


def _ratio(o: Any, x: Any, y: Any) -> Any:
    none = o.eq(x, 0.0)
    return o.where(none, 0.0, x / o.where(none, 1.0, y))


row("rel_entr", lambda o, x, y, z: (
    _log_ratio(o, x, y) + o.where(o.gt(x, 0.0), 1.0, 0.0), -_ratio(o, x, y)),
    POSITIVE, POSITIVE)  # fmt: skip
row("kl_div", lambda o, x, y, z: (
    _log_ratio(o, x, y) - o.where(o.eq(x, 0.0), 1.0, 0.0), 1.0 - _ratio(o, x, y)),
    POSITIVE, POSITIVE)  # fmt: skip

# -- powers ---------------------------------------------------------------------------------------


def _by_power(o: Any, log: Any, power: Any, p: Any, y: Any) -> Any:
    """The slope of y = expm1(p log) / p in p, where power is exp(p log)."""
    near = o.lt(o.abs(p * log), 1.0)
    inside, scale = o.where(near, log, 0.0), o.where(near, 1.0, p)
    terms = [(k + 1) / math.factorial(k + 2) for k in range(18)]
    about = inside * inside * series(o, p * inside, terms)
    none = o.eq(power, 0.0)  # where the logarithm may be endless
    rest = o.where(none, 0.0, power * o.where(none, 0.0, log)) - y
    return o.where(near, about, rest / scale)


row("boxcox", lambda o, x, p, y: (
    o.pow(x, p - 1.0), _by_power(o, o.log(x), o.pow(x, p), p, y)), POSITIVE, ANY)  # fmt: skip
row("boxcox1p", lambda o, x, p, y: (
    o.pow(x + 1.0, p - 1.0), _by_power(o, o.log1p(x), o.pow(x + 1.0, p), p, y)),
    POSITIVE, ANY)  # fmt: skip
row("powm1", lambda o, x, y, z: power_partials(o, x, y, o.pow(x, y)), POSITIVE, ANY)


def _pseudo_huber_slopes(o: Any, delta: Any, r: Any, y: Any) -> tuple[Any, Any]:
    """Of delta**2 (root - 1), where root is that of 1 + (r / delta)**2."""
    some = o.gt(delta, 0.0)
    u = o.where(some, r, 0.0) / o.where(some, delta, 1.0)
    root = o.hypot(1.0, u)
    part = u / (1.0 + root)  # of which u part is root - 1
    return o.where(some, r, 0.0) * (u / root) * part * part, o.where(some, r, 0.0) / root


row("pseudo_huber", _pseudo_huber_slopes, POSITIVE, ANY)

# -- of angles in degrees -------------------------------------------------------------------------

_DEGREE = math.pi / 180.0
unary("sindg", lambda o, x, y: _DEGREE * o.cosdg(x), ANY)
unary("cosdg", lambda o, x, y: -_DEGREE * o.sindg(x), ANY)
unary("tandg", lambda o, x, y: _DEGREE * (1.0 + y * y), ANY)

# -- beta functions, binomial coefficients --------------------------------------------------------


def _gap(o: Any, a: Any, b: Any) -> Any:
    """digamma(a + b) - digamma(a), of large a by its asymptotic series, term by term."""
    far = o.logical_and(o.ge(a, 30.0), o.ge(a + b, 30.0))
    x, d = o.where(far, a, 30.0), o.where(far, b, 0.0)
    s, t = 1.0 / x, 1.0 / (x + d)
    u, v = s * s, t * t
    first = -d * s * t  # t - s
    second = first * (s + t)
    total = o.log1p(d * s) - 0.5 * first - second / 12.0 + second * (u + v) / 120.0
    total = total - second * (u * u + u * v + v * v) / 252.0
    total = total + second * (u + v) * (u * u + v * v) / 240.0
    x, d = o.where(far, 1.0, a), o.where(far, 0.0, b)
    return o.where(far, total, o.digamma(x + d) - o.digamma(x))


row("betaln", lambda o, a, b, y: (-_gap(o, a, b), -_gap(o, b, a)), POSITIVE, POSITIVE)
row("beta", lambda o, a, b, y: (-y * _gap(o, a, b), -y * _gap(o, b, a)), POSITIVE, POSITIVE)



def _rgamma_slope(o: Any, x: Any, y: Any) -> Any:
    """-digamma(x) y; below 1/2, where the poles of digamma are zeros of y, by reflection."""
    low = o.lt(x, 0.5)
    inside = o.where(low, x, 0.25)
    whole = o.rint(inside)
    sign = o.where(o.eq(o.mod(whole, 2.0), 0.0), 1.0, -1.0)
    angle = math.pi * (inside - whole)
    turned = o.cos(angle) - o.digamma(1.0 - inside) * o.sin(angle) / math.pi
    return o.where(low, sign * o.gamma(1.0 - inside) * turned, -o.digamma(o.where(low, 1.0, x)) * y)


unary("rgamma", _rgamma_slope, ANY)


def _binom_slopes(o: Any, n: Any, k: Any, y: Any) -> tuple[Any, Any]:
    """By n and k; where the result is zero, a gamma function below has a pole."""
    none, over = o.eq(y, 0.0), n - k
    m, b = o.where(none, 1.0, over), o.where(none, 1.0, k)
    by_n, by_k = y * _gap(o, m + 1.0, b), y * (o.digamma(m + 1.0) - o.digamma(b + 1.0))
    top, over, below = (o.where(none, x, 1.0) + 1.0 for x in (n, over, k))
    r, s = o.rgamma(over), o.rgamma(below)
    by_over = o.gamma(top) * s * _rgamma_slope(o, over, r)
    by_below = o.gamma(top) * r * _rgamma_slope(o, below, s)
    by_top = y * o.digamma(top)  # which is zero, but varies
    return o.where(none, by_over + by_top, by_n), o.where(none, by_below - by_over, by_k)


def _poch_slopes(o: Any, x: Any, m: Any, y: Any) -> tuple[Any, Any]:
    """By x and m; zero is what gamma(x) has a pole for."""
    none, by_m = o.eq(y, 0.0), y * o.digamma(x + m)
    inside = o.where(none, x, 1.0)
    at_pole = o.gamma(inside + m) * _rgamma_slope(o, inside, o.rgamma(inside))
    return o.where(none, at_pole + by_m, y * _gap(o, o.where(none, 1.0, x), m)), by_m


row("poch", _poch_slopes, POSITIVE, POSITIVE)
row("binom", _binom_slopes, (5.0, 9.0), POSITIVE)
row("expn", lambda o, n, x, y: (_order("expn"), o.where(
    o.ge(n, 1.0), -o.expn(o.where(o.ge(n, 1.0), n - 1.0, 0.0), x), -y * (1.0 + 1.0 / x))),
    (1.0, 1.0), POSITIVE)  # fmt: skip
row("owens_t", lambda o, h, a, y: (
    -0.5 / _ROOT_TWO_PI * o.exp(-0.5 * h * h) * o.erf(_ROOT_HALF * a * h),
    o.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a))), ANY, ANY)  # fmt: skip

# -- Student's distribution -----------------------------------------------------------------------


def student_log_density(o: Any, df: Any, x: Any) -> Any:
    """Of endless degrees of freedom the normal distribution's."""
    endless, square = o.isinf(df), x * x
    df = o.where(endless, 1.0, df)
    scale = -log_beta(o, 0.5 * df, 0.5) - 0.5 * o.log(df)
    found = scale - 0.5 * (df + 1.0) * o.log1p(square / df)
    return o.where(endless, -0.5 * square - 0.5 * math.log(2.0 * math.pi), found)


def _student_density(o: Any, df: Any, x: Any) -> Any:
    return o.exp(student_log_density(o, df, x))


def _student_slope(o: Any, df: Any, x: Any) -> Any:
    """By the degrees of freedom: through the beta distribution of x**2 / (df + x**2)."""
    endless = o.isinf(df)
    df = o.where(endless, 1.0, df)
    away = x + o.where(o.eq(x, 0.0), 1e-100, 0.0)  # where the square has a root in what follows
    half, square = 0.5 * df, away * away
    near = o.lt(square, df)
    small, large = square / (df + square), df / (df + square)
    inner = beta_slopes(o, BELOW, 0.5, half, o.where(near, small, 0.25))[1]
    outer = beta_slopes(o, BELOW, half, 0.5, o.where(near, 0.25, large))[0]
    turn = 0.25 * o.sign(away) * o.where(near, inner, -outer)
    return o.where(endless, 0.0, turn - _student_density(o, df, x) * (x / (2.0 * df)))


row("stdtr", lambda o, df, x, y: (
    _student_slope(o, df, x) if o.wanted(0) else None, _student_density(o, df, x)),
    POSITIVE, ANY)  # fmt: skip


def _student_inverse(o: Any, df: Any, p: Any, y: Any) -> tuple[Any, Any]:
    slope = 1.0 / _student_density(o, df, y)
    return -_student_slope(o, df, y) * slope if o.wanted(0) else None, slope


row("stdtrit", _student_inverse, POSITIVE, UNIT)

# -- scaled Bessel functions of any order, hypergeometric functions -------------------------------



def _scaled_slope(o: Any, v: Any, x: Any, sign: float, factor: float, near: Any) -> Any:
    start = o.maximum(50.0, v * v)
    return _far(o, x, start, lambda t: _bessel_tail(o, t, v, sign, factor), near)


row("ive", lambda o, v, x, y: (_order("ive"), _scaled_slope(
    o, v, x, -1.0, 1.0 / _ROOT_TWO_PI,
    lambda t: 0.5 * (o.ive(v - 1.0, t) + o.ive(v + 1.0, t)) - o.sign(t) * o.ive(v, t))),
    (0.5, 3.0), POSITIVE)  # fmt: skip
row("kve", lambda o, v, x, y: (_order("kve"), _scaled_slope(
    o, v, x, 1.0, math.sqrt(0.5 * math.pi),
    lambda t: o.kve(v, t) - 0.5 * (o.kve(v - 1.0, t) + o.kve(v + 1.0, t)))),
    (0.5, 3.0), POSITIVE)  # fmt: skip
row("hyp0f1", lambda o, v, x, y: (
    _shape("hyp0f1"), o.hyp0f1(v + 1.0, x) / v), (0.5, 3.0), ANY)  # fmt: skip
row("hyp1f1", lambda o, a, b, x, y: (
    _shape("hyp1f1"), _shape("hyp1f1"), a / b * o.hyp1f1(a + 1.0, b + 1.0, x)),
    (0.5, 3.0), (0.5, 3.0), ANY)  # fmt: skip
row("hyp2f1", lambda o, a, b, c, x, y: (
    _shape("hyp2f1"), _shape("hyp2f1"), _shape("hyp2f1"),
    a * b / c * o.hyp2f1(a + 1.0, b + 1.0, c + 1.0, x)),
    (0.5, 3.0), (0.5, 3.0), (0.5, 3.0), (-0.8, 0.8))  # fmt: skip
unary("erfi", lambda o, x, y: (2.0 / _ROOT_PI) * o.exp(x * x), ANY)
