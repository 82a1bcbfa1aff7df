"""What becomes of scipy.signal's spectra, of its filters of whole signals, and of its waveforms?

A spectrum is made of windows of the signal, each detrended, weighed and transformed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.ndimage as nd
import scipy.signal as sg

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.active import is_traced
from jitad.values.kind import fail
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import handle, moveaxis
from jitad.values.registry import call, replaces
from jitad.values.scipy.filters import _floats
from jitad.values.scipy.smoothing import _extended, detrend

# -- spectra --------------------------------------------------------------------------------------


def _last(x: Any, axis: Any) -> tuple[Any, int]:
    (signal,) = _floats(x)
    axis = one_axis(axis, signal.ndim)
    return handle(moveaxis(signal, axis, -1)), axis


def _weights(window: Any, nperseg: Any, n: Any) -> Any:
    """The window of a segment; its length must be known."""
    if is_traced(window) or isinstance(window, (np.ndarray, list)) or hasattr(window, "peek"):
        return handle(window)
    length = extents.smallest(n, 256 if nperseg is None else nperseg)
    length = handle(0)._static(length, "the length of a window")
    return handle(sg.get_window(window, length))


def _segments(x: Any, size: int, overlap: int) -> Any:
    """The windows of the signal, as rows before its last axis."""
    views = call(np.lib.stride_tricks.sliding_window_view, x, size, -1)
    return views[..., :: size - overlap, :]


def _spectral(x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any,
              trend: Any, onesided: bool, scaling: str) -> tuple[Any, Any]:  # fmt: skip
    """The frequencies, and the products of both signals' transforms, one for each window."""
    if not onesided:
        raise fail(JitadTypeError, "return_onesided=False of spectra is not supported here",
                   "Use np.fft.fft.")  # fmt: skip
    n = x.shape[-1]
    w = _weights(window, nperseg, n)
    size = w._static(w.shape[0], "the length of a window")
    overlap = size // 2 if noverlap is None else int(noverlap)
    if overlap >= size:
        raise fail(JitadValueError, "noverlap must be less than nperseg.")
    length = size if nfft is None else int(nfft)
    kind = x.dtype if y is None else np.result_type(x.dtype, y.dtype)

    def transformed(signal: Any) -> Any:
        parts = _segments(signal, size, overlap)
        if trend is not False and trend is not None:
            parts = trend(parts) if callable(trend) else detrend(parts, -1, trend)
        return call(np.fft.rfft, call(np.multiply, parts, w.astype(kind)), length)

    if scaling == "density":
        scale = 1.0 / (fs * call(np.sum, w * w))
    elif scaling == "spectrum":
        scale = 1.0 / call(np.square, call(np.sum, w))
    else:
        raise fail(JitadValueError, f"Unknown scaling: {scaling!r}")
    first = transformed(x)
    both = call(np.square, call(np.abs, first)) if y is None else call(
        np.multiply, call(np.conj, first), transformed(y))  # fmt: skip
    twice = np.full(length // 2 + 1, 2.0)
    twice[0] = 1.0
    if length % 2 == 0:
        twice[-1] = 1.0
    found = call(np.multiply, both, handle(call(np.multiply, twice, scale)).astype(kind))
    return call(np.fft.rfftfreq, length, 1.0 / fs), found


def _averaged(found: Any, average: str) -> Any:
    if average != "mean":
        raise fail(JitadTypeError, f"average={average!r} of spectra is not supported here",
                   "Use average='mean'.")  # fmt: skip
    return call(np.mean, found, axis=-2)


@replaces(sg.welch)
def welch(x: Any, fs: Any = 1.0, window: Any = "hann_periodic", nperseg: Any = None,
          noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
          return_onesided: bool = True, scaling: str = "density", axis: int = -1,
          average: str = "mean") -> Any:  # fmt: skip
    x, at = _last(x, axis)
    f, found = _spectral(x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
                         scaling)  # fmt: skip
    return f, call(np.moveaxis, _averaged(found, average), -1, at)


@replaces(sg.periodogram)
def periodogram(x: Any, fs: Any = 1.0, window: Any = "boxcar", nfft: Any = None,
                detrend: Any = "constant", return_onesided: bool = True,
                scaling: str = "density", axis: int = -1) -> Any:  # fmt: skip
    """One window, as long as the signal."""
    x, at = _last(x, axis)
    n = x._static(x.shape[-1], "the length of a window")
    if nfft is not None and nfft < n:
        x, n = x[..., :nfft], int(nfft)
    f, found = _spectral(x, None, fs, window, n, 0, nfft, detrend, return_onesided, scaling)
    return f, call(np.moveaxis, found[..., 0, :], -1, at)


@replaces(sg.csd)
def csd(x: Any, y: Any, fs: Any = 1.0, window: Any = "hann_periodic", nperseg: Any = None,
        noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
        return_onesided: bool = True, scaling: str = "density", axis: int = -1,
        average: str = "mean") -> Any:  # fmt: skip
    x, at = _last(x, axis)
    f, found = _spectral(x, _last(y, axis)[0], fs, window, nperseg, noverlap, nfft, detrend,
                         return_onesided, scaling)  # fmt: skip
    return f, call(np.moveaxis, _averaged(found, average), -1, at)


@replaces(sg.coherence)
def coherence(x: Any, y: Any, fs: Any = 1.0, window: Any = "hann_periodic", nperseg: Any = None,
              noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
              axis: int = -1) -> Any:  # fmt: skip
    how = fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis
    f, both = csd(x, y, *how)
    (_, first), (_, second) = welch(x, *how), welch(y, *how)
    return f, call(np.square, call(np.abs, both)) / first / second


@replaces(sg.spectrogram)
def spectrogram(x: Any, fs: Any = 1.0, window: Any = ("tukey_periodic", 0.25), nperseg: Any = None,
                noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
                return_onesided: bool = True, scaling: str = "density", axis: int = -1,
                mode: str = "psd") -> Any:  # fmt: skip
    if mode != "psd":
        raise fail(JitadTypeError, f"mode={mode!r} of spectrogram is not supported here",
                   "Use mode='psd', or stft.")  # fmt: skip
    x, at = _last(x, axis)
    w = _weights(window, nperseg, x.shape[-1])
    size = w._static(w.shape[0], "the length of a window")
    overlap = size // 8 if noverlap is None else int(noverlap)
    f, found = _spectral(x, None, fs, w, None, overlap, nfft, detrend, return_onesided, scaling)
    times = (call(np.arange, found.shape[-2]) * (size - overlap) + size / 2) / fs
    return f, times, call(np.moveaxis, call(np.swapaxes, found, -1, -2), -2, at)


# -- filters of whole signals ---------------------------------------------------------------------


@replaces(sg.savgol_filter)
def savgol_filter(x: Any, window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0,
                  axis: int = -1, mode: str = "interp", cval: Any = 0.0) -> Any:  # fmt: skip
    """The weights are those of a polynomial through the window, which at the ends goes on."""
    size, order, deriv = int(window_length), int(polyorder), int(deriv)
    taps = call(np.true_divide, sg.savgol_coeffs(size, order, deriv=deriv), delta**deriv)
    if mode != "interp":
        return call(nd.convolve1d, handle(x), taps, axis, None, mode, cval)
    a = handle(x)
    axis = one_axis(axis, a.ndim)
    a = handle(moveaxis(a, axis, -1))
    half = size // 2
    rows = np.stack([sg.savgol_coeffs(size, order, deriv=deriv, pos=k, use="dot")
                     for k in range(size)])  # fmt: skip
    rows = call(np.true_divide, rows, delta**deriv)
    middle = call(nd.convolve1d, a, taps, -1, None, "constant", 0.0)
    inner = middle[..., half : extents.sub(a.shape[-1], half)]
    first = call(np.matmul, a[..., :size], rows[:half].T)
    last = call(np.matmul, a[..., -size:], rows[size - half :].T)
    found = call(np.concatenate, [first, inner, last], axis=-1)
    return call(np.moveaxis, found.astype(a.dtype), -1, axis)


@replaces(sg.sosfiltfilt)
def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd",
                padlen: Any = None) -> Any:  # fmt: skip
    """As `filtfilt`: each section starts from the state of a signal that was always as its end."""
    (sections,) = _floats(call(np.atleast_2d, sos))
    count = sections._static(sections.shape[0], "the number of a filter's sections")
    if padlen is None and padtype is not None:
        if is_traced(sections):
            raise fail(JitadTypeError, "how far sosfiltfilt extends the signal depends on zeros "
                       "among its coefficients, which are traced", "Give padlen=.")  # fmt: skip
        known = sections.peek()
        none = min((known[:, 2] == 0.0).sum(), (known[:, 5] == 0.0).sum())
        padlen = 3 * int(2 * count + 1 - none)
    edge = 0 if padtype is None else padlen
    x, at = _last(x, axis)
    states, scale = [], 1.0
    for k in range(count):
        b, a = sections[k, :3], sections[k, 3:]
        states.append(call(np.multiply, scale, call(sg.lfilter_zi, b, a)))
        scale = scale * call(np.sum, b) / call(np.sum, a)

    def once(signal: Any) -> Any:
        start = signal[..., :1]
        for k, zi in enumerate(states):
            state = call(np.multiply, zi, start)
            signal = call(sg.lfilter, sections[k, :3], sections[k, 3:], signal, -1, state)[0]
        return call(np.flip, signal, -1)

    found = once(once(handle(_extended(x, padtype, edge))))
    kept = found[..., edge : extents.sub(found.shape[-1], edge)] if edge else found
    return call(np.copy, moveaxis(handle(kept), -1, at))


