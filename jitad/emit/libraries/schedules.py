"""How are schedules of snapshots found in compiled code?  By the same functions, compiled in."""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from jitad.primitives import schedules
from jitad.primitives.schedules import advance, leaf_of, slots_of

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def _compiled(function: Any) -> None:
    def same(*_: Any) -> Any:
        return function

    overload(function, jit_options=_OPTIONS, strict=False)(same)


for _function in (advance, leaf_of, slots_of, schedules._reach):
    _compiled(_function)

__all__ = ["advance", "leaf_of", "slots_of"]
