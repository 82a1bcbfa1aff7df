"""Which loops may run their forward part again in the reverse iteration, and in which order?

A loop *needs no past* if no value that the adjoint code wants depends on what earlier iterations
left behind: sums over data, map loops, likelihoods over observations.  Its reverse iteration then
starts from the index alone.  What earlier iterations left in an array that no later one overwrites
is there still, and no past: each column of an orthogonalisation is made of the columns before it.
If moreover all it carries are sums, or stores at places that differ
from iteration to iteration, iterations commute: the reverse loop may run forwards, and in the
place of the forward loop.
"""

from __future__ import annotations

from collections.abc import Collection

from jitad.primitives import TABLE
from jitad.sweeps.scope import Scope
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import Atom, Block, Equation, Var, free_vars, walk
from jitad.tape.types import Array

_ADDITIVE = {"add", "sub", "neg", "cast", "ident", "sum", "pack"}


def needs_no_past(
    e: Equation, active: set[Var], scope: Scope, there: Collection[Var] = ()
) -> bool:
    """True if nothing the adjoint code of this `for` needs depends on carried values, but for
    numbers that are read (`there`) and are still in place after the loop."""
    body = e.blocks[0]
    late = _late(e, there)
    for x in walk(body):
        if any(v in scope.lost for v in x.outs):
            return False
        if any(v in active for v in x.outs):
            sizes = [n for a in (*x.ins, *x.outs) for n in a.shape]  # of adjoints
            if any(a in late for a in (*wants(x, active), *sizes)):
                return False
        if x.op == "while" and any(a in late for a in x.blocks[0].results):
            return False
    if scope.visible:
        return True
    return all(scope.available(v) for v in free_vars(body) if isinstance(v.type, Array))


def keeps_arrays(e: Equation, active: set[Var], there: Collection[Var]) -> bool:
    """Would a loop inside this one record an array in each of its iterations?"""
    return any(
        isinstance(a.type, Array) and a in late
        for y in walk(e.blocks[0]) if y.op in ("for", "while")
        for late in [_late(y, there)]
        for x in walk(y.blocks[-1]) if any(v in active for v in x.outs)
        for a in wants(x, active)
    )  # fmt: skip


def _late(loop: Equation, there: Collection[Var]) -> set[Var]:
    """What depends on what iterations before have left behind, but for numbers still in place."""
    body = loop.blocks[-1]
    edges = predecessors(body, control=True)
    for x in walk(body):
        if x.outs and x.outs[0] in there:
            edges[x.outs[0]] = [a for a in x.ins[1:] if isinstance(a, Var)]
    return closure(body.params[1 if loop.op == "for" else 0 :], successors(edges))


def wants(x: Equation, active: set[Var]) -> list[Var]:
    """Operands whose values the adjoint of x may use."""
    match x.op:
        case "for":
            atoms: tuple[Atom, ...] = x.ins[:3]
        case "if":
            atoms = x.ins[:1]
        case "while":
            atoms = ()
        case "implicit":
            atoms = (*x.outs, *x.ins, *free_vars(*x.blocks))
        case "mul":
            a, b = x.ins
            atoms = tuple(p for p, q in ((a, b), (b, a)) if q in active)
        case "call" | "act":
            atoms = x.ins
        case _ if x.op in _ADDITIVE:
            atoms = ()
        case "attach_rule":
            rule = x.params["rule"]
            atoms = x.ins[len(x.outs) + rule.primals :]
        case _ if TABLE[x.op].linear:
            row = TABLE[x.op]
            atoms = tuple(a for k, a in enumerate(x.ins) if k not in row.linear)
        case _:
            atoms = (*x.ins, *x.outs)
    return [a for a in atoms if isinstance(a, Var)]


def in_any_order(e: Equation, carried: list[int]) -> bool:
    """True if iterations commute as far as the carried values with these numbers go."""
    body = e.blocks[-1]
    if e.op == "while":
        return all(adds_up(body, body.params[k], body.results[k]) for k in carried)
    return all(
        adds_up(body, body.params[1 + k], body.results[k])
        or _stores_apart(body, body.params[1 + k], body.results[k])
        for k in carried
    )


def adds_up(block: Block, start: Var, end: Atom) -> bool:
    """Is `end` the value of `start` plus things that don't depend on it, and used nowhere else?"""
    at = _sum_of(block, start)
    return at is not None and block.results[at] is end


def _sum_of(block: Block, start: Var) -> int | None:
    """Which result is `start` plus things that don't depend on it, where it is used for no other?

    The sum is followed from addition to addition, so that branches in branches are seen once.
    """
    uses: dict[Var, list[Equation]] = {}
    for x in block.equations:
        for a in (*x.ins, *(free_vars(*x.blocks) if x.blocks else ())):
            if isinstance(a, Var):
                uses.setdefault(a, []).append(x)
    now = start
    while now in uses:
        if len(uses[now]) != 1:
            return None
        (x,) = uses[now]
        match x.op:
            case "add" if (x.ins[0] is now) != (x.ins[1] is now):
                now = x.outs[0]
            case "sub" | "accum" | "accum_slice" if x.ins[0] is now and now not in x.ins[1:]:
                now = x.outs[0]
            case "for":
                at = [k for k, a in enumerate(x.ins[3:]) if a is now]
                body = x.blocks[0]
                if len(at) != 1 or now in x.ins[:3] or now in free_vars(body):
                    return None
                if _sum_of(body, body.params[1 + at[0]]) != at[0]:
                    return None
                now = x.outs[at[0]]
            case "if" if now is not x.ins[0]:
                first, *others = (_sum_of(b, now) for b in x.blocks)
                if first is None or any(k != first for k in others):
                    return None
                now = x.outs[first]
            case _:
                return None
    ends = [k for k, a in enumerate(block.results) if a is now]
    return ends[0] if len(ends) == 1 else None


def _stores_apart(block: Block, start: Var, end: Atom) -> bool:
    """Is `start` only stored to, once an iteration, at the loop's own index?"""
    index = block.params[0]
    shifted = {index} | {
        x.outs[0]
        for x in block.equations
        if x.op in ("add", "sub") and x.ins[0] is index and not isinstance(x.ins[1], Var)
    }
    uses = [x for x in block.equations
            if start in x.ins or (x.blocks and start in free_vars(*x.blocks))]  # fmt: skip
    if len(uses) != 1 or uses[0].op != "store" or uses[0].outs[0] is not end:
        return False
    x = uses[0]
    later = [y for y in block.equations
             if end in y.ins or (y.blocks and end in free_vars(*y.blocks))]  # fmt: skip
    return not later and x.ins[0] is start and any(a in shifted for a in x.ins[2:])
