"""What becomes of the functions of scipy.signal that filter a whole signal at once?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import handle, moveaxis
from jitad.values.registry import call, replaces
from jitad.values.scipy.filters import _floats, lfilter


def _taps(b: Any, a: Any) -> tuple[Any, Any]:
    """The coefficients, as many on both sides, of a filter whose first denominator is one."""
    b, a = _floats(call(np.atleast_1d, b), call(np.atleast_1d, a))
    lengths = [h._static(h.shape[0], "the number of a filter's coefficients") for h in (b, a)]
    first = a[0]
    filled = (call(np.pad, call(np.true_divide, h, first), (0, max(lengths) - m))
              for h, m in zip((b, a), lengths, strict=True))  # fmt: skip
    return tuple(filled)


@replaces(scipy.signal.lfilter_zi)
def lfilter_zi(b: Any, a: Any) -> Any:
    """The state in which the filter answers to ones by a constant."""
    b, a = _taps(b, a)
    n = b.shape[0] - 1
    if not n:
        raise fail(JitadValueError, "The length of `a` along the last axis must be at least 2.")
    kind = np.result_type(a.dtype, b.dtype)
    turned = call(np.eye, n, dtype=kind) - call(np.eye, n, k=1, dtype=kind)
    first = call(np.eye, n, dtype=kind)[0]
    matrix = call(np.add, turned, call(np.multiply, a[1:, None], first))
    return call(np.linalg.solve, matrix, b[1:] - a[1:] * b[0])


def _extended(x: ArrayHandle, padtype: str | None, edge: int) -> Any:
    """The signal with what is put at both its ends, along the last axis."""
    if padtype is None or not edge:
        return x
    what = f"The length of the input vector x must be greater than {edge}."
    extents.require_at_least(x.shape[-1], edge + 1, what)
    left, right = call(np.flip, x[..., 1 : edge + 1], -1), x[..., -(edge + 1) : -1]
    right = call(np.flip, right, -1)
    if padtype == "odd":
        left, right = 2 * x[..., :1] - left, 2 * x[..., -1:] - right
    elif padtype == "constant":
        left, right = left * 0.0 + x[..., :1], right * 0.0 + x[..., -1:]
    elif padtype != "even":
        raise fail(JitadValueError, f"Unknown value {padtype!r} given to padtype.")
    return call(np.concatenate, [left, x, right], axis=-1)


@replaces(scipy.signal.filtfilt)
def filtfilt(b: Any, a: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None,
             method: str = "pad", irlen: Any = None) -> Any:  # fmt: skip
    """The filter forwards and backwards, from the state of a signal that was always as its end."""
    if method != "pad":
        raise fail(JitadTypeError, f"filtfilt by method={method!r} is not supported",
                   "Leave method out.")  # fmt: skip
    (signal,) = _floats(x)
    axis = one_axis(axis, signal.ndim)
    b, a = _taps(b, a)
    edge = 0 if padtype is None else 3 * b.shape[0] if padlen is None else padlen
    zi = lfilter_zi(b, a)
    wide = handle(_extended(moveaxis(signal, axis, -1), padtype, edge))

    def once(signal: Any) -> Any:
        zeroth = call(np.multiply, zi, signal[..., :1])
        return call(np.flip, lfilter(b, a, signal, zi=zeroth)[0], -1)

    found = once(once(wide))
    kept = found[..., edge : extents.sub(found.shape[-1], edge)] if edge else found
    return call(np.copy, moveaxis(handle(kept), -1, axis))


@replaces(scipy.signal.sosfilt)
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """One section of second order after the other."""
    if zi is not None:
        raise fail(JitadTypeError, "sosfilt with zi= is not supported", "Call lfilter section by "
                   "section, with zi=.")  # fmt: skip
    sections, out = _floats(call(np.atleast_2d, sos), x)
    for k in range(sections._static(sections.shape[0], "the number of a filter's sections")):
        out = lfilter(sections[k, :3], sections[k, 3:], out, axis)
    return out


@replaces(scipy.signal.hilbert)
def hilbert(x: Any, N: Any = None, axis: int = -1) -> Any:
    """The analytic signal: the transform without its negative frequencies, twice the others."""
    (signal,) = _floats(x)
    axis = one_axis(axis, signal.ndim)
    found = call(np.fft.fft, moveaxis(signal, axis, -1), N)
    n = found.shape[-1]
    k = call(np.arange, n)
    twice = call(np.multiply, k, 2)
    alone = call(np.logical_or, call(np.equal, k, 0), call(np.equal, twice, n))
    weight = call(np.where, alone, 1.0, call(np.where, call(np.less, twice, n), 2.0, 0.0))
    return call(np.moveaxis, call(np.fft.ifft, call(
        np.multiply, found, weight.astype(signal.dtype))), -1, axis)  # fmt: skip


@replaces(scipy.signal.detrend)
def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0,
            overwrite_data: bool = False) -> Any:  # fmt: skip
    """Less the mean, or the straight line that comes closest."""
    if type not in ("linear", "l", "constant", "c"):
        raise fail(JitadValueError, "Trend type must be 'linear' or 'constant'.")
    (x,) = _floats(data)
    axis = one_axis(axis, x.ndim)
    x = moveaxis(x, axis, -1)
    out = x - call(np.mean, x, axis=-1, keepdims=True)
    if type in ("linear", "l"):
        if isinstance(bp, (Number, ArrayHandle)) or np.any(np.asarray(bp)):
            raise fail(JitadTypeError, "detrend with break points is not supported",
                       "Take the parts apart.")  # fmt: skip
        n = x.shape[-1]
        t = call(np.subtract, call(np.arange, n), call(np.multiply, 0.5, extents.sub(n, 1)))
        t = t.astype(x.dtype)
        slope = call(np.sum, call(np.multiply, out, t), axis=-1, keepdims=True)
        out = out - call(np.multiply, slope / call(np.sum, t * t), t)
    return moveaxis(handle(out), -1, axis)
