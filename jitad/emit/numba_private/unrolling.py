"""Which loops does LLVM write out several iterations at a time?

It unrolls loops that it makes no vectors of, and what vectors leave over.  That gains a few per
cent of some short loops, and takes a third of LLVM's time wherever there are many.  So in a long
function those loops alone are unrolled whose number of iterations stands in the source, and which
are short when all are written out: there indices become constants, and counters go.  A loop around
one that stays a loop is left alone: its copies would be made vectors of, each by itself.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

LONG = 2000  # instructions of a function, as they are written
_WHOLE = 1000  # of all iterations of a loop


def is_long(module: Any) -> bool:
    """Are there more instructions than are worth having all their loops unrolled?"""
    return sum(len(block.instructions) for f in module.functions for block in f.blocks) > LONG


class Unrolling:
    """Marks loops of a function being written, inner ones first."""

    def __init__(self, builder: Any) -> None:
        self._b = builder
        self._marked: list[tuple[Any, int]] = []  # first block of a loop, what unrolling adds
        self._left: list[Any] = []  # first blocks of the others

    def close(self, back: Any, counter: Any, stop: Any) -> None:
        """A loop ends by the branch `back`; it runs from the counter's first value to `stop`."""
        more = self._more(counter, stop)
        if more is None:
            self._left.append(counter.parent)
            return
        self._marked.append((counter.parent, more))
        how = self._b.module.add_metadata(["llvm.loop.unroll.full"])
        back.set_metadata("llvm.loop", _OfALoop(self._b.module, how))

    def _more(self, counter: Any, stop: Any) -> int | None:
        """The instructions that unrolling adds; None if it isn't worth that."""
        (start, _), (following, _) = counter.incomings
        bounds = start, stop, following.operands[1]
        if not all(isinstance(x, ir.Constant) for x in bounds):
            return None
        trips = len(range(*(x.constant for x in bounds)))
        blocks = self._b.function.blocks
        own = set(blocks[blocks.index(counter.parent) :])
        size = sum(len(x.instructions) for x in own)
        size += sum(more for head, more in self._marked if head in own)
        if trips * size > _WHOLE or (trips > 1 and not own.isdisjoint(self._left)):
            return None
        return (trips - 1) * size


class _OfALoop(ir.MDValue):
    """What is said of a loop: LLVM knows it by a node whose first part is itself."""

    def __init__(self, module: Any, said: Any) -> None:
        super().__init__(module, [said], name=str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        parts = ", ".join([self.get_reference(), self.operands[0].get_reference()])
        buf += (f"distinct !{{ {parts} }}", "\n")
