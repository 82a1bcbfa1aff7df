"""Which modules, functions and classes are not the user's?  What have libraries wrapped?"""

from __future__ import annotations

import functools
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import scipy
from numba import types

from jitad.where import is_of_library

# Classes and functions that are traced as they are written, as NumPy's polynomials are.
_ABSTRACT = ("Mapping", "MutableMapping", "Sequence", "MutableSequence", "Set", "MutableSet",
             "MappingView", "KeysView", "ItemsView", "ValuesView")  # fmt: skip
_OF_DATACLASSES = ("fields", "asdict", "_asdict_inner", "astuple", "_astuple_inner",
                   "_is_dataclass_instance")  # fmt: skip
_OF_COUNTERS = ("most_common", "_keep_positive", *(f"__{name}__" for name in (
    "add", "sub", "or", "and", "iadd", "isub", "ior", "iand", "pos", "neg")))  # fmt: skip
LIKE_USERS = frozenset({
    ("statistics", "NormalDist"), ("collections", "UserDict"), ("collections", "UserList"),
    ("collections", "ChainMap"),
    *(("collections.abc", name) for name in _ABSTRACT),
    *(("dataclasses", name) for name in _OF_DATACLASSES),
    *(("collections", f"Counter.{name}") for name in _OF_COUNTERS),
})  # fmt: skip

_OURS = __file__.rsplit("/trace/", 1)[0]
# what Python's library does, which is at no place of its own
AS_WRITTEN = frozenset(f"{_OURS}/plain/{name}.py" for name in (
    "as_written", "endless", "gathered", "passed_on", "tabled", "taken_in"))  # fmt: skip
# Ours, but as a user writes; NumPy's polynomials and SciPy's formulas for distributions, written in
# Python over what has replacements.
_LIKE_USERS = (f"{_OURS}/plain/", f"{np.polynomial.__path__[0]}/",
               f"{scipy.__path__[0]}/stats/_continuous_distns.py",
               f"{scipy.__path__[0]}/stats/_discrete_distns.py")  # fmt: skip

COMPILED: set[type] = set()  # classes of compiled functions, whose attribute `f` is traced instead

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
    return is_library_file(file)


def is_library(f: FunctionType) -> bool:
    """True of functions that are never rewritten: of Python's library, and of `LIBRARIES`."""
    file = f.__code__.co_filename
    if file.startswith(_LIKE_USERS):
        return False
    if file == functools.__file__ and "_from_" in f.__code__.co_name:
        return False  # of `functools.total_ordering`
    if any((f.__module__, name) in LIKE_USERS
           for name in (f.__qualname__, f.__qualname__.partition(".")[0])):  # fmt: skip
        return False
    return is_library_file(file) or (
        file.startswith("<string>") and f.__module__ == "collections"
    )


def is_library_file(file: str) -> bool:
    return file.startswith(_OURS) or is_of_library(file)


def is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_OURS)


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
