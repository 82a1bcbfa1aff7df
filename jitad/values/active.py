"""Is a value part of a trace, or of a derivative that is being taken?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class Active:
    """What numbers of both kinds are, see `values.number`."""

    __slots__ = ()


def is_traced(value: Any) -> bool:
    """True of a Number, of a handle onto one, and of a list or tuple with one in it."""
    if isinstance(value, Active):
        return True
    if type(value) in _PLAIN:
        return False
    concrete = getattr(value, "concrete", None)  # handles
    if concrete is not None and hasattr(value, "peek"):
        return not concrete
    return isinstance(value, (list, tuple)) and any_traced(value)


_PLAIN = frozenset((float, int, bool, str, np.ndarray))


def any_traced(values: Iterable[Any]) -> bool:
    return any(map(is_traced, values))
