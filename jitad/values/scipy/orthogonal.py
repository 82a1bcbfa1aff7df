"""What becomes of scipy.special's orthogonal polynomials, and of what is near a function entered?

By the recurrence of three terms, so that all derivatives are those of polynomials.  The degree must
be known: an int, or an array of ints, of which each has its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from jitad.errors import JitadTypeError
from jitad.values.active import is_traced
from jitad.values.broadcast import as_operand, elementwise
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.ufuncs import result_dtype
from jitad.values.registry import call, replaces
from jitad.values.scipy import special

_MOST = 200  # terms are written out


def _degrees(n: Any, name: str) -> np.ndarray:
    if isinstance(n, Number):
        n = int(n)  # type: ignore[call-overload]
    if is_traced(n):
        raise fail(JitadTypeError, f"the degree of {name} must be known while tracing",
                   "Write it as a literal, or take it from a range.")  # fmt: skip
    found = np.asarray(n.peek() if hasattr(n, "peek") else n)
    whole = found == np.round(found)
    if not np.all(whole & (found >= 0)) or np.max(found, initial=0) > _MOST:
        raise fail(JitadTypeError, f"the degree of {name} must be a whole number from 0 to {_MOST}")
    return found.astype(int)


def _polynomial(original: Any, first: Callable[..., Any], next_: Callable[..., Any]) -> None:
    """`first(x, *parameters)` is that of degree one, `next_(k, x, p, before, *parameters)` that of
    degree k + 1, from those of degree k and k - 1."""

    @replaces(original)
    def replacement(n: Any, *given: Any) -> Any:
        *parameters, x = given
        degrees = _degrees(n, original.__name__)
        kind = result_dtype(original, (as_operand(n), *map(as_operand, given)))
        x = elementwise("cast", as_operand(x), dtype="f8")
        terms = [elementwise("add", elementwise("mul", x, 0.0), 1.0)]
        if degrees.max(initial=0) > 0:
            terms.append(first(x, *parameters))
        for k in range(1, degrees.max(initial=0)):
            terms.append(next_(k, x, terms[k], terms[k - 1], *parameters))
        if not degrees.ndim:
            return elementwise("cast", terms[int(degrees)], dtype=kind.str[1:])
        found: Any = 0.0
        for k in np.unique(degrees):
            found = call(np.where, degrees == k, terms[k], found)
        return elementwise("cast", found, dtype=kind.str[1:])


_polynomial(sp.eval_legendre, lambda x: x,
            lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))
_polynomial(sp.eval_sh_legendre, lambda x: 2.0 * x - 1.0,
            lambda k, x, p, q: ((2 * k + 1) * (2.0 * x - 1.0) * p - k * q) / (k + 1))
_polynomial(sp.eval_chebyt, lambda x: x, lambda k, x, p, q: 2.0 * x * p - q)
_polynomial(sp.eval_chebyu, lambda x: 2.0 * x, lambda k, x, p, q: 2.0 * x * p - q)
_polynomial(sp.eval_hermite, lambda x: 2.0 * x, lambda k, x, p, q: 2.0 * x * p - 2.0 * k * q)
_polynomial(sp.eval_hermitenorm, lambda x: x, lambda k, x, p, q: x * p - k * q)
_polynomial(sp.eval_laguerre, lambda x: 1.0 - x,
            lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1))
_polynomial(sp.eval_genlaguerre, lambda x, a: 1.0 + a - x,
            lambda k, x, p, q, a: ((2 * k + 1 + a - x) * p - (k + a) * q) / (k + 1))
_polynomial(sp.eval_gegenbauer, lambda x, a: 2.0 * a * x,
            lambda k, x, p, q, a: (2.0 * (k + a) * x * p - (2.0 * a + (k - 1.0)) * q) / (k + 1))


def _jacobi(k: int, x: Any, p: Any, q: Any, a: Any, b: Any) -> Any:
    s = 2 * k + a + b
    left = 2.0 * (k + 1) * (k + a + b + 1.0) * s
    middle = (s + 1.0) * ((s + 2.0) * s * x + a * a - b * b)
    return (middle * p - 2.0 * (k + a) * (k + b) * (s + 2.0) * q) / left


_polynomial(sp.eval_jacobi, lambda x, a, b: (a + 1.0) + (a + b + 2.0) * 0.5 * (x - 1.0), _jacobi)

# -- near to others -------------------------------------------------------------------------------


@replaces(sp.inv_boxcox1p)
def inv_boxcox1p(x: Any, lmbda: Any) -> Any:
    """expm1(log1p(p x) / p)."""
    kind = result_dtype(sp.inv_boxcox1p, (as_operand(x), as_operand(lmbda)))
    logs = call(np.multiply, x, special.log1prel(call(np.multiply, lmbda, x)))
    found = call(np.expm1, logs)
    return elementwise("cast", found, dtype=kind.str[1:])


@replaces(sp.diric)
def diric(x: Any, n: Any) -> Any:
    """sin(n x / 2) / (n sin(x / 2)), and what that comes close to."""
    n, turned = int(n), elementwise("mul", as_operand(x), np.float64(0.5 / math.pi))
    turns = call(np.round, turned)
    rest = turned - turns  # of half a turn
    sign = call(np.where, call(np.equal, call(np.mod, turns * (n - 1), 2.0), 0.0), 1.0, -1.0)
    return sign * call(np.sinc, n * rest) / call(np.sinc, rest)
