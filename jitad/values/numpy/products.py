"""What becomes of NumPy's products of vectors and matrices?"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadExtentError, JitadTypeError, JitadValueError
from jitad.primitives.table import dtype_of
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import cast, contents, elementwise, require_same, shape_of, shape_text
from jitad.values.extents import add, largest, mul, smallest, sub
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import handle, ravel, reshape
from jitad.values.quick import lent
from jitad.values.registry import call, replaces, write_out
from jitad.values.views import Shown


@replaces(np.matmul)
def matmul(a: Any, b: Any, out: Any = None) -> Any:
    found = lent((a, b)) if out is None else None
    if found is not None and len(found[1]) == 2:  # the usual case of the eager engine
        (x, y), (left, right) = found
        fits = len(left) <= 2 and len(right) <= 2 and left[-1] == right[-2 if right[1:] else 0]
        if fits and dtype_of(x)[0] == dtype_of(y)[0] == "f":
            return wrap(bind("matmul", x, y))
    a, b = handle(a), handle(b)
    if not a.ndim or not b.ndim:
        raise fail(JitadValueError, "matmul: operands must have at least one axis")
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.kind == "b":
        raise fail(JitadTypeError, "products of boolean matrices are not supported here")
    if dtype.kind in "iu":  # which are added up in 64 bits, and have their own in the end
        a, b = (x if x.dtype.str[1:] == "i8" else x.astype(int) for x in (a, b))
        result = _product(a, b)
        result = result if dtype.str[1:] == "i8" else cast(result, dtype)
    else:
        result = _product(*(x.astype(dtype) if x.dtype.kind == "b" else x for x in (a, b)))
    return result if out is None else write_out(out, result)


def _product(a: ArrayHandle, b: ArrayHandle) -> Any:
    if a.ndim > 2 or b.ndim > 2:
        return _batched(a, b)
    _require_inner(a, b)
    return wrap(bind("matmul", *contents((a, b))))


def _require_inner(a: ArrayHandle, b: ArrayHandle) -> None:
    n, m = a.shape[-1], b.shape[-2 if b.ndim > 1 else 0]
    require_same(n, m, lambda: f"shapes {shape_text(a.shape)} and {shape_text(b.shape)} not "
                 "aligned: mismatch in the core dimension of a matrix product")  # fmt: skip


def _batched(a: ArrayHandle, b: ArrayHandle) -> Any:
    """Stacks of matrices: the products of all pairs, summed."""
    _require_inner(a, b)
    if a.ndim == 1:
        return elementwise_sum(a.with_axes((1,)), b, -2)
    if b.ndim == 1:
        return elementwise_sum(a, b, -1)
    left, right = a.with_axes((a.ndim,)), b.with_axes((b.ndim - 2,))
    return elementwise_sum(left, right, -2)


def elementwise_sum(a: Any, b: Any, axis: int) -> Any:
    return call(np.sum, elementwise("mul", a, b), axis=axis)


@replaces(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = handle(a), handle(b)
    if not a.ndim or not b.ndim:
        result = elementwise("mul", a, b)
    elif a.ndim > 2 or b.ndim > 2:
        result = call(np.tensordot, a, b, (a.ndim - 1, b.ndim - 2 if b.ndim > 1 else 0))
    else:
        return matmul(a, b, out)
    return result if out is None else write_out(out, result)


@replaces(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    return matmul(ravel(a), ravel(b))


@replaces(np.inner)
def inner(a: Any, b: Any) -> Any:
    a, b = handle(a), handle(b)
    if not a.ndim or not b.ndim:
        return elementwise("mul", a, b)
    return call(np.tensordot, a, b, (a.ndim - 1, b.ndim - 1))[()]


@replaces(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    a, b = ravel(a), ravel(b)
    result = elementwise("mul", a.with_axes((1,)), b.with_axes((0,)))
    return result if out is None else write_out(out, result)


@replaces(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The summed axes last in a and first in b, as one; then a product of matrices."""
    a, b = handle(a), handle(b)
    if isinstance(axes, (int, np.integer, Number)):
        axes = int(axes)  # type: ignore[arg-type]
        first, second = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        given = [x if isinstance(x, (tuple, list)) else (x,) for x in axes]
        first = tuple(one_axis(int(k), a.ndim) for k in given[0])
        second = tuple(one_axis(int(k), b.ndim) for k in given[1])
    if len(first) != len(second):
        raise fail(JitadValueError, "shape-mismatch for sum")
    for i, j in zip(first, second, strict=True):
        require_same(a.shape[i], b.shape[j], lambda: "shape-mismatch for sum")
    keep_a = [k for k in range(a.ndim) if k not in first]
    keep_b = [k for k in range(b.ndim) if k not in second]
    dims = [a.shape[k] for k in keep_a] + [b.shape[k] for k in keep_b]
    inner_extent = call(np.size, a.permuted((*first, *keep_a)), tuple(range(len(first))))
    rows = call(np.size, a, tuple(keep_a)) if keep_a else 1
    columns = call(np.size, b, tuple(keep_b)) if keep_b else 1
    left = reshape(a.permuted((*keep_a, *first)), (rows, inner_extent))
    right = reshape(b.permuted((*second, *keep_b)), (inner_extent, columns))
    product = matmul(left, right)
    return reshape(product, tuple(dims))


