"""What becomes of functions that find eigenvalues of matrices that are not symmetric?

Their results are complex, also where NumPy looks at the numbers and gives real ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadLinAlgError
from jitad.values import extents
from jitad.values.broadcast import elementwise
from jitad.values.complexes.number import Complex
from jitad.values.kind import require
from jitad.values.number import Number, bind
from jitad.values.numpy.linalg import floats, matrix, stacked
from jitad.values.registry import call, replaces

_Eig: Any = type(np.linalg.eig(np.eye(1)))


def decomposed(a: Any, vectors: bool) -> tuple[Complex, Complex | None]:
    (a,) = floats(a)
    matrix(a)
    n = a.shape[-1]

    def one(a: Any) -> tuple[Any, ...]:
        packed = bind("eig", a, extents.add(extents.mul(n, 3), 2))
        values = bind("eig_values", a, packed)
        found = [bind("slice", values, k, 0, 1, n, kinds="ir") for k in (0, 1)]
        if vectors:
            both = bind("eig_vectors", a, packed, extents.mul(n, 2))
            found += [bind("slice", both, k, 1, n, 0, 1, n, kinds="rr") for k in (0, n)]
        return tuple(found)

    re, im, *rest = stacked(one, [(n,), (n,), *[(n, n)] * (2 * vectors)], a)
    fine = elementwise("logical_not", call(np.any, call(np.isnan, re)))
    require(fine, JitadLinAlgError, "Eigenvalues did not converge")
    return Complex(re, im), Complex(*rest) if vectors else None


@replaces(np.linalg.eig)
def eig(a: Any) -> Any:
    return _Eig(*decomposed(a, True))


@replaces(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    return decomposed(a, False)[0]


@replaces(np.roots)
def roots(p: Any) -> Any:
    """The eigenvalues of the companion matrix; the ends of p must not be zero."""
    p = call(np.atleast_1d, p)
    n = p.shape[0]
    if isinstance(n, Number):
        n = n.known("how many coefficients there are")  # type: ignore[attr-defined]
    if n == 0:
        return call(np.zeros, 0)
    ends = elementwise("logical_and", elementwise("ne", p[0], 0.0), elementwise("ne", p[-1], 0.0))
    require(ends, JitadError, "roots: the first or the last coefficient is zero",
            "Leave it out: how many roots there are must not depend on numbers.")  # fmt: skip
    if n < 2:
        return call(np.zeros, 0)
    p = p if p.dtype.kind == "f" else p.astype(float)
    companion = call(np.diag, call(np.ones, n - 2, p.dtype), -1)
    companion[0, :] = call(np.true_divide, call(np.negative, p[1:]), p[0])
    return eigvals(companion)
