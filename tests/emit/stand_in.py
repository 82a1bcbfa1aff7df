"""Running emitted source as plain Python and under Numba, before and after native.py exists."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType
from typing import Any

import numba
import numpy as np

HAVE_NATIVE = importlib.util.find_spec("jitad.emit.native") is not None

_FUNCTIONS = {
    "fadd": lambda a, b: a + b,
    "exp": lambda x: np.exp(x),
    "sin": lambda x: np.sin(x),
    "sqrt": lambda x: np.sqrt(x),
    "maximum": lambda a, b: max(a, b),
    "minimum": lambda a, b: min(a, b),
}

if not HAVE_NATIVE:
    module = ModuleType("jitad.emit.preamble")
    for name, function in _FUNCTIONS.items():
        setattr(module, name, numba.njit(function))
    sys.modules["jitad.emit.preamble"] = module


def name_of(source: str) -> str:
    found = re.search(r"^def (\w+)\(", source, re.MULTILINE)
    assert found
    return found[1]


def plain(source: str) -> Any:
    """The kernel as a Python function."""
    space: dict[str, Any] = {}
    exec(compile(source, "<emitted>", "exec"), space)
    return space[name_of(source)]


def compiled(source: str) -> Any:
    """The kernel as a Numba dispatcher."""
    if HAVE_NATIVE:
        from jitad.emit import native

        return native.compile(source, name_of(source))
    return numba.njit(error_model="numpy")(plain(source))
