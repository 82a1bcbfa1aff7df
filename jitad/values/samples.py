"""What becomes of the functions of Python's module `statistics`?

They compute with exact fractions; of traced and differentiated numbers they are what NumPy's
functions of the same meaning are.
"""

from __future__ import annotations

import math
import statistics as of
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.values import extents
from jitad.values.active import any_traced
from jitad.values.kind import fail, require
from jitad.values.number import bind
from jitad.values.python_functions import to_python
from jitad.values.registry import call, replaces


class _StatisticsError(JitadError, of.StatisticsError):
    """What `statistics` raises of too few numbers."""


def _numbers(data: Any, least: int, original: Any) -> Any:
    a = call(np.asarray, data)
    count = a.shape[0]
    text = f"{original.__name__} needs at least {least} numbers"
    if isinstance(count, int):
        if count < least:
            raise fail(_StatisticsError, text)
    else:
        require(bind("ge", count, least), _StatisticsError, text)
    return a


@replaces(of._normal_dist_inv_cdf)  # type: ignore[attr-defined]
def normal_dist_inv_cdf(p: Any, mu: Any, sigma: Any) -> Any:
    """What `NormalDist.inv_cdf` calls; the class itself is traced as it is written."""
    from scipy.special import ndtri

    return call(np.add, mu, call(np.multiply, sigma, call(ndtri, p)))


def _demand(fulfilled: Any, text: str) -> None:
    """Where Python raises, NumPy goes on with nan, or with a number that means nothing."""
    require(fulfilled, _StatisticsError, text)


def _enter(original: Any, least: int, samples: int = 1) -> Callable[..., Any]:
    """The function takes arrays; the module's own takes iterables, once through."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        @replaces(original, plain=False)
        def replacement(*args: Any, **named: Any) -> Any:
            args = tuple(list(a) if hasattr(type(a), "__next__") else a for a in args)
            if not any_traced((*args, *named.values())):
                return original(*args, **named)
            data = [_numbers(a, least, original) for a in args[:samples]]
            found = function(*data, *args[samples:], **named)
            return found if isinstance(found, (list, tuple)) else to_python(found)

        return replacement

    return enter


@_enter(of.mean, 1)
def mean(a: Any) -> Any:
    return call(np.mean, a)


@_enter(of.fmean, 1)
def fmean(a: Any, weights: Any = None) -> Any:
    return call(np.average, a, weights=weights)


@_enter(of.geometric_mean, 1)
def geometric_mean(a: Any) -> Any:
    _demand(call(np.all, call(np.greater, a, 0.0)), "geometric mean requires positive numbers")
    return call(np.exp, call(np.mean, call(np.log, a)))


@_enter(of.harmonic_mean, 1)
def harmonic_mean(a: Any, weights: Any = None) -> Any:
    _demand(call(np.all, call(np.greater_equal, a, 0.0)), "harmonic mean of a negative number")
    return 1.0 / call(np.average, call(np.divide, 1.0, a), weights=weights)


@_enter(of.median, 1)
def median(a: Any) -> Any:
    return call(np.median, a)


@_enter(of.median_low, 1)
def median_low(a: Any) -> Any:
    return call(np.sort, a)[extents.floordiv(extents.sub(a.shape[0], 1), 2)]


@_enter(of.median_high, 1)
def median_high(a: Any) -> Any:
    return call(np.sort, a)[extents.floordiv(a.shape[0], 2)]


def _spread(original: Any, least: int, degrees: int, power: float) -> None:
    @_enter(original, least)
    def spread(a: Any, about: Any = None) -> Any:
        away = a - (call(np.mean, a) if about is None else about)
        found = call(np.sum, away * away) / extents.sub(a.shape[0], degrees)
        return found if power == 1.0 else call(math.sqrt, found)


for _original, _least, _degrees, _power in (
    (of.variance, 2, 1, 1.0), (of.stdev, 2, 1, 0.5), (of.pvariance, 1, 0, 1.0),
    (of.pstdev, 1, 0, 0.5),
):  # fmt: skip
    _spread(_original, _least, _degrees, _power)


@_enter(of.covariance, 2, samples=2)
def covariance(a: Any, b: Any) -> Any:
    return _product(a, b) / extents.sub(a.shape[0], 1)


@_enter(of.correlation, 2, samples=2)
def correlation(a: Any, b: Any, *, method: str = "linear") -> Any:
    if method != "linear":
        raise fail(JitadError, f"method={method!r} of correlation is not supported on "
                   "traced or differentiated values", "Compute the ranks outside.")  # fmt: skip
    spreads = _product(a, a) * _product(b, b)
    _demand(call(np.not_equal, spreads, 0.0), "at least one of the inputs is constant")
    return _product(a, b) / call(math.sqrt, spreads)


@_enter(of.linear_regression, 2, samples=2)
def linear_regression(a: Any, b: Any, *, proportional: bool = False) -> Any:
    top, bottom = (call(np.sum, a * b), call(np.sum, a * a)) if proportional else (
        _product(a, b), _product(a, a))  # fmt: skip
    _demand(call(np.not_equal, bottom, 0.0), "x is constant")
    slope = to_python(top / bottom)
    away = 0.0 if proportional else call(np.mean, b) - slope * call(np.mean, a)
    return of.LinearRegression(slope=slope, intercept=to_python(away))


@_enter(of.quantiles, 2)
def quantiles(a: Any, *, n: int = 4, method: str = "exclusive") -> Any:
    if method not in ("exclusive", "inclusive"):
        raise ValueError(f"Unknown method: {method!r}")
    if n < 1:
        raise fail(_StatisticsError, "n must be at least 1")
    if method == "inclusive":
        return [to_python(call(np.quantile, a, k / n)) for k in range(1, n)]
    return [_exclusive(call(np.sort, a), k, n) for k in range(1, n)]


def _exclusive(ordered: Any, k: int, n: int) -> Any:
    """Between two neighbours, or beyond the last two."""
    count = ordered.shape[0]
    place = extents.mul(extents.add(count, 1), k)
    j = extents.smallest(extents.largest(extents.floordiv(place, n), 1), extents.sub(count, 1))
    beyond = extents.sub(place, extents.mul(j, n))
    low, high = ordered[extents.sub(j, 1)], ordered[j]
    return to_python((low * extents.sub(n, beyond) + high * beyond) / n)


def _product(a: Any, b: Any) -> Any:
    return call(np.sum, (a - call(np.mean, a)) * (b - call(np.mean, b)))
