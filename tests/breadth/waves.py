"""Uses of numpy.fft: every axis, length and norm; odd, prime and composite lengths."""

from __future__ import annotations

import numpy as np

from tests.breadth.case import add, draws

r, n = draws(22)

X, M = n(7), n(3, 4)
Z, W = n(6) + 1j * n(6), n(2, 3, 4) + 1j * n(2, 3, 4)

for name in ("fft", "ifft"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z), Z, native=True)
    add(f"numpy.fft.{name}", lambda x, f=f: f(x), n(17), native=name == "fft")
    add(f"numpy.fft.{name}", lambda z, f=f: (f(z, axis=0), f(z, 5, 1), f(z, n=3)), W)
    add(f"numpy.fft.{name}", lambda z, f=f: (f(z, norm="ortho"), f(z, norm="forward")), Z)
for name in ("rfft", "ihfft"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda x, f=f: f(x), X, native=name == "rfft")
    add(f"numpy.fft.{name}", lambda x, f=f: (f(x, axis=0), f(x, 6), f(x, 3, norm="ortho")), M)
for name in ("irfft", "hfft"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z), Z, native=name == "irfft")
    add(f"numpy.fft.{name}", lambda z, f=f: (f(z, 7), f(z, 8), f(z, 4, norm="ortho")), Z)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z, axis=1, norm="forward"), W)
for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z), W)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z, (3, 2), (0, 2), norm="ortho"), W)
for name in ("rfft2", "rfftn"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda x, f=f: f(x), M)
    add(f"numpy.fft.{name}", lambda x, f=f: f(x, (3, 5), (1, 0)), M)
for name in ("fftshift", "ifftshift"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda x, f=f: (f(x), f(x, axes=0), f(x, axes=(1,))), M)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z), W)


def spectral_slope(x):
    """A derivative of a periodic signal, by its spectrum."""
    k = np.fft.fftfreq(len(x), 1.0 / len(x))
    return np.fft.ifft(2j * np.pi * k * np.fft.fft(x)).real


def heat(u, rate):
    """Steps of a diffusion in Fourier space."""
    k = np.fft.rfftfreq(len(u), d=0.5)
    for _ in range(3):
        u = np.fft.irfft(np.exp(-rate[0] * k**2) * np.fft.rfft(u), len(u))
        u = u + 0.1 * u * u
    return u


add("numpy.fft.fftfreq", spectral_slope, X, narrow=False, native=True)
add("numpy.fft.rfftfreq", heat, n(8), r(1), narrow=False, native=True)
