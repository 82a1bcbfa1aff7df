"""What becomes of the sparse matrices of scipy.sparse?

All are held as their entries: a row, a column and a number each.  A product is one pass over them,
which gathers from the one operand and adds to the result; its adjoint is another.  Matrices are
data from outside, or made of traced numbers at known or traced places.  Two of them share their
numbers, or one with the array that it was made of, where they do in SciPy.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.sparse as ss

from jitad.errors import JitadIndexError, JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.broadcast import as_operand, require_same, shape_of
from jitad.values.kind import fail, require
from jitad.values.number import Number
from jitad.values.numpy.orders import _python_int
from jitad.values.numpy.shaping import handle
from jitad.values.picking import in_range
from jitad.values.registry import any_traced, call, call_plain, replaces
from jitad.values.stand_ins import Read, StandIn, adopt, stands_for


class SparseMatrix(StandIn):
    """`kind` is "matrix" or "array", of which the former's `*` is the matrix product."""

    _what = "sparse matrix"
    __array_priority__ = 10000.0
    __array_ufunc__ = None  # so that arrays leave their operators to it
    ndim = 2
    _merged = True  # False where several entries may be at one place
    _outside = False  # has the user made its numbers?

    def __init__(self, rows: Any, cols: Any, data: Any, shape: Any, kind: str, form: str) -> None:
        self._rows, self._cols, self._data = handle(rows), handle(cols), handle(data)
        self.shape, self._kind, self.format = tuple(shape), kind, form

    def _like(self, data: Any, rows: Any = None, cols: Any = None, shape: Any = None) -> Any:
        rows, cols = self._rows if rows is None else rows, self._cols if cols is None else cols
        out = SparseMatrix(rows, cols, data, shape or self.shape, self._kind, self.format)
        out._merged = self._merged
        out._outside = self._outside and data is self._data
        return out

    def __repr__(self) -> str:
        return f"<sparse {self._kind} of {self.dtype}, shape {self.shape}>"

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._data.dtype

    @property
    def nnz(self) -> Any:
        if not self._merged:
            raise fail(JitadTypeError, "how many entries this sparse matrix has is not known here",
                       "Ask for nnz outside.")  # fmt: skip
        return self._data.shape[0]

    @property
    def T(self) -> Any:
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        turned = self._like(self._data, self._cols, self._rows, self.shape[::-1])
        turned.format = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return turned.copy() if copy else turned

    def copy(self) -> Any:
        return self._like(*(call(np.copy, x) for x in (self._data, self._rows, self._cols)))

    def _as(self, form: str, copy: bool) -> Any:
        """In another form, which `tocoo` alone makes of the same numbers."""
        if form == self.format:
            return self.copy() if copy else self
        shares = form == "coo" and self.format in ("csr", "csc") and not copy
        out = self._like(self._data) if shares else self.copy()
        out.format = form
        return out

    # -- products ---------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        other = adopt(other)
        if isinstance(other, SparseMatrix):
            if self._original is not None and other._original is not None:
                return adopt(self._original @ other._original)
            return self._product(other)
        x = handle(other)
        if x.ndim not in (1, 2):
            raise fail(JitadValueError, "a sparse matrix can be multiplied with a vector or matrix")
        require_same(x.shape[0], self.shape[1], lambda: "matmul: dimension mismatch")
        kind = np.result_type(self.dtype, x.dtype)
        out = call(np.zeros, (self.shape[0], *x.shape[1:]), dtype=kind)
        data = self._data if x.ndim == 1 else self._data.with_axes((1,))
        call(np.add.at, out, self._rows, call(np.multiply, data, x[self._cols]))
        return out

    def _product(self, other: SparseMatrix) -> Any:
        """Each entry with each of the other's row that is its column."""
        require_same(self.shape[1], other.shape[0], lambda: "matmul: dimension mismatch")
        order = call(np.argsort, other._rows, kind="stable")
        sorted_rows = other._rows[order]
        first, end = (call(np.searchsorted, sorted_rows, self._cols, side=side)
                      for side in ("left", "right"))  # fmt: skip
        counts = end - first
        ends = call(np.concatenate, [call(np.zeros, 1, dtype=int), call(np.cumsum, counts)])
        total = _python_int(call(np.sum, counts))
        mine = _spread(ends, total)
        within = call(np.arange, total) - ends[mine]
        its = order[first[mine] + within]
        data = call(np.multiply, self._data[mine], other._data[its])
        out = self._like(data, self._rows[mine], other._cols[its], (self.shape[0], other.shape[1]))
        out._merged = False
        return out

    def __rmatmul__(self, other: Any) -> Any:
        x = handle(other)
        turned = self.transpose()
        return turned @ x if x.ndim == 1 else (turned @ x.T).T

    def dot(self, other: Any) -> Any:
        return self._scaled(other) if _is_scalar(other) else self @ other

    def __mul__(self, other: Any) -> Any:
        if _is_scalar(other):
            return self._scaled(other)
        return self @ other if self._kind == "matrix" else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if _is_scalar(other):
            return self._scaled(other)
        return other @ self if self._kind == "matrix" else self.multiply(other)

    def _scaled(self, factor: Any) -> Any:
        return self._like(call(np.multiply, self._data, factor))

    def __truediv__(self, other: Any) -> Any:
        if not _is_scalar(other):
            raise fail(JitadTypeError, "a sparse matrix can be divided by a number here")
        return self._like(call(np.true_divide, self._data, other))

    def __imul__(self, other: Any) -> Any:
        if not _is_scalar(other) or self.format in ("lil", "dok"):
            return NotImplemented
        if self._outside:
            raise fail(JitadTypeError, "a sparse matrix from outside can't be changed here",
                       "Change a copy of it: A = A.copy().")  # fmt: skip
        self._data *= other
        return self

    def __itruediv__(self, other: Any) -> Any:
        return self.__imul__(1.0 / other) if _is_scalar(other) else NotImplemented

    def __neg__(self) -> Any:
        return self._like(call(np.negative, self._data))

    def multiply(self, other: Any) -> Any:
        """Element by element with a number, a row, a column or a matrix, maybe a sparse one."""
        if _is_scalar(other):
            return self._scaled(other)
        x = handle(adopt(other).toarray() if _is_sparse(other) else other)
        if x.ndim == 1:
            x = x.with_axes((0,))
        at = []
        for k, places in enumerate((self._rows, self._cols)):
            one = not isinstance(x.shape[k], Number) and x.shape[k] == 1
            if not one:
                require_same(x.shape[k], self.shape[k], lambda: "inconsistent shapes")
            at.append(0 if one else places)
        return self._like(call(np.multiply, self._data, x[tuple(at)]))

    # -- parts ------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key, slice(None))
        lists = [k for k, chosen in enumerate(keys[:2]) if _is_list(chosen)]
        if len(keys) == 2 and len(lists) == 1:
            (k,) = lists
            rest = tuple(slice(None) if j == k else i for j, i in enumerate(keys))
            found = self._chosen(k, keys[k])
            return found if rest == (slice(None), slice(None)) else found[rest]
        if len(keys) != 2 or any(not isinstance(k, slice) and not _is_scalar(k) for k in keys):
            raise fail(JitadTypeError, "parts of a sparse matrix are supported by ints and slices, "
                       "and one list", "Multiply by a matrix that selects.")  # fmt: skip
        single = [not isinstance(k, slice) for k in keys]
        if any(single) and not all(single) and self._kind == "array":
            raise fail(JitadTypeError, "a sparse array along one axis is not supported here",
                       "Take a slice of length one.")  # fmt: skip
        here: Any = True
        places, shape = [], []
        for k, n, at in zip(keys, self.shape, (self._rows, self._cols), strict=True):
            start, stop, step = _bounds(k, n)
            inside = call(np.logical_and, at >= start, at < stop)
            if step != 1:
                inside = call(np.logical_and, inside, call(np.remainder, at - start, step) == 0)
            here = inside if here is True else call(np.logical_and, here, inside)
            places.append(call(np.floor_divide, at - start, step))
            count = extents.floordiv(extents.sub(extents.add(stop, step - 1), start), step)
            shape.append(extents.largest(count, 0))
        if all(single):
            return call(np.sum, call(np.where, here, self._data, self.dtype.type(0)))
        (which,) = call(np.nonzero, here)
        rows, cols = (p[which] for p in places)
        return self._like(self._data[which], rows, cols, tuple(shape))

    def _chosen(self, axis: int, key: Any) -> Any:
        """Rows or columns in any order: a product with a matrix that selects."""
        at = handle(key)
        if at.dtype.kind == "b":
            require_same(at.shape[0], self.shape[axis], lambda: "boolean index of another length")
            (at,) = call(np.nonzero, at)
        at = in_range(at, self.shape[axis], True)
        count = at.shape[0]
        ones = call(np.ones, count, dtype=self.dtype)
        chooses = self._like(ones, call(np.arange, count), at, (count, self.shape[axis]))
        return chooses @ self if axis == 0 else self @ chooses.T

    # -- sums -------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        other = adopt(other)
        if _is_scalar(other) or not isinstance(other, SparseMatrix):
            return self._dense("the sum with an array") + other
        for n, m in zip(self.shape, other.shape, strict=True):
            require_same(n, m, lambda: "inconsistent shapes")
        names = ("_data", "_rows", "_cols")
        pairs = ([getattr(self, name), getattr(other, name)] for name in names)
        out = self._like(*(call(np.concatenate, pair) for pair in pairs))
        out._merged = False
        return out

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        other = adopt(other)
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            return call(np.sum, self._data)
        if self._kind == "matrix":
            raise fail(JitadTypeError, "axis= of sum() gives an np.matrix, which is not supported",
                       "Use a sparse array, or A @ np.ones(n).")  # fmt: skip
        kept = 0 if axis in (1, -1) else 1
        total = call(np.zeros, self.shape[kept], dtype=self.dtype)
        call(np.add.at, total, self._rows if kept == 0 else self._cols, self._data)
        return total

    def diagonal(self, k: int = 0) -> Any:
        if k:
            raise fail(JitadTypeError, "diagonal(k) is supported for k = 0")
        found = call(np.zeros, extents.smallest(*self.shape), dtype=self.dtype)
        here = call(np.equal, self._rows, self._cols)
        call(np.add.at, found, call(np.where, here, self._rows, 0),
             call(np.where, here, self._data, self.dtype.type(0)))  # fmt: skip
        return found

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        found = call(np.zeros, self.shape, dtype=self.dtype)
        call(np.add.at, found, (self._rows, self._cols), self._data)
        return found

    def todense(self, order: Any = None, out: Any = None) -> Any:
        return self._dense("todense()")

    def _dense(self, what: str) -> Any:
        if self._kind == "matrix":
            raise fail(JitadTypeError, f"{what} gives an np.matrix, which is not supported",
                       "Use A.toarray().")  # fmt: skip
        return self.toarray()

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        return self if self.dtype == dtype and not copy else self._like(self._data.astype(dtype))

    def tocsr(self, copy: bool = False) -> Any:
        return self._as("csr", copy)

    def tocsc(self, copy: bool = False) -> Any:
        return self._as("csc", copy)

    def tocoo(self, copy: bool | None = None) -> Any:
        if copy is None:  # which depends on SciPy's release
            original = getattr(ss, f"{self.format}_{self._kind}").tocoo
            copy = bool(inspect.signature(original).parameters["copy"].default)
        return self._as("coo", copy)


