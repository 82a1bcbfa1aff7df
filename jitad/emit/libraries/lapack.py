"""How are matrices factored and systems solved in compiled code?

By LAPACK: directly where SciPy hands out the address of a routine, else by way of Numba's
numpy.linalg.  LAPACK stores columns: what is solved here is turned on the way in and out, and small
systems are solved column by column: OpenBLAS wakes its threads for two columns of two numbers, and
waits for them, which takes a thousand times as long where other programs use the cores.  Where
Numba is off, the functions give what the primitives of their name evaluate to.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import overload

from jitad.emit.libraries import addresses
from jitad.primitives import TABLE

# routine(...): integers are handed over by address, arrays as addresses of their first element
getrf = addresses.fortran("getrf", __name__)
getrs = addresses.fortran("getrs", __name__)
potrf = addresses.fortran("potrf", __name__)
trtrs = addresses.fortran("trtrs", __name__)

N, T, L, U = map(ord, "NTLU")

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}


FEW = 30_000  # multiplications that are not worth threads


def compiled(function: Any) -> Any:
    return overload(function, jit_options=_OPTIONS)


# -- LU -------------------------------------------------------------------------------------------


def lu(a: Any) -> Any:
    return TABLE["lu"].evaluate(a, len(a) + 1)


@compiled(lu)
def _lu(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.empty((n + 1, n), a.dtype)
        pivots = np.empty(n, np.int32)
        info = np.empty(1, np.int32)
        for i in range(n):
            for j in range(n):
                out[j, i] = a[i, j]
        if n:
            getrf(n, n, out, n, pivots, info)
        for i in range(n):
            out[n, i] = pivots[i] - 1
        return out

    return implementation


def solve(factors: Any, b: Any, turned: bool) -> Any:
    return TABLE["solve"].evaluate(factors[:-1], factors, b, turned=turned)


@compiled(solve)
def _solve(factors, b, turned):  # type: ignore[no-untyped-def]
    def implementation(factors, b, turned):  # type: ignore[no-untyped-def]
        n, k = b.shape
        pivots = np.empty(n, np.int32)
        info = np.empty(1, np.int32)
        for i in range(n):
            pivots[i] = int(factors[n, i]) + 1
        x = np.empty((k, n), factors.dtype)
        for i in range(n):
            for j in range(k):
                x[j, i] = b[i, j]
        at_once = k if n * n * k > FEW else 1
        for c in range(0, k if n else 0, at_once):
            getrs(T if turned else N, n, at_once, factors, n, pivots, x[c:], n, info)
        out = np.empty((n, k), factors.dtype)
        for i in range(n):
            for j in range(k):
                out[i, j] = x[j, i]
        return out

    return implementation


def lu_sign(factors: Any) -> Any:
    return TABLE["lu_sign"].evaluate(factors)


@compiled(lu_sign)
def _lu_sign(factors):  # type: ignore[no-untyped-def]
    def implementation(factors):  # type: ignore[no-untyped-def]
        n = factors.shape[1]
        out = factors.dtype.type(1)
        for i in range(n):
            d = factors[i, i]
            if factors[n, i] != i:
                out = -out
            if d == 0:
                out = factors.dtype.type(0)
            elif d < 0:
                out = -out
            elif d != d:
                out = d
        return out

    return implementation


def lu_order(pivots: Any) -> Any:
    return TABLE["lu_order"].evaluate(pivots)


@compiled(lu_order)
def _lu_order(pivots):  # type: ignore[no-untyped-def]
    def implementation(pivots):  # type: ignore[no-untyped-def]
        n = len(pivots)
        out = np.empty(n, np.int64)
        for i in range(n):
            out[i] = i
        for i in range(n):
            j = pivots[i]
            k = out[i]
            out[i] = out[j]
            out[j] = k
        return out

    return implementation


def log_size(factors: Any) -> Any:
    return TABLE["log_size"].evaluate(factors[:-1], factors)


@compiled(log_size)
def _log_size(factors):  # type: ignore[no-untyped-def]
    def implementation(factors):  # type: ignore[no-untyped-def]
        out = factors.dtype.type(0)
        for i in range(factors.shape[1]):
            d = abs(factors[i, i])
            out += math.log(d) if d != 0 else -math.inf
        return out

    return implementation


# -- triangles ------------------------------------------------------------------------------------


def trisolve(a: Any, b: Any, lower: bool, turned: bool, unit: bool) -> Any:
    return TABLE["trisolve"].evaluate(a, b, lower=lower, turned=turned, unit=unit)


@compiled(trisolve)
def _trisolve(a, b, lower, turned, unit):  # type: ignore[no-untyped-def]
    def implementation(a, b, lower, turned, unit):  # type: ignore[no-untyped-def]
        n, k = b.shape
        info = np.empty(1, np.int32)
        x = np.empty((k, n), a.dtype)
        for i in range(n):
            for j in range(k):
                x[j, i] = b[i, j]
        at_once = k if n * n * k > FEW else 1
        half, turn = U if lower else L, N if turned else T  # rows are LAPACK's columns
        for c in range(0, k if n else 0, at_once):
            trtrs(half, turn, U if unit else N, n, at_once, a, n, x[c:], n, info)
        out = np.empty((n, k), a.dtype)
        for i in range(n):
            for j in range(k):
                out[i, j] = x[j, i]
        return out

    return implementation


def cholesky(a: Any) -> Any:
    return TABLE["cholesky"].evaluate(a)


@compiled(cholesky)
def _cholesky(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.zeros((n, n), a.dtype)
        info = np.zeros(1, np.int32)
        for i in range(n):
            for j in range(i + 1):
                out[i, j] = a[i, j]
        if n:
            potrf(U, n, out, n, info)
        if info[0]:
            for i in range(n):
                for j in range(n):
                    out[i, j] = np.nan
        return out

    return implementation


# -- decompositions -------------------------------------------------------------------------------


def part(packed: Any, start: int, count: int) -> Any:
    return np.array(packed[start : start + count])


@compiled(part)
def _part(packed, start, count):  # type: ignore[no-untyped-def]
    def implementation(packed, start, count):  # type: ignore[no-untyped-def]
        m = packed.shape[1]
        out = np.empty((count, m), packed.dtype)
        for i in range(count):
            for j in range(m):
                out[i, j] = packed[start + i, j]
        return out

    return implementation


def line(packed: Any, k: int) -> Any:
    return np.array(packed[k])


@compiled(line)
def _line(packed, k):  # type: ignore[no-untyped-def]
    def implementation(packed, k):  # type: ignore[no-untyped-def]
        out = np.empty(packed.shape[1], packed.dtype)
        for j in range(len(out)):
            out[j] = packed[k, j]
        return out

    return implementation


def svd(a: Any) -> Any:
    return TABLE["svd"].evaluate(a, None, None)


@compiled(svd)
def _svd(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        m, n = a.shape
        k = min(m, n)
        out = np.empty((m + n + 1, k), a.dtype)
        if k:
            u, s, vt = np.linalg.svd(a, False)
            for j in range(k):
                for i in range(m):
                    out[i, j] = u[i, j]
                out[m, j] = s[j]
                for i in range(n):
                    out[m + 1 + i, j] = vt[j, i]
        return out

    return implementation


def qr(a: Any) -> Any:
    return TABLE["qr"].evaluate(a, None)


@compiled(qr)
def _qr(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        m, n = a.shape
        out = np.zeros((m + n, n), a.dtype)
        if n:
            q, r = np.linalg.qr(a)
            for j in range(n):
                for i in range(m):
                    out[i, j] = q[i, j]
                for i in range(j + 1):
                    out[m + i, j] = r[i, j]
        return out

    return implementation


def pinv(a: Any, cutoff: float) -> Any:
    return TABLE["pinv"].evaluate(a, cutoff)


@compiled(pinv)
def _pinv(a, cutoff):  # type: ignore[no-untyped-def]
    def implementation(a, cutoff):  # type: ignore[no-untyped-def]
        m, n = a.shape
        packed = svd(a)
        k = packed.shape[1]
        out = np.zeros((n, m), a.dtype)
        for p in range(k):
            s = packed[m, p]
            if s > cutoff * packed[m, 0]:
                for i in range(n):
                    for j in range(m):
                        out[i, j] += packed[m + 1 + i, p] / s * packed[j, p]
        return out

    return implementation


# -- the exponential ------------------------------------------------------------------------------

# Coefficients of the [13/13] Pade approximant; Higham 2005, "The scaling and squaring method for
# the matrix exponential revisited".
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def expm(a: Any) -> Any:
    return TABLE["expm"].evaluate(a)


@compiled(expm)
def _expm(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a)
        size = 0.0
        for j in range(n):
            column = 0.0
            for i in range(n):
                column += abs(a[i, j])
            size = max(size, column)
        squarings = 0
        while size > 5.371920351148152:
            size *= 0.5
            squarings += 1
        scaled = a * a.dtype.type(0.5**squarings)
        eye = np.zeros((n, n), a.dtype)
        for i in range(n):
            eye[i, i] = 1.0
        if not n:
            return eye
        square = np.dot(scaled, scaled)
        # sums of even powers by Horner; odd ones are a times such a sum
        even = np.zeros((n, n), a.dtype)
        odd = np.zeros((n, n), a.dtype)
        for k in range(6, -1, -1):
            even = np.dot(even, square)
            odd = np.dot(odd, square)
            for i in range(n):
                even[i, i] += _PADE[2 * k]
                odd[i, i] += _PADE[2 * k + 1]
        odd = np.dot(scaled, odd)
        out = solve(lu(even - odd), even + odd, False)
        for _ in range(squarings):
            out = np.dot(out, out)
        return out

    return implementation


def sqrtm(a: Any) -> Any:
    return TABLE["sqrtm"].evaluate(a)


@compiled(sqrtm)
def _sqrtm(a):  # type: ignore[no-untyped-def]
    small = np.finfo(str(a.dtype)).eps

    def implementation(a):  # type: ignore[no-untyped-def]
        """Denman and Beavers' iteration in product form (Higham 2008, 6.3), scaled."""
        n = len(a)
        x = a.copy()
        m = a.copy()
        eye = np.zeros((n, n), a.dtype)
        for i in range(n):
            eye[i, i] = 1.0
        for _ in range(60):
            factors = lu(m)
            inverse = solve(factors, eye, False)
            away = 0.0
            for i in range(n):
                for j in range(n):
                    away = max(away, abs(m[i, j] - eye[i, j]))
            scale = 1.0
            if away > 0.1:
                size = 0.0
                for i in range(n):
                    size += math.log(abs(factors[i, i]))
                scale = math.exp(-0.5 * size / n)
            square = a.dtype.type(scale * scale)
            half, quarter = a.dtype.type(0.5), a.dtype.type(0.25)
            x = half * a.dtype.type(scale) * (x + np.dot(x, inverse) / square)
            m = half * eye + quarter * (square * m + inverse / square)
            if not away > n * small:
                return x
            if away != away:
                break
        for i in range(n):
            for j in range(n):
                x[i, j] = np.nan
        return x

    return implementation
