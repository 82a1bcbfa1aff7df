"""What becomes of reductions, creation and linear algebra of complex arrays?

What neither is linear nor a product of arrays: each in terms of parts, or of one real system of
twice the size, `[[A, -B], [B, A]]` for `A + iB`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.complexes.functions import ELEMENTWISE, absolute, numpy_complex
from jitad.values.complexes.lifts import (
    check_initial,
    combined,
    finished,
    imaginary_part,
    real_part,
)
from jitad.values.complexes.number import Complex, minus, pair, parts, plus, times
from jitad.values.extents import Int
from jitad.values.kind import fail
from jitad.values.layout import as_it_lies
from jitad.values.loops import fold
from jitad.values.number import bind
from jitad.values.numpy.reductions import axes_of, part, with_part
from jitad.values.numpy.subscripts import spanned
from jitad.values.registry import call, is_complex, of_complex, replaces

_e = elementwise

_f: Any  # a function of NumPy's, in the loops below

# -- truth ----------------------------------------------------------------------------------------


def _true(z: Any) -> Any:
    """Where an operand counts as true."""
    return ELEMENTWISE[np.not_equal](z, 0.0) if is_complex(z) else z


for _f in (np.any, np.all, np.count_nonzero, np.nonzero, np.flatnonzero, np.argwhere,
           np.logical_not, np.logical_and, np.logical_or, np.logical_xor):  # fmt: skip

    def _test(*args: Any, _f: Any = _f, **kwargs: Any) -> Any:
        first = 2 if _f in (np.logical_and, np.logical_or, np.logical_xor) else 1
        return call(_f, *map(_true, args[:first]), *args[first:], **kwargs)

    of_complex(_f)(_test)


@of_complex(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    if equal_nan:
        raise fail(JitadTypeError, "equal_nan= is not supported on traced values")
    size_b = absolute(b)
    near = _e("le", absolute(minus(a, b)), _e("add", atol, _e("mul", rtol, size_b)))
    fine = _e("logical_and", near, _e("isfinite", size_b))
    return _e("logical_or", fine, ELEMENTWISE[np.equal](a, b))


@of_complex(np.allclose)
def allclose(*args: Any, **kwargs: Any) -> Any:
    return call(np.all, isclose(*args, **kwargs))


@of_complex(np.array_equal)
def array_equal(a: Any, b: Any, equal_nan: bool = False) -> Any:
    if equal_nan:
        raise fail(JitadTypeError, "equal_nan= is not supported on traced values")
    return call(np.array_equal, real_part(a), real_part(b)) & call(
        np.array_equal, imaginary_part(a), imaginary_part(b))  # fmt: skip


# -- extents --------------------------------------------------------------------------------------


for _f in (np.shape, np.ndim, np.size):

    def _extent(z: Any, *args: Any, _f: Any = _f) -> Any:
        return call(_f, real_part(z), *args)

    of_complex(_f)(_extent)

# -- creation -------------------------------------------------------------------------------------


def _kind(dtype: Any) -> Any:
    return np.dtype(dtype).type(0).real.dtype


@of_complex(np.array)
def array(value: Any, dtype: Any = None, *, copy: Any = True, **other: Any) -> Any:
    re, im = real_part(value), imaginary_part(value)
    if dtype is not None and np.dtype(dtype).kind != "c":
        raise fail(JitadTypeError, f"complex numbers don't fit in an array of {np.dtype(dtype)}",
                   "Take their real parts.")  # fmt: skip
    kind = None if dtype is None else _kind(dtype)
    if not copy and isinstance(value, Complex) and value.shape and not other:
        if kind in (None, value.re.dtype):
            return value
    made = [call(np.array, p, dtype=kind, **other) for p in (re, im)]
    return pair(*made) if made[0].shape else Complex(*made)


@of_complex(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *,
         device: Any = None) -> Any:  # fmt: skip
    return _filled_with(lambda p, k: call(np.full, shape, p, dtype=k, order=order), fill_value,
                        dtype)  # fmt: skip


@of_complex(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None, **other: Any) -> Any:
    like = a if not is_complex(a) else real_part(a)
    wide = dtype if dtype is not None else getattr(a, "dtype", complex)
    return _filled_with(lambda p, k: call(np.full_like, like, p, dtype=k, **other),
                        fill_value, wide)  # fmt: skip


def _filled_with(make: Callable[[Any, Any], Any], value: Any, dtype: Any) -> Any:
    wide = np.dtype(getattr(value, "dtype", complex) if dtype is None else dtype)
    if wide.kind != "c":
        raise fail(JitadTypeError, f"a complex value can't be stored in an array of {wide}")
    kind = _kind(wide)
    re, im = parts(value)
    return Complex(make(0.0 if re is None else re, kind), make(0.0 if im is None else im, kind))


def _like(fill: float) -> Callable[..., Any]:
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
             device: Any = None) -> Any:  # fmt: skip
        kind = np.dtype(dtype) if dtype is not None else getattr(a, "dtype", np.dtype(complex))
        where = shape_of(parts(a)[1]) if shape is None else shape
        value = fill + 0j if kind.kind == "c" else fill
        out = call(np.full, where, value, dtype=kind, order="C" if order == "K" else order)
        return as_it_lies(out, a) if order == "K" and shape is None else out

    return like


for _f, _value in ((np.zeros_like, 0.0), (np.ones_like, 1.0), (np.empty_like, 0.0)):
    of_complex(_f)(_like(_value))

# -- reductions -----------------------------------------------------------------------------------


def _moved(z: Any, axis: Any) -> tuple[Any, Any, Int, tuple[int, ...]]:
    """Both contents with the folded axes as one in front, its extent, the axes."""
    re, im = (call(np.array, p) for p in (real_part(z), imaginary_part(z)))
    axes = axes_of(axis, re.ndim)
    others = [k for k in range(re.ndim) if k not in axes]
    n = extents.product(re.shape[k] for k in axes)
    rest = tuple(re.shape[k] for k in others)
    a, b = (call(np.reshape, call(np.transpose, p, (*axes, *others)), (n, *rest)).content
            for p in (re, im))  # fmt: skip
    return a, b, n, axes


def _one(content: Any) -> tuple[Any, Any]:
    """The number 1, or an array of it, of the extents and dtype of a part."""
    shape, dtype = shape_of(content)[1:], ArrayHandle(content).dtype
    if not shape:
        return dtype.type(1), dtype.type(0)
    return tuple(bind("full", v, *shape, dtype=dtype.str[1:]) for v in (1.0, 0.0))


def _multiplied(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return (bind("sub", bind("mul", a, x), bind("mul", b, y)),
            bind("add", bind("mul", a, y), bind("mul", b, x)))  # fmt: skip


@of_complex(np.prod)
def prod(z: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
         initial: Any = None, where: Any = True) -> Any:  # fmt: skip
    check_initial(z, initial, dtype)
    if where is not True:
        z = call(np.where, where, z, 1.0)
    a, b, n, axes = _moved(z, axis)

    def step(k: Int, re: Any, im: Any) -> tuple[Any, Any]:
        return _multiplied(re, im, part(a, k), part(b, k))

    found: Any = pair(*map(wrap, fold(n, _one(a), step, a, b)))
    found = numpy_complex(found) if initial is None else times(found, initial)
    if keepdims is True:
        found = call(np.expand_dims, found, tuple(axes))
    return finished(found if dtype is None else found.astype(dtype), out)


of_complex(np.multiply.reduce)(
    lambda z, axis=0, dtype=None, out=None, keepdims=False, **more: prod(
        z, axis, dtype, out, keepdims, **more))  # fmt: skip


@of_complex(np.cumprod)
def cumprod(z: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if axis is None:
        z, axis = call(np.ravel, z), 0
    turned = call(np.moveaxis, z, axis, 0)
    a, b = (call(np.array, p).content for p in (real_part(turned), imaginary_part(turned)))
    n = shape_of(a)[0]

    def step(k: Int, re: Any, im: Any, done: Any, more: Any) -> tuple[Any, ...]:
        re, im = _multiplied(re, im, part(a, k), part(b, k))
        return re, im, with_part(done, k, re), with_part(more, k, im)

    *_, re, im = fold(n, (*_one(a), a, b), step, a, b)
    found = call(np.moveaxis, pair(wrap(re), wrap(im)), 0, axis)
    return finished(found if dtype is None else found.astype(dtype), out)


of_complex(np.multiply.accumulate)(
    lambda z, axis=0, dtype=None, out=None: cumprod(z, axis, dtype, out))


@of_complex(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Horner's rule, written out: the number of coefficients is relied on."""
    out: Any = 0.0
    for c in p:
        out = plus(times(out, x), c)
    return out


