"""What goes over a container of Python's while a trace may change it?"""

from __future__ import annotations

import functools
import gc
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from jitad.errors import JitadError
from jitad.tape.ir import Pos
from jitad.trace.containers.stretch import stretched
from jitad.values.iterated import VIEWS
from jitad.values.journal import active, made
from jitad.values.kind import fail
from jitad.values.stale import check_thing


class Steady:
    """The items of a list, as Python's iterator over it gives them, while its length is known.

    Once only the kernel knows that, the list holds something else, and Python's would end there.
    """

    called = "list_iterator"

    def __init__(self, items: list[Any], changes: Callable[[], None] | None = None) -> None:
        self.items, self.at, self.changes = items, 0, changes

    def __iter__(self) -> Steady:
        return self

    def __next__(self) -> Any:
        if stretched(self.items) is not None:
            if self.changes is not None:
                self.changes()
            raise fail(JitadError, CHANGING, "Loop over a copy: for x in list(xs).")
        check_thing(self.items)
        if self.at >= len(self.items):
            self.items = []  # what is appended later comes too late
            raise StopIteration
        self.at += 1
        return self.items[self.at - 1]

    def __length_hint__(self) -> int:
        return max(0, len(self.items) - self.at)


class Unaltered:
    """What Python's iterator over a dict, set or deque gives, of which nothing comes or goes.

    That something does under a condition alone, Python's would not know, nor which condition."""

    called = "iterator"

    def __init__(self, things: Any) -> None:
        self.things, self.rest = things, iter(things)
        self.owner = gc.get_referents(things)[0] if type(things) in VIEWS else things

    def __iter__(self) -> Unaltered:
        return self

    def __next__(self) -> Any:
        check_thing(self.owner)
        try:
            return next(self.rest)
        except RuntimeError:
            raise fail(JitadError, ALTERED.format(type(self.owner).__name__),
                       "Go over a list of it.") from None  # fmt: skip

    def __length_hint__(self) -> int:
        return operator.length_hint(self.rest)


ALTERED = "a {} gets longer or shorter while it is iterated over"
CHANGING = ALTERED.format("list")


def steady(x: Any, changes: Callable[[], None] | None = None) -> Any:
    """What is iterated over, in the way of `Steady` where it is a list that a trace may change.

    If it does, `changes` is called, which may know another way.
    """
    if active() is None:
        return x
    if isinstance(x, (dict, set, deque)) or type(x) in VIEWS:
        out: Any = Unaltered(x)
    elif isinstance(x, list):
        out = Steady(x, changes)
    else:
        return x
    made(out)
    return out


def is_changing() -> bool:
    """Did a list change its length while it was gone over in the way that is asked for here?"""
    return changing()[1] is not None


def changing() -> tuple[Callable[[], None], Callable[..., Any] | None]:
    """What to call if a list changes its length while it is gone over in the way that the user asks
    for here; if it did, what makes a generator for it that goes on as long as there are elements.
    """
    from jitad.trace.ongoing import current  # which knows of what is iterated

    trace = current()
    if trace is None:
        return (lambda: None), None
    pos = trace.builder.pos
    if pos in trace.insight.changing:
        from jitad.trace.flow import generators  # which call

        return (lambda: None), generators.written
    return functools.partial(_gone_over, pos), None


def _gone_over(pos: Pos | None) -> None:
    """What goes over a list has no trace, which would be looked through where it leaves one."""
    from jitad.trace.ongoing import current  # which knows of what is iterated

    if (trace := current()) is not None:
        trace.gone_over(pos)
