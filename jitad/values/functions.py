"""Which library functions work on traced and differentiated values?

All that are entered in the registry by the modules named here, and by those of SciPy's functions
when it is there (see `registry`); `implementation(callable)` finds the replacement, and the
tracer's call hook calls it in place of the original.
"""

from __future__ import annotations

from jitad.values import (
    complex_arrays,
    complex_functions,
    complex_lifts,
    contractions,
    creation,
    eigen,
    fourier,
    grids,
    linalg,
    mathematics,
    norms,
    orders,
    picking,
    products,
    python_functions,
    ranges,
    rearranging,
    reductions,
    shaping,
    signals,
    statistics,
    ufunc_methods,
    ufuncs,
)
from jitad.values.registry import implementation

MODULES = (python_functions, mathematics, ranges, ufuncs, creation, reductions, shaping, products,
           picking, rearranging, contractions, orders, linalg, norms, grids,
           signals, statistics, ufunc_methods,
           complex_lifts, complex_functions, complex_arrays, fourier, eigen)

__all__ = ["MODULES", "implementation"]
