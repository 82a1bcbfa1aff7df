"""How are functions with derivative rules of their own differentiated on a tape?

Forward mode puts the block (results, tangents) of the rule in the place of the call.  Reverse mode
puts its forward block there, of frozen operands, so that nothing inside is differentiated; the
results get the rule's pullback attached, and the reverse sweep inlines the backward block when it
gets to that.  What is kept is asked for like any forward value: recorded or computed again, as the
minimum cut decides.

What the user gave no rule for is derived: a forward rule is linear in the tangents, so the part of
it that depends on them is transposed; a backward rule is linear in the sensitivities, so its
transpose pushes tangents.  The transpose of a linear block is its own reverse sweep, which must
not want the point it is taken at.  A checkpoint keeps its operands, and its backward block is the
reverse sweep of the whole function.

Source: Radul et al., *You only linearize once*, POPL 2023; custom rules as in JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jitad.errors import ACTIVE, JitadError, unknown_functions
from jitad.immutable import immutable
from jitad.primitives.custom import Rule
from jitad.primitives.shares import MARKS
from jitad.sweeps.calls import Library
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_block, zero
from jitad.tape.dead import remove_dead
from jitad.tape.flow import closure, differentiable_edge, predecessors, successors
from jitad.tape.ir import Atom, Block, Equation, Pos, Var, free_vars, lit, walk
from jitad.tape.types import is_float

At = Callable[[Atom], Atom]


@immutable(eq=False)
class Pullback:
    """(kept, points, others, sensitivities) -> sensitivities, `takes[k]` of which is primal k's.

    With `points`, the block is a transpose, and takes zeros in the shapes of the primals.
    """

    block: Block
    takes: Sequence[int | None]
    points: bool = False


def _closes_over(rule: Rule, pos: Pos | None) -> JitadError:
    return JitadError(
        f"{rule.name} has derivative rules, but takes a number that is differentiated from around "
        "it", pos, "Pass the number to it as an argument.",
    )  # fmt: skip


def asks(block: Block) -> bool:
    """May a derivative that nobody knows be asked for in a block's sweep?"""
    return any(e.op in ("custom", "unknown") for e in walk(block))


_MARKS = MARKS | {"custom", "stop", "unknown"}


def refuse(block: Block, varied: set[Var]) -> None:
    """An error that names all functions of which no derivative may be taken, and would be."""
    found = {
        e.params["rule"].refused: e for e in walk(block)
        if e.op == "custom" and e.params["rule"].refused and any(a in varied for a in e.ins)
    }  # fmt: skip
    if found:
        raise unknown_functions(tuple(found), next(iter(found.values())).pos, ACTIVE)


def inline(b: Builder, block: Block, atoms: Sequence[Atom]) -> list[Atom]:
    """Emit a closed block with these atoms for its parameters; gives its results."""
    env: Env = dict(zip(block.params, atoms, strict=True))
    return copy_block(b, block, env)


def inline_customs(block: Block) -> Block:
    """The block with every function that still has rules in the form of its own code."""
    if not any(e.op in _MARKS for e in walk(block)):
        return block
    block = remove_dead(block)
    needed = {e.params["missing"]: e.pos for e in walk(block) if e.op == "unknown"}
    b = _Inliner()
    if needed:
        b.error = unknown_functions(tuple(needed), next(iter(needed.values())))
    env = begin(b, block)
    b.blocks[0].results = copy_block(b, block, env)
    return b.blocks[0]


class _Inliner(Builder):
    error: JitadError | None = None  # where a derivative is needed that nobody knows

    def emit(self, op: str, *ins: Atom, **params: object) -> object:
        if op == "stop" or op in MARKS:
            return ins[0]
        if op == "unknown":
            what = {"exception": type(self.error), "message": str(self.error)}
            super().emit("check", lit(False), **what)
            return zero(self, ins[0])
        if op != "custom":
            return super().emit(op, *ins, **params)
        rule = params["rule"]
        assert isinstance(rule, Rule)
        pos = self.pos
        results = tuple(inline(self, rule.function, ins))
        self.pos = pos
        return results


# -- forward mode ---------------------------------------------------------------------------------


