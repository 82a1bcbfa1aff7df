"""What may be done with a value that is None on some paths?

It may be tested, handed on, stored and returned as it is.  Whatever else uses it takes it to be
there, which is checked when the kernel runs: Python would raise a TypeError at such a None.
"""

from __future__ import annotations

from types import BuiltinMethodType
from typing import Any

from jitad.errors import JitadTypeError
from jitad.trace import lists
from jitad.trace.containers import MUTABLE
from jitad.trace.stretch import Stretch
from jitad.trace.unset import is_optional
from jitad.values.journal import check_object
from jitad.values.kind import fail, require


def present(value: Any, kind: type[Exception] = JitadTypeError) -> Any:
    """The value where it is used as other than None, which is an error of this kind."""
    if not is_optional(value):
        if type(value) is Stretch:
            raise lists.refused("used here")
        check_object(value)
        return value
    what = f"{value.name or 'a value'} is None here"
    require(value.flag, kind, what, "Test it with `is not None`.")
    return value.value


def all_present(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for v in values:
        check_object(v)
    odd = any(type(v) is Stretch or is_optional(v) for v in values)
    return tuple(map(present, values)) if odd else values


def answers_for_none(f: Any) -> bool:
    """Is it a builtin, or a method of a container, that may well be asked about None?"""
    if isinstance(f, BuiltinMethodType) and isinstance(f.__self__, (*MUTABLE, tuple, str)):
        return f.__name__ in _LOOKING_UP
    return any(f is g for g in _FOR_ALL)


_FOR_ALL = (isinstance, type, callable, hasattr, getattr, repr, str, format, bool)
_LOOKING_UP = frozenset({"get", "pop", "index", "count", "remove", "format", "__contains__"})


def refuse_among(values: Any) -> None:
    """Python's own containers compare their elements without asking a hook."""
    if any(map(is_optional, values)):
        raise fail(JitadTypeError, "a value that is None on some paths can't be compared here",
                   "Test it with `is None` first.")  # fmt: skip