def _bounds(key: Any, n: Any) -> tuple[Any, Any, int]:
    """Where a slice or an index begins and ends in an axis of this extent, and its step."""
    if not isinstance(key, slice):
        at = extents.as_int(key)
        negative = call(np.less, at, 0)
        at = call(np.where, negative, at + n, at) if isinstance(at, Number) else (
            extents.add(n, at) if at < 0 else at)  # fmt: skip
        require(call(np.logical_and, call(np.greater_equal, at, 0), call(np.less, at, n)),
                JitadIndexError, "index out of bounds of a sparse matrix")  # fmt: skip
        return at, extents.add(at, 1), 1
    step = 1 if key.step is None else extents.as_int(key.step)
    if isinstance(step, Number) or step < 1:
        raise fail(JitadTypeError, "parts of a sparse matrix are supported with a known step, "
                   "forwards")  # fmt: skip
    ends = []
    for end, otherwise in ((key.start, 0), (key.stop, n)):
        end = otherwise if end is None else extents.as_int(end)
        if isinstance(end, Number) and end is not otherwise:
            raise fail(JitadTypeError, "parts of a sparse matrix are supported with known bounds")
        end = extents.add(n, end) if isinstance(end, int) and end < 0 else end
        ends.append(extents.smallest(extents.largest(end, 0), n))
    return ends[0], extents.largest(ends[1], ends[0]), step


