"""Which arrays are overwritten as a whole before they are read?  They carry nothing in.

A scratch array that is made once and filled anew in every iteration looks like a value carried
from iteration to iteration.  Where a loop (or a nest of loops) stores to every element of an
array and reads none of them first, what the array held before is of no importance: the nest starts
from a fresh array instead.  An outer loop then carries nothing, and its iterations are
independent, which is what `sweeps.again` looks for (array privatisation; Tu & Padua 1993).
"""

from __future__ import annotations

from jitad.specialise.simplify import simplify
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, walk
from jitad.tape.types import Array, Scalar

Counts = dict[Atom, Atom]  # v of w, where w is the greater one of v and zero


def privatise(tape: Tape) -> Tape:
    """The tape with fresh arrays in the place of those that are overwritten unread."""
    counts: Counts = {
        e.outs[0]: e.ins[0] for e in walk(tape.body) if e.op == "maximum" and _is(e.ins[1], 0)
    }
    changed = _visit(tape.body, counts)
    return simplify(tape) if changed else tape


def _visit(block: Block, counts: Counts) -> bool:
    changed = False
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            changed |= _visit(inner, counts)
        if e.op == "for":
            for k, init in enumerate(e.ins[3:]):
                if not isinstance(init.type, Array) or _fresh(init, out):
                    continue
                if _covers(e, k, (), counts):
                    new = Var(init.type, init.shape)
                    zero = lit_zero(init.type.dtype)
                    params = {"dtype": init.type.dtype}
                    out.append(Equation("full", (zero, *init.shape), (new,), params, (), e.pos))
                    e.ins = (*e.ins[: 3 + k], new, *e.ins[4 + k :])
                    changed = True
        out.append(e)
    block.equations = out
    return changed


def _fresh(a: Atom, equations: list[Equation]) -> bool:
    return any(a in e.outs and e.op == "full" for e in equations[-8:])


def _covers(e: Equation, k: int, outer: tuple[Var, ...], counts: Counts) -> bool:
    """Does the loop store to every element of carried array k, the leading indices being outer?"""
    body = e.blocks[0]
    start, step, count = e.ins[:3]
    init = e.ins[3 + k]
    axis = len(outer)
    if not (_is(start, 0) and _is(step, 1) and axis < len(init.shape)):
        return False
    extent = init.shape[axis]
    if count not in (extent, counts.get(extent)):  # a loop over a negative number runs as over 0
        return False
    index, now, end = body.params[0], body.params[1 + k], body.results[k]
    users = [x for x in body.equations if now in x.ins or now in free_vars(*x.blocks)]
    if len(users) != 1 or now in body.results:
        return False
    (x,) = users
    if x.blocks and now in free_vars(*x.blocks):
        return False
    here = (*outer, index)
    if x.op == "store":
        covered = x.ins[0] is now and x.ins[1] is not now and x.ins[2:] == here
        later: Atom = x.outs[0]
    elif x.op == "for":
        at = [j for j, a in enumerate(x.ins[3:]) if a is now]
        covered = len(at) == 1 and now not in x.ins[:3] and _covers(x, at[0], here, counts)
        later = x.outs[at[0]]
    else:
        return False
    if not covered:
        return False
    # what is read after the store, or kept, must not be an element that this loop has yet to write
    return later is end and _uses(body, later) == 1


def _uses(body: Block, a: Atom) -> int:
    """How often the body and the blocks in it mention a variable."""
    inner = [x for e in walk(body) for x in (e.ins, *(b.results for b in e.blocks))]
    return sum(a is one for atoms in (*inner, body.results) for one in atoms)


def _is(a: Atom, value: int) -> bool:
    return isinstance(a, Lit) and isinstance(a.type, Scalar) and a.value == value
