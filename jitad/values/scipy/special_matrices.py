"""What becomes of scipy.linalg's matrices of a pattern: banded, tridiagonal, of a polynomial?

Eigenvalues of banded matrices are those of the matrices written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.kind import fail
from jitad.values.numpy.linalg import eigen_of, floats
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces


@replaces(sl.companion)
def companion(a: Any) -> Any:
    (a,) = floats(a)
    n = extents.sub(a.shape[0], 1)
    first = call(np.negative, a[1:] / a[0])
    below = call(np.eye, extents.sub(n, 1), n, dtype=a.dtype)
    return call(np.concatenate, [first[None], below])


@replaces(sl.convolution_matrix)
def convolution_matrix(a: Any, n: Any, mode: str = "full") -> Any:
    """Each column is the sequence, one place further down."""
    a = handle(a)
    m = a.shape[0]
    rows = {"full": extents.sub(extents.add(m, n), 1), "same": extents.largest(m, n),
            "valid": extents.add(extents.sub(extents.largest(m, n), extents.smallest(m, n)), 1)}
    if mode not in rows:
        raise fail(JitadValueError, "'mode' argument must be one of ('full', 'valid', 'same')")
    start = {"full": 0, "same": extents.floordiv(extents.sub(extents.smallest(m, n), 1), 2),
             "valid": extents.sub(extents.smallest(m, n), 1)}[mode]  # fmt: skip
    at = call(np.arange, rows[mode])[:, None] + start - call(np.arange, n)
    inside = call(np.logical_and, at >= 0, at < m)
    return call(np.where, inside, a[call(np.where, inside, at, 0)], 0)


def _chosen(matrix: Any, whole: str, some: str, select: Any, select_range: Any, name: str,
            **params: Any) -> tuple[Any, Any]:  # fmt: skip
    """Eigenvalues by their places, from the smallest on, and eigenvectors: of the `whole` by that
    routine, of `some` by this."""
    if select in ("i", 2):
        low, high = select_range[0], extents.add(select_range[1], 1)
        values, vectors = eigen_of(matrix, some, low=low, high=high, **params)
        return values[low:high], vectors[:, low:high]
    if select not in ("a", 0):
        raise fail(JitadTypeError, f"select={select!r} of {name} is not supported here",
                   "Select by places: select='i'.")  # fmt: skip
    values, vectors = eigen_of(matrix, whole, **params)
    return values, vectors


@replaces(sl.eigh_tridiagonal)
def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False, select: Any = "a",
                     select_range: Any = None, check_finite: bool = True, tol: Any = 0.0,
                     lapack_driver: str = "auto") -> Any:  # fmt: skip
    """SciPy calls the routines of tridiagonal matrices that those of symmetric ones call."""
    whole = {"auto": "syevd", "stevd": "syevd", "stemr": "syevr"}.get(lapack_driver)
    if (lapack_driver not in ("auto", "stebz")) if select in ("i", 2) else whole is None:
        raise fail(JitadTypeError, f"lapack_driver={lapack_driver!r} of eigh_tridiagonal is not "
                   "supported here", "Leave it out.")  # fmt: skip
    d, e = floats(d, e)
    lower = call(np.diag, d) + call(np.diag, e, -1)
    found = _chosen(lower, whole or "", "stein", select, select_range, "eigh_tridiagonal")
    return found[0] if eigvals_only else found


@replaces(sl.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(d: Any, e: Any, select: Any = "a", select_range: Any = None,
                         check_finite: bool = True, tol: Any = 0.0,
                         lapack_driver: str = "auto") -> Any:  # fmt: skip
    return eigh_tridiagonal(d, e, True, select, select_range)


@replaces(sl.eig_banded)
def eig_banded(a_band: Any, lower: bool = False, eigvals_only: bool = False,
               overwrite_a_band: bool = False, select: Any = "a", select_range: Any = None,
               max_ev: Any = 0, check_finite: bool = True) -> Any:  # fmt: skip
    (band,) = floats(a_band)
    count, n = band._static(band.shape[0], "the number of diagonals"), band.shape[1]
    whole = call(np.diag, band[0] if lower else band[-1])
    for k in range(1, count):
        line = band[k, : extents.sub(n, k)] if lower else band[count - 1 - k, k:]
        whole = whole + call(np.diag, line, -k if lower else k)
    found = _chosen(whole, "sbevd", "sbevx", select, select_range, "eig_banded", upper=not lower,
                    diagonals=count)  # fmt: skip
    return found[0] if eigvals_only else found


@replaces(sl.eigvals_banded)
def eigvals_banded(a_band: Any, lower: bool = False, overwrite_a_band: bool = False,
                   select: Any = "a", select_range: Any = None,
                   check_finite: bool = True) -> Any:  # fmt: skip
    return eig_banded(a_band, lower, True, False, select, select_range)
