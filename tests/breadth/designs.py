"""Uses of scipy.signal: filters whose corners are traced, systems whose matrices are."""

from __future__ import annotations

import numpy as np
import scipy.signal as sg

from tests.breadth.case import add, draws

r, n = draws(41)

W, TWO = np.array([0.3]), np.array([0.25, 0.5])
A, B, C, D = n(2, 2) - 2.0 * np.eye(2), n(2, 1), n(2, 2), n(2, 1)
TOP, BELOW = r(2), np.array([1.3, 0.9, 0.7])
T, U = np.linspace(0.0, 1.0, 6), n(6)
GRID = np.linspace(0.1, 2.0, 5)


def of(name, f, *args, **how):
    add(f"scipy.signal.{name}", f, *args, **{"narrow": None, "order": 1, **how})


of("butter", lambda w: (sg.butter(2, w[0]), sg.butter(2, 2.0 * w[0], "high", fs=3.0)), W, order=2)
of("butter", lambda w: (sg.butter(1, w, "bandpass"), sg.butter(1, w, "bandstop", analog=True)), TWO)
of("butter", lambda w: sg.butter(3, w[0], output="sos"), W)
of("butter", lambda w: sg.butter(3, w, "band", output="sos"), TWO)
of("butter", lambda w: sg.butter(2, w, "stop", output="sos"), TWO)
of("butter", lambda w: sg.butter(1, [w[0], 2.9 * w[0]], "band", output="sos"), W)  # real poles
of("cheby1", lambda w: sg.cheby1(2, 1.0, w[0], "high", output="sos"), W)
of("cheby2", lambda w: sg.cheby2(3, 30.0, w[0], "high"), W)
of("ellip", lambda w: sg.ellip(2, 1.0, 30.0, w[0]), W)
of("iirnotch", lambda w, q: sg.iirnotch(w[0], q[0]), W, TOP, order=2)
of("iirpeak", lambda w, q: sg.iirpeak(w[0], q[0], 3.0), W, TOP, order=2)
of("firwin", lambda w: (sg.firwin(7, w[0]), sg.firwin(6, w[0], window="hann", scale=False),
                        sg.firwin(7, w[0], pass_zero=False)), W, order=2)  # fmt: skip
of("firwin", lambda w: (sg.firwin(7, w, pass_zero=False, fs=3.0), sg.firwin(5, w)), TWO)
of("bilinear", lambda b, a: sg.bilinear(b, a, 2.0), TOP, BELOW, order=2)
of("get_window", lambda b: (sg.get_window(("kaiser", b[0]), 7), sg.windows.kaiser(6, b[1]),
                            sg.windows.gaussian(5, b[0]), sg.get_window(("gaussian", b[1]), 6)),
   TOP, order=2)  # fmt: skip
of("lsim", lambda a, b, c, d, u: sg.lsim((a, b, c, d), u, T), A, B, C, D, U)
of("lsim", lambda p, q, u: sg.lsim((p, q), u, T + 0.5, [0.3, 0.2], interp=False), TOP, BELOW, U)
of("step", lambda p, q: (sg.step((p, q), T=T), sg.step((p, q), N=5)), TOP, BELOW)
of("impulse", lambda a, b, c, d: sg.impulse((a, b, c, d), T=T), A, B, C, D)
of("dlsim", lambda a, b, c, d, u: sg.dlsim((a, b, c, d, 0.1), u, x0=[0.2, 0.3]), A, B, C, D, U)
of("dlsim", lambda p, q, u: sg.dlsim((p, q, 0.1), u), TOP, BELOW, U)
for method in ("zoh", "foh", "tustin", "euler", "backward_diff"):
    of("cont2discrete", lambda a, b, c, d, m=method: sg.cont2discrete((a, b, c, d), 0.1, m)[:4],
       A, B, C, D)  # fmt: skip
of("cont2discrete", lambda a, b, c: sg.cont2discrete((a, b, c, np.zeros((2, 1))), 0.1, "impulse"),
   A, B, C)  # fmt: skip
of("cont2discrete", lambda p, q: sg.cont2discrete((p, q), 0.1), TOP, BELOW)
of("tf2ss", lambda p, q: (sg.tf2ss(p, q), sg.tf2ss(p, q[:2])), TOP, BELOW)
of("ss2tf", lambda a, b, c, d: sg.ss2tf(a, b, c, d), A, B, C, D)
of("freqs", lambda p, q: sg.freqs(p, q, GRID), TOP, BELOW)
of("freqresp", lambda p, q: sg.freqresp((p, q), GRID), TOP, BELOW)
of("bode", lambda p, q: sg.bode((p, q), GRID), TOP, BELOW)
of("tf2zpk", lambda p, q: [np.real(v) for v in sg.tf2zpk(p, q)], TOP, np.array([1.0, 3.0, 0.7]))
of("zpk2tf", lambda z, k: sg.zpk2tf(z, 2.0 * z, k[0]), TOP, W)

X, Z = n(20), n(5, 6) + 1j * n(5, 6)
of("stft", lambda x: (sg.stft(x, nperseg=8), sg.stft(x, 2.0, "hamming", 6, 2, 8, boundary="even",
                                                     scaling="psd")[2]), X)  # fmt: skip
of("stft", lambda x: sg.stft(np.reshape(x, (2, 10)), nperseg=5, boundary=None, padded=False)[2], X)
of("istft", lambda z: (sg.istft(z), sg.istft(z, 2.0, "hamming", noverlap=6, scaling="psd")[1]), Z)
of("upfirdn", lambda h, x: (sg.upfirdn(h, x, 3, 2), sg.upfirdn(h, x)), n(4), n(6))
of("resample_poly", lambda x: (sg.resample_poly(x, 3, 2), sg.resample_poly(x, 2, 4),
                               sg.resample_poly(x, 2, 3, window=[0.2, 0.7, 0.2])),
   n(7))  # fmt: skip
of("decimate", lambda x: sg.decimate(x, 2, 3), n(40))
