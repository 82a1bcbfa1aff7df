"""What becomes of the functions of scipy.fft?  Those of numpy.fft, and a transform by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.kind import fail
from jitad.values.reductions import axes_of
from jitad.values.registry import call, of_complex, replaces
from jitad.values.shaping import handle

_NAMES = """fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn
            fftshift ifftshift fftfreq rfftfreq""".split()


def _same(name: str) -> Callable[..., Any]:
    original = getattr(np.fft, name)

    def replacement(x: Any, *args: Any, overwrite_x: bool = False, workers: Any = None,
                    plan: Any = None, **kwargs: Any) -> Any:  # fmt: skip
        return call(original, x, *args, **kwargs)

    return replacement


for _name in _NAMES:
    _function = getattr(scipy.fft, _name)
    replaces(_function)(_same(_name))
    of_complex(_function)(_same(_name))


def _refuse(name: str, type: int, n: Any, norm: Any, orthogonalize: Any) -> None:
    if type != 2 or n is not None or norm not in (None, "backward", "ortho") or orthogonalize:
        raise fail(JitadTypeError, f"scipy.fft.{name} is supported for type=2 and norm=None or "
                   "'ortho'")  # fmt: skip


def _orthonormal(count: Any) -> Any:
    """What makes the transform of `count` samples an orthogonal matrix."""
    scale = call(np.sqrt, call(np.true_divide, 0.5, count))
    first = call(np.where, call(np.equal, call(np.arange, count), 0), np.sqrt(0.5), 1.0)
    return call(np.multiply, scale, first)


@replaces(scipy.fft.dct)
def dct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
        overwrite_x: bool = False, workers: Any = None,
        orthogonalize: Any = None) -> Any:  # fmt: skip
    """The usual one (type 2): the spectrum of the signal and its mirror image."""
    _refuse("dct", type, n, norm, orthogonalize)
    x = call(np.moveaxis, x, axis, -1)
    count = x.shape[-1]
    both = call(np.concatenate, [x, call(np.flip, x, -1)], axis=-1)
    spectrum = call(np.fft.rfft, both, axis=-1)[..., :count]
    angle = _quarter_turns(count)
    re = call(np.multiply, spectrum.real, call(np.cos, angle))
    out = call(np.add, re, call(np.multiply, spectrum.imag, call(np.sin, angle)))
    if norm == "ortho":
        out = call(np.multiply, out, _orthonormal(count))
    return call(np.moveaxis, out, -1, axis)


def _quarter_turns(count: Any) -> Any:
    k = call(np.multiply, call(np.arange, count), np.pi / 2.0)
    return call(np.true_divide, k, count)


@replaces(scipy.fft.idct)
def idct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
         overwrite_x: bool = False, workers: Any = None,
         orthogonalize: Any = None) -> Any:  # fmt: skip
    """What undoes `dct`: of the spectrum of signal and mirror image, turned back, the signal."""
    _refuse("idct", type, n, norm, orthogonalize)
    x = call(np.moveaxis, x, axis, -1)
    count = x.shape[-1]
    if norm == "ortho":
        x = call(np.true_divide, x, _orthonormal(count))
    angle = _quarter_turns(count)
    turned = call(np.multiply, x, call(np.exp, call(np.multiply, angle, 1j)))
    both = call(np.concatenate, [turned, call(np.zeros_like, turned[..., :1])], axis=-1)
    signal = call(np.fft.irfft, both, extents.mul(2, count), axis=-1)[..., :count]
    return call(np.moveaxis, signal, -1, axis)


def _along_all(original: Any, one: Any) -> None:
    @replaces(original)
    def replacement(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None,
                    overwrite_x: bool = False, workers: Any = None, *,
                    orthogonalize: Any = None) -> Any:  # fmt: skip
        if s is not None:
            raise fail(JitadTypeError, f"s= of scipy.fft.{original.__name__} is not supported here")
        x = handle(x)
        for axis in axes_of(axes if axes is None or isinstance(axes, int) else tuple(axes), x.ndim):
            x = one(x, type, None, axis, norm, orthogonalize=orthogonalize)
        return x


_along_all(scipy.fft.dctn, dct)
_along_all(scipy.fft.idctn, idct)
