"""Which equations of a loop body compute the same in every iteration, and may run before the loop?

Arithmetic on the tape is total, so running an equation that the loop would not have reached is
never wrong; whether it pays is another matter.  The rules:
  * arithmetic on scalars always moves, dear functions too: entering a loop costs as much;
  * a load moves where its indices are sure to be in bounds before the loop as well;
  * work on whole arrays moves only out of loops that are sure to run, so that a loop of no
    iterations stays free of cost;
  * integer division, which Python's interpreter refuses for zero, moves with a literal divisor;
  * nothing moves out of branches, and nothing with an effect or with a buffer of its own moves.
"""

from __future__ import annotations

from collections.abc import Callable

from jitad.primitives import TABLE
from jitad.primitives.table import partial
from jitad.tape.ir import CALLS, Equation, Var
from jitad.tape.types import Scalar, Stack


def move_invariants(
    loop: Equation, in_bounds: Callable[[Equation], bool], runs: bool
) -> list[Equation]:
    """Take the invariant equations out of the loop's blocks; they are to go in front of it."""
    moved: list[Equation] = []
    for block in loop.blocks:
        inside: set[Var] = set(block.params)
        stay = []
        for e in block.equations:
            if any(a in inside for a in e.ins) or not _may_move(e, in_bounds, runs):
                inside.update(e.outs)
                stay.append(e)
            else:
                moved.append(e)
        if len(stay) == len(block.equations):
            continue
        # an equation that uses a variable of a branch or an inner loop never gets here: blocks
        # are left where they are, and their results are inside
        block.equations = stay
    return moved


def _may_move(e: Equation, in_bounds: Callable[[Equation], bool], runs: bool) -> bool:
    if e.blocks or e.op in CALLS:
        return False
    row = TABLE[e.op]
    if row.effect or row.fresh or any(isinstance(a.type, Stack) for a in (*e.ins, *e.outs)):
        return False
    if e.op == "dim":
        return True
    if e.op == "load":
        return in_bounds(e)
    if not all(isinstance(a.type, Scalar) for a in (*e.ins, *e.outs)):
        return runs and (row.elementwise or e.op in ("sum", "broadcast", "matmul"))
    return row.elementwise and not partial(e)
