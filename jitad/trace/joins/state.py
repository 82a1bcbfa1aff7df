"""What does a snapshot consist of?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jitad.immutable import immutable

if TYPE_CHECKING:
    from jitad.values.array import ArrayHandle


@immutable(slots=True, eq=False)
class Num:
    value: Any


@immutable(slots=True, eq=False)
class Arr:
    value: ArrayHandle
    content: Any
    parent: Snapshot | None = None  # of a view


@immutable(slots=True)
class Lost:
    """The content of an array that was retired."""

    why: str


@dataclass(slots=True, eq=False)
class Rec:
    """A tuple, list, dict, object, or a function with what it closes over: its parts by key."""

    value: Any
    keys: tuple[Any, ...]
    parts: tuple[Snapshot, ...]
    lost: str = ""  # why it may not be read


class Outer(Rec):
    """An object from outside: what is in it is asked for, and guarded, where somebody needs it."""

    __slots__ = ("asked",)

    def __init__(self, value: Any, keys: tuple[Any, ...], lost: str) -> None:
        self.value, self.keys, self.lost = value, keys, lost
        self.asked: Callable[[], tuple[Snapshot, ...]] | tuple[Snapshot, ...] = ()

    @property
    def parts(self) -> tuple[Snapshot, ...]:  # type: ignore[override]
        if callable(self.asked):
            self.asked = self.asked()
        return self.asked


@dataclass(slots=True, eq=False)
class Sel:
    """One of several things; `flags` say which, for all but the last."""

    value: Any
    flags: tuple[Any, ...]
    parts: tuple[Snapshot, ...]


@immutable(slots=True, eq=False)
class Obj:
    value: Any


@immutable(slots=True, eq=False)
class Per:
    """A value that may be missing; `part` is None where it certainly is."""

    flag: Any
    part: Snapshot | None
    name: str = ""
    none: bool = False  # None where it is missing


CONTENT = "what is in it"  # of a container of a class derived from Python's

Snapshot = Num | Arr | Rec | Obj | Per | Sel
