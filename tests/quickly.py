"""How are kernels compiled in less time, where the question is what they compute?

LLVM leaves their code as it is and generates machine code in one go.  All else is as ever: what is
traced, swept, emitted, translated, linked, kept on disk and called.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import mock

from numba.core import codegen, config
from numba.core.registry import cpu_target

from jitad.emit.surroundings import surroundings

_NONE = type(config.OPT)("0")


@cache
def _engine() -> Any:
    """One that doesn't optimise; code of Numba's usual one may be linked to it."""
    return codegen.JITCPUCodegen("numba.exec")


@contextmanager
def quickly() -> Iterator[None]:
    """The level is part of what kernels are found by: optimised ones are others."""
    surroundings.cache_clear()
    with mock.patch.object(config, "OPT", _NONE):
        with mock.patch.object(cpu_target.target_context, "_internal_codegen", _engine()):
            yield
    surroundings.cache_clear()
