"""How is a symmetric matrix factored that is given by its bands?  Plain Python, rewritten as user
code is.

Row d of the bands has the diagonal d below the main one, from its first element on.  Factors have
as many columns of zeros in front as there are bands beside the main one: nothing need be asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def lowered(ab: Any, lower: bool) -> Any:
    """Bands of either triangle as those of the lower one; zeros where they have no elements."""
    bands, n = ab.shape
    out = np.zeros((bands, n), ab.dtype)
    for d in range(bands):
        out[d, : n - d] = ab[d, : n - d] if lower else ab[bands - 1 - d, d:]
    return out


def raised(f: Any) -> Any:
    """The other way round."""
    bands, n = f.shape
    out = np.zeros((bands, n), f.dtype)
    for d in range(bands):
        out[bands - 1 - d, d:] = f[d, : n - d]
    return out


def factored(ab: Any) -> tuple[Any, Any]:
    """The factor of Cholesky of what `lowered` gives, and whether there is one."""
    bands, n = ab.shape
    wide = np.zeros((bands, n + bands - 1), ab.dtype)
    fine = True
    for j in range(n):
        at = j + bands - 1
        pivot = ab[0, j]
        for k in range(1, bands):
            pivot = pivot - wide[k, at - k] * wide[k, at - k]
        fine = fine and bool(pivot > 0.0)
        root = np.sqrt(np.where(pivot > 0.0, pivot, 1.0))
        wide[0, at] = root
        for d in range(1, bands):
            total = ab[d, j]
            for k in range(1, bands - d):
                total = total - wide[d + k, at - k] * wide[k, at - k]
            wide[d, at] = total / root
    return wide[:, bands - 1 :], fine


def solved(f: Any, b: Any) -> Any:
    """x with f f' x = b, a row of b for each row of f."""
    bands, n = f.shape
    front = bands - 1
    wide = np.concatenate([np.zeros((bands, front), f.dtype), f], axis=1)
    z = np.zeros((n + front, b.shape[1]), b.dtype)
    for i in range(n):
        total = b[i]
        for k in range(1, bands):
            total = total - wide[k, i + front - k] * z[i + front - k]
        z[i + front] = total / f[0, i]
    x = np.zeros((n + front, b.shape[1]), b.dtype)
    for r in range(n):
        i = n - 1 - r
        total = 1.0 * z[i + front]
        for k in range(1, bands):
            total = total - f[k, i] * x[i + k]
        x[i] = total / f[0, i]
    return x[:n]
