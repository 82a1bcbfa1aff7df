"""The table of primitives: one row each, see `table`."""

from jitad.primitives import (
    array,
    banded,
    calls,
    custom,
    determinants,
    effects,
    eigen,
    elementwise,
    elliptic,
    fourier,
    hermitian,
    matrices,
    moments,
    orders,
    records,
    schedules,
    several,
    shares,
    special,
    spectra,
    threads,
)
from jitad.primitives.table import TABLE, Into, Primitive

__all__ = ["TABLE", "Into", "Primitive", "array", "calls", "custom", "effects", "elementwise"]
__all__ += ["banded", "determinants", "eigen", "elliptic", "fourier", "hermitian", "matrices"]
__all__ += ["moments", "orders", "records", "schedules", "several", "shares", "special", "spectra"]
__all__ += ["threads"]
