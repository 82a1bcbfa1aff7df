"""How much of what Numba knows is loaded for a kernel?

Before it compiles anything, Numba loads all that it knows of Python and NumPy: lists, dicts, sets,
texts, random numbers, classes.  That is a fifth of a process's first compile, and a kernel's code
is made of numbers, arrays and tuples.  So this is loaded first, and all of it where something is
asked for that isn't there.

It also asks whether there is a BLAS, by importing `scipy.linalg`, for products of matrices that
kernels have from elsewhere.  SciPy is there, since jitad needs it; where compiled code does call
Numba's own functions of matrices, Numba asks again, and what is asked for is imported then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import cpu
from numba.core.runtime import rtsys

_of_all = cpu.CPUContext.load_additional_registries


@contextmanager
def briefly() -> Iterator[None]:
    """Contexts load what kernels are made of inside.  Runs under Numba's compiler lock."""
    if _has_all():
        yield
        return
    from numba.np import linalg

    context, asked = cpu.CPUContext, linalg.ensure_blas
    context.load_additional_registries = _of_kernels
    linalg.ensure_blas = getattr(linalg, "_check_lapack_int_width", lambda: None)
    try:
        yield
    finally:
        context.load_additional_registries = _of_all
        linalg.ensure_blas = asked


def load_all(context: Any) -> bool:
    """Let a context know all that Numba does; False if it did."""
    if _has_all():
        return False
    _of_all(context)
    context.refresh()
    return True


def _has_all() -> bool:
    return "numba.np.arraymath" in sys.modules


def _of_kernels(self: Any) -> None:
    """What takes the place of the context's method."""
    if _has_all():
        _of_all(self)
        return
    rtsys.initialize(self)
    from numba.cpython import (  # noqa: F401
        builtins,
        mathimpl,
        numbers,
        rangeobj,
        slicing,
        tupleobj,
    )
    from numba.np import arrayobj, npyimpl  # noqa: F401

    self.install_registry(mathimpl.registry)
    self.install_registry(npyimpl.registry)
