"""When is a loop nest written into the one in front of it, so that both are one?

Two nests over the same extents, one right after the other, that reach the same memory: what they
share is then read while it is at hand.  Legal where an element that one of them writes is reached
by both in the same iteration (or, in another row, by one only), and the second wants no total of
the first (loop fusion; Allen & Kennedy 2001, *Optimizing Compilers for Modern Architectures*,
section 8.6).  A nest that wants the totals of rows, and goes over the rows, follows the inner
loops: each total is at hand when it is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from jitad.emit.access import Map, apart, identity, in_step
from jitad.emit.buffers import Roots, origins
from jitad.emit.print_python import Page
from jitad.immutable import immutable


@immutable(slots=True)
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
    extents: tuple[str, ...]
    counters: tuple[str, ...]
    touched: list[Touch] = field(default_factory=list)
    totals: set[str] = field(default_factory=set)  # names that are known when it has ended
    rows: list[Touch] = field(default_factory=list)  # totals of which a row is known when it ended
    known: bool = True  # is all that it reads and writes in `touched` and `rows`?
    heads: list[int] = field(default_factory=list)  # the lines that its loops begin with
    rows_end: int = 0  # so many loops are around what follows the inner ones, if another nest does
    tail: list[str] = field(default_factory=list)  # lines that follow its inner loops
    end: int = 0

    @classmethod
    def open(cls, page: Page, extents: tuple[str, ...], counters: Iterable[str]) -> Written:
        """A nest without a body."""
        new = cls(page, len(page.lines), extents, tuple(counters)[: len(extents)])
        for counter, extent in zip(new.counters, extents, strict=True):
            page.write(f"for {counter} in range({extent}):")
            new.heads.append(len(page.lines) - 1)
            page.indent += 1
        page.indent -= len(extents)
        new.end = len(page.lines)
        return new

    def takes(self, page: Page, extents: tuple[str, ...], touched: list[Touch],
              texts: Iterable[str]) -> bool:  # fmt: skip
        """May the next nest on this page, of these lines and values, become a part of this one?"""
        if extents != self.extents or any(not self.precedes(page, t) for t in texts):
            return False
        if self.rows_end:
            return False
        shared = [(x, y) for x in self.touched for y in touched if meet(x, y)]
        return bool(shared) and all(
            x.name == y.name
            and (x.at == y.at or apart(x.at, y.at) or in_step(x.at, y.at, len(extents)))
            for x, y in shared
            if x.write or y.write
        )

    def ends_with(self, page: Page, extents: tuple[str, ...], touched: list[Touch],
                  texts: Iterable[str], lines: Mapping[int, list[str]]) -> bool:  # fmt: skip
        """May the next nest follow the inner loops of this one, whose rows it goes over?"""
        n = len(extents)
        if not 0 < n < len(self.extents) or extents != self.extents[:n]:
            return False
        if self.rows_end not in (0, n) or not lines.keys() <= {0, n}:
            return False
        at = identity(n)
        rows = {t.name for t in self.rows if t.at == at}
        if not all(self.precedes(page, t, rows) for t in texts):
            return False
        mine = [*self.touched, *self.rows]
        shared = [(x, y) for x in mine for y in touched if meet(x, y)]
        return any(x.name in rows for x, _ in shared) and all(
            x.name == y.name and x.at == y.at for x, y in shared if x.write or y.write
        )

    def precedes(self, page: Page, line: str, but: Collection[str] = ()) -> bool:
        """Is the nest right before what comes next on this page, and needn't a line wait for it,
        `but` for some totals?"""
        if page is not self.page or not self.heads or page.indent != self._indent:
            return False
        names = set(re.findall(r"[A-Za-z_]\w*", line)).difference(but)
        return len(page.lines) == self.end and self.totals.isdisjoint(names)

    @property
    def _indent(self) -> int:
        return _indent(self.page.lines[self.heads[0]])

    def depth_of(self, line: str) -> int:
        """How many of its loops are around one of its lines?"""
        return _indent(line) - self._indent

    def put_before(self, lines: list[str]) -> None:
        self._insert(self.start, 0, lines)
        self.start += len(lines)

    def _insert(self, at: int, depth: int, lines: list[str]) -> None:
        """Lines in front of one of its own, inside of so many of its loops."""
        self.page.indent += depth
        self.page.insert(at, lines)
        self.page.indent -= depth
        self.heads = [h + len(lines) if h >= at else h for h in self.heads]
        self.end += len(lines)

    @contextmanager
    def body(self, lines: Mapping[int, list[str]], last: Mapping[int, list[str]]) -> Iterator[None]:
        """What is written now goes to the end of its innermost loop; `lines` go to the beginning
        of outer ones, by depth, and `last` follow what is inside of them."""
        page, n = self.page, len(self.extents)
        for depth in range(1, n):
            if depth in lines:
                self._insert(self.heads[depth], depth, lines[depth])
        del page.lines[self.end - len(self.tail) : self.end]
        page.indent += n
        for line in lines.get(n, ()) if n else ():
            page.write(line)
        yield
        page.indent -= n
        for depth in sorted(last):
            margin = "    " * (page.indent + depth)
            at = sum(line.startswith(margin) for line in self.tail)  # what is deeper comes first
            self.tail[at:at] = [margin + line for line in last[depth]]
        page.lines += self.tail
        self.end = len(page.lines)

    @contextmanager
    def end_of_rows(self, n: int, lines: list[str]) -> Iterator[None]:
        """What is written now, after `lines`, goes behind what the first n loops have in them."""
        page, self.rows_end = self.page, n
        del page.lines[self.end - len(self.tail) : self.end]
        page.indent += n
        start = len(page.lines)
        for line in lines:
            page.write(line)
        yield
        page.indent -= n
        new, page.lines[start:] = page.lines[start:], []
        margin = "    " * (page.indent + n)
        at = sum(line.startswith(margin) for line in self.tail)
        self.tail[at:at] = new
        page.lines += self.tail
        self.end = len(page.lines)


def _indent(line: str) -> int:
    return (len(line) - len(line.lstrip())) // 4


def meet(x: Touch, y: Touch) -> bool:
    """May both be the same memory?"""
    return x.name == y.name or not origins(x.roots).isdisjoint(origins(y.roots))
