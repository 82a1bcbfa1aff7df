"""What becomes of a sparse matrix that is written to, or made of an array?

Which of its cells are entries only its numbers tell, so it is held whole: an array behind the
methods of a sparse matrix.  Systems with it are dense ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as ss

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.matrices import Matrix
from jitad.values.registry import call, of_complex, replaces
from jitad.values.scipy.sparse_matrices import SparseMatrix, is_scalar, is_sparse, numbers
from jitad.values.stand_ins import adopt

CELLS = 1 << 24


class Filled(SparseMatrix):
    """`_whole` is the array."""

    _counted, _distinct = None, True
    _lent = False  # has another the same numbers, which SciPy may part at a change as a whole?

    def __init__(self, whole: Any, kind: str, form: str) -> None:
        self._whole, self._kind, self.format = whole, kind, form
        self.shape = tuple(whole.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._whole.dtype

    @property
    def _rows(self) -> Any:  # type: ignore[override]
        return call(np.repeat, call(np.arange, self.shape[0]), self.shape[1])

    @property
    def _cols(self) -> Any:  # type: ignore[override]
        return call(np.tile, call(np.arange, self.shape[1]), self.shape[0])

    @property
    def _data(self) -> Any:
        return call(np.ravel, self._whole)

    def _like(self, data: Any, rows: Any = None, cols: Any = None, shape: Any = None) -> Any:
        if rows is None and cols is None and shape is None:
            return self._of(call(np.reshape, data, self.shape))
        out = SparseMatrix(self._rows if rows is None else rows,
                           self._cols if cols is None else cols, data,
                           shape or self.shape, self._kind, self.format)  # fmt: skip
        out._counted, out._distinct = None, True
        return out

    def _of(self, whole: Any) -> Filled:
        return Filled(whole, self._kind, self.format)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        return self._of(call(np.copy, call(np.transpose, self._whole)))

    def copy(self) -> Any:
        return self._of(call(np.copy, self._whole))

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        return self if self.dtype == dtype and not copy else self._of(self._whole.astype(dtype))

    def _as(self, form: str, copy: bool) -> Any:
        if form == self.format and not copy:
            return self
        return Filled(call(np.copy, self._whole), self._kind, form)

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        return call(np.copy, self._whole)

    def _times_in_place(self, factor: Any) -> None:
        if self._lent or self.format not in ("lil", "dok"):  # which others may have, too
            raise fail(JitadTypeError, f"this {self.format}_{self._kind} can't be changed in place "
                       "here", "Write A = A * factor.")  # fmt: skip
        self._whole *= factor

    def diagonal(self, k: int = 0) -> Any:
        return call(np.diagonal, self._whole, k)

    def __matmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return self._of(call(np.matmul, self._whole, adopt(other).toarray()))
        return call(np.matmul, self._whole, other)

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, SparseMatrix):
            return self._of(other @ self._whole)
        return call(np.matmul, other, self._whole)

    def __add__(self, other: Any) -> Any:
        if is_sparse(other):
            return self._of(call(np.add, self._whole, adopt(other).toarray()))
        if is_scalar(other):
            return self._plus(other)
        found = call(np.add, self._whole, other)
        return found if self._kind == "array" else Matrix(found)

    __radd__ = __add__

    # -- parts ------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        found = self._whole[self._key(key)]
        axes = call(np.ndim, found)
        if axes == 1:
            raise fail(JitadTypeError, "a part of a sparse matrix with one axis is not supported "
                       "here", "Take a slice of length one.")  # fmt: skip
        return self._of(call(np.copy, found)) if axes else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.format not in ("lil", "dok"):  # which may share their numbers
            super().__setitem__(key, value)
        if is_sparse(value):
            if self._lent:
                self._times_in_place(1.0)  # which is refused
            value = adopt(value).toarray()
        self._whole[self._key(key)] = value.A if isinstance(value, Matrix) else value

    def _key(self, key: Any) -> Any:
        """One by which a row or column keeps its axis, where it has one in SciPy."""
        if self._kind == "array":
            return key
        keys = list(key) if isinstance(key, tuple) else [key]
        keys += [slice(None)] * (2 - len(keys))
        if any(isinstance(k, slice) for k in keys):
            keys = [k if isinstance(k, slice) or call(np.ndim, k) else _only(k) for k in keys]
        return tuple(keys)

    def setdiag(self, values: Any, k: int = 0) -> None:
        if self.format not in ("lil", "dok"):
            super().__setitem__(k, values)
        above, before = max(-k, 0), max(k, 0)
        count = extents.smallest(extents.sub(self.shape[0], above),
                                 extents.sub(self.shape[1], before))  # fmt: skip
        values = numbers(values)
        if values.shape:
            count = extents.smallest(count, values.shape[0])
            values = values[:count]
        at = call(np.arange, count)
        self._whole[call(np.add, at, above), call(np.add, at, before)] = values


def _only(k: Any) -> Any:
    """The slice of this place alone."""
    return call(np.reshape, k, 1)


def filled(value: Any, kind: str, form: str, dtype: Any = None) -> Filled:
    """A matrix of the user's own, with the numbers of an array or another matrix."""
    if isinstance(value, SparseMatrix):
        value = value.toarray()
    whole = call(np.array, value, dtype=dtype)
    if call(np.ndim, whole) == 1 and kind == "matrix":
        whole = whole[None]
    if call(np.ndim, whole) != 2:
        raise fail(JitadTypeError, f"a {form}_{kind} of an array is made of one with two axes")
    _check_size(whole.shape)
    return Filled(whole, kind, form)


def _check_size(shape: Any) -> None:
    if not any(isinstance(n, Number) for n in shape) and math.prod(shape) > CELLS:
        raise fail(JitadTypeError, "a sparse matrix that is written to, or made of an array, is "
                   f"held whole here, and has more than {CELLS} cells", "Gather its entries in "
                   "arrays, and give (data, (rows, columns)) and the shape.")  # fmt: skip


def _enter(form: str, kind: str) -> None:
    original = getattr(ss, f"{form}_{kind}")

    @of_complex(original)
    @replaces(original, plain=False)
    def replacement(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
        given = adopt(arg1)
        if isinstance(given, Filled) and given.format == form and not copy and dtype is None:
            same = Filled(given._whole, kind, form)
            given._lent = same._lent = form == "lil"
            return same
        if isinstance(given, tuple) and len(given) == 2:
            _check_size(given)
            return Filled(call(np.zeros, given, dtype=dtype or float), kind, form)
        return filled(given, kind, form, dtype)


for _form in ("lil", "dok"):
    for _kind in ("matrix", "array"):
        _enter(_form, _kind)
