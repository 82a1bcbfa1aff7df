"""The table of primitives: one row each, see `table`."""

from jitad.primitives import array, custom, effects, elementwise, records
from jitad.primitives.table import TABLE, Into, Primitive

__all__ = ["TABLE", "Into", "Primitive", "array", "custom", "effects", "elementwise", "records"]
