"""What is the Jacobian of an analytic function, from outside jitad?  By complex steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-30


def complex_step(f: Callable[..., Any], x: Any, *args: Any) -> Any:
    """Axes of the result, then those of x (Squire & Trapp 1998)."""
    columns = []
    for k in range(np.size(x)):
        moved = np.array(x, complex, order="C")  # or what is moved would be a copy
        moved.reshape(-1)[k] += 1j * STEP
        columns.append(np.imag(f(moved if np.ndim(x) else moved[()], *args)) / STEP)
    return np.reshape(np.stack(columns, -1), (*np.shape(columns[0]), *np.shape(x)))


def recurrence(x: Any) -> Any:
    """Each element depends on all before it, and on the first one twice."""
    out = 0.0 * x
    s = 0.0
    for i in range(len(x)):
        s = 0.5 * s + np.sin(x[i]) * x[0]
        out[i] = s * s
    return out


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_gradient(x: Any) -> Any:
    """Written by hand, in NumPy that takes complex numbers."""
    g = 0.0 * x
    inner = x[1:] - x[:-1] ** 2
    g[:-1] += -400.0 * x[:-1] * inner - 2.0 * (1.0 - x[:-1])
    g[1:] += 200.0 * inner
    return g


def rosenbrock_hessian(x: Any) -> Any:
    """Written by hand: a band."""
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200.0 * x[i] ** 2 - 400.0 * x[i + 1] + 2.0
        h[i + 1, i + 1] += 200.0
        h[i, i + 1] = h[i + 1, i] = -400.0 * x[i]
    return h
