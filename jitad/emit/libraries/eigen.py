"""How are eigenvalues of matrices that are not symmetric found in compiled code?  By LAPACK."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba.extending import overload

from jitad.emit.libraries import addresses
from jitad.primitives import TABLE

_cython_lapack = addresses.alone("scipy.linalg", "cython_lapack")
for _type in "ds":  # at import: code on disk refers to them
    llvm.add_symbol(f"jitad_{_type}geev",
                    addresses.capsule_address(_cython_lapack, _type + "geev"))  # fmt: skip

geev = addresses.fortran("geev", __name__)

N, V = map(ord, "NV")


def eig(a: Any) -> Any:
    return TABLE["eig"].evaluate(a, 3 * len(a) + 2)


@overload(eig, jit_options={"nogil": True, "error_model": "numpy", "boundscheck": False})
def _eig(a):  # type: ignore[no-untyped-def]
    def implementation(a):  # type: ignore[no-untyped-def]
        n = len(a)
        out = np.zeros((3 * n + 2, n), a.dtype)
        if n == 0:
            return out
        columns = a.T.copy()
        vectors = np.empty((n, n), a.dtype)
        room = 34 * n
        work = np.empty(room, a.dtype)
        info = np.zeros(1, np.int32)
        geev(N, V, n, columns, n, out[0], out[1], vectors, 1, vectors, n, work, room, info)
        if info[0] != 0:
            out[:, :] = np.nan
            return out
        k = 0
        while k < n:
            if out[1, k] == 0:
                for i in range(n):
                    out[2 + i, k] = vectors[k, i]
                k += 1
            else:
                for i in range(n):
                    re, im = vectors[k, i], vectors[k + 1, i]
                    out[2 + i, k], out[2 + i, k + 1] = re, re
                    out[2 + n + i, k], out[2 + n + i, k + 1] = im, -im
                k += 2
        for k in range(n):
            best, size = 0, -1.0
            for i in range(n):
                here = out[2 + i, k] ** 2 + out[2 + n + i, k] ** 2
                if here > size:
                    best, size = i, here
            out[2 + 2 * n + best, k] = 1
        return out

    return implementation
