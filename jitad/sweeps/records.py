"""How does a reverse body get the forward values it asked for?

`settle` looks which requests the finished adjoint code really uses, lets the minimum cut choose
what to record, writes pushes into the forward body and pops, or clones of the equations that
compute a value again, into the head of the reverse body.  Scalars of a branch need no stack: they
become further results of the `if`.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.specialise.dead import remove_dead
from jitad.sweeps.cut import minimum_cut
from jitad.sweeps.fuse import finish
from jitad.sweeps.scope import Scope, Thread
from jitad.tape.build import Builder
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Equation, Var, free_vars
from jitad.tape.types import Array, Scalar, Stack

_CHEAP_ON_ARRAYS = {"slice", "broadcast", "reshape", "transpose", "full", "iota", "copy"}


def settle(b: Builder, scope: Scope) -> list[Thread]:
    """Define all placeholders of a scope; gives the stacks its loop has to carry."""
    reverse = scope.reverse
    if scope.visible:
        finish(scope)
        remove_dead(reverse)
        return []
    extra = [t.t_out for t in scope.threads] + [t for t, _, _ in scope.passing]
    count = len(reverse.results)
    reverse.results += extra
    remove_dead(reverse)
    del reverse.results[count:]
    used = set(free_vars(reverse))
    needed = [v for v, wish in scope.requests.items() if wish in used]
    for v in list(needed):
        needed += [d for d in v.shape if isinstance(d, Var) and d in scope.owns]
    needed = [v for v in dict.fromkeys(needed) if v not in scope.known]
    _provide(scope, needed)
    return scope.threads


def _provide(scope: Scope, needed: list[Var]) -> None:
    made = {v: e for e in scope.forward.equations for v in e.outs}
    order = {v: k for k, v in enumerate([*scope.forward.params, *made])}
    inputs: dict[Var, list[Var]] = {}
    cost: dict[Var, int] = {}
    fixed: set[Var] = set()
    todo = list(needed)
    while todo:
        v = todo.pop()
        if v in cost:
            continue
        cost[v] = 1 if isinstance(v.type, Scalar) else 64
        e = made.get(v)
        if e is None or not _repeatable(e, scope):
            fixed.add(v)
            continue
        inputs[v] = [
            a for a in e.ins if isinstance(a, Var) and a in scope.owns and a not in scope.known
        ]
        todo += inputs[v]
    recorded = minimum_cut(inputs, cost, fixed, needed)
    again: list[Equation] = []
    seen: set[Var] = set()
    todo = list(needed)
    while todo:
        v = todo.pop()
        if v in seen or v in recorded:
            continue
        seen.add(v)
        if made[v] not in again:
            again.append(made[v])
        todo += inputs[v]
    _write(scope, sorted(recorded, key=order.__getitem__),
           sorted(again, key=lambda e: order[e.outs[0]]), order)  # fmt: skip


def _repeatable(e: Equation, scope: Scope) -> bool:
    """Is computing e again cheaper than recording its result?"""
    if e.blocks:
        return False
    row = TABLE[e.op]
    if row.effect or row.dear:
        return False
    if e.op in ("load", "slice"):
        return scope.available(e.ins[0])
    if any(isinstance(v.type, Array) for v in e.outs):
        return row.elementwise or e.op in _CHEAP_ON_ARRAYS
    if e.op == "dim":
        return False
    return row.elementwise


def _write(scope: Scope, recorded: list[Var], again: list[Equation], order: dict) -> None:
    prefix: list[tuple[int, Equation]] = []
    pushes: dict[Var, Equation] = {}
    for v in recorded:
        if scope.owner is not None and scope.owner.op == "if" and isinstance(v.type, Scalar):
            prefix.append((order[v], _promote(scope, v)))
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
        wish = scope.value(v)
        assert isinstance(wish, Var)
        prefix.append((order[v], Equation("pop", (t_in, *dims), (t_out, wish))))
    for e in again:
        outs = tuple(scope.value(v) for v in e.outs)
        ins = tuple(scope.value(a) for a in e.ins)
        clone = Equation(e.op, ins, outs, e.params, (), e.pos)  # type: ignore[arg-type]
        prefix.append((order[e.outs[0]], clone))
    _insert_pushes(scope, pushes)
    prefix.sort(key=lambda pair: pair[0])
    head = {id(e) for e in scope.head}
    rest = [e for e in scope.reverse.equations if id(e) not in head]
    scope.reverse.equations = scope.head + [e for _, e in prefix] + rest


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
    wish = scope.value(v)
    assert isinstance(wish, Var)
    return Equation("ident", (parent.value(out),), (wish,))


def _insert_pushes(scope: Scope, pushes: dict[Var, Equation]) -> None:
    if not pushes:
        return
    block = scope.forward
    equations = [pushes[p] for p in block.params if p in pushes]
    for e in block.equations:
        equations.append(e)
        equations += [pushes[v] for v in e.outs if v in pushes]
    block.equations = equations
