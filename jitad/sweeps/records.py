"""How does a reverse body get the forward values it asked for?

`settle` looks which requests the finished adjoint code really uses, lets the minimum cut choose
what to record, writes pushes into the forward body and pops, or clones of the equations that
compute a value again, into the head of the reverse body.  Scalars of a branch need no stack: they
become further results of the `if`.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from jitad.primitives import TABLE
from jitad.primitives.table import CHEAP_ON_ARRAYS, costly
from jitad.sweeps.cut import minimum_cut
from jitad.sweeps.fuse import finish
from jitad.sweeps.scope import Scope, Thread
from jitad.sweeps.windows import joined
from jitad.tape.build import Builder
from jitad.tape.copy import lit_zero
from jitad.tape.dead import remove_dead
from jitad.tape.ir import Atom, Equation, Var, free_vars
from jitad.tape.types import Array, Scalar, Stack

_ARRAY = 64  # what it costs to record one, where a number costs 1


def settle(b: Builder, scope: Scope) -> list[Thread]:
    """Define all placeholders of a scope; gives the stacks its loop has to carry."""
    reverse = scope.reverse
    asked = scope.reached.needed if scope.reached is not None else ()
    if scope.visible:
        finish(scope)
        remove_dead(reverse, asked)
        return []
    _insert_logs(scope)
    _share_costly(scope)
    extra = [t.t_out for t in scope.threads] + [t for t, _, _ in scope.passing]
    count = len(reverse.results)
    reverse.results += extra
    remove_dead(reverse, asked)
    del reverse.results[count:]
    used = set(free_vars(reverse))
    needed = [v for v, wish in scope.requests.items() if wish in used]
    needed = [v for v in dict.fromkeys(needed) if v not in scope.known]
    _provide(scope, needed)
    return scope.threads


def _share_costly(scope: Scope) -> None:
    """What a derivative asks for, and the forward code has computed at some cost, is the same: the
    cosine of a sine's derivative where a rotation has both."""
    made = {(e.op, e.ins, *e.params.values()): e.outs[0]
            for e in scope.forward.equations if not e.blocks and costly(e)}  # fmt: skip
    if not made:
        return
    meant: dict[Atom, Atom] = {wish: v for v, wish in scope.requests.items()}
    for e in scope.reverse.equations:
        if e.blocks or not costly(e):
            continue
        ins = tuple(meant.get(a, a) for a in e.ins)
        v = made.get((e.op, ins, *e.params.values()))
        if v is not None:
            e.op, e.ins, e.params = "ident", (scope.requested(v),), {}


def _provide(scope: Scope, needed: list[Var]) -> None:
    made = {v: e for e in scope.forward.equations for v in e.outs}
    order = {v: k for k, v in enumerate([*scope.forward.params, *made])}
    versions = scope.versions
    inputs: dict[Var, list[Var]] = {}
    cost: dict[Var, int] = {}
    fixed: set[Var] = set()
    # users before what they use, so that the first region that wants a value is known
    first = {v: versions.asked.get(v, 0) for v in needed}
    todo = [(-order[v], v) for v in needed]
    heapify(todo)
    while todo:
        _, v = heappop(todo)
        if v in cost:
            continue
        cost[v] = 1 if isinstance(v.type, Scalar) else _ARRAY
        e = made.get(v)
        if versions.readable(v, first[v]):
            inputs[v] = []
            continue
        left = _left(v, scope, order)
        if left is not None:
            made[v] = e = left
        elif e is None or v in versions.logged or not _repeatable(e, scope, first[v]):
            fixed.add(v)
            continue
        inputs[v] = [
            a for a in e.ins
            if isinstance(a, Var) and a in scope.owns and a not in scope.known
            and not versions.readable(a, first[v])
        ]  # fmt: skip
        for a in inputs[v]:
            first[a] = min(first.get(a, first[v]), first[v])
            heappush(todo, (-order[a], a))
    recorded = minimum_cut(inputs, cost, fixed, needed)
    windows = [made[v] for v in sorted(fixed, key=order.__getitem__) if v in made]
    if sum(cost[v] for v in recorded) > _ARRAY and joined(scope, windows):  # to be one record
        _provide(scope, needed)
        return
    # what is recorded comes back by its extents: they are needed as well
    extents = [
        d for v in sorted(recorded, key=order.__getitem__) for d in v.shape
        if isinstance(d, Var) and d in scope.owns and d not in scope.known and d not in needed
    ]  # fmt: skip
    if extents:
        _provide(scope, [*needed, *dict.fromkeys(extents)])
        return
    again: list[Var] = []
    seen: set[Var] = set()
    wanted = list(needed)
    while wanted:
        v = wanted.pop()
        if v in seen or v in recorded:
            continue
        seen.add(v)
        again.append(v)
        wanted += inputs[v]
    pops = _record(scope, sorted(recorded, key=order.__getitem__))
    again.sort(key=order.__getitem__)
    _place(scope, _repeat(scope, again, made, inputs, first, pops))


