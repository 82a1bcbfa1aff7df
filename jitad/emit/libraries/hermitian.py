"""How are eigenvalues of Hermitian matrices found in compiled code?  By Numba's call of LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from jitad.primitives import TABLE


def heigh(a: Any) -> Any:
    return TABLE["heigh"].evaluate(a, None, None)


@overload(heigh, jit_options={"nogil": True, "error_model": "numpy", "boundscheck": False})
def _heigh(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a) // 2
        out = np.empty((2 * n + 1, n), a.dtype)
        if n:
            w, v = np.linalg.eigh(a[:n, :n] + 1j * a[n:, :n])
            for j in range(n):
                out[0, j] = w[j]
                for i in range(n):
                    out[1 + i, j] = v[i, j].real
                    out[1 + n + i, j] = v[i, j].imag
        return out

    return implementation
