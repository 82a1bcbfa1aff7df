"""Which primitives solve linear systems, and how do they vary?

A factorisation that only serves another equation is a `constant` operand of it: `solve(a, lu(a),
b)` varies with a and b by its own rule and uses the factors again, forwards, backwards and in
derivatives of derivatives; so one factorisation does for all of them.

Sources: Giles 2008, "Collected matrix derivative results"; Murray 2016, "Differentiation of the
Cholesky decomposition"; Magnus & Neudecker 1988, ch. 8 (`log_size`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.matrix_parts import (
    array,
    eye,
    folded,
    fortran,
    half,
    like_operand,
    lower_part,
    mirrored,
    scalar_of,
    total,
    turn,
)
from jitad.primitives.table import Primitive, dtype_of, register

# -- LU -------------------------------------------------------------------------------------------


def _lu(a: Any, rows: Any) -> Any:
    """Columns of the factors of a, packed, as rows; below them where each row was exchanged."""
    n = len(a)
    out = np.zeros((n + 1, n), a.dtype)
    if n:
        factors, pivots, _ = fortran("getrf", a)(a)
        out[:n], out[n] = factors.T, pivots
    return out


def solved(a: Any, lu: Any, b: Any, *, turned: bool) -> Any:
    n = len(a)
    if not b.size:
        return np.zeros(b.shape, b.dtype)
    x, _ = fortran("getrs", lu)(lu[:n].T, lu[n].astype(np.int32), b, trans=int(turned))
    return np.ascontiguousarray(x)


def _solve_jvp(o: Any, ins: Any, dins: Any, x: Any, *, turned: bool) -> Any:
    (a, lu, _), (da, _, db) = ins, dins
    if da is not None:
        moved = o.matmul(turn(o, da) if turned else da, x)
        db = -moved if db is None else db - moved
    return None if db is None else o.solve(a, lu, db, turned=turned)


def _solve_vjp(o: Any, ct: Any, a: Any, lu: Any, b: Any, x: Any, *, turned: bool) -> Any:
    gb = o.solve(a, lu, ct, turned=not turned)
    ga = None
    if o.wanted(0):
        ga = -(o.matmul(x, turn(o, gb)) if turned else o.matmul(gb, turn(o, x)))
    return ga, None, gb


def sign_of(lu: Any) -> Any:
    n = lu.shape[1]
    swaps = np.count_nonzero(lu[n] != np.arange(n))
    return np.prod(np.sign(np.diagonal(lu[:n]))) * lu.dtype.type(-1 if swaps % 2 else 1)


def _log_size(a: Any, lu: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.sum(np.log(np.abs(np.diagonal(lu[: len(a)])))).astype(a.dtype)


def _inverse_turned(o: Any, a: Any, lu: Any) -> Any:
    return o.solve(a, lu, eye(o, a), turned=True)


register(Primitive("lu", _lu, lambda a, rows: array(a.type.dtype, rows, a.shape[1]),
                   constant=True, dear=True, emit="lu({0})"))  # fmt: skip
register(Primitive(  # x of a x = b, or (turned) of a.T x = b; lu: that of a
    "solve", solved, like_operand(2), jvp=_solve_jvp, vjp=_solve_vjp, dear=True,
    emit="solve({1}, {2}, {turned})",
))  # fmt: skip
register(Primitive("lu_sign", sign_of, scalar_of, constant=True, emit="lu_sign({0})"))
register(Primitive(  # log |det a|
    "log_size", _log_size, scalar_of,
    jvp=lambda o, ins, dins, y: (
        None if dins[0] is None else total(o, _inverse_turned(o, *ins) * dins[0])),
    vjp=lambda o, ct, a, lu, y: (ct * _inverse_turned(o, a, lu), None), emit="log_size({1})",
))  # fmt: skip


# -- triangles ------------------------------------------------------------------------------------


def _trisolve(a: Any, b: Any, *, lower: bool, turned: bool, unit: bool) -> Any:
    if not b.size:
        return np.zeros(b.shape, b.dtype)
    x, _ = fortran("trtrs", a)(a, b, lower=lower, trans=turned, unitdiag=unit)
    return np.ascontiguousarray(x)


def _triangle(o: Any, a: Any, lower: bool, unit: bool) -> Any:
    return lower_part(o, a, unit) if lower else turn(o, lower_part(o, turn(o, a), unit))


def _trisolve_jvp(o: Any, ins: Any, dins: Any, x: Any, **how: bool) -> Any:
    (a, _), (da, db) = ins, dins
    if da is not None:
        da = _triangle(o, da, how["lower"], how["unit"])
        moved = o.matmul(turn(o, da) if how["turned"] else da, x)
        db = -moved if db is None else db - moved
    return o.trisolve(a, db, **how)


def _trisolve_vjp(o: Any, ct: Any, a: Any, b: Any, x: Any, **how: bool) -> Any:
    gb = o.trisolve(a, ct, **{**how, "turned": not how["turned"]})
    ga = None
    if o.wanted(0):
        ga = -(o.matmul(x, turn(o, gb)) if how["turned"] else o.matmul(gb, turn(o, x)))
        ga = _triangle(o, ga, how["lower"], how["unit"])
    return ga, gb


register(Primitive(  # x of a x = b, reading one triangle of a only
    "trisolve", _trisolve, like_operand(1), jvp=_trisolve_jvp, vjp=_trisolve_vjp, dear=True,
    emit="trisolve({0}, {1}, {lower}, {turned}, {unit})",
))  # fmt: skip


def _cholesky(a: Any) -> Any:
    """The factor, or nan where there is none; reads the lower triangle."""
    if not len(a):
        return np.array(a)
    factor, info = fortran("potrf", a)(a, lower=True, clean=True)
    return np.ascontiguousarray(factor) if not info else np.full_like(a, np.nan)


def _inside(o: Any, f: Any, s: Any) -> Any:
    """inv(f) s inv(f).T for a symmetric s"""
    left = o.trisolve(f, s, lower=True, turned=False, unit=False)
    return o.trisolve(f, turn(o, left), lower=True, turned=False, unit=False)


def _cholesky_vjp(o: Any, ct: Any, a: Any, f: Any) -> Any:
    middle = half(o, o.matmul(turn(o, f), ct))
    left = o.trisolve(f, middle, lower=True, turned=True, unit=False)
    g = o.trisolve(f, turn(o, left), lower=True, turned=True, unit=False)
    return (folded(o, turn(o, g)),)


register(Primitive(
    "cholesky", _cholesky, like_operand(0), dear=True, emit="cholesky({0})", vjp=_cholesky_vjp,
    jvp=lambda o, ins, dins, f: o.matmul(f, half(o, _inside(o, f, mirrored(o, dins[0])))),
))  # fmt: skip

# -- factors that are themselves results ----------------------------------------------------------


def _order(pivots: Any) -> Any:
    """Which row of the matrix stands where, after these exchanges in turn."""
    out = np.arange(len(pivots))
    for i, j in enumerate(pivots):
        out[[i, int(j)]] = out[[int(j), i]]
    return out


def _factors(o: Any, y: Any) -> tuple[Any, Any]:
    """Both factors in one matrix; the order of the rows."""
    n = y.shape[1]
    f = turn(o, o.slice(y, 0, 1, n, 0, 1, n, kinds="rr"))
    return f, o.lu_order(o.cast(o.slice(y, n, 0, 1, n, kinds="ir"), dtype="i8"))


_LEFT: dict[str, bool] = {"lower": True, "unit": True}
_RIGHT: dict[str, bool] = {"lower": False, "unit": False}


def _lu_jvp(o: Any, ins: Any, dins: Any, y: Any) -> Any:
    (_, rows), (da, _) = ins, dins
    f, order = _factors(o, y)
    n = y.shape[1]
    c = o.trisolve(f, o.take(da, order, axis=0), turned=False, **_LEFT)
    c = turn(o, o.trisolve(f, turn(o, c), turned=True, **_RIGHT))
    below = lower_part(o, c, strict=True)
    left = lower_part(o, f, strict=True)
    moved = o.matmul(left, below) + below + o.matmul(c - below, f - left)
    return o.concatenate(turn(o, moved), o.full(0.0, 1, n, dtype=dtype_of(y)), rows, axis=0)


def _lu_vjp(o: Any, ct: Any, a: Any, rows: Any, y: Any) -> Any:
    f, order = _factors(o, y)
    n = y.shape[1]
    ct = turn(o, o.slice(ct, 0, 1, n, 0, 1, n, kinds="rr"))
    below = lower_part(o, ct, strict=True)
    left = lower_part(o, f, strict=True)
    inner = lower_part(o, o.matmul(turn(o, left), below) + below, strict=True)
    outer = o.matmul(ct - below, turn(o, f - left))
    m = inner + (outer - lower_part(o, outer, strict=True))
    g = o.trisolve(f, m, turned=True, **_LEFT)
    g = turn(o, o.trisolve(f, turn(o, g), turned=False, **_RIGHT))
    return o.store_take(o.full(0.0, *a.shape, dtype=dtype_of(a)), g, order, axis=0), None


register(Primitive("lu_order", _order, like_operand(0), emit="lu_order({0})"))
register(Primitive("lu_factor", _lu, lambda a, rows: array(a.type.dtype, rows, a.shape[1]),
                   jvp=_lu_jvp, vjp=_lu_vjp, dear=True, emit="lu({0})"))  # fmt: skip
