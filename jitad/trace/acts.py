"""What does Python's library do to the world, or read of it, that a kernel can do when it runs?

It prints, logs and warns: in order, each once, with the values of that run.  Log records and
warnings name the user's line.  It reads clocks, and asks loggers what they would take: where nobody
wants the answer, it is not asked.  The eager engine does all of this at once, without tags.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np
from numpy.exceptions import ComplexWarning

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.tape.ir import Pos
from jitad.trace.around.outside import differentiates
from jitad.trace.context import Trace
from jitad.values.array import ArrayHandle
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.stand_ins import adopt
from jitad.where import caller

_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "fatal", "log"})
_FILTERS = (warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings)
_OF_WARNINGS = (*_FILTERS, warnings.catch_warnings)
_ASKED: dict[Any, Any] = {
    logging.Logger.isEnabledFor: False, logging.Logger.getEffectiveLevel: 0,
    logging.LoggerAdapter.isEnabledFor: False, logging.Logger.hasHandlers: False,
    time.time: 0.0, time.perf_counter: 0.0, time.monotonic: 0.0, time.process_time: 0.0,
    time.thread_time: 0.0, time.time_ns: 0, time.perf_counter_ns: 0, time.monotonic_ns: 0,
    time.process_time_ns: 0, time.thread_time_ns: 0,
}  # fmt: skip


def instead(trace: Trace | None, f: Any) -> Callable[..., Any] | None:
    """What is called in the place of a function that acts on the world, or reads of it."""
    if f is print and trace is None:  # numbers with tags show what is in them
        return None
    if f is print or _acts(f):
        return lambda *args, **kwargs: _act(trace, f, args, kwargs)
    if (f is np.errstate and trace is not None) or (
        any(f is g for g in _OF_WARNINGS)
        and (differentiates() if trace is None else _undone(trace, f))
    ):
        return lambda *args, **kwargs: _handled(f, args, kwargs)
    if trace is None or getattr(f, "__module__", None) not in ("logging", "os", "time", "warnings"):
        return None
    if f is os.getenv:
        return adopt(os.environ).get
    if f in _ASKED:
        from jitad.trace import opaque  # which dresses what comes back

        return lambda *args: opaque.call(f, args, like=_ASKED[f], idle=True)
    if f is logging.getLogger:  # the same at every call
        return lambda *args: f(*args)
    return None


def _undone(trace: Trace, f: Any) -> bool:
    """Is it in a catch_warnings that the trace has entered, and that will undo it?"""
    return f is warnings.catch_warnings or warnings.filters is not trace.filters


def check_errstate(how: Iterable[Any]) -> None:
    """What a kernel computes does not depend on how errors of floats are handled."""
    if any(h in ("raise", "call") for h in how):
        raise fail(JitadError, "an errstate that raises, or calls, is not seen by kernels",
                   "Test the numbers: np.isfinite(y).all().")  # fmt: skip


def _handled(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """How warnings, and errors of floats, are to be handled: not so that what is computed, or which
    path is taken, depends on it."""
    raising = f is not warnings.catch_warnings and "error" in (*args[:1], kwargs.get("action"))
    if raising and ComplexWarning in (*args, *kwargs.values()):
        raising = False  # what is complex becomes no real number unasked
    recording = f is warnings.catch_warnings and kwargs.get("record")
    if f is np.errstate:
        check_errstate(kwargs.values())
    if raising or recording:
        raise fail(JitadError, "warnings that are errors, or are recorded, are not given by "
                   "kernels and derivatives", "Test the numbers: np.isfinite(y).all().")
    return f(*args, **kwargs)


def _acts(f: Any) -> bool:
    """Does it write a record, a warning or a text?"""
    if f is warnings.warn:
        return True
    name = getattr(f, "__name__", None)
    if name in _LOGS:
        return getattr(f, "__module__", None) == "logging"
    return name in ("write", "flush") and getattr(f, "__self__", None) in (sys.stdout, sys.stderr)


def _act(trace: Trace | None, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Now, or when the kernel has come so far."""
    if trace is None:
        _At(caller(), f)(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
        return
    if kwargs.get("exc_info"):
        raise JitadError(
            "what is logged with an exception's traceback would be logged when the kernel runs, "
            "which has none", trace.builder.pos, "Log its text: logger.error('...: %s', error).",
        )  # fmt: skip
    from jitad.trace.effects import record  # results may hold functions

    if f is print:
        from jitad.trace.texts import known  # which asks here

        known(*kwargs.values())
        # sys.stdout is whatever it is when the kernel runs
        f = _Printed({k: v for k, v in kwargs.items() if k != "file" or v is not sys.stdout})
        name, kwargs = "print", {}
    else:
        name = f"{f.__module__}.{f.__qualname__}"
        bound = args[:1] if isinstance(f, FunctionType) and "." in f.__qualname__ else ()
        args = args[len(bound) :]  # a logger is no value of the trace
        f = _At(trace.builder.pos, functools.partial(f, *bound), (id(f), *map(id, bound)))
    if warnings.filters is not trace.filters:
        f = _Filtered(f, list(warnings.filters))
    record(trace, f, name, args, kwargs)


@immutable
class _Printed:
    """`print` with these options."""

    options: dict[str, Any]

    @property
    def place(self) -> Any:
        """Where things of equal places are equal."""
        return sorted((k, v if isinstance(v, str) else id(v)) for k, v in self.options.items())

    def __call__(self, *args: Any) -> None:
        print(*args, **self.options)


@immutable
class _At:
    """A function that is called from this line: so log records and warnings say."""

    pos: Pos | None
    f: Callable[..., Any]
    of: tuple[int, ...] = ()

    @property
    def place(self) -> Any:
        return self.pos, self.of

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.pos is None:
            return self.f(*args, **kwargs)
        file, line = self.pos.file, self.pos.line
        if file not in _scopes:
            _scopes[file] = {"__name__": _module(file)}
        code = _calling.__code__.replace(co_filename=file, co_firstlineno=line - 1)
        return FunctionType(code, _scopes[file])(self.f, *args, **kwargs)


def _calling(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


_scopes: dict[str, dict[str, Any]] = {}  # where Python notes what it has warned of


def _module(file: str) -> str:
    """The name of the module in this file, by which warnings are filtered."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == file:
            return name
    return "<unknown>"


@immutable
class _Filtered:
    """The same with warnings filtered as in the `with` that it is called in."""

    f: Callable[..., Any]
    filters: list[Any]

    @property
    def place(self) -> Any:
        return getattr(self.f, "place", None), repr(self.filters)

    def __call__(self, /, *args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.filters[:] = self.filters  # type: ignore[index]
            self.f(*args, **kwargs)


def _plain(value: Any) -> Any:
    """A value without tags."""
    if isinstance(value, ArrayHandle):
        value = value.content
    while isinstance(value, Number) and hasattr(value, "primal"):
        value = value.primal
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {k: _plain(v) for k, v in value.items()}
    return value
