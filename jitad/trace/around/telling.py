"""What does an object say of itself: its text, its hash?

By methods that the user has written, or others (those of `dataclass`, say), which a trace can't
look into: what they say of an object from outside is asked again at the next call.
"""

from __future__ import annotations

import functools
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.trace.around.libraries import CACHED, COMPILED
from jitad.trace.around.objects import CONTAINERS, attributes, holds_attributes, is_unchanging
from jitad.trace.around.paths import Guard
from jitad.trace.context import Trace
from jitad.trace.ongoing import current
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.numpy.structured import Element, Structured

TELLING: dict[Any, str] = {repr: "__repr__", str: "__str__", hash: "__hash__"}


_THEMSELVES = (ArrayHandle, Complex, Structured, Element, type, FunctionType, MethodType,
               ModuleType, Enum)  # fmt: skip
_OTHERWISE = (*CONTAINERS, str, bytes, int, float, complex, functools.partial, np.ufunc, CACHED)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def is_outside(trace: Trace | None, value: Any) -> bool:
    """True of an object from outside whose attributes are read one by one."""
    if trace is None or isinstance(value, _THEMSELVES):
        return False
    if isinstance(value, _OTHERWISE) or type(value) in COMPILED or is_unchanging(value):
        return False
    return (not hasattr(value, "py_func") and holds_attributes(value)
            and trace.captures.path_of(value) is not None)  # fmt: skip


def told(f: Any, thing: Any) -> Any:
    """f(thing), where f is one of `TELLING`."""
    trace = current()
    if trace is None or not is_outside(trace, thing):
        return f(thing)
    holds = attributes(thing)
    if any_traced(tuple(holds.values())):
        raise JitadTypeError(
            f"{f.__name__} of a {type(thing).__name__} shows traced values", trace.builder.pos,
            f"Write its {TELLING[f]}, or show its attributes one by one.",
        )  # fmt: skip
    path = trace.captures.path_of(thing)
    assert path is not None
    written = {n for n in holds if trace.journal.touched(thing, ("attr", n))}
    if not written:
        return trace.captures.read(path.then("call", TELLING[f]), f(thing))
    for name, value in holds.items():  # what it said before the writes is another matter
        if name not in written:
            kind = "value" if isinstance(value, _PLAIN) else "is"
            trace.captures.guards.append(Guard(path.then("attr", name), kind, value))
    return f(thing)


def kept_as_it_is(thing: Any) -> None:
    """It is a key, or looked for among keys, by a hash of what it holds, which must stay so."""
    trace = current()
    if trace is None or not is_outside(trace, thing):
        return
    path = trace.captures.path_of(thing)
    assert path is not None
    for name, value in attributes(thing).items():
        if not _is_plain(value) or trace.journal.touched(thing, ("attr", name)):
            raise JitadTypeError(
                f"the hash of a {type(thing).__name__} from outside depends on {name}, which a "
                "trace can't follow there", trace.builder.pos,
                "Use a tuple of what is in it for a key.",
            )  # fmt: skip
        trace.captures.guards.append(Guard(path.then("attr", name), "unchanged", value))


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, (*_PLAIN, Enum)) or is_unchanging(value)


def speaks(value: Any) -> bool:
    """True of an object that is shown by a method of its class."""
    if current() is None or isinstance(value, (BaseException, type, Enum)):
        return False
    kind = type(value)
    ours = kind.__module__.startswith("jitad.")
    return holds_attributes(value) and not ours and not is_unchanging(value)


def is_shown_by_repr(value: Any) -> bool:
    kind: Any = type(value)
    return speaks(value) and kind.__str__ is object.__str__


def spoken(value: Any, conversion: int, form: str, percent: int) -> tuple[Any, int, str]:
    """A part of a text; an object of a user's class has said what it is."""
    if not speaks(value):
        return value, conversion, form
    from jitad.trace.calls import call, special  # which shows texts
    from jitad.trace.texts import is_late

    kind: Any = type(value)
    if conversion == -1 and (own := special(value, "__format__")) is not None:
        return call(own, value, form), -1, ""
    if conversion == -1 and kind.__format__ is not object.__format__:
        return value, conversion, form  # of a number of a class of its own, say
    asked = {-1: "s", 115: "s", 114: "r", percent: form[-1:]}.get(conversion)
    if asked not in ("s", "r"):
        return value, conversion, form
    f: Any = repr if asked == "r" else str
    method = special(value, TELLING[f])
    if f is str and is_shown_by_repr(value):
        method = special(value, "__repr__")
    if method is None and is_late(value):
        return value, conversion, form  # shown when the kernel runs
    said = told(f, value) if method is None else call(method, value)
    return (said, percent, f"{form[:-1]}s") if conversion == percent else (said, -1, form)
