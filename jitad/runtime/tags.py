"""Which applications of a derivative operator are running?

Each application makes a fresh tag.  Tags are ordered by creation, so the newest is outermost on a
number.  A tag is live while its application runs the user's function; a number whose tag is no
longer live (it escaped through mutable state) reads as its primal.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from jitad.errors import unknown_functions
from jitad.values.number import Number

_serial = itertools.count(1)

# The tape of every live tag: the cells in order of creation (forward mode leaves it empty).
LIVE: dict[int, list[Any]] = {}


# Functions without rules that live tags have met, and why they may not have: (`name (file:line)`,
# why), with the place.  All are named when the application ends.
REFUSED: dict[int, dict[tuple[str, str], Any]] = {}


class _Depth(threading.local):
    """Which applications this thread is in."""

    def __init__(self) -> None:
        self.tags: list[int] = []  # of this thread's applications, the newest last


_depth = _Depth()


class Application:
    """One run of a function under a fresh tag.

    Derivative rules follow IEEE arithmetic: 0.5 / sqrt(0.0) is inf, so NumPy's warnings are off.
    """

    __slots__ = ("_errors", "tag", "tape")

    def __init__(self) -> None:
        self.tag = next(_serial)
        self.tape: list[Any] = []

    def __enter__(self) -> Application:
        LIVE[self.tag] = self.tape
        _depth.tags.append(self.tag)
        self._errors = np.errstate(all="ignore")
        self._errors.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._errors.__exit__(*exception)
        _depth.tags.remove(self.tag)
        LIVE.pop(self.tag, None)
        refused = REFUSED.pop(self.tag, None)
        if refused and exception[0] is None:
            (_, why), where = next(iter(refused.items()))
            raise unknown_functions(tuple(f for f, _ in refused), where, why)


class asleep:
    """Meanwhile numbers with these tags (all of this thread's) read as their primals."""

    def __init__(self, *tags: int) -> None:
        self.tags = tags

    def __enter__(self) -> None:
        tags = self.tags or tuple(_depth.tags)
        self.held = {tag: LIVE.pop(tag) for tag in tags if tag in LIVE}

    def __exit__(self, *exception: Any) -> None:
        LIVE.update(self.held)


def nested() -> bool:
    """True inside another application of this thread."""
    return bool(_depth.tags)


def awake() -> bool:
    """True inside an application of this thread that is not asleep."""
    return any(tag in LIVE for tag in _depth.tags)


def innermost() -> int:
    """The tag of the application that this thread is in."""
    return _depth.tags[-1]


def alive(value: Any) -> Any:
    """The value without outer layers whose application has returned."""
    while isinstance(value, Number) and value.tag and value.tag not in LIVE:
        value = value.primal  # type: ignore[attr-defined]
    return value
