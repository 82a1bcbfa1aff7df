"""What stands for a local variable that has no value, or has one on some paths only?"""

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
    """A value that is there where `flag` is true: a name bound in one branch, or in a loop."""

    flag: Any
    value: Any
    name: str
