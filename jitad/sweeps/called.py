"""How does the reverse sweep go back through a call?

By a call of a derivative (`calls`): in the place of the call, where all seeds are there before it;
else after it, by the reverse half of the derivative, for which the call records (`halves`), or by
a pullback that runs the forward part again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jitad.primitives import Into
from jitad.sweeps.calls import Halves
from jitad.sweeps.fuse import apart
from jitad.sweeps.scope import Scope
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Equation, Var

if TYPE_CHECKING:
    from jitad.sweeps.reverse import Reverse


def back(sweep: Reverse, e: Equation, scope: Scope) -> None:
    """Contribute to the adjoints of a call's operands."""
    seeds = [sweep.take(v, scope) for v in e.outs]
    if all(s is None for s in seeds):
        return
    b, library, name = sweep.b, sweep.library, e.params["function"]
    active = tuple(k for k, a in enumerate(e.ins) if isinstance(a, Var) and a in sweep.active)
    seeded = tuple(k for k, s in enumerate(seeds) if s is not None)
    twin = sweep.fusible(e, [s for s in seeds if s is not None], scope)
    halves = None if twin else library.halves(e, active, seeded, sweep.function)
    whole, bars, later = _handed_on(sweep, e, library.added_to(name, active, seeded), scope, twin)
    if halves is not None:
        adjoints = _link(b, e, scope, [*seeds, *bars], active, halves)
    else:
        ins = [scope.value(a) for a in e.ins]
        outs = library.pullback(b, e, ins, seeds, bars, active, twin)
        adjoints = outs[len(e.outs) :]
        if twin:
            scope.twins.append((e, tuple(outs[: len(e.outs)])))  # type: ignore[arg-type]
    by_operand = dict(zip(active, adjoints, strict=True))
    for k, v in whole.items():  # these first: the same variable may be another operand, too
        scope.adjoints[v] = sweep.added(by_operand[k], later[k])  # type: ignore[assignment]
    for k, a in by_operand.items():
        if k not in whole:
            sweep.contribute(scope, e.ins[k], a)


def so_far(inputs: Sequence[Var], root: Scope) -> list[Var]:
    """Parameters for the adjoints of these arrays that a function adds to."""
    out = []
    for p in inputs:
        shape = tuple(root.value(d) for d in p.shape)
        out.append(Var(p.type, shape, f"{p.name}_bar" if p.name else ""))
        root.adjoints[p] = out[-1]
    return out


def _handed_on(
    sweep: Reverse, e: Equation, added: Sequence[int], scope: Scope, twin: bool
) -> tuple[dict[int, Var], list[Atom], dict[int, list[Atom | Into]]]:
    """What the derivative of a call adds to: adjoints so far of these operands, or zeros.

    Where it is the adjoint so far (of these numbers), what comes back is all of it, but for what a
    twin can't have.
    """
    whole: dict[int, Var] = {}
    later: dict[int, list[Atom | Into]] = {}
    bars: list[Atom] = []
    for k in added:
        v = scope.origin.get(e.ins[k], e.ins[k])  # type: ignore[arg-type]
        assert isinstance(v, Var)
        sweep.gather(v, scope)
        now = scope.adjoint(v)
        now = None if now is None else sweep.reached.sure(now)
        parts: list[Atom | Into] = []
        if twin and now is not None and v not in whole.values():
            now, parts = apart(sweep.b, now, e)
        if v in whole.values():
            now = None
        else:
            whole[k], later[k] = v, parts
        bars.append(now if now is not None else sweep.zero(v, scope))
    return whole, bars, later


def _link(
    b: Builder, e: Equation, scope: Scope, seeds: list[Atom | None], active: tuple[int, ...],
    halves: Halves,
) -> list[Atom]:  # fmt: skip
    """Let the call e record, and call the reverse part here; gives the adjoints."""
    given = [s for s in seeds if s is not None]
    ins = [*(scope.value(e.ins[k]) for k in halves.needed), *given]
    outs = [Var(e.ins[k].type) for k in active]
    for kind in halves.kinds:
        s_out, t_out = Var(kind), Var(kind)
        s_in, t_in = scope.lift(e, s_out, t_out)
        e.ins, e.outs = (*e.ins, s_in), (*e.outs, s_out)
        scope.sources[s_out] = e
        ins.append(t_in)
        outs.append(t_out)
    params = {**e.params, "function": halves.forward}
    params["results"] = tuple(v.type for v in e.outs)
    e.params = params
    back = {"function": halves.reverse, "results": tuple(v.type for v in outs), "quiet": True}
    b.structured("call", tuple(ins), tuple(outs), (), back)
    return list(outs[: len(active)])
