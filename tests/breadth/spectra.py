"""Uses of scipy.signal: spectra, filters of whole signals, waveforms."""

from __future__ import annotations

import numpy as np
import scipy.signal as sg

from tests.breadth.case import add, draws

r, n = draws(83)

X, Y, M, V = n(30), n(30), n(3, 16), n(8)
APART = np.random.default_rng(5).permutation(np.linspace(-2.0, 2.0, 30))
SOS = sg.butter(3, 0.4, output="sos")


def of(name, f, *args, **how):
    add(f"scipy.signal.{name}", f, *args, **{"narrow": False, **how})


for mode in ("interp", "wrap", "nearest", "mirror", "constant"):
    of("savgol_filter", lambda x, m=mode: (
        sg.savgol_filter(x, 5, 2, mode=m),
        sg.savgol_filter(x, 5, 3, deriv=1, delta=0.2, mode=m, cval=0.3)), V, narrow=True,
       native=mode == "interp")  # fmt: skip
of("savgol_filter", lambda x: (sg.savgol_filter(x, 3, 2, axis=0), sg.savgol_filter(x, 4, 2)), M)
of("medfilt", lambda x: (sg.medfilt(x, 5), sg.medfilt(np.reshape(x, (5, 6)))), APART, order=1)
of("welch", lambda x: (
    sg.welch(x, nperseg=8), sg.welch(x, 2.0, nperseg=7, noverlap=2, scaling="spectrum",
                                     detrend="linear"),
    sg.welch(x, 3.0, "hamming", nperseg=6, nfft=8, detrend=False)), X, order=1)  # fmt: skip
of("welch", lambda x: (sg.welch(x, nperseg=16), sg.welch(x, nperseg=2, axis=0)[1]), M, native=True)
of("periodogram", lambda x: (
    sg.periodogram(x), sg.periodogram(x, 2.0, "hann", scaling="spectrum"),
    sg.periodogram(x, nfft=20), sg.periodogram(x, nfft=40)), X, order=1)  # fmt: skip
of("periodogram", lambda x: sg.periodogram(x, axis=0)[1], M)
of("csd", lambda x, y: sg.csd(x, y, nperseg=8)[1], X, Y)
of("coherence", lambda x, y: sg.coherence(x, y, nperseg=8), X, Y, order=1)
of("spectrogram", lambda x: (
    sg.spectrogram(x, nperseg=8), sg.spectrogram(x, 2.0, "hann", 8, 4)[2]), X, order=1)
of("spectrogram", lambda x: sg.spectrogram(x, nperseg=6)[2], M)
of("sosfiltfilt", lambda x: (
    sg.sosfiltfilt(sg.butter(3, 0.4, output="sos"), x),
    sg.sosfiltfilt(SOS, x, padtype="even", padlen=5), sg.sosfiltfilt(SOS, x, padtype=None)), X,
   order=1)  # fmt: skip
of("resample", lambda x: [sg.resample(x, k) for k in (4, 5, 7, 8, 9, 12, 16)], V)
of("resample", lambda x: (sg.resample(x, 4), sg.resample(x[:7], 12), sg.resample(x[:7], 5)), V)
of("resample", lambda x: sg.resample(x, 10, axis=1), M)
of("oaconvolve", lambda x: (sg.oaconvolve(x, x[:3]), sg.oaconvolve(x, x[:3], "same")), V)
of("freqz", lambda b, a: (
    sg.freqz(b, a, worN=4), sg.freqz(b, 1, worN=[0.1, 1.0], fs=3.0),
    sg.freqz(b, worN=4, whole=True)[1], sg.freqz(b, worN=5, include_nyquist=True)[0]), V[:3],
   V[3:6], order=1)  # fmt: skip
of("chirp", lambda x: (sg.chirp(x, 0.3, 1.0, 2.0),
                       sg.chirp(np.linspace(0, 1, 5), x[0], 1.0, x[1], phi=30)), V)  # fmt: skip
of("sawtooth", lambda x: (sg.sawtooth(x, 0.3), sg.sawtooth(x), sg.sawtooth(x, 0)), 2.0 * V)
of("square", lambda x: (sg.square(x), sg.square(x, 0.3)), 2.0 * V, zero=True)
