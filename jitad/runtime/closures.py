"""What is the derivative by a function?  The record of the derivatives by what it closes over.

`opened` puts in the place of a function, in a structure that is differentiated, a node with what
the function closes over as children: numbers, arrays, structures, other functions.  Plain objects
are opened like that, too, attribute by attribute.  Filled with other leaves (tagged ones), the node
is a function again, with the same code over other cells, and an object a copy of the object; a
derivative takes no notice of writes to it.  A derivative, which is no function, gets a dict in its
place (`as_records`).

Source: sensitivities of closures as in Pearlmutter & Siskind, *Reverse-mode AD in a functional
framework*, TOPLAS 30 (2008).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from jitad import closures
from jitad.errors import JitadTypeError
from jitad.immutable import immutable
from jitad.runtime import leaves
from jitad.structures import (
    Structure,
    children_of,
    descriptors,
    flatten,
    rebuilt,
    register_structure,
)  # fmt: skip
from jitad.values.number import Number
from jitad.where import caller

Read = Callable[[Any, str, Any], Any]  # (function or object, name of a cell or attribute, content)


@immutable(eq=False)
class Opened:
    """A function or an object, taken apart."""

    thing: Any
    names: tuple[str, ...]
    contents: tuple[Any, ...]


@immutable
class _Rest:
    """What is left: enough to put it together again, and the names of the parts."""

    thing: Any
    names: tuple[str, ...]

    def __hash__(self) -> int:
        return hash((id(self.thing), self.names))

    def whole(self, contents: tuple[Any, ...]) -> Any:
        if not contents:
            return self.thing
        return closures.again(self.thing, dict(zip(self.names, contents, strict=True)))


register_structure(
    Opened,
    lambda x: (x.contents, _Rest(x.thing, x.names)),
    lambda contents, rest: rest.whole(contents),  # type: ignore[attr-defined]
)


def opened(value: Any, read: Read = lambda thing, name, content: content) -> Any:
    """The structure with functions and objects opened where they hold numbers to differentiate by.

    `read` says what a cell or an attribute holds, should that not be what is found there.
    """
    if not any(map(_opens, flatten(value)[0])):
        return value
    return _open(value, read, {})


def _opens(leaf: Any) -> bool:
    if isinstance(leaf, (Number, type, ModuleType)) or leaves.is_array(leaf):
        return False
    if isinstance(leaf, (BuiltinFunctionType, np.ufunc)) or closures.is_function(leaf):
        return True
    if isinstance(leaf, _CONTAINERS):  # of a class of the user's: its elements would be left out
        return False
    if isinstance(type(leaf).__getattribute__, FunctionType):  # what is read is not what is held
        return False
    plain = type(leaf).__module__ != "builtins" and not callable(leaf)
    return plain and bool(getattr(leaf, "__dict__", None))


_CONTAINERS = (list, tuple, dict, set, frozenset, deque)


def _open(value: Any, read: Read, seen: dict[int, Any]) -> Any:
    parts = children_of(value)
    if parts is not None:
        return rebuilt(value, [_open(child, read, seen) for child in parts[1]])
    if not _opens(value):
        return value
    value = getattr(value, "users", value)  # not what it was handed to library code as
    if id(value) in seen:
        raise JitadTypeError(
            f"a {type(value).__name__} is reached in two ways by what is differentiated", caller(),
            "Pass the numbers inside as arguments.",
        )  # fmt: skip
    seen[id(value)] = value
    names, contents = [], []
    for name, content in _contents(value):
        inside = _open(read(value, name, content), read, seen)
        if any(map(leaves.is_real, flatten(inside)[0])):
            names.append(name)
            contents.append(inside)
    return Opened(value, tuple(names), tuple(contents))


def _contents(thing: Any) -> list[tuple[str, Any]]:
    if not closures.is_function(thing):
        kind: type = type(thing)
        held = getattr(thing, "__dict__", {})
        for name in descriptors(kind) & held.keys():
            if getattr(thing, name) is not held[name]:
                raise JitadTypeError(
                    f"attribute {name} of a {kind.__name__} is computed when it is read",
                    caller(), "Pass the number as an argument, or see register_structure.",
                )  # fmt: skip
        return list(held.items())
    return [(name, closures.content(thing, name)) for name in closures.names(thing)]


def as_records(structure: Structure) -> Structure:
    """The structure that derivatives have: dicts for functions and objects."""
    children = tuple(map(as_records, structure.children))
    if structure.kind is Opened:
        rest: Any = structure.extra
        return Structure(dict, rest.names, children)
    return replace(structure, children=children)