def _is_list(key: Any) -> bool:
    """Is it a list of ints, or of bools?"""
    return isinstance(key, list) or (not isinstance(key, slice) and len(shape_of(key)) == 1)


def _is_sparse(value: Any) -> bool:
    return isinstance(value, SparseMatrix) or ss.issparse(value)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, StandIn) and not ss.issparse(value) and not shape_of(
        as_operand(value))  # fmt: skip


# -- from outside ---------------------------------------------------------------------------------

_FORMS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def _spread(indptr: Any, count: Any) -> Any:
    """The row of each entry, of compressed rows: how many rows have begun before it."""
    begun = call(np.zeros, extents.add(count, 1), dtype=int)
    call(np.add.at, begun, indptr[1:-1], 1)
    return call(np.cumsum, begun)[:-1]


@stands_for(*(getattr(ss, f"{f}_{kind}") for f in _FORMS for kind in ("matrix", "array")))
def made(value: Any, read: Read) -> StandIn:
    kind = "matrix" if isinstance(value, ss.spmatrix) else "array"
    if value.ndim != 2:
        return StandIn()  # which is refused where it is used
    shape, form = read("shape"), value.format
    if form in ("csr", "csc"):
        inner, data = read("indices"), read("data")
        outer = _spread(read("indptr"), data.shape[0])
        rows, cols = (outer, inner) if form == "csr" else (inner, outer)
    elif form == "coo":
        rows, cols, data = read("row"), read("col"), read("data")
    else:
        rows, cols, data = (read(name, "tocoo") for name in ("row", "col", "data"))
    out = SparseMatrix(rows, cols, data, shape, kind, form)
    out._outside = True
    if form in ("csr", "csc"):
        out._given = {"data": data, "indices": inner, "indptr": read("indptr")}
    elif form == "coo":
        out._given = {"data": data, "row": rows, "col": cols}
    return out


