"""Which coefficients has a filter whose corners are traced?  Plain Python, rewritten as user code
is.

The prototype (its poles and zeros in the left half plane, for a corner at 1) depends on ints and
ripples alone and is SciPy's; what moves it to the corners, and from there onto the unit circle, is
written out here.  Sources: T. Parks, C. Burrus, *Digital Filter Design* (1987); the convention by
which sections are ordered is SciPy's (poles next to the unit circle come last).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as sg

_KINDS = {
    "band": "bandpass", "bandpass": "bandpass", "pass": "bandpass", "bp": "bandpass",
    "bs": "bandstop", "bandstop": "bandstop", "bands": "bandstop", "stop": "bandstop",
    "l": "lowpass", "low": "lowpass", "lowpass": "lowpass", "lp": "lowpass",
    "high": "highpass", "highpass": "highpass", "h": "highpass", "hp": "highpass",
}  # fmt: skip


def prod(values: Any) -> Any:
    out = 1.0 + 0.0j
    for k in range(len(values)):
        out = out * values[k]
    return out


def moved(z: Any, p: Any, k: Any, w: Any, kind: str) -> Any:
    """The prototype with its corner at w, or its corners."""
    degree = len(p) - len(z)
    if kind == "lowpass":
        return z * w[0], p * w[0], k * w[0] ** degree
    if kind == "highpass":
        gain = k * np.real(prod(-z) / prod(-p))
        return np.append(w[0] / z, np.zeros(degree)), w[0] / p, gain
    wide, square = w[1] - w[0], w[0] * w[1]
    if kind == "bandpass":
        z, p = z * (0.5 * wide), p * (0.5 * wide)
        gain = k * wide**degree
        far = np.zeros(degree)
    else:
        gain = k * np.real(prod(-z) / prod(-p))
        z, p = 0.5 * wide / z, 0.5 * wide / p
        at = 1j * np.sqrt(square)
        far = np.concatenate([np.full(degree, at), np.full(degree, -at)])
    apart_z, apart_p = np.sqrt(z * z - square), np.sqrt(p * p - square)
    z = np.concatenate([z + apart_z, z - apart_z, far])
    return z, np.concatenate([p + apart_p, p - apart_p]), gain


def onto_the_circle(z: Any, p: Any, k: Any) -> Any:
    """By the bilinear transformation of a sampling rate of two."""
    gain = k * np.real(prod(4.0 - z) / prod(4.0 - p))
    far = -np.ones(len(p) - len(z))
    return np.append((4.0 + z) / (4.0 - z), far), (4.0 + p) / (4.0 - p), gain


def coefficients(roots: Any) -> Any:
    """Of the polynomial with these roots, which come in conjugate pairs."""
    out = np.ones(1, complex)
    for k in range(len(roots)):
        out = np.append(out, 0.0) - roots[k] * np.append(0.0, out)
    return np.real(out)


def designed(prototype: Any, order: Any, corners: Any, btype: str, analog: bool, output: str,
             fs: Any) -> Any:  # fmt: skip
    w = np.atleast_1d(np.asarray(corners, float))
    if fs is not None:
        w = 2.0 * w / fs
    kind = _KINDS[btype.lower()]
    if len(w) != (2 if kind.startswith("band") else 1):
        raise ValueError("Wn must be one number, or two for a band")
    if not analog:
        if np.any(w <= 0.0) or np.any(w >= 1.0):
            raise ValueError("Digital filter critical frequencies must be 0 < Wn < 1")
        w = 4.0 * np.tan(0.5 * np.pi * w)
    z, p, k = prototype
    z, p = np.atleast_1d(z).astype(complex), np.atleast_1d(p).astype(complex)
    if output == "sos":
        return sections(z, p, k, w, kind, analog)
    z, p, k = moved(z, p, k, w, kind)
    if not analog:
        z, p, k = onto_the_circle(z, p, k)
    if output in ("zpk", "zp"):
        return z, p, k
    if output != "ba":
        raise ValueError(f"{output!r} is not a valid output form.")
    return k * coefficients(z), coefficients(p)


# -- sections of two poles each -------------------------------------------------------------------


def sections(z: Any, p: Any, k: Any, w: Any, kind: str, analog: bool) -> Any:
    """Rows of six coefficients.  The section whose poles are the nearest to the circle comes last,
    and chooses its zeros first."""
    if len(z) or analog:
        raise NotImplementedError("output='sos' of an analog filter, or of one with zeros; "
                                  "take output='ba'")  # fmt: skip
    upper, single = p[np.imag(p) > 1e-9], p[np.abs(np.imag(p)) <= 1e-9]
    upper = upper[np.argsort(np.real(upper))]  # as they lie to the circle
    gain = circled(z, p, k, w, kind)[2]
    found = circled(z, np.concatenate([single, upper]), 1.0, w, kind)[1]
    if kind in ("lowpass", "highpass"):
        partner = np.where(np.arange(len(found)) < len(single), 0.0, np.conj(found))
        count = len(p)
        left = [0, count, count % 2] if kind == "lowpass" else [count, 0, count % 2]
    else:
        ones, half = len(single), len(found) // 2
        paired = np.concatenate([found[ones:half], found[half + ones :]])
        # of a real pole of the prototype: conjugate ones, or where the band is wide real ones
        first, second = found[:ones], found[half : half + ones]
        near = from_circle(first) <= from_circle(second)
        single, other = np.where(near, first, second), np.where(near, second, first)
        found = np.concatenate([single, paired])
        partner = np.concatenate([other, np.conj(paired)])
        order = np.argsort(-from_circle(found), kind="stable")
        found, partner = found[order], partner[order]
        left = [len(p), len(p), 0]
    out = np.zeros((len(found), 6))
    out[:, 0] = out[:, 3] = 1.0
    out[:, 4] = -np.real(found + partner)
    out[:, 5] = np.real(found * partner)
    if kind == "bandstop":
        far = 1j * np.sqrt(w[0] * w[1])
        out[:, 1] = -2.0 * np.real((4.0 + far) / (4.0 - far))
        out[:, 2] = 1.0
    else:
        choose(out, found, np.array(left))
    out[0, :3] *= gain
    return out


def circled(z: Any, p: Any, k: Any, w: Any, kind: str) -> Any:
    return onto_the_circle(*moved(z, p, k, w, kind))


def from_circle(p: Any) -> Any:
    return np.abs(1.0 - np.abs(p))


def choose(out: Any, poles: Any, left: Any) -> None:
    """Each section takes the two zeros that are nearest to its pole, of those that are left: so
    many at 1, at -1 and at 0."""
    ends = np.array([1.0, -1.0, 0.0])
    for row in range(len(poles) - 1, -1, -1):
        far = np.abs(poles[row] - ends)
        first = np.argmin(np.where(left > 0, far, np.inf))
        left[first] -= 1
        second = np.argmin(np.where(left > 0, far, np.inf))
        left[second] -= 1
        out[row, 1] = -(ends[first] + ends[second])
        out[row, 2] = ends[first] * ends[second]


# -- what is asked for ----------------------------------------------------------------------------


def butter(N: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba",
           fs: Any = None) -> Any:  # fmt: skip
    return designed(sg.buttap(N), N, Wn, btype, analog, output, fs)


def cheby1(N: Any, rp: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba",
           fs: Any = None) -> Any:  # fmt: skip
    return designed(sg.cheb1ap(N, rp), N, Wn, btype, analog, output, fs)


def cheby2(N: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba",
           fs: Any = None) -> Any:  # fmt: skip
    return designed(sg.cheb2ap(N, rs), N, Wn, btype, analog, output, fs)


def ellip(N: Any, rp: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False,
          output: Any = "ba", fs: Any = None) -> Any:  # fmt: skip
    return designed(sg.ellipap(N, rp, rs), N, Wn, btype, analog, output, fs)


def resonator(w0: Any, Q: Any, fs: Any) -> Any:
    w = 2.0 * np.pi * w0 / fs
    if w <= 0.0 or w >= np.pi:
        raise ValueError("w0 should be such that 0 < w0 < 1")
    return w, 1.0 / (1.0 + np.tan(0.5 * w / Q))


def iirnotch(w0: Any, Q: Any, fs: Any = 2.0) -> Any:
    w, gain = resonator(w0, Q, fs)
    middle = -2.0 * gain * np.cos(w)
    return np.array([gain, middle, gain]), np.array([1.0, middle, 2.0 * gain - 1.0])


def iirpeak(w0: Any, Q: Any, fs: Any = 2.0) -> Any:
    w, gain = resonator(w0, Q, fs)
    top = np.array([1.0 - gain, 0.0, gain - 1.0])
    return top, np.array([1.0, -2.0 * gain * np.cos(w), 2.0 * gain - 1.0])


def firwin(numtaps: Any, cutoff: Any, *, width: Any = None, window: Any = "hamming",
           pass_zero: Any = True, scale: Any = True, fs: Any = None) -> Any:  # fmt: skip
    if width is not None:
        raise NotImplementedError("width= of firwin; give the window")
    cutoff = np.atleast_1d(np.asarray(cutoff, float)) / (0.5 * (2.0 if fs is None else fs))
    if isinstance(pass_zero, str):
        pass_zero = pass_zero in ("bandstop", "lowpass")
    if np.min(cutoff) <= 0.0 or np.max(cutoff) >= 1.0:
        raise ValueError("Invalid cutoff frequency: frequencies must be greater than 0 and less "
                         "than fs/2.")  # fmt: skip
    if np.any(np.diff(cutoff) <= 0.0):
        raise ValueError("Invalid cutoff frequencies: the frequencies must be strictly increasing.")
    ends_at_one = (len(cutoff) % 2 == 1) != bool(pass_zero)
    if ends_at_one and numtaps % 2 == 0:
        raise ValueError("A filter with an even number of coefficients must have zero response at "
                         "the Nyquist frequency.")  # fmt: skip
    edges = [0.0] if pass_zero else []
    edges = [*edges, *cutoff, *([1.0] if ends_at_one else [])]
    m = np.arange(numtaps) - 0.5 * (numtaps - 1)
    h = np.zeros(numtaps)
    for k in range(0, len(edges), 2):
        h = h + edges[k + 1] * np.sinc(edges[k + 1] * m) - edges[k] * np.sinc(edges[k] * m)
    h = h * sg.get_window(window, numtaps, fftbins=False)
    if scale:
        at = 0.5 * (edges[0] + edges[1])
        if pass_zero:
            at = 0.0
        elif ends_at_one and len(edges) == 2:
            at = 1.0
        h = h / np.sum(h * np.cos(np.pi * m * at))
    return h


def bilinear(b: Any, a: Any, fs: Any = 1.0) -> Any:
    b, a = np.atleast_1d(np.asarray(b, float)), np.atleast_1d(np.asarray(a, float))
    most = max(len(b), len(a)) - 1
    top, below = substituted(b, most, 2.0 * fs), substituted(a, most, 2.0 * fs)
    return top / below[0], below / below[0]


def substituted(c: Any, most: int, rate: Any) -> Any:
    """The polynomial at rate (z - 1) / (z + 1), times (z + 1)**most."""
    out = np.zeros(most + 1)
    for k in range(len(c)):
        power = len(c) - 1 - k
        term = np.ones(1)
        for _ in range(power):
            term = np.convolve(term, np.array([1.0, -1.0])) * rate
        for _ in range(most - power):
            term = np.convolve(term, np.array([1.0, 1.0]))
        out = out + c[k] * term
    return out


def kaiser(M: Any, beta: Any, sym: Any = True) -> Any:
    from_middle = places(M, sym)
    u = 2.0 * from_middle / (M - 1 if sym else M)
    return np.i0(beta * np.sqrt(np.maximum(1.0 - u * u, 0.0))) / np.i0(beta)


def gaussian(M: Any, std: Any, sym: Any = True) -> Any:
    n = places(M, sym)
    return np.exp(-(n * n) / (2.0 * std * std))


def places(M: Any, sym: Any) -> Any:
    """How far each element is from the middle."""
    return np.arange(M) - 0.5 * (M - 1 if sym else M)


def get_window(window: Any, Nx: Any, fftbins: Any = True) -> Any:
    named = {"kaiser": kaiser, "gaussian": gaussian}
    if isinstance(window, tuple) and window[0] in named:
        return named[window[0]](Nx, window[1], not fftbins)
    name = window[0] if isinstance(window, tuple) else window
    raise NotImplementedError(f"the window {name!r}; write its formula")
