"""Which thing is this, where a branch or loop chose it?

Where paths meet, what they left behind becomes a new thing that stands for those of the paths
(`join`).  That does while nobody asks which of them it is: by `is`, by `==` without an `__eq__`, as
a key, in a copy of all.  Then the trace starts anew, and lets them stay what they are (`selected`).
"""

from __future__ import annotations

from typing import Any

from jitad.errors import JitadError
from jitad.trace.joins.snapshot import things_within
from jitad.values.journal import active
from jitad.values.kind import fail

_UNSURE = (
    "which thing this is can't be asked here: a branch or loop chose it or made it anew, and "
    "another name may be the same"
)


def may_be_another(thing: object) -> bool:
    """Did a branch or loop choose it, so that it is also something else?"""
    journal = active()
    return journal is not None and bool(journal.joins) and journal.may_be_another(thing)


def told_apart(*things: object) -> None:
    """It is asked which one a thing is, or whether two are one.

    That is an error, unless the trace can tell when it starts anew.
    """
    journal = active()
    if journal is None or not journal.joins:
        return
    if len(things) == 1 and not journal.may_be_another(*things):
        return
    if len(things) == 2 and not journal.may_alias(*things):
        return
    if journal.refused is not None:
        journal.refused(frozenset(p for x in things for p in journal.places(x)))
    raise fail(JitadError, _UNSURE, "Compare what is in them, or numbers that you give them.")


def told_apart_within(value: Any) -> None:
    """A deep copy has as many things in it as there were: which of them are one?"""
    found = things_within(value)
    for a in filter(may_be_another, found):
        for b in found:
            if a is not b:
                told_apart(a, b)
