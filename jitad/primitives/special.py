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


def _row(name: str, partials: Any, *domain: tuple[float, float]) -> None:
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


def _unary(name: str, partial: Any, domain: tuple[float, float] = POSITIVE) -> None:
    _row(name, lambda o, x, y: (partial(o, x, y),), domain)


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


def _bessel_tail(o: Any, x: Any, order: int, sign: float, factor: float) -> Any:
    """The derivative of factor * sum_k sign**k a_k x**(-k - 1/2), Hankel's expansion."""
    a, terms = factor, []
    for k in range(18):
        terms.append(-(k + 0.5) * a)
        a *= sign * (4.0 * order**2 - (2 * k + 1) ** 2) / (8.0 * (k + 1))
    inverse = 1.0 / x
    return series(o, inverse, terms) * inverse * o.sqrt(inverse)


def _scaled_bessel(name: str, order: int, sign: float, factor: float, near: Any) -> None:
    """exp(-x) I or exp(x) K: what the next order gives cancels for large x."""

    def partial(o: Any, x: Any, y: Any) -> Any:
        side = _side(o, x) if sign < 0.0 else 1.0  # I is even or odd
        out = _far(o, side * x, 50.0, lambda t: _bessel_tail(o, t, order, sign, factor),
                   lambda t: near(o, t, getattr(o, name)(t)))  # fmt: skip
        return out * o.sign(x) if order == 0 and sign < 0.0 else out  # it has a kink

    _unary(name, partial, ANY if sign < 0.0 else POSITIVE)


_unary("j0", lambda o, x, y: -o.j1(x), ANY)
_unary("j1", lambda o, x, y: 0.5 * (o.j0(x) - o.jv(2.0, x)), ANY)
_unary("y0", lambda o, x, y: -o.y1(x))
_unary("y1", lambda o, x, y: o.y0(x) - y / x)
_unary("i0", lambda o, x, y: o.i1(x), ANY)
_unary("i1", lambda o, x, y: 0.5 * (o.i0(x) + o.iv(2.0, x)), ANY)
_scaled_bessel("i0e", 0, -1.0, 1.0 / _ROOT_TWO_PI, lambda o, x, y: o.i1e(x) - y)
_scaled_bessel("i1e", 1, -1.0, 1.0 / _ROOT_TWO_PI,
               lambda o, x, y: 0.5 * o.exp(-x) * (o.i0(x) + o.iv(2.0, x)) - y)
_unary("k0", lambda o, x, y: -o.k1(x))
_unary("k1", lambda o, x, y: -o.k0(x) - y / x)
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

    _row(_name, _partials, (0.5, 3.0), POSITIVE)

# -- the normal distribution, the error functions --------------------------------------------------

# Their differential equations cancel for large x; expansions in 1 / x**2 don't.
_ERFCX = [(-1.0) ** (k + 1) * math.prod(range(1, 2 * k + 2, 2)) / 2.0**k for k in range(18)]


def _far_squares(o: Any, x: Any, factor: float, terms: Sequence[float]) -> Any:
    inverse = 1.0 / (x * x)
    return factor * inverse * series(o, inverse, terms)


_unary("erfcx", lambda o, x, y: _far(
    o, x, 10.0, lambda t: _far_squares(o, t, 1.0 / _ROOT_PI, _ERFCX),
    lambda t: 2.0 * t * o.erfcx(t) - 2.0 / _ROOT_PI), ANY)  # fmt: skip
_unary("erfinv", lambda o, x, y: (0.5 * _ROOT_PI) * o.exp(y * y), (-0.9, 0.9))
_unary("erfcinv", lambda o, x, y: (-0.5 * _ROOT_PI) * o.exp(y * y), (0.1, 1.9))
_unary("dawsn", lambda o, x, y: _far(
    o, _side(o, x) * x, 10.0, lambda t: _far_squares(o, t, -0.5, [abs(c) for c in _ERFCX]),
    lambda t: 1.0 - 2.0 * t * o.dawsn(t)), ANY)  # fmt: skip
# the density over the probability, by a function in which neither underflows
_unary("log_ndtr", lambda o, x, y: math.sqrt(2.0 / math.pi) / o.erfcx(-_ROOT_HALF * x), ANY)
_unary("ndtri", lambda o, x, y: _ROOT_TWO_PI * o.exp(0.5 * y * y), UNIT)

# -- integrals ------------------------------------------------------------------------------------

