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
from jitad.values.complexes.number import Complex, pair
from jitad.values.kind import fail, require
from jitad.values.number import Number
from jitad.values.numpy.matrices import Matrix
from jitad.values.numpy.orders import _python_int
from jitad.values.numpy.shaping import handle
from jitad.values.picking import in_range
from jitad.values.registry import call, is_complex
from jitad.values.stand_ins import StandIn, adopt


class SparseMatrix(StandIn):
    """`kind` is "matrix" or "array", of which the former's `*` is the matrix product."""

    _what = "sparse matrix"
    __array_priority__ = 10000.0
    __array_ufunc__ = None  # so that arrays leave their operators to it
    ndim = 2
    _counted: str | None = "entries"  # which nnz counts: all, their "places", those "not zero"
    _distinct = False  # are no two entries at one place?
    _outside = False  # has the user made its numbers?
    _whole: Any = None  # the array that it is, where it is one

    def __init__(self, rows: Any, cols: Any, data: Any, shape: Any, kind: str, form: str) -> None:
        self._rows, self._cols, self._data = handle(rows), handle(cols), numbers(data)
        self.shape, self._kind, self.format = tuple(shape), kind, form

    def _like(self, data: Any, rows: Any = None, cols: Any = None, shape: Any = None) -> Any:
        rows, cols = self._rows if rows is None else rows, self._cols if cols is None else cols
        out = SparseMatrix(rows, cols, data, shape or self.shape, self._kind, self.format)
        out._counted, out._distinct = self._counted, self._distinct
        if out._counted == "not zero" and data is not self._data:
            out._counted = None
        out._outside = self._outside and data is self._data
        return out

    def __repr__(self) -> str:
        return f"<sparse {self._kind} of {self.dtype}, shape {self.shape}>"

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._data.dtype

    @property
    def nnz(self) -> Any:
        if self._counted is None:
            raise fail(JitadTypeError, "how many entries this sparse matrix has is not known here",
                       "Ask for nnz outside.")  # fmt: skip
        if self._counted == "not zero":
            return call(np.count_nonzero, self._data)
        return (self if self._counted == "entries" else self._by_places())._data.shape[0]

    @property
    def T(self) -> Any:
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        turned = self._like(self._data, self._cols, self._rows, self.shape[::-1])
        turned.format = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return turned.copy() if copy else turned

    def copy(self) -> Any:
        if self.format in ("lil", "dok"):  # which may be written to
            return self._written(self.format, True)
        return self._like(*(call(np.copy, x) for x in (self._data, self._rows, self._cols)))

    def _as(self, form: str, copy: bool) -> Any:
        """In another form, which `tocoo` alone makes of the same numbers."""
        if form == self.format:
            return self.copy() if copy else self
        shares = form == "coo" and self.format in ("csr", "csc") and not copy
        out = self._like(self._data) if shares else self.copy()
        out.format = form
        if self.format == "coo" and self._counted == "entries" and not self._distinct:
            out._counted = "places"
        if self.format == "dia" and self._counted == "entries":
            out._counted = "not zero"
        return out

    # -- products ---------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        other = adopt(other)
        if isinstance(other, SparseMatrix):
            if other._whole is not None:
                return other.__rmatmul__(self)
            if self._original is not None and other._original is not None:
                return adopt(self._original @ other._original)
            return self._product(other)
        if isinstance(other, Matrix):
            return Matrix(self @ other.A)
        x = numbers(other)
        if len(x.shape) not in (1, 2):
            raise fail(JitadValueError, "a sparse matrix can be multiplied with a vector or matrix")
        require_same(x.shape[0], self.shape[1], lambda: "matmul: dimension mismatch")
        data = self._data if len(x.shape) == 1 else self._data[:, None]
        each = call(np.multiply, data, x[self._cols])
        return _added((self.shape[0], *x.shape[1:]), self._rows, each)

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
        mine = spread(ends, total)
        within = call(np.arange, total) - ends[mine]
        its = order[first[mine] + within]
        data = call(np.multiply, self._data[mine], other._data[its])
        out = self._like(data, self._rows[mine], other._cols[its], (self.shape[0], other.shape[1]))
        out._counted, out._distinct = None, False
        return out

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, Matrix):
            return Matrix(self.__rmatmul__(other.A))
        x = numbers(other)
        turned = self.transpose()
        return turned @ x if len(x.shape) == 1 else (turned @ x.T).T

    def dot(self, other: Any) -> Any:
        return self._scaled(other) if is_scalar(other) else self @ other

    def __mul__(self, other: Any) -> Any:
        if is_scalar(other):
            return self._scaled(other)
        return self @ other if self._kind == "matrix" else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if is_scalar(other):
            return self._scaled(other)
        return other @ self if self._kind == "matrix" else self.multiply(other)

    def _scaled(self, factor: Any) -> Any:
        return self._like(call(np.multiply, self._data, factor))

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other):
            raise fail(JitadTypeError, "a sparse matrix can be divided by a number or array here")
        if not is_scalar(other):
            return self.multiply(1.0 / numbers(other)).asformat("coo")
        return self._like(call(np.true_divide, self._data, other))

    def __imul__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        if self._outside:
            raise fail(JitadTypeError, "a sparse matrix from outside can't be changed here",
                       "Change a copy of it: A = A.copy().")  # fmt: skip
        self._times_in_place(other)
        return self

    def _times_in_place(self, factor: Any) -> None:
        self._data *= factor

    def __itruediv__(self, other: Any) -> Any:
        return self.__imul__(1.0 / other) if is_scalar(other) else NotImplemented

    def __neg__(self) -> Any:
        return self._like(call(np.negative, self._data))

    def __pow__(self, other: Any) -> Any:
        if self._kind == "array":
            return self.power(other)
        if not isinstance(other, int) or other < 1:
            raise fail(JitadTypeError, "a sparse matrix has a power by a known positive int here")
        return self if other == 1 else self @ self ** (other - 1)

    def power(self, n: Any, dtype: Any = None) -> Any:
        return self._mapped(lambda x: call(np.power, x, n))

    def __abs__(self) -> Any:
        return self._mapped(lambda x: call(np.abs, x))

    def _mapped(self, f: Any) -> Any:
        """Each entry by a function that has a zero at zero."""
        one_each = self._by_places()
        return one_each._like(f(one_each._data))

    def _by_places(self) -> Any:
        """With those entries added that are at one place."""
        if self._distinct:
            return self
        place = self._rows * self.shape[1] + self._cols
        order = call(np.argsort, place, kind="stable")
        place = place[order]
        begins = call(np.concatenate, [call(np.ones, 1, dtype=bool), place[1:] != place[:-1]])
        (first,) = call(np.nonzero, begins[: place.shape[0]])
        group = call(np.cumsum, begins)[: place.shape[0]] - 1
        data = _added(first.shape[0], group, self._data[order])
        out = self._like(data, *(at[order][first] for at in (self._rows, self._cols)))
        out._distinct, out._counted = True, self._counted and "entries"
        return out

    def _takes(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Functions with a zero at zero, which are methods, too."""
        if args != (self,) or kwargs:
            return NotImplemented
        if original is np.conj:
            return self.conjugate()
        return self._mapped(lambda x: call(original, x)) if original in _WITH_ZERO else (
            NotImplemented)  # fmt: skip

    def conjugate(self, copy: bool = True) -> Any:
        return self._like(call(np.conj, self._data)) if is_complex(self._data) else (
            self.copy() if copy else self)  # fmt: skip

    conj = conjugate

    @property
    def real(self) -> Any:
        return self._like(call(np.real, self._data))

    @property
    def imag(self) -> Any:
        return self._like(call(np.imag, self._data))

    def multiply(self, other: Any) -> Any:
        """Element by element with a number, a row, a column or a matrix, maybe a sparse one."""
        if is_scalar(other):
            return self._scaled(other)
        x = numbers(adopt(other).toarray() if is_sparse(other) else other)
        if len(x.shape) == 1:
            x = x[None]
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
        if len(keys) != 2 or any(not isinstance(k, slice) and not is_scalar(k) for k in keys):
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
            return call(np.sum, self._only(here))
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

    def __setitem__(self, key: Any, value: Any) -> None:
        raise fail(JitadTypeError, f"this {self.format}_{self._kind} can't be written to here",
                   "Write to a copy of another form: A = A.tolil(copy=True).")  # fmt: skip

    def setdiag(self, values: Any, k: int = 0) -> None:
        self[k] = values

    # -- sums -------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        other = adopt(other)
        if is_scalar(other):
            return self._plus(other)
        if not isinstance(other, SparseMatrix):
            return self.todense() + other
        if other._whole is not None:
            return other + self
        for n, m in zip(self.shape, other.shape, strict=True):
            require_same(n, m, lambda: "inconsistent shapes")
        names = ("_data", "_rows", "_cols")
        pairs = ([getattr(self, name), getattr(other, name)] for name in names)
        out = self._like(*(call(np.concatenate, pair) for pair in pairs))
        out._counted, out._distinct = None, False
        return out

    __radd__ = __add__

    def _plus(self, number: Any) -> Any:
        if isinstance(number, (int, float)) and number == 0:  # as `sum` begins
            return self.copy()
        raise NotImplementedError("adding a nonzero scalar to a sparse matrix is not supported")

    def __sub__(self, other: Any) -> Any:
        other = adopt(other)
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        count = extents.product(self.shape) if axis is None else self.shape[axis]
        return call(np.true_divide, self.sum(axis), count)

    def max(self, axis: Any = None, out: Any = None) -> Any:
        return self._most(np.max, axis)

    def min(self, axis: Any = None, out: Any = None) -> Any:
        return self._most(np.min, axis)

    def _most(self, f: Any, axis: Any) -> Any:
        if axis is not None:
            raise fail(JitadTypeError, f"axis= of {f.__name__}() gives a sparse matrix, which is "
                       "not supported", "Use A.toarray().")  # fmt: skip
        return call(f, self.toarray())

    def trace(self, offset: int = 0) -> Any:
        return call(np.sum, self.diagonal(offset))

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            return call(np.sum, self._data)
        kept = 0 if axis in (1, -1) else 1
        found = _added(self.shape[kept], (self._rows, self._cols)[kept], self._data)
        if self._kind == "array":
            return found
        return Matrix(call(np.expand_dims, found, 1 - kept))

    def diagonal(self, k: int = 0) -> Any:
        if k:
            raise fail(JitadTypeError, "diagonal(k) is supported for k = 0")
        here = call(np.equal, self._rows, self._cols)
        places = call(np.where, here, self._rows, 0)
        return _added(extents.smallest(*self.shape), places, self._only(here))

    def _only(self, here: Any) -> Any:
        """The entries there, and zeros elsewhere."""
        return call(np.where, here, self._data, self.dtype.type(0))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        return _added(self.shape, (self._rows, self._cols), self._data)

    def todense(self, order: Any = None, out: Any = None) -> Any:
        return self.toarray() if self._kind == "array" else Matrix(self.toarray())

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        return self if self.dtype == dtype and not copy else self._like(self._data.astype(dtype))

    def asformat(self, format: Any, copy: bool = False) -> Any:
        if format in ("lil", "dok"):
            return self._written(format, copy)
        return self._as(format or self.format, copy)

    def tocsr(self, copy: bool = False) -> Any:
        return self._as("csr", copy)

    def tolil(self, copy: bool = False) -> Any:
        return self._written("lil", copy)

    def todok(self, copy: bool = False) -> Any:
        return self._written("dok", copy)

    def _written(self, form: str, copy: bool) -> Any:
        same = self.format == form and not copy
        return self if same else call(getattr(ss, f"{form}_{self._kind}"), self, copy=True)

    def tocsc(self, copy: bool = False) -> Any:
        return self._as("csc", copy)

    def tocoo(self, copy: bool | None = None) -> Any:
        if copy is None:  # which depends on SciPy's release
            original = getattr(ss, f"{self.format}_{self._kind}").tocoo
            copy = bool(inspect.signature(original).parameters["copy"].default)
        return self._as("coo", copy)


_WITH_ZERO = frozenset((
    np.abs, np.arcsin, np.arcsinh, np.arctan, np.arctanh, np.ceil, np.deg2rad, np.expm1, np.floor,
    np.log1p, np.rad2deg, np.rint, np.sign, np.sin, np.sinh, np.sqrt, np.tan, np.tanh, np.trunc))

for _f in _WITH_ZERO:
    setattr(SparseMatrix, _f.__name__, lambda self, _f=_f: self._takes(_f, self))


def numbers(x: Any) -> Any:
    """An array of numbers, which may be complex, as a handle."""
    return call(np.asarray, x) if is_complex(x) or isinstance(x, Matrix) else handle(x)


def _added(shape: Any, places: Any, values: Any) -> Any:
    """An array of this shape with all values added where they belong."""
    if isinstance(values, Complex):
        return pair(_added(shape, places, values.re), _added(shape, places, values.im))
    out = call(np.zeros, shape, dtype=values.dtype)
    call(np.add.at, out, places, values)
    return out


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


def is_sparse(value: Any) -> bool:
    return isinstance(value, SparseMatrix) or ss.issparse(value)


def is_scalar(value: Any) -> bool:
    return not isinstance(value, StandIn) and not ss.issparse(value) and not shape_of(
        as_operand(value))  # fmt: skip


def spread(indptr: Any, count: Any) -> Any:
    """The row of each entry, of compressed rows: how many rows have begun before it."""
    begun = call(np.zeros, extents.add(count, 1), dtype=int)
    call(np.add.at, begun, indptr[1:-1], 1)
    return call(np.cumsum, begun)[:-1]
