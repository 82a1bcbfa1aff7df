"""Which values does only one branch want?  They are computed in it.

A value that is computed before an `if` and used in one of its branches has a derivative on that
path alone.  On the other its sensitivity is a number that happens to be zero, and 0 * inf is nan:
`y = np.sqrt(x)` in front of `if x > 0: return y`.  In the branch there is no such product, as there
is none in the eager engine.  Only values move that come from operations with a derivative that
may be infinite; others stay, where loops over them may be vectorised.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.primitives.table import tame
from jitad.tape.ir import STRUCTURED, Block, Equation, Var, free_vars

_MOVABLE = ("broadcast", "dot", "load", "matmul", "pack", "reshape", "slice", "sum", "transpose")


def confine(block: Block) -> Block:
    """The block with such values in their branches (in place)."""
    steep: set[Var] = set()
    for e in block.equations:
        if _moves(e) and (_steep(e) or steep.intersection(a for a in e.ins if isinstance(a, Var))):
            steep.update(e.outs)
    if steep and any(e.op == "if" for e in block.equations):
        _move(block, steep)
    for e in block.equations:
        for inner in e.blocks:
            confine(inner)
    return block


def _moves(e: Equation) -> bool:
    if e.op in STRUCTURED or TABLE[e.op].effect:
        return False
    return TABLE[e.op].elementwise or e.op in _MOVABLE


def _steep(e: Equation) -> bool:
    row = TABLE[e.op]
    return row.elementwise and row.differentiable and not tame(e)


def _move(block: Block, steep: set[Var]) -> None:
    """Last equations first: what only moved ones want moves with them."""
    outside = {a for a in block.results if isinstance(a, Var)}
    wanted: dict[Var, set[Block | None]] = {v: {None} for v in outside}  # None: here
    kept: list[Equation] = []
    for e in reversed(block.equations):
        homes = set().union(*(wanted.get(v, set()) for v in e.outs))
        if not steep.isdisjoint(e.outs) and len(homes) == 1 and None not in homes:
            (home,) = homes
            assert home is not None
            home.equations.insert(0, e)
        else:
            home = None
            kept.append(e)
        for a in (*e.ins, *(n for v in e.outs for n in v.shape)):
            if isinstance(a, Var):
                wanted.setdefault(a, set()).add(home)
        for inner in e.blocks:
            for a in free_vars(inner):
                wanted.setdefault(a, set()).add(inner if e.op == "if" else None)
    block.equations = kept[::-1]