_unary("expi", lambda o, x, y: o.exp(x) / x)
_unary("exp1", lambda o, x, y: -o.exp(-x) / x)
_ELLIPTIC = [(math.comb(2 * n, n) / 4.0**n) ** 2 * math.pi / 2.0 for n in range(20)]


def _about_zero(o: Any, m: Any, coefficients: Sequence[float], elsewhere: Any) -> Any:
    """A power series near zero, where differences cancel."""
    near = o.lt(o.abs(m), 0.1)
    other = o.where(near, 0.5, m)
    return o.where(near, series(o, o.where(near, m, 0.0), coefficients), elsewhere(other))




def _log_slope(o: Any, x: Any) -> Any:
    """log(x) / (1 - x); about 1 by its series, whose derivatives do not cancel there."""
    near = o.lt(o.abs(x - 1.0), 0.1)
    far, off = o.where(near, 0.5, x), o.where(near, x - 1.0, 0.0)
    terms = [(-1.0) ** (k + 1) / (k + 1) for k in range(20)]
    return o.where(near, series(o, off, terms), o.log(far) / (1.0 - far))


_unary("spence", lambda o, x, y: _log_slope(o, x))
_unary("ellipk", lambda o, m, y: _about_zero(
    o, m, [n * c for n, c in enumerate(_ELLIPTIC)][1:],
    lambda m: (o.ellipe(m) / (1.0 - m) - o.ellipk(m)) / (2.0 * m)), UNIT)


def _of_complement(o: Any, p: Any) -> Any:
    """-dK/dm at m = 1 - p, where p itself is what is known of a small p."""
    near = o.gt(p, 0.9)
    low = o.where(near, 0.5, p)
    terms = [n * c for n, c in enumerate(_ELLIPTIC)][1:]
    far = (o.ellipe(1.0 - low) / low - o.ellipkm1(low)) / (2.0 * (1.0 - low))
    return -o.where(near, series(o, o.where(near, 1.0 - p, 0.0), terms), far)


_unary("ellipkm1", lambda o, p, y: _of_complement(o, p), UNIT)
_unary("ellipe", lambda o, m, y: _about_zero(
    o, m, [-n * c / (2.0 * n - 1.0) for n, c in enumerate(_ELLIPTIC)][1:],
    lambda m: (o.ellipe(m) - o.ellipk(m)) / (2.0 * m)), UNIT)

# -- incomplete gamma and beta functions ----------------------------------------------------------


def _shape(name: str) -> Unknown:
    return Unknown(f"the derivative of {name} by a shape parameter")


_row("gammainc", lambda o, a, x, y: (
    gamma_slope(o, BELOW, a, x), gamma_density(o, a, x)), POSITIVE, POSITIVE)  # fmt: skip
_row("gammaincc", lambda o, a, x, y: (
    gamma_slope(o, ABOVE, a, x), -gamma_density(o, a, x)), POSITIVE, POSITIVE)  # fmt: skip
_row("betainc", lambda o, a, b, x, y: (
    *beta_slopes(o, BELOW, a, b, x), beta_density(o, a, b, x)),
    POSITIVE, POSITIVE, UNIT)  # fmt: skip
_row("betaincc", lambda o, a, b, x, y: (
    *beta_slopes(o, ABOVE, a, b, x), -beta_density(o, a, b, x)),
    POSITIVE, POSITIVE, UNIT)  # fmt: skip


def _below(o: Any, low: Any, below: Any, rest: Any) -> Any:
    """The derivative of the part below, which is that of the rest but for the sign."""
    return o.where(low, below, -rest)


def _gamma_inverse(o: Any, a: Any, low: Any, y: Any) -> tuple[Any, Any]:
    """By the shape, and by the part below; what is not low is found by the rest."""
    slope = 1.0 / gamma_density(o, a, y)
    by_a = _below(o, low, gamma_slope(o, BELOW, a, y), gamma_slope(o, ABOVE, a, y))
    return -by_a * slope, slope


def _beta_inverse(o: Any, a: Any, b: Any, low: Any, y: Any) -> tuple[Any, Any, Any]:
    slope = 1.0 / beta_density(o, a, b, y)
    sides = beta_slopes(o, BELOW, a, b, y), beta_slopes(o, ABOVE, a, b, y)
    by_a, by_b = (_below(o, low, *both) for both in zip(*sides, strict=True))
    return -by_a * slope, -by_b * slope, slope


