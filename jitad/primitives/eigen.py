"""Which primitives give eigenvalues and eigenvectors of matrices that are not symmetric?

They are complex: parts stand one above the other.  As in `spectra`, the decomposition is a
`constant` operand of the rows that read a part of it.  A vector has length one, and a real number
where it is largest, as LAPACK has it; so its derivative is determined.

Source: Giles 2008, "Collected matrix derivative results"; van der Aa, ter Morsche & Mattheij 2007,
"Computation of eigenvalue and eigenvector derivatives" (normalisation).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.matrix_parts import array, index, rows_of, turn
from jitad.primitives.table import Primitive, register
from jitad.tape.ir import lit

Pair = tuple[Any, Any]  # real and imaginary part


def _eig(a: Any, rows: Any) -> Any:
    """Rows: eigenvalues by parts, eigenvectors (columns) by parts, where these are largest."""
    w, v = np.linalg.eig(a)
    n = len(a)
    largest = np.zeros((n, n))
    if n:
        largest[np.argmax(np.abs(v), axis=0), np.arange(n)] = 1.0
    packed = [w.real[None], w.imag[None], v.real, v.imag, largest]
    return np.concatenate(packed).astype(a.dtype)


def _halves(o: Any, a: Any) -> Pair:
    """A matrix by its parts, which stand one above the other."""
    n = a.shape[1]
    return o.slice(a, 0, 1, n, 0, 1, n, kinds="rr"), o.slice(a, n, 1, n, 0, 1, n, kinds="rr")


def _above(o: Any, a: Pair, rows: Any) -> Any:
    return o.concatenate(*a, rows, axis=0)


def _product(o: Any, a: Pair, b: Pair) -> Pair:
    return (o.matmul(a[0], b[0]) - o.matmul(a[1], b[1]),
            o.matmul(a[0], b[1]) + o.matmul(a[1], b[0]))  # fmt: skip


def _adjoint(o: Any, a: Pair) -> Pair:
    return turn(o, a[0]), -turn(o, a[1])


def _solved(o: Any, v: Pair, b: Pair, turned: bool) -> Pair:
    """inv(v) b, or (turned) inv(v^H) b, by the real matrix of twice the size."""
    n = v[0].shape[0]
    both = 2 * n
    top = o.concatenate(v[0], -v[1], both, axis=1)
    whole = _above(o, (top, o.concatenate(v[1], v[0], both, axis=1)), both)
    lu = o.lu(whole, both + 1)
    return _halves(o, o.solve(whole, lu, _above(o, b, both), turned=turned))


def _moved(o: Any, da: Any, v: Pair) -> Pair:
    """The change of the matrix in the basis of the eigenvectors."""
    return _solved(o, v, (o.matmul(da, v[0]), o.matmul(da, v[1])), False)


def _moved_back(o: Any, ct: Pair, v: Pair) -> Any:
    """The transpose of `_moved`, whose operand is real."""
    return _solved(o, v, _product(o, ct, _adjoint(o, v)), True)[0]


def _diagonal(o: Any, a: Any) -> Any:
    return o.sum(o.where(o.eq(index(o, a, 0), index(o, a, 1)), a, 0.0), axes=(0,))


def _on_diagonal(o: Any, v: Any, like: Any) -> Any:
    whole = rows_of(o, v, like.shape[0])
    return o.where(o.eq(index(o, whole, 0), index(o, whole, 1)), whole, 0.0)


def _values(o: Any, w: Any) -> Pair:
    n = w.shape[1]
    return o.slice(w, 0, 0, 1, n, kinds="ir"), o.slice(w, 1, 0, 1, n, kinds="ir")


def _one_by_one(o: Any, w: Pair) -> Any:
    n = w[0].shape[0]
    return o.concatenate(o.reshape(w[0], 1, n), o.reshape(w[1], 1, n), 2, axis=0)


def _values_jvp(o: Any, ins: Any, dins: Any, w: Any) -> Any:
    if dins[0] is None:
        return None
    moved = _moved(o, dins[0], _halves(o, o.eig_vectors(*ins, 2 * ins[0].shape[0])))
    return _one_by_one(o, (_diagonal(o, moved[0]), _diagonal(o, moved[1])))


def _values_vjp(o: Any, ct: Any, a: Any, packed: Any, w: Any) -> Any:
    v = _halves(o, o.eig_vectors(a, packed, 2 * a.shape[0]))
    re, im = _values(o, ct)
    return _moved_back(o, (_on_diagonal(o, re, a), _on_diagonal(o, im, a)), v), None


def _over_gaps(o: Any, part: Pair, w: Pair, conjugated: bool) -> Pair:
    """part[j, k] / (w[k] - w[j]); zero over zero is zero: nothing turns such vectors."""
    n = w[0].shape[0]
    re, im = (o.broadcast(x, n, n, axes=(1,)) - o.broadcast(x, n, n, axes=(0,)) for x in w)
    im = -im if conjugated else im
    size = re * re + im * im
    same = o.eq(size, 0.0)
    safe = o.where(same, 1.0, size)
    x, y = part
    off = o.ne(index(o, x, 0), index(o, x, 1))
    still = o.where(o.logical_and(o.eq(x, 0.0), o.eq(y, 0.0)), 0.0, np.nan)
    return (o.where(off, o.where(same, still, (x * re + y * im) / safe), 0.0),
            o.where(off, o.where(same, still, (y * re - x * im) / safe), 0.0))  # fmt: skip


def _largest(o: Any, packed: Any) -> Any:
    n = packed.shape[1]
    return o.slice(packed, 2 * n + 2, 1, n, 0, 1, n, kinds="rr")


def _vectors_jvp(o: Any, ins: Any, dins: Any, y: Any) -> Any:
    (a, packed, twice), da = ins, dins[0]
    if da is None:
        return None
    v = _halves(o, y)
    w = _values(o, o.eig_values(a, packed))
    u = _product(o, v, _over_gaps(o, _moved(o, da, v), w, False))
    n = a.shape[0]
    mask = _largest(o, packed)
    along = o.sum(v[0] * u[0] + v[1] * u[1], axes=(0,))
    turning = o.sum(mask * u[1], axes=(0,)) / o.sum(mask * v[0], axes=(0,))
    along, turning = rows_of(o, along, n), rows_of(o, turning, n)
    return _above(o, (u[0] - along * v[0] + turning * v[1],
                      u[1] - along * v[1] - turning * v[0]), twice)  # fmt: skip


def _vectors_vjp(o: Any, ct: Any, a: Any, packed: Any, twice: Any, y: Any) -> Any:
    v, (p, q) = _halves(o, y), _halves(o, ct)
    w = _values(o, o.eig_values(a, packed))
    n = a.shape[0]
    mask = _largest(o, packed)
    along = rows_of(o, o.sum(p * v[0] + q * v[1], axes=(0,)), n)
    turning = o.sum(p * v[1] - q * v[0], axes=(0,)) / o.sum(mask * v[0], axes=(0,))
    u = p - along * v[0], q - along * v[1] + rows_of(o, turning, n) * mask
    return _moved_back(o, _over_gaps(o, _product(o, _adjoint(o, v), u), w, True), v), None, None


register(Primitive("eig", _eig, lambda a, rows: array(a.type.dtype, rows, a.shape[1]),
                   constant=True, dear=True, emit="eig({0})"))  # fmt: skip
register(Primitive(
    "eig_values", lambda a, packed: np.array(packed[:2]),
    lambda a, packed: array(a.type.dtype, lit(2), a.shape[0]),
    jvp=_values_jvp, vjp=_values_vjp, emit="part({1}, 0, 2)",
))  # fmt: skip
register(Primitive(  # twice: the extent of both parts together
    "eig_vectors", lambda a, packed, twice: np.array(packed[2 : 2 * len(a) + 2]),
    lambda a, packed, twice: array(a.type.dtype, twice, a.shape[1]),
    jvp=_vectors_jvp, vjp=_vectors_vjp, emit="part({1}, 2, 2 * {0}.shape[0])",
))  # fmt: skip
