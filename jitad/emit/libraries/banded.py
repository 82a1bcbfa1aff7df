"""How are systems of banded matrices solved in compiled code?

By elimination with exchange of rows, inside the band.  Source: Golub & Van Loan, 4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from jitad.primitives import TABLE

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def banded(ab: Any, b: Any, below: int, above: int, turned: bool) -> Any:
    return TABLE["banded"].evaluate(ab, b, below=below, above=above, turned=turned)


@overload(banded, jit_options=_OPTIONS)
def _banded(ab, b, below, above, turned):  # type: ignore[no-untyped-def]
    def implementation(ab, b, below, above, turned):  # type: ignore[no-untyped-def]
        n, columns = b.shape
        x = b.copy()
        low, high = (above, below) if turned else (below, above)
        # work[i, d] is element (i, i - low + d); exchanges fill `low` more diagonals on the right
        width = 2 * low + high + 1
        work = np.zeros((n, width), ab.dtype)
        for r in range(below + above + 1):
            for j in range(n):
                i = j + r - above
                if 0 <= i < n:
                    if turned:
                        work[j, i - j + low] = ab[r, j]
                    else:
                        work[i, j - i + low] = ab[r, j]
        for k in range(n):
            last = min(k + low, n - 1)
            p = k
            for i in range(k + 1, last + 1):
                if abs(work[i, k - i + low]) > abs(work[p, k - p + low]):
                    p = i
            pivot = work[p, k - p + low]
            if pivot == 0:
                x[:, :] = np.nan
                return x
            end = min(k + low + high, n - 1)
            if p != k:
                for j in range(k, end + 1):
                    t = work[k, j - k + low]
                    work[k, j - k + low] = work[p, j - p + low]
                    work[p, j - p + low] = t
                for c in range(columns):
                    t = x[k, c]
                    x[k, c] = x[p, c]
                    x[p, c] = t
            for i in range(k + 1, last + 1):
                factor = work[i, k - i + low] / pivot
                if factor != 0:
                    for j in range(k + 1, end + 1):
                        work[i, j - i + low] -= factor * work[k, j - k + low]
                    for c in range(columns):
                        x[i, c] -= factor * x[k, c]
        for k in range(n - 1, -1, -1):
            for j in range(k + 1, min(k + low + high, n - 1) + 1):
                factor = work[k, j - k + low]
                for c in range(columns):
                    x[k, c] -= factor * x[j, c]
            for c in range(columns):
                x[k, c] /= work[k, low]
        return x

    return implementation