def _of_rest(partials: tuple[Any, ...]) -> tuple[Any, ...]:
    """Of an inverse by the rest: the same but for the sign of the last."""
    return (*partials[:-1], -partials[-1])


_row("gammaincinv", lambda o, a, p, y: _gamma_inverse(o, a, o.lt(p, 0.5), y), POSITIVE, UNIT)
_row("gammainccinv", lambda o, a, p, y: _of_rest(_gamma_inverse(o, a, o.gt(p, 0.5), y)),
     POSITIVE, UNIT)  # fmt: skip
_row("betaincinv", lambda o, a, b, p, y: _beta_inverse(o, a, b, o.lt(p, 0.5), y),
     POSITIVE, POSITIVE, UNIT)  # fmt: skip
_row("betainccinv", lambda o, a, b, p, y: _of_rest(_beta_inverse(o, a, b, o.gt(p, 0.5), y)),
     POSITIVE, POSITIVE, UNIT)  # fmt: skip

# -- relative entropies: at x = 0 no slope is taken, which is endless -----------------------------


def _log_ratio(o: Any, x: Any, y: Any) -> Any:
    inside = o.logical_and(o.gt(x, 0.0), o.gt(y, 0.0))
    x, y = o.where(inside, x, 1.0), o.where(inside, y, 1.0)
    return o.where(inside, o.log(x) - o.log(y), 0.0)


def _ratio(o: Any, x: Any, y: Any) -> Any:
    none = o.eq(x, 0.0)
    return o.where(none, 0.0, x / o.where(none, 1.0, y))


_row("rel_entr", lambda o, x, y, z: (
    _log_ratio(o, x, y) + o.where(o.gt(x, 0.0), 1.0, 0.0), -_ratio(o, x, y)),
    POSITIVE, POSITIVE)  # fmt: skip
_row("kl_div", lambda o, x, y, z: (
    _log_ratio(o, x, y) - o.where(o.eq(x, 0.0), 1.0, 0.0), 1.0 - _ratio(o, x, y)),
    POSITIVE, POSITIVE)  # fmt: skip

_row("powm1", lambda o, x, y, z: power_partials(o, x, y, z + 1.0), POSITIVE, ANY)

# -- of angles in degrees -------------------------------------------------------------------------

_DEGREE = math.pi / 180.0
_unary("sindg", lambda o, x, y: _DEGREE * o.cosdg(x), ANY)
_unary("cosdg", lambda o, x, y: -_DEGREE * o.sindg(x), ANY)
_unary("tandg", lambda o, x, y: _DEGREE * (1.0 + y * y), ANY)

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


_row("betaln", lambda o, a, b, y: (-_gap(o, a, b), -_gap(o, b, a)), POSITIVE, POSITIVE)
_row("beta", lambda o, a, b, y: (-y * _gap(o, a, b), -y * _gap(o, b, a)), POSITIVE, POSITIVE)
_row("binom", lambda o, n, k, y: (
    y * _gap(o, n - k + 1.0, k), y * (o.digamma(n - k + 1.0) - o.digamma(k + 1.0))),
    (5.0, 9.0), POSITIVE)  # fmt: skip
_row("poch", lambda o, x, m, y: (y * _gap(o, x, m), y * o.digamma(x + m)), POSITIVE, POSITIVE)

_row("expn", lambda o, n, x, y: (_order("expn"), o.where(
    o.gt(n, 0.5), -o.expn(o.where(o.gt(n, 0.5), n - 1.0, 0.0), x), -y * (1.0 + 1.0 / x))),
    (1.0, 1.0), POSITIVE)  # fmt: skip
_row("owens_t", lambda o, h, a, y: (
    -0.5 / _ROOT_TWO_PI * o.exp(-0.5 * h * h) * o.erf(_ROOT_HALF * a * h),
    o.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a))), ANY, ANY)  # fmt: skip

# -- Student's distribution -----------------------------------------------------------------------


def _student_density(o: Any, df: Any, x: Any) -> Any:
    half = 0.5 * (df + 1.0)
    scale = o.lgamma(half) - o.lgamma(0.5 * df) - 0.5 * o.log(math.pi * df)
    return o.exp(scale - half * o.log1p(x * x / df))


