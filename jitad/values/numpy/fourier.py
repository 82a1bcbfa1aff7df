"""What becomes of the functions of numpy.fft?

Each is the transform of the last axis (`primitives/fourier`) between moving axes, cutting or
filling up with zeros, and a factor.  A real signal has a transform of its own, to the first half of
the spectrum, whose other half is its mirror image, conjugated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise
from jitad.values.complexes.lifts import finished
from jitad.values.complexes.number import Complex, parts
from jitad.values.extents import Int, as_int
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.creation import iota
from jitad.values.numpy.reductions import axes_of, one_axis
from jitad.values.registry import call, of_complex, replaces


def _parts(a: Any) -> tuple[ArrayHandle, ArrayHandle | None]:
    """Both parts as arrays of floats; None for the second one of a real array."""
    a = a if isinstance(a, (ArrayHandle, Complex)) else call(np.array, a)
    re, im = parts(a)
    return (re if re.dtype.kind == "f" else re.astype(float)), im


def _length(a: Any, n: Any, axis: int) -> Int:
    given = a.shape[axis] if n is None else as_int(n, "n")
    what = "Invalid number of FFT data points specified."
    if isinstance(given, Number):
        require(bind("ge", given, 1), JitadValueError, what)
    elif given < 1:
        raise fail(JitadValueError, what)
    return given


def _sized(a: ArrayHandle, n: Int) -> Any:
    """The last axis cut, or filled up with zeros, to n elements."""
    m = a.shape[-1]
    if extents.same(n, m):
        return a
    if not isinstance(n, Number) and not isinstance(m, Number) and n < m:
        return a[..., :n]
    out = call(np.zeros, (*a.shape[:-1], n), a.dtype)
    k = extents.smallest(n, m)
    out[..., :k] = a[..., :k]
    return out


def _factor(norm: str | None, n: Int, inverse: bool) -> Any:
    """What the sum is multiplied by; None for nothing."""
    match norm:
        case None | "backward":
            scaled = inverse
        case "forward":
            scaled = not inverse
        case "ortho":
            return 1.0 / math.sqrt(n) if not isinstance(n, Number) else elementwise(
                "div", 1.0, elementwise("sqrt", elementwise("mul", n, 1.0)))  # fmt: skip
        case _:
            raise fail(JitadValueError, f'Invalid norm value {norm}; should be "backward",'
                       '"ortho" or "forward".')  # fmt: skip
    return elementwise("div", 1.0, n) if scaled else None


def _transform(a: Any, n: Any, axis: int, norm: Any, inverse: bool) -> Any:
    re, im = _parts(a)
    axis = one_axis(axis, re.ndim)
    n = _length(re, n, axis)
    rows = _rows((re, im), n, axis)
    found = _times(ArrayHandle(bind("dft", rows.content, inverse=inverse)), norm, n, inverse)
    return _complex(found, axis)


def _rows(both: tuple[Any, Any], n: Int, axis: int) -> ArrayHandle:
    """The n numbers along an axis, which becomes the last one but for the parts."""
    turned = [0.0 if p is None else _sized(call(np.moveaxis, p, axis, -1), n)[..., None]
              for p in both]  # fmt: skip
    return call(np.where, iota(2, "i8") == 0, *turned)


def _times(found: ArrayHandle, norm: Any, n: Int, inverse: bool) -> Any:
    factor = _factor(norm, n, inverse)
    return found if factor is None else call(np.multiply, found, _weak(factor, found))


def _complex(found: Any, axis: int) -> Complex:
    return Complex(*(call(np.moveaxis, found[..., k], -1, axis) for k in (0, 1)))


def _weak(factor: Any, like: ArrayHandle) -> Any:
    return elementwise("cast", factor, dtype=like.dtype.str[1:]) if isinstance(
        factor, Number) else float(factor)


def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return finished(_transform(a, n, axis, norm, False), out)


def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return finished(_transform(a, n, axis, norm, True), out)


def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    re, im = _parts(a)
    if im is not None:
        raise fail(JitadValueError, "rfft is of real numbers", "Use fft.")
    axis = one_axis(axis, re.ndim)
    n = _length(re, n, axis)
    rows = _sized(call(np.moveaxis, re, axis, -1), n)
    found = _times(ArrayHandle(bind("rdft", rows.content, _half(n))), norm, n, False)
    return finished(_complex(found, axis), out)


def _half(n: Int) -> Int:
    return extents.add(extents.floordiv(n, 2), 1)


def _signal(a: Any, n: Any, axis: int, norm: Any) -> Any:
    """The n real numbers of whose spectrum this is the first half."""
    re, im = _parts(a)
    axis = one_axis(axis, re.ndim)
    if n is None:
        n = extents.mul(2, extents.sub(re.shape[axis], 1))
    n = _length(re, n, axis)
    rows = _rows((re, im), _half(n), axis)
    found = _times(ArrayHandle(bind("irdft", rows.content, n)), norm, n, True)
    return call(np.moveaxis, found, -1, axis)


def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return finished(_signal(a, n, axis, norm), out)


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return finished(_signal(call(np.conj, a), n, axis, _exchanged(norm)), out)


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return finished(call(np.conj, rfft(a, n, axis, _exchanged(norm))), out)


def _exchanged(norm: Any) -> Any:
    """The factors of the two directions exchanged."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


