"""How does a determinant vary, also where the matrix is singular?

It is a polynomial of the elements, whose derivatives are finite everywhere; but the formulas by
which they are computed fast divide by it.  The first, the cofactors, takes the inverse of a regular
matrix, and the singular vectors of another.  In the rule for cofactors singular values that are too
small, at most three, are lifted by a matrix of that rank:

    det(a) = det(m) det(y),  m = a + left right,  y = 1 - right inv(m) left

m is regular, so that derivatives of any order are made of it as usual.  y has three rows and is
as singular as a, but its cofactors are a polynomial that is written down (Cayley & Hamilton).
Where there are more the second derivative is one of singular vectors, and the next ones are nan.

Sources: Magnus & Neudecker 1988, ch. 8; Higham, "Accuracy and Stability of Numerical Algorithms",
7.3 (scaling of rows and columns), 14.6 (determinants).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.matrices import sign_of, solved
from jitad.primitives.matrix_parts import (
    array,
    eye,
    like_operand,
    on_diagonal,
    scalar_of,
    total,
    turn,
)
from jitad.primitives.table import Primitive, register
from jitad.tape.ir import lit

LIFTED = 3  # singular values
ROWS = 2 * LIFTED + 1
SMALL = 2.0**-7  # beside the largest: with the inverse goes the square of this
TOO_SMALL = 2.0**-13  # to have the inverse of, beside three that are lifted


def _det(a: Any, lu: Any) -> Any:
    return sign_of(lu) * np.prod(np.abs(np.diagonal(lu[: len(a)])))


def regular(a: Any, lu: Any, digits: float) -> bool:
    """Do the pivots say that the inverse has these digits, of those there are?"""
    pivots = np.abs(np.diagonal(lu[: len(a)]))
    return not len(a) or bool(pivots.min() > digits * pivots.max())


def balanced(a: Any) -> tuple[Any, Any, Any]:
    """The matrix with rows and columns of about one size: b[i, j] * 2**(r[i] + c[j])."""
    r = np.frexp(np.max(np.abs(a), axis=1))[1]
    a = np.ldexp(a, -r[:, None])
    c = np.frexp(np.max(np.abs(a), axis=0))[1]
    return np.ldexp(a, -c), r, c


def _of_balanced(x: Any, u: Any, vt: Any, r: Any, c: Any) -> Any:
    """Cofactors, or how they vary, of the matrix: from those between its singular vectors."""
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return np.ldexp(u @ x @ vt * sign, r.sum() + c.sum() - r[:, None] - c)


def _cofactors(a: Any, lu: Any) -> Any:
    """By the inverse where pivots say that it has three quarters of its digits."""
    if not np.isfinite(a).all():
        return np.full_like(a, np.nan)
    if regular(a, lu, np.finfo(a.dtype).eps ** 0.25):
        eye = np.eye(len(a), dtype=a.dtype)
        return (solved(a, lu, eye, turned=True) * _det(a, lu)).astype(a.dtype)
    b, r, c = balanced(a)
    u, s, vt = np.linalg.svd(b)
    others = np.array([np.prod(np.delete(s, k)) for k in range(len(s))], a.dtype)
    return _of_balanced(np.diag(others), u, vt, r, c).astype(a.dtype)


def _lifts(a: Any, lu: Any) -> Any:
    """Rows: left, turned; right; what is added to the diagonal where these do not suffice."""
    n = len(a)
    out = np.zeros((ROWS, n), a.dtype)
    if regular(a, lu, SMALL) or not np.isfinite(a).all():
        return out
    b, r, c = balanced(a)
    u, s, vt = np.linalg.svd(b)
    largest = s[0] if s[0] > 0 else 1
    small = int(np.count_nonzero(s <= SMALL * largest))
    for k in range(min(small, LIFTED)):
        out[k] = np.ldexp(largest * u[:, n - 1 - k], r)
        out[LIFTED + k] = np.ldexp(vt[n - 1 - k], c)
    if small > LIFTED and s[n - 1 - LIFTED] <= TOO_SMALL * largest:
        out[-1] = np.ldexp(3 * largest, r + c)
    return out


def _along(a: Any, lifts: Any, e: Any) -> Any:
    """How the cofactors vary along e, where lifts do not suffice (else zero)."""
    if not lifts[-1].any():
        return np.zeros_like(a)
    b, r, c = balanced(a)
    u, s, vt = np.linalg.svd(b)
    f = u.T @ np.ldexp(e, -(r[:, None] + c)) @ vt.T
    others = np.zeros_like(f)  # than two
    for i in range(len(s)):
        rest = np.where(np.arange(len(s)) == i, 1, s)
        others[i, 1:] = np.cumprod(rest[:-1])
        others[i, 0] = 1
        others[i, :-1] *= np.cumprod(rest[:0:-1])[::-1]
        others[i, i] = 0
    inside = np.diag(others @ np.diagonal(f)) - others * f.T
    return _of_balanced(inside, u, vt, r, c).astype(a.dtype)


def _bent(o: Any, a: Any, lu: Any, e: Any) -> Any:
    """How the cofactors vary along e: the product with a symmetric second derivative."""
    lifts, n = o.lifts(a, lu), a.shape[0]
    left = turn(o, o.slice(lifts, 0, 1, LIFTED, 0, 1, n, kinds="rr"))
    right = o.slice(lifts, LIFTED, 1, LIFTED, 0, 1, n, kinds="rr")
    m = a + o.matmul(left, right) + on_diagonal(o, o.slice(lifts, ROWS - 1, 0, 1, n, kinds="ir"))
    factors = o.lu(m, lu.shape[0])
    inverse = o.solve(m, factors, eye(o, a), turned=False)
    left = o.matmul(inverse, left)
    y = o.matmul(right, left)
    one = eye(o, y)
    y, right = one - y, o.matmul(right, inverse)
    dy = o.matmul(right, o.matmul(e, left))
    size, moved = total(o, y * one), total(o, dy * one)
    square = o.matmul(y, y)
    adjugate = square - size * y + 0.5 * (size * size - total(o, square * one)) * one
    product = o.matmul(y, dy)
    bent = product + o.matmul(dy, y) - moved * y - size * dy
    bent = bent + (size * moved - total(o, product * one)) * one
    det = total(o, turn(o, adjugate) * y) / LIFTED
    lifted = o.matmul(o.matmul(left, adjugate), right)
    whole = det * inverse + lifted
    out = total(o, turn(o, inverse) * e) * whole - o.matmul(inverse, o.matmul(e, whole))
    out = out + total(o, turn(o, lifted) * e) * inverse
    out = out + o.matmul(o.matmul(left, bent), right) - o.matmul(o.matmul(lifted, e), inverse)
    few = o.eq(o.sum(o.slice(lifts, ROWS - 1, 0, 1, n, kinds="ir"), axes=(0,)), 0.0)
    return o.where(few, o.det(m, factors) * turn(o, out), o.cofactors_along(a, lifts, e))


def _unknown(o: Any, along: Any) -> Any:
    return o.where(o.eq(along, 0.0), 0.0, np.nan)


def _along_jvp(o: Any, ins: Any, dins: Any, y: Any) -> Any:
    (a, lifts, _), (da, _, de) = ins, dins
    moved = None if de is None else o.cofactors_along(a, lifts, de)
    if da is None:
        return moved
    return _unknown(o, da) if moved is None else moved + _unknown(o, da)


register(Primitive("lifts", _lifts, lambda a, lu: array(a.type.dtype, lit(ROWS), a.shape[1]),
                   constant=True, dear=True, emit="lifts({0}, {1})"))  # fmt: skip
register(Primitive(
    "cofactors_along", _along, like_operand(0), jvp=_along_jvp, dear=True,
    vjp=lambda o, ct, a, lifts, e, y: (_unknown(o, ct), None, o.cofactors_along(a, lifts, ct)),
    emit="cofactors_along({0}, {1}, {2})",
))  # fmt: skip
register(Primitive(
    "cofactors", _cofactors, like_operand(0), dear=True, emit="cofactors({0}, {1})",
    jvp=lambda o, ins, dins, c: None if dins[0] is None else _bent(o, ins[0], ins[1], dins[0]),
    vjp=lambda o, ct, a, lu, c: (_bent(o, a, lu, ct), None),
))  # fmt: skip
register(Primitive(
    "det", _det, scalar_of,
    jvp=lambda o, ins, dins, y: (
        None if dins[0] is None else total(o, o.cofactors(*ins) * dins[0])),
    vjp=lambda o, ct, a, lu, y: (ct * o.cofactors(a, lu), None), emit="determinant({1})",
))  # fmt: skip
