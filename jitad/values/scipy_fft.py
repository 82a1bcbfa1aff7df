"""What becomes of the functions of scipy.fft?  Those of numpy.fft, and a transform by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from jitad.errors import JitadTypeError
from jitad.values.kind import fail
from jitad.values.registry import call, of_complex, replaces

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


@replaces(scipy.fft.dct)
def dct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
        overwrite_x: bool = False, workers: Any = None,
        orthogonalize: Any = None) -> Any:  # fmt: skip
    """The usual one (type 2): the spectrum of the signal and its mirror image."""
    if type != 2 or n is not None or norm not in (None, "backward", "ortho") or orthogonalize:
        raise fail(JitadTypeError, "scipy.fft.dct is supported for type=2 and norm=None or 'ortho'")
    x = call(np.moveaxis, x, axis, -1)
    count = x.shape[-1]
    both = call(np.concatenate, [x, call(np.flip, x, -1)], axis=-1)
    spectrum = call(np.fft.fft, both, axis=-1)[..., :count]
    k = call(np.multiply, call(np.arange, count), np.pi / 2.0)
    angle = call(np.true_divide, k, count)
    re = call(np.multiply, spectrum.real, call(np.cos, angle))
    out = call(np.add, re, call(np.multiply, spectrum.imag, call(np.sin, angle)))
    if norm == "ortho":
        scale = call(np.sqrt, call(np.true_divide, 0.5, count))
        first = call(np.where, call(np.equal, call(np.arange, count), 0), np.sqrt(0.5), 1.0)
        out = call(np.multiply, out, call(np.multiply, call(np.multiply, scale, first), 1.0))
    return call(np.moveaxis, out, -1, axis)
