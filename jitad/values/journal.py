"""What did tracing write to the user's objects, and how is it undone?

Tracing mutates no user object: both branches of a traced condition run, a loop body may run again
until its types settle, and none of it may leave a mark.  So every write that rewritten code makes
(array contents, attributes, items, closure cells, globals) is noted here first, with its old
value.  Every region (a branch, a pass through a loop, the trace) has a frame, which keeps the first
write to each place: `written` tells the region's owner what to merge, `close` puts everything back.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import GeneratorType
from typing import Any
from weakref import ref

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.values.iterated import CONTAINERS, Iterated

Place = tuple[int, Any]


class Missing:
    """The old value of an attribute or global that was not there."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING = Missing()


@dataclass(slots=True)
class Write:
    """One write: `restore()` puts the old value back; `read()` gives the present one."""

    target: object  # identity matters, and holding it keeps its id from being reused
    slot: Any  # hashable: which part of the target
    old: Any
    read: Callable[[], Any]
    assign: Callable[[Any], None]

    @property
    def place(self) -> Place:
        return (id(self.target), self.slot)

    def restore(self) -> None:
        self.assign(self.old)


MADE = "_made"
STALE = (
    "this may be the same as what was written meanwhile under another name: "
    "a branch or loop chose between them. Copy one of them first."
)

GONE = "this was made in a branch, a loop or a derivative, and kept where a trace doesn't look"

MEMORY = (
    "this may be a view of what was written meanwhile, or a copy: NumPy reshapes by a view where "
    "elements lie in order in memory, which results do if the operands did. Copy it first: "
    "np.array(a)."
)


@immutable(slots=True, eq=False)
class Join:
    """A handle that stands for one of others: which, depends on the path."""

    handle: Any  # an array, or a mutable object
    session: int  # one number for all handles made by one join
    sides: tuple[tuple[Any, ...], ...]  # what it may be, one a path, in one order a session
    place: Any  # where the paths meet
    why: str = STALE


def _is_handle(thing: Any) -> bool:
    """Is it an array as user code sees it, which says itself that it is stale?"""
    return hasattr(type(thing), "_lost")


class Joiner:
    """Notes what one join makes, once all is made and the places written have their values."""

    def __init__(self, journal: Journal, session: int, place: Any) -> None:
        self.journal, self.session, self.place = journal, session, place
        self.pending: list[tuple[Any, tuple[Any, ...]]] = []

    def __call__(self, new: Any, sides: tuple[Any, ...]) -> None:
        """`new` is made, which may be any of `sides`."""
        self.journal.made(new)
        self.pending.append((new, sides))

    def finish(self) -> None:
        journal = self.journal
        for new, sides in self.pending:
            flat = tuple(x.roots if _is_handle(x) else (x,) for x in sides)
            journal.add(Join(new, self.session, flat, self.place))


HELD = (
    "this became an element of a list whose length depends on traced values, which holds copies, "
    "and can't be written any more"
)


