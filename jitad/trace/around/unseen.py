"""What does library code change that a trace does not see, and could not undo?

Code of the user's notes what it writes, so that each path starts from the same things, and nothing
is left behind.  That of libraries does not: a queue that one branch puts something into would hold
it on both paths.  So its objects are looked at before and after, with the containers they hold.
"""

from __future__ import annotations

import array
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

from jitad.errors import JitadError
from jitad.trace.containers.writing import kind_of
from jitad.trace.context import Trace
from jitad.values.kind import fail

_CONTAINERS = (list, dict, set, deque)
_BUFFERS = (array.array, memoryview)
_DEEP = 3
# These forget what they were made with; what goes on in them is a generator's, which a trace sees.
_MANAGER = type(contextmanager(lambda: iter(()))())
# Objects of these keep for themselves what they have found once.
_KEEPING = ("numpy", "scipy", "numba", "logging")


def unaltered(
    trace: Trace | None, thing: Any, name: str, f: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """f(*args, **kwargs); an error if that changes the thing, unless this path alone knows it."""
    if trace is None or trace.journal.is_fresh(thing) or not may_change(thing):
        return f(*args, **kwargs)
    before = _state(thing)
    out = f(*args, **kwargs)
    after = _state(thing)
    if len(before) != len(after) or any(
        a is not b and (type(a) is not bytes or a != b) for a, b in zip(before, after, strict=True)
    ):
        raise fail(JitadError, f"{name} changes a {type(thing).__name__} that was there before "
                   "this branch, loop or derivative, which can't be undone on another path",
                   "Use a list, a dict, or a class of your own.")  # fmt: skip
    return out


def may_change(thing: Any) -> bool:
    """Is it an object that library code could write to, without a note in the journal?"""
    if isinstance(thing, (type, ModuleType, FunctionType, _MANAGER)) or kind_of(thing) is not None:
        return False
    if type(thing).__module__.partition(".")[0] in (*_KEEPING, "jitad"):
        return False
    return isinstance(thing, _BUFFERS) or type(getattr(thing, "__dict__", None)) is dict


def _state(thing: Any, deep: int = _DEEP) -> list[Any]:
    """All that it holds, one after the other."""
    if isinstance(thing, _BUFFERS):
        return [bytes(thing)]
    content = thing if isinstance(thing, _CONTAINERS) else vars(thing)
    out: list[Any] = [*content, *content.values()] if isinstance(content, dict) else [*content]
    for inner in [x for x in out if deep and isinstance(x, _CONTAINERS)]:
        out += (len(inner), *_state(inner, deep - 1))
    return out
