"""What becomes of the functions of scipy.linalg on complex matrices?

Those of numpy.linalg, under the names and with the arguments of SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.broadcast import shape_of
from jitad.values.complexes.lifts import real_part
from jitad.values.complexes.linalg import (
    adjoint,
    cholesky,
    det,
    eigen_of,
    inverse_of,
    mirrored,
    singular_values,
    solver,
)
from jitad.values.complexes.number import plus
from jitad.values.kind import fail
from jitad.values.registry import call, of_complex

of_complex(sl.solve)(solver(sl.solve))
for _f in (sl.inv, sl.pinv, sl.expm):
    of_complex(_f)(inverse_of(_f))


@of_complex(sl.eigh)
def scipy_eigh(a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False,
               overwrite_a: bool = False, overwrite_b: bool = False, type: int = 1,
               check_finite: bool = True, subset_by_index: Any = None,
               subset_by_value: Any = None, driver: Any = None) -> Any:  # fmt: skip
    """The generalised problem by the Cholesky factor of b."""
    whole = subset_by_index is None or eigvals_only
    usual = (None, "evr" if b is None else "gvd")
    if type != 1 or subset_by_value is not None or driver not in usual or not whole:
        raise fail(JitadTypeError, "type=, subset_by_value=, driver=, and some of the eigenvectors "
                   "(subset_by_index=), are not supported here for complex matrices",
                   "Take what you need of all of them.")  # fmt: skip
    f = None
    if b is not None:
        f = cholesky(b if lower else adjoint(b))
        left = solve_triangular(f, mirrored(a, not lower), 0, True)
        a = solve_triangular(f, adjoint(left), 0, True)
    found = eigen_of(a, "zheevr" if b is None else "zheevd", not lower, not eigvals_only)
    if eigvals_only:
        some = subset_by_index
        return found[0] if some is None else found[0][some[0] : extents.add(some[1], 1)]
    values, vectors = found
    return values, vectors if f is None else solve_triangular(f, vectors, 2, True)


@of_complex(sl.eigvalsh)
def scipy_eigvalsh(a: Any, b: Any = None, *, lower: bool = True, **others: Any) -> Any:
    return scipy_eigh(a, b, lower=lower, eigvals_only=True, **others)


@of_complex(sl.cholesky)
def scipy_cholesky(a: Any, lower: bool = False, overwrite_a: bool = False,
                   check_finite: bool = True) -> Any:  # fmt: skip
    return cholesky(a, upper=not lower)


@of_complex(sl.svdvals)
def scipy_svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return singular_values(a)


of_complex(sl.det)(lambda a, overwrite_a=False, check_finite=True: det(a.astype(complex)))


# -- systems by way of others ---------------------------------------------------------------------


@of_complex(sl.solve_triangular)
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False,
                     unit_diagonal: bool = False, overwrite_b: bool = False,
                     check_finite: bool = True) -> Any:  # fmt: skip
    """As any system, of the triangle alone."""
    kept = call(np.tril if lower else np.triu, a, (-1 if lower else 1) if unit_diagonal else 0)
    if unit_diagonal:
        re = real_part(a)
        kept = plus(kept, call(np.eye, shape_of(re)[-1], dtype=re.dtype))
    if trans in (1, "T"):
        kept = call(np.matrix_transpose, kept)
    elif trans in (2, "C"):
        kept = adjoint(kept)
    return call(np.linalg.solve, kept, b)


@of_complex(sl.cho_factor)
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False,
               check_finite: bool = True) -> Any:  # fmt: skip
    """As SciPy's, but with zeros in the triangle that nobody reads."""
    return cholesky(a, upper=not lower), lower


@of_complex(sl.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False,
              check_finite: bool = True) -> Any:  # fmt: skip
    c, lower = c_and_lower
    first, second = (0, 2) if lower else (2, 0)
    return solve_triangular(c, solve_triangular(c, b, first, lower), second, lower)
