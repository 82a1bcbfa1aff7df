"""How does a function run again as if it had not run before?

Forward mode runs a function once for a few directions.  What it writes to things outside (a count,
a list that it appends to) must not be met by the next run: a run begins with what was there before
the first one, and leaves what that has left.  A function with derivative rules, which may run again
or not at all, must leave nothing.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.trace import ongoing
from jitad.trace.around import outside
from jitad.trace.around.containers import elements
from jitad.trace.around.unnoted import Reached
from jitad.trace.context import assign
from jitad.trace.pointwise import pushed
from jitad.values.array import ArrayHandle
from jitad.values.journal import MADE, Write
from jitad.values.number import Number
from jitad.where import caller

Function = Callable[..., Any]


class FirstRun:
    """The first run of a function, as which others begin; see `first_run`."""

    def __init__(self) -> None:
        self.writes: list[tuple[Write, Any]] = []  # with the old values, and the new ones
        self.reached: Reached | None = None  # as it was before it

    def again(
        self, f: Function, primals: tuple[Any, ...], directions: list[tuple[Any, ...]]
    ) -> list[Any]:
        """The tangents of f in several directions."""
        found: list[Any] = []
        eager = ongoing.current() is None
        for some in ([d] for d in directions) if eager else (directions,):
            with self._undone(f):
                found += pushed(f, primals, some)
        return found

    @contextmanager
    def _undone(self, f: Function) -> Iterator[None]:
        """Around another run, of which nothing stays."""
        for w, _ in reversed(self.writes):
            assign(w, w.old)
        try:
            if self.reached is not None:
                self.reached.check(getattr(f, "__name__", "the function"), "runs again here")
            with taken_back():
                yield
        finally:
            for w, new in self.writes:
                assign(w, new)


@contextmanager
def first_run(f: Function, args: tuple[Any, ...]) -> Iterator[FirstRun]:
    """Around a run of f, of which it is known afterwards what it has written."""
    out = FirstRun()
    if ongoing.current() is None:
        out.reached = Reached(f, args)
    with _noting() as noted:
        yield out
    out.writes += [(w, w.read()) for w in _kept(noted)]


@contextmanager
def taken_back() -> Iterator[None]:
    """Around a run of which nothing stays."""
    with _noting() as noted:
        try:
            yield
        finally:
            for w in reversed([*_kept(noted)]):
                assign(w, w.old)


def _noting() -> AbstractContextManager[dict[Any, Write]]:
    trace = ongoing.current()
    return outside.noting() if trace is None else trace.journal.watching()


def _kept(noted: dict[Any, Write]) -> Iterator[Write]:
    """What is no array, of which a derivative writes to none, nor made in the run."""
    return (
        w for w in noted.values()
        if w.slot not in _OTHERS and w.slot[0] != "state" and (id(w.target), MADE) not in noted
    )  # fmt: skip


_OTHERS = ("content", "_lost", "begun", MADE)


def leaving_nothing(name: str, f: Function, what: str = "anything") -> Function:
    """f for the eager engine, which must write to nothing that is there when it has ended.

    `what` counts: "anything"; "numbers", floats and arrays that come or go, if it may count how
    often it is called; "new numbers", if it runs once.
    """

    def run(*args: Any) -> Any:
        with outside.noting() as noted:
            out = f(*args)
        targets = _written(noted, what)
        noted.clear()
        if targets and _outlive(targets, out):
            raise JitadError(
                f"{name} has derivative rules, and writes to things outside", caller(),
                "Let it return what is new: a rule tells nothing of other effects.",
            )  # fmt: skip
        return out

    return run


def _written(noted: Mapping[Any, Write], what: str) -> list[Any]:
    """What was written to, each thing once."""
    found = {}
    for w in noted.values():
        old, new = ({id(v): v for v in elements(x)} for x in (w.old, w.read()))
        changed = [new[k] for k in new.keys() - old.keys()]
        changed += [old[k] for k in old.keys() - new.keys()] if what == "numbers" else []
        if what == "anything" or any(isinstance(v, _NUMBERS) for v in changed):
            found[id(w.target)] = w.target
    return [*found.values()]


_NUMBERS = (float, complex, np.floating, np.ndarray, ArrayHandle, Number)


def _outlive(targets: list[Any], result: Any) -> bool:
    """Does anything know of one of these things but themselves and the result?"""
    every = [*targets, result, *outside.noted_things()]
    inner = _references(every)
    return any(
        sys.getrefcount(t) - _OURS - (_OF_RESULT if t is result else 0) > inner[id(t)]
        for t in targets
    )


def _references(every: list[Any]) -> Counter[int]:
    """How often these, and what they know of, which the list gets, know of each other."""
    inner, met = Counter[int](), set(map(id, every))
    for thing in every:  # which gets longer
        is_function = isinstance(thing, FunctionType)  # of its globals it is the whole program
        for r in thing.__closure__ or () if is_function else gc.get_referents(thing):
            inner[id(r)] += 1
            if id(r) not in met and not isinstance(r, _ROOTS) and len(every) < _MOST:
                met.add(id(r))
                every.append(r)
    return inner


_ROOTS = (type, ModuleType, BuiltinFunctionType, FrameType)  # of the whole program
_MOST = 10_000  # things that are looked through
_OURS = 4  # references: in `targets` and `every`, the loop's, and that of `getrefcount`
_OF_RESULT = 3  # as `out`, `result`, and in `every` once more
