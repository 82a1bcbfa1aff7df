"""How much memory may the records of loops take?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitad.errors import JitadTypeError, JitadValueError

if TYPE_CHECKING:
    from jitad.primitives.schedules import Memory, Snapshots


@dataclass
class _Setting:
    memory: float | Snapshots | None = None


_setting = _Setting()


def set_memory(memory: float | Snapshots | None) -> float | Snapshots | None:
    """Say how many bytes the records of loops may take in functions compiled from now on.

    Parameters
    ----------
    memory : bytes, or `Snapshots`; `None` (as it is at first) or `math.inf` sets no limit.
        `jit_grad(f, memory=...)` and the others decide for one function.

    Returns
    -------
    What was set before.  Results keep their shapes and dtypes.

    Raises
    ------
    JitadTypeError, JitadValueError : something else.

    Source: see `jitad.sweeps.schedule`.

    >>> from jitad import jit_grad, set_memory
    >>> before = set_memory(1e8)
    >>> jit_grad(lambda x: x * x)(3.0)
    6.0
    >>> set_memory(before)
    100000000.0
    """
    limited(memory)
    before, _setting.memory = _setting.memory, memory
    return before


def limited(memory: float | Snapshots | None) -> Memory | None:
    """A limit as the sweeps take it: whole bytes, and `None` for no limit."""
    if memory is None:
        memory = _setting.memory
    if memory is None:
        return None
    from jitad.primitives.schedules import Snapshots  # not needed by those who set no limit

    if isinstance(memory, Snapshots):
        return memory
    if isinstance(memory, bool) or not isinstance(memory, (int, float)):
        raise JitadTypeError(
            f"memory={memory!r} is no size", None, "Give a number of bytes, or Snapshots(...)."
        )
    if not memory >= 1:
        raise JitadValueError(f"memory={memory!r} is no room at all", None, "Give more bytes.")
    return None if math.isinf(memory) else min(int(memory), 1 << 60)
