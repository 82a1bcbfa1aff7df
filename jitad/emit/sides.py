"""Does a kernel do the same with numbers that lie side by side?

It does where all elements along a short last axis are read in one place: the tangents of several
directions that were put together, rows of four.  So it does, more often than not, where there are
no arrays at all: coordinates, and a number beside its tangents, stay in registers all along.  Then
straight-line code has instructions for vectors too (superword-level parallelism), which LLVM looks
for at a price: elsewhere it finds little, and what it finds it may buy with shuffles that cost more
than they save.
"""

from __future__ import annotations

from collections import defaultdict

from jitad.tape.ir import Atom, Block, Lit, Tape, walk
from jitad.tape.types import Scalar

MARK = "SIDE_BY_SIDE"  # a name in the module's text: it is to be looked for
_WIDTHS = (4, 8)


def side_by_side(tape: Tape) -> bool:
    blocks = [tape.body, *(t.body for t in tape.functions.values())]
    return any(map(_any, blocks)) or all(map(_numbers, blocks))


def _numbers(block: Block) -> bool:
    """Are there loops, and nothing but numbers?"""
    if not any(e.op in ("for", "while") for e in walk(block)):
        return False
    atoms = [*block.params, *(v for e in walk(block) for v in e.outs)]
    return all(isinstance(v.type, Scalar) for v in atoms)


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
