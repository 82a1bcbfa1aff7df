"""What does an object hold, is it one of those that never change, and can a trace follow it?

A trace reads the attributes of an object one by one, those in `__slots__` as those in `__dict__`.
Objects of a library's that are compared by what they are, and have no dict (fractions, dates,
paths), are taken whole, and so is what annotations are made of.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Iterator
from types import FunctionType, GenericAlias, MemberDescriptorType, UnionType
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.tape.ir import Pos
from jitad.trace.around.libraries import is_library, is_library_thing

CONTAINERS = (list, dict, tuple, set, frozenset, deque)


def slots(value: Any) -> Iterator[str]:
    """The names of what an object holds in slots."""
    kind: type = type(value)
    for name, slot in _members(kind):
        with contextlib.suppress(AttributeError):  # nothing is in it
            slot.__get__(value)
            yield name


@functools.cache
def _members(kind: type) -> tuple[tuple[str, Any], ...]:
    found = []
    for c in kind.__mro__:
        given = vars(c).get("__slots__", ())
        for name in (given,) if isinstance(given, str) else given:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{c.__name__.lstrip('_')}{name}"
            if isinstance(slot := vars(c).get(name), MemberDescriptorType):
                found.append((name, slot))
    return tuple(found)


def holds_attributes(value: Any) -> bool:
    """Has it attributes of its own, or room for them?"""
    kind: type = type(value)
    return hasattr(value, "__dict__") or bool(_members(kind))


def attributes(value: Any) -> dict[str, Any]:
    """All that an object holds, by name."""
    return {**{n: getattr(value, n) for n in slots(value)}, **getattr(value, "__dict__", {})}


def is_unchanging(value: Any) -> bool:
    """Is it a library's, and compared by content that can't change?"""
    kind: Any = type(value)
    if is_annotation(value):
        return True
    if isinstance(value, CONTAINERS) or hasattr(value, "__dict__") or not is_library_thing(kind):
        return False
    return kind.__hash__ not in (None, object.__hash__) and kind.__eq__ is not object.__eq__


def is_annotation(value: Any) -> bool:
    """Is it what annotations are made of beside classes: `float | None`, `list[float]`?"""
    of_typing = type(value).__module__ == "typing" and not isinstance(value, type)
    return of_typing or isinstance(value, (UnionType, GenericAlias))


def is_as_it_was(now: Any, before: Any) -> bool:
    """Is it the same, or, if it can't change, equal and shown by the same words?

    Equal decimals may differ in their digits, and equal times in their zones.
    """
    if now is before or type(now) is not type(before):
        return now is before
    can_change = not is_unchanging(before)
    return not can_change and bool(now == before) and repr(now) == repr(before)


def check_visible(value: Any, path: object, pos: Pos | None) -> None:
    """What Python reads of an object without a method of the user's is not seen, nor guarded.

    So it is refused where the object is a container (or an iterator, which is used up).
    """
    kind = type(value)
    if hasattr(kind, "__next__"):
        raise JitadTypeError(
            f"{path} is a {kind.__name__} from outside, which a call would advance", pos,
            "Make it a list, or make it anew inside the function.",
        )  # fmt: skip
    # not those of the class itself, which an Enum has
    methods = [getattr(kind, n) for n in _CONTENT if any(n in vars(c) for c in kind.__mro__)]
    seen = all(isinstance(m, FunctionType) and not is_library(m) for m in methods)
    if not (seen or isinstance(value, _IMMUTABLE) or is_annotation(value)):
        raise JitadTypeError(f"{path} is a {kind.__name__}, whose content a trace can't follow",
                             pos, "Make it a list, a tuple, a dict or an array.")  # fmt: skip


_CONTENT = ("__getitem__", "__iter__", "__len__", "__contains__", "__array__", "__buffer__")
_IMMUTABLE = (range, slice, np.dtype)
