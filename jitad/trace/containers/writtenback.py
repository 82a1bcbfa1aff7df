"""How does a write to an element get into the list whose length only the kernel knows?

The element that user code holds is a copy (`elements.read_row`), of which it is noted whence it
comes.  The write is made to the copy, and what has changed of it then written back.  That is right
as long as the element is in one list at one place, and still there.  Other copies follow, if it is
known whence they come (`read_again.py`), or can't be read any more.  Where lists may share an
element, writes stay refused (`journal.check_free`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.tape.build import Leaf
from jitad.trace.containers.stretch import stretched
from jitad.trace.context import Region, Trace
from jitad.trace.joins.forms import Form, Grown, Maybe, Record
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Rec, Snapshot
from jitad.trace.ongoing import current
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.journal import HELD, STALE
from jitad.values.kind import fail
from jitad.values.number import bind
from jitad.values.stale import check_object

MOVED = (
    "a list gets shorter, or its elements other places, in a loop over a slice of it, or one in "
    "which an element is written that was read before the loop"
)


@immutable(eq=False)
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


def moved(trace: Trace, target: Any) -> None:
    """Elements of the list are at other places from now on, or gone."""
    stretch = stretched(target)
    if stretch is None or not is_mutable(stretch.element):
        return
    if not trace.relied_on.isdisjoint(trace.rolling):  # the next iteration would be wrong
        raise fail(JitadError, MOVED, "Keep its number, and read it again: list[k].")
    trace.homes.clear()
    trace.moves.append(target)


def became_element(thing: Any, owner: Any, place: Any, path: tuple[int, ...]) -> None:
    """A mutable thing becomes an element, or the part of one that a path leads to; what is one
    already, or another part, is shared from then on."""
    trace = current()
    if trace is None:
        return
    at = (place.atom if isinstance(place, Leaf) else place), path
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


def are_two(trace: Trace, a: Any, b: Any) -> bool:
    """Are these surely two lists?  Then no element is in both, as long as none is shared."""
    if any(map(trace.journal.is_held, (a, b))):  # they are elements themselves
        return False
    return _origins(trace, a).isdisjoint(_origins(trace, b))


def shared(trace: Trace) -> None:
    """An element is now in more lists than one, or several times in one."""
    trace.sharing = True
    if not trace.written_back.isdisjoint(trace.rolling):  # it may be written in the next iteration
        raise fail(JitadError, HELD, "Copy it first: list.append(x.copy()), or a tuple.")


def copied(trace: Trace, element: Form) -> None:
    """Another list has the same elements."""
    if is_mutable(element):
        shared(trace)


def is_mutable(f: Form) -> bool:
    """Is an element a thing that can be written, or is one in it?"""
    match f:
        case Record() | Grown():
            inner = f.parts if isinstance(f, Record) else (f.element,)
            return not isinstance(f.of.value, tuple) or any(map(is_mutable, inner))
        case Maybe(part):
            return is_mutable(part)
    return False


def _home(trace: Trace | None, thing: Any) -> Home | None:
    if trace is None or not trace.journal.holding:
        return None
    home = trace.homes.get(id(thing))
    if home is None or home.thing is not thing or trace.sharing or trace.recursions:
        return None
    return home if _is_open(trace, home.region) and home.loops <= len(trace.rolling) else None


def _is_open(trace: Trace, region: Region | None) -> bool:
    return region is None or any(r is region for r in trace.regions)


def _rely(trace: Trace, home: Home) -> None:
    """It must be there in all iterations of the loops that have begun since, and in one list."""
    trace.relied_on.update(trace.rolling[home.loops :])
    trace.written_back.update(trace.rolling)


def one_element(a: Any, b: Any) -> Any:
    """Are two elements that were read one thing?  None: that is not known."""
    trace = current()
    p, q = _home(trace, a), _home(trace, b)
    if trace is None or p is None or q is None or p.element is not a or q.element is not b:
        return None
    if p.target is not q.target and not are_two(trace, p.target, q.target):
        return None
    for home in (p, q):
        _rely(trace, home)
    if p.target is not q.target:
        return False
    return extents.same(p.place, q.place) or bind("eq", p.place, q.place)


@contextmanager
def writing(thing: Any) -> Iterator[None]:
    """Around a write to a thing, which may be an element or a part of one."""
    trace = current()
    home = _home(trace, thing)
    if trace is None or home is None:
        yield
        return
    journal, before = trace.journal, snapshot(home.element)  # which is what the rows hold
    check_object(thing)
    mine = _parts(before)
    with journal.releasing(mine):
        yield
        _write_back(trace, thing, home, before)
    for part in _parts(snapshot(home.element)):
        trace.homes[id(part)] = replace(home, thing=part)


def _write_back(trace: Trace, thing: Any, home: Home, before: Snapshot) -> None:
    from jitad.trace.containers.lists import put_changed  # which writes rows

    around = [home.target]
    while (outer := _home(trace, around[-1])) is not None:
        around += [outer.element, outer.target]
    _rely(trace, home)
    others = _others(trace, thing, home, [*_parts(before), *around])
    with writing(home.target):
        same = put_changed(home.target, home.place, home.element, before)
    for other in others:
        _follow(trace, other, same)


def _others(trace: Trace, thing: Any, home: Home, mine: list[Any]) -> list[Home]:
    """Of what may be copies of the thing that was written, those that can follow.

    The rest is not any more what it was copied from."""
    journal, known, out = trace.journal, {id(x) for x in mine}, dict[int, Home]()
    held = {id(x): x for frame in journal.held for x in frame.values()}
    for copy in list(held.values()):
        for other in journal.relatives(copy):
            if id(other) in known or type(other) is not type(thing) or journal.is_gone(other):
                continue
            known.add(id(other))
            its = trace.homes.get(id(other))
            if _elsewhere(its, home) or journal.staleness(other):
                continue
            its = _home(trace, other)
            if its is not None and its.target is home.target:
                out[id(its.element)] = its
            elif its is None or not are_two(trace, its.target, home.target):
                journal.retire(other, STALE)
    return [*out.values()]


def _follow(trace: Trace, home: Home, same: list[bool]) -> None:
    """Another element, perhaps the same one, is what the rows say now."""
    from jitad.trace.containers.elements import read_row  # which asks here
    from jitad.trace.containers.read_again import Other, renew, renewals  # which knows of rows

    journal, stretch = trace.journal, stretched(home.target)
    assert stretch is not None
    old = snapshot(home.element)
    mine = _parts(old)
    try:
        new = snapshot(read_row(trace.builder, stretch, home.place))
        for x in _parts(new):  # which nobody else has
            journal.let_go(x)
        todo = renewals(stretch.element, old, new, iter(same))
    except Other:
        for x in mine:
            journal.retire(x, STALE)
        return
    _rely(trace, home)
    with journal.releasing(mine):
        for renewal in todo:
            renew(renewal)


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
