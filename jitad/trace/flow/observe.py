"""Which way does a run go where a trace can't tell?

Where nesting depends on numbers, the eager engine runs the program and notes how the conditions
in question turn out, one after the other.  A trace that is given these *decisions* follows the
same path, and its kernel checks each of them: a run that would go another way raises GuardMiss.
So a path that doesn't fit is noticed, however the decisions were come by.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from jitad.tape.ir import Pos

MOST = 2_000  # decisions of one run that are worth compiling


@dataclass
class Decisions:
    """How the conditions at some places turned out, in the order of a run."""

    places: frozenset[Pos]
    made: list[tuple[Pos, bool]] = field(default_factory=list)

    def of(self, place: Pos, at: int) -> bool | None:
        """Decision number `at`, if it was made at this place."""
        if at < len(self.made) and self.made[at][0] == place:
            return self.made[at][1]
        return None


class _Thread(threading.local):
    running: Decisions | None = None


_here = _Thread()


@contextmanager
def observing(places: frozenset[Pos]) -> Iterator[Decisions]:
    """Note how the conditions at these places turn out."""
    before, _here.running = _here.running, Decisions(places)
    try:
        yield _here.running
    finally:
        _here.running = before


def observe(place: Pos | None, decision: bool) -> None:
    """A condition at this place turned out so, in a run outside of any trace."""
    run = _here.running
    if run is not None and place in run.places and len(run.made) <= MOST:
        assert place is not None
        run.made.append((place, decision))
