"""Can a reverse loop take the place of its forward loop?

Where iterations commute and the seeds are known before the loop runs, value and adjoint come from
one pass, as a person would write it.  The reverse loop computes the forward results too (its
*twin* results); here the forward loop is replaced by them and the equations are put into an
order in which everything is defined before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitad.errors import GuardMiss, JitadExtentError
from jitad.primitives import TABLE, Into
from jitad.tape.build import Builder
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Lit, Var, free_vars, lit
from jitad.tape.types import Array, is_float

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
    """The equations, each after those it depends on, otherwise as they were; None for a circle.

    What comes after a check may rely on it: a store, say, on there being room.
    """
    made = {v: e for e in equations for v in e.outs}
    before: dict[int, list[Equation]] = {}
    seen: Equation | None = None  # the last whose effects are seen
    missed: Equation | None = None  # the last that says that the kernel is none for this call
    for e in equations:
        miss, effect = _is_miss(e), _has_effect(e)
        last = (missed,) if miss else (seen, missed) if effect or _may_rely(e) else ()
        before[id(e)] = [x for x in last if x is not None]
        if miss:
            missed = e
        elif effect:
            seen = e
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
            needs += before[id(e)]
            todo += [(x, False) for x in reversed(needs) if id(x) not in placed]
    return out


def _has_effect(e: Equation) -> bool:
    if e.blocks:
        return any(_has_effect(x) for b in e.blocks for x in b.equations)
    return e.op not in STRUCTURED and TABLE[e.op].effect


def _is_miss(e: Equation) -> bool:
    return e.op == "check" and issubclass(e.params["exception"], (GuardMiss, JitadExtentError))


def _may_rely(e: Equation, counts: dict[Var, Atom | None] | None = None) -> bool:
    """May it reach memory that is not its own, but for a check before it, or divide by zero?

    To read what lies beside an array does no harm: it is of no use once the check has failed.
    `counts`: how far the counters of loops around it go, if that is from zero in steps of one.
    """
    counts = counts or {}
    if e.op == "for":
        start, step, count = e.ins[:3]
        (body,) = e.blocks
        plain = _is(start, lit(0)) and _is(step, lit(1))
        counts = {**counts, body.params[0]: count if plain else None}
    if e.blocks:
        return any(_may_rely(x, counts) for b in e.blocks for x in b.equations)
    if e.op in STRUCTURED or e.op in ("dim", "full"):
        return False
    array, *rest = e.ins or (None,)
    if not any(isinstance(a.type, Array) for a in e.ins):
        return e.op in ("floordiv", "mod") and not is_float(e.outs[0].type)
    match e.op:
        case "load":
            return not all(isinstance(k, Lit) or k in counts for k in rest)
        case "store" | "accum":
            assert isinstance(array, Var)
            places = zip(rest[1:], array.shape, strict=True)
            return not all(k in counts and _is(counts[k], n) for k, n in places)  # type: ignore[index]
    return not TABLE[e.op].elementwise


def _is(a: Atom | None, b: Atom) -> bool:
    return a is b or (isinstance(a, Lit) and isinstance(b, Lit) and a.value == b.value)


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
