"""What becomes of a real number or array that is complex on another path?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.tape.types import Array
from jitad.trace.joins.mismatch import scalar
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Arr, Num, Rec, Snapshot
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex


def is_complex(s: Snapshot) -> bool:
    match s:
        case Num(value):
            return isinstance(value, (complex, np.complexfloating))
        case Rec(value):
            return isinstance(value, Complex)
    return False


def complex_of(s: Snapshot) -> Snapshot:
    """A number that is complex on another path, as a complex one."""
    match s:
        case Num(complex() | np.complexfloating() as z):
            kind = np.float64 if isinstance(z, np.generic) else float
            return snapshot(Complex(kind(z.real), kind(z.imag)))
        case Num(x) if not isinstance(scalar(x), Array):
            return snapshot(Complex(x, 0.0))
    return s


def array_as_complex(s: Snapshot, im: Callable[[ArrayHandle], ArrayHandle] | None = None) -> Any:
    """An array of floats that becomes complex; without `im`, something like its zeros."""
    if not isinstance(s, Arr):
        return s
    return snapshot(Complex(s.value, s.value if im is None else im(s.value)))
