"""What are the operators of NumPy's polynomials, without a `try` that answers any exception?

NumPy answers what its functions raise by NotImplemented.  What a kernel finds out, that there are
no coefficients, would make each result a polynomial or that.
"""

from __future__ import annotations

from typing import Any


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
