"""What does a value hold now, whatever is written to it later?

`snapshot` takes it apart: tuples, lists, dicts, objects, and functions with what they close over.
Branches and passes through a loop end with snapshots of their variables, since what they wrote is
undone before the next one is traced.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.polynomial._polybase import ABCPolyBase

from jitad import closures
from jitad.closures import is_function
from jitad.errors import JitadError
from jitad.tape.build import Leaf
from jitad.tape.ir import Pos
from jitad.trace.around.libraries import is_library_thing
from jitad.trace.around.objects import slots
from jitad.trace.containers.listed import IN_ORDER, KINDS, SETS, elements_of, key_of, listed
from jitad.trace.containers.stretch import Stretch
from jitad.trace.containers.writing import content_of, kind_of
from jitad.trace.joins.state import CONTENT, Arr, Lost, Num, Obj, Outer, Per, Rec, Sel, Snapshot
from jitad.trace.joins.unset import UNSET, Among, Perhaps
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.chosen import Choice
from jitad.values.complexes.number import Complex
from jitad.values.journal import MISSING, was_made
from jitad.values.numpy.structured import Element, Structured
from jitad.values.stale import why_stale
from jitad.values.stand_ins import StandIn

_NUMBERS = (Leaf, bool, int, float, complex, np.generic, np.ndarray)
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_OPAQUE = (type, FunctionType, MethodType, ModuleType, str, bytes, range, slice, Enum)


def snapshot(value: Any, seen: dict[int, Snapshot] | None = None) -> Snapshot:
    """The value as it is now, whatever is written to it later."""
    seen = {} if seen is None else seen
    if value is UNSET or value is MISSING:
        return Per(False, None)
    if isinstance(value, Perhaps):
        return Per(value.flag, snapshot(value.value, seen), value.name, value.none)
    if isinstance(value, _NUMBERS) and not isinstance(value, Enum):
        return Num(value)
    if id(value) in seen:
        return seen[id(value)]
    out: Snapshot
    choice = value if isinstance(value, Among) else getattr(value, "_choice", None)
    if isinstance(choice, (Among, Choice)):
        seen[id(value)] = out = Sel(value, choice.flags, ())
        out.parts = tuple(snapshot(x, seen) for x in choice.among)
    elif isinstance(value, ArrayHandle):
        parent = None if value._parent is None else snapshot(value._parent, seen)
        out = Arr(value, Lost(value._lost) if value._lost else value.content, parent)
    elif (keys := _keys(value)) is not None and (read := _reader(value, keys)) is not None:
        out = seen[id(value)] = Outer(value, keys, why_stale(value))
        there = {k: snapshot(_part(value, k), seen) for k in keys if read(k) is None}
        out.asked = lambda: tuple(there.get(k) or snapshot(read(k)(), seen) for k in keys)
    elif keys is not None:
        out = seen[id(value)] = Rec(value, keys, (), why_stale(value))
        out.parts = tuple(snapshot(_part(value, k), seen) for k in keys)
    else:
        out = Obj(value)
    seen[id(value)] = out
    return out


def things_within(value: Any, outside: bool = True) -> list[Any]:
    """All arrays and containers that it is or holds; `outside`: also in those from outside."""
    found: dict[int, Any] = {}
    todo = [snapshot(value)]
    while todo:
        s = todo.pop()
        if isinstance(s, (Rec, Arr)):
            if id(s.value) in found:
                continue
            found[id(s.value)] = s.value
        if isinstance(s, Per) and s.part is not None:
            todo.append(s.part)
        if outside or not isinstance(s, Outer):
            todo += getattr(s, "parts", ())
    return [*found.values()]


def by_keys(s: Rec, keys: tuple[Any, ...]) -> tuple[Snapshot, ...]:
    """The parts under these keys, which a dict may have on other paths only."""
    found = dict(zip(s.keys, s.parts, strict=True))
    return tuple(found.get(k) or Per(False, None) for k in keys)


def by_elements(s: Snapshot | None) -> Rec | None:
    """A set or deque as what holds a list of its elements (`listed.py`); None of anything else."""
    match s:
        case Rec(value, (str(),)) if type(value) in KINDS:
            return s
        case Rec(value=deque() as value, parts=parts):
            return Rec(value, (IN_ORDER,), (Rec([], tuple(range(len(parts))), parts),))
        case Obj(value) if type(value) in SETS:
            return Rec(value, (key_of(value),), (snapshot(elements_of(value)),))
    return None


def stretch_of(s: Snapshot | None) -> Stretch | None:
    """What a list held whose length only the kernel knows; None of anything else."""
    match s:
        case Rec(value=list() | tuple(), parts=(Rec(value=Stretch() as stretch),)):
            return stretch
    return None


def _keys(value: Any) -> tuple[Any, ...] | None:
    """The keys of a container's parts; None for what is not taken apart."""
    if listed(value) is not None or (type(value) is set and was_made(value)):
        return (key_of(value),)
    if isinstance(value, (tuple, list)) or type(value) is deque:
        return _more_than_elements(value) or tuple(range(len(value)))
    if type(value) is Stretch:
        return value.keys()
    if isinstance(value, StandIn):
        return None
    if type(value) in _DICTS:
        keys = tuple(value)
        return keys if _BARE.issuperset(map(type, keys)) else tuple(map(_bare, keys))
    if kind_of(value) is not None:  # of a class of the user's, say
        attributes = (*getattr(value, "__dict__", ()), *slots(value))
        return (CONTENT, *attributes) if was_made(value) else None
    if isinstance(value, frozenset):
        return None
    if is_function(value):
        return _closed_over(value)
    if isinstance(value, BaseException):
        # what the program has written to it is undone at the end of the block that raises it
        whole = isinstance(value, JitadError) or not vars(value)
        inside = (*value.args, *vars(value).values())
        return None if whole and all(map(_is_plain, inside)) else ("args", *vars(value))
    if value is None or isinstance(value, _OPAQUE) or type(value).__module__ == "builtins":
        return None
    if callable(value) and not _is_users(type(value)):
        return None
    held = () if is_library_thing(type(value)) else tuple(slots(value))
    if not held and not hasattr(value, "__dict__"):
        return None
    return (*getattr(value, "__dict__", ()), *held)


