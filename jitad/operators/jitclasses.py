"""What becomes of a class that `numba.experimental.jitclass` has compiled?

The class that it was made of, whose objects a trace follows as those of any class of the user's.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitad.emit.numba_private import jitclass_parts
from jitad.plain.fields import Fields

_PYTHONS: dict[str, Any] = {"float64": float, "int64": int, "bool": bool, "complex128": complex}


@functools.lru_cache(maxsize=256)
def as_written(cls: Any) -> type:
    """The class before it was compiled; `jitclass` is what it has become."""
    numbers, content = jitclass_parts(cls)
    casts = {name: _PYTHONS.get(kind, np.dtype(kind).type) for name, kind in numbers.items()}
    own = {"casts": casts, "jitclass": cls, "__module__": cls.__module__}
    return type(cls.__name__, (Fields,), own | content)
