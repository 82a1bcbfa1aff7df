"""Which library functions work on traced and differentiated values?

All that are entered in the registry by the modules named here, and by those of SciPy's functions
when it is there (see `registry`); `implementation(callable)` finds the replacement, and the
tracer's call hook calls it in place of the original.
"""

from __future__ import annotations

from jitad.values import (
    borders,
    complex_arrays,
    complex_functions,
    complex_lifts,
    complex_linalg,
    complex_qr,
    complex_statistics,
    contractions,
    creation,
    eigen,
    fourier,
    grids,
    histograms,
    linalg,
    mathematics,
    norms,
    orders,
    picking,
    polynomials,
    powers,
    products,
    python_functions,
    quantiles,
    ranges,
    rearranging,
    reductions,
    sets,
    shaping,
    signals,
    statistics,
    subscripts,
    ufunc_methods,
    ufuncs,
)
from jitad.values.registry import call_unknown, implementation

MODULES = (
    python_functions, mathematics, ranges, ufuncs, creation, reductions, shaping, products, picking,
    rearranging, borders, contractions, orders, quantiles, sets, linalg, norms, grids, histograms,
    signals, statistics, subscripts, ufunc_methods, complex_lifts, complex_functions,
    complex_arrays, complex_linalg, complex_qr, complex_statistics, fourier, eigen, polynomials,
    powers,
)  # fmt: skip

__all__ = ["MODULES", "call_unknown", "implementation"]
