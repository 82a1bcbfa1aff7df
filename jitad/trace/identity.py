"""What do `is` and `match` say of traced values?

Identity and class are what a stand-in does not share with the value that it stands for.  `c is
True` is asked of the value, and the classes in patterns are replaced by such as know stand-ins.
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
from jitad.trace.joins.selected import asked, spread
from jitad.trace.joins.unset import Among, is_among, is_optional
from jitad.trace.joins.which import told_apart
from jitad.values.array import ArrayHandle
from jitad.values.journal import is_held
from jitad.values.kind import fail
from jitad.values.number import bind
from jitad.values.registry import implementation

# of these kinds are the values that stand-ins stand for
_KINDS = (bool, int, float, complex, np.float64, np.float32, np.int64, np.int32, np.bool_,
          np.complex128, np.ndarray)  # fmt: skip
_THEMSELVES = (bool, int, float, complex)  # classes whose patterns have the subject itself inside

COPIES = (
    "`{}` can't be asked of elements of a list whose length depends on traced values: they are "
    "copies"
)


def Is(a: Any, b: Any) -> Any:
    """`a is b`; Python's bools are two objects, so there it is equality."""
    if is_among((a, b)):
        return spread(Is, a, b)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, ArrayHandle) and x._choice is not None:
            return a is b or x._choice.each(functools.partial(Is, y))
    if is_optional(a) or is_optional(b):
        if a is b:
            return True
        if a is None or b is None:
            return bind("logical_not", (b if a is None else a).flag)
        return asked(Is, a, b)
    if a is not b and type(a) is type(b):
        if is_held(a) or is_held(b):
            raise fail(JitadTypeError, COPIES.format("is"), "Compare what is in them.")
        told_apart(a, b)
    if (isinstance(a, Leaf) or isinstance(b, Leaf)) and _is_bool(a) and _is_bool(b):
        return bind("eq", a, b)
    return a is b


def IsNot(a: Any, b: Any) -> Any:
    same = Is(a, b)
    return bind("logical_not", same) if isinstance(same, Leaf) else not same


def _is_bool(a: Any) -> bool:
    return a.type == BOOL if isinstance(a, Leaf) else isinstance(a, bool)


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


def compared(subject: Any) -> Any:
    """The subject of a `match`: patterns look at it without asking a hook."""
    _step(sys._getframe(1))
    _refuse_unknown(subject)
    return subject


def _step(frame: FrameType) -> None:
    from jitad.trace.context import current  # which rewrites by what is here

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
    return subject


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
