"""Which things has the trace put together anew, so that `is` can't be asked of them?

A tuple that is another one on other paths, or a row of a list, is made of its parts where it is
read.  Nobody can write to it; but it is not the tuple that other names have.
"""

from __future__ import annotations

from typing import Any

from jitad.values.journal import active


def note_copy(made: tuple[Any, ...]) -> None:
    """The tuple may be one that other names have."""
    journal = active()
    if journal is not None:
        journal.put_together[id(made)] = made


def is_copy(thing: object) -> bool:
    """Is there, or may there be, another one that it is in Python?"""
    journal = active()
    if journal is None:
        return False
    return id(thing) in journal.put_together or (journal.holding and journal.is_held(thing))
