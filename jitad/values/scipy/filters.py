"""What becomes of the functions of scipy.signal that convolve and filter?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

from jitad.errors import JitadValueError
from jitad.values import extents
from jitad.values.active import is_traced
from jitad.values.array import ArrayHandle, wrap
from jitad.values.extents import Int
from jitad.values.kind import fail
from jitad.values.loops import fold
from jitad.values.numpy.reductions import one_axis, part, with_part
from jitad.values.numpy.shaping import handle, moveaxis
from jitad.values.registry import call, replaces


def _floats(*arrays: Any) -> list[ArrayHandle]:
    handles = [handle(a) for a in arrays]
    kind = np.result_type(*(h.dtype for h in handles))
    kind = kind if kind.kind == "f" else np.dtype(float)
    return [h if h.dtype == kind else h.astype(kind) for h in handles]


def _full(a: ArrayHandle, b: ArrayHandle) -> ArrayHandle:
    """All overlaps: one copy of a for each element of b, shifted and added."""
    if a.ndim == 1:
        return handle(call(np.convolve, a, b))
    shape = tuple(extents.sub(extents.add(n, m), 1) for n, m in zip(a.shape, b.shape, strict=True))
    flat = call(np.ravel, b).content
    size = a.shape

    def step(k: Int, done: Any) -> tuple[Any]:
        out = ArrayHandle(done)
        at, rest = [], k
        for m in reversed(b.shape):
            at.append(extents.mod(rest, m))
            rest = extents.floordiv(rest, m)
        key = tuple(slice(i, extents.add(i, n)) for i, n in zip(reversed(at), size, strict=True))
        out[key] = call(np.add, out[key], call(np.multiply, a, part(flat, k)))
        return (out.content,)

    start = call(np.zeros, shape, dtype=a.dtype).content
    (found,) = fold(flat.shape[0], (start,), step, a.content, flat)
    return ArrayHandle(found)


def _cut(full: ArrayHandle, a: ArrayHandle, b: ArrayHandle, mode: str, late: int = 0) -> Any:
    """What `mode` keeps of all overlaps: those in the middle, or those that are whole.

    Of two middles of an even extent, convolutions take the first one; `late`: the other.
    """
    if mode == "full":
        return full
    if mode not in ("same", "valid"):
        raise fail(JitadValueError, "acceptable mode flags are 'valid', 'same', or 'full'")
    keys = []
    for n, m in zip(a.shape, b.shape, strict=True):
        if mode == "same":
            start = extents.floordiv(extents.add(m, late - 1), 2)
            keys.append(slice(start, extents.add(start, n)))
        else:
            least, most = extents.smallest(n, m), extents.largest(n, m)
            keys.append(slice(extents.sub(least, 1), most))
    return call(np.copy, full[tuple(keys)])


def _alike(in1: Any, in2: Any) -> tuple[ArrayHandle, ArrayHandle]:
    a, b = _floats(in1, in2)
    if a.ndim != b.ndim or not a.ndim:
        raise fail(JitadValueError, "in1 and in2 should have the same dimensionality")
    return a, b


@replaces(scipy.signal.convolve)
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    a, b = _alike(in1, in2)
    return _cut(_full(a, b), a, b, mode)


@replaces(scipy.signal.fftconvolve)
def fftconvolve(in1: Any, in2: Any, mode: str = "full") -> Any:
    if any(extents.assume_none(n) for a in _alike(in1, in2) for n in a.shape):
        return call(np.zeros, 0)
    return convolve(in1, in2, mode)


@replaces(scipy.signal.correlate)
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    a, b = _alike(in1, in2)
    return convolve(a, call(np.flip, b), mode)


_BORDERS = {"fill": "constant", "symm": "symmetric", "wrap": "wrap"}  # as np.pad calls them


def _bordered(a: Any, b: Any, mode: str, boundary: str, fillvalue: Any, late: int) -> Any:
    """A convolution of two axes that goes on beyond the edges of the first."""
    a, b = _alike(a, b)
    if boundary not in _BORDERS:
        raise fail(JitadValueError, f"Acceptable boundary flags are {sorted(_BORDERS)}")
    plain = boundary == "fill" and not is_traced(fillvalue) and fillvalue == 0
    if plain or mode == "valid":
        return _cut(_full(a, b), a, b, mode, late)
    width = tuple((extents.sub(n, 1),) * 2 for n in b.shape)
    how = {"constant_values": fillvalue} if boundary == "fill" else {}
    wide = call(np.pad, a, width, _BORDERS[boundary], **how)
    return _cut(convolve(wide, b, "valid"), a, b, mode, late)


@replaces(scipy.signal.convolve2d)
def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill",
               fillvalue: Any = 0) -> Any:  # fmt: skip
    return _bordered(in1, in2, mode, boundary, fillvalue, 0)


@replaces(scipy.signal.correlate2d)
def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill",
                fillvalue: Any = 0) -> Any:  # fmt: skip
    a, b = _alike(in1, in2)
    return _bordered(a, call(np.flip, b), mode, boundary, fillvalue, 1)


@replaces(scipy.signal.lfilter)
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """The recurrence in direct form II, transposed: its state is one number less than the taps."""
    b, a, x = _floats(call(np.atleast_1d, b), call(np.atleast_1d, a), x)
    axis = one_axis(axis, x.ndim)
    lengths = [h._static(h.shape[0], "the number of a filter's coefficients") for h in (b, a)]
    taps = max(lengths)
    first = a[0]
    b, a = (call(np.pad, call(np.true_divide, h, first), (0, taps - m))
            for h, m in zip((b, a), lengths, strict=True))  # fmt: skip
    moved = moveaxis(x, axis, 0)
    content = call(np.copy, moved).content
    rest = moved.shape[1:]
    wide = (slice(None), *(None for _ in rest))
    if zi is None:
        state = call(np.zeros, (taps - 1, *rest), dtype=x.dtype)
    else:
        state = call(np.copy, moveaxis(_floats(zi, x)[0], axis, 0))
    nothing = call(np.zeros, (1, *rest), dtype=x.dtype)

    def step(k: Int, out: Any, z: Any) -> tuple[Any, Any]:
        here, kept = wrap(part(content, k)), ArrayHandle(z)
        y = call(np.multiply, b[0], here)
        if taps == 1:
            return with_part(out, k, _content(y)), z
        y = call(np.add, y, kept[0])
        moved_on = call(np.concatenate, [kept[1:], nothing])
        change = call(np.subtract, call(np.multiply, b[1:][wide], here),
                      call(np.multiply, a[1:][wide], y))  # fmt: skip
        return with_part(out, k, _content(y)), call(np.add, moved_on, change).content

    start = (call(np.zeros_like, wrap(content)).content, state.content)
    out, z = fold(content.shape[0], start, step, content, b.content, a.content)
    found = moveaxis(wrap(out), 0, axis)
    return found if zi is None else (found, moveaxis(wrap(z), 0, axis))


def _content(y: Any) -> Any:
    return y.content if isinstance(y, ArrayHandle) else y
