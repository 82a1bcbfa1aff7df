"""Which trace is going on in this thread, and may another one?"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitad.trace.context import Trace

_alone = threading.RLock()


def alone() -> threading.RLock:
    """One thread traces at a time: while it does, lists and globals hold traced values."""
    return _alone


def _new_lock() -> None:
    """A child must not wait for a thread that it doesn't have."""
    global _alone
    _alone = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


class _Thread(threading.local):
    """The traces that run in this thread, innermost last."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []


_here = _Thread()


def current() -> Trace | None:
    """The trace that is running in this thread, if any."""
    stack = _here.traces
    return stack[-1] if stack else None


def traces() -> list[Trace]:
    """All of this thread, innermost last."""
    return _here.traces
