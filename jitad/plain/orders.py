"""How are things compared of which Python's library, or nobody, says the order?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Compared:
    """A key of `functools.cmp_to_key`, ordered by what a function says of two values."""

    __slots__ = ("compare", "obj")

    def __init__(self, compare: Callable[[Any, Any], Any], obj: Any) -> None:
        self.compare, self.obj = compare, obj

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) > 0

    def __le__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) <= 0

    def __ge__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) >= 0

    def __eq__(self, other: object) -> Any:
        return self.compare(self.obj, other.obj) == 0  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]


def have_none(text: str) -> bool:
    """Things of no order are compared, where the kernel comes there."""
    raise TypeError(text)
