"""Which modules, and which things in them, are not the user's?  What have libraries wrapped?"""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any

import numpy as np
from numba import types

# Classes that are traced as they are written, as NumPy's polynomials are.
LIKE_USERS = frozenset(
    {("statistics", "NormalDist"), ("collections", "UserDict"), ("collections", "UserList")}
)

CACHED = type(functools.cache(lambda: None))  # a function that keeps its results


def is_library_thing(thing: type | ModuleType) -> bool:
    """True of modules, and of classes defined in them, that are not the user's."""
    if isinstance(thing, ModuleType):
        return is_library_module(thing)
    if (thing.__module__, thing.__name__) in LIKE_USERS:
        return False
    module = sys.modules.get(thing.__module__)
    return module is not None and is_library_module(module)


def is_library_module(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if file is None:
        # built in, or frozen; what was made by hand is the user's
        return module.__spec__ is not None and module.__name__ != "__main__"
    return "/site-packages/" in file or file.startswith(sys.prefix) or "/lib/python3" in file


def is_ufunc_of_numba(f: Any) -> bool:
    """What `numba.vectorize` and `guvectorize` make."""
    return type(f).__name__ in ("DUFunc", "GUFunc")


def is_fixed_by_numba(f: Any) -> bool:
    """What Numba has made and nothing changes any more, and its types."""
    made = is_ufunc_of_numba(f) or type(f).__name__ in ("CFunc", "StencilFunc")
    return made or isinstance(f, types.Type)


def as_dtype(value: Any) -> Any:
    """A type of Numba's, which compiled code may give for a dtype, as NumPy has it."""
    if type(value).__name__ in _NUMBERS and isinstance(value, types.Type):
        return np.dtype(value.name).type
    return value


_NUMBERS = ("Float", "Integer", "Boolean", "Complex")
