"""Over which containers may an iterator be, which reads them without asking?"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, ValuesView

CONTAINERS = (list, dict, set, deque, bytearray)
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


class Iterated:
    """Those of one trace."""

    def __init__(self, is_made: Callable[[object], bool]) -> None:
        self._is_made = is_made  # has the trace made the iterator?
        self._containers: dict[int, object] = {}
        self._any = False  # may there be one over some other?

    def note(self, things: Iterable[object], deep: int = 3) -> None:
        """An iterator over these may be there from now on, or over what they hold."""
        for x in things:
            inside: Iterable[object] = x if isinstance(x, (list, tuple)) else ()
            if type(x) in VIEWS:
                if isinstance(x, (ValuesView, ItemsView)):
                    inside = tuple(x)
                (x,) = gc.get_referents(x)  # the dict
            if isinstance(x, CONTAINERS):
                self._containers[id(x)] = x
            elif hasattr(x, "__next__"):  # what it is over has been noted if it was made here
                self._any |= not self._is_made(x)
            elif hasattr(x, "__iter__") and not isinstance(x, (tuple, str, bytes, range)):
                self._any |= not hasattr(type(x), "_lost")  # a handle gives rows, which are values
            held = [y for y in inside if isinstance(y, (*CONTAINERS, tuple))]
            if deep:
                self.note(held, deep - 1)
            self._any |= bool(held) and not deep

    def may_be(self, thing: object) -> bool:
        """May an iterator be over this?"""
        return self._any or id(thing) in self._containers