# -- made in the function -------------------------------------------------------------------------


def _enter(form: str, kind: str) -> None:
    original = getattr(ss, f"{form}_{kind}")

    @replaces(original, plain=False)
    def replacement(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
        given = arg1
        if isinstance(given, SparseMatrix):
            same = given._as(form, copy)
            out = SparseMatrix(same._rows, same._cols, same._data, same.shape, kind, form)
            out._merged, out._outside = given._merged, same._outside
            return out if dtype is None else out.astype(dtype, copy=False)
        inside = [p for x in given for p in (x if isinstance(x, tuple) else (x,))] if isinstance(
            given, tuple) else [given]  # fmt: skip
        if not any_traced(inside):
            return adopt(call_plain(original, (given,), {"shape": shape, "dtype": dtype}))
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            raise fail(JitadTypeError, f"{form}_{kind} of a traced array is not supported",
                       "Give (data, (rows, columns)) and the shape.")  # fmt: skip
        merged = True
        if len(given) == 3:
            if form == "coo":
                raise fail(JitadTypeError, "unrecognized form of coo_matrix")
            data, inner, indptr = map(handle, given)
            outer = _spread(indptr, data.shape[0])
            if shape is None and form == "csr":
                shape = (extents.sub(indptr.shape[0], 1), _extent(inner))
            rows, cols = (outer, inner) if form == "csr" else (inner, outer)
        else:
            data, (rows, cols) = handle(given[0]), map(handle, given[1])
            merged = form == "coo"
        if shape is None:
            shape = tuple(_extent(places) for places in (rows, cols))
        found = SparseMatrix(rows, cols, data, shape, kind, form)
        found._merged = merged
        if copy or (len(given) == 2 and form != "coo"):
            found = found.copy()
        return found if dtype is None else found.astype(dtype, copy=False)


def _extent(places: Any) -> int:
    if not places.concrete:
        raise fail(JitadTypeError, "the shape of this sparse matrix is not known", "Give shape=.")
    return int(np.max(places.peek(), initial=-1)) + 1


for _form in ("csr", "csc", "coo"):
    for _kind in ("matrix", "array"):
        _enter(_form, _kind)


@replaces(ss.issparse, plain=False)
def issparse(x: Any) -> bool:
    return _is_sparse(x)


def _diagonals(original: Any, kind: str) -> None:
    @replaces(original)
    def replacement(diagonals: Any, offsets: Any = 0, *, shape: Any = None, format: Any = None,
                    dtype: Any = None) -> Any:  # fmt: skip
        lone = not isinstance(offsets, (list, tuple, np.ndarray))
        parts = [handle(diagonals)] if lone and not isinstance(diagonals, (list, tuple)) else [
            *map(handle, diagonals)]  # fmt: skip
        places = [offsets] if lone else list(offsets)
        if len(parts) == 1 and parts[0].ndim == 2:
            parts = [parts[0][k] for k in range(len(places))]
        if shape is None:
            n = extents.add(parts[0].shape[0], abs(int(places[0])))
            shape = (n, n)
        rows, cols, data = [], [], []
        for d, offset in zip(parts, places, strict=True):
            k = int(offset)
            above, before = max(-k, 0), max(k, 0)
            count = extents.smallest(extents.sub(shape[0], above), extents.sub(shape[1], before))
            at = call(np.arange, count)
            d = call(np.broadcast_to, d, (count,))
            rows.append(call(np.add, at, above))
            cols.append(call(np.add, at, before))
            data.append(d)
        at, across, numbers = (call(np.concatenate, x) for x in (rows, cols, data))
        found = SparseMatrix(at, across, numbers, shape, kind, format or "dia")
        return found if dtype is None else found.astype(dtype)


_diagonals(ss.diags, "matrix")
_diagonals(ss.diags_array, "array")


@replaces(ss.kron, plain=False)
def kron(A: Any, B: Any, format: Any = None) -> Any:
    """Every entry of the one times every entry of the other."""
    A, B = adopt(A), adopt(B)
    if not (isinstance(A, SparseMatrix) and isinstance(B, SparseMatrix)):
        raise fail(JitadTypeError, "kron is supported for two sparse matrices", "Use np.kron.")
    rows, cols = (
        call(np.ravel, a[:, None] * n + b[None, :])
        for a, n, b in ((A._rows, B.shape[0], B._rows), (A._cols, B.shape[1], B._cols))
    )
    data = call(np.ravel, call(np.multiply, A._data[:, None], B._data[None, :]))
    shape = tuple(extents.mul(n, m) for n, m in zip(A.shape, B.shape, strict=True))
    kind = "array" if "array" in (A._kind, B._kind) else "matrix"
    out = SparseMatrix(rows, cols, data, shape, kind, format or "bsr")
    out._merged = A._merged and B._merged
    return out
