"""What becomes of the functions of scipy.linalg?

They are for single matrices.  Where SciPy leaves arbitrary numbers in a triangle that nobody reads
(`cho_factor`), there are zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from jitad.errors import JitadError, JitadLinAlgError, JitadTypeError
from jitad.tape.build import Leaf
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import common_shape, elementwise, require_same
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.creation import filled
from jitad.values.numpy.linalg import cholesky_of, eigen_of, floats, matrix, stacked
from jitad.values.numpy.shaping import broadcast_to, handle, ravel, reshape
from jitad.values.python_functions import to_float
from jitad.values.registry import call, replaces
from jitad.values.scipy.eigen import decomposed

_QUIET = {"overwrite_a", "overwrite_b", "check_finite", "overwrite_ab", "overwrite_x"}


def _refuse(name: str, others: dict[str, Any], **defaults: Any) -> None:
    for word, value in others.items():
        if word not in _QUIET and (word not in defaults or value != defaults[word]):
            raise fail(JitadTypeError, f"{word}= of scipy.linalg.{name} is not supported here")


def _columns(a: Any, b: Any) -> tuple[ArrayHandle, ArrayHandle, bool]:
    a, b = floats(a, b)
    matrix(a)
    if a.ndim > 2 or b.ndim > 2:
        raise fail(JitadTypeError, "stacks of matrices are not supported in scipy.linalg",
                   "Use numpy.linalg.")  # fmt: skip
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    require_same(a.shape[0], b.shape[0], lambda: "incompatible dimensions of the matrix and the "
                 "right-hand side")  # fmt: skip
    return a, b, vector


def _mirrored(a: ArrayHandle, lower: bool) -> ArrayHandle:
    """The symmetric matrix of which one triangle is given."""
    a = a if lower else a.T
    strict = call(np.tril, a, -1)
    return elementwise("add", call(np.tril, a), strict.T)


@replaces(sl.solve)
def solve(a: Any, b: Any, lower: bool = False, overwrite_a: bool = False,
          overwrite_b: bool = False, check_finite: bool = True, assume_a: Any = None,
          transposed: bool = False) -> Any:  # fmt: skip
    a, b, vector = _columns(a, b)
    if assume_a in ("pos", "positive definite"):
        x = cho_solve(cho_factor(a, lower), b)
    else:
        if assume_a in ("sym", "symmetric", "her", "hermitian"):
            a = _mirrored(a, lower)
        elif assume_a not in (None, "gen", "general"):
            raise fail(JitadTypeError, f"assume_a={assume_a!r} is not supported here")
        x = call(np.linalg.solve, a.T if transposed else a, b)
    return x[:, 0] if vector else x


@replaces(sl.solve_triangular)
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False,
                     unit_diagonal: bool = False, **others: Any) -> Any:  # fmt: skip
    _refuse("solve_triangular", others)
    a, b, vector = _columns(a, b)
    lower, unit_diagonal = bool(lower), bool(unit_diagonal)
    turned = {0: False, 1: True, 2: True, "N": False, "T": True, "C": True}[trans]
    if not unit_diagonal:
        zero = elementwise("eq", call(np.diag, a), 0.0)
        require(elementwise("logical_not", call(np.any, zero)), JitadLinAlgError,
                "singular matrix: a zero on the diagonal")  # fmt: skip
    x = wrap(bind("trisolve", a.content, b.content, lower=lower, turned=turned,
                  unit=unit_diagonal))  # fmt: skip
    return x[:, 0] if vector else x


@replaces(sl.cholesky)
def cholesky(a: Any, lower: bool = False, **others: Any) -> Any:
    _refuse("cholesky", others)
    (a,) = floats(a)
    matrix(a)
    f = wrap(cholesky_of((a if lower else a.T).content))
    return f if lower else f.T


@replaces(sl.cho_factor)
def cho_factor(a: Any, lower: bool = False, **others: Any) -> Any:
    return cholesky(a, lower, **others), lower


@replaces(sl.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, **others: Any) -> Any:
    _refuse("cho_solve", others)
    c, lower = c_and_lower
    first = solve_triangular(c, b, 0 if lower else 1, lower)
    return solve_triangular(c, first, 1 if lower else 0, lower)


@replaces(sl.lu_factor)
def lu_factor(a: Any, **others: Any) -> Any:
    _refuse("lu_factor", others)
    (a,) = floats(a)
    matrix(a)
    n = a.shape[0]
    packed = wrap(bind("lu_factor", a.content, extents.add(n, 1)))
    return packed[:n].T, packed[n].astype(np.int32)


@replaces(sl.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, **others: Any) -> Any:
    _refuse("lu_solve", others)
    lu, piv = lu_and_piv
    lu, b, vector = _columns(lu, b)
    order = wrap(bind("lu_order", handle(piv).astype(int).content))
    if trans:
        x = solve_triangular(lu, b, 1, False)
        x = solve_triangular(lu, x, 1, True, unit_diagonal=True)
        x = x[call(np.argsort, order)]
    else:
        x = solve_triangular(lu, b[order], 0, True, unit_diagonal=True)
        x = solve_triangular(lu, x, 0, False)
    return x[:, 0] if vector else x


@replaces(sl.inv)
def inv(a: Any, **others: Any) -> Any:
    _refuse("inv", others, assume_a=None, lower=False)
    return call(np.linalg.inv, a)


@replaces(sl.det)
def det(a: Any, **others: Any) -> Any:
    _refuse("det", others)
    return call(np.linalg.det, handle(a).astype(float))  # in double precision


@replaces(sl.norm)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, **others: Any) -> Any:
    _refuse("norm", others)
    found = call(np.linalg.norm, a, ord, axis, keepdims)
    by_blas = (None, 2) if handle(a).ndim == 1 else (1, np.inf)  # which gives Python's numbers
    return to_float(found) if ord in by_blas and axis is None and not keepdims else found


@replaces(sl.pinv)
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, **others: Any) -> Any:
    _refuse("pinv", others, return_rank=False)
    if atol is not None:
        raise fail(JitadTypeError, "atol= of scipy.linalg.pinv is not supported here")
    return call(np.linalg.pinv, a, rtol=rtol)


@replaces(sl.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, **others: Any) -> Any:
    _refuse("svd", others, lapack_driver="gesdd")
    found = call(np.linalg.svd, a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


@replaces(sl.svdvals)
def svdvals(a: Any, **others: Any) -> Any:
    _refuse("svdvals", others)
    return call(np.linalg.svdvals, a)


@replaces(sl.qr)
def qr(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full",
       pivoting: bool = False, check_finite: bool = True) -> Any:  # fmt: skip
    if pivoting or mode == "raw":
        raise fail(JitadTypeError, "pivoting= and mode='raw' of scipy.linalg.qr are not supported")
    named = {"full": "complete", "economic": "reduced", "r": "r"}[mode]
    found = call(np.linalg.qr, a, named)
    if mode != "r":
        return tuple(found)
    below = extents.sub(handle(a).shape[0], found.shape[0])  # zeros, which NumPy leaves out
    return (call(np.concatenate, [found, call(np.zeros, (below, found.shape[1]), found.dtype)]),)


@replaces(sl.eigh)
def eigh(a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False,
         **others: Any) -> Any:  # fmt: skip
    """The generalised problem by the Cholesky factor of b."""
    subset = others.pop("subset_by_index", None)
    driver = others.pop("driver", None) or (
        "evr" if b is None else "gvd" if subset is None else "gvx"
    )
    _refuse("eigh", others, type=1, subset_by_value=None)
    if driver not in ("evr", "evd", "evx", "gvd", "gvx") or (driver[0] == "g") != (b is not None):
        raise fail(JitadTypeError, f"driver={driver!r} of scipy.linalg.eigh is not supported here")
    (a,) = floats(a)
    matrix(a)
    f = None
    if b is not None:
        f = cholesky(b if lower else handle(b).T, True)
        left = solve_triangular(f, _mirrored(handle(a), lower), 0, True)
        a = solve_triangular(f, left.T, 0, True)
    low, high = (0, None) if subset is None else (subset[0], extents.add(subset[1], 1))
    values, vectors = eigen_of(a, f"syev{driver[-1]}", not lower, low, high)
    if subset is not None:
        values, vectors = values[low:high], vectors[:, low:high]
    if eigvals_only:
        return values
    return values, vectors if f is None else solve_triangular(f, vectors, 1, True)


@replaces(sl.eigvalsh)
def eigvalsh(a: Any, b: Any = None, *, lower: bool = True, **others: Any) -> Any:
    return eigh(a, b, lower=lower, eigvals_only=True, **others)


@replaces(sl.lstsq)
def lstsq(a: Any, b: Any, cond: Any = None, *args: Any, **others: Any) -> Any:
    _refuse("lstsq", others, lapack_driver=None)
    return call(np.linalg.lstsq, a, b, cond)


@replaces(sl.expm)
def expm(A: Any) -> Any:
    (a,) = floats(A)
    matrix(a)
    return stacked(lambda a: (bind("expm", a),), [a.shape[-2:]], a)[0]


@replaces(sl.sqrtm)
def sqrtm(A: Any) -> Any:
    (a,) = floats(A)
    matrix(a)
    root = stacked(lambda a: (bind("sqrtm", a),), [a.shape[-2:]], a)[0]
    fine = elementwise("logical_not", call(np.any, call(np.isnan, root)))
    require(fine, JitadError, "sqrtm: the matrix has no real principal root",
            "Its eigenvalues must not be on the negative real axis, nor zero.")  # fmt: skip
    return root


@replaces(sl.solve_banded)
def solve_banded(l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False,
                 overwrite_b: bool = False, check_finite: bool = True) -> Any:  # fmt: skip
    below, above = (as_static(k) for k in l_and_u)
    ab, b = floats(ab, b)
    rows = below + above + 1
    require_same(ab.shape[0], rows, lambda: "invalid values for the number of lower and upper "
                 f"diagonals: l+u+1 ({rows}) does not equal ab.shape[0]")  # fmt: skip
    require_same(ab.shape[-1], b.shape[0], lambda: "shapes of ab and b are not compatible.")
    columns = b if b.ndim == 2 else b[:, None]
    x = wrap(bind("banded", ab.content, columns.content, below=below, above=above, turned=False))
    fine = elementwise("logical_not", call(np.any, call(np.isnan, x)))
    require(fine, JitadLinAlgError, "singular matrix")
    return x if b.ndim == 2 else x[:, 0]


def as_static(k: Any) -> int:
    """A number that has to be known."""
    k = extents.as_int(k, "the number of diagonals")
    return k.known("the number of diagonals") if isinstance(k, Leaf) else int(k)


# -- matrices of a given form ---------------------------------------------------------------------


@replaces(sl.block_diag)
def block_diag(*arrays: Any) -> Any:
    parts = [call(np.atleast_2d, a) for a in arrays]
    rows = extents_sum(p.shape[0] for p in parts)
    columns = extents_sum(p.shape[1] for p in parts)
    out = filled(0, (rows, columns), np.result_type(*(p.dtype for p in parts)))
    i: Any = 0
    j: Any = 0
    for p in parts:
        below, right = extents.add(i, p.shape[0]), extents.add(j, p.shape[1])
        out[i:below, j:right] = p
        i, j = below, right
    return out


def extents_sum(numbers: Any) -> Any:
    total: Any = 0
    for n in numbers:
        total = extents.add(total, n) if isinstance(total, Number) or total else n
    return total


@replaces(sl.toeplitz)
def toeplitz(c: Any, r: Any = None) -> Any:
    c = call(np.atleast_1d, c)
    r = c if r is None else call(np.atleast_1d, r)
    many = common_shape([c.shape[:-1], r.shape[:-1]])
    c, r = (broadcast_to(a, (*many, a.shape[-1])) for a in (c, r))
    values = call(np.concatenate, [c[..., ::-1], r[..., 1:]], axis=-1)
    i, j = call(np.arange, c.shape[-1]), call(np.arange, r.shape[-1])
    last = extents.sub(c.shape[-1], 1)
    places = elementwise("add", elementwise("sub", j, reshape(i, (c.shape[-1], 1))), last)
    return values[..., places]


@replaces(sl.circulant)
def circulant(c: Any) -> Any:
    c = handle(c)
    i = call(np.arange, c.shape[-1])
    return c[..., elementwise("mod", elementwise("sub", i.with_axes((1,)), i), c.shape[-1])]


@replaces(sl.hankel)
def hankel(c: Any, r: Any = None) -> Any:
    c = ravel(c)
    r = call(np.zeros_like, c) if r is None else ravel(r)
    values = call(np.concatenate, [c, r[1:]])
    i, j = call(np.arange, c.shape[0]), call(np.arange, r.shape[0])
    return values[elementwise("add", i.with_axes((1,)), j)]


@replaces(sl.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """As any system: the matrix is written out."""
    columns = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    system, b = (handle(x).astype(float) for x in (toeplitz(*columns), b))
    return call(np.linalg.solve, system, b)


@replaces(sl.matmul_toeplitz)
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False,
                    workers: Any = None) -> Any:  # fmt: skip
    columns = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    return call(np.matmul, toeplitz(*columns), x)


@replaces(sl.pinvh)
def pinvh(a: Any, atol: Any = None, rtol: Any = None, lower: bool = True,
          return_rank: bool = False, check_finite: bool = True) -> Any:  # fmt: skip
    _refuse("pinvh", {"atol": atol, "return_rank": return_rank}, atol=None, return_rank=False)
    (a,) = floats(a)
    return call(np.linalg.pinv, _mirrored(a, lower), rtol=rtol)


@replaces(sl.khatri_rao)
def khatri_rao(a: Any, b: Any) -> Any:
    """Column by column the Kronecker product."""
    a, b = handle(a), handle(b)
    wide = elementwise("mul", a.with_axes((1,)), b.with_axes((0,)))
    return reshape(wide, (extents.mul(a.shape[0], b.shape[0]), a.shape[1]))


# -- functions of matrices, by exponentials -------------------------------------------------------


def _turned(a: Any) -> Any:
    """exp(i a), whose parts are the cosine and the sine of a."""
    (a,) = floats(a)
    return call(sl.expm, call(np.multiply, a, 1j))


def _halves(a: Any) -> tuple[Any, Any]:
    (a,) = floats(a)
    up, down = call(sl.expm, a), call(sl.expm, call(np.negative, a))
    cosh = elementwise("mul", elementwise("add", up, down), 0.5)
    return cosh, elementwise("mul", elementwise("sub", up, down), 0.5)


replaces(sl.cosm)(lambda A: _turned(A).real)
replaces(sl.sinm)(lambda A: _turned(A).imag)
replaces(sl.tanm)(lambda A: call(np.linalg.solve, _turned(A).real, _turned(A).imag))
replaces(sl.coshm)(lambda A: _halves(A)[0])
replaces(sl.sinhm)(lambda A: _halves(A)[1])
replaces(sl.tanhm)(lambda A: call(np.linalg.solve, *_halves(A)))


# -- eigenvalues ----------------------------------------------------------------------------------


@replaces(sl.eig)
def scipy_eig(a: Any, b: Any = None, left: bool = False, right: bool = True,
              overwrite_a: bool = False, overwrite_b: bool = False,
              check_finite: bool = True) -> Any:  # fmt: skip
    if b is not None or left:
        raise fail(JitadTypeError, "b= and left= of scipy.linalg.eig are not supported here")
    return tuple(decomposed(a, True)) if right else decomposed(a, False)[0]


@replaces(sl.eigvals)
def scipy_eigvals(a: Any, b: Any = None, overwrite_a: bool = False,
                  check_finite: bool = True) -> Any:  # fmt: skip
    if b is not None:
        raise fail(JitadTypeError, "b= of scipy.linalg.eigvals is not supported here")
    return decomposed(a, False)[0]
