"""What did tracing write to the user's objects, and how is it undone?

Tracing mutates no user object: both branches of a traced condition run, a loop body may run again
until its types settle, and none of it may leave a mark.  So every write that rewritten code makes
(array contents, attributes, items, closure cells, globals) is noted here first, with its old
value.  Every region (a branch, a pass through a loop body, the whole trace) has a frame, which
keeps the first write to each place: `written` tells the region's owner what to merge or carry, and
`close` puts everything back.  Lists, dicts and sets are one place each, with a copy as old value.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jitad.errors import JitadError

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


STALE = (
    "this array may be the same as one that was written meanwhile: "
    "a branch or loop chose between them. Copy one of them first."
)


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """A handle that stands for one of others: which, depends on the path."""

    handle: Any
    session: int  # one number for all handles made by one join
    sides: tuple[Any, ...]  # one a path, in the same order within a session


HELD = (
    "this became an element of a list whose length depends on traced values, which holds copies, "
    "and can't be written any more"
)


class Journal:
    """The writes of one trace, in nested frames."""

    def __init__(self) -> None:
        self.frames: list[dict[Place, Write]] = [{}]
        self.joins: dict[int, Join] = {}  # handles that joins made
        self.sessions = 0
        self.fresh: list[dict[int, object]] = [{}]  # objects made in each frame
        self.held: list[dict[int, object]] = [{}]  # objects that nobody may write to any more
        self.holding = False  # are there any?

    # -- arrays that were chosen between -------------------------------------------------------

    def joiner(self) -> Callable[[Any, tuple[Any, ...]], None]:
        """A function that notes the handles which one branch or loop makes of others."""
        session = self.sessions = self.sessions + 1

        def join(new: Any, sides: tuple[Any, ...]) -> None:
            self.made(new)
            self.joins[id(new)] = Join(new, session, tuple(h.root for h in sides))

        return join

    def may_alias(self, a: Any, b: Any, seen: dict[tuple[int, int], bool] | None = None) -> bool:
        """Could two handles be one array?  On every side of a join, what it stands for decides.

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
                    seen[pair] = any(self.may_alias(x, y, seen) for x, y in sides)
                    return seen[pair]
            if p is None or (q is not None and q.session > p.session):
                a, b, p = b, a, q
            assert p is not None
            seen[pair] = any(self.may_alias(side, b, seen) for side in p.sides)
        return seen[pair]

    def retire_others(self, target: object) -> None:
        """One array is written: those that may be the same one get stale."""
        if not self.joins:
            return
        seen: dict[tuple[int, int], bool] = {}
        others = {id(h): h for j in self.joins.values() for h in (j.handle, *j.sides)}
        for other in others.values():
            if other is not target and not other._lost and self.may_alias(target, other, seen):
                record(other, "_lost", "", lambda o=other: o._lost, other.retire)  # type: ignore[misc]
                other.retire(STALE)

    def open(self) -> None:
        self.frames.append({})
        self.fresh.append({})
        self.held.append({})

    def close(self) -> list[Write]:
        """Undo the innermost frame; gives its writes, whose `old` is the present value again."""
        frame = self.frames.pop()
        self.fresh.pop()
        self.held.pop()
        for w in reversed(frame.values()):
            w.restore()
        return list(frame.values())

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
        """True where the innermost frame has the old value already."""
        return (id(target), slot) in self.frames[-1]

    def touched(self, target: object, slot: Any) -> bool:
        """True where the trace has written this place, so that its value is the trace's own."""
        place = (id(target), slot)
        return any(place in frame for frame in self.frames)

    def hold(self, thing: object) -> None:
        """From now on, writing to the thing is an error."""
        self.held[-1][id(thing)] = thing
        self.holding = True

    def is_held(self, thing: object) -> bool:
        """Also true of a handle that may stand for such an array."""
        if any(id(thing) in held for held in self.held):
            return True
        join = self.joins.get(id(thing))
        return join is not None and any(map(self.is_held, join.sides))

    def made(self, thing: object) -> None:
        """Note an object made just now: writes to it in this frame are nobody else's business."""
        self.fresh[-1][id(thing)] = thing

    def found(self, thing: object) -> None:
        """Note that an object, made just now, stands for one that was there before."""
        self.fresh[-1].pop(id(thing), None)

    def is_made(self, thing: object) -> bool:
        """True where the trace has made the thing."""
        return any(id(thing) in fresh for fresh in self.fresh)

    def is_fresh(self, thing: object) -> bool:
        """True where the thing was made in the innermost frame."""
        return id(thing) in self.fresh[-1]


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
    if journal is not None and not journal.noted(target, slot):
        journal.frames[-1][(id(target), slot)] = Write(target, slot, old, read, assign)
        if slot == "content":
            journal.retire_others(target)


def check_free(thing: object) -> None:
    """A write of the user's: not to an element of a list that holds copies."""
    journal = active()
    if journal is not None and journal.holding and journal.is_held(thing):
        from jitad.values.kind import fail  # which knows of handles

        raise fail(JitadError, HELD, "Copy it first: list.append(x.copy()), or a tuple.")


def made(thing: object) -> None:
    """Note a mutable object that was made just now."""
    if _here.journals:
        _here.journals[-1].made(thing)


def made_if_new(thing: Any) -> Any:
    """Note what library code gave, if it is a container that nobody else holds."""
    if _here.journals and isinstance(thing, CONTAINERS) and sys.getrefcount(thing) <= _ALONE:
        _here.journals[-1].made(thing)
    return thing


CONTAINERS = (list, dict, set, deque, bytearray)
_ALONE = 3  # references: the caller's, the parameter, and that of the question


def found(thing: object) -> None:
    """Note, if a trace is running, that an object made just now stands for one from outside."""
    journal = active()
    if journal is not None:
        journal.found(thing)
