"""May what a loop goes over go on, although a traced condition may have left the loop?

Its items are asked for on all paths then.  So whatever gives them, a generator, a `map`, an
iterator of the user's, may neither write nor fail meanwhile, nor move on an iterator that was there
before; if it does, the trace starts anew, and asks for them under the condition that the loop was
not left (`generators.Inlined`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jitad.errors import JitadError
from jitad.tape.ir import Block, Pos, walk
from jitad.trace.context import Again, Trace
from jitad.values.journal import MADE, Write


class Idly:
    """A `with` around what goes on so; `told`: it is asked under the condition now."""

    def __init__(self, trace: Trace, pos: Pos, told: bool = False) -> None:
        self.trace, self.pos, self.told = trace, pos, told
        self.written: dict[Any, Write] = {}

    def __enter__(self) -> None:
        self.equations = self.trace.builder.blocks[-1].equations
        self.before = len(self.equations)
        self.trace.journal.watched.append(self.written)
        self.around, self.trace.moved = self.trace.moved, []

    def __exit__(self, kind: Any, error: BaseException | None, _: object) -> None:
        journal, insight = self.trace.journal, self.trace.insight
        journal.watched = [w for w in journal.watched if w is not self.written]
        moved, self.trace.moved = self.trace.moved or [], self.around
        made = {id(w.target) for w in self.written.values() if w.slot == MADE}
        moves = any(id(x) not in made for x in moved)  # one that was there before
        if error is not None and not isinstance(error, StopIteration):
            if type(error).__module__.startswith("jitad.") or not isinstance(error, Exception):
                return
            fails = True
        else:
            new = walk(Block([], self.equations[self.before :]))
            fails = any(e.op in ("check", "raise") for e in new)
        if not fails and not moves and not written_there(self.written):
            return
        if self.told and (error is None or isinstance(error, StopIteration)):
            return
        if self.pos in insight.acting:
            raise JitadError(
                "what this loop goes over writes, or fails, after a traced condition may have "
                "left the loop", self.pos, "Make a list of it first.",
            ) from None  # fmt: skip
        raise Again(replace(insight, acting=insight.acting | {self.pos}))


def written_there(written: dict[Any, Write]) -> list[Any]:
    """What was written that was there before, but for the variables of loops."""
    made = {id(w.target) for w in written.values() if w.slot == MADE}
    found = [w.target for w in written.values() if id(w.target) not in made]
    return [t for t in found if not type(t).__module__.startswith("jitad.trace.flow.")]
