"""What becomes of the functions of numpy.fft?

Each is the transform of the last axis (`primitives/fourier`) between moving axes, cutting or
filling up with zeros, and a factor.  A real signal is a complex one without an imaginary part; a
half spectrum stands for the whole, whose other half is its mirror image, conjugated.
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
from jitad.values.complex_lifts import finished
from jitad.values.complexes import Complex, pair, parts
from jitad.values.creation import iota
from jitad.values.extents import Int, as_int
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.reductions import axes_of
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
    axis = axes_of(axis, re.ndim)[0]
    n = _length(re, n, axis)
    turned = [None if p is None else _sized(call(np.moveaxis, p, axis, -1), n) for p in (re, im)]
    around = turned[0].shape[:-1]  # type: ignore[union-attr]
    rows = [0.0 if p is None else call(np.reshape, p, (extents.product(around), n))[..., None]
            for p in turned]  # fmt: skip
    whole = call(np.where, iota(2, "i8") == 0, *rows)
    found = ArrayHandle(bind("dft", whole.content, inverse=inverse))
    factor = _factor(norm, n, inverse)
    if factor is not None:
        found = call(np.multiply, found, _weak(factor, found))
    out = [call(np.moveaxis, call(np.reshape, found[..., k], (*around, n)), -1, axis)
           for k in (0, 1)]  # fmt: skip
    return Complex(*out)


def _weak(factor: Any, like: ArrayHandle) -> Any:
    return elementwise("cast", factor, dtype=like.dtype.str[1:]) if isinstance(
        factor, Number) else float(factor)


def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return finished(_transform(a, n, axis, norm, False), out)


def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return finished(_transform(a, n, axis, norm, True), out)


def _along(a: Any, axis: int, start: Any, stop: Any, step: int = 1) -> Any:
    index: list[Any] = [slice(None)] * a.ndim
    index[axis] = slice(start, stop, step)
    return a[tuple(index)]


def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    if isinstance(a, Complex):
        raise fail(JitadValueError, "rfft is of real numbers", "Use fft.")
    whole = _transform(a, n, axis, norm, False)
    half = extents.add(extents.floordiv(whole.shape[axis], 2), 1)
    return finished(_along(whole, axis, 0, half), out)


def _whole(a: Any, n: Any, axis: int) -> tuple[Any, Int]:
    """The spectrum of n numbers that are real, of its first half."""
    re, im = _parts(a)
    im = call(np.zeros_like, re) if im is None else im
    axis = axes_of(axis, re.ndim)[0]
    if n is None:
        n = extents.mul(2, extents.sub(re.shape[axis], 1))
    n = _length(re, n, axis)
    half = extents.add(extents.floordiv(n, 2), 1)
    re, im = (_sized(call(np.moveaxis, p, axis, -1), half) for p in (re, im))
    rest = extents.floordiv(extents.sub(n, 1), 2)
    top = extents.add(rest, 1)
    mirrored = [_along(p, -1, 1, top)[..., ::-1] for p in (re, im)]
    im = call(np.copy, im)
    im[..., 0] = 0.0  # what a real signal has no use for
    last = elementwise("eq", elementwise("mul", extents.sub(half, 1), 2), n)
    index = extents.sub(half, 1)
    im[..., index] = call(np.where, last, 0.0, im[..., index])
    both = (call(np.concatenate, [re, mirrored[0]], axis=-1),
            call(np.concatenate, [im, call(np.negative, mirrored[1])], axis=-1))  # fmt: skip
    return call(np.moveaxis, pair(*both), -1, axis), n


def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    whole, n = _whole(a, n, axis)
    return finished(_transform(whole, n, axis, norm, True).re, out)


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    whole, n = _whole(call(np.conj, a), n, axis)
    return finished(_transform(whole, n, axis, _exchanged(norm), True).re, out)


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
    axes = [axes_of(k, ndim)[0] for k in axes]
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
