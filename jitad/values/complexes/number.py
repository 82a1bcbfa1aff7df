"""What is a complex number, or an array of them, where it is traced or differentiated?

A `Complex`: two real numbers, or two handles of equal extents.  Tapes, sweeps and kernels know real
numbers only; what is said here and in the `complex_*` files in terms of parts is differentiated as
any other code, in all modes and orders.  An array's parts are views that write through, so `z.real`
is the part itself.

A part that a plain complex number has as an exact zero (`1j` has one) takes no part in products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadAttributeError, JitadTypeError
from jitad.structures import traced_complex
from jitad.tape.types import Array, Scalar
from jitad.values.active import is_traced
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.complexes.operators import divided, operator, takes
from jitad.values.complexes.parts import (
    Part,
    add,
    alike,
    chooser,
    div,
    handled,
    mul,
    neg,
    part_of,
    scalar,
    sub,
    weak,
    zero,
)
from jitad.values.kind import fail, is_python, missing, type_of
from jitad.values.layout import spaced
from jitad.values.number import Number
from jitad.values.registry import call
from jitad.values.views import Flat


def pair(re: Part, im: Part) -> Any:
    """The complex value with these parts: a plain number where both are, else a `Complex`."""
    if re is None and im is None:
        return 0j
    re, im = zero(im) if re is None else re, zero(re) if im is None else im
    re, im = weak(re, im), weak(im, re)
    if not shape_of(re) and not shape_of(im):
        re, im = scalar(re), scalar(im)
        if not isinstance(re, Number) and not isinstance(im, Number):
            return plain(re, im)
    else:
        re, im = alike(handled(re), handled(im))
    return Complex(re, im)


def together(re: Any, im: Any) -> Any:
    """What was made of either part of an array alike: views stay the views that they are."""
    if isinstance(re, ArrayHandle) and isinstance(im, ArrayHandle):
        if re.dtype == im.dtype and re.dtype.kind == "f":
            return Complex(re, im)
    return pair(re, im)


def plain(re: Any, im: Any) -> Any:
    """The complex number or array of plain parts."""
    if isinstance(re, np.ndarray) or isinstance(im, np.ndarray):
        out = np.empty_like(re, np.result_type(re, im, np.complex64))  # lies as they do
        out.real, out.imag = re, im
        return out
    if isinstance(re, np.generic) or isinstance(im, np.generic):
        return np.result_type(re, im, np.complex64).type(complex(re, im))
    return complex(re, im)


def parts(value: Any) -> tuple[Part, Part]:
    """Real and imaginary part of any operand; a real one has None for the latter."""
    if isinstance(value, Complex):
        return value.re, value.im
    if isinstance(value, (complex, np.complexfloating)):
        kind = np.float32 if isinstance(value, np.complex64) else (
            np.float64 if isinstance(value, np.generic) else float)  # fmt: skip
        re, im = kind(value.real), kind(value.imag)
        exact = re == 0.0 and im != 0.0 and not np.signbit(re)
        return (None, im) if exact else (re, im)
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "c":
            return value, None
        if not value.ndim:
            return parts(value[()])
        return _lone(value.real), _lone(value.imag)
    if isinstance(value, (list, tuple)):
        return parts(call(np.array, value))
    return value, None


def _lone(part: Any) -> ArrayHandle:
    return ArrayHandle(np.array(part), owned=True)


def split(value: np.ndarray[Any, Any]) -> Any:
    """A plain complex array as user code holds it."""
    return Complex(_lone(value.real), _lone(value.imag)) if value.ndim else value[()]


# -- arithmetic ----------------------------------------------------------------------------------


def times(x: Any, y: Any) -> Any:
    (a, b), (c, d) = parts(x), parts(y)
    return pair(sub(mul(a, c), mul(b, d)), add(mul(a, d), mul(b, c)))


def plus(x: Any, y: Any) -> Any:
    (a, b), (c, d) = parts(x), parts(y)
    return pair(add(a, c), add(b, d))


def minus(x: Any, y: Any) -> Any:
    (a, b), (c, d) = parts(x), parts(y)
    return pair(sub(a, c), sub(b, d))


def over(x: Any, y: Any) -> Any:
    """Smith 1962: the larger part of the divisor is divided by, so nothing overflows midway."""
    (a, b), (c, d) = parts(x), parts(y)
    if d is None:
        return pair(div(weak(0.0, c) if a is None else a, c), div(b, c))  # 0 / 0 is nan
    if c is None:
        return pair(div(b, d), neg(div(a, d)))
    where = chooser(elementwise("ge", elementwise("abs", c), elementwise("abs", d)))
    p, q = where(c, d), where(d, c)
    ratio = elementwise("div", q, p)
    total = elementwise("add", p, elementwise("mul", q, ratio))
    a, b = (0.0 if p is None else p for p in (a, b))
    a, b = (weak(p, c) for p in (a, b))
    re = elementwise("add", where(a, b), elementwise("mul", where(b, a), ratio))
    im = where(elementwise("sub", b, elementwise("mul", a, ratio)),
               elementwise("sub", elementwise("mul", b, ratio), a))  # fmt: skip
    return pair(elementwise("div", re, total), elementwise("div", im, total))


# -- what user code holds -------------------------------------------------------------------------


class Complex:
    """A complex number or array by its parts; see the head of this file.

    The parts are in its `__dict__`: where paths meet, it is taken apart as any object is.
    """

    __array_priority__ = 2000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, re: Any, im: Any) -> None:
        self.re = spaced(ArrayHandle(re) if isinstance(re, np.ndarray) else re)
        self.im = spaced(ArrayHandle(im) if isinstance(im, np.ndarray) else im)

    __add__, __radd__, __iadd__ = operator(np.add)
    __sub__, __rsub__, __isub__ = operator(np.subtract)
    __mul__, __rmul__, __imul__ = operator(np.multiply)
    __pow__, __rpow__, __ipow__ = operator(np.power)
    __matmul__, __rmatmul__, __imatmul__ = operator(np.matmul)
    __eq__ = operator(np.equal)[0]
    __ne__ = operator(np.not_equal)[0]
    __lt__ = operator(np.less)[0]
    __le__ = operator(np.less_equal)[0]
    __gt__ = operator(np.greater)[0]
    __ge__ = operator(np.greater_equal)[0]
    __floordiv__, __rfloordiv__, __ifloordiv__ = operator(np.floor_divide)
    __mod__, __rmod__, __imod__ = operator(np.remainder)

    def __truediv__(self, other: Any) -> Any:
        return divided(self, other) if takes(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return divided(other, self) if takes(other) else NotImplemented

    def __itruediv__(self, other: Any) -> Any:
        result = self.__truediv__(other)
        if result is NotImplemented or not self.shape:
            return result
        self.assign(result)
        return self

    def __neg__(self) -> Any:
        return pair(neg(self.re), neg(self.im))

    def __pos__(self) -> Any:
        return call(np.positive, self) if self.shape else self

    def __abs__(self) -> Any:
        out = call(np.absolute, self)
        if not self.shape and is_python(self.re) and is_python(self.im):
            from jitad.values.python_functions import to_python

            return to_python(out)
        return out

    # -- what it is -------------------------------------------------------------------------------

    @property
    def concrete(self) -> bool:
        return not is_traced(self.re) and not is_traced(self.im)

    def peek(self) -> Any:
        """The plain numbers; only where it is `concrete`."""
        re, im = (p.peek() if isinstance(p, ArrayHandle) else p for p in (self.re, self.im))
        return plain(re, im)

    @property
    def shape(self) -> tuple[Any, ...]:
        return shape_of(self.re)

    @property
    def type(self) -> Scalar | Array:
        """As the numbers of a tape have one; no tape has this type."""
        dtype = np.result_type(*(type_of(p).dtype for p in (self.re, self.im)), np.complex64)
        text = dtype.str[1:]
        if self.shape or isinstance(self.re, ArrayHandle):
            return Array(text, len(self.shape))
        return Scalar(text, is_python(self.re) and is_python(self.im))

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.type.dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        return call(np.size, self.re)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.dtype.itemsize

    @property
    def base(self) -> Any:
        return getattr(self.re, "base", None)

    @property
    def real(self) -> Any:
        return self.re

    @real.setter
    def real(self, value: Any) -> None:
        self._array("real").re[...] = value

    @property
    def imag(self) -> Any:
        return self.im

    @imag.setter
    def imag(self, value: Any) -> None:
        self._array("imag").im[...] = value

    @property
    def T(self) -> Any:
        return call(np.transpose, self)

    @property
    def mT(self) -> Any:
        return call(np.matrix_transpose, self)

    @property
    def flat(self) -> Any:
        whole = self._array("the flat array")
        return Complex(whole.re.flattened(Flat), whole.im.flattened(Flat))

    @flat.setter
    def flat(self, value: Any) -> None:
        self[...] = call(np.resize, value, self.shape)

    def _array(self, what: str) -> Complex:
        if not isinstance(self.re, ArrayHandle):
            raise fail(JitadAttributeError, f"{what!r} of a complex number can't be written")
        return self

    # -- elements ---------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(self.re, ArrayHandle) and not self.type.py:  # type: ignore[union-attr]
            return call(np.array, self)[index]  # new axes
        self._array("an item")
        re, im = self.re[index], self.im[index]
        return together(re, im)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array("an item")
        if isinstance(value, Complex) and isinstance(value.re, ArrayHandle):
            target = self[index]
            if isinstance(target, Complex) and isinstance(target.re, ArrayHandle):
                if target.re.shows_same(value.re) and target.im.shows_same(value.im):
                    return  # the second half of `z[1:3] *= w`, which wrote through already
        re, im = _kept(value)
        self.re[index] = re
        self.im[index] = im

    def assign(self, value: Any) -> None:
        """Write all elements, as `self[...] = value` does."""
        re, im = _kept(value)
        self.re.assign(re)
        self.im.assign(im)

    def fill(self, value: Any) -> None:
        self.assign(value)

    def row(self, i: Any) -> Any:
        """Element or view number i along the first axis, i being known to be in range."""
        re, im = self.re.row(i), self.im.row(i)
        return together(re, im)

    def __len__(self) -> int:
        return len(self.re)

    def __iter__(self) -> Any:
        return (together(re, im) for re, im in zip(self.re, self.im, strict=True))

    # -- leaving ----------------------------------------------------------------------------------

    def item(self, *index: Any) -> Any:
        re, im = (p.item(*index) if hasattr(p, "item") else p for p in (self.re, self.im))
        return pair(re, im)

    def tolist(self) -> Any:
        return self.item() if not self.shape else [
            r.tolist() if isinstance(r, Complex) else r for r in self]  # fmt: skip

    def __complex__(self) -> complex:
        if self.concrete:
            return complex(self.peek())
        raise fail(JitadTypeError, "complex() of NumPy's or of the library's would drop the "
                   "derivative of this number", "Use the number itself.")  # fmt: skip

    def __float__(self) -> float:
        raise fail(JitadTypeError, "a complex number can't become a float",
                   "Take its real part, or its absolute value.")  # fmt: skip

    __int__ = __float__

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.concrete:
            return np.array(self.peek(), dtype)
        raise fail(JitadTypeError, "a traced or differentiated complex array can't become a NumPy "
                   "array", "Use supported NumPy functions on it.")  # fmt: skip

    def __repr__(self) -> str:
        if self.concrete:
            return repr(self.peek())
        what = "array" if self.shape else "number"
        return f"<traced complex {what}: {self.re!r}, {self.im!r}>"

    def __str__(self) -> str:
        if self.concrete:
            return str(self.peek())
        raise fail(JitadTypeError, "a traced complex value can't become a text here",
                   "Print its real and its imaginary part.")  # fmt: skip

    def __format__(self, form: str) -> str:
        return format(self.peek(), form) if self.concrete else str(self)

    # -- methods that are functions ---------------------------------------------------------------

    def conjugate(self) -> Any:
        return call(np.conj, self) if self.shape else pair(self.re, neg(self.im))

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
               copy: bool = True) -> Any:  # fmt: skip
        part = part_of(dtype)
        if not copy and self.shape and part == self.re.dtype:
            return self
        return pair(*(call(np.array, p).astype(part, order) for p in (self.re, self.im))) if (
            self.shape) else pair(*(part.type(0) + elementwise("cast", p, dtype=part.str[1:])
                                    for p in (self.re, self.im)))  # fmt: skip

    def copy(self, order: str = "C") -> Any:
        return call(np.copy, self, order=order)

    def flatten(self, order: str = "C") -> Any:
        return call(np.ravel, call(np.copy, self), order=order)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        return call(np.reshape, self, shape[0] if len(shape) == 1 else shape, order=order)

    def transpose(self, *axes: Any) -> Any:
        return call(np.transpose, self, axes[0] if len(axes) == 1 else (axes or None))

    def view(self, *kinds: Any) -> Any:
        if kinds not in ((), (np.ndarray,), (self.dtype,)):
            raise fail(JitadTypeError, "an array can't be seen as one of another dtype here",
                       "Take z.real and z.imag, or convert it with astype().")  # fmt: skip
        return self[...]

    def __copy__(self) -> Any:
        return self.copy() if self.shape else self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if hasattr(np.ndarray, name):
            raise missing(f"the attribute {name!r} of complex arrays is not supported on traced "
                          "or differentiated arrays")  # fmt: skip
        raise AttributeError(f"'complex' object has no attribute {name!r}")

    # -- NumPy's protocols ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call(ufunc if method == "__call__" else getattr(ufunc, method), *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call(func, *args, **kwargs)


traced_complex.append((Complex, plain))


def _method(function: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(function, self, *args, **kwargs)

    method.__name__ = function.__name__
    return method


for _f in (
    np.sum, np.mean, np.prod, np.dot, np.ravel, np.swapaxes, np.squeeze, np.any, np.all,
    np.cumsum, np.cumprod, np.std, np.var, np.round, np.trace, np.take, np.repeat, np.diagonal,
    np.nonzero, np.choose, np.put,
):  # fmt: skip
    setattr(Complex, _f.__name__, _method(_f))
Complex.conj = Complex.conjugate  # type: ignore[attr-defined]


def _kept(value: Any) -> tuple[Any, Any]:
    """Parts to be stored one after the other: the first store doesn't change the second."""
    re, im = parts(value)
    if isinstance(im, ArrayHandle):
        im = ArrayHandle(im.content)
    return 0.0 if re is None else re, 0.0 if im is None else im
