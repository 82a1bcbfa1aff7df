"""Which lists of numbers are handed to a kernel as one array?

Long ones of floats and nothing else.  The trace holds such a list as one whose length only the
kernel knows (`trace/stretch.py`), so its cost does not grow with the list, and lists of all lengths
share a kernel.  Short lists come apart, number by number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.structures import children_of, rebuilt

LONG = 64  # elements


class Floats:
    """What stands for such a list among the leaves of the arguments."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count


def is_long(value: Any) -> bool:
    """Is it such a list?"""
    is_list = type(value) is list or type(value).__module__ == "numba.typed.typedlist"
    return is_list and len(value) > LONG and set(map(type, value)) == {float}


def as_array(value: list[float]) -> np.ndarray[Any, Any]:
    return np.array(value)


def packed(value: Any) -> Any:
    """The structure with `Floats` in the place of such lists."""
    if is_long(value):
        return Floats(len(value))
    found = children_of(value)
    if found is None or not found[1]:
        return value
    children = [packed(c) for c in found[1]]
    if all(c is d for c, d in zip(children, found[1], strict=True)):
        return value
    return rebuilt(value, children)
