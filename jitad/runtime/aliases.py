"""Does a function that is differentiated write to an argument that it has by another name, too?

A derivative takes each argument by itself: what is written by one name is not seen by the other.
So a write to one of two arrays that share memory, or to a list, a dict or an object that is given
twice, is refused when the derivative has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.runtime import leaves
from jitad.structures import children_of, identity, is_one
from jitad.values import borrowed
from jitad.values.array import ArrayHandle
from jitad.values.memory import share_memory
from jitad.where import caller


@immutable(slots=True, eq=False)
class Given:
    """An argument, or a part of one: the caller's, and what the function has in its place."""

    callers: Any
    own: Any
    before: Any  # the content of its own when the function began

    @property
    def is_written(self) -> bool:
        now = _content(self.own)
        if isinstance(self.before, list):
            return [*map(id, now)] != [*map(id, self.before)]
        return now is not self.before


def take(given: Sequence[Any], own: Sequence[Any], leaves_: Sequence[tuple[Any, Any]] = ()) -> None:
    """These are arguments of the derivative that begins, and what the function gets for them;
    `leaves_` are pairs of leaves of those that are functions or objects.
    """
    pairs = pairs_of(given, own, leaves_)
    times = Counter(identity(a) for a, _ in pairs if not leaves.is_array(a))
    borrowed.take([
        Given(a, b, _content(b)) for a, b in pairs
        # an array that is the caller's own is met where it is read
        if (a is not b if leaves.is_array(a) else times[identity(a)] > 1)
    ])  # fmt: skip


def check(
    given: Sequence[Given], others: Sequence[tuple[Any, Any]], changed: AbstractSet[int]
) -> None:
    """Nothing of what was written is another argument, or one of the other arrays: pairs of the
    caller's, and what the function has in their place; `changed` are the ids of those written.
    """
    pairs = [(g.callers, g.own) for g in given]
    written = [(g.callers, g.own, [*pairs, *others]) for g in given if g.is_written]
    written += [(callers, own, pairs) for callers, own in others if id(own) in changed]
    for callers, own, rest in written:
        for other, its_own in rest:
            if its_own is not own and _are_one(callers, other):
                what = "array" if leaves.is_array(callers) else type(callers).__name__
                raise JitadError(
                    f"an argument ({what}) that is written in a derivative is, or shares memory "
                    "with, another one that the function was given", caller(),
                    "Pass a copy of one of them.",
                )  # fmt: skip


def _are_one(a: Any, b: Any) -> bool:
    """Are they one thing, or do they share memory?"""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return share_memory(a, b)
    if isinstance(a, ArrayHandle) and isinstance(b, ArrayHandle):
        return _handles_overlap(a, b)
    return is_one(a, b)


def _handles_overlap(a: ArrayHandle, b: ArrayHandle) -> bool:
    if a.root is not b.root:
        return False
    plain = [h.peek() for h in (a, b) if h.concrete]
    return len(plain) < 2 or share_memory(*plain)


def pairs_of(
    given: Sequence[Any], own: Sequence[Any], leaves_: Sequence[tuple[Any, Any]]
) -> list[tuple[Any, Any]]:
    """Arrays, and what else can be written to, each with its counterpart, which is there once."""
    found = {id(b): (a, b) for pair in zip(given, own, strict=True) for a, b in _parts(*pair)}
    found |= {id(b): (a, b) for a, b in leaves_ if leaves.is_array(a)}
    return [*found.values()]


def _parts(given: Any, own: Any) -> Iterator[tuple[Any, Any]]:
    if leaves.is_array(given):
        yield given, own
        return
    found, fresh = children_of(given), children_of(own)
    if found is None or fresh is None:
        return
    if not isinstance(given, (tuple, complex)):
        yield given, own
    if len(found[1]) != len(fresh[1]):  # the function has made it longer or shorter
        return
    for pair in zip(found[1], fresh[1], strict=True):
        yield from _parts(*pair)


def _content(own: Any) -> Any:
    if isinstance(own, ArrayHandle):
        return own.peek()
    found = children_of(own)
    return own if found is None else [*found[1]]
