"""What are the methods of a distribution of which SciPy has formulas in standard form?  Plain
Python, rewritten as user code is.

Formulas get vectors, as SciPy hands them over, of places where they have a meaning; what is outside
of the support, and where parameters are out of their range, is chosen afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc


def spread(*given: Any) -> Any:
    """All as vectors of one length, and the shape that they were of."""
    whole = np.broadcast_arrays(*[np.asarray(v, float) for v in given])
    return [np.reshape(v, -1) for v in whole], np.shape(whole[0])


def shaped(found: Any, shape: Any) -> Any:
    return found[0] if len(shape) == 0 else np.reshape(found, shape)


def somewhere(low: Any, high: Any) -> Any:
    """A place in the support."""
    below, above = np.isfinite(low), np.isfinite(high)
    low, high = np.where(below, low, 0.0), np.where(above, high, 0.0)
    one = np.where(below, low + 1.0, np.where(above, high - 1.0, 0.5))
    return np.where(np.logical_and(below, above), 0.5 * (low + high), one)


def density(
    formula: Any, support: Any, valid: Any, logs: bool, exponential: bool, x: Any, loc: Any,
    scale: Any, shapes: Any,
) -> Any:  # fmt: skip
    """The density or its logarithm by a formula for either, in the support and outside."""
    (x, loc, scale, *shapes), shape = spread(x, loc, scale, *shapes)
    y = (x - loc) / scale
    low, high = support(*shapes)
    known = np.logical_or(np.logical_and(low <= y, y <= high), np.isnan(y))
    inside = formula(np.where(known, y, somewhere(low, high)), *shapes)
    if logs:
        found = np.where(known, inside - np.log(scale), -np.inf)
        found = np.exp(found) if exponential else found
    else:
        found = np.where(known, inside / scale, 0.0)
        found = found if exponential else np.log(found)
    fine = np.logical_and(valid(*shapes), scale > 0.0)
    return shaped(np.where(fine, found, np.nan), shape)


def share(
    formula: Any, support: Any, valid: Any, below: float, above: float, x: Any, loc: Any,
    scale: Any, shapes: Any,
) -> Any:  # fmt: skip
    """How much lies on one side of x, or its logarithm; `below` and `above` are outside."""
    (x, loc, scale, *shapes), shape = spread(x, loc, scale, *shapes)
    y = (x - loc) / scale
    low, high = support(*shapes)
    early, late = y <= low, y >= high
    outside = np.logical_or(early, late)
    inside = formula(np.where(outside, somewhere(low, high), y), *shapes)
    found = np.where(late, above, np.where(early, below, inside))
    fine = np.logical_and(valid(*shapes), scale > 0.0)
    return shaped(np.where(fine, found, np.nan), shape)


def place(
    formula: Any, support: Any, valid: Any, rest: bool, q: Any, loc: Any, scale: Any, shapes: Any
) -> Any:
    """The place on whose left, or for a `rest` on whose right, a share q lies."""
    (q, loc, scale, *shapes), shape = spread(q, loc, scale, *shapes)
    low, high = support(*shapes)
    least, most = (high, low) if rest else (low, high)
    between = np.logical_and(q > 0.0, q < 1.0)
    inside = formula(np.where(between, q, 0.5), *shapes)
    ends = np.where(q == 0.0, least, np.where(q == 1.0, most, np.nan))
    found = np.where(between, inside, ends) * scale + loc
    fine = np.logical_and(valid(*shapes), scale > 0.0)
    return shaped(np.where(fine, found, np.nan), shape)


def apply_where(cond: Any, args: Any, f1: Any, f2: Any = None, fill_value: Any = None) -> Any:
    """What SciPy has of this name: each function sees the elements that are its own."""
    given = args if isinstance(args, tuple) else (args,)
    cond, *spread_out = np.broadcast_arrays(cond, *given)
    first = f1(*spread_out)
    return np.where(cond, first, fill_value if f2 is None else f2(*spread_out))


def lazyselect(condlist: Any, choicelist: Any, arrays: Any, default: Any = 0) -> Any:
    """The same, of several conditions of which the first that holds counts."""
    given = np.broadcast_arrays(*arrays)
    found = default
    for cond, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        found = np.where(np.broadcast_to(cond, given[0].shape), choice(*given), found)
    return found


# -- a normal distribution that is truncated, which SciPy computes with complex logarithms ---------


def log_less(x: Any, y: Any) -> Any:
    """log(exp(x) - exp(y)) for x > y."""
    return x + np.log(-np.expm1(y - x))


def log_mass(a: Any, b: Any) -> Any:
    """The logarithm of what the normal distribution has between a and b: by the nearer tail."""
    left, right = b <= 0.0, a > 0.0
    near, far = np.where(right, -b, a), np.where(right, -a, b)
    tail = np.logical_or(left, right)
    more, less = sc.log_ndtr(np.where(tail, far, 0.0)), sc.log_ndtr(np.where(tail, near, -1.0))
    in_tail = log_less(more, less)
    across = np.log1p(-sc.ndtr(np.where(tail, -1.0, a)) - sc.ndtr(-np.where(tail, 1.0, b)))
    return np.where(tail, in_tail, across)


def truncated_logpdf(x: Any, a: Any, b: Any) -> Any:
    return -0.5 * x * x - 0.5 * np.log(2.0 * np.pi) - log_mass(a, b)


def near_one(this: Any, rest: Any) -> Any:
    """The logarithm of a share; near one by the logarithm of the rest, which is exact there."""
    most = this > -0.1
    return np.where(most, np.log1p(-np.exp(np.where(most, rest, -1.0))), this)


def truncated_logcdf(x: Any, a: Any, b: Any) -> Any:
    whole = log_mass(a, b)
    return near_one(log_mass(a, x) - whole, log_mass(x, b) - whole)


def truncated_logsf(x: Any, a: Any, b: Any) -> Any:
    whole = log_mass(a, b)
    return near_one(log_mass(x, b) - whole, log_mass(a, x) - whole)


def truncated_cdf(x: Any, a: Any, b: Any) -> Any:
    return np.exp(truncated_logcdf(x, a, b))


def truncated_sf(x: Any, a: Any, b: Any) -> Any:
    return np.exp(truncated_logsf(x, a, b))


def truncated_ppf(q: Any, a: Any, b: Any) -> Any:
    """By the tail in which the interval begins or ends."""
    low = a < 0.0
    tail = sc.log_ndtr(np.where(low, a, -b))
    share = np.where(low, np.log(q), np.log1p(-q)) + log_mass(a, b)
    found = sc.ndtri(np.exp(np.logaddexp(tail, share)))
    return np.where(low, found, -found)


def truncated_isf(q: Any, a: Any, b: Any) -> Any:
    return -truncated_ppf(q, -b, -a)
