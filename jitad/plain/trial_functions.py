"""What are the functions on which scipy.optimize's methods are tried?  Plain Python, rewritten as
user code is.

Source: H. Rosenbrock, *An automatic method for finding the greatest or least value of a function*,
Computer Journal 3 (1960).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def rosen(x: Any) -> Any:
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


def rosen_der(x: Any) -> Any:
    x = np.asarray(x)
    off, ones = x[1:] - x[:-1] ** 2, np.zeros_like(x)
    ones[:-1] = -400.0 * off * x[:-1] - 2.0 * (1.0 - x[:-1])
    ones[1:] += 200.0 * off
    return ones


def rosen_hess(x: Any) -> Any:
    x = np.asarray(x)
    middle = np.zeros_like(x)
    middle[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    middle[1:] += 200.0
    beside = np.diag(-400.0 * x[:-1], 1)
    return np.diag(middle) + beside + beside.T


def rosen_hess_prod(x: Any, p: Any) -> Any:
    return rosen_hess(x) @ np.asarray(p)
