"""What stands for a variable that has no value, or has one, or is not None, on some paths only?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Unset:
    """The value of a name that is unbound; rewritten code deletes the name again."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET = Unset()


@dataclass(frozen=True, slots=True, eq=False)
class Perhaps:
    """A value that is there where `flag` is true: a name bound in one branch, or in a loop.

    With `none` it is None elsewhere, a value like others; without, nothing at all.
    """

    flag: Any
    value: Any
    name: str
    none: bool = False

    def _refuse(self, *_: Any) -> Any:
        """What the interpreter asks of it, without asking a hook, it would answer wrongly."""
        what = f"{self.name or 'a value'} is {'None' if self.none else 'unbound'} on some paths"
        raise TypeError(f"{what}, and can't be used here: test it with `is None` first")

    __bool__ = __eq__ = __str__ = __format__ = __index__ = __float__ = _refuse
    __hash__ = object.__hash__


def is_optional(value: Any) -> bool:
    """Is it one thing on some paths, and None on the others?"""
    return type(value) is Perhaps and value.none
