"""How deep may Python's calls be inside of each other while the engine runs?

A call of the user's is several of Python's when it is traced, or differentiated eagerly, so the
engine would meet Python's limit long before the function itself does.  While it runs the limit is
a multiple, but never so high that the native stack could end first: on CPython 3.11 a call that
goes through C takes some 600 bytes of it.  The limit is the process's; it is as before when the
last thread has left.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import threading
from types import TracebackType

_CALLS = 8  # of Python's for one of the user's
_BYTES = 1200  # of the native stack for one of Python's, twice what was measured
_UNLIMITED = 2 * 2**20  # what a thread has where the stack of the process has no limit

_lock = threading.Lock()
_inside = 0
_before = 0


class Room:
    """Around what the engine does for a call from outside."""

    def __enter__(self) -> None:
        global _inside, _before
        with _lock:
            _inside += 1
            if _inside == 1:
                _before = sys.getrecursionlimit()
                _set(min(_before * _CALLS, _stack() // _BYTES))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        where: TracebackType | None,
    ) -> None:  # fmt: skip
        global _inside
        with _lock:
            _inside -= 1
            if not _inside:
                _set(_before)


def _set(limit: int) -> None:
    with contextlib.suppress(RecursionError):  # the caller is deeper already
        sys.setrecursionlimit(limit)


def _stack() -> int:
    """The bytes of the smallest native stack that a thread here may have."""
    of_process, _ = resource.getrlimit(resource.RLIMIT_STACK)
    sizes = [threading.stack_size(), _UNLIMITED if of_process < 0 else of_process]
    return min(s for s in sizes if s > 0)
