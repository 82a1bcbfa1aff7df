"""What did tracing write to the user's objects, and how is it undone?

Tracing mutates no user object: both branches of a traced condition run, a loop body may run again
until its types settle, and none of it may leave a mark.  So every write that rewritten code makes
(array contents, attributes, items, closure cells, globals) is recorded here first, with its old
value.  `written` tells a loop or a branch what it has to carry or merge; `rollback` undoes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Write:
    """One write: `restore()` puts the old value back; `read()` gives the present one."""

    target: object  # identity matters, and holding it keeps its id from being reused
    slot: Any  # hashable: which part of the target
    old: Any
    read: Callable[[], Any]
    assign: Callable[[Any], None]

    def restore(self) -> None:
        self.assign(self.old)


class Journal:
    """The writes of one trace, oldest first."""

    def __init__(self) -> None:
        self.writes: list[Write] = []

    def mark(self) -> int:
        return len(self.writes)

    def rollback(self, mark: int) -> None:
        """Undo everything since the mark."""
        while len(self.writes) > mark:
            self.writes.pop().restore()

    def written(self, mark: int) -> list[Write]:
        """The first write since the mark to every place, in order."""
        first: dict[tuple[int, Any], Write] = {}
        for w in self.writes[mark:]:
            first.setdefault((id(w.target), w.slot), w)
        return list(first.values())


_active: list[Journal] = []


def active() -> Journal | None:
    """The journal of the trace that is running, if any."""
    return _active[-1] if _active else None


def record(
    target: object, slot: Any, old: Any, read: Callable[[], Any], assign: Callable[[Any], None]
) -> None:
    """Note a write that is about to happen; without a running trace nothing is kept."""
    if _active:
        _active[-1].writes.append(Write(target, slot, old, read, assign))
