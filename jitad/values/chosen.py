"""What is an array that is one of several, where a number of the tape says which?

A handle with a `Choice` has no content of its own.  Whatever is read of it or written to it is
read of, or written to, one of the others, under the condition that it is this one; so all other
names of those arrays stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitad.values.array import ArrayHandle
    from jitad.values.extents import Int

Fork = Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]


def each(fork: Fork, flags: Sequence[Any], things: Sequence[Any], what: Callable[..., Any]) -> Any:
    """what(thing) of the one whose flag is set, the last where none is."""
    if not flags:
        return what(things[0])
    return fork(
        flags[0], lambda: what(things[0]), lambda: each(fork, flags[1:], things[1:], what)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several arrays of one dtype and number of axes."""

    flags: tuple[Any, ...]  # is it this one? for all but the last
    among: tuple[ArrayHandle, ...]
    shape: tuple[Int, ...]
    fork: Fork  # the trace's `if`

    def each(self, what: Callable[[ArrayHandle], Any]) -> Any:
        """What is made of the one that it is."""
        return each(self.fork, self.flags, self.among, what)
