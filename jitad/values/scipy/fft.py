"""What becomes of the functions of scipy.fft?  Those of numpy.fft, and transforms by them.

Cosine and sine transforms of all types are parts of a Fourier transform that is twice as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from jitad.errors import JitadValueError
from jitad.values import extents
from jitad.values.kind import fail, require
from jitad.values.numpy.reductions import axes_of, one_axis
from jitad.values.numpy.shaping import handle
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


# How long the transform is whose real or imaginary part this one is, as 2 (n + m) of n samples;
# and how its frequencies and its samples are shifted: sums of x[j] cos(2 pi (k + u) (j + v) / L).
_SHIFTS: dict[tuple[str, int], tuple[int, float, float]] = {
    ("c", 1): (-1, 0.0, 0.0), ("c", 2): (0, 0.0, 0.5), ("c", 3): (0, 0.5, 0.0),
    ("c", 4): (0, 0.5, 0.5), ("s", 1): (1, 1.0, 1.0), ("s", 2): (0, 1.0, 0.5),
    ("s", 3): (0, 0.5, 1.0), ("s", 4): (0, 0.5, 0.5),
}  # fmt: skip
# Samples that count half, and results that are smaller by a root of two in an orthogonal matrix.
_HALF: dict[tuple[str, int], tuple[int, ...]] = {("c", 1): (0, -1), ("c", 3): (0,), ("s", 3): (-1,)}
_LARGE: dict[tuple[str, int], tuple[int, ...]] = {
    ("c", 1): (0, -1), ("c", 2): (0,), ("s", 2): (-1,),
}  # fmt: skip
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _transform(which: str, type: int, x: Any, n: Any, axis: int, norm: Any,
               orthogonalize: Any, back: bool) -> Any:  # fmt: skip
    """Along one axis; `back`: as what undoes another, which is scaled where that is not."""
    if (which, type) not in _SHIFTS:
        raise fail(JitadValueError, f"invalid type {type} of a transform")
    if norm not in (None, "backward", "ortho", "forward"):
        raise fail(JitadValueError, f"Invalid norm value {norm!r}, should be 'backward', 'ortho' "
                   "or 'forward'")  # fmt: skip
    x = handle(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    axis = one_axis(axis, x.ndim)
    x = call(np.moveaxis, x, axis, -1)
    x = x if n is None else _of_length(x, n)
    count = x.shape[-1]
    more, u, v = _SHIFTS[which, type]
    require(call(np.greater, count, max(0, -more)), JitadValueError,
            f"invalid number of data points for a transform of type {type}")  # fmt: skip
    length = extents.mul(2, extents.add(count, more))
    straight = (norm == "ortho") if orthogonalize is None else bool(orthogonalize)
    x = x * _at_ends(count, _HALF.get((which, type)), np.sqrt(0.5) if straight else 0.5, x.dtype)
    if u:
        spectrum = call(np.fft.fft, call(np.multiply, x, _turns(count, u, 0.0, length)), length)
    else:
        spectrum = call(np.fft.rfft, x, length)
    spectrum = call(np.multiply, spectrum[..., :count], _turns(count, v, u * v, length))
    found = 2.0 * spectrum.real if which == "c" else -2.0 * spectrum.imag
    if straight:
        found = found * _at_ends(count, _LARGE.get((which, type)), np.sqrt(0.5), x.dtype)
    if norm == "ortho":
        found = found / call(np.sqrt, length)
    elif back != (norm == "forward"):
        found = call(np.true_divide, found, length)
    return call(np.moveaxis, handle(found).astype(x.dtype), -1, axis)


def _of_length(x: Any, n: Any) -> Any:
    """The first n along the last axis; zeros, where there are fewer."""
    n = extents.number_of(extents.as_int(n, "n"), "invalid number of data points specified")
    x = x[..., :n]
    missing = extents.largest(extents.sub(n, x.shape[-1]), 0)
    return call(np.concatenate, [x, call(np.zeros, (*x.shape[:-1], missing), dtype=x.dtype)], -1)


def _turns(count: Any, step: float, first: float, length: Any) -> Any:
    """exp(-2 pi i (k step + first) / length) for k = 0, 1, ..."""
    k = call(np.add, call(np.multiply, call(np.arange, count), step), first)
    return call(np.exp, call(np.multiply, call(np.true_divide, k, length), -2j * np.pi))


def _at_ends(count: Any, ends: Any, factor: float, dtype: Any) -> Any:
    """Ones, but for a factor at the first (0) or the last (-1)."""
    out = call(np.ones, count, dtype=dtype)
    for end in ends or ():
        out[end] = factor
    return out


def _one_axis(original: Any, which: str, back: bool) -> Any:
    def one(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
            overwrite_x: bool = False, workers: Any = None,
            orthogonalize: Any = None) -> Any:  # fmt: skip
        # what undoes a transform is another, and orthogonal where that is
        return _transform(which, _INVERSE.get(type, type) if back else type, x, n, axis, norm,
                          orthogonalize, back)  # fmt: skip

    return replaces(original)(one)


def _along_all(original: Any, one: Any) -> None:
    @replaces(original)
    def replacement(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None,
                    overwrite_x: bool = False, workers: Any = None, *,
                    orthogonalize: Any = None) -> Any:  # fmt: skip
        x = handle(x)
        sizes = s if s is None or isinstance(s, (tuple, list)) else (s,)
        if axes is None and sizes is not None:
            axes = tuple(range(-len(sizes), 0))
        axes = axes if axes is None or isinstance(axes, int) else tuple(axes)
        which = [a for k in (axes if isinstance(axes, tuple) else (axes,))
                 for a in axes_of(k, x.ndim)]  # fmt: skip
        for k, axis in enumerate(which):
            n = None if sizes is None else sizes[k]
            x = one(x, type, n, axis, norm, orthogonalize=orthogonalize)
        return x


for _which in "cs":
    for _back, _i in ((False, ""), (True, "i")):
        _name = f"{_i}d{_which}t"
        _along_all(getattr(scipy.fft, _name + "n"),
                   _one_axis(getattr(scipy.fft, _name), _which, _back))  # fmt: skip
