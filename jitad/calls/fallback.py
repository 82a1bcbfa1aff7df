"""What runs where a trace can't go on, since numbers decide what only Python can do?

The eager engine: the same rules on numbers that carry their tags at run time, slower and never
wrong.  So it is with iterators that a condition advances, say, and all else that tracing refuses
and CPython does.  Where how deep calls or derivatives nest is what is not known, it
also notes how the conditions that decide it turn out; the next call is traced along that path, and
its kernel checks every decision (`jitad.trace.flow.observe`).  A call that goes another way runs
eagerly again, and gives another kernel, up to `MOST` of them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jitad.calls.raised import raise_located
from jitad.errors import (
    FallbackWarning,
    JitadError,
    JitadMemoryError,
    UnknownDepthError,
    UnrepeatableError,
)
from jitad.structures import map_structure
from jitad.tape.ir import Pos
from jitad.trace.flow.observe import MOST as MOST_DECISIONS
from jitad.trace.flow.observe import Decisions, observing
from jitad.where import caller

MOST = 8  # paths of one function that are compiled


@dataclass
class _Setting:
    allowed: bool = os.environ.get("JITAD_FALLBACK", "1") not in ("", "0")


_setting = _Setting()


def set_fallback(allowed: bool) -> bool:
    """Allow compiled functions to run in the eager engine where they can't be traced.

    Parameters
    ----------
    allowed : False makes them raise `JitadError` instead.  `jit(f, fallback=...)` decides for one
        function.  Before the first call of this it is as the environment variable
        `JITAD_FALLBACK` says (1 or 0; 1 unless set).

    Returns
    -------
    What was set before, a bool.  Results have the same shapes and dtypes in both engines.

    Raises
    ------
    Nothing.

    Source: binding times as in Jones, Gomard & Sestoft, *Partial Evaluation and Automatic Program
    Generation*, 1993: what isn't known early is done late.

    >>> import math
    >>> from jitad import derivative, jit_grad, set_fallback
    >>> def first_large(x):
    ...     f = math.sin
    ...     while not f(x) > 0.5:
    ...         f = derivative(f)
    ...     return f(x)
    >>> before = set_fallback(False)
    >>> jit_grad(first_large)(0.1)
    Traceback (most recent call last):
    jitad.errors.UnknownDepthError: f is ...: how functions nest depends on numbers...
    >>> set_fallback(before)
    False
    """
    before, _setting.allowed = _setting.allowed, bool(allowed)
    return before


def is_allowed(own: bool | None) -> bool:
    """May a function with this setting of its own fall back?"""
    return _setting.allowed if own is None else own


@dataclass
class Unknown:
    """Calls with arguments of one kind, which no kernel could be made for."""

    reason: Exception
    places: frozenset[Pos] = frozenset()  # of the conditions that decide how deep it nests
    path: Decisions | None = None  # of a run, waiting to be traced along
    traced: list[Decisions] = field(default_factory=list)
    runs: int = 0

    def run(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """In the eager engine."""
        from jitad.trace import hooks  # not needed where there is a kernel
        from jitad.trace.around.outside import Outside

        self.runs += 1
        with observing(self.places) as path, Outside(copies=False):
            out = map_structure(_as_from_kernel, hooks.call(f, *args, **kwargs))
        fits = 0 < len(path.made) <= MOST_DECISIONS and len(self.traced) < MOST
        self.path = path if fits and path not in self.traced else None
        return out

    def next_path(self) -> Decisions | None:
        """The path of an earlier run, to trace along."""
        path, self.path = self.path, None
        if path is not None:
            self.traced.append(path)
        return path

    def found(self, error: UnknownDepthError, path: Decisions | None) -> None:
        """Tracing along a path has shown that other conditions decide as well."""
        if path is not None and not error.places <= self.places:
            self.places |= error.places
            self.traced.remove(path)

    def __str__(self) -> str:
        calls = "1 call" if self.runs == 1 else f"{self.runs} calls"
        return f"{calls} in the eager engine, because {self.reason}"


def _as_from_kernel(leaf: Any) -> Any:
    """A leaf of the result as a kernel gives it."""
    from jitad.runtime import leaves
    from jitad.values.array import ArrayHandle

    if isinstance(leaf, ArrayHandle):
        leaf = leaves.leave(leaves.content(leaf))
        return leaf.copy() if isinstance(leaf, np.ndarray) else leaf
    return leaf.item() if isinstance(leaf, (np.float64, np.int64, np.bool_)) else leaf


def may_stand_in(error: Exception, own: bool | None) -> bool:
    """May the eager engine run what a trace gave this error for?"""
    return is_allowed(own) and not isinstance(error, (UnrepeatableError, JitadMemoryError))


def first_run(
    name: str, refused: Exception, f: Callable[..., Any], args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Unknown, Any]:  # fmt: skip
    """The calls that this one is the first of, and its result.  If it can't be run either, it
    raises why it can't be compiled."""
    calls = Unknown(refused)
    try:
        out = calls.run(f, args, kwargs)
    except Exception as error:
        raise_located(error, refused)
    warn(name, refused)
    return calls, out


def warn(name: str, reason: Exception) -> None:
    """Once a compiled function, at the line of the user's that calls it."""
    where = caller()
    what, at = f"{type(reason).__name__}: {reason}", ""
    if isinstance(reason, JitadError):
        what, at = reason.what.rstrip("."), f" ({reason.where})" if reason.where else ""
    warnings.warn_explicit(
        f"{name} runs in the eager engine: {what}{at}. See .explain(); "
        "jit(f, fallback=False) forbids it.",
        FallbackWarning, where.file if where else "<unknown>", where.line if where else 1,
    )  # fmt: skip
