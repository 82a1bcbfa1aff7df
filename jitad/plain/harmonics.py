"""What are spherical harmonics, by their angles?  Plain Python, rewritten as user code is.

Source: the recurrence of fully normalised associated Legendre functions, S. Holmes, W.
Featherstone, *A unified approach to the Clenshaw summation and the recursive computation of very
high degree and order normalised associated Legendre functions*, J. Geodesy 76 (2002); signs and
scale are SciPy's.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np


def legendre(n: int, m: int, c: Any, s: Any) -> Any:
    """Of degree n and order m >= 0 at an angle of cosine c and sine s."""
    last, now = 0.0 * c, 0.0 * c + sqrt(0.25 / pi)
    for k in range(1, m + 1):
        now = -sqrt((2.0 * k + 1.0) / (2.0 * k)) * s * now
    for k in range(m + 1, n + 1):
        step = sqrt((4.0 * k * k - 1.0) / (k * k - m * m))
        back = sqrt(((k - 1.0) ** 2 - m * m) / (4.0 * (k - 1.0) ** 2 - 1.0))
        last, now = now, step * (c * now - back * last)
    return now


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, diff_n: Any = 0) -> Any:
    if np.ndim(n) or np.ndim(m) or diff_n:
        raise NotImplementedError("arrays of degrees or orders, and diff_n=, of sph_harm_y; "
                                  "take a loop, and jitad's derivatives")  # fmt: skip
    n, m = int(n), int(m)
    if n < 0:
        raise ValueError("n is negative")
    at, turn = np.asarray(theta, float), m * np.asarray(phi, float)
    if abs(m) > n:
        return (0.0 * at * turn) * (1.0 + 0.0j)
    size = legendre(n, abs(m), np.cos(at), np.sin(at)) * (-1.0 if m < 0 and m % 2 else 1.0)
    return size * np.cos(turn) + 1j * (size * np.sin(turn))
