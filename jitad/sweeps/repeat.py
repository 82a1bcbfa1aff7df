"""How does forward code run inside the reverse code: an iteration, a branch, a condition?

It is copied there, with variables of its own, and is swept like any visible code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitad.sweeps.scope import Scope
from jitad.tape.copy import Env, copy_block, renew
from jitad.tape.ir import Atom, Block, Equation, Var, free_vars

if TYPE_CHECKING:
    from jitad.sweeps.reverse import Reverse


def again(
    sweep: Reverse, e: Equation, inner: Scope, k: Var, effects: bool
) -> tuple[list[Var], list[Atom]]:
    """Run a body's forward part in the reverse iteration; (carried parameters, results)."""
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
    return primal, _copied(sweep, body, env, effects)


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
    for known in (sweep.active, sweep.reached.near):
        known.update(now for old, now in env.items() if old in known and isinstance(now, Var))
    return results
