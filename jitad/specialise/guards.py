"""What do the guards of a kernel say about extents?

A trace may rely on an extent of an argument being what it is in the call that it was made for (a
vector of 3, where the program adds it to another vector of 3).  Such a guard is a `check` of the
root block that raises GuardMiss.  Guards come first here, and from there on the extent is that
literal, so that small arrays are seen to be small.
"""

from __future__ import annotations

from jitad.errors import GuardMiss
from jitad.tape.build import Builder
from jitad.tape.copy import begin, copy_block, read
from jitad.tape.dead import remove_dead
from jitad.tape.ir import Block, Equation, Lit, Tape, Var
from jitad.tape.types import is_float


def apply_guards(tape: Tape) -> Tape:
    """The tape with guarded extents as literals."""
    first, rest = _split(tape.body)
    known = _known(first)
    if not known:
        return tape
    b = Builder()
    env = begin(b, tape.body)
    new = b.blocks[0]
    copy_block(b, Block([], first, []), env)
    for old in tape.body.params:
        var = env[old]
        assert isinstance(var, Var)
        var.shape = tuple(
            known[d] if isinstance(d, Var) and d in known else read(d, env) for d in old.shape
        )
    env.update(known)
    new.results = copy_block(b, Block([], rest, tape.body.results), env)
    return Tape(tape.name, remove_dead(new), tape.pos)


def _split(block: Block) -> tuple[list[Equation], list[Equation]]:
    """Guards with what they look at, and everything else."""
    plain = set(block.params)
    early: list[Equation] = []
    rest: list[Equation] = []
    for e in block.equations:
        test = e.op in ("dim", "eq", "ne", "ge") and all(
            isinstance(a, Lit) or a in plain for a in e.ins
        )
        guard = e.op == "check" and e.params["exception"] is GuardMiss and e.ins[0] in plain
        if test or guard:
            early.append(e)
            plain.update(e.outs)
        else:
            rest.append(e)
    return early, rest


def _known(guards: list[Equation]) -> dict[Var, Lit]:
    made = {v: e for e in guards for v in e.outs}
    known: dict[Var, Lit] = {}
    for e in guards:
        test = made.get(e.ins[0]) if e.op == "check" else None  # type: ignore[arg-type]
        if test is not None and test.op == "eq":
            n, k = test.ins
            if not (isinstance(n, Var) and isinstance(k, Lit) and n.type == k.type):
                continue
            if not is_float(n.type):  # a float that equals 0.0 may be -0.0
                known[n] = k
    return known
