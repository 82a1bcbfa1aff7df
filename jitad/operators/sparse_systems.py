"""How are sparse systems of equations solved, where something is traced?

Small ones as dense ones, in the kernel.  Larger ones by SuperLU, called back in Python: the
derivatives of a solution are solutions with the same matrix, or with its transpose, and SciPy's
last factors are kept for them.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

from jitad.errors import JitadTypeError, JitadValueError
from jitad.operators.unknown import primitive
from jitad.values.complexes.number import pair
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, is_complex, of_complex, replaces
from jitad.values.scipy.sparse_matrices import SparseMatrix
from jitad.values.stand_ins import Read, StandIn, adopt, stands_for

DENSE = 64  # rows of a system that is solved as a dense one
KEPT = 4  # how many factors


class _Kept(threading.local):
    """The last factors of this thread, by the entries of their matrices."""

    def __init__(self) -> None:
        self.factors: OrderedDict[Any, Any] = OrderedDict()


_kept = _Kept()


def _factor(data: Any, rows: Any, cols: Any, n: int) -> tuple[Any, str]:
    """SuperLU's factors of the matrix, or those of its transpose; None if it is singular."""
    numbers, across, down = data.tobytes(), rows.tobytes(), cols.tobytes()
    for key, trans in (((n, across, down, numbers), "N"), ((n, down, across, numbers), "T")):
        if key in _kept.factors:
            _kept.factors.move_to_end(key)
            return _kept.factors[key], trans
    matrix = ss.csc_matrix((data, (rows, cols)), shape=(n, n))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ssl.splu(matrix)
    except RuntimeError:  # exactly singular
        found = None
    _kept.factors[n, across, down, numbers] = found
    if len(_kept.factors) > KEPT:
        _kept.factors.popitem(last=False)
    return found, "N"


def _solved(rows: Any, cols: Any, data: Any, b: Any) -> Any:
    factors, trans = _factor(data, rows, cols, len(b))
    return np.full_like(b, np.nan) if factors is None else factors.solve(b, trans)


def _product(rows: Any, cols: Any, data: Any, x: Any) -> Any:
    """The matrix times x."""
    out = call(np.zeros_like, x)
    data = data if x.ndim == 1 else data[:, None]
    call(np.add.at, out, rows, call(np.multiply, data, x[cols]))
    return out


def _enter(axes: int) -> Any:
    solution = primitive(_solved, (0, 1), like=np.zeros((1,) * axes))
    solution.__name__ = "sparse system"

    @solution.defjvp
    def moved(rows: Any, cols: Any, primals: Any, tangents: Any) -> Any:
        (data, b), (by_data, by_b) = primals, tangents
        x = solution(rows, cols, data, b)
        right = call(np.subtract, by_b, _product(rows, cols, by_data, x))
        return x, solution(rows, cols, data, right)

    def forward(rows: Any, cols: Any, data: Any, b: Any) -> Any:
        x = solution(rows, cols, data, b)
        return x, (data, x)

    def backward(rows: Any, cols: Any, kept: Any, ct: Any) -> Any:
        data, x = kept
        pulled = solution(cols, rows, data, ct)
        each = call(np.multiply, pulled[rows], x[cols])
        each = each if axes == 1 else call(np.sum, each, axis=1)
        return call(np.negative, each), pulled

    solution.defvjp(forward, backward)
    return solution


_SOLUTIONS = {axes: _enter(axes) for axes in (1, 2)}


def solution_of(A: SparseMatrix, b: Any) -> Any:
    n, m = A.shape
    if n is not m:
        equal = bind("eq", n, m) if isinstance(n, Number) or isinstance(m, Number) else n == m
        require(equal, JitadValueError, "spsolve needs a square matrix", "Use lstsq.")
    b = call(np.asarray, b)
    if A._whole is not None or (not isinstance(n, Number) and n <= DENSE):
        return call(np.linalg.solve, A.toarray(), b)
    if is_complex(A._data) or is_complex(b):
        both = call(np.concatenate, (call(np.real, b), call(np.imag, b)))
        found = solution_of(_real_form(A), both)
        return pair(found[:n], found[n:])
    b = handle(b)
    found = _SOLUTIONS[b.ndim](A._rows, A._cols, A._data.astype(float), b.astype(float))
    single = np.result_type(A.dtype, b.dtype) == np.float32
    return handle(found).astype(np.float32) if single else found


