"""How does a loop of rewritten code run while nothing is traced?  As Python's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitad.trace.flow.branches import decided
from jitad.trace.syntax.hooking import Site

State = tuple[Any, ...]


class Plain:
    """Python's own loop, while nothing is traced."""

    traced = False

    def __init__(self, items: Any, state: State, site: Site) -> None:
        self.items, self.state, self.site = items, state, site

    def __iter__(self) -> Iterator[Any]:
        stops = self.site.stops
        for item in self.items:
            yield item, self.state
            if stops and any(self.state[k] for k in stops):
                self.items = ()  # a generator is closed, unless somebody else has it
                return

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def leave(self, state: State) -> None:
        self.state = state

    def joined(self) -> State:
        return self.state


class PlainWhile(Plain):
    """The first variable is the condition."""

    def __iter__(self) -> Iterator[Any]:
        while decided(self.state[0], self.site.pos):
            yield self.state
