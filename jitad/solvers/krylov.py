"""What do the iterations of scipy.sparse.linalg find, where something is traced?

It is the solution that counts, not the way: matrices are solved with by factors (`sparse_systems`),
functions that multiply by one as equations, and eigenpairs are chosen among all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse.linalg as ssl

from jitad.errors import JitadTypeError
from jitad.operators.batching import batch
from jitad.operators.solutions import root_of
from jitad.operators.sparse_systems import solution_of
from jitad.solvers.entered import refuse
from jitad.trace import hooks
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.registry import call, is_complex, of_complex, replaces
from jitad.values.scipy.sparse_matrices import SparseMatrix
from jitad.values.stand_ins import Read, StandIn, adopt, stands_for


class Operator(StandIn):
    """A matrix as what multiplies by it, and by its conjugate transpose."""

    _what = "LinearOperator"
    __array_ufunc__ = None  # so that arrays leave their operators to it
    ndim = 2

    def __init__(self, shape: Any, matvec: Any, rmatvec: Any = None) -> None:
        self.shape, self._times, self._turned = tuple(shape), matvec, rmatvec

    def matvec(self, x: Any) -> Any:
        return call(np.reshape, hooks.call(self._times, x), -1)

    def rmatvec(self, x: Any) -> Any:
        if self._turned is None:
            raise NotImplementedError("rmatvec is not defined")
        return call(np.reshape, hooks.call(self._turned, x), -1)

    def matmat(self, x: Any) -> Any:
        return batch(self.matvec, 1, 1)(x)

    def rmatmat(self, x: Any) -> Any:
        return batch(self.rmatvec, 1, 1)(x)

    def dot(self, x: Any) -> Any:
        if isinstance(x := adopt(x), Operator):
            return self._with(lambda v: self.matvec(x.matvec(v)),
                              lambda v: x.rmatvec(self.rmatvec(v)), x)  # fmt: skip
        x = call(np.asarray, x)
        axes = call(np.ndim, x)
        if not axes:
            factor = call(np.conj, x)
            return self._with(lambda v: call(np.multiply, self.matvec(v), x),
                              lambda v: call(np.multiply, self.rmatvec(v), factor))  # fmt: skip
        return self.matvec(x) if axes == 1 else self.matmat(x)

    __call__ = __mul__ = dot

    def __matmul__(self, x: Any) -> Any:
        if not isinstance(x, StandIn) and not call(np.ndim, x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(x)

    def __rmul__(self, x: Any) -> Any:
        if not call(np.ndim, x):
            return self.dot(x)
        return NotImplemented

    def __add__(self, other: Any) -> Any:
        if not isinstance(other := adopt(other), Operator):
            return NotImplemented
        return self._with(lambda v: call(np.add, self.matvec(v), other.matvec(v)),
                          lambda v: call(np.add, self.rmatvec(v), other.rmatvec(v)))  # fmt: skip

    def __neg__(self) -> Operator:
        out: Operator = self.dot(-1)
        return out

    def __sub__(self, other: Any) -> Any:
        return self + -adopt(other)

    def _with(self, matvec: Any, rmatvec: Any, last: Operator | None = None) -> Operator:
        """Another of its rows, and of its or the last factor's columns."""
        return Operator((self.shape[0], (last or self).shape[1]), matvec, rmatvec)

    @property
    def H(self) -> Operator:
        return Operator(self.shape[::-1], self.rmatvec, self.matvec)

    @property
    def T(self) -> Operator:
        times, turned = _conjugate(self.rmatvec), _conjugate(self.matvec)
        return Operator(self.shape[::-1], times, turned)

    def adjoint(self) -> Operator:
        return self.H

    def transpose(self) -> Operator:
        return self.T

    def toarray(self) -> Any:
        return self.matmat(call(np.eye, self.shape[1]))


