"""What form has a variable where two paths meet?

A form covers what both paths have there: it says which numbers and arrays become variables of the
joined tape, and what the containers around them are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jitad.immutable import immutable
from jitad.tape.ir import Atom
from jitad.tape.types import Array, Scalar
from jitad.trace.joins.state import CONTENT, Rec, Snapshot

if TYPE_CHECKING:
    from jitad.values.array import ArrayHandle


@immutable(slots=True, eq=False)
class Keep:
    """The same on all paths."""

    of: Snapshot


@immutable(slots=True, eq=False)
class Number:
    type: Scalar | Array  # an array where the place is a handle's content
    shape: tuple[Atom, ...] = ()


@immutable(slots=True, eq=False)
class Handle:
    """A new handle; `shape` is empty where the extents differ."""

    type: Array
    shape: tuple[Atom, ...]
    of: tuple[ArrayHandle, ...]  # the handles whose place it takes
    or_number: bool = False  # is it a number on some paths, and so not to be written to?


@dataclass(slots=True, eq=False)
class Resized:
    """An array that changes its extents in a loop; see `resized.py`."""

    type: Array
    hull: tuple[Atom, ...]  # the extents of the array in whose corner it lies
    changing: tuple[bool, ...]  # axes whose extents are variables
    growing: tuple[bool, ...]  # axes whose hull has to be checked
    room: Atom | None
    of: tuple[ArrayHandle, ...]
    begun: tuple[Any, ...] = ()  # its extents where it was built last


@dataclass(slots=True, eq=False)
class Record:
    of: Rec
    parts: tuple[Form, ...]
    sides: tuple[Any, ...] = ()  # the things whose place it takes


@immutable(slots=True, eq=False)
class Shown:
    """A view: what it shows a part of, and the numbers that say which part."""

    of: ArrayHandle
    parent: Form
    numbers: tuple[Form, ...]


@dataclass(slots=True, eq=False)
class OneOf:
    """One of several things, each with a form of its own, and booleans that say which."""

    keys: list[Any]  # which thing each is, see `selected.key`
    parts: list[Form]


@immutable(slots=True, eq=False)
class Maybe:
    part: Form
    name: str
    none: bool = False


@dataclass(slots=True, eq=False)
class Grown:
    """A list whose length only the kernel knows: a count, and `room` rows; see `grown.py`.

    Without a room, it has as many rows as each list brings.
    """

    of: Rec
    element: Form
    room: Atom | None
    spare: int | None
    sides: tuple[Any, ...] = ()  # the lists whose place it takes
    held: bool = False  # has another list a copy of it?


Form = Keep | Number | Handle | Resized | Record | Shown | OneOf | Maybe | Grown


def _inside(f: Form) -> tuple[Form, ...]:
    match f:
        case Record(parts=parts) | OneOf(parts=parts):
            return tuple(parts)
        case Maybe(part) | Grown(element=part):
            return (part,)
        case Shown(parent=parent, numbers=numbers):
            return (parent, *numbers)
    return ()


def contains_itself(f: Form, around: tuple[int, ...] = (), done: set[int] | None = None) -> bool:
    """True where things may be parts of themselves: as many variables as there were none."""
    done = set() if done is None else done
    if id(f) in around:
        return True
    if id(f) in done:
        return False
    out = any(contains_itself(p, (*around, id(f)), done) for p in _inside(f))
    done.add(id(f))
    return out


def depth(f: Form | None, done: dict[int, int] | None = None) -> int:
    """How many containers are inside each other; one that is a part of itself counts once."""
    done = {} if done is None else done
    if f is None:
        return 0
    if id(f) not in done:
        done[id(f)] = 0
        inside = max((depth(p, done) for p in _inside(f)), default=0)
        done[id(f)] = inside + isinstance(f, (Record, Grown))
    return done[id(f)]


def changeable(f: Form) -> list[int]:
    """The ids of the forms of containers that can be written to, itself and those inside."""
    if isinstance(f, Grown):
        return [id(f)] if isinstance(f.of.value, list) else []
    if not isinstance(f, Record):
        return []
    own = [] if isinstance(f.of.value, tuple) else [id(f)]
    return own + [k for p in f.parts for k in changeable(p)]


def only_floats(form: Form) -> bool:
    """Of a number, or of lists of numbers: are these all floats of 64 bits?"""
    match form:
        case Number(t):
            return t.dtype == "f8"
        case Record():
            of_list = isinstance(form.of.value, list) and CONTENT not in form.of.keys
            return of_list and all(map(only_floats, form.parts))
        case Grown():
            return only_floats(form.element)
    return False
