"""Which primitives decompose matrices, and how do the parts vary?

As in `matrices`, a decomposition is a `constant` operand of the rows that read a part of it.  So
eigenvalues have a rule of their own, without the eigenvectors' derivatives, which don't exist
where eigenvalues coincide.  Several results are rows of one array (`packed`).

Sources: Giles 2008, "Collected matrix derivative results"; Walter & Lehmann 2013, "Algorithmic
differentiation of linear algebra functions" (QR); Townsend 2016 (SVD); Golub & Pereyra 1973
(pseudo-inverse); Mathias 1996 (functions of matrices).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from jitad.primitives.matrix_parts import (
    array,
    folded,
    index,
    like_operand,
    lower_part,
    mirrored,
    rows_of,
    turn,
)
from jitad.primitives.table import Primitive, register
from jitad.primitives.unloaded import Unloaded

# -- symmetric matrices ---------------------------------------------------------------------------


def _eigh(
    a: Any, rows: Any, low: Any, high: Any, *, by: str, upper: bool, diagonals: int
) -> Any:
    """Eigenvalues in a row, eigenvectors in the columns below; reads the lower triangle.

    `by`: the routine of LAPACK, which decides what is an eigenvector and what its negative; what
    lies from `low` up to `high` is what it gives if asked for these alone.  `upper`: it reads the
    upper triangle of what is turned here; `diagonals`: of a band, how many it reads.
    """
    a = a.T if upper else a
    if by == "syevd":
        w, v = np.linalg.eigh(a, "U") if upper else np.linalg.eigh(a)
        return np.concatenate([w[None], v]).astype(a.dtype)
    from scipy import linalg  # which takes long to import

    given: dict[str, Any] = {"lower": not upper}
    if by.startswith("sb"):
        band = _band(a, upper, diagonals)
        out = np.concatenate([x.reshape(-1, len(a)) for x in linalg.eig_banded(band, **given)])
        some = linalg.eig_banded(band, **given, select="i", select_range=(low, high - 1)) if (
            by == "sbevx"
        ) else None
    elif by == "stein":
        out = np.concatenate([x.reshape(-1, len(a)) for x in linalg.eigh(a, **given)])
        some = linalg.eigh_tridiagonal(
            np.diag(a), np.diag(a, -1), select="i", select_range=(low, high - 1)
        )
    else:
        whole = linalg.eigh(a, driver="evr" if by == "syevr" else "evd", **given)
        out = np.concatenate([x.reshape(-1, len(a)) for x in whole])
        some = linalg.eigh(a, driver=by[2:], subset_by_index=[low, high - 1], **given) if (
            by == "syevx" or low > 0 or high < len(a)
        ) else None
    if some is not None:
        out[0, low:high], out[1:, low:high] = some
    return out.astype(a.dtype)


def _band(a: Any, upper: bool, diagonals: int) -> Any:
    """The diagonals of a matrix as rows, as LAPACK has them."""
    out = np.zeros((diagonals, len(a)), a.dtype)
    for k in range(min(diagonals, len(a))):
        line = np.diag(a, k if upper else -k)
        out[diagonals - 1 - k if upper else k, k if upper else 0 :][: len(line)] = line
    return out


def _eigenvalues_jvp(o: Any, ins: Any, dins: Any, w: Any) -> Any:
    if dins[0] is None:
        return None
    v = o.eigenvectors(*ins)
    return o.sum(v * o.matmul(mirrored(o, dins[0]), v), axes=(0,))


def _eigenvalues_vjp(o: Any, ct: Any, a: Any, packed: Any, w: Any) -> Any:
    v = o.eigenvectors(a, packed)
    return folded(o, o.matmul(v * rows_of(o, ct, v.shape[0]), turn(o, v))), None


def _over_gaps(o: Any, part: Any, w: Any) -> Any:
    """part[i, j] / (w[j] - w[i]); zero over zero is zero: nothing turns such vectors."""
    n = w.shape[0]
    gap = o.broadcast(w, n, n, axes=(1,)) - o.broadcast(w, n, n, axes=(0,))
    same = o.eq(gap, 0.0)
    still = o.where(o.eq(part, 0.0), 0.0, np.nan)
    turned = o.where(same, still, part / o.where(same, 1.0, gap))
    return o.where(o.ne(index(o, part, 0), index(o, part, 1)), turned, 0.0)


def _eigenvectors_jvp(o: Any, ins: Any, dins: Any, v: Any) -> Any:
    if dins[0] is None:
        return None
    inside = o.matmul(turn(o, v), o.matmul(mirrored(o, dins[0]), v))
    return o.matmul(v, _over_gaps(o, inside, o.eigenvalues(*ins)))


def _eigenvectors_vjp(o: Any, ct: Any, a: Any, packed: Any, v: Any) -> Any:
    k = o.matmul(turn(o, v), ct)
    turned = _over_gaps(o, 0.5 * (k - turn(o, k)), o.eigenvalues(a, packed))
    return folded(o, o.matmul(o.matmul(v, turned), turn(o, v))), None


register(Primitive(
    "eigh", _eigh,
    lambda a, rows, low, high, **params: array(a.type.dtype, rows, a.shape[1]),
    constant=True, dear=True, emit="{by}({0}, {2}, {3}, {upper}, {diagonals})",
))  # fmt: skip
register(Primitive(
    "eigenvalues", lambda a, packed: np.array(packed[0]),
    lambda a, packed: array(a.type.dtype, a.shape[0]),
    jvp=_eigenvalues_jvp, vjp=_eigenvalues_vjp, emit="line({1}, 0)",
))  # fmt: skip
register(Primitive(
    "eigenvectors", lambda a, packed: np.array(packed[1:]), like_operand(0),
    jvp=_eigenvectors_jvp, vjp=_eigenvectors_vjp, emit="part({1}, 1, {0}.shape[0])",
))  # fmt: skip

# -- singular values ------------------------------------------------------------------------------

Whole = tuple[bool, bool]  # are the left, the right vectors known to span everything?


def _svd(a: Any, rows: Any, smaller: Any) -> Any:
    """Rows of u, the singular values, rows of v."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.concatenate([u, s[None], vt.T]).astype(a.dtype)