def _conjugate(times: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What multiplies by the conjugate of a matrix."""
    return lambda x: call(np.conj, times(call(np.conj, x)))


@stands_for(type(ssl.LinearOperator((1, 1), lambda x: x, dtype=float)))
def of_functions(value: Any, read: Read) -> Operator:
    times, turned = (read(f"_CustomLinearOperator__{name}_impl") for name in ("matvec", "rmatvec"))
    return Operator(read("shape"), times, turned)


@stands_for(type(ssl.aslinearoperator(np.eye(1))))
def of_a_matrix(value: Any, read: Read) -> Operator:
    out: Operator = aslinearoperator(read("A"))
    return out


@replaces(ssl.LinearOperator, plain=False)
def linear_operator(shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None,
                    dtype: Any = None, rmatmat: Any = None) -> Operator:  # fmt: skip
    return Operator(shape, matvec, rmatvec)


@of_complex(ssl.aslinearoperator)
@replaces(ssl.aslinearoperator, plain=False)
def aslinearoperator(A: Any) -> Any:
    A = adopt(A)
    if isinstance(A, Operator):
        return A
    A = A if isinstance(A, SparseMatrix) else call(np.asarray, A)
    return Operator(A.shape, lambda x: A @ x, _conjugate(lambda x: A.T @ x))


# -- systems --------------------------------------------------------------------------------------


def _solution(name: str, A: Any, b: Any) -> Any:
    A, b = adopt(A), call(np.asarray, b)
    if call(np.ndim, b) != 1:
        raise fail(JitadTypeError, f"{name} of several right sides is not supported on traced or "
                   "differentiated values", "Solve for each of them.")  # fmt: skip
    if isinstance(A, Operator) and is_complex(call(np.add, A.matvec(b), b)):
        A = A.toarray()
    if isinstance(A, Operator):
        return root_of(name, lambda x: call(np.subtract, A.matvec(x), b),
                       call(np.zeros, A.shape[1]))  # fmt: skip
    if isinstance(A, SparseMatrix):
        return solution_of(A, b)
    return call(np.linalg.solve, A, b)


def _enter(original: Any) -> None:
    name = original.__name__

    @of_complex(original)
    @replaces(original, plain=False)
    def iterated(A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0,
                 maxiter: Any = None, M: Any = None, callback: Any = None,
                 **options: Any) -> Any:  # fmt: skip
        refuse(name, callback=(callback, None), shift=(options.pop("shift", 0.0), 0.0))
        if maxiter is not None:
            rounds = maxiter * (options.get("restart") or 20) if original is ssl.gmres else maxiter
            _check_finished(name, rounds, adopt(A).shape[0])
        return _solution(name, A, b), 0


def _check_finished(name: str, rounds: Any, unknowns: Any) -> None:
    """What is cut off before it has converged is another function, which is not made here."""
    enough: Any = rounds >= unknowns
    if isinstance(rounds, Number) or isinstance(unknowns, Number):
        enough = bind("ge", rounds, unknowns)
    require(enough, JitadTypeError, f"{name} of fewer iterations than there are unknowns is not "
            "supported", "Leave maxiter out: the solution is given.")  # fmt: skip


for _original in (ssl.cg, ssl.gmres, ssl.bicgstab, ssl.minres, ssl.bicg, ssl.cgs, ssl.lgmres,
                  ssl.qmr, ssl.tfqmr, ssl.gcrotmk):  # fmt: skip
    _enter(_original)


@replaces(ssl.expm_multiply, plain=False)
def expm_multiply(A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None,
                  endpoint: Any = None, traceA: Any = None) -> Any:  # fmt: skip
    refuse("expm_multiply", start=(start, None), stop=(stop, None))
    return call(np.matmul, call(sl.expm, _dense(A)), B)


# -- eigenpairs -----------------------------------------------------------------------------------


def _dense(A: Any) -> Any:
    A = adopt(A)
    return A.toarray() if isinstance(A, (SparseMatrix, Operator)) else call(np.asarray, A)


_WANTED: dict[str, Any] = {
    "LM": lambda w: call(np.abs, w), "SM": lambda w: call(np.negative, call(np.abs, w)),
    "LA": lambda w: w, "SA": lambda w: call(np.negative, w),
}  # fmt: skip


def _last(name: str, which: Any, kinds: Any, values: Any, k: Any) -> Any:
    """Where the k most wanted are, the most wanted last."""
    if which not in kinds:
        raise fail(JitadTypeError, f"which={which!r} of {name} is not supported on traced or "
                   "differentiated values", f"There are {', '.join(kinds)}.")  # fmt: skip
    return call(np.argsort, _WANTED[which](values))[-k:]


@replaces(ssl.eigsh, plain=False)
def eigsh(A: Any, k: Any = 6, M: Any = None, sigma: Any = None, which: Any = "LM", v0: Any = None,
          ncv: Any = None, maxiter: Any = None, tol: Any = 0, return_eigenvectors: Any = True,
          Minv: Any = None, OPinv: Any = None, mode: Any = "normal") -> Any:  # fmt: skip
    """All of them, by LAPACK; those that are wanted in ascending order, as ARPACK gives them."""
    refuse("eigsh", mode=(mode, "normal"))
    values, vectors = (call(np.linalg.eigh, _dense(A)) if M is None
                       else call(sl.eigh, _dense(A), _dense(M)))  # fmt: skip
    if sigma is None:
        at = _last("eigsh", which, tuple(_WANTED), values, k)
    else:
        distance = call(np.subtract, values, sigma)
        at = _last("eigsh with sigma", which, ("LM",), call(np.divide, 1.0, distance), k)
    if not return_eigenvectors:
        return values[at]
    at = call(np.sort, at)
    return values[at], vectors[:, at]


@replaces(ssl.svds, plain=False)
def svds(A: Any, k: Any = 6, ncv: Any = None, tol: Any = 0, which: Any = "LM", v0: Any = None,
         maxiter: Any = None, return_singular_vectors: Any = True, solver: Any = "arpack",
         rng: Any = None, options: Any = None) -> Any:  # fmt: skip
    refuse("svds", return_singular_vectors=(bool(return_singular_vectors),
                                            return_singular_vectors))  # fmt: skip
    u, values, vh = call(np.linalg.svd, _dense(A), full_matrices=False)
    at = call(np.sort, _last("svds", which, ("LM", "SM"), values, k))[::-1]
    return (u[:, at], values[at], vh[at]) if return_singular_vectors else values[at]