class Journal:
    """The writes of one trace, in nested frames."""

    def __init__(self) -> None:
        self.frames: list[dict[Place, Write]] = [{}]
        self.joins: dict[int, Join] = {}  # handles and objects that joins made
        self.above: dict[int, list[Any]] = {}  # by what they may be: handles made of it
        self.settled: set[int] = set()  # written since the last join: others are stale already
        self.stale: dict[int, str] = {}  # objects, not arrays, that may not be read any more
        self.iterated = Iterated(self.is_made)
        self.refused: Callable[[frozenset[Any]], None] | None = None  # asked before an error
        self.watched: list[dict[Place, Write]] = []  # first writes since, for those who ask
        self.sessions = 0
        self.fresh: list[dict[int, object]] = [{}]  # objects made in each frame
        self.ever_made: set[int] = set()
        self.waiting: list[Any] = []  # generators made in frames that are closed
        self.held: list[dict[int, object]] = [{}]  # objects that nobody may write to any more
        self.holding = False  # are there any?
        self.free: frozenset[int] = frozenset()  # those that are written at the moment, and back
        self.copies: dict[int, tuple[object, object]] = {}  # contents of lists, and whose
        self.put_together: dict[int, tuple[Any, ...]] = {}  # see `copies`
        self.certain: dict[int, object] = {}  # lists of which it is known whether they are held

    # -- arrays and objects that were chosen between --------------------------------------------

    def joiner(self, place: Any = None) -> Joiner:
        """What notes the handles and objects which one branch or loop makes of others."""
        self.sessions += 1
        return Joiner(self, self.sessions, place)

    def add(self, join: Join) -> None:
        """From now on a handle may be any of others."""
        self.joins[id(join.handle)] = join
        for x in {id(x): x for xs in join.sides for x in xs}:
            self.above.setdefault(x, []).append(join.handle)
        self.settled.clear()

    def relatives(self, thing: Any) -> list[Any]:
        """What may be the same as the thing: what it may be, and what may be any of those."""
        down: dict[int, Any] = {id(thing): thing}
        todo = [thing]
        while todo:
            join = self.joins.get(id(todo.pop()))
            parts = () if join is None else (x for xs in join.sides for x in xs)
            new = {id(x): x for x in parts if id(x) not in down}
            down.update(new)
            todo += new.values()
        found = dict(down)
        todo = list(down.values())
        while todo:
            new = {id(h): h for h in self.above.get(id(todo.pop()), ()) if id(h) not in found}
            found.update(new)
            todo += new.values()
        return list(found.values())

    def may_alias(self, a: Any, b: Any, seen: dict[tuple[int, int], bool] | None = None) -> bool:
        """Could two be one array, or one object?  What they stand for on each path decides.

        Joins of joins have many paths to the same pair: `seen` has the pairs that are decided.
        """
        if a is b:
            return True
        p, q = self.joins.get(id(a)), self.joins.get(id(b))
        if p is None and q is None:
            return False
        seen = {} if seen is None else seen
        pair = id(a), id(b)
        if pair not in seen:
            if p is not None and q is not None and p.session == q.session:
                if len(p.sides) == len(q.sides):  # two arrays that are never one on any path
                    sides = zip(p.sides, q.sides, strict=True)
                    seen[pair] = any(
                        self.may_alias(x, y, seen) for xs, ys in sides for x in xs for y in ys
                    )
                    return seen[pair]
            if p is None or (q is not None and q.session > p.session):
                a, b, p = b, a, q
            assert p is not None
            seen[pair] = any(self.may_alias(x, b, seen) for xs in p.sides for x in xs)
        return seen[pair]

    def may_be_another(self, thing: object) -> bool:
        """Does it stand for something that has other names?"""
        if id(thing) not in self.joins:
            return False
        return any(x is not thing and not self.is_gone(x) for x in self.relatives(thing))

    def retire_others(self, target: object) -> None:
        """One array or object is written: those that may be the same one get stale."""
        known = id(target) in self.joins or id(target) in self.above
        if not known or id(target) in self.settled:
            return
        self.settled.add(id(target))
        seen: dict[tuple[int, int], bool] = {}
        for other in self.relatives(target):
            if other is not target and not self.staleness(other):
                if self.may_alias(target, other, seen):
                    made = [self.joins.get(id(x)) for x in (other, target)]
                    unsure = any(j is not None and j.why == MEMORY for j in made)
                    self.retire(other, MEMORY if unsure else STALE)

    def staleness(self, thing: Any) -> str:
        """Why a thing may not be read any more; empty where it may."""
        why: str = thing._lost if _is_handle(thing) else self.stale.get(id(thing), "")
        return why

    def retire(self, thing: Any, why: str) -> None:
        """Any later use of the thing raises a JitadError that says why."""
        def assign(text: str) -> None:
            if _is_handle(thing):
                thing.retire(text)
            for x in () if _is_handle(thing) else (thing, *_attributes(thing)):
                if text:
                    self.stale[id(x)] = text
                else:
                    self.stale.pop(id(x), None)

        if isinstance(thing, CONTAINERS) and self.iterated.may_be(thing):
            if self.refused is not None:
                self.refused(self.places(thing))  # an iterator reads it without asking
        record(thing, "_lost", "", lambda: self.staleness(thing), assign)
        assign(why)

    def places(self, thing: object) -> frozenset[Any]:
        """Where paths have met that made it unclear whether the thing is another."""
        found, todo = {id(thing)}, True
        places = set()
        while todo:
            todo = False
            for j in self.joins.values():
                ids = {id(j.handle), *(id(x) for xs in j.sides for x in xs)}
                if ids & found:
                    places.add(j.place)
                    todo = todo or not ids <= found
                    found |= ids
        return frozenset(places - {None})

    def open(self) -> None:
        self.frames.append({})
        self.fresh.append({})
        self.held.append({})

    def close(self) -> list[Write]:
        """Undo the innermost frame; gives its writes, whose `old` is the present value again."""
        frame = self.frames.pop()
        self.settled.clear()
        fresh = self.fresh.pop()
        self.waiting += self._generators(fresh)
        self.held.pop()
        for w in reversed(frame.values()):
            w.restore()
            if _is_handle(w.target) and id(w.target) in fresh:
                w.target.retire(GONE)  # type: ignore[attr-defined]
        return list(frame.values())

    def suspended(self) -> list[Any]:
        """The generators that were made and have not ended; they are let go of."""
        out = [*self.waiting, *(g for fresh in self.fresh for g in self._generators(fresh))]
        self.waiting = []
        return [g for g in out if g.gi_frame is not None]

    def _generators(self, fresh: dict[int, object]) -> list[Any]:
        return [g for x in fresh.values() if type(x) is ref and (g := x()) is not None]

    def merge(self) -> None:
        """Make the innermost frame part of the one around it."""
        for place, w in self.frames.pop().items():
            self.frames[-1].setdefault(place, w)
        fresh = self.fresh.pop()
        self.fresh[-1].update(fresh)
        held = self.held.pop()
        self.held[-1].update(held)

    def written(self) -> list[Write]:
        """The first write of the innermost frame to every place, in order, to older objects."""
        fresh = self.fresh[-1]
        return [w for w in self.frames[-1].values() if id(w.target) not in fresh]

    def noted(self, target: object, slot: Any) -> bool:
        """True where all who keep old values have this one."""
        place = (id(target), slot)
        return place in self.frames[-1] and all(place in w for w in self.watched)

    @contextmanager
    def watching(self) -> Iterator[dict[Place, Write]]:
        """Gives the first write to every place meanwhile; what is made has one to `MADE`."""
        found: dict[Place, Write] = {}
        self.watched.append(found)
        try:
            yield found
        finally:
            self.watched = [w for w in self.watched if w is not found]

    def touched(self, target: object, slot: Any) -> bool:
        """True where the trace has written this place, so that its value is the trace's own."""
        place = (id(target), slot)
        return any(place in frame for frame in self.frames)

    def hold(self, thing: object) -> None:
        """From now on, writing to the thing is an error."""
        for x in (thing, *_attributes(thing)):
            self.held[-1][id(x)] = x
        self.holding = True

    def let_go(self, thing: object) -> None:
        """It was held in this frame, and there is nobody left to write to it."""
        for x in (thing, *_attributes(thing)):
            self.held[-1].pop(id(x), None)

    @contextmanager
    def releasing(self, things: Iterable[object]) -> Iterator[None]:
        """The things may be written meanwhile; what a branch does not keep is held as before."""
        before, self.free = self.free, self.free.union(map(id, things))
        try:
            yield
        finally:
            self.free = before

    def is_held(self, thing: object, frames: list[dict[int, object]] | None = None) -> bool:
        """Also true of a handle that may stand for such an array; `frames` of another time."""
        frames = self.held if frames is None else frames
        todo, seen = [thing], set[int]()
        while todo:
            here = id(todo.pop())
            if here in seen:
                continue
            seen.add(here)
            if here not in self.free and any(here in held for held in frames):
                return True
            join = self.joins.get(here)
            if join is not None and here not in self.certain:
                todo += [x for xs in join.sides for x in xs]
        return False

    def made_since(self, thing: object, frame: int) -> bool:
        """Was it made in this frame, or in one inside?"""
        return any(id(thing) in fresh for fresh in self.fresh[frame:])

    def made(self, thing: object) -> None:
        """Note an object made just now: writes to it in this frame are nobody else's business."""
        # a generator ends, and its `finally` runs, where the program has no more use for it
        is_generator = type(thing) is GeneratorType
        self.fresh[-1][id(thing)] = ref(thing, self._ended) if is_generator else thing
        self.ever_made.add(id(thing))
        for found in self.watched:
            found[(id(thing), MADE)] = Write(thing, MADE, None, lambda: None, lambda _: None)

    def _ended(self, gone: ref[Any]) -> None:
        for fresh in self.fresh:
            for k in [k for k, x in fresh.items() if x is gone]:
                del fresh[k]

    def is_gone(self, thing: object) -> bool:
        """Was it made in a frame that is closed, so that joins stand in its place?"""
        return id(thing) in self.ever_made and not self.is_made(thing)

    def found(self, thing: object) -> None:
        """Note that an object, made just now, stands for one that was there before."""
        self.fresh[-1].pop(id(thing), None)

    def is_made(self, thing: object) -> bool:
        """True where the trace has made the thing."""
        return any(id(thing) in fresh for fresh in self.fresh)

    def is_fresh(self, thing: object) -> bool:
        """True where the thing was made in the innermost frame."""
        return id(thing) in self.fresh[-1]


