"""When does a function of SciPy's that calls the user's run itself, and when what stands in for it?

Itself as long as it meets nothing traced.  That shows when it runs: it is begun, in a region of the
tape, and forgotten if the user's function gives something that is traced.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.runtime.leaves import own
from jitad.tape.ir import Pos
from jitad.trace import hooks
from jitad.trace.context import Region
from jitad.trace.ongoing import current
from jitad.values.active import any_traced, is_traced
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise
from jitad.values.kind import fail, is_number, type_of
from jitad.values.registry import call, call_plain, handing, naming, replaces

Function = Callable[..., Any]


class _Traced(BaseException):
    """The user's function gave something traced."""


def stands_in(*originals: Any) -> Callable[[Function], Function]:
    """Enter what runs in the place of functions of SciPy's where something is traced.

    Options that it doesn't take are refused by name.
    """

    def enter(function: Any) -> Function:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        for original in originals:
            if "args" in names:
                handing[original] = names.index("args")
            _enter(original, naming(original, function))
        return function

    return enter


def _enter(original: Any, function: Function) -> None:
    @replaces(original, plain=False)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if not any_traced((*args, *kwargs.values())):
            try:
                return _tried(original, args, kwargs)
            except _Traced:
                pass
        return function(*args, **kwargs)


def _tried(original: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What the original gives; `_Traced` if it can't, with nothing left of the attempt."""
    trace = current()
    region = None if trace is None else Region(trace)
    if region is not None:
        region.open()
    try:
        found = _called(original, args, kwargs)
    except BaseException:
        if region is not None:
            region.drop()
        raise
    if region is not None:
        region.splice()
    return found


def _called(original: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    met: list[BaseException] = []

    def watched(f: Function) -> Function:
        @functools.wraps(f)
        def run(*a: Any, **k: Any) -> Any:
            try:
                out = hooks.call(f, *a, **k)
                if is_traced(out):
                    raise _Traced
            except BaseException as error:  # compiled code may lose it on its way
                met.append(error)
                raise
            return out.peek() if hasattr(out, "peek") else out

        return run

    def given(value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(map(given, value))
        if type(value) is dict:  # a constraint, say
            return {k: given(v) for k, v in value.items()}
        if callable(getattr(value, "fun", None)):
            value = copy.copy(value)
            value.fun = given(value.fun)
            return value
        return watched(value) if callable(value) and not isinstance(value, type) else value

    try:
        return call_plain(original, tuple(map(given, args)),
                          {k: given(v) for k, v in kwargs.items()})  # fmt: skip
    except BaseException:
        if met:
            raise met[0] from None
        raise


def here() -> Pos | None:
    """The user's line, for what is raised when the kernel runs."""
    trace = current()
    return None if trace is None else trace.builder.pos


def of_arguments(f: Function, args: Any) -> Function:
    """The function of its first argument; what it gives in single precision is widened, and may
    be the same array each time."""
    if not isinstance(args, tuple):
        args = (args,)

    def widened(*x: Any) -> Any:
        y = hooks.call(f, *x, *args)
        single = (is_number(y) or isinstance(y, ArrayHandle)) and type_of(y).dtype == "f4"
        return elementwise("cast", y, dtype="f8") if single else own(y)

    return widened


def vector(x: Any) -> Any:
    return call(np.reshape, call(np.asarray, x, float), -1)


def refuse(name: str, **options: tuple[Any, Any]) -> None:
    """Options, with what they are and must be."""
    for option, (given, only) in options.items():
        if given is not only and given != only:
            what = f"{option}={given!r} of {name} is not supported on traced or differentiated"
            raise fail(JitadTypeError, f"{what} values", f"Leave it at {only!r}.")
