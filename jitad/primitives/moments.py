"""How do incomplete gamma and beta functions depend on their shapes?  By moments of logarithms.

If T has the gamma distribution of shape a, the derivative of P(T < x) by a is the mean of
ln T - psi(a) where T < x; for the beta distribution it is that of ln T - psi(a) + psi(a + b), and
by b that of ln(1 - T) - psi(b) + psi(a + b).  The rows are such means of powers, up to x and from x
on, so that their derivatives are others of the same kind; the centers are operands of their own.

The integrals are taken over the logarithm v of T, from where it is x or the middle outwards, by
the trapezoid rule in t, where |v - v0| = exp(t - exp(-t)) in the width of the integrand (Takahasi &
Mori, *Double exponential formulas for numerical integration*, 1974).  The functions of numbers are
what kernels compile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.primitives.table import Primitive, floating, register


def gamma_moment(side: float, n: float, a: float, c: float, x: float) -> float:
    """The mean of (ln T - c)**n where T < x (side -1.0), or T > x (side 1.0)."""
    if not (0.0 < a < math.inf and x >= 0.0 and n >= 0.0):
        return 0.0 if n < 0.0 else math.nan
    middle = max(a, 1.0)
    direct = side * (x - middle) >= 0.0  # else all that there is, without the other side
    found = 0.0
    for piece in range(1 if direct else 3):
        start = middle if piece else x
        way = side if direct else -side
        if piece:
            way = 1.0 if piece == 1 else -1.0
        if start <= 0.0 or start == math.inf:
            continue
        at = math.log(start)
        rate = max(way * (start - a), 0.0) + math.sqrt(start)
        total = 0.0
        for k in range(12_000):  # the way to 1e-300 at its slowest
            t = 0.0625 * k - 4.5
            u = math.exp(-t)
            w = math.exp(t - u)
            v = way * w / rate
            if v > 700.0:
                break
            e = a * v - start * math.expm1(v)
            if e < -740.0:
                break
            total += (1.0 + u) * w * math.exp(e) * (at + v - c) ** n
        size = math.exp(a * at - start - math.lgamma(a)) * 0.0625 / rate
        found += size * total if piece or direct else -size * total
    return found


def beta_moment(side: float, n: float, m: float, a: float, b: float, c: float, d: float,
                x: float) -> float:  # fmt: skip
    """The mean of (ln T - c)**n (ln(1 - T) - d)**m where T < x (side -1.0), or T > x (1.0)."""
    if not (0.0 < a < math.inf and 0.0 < b < math.inf and 0.0 <= x <= 1.0
            and n >= 0.0 and m >= 0.0):  # fmt: skip
        return 0.0 if n < 0.0 or m < 0.0 else math.nan
    middle = a / (a + b)
    direct = side * (x - middle) >= 0.0
    q = max(a, b)
    if q < 30.0:
        whole = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    else:  # as in `log_beta`
        p, total = min(a, b), a + b
        whole = math.lgamma(p) + p - p * math.log(total) - (q - 0.5) * math.log1p(p / q)
        for y, sign in ((q, 1.0), (total, -1.0)):
            u = 1.0 / (y * y)
            terms = 1.0 / 1260.0 - u * (1.0 / 1680.0 - u / 1188.0)
            whole += sign * (1.0 / 12.0 - u * (1.0 / 360.0 - u * terms)) / y
    found = 0.0
    for piece in range(1 if direct else 3):
        # from `start` to 0; what goes to 1 is that of 1 - T
        start, rest = (middle, b / (a + b)) if piece else (x, 1.0 - x)
        way = side if direct else -side
        if piece:
            way = 1.0 if piece == 1 else -1.0
        p, q, r, s, i, j = a, b, c, d, n, m
        if way > 0.0:
            start, rest = rest, start
            p, q, r, s, i, j = b, a, d, c, m, n
        if start <= 0.0:
            continue
        # what is near one is known by the other, whose rounding large shapes do not multiply
        at = math.log(start) if start < 0.5 else math.log1p(-rest)
        over = math.log(rest) if rest < 0.5 else math.log1p(-start)
        rate = max(p - (q - 1.0) * start / rest, 0.0)
        rate += math.sqrt(max(q - 1.0, p) * start) / rest
        total = 0.0
        for k in range(12_000):  # the way to 1e-300 at its slowest
            t = 0.0625 * k - 4.5
            u = math.exp(-t)
            w = math.exp(t - u)
            v = w / rate
            other = math.log1p(-start * math.exp(-v))
            e = (q - 1.0) * (other - over) - p * v
            if e < -740.0:
                break
            total += (1.0 + u) * w * math.exp(e) * (at - v - r) ** i * (other - s) ** j
        size = math.exp(p * at + (q - 1.0) * over - whole) * 0.0625 / rate
        found += size * total if piece or direct else -size * total
    return found


NUMBERS: dict[str, Callable[..., float]] = {}
BELOW, ABOVE = -1.0, 1.0


# -- rows -----------------------------------------------------------------------------------------


def _times_log(o: Any, k: Any, x: Any, log: Any) -> Any:
    """k times the logarithm, which is infinite at x = 0: nothing where k is zero."""
    nothing = o.logical_and(o.eq(k, 0.0), o.eq(x, 0.0))
    return o.where(nothing, 0.0, k * log(nothing))


def gamma_density(o: Any, a: Any, x: Any) -> Any:
    power = _times_log(o, a - 1.0, x, lambda nothing: o.log(o.where(nothing, 1.0, x)))
    return o.exp(power - x - o.lgamma(a))


def _stirling_rest(x: Any) -> Any:
    """log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2, for x >= 30."""
    u = 1.0 / (x * x)
    terms = 1.0 / 1260.0 - u * (1.0 / 1680.0 - u / 1188.0)
    return (1.0 / 12.0 - u * (1.0 / 360.0 - u * terms)) / x


def log_beta(o: Any, a: Any, b: Any) -> Any:
    """The logarithm of the beta function; of a large operand by what does not cancel.

    Source: Didonato & Morris, Algorithm 708, ACM Transactions on Mathematical Software, 1992.
    """
    ordered = o.lt(a, b)
    small, large = o.where(ordered, a, b), o.where(ordered, b, a)
    far = o.ge(large, 30.0)
    p, q = o.where(far, small, 1.0), o.where(far, large, 30.0)
    total = p + q
    rest = o.lgamma(p) + p - p * o.log(total) - (q - 0.5) * o.log1p(p / q)
    rest = rest + (_stirling_rest(q) - _stirling_rest(total))
    a, b = o.where(far, 1.0, a), o.where(far, 1.0, b)
    return o.where(far, rest, o.lgamma(a) + o.lgamma(b) - o.lgamma(a + b))


def beta_density(o: Any, a: Any, b: Any, x: Any) -> Any:
    low = _times_log(o, a - 1.0, x, lambda nothing: o.log(o.where(nothing, 1.0, x)))
    high = _times_log(o, b - 1.0, 1.0 - x, lambda nothing: o.log1p(-o.where(nothing, 0.0, x)))
    return o.exp(low + high - log_beta(o, a, b))


def gamma_slope(o: Any, side: float, a: Any, x: Any) -> Any:
    """The derivative by the shape of the part below x, or above.

    By the smaller part, whichever is asked for: the mean of both is nothing.
    """
    smaller = o.where(o.gt(x, o.maximum(a, 1.0)), ABOVE, BELOW)
    return side * smaller * o.gamma_moment(smaller, 1.0, a, o.digamma(a), x)


def beta_slopes(o: Any, side: float, a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """The derivatives by both shapes of the part below x, or above."""
    both = o.digamma(a + b)
    given = a, b, o.digamma(a) - both, o.digamma(b) - both, x
    smaller = o.where(o.gt(x, a / (a + b)), ABOVE, BELOW)
    return tuple(side * smaller * o.beta_moment(smaller, *powers, *given)
                 for powers in ((1.0, 0.0), (0.0, 1.0)))  # fmt: skip


def _gamma_partials(o: Any, side: Any, n: Any, a: Any, c: Any, x: Any, y: Any) -> Any:
    by_a = o.gamma_moment(side, n + 1.0, a, c, x) + (c - o.digamma(a)) * y
    inside = o.where(o.gt(x, 0.0), x, 1.0)
    by_x = -side * gamma_density(o, a, x) * o.pow(o.log(inside) - c, n)
    return None, None, by_a, -n * o.gamma_moment(side, n - 1.0, a, c, x), by_x


def _beta_partials(o: Any, side: Any, n: Any, m: Any, a: Any, b: Any, c: Any, d: Any, x: Any,
                   y: Any) -> Any:  # fmt: skip
    f, both, given = o.beta_moment, o.digamma(a + b), (a, b, c, d, x)
    by_a = f(side, n + 1.0, m, *given) + (c - o.digamma(a) + both) * y
    by_b = f(side, n, m + 1.0, *given) + (d - o.digamma(b) + both) * y
    inside, under = o.where(o.gt(x, 0.0), x, 1.0), o.where(o.lt(x, 1.0), x, 0.0)
    powers = o.pow(o.log(inside) - c, n) * o.pow(o.log1p(-under) - d, m)
    return (None, None, None, by_a, by_b, -n * f(side, n - 1.0, m, *given),
            -m * f(side, n, m - 1.0, *given),
            -side * beta_density(o, a, b, x) * powers)  # fmt: skip


def _elements(f: Callable[..., float]) -> Callable[..., Any]:
    many = np.vectorize(f, otypes=[np.float64])

    def evaluate(*args: Any) -> Any:
        out = many(*args)
        narrow = np.result_type(*args) == np.float32
        return (out if out.ndim else out[()]).astype(np.float32 if narrow else np.float64)

    return evaluate


def enter(f: Callable[..., float], partials: Any) -> None:
    """A row that kernels compute by this function of numbers, and so does NumPy."""
    name, count = f.__name__, f.__code__.co_argcount
    NUMBERS[name] = f
    operands = ", ".join(f"{{{k}}}" for k in range(count))
    register(Primitive(name, _elements(f), floating, partials, emit=f"{name}({operands})",
                       elementwise=True, dear=True))  # fmt: skip


enter(gamma_moment, _gamma_partials)
enter(beta_moment, _beta_partials)