@replaces(sg.resample)
def resample(x: Any, num: Any, t: Any = None, axis: int = 0, window: Any = None,
             domain: str = "time") -> Any:  # fmt: skip
    """By the transform: frequencies left out, or zeros put in."""
    if t is not None or window is not None or domain != "time":
        raise fail(JitadTypeError, "t=, window= and domain= of resample are not supported here")
    x, at = _last(x, axis)
    n = x._static(x.shape[-1], "the length of a signal that is resampled")
    num = int(num)
    least = min(n, num)
    spectrum = call(np.fft.rfft, x)[..., : least // 2 + 1]
    if least % 2 == 0 and n != num:  # the frequency in the middle is there once or twice
        twice = np.ones(least // 2 + 1)
        twice[-1] = 2.0 if num < n else 0.5
        spectrum = call(np.multiply, spectrum, twice.astype(x.dtype))
    found = call(np.multiply, call(np.fft.irfft, spectrum, num), num / n)
    return call(np.moveaxis, found, -1, at)


@replaces(sg.oaconvolve)
def oaconvolve(in1: Any, in2: Any, mode: str = "full") -> Any:
    return call(sg.fftconvolve, in1, in2, mode)


@replaces(sg.freqz)
def freqz(b: Any, a: Any = 1, worN: Any = 512, whole: bool = False, plot: Any = None,
          fs: Any = 2 * math.pi, include_nyquist: bool = False) -> Any:  # fmt: skip
    b, a = call(np.atleast_1d, b), call(np.atleast_1d, a)
    kind = np.result_type(np.float32, b.dtype, a.dtype)  # of the frequencies
    if worN is None or isinstance(worN, int):
        a = a if a.dtype.kind == "f" else a.astype(b.dtype)
        last = (2 if whole else 1) * math.pi
        inside = not (include_nyquist and not whole)
        w = call(np.linspace, 0.0, last, 512 if worN is None else worN, endpoint=not inside)
    else:
        w, kind = call(np.multiply, handle(worN), 2 * math.pi / fs), np.dtype(float)
        b, a = b.astype(float), a.astype(float)

    def along(c: Any) -> Any:
        turns = call(np.outer, w, call(np.arange, c.shape[0]))
        turns = turns if c.dtype != np.float32 else turns.astype(c.dtype)
        return call(np.matmul, call(np.exp, call(np.multiply, turns, -1j)), c)

    response = call(np.true_divide, along(b), along(a))
    return call(np.multiply, w, fs / (2 * math.pi)).astype(kind), response


# -- waveforms ------------------------------------------------------------------------------------


@replaces(sg.chirp)
def chirp(t: Any, f0: Any, t1: Any, f1: Any, method: str = "linear", phi: Any = 0,
          vertex_zero: bool = True, *, complex: bool = False) -> Any:  # fmt: skip
    if method not in ("linear", "lin", "li") or complex:
        raise fail(JitadTypeError, "chirp is supported with method='linear', and real")
    rate = (f1 - f0) / t1
    t = handle(t).astype(float)
    phase = call(np.multiply, 2.0 * math.pi, f0 * t + 0.5 * rate * t * t)
    return call(np.cos, phase + phi * math.pi / 180.0)


@replaces(sg.sawtooth)
def sawtooth(t: Any, width: Any = 1) -> Any:
    turn = call(np.mod, handle(t).astype(float), 2.0 * math.pi)
    rises = call(np.less, turn, width * 2.0 * math.pi)
    up = turn / (math.pi * call(np.where, call(np.equal, width, 0), 1, width)) - 1.0
    left = call(np.where, call(np.equal, width, 1), 1, 1.0 - width)
    down = (math.pi * (width + 1.0) - turn) / (math.pi * left)
    return call(np.where, rises, up, down)


@replaces(sg.square)
def square(t: Any, duty: Any = 0.5) -> Any:
    turn = call(np.mod, handle(t), 2.0 * math.pi)
    return call(np.where, call(np.less, turn, duty * 2.0 * math.pi), 1.0, -1.0)
