"""How does a full stack get more room?"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(error_model="numpy", nogil=True)
def grown(buffer, need):  # type: ignore[no-untyped-def]
    """The same numbers in a buffer of at least twice the length."""
    n = len(buffer)
    room = 2 * n
    if room < need:
        room = need
    if room < 16:
        room = 16
    out = np.empty(room, buffer.dtype)
    for k in range(n):  # a slice assignment takes Numba seconds to compile
        out[k] = buffer[k]
    return out
