"""What did tracing write to the user's objects, and how is it undone?

Tracing mutates no user object: both branches of a traced condition run, a loop body may run again
until its types settle, and none of it may leave a mark.  So every write that rewritten code makes
(array contents, attributes, items, closure cells, globals) is noted here first, with its old
value.  Every region (a branch, a pass through a loop body, the whole trace) has a frame, which
keeps the first write to each place: `written` tells the region's owner what to merge or carry, and
`close` puts everything back.  Lists, dicts and sets are one place each, with a copy as old value.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


class Journal:
    """The writes of one trace, in nested frames."""

    def __init__(self) -> None:
        self.frames: list[dict[Place, Write]] = [{}]
        self.links: dict[int, list[Any]] = {}  # handles that joins made, and those they replace
        self.fresh: list[dict[int, object]] = [{}]  # objects made in each frame

    def link(self, new: Any, old: Any) -> None:
        """A join put one handle in the place of another: a write to one makes the other stale."""
        self.made(new)
        for a, b in ((new, old.root), (old.root, new)):
            self.links.setdefault(id(a), []).append(b)

    def retire_others(self, target: object) -> None:
        why = (
            "this array may be the same as one that was written meanwhile: "
            "a branch or loop chose between them. Copy one of them first."
        )
        for other in self.links.get(id(target), ()):
            if not other._lost:
                record(other, "_lost", "", lambda o=other: o._lost, other.retire)  # type: ignore[misc]
                other.retire(why)

    def open(self) -> None:
        self.frames.append({})
        self.fresh.append({})

    def close(self) -> list[Write]:
        """Undo the innermost frame; gives its writes, whose `old` is the present value again."""
        frame = self.frames.pop()
        self.fresh.pop()
        for w in reversed(frame.values()):
            w.restore()
        return list(frame.values())

    def merge(self) -> None:
        """Make the innermost frame part of the one around it."""
        for place, w in self.frames.pop().items():
            self.frames[-1].setdefault(place, w)
        self.fresh[-1].update(self.fresh.pop())

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

    def made(self, thing: object) -> None:
        """Note an object made just now: writes to it in this frame are nobody else's business."""
        self.fresh[-1][id(thing)] = thing

    def is_fresh(self, thing: object) -> bool:
        """True where the thing was made in the innermost frame."""
        return id(thing) in self.fresh[-1]


_local = threading.local()


def _stack() -> list[Journal]:
    if not hasattr(_local, "journals"):
        _local.journals = []
    return _local.journals


def push(journal: Journal) -> None:
    _stack().append(journal)


def pop() -> None:
    _stack().pop()


def active() -> Journal | None:
    """The journal of the trace that is running in this thread, if any."""
    stack = _stack()
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


def made(thing: object) -> None:
    """Note a mutable object that was made just now."""
    journal = active()
    if journal is not None:
        journal.made(thing)