def _attributes(thing: object) -> tuple[dict[str, Any], ...]:
    """The dict of an object, by which its attributes can be read and written, too."""
    inside = None if _is_handle(thing) else getattr(thing, "__dict__", None)
    return (inside,) if type(inside) is dict else ()


class _Thread(threading.local):
    """The journals of the traces that run in this thread, innermost last."""

    def __init__(self) -> None:
        self.journals: list[Journal] = []


_here = _Thread()


def push(journal: Journal) -> None:
    _here.journals.append(journal)


def pop() -> None:
    _here.journals.pop()


def active() -> Journal | None:
    """The journal of the trace that is running in this thread, if any."""
    stack = _here.journals
    return stack[-1] if stack else None


def record(
    target: object, slot: Any, old: Any, read: Callable[[], Any], assign: Callable[[Any], None]
) -> None:
    """Note a write that is about to happen; without a running trace nothing is kept."""
    journal = active()
    if journal is None:
        return
    for given in getattr(target, "_given", ()) if hasattr(target, "_parent") else ():  # an array
        given.written = True
    if not journal.noted(target, slot):
        write = Write(target, slot, old, read, assign)
        for noted in (journal.frames[-1], *journal.watched):
            noted.setdefault(write.place, write)
    if journal.joins and slot != "_lost":
        journal.retire_others(target)


