"""May a thing be read, or may it be the same as what was written under another name?"""

from __future__ import annotations

from typing import Any, NoReturn

from jitad.errors import JitadError
from jitad.values.iterated import CONTAINERS
from jitad.values.journal import STALE, active


def why_stale(thing: Any) -> str:
    journal = active()
    return "" if journal is None else journal.staleness(thing)


def check_object(thing: Any) -> None:
    """A thing is read that may be the same as one written meanwhile; arrays say so themselves."""
    journal = active()
    if journal is None or not journal.stale:
        return
    todo, seen = [thing], set[int]()
    while todo:
        at = todo.pop()
        if id(at) in journal.stale:
            refuse_stale(at, journal.stale[id(at)])
        if isinstance(at, (*CONTAINERS, tuple)) and id(at) not in seen:
            seen.add(id(at))
            todo += at.values() if isinstance(at, dict) else at


def check_thing(thing: Any) -> None:
    """The same of the thing alone, not of what it holds."""
    if why := why_stale(thing):
        refuse_stale(thing, why)


def refuse_stale(thing: Any, why: str) -> NoReturn:
    """Such a read is an error, unless the trace can tell them apart when it starts anew."""
    journal = active()
    if journal is not None and why == STALE and journal.refused is not None:
        journal.refused(journal.places(thing))
    from jitad.values.kind import fail  # which knows of handles

    raise fail(JitadError, why)
