"""What does library code change that a trace does not see, and could not undo?

Code of the user's notes what it writes, so that each path starts from the same things, and nothing
is left behind.  That of libraries does not: a queue that one branch puts something into would hold
it on both paths.  So its objects are looked at before and after, with the containers they hold.
"""

from __future__ import annotations

import array
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType, MethodType, ModuleType
from typing import Any

from jitad.errors import JitadError
from jitad.trace.around.libraries import is_library_thing
from jitad.trace.around.telling import is_outside
from jitad.trace.containers.writing import MUTABLE, kind_of, note, writes
from jitad.trace.context import Again, Trace
from jitad.values.journal import active
from jitad.values.kind import fail

_CONTAINERS = (list, dict, set, deque)
_BUFFERS = (array.array, memoryview)
_DEEP = 3
# These forget what they were made with; what goes on in them is a generator's, which a trace sees.
_MANAGER = type(contextmanager(lambda: iter(()))())
# Objects of these keep for themselves what they have found once.
_KEEPING = ("numpy", "scipy", "numba", "pandas", "logging")


def unaltered(
    trace: Trace | None, things: Iterable[Any], name: str, f: Callable[..., Any], *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """f(*args, **kwargs); an error if that changes a thing, unless this path alone knows it."""
    if trace is None:
        return f(*args, **kwargs)
    others = [thing for thing in things if not trace.journal.is_fresh(thing)]
    before = [(thing, state(thing)) for thing in others if may_change(thing)]
    counted = [(thing, counts(thing)) for thing in others if _of_scipy(thing)]
    out = f(*args, **kwargs)
    changed = [thing for thing, was in counted if not was.items() <= counts(thing).items()]
    for thing, was in before:
        now = state(thing)
        if len(was) != len(now) or any(
            a is not b and (type(a) is not bytes or a != b) for a, b in zip(was, now, strict=True)
        ):
            changed.append(thing)
    if changed:
        insight, kind = trace.insight, type(changed[0]).__name__
        if loops := frozenset(trace.rolling) - insight.altering:
            # written out, they may do: from the beginning, as what was changed here stays so
            raise Again(replace(insight, altering=insight.altering | loops))
        raise fail(JitadError, f"{name} changes a {kind} that was there before this branch, loop "
                   "or derivative, which can't be undone on another path",
                   "Use a list, a dict, or a class of your own.")  # fmt: skip
    return out


def untouched(
    trace: Trace | None, things: Iterable[Any], name: str, f: Callable[..., Any], *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The same; an error, too, if it may read attributes, which in other calls may be others."""
    things = tuple(things)
    for thing in things if trace is not None else ():
        if type(thing).__module__.partition(".")[0] != "logging" and is_outside(trace, thing):
            raise unseen(name, thing)
    return unaltered(trace, things, name, f, *args, **kwargs)


def unseen(name: str, thing: Any) -> JitadError:
    """What it reads of the thing may be another thing in other calls."""
    what = f"{name} reads a {type(thing).__name__} from outside"
    return fail(JitadError, f"{what}, and a trace would not see what",
                "Read its attributes in your own code.")  # fmt: skip


def read_item(trace: Trace | None, get: Callable[..., Any], owner: Any, index: Any) -> Any:
    return untouched(trace, (owner,), "reading an item", get, owner, index)


def note_written(owner: Any, f: Any) -> None:
    """Code of a library is about to run that is a method of a container: what is in it is noted."""
    if type(f) in _PYTHON and kind_of(owner) is not None and writes(owner, f.__name__):
        note(owner)
    elif active() is None and may_change(owner) and is_library_thing(type(owner)):
        for held in getattr(owner, "__dict__", {}).values():  # as a queue puts something into
            note(held)


_PYTHON = (FunctionType, MethodType)


def may_change(thing: Any) -> bool:
    """Is it an object that library code could write to, without a note in the journal?"""
    if isinstance(thing, (type, ModuleType, FunctionType, _MANAGER)) or type(thing) in MUTABLE:
        return False
    if kind_of(thing) is not None and not is_library_thing(type(thing)):
        return False  # whose methods note what they write
    if type(thing).__module__.partition(".")[0] in (*_KEEPING, "jitad"):
        return False
    return isinstance(thing, _BUFFERS) or type(getattr(thing, "__dict__", None)) is dict


def counts(thing: Any) -> dict[str, Any]:
    """The numbers among the attributes: how many numbers an engine has given, say.

    What SciPy's objects have found once, and keep, is another thing than a number.
    """
    return {k: v for k, v in vars(thing).items() if type(v) in (bool, int, float)}


def _of_scipy(thing: Any) -> bool:
    known = type(thing).__module__.partition(".")[0] == "scipy"
    return known and not isinstance(thing, type) and hasattr(thing, "__dict__")


def state(thing: Any, deep: int = _DEEP) -> list[Any]:
    """All that it holds, one after the other."""
    if isinstance(thing, _BUFFERS):
        return [bytes(thing)]
    out: list[Any] = []
    attributes = getattr(thing, "__dict__", None)
    for content in (thing if isinstance(thing, _CONTAINERS) else None, attributes):
        if isinstance(content, dict):
            out += (*content, *content.values())
        elif content is not None:
            out += content
    for inner in [x for x in out if deep and isinstance(x, _CONTAINERS)]:
        out += (len(inner), *state(inner, deep - 1))
    return out
