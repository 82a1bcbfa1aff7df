"""When is a loop nest written into the one in front of it, so that both are one?

Two nests over the same extents, one right after the other, that reach the same memory: what they
share is then read while it is at hand.  Legal where an element that one of them writes is reached
by both in the same iteration (or, in another row, by one only), and the second wants no total of
the first (loop fusion; Allen & Kennedy 2001, *Optimizing Compilers for Modern Architectures*,
section 8.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from jitad.emit.access import Map, apart
from jitad.emit.buffers import Roots, origins
from jitad.emit.print_python import Page


@dataclass(frozen=True, slots=True)
class Touch:
    """Memory that a nest reads or writes, and at which indices."""

    name: str
    roots: Roots
    at: Map
    write: bool = False


@dataclass(slots=True)
class Written:
    """The nest that a page ends with."""

    page: Page
    start: int  # its first line
    end: int
    inner: int  # the indentation of its body
    extents: tuple[str, ...]
    touched: list[Touch]
    totals: set[str] = field(default_factory=set)  # names that are known when it has ended

    def takes(self, page: Page, extents: tuple[str, ...], touched: list[Touch],
              texts: Iterable[str]) -> bool:  # fmt: skip
        """May the next nest on this page, of these lines and values, become a part of this one?"""
        if extents != self.extents or any(not self.precedes(page, t) for t in texts):
            return False
        shared = [(x, y) for x in self.touched for y in touched if _meet(x, y)]
        return bool(shared) and all(
            x.name == y.name and (x.at == y.at or apart(x.at, y.at))
            for x, y in shared
            if x.write or y.write
        )

    def precedes(self, page: Page, line: str) -> bool:
        """Is the nest right before what comes next on this page, and needn't a line wait for it?"""
        if page is not self.page or page.indent != self.inner - len(self.extents):
            return False
        names = re.findall(r"[A-Za-z_]\w*", line)
        return len(page.lines) == self.end and self.totals.isdisjoint(names)

    def put_before(self, lines: list[str]) -> None:
        self.page.insert(self.start, lines)
        self.start += len(lines)
        self.end = len(self.page.lines)


def _meet(x: Touch, y: Touch) -> bool:
    return x.name == y.name or not origins(x.roots).isdisjoint(origins(y.roots))
