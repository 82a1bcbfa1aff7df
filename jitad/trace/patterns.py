"""What does `match` see of traced values, and of objects from outside?

Class is what a stand-in does not share with the value that it stands for: the classes in patterns
are replaced by such as know stand-ins.  Attributes are read by CPython, without a hook; so objects
from outside are matched as `Seen`, which read them as the trace does, and names that a pattern
binds get the objects themselves.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.tape.build import Leaf
from jitad.tape.types import BOOL, INT
from jitad.trace.joins.unset import Among, is_optional
from jitad.values.kind import fail
from jitad.values.registry import implementation

# of these kinds are the values that stand-ins stand for
_KINDS = (bool, int, float, complex, np.float64, np.float32, np.int64, np.int32, np.bool_,
          np.complex128, np.ndarray)  # fmt: skip
_THEMSELVES = (bool, int, float, complex)  # classes whose patterns have the subject itself inside


def asks_for_truth(cases: list[ast.match_case]) -> bool:
    """Is one of the patterns True or False itself?"""
    nodes = (n for c in cases for n in ast.walk(c.pattern))
    return any(isinstance(n, ast.MatchSingleton) and n.value is not None for n in nodes)


class _Class(type):
    """CPython asks a class in a pattern whether the subject is an instance of it."""

    of: type

    def __instancecheck__(cls, value: Any) -> bool:
        return bool(implementation(isinstance)(value, cls.of))  # type: ignore[misc]


class _Missing(type):
    error: Exception

    def __instancecheck__(cls, value: Any) -> bool:
        raise cls.error


def pattern_class(find: Callable[[], Any]) -> Any:
    """The class of a pattern; another in its place where traced values may be instances of it."""
    try:
        found = find()
    except Exception as error:  # which is raised when the pattern's turn comes
        return _Missing("Missing", (), {"error": error})
    return _asked(found) if isinstance(found, type) else found


@functools.cache
def _asked(kind: type) -> type:
    if kind is object or not any(issubclass(k, kind) for k in _KINDS):
        return kind
    bases = (float,) if issubclass(kind, _THEMSELVES) else ()  # case float(x): x is the subject
    return _Class(kind.__name__, bases, {"of": kind})


# -- the subject ----------------------------------------------------------------------------------


class Seen:
    """An object from outside: of its class, with attributes as the trace reads them."""

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        object.__setattr__(self, "_of", of)

    def __getattribute__(self, name: str) -> Any:
        from jitad.trace.places import get_attr  # which rewrites by what is here

        of = object.__getattribute__(self, "_of")
        return type(of) if name == "__class__" else _seen(get_attr(of, name))


class _List(list[Any]):
    of: Any


class _Tuple(tuple[Any, ...]):
    of: Any


class _Dict(dict[Any, Any]):
    of: Any


_COPIES: dict[Any, Any] = {list: _List, tuple: _Tuple, dict: _Dict}


def _seen(value: Any) -> Any:
    """The value, with objects from outside in it as `Seen`."""
    from jitad.trace.around.telling import is_outside  # which reads what is rewritten
    from jitad.trace.ongoing import current

    if is_outside(current(), value):
        return Seen(value)
    copy = _COPIES.get(type(value))
    if copy is None:
        return value
    items = list(value.values()) if copy is _Dict else list(value)
    new = list(map(_seen, items))
    if all(a is b for a, b in zip(items, new, strict=True)):
        return value
    out = copy(zip(value, new, strict=True)) if copy is _Dict else copy(new)
    out.of = value
    return out


def bound(value: Any) -> Any:
    """What a name is bound to by a pattern: the thing itself."""
    kind = type(value)
    if kind is Seen:
        return object.__getattribute__(value, "_of")
    if kind in _COPIES.values():
        return value.of
    if kind is list:  # `*rest`
        value[:] = map(bound, value)
    elif kind is dict:  # `**rest`
        value.update({k: bound(v) for k, v in value.items()})
    return value


def looked_into(subject: Any) -> Any:
    """The subject of a `match` whose patterns read attributes."""
    _step(sys._getframe(1))
    _refuse_unknown(subject)
    return _seen(subject)


def compared(subject: Any) -> Any:
    """The subject of a `match`: patterns look at it without asking a hook."""
    _step(sys._getframe(1))
    _refuse_unknown(subject)
    return subject


def _step(frame: FrameType) -> None:
    from jitad.trace.ongoing import current  # which rewrites by what is here

    if (trace := current()) is not None:
        trace.step(frame)


def _refuse_unknown(subject: Any) -> None:
    if _holds(is_optional, subject, set()):
        raise fail(JitadTypeError, "what is None on some paths can't be matched",
                   "Use if and `is None`.")  # fmt: skip
    if _holds(lambda x: type(x) is Among, subject, set()):
        raise fail(JitadTypeError, "what a condition on traced values chose can't be matched",
                   "Use if and elif, or match under the condition.")  # fmt: skip
    from jitad.trace.containers import partial  # which asks here first

    if _holds(partial.is_partial, subject, set()):
        raise partial.refused("matched")


def matched(subject: Any) -> Any:
    """The subject of a `match` with such patterns; an int is relied on to be what it is."""
    _step(sys._getframe(1))
    _refuse_unknown(subject)
    if isinstance(subject, Leaf) and subject.type == INT:
        return subject.known("the subject of this match")
    if _holds(lambda x: isinstance(x, Leaf) and x.type == BOOL, subject, set()):
        raise JitadTypeError(
            "True and False can't be matched with a traced bool", None, "Use if and elif."
        )
    return _seen(subject)


def _holds(asked: Callable[[Any], bool], value: Any, seen: set[int]) -> bool:
    """Is there such a thing in a value?"""
    if asked(value):
        return True
    if id(value) in seen:
        return False
    seen.add(id(value))
    match value:
        case tuple() | list():
            inside = list(value)
        case dict():
            inside = list(value.values())
        case _:
            inside = list(getattr(value, "__dict__", {}).values())
    return any(_holds(asked, x, seen) for x in inside)