def check_free(thing: object) -> None:
    """A write of the user's: not to an element of a list that holds copies."""
    journal = active()
    if journal is not None and journal.holding and journal.is_held(thing):
        from jitad.values.kind import fail  # which knows of handles

        raise fail(JitadError, HELD, "Copy it first: list.append(x.copy()), or a tuple.")


def keep_as_it_is(thing: object) -> None:
    """The thing may not be written from now on: there are copies."""
    journal = active()
    if journal is not None:
        journal.hold(thing)


def is_held(thing: object) -> bool:
    """Has a list taken a copy of the thing, or is it such a copy?"""
    journal = active()
    return journal is not None and journal.holding and journal.is_held(thing)


def unsure(new: object, old: tuple[object, ...]) -> None:
    """Note, if a trace is running, that an array made just now may be a view of others."""
    journal = active()
    if journal is not None:
        journal.sessions += 1
        journal.add(Join(new, journal.sessions, (old,), None, MEMORY))


def taken_from(new: list[Any], old: Iterable[object]) -> list[Any]:
    """The list, which has what one of others holds, and is gone over as that would be: it may not
    be any more once one of them is written."""
    journal = active()
    if journal is not None:
        journal.sessions += 1
        lists = tuple(x for x in old if isinstance(x, list))
        journal.add(Join(new, journal.sessions, (lists,), None))
    return new


def made(thing: object) -> None:
    """Note a mutable object that was made just now."""
    if _here.journals:
        _here.journals[-1].made(thing)


def is_made(thing: object) -> bool:
    """Has the trace made the thing, and is it still there?"""
    journal = active()
    return journal is not None and journal.is_made(thing)


def was_made(thing: object) -> bool:
    """Has the trace made the thing, which may be gone since?"""
    journal = active()
    return journal is not None and id(thing) in journal.ever_made


def made_if_new(thing: Any, mutable: bool = False) -> Any:
    """Note what library code gave, if it is a container, or `mutable`, and nobody else holds it."""
    if (mutable or isinstance(thing, CONTAINERS)) and sys.getrefcount(thing) <= _ALONE:
        made(thing)
    return thing


_ALONE = 3  # references: the caller's, the parameter, and that of the question


def found(thing: object) -> None:
    """Note, if a trace is running, that an object made just now stands for one from outside."""
    if _here.journals:
        _here.journals[-1].found(thing)