def _real_form(A: SparseMatrix) -> SparseMatrix:
    """[[re, -im], [im, re]], which multiplies real parts above imaginary ones."""
    n, (re, im) = A.shape[0], (call(np.real, A._data), call(np.imag, A._data))
    above, right = (call(np.add, at, n) for at in (A._rows, A._cols))
    rows = call(np.concatenate, (A._rows, A._rows, above, above))
    cols = call(np.concatenate, (A._cols, right, A._cols, right))
    data = call(np.concatenate, (re, call(np.negative, im), im, re))
    return SparseMatrix(rows, cols, data, (2 * n, 2 * n), A._kind, A.format)


def _sparse(A: Any, name: str) -> SparseMatrix:
    A = adopt(A)
    if not isinstance(A, SparseMatrix):
        raise fail(JitadTypeError, f"{name} needs a sparse matrix", "Use np.linalg.solve.")
    return A


@of_complex(ssl.spsolve)
@replaces(ssl.spsolve, plain=False)
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    return solution_of(_sparse(A, "spsolve"), b)


@of_complex(ssl.inv)
@replaces(ssl.inv, plain=False)
def inv(A: Any) -> Any:
    A = _sparse(A, "inv")
    return _of_all(A, call(np.linalg.inv, A.toarray()))


@of_complex(ssl.expm)
@replaces(ssl.expm, plain=False)
def expm(A: Any) -> Any:
    A = adopt(A)
    if not isinstance(A, SparseMatrix):
        return call(sl.expm, A)
    return _of_all(A, call(sl.expm, A.toarray()))


def _of_all(A: SparseMatrix, whole: Any) -> Any:
    """A matrix of the same kind with these numbers."""
    return call(getattr(ss, f"{A.format}_{A._kind}"), whole)


@of_complex(ssl.norm)
@replaces(ssl.norm, plain=False)
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    A = _sparse(x, "norm")
    if ord in (None, "fro") and axis is None:
        return call(np.linalg.norm, A._by_places()._data)
    return call(np.linalg.norm, A.toarray(), ord=ord, axis=axis)


class Factors(StandIn):
    """What solves systems with one matrix."""

    _what = "factorised sparse matrix"

    def __init__(self, matrix: SparseMatrix) -> None:
        self._matrix, self.shape = matrix, matrix.shape

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        return solution_of(self._matrix if trans == "N" else self._matrix.T, rhs)


def _solved_by(factors: Any, trans: str, b: Any) -> Any:
    return factors.solve(b, trans)


def _given(axes: int) -> Any:
    """Solutions by factors from outside, which are linear in the right side."""
    solution = primitive(_solved_by, (0, 1), like=np.zeros((1,) * axes))
    solution.__name__ = "factorised sparse system"

    @solution.defjvp
    def moved(factors: Any, trans: str, primals: Any, tangents: Any) -> Any:
        return solution(factors, trans, *primals), solution(factors, trans, *tangents)

    def forward(factors: Any, trans: str, b: Any) -> Any:
        return solution(factors, trans, b), None

    def backward(factors: Any, trans: str, _: Any, ct: Any) -> Any:
        return (solution(factors, "T" if trans == "N" else "N", ct),)

    solution.defvjp(forward, backward)
    return solution


_BY_GIVEN = {axes: _given(axes) for axes in (1, 2)}


class GivenFactors(StandIn):
    """Factors that were made outside: what they are of is not looked at."""

    _what = "factorised sparse matrix"

    def __init__(self, factors: Any, shape: Any) -> None:
        self._factors, self.shape = factors, shape

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        b = handle(call(np.asarray, rhs))
        if b.dtype.kind == "c" or trans not in ("N", "T"):
            raise fail(JitadTypeError, "complex systems of SuperLU.solve are not supported on "
                       "traced or differentiated values", "Use np.linalg.solve.")  # fmt: skip
        return _BY_GIVEN[b.ndim](self._factors, trans, b.astype(float))


@stands_for(ssl.SuperLU)
def of_outside(value: Any, read: Read) -> GivenFactors:
    return GivenFactors(read(""), read("shape"))


@of_complex(ssl.splu)
@replaces(ssl.splu, plain=False)
def splu(A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None,
         panel_size: Any = None, options: Any = None) -> Factors:  # fmt: skip
    return Factors(_sparse(A, "splu"))


@of_complex(ssl.factorized)
@replaces(ssl.factorized, plain=False)
def factorized(A: Any) -> Any:
    return Factors(_sparse(A, "factorized")).solve
