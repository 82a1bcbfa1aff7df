"""Uses of scipy.integrate, scipy.signal, scipy.fft and scipy.stats on samples."""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.integrate as si
import scipy.signal as ss
import scipy.stats as st

from tests.breadth.case import add, draws

r, n = draws(41)

V, W, M, K = n(6), r(6), n(4, 5), n(2, 3)
Z = n(6) + 1j * n(6)

add("scipy.integrate.trapezoid", lambda y, x: (si.trapezoid(y, np.cumsum(x)), si.trapezoid(y)),
    V, W)
add("scipy.integrate.cumulative_trapezoid",
    lambda y, x: (si.cumulative_trapezoid(y, np.cumsum(x), initial=0),
                  si.cumulative_trapezoid(y, dx=0.5)), V, W, native=True)
add("scipy.integrate.cumulative_trapezoid", lambda y: si.cumulative_trapezoid(y, axis=0), M)
add("scipy.integrate.simpson", lambda y, x: (si.simpson(y, x=np.cumsum(x)), si.simpson(y, dx=0.5),
                                             si.simpson(y[1:], x=np.cumsum(x[1:]))), V, W,
    narrow=False)
add("scipy.integrate.simpson", lambda y: si.simpson(y, axis=0), M, narrow=False)

for mode in ("full", "same", "valid"):
    add("scipy.signal.convolve",
        lambda a, b, m=mode: (ss.convolve(a, b[:3], m), ss.convolve(b[:2], a, m)), V, W,
        narrow=False)
    add("scipy.signal.convolve2d", lambda a, b, m=mode: ss.convolve2d(a, b, m), M, K,
        native=mode == "same", narrow=False)
    add("scipy.signal.correlate", lambda a, b, m=mode: ss.correlate(a, b[:3], m), V, W,
        narrow=False)
add("scipy.signal.fftconvolve", lambda a, b: ss.fftconvolve(a, b, "same"), M, K, narrow=False)
add("scipy.signal.correlate2d", lambda a, b: ss.correlate2d(a, b, "valid"), M, K, narrow=False)
add("scipy.signal.lfilter", lambda b, x: ss.lfilter(b[:3], [2.0, -0.3, 0.4], x), V, W, native=True,
    narrow=False)
add("scipy.signal.lfilter", lambda a, x: ss.lfilter([1.0, 0.5], 1.0 + a[:3] ** 2, x, axis=0),
    0.3 * V, M, narrow=False)
add("scipy.signal.lfilter", lambda x, z: ss.lfilter([1.0, 0.5], [1.0, -0.4], x, zi=z[:1]), V, W,
    narrow=False)

TALL = np.cumsum(np.sin(np.arange(24.0)).reshape(12, 2), axis=0)
add("scipy.signal.filtfilt", lambda a, x: (
    ss.filtfilt([0.3, 0.4], a[:2] + [1.0, -0.7], x, axis=0),
    ss.filtfilt([0.3, 0.4, 0.1], 2.0, x.T, padtype="even", padlen=4)), V, TALL, narrow=False)
add("scipy.signal.filtfilt", lambda x: ss.filtfilt([0.3], [1.0, -0.5], x, 0, "constant"), TALL,
    native=True, narrow=False)
add("scipy.signal.lfilter_zi", lambda a, b: ss.lfilter_zi(b[:3], a[:3] + 1.0), V, W, narrow=False)
add("scipy.signal.sosfilt", lambda x: ss.sosfilt([[0.2, 0.3, 0.1, 1.0, -0.4, 0.1]] * 2, x), M,
    narrow=False)  # fmt: skip
add("scipy.signal.hilbert", lambda x: (np.abs(ss.hilbert(x)), np.imag(ss.hilbert(x, 9, 0))), M,
    narrow=False)  # fmt: skip
add("scipy.signal.detrend", lambda x: (ss.detrend(x), ss.detrend(x, 0, "constant")), M,
    narrow=False)  # fmt: skip

WIDE = np.stack([Z, Z[::-1] ** 2])
for name in """fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn
               fftshift ifftshift""".split():  # fmt: skip
    f = getattr(scipy.fft, name)
    how = {} if "shift" in name else {"norm": "ortho"}
    real = name.startswith(("rfft", "ihfft"))
    add(f"scipy.fft.{name}", lambda z, f=f, how=how: f(z, **how), WIDE.real if real else WIDE,
        order=1, narrow=False)  # fmt: skip
for name in ("fftfreq", "rfftfreq"):
    f = getattr(scipy.fft, name)
    add(f"scipy.fft.{name}", lambda x, f=f: f(len(x), 0.5)[:3] * x[:3], V, narrow=False)
add("scipy.fft.dct", lambda x: (scipy.fft.dct(x), scipy.fft.dct(x, axis=0, norm="ortho")), M,
    narrow=False)  # fmt: skip

# -- what undoes a cosine transform, along one axis and all; samples summed up ---------------------

add("scipy.fft.idct", lambda x: (scipy.fft.idct(x), scipy.fft.idct(x[:5], norm="ortho")), V,
    native=True, narrow=False)
add("scipy.fft.idct", lambda x: scipy.fft.idct(x, axis=0), M, narrow=False)
add("scipy.fft.dctn", lambda x: (scipy.fft.dctn(x, norm="ortho"), scipy.fft.dctn(x, axes=[0])), M,
    narrow=False)
add("scipy.fft.idctn", lambda x: (scipy.fft.idctn(x), scipy.fft.idctn(x, axes=(0, 1))), M,
    narrow=False)
add("scipy.stats.skew", lambda x: (st.skew(x), st.skew(x, axis=1, bias=False), st.skew(x, None)),
    M, narrow=False, native=True)
add("scipy.stats.kurtosis", lambda x: (st.kurtosis(x), st.kurtosis(x, 1, False, False)), M,
    narrow=False)
add("scipy.stats.zscore", lambda x: (st.zscore(x), st.zscore(x, axis=None, ddof=1)), M,
    narrow=False)
add("scipy.stats.sem", lambda x: (st.sem(x), st.sem(x, axis=1, ddof=0, keepdims=True)), M,
    narrow=False)
add("scipy.stats.gmean", lambda x, w: (st.gmean(x), st.gmean(x, weights=w)), W, r(6), narrow=False)
add("scipy.stats.hmean", lambda x, w: (st.hmean(x), st.hmean(x, weights=w)), W, r(6), narrow=False)
add("scipy.stats.entropy", lambda p, q: (st.entropy(p), st.entropy(p, q, base=2)), W, r(6),
    narrow=False)
add("scipy.stats.entropy", lambda p, q: (st.entropy(p, q), st.entropy(q, p, axis=1)), r(6, 6), W,
    narrow=False)