def _repeatable(e: Equation, scope: Scope, region: int) -> bool:
    """Is computing e again, for code of this region, cheaper than recording its result?"""
    if e.blocks or e.outs[0] in scope.lost:
        return False
    row = TABLE[e.op]
    if row.effect or costly(e):
        return False
    if e.op in ("load", "slice", "take"):
        return e.ins[0] in scope.hulls or scope.available(e.ins[0], region)
    if e.op in ("store", "store_slice"):
        return _made_here(e.ins[0], scope)
    if any(isinstance(v.type, Array) for v in e.outs):
        there = all(_is_there(a, scope, region) for a in e.ins)
        return there and (row.elementwise or e.op in CHEAP_ON_ARRAYS)
    if e.op == "dim":
        return False
    return row.elementwise


def _is_there(a: Atom, scope: Scope, region: int) -> bool:
    """If it is a version of an array that the sweep restores: does this region's code have it?"""
    return a not in scope.versions.ever or scope.versions.readable(a, region)


def _left(v: Var, scope: Scope, order: dict[Var, int]) -> Equation | None:
    """How a value is read from the array that it was stored in, and that still has it."""
    e = scope.kept.get(v)
    if e is None or e.ins[0] not in scope.versions.ever:  # it was stored in another block
        return None
    late = (a for a in e.ins[1:] if a in scope.owns and a not in scope.known)
    return None if any(order[a] >= order[v] for a in late) else e  # type: ignore[index]


def _made_here(a: Atom, scope: Scope) -> bool:
    """Is the array stored to a new one, whose making and whose stores are all of this block?"""
    while isinstance(a, Var) and a in scope.owns and a in scope.sources:
        e = scope.sources[a]
        if e.op not in ("store", "store_slice"):
            return e.op == "full"
        a = e.ins[0]
    return False


def _record(scope: Scope, recorded: list[Var]) -> dict[Var, Equation]:
    """Push these values in the forward block; gives the equations that get them back."""
    back: dict[Var, Equation] = {}
    pushes: dict[Var, Equation] = {}
    for v in recorded:
        if scope.owner is not None and scope.owner.op == "if" and isinstance(v.type, Scalar):
            back[v] = _promote(scope, v)
            continue
        kind = Stack(v.type)  # type: ignore[arg-type]
        s_out, t_out = Var(kind), Var(kind)
        if scope.owner is not None and scope.owner.op == "if":
            s_in, t_in = scope.lift_branch(s_out, t_out)
        else:
            t = Thread(Var(kind), s_out, Var(kind), t_out)
            scope.threads.append(t)
            s_in, t_in = t.s_in, t.t_in
        pushes[v] = Equation("push", (s_in, v), (s_out,))
        dims = tuple(scope.value(d) for d in v.shape)
        back[v] = Equation("pop", (t_in, *dims), (t_out, scope.requested(v)))
    _insert_pushes(scope, pushes)
    return back


Placed = list[tuple[int, Var | None, Equation]]  # region, version that is read, equation


