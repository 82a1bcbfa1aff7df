"""Which primitive solves systems of banded matrices, and how does it vary?

A matrix with `below` diagonals under the main one and `above` over it is given by its diagonals, as
rows: element (i, j) stands at [above + i - j, j].  Derivatives cost what the solution costs.

Source: Giles 2008, "Collected matrix derivative results", on the elements that there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.matrix_parts import like_operand
from jitad.primitives.table import Primitive, register
from jitad.primitives.unloaded import Unloaded

_solve_banded = Unloaded("scipy.linalg", "solve_banded")


def _transposed(ab: Any, below: int, above: int) -> Any:
    """The diagonals of the transposed matrix."""
    n = ab.shape[1]
    out = np.zeros_like(ab)
    for r in range(below + above + 1):
        shift = r - below  # column j holds element (j + shift, j), found in column j + shift
        first, last = max(0, -shift), min(n, n - shift)
        if first < last:
            out[r, first:last] = ab[above + below - r, first + shift : last + shift]
    return out


def _solve(ab: Any, b: Any, *, below: int, above: int, turned: bool) -> Any:
    """nan where there is no solution."""
    if turned:
        ab, below, above = _transposed(ab, below, above), above, below
    if not b.size:
        return np.zeros_like(b)
    try:
        x = _solve_banded((below, above), ab, b, check_finite=False)
    except np.linalg.LinAlgError:
        return np.full_like(b, np.nan)
    return np.ascontiguousarray(x).astype(b.dtype)


def _shifted(o: Any, a: Any, shift: int) -> Any:
    """Row i + shift of the matrix in the place of row i, zeros where there is none."""
    n, k = a.shape
    index = o.iota(n, dtype="i8") + shift
    inside = o.logical_and(o.ge(index, 0), o.lt(index, n))
    found = o.take(a, o.where(inside, index, 0), axis=0)
    return o.where(o.broadcast(inside, n, k, axes=(0,)), found, 0.0)


def _applied(o: Any, ab: Any, x: Any, below: int, above: int, turned: bool) -> Any:
    """The product of the matrix of these diagonals, or of its transpose, and x."""
    n, k = x.shape
    total: Any = None
    for r in range(below + above + 1):
        diagonal = o.broadcast(o.slice(ab, r, 0, 1, n, kinds="ir"), n, k, axes=(0,))
        shift = r - above
        part = diagonal * (_shifted(o, x, shift) if turned else x)
        part = part if turned else _shifted(o, part, -shift)
        total = part if total is None else total + part
    return total


def _products(o: Any, p: Any, q: Any, below: int, above: int) -> Any:
    """The elements p[i] q[j], summed over columns, on the diagonals."""
    n = p.shape[0]
    rows = [
        o.reshape(o.sum(_shifted(o, p, r - above) * q, axes=(1,)), 1, n)
        for r in range(below + above + 1)
    ]
    return rows[0] if len(rows) == 1 else o.concatenate(*rows, len(rows), axis=0)


def _jvp(o: Any, ins: Any, dins: Any, x: Any, **how: Any) -> Any:
    (ab, _), (dab, db) = ins, dins
    if dab is not None:
        moved = _applied(o, dab, x, **how)
        db = -moved if db is None else db - moved
    return None if db is None else o.banded(ab, db, **how)


def _vjp(o: Any, ct: Any, ab: Any, b: Any, x: Any, *, below: int, above: int, turned: bool) -> Any:
    gb = o.banded(ab, ct, below=below, above=above, turned=not turned)
    gab = None
    if o.wanted(0):
        gab = -_products(o, *((x, gb) if turned else (gb, x)), below, above)
    return gab, gb


register(Primitive(  # x of a x = b, or (turned) of a.T x = b
    "banded", _solve, like_operand(1), jvp=_jvp, vjp=_vjp, dear=True,
    emit="banded({0}, {1}, {below}, {above}, {turned})",
))  # fmt: skip
