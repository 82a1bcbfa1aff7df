"""Does an `except` of the program stay out of what only jitad refuses?"""

import numpy as np
import pytest

import jitad


@pytest.mark.parametrize("caught", [ValueError, Exception])
def test_broadcasts_that_jitad_refuses_are_not_caught(caught):
    """A program that catches what NumPy raises must not go by what only jitad refuses."""

    def stretched(x):
        a, b = x[x > 0.5], x[x > 0.1]
        try:
            return np.sum(a * b)
        except caught:
            return -np.sum(x)

    g = jitad.jit_value_and_grad(stretched)
    value, gradient = g(np.array([0.6, 0.7, 0.2]))
    assert value == pytest.approx(-1.5)
    assert np.array_equal(gradient, [-1.0, -1.0, -1.0])
    one = np.array([0.2, 0.3, 0.7])  # which NumPy stretches
    try:
        value, gradient = g(one)
    except jitad.JitadError:
        return
    assert value == pytest.approx(0.7 * 1.2)
    assert np.allclose(gradient, [0.7, 0.7, 1.9])
