"""What becomes of the filters of scipy.ndimage?

A filter is a sum of shifted copies of the padded array, times its weights; how far it reaches must
be known.  Computed in double precision, as SciPy does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.ndimage as nd

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.active import is_traced
from jitad.values.array import ArrayHandle
from jitad.values.extents import Int
from jitad.values.kind import fail
from jitad.values.loops import fold
from jitad.values.numpy.reductions import axes_of, part
from jitad.values.numpy.shaping import handle, ravel
from jitad.values.registry import call, replaces, write_out

_PAD = {"reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect",
        "nearest": "edge", "wrap": "wrap", "grid-wrap": "wrap", "constant": "constant",
        "grid-constant": "constant"}  # fmt: skip
WRITTEN_OUT = 9  # so few weights are


def _image(a: Any) -> ArrayHandle:
    a = handle(a)
    if a.dtype.kind != "f":
        raise fail(JitadTypeError, f"filters of arrays of {a.dtype} give {a.dtype}: not supported "
                   "here", "Convert the array with astype(float).")  # fmt: skip
    return a if a.dtype == np.float64 else a.astype(float)


def _given(found: Any, like: Any, output: Any) -> Any:
    """In the dtype of the input, or what `output=` asks for."""
    kind = handle(like).dtype if output is None or hasattr(output, "assign") else np.dtype(output)
    found = found if found.dtype == kind else found.astype(kind)
    return write_out(output, found) if hasattr(output, "assign") else found


def _reach(values: Any) -> ArrayHandle:
    w = handle(values)
    return w if w.dtype == np.float64 else w.astype(float)


def _sizes(w: ArrayHandle) -> list[int]:
    return [w._static(n, "the size of a filter") for n in w.shape]


def _padded(a: Any, axes: Sequence[int], sizes: Sequence[int], origins: Sequence[int],
            modes: Sequence[str], cval: Any) -> Any:  # fmt: skip
    for axis, size, origin, mode in zip(axes, sizes, origins, modes, strict=True):
        if mode not in _PAD:
            raise fail(JitadValueError, f"boundary mode {mode!r} not supported")
        before, after = size // 2 + origin, size - size // 2 - 1 - origin
        if before < 0 or after < 0:
            raise fail(JitadValueError, "invalid origin")
        widths = [(before, after) if k == axis else (0, 0) for k in range(a.ndim)]
        # what an axis without elements goes on with is read by nothing
        how = "constant" if extents.assume_none(a.shape[axis]) else _PAD[mode]
        more = {"constant_values": cval} if how == "constant" else {}
        a = call(np.pad, a, widths, mode=how, **more) if before or after else a
    return a


def _for_all(value: Any, count: int) -> list[Any]:
    several = isinstance(value, (list, tuple, np.ndarray))
    return list(value) if several else [value] * count


def _slid(a: Any, w: ArrayHandle, axes: Sequence[int], shape: Any, sizes: Sequence[int]) -> Any:
    """The sum of the windows of a padded array, times the weights."""
    flat, count = ravel(w), int(np.prod(sizes))

    def window(k: Int) -> Any:
        keys, rest = [slice(None)] * a.ndim, k
        for axis, size in zip(reversed(axes), reversed(sizes), strict=True):
            start = extents.mod(rest, size)
            rest = extents.floordiv(rest, size)
            keys[axis] = slice(start, extents.add(start, shape[axis]))
        return a[tuple(keys)]

    if count <= WRITTEN_OUT:
        known = flat.peek() if flat.concrete else None
        terms = [window(k) * (flat[k] if known is None else float(known[k]))
                 for k in range(count) if known is None or known[k] != 0.0]  # fmt: skip
        total = terms[0] if terms else call(np.zeros, shape)
        for term in terms[1:]:
            total = total + term
        return total

    def step(k: Int, done: Any) -> tuple[Any]:
        return ((ArrayHandle(done) + window(k) * part(flat.content, k)).content,)

    start = call(np.zeros, shape).content
    return ArrayHandle(fold(count, (start,), step, a.content, flat.content)[0])


def _correlated(a: Any, w: Any, axes: Sequence[int], mode: Any, cval: Any, origin: Any) -> Any:
    a, w = _image(a), _reach(w)
    sizes = _sizes(w)
    if len(sizes) != len(axes):
        raise fail(JitadValueError, "filter weights array has incorrect shape")
    if not all(sizes):
        raise fail(JitadValueError, "no filter weights given")
    modes, origins = _for_all(mode, len(axes)), _for_all(origin, len(axes))
    wide = _padded(a, axes, sizes, origins, modes, cval)
    return _slid(wide, w, axes, a.shape, sizes)


def _turned(w: Any, origin: Any, count: int) -> tuple[Any, list[int]]:
    w = _reach(w)
    given = zip(_for_all(origin, count), _sizes(w), strict=True)
    return call(np.flip, w), [-o - (size % 2 == 0) for o, size in given]


def _of_axes(a: Any, axes: Any) -> list[int]:
    ndim = handle(a).ndim
    return [int(k) for k in (range(ndim) if axes is None else axes_of(axes, ndim))]


@replaces(nd.correlate)
def correlate(input: Any, weights: Any, output: Any = None, mode: Any = "reflect",
              cval: Any = 0.0, origin: Any = 0, *, axes: Any = None) -> Any:  # fmt: skip
    which = _of_axes(input, axes)
    return _given(_correlated(input, weights, which, mode, cval, origin), input, output)


@replaces(nd.convolve)
def convolve(input: Any, weights: Any, output: Any = None, mode: Any = "reflect",
             cval: Any = 0.0, origin: Any = 0, *, axes: Any = None) -> Any:  # fmt: skip
    which = _of_axes(input, axes)
    turned, origins = _turned(weights, origin, len(which))
    return _given(_correlated(input, turned, which, mode, cval, origins), input, output)


@replaces(nd.correlate1d)
def correlate1d(input: Any, weights: Any, axis: int = -1, output: Any = None,
                mode: str = "reflect", cval: Any = 0.0, origin: int = 0) -> Any:  # fmt: skip
    which = _of_axes(input, axis)
    return _given(_correlated(input, weights, which, mode, cval, origin), input, output)


@replaces(nd.convolve1d)
def convolve1d(input: Any, weights: Any, axis: int = -1, output: Any = None,
               mode: str = "reflect", cval: Any = 0.0, origin: int = 0) -> Any:  # fmt: skip
    turned, origins = _turned(weights, origin, 1)
    which = _of_axes(input, axis)
    return _given(_correlated(input, turned, which, mode, cval, origins), input, output)


def _in_turn(a: Any, axes: Any, modes: Any, make: Any, cval: Any, origins: Any = 0) -> Any:
    """One filter after the other; `make(k)` gives the weights of the k-th, None for none."""
    which = _of_axes(a, axes)
    found = _image(a)
    n = len(which)
    each = zip(which, _for_all(modes, n), _for_all(origins, n), strict=True)
    for k, (axis, mode, origin) in enumerate(each):
        w = make(k)
        if w is not None:
            found = _correlated(found, w, [axis], mode, cval, origin)
    return found


# -- by name --------------------------------------------------------------------------------------


def _bell(sigma: Any, order: int, truncate: float, radius: Any) -> Any:
    """The weights of a Gaussian, or of its derivative of some order, last first."""
    if radius is None and is_traced(sigma):
        raise fail(JitadTypeError, "how far a Gaussian filter reaches depends on sigma, which is "
                   "traced", "Give radius=.")  # fmt: skip
    reach = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
    x = np.arange(-reach, reach + 1)
    square = call(np.multiply, sigma, sigma)
    bell = call(np.exp, call(np.multiply, call(np.true_divide, -0.5, square), x**2))
    bell = call(np.true_divide, bell, call(np.sum, bell))
    if not order:
        return bell
    powers = np.arange(order + 1)
    q: Any = np.zeros(order + 1)
    q[0] = 1
    rise = np.diag(powers[1:], 1)
    fall = call(np.true_divide, np.diag(np.ones(order), -1), call(np.negative, square))
    for _ in range(order):
        q = call(np.matmul, call(np.add, rise, fall), q)
    return call(np.flip, call(np.multiply, call(np.matmul, np.power.outer(x, powers), q), bell))


@replaces(nd.gaussian_filter1d)
def gaussian_filter1d(input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None,
                      mode: str = "reflect", cval: Any = 0.0, truncate: float = 4.0, *,
                      radius: Any = None) -> Any:  # fmt: skip
    w = _bell(sigma, order, truncate, radius)
    return _given(_correlated(input, w, _of_axes(input, axis), mode, cval, 0), input, output)


@replaces(nd.gaussian_filter)
def gaussian_filter(input: Any, sigma: Any, order: Any = 0, output: Any = None,
                    mode: Any = "reflect", cval: Any = 0.0, truncate: float = 4.0, *,
                    radius: Any = None, axes: Any = None) -> Any:  # fmt: skip
    n = len(_of_axes(input, axes))
    sigmas = list(sigma) if isinstance(sigma, (list, tuple, np.ndarray)) else [sigma] * n
    orders, reaches = _for_all(order, n), _for_all(radius, n)

    def weights(k: int) -> Any:
        none = not is_traced(sigmas[k]) and not sigmas[k] > 1e-15
        return None if none else _bell(sigmas[k], orders[k], truncate, reaches[k])

    return _given(_in_turn(input, axes, mode, weights, cval), input, output)


@replaces(nd.uniform_filter1d)
def uniform_filter1d(input: Any, size: int, axis: int = -1, output: Any = None,
                     mode: str = "reflect", cval: Any = 0.0, origin: int = 0) -> Any:  # fmt: skip
    return correlate1d(input, np.full(size, 1.0 / size), axis, output, mode, cval, origin)


@replaces(nd.uniform_filter)
def uniform_filter(input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect",
                   cval: Any = 0.0, origin: Any = 0, *, axes: Any = None) -> Any:  # fmt: skip
    sizes = _for_all(size, len(_of_axes(input, axes)))
    found = _in_turn(input, axes, mode, lambda k: np.full(sizes[k], 1.0 / sizes[k])
                     if sizes[k] > 1 else None, cval, origin)  # fmt: skip
    return _given(found, input, output)


def _edges(original: Any, beside: list[float]) -> None:
    @replaces(original)
    def replacement(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect",
                    cval: Any = 0.0) -> Any:  # fmt: skip
        (which,) = _of_axes(input, axis)
        modes = _for_all(mode, handle(input).ndim)
        found = _correlated(input, [-1.0, 0.0, 1.0], [which], modes[which], cval, 0)
        for k in range(found.ndim):
            if k != which:
                found = _correlated(found, beside, [k], modes[k], cval, 0)
        return _given(found, input, output)


_edges(nd.sobel, [1.0, 2.0, 1.0])
_edges(nd.prewitt, [1.0, 1.0, 1.0])


@replaces(nd.laplace)
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *,
            axes: Any = None) -> Any:  # fmt: skip
    which = _of_axes(input, axes)
    parts = [_correlated(input, [1.0, -2.0, 1.0], [k], m, cval, 0)
             for k, m in zip(which, _for_all(mode, len(which)), strict=True)]  # fmt: skip
    total = parts[0]
    for p in parts[1:]:
        total = total + p
    return _given(total, input, output)
