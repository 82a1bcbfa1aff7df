"""Which rows are elliptic integrals, and what are their derivatives?

The complete ones by Abramowitz & Stegun, *Handbook of Mathematical Functions* (17.3), whose
differences are replaced by series where they cancel.  How an incomplete one depends on its
parameter is an integral of sin**(2 n) Delta**q, where Delta**2 = 1 - m sin**2: a row of its own,
whose derivatives are others of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jitad.primitives.moments import enter
from jitad.primitives.special import UNIT, row, series, unary

# -- complete -------------------------------------------------------------------------------------

_TERMS = [(math.comb(2 * n, n) / 4.0**n) ** 2 * math.pi / 2.0 for n in range(20)]
_OF_K = [n * c for n, c in enumerate(_TERMS)][1:]
_OF_E = [-n * c / (2.0 * n - 1.0) for n, c in enumerate(_TERMS)][1:]


def _about_zero(o: Any, m: Any, coefficients: Sequence[float], elsewhere: Any) -> Any:
    """A power series near zero, where differences cancel."""
    near = o.lt(o.abs(m), 0.1)
    other = o.where(near, 0.5, m)
    return o.where(near, series(o, o.where(near, m, 0.0), coefficients), elsewhere(other))


def _of_complement(o: Any, p: Any) -> Any:
    """-dK/dm at m = 1 - p, where p itself is what is known of a small p."""
    near = o.lt(o.abs(1.0 - p), 0.1)
    other = o.where(near, 0.5, p)
    far = (o.ellipe(1.0 - other) / other - o.ellipkm1(other)) / (2.0 * (1.0 - other))
    return -o.where(near, series(o, o.where(near, 1.0 - p, 0.0), _OF_K), far)


unary("ellipk", lambda o, m, y: _about_zero(
    o, m, _OF_K, lambda m: (o.ellipe(m) / (1.0 - m) - o.ellipk(m)) / (2.0 * m)), UNIT)
unary("ellipkm1", lambda o, p, y: _of_complement(o, p), UNIT)
unary("ellipe", lambda o, m, y: _about_zero(
    o, m, _OF_E, lambda m: (o.ellipe(m) - o.ellipk(m)) / (2.0 * m)), UNIT)

# -- incomplete -----------------------------------------------------------------------------------

# of Gauss and Legendre, for sixteen points: the upper half, the other is its mirror image
_NODES = (
    0.09501250983763744, 0.2816035507792589, 0.45801677765722737, 0.6178762444026438,
    0.755404408355003, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499,
)  # fmt: skip
_WEIGHTS = (
    0.1894506104550685, 0.18260341504492358, 0.16915651939500254, 0.14959598881657674,
    0.12462897125553388, 0.09515851168249279, 0.062253523938647894, 0.027152459411754096,
)  # fmt: skip


def elliptic_moment(n: float, q: float, phi: float, m: float) -> float:
    """The integral of sin**(2 n) Delta**q from 0 to phi.

    Over w, where tan = sinh(w) / k: nothing that is singular then comes closer than pi / 2.
    """
    if not (m <= 1.0 and math.isfinite(phi)):
        return math.nan
    rest = 1.0 - m
    k = math.sqrt(max(rest, 1.0))
    turns = math.floor(phi / math.pi + 0.5)
    if turns != 0.0 and m == 1.0 and q < 0.0:
        return math.copysign(math.inf, phi)
    found = 0.0
    for piece in range(1 if turns == 0.0 else 2):  # what is left of half a turn, and whole ones
        angle = phi - turns * math.pi
        end = math.asinh(k * (1e20 if piece else math.tan(abs(angle))))
        count = math.ceil(0.5 * end)
        half = 0.5 * end / max(count, 1.0)
        total = 0.0
        for panel in range(int(count)):
            for j in range(16):
                node = _NODES[j] if j < 8 else -_NODES[j - 8]
                w = half * (2.0 * panel + 1.0 + node)
                tangent = math.sinh(w) / k
                square = 1.0 / (1.0 + tangent * tangent)  # of the cosine
                delta = math.sqrt(square * (1.0 + rest * tangent * tangent))
                term = (tangent * tangent * square) ** n * delta**q * square * math.cosh(w)
                total += _WEIGHTS[j % 8] * term
        total *= half / k
        found += 2.0 * turns * total if piece else math.copysign(total, angle)
    return found


def _delta_squared(o: Any, phi: Any, m: Any) -> Any:
    sine, cosine = o.sin(phi), o.cos(phi)
    return cosine * cosine + (1.0 - m) * sine * sine


def _moment_partials(o: Any, n: Any, q: Any, phi: Any, m: Any, y: Any) -> Any:
    sine = o.sin(phi)
    by_phi = o.pow(sine * sine, n) * o.pow(_delta_squared(o, phi, m), 0.5 * q)
    return None, None, by_phi, -0.5 * q * o.elliptic_moment(n + 1.0, q - 2.0, phi, m)


enter(elliptic_moment, _moment_partials)
row("ellipkinc", lambda o, phi, m, y: (
    1.0 / o.sqrt(_delta_squared(o, phi, m)), 0.5 * o.elliptic_moment(1.0, -3.0, phi, m)),
    (0.2, 1.4), UNIT)  # fmt: skip
row("ellipeinc", lambda o, phi, m, y: (
    o.sqrt(_delta_squared(o, phi, m)), -0.5 * o.elliptic_moment(1.0, -1.0, phi, m)),
    (0.2, 1.4), UNIT)  # fmt: skip
