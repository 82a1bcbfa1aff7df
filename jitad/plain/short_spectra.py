"""What are the spectra of pieces of a signal, and the signal of them?  Plain Python, rewritten as
user code is.

Source: D. Griffin, J. Lim, *Signal estimation from modified short-time Fourier transform*, IEEE
Trans. Acoustics, Speech, Signal Processing 32 (1984).
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import scipy.signal as sg

_BORDERS = {"even": "reflect", "zeros": "constant", "constant": "edge"}


def weights(window: Any, nperseg: Any) -> Any:
    if isinstance(window, (str, tuple)):
        return sg.get_window(window, nperseg)
    return np.asarray(window)


def stft(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = 256, noverlap: Any = None,
    nfft: Any = None, detrend: Any = False, return_onesided: Any = True, boundary: Any = "zeros",
    padded: Any = True, axis: Any = -1, scaling: Any = "spectrum",
) -> Any:  # fmt: skip
    x = np.asarray(x)
    if np.iscomplexobj(x) or not return_onesided or detrend is not False:
        raise NotImplementedError("detrend=, return_onesided= or a complex signal of stft; "
                                  "take windows of the signal and np.fft.fft")  # fmt: skip
    x = x if axis == -1 else np.moveaxis(x, axis, -1)
    if np.shape(x)[-1] < nperseg:
        raise ValueError("nperseg is greater than the input length")
    win = weights(window, nperseg)
    step = nperseg - (nperseg // 2 if noverlap is None else noverlap)
    around = [(0, 0)] * (x.ndim - 1)
    if boundary is not None:
        mode: Any = _BORDERS[boundary]
        x = np.pad(x, [*around, (nperseg // 2, nperseg // 2)], mode)
    if padded:
        more = (-(np.shape(x)[-1] - nperseg) % step) % nperseg
        x = np.concatenate([x, np.zeros((*np.shape(x)[:-1], more))], axis=-1)
    n = np.shape(x)[-1]
    pieces = np.lib.stride_tricks.sliding_window_view(x, nperseg, axis=-1)[..., ::step, :]
    scale = np.sum(win * win) * fs if scaling == "psd" else np.sum(win) ** 2
    found = np.fft.rfft(pieces * win, nfft) / np.sqrt(scale)
    time = (np.arange((n - nperseg) // step + 1) * step + nperseg / 2) / fs
    if boundary is not None:
        time = time - nperseg / 2 / fs
    found = np.moveaxis(found, -1, axis - 1 if axis < 0 else axis)
    return np.fft.rfftfreq(nperseg if nfft is None else nfft, 1.0 / fs), time, found


def istft(
    Zxx: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
    nfft: Any = None, input_onesided: Any = True, boundary: Any = True, time_axis: Any = -1,
    freq_axis: Any = -2, scaling: Any = "spectrum",
) -> Any:  # fmt: skip
    z = np.moveaxis(np.asarray(Zxx), (freq_axis, time_axis), (-2, -1))
    if not input_onesided or z.ndim != 2:
        raise NotImplementedError("input_onesided=False or several signals of istft; "
                                  "add np.fft.ifft of its columns")  # fmt: skip
    even = 2 * (len(z) - 1)
    nperseg = even if nperseg is None else nperseg
    size = max(even, min(nperseg, even + 1)) if nfft is None else nfft
    step = nperseg - (nperseg // 2 if noverlap is None else noverlap)
    win = weights(window, nperseg)
    pieces = np.fft.irfft(z, size, axis=0)[:nperseg]
    scale = np.sqrt(fs * np.sum(win * win)) if scaling == "psd" else np.sum(win)
    count = np.shape(pieces)[1]
    x, norm = np.zeros(nperseg + (count - 1) * step), np.zeros(nperseg + (count - 1) * step)
    for k in range(count):
        x[k * step : k * step + nperseg] += pieces[:, k] * win
        norm[k * step : k * step + nperseg] += win * win
    if boundary:
        last = len(x) - nperseg // 2
        x, norm = x[nperseg // 2 : last], norm[nperseg // 2 : last]
    x = scale * x / np.where(norm > 1e-10, norm, 1.0)
    return np.arange(len(x)) / fs, x


def upfirdn(h: Any, x: Any, up: Any = 1, down: Any = 1, axis: Any = -1) -> Any:
    h, x = np.asarray(h), np.asarray(x)
    if x.ndim != 1:
        raise NotImplementedError("upfirdn of several signals; take a loop over them")
    return np.convolve(h, spread_out(x, up)[: (len(x) - 1) * up + 1])[::down]


def spread_out(x: Any, up: Any) -> Any:
    """With zeros between the elements."""
    return np.reshape(np.concatenate([x[:, np.newaxis], np.zeros((len(x), up - 1))], axis=1), -1)


def resample_poly(x: Any, up: Any, down: Any, axis: Any = 0, window: Any = ("kaiser", 5.0),
                  padtype: Any = "constant", cval: Any = None) -> Any:  # fmt: skip
    x = np.asarray(x)
    if x.ndim != 1 or padtype != "constant" or cval is not None:
        raise NotImplementedError("several signals, padtype= or cval= of resample_poly; "
                                  "take a loop, or pad before")  # fmt: skip
    common = gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return np.copy(x)
    if isinstance(window, (str, tuple)):
        half = 10 * max(up, down)
        h = sg.firwin(2 * half + 1, 1.0 / max(up, down), window=window)
    else:
        h = np.asarray(window)
        half = (len(h) - 1) // 2
    whole = np.convolve(up * h, spread_out(x, up))
    return whole[half : half + len(x) * up : down]


def decimate(x: Any, q: Any, n: Any = None, ftype: Any = "iir", axis: Any = -1,
             zero_phase: Any = True) -> Any:  # fmt: skip
    x = np.asarray(x)
    if x.ndim != 1 or ftype != "iir" or not zero_phase:
        raise NotImplementedError("several signals, ftype= or zero_phase= of decimate; "
                                  "filter, and take each q-th element")  # fmt: skip
    return sg.sosfiltfilt(sg.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos"), x)[::q]
