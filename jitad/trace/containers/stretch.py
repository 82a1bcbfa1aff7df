"""What does a list hold whose length only the kernel knows?

The list is Python's own, so that all who hold it go on holding it, and has one element, a
`Stretch`: how many elements there are and, for each number and array that an element is made of,
an array with a row an element (`grown.py` says of what form, `lists.py` what lists can do then).
Rows past the count are of no meaning.  How many rows there are is an argument of the kernel, a
`Room`: where it does not suffice the kernel raises `RoomMiss`, and is called again with more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitad.errors import JitadError
from jitad.structures import register_structure
from jitad.trace.joins.forms import Grown, Handle, Maybe, Number, OneOf, Record
from jitad.trace.traced import MOST_ROOM
from jitad.values import extents
from jitad.values.kind import fail

FIRST_INSIDE = 16  # in lists in lists


class Stretch:
    """The content of such a list; never changed, but its arrays may be written."""

    __slots__ = ("count", "element", "spare", "stores")

    def __init__(
        self, count: Any, stores: tuple[Any, ...], element: Any, spare: int | None
    ) -> None:
        self.count, self.stores = count, stores
        self.element = element  # the form of an element, see `join`
        self.spare = spare  # so many more are sure to fit; None: a `Room`, which the kernel checks

    @property
    def room(self) -> Any:
        """How many elements there is room for."""
        return self.stores[0].shape[0] if self.stores else MOST_ROOM

    def keys(self) -> tuple[int, ...]:
        return tuple(range(1 + len(self.stores)))

    def part(self, key: int) -> Any:
        return self.stores[key - 1] if key else self.count

    def with_parts(self, parts: list[Any]) -> Stretch:
        out = Stretch(parts[0], tuple(parts[1:]), self.element, self.spare)
        if self.stores and not extents.same(out.room, self.room):
            out.spare = 0  # of other arrays it is not known how many more there is room for
        return out

    def _refuse(self, *_: Any) -> Any:
        """What looks into the list without asking a hook would take this for its element."""
        raise fail(JitadError, "a list whose length depends on traced values can't be used here",
                   "Make it an array, np.array(list), or loop over it.")  # fmt: skip

    __bool__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = _refuse
    __str__ = __format__ = __index__ = __float__ = __int__ = _refuse
    __iter__ = __len__ = __getitem__ = __contains__ = __array__ = _refuse
    __hash__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = _refuse
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = _refuse

    def __repr__(self) -> str:
        return "<the elements of a list of unknown length>"


def stretched(value: Any) -> Stretch | None:
    """What the list or tuple holds, if only the kernel knows its length."""
    if isinstance(value, (list, tuple)) and len(value) == 1 and type(value[0]) is Stretch:
        return value[0]
    return None


def _is_told(form: Any) -> Iterator[bool]:
    """Of each array of such elements: is it told how an element is put together, not a number?"""
    match form:
        case Number() | Handle():
            yield False
        case Record(parts=parts):
            for part in parts:
                yield from _is_told(part)
        case Grown(element=inner) | Maybe(part=inner):
            yield True  # how many there are, or whether there is one
            yield from _is_told(inner)
        case OneOf(parts=parts):
            yield from (True for _ in parts[1:])
            for part in parts:
                yield from _is_told(part)


class _Rest:
    """What else than its numbers a list needs; lists of one form are of one structure."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rest) and self._kind() == other._kind()

    def __hash__(self) -> int:
        return hash(self._kind())

    def _kind(self) -> str:
        return str([s.type for s in self.stretch.stores])

    def told(self) -> list[bool]:
        found = list(_is_told(self.stretch.element))
        assert len(found) == len(self.stretch.stores)
        return found

    def numbers(self) -> tuple[Any, ...]:
        return tuple(s for s, t in zip(self.stretch.stores, self.told(), strict=True) if not t)

    def filled(self, numbers: tuple[Any, ...]) -> Stretch:
        s, given = self.stretch, iter(numbers)
        stores = [x if told else next(given) for x, told in zip(s.stores, self.told(), strict=True)]
        return Stretch(s.count, tuple(stores), s.element, s.spare)


register_structure(
    Stretch, lambda s: ((rest := _Rest(s)).numbers(), rest),
    lambda numbers, rest: rest.filled(numbers),  # type: ignore[attr-defined]
)  # fmt: skip
