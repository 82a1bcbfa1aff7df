"""How is a value differentiated that is the solution of an equation?

    x = implicit x0, tol, most    block(x) -> f(x)

says that x is x0, which an iteration found, and that x = f(x): f closes over what x depends on.
By the implicit function theorem its tangent and its adjoint are themselves fixed points, of maps
that are linear and contract as f does:

    dx = J dx + df        l = J^T l + ct,  adjoints of what f closes over by pulling l back

(J and df at x, ct the adjoint of x).  They are iterated until they have converged, with x done
before; how x0 was found plays no part, so nothing depends on the start.  The solutions are marked
`implicit` in turn: that is all a derivative of the derivative needs.  What f uses but x does not
depend on (a preconditioner) went through `stop`: it has no derivative.

Sources: Christianson, *Reverse accumulation and attractive fixed points*, Optim. Methods Softw. 3
(1994); Radul's DVL for converging level by level; Griewank & Walther, ch. 15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jitad.errors import JitadUnsolvedError, message
from jitad.tape.build import Builder
from jitad.tape.copy import Env, copy_block, renew, zero
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, free_vars, lit, walk
from jitad.tape.types import INT, Array, Scalar

if TYPE_CHECKING:
    from jitad.sweeps.reverse import Reverse
    from jitad.sweeps.scope import Scope

_CONTRACT = "The map must contract near its fixed point: |f'| < 1 in some norm."

Map = Callable[[Sequence[Atom]], list[Atom]]


def opened(e: Equation, free: Sequence[Var]) -> Block:
    """The block of `implicit` with some of the variables it closes over as further parameters."""
    b = Builder()
    env: Env = {}
    block = e.blocks[0]
    params = [renew(p, None, env) for p in (*block.params, *free)]
    with b.block(*params) as new:
        new.results = copy_block(b, block, env, effects=False)
    return new


def solved(
    b: Builder, e: Equation, step: Map, start: Sequence[Atom], given: Sequence[Atom]
) -> list[Atom]:
    """The fixed point of a linear map, iterated from `start`, as an `implicit` of its own.

    `given`: the operands of `e` after the solution: the tolerance, the most rounds.
    """
    tol, most = given
    real = Scalar("f8", True)
    state = [Var(a.type, a.shape) for a in start]
    gap, size, count = Var(real, (), "gap"), Var(real, (), "size"), Var(INT, (), "rounds")
    now: Env = {}
    seen = [renew(v, None, now) for v in (gap, size, count, *state)]
    with b.block(*seen) as cond:
        far = b.emit("gt", seen[0], b.emit("mul", tol, seen[1]))
        cond.results = [b.emit("logical_and", far, b.emit("lt", seen[2], most))]
    with b.block(gap, size, count, *state) as body:
        new = step(state)
        change = _norm(b, [b.emit("sub", x, y) for x, y in zip(new, state, strict=True)])
        body.results = [change, _norm(b, new), b.emit("add", count, lit(1)), *new]
    ins = (lit(float("inf")), lit(0.0), lit(0), *start)
    outs = tuple(Var(v.type, v.shape) for v in (gap, size, count, *start))
    last = b.structured("while", ins, outs, (cond, body))
    near = b.emit("le", last[0], b.emit("mul", tol, last[1]))
    finite = b.emit("lt", last[1], lit(float("inf")))
    text = message("the derivative of a solution did not converge", e.pos, _CONTRACT)
    both = b.emit("logical_and", near, finite)
    b.emit("check", both, exception=JitadUnsolvedError, message=text)
    again = [Var(a.type, a.shape) for a in start]
    with b.block(*again) as block:
        block.results = step(again)
    marked = tuple(Var(a.type, a.shape) for a in start)
    ins = (*last[3:], tol, most)
    return list(b.structured("implicit", ins, marked, (block,), dict(e.params)))


def _norm(b: Builder, parts: Sequence[Atom]) -> Atom:
    """The sum of absolute values."""
    total: Atom = lit(0.0)
    for a in parts:
        part = b.emit("abs", a)
        if isinstance(a.type, Array):
            part = b.emit("sum", part, axes=tuple(range(a.type.ndim)))
        total = b.emit("add", total, part)
    return b.emit("cast", total, dtype="f8", py=True)


def inlined(
    b: Builder, swept: Block, args: Sequence[Atom], outside: Env
) -> list[Atom]:
    """The results of a swept block for these arguments."""
    env: Env = dict(zip(swept.params, args, strict=True))
    env.update((v, outside[v]) for v in free_vars(swept) if v in outside)
    return copy_block(b, swept, env, effects=False)


def zeros(b: Builder, like: Sequence[Atom]) -> list[Atom]:
    return [zero(b, a) for a in like]


def settled(tape: Tape) -> Tape:
    """The tape with no `implicit` left: once nothing more is differentiated, x is x0."""
    for t in (tape, *tape.functions.values()):
        if any(e.op == "implicit" for e in walk(t.body)):
            _settle(t.body, {})
    return tape


def _settle(block: Block, env: Env) -> None:
    def read(a: Atom) -> Atom:
        return env.get(a, a) if isinstance(a, Var) else a

    kept: list[Equation] = []
    for e in block.equations:
        e.ins = tuple(map(read, e.ins))
        if e.op == "implicit":
            env.update(zip(e.outs, e.ins, strict=False))
            continue
        for inner in e.blocks:
            _settle(inner, env)
        kept.append(e)
    block.equations = kept
    block.results = list(map(read, block.results))


def pulled(sweep: Reverse, e: Equation, scope: Scope) -> None:
    """The adjoint of a solution converges by the transposed linear map; then it is pulled
    back to what the map closes over."""
    from jitad.sweeps.reverse import vjp_block  # which uses this file

    b = sweep.b
    seeds = [sweep.take(v, scope) for v in e.outs]
    if all(s is None for s in seeds):
        return
    block, count = e.blocks[0], len(e.outs)
    around = free_vars(block)
    free = [v for v in around if scope.origin.get(v, v) in sweep.active]
    swept = vjp_block(opened(e, free), range(count + len(free)), library=sweep.library)
    at = [scope.value(v) for v in e.outs]
    given = [scope.value(a) for a in e.ins[count:]]
    values = [scope.value(v) for v in free]
    outside: Env = {v: scope.value(v) for v in around if v not in free}
    ct = [
        s if s is not None else sweep.zero(v, scope) for v, s in zip(e.outs, seeds, strict=True)
    ]

    def back(sensitivity: Sequence[Atom]) -> list[Atom]:
        return inlined(b, swept, [*at, *values, *sensitivity], outside)[count:]

    def step(sensitivity: Sequence[Atom]) -> list[Atom]:
        out = back(sensitivity)[:count]
        return [b.emit("add", s, a) for s, a in zip(ct, out, strict=True)]

    solution = solved(b, e, step, ct, given)
    for v, part in zip(free, back(solution)[count:], strict=True):
        sweep.contribute(scope, v, part)
