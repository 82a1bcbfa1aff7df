"""What becomes of the norms of vectors and matrices?

At the zero vector the derivative of the 2-norm is taken to be zero, as `hypot` takes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise
from jitad.values.kind import fail, type_of
from jitad.values.number import Number
from jitad.values.numpy.linalg import largest_of, svdvals
from jitad.values.numpy.reductions import axes_of
from jitad.values.numpy.shaping import handle, ravel
from jitad.values.registry import call, replaces

Axes = tuple[int, ...]


@replaces(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = handle(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    if axis is None and ord is None:
        return _two(x, tuple(range(x.ndim)), keepdims)
    given = axis if axis is not None else tuple(range(x.ndim))
    axes = axes_of(given, x.ndim)
    if len(axes) == 1:
        return _vector(x, ord, axes, keepdims)
    if len(axes) != 2:
        raise fail(JitadValueError, "Improper number of dimensions to norm.")
    first, second = (k % x.ndim for k in given)  # the order of the two says which are rows
    return _matrix(x, ord, (first, second), keepdims)


@replaces(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x = handle(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    if axis is None:
        found = _vector(ravel(x), ord, (0,), False)
        return call(np.reshape, found, (1,) * x.ndim) if keepdims else found
    return _vector(x, ord, axes_of(axis, x.ndim), keepdims)


@replaces(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm(x, ord, (-2, -1), keepdims)


def _known(ord: Any) -> Any:
    if isinstance(ord, Number) and np.dtype(type_of(ord).dtype).kind in "ib":
        return int(ord)  # type: ignore[call-overload]
    if isinstance(ord, Number):
        raise fail(JitadTypeError, "the order of a norm must be known while tracing",
                   "Write it as a literal (np.inf, 3), not as a float from outside.")  # fmt: skip
    return ord


def _two(x: ArrayHandle, axes: Axes, keepdims: bool) -> Any:
    total = call(np.sum, elementwise("mul", x, x), axis=axes, keepdims=keepdims)
    # the square root of zero has no derivative; the norm's is taken to be zero there
    zero = elementwise("eq", total, 0.0)
    root = elementwise("sqrt", elementwise("where", zero, 1.0, total))
    return elementwise("where", zero, 0.0, root)


def _extreme(sizes: Any, ord: Any, axes: Axes, **other: Any) -> Any:
    """The largest, which is zero of none, or the least."""
    some = all(extents.assume_at_least(sizes.shape[k], 1) for k in axes)
    least = {} if some or ord < 0 else {"initial": sizes.dtype.type(0)}
    return call(np.max if ord > 0 else np.min, sizes, axis=axes, **other, **least)


def _vector(x: ArrayHandle, ord: Any, axes: Axes, keepdims: bool) -> Any:
    if ord is None or _known(ord) == 2:
        return _two(x, axes, keepdims)
    size, ord = elementwise("abs", x), _known(ord)
    if isinstance(ord, str):
        raise fail(JitadValueError, f"Invalid norm order '{ord}' for vectors")
    if ord in (np.inf, -np.inf):
        return _extreme(size, ord, axes, keepdims=keepdims)
    if ord == 0:
        there = elementwise("ne", x, 0).astype(x.dtype)
        return call(np.sum, there, axis=axes, keepdims=keepdims)
    if ord == 1:
        return call(np.sum, size, axis=axes, keepdims=keepdims)
    powers = call(np.sum, elementwise("pow", size, ord), axis=axes, keepdims=keepdims)
    if ord < 0:
        return elementwise("pow", powers, 1.0 / ord)
    zero = elementwise("eq", powers, 0.0)  # there the derivative is taken to be zero
    root = elementwise("pow", elementwise("where", zero, 1.0, powers), 1.0 / ord)
    return elementwise("where", zero, elementwise("mul", powers, 1.0), root)


def _matrix(x: ArrayHandle, ord: Any, axes: Axes, keepdims: bool) -> Any:
    ord = _known(ord)
    if ord is None or ord in ("fro", "f"):
        return _two(x, axes, keepdims)
    if ord in (2, -2, "nuc"):
        s = svdvals(call(np.moveaxis, x, axes, (-2, -1)))
        if ord == -2:
            extents.require_at_least(s.shape[-1], 1, "of no singular values none is the least")
            found = s[..., -1][()]
        else:
            found = largest_of(s) if ord == 2 else call(np.sum, s, axis=-1)
    elif ord in (1, -1, np.inf, -np.inf):
        along, across = axes if abs(ord) == 1 else axes[::-1]
        sums = call(np.sum, elementwise("abs", x), axis=along)
        across -= across > along
        found = _extreme(sums, ord, (across,))
    else:
        raise fail(JitadValueError, f"Invalid norm order {ord!r} for matrices.")
    return call(np.expand_dims, found, axes) if keepdims else found
