"""A class of fields that are set once, when an object is made.

As `dataclass(frozen=True)`, but that a type checker sees to it, not each object: to make the
methods that would refuse took 0.015 of the 0.232 seconds of a first call in a process, and they
make an object slower to make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform, overload

Class = TypeVar("Class", bound=type)


@overload
def immutable(of: Class, /) -> Class: ...
@overload
def immutable(*, slots: bool = False, eq: bool = True) -> Callable[[Class], Class]: ...
@dataclass_transform(frozen_default=True)
def immutable(of: Any = None, /, *, slots: bool = False, eq: bool = True) -> Any:
    """The class with methods as `dataclass` makes them; with `eq`, equal objects are as one to
    dicts and sets."""

    def made(of: Any) -> Any:
        hashed = eq and "__hash__" not in vars(of)
        return dataclass(slots=slots, eq=eq, unsafe_hash=hashed)(of)

    return made if of is None else made(of)
