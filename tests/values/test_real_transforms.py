"""Are Fourier transforms of real signals right, and real ones?

The truth is the definition, as matrices of cosines and sines, for even and odd lengths.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import jit, jit_grad, jit_hvp, jit_jvp

RNG = np.random.default_rng(3)


def waves(n: int) -> tuple[np.ndarray, np.ndarray]:
    """What makes the parts of half of the spectrum of n numbers."""
    angle = 2.0 * np.pi * np.outer(np.arange(n // 2 + 1), np.arange(n)) / n
    return np.cos(angle), -np.sin(angle)


def back(n: int) -> tuple[np.ndarray, np.ndarray]:
    """What makes n numbers of the parts of half of a spectrum, without a factor."""
    count = np.where(2 * np.arange(n // 2 + 1) % n == 0, 1.0, 2.0)
    return tuple((count[:, None] * part).T for part in waves(n))


def to_spectrum(x, u, v):
    z = np.fft.rfft(x)
    return np.sum(u * z.real**2) + np.sum(v * z.imag)


by_signal, along = jit_grad(to_spectrum), jit_jvp(to_spectrum)
curved = jit_hvp(to_spectrum)


@pytest.mark.parametrize("n", [2, 5, 6, 9])
def test_spectra_of_real_signals(n):
    cos, sin = waves(n)
    x, t = RNG.normal(size=(2, n))
    u, v = RNG.normal(size=(2, n // 2 + 1))
    gradient = 2.0 * cos.T @ (u * (cos @ x)) + sin.T @ v
    np.testing.assert_allclose(by_signal(x, u, v), gradient, atol=1e-12)
    zero = np.zeros_like(u)
    np.testing.assert_allclose(along((x, u, v), (t, zero, zero))[1], gradient @ t, atol=1e-12)
    np.testing.assert_allclose(curved(x, t, u, v), 2.0 * cos.T @ (u * (cos @ t)), atol=1e-12)
    assert " dft(" not in by_signal.source


def to_signal(parts, w, n):
    return np.sum(w * np.fft.irfft(parts[0] + 1j * parts[1], n) ** 2)


def to_signal_of_mirrored(parts, w, n):
    return np.sum(w * np.fft.hfft(parts[0] - 1j * parts[1], n, norm="forward") ** 2)


@pytest.mark.parametrize("function", [to_signal, to_signal_of_mirrored])
def test_signals_of_half_spectra(function):
    """Imaginary parts that a real signal has no use for have no derivative."""
    gradient = jit_grad(function)
    for n in (2, 5, 6, 9):
        re, im = back(n)
        parts, w = RNG.normal(size=(2, n // 2 + 1)), RNG.normal(size=n)
        y = (re @ parts[0] + im @ parts[1]) / n
        expected = np.array([m.T @ (2.0 * w * y) / n for m in (re, im)])
        np.testing.assert_allclose(gradient(parts, w, n), expected, atol=1e-12)
    assert " dft(" not in gradient.source


def test_along_the_first_axis_and_in_float32():
    x = RNG.normal(size=(6, 3)).astype("f4")

    @jit
    def power(x):
        z = np.fft.rfft(x, axis=0, norm="ortho")
        return z.real**2 + z.imag**2

    assert power(x).dtype == np.float32
    expected = np.abs(np.fft.rfft(x, axis=0, norm="ortho")) ** 2
    np.testing.assert_allclose(power(x), expected, rtol=1e-5)
    gradient = jit_grad(lambda x: np.sum(np.abs(np.fft.rfft(x, 5, axis=0))[1] ** 2))(x)
    cos, sin = waves(5)
    inside = x[:5].astype(float)
    expected = np.zeros((6, 3))
    expected[:5] = 2.0 * sum(np.outer(wave[1], wave[1] @ inside) for wave in (cos, sin))
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_signals_of_no_rows():
    assert jit_grad(lambda x: np.sum(np.fft.rfft(x).real))(np.ones((0, 4))).shape == (0, 4)
    assert jit(lambda z: np.fft.irfft(z, 4))(np.ones((0, 3))).shape == (0, 4)
