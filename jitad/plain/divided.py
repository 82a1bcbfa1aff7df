"""What is divided as polynomials are: signals, the answers of filters, and powers by noise?

Plain Python, rewritten as user code is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as nd
import scipy.signal as sg


def deconvolve(signal: Any, divisor: Any) -> Any:
    num, den = np.atleast_1d(np.asarray(signal)), np.atleast_1d(np.asarray(divisor))
    if len(den) > len(num):
        return np.zeros(0), num
    once = np.zeros(len(num) - len(den) + 1)
    once[0] = 1.0
    quotient = sg.lfilter(num, den, once)
    return quotient, num - np.convolve(den, quotient)


# -- filters --------------------------------------------------------------------------------------


def sos2tf(sos: Any) -> Any:
    sos = np.asarray(sos)
    b, a = np.ones(1), np.ones(1)
    for section in sos:
        b, a = np.convolve(b, section[:3]), np.convolve(a, section[3:])
    return b, a


def freqz_sos(sos: Any, worN: Any = 512, whole: Any = False, fs: Any = 2.0 * np.pi) -> Any:
    sos = np.asarray(sos)
    w, out = sg.freqz(sos[0, :3], sos[0, 3:], worN, whole, fs=fs)
    for section in sos[1:]:
        out = out * sg.freqz(section[:3], section[3:], worN, whole, fs=fs)[1]
    return w, out


def group_delay(system: Any, w: Any = 512, whole: Any = False, fs: Any = 2.0 * np.pi) -> Any:
    b, a = (np.atleast_1d(np.asarray(c)) for c in system)
    if isinstance(w, int):
        at = np.linspace(0.0, 2.0 * np.pi if whole else np.pi, w, endpoint=False)
    else:
        at = 2.0 * np.pi * np.asarray(w) / fs
    both = np.convolve(b, a[::-1])
    turned = np.exp(-1j * at)
    slope = np.polyval((both * np.arange(len(both)))[::-1], turned)
    delay = np.real(slope / np.polyval(both[::-1], turned)) - len(a) + 1
    return at * fs / (2.0 * np.pi), np.where(np.isfinite(delay), delay, 0.0)


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    b, a, y = (np.atleast_1d(np.asarray(c)) + 0.0 for c in (b, a, y))
    n, m = len(a) - 1, len(b) - 1
    x = np.zeros(m) if x is None else np.asarray(x)
    x = np.concatenate([x, np.zeros(max(m - len(x), 0))])
    y = np.concatenate([y, np.zeros(max(n - len(y), 0))])
    state = np.zeros(max(m, n))
    for k in range(m):
        state[k] += np.sum(b[k + 1 :] * x[: m - k])
    for k in range(n):
        state[k] -= np.sum(a[k + 1 :] * y[: n - k])
    return state / a[0]


# -- signals --------------------------------------------------------------------------------------


def gausspulse(t: Any, fc: Any = 1000, bw: Any = 0.5, bwr: Any = -6, tpr: Any = -60,
               retquad: Any = False, retenv: Any = False) -> Any:  # fmt: skip
    if isinstance(t, str):
        raise NotImplementedError("gausspulse('cutoff'); write its formula")
    width = (np.pi * fc * bw) ** 2 / (4.0 * np.log(10.0 ** (bwr / 20.0)))
    t = np.asarray(t)
    shape = np.exp(width * t * t)
    inphase = shape * np.cos(2.0 * np.pi * fc * t)
    out = [inphase]
    if retquad:
        out.append(shape * np.sin(2.0 * np.pi * fc * t))
    if retenv:
        out.append(shape)
    return out[0] if len(out) == 1 else tuple(out)


def lombscargle(x: Any, y: Any, freqs: Any, *, normalize: Any = False, weights: Any = None,
                floating_mean: Any = False) -> Any:  # fmt: skip
    """Sums over the samples, of sines and cosines whose phase makes them orthogonal."""
    x, y, freqs = (np.asarray(v, float) for v in (x, y, freqs))
    weights = np.ones(len(x)) if weights is None else np.asarray(weights, float)
    weights = weights / np.sum(weights)
    angles = freqs[:, np.newaxis] * x
    mean = y @ weights if floating_mean else 0.0

    def spread(u: Any, v: Any) -> Any:
        out = (u * v) @ weights
        return out - (u @ weights) * (v @ weights) if floating_mean else out

    cosines, sines = np.cos(angles), np.sin(angles)
    even = (cosines * cosines) @ weights
    odd = 1.0 - even
    if floating_mean:
        even, odd = even - (cosines @ weights) ** 2, odd - (sines @ weights) ** 2
    phase = 0.5 * np.arctan2(2.0 * spread(cosines, sines), even - odd)
    cosines, sines = (f(angles - phase[:, np.newaxis]) for f in (np.cos, np.sin))
    even = (cosines * cosines) @ weights
    odd = 1.0 - even
    if floating_mean:
        even, odd = even - (cosines @ weights) ** 2, odd - (sines @ weights) ** 2
    least = np.finfo(float).epsneg
    even, odd = (np.where(v < least, least, v) for v in (even, odd))
    along = [v @ (weights * y) - (v @ weights) * mean for v in (cosines, sines)]
    if normalize == "amplitude":
        return (along[0] / even + 1j * (along[1] / odd)) * np.exp(1j * phase)
    power = 2.0 * (along[0] ** 2 / even + along[1] ** 2 / odd)
    if normalize is True or normalize == "normalize":
        return 0.5 * power / ((y * y) @ weights - mean**2)
    return power * (len(x) / 4.0)


# -- images ---------------------------------------------------------------------------------------


def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    im = np.asarray(im)
    sizes = 3 if mysize is None else mysize
    middle = _mean_around(im, sizes)
    spread = _mean_around(im * im, sizes) - middle**2
    noise = np.mean(spread) if noise is None else noise
    return np.where(spread < noise, middle, middle + (im - middle) * (1.0 - noise / spread))


def _mean_around(im: Any, sizes: Any) -> Any:
    """Over a window; outside of the image there are zeros."""
    return nd.uniform_filter(im, sizes, mode="constant")


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    return medfilt2d(volume, 3 if kernel_size is None else kernel_size)


def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    if not np.all(np.asarray(kernel_size) % 2):
        raise ValueError("Each element of kernel_size should be odd.")
    return nd.median_filter(np.asarray(input), kernel_size, mode="constant")
