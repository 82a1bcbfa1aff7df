"""Is what is added to zeros stored, where slices lie apart, and added where they do not?

The truth is the gradient written by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import jit_grad


def test_additions_to_parts_of_zeros_that_lie_apart_are_stores():
    """Both parts of complex numbers, columns, halves: none of them is added to another."""

    def power(x, w):
        z = np.fft.rfft(x)
        return np.sum(w * (z.real**2 + z.imag**2))

    x, w = np.array([1.0, -2.0, 0.5, 3.0, 1.5]), np.array([0.3, 1.0, -0.5])
    gradient = jit_grad(power)
    n = np.arange(5)
    angle = 2.0 * np.pi * np.outer(np.arange(3), n) / 5
    c, s = np.cos(angle), np.sin(angle)
    expected = 2.0 * (c.T @ (w * (c @ x)) + s.T @ (w * (s @ x)))
    np.testing.assert_allclose(gradient(x, w), expected, atol=1e-13)
    assert "zeros(" not in gradient.source and "accum(" not in gradient.source

    def columns(p):
        return np.sum(np.sin(p[:, 0]) * p[:, 2] ** 2)

    p = np.arange(12.0).reshape(4, 3) / 7.0
    expected = np.zeros((4, 3))
    expected[:, 0] = np.cos(p[:, 0]) * p[:, 2] ** 2
    expected[:, 2] = 2.0 * np.sin(p[:, 0]) * p[:, 2]
    gradient = jit_grad(columns)
    np.testing.assert_allclose(gradient(p), expected, rtol=1e-13)
    assert "accum(" not in gradient.source


@pytest.mark.parametrize(("first", "second"), [
    ((slice(None, 3),), (slice(3, None),)), ((slice(None, 4),), (slice(3, None),)),
    ((slice(None, -1),), (slice(1, None),)), ((slice(None, None, 2),), (slice(1, None, 2),)),
    ((slice(None),), (2,)), ((slice(5, None),), (slice(None, 5),)),
    ((slice(3, 3),), (slice(2, 4),)), ((slice(None, None, -1),), (slice(2, None),)),
])  # fmt: skip
def test_what_overlaps_is_added(first, second):
    """Also where slices, whose ends are known when the kernel runs, have no elements."""

    def f(x):
        return np.sum(np.exp(x[first])) + np.sum(x[second] ** 3)

    gradient = jit_grad(f)
    for n in (6, 2):
        x = np.linspace(0.3, 1.7, n)
        if second == (2,) and n == 2:
            continue
        expected = np.zeros(n)
        expected[first] += np.exp(x[first])
        expected[second] += 3.0 * x[second] ** 2
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-13)


def test_parts_whose_ends_are_arguments():
    def f(x, n, m):
        return np.sum(np.exp(x[:n])) + np.sum(x[m:] ** 3)

    gradient = jit_grad(f)
    x = np.linspace(0.3, 1.7, 6)
    for n, m in ((3, 3), (4, 3), (2, 4), (6, 0), (-2, -3), (0, 6), (9, 8)):
        expected = np.zeros(6)
        expected[:n] += np.exp(x[:n])
        expected[m:] += 3.0 * x[m:] ** 2
        np.testing.assert_allclose(gradient(x, n, m), expected, rtol=1e-13)
