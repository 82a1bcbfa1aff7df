"""How are determinants, and what their derivatives are made of, computed in compiled code?

As `primitives/determinants` says; where Numba is off, by it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitad.emit.libraries.lapack import compiled, lu, solve
from jitad.primitives import TABLE
from jitad.primitives.determinants import LIFTED, ROWS, SMALL, TOO_SMALL


def determinant(factors: Any) -> Any:
    return TABLE["det"].evaluate(factors[:-1], factors)


@compiled(determinant)
def _determinant(factors):  # type: ignore[no-untyped-def]
    def implementation(factors):  # type: ignore[no-untyped-def]
        n = factors.shape[1]
        out = factors.dtype.type(1)
        for i in range(n):
            out *= factors[i, i] if factors[n, i] == i else -factors[i, i]
        return out

    return implementation


def regular(factors: Any, digits: float) -> bool:
    raise NotImplementedError  # of compiled code alone


@compiled(regular)
def _regular(factors, digits):  # type: ignore[no-untyped-def]
    def implementation(factors, digits):  # type: ignore[no-untyped-def]
        smallest, largest = math.inf, 0.0
        for i in range(factors.shape[1]):
            smallest = min(smallest, abs(factors[i, i]))
            largest = max(largest, abs(factors[i, i]))
        return smallest > digits * largest

    return implementation


def balanced(a: Any) -> Any:
    raise NotImplementedError


@compiled(balanced)
def _balanced(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a)
        b, r, c = a.copy(), np.zeros(n, np.int64), np.zeros(n, np.int64)
        for i in range(n):
            largest = 0.0
            for j in range(n):
                largest = max(largest, abs(b[i, j]))
            r[i] = math.frexp(largest)[1]
            for j in range(n):
                b[i, j] = math.ldexp(b[i, j], -r[i])
        for j in range(n):
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(b[i, j]))
            c[j] = math.frexp(largest)[1]
            for i in range(n):
                b[i, j] = math.ldexp(b[i, j], -c[j])
        return b, r, c

    return implementation


def of_balanced(x: Any, u: Any, vt: Any, r: Any, c: Any) -> Any:
    raise NotImplementedError


@compiled(of_balanced)
def _of_balanced(x, u, vt, r, c):  # type: ignore[no-untyped-def]
    def implementation(x, u, vt, r, c):  # type: ignore[no-untyped-def]
        sign = determinant(lu(np.ascontiguousarray(u))) * determinant(lu(np.ascontiguousarray(vt)))
        out = u @ x @ vt
        rest = r.sum() + c.sum()
        for i in range(len(out)):
            for j in range(len(out)):
                out[i, j] = math.ldexp(sign * out[i, j], rest - r[i] - c[j])
        return out

    return implementation


def cofactors(a: Any, factors: Any) -> Any:
    return TABLE["cofactors"].evaluate(a, factors)


@compiled(cofactors)
def _cofactors(a, factors):  # type: ignore[no-untyped-def]
    def implementation(a, factors):  # type: ignore[no-untyped-def]
        n = len(a)
        if not np.all(np.isfinite(a)):
            return np.full((n, n), np.nan, a.dtype)
        if regular(factors, np.finfo(a.dtype).eps ** 0.25):
            return solve(factors, np.eye(n, dtype=a.dtype), True) * determinant(factors)
        b, r, c = balanced(a)
        u, s, vt = np.linalg.svd(b)
        inside = np.zeros((n, n), a.dtype)
        for k in range(n):
            inside[k, k] = 1
            for i in range(n):
                if i != k:
                    inside[k, k] *= s[i]
        return of_balanced(inside, u, vt, r, c)

    return implementation


def lifts(a: Any, factors: Any) -> Any:
    return TABLE["lifts"].evaluate(a, factors)


@compiled(lifts)
def _lifts(a, factors):  # type: ignore[no-untyped-def]
    def implementation(a, factors):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.zeros((ROWS, n), a.dtype)
        if regular(factors, SMALL) or not np.all(np.isfinite(a)):
            return out
        b, r, c = balanced(a)
        u, s, vt = np.linalg.svd(b)
        largest = s[0] if s[0] > 0 else s.dtype.type(1)
        small = np.sum(s <= SMALL * largest)
        for k in range(min(small, LIFTED)):
            for i in range(n):
                out[k, i] = math.ldexp(largest * u[i, n - 1 - k], r[i])
                out[LIFTED + k, i] = math.ldexp(vt[n - 1 - k, i], c[i])
        if small > LIFTED and s[n - 1 - LIFTED] <= TOO_SMALL * largest:
            for i in range(n):
                out[ROWS - 1, i] = math.ldexp(3 * largest, r[i] + c[i])
        return out

    return implementation


def cofactors_along(a: Any, lifts: Any, e: Any) -> Any:
    return TABLE["cofactors_along"].evaluate(a, lifts, e)


@compiled(cofactors_along)
def _along(a, lifts, e):  # type: ignore[no-untyped-def]
    def implementation(a, lifts, e):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.zeros((n, n), a.dtype)
        if not np.any(lifts[ROWS - 1]):
            return out
        b, r, c = balanced(a)
        u, s, vt = np.linalg.svd(b)
        for i in range(n):
            for j in range(n):
                out[i, j] = math.ldexp(e[i, j], -(r[i] + c[j]))
        f = u.T @ out @ vt.T
        inside = np.zeros((n, n), a.dtype)
        for i in range(n):
            before = s.dtype.type(1)
            for j in range(n):
                if j != i:
                    others = before
                    for k in range(j + 1, n):
                        others *= s[k] if k != i else s.dtype.type(1)
                    inside[i, i] += others * f[j, j]
                    inside[i, j] = -others * f[j, i]
                    before *= s[j]
        return of_balanced(inside, u, vt, r, c)

    return implementation
