"""What becomes of NumPy's functions that make grids and patterns?"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.values import extents
from jitad.values.broadcast import elementwise
from jitad.values.kind import fail
from jitad.values.numpy.creation import kind_of, shape_tuple
from jitad.values.numpy.shaping import broadcast_to, handle, reshape
from jitad.values.registry import call, replaces

# -- grids ----------------------------------------------------------------------------------------


@replaces(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    out = []
    for k, a in enumerate(map(handle, args)):
        if a.ndim != 1:
            raise fail(JitadValueError, "Cross index must be 1 dimensional")
        if a.dtype.kind == "b":
            (a,) = call(np.nonzero, a)
        out.append(a.with_axes(tuple(j for j in range(len(args)) if j != k)))
    return tuple(out)


@replaces(np.indices, plain=False)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    shape = shape_tuple(dimensions)
    out = []
    for k, n in enumerate(shape):
        a = call(np.arange, n).with_axes(tuple(j for j in range(len(shape)) if j != k))
        out.append(a if sparse else broadcast_to(a, shape))
    if sparse:
        return tuple(out)
    stacked = call(np.stack, out)
    return stacked if kind_of(dtype) == stacked.dtype else stacked.astype(dtype)


@replaces(np.fromfunction, plain=False)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    return function(*indices(shape, dtype), **kwargs)


@replaces(np.tri, plain=False)
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = float) -> Any:
    from jitad.values.numpy.creation import astype

    n, m = shape_tuple((N, N if M is None else M))
    rows, columns = call(np.arange, n).with_axes((1,)), call(np.arange, m).with_axes((0,))
    return astype(elementwise("ge", elementwise("add", rows, k), columns), dtype)


@replaces(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = handle(x)
    if x.ndim != 1:
        raise fail(JitadValueError, "x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else extents.number_of(
        extents.as_int(N, "the number of columns"), "negative dimensions are not allowed")
    exponents = call(np.arange, n).with_axes((0,))
    if not increasing:
        exponents = elementwise("sub", extents.sub(n, 1), exponents)
    return elementwise("pow", x.with_axes((1,)), exponents)


@replaces(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Every element of a times all of b: axes in pairs, which are then merged."""
    a, b = handle(a), handle(b)
    ndim = max(a.ndim, b.ndim)
    if not ndim:
        return elementwise("mul", a, b)
    a = a.with_axes(tuple(range(ndim - a.ndim))) if a.ndim < ndim else a
    b = b.with_axes(tuple(range(ndim - b.ndim))) if b.ndim < ndim else b
    left = a.with_axes(tuple(range(1, 2 * ndim, 2)))
    right = b.with_axes(tuple(range(0, 2 * ndim, 2)))
    merged = tuple(extents.mul(n, m) for n, m in zip(a.shape, b.shape, strict=True))
    return reshape(elementwise("mul", left, right), merged)



