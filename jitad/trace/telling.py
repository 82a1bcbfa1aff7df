"""What does an object say of itself: its text, its hash?

By methods that the user has written, or others (those of `dataclass`, say), which a trace can't
look into: what they say of an object from outside is asked again at the next call.
"""

from __future__ import annotations

import functools
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

from jitad.errors import JitadTypeError
from jitad.trace.context import Trace, current
from jitad.trace.libraries import is_library_thing
from jitad.values.array import ArrayHandle
from jitad.values.complexes import Complex
from jitad.values.registry import any_traced

TELLING: dict[Any, str] = {repr: "__repr__", str: "__str__", hash: "__hash__"}


def is_outside(trace: Trace, value: Any) -> bool:
    """True of an object from outside whose attributes are read one by one."""
    if isinstance(value, (ArrayHandle, Complex, type, FunctionType, MethodType, ModuleType, Enum)):
        return False
    if isinstance(value, (list, dict, tuple, functools.partial)):
        return False
    if f"{type(value).__module__}.{type(value).__qualname__}" == "jitad.calls.compiled.Compiled":
        return False
    return (not hasattr(value, "py_func") and hasattr(value, "__dict__")
            and trace.captures.path_of(value) is not None)  # fmt: skip


def told(f: Any, thing: Any) -> Any:
    """f(thing), where f is one of `TELLING`."""
    trace = current()
    if trace is None or not is_outside(trace, thing):
        return f(thing)
    if any_traced(tuple(vars(thing).values())):
        raise JitadTypeError(
            f"{f.__name__} of a {type(thing).__name__} shows traced values", trace.builder.pos,
            f"Write its {TELLING[f]}, or show its attributes one by one.",
        )  # fmt: skip
    path = trace.captures.path_of(thing)
    assert path is not None
    return trace.captures.read(path.then("call", TELLING[f]), f(thing))


def speaks(value: Any) -> bool:
    """True of an object of a user's class, which is shown by a method of its own."""
    if current() is None or isinstance(value, (BaseException, type, Enum)):
        return False
    kind = type(value)
    ours = kind.__module__.startswith("jitad.")
    return hasattr(value, "__dict__") and not ours and not is_library_thing(kind)


def is_shown_by_repr(value: Any) -> bool:
    kind: Any = type(value)
    return speaks(value) and kind.__str__ is object.__str__


def spoken(value: Any, conversion: int, form: str, percent: int) -> tuple[Any, int, str]:
    """A part of a text; an object of a user's class has said what it is."""
    if not speaks(value):
        return value, conversion, form
    from jitad.trace.calls import call, special  # which shows texts

    own = special(value, "__format__")
    if conversion == -1 and own is not None:
        return call(own, value, form), -1, ""
    if conversion == percent and form[-1] in "sr":
        return call(str if form[-1] == "s" else repr, value), percent, f"{form[:-1]}s"
    if conversion in (-1, 115, 114):
        return call(repr if conversion == 114 else str, value), -1, form
    return value, conversion, form