@replaces(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return call(np.sum, diagonal(a, offset, axis1, axis2), axis=-1)


@replaces(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A view that can't be written, as NumPy's."""
    return diagonal_view(a, offset, axis1, axis2, written=False)


def diagonal_view(a: Any, offset: int, axis1: int, axis2: int, written: bool) -> ArrayHandle:
    """The elements of equal index along two axes, as a last axis: every (m + 1)-th of n m."""
    whole = a = handle(a)
    if a.ndim < 2:
        raise fail(JitadValueError, "diag requires an array of at least two dimensions")
    i, j = one_axis(axis1, a.ndim), one_axis(axis2, a.ndim)
    if i == j:
        raise fail(JitadValueError, "axis1 and axis2 cannot be the same")
    rest = [k for k in range(a.ndim) if k not in (i, j)]
    perm = (*rest, i, j)
    around = tuple(whole.shape[k] for k in rest)
    n, m = whole.shape[i], whole.shape[j]
    rows = sub(n, max(-offset, 0))
    columns = sub(m, max(offset, 0))
    count = largest(smallest(rows, columns), 0)

    def side_by_side(content: Any) -> tuple[Any, list[Any]]:
        """The two axes as one; the places of the diagonal."""
        *around, n, m = (content.shape[k] for k in perm)
        first: Any = mul(m, max(-offset, 0)) if offset < 0 else offset
        flat = reshape(ArrayHandle(content).permuted(perm), (*around, mul(n, m)))
        every = [x for k in around for x in (0, 1, k)]
        return flat.content, [*every, first, add(m, 1)]

    def make(content: Any, shape: tuple[Any, ...]) -> Any:
        flat, places = side_by_side(content)
        return bind("slice", flat, *places, shape[-1], kinds="r" * flat.ndim)

    def put(content: Any, value: Any) -> Any:
        flat, places = side_by_side(content)
        new = bind("store_slice", flat, value, *places, count, kinds="r" * flat.ndim)
        back = reshape(ArrayHandle(new), (*around, n, m))
        return back.permuted(tuple(perm.index(k) for k in range(len(perm)))).content

    return whole.showing(Shown((*around, count), make, put if written else None))


@replaces(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    v = handle(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise fail(JitadValueError, "Input must be 1- or 2-d.")
    from jitad.values.numpy.creation import filled

    n = v.shape[0] + abs(k)
    out = filled(0, (n, n), v.dtype)
    if out.concrete:
        out = ArrayHandle(out.content)
    flat = ravel(out)
    start = k if k >= 0 else n * (-k)
    content = bind("store_slice", flat.content, v.content, start, n + 1, v.shape[0], kinds="r")
    return reshape(wrap(content), (n, n))


@replaces(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1,
          axis: Any = None) -> Any:  # fmt: skip
    if axis is not None:
        axisa = axisb = axisc = axis
    a = call(np.moveaxis, handle(a), axisa, -1)
    b = call(np.moveaxis, handle(b), axisb, -1)
    if any(x.shape[-1] == 2 for x in (a, b) if not isinstance(x.shape[-1], Number)):
        if all(x.shape[-1] == 2 for x in (a, b)):  # a number each
            return elementwise("sub", elementwise("mul", a[..., 0], b[..., 1]),
                               elementwise("mul", a[..., 1], b[..., 0]))  # fmt: skip
        nothing = [(0, 0)] * (max(a.ndim, b.ndim) - 1)
        a, b = (call(np.pad, x, [*nothing[: x.ndim - 1], (0, 1)]) if x.shape[-1] == 2 else x
                for x in (a, b))  # fmt: skip
    for x in (a, b):  # an extent that is not known while tracing is 3, or else looked at
        kind = JitadExtentError if isinstance(x.shape[-1], Number) else JitadValueError
        require(_is_three(x.shape[-1]), kind,
                "incompatible dimensions for cross product (dimension must be 2 or 3)")  # fmt: skip
    pairs = ((1, 2), (2, 0), (0, 1))
    parts = [elementwise("sub", elementwise("mul", a[..., i], b[..., j]),
                         elementwise("mul", a[..., j], b[..., i])) for i, j in pairs]  # fmt: skip
    return call(np.stack, parts, axis=-1 if len(shape_of(parts[0])) == 0 else axisc)


def _is_three(n: Any) -> Any:
    return bind("eq", n, 3) if isinstance(n, Number) else n == 3


# -- the same under the names of numpy.linalg -----------------------------------------------------


@replaces(np.linalg.diagonal)
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return diagonal(x, offset, -2, -1)


@replaces(np.linalg.trace)
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return call(np.sum, diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)


@replaces(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    for x in (x1, x2):
        require(_is_three(shape_of(x)[axis]), JitadValueError,
                "both input arrays must be arrays of 3-dimensional vectors")  # fmt: skip
    return cross(x1, x2, axis=axis)


@replaces(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    return outer(x1, x2)


@replaces(np.linalg.matmul)
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    return matmul(x1, x2)


@replaces(np.linalg.tensordot)
def linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return tensordot(x1, x2, axes)


@replaces(np.linalg.matrix_transpose)
def linalg_transpose(x: Any, /) -> Any:
    return call(np.matrix_transpose, x)


@replaces(np.linalg.vecdot)
def linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return call(np.vecdot, x1, x2, axis=axis)
