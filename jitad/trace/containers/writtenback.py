"""How does a write to an element get into the list whose length only the kernel knows?

The element that user code holds is a copy (`elements.read_row`), of which it is noted whence it
comes.  The write is made to the copy, and the copy then written back.  That is right as long as
the element is in one list at one place, and still there; other copies can't be read any more.
Where lists may share an element, writes stay refused (`journal.check_free`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from jitad.errors import JitadError
from jitad.tape.build import Leaf
from jitad.trace.context import Region, Trace
from jitad.trace.joins.forms import Form, Grown, Maybe, Record
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Rec, Snapshot
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.journal import HELD, STALE
from jitad.values.kind import fail


@dataclass(frozen=True, eq=False)
class Home:
    """Where an element, or a part of it, was read."""

    thing: Any
    element: Any
    target: list[Any]
    place: Any
    region: Region | None
    loops: int


def came_from(trace: Trace, element: Any, target: Any, place: Any) -> None:
    """An element was read."""
    if not isinstance(target, list):
        return
    region = trace.regions[-1] if trace.regions else None
    for part in _parts(snapshot(element)):
        home = Home(part, element, target, place, region, len(trace.rolling))
        trace.homes[id(part)] = home
        trace.journal.made(part)


def moved(trace: Trace) -> None:
    """Elements are at other places from now on, or gone."""
    trace.homes.clear()


def became_element(thing: Any, owner: Any, place: Any) -> None:
    """A mutable thing becomes an element; what is one already is shared from then on."""
    trace = current()
    if trace is None:
        return
    at = place.atom if isinstance(place, Leaf) else place
    known = trace.owners.get(id(thing))
    trace.owners[id(thing)] = (thing, owner, at)
    again = known is not None and known[2] == at and _one(trace, known[1], owner)
    if trace.journal.is_held(thing) and not again:
        shared(trace)


def _one(trace: Trace, a: Any, b: Any) -> bool:
    """Are two lists surely one?  Joins make new ones, which stand for those before."""
    first, second = (_origins(trace, x) for x in (a, b))
    return len(first) == 1 and first == second


def _origins(trace: Trace, thing: Any) -> set[int]:
    journal = trace.journal
    found, todo, out = {id(thing)}, [thing], set[int]()
    while todo:
        at = todo.pop()
        _, at = journal.copies.get(id(at), (at, at))
        join = journal.joins.get(id(at))
        if join is None:
            out.add(id(at))
            continue
        new = [x for side in join.sides for x in side if id(x) not in found]
        found.update(map(id, new))
        todo += new
    return out


def shared(trace: Trace) -> None:
    """An element is now in more lists than one, or several times in one."""
    trace.sharing = True
    if not trace.written_back.isdisjoint(trace.rolling):  # it may be written in the next iteration
        raise fail(JitadError, HELD, "Copy it first: list.append(x.copy()), or a tuple.")


def copied(trace: Trace, element: Form) -> None:
    """Another list has the same elements."""
    if _is_mutable(element):
        shared(trace)


def _is_mutable(f: Form) -> bool:
    match f:
        case Record() | Grown():
            inner = f.parts if isinstance(f, Record) else (f.element,)
            return not isinstance(f.of.value, tuple) or any(map(_is_mutable, inner))
        case Maybe(part):
            return _is_mutable(part)
    return False


def _home(trace: Trace | None, thing: Any) -> Home | None:
    if trace is None or not trace.journal.holding:
        return None
    home = trace.homes.get(id(thing))
    if home is None or home.thing is not thing or trace.sharing or trace.recursions:
        return None
    here = home.region is None or any(r is home.region for r in trace.regions)
    return home if here and home.loops == len(trace.rolling) else None


@contextmanager
def writing(thing: Any) -> Iterator[None]:
    """Around a write to a thing, which may be an element or a part of one."""
    trace = current()
    home = _home(trace, thing)
    if trace is None or home is None:
        yield
        return
    journal = trace.journal
    mine = _parts(snapshot(home.element))
    with journal.releasing(mine):
        yield
        _write_back(trace, thing, home, mine)
    for part in _parts(snapshot(home.element)):
        trace.homes[id(part)] = replace(home, thing=part)


def _write_back(trace: Trace, thing: Any, home: Home, mine: list[Any]) -> None:
    from jitad.trace.containers.lists import put_back  # which writes rows

    around = [home.target]
    while (outer := _home(trace, around[-1])) is not None:
        around += [outer.element, outer.target]
    _retire_copies(trace, thing, home, [*mine, *around])
    trace.written_back.update(trace.rolling)
    with writing(home.target):
        put_back(home.target, home.place, home.element)


def _retire_copies(trace: Trace, thing: Any, home: Home, mine: list[Any]) -> None:
    """Those that may be copies of what was written are not what they were copied from."""
    journal, known = trace.journal, {id(x) for x in mine}
    held = {id(x): x for frame in journal.held for x in frame.values()}
    for copy in list(held.values()):
        for other in journal.relatives(copy):
            if id(other) in known or type(other) is not type(thing) or journal.is_gone(other):
                continue
            known.add(id(other))
            if not _elsewhere(trace.homes.get(id(other)), home) and not journal.staleness(other):
                journal.retire(other, STALE)


def _elsewhere(other: Home | None, home: Home) -> bool:
    """Is it surely another element of the list?"""
    return (
        other is not None and other.target is home.target and isinstance(other.place, int)
        and isinstance(home.place, int) and other.place != home.place
    )  # fmt: skip


def _parts(s: Snapshot) -> list[Any]:
    """The mutable things that an element is made of, but for arrays."""
    if not isinstance(s, Rec) or isinstance(s.value, ArrayHandle):
        return []
    own = [] if isinstance(s.value, tuple) else [s.value]
    return own + [p for part in s.parts for p in _parts(part)]