def _parts(o: Any, ins: tuple[Any, ...], whole: Whole) -> tuple[Any, Any, Any]:
    a, packed, k = ins[:3]
    u = o.left_vectors(a, packed, k, whole=whole)
    s = o.singular_values(a, packed, k, whole=whole)
    return u, s, o.right_vectors(a, packed, k, whole=whole)


def _singular_jvp(o: Any, ins: Any, dins: Any, s: Any, *, whole: Whole) -> Any:
    if dins[0] is None:
        return None
    u, _, v = _parts(o, ins, whole)
    return o.sum(u * o.matmul(dins[0], v), axes=(0,))


def _singular_vjp(o: Any, ct: Any, *ins: Any, whole: Whole) -> Any:
    u, _, v = _parts(o, ins, whole)
    return o.matmul(u * rows_of(o, ct, u.shape[0]), turn(o, v)), None, None


def _vectors_jvp(o: Any, da: Any, u: Any, s: Any, v: Any, whole: bool) -> Any:
    """The tangent of the left vectors of a; of the right ones: of a.T, u and v exchanged."""
    av = o.matmul(da, v)
    p = o.matmul(turn(o, u), av)
    ps = p * rows_of(o, s, s.shape[0])
    within = o.matmul(u, _over_gaps(o, ps + turn(o, ps), s * s))
    return within if whole else within + (av - o.matmul(u, p)) / rows_of(o, s, u.shape[0])


