"""The table of primitives: one row each, see `table`."""

from jitad.primitives import array, calls, custom, effects, elementwise, records
from jitad.primitives.table import TABLE, Into, Primitive

__all__ = ["TABLE", "Into", "Primitive", "array", "calls", "custom", "effects", "elementwise"]
__all__ += ["records"]
