"""How are the eigenvalues of symmetric matrices found in compiled code?  By the routine asked for.

An eigenvector may as well be its negative, so programs see which routine of LAPACK it came from:
NumPy's, and SciPy's of whole, of chosen, and of banded ones differ.  With `syevr`, even the last
bits decide; so it is given as much to work in as by SciPy.  Each gives a packed array,
eigenvalues in a row above the eigenvectors in columns; of those from `low` up to `high` it is what
the routine gives that is asked for these alone.  What is read is the lower triangle of `a`.  Where
`upper` is set, that is the upper triangle of the matrix meant, which to LAPACK, where columns lie
side by side, is `a` as it lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.emit.libraries import addresses
from jitad.emit.libraries.lapack import L, U, compiled
from jitad.primitives import TABLE

evd = addresses.fortran("evd", __name__, of="syevd")
evr = addresses.fortran("evr", __name__, of="syevr")
evx = addresses.fortran("evx", __name__, of="syevx")
band_evd = addresses.fortran("band_evd", __name__, of="sbevd")
band_evx = addresses.fortran("band_evx", __name__, of="sbevx")

V, A, I = map(ord, "VAI")  # noqa: E741  (as LAPACK calls them)

BLOCKED = 64  # columns that LAPACK may work on at once


def lies(a: Any) -> Any:
    """The matrix as LAPACK is to see it, which may be written."""


@compiled(lies)
def _lies(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.empty((n, n), a.dtype)
        for i in range(n):
            for j in range(i + 1):
                if not np.isfinite(a[i, j]):
                    raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
                out[i, j] = a[i, j]
                out[j, i] = a[i, j]
        return out

    return implementation


def packed(w: Any, z: Any, low: int, high: int, info: Any, out: Any) -> None:
    """Enter these eigenvalues, and rows of eigenvectors."""


@compiled(packed)
def _packed(w, z, low, high, info, out):  # type: ignore[no-untyped-def]
    def implementation(w, z, low, high, info, out):  # type: ignore[no-untyped-def]
        if info[0] != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge.")
        for k in range(high - low):
            out[0, low + k] = w[k]
            for i in range(z.shape[1]):
                out[1 + i, low + k] = z[k, i]

    return implementation


def syevd(a: Any, low: int, high: int, upper: bool, diagonals: int) -> Any:
    return TABLE["eigh"].evaluate(a, 0, low, high, by="syevd", upper=upper, diagonals=diagonals)


@compiled(syevd)
def _syevd(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
    def implementation(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.empty((n + 1, n), a.dtype)
        z = lies(a)
        w = np.empty(n, a.dtype)
        info = np.zeros(1, np.int32)
        size = 1 + (6 + BLOCKED) * n + 2 * n * n
        work = np.empty(size, a.dtype)
        counts = np.empty(3 + 5 * n, np.int32)
        if n:
            evd(V, U if upper else L, n, z, n, w, work, size, counts, 3 + 5 * n, info)
            packed(w, z, 0, n, info, out)
        return out

    return implementation


def syevr(a: Any, low: int, high: int, upper: bool, diagonals: int) -> Any:
    return TABLE["eigh"].evaluate(a, 0, low, high, by="syevr", upper=upper, diagonals=diagonals)


@compiled(syevr)
def _syevr(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
    def implementation(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.empty((n + 1, n), a.dtype)
        w, z = np.empty(n, a.dtype), np.empty((n, n), a.dtype)
        info, found = np.zeros(1, np.int32), np.zeros(1, np.int32)
        support, counts = np.empty(2 * n, np.int32), np.empty(10 * n + 1, np.int32)
        work, none = np.zeros(1, a.dtype), np.zeros(1, a.dtype)
        triangle, size = U if upper else L, 0
        if n:
            evr(V, A, triangle, n, z, n, none, none, 1, n, none, found, w, z, n, support, work, -1,
                counts, -1, info)  # fmt: skip
            size = int(work[0])
            work = np.empty(size, a.dtype)
            evr(V, A, triangle, n, lies(a), n, none, none, 1, n, none, found, w, z, n,
                support, work, size, counts, 10 * n, info)  # fmt: skip
            packed(w, z, 0, n, info, out)
        if low > 0 or high < n:
            evr(V, I, triangle, n, lies(a), n, none, none, low + 1, high, none, found, w, z,
                n, support, work, size, counts, 10 * n, info)  # fmt: skip
            packed(w, z, low, high, info, out)
        return out

    return implementation


def syevx(a: Any, low: int, high: int, upper: bool, diagonals: int) -> Any:
    return TABLE["eigh"].evaluate(a, 0, low, high, by="syevx", upper=upper, diagonals=diagonals)


def stein(a: Any, low: int, high: int, upper: bool, diagonals: int) -> Any:
    return TABLE["eigh"].evaluate(a, 0, low, high, by="stein", upper=upper, diagonals=diagonals)


def chosen(a: Any, low: int, high: int, upper: bool, tolerance: Any) -> Any:
    """By `syevx`, which calls `stein` if it is not asked for all of them, as well as can be."""


@compiled(chosen)
def _chosen(a, low, high, upper, tolerance):  # type: ignore[no-untyped-def]
    def implementation(a, low, high, upper, tolerance):  # type: ignore[no-untyped-def]
        n = len(a)
        out = syevd(a, 0, n, upper, 0)
        w, z = np.empty(n, a.dtype), np.empty((n, n), a.dtype)
        info, found = np.zeros(1, np.int32), np.zeros(1, np.int32)
        failed, counts = np.empty(n, np.int32), np.empty(5 * n, np.int32)
        size = (8 + BLOCKED) * n
        work, none = np.empty(size, a.dtype), np.zeros(1, a.dtype)
        if n:
            evx(V, I, U if upper else L, n, lies(a), n, none, none, low + 1, high,
                tolerance, found, w, z, n, work, size, counts, failed, info)  # fmt: skip
            packed(w, z, low, high, info, out)
        return out

    return implementation


@compiled(syevx)
def _syevx(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
    def implementation(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
        return chosen(a, low, high, upper, np.zeros(1, a.dtype))

    return implementation


@compiled(stein)
def _stein(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
    tiny = float(np.finfo(a.dtype.name).tiny)

    def implementation(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
        return chosen(a, low, high, upper, np.full(1, tiny, a.dtype))

    return implementation


def band(a: Any, upper: bool, diagonals: int) -> Any:
    """Columns of the matrix with their elements beside the diagonal alone."""


@compiled(band)
def _band(a, upper, diagonals):  # type: ignore[no-untyped-def]
    def implementation(a, upper, diagonals):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.zeros((n, diagonals), a.dtype)
        for i in range(n):
            for j in range(max(0, i - diagonals + 1), i + 1):
                if not np.isfinite(a[i, j]):
                    raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
                if upper:
                    out[i, diagonals - 1 - (i - j)] = a[i, j]
                else:
                    out[j, i - j] = a[i, j]
        return out

    return implementation


def sbevd(a: Any, low: int, high: int, upper: bool, diagonals: int) -> Any:
    return TABLE["eigh"].evaluate(a, 0, low, high, by="sbevd", upper=upper, diagonals=diagonals)


@compiled(sbevd)
def _sbevd(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
    def implementation(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.empty((n + 1, n), a.dtype)
        w, z = np.empty(n, a.dtype), np.empty((n, n), a.dtype)
        info, counts = np.zeros(1, np.int32), np.empty(3 + 5 * n, np.int32)
        size = 1 + 5 * n + 2 * n * n
        work = np.empty(size, a.dtype)
        if n:
            band_evd(V, U if upper else L, n, diagonals - 1, band(a, upper, diagonals), diagonals,
                     w, z, n, work, size, counts, 3 + 5 * n, info)  # fmt: skip
            packed(w, z, 0, n, info, out)
        return out

    return implementation


def sbevx(a: Any, low: int, high: int, upper: bool, diagonals: int) -> Any:
    return TABLE["eigh"].evaluate(a, 0, low, high, by="sbevx", upper=upper, diagonals=diagonals)


@compiled(sbevx)
def _sbevx(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
    tolerance = 2.0 * float(np.finfo(a.dtype.name).tiny)  # as SciPy has it

    def implementation(a, low, high, upper, diagonals):  # type: ignore[no-untyped-def]
        n = len(a)
        out = sbevd(a, 0, n, upper, diagonals)
        w, z, turned = np.empty(n, a.dtype), np.empty((n, n), a.dtype), np.empty((n, n), a.dtype)
        info, found = np.zeros(1, np.int32), np.zeros(1, np.int32)
        failed, counts = np.empty(n, np.int32), np.empty(5 * n, np.int32)
        work, none = np.empty(7 * n, a.dtype), np.full(1, tolerance, a.dtype)
        if n:
            band_evx(V, I, U if upper else L, n, diagonals - 1, band(a, upper, diagonals),
                     diagonals, turned, n, none, none, low + 1, high, none, found, w, z, n, work,
                     counts, failed, info)  # fmt: skip
            packed(w, z, low, high, info, out)
        return out

    return implementation
