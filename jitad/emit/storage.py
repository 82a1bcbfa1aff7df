"""How does a full stack get more room?"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(error_model="numpy", nogil=True)
def grown(buffer, need):  # type: ignore[no-untyped-def]
    """The same numbers in a buffer of at least twice the length."""
    out = np.empty(max(16, 2 * len(buffer), need), buffer.dtype)
    out[: len(buffer)] = buffer
    return out
