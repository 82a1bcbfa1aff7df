"""Uses of numpy.fft and of what has complex results: every axis, length and norm; eigenvalues."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from tests.breadth.case import add, draws

r, n = draws(22)

X, M = n(7), n(3, 4)
Z, W = n(6) + 1j * n(6), n(2, 3, 4) + 1j * n(2, 3, 4)

for name in ("fft", "ifft"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z), Z)
    add(f"numpy.fft.{name}", lambda x, f=f: f(x), n(17), native=name == "fft")
    add(f"numpy.fft.{name}", lambda z, f=f: (f(z, axis=0), f(z, 5, 1), f(z, n=3)), W)
    add(f"numpy.fft.{name}", lambda z, f=f: (f(z, norm="ortho"), f(z, norm="forward")), Z)
for name in ("rfft", "ihfft"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda x, f=f: f(x), X)
    add(f"numpy.fft.{name}", lambda x, f=f: (f(x, axis=0), f(x, 6), f(x, 3, norm="ortho")), M)
for name in ("irfft", "hfft"):
    f = getattr(np.fft, name)
    add(f"numpy.fft.{name}", lambda z, f=f: f(z), Z)
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

# -- eigenvalues, roots, banded systems ------------------------------------------------------------

G = n(4, 4)
POSITIVE = 0.3 * n(4, 4) + 2.0 * np.eye(4)
ROTATING = n(2, 3, 3) + 3.0 * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

add("numpy.linalg.eig", lambda a: np.linalg.eig(a), ROTATING[0], native=True)
add("numpy.linalg.eig", lambda a: np.linalg.eig(a).eigenvectors, ROTATING, narrow=False)
add("numpy.linalg.eigvals", lambda a: np.linalg.eigvals(a), ROTATING[1])
add("numpy.linalg.eigvals", lambda a: np.sum(np.linalg.eigvals(a) ** 2), ROTATING[0] - 1.0)
add("scipy.linalg.eig", lambda a: sl.eig(a)[1] * 1.0, ROTATING[0])
add("scipy.linalg.eigvals", lambda a: sl.eigvals(a), POSITIVE)
add("numpy.roots", lambda p: np.roots(p), np.array([1.0, 0.3, 2.0, -0.7]))
add("scipy.linalg.sqrtm", lambda a: sl.sqrtm(a), POSITIVE, native=True)
add("scipy.linalg.sqrtm", lambda a: sl.sqrtm(a @ a.T), POSITIVE)
for below, above in ((1, 1), (2, 1), (0, 2), (1, 0)):
    add("scipy.linalg.solve_banded",
        lambda ab, b, lu=(below, above): sl.solve_banded(lu, ab, b),
        r(below + above + 1, 5) + 3.0 * (np.arange(below + above + 1) == above)[:, None],
        n(5) if above == 1 else n(5, 2), native=below == 2)
add("scipy.linalg.solve_banded", lambda ab, b: sl.solve_banded((1, 1), ab, b),
    np.array([[0.0, 3.0, 2.0], [0.1, 1.0, 4.0], [2.0, 1.5, 0.0]]), n(3, 2))  # rows change places
add("scipy.linalg.logm", lambda a: (sl.logm(a), sl.logm(1e3 * a @ a.T)), POSITIVE, native=True,
    narrow=None)  # fmt: skip
add("scipy.linalg.fractional_matrix_power", lambda a: (
    sl.fractional_matrix_power(a, 0.3).real, sl.fractional_matrix_power(a, -2)), POSITIVE,
    narrow=False)  # fmt: skip
