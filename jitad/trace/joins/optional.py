"""What may be done with a value that is None on some paths?

It may be tested, handed on, stored and returned as it is.  Whatever else uses it takes it to be
there, which is checked when the kernel runs: Python would raise a TypeError at such a None.
"""

from __future__ import annotations

import inspect
import itertools
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadWrongTypeError
from jitad.trace.containers import lists
from jitad.trace.containers.stretch import Stretch
from jitad.trace.containers.writing import MUTABLE
from jitad.trace.joins.unset import among_none, is_among, is_optional
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.functions import implementation
from jitad.values.kind import fail, require
from jitad.values.stale import check_object


def present(value: Any, kind: type[Exception] = JitadWrongTypeError) -> Any:
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


def contents_present(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a function looks into must be there: it decides what stands in for the function."""
    if isinstance(f, BuiltinMethodType) and isinstance(f.__self__, MUTABLE):
        return args  # which may hold None
    return tuple(present(a) if is_optional(a) and _is_container(a.value) else a for a in args)


def _is_container(value: Any) -> bool:
    return isinstance(value, (list, tuple, *MUTABLE))


def answers_for_none(f: Any) -> bool:
    """Is it a builtin, or a method of a container, that may well be asked about None?"""
    if isinstance(f, BuiltinMethodType) and isinstance(f.__self__, (*MUTABLE, tuple, str)):
        return f.__name__ in _LOOKING_UP
    return any(f is g for g in _FOR_ALL)


_FOR_ALL = (isinstance, type, callable, hasattr, getattr, repr, str, format, bool)
_LOOKING_UP = frozenset({"get", "pop", "index", "count", "remove", "format", "__contains__"})


def options(f: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]] | None:
    """The arguments of a library function, with None as one thing like others where it is an
    option's default; None if there is no such one."""
    found = implementation(f) if _is_plain_function(f) else None
    own = getattr(f, "__self__", None)  # of what is built in, its module
    is_method = isinstance(own, (ArrayHandle, Complex))
    if is_method:  # the function of its name
        found = implementation(getattr(np, f.__name__, None))
        args = (own, *args)
    if found is None:
        return None
    parameters = inspect.signature(found).parameters
    names = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    free = {name for name, p in parameters.items() if p.default is None or name == "axis"}
    args = tuple(among_none(a) if name in free else a
                 for name, a in itertools.zip_longest(names[: len(args)], args))  # fmt: skip
    named = {k: among_none(a) if k in free else a for k, a in kwargs.items()}
    if not is_among((*args, *named.values())):
        return None
    return args[1:] if is_method else args, named


def _is_plain_function(f: Any) -> bool:
    return isinstance(f, (np.ufunc, BuiltinFunctionType, FunctionType, type(np.sum)))


def refuse_among(values: Any) -> None:
    """Python's own containers compare their elements without asking a hook."""
    if any(map(is_optional, values)):
        raise fail(JitadTypeError, "a value that is None on some paths can't be compared here",
                   "Test it with `is None` first.")  # fmt: skip