def _student_slope(o: Any, df: Any, x: Any) -> Any:
    """By the degrees of freedom: through the beta distribution of x**2 / (df + x**2)."""
    away = x + o.where(o.eq(x, 0.0), 1e-100, 0.0)  # where the square has a root in what follows
    half, square = 0.5 * df, away * away
    near = o.lt(square, df)
    small, large = square / (df + square), df / (df + square)
    inner = beta_slopes(o, BELOW, 0.5, half, o.where(near, small, 0.25))[1]
    outer = beta_slopes(o, BELOW, half, 0.5, o.where(near, 0.25, large))[0]
    turn = 0.25 * o.sign(away) * o.where(near, inner, -outer)
    return turn - _student_density(o, df, x) * (x / (2.0 * df))


_row("stdtr", lambda o, df, x, y: (_student_slope(o, df, x), _student_density(o, df, x)),
     POSITIVE, ANY)  # fmt: skip


def _student_inverse(o: Any, df: Any, p: Any, y: Any) -> tuple[Any, Any]:
    slope = 1.0 / _student_density(o, df, y)
    return -_student_slope(o, df, y) * slope, slope


_row("stdtrit", _student_inverse, POSITIVE, UNIT)

# -- scaled Bessel functions of any order, hypergeometric functions, elliptic integrals ------------

_row("ive", lambda o, v, x, y: (
    _order("ive"), 0.5 * (o.ive(v - 1.0, x) + o.ive(v + 1.0, x)) - o.sign(x) * y),
    (0.5, 3.0), POSITIVE)  # fmt: skip
_row("kve", lambda o, v, x, y: (
    _order("kve"), y - 0.5 * (o.kve(v - 1.0, x) + o.kve(v + 1.0, x))),
    (0.5, 3.0), POSITIVE)  # fmt: skip
_row("hyp0f1", lambda o, v, x, y: (
    _shape("hyp0f1"), o.hyp0f1(v + 1.0, x) / v), (0.5, 3.0), ANY)  # fmt: skip
_row("hyp1f1", lambda o, a, b, x, y: (
    _shape("hyp1f1"), _shape("hyp1f1"), a / b * o.hyp1f1(a + 1.0, b + 1.0, x)),
    (0.5, 3.0), (0.5, 3.0), ANY)  # fmt: skip
_row("hyp2f1", lambda o, a, b, c, x, y: (
    _shape("hyp2f1"), _shape("hyp2f1"), _shape("hyp2f1"),
    a * b / c * o.hyp2f1(a + 1.0, b + 1.0, c + 1.0, x)),
    (0.5, 3.0), (0.5, 3.0), (0.5, 3.0), (-0.8, 0.8))  # fmt: skip
_unary("erfi", lambda o, x, y: (2.0 / _ROOT_PI) * o.exp(x * x), ANY)


def _delta(o: Any, phi: Any, m: Any) -> Any:
    sine = o.sin(phi)
    return o.sqrt(1.0 - m * sine * sine)


def _about_circle(o: Any, phi: Any, m: Any, factors: Sequence[float], elsewhere: Any) -> Any:
    """The slope in m of an integral up to phi of the sum of factors times powers of m sin**2."""
    near = o.lt(o.abs(m), 0.02)
    sine, small = o.sin(phi), o.where(near, m, 0.0)
    power, part, total, scale = sine * o.cos(phi), phi, 0.0, 1.0
    for n in range(1, len(factors)):  # by parts: the integral of sin**(2 n)
        part = ((2.0 * n - 1.0) * part - power) * (0.5 / n)
        power, total = power * sine * sine, total + (n * factors[n]) * scale * part
        scale = scale * small
    return o.where(near, total, elsewhere(o.where(near, 0.5, m)))


_OVER_ROOT = [math.comb(2 * n, n) / 4.0**n for n in range(12)]  # of (1 - u)**-0.5
_OF_ROOT = [-c / (2 * n - 1) for n, c in enumerate(_OVER_ROOT)]
_row("ellipkinc", lambda o, phi, m, y: (
    1.0 / _delta(o, phi, m),
    _about_circle(o, phi, m, _OVER_ROOT, lambda m: (
        o.ellipeinc(phi, m) / (1.0 - m) - o.ellipkinc(phi, m)) / (2.0 * m)
        - o.sin(2.0 * phi) / (4.0 * (1.0 - m) * _delta(o, phi, m)))), (0.2, 1.4), UNIT)  # fmt: skip
_row("ellipeinc", lambda o, phi, m, y: (
    _delta(o, phi, m), _about_circle(o, phi, m, _OF_ROOT, lambda m: (
        o.ellipeinc(phi, m) - o.ellipkinc(phi, m)) / (2.0 * m))), (0.2, 1.4), UNIT)  # fmt: skip
