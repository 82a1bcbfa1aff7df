"""What happens to an exception that depends on traced values where it leaves a `with`?

Python's own `with` sees exceptions that are known.  The others wait for its end: there a manager of
the user's is told of the exception on the paths where there is one, and that all went well on the
others; what it swallows is raised no more.
"""

from __future__ import annotations

import contextlib
import dis
import functools
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any

from jitad.errors import JitadError
from jitad.trace.around.libraries import is_library, is_ours
from jitad.trace.calls import call, special
from jitad.trace.flow.attempts import _flat, pythons, raise_, rethrow, without
from jitad.trace.flow.branches import truth
from jitad.trace.joins.selected import fork, spread
from jitad.trace.joins.unset import Perhaps, is_optional
from jitad.trace.ongoing import current
from jitad.values.number import bind


def rethrow_known(raised: Any, *managers: Any) -> None:
    """At the end of a `with`: raise what is certain to be raised; else tell the manager."""
    if raised is None:
        return
    if not is_optional(raised):
        raise_(raised)
    trace = current()
    if trace is None or len(managers) != 1:
        return
    (manager,) = managers
    leave = special(manager, "__exit__")
    if leave is None or is_ours(leave.__code__) or _ignores_exceptions(manager):
        return

    def told(error: Any) -> Any:
        error = pythons(error)
        return truth(call(leave, manager, type(error), error, None))

    def well() -> bool:
        call(leave, manager, None, None, None)
        return False

    trace.told.append((manager, fork(raised.flag, lambda: spread(told, raised.value), well)))


def is_told(manager: Any) -> bool:
    """Has it been told already how its `with` ended?"""
    trace = current()
    return trace is not None and any(m is manager for m, _ in trace.told)


def swallowed(*managers: Any) -> tuple[type, ...]:
    """The exceptions that a `with` of these managers may end with."""
    return tuple(k for m in managers for k in _swallowed(m))


def _swallowed(manager: Any) -> tuple[type, ...]:
    if type(manager) is contextlib.suppress:
        return _flat(vars(manager)["_exceptions"])
    leave = getattr(type(manager), "__exit__", None)
    users = isinstance(leave, FunctionType) and not (is_library(leave) or is_ours(leave.__code__))
    return (Exception,) if users and not _returns_none(leave.__code__) else ()  # type: ignore[union-attr]


def rethrow_through(raised: Any, *managers: Any) -> Any:
    """After a `with`: raise what is raised.  Gives what its managers swallow of it."""
    if not is_optional(raised):
        return raised
    trace = current()
    left = raised
    for m in reversed(managers):
        if type(m) is contextlib.suppress:
            left = without(left, functools.partial(_is_one_of, _swallowed(m)))
        elif trace is not None and trace.told and trace.told[-1][0] is m:
            _, taken = trace.told.pop()
            flag = left.flag if taken is False else _and_not(left.flag, taken)
            left = None if flag is None else Perhaps(flag, left.value, left.name, True)
        elif not _ignores_exceptions(m):
            raise JitadError(
                "an exception that depends on traced values passes through a `with`, whose "
                "manager may look at it", None if trace is None else trace.builder.pos,
                "Test the condition with `if`, or use a class with __exit__, alone in its `with`.",
            )  # fmt: skip
        if left is None:
            return raised
    rethrow(left)
    return None if left is raised else raised


def _and_not(flag: Any, taken: Any) -> Any:
    if taken is True:
        return None
    return bind("logical_and", flag, bind("logical_not", taken))


def _is_one_of(kinds: tuple[type, ...], error: Any) -> bool:
    return isinstance(error, kinds)


def _ignores_exceptions(manager: Any) -> bool:
    """Does the manager do the same whether or not an exception leaves the body?"""
    leave = type(manager).__exit__
    if not isinstance(leave, FunctionType):
        return False
    code = leave.__code__
    n = code.co_argcount + code.co_kwonlyargcount
    n += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    given = set(code.co_varnames[1:n])
    asks = any(i.argval in given for i in dis.get_instructions(code))
    return not asks and _returns_none(code)


def _returns_none(code: CodeType) -> bool:
    """True of code that gives back nothing that would swallow the exception."""
    before = None
    for i in dis.get_instructions(code):
        if i.opname == "RETURN_VALUE":
            if before is None or before.opname != "LOAD_CONST" or before.argval:
                return False
        before = i
    return True
