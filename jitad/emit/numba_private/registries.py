"""How does Numba load what it knows of NumPy, without all of SciPy's linear algebra?

Before it compiles its first function Numba asks whether there is a BLAS, by importing
`scipy.linalg`: a third of a process's first compile, for products of matrices that kernels have
from elsewhere.  SciPy is there, since jitad needs it; where compiled code does call Numba's own
functions of matrices, Numba asks again, and what is asked for is imported then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def briefly() -> Iterator[None]:
    """Leave that question out inside.  Runs under Numba's compiler lock."""
    if "numba.np.arraymath" in sys.modules:
        yield
        return
    from numba.np import linalg

    asked = linalg.ensure_blas
    linalg.ensure_blas = getattr(linalg, "_check_lapack_int_width", lambda: None)
    try:
        yield
    finally:
        linalg.ensure_blas = asked
