"""Which operators and methods does an array handle have?  Those of an ndarray.

Each is the NumPy function of the same meaning, looked up in the registry: `a + b` is
`np.add(a, b)`, `a.sum(axis=0)` is `np.sum(a, axis=0)`.  In-place operators write through views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.primitives import TABLE
from jitad.tape.build import Leaf
from jitad.values import extents
from jitad.values.active import is_traced
from jitad.values.kind import fail, missing, primal, require, wrong_type
from jitad.values.number import Number, bind
from jitad.values.ranges import Range, relied
from jitad.values.registry import call, call_plain, implementation, unsupported
from jitad.values.views import Flat


def _binary(ufunc: Any) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    row = next((r for r in TABLE.values() if r.numpy is ufunc and r.elementwise), None)

    def forward(self: Any, other: Any) -> Any:
        if row is not None:
            out = self.quickly(row, (self, other))
            if out is not None:
                return out
        return call(ufunc, self, other) if _takes(other) else NotImplemented

    def backward(self: Any, other: Any) -> Any:
        if row is not None:
            out = self.quickly(row, (other, self))
            if out is not None:
                return out
        return call(ufunc, other, self) if _takes(other) else NotImplemented

    def in_place(self: Any, other: Any) -> Any:
        return call(ufunc, self, other, out=self)

    return forward, backward, in_place


def _powers(forward: Any, backward: Any, in_place: Any) -> tuple[Callable[..., Any], ...]:
    def power(self: Any, other: Any) -> Any:
        """NumPy's `** 2` is its square, which of bools has another dtype than their power."""
        square = self.dtype == bool and extents.known_to_be(other, 2)
        return call(np.square, self) if square else forward(self, other)

    return power, backward, in_place


def _takes(other: Any) -> bool:
    numbers = (Surface, Number, np.ndarray, np.generic, bool, int, float, complex)
    return isinstance(other, (*numbers, list, tuple, range, Range))


