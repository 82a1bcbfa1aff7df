"""Which arrays does a derivative of the eager engine write that were there before it?

What it writes to them ends with it, as in a trace: a derivative changes no array of its caller's,
be that the user's program or a function that is differentiated in turn.  Arrays that the function
makes are its own, and what it leaves of them stays.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

_serial = itertools.count(1)
_lock = threading.Lock()

# The number of the newest derivative of all threads.  An array made now bears it: it was there
# before all derivatives with larger numbers.
NEWEST = [0]


class _Thread(threading.local):
    """For each derivative that this thread computes, the innermost last: its number, the arrays
    that it has written with their contents before, and the arguments that it was given."""

    def __init__(self) -> None:
        self.running: list[tuple[int, dict[int, tuple[Any, Any]], list[Any]]] = []


_here = _Thread()


def begin() -> None:
    with _lock:
        NEWEST[0] = serial = next(_serial)
    _here.running.append((serial, {}, []))


def end() -> tuple[set[int], list[Any]]:
    """The innermost derivative has ended: arrays get the contents back that they had.

    Gives their ids, and the arguments.
    """
    _, noted, given = _here.running.pop()
    for handle, content in noted.values():
        handle.restore(content)
    return set(noted), given


def take(arguments: list[Any]) -> None:
    """The innermost derivative was given these."""
    if _here.running:
        _here.running[-1][2].extend(arguments)


def is_first(handle: Any) -> bool:
    """Is this the first write of the innermost derivative to an array that is not its own?"""
    if not _here.running:
        return False
    serial, noted, _ = _here.running[-1]
    return handle.born < serial and id(handle) not in noted


def note(handle: Any, content: Any) -> None:
    """Such a write is about to happen."""
    _here.running[-1][1][id(handle)] = handle, content
