"""How do the two paths from a check that may fail in an attempt meet again?  See `attempts`."""

from __future__ import annotations

from typing import Any

from jitad.tape.build import Leaf
from jitad.trace.context import Region, Trace
from jitad.trace.flow.attempts import RAISED, immaterial, surely
from jitad.trace.flow.branches import Branches
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Snapshot
from jitad.trace.joins.unset import Perhaps
from jitad.trace.syntax.hooking import Site


class Detour(Branches):
    """What comes after a check, and what the check leads to."""

    def __init__(self, trace: Trace, ok: Leaf, error: Any, values: dict[str, Any]) -> None:
        assert trace.builder.pos is not None
        super().__init__(trace, ok, (), Site(trace.builder.pos, ()))
        self.error, self.held, self.attempt = error, values, trace.attempts[-1]
        self.regions.append(Region(trace, escapes=True))
        self.regions[0].open()

    def close(
        self, mine: bool, names: tuple[str, ...], values: tuple[Any, ...], raised: Any
    ) -> tuple[tuple[Any, ...], Any]:
        """The variables and the exception, after both paths."""
        names = (*names, RAISED)
        self.site = Site(self.site.pos, names, (), frozenset(names))
        there = self.held if mine else {}
        elsewhere = [there.get(n, immaterial(n)) for n in names[:-1]]
        for k, exit in enumerate(((*values, raised), (*elsewhere, self.error))):
            if k:
                self.regions.append(Region(self.trace))
                self.regions[1].open()
            seen: dict[int, Snapshot] = {}
            self.ends.append([snapshot(v, seen) for v in exit])
            self.regions[k].close()
        *out, error = self._join()
        kept = tuple(  # what the other path does not know does not matter there
            surely(v) if n not in there and not isinstance(w, Perhaps) else v
            for n, v, w in zip(names, out, values, strict=False)
        )
        return kept, error
