"""What of a tape is not needed for its results?  Dead equations, loop carries and branch results.

Mark and sweep over the whole nest, linear: an equation is live if one of its results is, or if it
has an effect; then so are its operands and the control around it.  A carried variable that only
feeds itself is dead."""

from __future__ import annotations

from collections.abc import Iterable

from jitad.primitives import TABLE
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Var


def remove_dead(block: Block, needed: Iterable[Var] = ()) -> Block:
    """The same block without what its results, and these, don't need (changed in place)."""
    live = _mark(block, needed)
    _sweep(block, live)
    return block


def _mark(block: Block, needed: Iterable[Var]) -> set[Var]:
    live: set[Var] = set()
    todo: list[Var] = []
    needs: dict[Var, tuple[Equation | None, tuple[Atom, ...]]] = {}
    around: dict[int, Equation] = {}  # id of an equation -> the structured one that owns it
    alive: set[int] = set()
    roots: list[Equation] = []
    operators: list[Equation] = []

    def enter(b: Block, owner: Equation | None) -> None:
        stack = [(b, owner)]
        while stack:
            inner, own = stack.pop()
            for e in inner.equations:
                if own is not None:
                    around[id(e)] = own
                if not e.blocks:
                    for out in e.outs:
                        needs[out] = e, e.ins
                    if _acts(e):
                        roots.append(e)
                    continue
                _edges(e, needs)
                if e.op in ("vjp", "jvp"):
                    operators.append(e)
                stack.extend([(x, e) for x in e.blocks])

    def want(atom: Atom) -> None:
        if isinstance(atom, Var) and atom not in live:
            live.add(atom)
            todo.append(atom)

    def keep(e: Equation) -> None:
        """The equation runs: its control operands and the control around it are needed."""
        chain: Equation | None = e
        while chain is not None and id(chain) not in alive:
            alive.add(id(chain))
            for a in _control(chain):
                want(a)
            chain = around.get(id(chain))

    enter(block, None)
    for e in roots:
        keep(e)
        for a in e.ins:
            want(a)
    for a in (*block.results, *needed):
        want(a)
    while todo:
        v = todo.pop()
        maker, before = needs.get(v, (None, ()))
        for a in v.shape if operators else ():
            want(a)
        if maker is not None and (maker.blocks or id(maker) in around):
            keep(maker)
        for a in before:
            if type(a) is Var and a not in live:
                live.add(a)
                todo.append(a)
    return live


def _control(e: Equation) -> tuple[Atom, ...]:
    match e.op:
        case "for":
            return e.ins[:3]
        case "while":
            return tuple(e.blocks[0].results)
        case "if":
            return e.ins[:1]
        case "jvp" | "vjp":
            return (*e.ins, *e.blocks[0].results)
        case _:
            return ()


def _edges(e: Equation, needs: dict[Var, tuple[Equation | None, tuple[Atom, ...]]]) -> None:
    match e.op:
        case "for" | "while":
            body = e.blocks[-1]
            init = e.ins[3:] if e.op == "for" else e.ins
            params = body.params[1:] if e.op == "for" else body.params
            conds = e.blocks[0].params if e.op == "while" else [None] * len(params)
            for p, c, start, end, out in zip(
                params, conds, init, body.results, e.outs, strict=True
            ):
                # the parameter stands for the whole carry: initial value, result, next value
                needs[out] = (e, (p, start, end))
                needs[p] = (e, (start, end))
                if c is not None:
                    needs[c] = (e, (p,))
            if e.op == "for":
                needs[body.params[0]] = (e, ())
        case "if":
            for k, out in enumerate(e.outs):
                needs[out] = (e, tuple(b.results[k] for b in e.blocks))
        case "jvp" | "vjp" | "implicit":
            inner = (*e.ins, *e.blocks[0].results)
            for out in e.outs:
                needs[out] = (e, inner)
            for p in e.blocks[0].params:
                needs[p] = (e, ())


def _sweep(block: Block, live: set[Var]) -> None:
    todo = [block]
    while todo:
        b = todo.pop()
        kept = []
        for e in b.equations:
            if not e.blocks:
                if not live.isdisjoint(e.outs) or _acts(e):
                    kept.append(e)
                continue
            if not _stays(e, live):
                continue
            if e.op in ("for", "while", "if"):
                _narrow(e, live)
            kept.append(e)
            todo.extend(e.blocks)
        b.equations = kept


def _stays(e: Equation, live: set[Var]) -> bool:
    if any(v in live for v in e.outs):
        return True
    if e.blocks and e.op != "implicit":  # what is differentiated runs once, for its effects too
        return any(_stays(x, live) for b in e.blocks for x in b.equations if _effectful(x))
    return e.op not in STRUCTURED and _acts(e)


def _effectful(e: Equation) -> bool:
    if e.blocks:
        return any(_effectful(x) for b in e.blocks for x in b.equations)
    return e.op not in STRUCTURED and _acts(e)


def _narrow(e: Equation, live: set[Var]) -> None:
    """Drop dead carries or branch results of a live structured equation."""
    if e.op == "if":
        keep = [k for k, v in enumerate(e.outs) if v in live]
        for b in e.blocks:
            b.results = [b.results[k] for k in keep]
        e.outs = tuple(e.outs[k] for k in keep)
        return
    body = e.blocks[-1]
    head = 1 if e.op == "for" else 0
    first = 3 if e.op == "for" else 0
    params = body.params[head:]
    cond = e.blocks[0].params if e.op == "while" else params
    keep = [
        k for k, v in enumerate(e.outs) if v in live or params[k] in live or cond[k] in live
    ]
    body.params = body.params[:head] + [params[k] for k in keep]
    body.results = [body.results[k] for k in keep]
    e.ins = e.ins[:first] + tuple(e.ins[first + k] for k in keep)
    e.outs = tuple(e.outs[k] for k in keep)
    if e.op == "while":
        e.blocks[0].params = [cond[k] for k in keep]


def _acts(e: Equation) -> bool:
    """Does it run whether anything wants its results or not?"""
    return TABLE[e.op].effect and not e.params.get("idle", False)
