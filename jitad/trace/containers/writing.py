"""How are writes to Python's own containers noted?

A list, dict or set is one place of the journal; its old value is a copy, made once a frame.
"""

from __future__ import annotations

import bisect
import heapq
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from jitad.errors import JitadError
from jitad.trace.around import outside
from jitad.trace.containers.listed import Listed
from jitad.trace.containers.stretch import Stretch
from jitad.trace.joins.unset import Perhaps
from jitad.values.journal import active, check_free, record
from jitad.values.kind import fail
from jitad.values.number import Number

# methods that change the container
WRITING: dict[type, frozenset[str]] = {
    list: frozenset(
        {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "__setitem__",
         "__delitem__", "__iadd__", "__imul__"}
    ),
    dict: frozenset({"update", "pop", "popitem", "clear", "setdefault", "__setitem__",
                     "__delitem__", "__ior__"}),
    set: frozenset(
        {"add", "discard", "remove", "pop", "clear", "update", "difference_update",
         "intersection_update", "symmetric_difference_update", "__iand__", "__ior__", "__isub__",
         "__ixor__"}
    ),
}  # fmt: skip
# library functions that change their first argument
WRITERS = frozenset({
    heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop,
    bisect.insort, bisect.insort_left, bisect.insort_right,
})  # fmt: skip

# containers whose writes can't be undone here, and their methods that only read
OTHERS = (deque, OrderedDict, defaultdict, Counter, bytearray)
_READING = frozenset(
    {"get", "keys", "values", "items", "copy", "count", "index", "most_common", "total",
     "elements", "__contains__", "__getitem__", "__len__", "__iter__"}
)  # fmt: skip


MUTABLE = (*OTHERS, *WRITING)


def kind_of(container: Any) -> Any:
    """The class of Python's that a container is of, or derived from; None for what is none."""
    return next((c for c in type(container).__mro__ if c in MUTABLE), None)


def content_of(container: Any) -> Any:
    """A copy of Python's own class; the methods of a class derived from it are not asked."""
    if isinstance(container, tuple):
        return tuple(tuple.__iter__(container))
    kind = kind_of(container)
    if kind is deque:
        return deque(deque.__iter__(container), container.maxlen)
    if kind is defaultdict:
        return defaultdict(container.default_factory, dict.items(container))
    return kind(list(kind.__iter__(container))) if not issubclass(kind, dict) else kind(
        dict(kind.items(container)))


def fill(container: Any, content: Any) -> None:
    """The content of an empty container, whatever its own methods do.

    Of what is there on some paths only, the hooks know in containers of Python's own classes.
    """
    kind, held = kind_of(container), content
    if isinstance(content, dict):
        held = content.values()
    if type(container) is not kind and any(map(_is_uncertain, held)):
        raise fail(
            JitadError, f"what is in a {type(container).__name__} depends on traced values",
            f"Use a {kind.__name__} there.",
        )  # fmt: skip
    if issubclass(kind, dict):
        for key, value in content.items():
            kind.__setitem__(container, key, value)
    else:
        (kind.update if kind is set else kind.extend)(container, content)


def _is_uncertain(value: Any) -> bool:
    return type(value) is Listed or (type(value) is Perhaps and not value.none)


def method_called(container: Any, name: str) -> None:
    """A method of a built-in container is about to run."""
    if writes(container, name):
        note(container)


def writes(container: Any, name: str) -> bool:
    """Does the method change the container?"""
    kind = kind_of(container)
    return name in WRITING.get(kind, ()) or (kind in OTHERS and name not in _READING)


def note(container: Any) -> None:
    """The container is about to change."""
    journal = active()
    if journal is None:
        if kind_of(container) is not None:
            outside.note_container(container)
        return
    check_free(container)
    if journal.noted(container, "items"):
        journal.retire_others(container)
        return
    kind = kind_of(container)
    if kind is None:
        return
    if type(container) not in WRITING and not journal.is_made(container):
        what = f"a {type(container).__name__} made elsewhere is written here, which can't be traced"
        raise fail(JitadError, what, "Use a list or a dict.")

    def read() -> Any:
        out = content_of(container)
        if kind is list and any(map(_is_mutable, out)):
            journal.copies[id(out)] = (out, container)
        return out

    def assign(content: Any) -> None:  # by the methods of Python's class: a user's may be others
        if kind in (list, bytearray):
            kind.__setitem__(container, slice(None), content)
        else:
            kind.clear(container)
            fill(container, content)

    record(container, "items", read(), read, assign)


def _is_mutable(thing: Any) -> bool:
    return not isinstance(thing, (tuple, Number, Stretch)) and (
        isinstance(thing, MUTABLE) or hasattr(thing, "__dict__")
    )
