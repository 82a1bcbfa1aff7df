"""What is an np.matrix, as sums of sparse matrices along an axis give it?

An array of two axes, whatever is done to it: `*` is the product of matrices, a row stays a row.
NumPy advises against the class; most users make an array of one at once (`np.asarray(m)`, `m.A1`).
Those that are made by name are the user's own, and are refused beside traced arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values.kind import fail
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, is_complex, matrices
from jitad.values.stand_ins import StandIn

_HERE = "Make it an array first: np.asarray(m)."


class Matrix(StandIn):
    """`A` is the array."""

    _what = "np.matrix"
    __array_priority__ = 20.0
    __array_ufunc__ = None  # so that arrays leave their operators to it

    def __init__(self, whole: Any) -> None:
        self.A = call(np.asarray, whole) if is_complex(whole) else handle(whole)
        if len(self.A.shape) > 2:
            raise fail(JitadValueError, "matrix must be 2-dimensional")
        if len(self.A.shape) < 2:
            self.A = call(np.reshape, self.A, (1, -1))

    shape = property(lambda self: self.A.shape)
    size = property(lambda self: self.A.size)
    dtype = property(lambda self: self.A.dtype)
    ndim = 2
    A1 = property(lambda self: call(np.ravel, self.A))
    T = property(lambda self: Matrix(self.A.T))
    H = property(lambda self: Matrix(call(np.conj, self.A.T)))
    I = property(lambda self: Matrix(call(np.linalg.inv, self.A)))  # noqa: E741
    real = property(lambda self: Matrix(call(np.real, self.A)))
    imag = property(lambda self: Matrix(call(np.imag, self.A)))

    def whole(self) -> Any:
        return self.A

    def getA(self) -> Any:
        return self.A

    def getA1(self) -> Any:
        return self.A1

    def __len__(self) -> Any:
        return len(self.A)

    def __iter__(self) -> Iterator[Matrix]:
        return (Matrix(row) for row in self.A)

    def __getitem__(self, key: Any) -> Any:
        found = self.A[_bare(key)]
        axes = call(np.ndim, found)
        if axes != 1:
            return Matrix(found) if axes else found
        second = key[1] if isinstance(key, tuple) and len(key) > 1 else None
        is_column = not (second is None or isinstance(second, (slice, type(Ellipsis), Matrix)))
        of_one = is_column and not call(np.ndim, second)
        return Matrix(call(np.reshape, found, (-1, 1) if of_one else (1, -1)))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.A[_bare(key)] = _bare(value)

    def _takes(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """What a function of NumPy's gives: by elements, or as the method of its name does."""
        if original in _AS_ARRAYS:
            return NotImplemented
        name = getattr(original, "__name__", "")
        if isinstance(original, np.ufunc) and original.nout == 1 and "out" not in kwargs:
            return _wrapped(call(original, *map(_bare, args), **kwargs))
        if original is np.dot:
            return _wrapped(call(np.dot, *map(_bare, args)))
        name = {"amax": "max", "amin": "min"}.get(name, name)
        if original is getattr(np, name, None) and name in _METHODS and args[0] is self:
            return getattr(self, name)(*args[1:], **kwargs)
        raise fail(JitadTypeError, f"{name} of an np.matrix is not supported here", _HERE)

    # -- arithmetic ---------------------------------------------------------------------------

    def __mul__(self, other: Any) -> Any:
        if _is_other(other):
            return NotImplemented
        if call(np.ndim, _bare(other)) == 1:
            other = Matrix(other)
        return self.dot(other)

    def __rmul__(self, other: Any) -> Any:
        if _is_other(other):
            return NotImplemented
        return _wrapped(call(np.dot, _bare(other), self.A))

    def dot(self, other: Any) -> Any:
        return _wrapped(call(np.dot, self.A, _bare(other)))

    def __pow__(self, n: Any) -> Any:
        return Matrix(call(np.linalg.matrix_power, self.A, n))

    def __imul__(self, other: Any) -> Any:
        return self._now(self * other)

    def __imatmul__(self, other: Any) -> Any:
        return self._now(self @ other)

    def __ipow__(self, n: Any) -> Any:
        return self._now(self**n)

    def _now(self, value: Any) -> Any:
        """The matrix, written to, since other names may mean it or parts of it."""
        self.A[...] = _bare(value)
        return self

    def __neg__(self) -> Any:
        return Matrix(-self.A)

    def __abs__(self) -> Any:
        return Matrix(call(np.abs, self.A))

    # -- shapes -------------------------------------------------------------------------------

    def ravel(self, order: str = "C") -> Any:
        return Matrix(call(np.ravel, self.A, order))

    def flatten(self, order: str = "C") -> Any:
        return Matrix(call(np.copy, call(np.ravel, self.A, order)))

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        shape = shape[0] if len(shape) == 1 else shape
        return _wrapped(call(np.reshape, self.A, shape, order=order))

    def squeeze(self, axis: Any = None) -> Any:
        return Matrix(call(np.squeeze, self.A, axis))

    def transpose(self, *axes: Any) -> Any:
        return Matrix(self.A.transpose(*axes))

    def copy(self, order: str = "C") -> Any:
        return Matrix(call(np.copy, self.A, order))

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        return Matrix(self.A.astype(dtype, *args, **kwargs))

    def conjugate(self) -> Any:
        return Matrix(call(np.conj, self.A))

    conj = conjugate

    def item(self, *at: Any) -> Any:
        return self.A.item(*at)

    def tolist(self) -> Any:
        return self.A.tolist()