def _vectors_vjp(o: Any, ct: Any, u: Any, s: Any, v: Any, whole: bool) -> Any:
    k = o.matmul(turn(o, u), ct)
    turned = _over_gaps(o, k - turn(o, k), s * s)
    ga = o.matmul(u, turned * rows_of(o, s, s.shape[0]))
    if not whole:
        ga = ga + (ct - o.matmul(u, k)) / rows_of(o, s, u.shape[0])
    return o.matmul(ga, turn(o, v))


def _left_jvp(o: Any, ins: Any, dins: Any, u: Any, *, whole: Whole) -> Any:
    if dins[0] is None:
        return None
    _, s, v = _parts(o, ins, whole)
    return _vectors_jvp(o, dins[0], u, s, v, whole[0])


def _right_jvp(o: Any, ins: Any, dins: Any, v: Any, *, whole: Whole) -> Any:
    if dins[0] is None:
        return None
    u, s, _ = _parts(o, ins, whole)
    return _vectors_jvp(o, turn(o, dins[0]), v, s, u, whole[1])


def _left_vjp(o: Any, ct: Any, *ins: Any, whole: Whole) -> Any:
    _, s, v = _parts(o, ins, whole)
    return _vectors_vjp(o, ct, ins[3], s, v, whole[0]), None, None


def _right_vjp(o: Any, ct: Any, *ins: Any, whole: Whole) -> Any:
    u, s, _ = _parts(o, ins, whole)
    return turn(o, _vectors_vjp(o, ct, ins[3], s, u, whole[1])), None, None


register(Primitive(  # rows: those of all three together; smaller: the lesser extent of a
    "svd", _svd, lambda a, rows, smaller: array(a.type.dtype, rows, smaller),
    constant=True, dear=True, emit="svd({0})",
))  # fmt: skip
register(Primitive(
    "singular_values", lambda a, packed, k, **_: np.array(packed[len(a)]),
    lambda a, packed, k, **_: array(a.type.dtype, k),
    jvp=_singular_jvp, vjp=_singular_vjp, emit="line({1}, {0}.shape[0])",
))  # fmt: skip
register(Primitive(
    "left_vectors", lambda a, packed, k, **_: np.array(packed[: len(a)]),
    lambda a, packed, k, **_: array(a.type.dtype, a.shape[0], k),
    jvp=_left_jvp, vjp=_left_vjp, emit="part({1}, 0, {0}.shape[0])",
))  # fmt: skip
register(Primitive(
    "right_vectors", lambda a, packed, k, **_: np.array(packed[len(a) + 1 :]),
    lambda a, packed, k, **_: array(a.type.dtype, a.shape[1], k),
    jvp=_right_jvp, vjp=_right_vjp, emit="part({1}, {0}.shape[0] + 1, {0}.shape[1])",
))  # fmt: skip

# -- orthogonal factors ---------------------------------------------------------------------------


def _qr(a: Any, rows: Any) -> Any:
    """q above r, for matrices that are not wider than high."""
    return np.concatenate(np.linalg.qr(a)).astype(a.dtype)


def _qr_parts(o: Any, a: Any, y: Any) -> tuple[Any, Any]:
    m, n = a.shape
    q = o.slice(y, 0, 1, m, 0, 1, n, kinds="rr")
    return q, o.slice(y, m, 1, n, 0, 1, n, kinds="rr")


def _over(o: Any, a: Any, r: Any, turned: bool = False) -> Any:
    """a inv(r), for an upper triangle r (turned: a inv(r.T))."""
    return turn(o, o.trisolve(r, turn(o, a), lower=False, turned=not turned, unit=False))


def _qr_jvp(o: Any, ins: Any, dins: Any, y: Any) -> Any:
    (a, rows), (da, _) = ins, dins
    q, r = _qr_parts(o, a, y)
    moved = _over(o, da, r)
    c = o.matmul(turn(o, q), moved)
    below = lower_part(o, c, strict=True)
    turning = below - turn(o, below)
    dq = o.matmul(q, turning) + moved - o.matmul(q, c)
    return o.concatenate(dq, o.matmul(c - turning, r), rows, axis=0)


