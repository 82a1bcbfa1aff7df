"""Which library functions work on traced and differentiated values?

All that are entered in the registry by the modules named here; `implementation(callable)` finds
the replacement, and the tracer's call hook calls it in place of the original.
"""

from __future__ import annotations

from jitad.values import (
    creation,
    picking,
    products,
    python_functions,
    ranges,
    reductions,
    shaping,
    ufuncs,
)
from jitad.values.registry import implementation

MODULES = (python_functions, ranges, ufuncs, creation, reductions, shaping, products, picking)

__all__ = ["MODULES", "implementation"]
