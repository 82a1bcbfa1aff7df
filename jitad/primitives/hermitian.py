"""How do the eigenvalues and eigenvectors of a Hermitian matrix vary?

The matrix H = X + iY comes as the real symmetric one [[X, -Y], [Y, X]], which is made from one
triangle of H; eigenvectors, as their real parts above their imaginary ones.  LAPACK makes the first
element of each eigenvector real, of the upper triangle the last one, and so the derivative keeps it
real; where that element is zero nothing is said of the phase, and the phase doesn't turn.

Source: Giles 2008, "Collected matrix derivative results", with products of complex numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.matrix_parts import array, index, rows_of, turn
from jitad.primitives.table import Primitive, register


def _heigh(a: Any, rows: Any, n: Any, *, by: str, upper: bool) -> Any:
    """Eigenvalues in a row, below them the parts of the eigenvectors; `by`: a routine of LAPACK."""
    n = len(a) // 2
    h = a[:n, :n] + 1j * a[n:, :n]
    if by == "zheevd":
        w, v = np.linalg.eigh(h, "U") if upper else np.linalg.eigh(h)
    else:
        from scipy import linalg  # which takes long to import

        w, v = linalg.eigh(h, lower=not upper)
    return np.concatenate([w[None], v.real, v.imag]).astype(a.dtype)


def _times_i(o: Any, v: Any) -> Any:
    twice, n = v.shape
    re = o.slice(v, 0, 1, n, 0, 1, n, kinds="rr")
    im = o.slice(v, n, 1, n, 0, 1, n, kinds="rr")
    return o.concatenate(-im, re, twice, axis=0)


def _values_jvp(o: Any, ins: Any, dins: Any, w: Any) -> Any:
    if dins[0] is None:
        return None
    v = o.hermitian_vectors(*ins, upper=False)  # the phases cancel
    return o.sum(v * o.matmul(dins[0], v), axes=(0,))


def _values_vjp(o: Any, ct: Any, a: Any, packed: Any, w: Any) -> Any:
    v = o.hermitian_vectors(a, packed, upper=False)
    return o.matmul(v * rows_of(o, ct, v.shape[0]), turn(o, v)), None


def _over_gaps(o: Any, re: Any, im: Any, w: Any) -> tuple[Any, Any]:
    """Both parts[i, j] / (w[j] - w[i]); zero over zero is zero: nothing turns such vectors."""
    n = w.shape[0]
    gap = o.broadcast(w, n, n, axes=(1,)) - o.broadcast(w, n, n, axes=(0,))
    same = o.eq(gap, 0.0)
    still = o.where(o.logical_and(o.eq(re, 0.0), o.eq(im, 0.0)), 0.0, np.nan)
    off = o.ne(index(o, re, 0), index(o, re, 1))
    safe = o.where(same, 1.0, gap)
    return (o.where(off, o.where(same, still, re / safe), 0.0),
            o.where(off, o.where(same, still, im / safe), 0.0))  # fmt: skip


def _real_one(o: Any, v: Any, imaginary: bool, upper: bool) -> Any:
    """A part of the element of each vector that is real."""
    n = v.shape[1]
    row = (n - 1 if upper else 0) + (n if imaginary else 0)
    return o.slice(v, row, 0, 1, n, kinds="ir")


def _per_phase(o: Any, x: Any, v: Any, upper: bool) -> Any:
    """x over the real elements; nothing where these are zero."""
    first = _real_one(o, v, False, upper)
    none = o.eq(first, 0.0)
    return o.where(none, 0.0, x / o.where(none, 1.0, first))


def _vectors_jvp(o: Any, ins: Any, dins: Any, v: Any, *, upper: bool) -> Any:
    if dins[0] is None:
        return None
    turned, moved = _times_i(o, v), o.matmul(dins[0], v)
    inside = o.matmul(turn(o, v), moved), o.matmul(turn(o, turned), moved)
    re, im = _over_gaps(o, *inside, o.hermitian_values(*ins))
    u = o.matmul(v, re) + o.matmul(turned, im)
    phase = _per_phase(o, _real_one(o, u, True, upper), v, upper)
    return u - turned * rows_of(o, phase, v.shape[0])


def _vectors_vjp(o: Any, ct: Any, a: Any, packed: Any, v: Any, *, upper: bool) -> Any:
    n = v.shape[1]
    turned = _times_i(o, v)
    phase = _per_phase(o, o.sum(ct * turned, axes=(0,)), v, upper)
    # the imaginary part of the element that is real
    first = o.eq(index(o, v, 0), n + n - 1 if upper else n)
    ct = ct - o.where(first, rows_of(o, phase, v.shape[0]), 0.0)
    re, im = o.matmul(turn(o, v), ct), o.matmul(turn(o, turned), ct)
    # what moves is Hermitian: only such parts of the product count
    re, im = 0.5 * (re - turn(o, re)), 0.5 * (im + turn(o, im))
    re, im = _over_gaps(o, re, im, o.hermitian_values(a, packed))
    return o.matmul(o.matmul(v, re) + o.matmul(turned, im), turn(o, v)), None


register(Primitive("heigh", _heigh, lambda a, rows, n, **params: array(a.type.dtype, rows, n),
                   constant=True, dear=True, emit="{by}({0}, {upper})"))  # fmt: skip
register(Primitive(
    "hermitian_values", lambda a, packed: np.array(packed[0]),
    lambda a, packed: array(a.type.dtype, packed.shape[1]),
    jvp=_values_jvp, vjp=_values_vjp, emit="line({1}, 0)",
))  # fmt: skip
register(Primitive(
    "hermitian_vectors", lambda a, packed, *, upper: np.array(packed[1:]),
    lambda a, packed, *, upper: array(a.type.dtype, a.shape[0], packed.shape[1]),
    jvp=_vectors_jvp, vjp=_vectors_vjp, emit="part({1}, 1, {0}.shape[0])",
))  # fmt: skip
