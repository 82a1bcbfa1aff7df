"""Which primitive transforms waves, and how does it vary?

One: discrete Fourier transforms of the rows of a matrix of complex numbers, whose parts are the
last axis.  It is linear, and its matrix is symmetric: what the transform is to `exp(-i...)`, its
transpose over the reals is to `exp(+i...)`.

Source: Cooley & Tukey 1965.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.table import Primitive, register, same_as_first


def _dft(x: Any, *, inverse: bool) -> Any:
    """Without a factor in either direction."""
    z = x[..., 0] + 1j * x[..., 1]
    if z.size:
        z = np.fft.ifft(z, norm="forward") if inverse else np.fft.fft(z)
    return np.stack([z.real, z.imag], axis=-1).astype(x.dtype)


register(Primitive(
    "dft", _dft, same_as_first, linear=(0,), dear=True, emit="dft({0}, {inverse})",
    vjp=lambda o, ct, x, y, *, inverse: (o.dft(ct, inverse=not inverse),),
))  # fmt: skip
