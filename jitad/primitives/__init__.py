"""The table of primitives: one row each, see `table`."""

from jitad.primitives import (
           array,
           effects,
           elementwise,
           matrices,
           orders,
           records,
           special,
           spectra,
)
from jitad.primitives.table import TABLE, Into, Primitive

__all__ = ["TABLE", "Into", "Primitive", "array", "effects", "elementwise", "matrices",
           "orders", "records", "special", "spectra"]