def push(
    b: Builder, e: Equation, ins: list[Atom], tangents: list[Atom | None], library: Library
) -> tuple[list[Atom], dict[int, Atom]]:
    """The results of a `custom` equation, and the tangents of those that have one."""
    rule: Rule = e.params["rule"]
    n, count = rule.primals, len(rule.function.results)
    if any(t is not None for t in tangents[n:]):
        raise _closes_over(rule, e.pos)
    primals, others = ins[:n], ins[n:]
    ts = [zero(b, a) if t is None else t for a, t in zip(primals, tangents, strict=False)]
    if rule.jvp is not None:
        outs = inline(b, rule.jvp, [*primals, *ts, *others])
    elif rule.forward is None:
        from jitad.sweeps.forward import jvp_block  # which uses this file

        outs = inline(b, jvp_block(rule.function, range(n), library), [*primals, *others, *ts])
    else:
        outs = inline(b, rule.forward, [*primals, *others])
        results, kept = outs[:count], outs[count:]
        outs = results + _pushed(b, e, results, [*kept, *others], ts, library)
    return outs[:count], dict(zip(rule.floats, outs[count:], strict=True))


def _pushed(
    b: Builder, e: Equation, results: list[Atom], known: list[Atom], ts: list[Atom],
    library: Library,
) -> list[Atom]:  # fmt: skip
    """The tangents of the float results, by the transpose of the backward rule."""
    rule: Rule = e.params["rule"]
    assert rule.backward is not None
    seeds: dict[int, Atom] = {}
    for t, k in zip(ts, rule.takes, strict=True):
        if k is not None and is_float(rule.backward.results[k].type):
            seeds[k] = b.emit("add", seeds[k], t) if k in seeds else t
    seeded = sorted(seeds)
    at = range(len(known), len(known) + len(rule.floats))
    transposed = _transpose(rule, rule.backward, at, seeded, library, e.pos)
    points = [zero(b, results[k]) for k in rule.floats]
    return inline(b, transposed, [*known, *points, *(seeds[k] for k in seeded)])


def _transpose(
    rule: Rule, block: Block, at: Sequence[int], seeded: Sequence[int], library: Library,
    pos: Pos | None,
) -> Block:  # fmt: skip
    """(parameters, a seed for each result in `seeded`) -> the adjoints of the parameters `at`."""
    from jitad.sweeps.reverse import vjp_block  # which uses this file

    swept = vjp_block(block, tuple(at), tuple(seeded), library)
    swept.results = swept.results[len(block.results) :]
    remove_dead(swept)
    points = {swept.params[k] for k in at}
    wanted = [a for x in walk(swept) if x.op != "dim" for a in (*x.ins, *_ends(x))]
    if points.intersection((*wanted, *swept.results)):
        raise JitadError(
            f"{rule.name}: the other mode can't be derived from its rule, which is not linear in "
            "tangents or sensitivities", pos, "Give it rules for both modes.",
        )  # fmt: skip
    return swept


def _ends(e: Equation) -> list[Atom]:
    return [a for block in e.blocks for a in block.results]


# -- reverse mode ---------------------------------------------------------------------------------


def attach_rules(block: Block, active: Sequence[Var], library: Library) -> list[Equation]:
    """Replace the `custom` equations that depend on `active` (in place); gives what is new."""
    if not any(e.op == "custom" for e in walk(block)):
        return []
    varied = closure(active, successors(predecessors(block, differentiable_edge)))
    refuse(block, varied)
    made: list[Equation] = []
    _visit(block, varied, library, made)
    return made


def _visit(block: Block, varied: set[Var], library: Library, made: list[Equation]) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks if e.op != "implicit" else ():  # its sweep comes by itself
            _visit(inner, varied, library, made)
        if e.op == "custom" and any(a in varied for a in e.ins):
            new = _attached(e, varied, library)
            made += new
            out += new
        else:
            out.append(e)
    block.equations = out


