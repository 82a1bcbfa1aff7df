"""Which primitives transform waves, and how do they vary?

Discrete Fourier transforms along the last axis of an array of complex numbers, whose parts are one
more axis.  They are linear, and the matrix is symmetric: what the transform is to `exp(-i...)`, its
transpose over the reals is to `exp(+i...)`.

Of real numbers the first half of the spectrum says all, and takes half the work: `rdft` goes to it
and `irdft` comes from it.  What the other half would add is counted by a weight: two, but one for
frequencies that are their own mirror image.

Source: Cooley & Tukey 1965.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.table import Inferred, Primitive, register, same_as_first
from jitad.tape.ir import Atom, lit
from jitad.tape.types import Array


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


def _rdft(x: Any, half: Any) -> Any:
    z = np.fft.rfft(x) if x.size else np.zeros((*x.shape[:-1], int(half)), complex)
    return np.stack([z.real, z.imag], axis=-1).astype(x.dtype)


def _irdft(z: Any, n: Any) -> Any:
    """Without a factor."""
    if not z.size:
        return np.zeros((*z.shape[:-2], int(n)), z.dtype)
    return np.fft.irfft(z[..., 0] + 1j * z[..., 1], int(n), norm="forward").astype(z.dtype)


def _mirrored(o: Any, z: Any, n: Any, own: float, both: float) -> Any:
    """A half spectrum of n numbers by a weight for each frequency."""
    k = o.iota(z.shape[-2], dtype="i8")
    alone = o.logical_or(o.eq(k, 0), o.eq(k + k, n))
    return z * o.broadcast(o.where(alone, own, both), *z.shape, axes=(len(z.shape) - 2,))


def _spectrum_infer(x: Atom, half: Atom) -> Inferred:
    return ((Array(x.type.dtype, x.type.ndim + 1), (*x.shape[:-1], half, lit(2))),)  # type: ignore[union-attr]


def _signal_infer(z: Atom, n: Atom) -> Inferred:
    return ((Array(z.type.dtype, z.type.ndim - 1), (*z.shape[:-2], n)),)  # type: ignore[union-attr]


register(Primitive(
    "rdft", _rdft, _spectrum_infer, linear=(0,), dear=True, emit="rdft({0}, {1})",
    vjp=lambda o, ct, x, half, y: (
        o.irdft(_mirrored(o, ct, x.shape[-1], 1.0, 0.5), x.shape[-1]), None),
))  # fmt: skip
register(Primitive(
    "irdft", _irdft, _signal_infer, linear=(0,), dear=True, emit="irdft({0}, {1})",
    vjp=lambda o, ct, z, n, y: (_mirrored(o, o.rdft(ct, z.shape[-2]), n, 1.0, 2.0), None),
))  # fmt: skip
