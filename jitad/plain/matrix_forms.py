"""Which other forms of matrices are there: of Hessenberg, angles between spaces?  Plain Python,
rewritten as user code is.

Sources: G. Golub, C. Van Loan, *Matrix Computations* (2013), 7.4.2; A. Knyazev, M. Argentati,
*Principal angles between subspaces in an A-based scalar product*, SIAM J. Sci. Comput. 23 (2002).
Signs are LAPACK's.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def hessenberg(a: Any, calc_q: Any = False, overwrite_a: Any = False,
               check_finite: Any = True) -> Any:  # fmt: skip
    """By reflections of columns, each of which leaves what is below the first subdiagonal zero."""
    h = 1.0 * np.asarray(a)
    n = len(h)
    q = np.eye(n, dtype=h.dtype)
    for k in range(n - 2):
        x = np.copy(h[k + 1 :, k])
        rest = np.sum(x[1:] * x[1:])
        if rest > 0.0:
            size = np.sqrt(x[0] * x[0] + rest)
            end = np.where(x[0] > 0.0, -size, size)
            x[0] -= end
            scale = 2.0 / (x[0] * x[0] + rest)
            h[k + 1 :, k:] -= scale * np.outer(x, x @ h[k + 1 :, k:])
            h[:, k + 1 :] -= scale * np.outer(h[:, k + 1 :] @ x, x)
            if calc_q:
                q[:, k + 1 :] -= scale * np.outer(q[:, k + 1 :] @ x, x)
        h[k + 2 :, k] = 0.0
    return (h, q) if calc_q else h


def subspace_angles(A: Any, B: Any) -> Any:
    """By their sines where they are small, and else by their cosines."""
    p, q = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    if len(p) != len(q):
        raise ValueError("A and B must have the same number of rows")
    both = p.T @ q
    cosines = np.linalg.svd(both, compute_uv=False)
    rest = q - p @ both if np.shape(p)[1] >= np.shape(q)[1] else p - q @ both.T
    sines = np.linalg.svd(rest, compute_uv=False)
    by_sines = cosines**2 >= 0.5
    small = np.arcsin(np.where(by_sines, np.clip(sines, -1.0, 1.0), 0.0))
    others = np.where(by_sines, 0.5, np.clip(cosines[::-1], -1.0, 1.0))
    return np.where(by_sines, small, np.arccos(others))
