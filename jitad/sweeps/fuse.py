"""Can a reverse loop take the place of its forward loop?

Where iterations commute and the seeds are known before the loop runs, value and adjoint come from
one pass, as a person would write it.  The reverse loop computes the forward results too (its
*twin* results); here the forward loop is replaced by them and the equations are put into an
order in which everything is defined before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitad.primitives import TABLE, Into
from jitad.tape.build import Builder
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Var, free_vars

if TYPE_CHECKING:
    from jitad.sweeps.scope import Scope


def independent(b: Builder, atoms: list[Atom], e: Equation) -> bool:
    """True if none of the atoms depends on a result of e."""
    results = set(e.outs)
    first = min(v.serial for v in e.outs)
    todo = [a for a in atoms if isinstance(a, Var)]
    seen: set[Var] = set()
    while todo:
        v = todo.pop()
        if v in results:
            return False
        if v in seen or v.serial < first:  # made before e was
            continue
        seen.add(v)
        x = b.sources.get(v)
        if x is not None:
            todo += [a for a in x.ins if isinstance(a, Var)]
            todo += free_vars(*x.blocks)
    return True


def apart(b: Builder, adjoint: Atom, e: Equation) -> tuple[Atom | None, list[Atom | Into]]:
    """An adjoint as what is independent of the results of e, and what is to be added to that.

    A twin that adds to an adjoint is given the former: its own results are part of the latter.
    """
    now: Atom | None = adjoint
    later: list[Atom | Into] = []
    while now is not None and not independent(b, [now], e):
        x = b.sources.get(now)  # type: ignore[arg-type]
        match x:
            case Equation(op="accum" | "accum_slice" | "accum_take", ins=(base, *args)):
                later.append(Into(x.op, tuple(args), x.params))
                now = base
            case Equation(op="add", ins=(one, other)):
                now, part = (other, one) if independent(b, [other], e) else (one, other)
                later.append(part)
            case _:
                later.append(now)
                now = None
    return now, later[::-1]


def finish(scope: Scope) -> None:
    """A visible scope is complete: its stacks are made where they are needed, twins fused."""
    block = scope.forward
    if scope.before:
        block.equations = [
            x for e in block.equations for x in (*scope.before.get(id(e), ()), e)
        ]
    if scope.twins:
        fuse_twins(block, scope.twins)


def fuse_twins(block: Block, twins: list[tuple[Equation, tuple[Var, ...]]]) -> None:
    """Replace each forward loop by the results of its twin; order the equations again.

    A twin that turns out to depend on its forward loop after all, through other twins, stays
    beside it: then the forward results are computed twice, which is right, if not fast.
    """
    equations = block.equations
    for e, outs in twins:
        names = [
            Equation("ident", (new,), (old,)) for old, new in zip(e.outs, outs, strict=True)
        ]
        # Its effects happen where those of the forward loop did, before what is checked of results.
        twin = next(x for x in equations if outs[0] in x.outs)
        rest = [x for x in equations if x is not twin]
        changed = [y for x in rest for y in ((twin, *names) if x is e else (x,))]
        ordered = _in_order(changed)
        if ordered is not None:
            equations = changed
    ordered = _in_order(equations)
    assert ordered is not None
    block.equations = ordered


def _in_order(equations: list[Equation]) -> list[Equation] | None:
    """The equations, each after those it depends on, otherwise as they were; None for a circle."""
    made = {v: e for e in equations for v in e.outs}
    before: dict[int, Equation | None] = {}
    last: Equation | None = None
    for e in equations:
        if _has_effect(e):
            before[id(e)] = last
            last = e
    placed: set[int] = set()
    begun: set[int] = set()
    out: list[Equation] = []
    for root in equations:
        todo = [(root, False)]
        while todo:
            e, ready = todo.pop()
            if id(e) in placed:
                continue
            if ready:
                placed.add(id(e))
                out.append(e)
                continue
            if id(e) in begun:
                return None
            begun.add(id(e))
            todo.append((e, True))
            needs = [made[a] for a in (*e.ins, *free_vars(*e.blocks))
                     if isinstance(a, Var) and a in made]  # fmt: skip
            previous = before.get(id(e))
            if previous is not None:
                needs.append(previous)
            todo += [(x, False) for x in reversed(needs) if id(x) not in placed]
    return out


def _has_effect(e: Equation) -> bool:
    if e.blocks:
        return any(_has_effect(x) for b in e.blocks for x in b.equations)
    return e.op not in STRUCTURED and TABLE[e.op].effect


def set_aside(b: Builder, e: Equation, scope: Scope) -> dict[Var, list[Atom | Into]]:
    """What adjoints so far have of the results of e, which its twin may not ask for."""
    later: dict[Var, list[Atom | Into]] = {}
    for v, a in list(scope.adjoints.items()):
        base, parts = apart(b, a, e)
        if parts:
            later[v] = parts
            if base is None:
                del scope.adjoints[v]
            else:
                scope.adjoints[v] = base
    return later
