"""Which library functions work on traced and differentiated values?

All that are entered in the registry by the modules named here, and by those of SciPy's functions
when it is there (see `registry`); `implementation(callable)` finds the replacement, and the
tracer's call hook calls it in place of the original.
"""

from __future__ import annotations

from jitad.values import mathematics, picking, python_functions, ranges
from jitad.values.complexes import arrays as complex_arrays
from jitad.values.complexes import functions as complex_functions
from jitad.values.complexes import lifts as complex_lifts
from jitad.values.complexes import linalg as complex_linalg
from jitad.values.complexes import qr as complex_qr
from jitad.values.complexes import statistics as complex_statistics
from jitad.values.numpy import (
    borders,
    contractions,
    creation,
    fourier,
    grids,
    histograms,
    linalg,
    norms,
    orders,
    polynomials,
    powers,
    products,
    quantiles,
    rearranging,
    reductions,
    sets,
    shaping,
    signals,
    splitting,
    statistics,
    subscripts,
    ufunc_methods,
    ufuncs,
)
from jitad.values.registry import call_unknown, implementation
from jitad.values.scipy import eigen

MODULES = (
    python_functions, mathematics, ranges, ufuncs, creation, reductions, shaping, products, picking,
    rearranging, splitting, borders, contractions, orders, quantiles, sets, linalg, norms, grids,
    histograms, signals, statistics, subscripts, ufunc_methods, complex_lifts, complex_functions,
    complex_arrays, complex_linalg, complex_qr, complex_statistics, fourier, eigen, polynomials,
    powers,
)  # fmt: skip

__all__ = ["MODULES", "call_unknown", "implementation"]
