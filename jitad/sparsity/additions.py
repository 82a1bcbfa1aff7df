"""Which stores add to what is there?

`out[i] += v` reads, adds and stores.  Where nobody else sees what was read or the sum, it is an
addition to the element, which asks nothing of the element's derivatives: the assembly of a
residual from contributions has each of its terms on its own.
"""

from __future__ import annotations

from collections import Counter

from jitad.tape.dead import remove_dead
from jitad.tape.ir import Atom, Block, Equation, Tape, Var
from jitad.tape.types import is_float

_READS = {"store": "load", "store_slice": "slice", "store_take": "take"}


def additions(tape: Tape) -> Tape:
    """The tape with such stores as `accum` (changed in place)."""
    _visit(tape.body, uses(tape.body))
    remove_dead(tape.body)
    return tape


def uses(block: Block) -> Counter[Atom]:
    """How often each variable is used; of the sides of an `if` there is only one."""
    out: Counter[Atom] = Counter(block.results)
    for e in block.equations:
        out.update(() if e.op == "dim" else e.ins)
        inner = [uses(b) for b in e.blocks]
        for found in [inner[0] | inner[1]] if e.op == "if" else inner:
            out.update(found)
    return out


def _visit(block: Block, used: Counter[Atom]) -> None:
    made: dict[Atom, Equation] = {}
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner, used)
        added = _added(e, made, used) if e.op in _READS else None
        if added is None:
            out.append(e)
            made.update((v, e) for v in e.outs)
            continue
        v, negated = added
        if negated:
            minus = Var(v.type, v.shape)
            out.append(Equation("neg", (v,), (minus,), {}, (), e.pos))
            v = minus
        op = "accum" + e.op.removeprefix("store")
        out.append(Equation(op, (e.ins[0], v, *e.ins[2:]), e.outs, e.params, (), e.pos))
    block.equations = out


def _added(
    e: Equation, made: dict[Atom, Equation], used: Counter[Atom]
) -> tuple[Atom, bool] | None:
    """What the store adds to what is there, and whether it is taken from it."""
    total = made.get(e.ins[1])
    if total is None or total.op not in ("add", "sub") or used[total.outs[0]] > 1:
        return None
    if total.outs[0].type.dtype != e.ins[0].type.dtype:  # type: ignore[union-attr]
        return None
    for k in (0, 1) if total.op == "add" else (0,):
        read, other = made.get(total.ins[k]), total.ins[1 - k]
        if read is None or read.op != _READS[e.op] or used[read.outs[0]] > 1:
            continue
        same = read.ins == (e.ins[0], *e.ins[2:]) and read.params == e.params
        if same and isinstance(other, Var) and is_float(other.type):
            return other, total.op == "sub"
    return None
