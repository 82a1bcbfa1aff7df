"""What are spherical harmonics, by their angles, and other functions whose orders are known?  Plain
Python, rewritten as user code is.

Source: the recurrence of fully normalised associated Legendre functions, S. Holmes, W.
Featherstone, *A unified approach to the Clenshaw summation and the recursive computation of very
high degree and order normalised associated Legendre functions*, J. Geodesy 76 (2002); signs and
scale are SciPy's.
"""

from __future__ import annotations

from math import comb, factorial, pi, sqrt
from typing import Any

import numpy as np
import scipy.special as sp


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


def lpmv(m: Any, v: Any, x: Any) -> Any:
    """Not normalised, by degree v and order m."""
    if np.ndim(m) or np.ndim(v) or isinstance(m, float) or isinstance(v, float):
        raise NotImplementedError("degrees or orders of lpmv that are floats or arrays; give ints")
    m, n, x = int(m), int(v), np.asarray(x, float)
    n = -n - 1 if n < 0 else n
    if abs(m) > n:
        return (0.0 if m > 0 else np.nan) * x
    up, down = factorial(n + m), factorial(n - m)
    sign = -1.0 if m < 0 and m % 2 else 1.0
    return sign * sqrt(4.0 * pi / (2 * n + 1) * (up / down)) * legendre(n, abs(m), x,
                                                                     np.sqrt(1.0 - x * x))


# -- derivatives of Bessel functions: each is one of both neighbours ------------------------------


def _neighbours(f: Any, sign: float, v: Any, z: Any, n: Any) -> Any:
    n = int(n)
    return sum(comb(n, k) * sign**k * f(v - n + 2 * k, z) for k in range(n + 1)) / 2.0**n


def jvp(v: Any, z: Any, n: Any = 1) -> Any:
    return _neighbours(sp.jv, -1.0, v, z, n)


def yvp(v: Any, z: Any, n: Any = 1) -> Any:
    return _neighbours(sp.yv, -1.0, v, z, n)


def ivp(v: Any, z: Any, n: Any = 1) -> Any:
    return _neighbours(sp.iv, 1.0, v, z, n)


def kvp(v: Any, z: Any, n: Any = 1) -> Any:
    return (-1.0) ** int(n) * _neighbours(sp.kv, 1.0, v, z, n)


# -- sums -----------------------------------------------------------------------------------------


def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    """The sum of (k + q)**-x, by q, as a derivative of the logarithm of the gamma function."""
    if q is None or np.ndim(x) or isinstance(x, float) or x < 2:
        raise NotImplementedError("zeta of an x that is not an int above 1, or without q; "
                                  "give both")  # fmt: skip
    return (-1.0) ** x / factorial(x - 1) * sp.polygamma(x - 1, q)
