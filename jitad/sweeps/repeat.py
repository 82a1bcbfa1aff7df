"""How does forward code run inside the reverse code: an iteration, a branch, a condition?

It is copied there, with variables of its own, and is swept like any visible code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jitad.sweeps.scope import Scope
from jitad.sweeps.settled import Settled
from jitad.sweeps.versions import READ
from jitad.tape.copy import Env, copy_block, read, renew
from jitad.tape.ir import Atom, Block, Equation, Var, free_vars, walk

if TYPE_CHECKING:
    from jitad.sweeps.reverse import Reverse


def again(
    sweep: Reverse, e: Equation, inner: Scope, k: Var, effects: bool, there: Mapping[int, Settled]
) -> tuple[list[Var], list[Atom]]:
    """Run a body's forward part in the reverse iteration; (carried parameters, results).

    `there`: numbers of carried arrays that are read as the loop has left them.
    """
    b, scope = sweep.b, inner.parent
    assert scope is not None
    body = e.blocks[-1]
    env = _outside(body, scope)
    index, init = 0, e.ins
    if e.op == "for":
        index, init = 1, e.ins[3:]
        start, step = scope.value(e.ins[0]), scope.value(e.ins[1])
        env[body.params[0]] = b.emit("add", start, b.emit("mul", k, step))
    primal = [
        renew(p, scope.shaped(a), env) for p, a in zip(body.params[index:], init, strict=True)
    ]
    results = _copied(sweep, body, env, effects)
    for number, found in there.items():
        _Left(sweep, scope, e.outs[number], found, env).read(b.blocks[-1])
    return primal, results


class _Left:
    """What a forward part that runs again reads of an array, or has stored there before, is read
    of the version that the loop has left; it is credited to what it stands for."""

    def __init__(
        self, sweep: Reverse, scope: Scope, last: Var, found: Settled, env: Env
    ) -> None:
        self.sweep, self.scope, self.last = sweep, scope, last
        self.versions = {env[v] for v in found.versions if v in env}
        self.kept = {env[v] for v in found.kept if v in env}

    def read(self, block: Block) -> None:
        names: dict[Atom, Atom] = {}
        for x in walk(block):
            if x.op in ("load", "slice") and x.ins[0] in self.versions:
                v = x.ins[0]
                assert isinstance(v, Var)
                if v not in names:
                    names[v] = self._named(v, "ident", (self.last,))
                x.ins = (names[v], *x.ins[1:])
        self._stored(block)
        block.equations[:0] = [self.sweep.b.sources[v] for v in names.values()]  # type: ignore[index]

    def _stored(self, block: Block) -> None:
        equations: list[Equation] = []
        now: Env = {}
        for x in block.equations:
            x.ins = tuple(read(a, now) for a in x.ins)
            for inner in x.blocks:
                _rename(inner, now)
                self._stored(inner)
            equations.append(x)
            if x.op in READ and x.ins[0] in self.versions and x.ins[1] in self.kept:
                v = x.ins[1]
                assert isinstance(v, Var)
                now[v] = self._named(v, READ[x.op], (self.last, *x.ins[2:]), **x.params)
                equations.append(self.sweep.b.sources[now[v]])  # type: ignore[index]
        block.equations[:] = equations
        block.results[:] = [read(a, now) for a in block.results]

    def _named(self, v: Var, op: str, ins: tuple[Atom, ...], **params: object) -> Var:
        same = Var(v.type, v.shape, v.name)
        self.sweep.b.sources[same] = Equation(op, ins, (same,), params)
        self.scope.origin[same] = self.scope.origin.get(v, v)
        for known in (self.sweep.active, self.sweep.reached.near):
            if v in known:
                known.add(same)
        return same


def _rename(block: Block, now: Env) -> None:
    if now:
        for x in walk(block):
            x.ins = tuple(read(a, now) for a in x.ins)
            for inner in x.blocks:
                inner.results[:] = [read(a, now) for a in inner.results]
        block.results[:] = [read(a, now) for a in block.results]


def condition_again(
    sweep: Reverse, e: Equation, scope: Scope, body: Block, primal: list[Var]
) -> Block:
    """The condition of a `while` for its twin, whose body carries more than `primal`."""
    condition = e.blocks[0]
    env = _outside(condition, scope)
    params = [Var(p.type, p.shape, p.name) for p in body.params]
    now = dict(zip(body.params, params, strict=True))
    env.update((p, now[q]) for p, q in zip(condition.params, primal, strict=True))
    with sweep.b.block(*params, isolated=True) as new:
        new.results = copy_block(sweep.b, condition, env)
    return new


def branch_again(sweep: Reverse, inner: Scope, new: Block) -> tuple[Block, list[Atom]]:
    """Run a branch's forward part in the reverse branch; (its equations, results)."""
    results = _copied(sweep, inner.forward, {}, True)
    inner.forward = new
    return Block([], list(new.equations), results), results


def _outside(block: Block, scope: Scope) -> Env:
    """What the values from around a block are in the reverse code."""
    env: Env = {}
    for v in free_vars(block):
        a = scope.value(v)
        if a is not v:
            env[v] = a
            if isinstance(a, Var):  # what is read of a restored array was read of this one
                scope.origin[a] = scope.origin.get(v, v)
    return env


def _copied(sweep: Reverse, block: Block, env: Env, effects: bool) -> list[Atom]:
    with sweep.b.unshared(sweep.passed):
        results = copy_block(sweep.b, block, env, effects)
    for known in (sweep.active, sweep.reached.near, sweep.watched):
        known.update(now for old, now in env.items() if old in known and isinstance(now, Var))
    return results
