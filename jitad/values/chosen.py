"""What is an array that is one of several, where a number of the tape says which?

A handle with a `Choice` has no content of its own.  Whatever is read of it or written to it is
read of, or written to, one of the others, under the condition that it is this one; so all other
names of those arrays stay what they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jitad.immutable import immutable
from jitad.values.number import bind

if TYPE_CHECKING:
    from jitad.values.array import ArrayHandle
    from jitad.values.extents import Int

MANY = 8
Fork = Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]


def each(fork: Fork, flags: Sequence[Any], things: Sequence[Any], what: Callable[..., Any]) -> Any:
    """what(thing) of the one whose flag is set, the last where none is."""
    if not flags:
        return what(things[0])
    if len(things) > MANY:  # a tree of conditions, which is as deep as the logarithm
        half = len(things) // 2
        return fork(
            functools.reduce(_either, flags[:half]),
            lambda: each(fork, flags[: half - 1], things[:half], what),
            lambda: each(fork, flags[half:], things[half:], what),
        )
    return fork(
        flags[0], lambda: what(things[0]), lambda: each(fork, flags[1:], things[1:], what)
    )


def _either(a: Any, b: Any) -> Any:
    if isinstance(a, bool):
        return a or b
    return b or a if isinstance(b, bool) else bind("logical_or", a, b)


@immutable(slots=True, eq=False)
class Choice:
    """One of several arrays of one dtype and number of axes."""

    flags: tuple[Any, ...]  # is it this one? for all but the last
    among: tuple[ArrayHandle, ...]
    shape: tuple[Int, ...]
    fork: Fork  # the trace's `if`

    def each(self, what: Callable[[ArrayHandle], Any]) -> Any:
        """What is made of the one that it is."""
        return each(self.fork, self.flags, self.among, what)