_BARE = frozenset((str, int, float, bool, type(None)))


def _bare(key: Any) -> Any:
    """A key whose number the kernel relies on, since it is one, as that number."""
    if isinstance(key, Leaf):
        return key.known("a key of a dict")
    return tuple(map(_bare, key)) if type(key) is tuple else key


def _more_than_elements(value: Any) -> tuple[Any, ...] | None:
    """The keys of a list or tuple that the trace has made of a class of the user's."""
    kind: type = type(value)
    if kind in (list, tuple, deque) or hasattr(kind, "_fields"):
        return None
    attributes = (*getattr(value, "__dict__", ()), *slots(value))
    if was_made(value) if isinstance(value, list) else attributes and not _is_outside(value):
        return (CONTENT, *attributes)
    return None


def _is_users(kind: type) -> bool:
    """Of a class whose objects can be called: is one of them a thing like any other?"""
    if not isinstance(kind.__call__, FunctionType) or kind.__module__.startswith("jitad."):
        return False
    return issubclass(kind, ABCPolyBase) or not is_library_thing(kind)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, Pos))


def _closed_over(f: Any) -> tuple[Any, ...] | None:
    """The variables of a function that the trace has made; others are what they are."""
    return None if _is_outside(f) else ((*closures.names(f), *closures.defaults(f)) or None)


def _is_outside(thing: Any) -> bool:
    trace = current()
    return trace is None or trace.captures.path_of(thing) is not None


def _reader(value: Any, keys: tuple[Any, ...]) -> Any:
    """What gives what reads an attribute of an object from outside; None of anything else.

    Of an attribute that the trace has written it gives None.
    """
    trace = current()
    path = None if trace is None else trace.captures.path_of(value)
    fixed = (tuple, list, dict, set, frozenset, deque, Stretch, Complex, Structured, Element,
             BaseException)  # fmt: skip
    if path is None or isinstance(value, fixed) or is_function(value):
        return None
    captures, touched = trace.captures, trace.journal.touched  # type: ignore[union-attr]

    def read(key: Any) -> Callable[[], Any] | None:
        if touched(value, ("attr", key)):
            return None
        return lambda: captures.read(path.then("attr", key), _part(value, key))

    return read


def _part(value: Any, key: Any) -> Any:
    if is_function(value):
        return closures.content(value, key)
    if type(value) is Stretch:
        return value.part(key)
    if type(value) in KINDS and isinstance(key, str):
        return elements_of(value)
    if key is CONTENT:
        return content_of(value)
    if type(key) is int and isinstance(value, (tuple, list)):
        return value[key]
    if type(value) in (*_DICTS, deque):
        return value[key]
    own = getattr(value, "__dict__", ())
    return own[key] if key in own else getattr(value, key)
