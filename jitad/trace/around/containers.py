"""How does a trace hold a list, a dict, a tuple or a set from outside?

Tuples are made anew of what the trace reads at their places.  Lists and dicts have their elements
replaced while the trace runs, so that all who know them see the same; of Numba's own lists and
dicts, which hold nothing but plain values, the trace has copies of Python's kinds.  Other
containers are not looked into, and have to stay as they are.
"""

from __future__ import annotations

import copy
import functools
from collections import deque
from collections.abc import Callable, MutableSequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError
from jitad.structures import is_plain_tuple
from jitad.trace.around.paths import Guard, Path, shape_of
from jitad.trace.around.rows import kind_of
from jitad.trace.containers.stretch import stretched
from jitad.values.copies import note_copy

if TYPE_CHECKING:
    from jitad.trace.around.captures import Captures

MAX_ELEMENTS = 10_000  # of a list or dict from outside


def read_tuple(captures: Captures, path: Path, value: tuple[Any, ...]) -> Any:
    captures.guards.append(Guard(path, "keys", shape_of(value)))
    if (own := getattr(value, "__dict__", None)) is not None:
        captures.guards.append(Guard(path.then("attr", "__dict__"), "keys", shape_of({})))
        if own:
            raise JitadTypeError(f"{path} is a tuple with attributes of its own",
                                 captures.builder.pos, "Make them items.")  # fmt: skip
    if not is_plain_tuple(kind := type(value)):
        raise JitadTypeError(f"{path} is a {kind.__name__}, whose content a trace can't follow",
                             captures.builder.pos, "Make it a tuple.")  # fmt: skip
    parts = [captures.read(path.then("item", k), v) for k, v in enumerate(value)]
    if all(p is v for p, v in zip(parts, value, strict=True)):
        return value
    out = tuple.__new__(type(value), parts)
    note_copy(out)
    return out


def read_container(captures: Captures, path: Path, value: Any, of: Any = None) -> Any:
    """`of`: what is at the path, if it is not the list or dict itself."""
    found = value if of is None else of
    known = captures.path_of(value)
    if known is not None and (id(value) in captures._looked_into or known != path):
        if known != path:
            captures.guards.append(Guard(path, "same", known))
        if stretched(value) is None:
            captures.guards.append(Guard(path, "keys", shape_of(value)))
        return value
    if id(value) in captures._lengths:
        raise JitadError(
            f"{path} is read after it was appended to", captures.builder.pos,
            "Read it before, or append to a list of your own and return it.",
        )  # fmt: skip
    kind = kind_of(value)
    if kind is not None and path not in captures.came_apart:
        captures.register(value, path, whole=True)
        captures.guards += [Guard(path, "type", type(found)), Guard(path, "rows", kind)]
        captures._restores.append(_restorer(value))
        from jitad.trace.around.longlists import row_list  # made of captures

        return row_list(captures, value, value, kind, path, captures.inputs)
    if len(value) > MAX_ELEMENTS:
        raise JitadError(
            f"{path} has {len(value)} elements, too many to trace one by one",
            captures.builder.pos, "Make it an array.",
        )  # fmt: skip
    captures.register(value, path, whole=True)
    captures.guards.append(Guard(path, "keys", shape_of(found)))
    captures._restores.append(_restorer(value))
    for k in value if isinstance(value, dict) else range(len(value)):
        value[k] = captures.read(path.then("item", k), value[k])
    return value


def read_whole(captures: Captures, path: Path, value: Any) -> Any:
    """A container that is not taken apart: it has to stay as it is."""
    parts = [*value.items()] if isinstance(value, dict) else [*value]
    if not all(map(_is_frozen, parts)):
        raise JitadTypeError(
            f"{path} is a {type(value).__name__} of more than numbers and texts",
            captures.builder.pos, "Make it a list or a dict.",
        )  # fmt: skip
    guard = Guard(path, "value", value if isinstance(value, tuple) else copy.copy(value))
    if type(value) is set or hasattr(value, "__dict__"):  # which may be written, or has more
        return captures._thing(path, value, guard)
    captures.guards.append(guard)
    return value


def refill(container: Any, content: Any) -> None:
    """Let a list, a dict or a set, Numba's among them, be of this content."""
    if isinstance(container, list):
        container[:] = content
        return
    container.clear()
    if isinstance(container, MutableSequence):
        for v in content:
            container.append(v)
    else:
        container.update(content)


def elements(value: Any) -> list[Any]:
    """What a list, a tuple, a deque, a dict (its keys, too) or a set holds; anything else alone."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return [*value] if isinstance(value, (list, tuple, set, deque)) else [value]


def _restorer(container: Any) -> Callable[[], None]:
    return functools.partial(refill, container, container.copy())


def _is_frozen(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_frozen, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic))