def _attached(e: Equation, varied: set[Var], library: Library) -> list[Equation]:
    rule: Rule = e.params["rule"]
    n, count = rule.primals, len(rule.function.results)
    if any(a in varied for a in e.ins[n:]):
        raise _closes_over(rule, e.pos)
    forward, pullback = _pullback(rule, library, e.pos)
    b = Builder()
    b.pos = e.pos
    frozen = [b.emit("frozen", a) if isinstance(a, Var) and a in varied else a for a in e.ins]
    thawed = dict(zip(frozen, e.ins, strict=True))  # what is kept may be an operand itself
    outs = inline(b, forward, frozen)
    kept = [thawed.get(a, a) for a in outs[count:]]
    ins = (*outs[:count], *e.ins[:n], *kept, *e.ins[n:])
    params = {"rule": rule, "pullback": pullback}
    attach = Equation("attach_rule", ins, e.outs, params, (), e.pos)
    return [*b.blocks[0].equations, attach]


def pull(
    b: Builder, e: Equation, cts: list[Atom | None], value: At, zero: At
) -> list[tuple[Atom, Atom]]:
    """What an `attach_rule` contributes to the adjoints of the primals.

    `value` finds a forward value, `zero` a zero in the shape of one.
    """
    rule: Rule = e.params["rule"]
    pullback: Pullback = e.params["pullback"]
    count, n = len(e.outs), rule.primals
    primals = e.ins[count : count + n]
    kept = len(e.ins) - count - len(rule.function.params)
    known = [value(a) for a in e.ins[count + n :]]
    points = [zero(a) for a in primals] if pullback.points else []
    given = [ct if (ct := cts[k]) is not None else zero(e.outs[k]) for k in rule.floats]
    outs = inline(b, pullback.block, [*known[:kept], *points, *known[kept:], *given])
    taken = zip(primals, pullback.takes, strict=True)
    return [(a, outs[k]) for a, k in taken if k is not None]


def _pullback(rule: Rule, library: Library, pos: Pos | None) -> tuple[Block, Pullback]:
    """What takes the call's place, (primals, others) -> (results, kept), and its pullback."""
    n, f = rule.primals, rule.function
    if rule.forward is not None:
        assert rule.backward is not None
        return rule.forward, Pullback(rule.backward, rule.takes)
    if rule.jvp is None:  # a checkpoint
        from jitad.sweeps.reverse import vjp_block
        from jitad.sweeps.schedule import scheduled

        function = scheduled(rule.silent.function, range(n), library)
        swept = vjp_block(function, tuple(range(n)), None, library)
        swept.results = swept.results[len(f.results) :]
        keeping = Block(f.params, f.equations, [*f.results, *f.params[:n]])
        return keeping, Pullback(remove_dead(swept), range(n))
    forward, linear = _split(rule)
    kept = len(forward.results) - len(f.results)
    floats = [k for k, a in enumerate(linear.results) if is_float(a.type)]
    transposed = _transpose(rule, linear, range(kept, kept + n), floats, library, pos)
    return forward, Pullback(transposed, range(n), points=True)


def _split(rule: Rule) -> tuple[Block, Block]:
    """A forward rule as (primals, others) -> (results, kept), which has no tangents, and the
    linear rest, (kept, tangents, others) -> tangents of the results."""
    assert rule.jvp is not None
    n, count = rule.primals, len(rule.function.results)
    params = rule.jvp.params
    primals, tangents, others = params[:n], params[n : 2 * n], params[2 * n :]
    values, pushed = rule.jvp.results[:count], rule.jvp.results[count:]
    dependent: set[Atom] = set(tangents)
    first: list[Equation] = []
    second: list[Equation] = []
    for e in rule.jvp.equations:
        if dependent.isdisjoint((*e.ins, *free_vars(*e.blocks))):
            first.append(e)
        else:
            second.append(e)
            dependent.update(e.outs)
    if not dependent.isdisjoint(values):  # one loop for both: all of it is run again
        b = Builder()
        env = begin(b, rule.function)
        now = [env[p] for p in rule.function.params]
        zeros = [zero(b, a) for a in now[:n]]
        values = inline(b, rule.jvp, [*now[:n], *zeros, *now[n:]])[:count]
        b.blocks[0].results = [*values, *now[:n]]
        return remove_dead(b.blocks[0]), Block(params, rule.jvp.equations, pushed)
    known = dependent.union(others)
    kept = [v for v in free_vars(Block([], second, pushed)) if v not in known]
    forward = Block([*primals, *others], first, [*values, *kept])
    return forward, Block([*kept, *tangents, *others], second, pushed)