# -- order ----------------------------------------------------------------------------------------


@of_complex(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *,
            stable: Any = None) -> Any:  # fmt: skip
    """By the real parts, and by the imaginary ones where these are equal."""
    if axis is None:
        a, axis = call(np.ravel, a), 0
    return call(np.lexsort, (imaginary_part(a), real_part(a)), axis)


@of_complex(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *,
         stable: Any = None) -> Any:  # fmt: skip
    if axis is None:
        a, axis = call(np.ravel, a), 0
    return call(np.take_along_axis, a, argsort(a, axis), axis)


@of_complex(np.sort_complex)
@replaces(np.sort_complex)
def sort_complex(a: Any) -> Any:
    a = call(np.array, a)
    return call(np.sort, a if a.dtype.kind == "c" else a.astype(complex))


# -- joined and spread ----------------------------------------------------------------------------


def _joins(maker: Any) -> None:
    original = maker.__getitem__

    @of_complex(original)
    def join(key: Any) -> Any:
        items = [spanned(i) if isinstance(i, slice) else i
                 for i in (key if isinstance(key, tuple) else (key,))]  # fmt: skip
        re, im = (call(original, tuple(i if isinstance(i, str) else part_of_it(i) for i in items))
                  for part_of_it in (real_part, imaginary_part))  # fmt: skip
        return combined(re, im)


for _maker in (np.r_, np.c_):
    _joins(_maker)


@of_complex(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = call(np.asarray, x)
    if x.ndim != 1:
        raise fail(JitadValueError, "x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else N
    powers = call(np.full, (x.shape[0], n), 1.0, dtype=complex)
    powers[:, 1:] = x[:, None]
    powers = call(np.cumprod, powers, axis=1)
    return powers if increasing else powers[:, ::-1]


def _sort_in_place(self: Any, axis: Any = -1, kind: Any = None, order: Any = None, *,
                   stable: Any = None) -> None:  # fmt: skip
    self[...] = sort(self, axis)


def _compress(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return finished(call(np.compress, condition, self, axis=axis), out)


Complex.sort, Complex.argsort = _sort_in_place, argsort  # type: ignore[attr-defined]
Complex.compress = _compress  # type: ignore[attr-defined]
