"""How are the algebraic Riccati equations solved?  Plain Python, rewritten as user code is.

Sources: J. Roberts, *Linear model reduction and solution of the algebraic Riccati equation by use
of the sign function*, Int. J. Control 32 (1980); E. Chu, H. Fan, W. Lin, *A structure-preserving
doubling algorithm for continuous-time algebraic Riccati equations*, Linear Algebra and its
Applications 396 (2005).
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 60


def continuous(a: Any, g: Any, q: Any) -> Any:
    """The stabilising x with a' x + x a - x g x + q = 0, and was it found?"""
    n = len(a)
    z = np.zeros((2 * n, 2 * n))
    z[:n, :n] = a
    z[:n, n:] = -g
    z[n:, :n] = -q
    z[n:, n:] = -a.T
    moved, count = np.inf, 0
    while moved > 1e-14 * np.sum(np.abs(z)) and count < MOST:
        inverse = np.linalg.inv(z)
        scale = np.sqrt(np.sqrt(np.sum(inverse * inverse) / np.sum(z * z))) if moved > 0.1 else 1.0
        then = 0.5 * (scale * z + inverse / scale)
        moved = np.sum(np.abs(then - z))
        z = then
        count += 1
    above, below = z[:n, n:], z[n:, n:] + np.eye(n)
    left = np.concatenate([above, below])
    right = np.concatenate([z[:n, :n] + np.eye(n), z[n:, :n]])
    x = -np.linalg.solve(left.T @ left, left.T @ right)
    x = 0.5 * (x + x.T)
    gap = a.T @ x + x @ a - x @ g @ x + q
    return x, np.max(np.abs(gap)) <= 1e-8 * (np.max(np.abs(q)) + np.max(np.abs(x @ a)))


def discrete(a: Any, g: Any, q: Any) -> Any:
    """The stabilising x with x = q + a' x (1 + g x)^-1 a, and was it found?"""
    n = len(a)
    one, h, moved, count = np.eye(n), q, np.inf, 0
    while moved > 1e-15 * np.max(np.abs(h)) and count < MOST:
        inner = np.linalg.inv(one + g @ h)
        step = a.T @ h @ inner @ a
        moved = np.max(np.abs(step))
        g = g + a @ inner @ g @ a.T
        h = h + step
        a = a @ inner @ a
        count += 1
    return 0.5 * (h + h.T), moved <= 1e-13 * np.max(np.abs(h))
