"""Does a kernel do the same with numbers that lie side by side?

It does where all elements along a short last axis are read in one place: the tangents of several
directions that were put together, rows of four.  Then straight-line code has instructions for
vectors too (superword-level parallelism), which LLVM looks for at a price: elsewhere it finds
little, and what it finds it may buy with shuffles that cost more than they save.
"""

from __future__ import annotations

from collections import defaultdict

from jitad.tape.ir import Atom, Block, Lit, Tape

MARK = "SIDE_BY_SIDE"  # a name in the module's text: it is to be looked for
_WIDTHS = (4, 8)


def side_by_side(tape: Tape) -> bool:
    return any(map(_any, (tape.body, *(t.body for t in tape.functions.values()))))


def _any(block: Block) -> bool:
    read: dict[tuple[Atom, ...], set[int]] = defaultdict(set)
    for e in block.equations:
        if any(map(_any, e.blocks)):
            return True
        if e.op == "load" and isinstance(k := e.ins[-1], Lit):
            array, n = e.ins[0], e.ins[0].shape[-1:]
            if n and isinstance(n[0], Lit) and n[0].value in _WIDTHS and len(array.shape) > 1:
                found = read[e.ins[:-1]]
                found.add(int(k.value))
                if len(found) == n[0].value:
                    return True
    return False