# -- several axes ---------------------------------------------------------------------------------


def _axes(a: Any, s: Any, axes: Any) -> tuple[Sequence[Any], Sequence[int]]:
    ndim = len(parts(a)[0].shape)
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(-ndim, 0)
    axes = [one_axis(k, ndim) for k in axes]
    return ([None] * len(axes) if s is None else s), axes


def _of_many(one: Callable[..., Any]) -> Callable[..., Any]:
    def many(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
        a = a if isinstance(a, (ArrayHandle, Complex)) else call(np.array, a)
        sizes, over = _axes(a, s, axes)
        for n, axis in reversed(list(zip(sizes, over, strict=True))):
            a = one(a, None if n == -1 else n, axis, norm)
        return finished(a, out)

    return many


fftn, ifftn = _of_many(fft), _of_many(ifft)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    a = a if isinstance(a, ArrayHandle) else call(np.array, a)
    sizes, over = _axes(a, s, axes)
    a = rfft(a, sizes[-1], over[-1], norm)
    for n, axis in zip(sizes[:-1], over[:-1], strict=True):
        a = fft(a, n, axis, norm)
    return finished(a, out)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    a = a if isinstance(a, (ArrayHandle, Complex)) else call(np.array, a)
    sizes, over = _axes(a, s, axes)
    for n, axis in zip(sizes[:-1], over[:-1], strict=True):
        a = ifft(a, n, axis, norm)
    return finished(irfft(a, sizes[-1], over[-1], norm), out)


def _of_two(many: Callable[..., Any]) -> Callable[..., Any]:
    def two(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
        return many(a, s, axes, norm, out)

    return two


def _shifted(forwards: bool) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        x = x if isinstance(x, ArrayHandle) else call(np.array, x)
        for axis in axes_of(axes if not isinstance(axes, list) else tuple(axes), x.ndim):
            half = extents.floordiv(x.shape[axis], 2)
            x = call(np.roll, x, half if forwards else extents.mul(half, -1), axis)
        return x

    return shift


for _name, _function in {
    "fft": fft, "ifft": ifft, "rfft": rfft, "irfft": irfft, "hfft": hfft, "ihfft": ihfft,
    "fftn": fftn, "ifftn": ifftn, "rfftn": rfftn, "irfftn": irfftn,
    "fft2": _of_two(fftn), "ifft2": _of_two(ifftn), "rfft2": _of_two(rfftn),
    "irfft2": _of_two(irfftn),
}.items():
    replaces(getattr(np.fft, _name))(_function)
    of_complex(getattr(np.fft, _name))(_function)
replaces(np.fft.fftshift)(_shifted(True))
replaces(np.fft.ifftshift)(_shifted(False))


def _frequencies(real: bool) -> Callable[..., Any]:
    def frequencies(n: Any, d: Any = 1.0, device: Any = None) -> Any:
        """k / (n d), from n // 2 on those that stand for negative ones."""
        n = as_int(n, "n")
        half = extents.floordiv(n, 2)
        k = call(np.arange, extents.add(half, 1) if real else n)
        if not real:
            first = extents.floordiv(extents.sub(n, 1), 2)
            k = call(np.where, k > first, k - n, k)
        return call(np.true_divide, k, elementwise("mul", n, elementwise("mul", d, 1.0)))

    return frequencies


replaces(np.fft.fftfreq)(_frequencies(False))
replaces(np.fft.rfftfreq)(_frequencies(True))
