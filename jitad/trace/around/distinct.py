"""Which things from outside must be two things in other calls, too, or share no memory?

A trace knows by their paths which are one; `is`, `id`, sets, and keys without a hash of their own
ask which are not, and a write to one of them must not be a write to another.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from jitad.errors import JitadError
from jitad.trace.around.captures import Captures
from jitad.trace.around.paths import Guard, Path, Root, share_memory


def two(captures: Captures, a: Any, b: Any) -> None:
    """It was said that these are not one."""
    one, other = captures.path_of(a), captures.path_of(b)
    if one is not None and other is not None:
        captures.guards.append(Guard(one, "apart", other))


def written(captures: Captures, thing: Any) -> None:
    """What was written must go on to be another object than those known by other paths."""
    path = captures.path_of(thing)
    for known, other in captures.known():
        if path is not None and known is not thing and type(known) is type(thing):
            captures.guards.append(Guard(path, "apart", other))


def key(captures: Captures, thing: Any, among: Any = ()) -> None:
    """It is a key, or looked for `among` keys, by which thing it is, or its `id` was asked for."""
    path = captures.path_of(thing)
    if path is None or isinstance(thing, (type, ModuleType)):
        return
    captures.keys.setdefault(id(thing), path)
    for other in among:
        if other is thing:
            captures.guards.append(Guard(path, "is", thing))
        elif type(other) is type(thing):
            captures.keys.setdefault(id(other), captures.path_of(other) or Path(Root(other)))


def keys_differ(captures: Captures) -> None:
    """One guard for all of the keys."""
    if len(captures.keys) > 1:
        first, *others = captures.keys.values()
        captures.guards.append(Guard(first, "distinct", tuple(others)))


def memories_differ(captures: Captures) -> None:
    """What a derivative writes to must share no memory with another array that is read.

    The writes are not made in the end, and what other names would show of them is not seen.
    """
    for k in [k for k in captures.scratch if k in captures.handles]:
        path, changed = captures.handles[k]
        others = {p: a for j, (p, a) in captures.handles.items() if j != k}
        for other, array in others.items():
            if share_memory(changed, array):
                raise JitadError(
                    f"{path} is written in a derivative, and shares memory with {other}",
                    captures.builder.pos,
                    "Copy one of them, or make the view of the other inside the function.",
                )  # fmt: skip
        if others:
            captures.guards.append(Guard(path, "disjoint", tuple(others)))
