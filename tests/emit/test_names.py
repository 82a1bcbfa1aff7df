"""Does the emitted text call things what the user calls them?"""

from __future__ import annotations

import re

import numpy as np

from jitad import jit_value_and_grad


def smoothed(rate, data):
    total = 0.0
    level = data[0]
    for i in range(len(data)):
        gap = data[i] - level
        level = level + rate * gap
        total += gap * gap
    return total


def test_values_and_adjoints_have_the_names_of_the_source() -> None:
    g = jit_value_and_grad(smoothed)
    g(0.3, np.array([1.0, 2.0, 4.0]))
    words = set(re.findall(r"[a-z_]+", g.source))
    assert {"rate", "data", "total", "level", "gap", "level_bar"} <= words
    assert "for i in range(n)" in g.source


def test_names_stay_apart() -> None:
    """One name for several values, a name of the kernel's own, a keyword's neighbour."""

    def f(x, n, t1, exp):
        a = np.exp(x) + n
        a = a * t1 + exp
        k = a * a
        for k1 in range(3):
            a = a + k * k1
        return a

    g = jit_value_and_grad(f, argnums=(0, 1, 2, 3))
    args = (0.3, 1.1, -0.7, 2.0)
    value, slopes = g(*args)
    h = 1e-30
    for j, slope in enumerate(slopes):
        z = [complex(v, h if i == j else 0.0) for i, v in enumerate(args)]
        np.testing.assert_allclose(slope, f(*z).imag / h, rtol=1e-12)
    np.testing.assert_allclose(value, f(*args), rtol=1e-15)
