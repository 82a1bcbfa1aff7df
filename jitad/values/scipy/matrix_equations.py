"""What becomes of the matrix equations and factorisations of scipy.linalg that are compositions?

Equations that are linear in a matrix are solved as the linear systems that they are, of all its
elements: so for small matrices only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from jitad.errors import JitadError, JitadTypeError
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.kind import fail, require
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.numpy.linalg import floats, matrix
from jitad.values.numpy.shaping import handle, ravel, reshape
from jitad.values.registry import call, replaces

MOST = 900  # unknowns of a system


def _solved(system: Any, right: Any, shape: tuple[Any, ...], name: str) -> Any:
    count = system.shape[0]
    few = bind("le", count, MOST) if isinstance(count, Number) else count <= MOST
    require(few, JitadTypeError, f"{name} is supported for {MOST} unknowns at most: its equations "
            "are written out", "Write it as a function with rules: primitive().")  # fmt: skip
    return reshape(call(np.linalg.solve, system, ravel(right)), shape)


def _square(*matrices: Any) -> list[Any]:
    found = list(floats(*matrices))
    for a in found:
        matrix(a)
    return found


@replaces(sl.solve_sylvester)
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """a x + x b = q, row after row."""
    a, b = _square(a, b)
    q = handle(q)
    n, m = a.shape[0], b.shape[0]
    system = call(np.add, call(np.kron, a, call(np.eye, m, dtype=b.dtype)),
                  call(np.kron, call(np.eye, n, dtype=a.dtype), b.T))  # fmt: skip
    return _solved(system, q, (n, m), "solve_sylvester")


@replaces(sl.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    return solve_sylvester(a, handle(a).T, q)


@replaces(sl.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    (a,) = _square(a)
    n = a.shape[0]
    system = call(np.subtract, call(np.eye, extents.mul(n, n)), call(np.kron, a, a))
    return _solved(system, handle(q), (n, n), "solve_discrete_lyapunov")


@replaces(sl.solve_circulant)
def solve_circulant(c: Any, b: Any, singular: str = "raise", tol: Any = None, caxis: int = -1,
                    baxis: int = 0, outaxis: int = 0) -> Any:  # fmt: skip
    """As any system: the matrix is written out."""
    c = handle(c)
    if singular != "raise" or c.ndim != 1 or (baxis, outaxis) != (0, 0):
        raise fail(JitadTypeError, "solve_circulant is supported for one matrix, with its defaults")
    return call(np.linalg.solve, call(sl.circulant, c), b)


@replaces(sl.lu)
def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True,
       p_indices: bool = False) -> Any:  # fmt: skip
    """Of a square matrix, by the packed factors."""
    packed, piv = call(sl.lu_factor, a)
    order = call(np.argsort, call(np.asarray, _order(piv)))
    eye = call(np.eye, packed.shape[0], dtype=packed.dtype)
    lower = call(np.add, call(np.tril, packed, -1), eye)
    upper = call(np.triu, packed)
    if p_indices:
        return order, lower, upper
    return (lower[order], upper) if permute_l else (eye[order], lower, upper)


def _order(piv: Any) -> Any:
    return wrap(bind("lu_order", handle(piv).astype(int).content))


@replaces(sl.expm_frechet)
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: bool = True,
                 check_finite: bool = True) -> Any:  # fmt: skip
    """A corner of the exponential of a block matrix (Mathias 1996)."""
    a, e = (x.astype(float) for x in _square(A, E))
    n = a.shape[0]
    whole = call(sl.expm, call(np.block, [[a, e], [call(np.zeros_like, a), a]]))
    return (whole[:n, :n], whole[:n, n:]) if compute_expm else whole[:n, n:]


HALVINGS, NODES = 7, 8  # for eigenvalues between 1e-20 and 1e20, to rounding


@replaces(sl.logm)
def logm(A: Any) -> Any:
    """Roots that are near the identity, and Gauss and Legendre's rule for the integral of
    (a - 1) / (1 + t (a - 1)), which is a Pade approximant (Higham 2008, ch. 11).
    """
    (a,) = _square(A)
    eye = call(np.eye, a.shape[-1])

    def halve(_: Any, power: Any) -> tuple[Any]:
        return (call(sl.sqrtm, ArrayHandle(power)).content,)

    (near,) = fold(HALVINGS, (a.content,), halve)
    rest = call(np.subtract, ArrayHandle(near), eye)
    size = call(np.linalg.norm, call(np.linalg.matrix_power, rest, 8), axis=(-2, -1))
    require(call(np.all, call(np.less, size, 0.45**8)), JitadError,
            "logm: the matrix is singular, or too close to it or to infinity")  # fmt: skip
    t, w = (x.reshape((NODES,) + (1,) * rest.ndim) for x in np.polynomial.legendre.leggauss(NODES))
    between = call(np.add, eye, call(np.multiply, 0.5 * (t + 1.0), rest))
    parts = call(np.linalg.solve, between, call(np.broadcast_to, rest, between.shape))
    return call(np.sum, call(np.multiply, 0.5 * 2.0**HALVINGS * w, parts), axis=0)


@replaces(sl.fractional_matrix_power)
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """Whole powers are products; others the exponential of a multiple of the logarithm."""
    if isinstance(t, (int, float)) and t == int(t):
        return call(np.linalg.matrix_power, A, int(t))
    return call(sl.expm, call(np.multiply, t, call(sl.logm, A)))


@replaces(sl.polar)
def polar(a: Any, side: str = "right") -> Any:
    """The symmetric factor is the root of a' a; of square matrices that are not singular."""
    (a,) = _square(a)
    square = call(np.matmul, a.T, a) if side == "right" else call(np.matmul, a, a.T)
    p = call(sl.sqrtm, square)
    if side == "right":
        return call(np.linalg.solve, p.T, a.T).T, p
    return call(np.linalg.solve, p, a), p


@replaces(sl.orthogonal_procrustes)
def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> Any:
    u, w, vt = call(np.linalg.svd, call(np.matmul, handle(B).T, A).T)
    return call(np.matmul, u, vt), call(np.sum, w)


@replaces(sl.leslie)
def leslie(f: Any, s: Any) -> Any:
    f, s = handle(f), handle(s)
    below = call(np.diag, s, -1)
    rest = call(np.zeros, s.shape[0], dtype=f.dtype)
    first = call(np.concatenate, [call(np.ones, 1, dtype=f.dtype), rest])
    return call(np.add, below, call(np.multiply, first.with_axes((1,)), f))