def _qr_vjp(o: Any, ct: Any, a: Any, rows: Any, y: Any) -> Any:
    q, r = _qr_parts(o, a, y)
    ctq, ctr = _qr_parts(o, a, ct)
    m = o.matmul(r, turn(o, ctr)) - o.matmul(turn(o, ctq), q)
    return _over(o, ctq + o.matmul(q, mirrored(o, m)), r, turned=True), None


register(Primitive("qr", _qr, lambda a, rows: array(a.type.dtype, rows, a.shape[1]),
                   dear=True, jvp=_qr_jvp, vjp=_qr_vjp, emit="qr({0})"))  # fmt: skip

# -- the pseudo-inverse, where the rank stays the same ---------------------------------------------


def _pinv(a: Any, cutoff: Any) -> Any:
    return np.linalg.pinv(a, cutoff).astype(a.dtype)


def _pinv_jvp(o: Any, ins: Any, dins: Any, p: Any) -> Any:
    (a, _), (da, _) = ins, dins
    if da is None:
        return None
    out = -o.matmul(o.matmul(p, da), p)
    dat = turn(o, da)
    left = o.matmul(p, o.matmul(turn(o, p), dat))  # p p.T da.T (1 - a p)
    right = o.matmul(o.matmul(dat, turn(o, p)), p)  # (1 - p a) da.T p.T p
    out = out + left - o.matmul(o.matmul(left, a), p)
    return out + right - o.matmul(p, o.matmul(a, right))


def _pinv_vjp(o: Any, ct: Any, a: Any, cutoff: Any, p: Any) -> Any:
    pt, ctt = turn(o, p), turn(o, ct)
    out = -o.matmul(o.matmul(pt, ct), pt)
    left = o.matmul(o.matmul(ctt, p), pt)  # (1 - a p) ct.T p p.T
    right = o.matmul(pt, o.matmul(p, ctt))  # p.T p ct.T (1 - p a)
    out = out + left - o.matmul(a, o.matmul(p, left))
    return out + right - o.matmul(o.matmul(right, p), a), None


register(Primitive(
    "pinv", _pinv, lambda a, cutoff: array(a.type.dtype, a.shape[1], a.shape[0]),
    dear=True, jvp=_pinv_jvp, vjp=_pinv_vjp, emit="pinv({0}, {1})",
))  # fmt: skip

# -- the exponential, the square root -------------------------------------------------------------


def _beside(o: Any, f: Any, a: Any, da: Any) -> Any:
    """The block of f([[a, da], [0, a]]) in which the derivative of f along da stands."""
    n = a.shape[0]
    both = 2 * n
    top = o.concatenate(a, da, both, axis=1)
    bottom = o.concatenate(o.broadcast(0.0, n, n, axes=()), a, both, axis=1)
    whole = f(o.concatenate(top, bottom, both, axis=0))
    return o.slice(whole, 0, 1, n, n, 1, n, kinds="rr")


def _sqrtm(a: Any) -> Any:
    """The principal root; nan where there is none that is real."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of matrices that have no root
        root = Unloaded("scipy.linalg", "sqrtm")(a) if a.size else a
    return np.full_like(a, np.nan) if np.iscomplexobj(root) else np.array(root, a.dtype)


for _name, _evaluate in (
    ("expm", lambda a: Unloaded("scipy.linalg", "expm")(a).astype(a.dtype)), ("sqrtm", _sqrtm),
):  # fmt: skip
    register(Primitive(
        _name, _evaluate, like_operand(0), dear=True,
        jvp=lambda o, ins, dins, y, name=_name: _beside(o, getattr(o, name), ins[0], dins[0]),
        vjp=lambda o, ct, a, y, name=_name: (_beside(o, getattr(o, name), turn(o, a), ct),),
        emit=_name + "({0})",
    ))  # fmt: skip