class Surface:
    """Mixed into `ArrayHandle`, which gives `shape`, `dtype`, `peek`, views and subscripts."""

    __slots__ = ()
    __array_priority__ = 1000.0
    shape: tuple[Any, ...]
    dtype: np.dtype[Any]
    concrete: bool
    peek: Callable[[], Any]
    quickly: Callable[..., Any]
    flattened: Callable[..., Any]

    def __init_subclass__(cls) -> None:
        cls.__name__ = "ndarray"  # as which Python's own messages speak of it

    __add__, __radd__, __iadd__ = _binary(np.add)
    __sub__, __rsub__, __isub__ = _binary(np.subtract)
    __mul__, __rmul__, __imul__ = _binary(np.multiply)
    __truediv__, __rtruediv__, __itruediv__ = _binary(np.true_divide)
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary(np.floor_divide)
    __mod__, __rmod__, __imod__ = _binary(np.remainder)
    __pow__, __rpow__, __ipow__ = _powers(*_binary(np.power))
    __matmul__, __rmatmul__, __imatmul__ = _binary(np.matmul)
    __and__, __rand__, __iand__ = _binary(np.bitwise_and)
    __or__, __ror__, __ior__ = _binary(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = _binary(np.bitwise_xor)
    __lshift__, __rlshift__, __ilshift__ = _binary(np.left_shift)
    __rshift__, __rrshift__, __irshift__ = _binary(np.right_shift)
    __lt__ = _binary(np.less)[0]
    __le__ = _binary(np.less_equal)[0]
    __gt__ = _binary(np.greater)[0]
    __ge__ = _binary(np.greater_equal)[0]
    __eq__ = _binary(np.equal)[0]
    __ne__ = _binary(np.not_equal)[0]

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> Any:
        return call(np.negative, self)

    def __pos__(self) -> Any:
        if self.dtype.kind == "b":
            return call(np.negative, self)  # which refuses bools
        return call(np.copy, self)[()]  # a number, of an array without axes

    def __abs__(self) -> Any:
        return call(np.absolute, self)

    def __invert__(self) -> Any:
        return call(np.invert, self)

    # -- size and elements ------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        return call(np.size, self)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> Any:
        return call(np.transpose, self)

    @property
    def mT(self) -> Any:
        return call(np.matrix_transpose, self)

    @property
    def real(self) -> Any:
        return call(np.real, self)

    @property
    def imag(self) -> Any:
        return call(np.imag, self)

    @property
    def flat(self) -> Any:
        return self.flattened(Flat)

    @flat.setter
    def flat(self, value: Any) -> None:
        self[...] = call(np.resize, value, self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self._static(self.shape[0], "len() of an array")

    def _static(self, n: Any, what: str) -> int:
        return n.known(what) if isinstance(n, Leaf) else int(n)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        n = relied(self.shape[0], "the length of an array that Python iterates over")
        return (self.row(k) for k in range(n))

    def __contains__(self, value: Any) -> Any:
        return bool(call(np.any, self == value))

    # -- leaving the handle -----------------------------------------------------------------------

    def _plain(self, what: str) -> Any:
        content = self.peek()
        if isinstance(content, Number):
            content = content.outlived()
        if isinstance(content, Number):
            raise fail(JitadTypeError, f"a traced or differentiated array can't become {what}",
                       "Keep it an array; use supported NumPy functions on it.")  # fmt: skip
        return content

    def _only(self, what: str) -> Any:
        """The one element of an array of size 1."""
        n = self.size
        if isinstance(n, Number):  # it may be one
            raise fail(JitadTypeError, f"only an array of size 1 can become {what}")
        if n != 1:
            raise wrong_type(f"only an array of size 1 can become {what}")
        return self[(0,) * self.ndim]  # type: ignore[index]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._plain("a NumPy array"), dtype)

    def __float__(self) -> float:
        return float(self._only("a float"))

    def __int__(self) -> int:
        return int(self._only("an int"))

    def __complex__(self) -> complex:
        return complex(self._only("a complex"))

    def __index__(self) -> int:
        if self.ndim:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._only("an index").__index__()

    def __bool__(self) -> bool:
        n = self.size
        if isinstance(n, Number) or n != 1:
            raise ValueError("The truth value of an array with more than one element is "
                             "ambiguous. Use a.any() or a.all()")  # fmt: skip
        return bool(self._only("a bool"))

    def item(self, *index: Any) -> Any:
        """The element as a Python number."""
        if not index:
            one = bind("eq", self.size, 1) if isinstance(self.size, Number) else self.size == 1
            require(one, JitadValueError, "can only convert an array of size 1 to a Python scalar")
            value = self[(0,) * self.ndim]  # type: ignore[index]
        elif len(index) == 1 and not isinstance(index[0], tuple) and self.ndim != 1:
            value = call(np.ravel, self)[index[0]]
        else:
            value = self[index[0] if isinstance(index[0], tuple) else index]  # type: ignore[index]
        return _python(value)

    def tolist(self) -> Any:
        if not self.shape:
            return self.item()
        return [_python(r) if not isinstance(r, Surface) else r.tolist() for r in self]

    def __repr__(self) -> str:
        plain = self._shown()
        if plain is not None:
            return repr(plain)
        sizes = ", ".join("?" if isinstance(n, Number) else str(n) for n in self.shape)
        return f"<traced array of {self.dtype}, shape ({sizes})>"

    def __str__(self) -> str:
        plain = self._shown()
        if plain is None:
            raise fail(JitadTypeError, "a traced array can't become a text here",
                       "Print it, or put it into an f-string.")  # fmt: skip
        return str(plain)

    def __format__(self, form: str) -> str:
        return format(str(self), form) if form else str(self)

    def _shown(self) -> Any:
        """The numbers without their derivatives; None where they are traced."""
        content = self.peek() if self.concrete else primal(self.content)
        return None if isinstance(content, Number) else content

    # -- methods that write -----------------------------------------------------------------------

    def fill(self, value: Any) -> None:
        self.assign(value)

    # -- methods that are functions ---------------------------------------------------------------

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        return call(np.reshape, self, shape[0] if len(shape) == 1 else shape, order=order)

    def transpose(self, *axes: Any) -> Any:
        return call(np.transpose, self, axes[0] if len(axes) == 1 else (axes or None))

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
               copy: bool = True) -> Any:  # fmt: skip
        from jitad.values.numpy.creation import astype, in_order_of

        return in_order_of(astype(self, dtype, copy=copy), order)

    def flatten(self, order: str = "C") -> Any:
        return call(np.ravel, call(np.copy, self), order=order)

    def copy(self, order: str = "C") -> Any:
        return call(np.copy, self, order=order)

    def view(self, *kinds: Any) -> Any:
        if kinds not in ((), (np.ndarray,), (self.dtype,)):
            raise fail(JitadTypeError, "an array can't be seen as one of another dtype here",
                       "Convert it with astype().")  # fmt: skip
        return self[...]  # type: ignore[index]

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        return call(np.compress, condition, self, axis=axis, out=out)

    def choose(self, *choices: Any, out: Any = None, mode: str = "raise") -> Any:
        return call(np.choose, self, choices[0] if len(choices) == 1 else choices, out, mode)

    def conj(self) -> Any:
        return self  # NumPy copies in the function only

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self[...] = call(np.sort, self, *args, **kwargs)

    def partition(self, *args: Any, **kwargs: Any) -> None:
        self[...] = call(np.partition, self, *args, **kwargs)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name):
            raise missing(f"the attribute {name!r} of arrays is not supported on traced or "
                          "differentiated arrays", "Write it with supported functions.")
        raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")

    # -- NumPy's protocols ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__":
            return call(ufunc, *inputs, **kwargs)
        return implementation(getattr(ufunc, method))(*inputs, **kwargs)  # type: ignore[misc]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = implementation(func)
        if found is not None:
            return found(*args, **kwargs)
        if any(is_traced(a) for a in (*args, *kwargs.values())):
            raise unsupported(func)
        return call_plain(func, args, kwargs)


def _method(function: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(function, self, *args, **kwargs)

    method.__name__ = function.__name__
    return method


for _f in (
    np.sum, np.mean, np.max, np.min, np.prod, np.dot, np.ravel, np.swapaxes, np.squeeze, np.any,
    np.all, np.argmax, np.argmin, np.cumsum, np.std, np.var, np.clip, np.round, np.trace, np.take,
    np.repeat, np.diagonal, np.conj, np.argsort, np.argpartition, np.cumprod,
    np.searchsorted, np.nonzero, np.put, np.ptp,
):  # fmt: skip
    setattr(Surface, _f.__name__, _method(_f))
Surface.max, Surface.min = _method(np.max), _method(np.min)  # type: ignore[attr-defined]


def _python(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Number):
        from jitad.values.python_functions import to_python

        return to_python(value)
    return value
