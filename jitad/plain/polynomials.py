"""What are the operators of NumPy's polynomials, without a `try` that answers any exception,
and how are they divided?

NumPy answers what its functions raise by NotImplemented.  What a kernel finds out, that there are
no coefficients, would make each result a polynomial or that.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _like(p: Any, coefficients: Any) -> Any:
    return p.__class__(coefficients, p.domain, p.window, p.symbol)


def added(p: Any, other: Any) -> Any:
    return _like(p, p._add(p.coef, p._get_coefficients(other)))


def subtracted(p: Any, other: Any) -> Any:
    return _like(p, p._sub(p.coef, p._get_coefficients(other)))


def multiplied(p: Any, other: Any) -> Any:
    return _like(p, p._mul(p.coef, p._get_coefficients(other)))


def added_to(p: Any, other: Any) -> Any:
    return _like(p, p._add(other, p.coef))


def subtracted_from(p: Any, other: Any) -> Any:
    return _like(p, p._sub(other, p.coef))


def multiplied_by(p: Any, other: Any) -> Any:
    return _like(p, p._mul(other, p.coef))


TINY = 1e-8  # a remainder that begins with such a coefficient begins with the next


def polydiv(u: Any, v: Any) -> Any:
    u, v = np.atleast_1d(np.asarray(u)) + 0.0, np.atleast_1d(np.asarray(v)) + 0.0
    steps = max(len(u) - len(v) + 1, 0)
    quotient, rest = np.zeros(max(steps, 1)), u.copy()
    for k in range(steps):
        quotient[k] = rest[k] / v[0]
        rest[k : k + len(v)] -= quotient[k] * v
    while len(rest) > 1 and abs(rest[0]) <= TINY:
        rest = rest[1:]
    return quotient, rest
