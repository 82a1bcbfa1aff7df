"""Uses of the division of polynomials and signals, of the answers of filters and of periodograms
of uneven samples.
"""

from __future__ import annotations

import numpy as np
import scipy.signal as sg

from tests.breadth.case import add, draws

r, _ = draws(347)
HOW = {"narrow": None, "order": 1}
X, Y = r(6), r(6)
IMAGE = np.random.default_rng(3).permutation(20).reshape(4, 5) * 0.3 - 2.9
SOS = sg.butter(4, 0.3, output="sos")


def sections(x):
    return np.concatenate([SOS[:, :3] * x[:3], np.ones((2, 1)), SOS[:, 4:] * x[3:5]], axis=1)


add("numpy.polydiv", lambda x, y: (
    *np.polydiv(x, y[:3]), *np.polydiv(np.convolve(x, y[:3]), y[:3]), np.polydiv(x[:2], y)[1]), X,
    Y, native=True, **HOW)  # fmt: skip
add("scipy.signal.deconvolve", lambda x, y: (
    *sg.deconvolve(x, y[:3] + 1.0), sg.deconvolve(x[:2], y)[1]), X, Y, **HOW)  # fmt: skip
add("scipy.signal.sos2tf", lambda x: sg.sos2tf(SOS * x), X, **HOW)
for f in (sg.freqz_sos, sg.sosfreqz):
    add(f"scipy.signal.{f.__name__}", lambda x, f=f: (
        f(sections(x), 8)[1], f(sections(x), [0.1, 0.4], fs=3.0)[1]), X, **HOW)  # fmt: skip
add("scipy.signal.group_delay", lambda x, y: (
    sg.group_delay((x[:3], y[:3] + 2.0), 5)[1],
    sg.group_delay((x[:2], y[:3] + 2.0), np.array([0.1, 0.4]), fs=3.0)[1]), X, Y,
    **HOW)  # fmt: skip
add("scipy.signal.lfiltic", lambda x, y: (
    sg.lfiltic(x[:3], y[:4], x, y[:1]), sg.lfiltic(x, y[:2], x[:1])), X, Y, **HOW)  # fmt: skip
add("scipy.signal.gausspulse", lambda x: sg.gausspulse(
    0.1 * x[:4], 5.0 + x[4], 0.5 + 0.1 * x[5], retquad=True, retenv=True), X, **HOW)  # fmt: skip
add("scipy.signal.lombscargle", lambda x, y: (
    sg.lombscargle(np.arange(6) + 0.1 * x, y, np.array([0.3, 0.7])),
    sg.lombscargle(x, y, x[:2] ** 2, normalize=True, floating_mean=True, weights=x),
    sg.lombscargle(x, y, x[:2], normalize="amplitude")), X, Y, **HOW)  # fmt: skip
add("scipy.signal.wiener", lambda a: (sg.wiener(a), sg.wiener(a[0], 3, 0.1), sg.wiener(a, (2, 3))),
    IMAGE, **HOW)  # fmt: skip
add("scipy.signal.medfilt2d", lambda a: (sg.medfilt2d(a), sg.medfilt2d(a, (3, 1))), IMAGE, **HOW)