matrices.add(Matrix)
_AS_ARRAYS = (np.asarray, np.array, np.ascontiguousarray, np.ravel)  # what they give is an array


def _bare(value: Any) -> Any:
    """An operand, or parts of an index, with the array for a matrix."""
    if isinstance(value, Matrix):
        return value.A
    return tuple(map(_bare, value)) if isinstance(value, tuple) else value


def _is_other(value: Any) -> bool:
    """Is it a sparse matrix or the like, which knows what to do with a matrix?"""
    return isinstance(value, StandIn) and not isinstance(value, Matrix)


def _wrapped(found: Any) -> Any:
    return Matrix(found) if call(np.ndim, found) else found


def _operator(ufunc: Any) -> tuple[Callable[..., Any], ...]:
    def forward(self: Matrix, other: Any) -> Any:
        return NotImplemented if _is_other(other) else _wrapped(call(ufunc, self.A, _bare(other)))

    def backward(self: Matrix, other: Any) -> Any:
        return NotImplemented if _is_other(other) else _wrapped(call(ufunc, _bare(other), self.A))

    def within(self: Matrix, other: Any) -> Any:
        if _is_other(other):
            return NotImplemented
        call(ufunc, self.A, _bare(other), out=self.A)
        return self

    return forward, backward, within


def _reduction(f: Any) -> Callable[..., Any]:
    def reduced(self: Matrix, axis: Any = None, *rest: Any, **kwargs: Any) -> Any:
        if axis is None:
            return call(f, self.A, None, *rest, **kwargs)
        return Matrix(call(np.expand_dims, call(f, self.A, axis, *rest, **kwargs), axis))

    return reduced


_REDUCTIONS = (np.sum, np.prod, np.mean, np.std, np.var, np.max, np.min, np.any, np.all)
_METHODS = {f.__name__ for f in _REDUCTIONS} | {"squeeze", "transpose", "reshape", "copy"}
for _f in _REDUCTIONS:
    setattr(Matrix, _f.__name__, _reduction(_f))
for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "truediv": np.true_divide, "matmul": np.matmul,
    "floordiv": np.floor_divide, "mod": np.remainder,
}.items():  # fmt: skip
    for _how, _operation in zip(("", "r", "i"), _operator(_ufunc), strict=True):
        if _name != "matmul" or _how != "i":  # which stands above
            setattr(Matrix, f"__{_how}{_name}__", _operation)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _full = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
             "eq": np.equal, "ne": np.not_equal}[_name]  # fmt: skip
    setattr(Matrix, f"__{_name}__", _operator(_full)[0])
