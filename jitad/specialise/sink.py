"""When is a part of an array set to a number?  Once what was there has been read.

The adjoint of `u[1:-1] = v` reads the inner part of u's adjoint and sets it to zero.  On the tape
the part is a slice of the old version, so wherever it is used after the zeros are there, the old
version is still needed, and the zeros go to a copy.  Here they are stored just before they are
first wanted; what reads the old version comes before, and no copy is made.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, free_vars, is_array, walk


def sink(tape: Tape) -> Tape:
    """The tape with such stores moved down (in place)."""
    for block in [tape.body, *(b for e in walk(tape.body) for b in e.blocks)]:
        _sink(block)
    return tape


def _sink(block: Block) -> None:
    moved = [e for e in block.equations if e.op == "store_slice" and not is_array(e.ins[1])]
    if not moved:
        return
    waiting: dict[Var, Equation] = {e.outs[0]: e for e in moved}
    out: list[Equation] = []
    behind: dict[Var, Equation] = {}  # which checks say that there are such elements
    stopping: Equation | None = None
    for e in block.equations:
        if e.outs and e.outs[0] in waiting and stopping is not None:
            behind[e.outs[0]] = stopping
        if e.op == "check" or any(x.op == "check" for b in e.blocks for x in walk(b)):
            stopping = e

    def place(v: Atom) -> None:
        if isinstance(v, Var) and v in waiting:
            e = waiting.pop(v)
            place(e.ins[0])
            out.append(e)

    for e in block.equations:
        if waiting.get(e.outs[0] if e.outs else None) is e:  # type: ignore[arg-type]
            continue
        for a in (*e.ins, *free_vars(*e.blocks)):
            place(a)
        out.append(e)
    for a in (*block.results, *waiting):
        place(a)
    for e in moved:
        _rise(out, e, behind.get(e.outs[0]))
    block.equations = out


_VIEWS = ("slice", "transpose", "broadcast")


def _rise(equations: list[Equation], e: Equation, check: Equation | None) -> None:
    """Move a store up to right behind the last equation that may read what it overwrites.

    It stays behind the check that was before it.
    """
    at = equations.index(e)
    reads: set[Atom] = {e.ins[0]}  # what is computed from the old version, perhaps when it is used
    last = -1
    for k, x in enumerate(equations[:at]):
        if reads.intersection(x.ins) or reads.intersection(free_vars(*x.blocks)):
            last = k
            lazy = not x.blocks and (x.op in _VIEWS or TABLE[x.op].elementwise)
            reads.update(x.outs if lazy else ())
        if any(v in e.ins for v in x.outs) or x is check:
            last = k
    equations.insert(last + 1, equations.pop(at))
