"""How are the eigenvalues of Hermitian matrices found in compiled code?  By the routine asked for.

As of symmetric matrices (`symmetric.py`), programs see which routine of LAPACK it was: NumPy calls
`zheevd`, SciPy `zheevr`.  Matrices and results are real here; see `primitives/hermitian`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.emit.libraries import addresses
from jitad.emit.libraries.lapack import L, U, compiled
from jitad.emit.libraries.symmetric import BLOCKED, A, V
from jitad.primitives import TABLE

heevd = addresses.fortran("heevd", __name__, "cz")
heevr = addresses.fortran("heevr", __name__, "cz")


def entered(a: Any) -> Any:
    """The matrix as LAPACK is to see it, which may be written: columns lie side by side."""


@compiled(entered)
def _entered(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a) // 2
        h = a[:n, :n] + 1j * a[n:, :n]
        for i in range(n):
            for j in range(n):
                if not (np.isfinite(h[i, j].real) and np.isfinite(h[i, j].imag)):
                    raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
        return np.ascontiguousarray(h.T)

    return implementation


def results(w: Any, z: Any, info: Any, a: Any) -> Any:
    """Eigenvalues in a row, below them the parts of the eigenvectors, which are rows of z."""


@compiled(results)
def _results(w, z, info, a):  # type: ignore[no-untyped-def]
    def implementation(w, z, info, a):  # type: ignore[no-untyped-def]
        if info[0] != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge.")
        n = len(w)
        out = np.empty((2 * n + 1, n), a.dtype)
        for j in range(n):
            out[0, j] = w[j]
            for i in range(n):
                out[1 + i, j] = z[j, i].real
                out[1 + n + i, j] = z[j, i].imag
        return out

    return implementation


def zheevd(a: Any, upper: bool) -> Any:
    return TABLE["heigh"].evaluate(a, None, None, by="zheevd", upper=upper)


@compiled(zheevd)
def _zheevd(a, upper):  # type: ignore[no-untyped-def]
    def implementation(a, upper):  # type: ignore[no-untyped-def]
        z = entered(a)
        n = len(z)
        w, info = np.empty(n, a.dtype), np.zeros(1, np.int32)
        size, more, counts = (2 + BLOCKED) * n + n * n, 1 + 5 * n + 2 * n * n, 3 + 5 * n
        work, real = np.empty(size, z.dtype), np.empty(more, a.dtype)
        whole = np.empty(counts, np.int32)
        if n:
            heevd(V, U if upper else L, n, z, n, w, work, size, real, more, whole, counts, info)
        return results(w, z, info, a)

    return implementation


def zheevr(a: Any, upper: bool) -> Any:
    return TABLE["heigh"].evaluate(a, None, None, by="zheevr", upper=upper)


@compiled(zheevr)
def _zheevr(a, upper):  # type: ignore[no-untyped-def]
    def implementation(a, upper):  # type: ignore[no-untyped-def]
        h = entered(a)
        n = len(h)
        z = np.empty_like(h)
        w, info, found = np.empty(n, a.dtype), np.zeros(1, np.int32), np.zeros(1, np.int32)
        support, whole = np.empty(2 * n, np.int32), np.zeros(10 * n + 1, np.int32)
        work, real, none = np.zeros(1, h.dtype), np.zeros(1, a.dtype), np.zeros(1, a.dtype)
        triangle = U if upper else L
        if n:
            heevr(V, A, triangle, n, h, n, none, none, 1, n, none, found, w, z, n, support,
                  work, -1, real, -1, whole, -1, info)  # fmt: skip
            size, more = int(work[0].real), int(real[0])
            work, real = np.empty(size, h.dtype), np.empty(more, a.dtype)
            heevr(V, A, triangle, n, h, n, none, none, 1, n, none, found, w, z, n, support, work,
                  size, real, more, whole, 10 * n, info)  # fmt: skip
        return results(w, z, info, a)

    return implementation
