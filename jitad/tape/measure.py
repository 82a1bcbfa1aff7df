"""Which extents are read off once more, since a pass uses them after all?

The extents of an array are atoms, read off by `dim` equations where nothing else says them.  Those
that nobody uses are dead and go, while shapes go on naming them: a shape is no use.  A pass that
edits a tape where it lies may need one again, as the length of an array of records, say.  It is
then read off the first array around that has it.
"""

from __future__ import annotations

from collections import ChainMap

from jitad.tape.ir import Block, Equation, Tape, Var

# An extent, and where it may be read: behind which equation of which block, of which array; with
# what that block defines.
_Places = ChainMap[Var, tuple[list[Var], Block, Equation | None, Var, int]]


def measured(tape: Tape) -> Tape:
    """The tape with extents that are used and not defined (in place)."""
    for t in (tape, *tape.functions.values()):
        _visit(t.body, set(), ChainMap())
    return tape


def _visit(block: Block, known: set[Var], places: _Places) -> None:
    own: list[Var] = []

    def define(v: Var, maker: Equation | None) -> None:
        known.add(v)
        own.append(v)
        for k, n in enumerate(v.shape):
            if isinstance(n, Var) and n not in places:
                places[n] = own, block, maker, v, k

    for p in block.params:
        define(p, None)
    for e in (*block.equations, None):
        for a in block.results if e is None else e.ins:
            if isinstance(a, Var) and a not in known and a in places:
                theirs, *_ = places[a]
                _read_off(a, *places[a][1:])
                known.add(a)
                theirs.append(a)
        if e is not None:
            for b in e.blocks:
                _visit(b, known, places.new_child())
            for v in e.outs:
                define(v, e)
    known.difference_update(own)


def _read_off(n: Var, block: Block, maker: Equation | None, array: Var, axis: int) -> None:
    at = 0 if maker is None else block.equations.index(maker) + 1
    block.equations.insert(at, Equation("dim", (array,), (n,), {"axis": axis}))