def _repeat(
    scope: Scope, again: list[Var], made: dict[Var, Equation],
    inputs: dict[Var, list[Var]], first: dict[Var, int], pops: dict[Var, Equation],
) -> Placed:  # fmt: skip
    """Clones of the equations that compute values again, each for the region where it can be.

    The pops come with them: they need the extents of what they give.
    """
    versions = scope.versions
    place: dict[Var, int] = {}
    out: Placed = []
    for v in again:
        if versions.readable(v, first[v]):
            place[v] = versions.region_of[v]
            out.append((place[v], v, Equation("ident", (versions.ever[v],), (scope.requested(v),))))
            continue
        e = made[v]
        read = next((a for a in e.ins if versions.readable(a, first[v])), None)
        place[v] = max(
            [place.get(a, 0) for a in inputs[v]]
            + [versions.region_of[a] for a in e.ins if a in versions.ever]  # type: ignore[index]
        , default=0)
        ins = tuple(versions.ever[a] if versions.readable(a, first[v]) else scope.value(a)  # type: ignore[index]
                    for a in e.ins)  # fmt: skip
        clone = Equation(e.op, ins, (scope.requested(v),), e.params, (), e.pos)
        out.append((place[v], read, clone))  # type: ignore[arg-type]
    early = [(max((place.get(d, 0) for d in v.shape), default=0), None, e)  # type: ignore[arg-type]
             for v, e in pops.items()]  # fmt: skip
    return early + out


def _place(scope: Scope, clones: Placed) -> None:
    """Put the equations that define requested values into the reverse block."""
    versions = scope.versions
    undone = {id(e) for _, _, e in versions.undone}
    head = {id(e) for e in scope.head}
    rest = [e for e in scope.reverse.equations if id(e) not in head and id(e) not in undone]
    alive = {id(e) for e in scope.reverse.equations}
    after: dict[int, list[Equation]] = {}  # by number of equations of the rest in front
    position = {v: k + 1 for k, e in enumerate(rest) for v in e.outs}
    at = 0
    for region in range(versions.region + 1):
        mine = [(v, e) for r, v, e in clones if r == region]
        steps = [(v, e) for v, r, e in versions.undone if r == region and id(e) in alive]
        starts = [q for v, q in versions.ever.items() if versions.region_of[v] == region]
        at = max([at, *(position.get(q, 0) for q in starts if isinstance(q, Var))])
        after.setdefault(at, []).extend(_scheduled(mine, steps))
    out = [*scope.head]
    for k in range(len(rest) + 1):
        out += after.get(k, ())
        out += rest[k : k + 1]
    scope.reverse.equations = out


def _scheduled(
    clones: list[tuple[Var | None, Equation]], steps: list[tuple[Var, Equation]]
) -> list[Equation]:
    """What reads a version comes before the step to the one before it, which is in place then."""
    readers: dict[Var | None, list[Equation]] = {}
    for v, e in clones:
        readers.setdefault(v, []).append(e)
    roots: list[Equation] = []
    for v, e in steps:
        roots += [*readers.pop(v, ()), e]
    roots += [e for _, e in clones]
    makes = {v: e for e in [e for _, e in clones] + [e for _, e in steps] for v in e.outs}
    done: set[int] = set()
    out: list[Equation] = []
    for root in roots:
        todo = [(root, False)]
        while todo:
            e, ready = todo.pop()
            if id(e) in done:
                continue
            if ready:
                done.add(id(e))
                out.append(e)
                continue
            todo.append((e, True))
            todo += [(makes[a], False) for a in e.ins if a in makes and id(makes[a]) not in done]  # type: ignore[index]
    return out


def _insert_logs(scope: Scope) -> None:
    """Read what stores overwrite, just before they do."""
    logs = scope.versions.logs
    if logs:
        scope.forward.equations = [
            x for e in scope.forward.equations
            for x in ((logs[id(e)], e) if id(e) in logs else (e,))
        ]  # fmt: skip


def _promote(scope: Scope, v: Var) -> Equation:
    """A branch's scalar becomes a result of the `if`; the other branch gives zero."""
    e, parent = scope.owner, scope.parent
    assert e is not None and parent is not None
    out = Var(v.type, (), v.name)
    e.outs = (*e.outs, out)
    scope.sources[out] = e
    e.blocks[scope.branch].results.append(v)
    e.blocks[1 - scope.branch].results.append(lit_zero(v.type.dtype))  # type: ignore[union-attr]
    parent.owns.add(out)
    return Equation("ident", (parent.value(out),), (scope.requested(v),))


def _insert_pushes(scope: Scope, pushes: dict[Var, Equation]) -> None:
    if not pushes:
        return
    block = scope.forward
    equations = [pushes[p] for p in block.params if p in pushes]
    for e in block.equations:
        equations.append(e)
        equations += [pushes[v] for v in e.outs if v in pushes]
    block.equations = equations
