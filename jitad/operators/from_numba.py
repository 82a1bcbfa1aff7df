"""What becomes of what Numba holds: its lists and dicts, and objects of a `jitclass`?

Lists and dicts are met as Python's.  An object is met as one of the class that the jitclass was
made of, which a trace follows as any class of the user's.  What a function writes to one that comes
from outside goes to Numba's own in the end, as it would to any list or object.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import typed, typeof

from jitad import structures
from jitad.emit.numba_private import jitclass_of, jitclass_parts, place
from jitad.plain.fields import Fields
from jitad.structures import Node
from jitad.trace.containers.typed import check

_PYTHONS: dict[str, Any] = {"float64": float, "int64": int, "bool": bool, "complex128": complex}


def as_written(cls: Any) -> type[Fields]:
    """The class before it was compiled, of a jitclass or of the class that its objects have;
    `jitclass` says what Numba has made of it.
    """
    return _as_written(jitclass_of(cls))


@functools.lru_cache(maxsize=256)
def _as_written(made: Any) -> type[Fields]:
    names, numbers, content = jitclass_parts(made)
    casts = {name: _PYTHONS.get(kind, np.dtype(kind).type) for name, kind in numbers.items()}
    own = {"names": names, "casts": casts, "jitclass": made}
    if "__init__" in content:
        own["__module__"] = content["__init__"].__module__
    return type(made.class_name, (Fields,), own | content)


def enter(kind: type) -> None:
    """Let things of this class be structures."""
    if kind is typed.List:
        structures.enter(kind, Node(_of_list, lambda parts, _: list(parts), place))
    elif kind is typed.Dict:
        whole: Any = lambda parts, keys: dict(zip(keys, parts, strict=True))  # noqa: E731
        structures.enter(kind, Node(_of_dict, whole, place))
    elif hasattr(kind, "_numba_type_"):
        _enter_objects(kind)


def _of_list(x: Any) -> Any:
    if len(x):
        check(typeof(x).item_type)
    return tuple(x), None


def _of_dict(x: Any) -> Any:
    if len(x):
        check(typeof(x).key_type, typeof(x).value_type)
    return tuple(x.values()), tuple(x)


def _enter_objects(kind: type) -> None:
    cls = as_written(kind)

    def filled(parts: Any, rest: Any = None) -> Fields:
        out = object.__new__(cls)
        for name, part in zip(cls.names, parts, strict=True):
            object.__setattr__(out, name, part)
        return out

    def parts(thing: Any) -> Any:
        return tuple(getattr(thing, name) for name in cls.names), None

    structures.enter(kind, Node(parts, filled, place))
    structures.enter(cls, Node(parts, filled))
