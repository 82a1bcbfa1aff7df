"""What is a derivative, seen from outside: from values of the function alone?

`complex_step` is exact to rounding where the function is analytic code (Squire & Trapp 1998).
`ridders` extrapolates central differences to step zero and estimates its own error (Ridders 1982;
Press et al., *Numerical Recipes*, 5.7).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

_SHRINK = 1.6
_ROWS = 12


def ridders(f: Callable[[float], float], step: float) -> tuple[float, float]:
    """The derivative of f at 0, and an estimate of the error; steps go down from `step`."""
    table: list[float] = []
    best, error = math.nan, math.inf
    h = step
    for row in range(_ROWS):
        new = [(float(f(h)) - float(f(-h))) / (2.0 * h)]
        power = 1.0
        for k in range(row):
            power *= _SHRINK * _SHRINK
            new.append((power * new[k] - table[k]) / (power - 1.0))
            change = max(abs(new[k + 1] - new[k]), abs(new[k + 1] - table[k]))
            if change <= error:
                best, error = new[k + 1], change
        if row and abs(new[-1] - table[-1]) >= 2.0 * error:
            break  # rounding has taken over
        table = new
        h /= _SHRINK
    return best, error


def complex_step(f: Callable[[complex], Any]) -> float | None:
    """The derivative of f at 0, or None where f does not take complex numbers."""
    h = 1e-30
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)  # it drops the derivative
            out = f(complex(0.0, h))
    except Exception:  # whatever f does to a number that it did not expect
        return None
    return float(out.imag / h) if isinstance(out, (complex, np.complexfloating)) else None


def truth(
    f: Callable[[Any], Any], step: float
) -> tuple[float, float, str]:
    """(derivative of f at 0, its error, how it was found).

    Complex steps count only where differences do not refute them:
    code that compares numbers or takes absolute values runs on complex numbers and is then wrong.
    """
    value, error = ridders(f, step)
    exact = complex_step(f)
    scale = max(abs(value), 1e-3)
    if exact is not None and abs(exact - value) <= 10.0 * error + 1e-7 * scale:
        return exact, 1e-14 * scale, "complex step"
    return value, error, "differences"
