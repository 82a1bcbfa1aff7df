"""What becomes of reductions, creation and linear algebra of complex arrays?

What neither is linear nor a product of arrays: each in terms of parts, or of one real system of
twice the size, `[[A, -B], [B, A]]` for `A + iB`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.complex_functions import ELEMENTWISE, absolute, numpy_complex
from jitad.values.complex_lifts import finished, imaginary_part, real_part
from jitad.values.complexes import Complex, minus, pair, parts, plus, times
from jitad.values.extents import Int
from jitad.values.kind import fail
from jitad.values.loops import fold
from jitad.values.number import bind
from jitad.values.reductions import axes_of, part, with_part
from jitad.values.registry import call, is_complex, of_complex

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
    made = [call(np.array, p, dtype=kind, **other) for p in (re, im)]
    return pair(*made) if made[0].shape else Complex(*made)


@of_complex(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **_: Any) -> Any:
    return _filled_with(lambda p, k: call(np.full, shape, p, dtype=k), fill_value, dtype)


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
    def like(a: Any, dtype: Any = None, *args: Any, shape: Any = None, **_: Any) -> Any:
        kind = np.dtype(dtype) if dtype is not None else getattr(a, "dtype", np.dtype(complex))
        where = shape_of(parts(a)[1]) if shape is None else shape
        return call(np.full, where, fill + 0j if kind.kind == "c" else fill, dtype=kind)

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


@of_complex(np.var)
def var(z: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, *, correction: Any = None, **others: Any) -> Any:  # fmt: skip
    if others:
        raise fail(JitadTypeError, f"{next(iter(others))}= is not supported on complex arrays")
    ddof = ddof if correction is None else correction
    axes = axes_of(axis, len(z.shape))
    away = minus(z, call(np.mean, z, axis=tuple(axes), keepdims=True))
    squares = _e("add", _e("mul", away.re, away.re), _e("mul", away.im, away.im))
    total = call(np.sum, squares, axis=tuple(axes), keepdims=keepdims is True)
    n = extents.product(z.shape[k] for k in axes)
    return finished(_e("div", total, extents.sub(n, ddof) if isinstance(ddof, int)
                       else _e("sub", n, ddof)), out)  # fmt: skip


@of_complex(np.std)
def std(*args: Any, out: Any = None, **kwargs: Any) -> Any:
    return finished(call(np.sqrt, var(*args, **kwargs)), out)


@of_complex(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Horner's rule, written out: the number of coefficients is relied on."""
    out: Any = 0.0
    for c in p:
        out = plus(times(out, x), c)
    return out


# -- linear algebra -------------------------------------------------------------------------------


def _doubled(z: Any) -> Any:
    """The real matrix that acts on stacked parts as the complex one does."""
    re, im = real_part(z), imaginary_part(z)
    upper = call(np.concatenate, [re, call(np.negative, im)], axis=-1)
    return call(np.concatenate, [upper, call(np.concatenate, [im, re], axis=-1)], axis=-2)


def _halves(stacked: Any, axis: int) -> Any:
    n = extents.floordiv(stacked.shape[axis], 2)
    index: list[Any] = [slice(None)] * stacked.ndim
    halves = []
    for where in (slice(0, n), slice(n, None)):
        index[axis] = where
        halves.append(stacked[tuple(index)])
    return pair(*halves)


def solver(original: Any) -> Callable[..., Any]:
    def solve(a: Any, b: Any, **kwargs: Any) -> Any:
        vector = len(shape_of(parts(b)[0])) == 1
        axis = -1 if vector else -2
        both = call(np.concatenate, [real_part(b), imaginary_part(b)], axis=axis)
        return _halves(call(original, _doubled(a), both, **kwargs), axis)

    return solve


of_complex(np.linalg.solve)(solver(np.linalg.solve))


def inverse_of(original: Any) -> Callable[..., Any]:
    def inverse(a: Any, *args: Any, **kwargs: Any) -> Any:
        both = call(original, _doubled(a), *args, **kwargs)
        n = extents.floordiv(both.shape[-1], 2)
        return _halves(both[..., :n], -2)

    return inverse


for _f in (np.linalg.inv, np.linalg.pinv):
    of_complex(_f)(inverse_of(_f))


@of_complex(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    if n < 0:
        a, n = call(np.linalg.inv, a), -n
    if n == 0:
        like = real_part(a)
        return plus(times(a, 0.0), call(np.eye, like.shape[-1]))
    out, base = None, a
    while n:
        if n & 1:
            out = base if out is None else call(np.matmul, out, base)
        n >>= 1
        base = call(np.matmul, base, base) if n else base
    return out


@of_complex(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    found, *rest = arrays
    for a in rest:
        found = call(np.dot, found, a)
    return finished(found, out)


@of_complex(np.linalg.norm)
def norm(z: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    axes = (axis,) if isinstance(axis, int) else axis
    matrix = len(z.shape if axes is None else axes) == 2
    if matrix and ord in (2, -2, "nuc"):
        raise fail(JitadTypeError, f"the norm {ord!r} of complex matrices is not supported here")
    return call(np.linalg.norm, absolute(z), ord, axis, keepdims)


@of_complex(np.linalg.vector_norm)
def vector_norm(z: Any, **kwargs: Any) -> Any:
    return call(np.linalg.vector_norm, absolute(z), **kwargs)
