"""What becomes of the functions of scipy.linalg on complex matrices?

Those of numpy.linalg, under the names and with the arguments of SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from jitad.errors import JitadTypeError
from jitad.values.broadcast import shape_of
from jitad.values.complexes.lifts import real_part
from jitad.values.complexes.linalg import (
    adjoint,
    cholesky,
    det,
    eigvalsh,
    inverse_of,
    singular_values,
    solver,
)
from jitad.values.complexes.number import plus
from jitad.values.kind import fail
from jitad.values.registry import call, of_complex

of_complex(sl.solve)(solver(sl.solve))
for _f in (sl.inv, sl.pinv, sl.expm):
    of_complex(_f)(inverse_of(_f))


@of_complex(sl.eigvalsh)
def scipy_eigvalsh(a: Any, b: Any = None, *, lower: bool = True) -> Any:
    if b is not None:
        raise fail(JitadTypeError, "b= of eigvalsh is not supported for complex matrices")
    return eigvalsh(a, "L" if lower else "U")


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
