"""Reverse mode: how does a block become one that also pulls cotangents back?

The block is copied (the forward sweep), then its equations are gone through backwards.  In the
same scope the adjoint code simply uses the forward values.  A loop is different: its reverse is
another loop, in which the forward values of the body are not at hand.  Adjoint code for a body is
written first, asking for forward values as it needs them (`Scope.requests`); `records` then
decides which of these are recorded on stacks and which are recomputed.  Where an iteration needs
nothing of the iterations before it, its forward part is run again inside the reverse iteration
instead (`again`), and such a loop whose seeds are known beforehand takes the place of the forward
loop altogether (`fuse`).

Sources: Speelpenning 1980; Griewank & Walther, *Evaluating Derivatives*, ch. 3.2 and 12;
Hascoet & Pascual 2013 (Tapenade) for recording against recomputing;
Pearlmutter & Siskind 2008 for the closure property: the result is a tape like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitad.primitives import TABLE, Into
from jitad.primitives.array import hands_on
from jitad.sweeps.again import adds_up, in_any_order, needs_no_past
from jitad.sweeps.called import back, so_far
from jitad.sweeps.calls import Library
from jitad.sweeps.custom import asks, attach_rules, pull
from jitad.sweeps.factors import factored
from jitad.sweeps.fuse import finish, independent, set_aside
from jitad.sweeps.implicit import pulled
from jitad.sweeps.only import condition, under
from jitad.sweeps.reached import Reached, infinite, steep
from jitad.sweeps.records import settle
from jitad.sweeps.repeat import again, branch_again, condition_again
from jitad.sweeps.restore import Unwinding, before, better_recorded, in_place, lasting, plan, trail
from jitad.sweeps.rules import Contribution, conform, contributions
from jitad.sweeps.scope import Scope, trips
from jitad.sweeps.states import keep, states
from jitad.sweeps.untouched import nothing, unsigned
from jitad.sweeps.watched import watched
from jitad.tape.build import Builder
from jitad.tape.copy import begin, copy_block, lit_zero
from jitad.tape.flow import active as active_vars
from jitad.tape.ir import CALLS, Atom, Block, Equation, Var, lit, walk
from jitad.tape.types import INT, Array, Scalar, Stack, is_float
from jitad.values.number import in_rules


@in_rules  # a literal times an array of the tape is a content, not a user's handle
def vjp_block(
    block: Block,
    active: Sequence[int],
    seeded: Sequence[int] | None = None,
    library: Library | None = None,
    function: str | None = None,
    added: Sequence[int] = (),
) -> Block:
    """(params..., seeds...) -> (results..., adjoints of the active params).

    There is one seed for every result in `seeded`, by default for all float results; the others
    have sensitivity zero.  `added`: parameters whose adjoints so far come in as the last ones.
    `function`: whose body it is; then these are what it adds to (`Library.added_to`).
    """
    b = Builder()
    b.unknown = asks(block)
    env = begin(b, block)
    new = b.blocks[0]
    results = copy_block(b, block, env)
    inputs = [new.params[k] for k in active]
    for e in attach_rules(new, inputs, library or Library()):
        b.sources.update((v, e) for v in e.outs)
    root = Scope(None, new, visible=True)
    root.sources = b.sources
    root.own(new.params, new.equations)
    sweep = Reverse(b, active_vars(new, inputs, results), library or Library(), function)
    sweep.reached.near |= infinite(new)
    sweep.watched = watched(new, sweep.active)
    root.reached = sweep.reached
    forward = list(new.equations)
    for k, (r, old) in enumerate(zip(results, block.results, strict=True)):
        if is_float(old.type) and (seeded is None or k in seeded):
            seed = Var(old.type, r.shape if isinstance(old.type, Array) else (), "seed")
            new.params.append(seed)
            if isinstance(r, Var) and r in sweep.active:
                sweep.contribute(root, r, seed)
    if function is not None:
        added = (library or Library()).added_to(function, active, seeded or ())
    new.params += so_far([new.params[k] for k in added], root)
    sweep.backward(forward, root)
    new.results = results + [sweep.adjoint(p, root) for p in inputs]
    finish(root)
    factored(new, forward)
    return new


class Reverse:
    """The reverse sweep over one block, of the function that is named."""

    def __init__(
        self, b: Builder, active: set[Var], library: Library, function: str | None
    ) -> None:
        self.b = b
        self.active = active
        self.library = library
        # Their adjoints were taken.  Forward parts that run again must not share them with code
        # that came later: contributions would come too late.
        self.passed: set[Var] = set()
        self.function = function
        self.reached = Reached(b, set())
        self.watched: set[Var] = set()  # see `untouched`

    # -- adjoints -------------------------------------------------------------------------------

    def zero(self, v: Atom, scope: Scope) -> Atom:
        """Zero in the shape of a forward value, without needing that value."""
        if isinstance(v.type, Stack):
            return self.b.emit("stack", element=v.type.element)
        dtype, whole = v.type.dtype, scope.origin.get(v, v)  # type: ignore[arg-type]
        start = (nothing if whole in self.watched else lit_zero)(dtype)
        if isinstance(v.type, Scalar):
            return start
        ns = map(scope.value, v.shape)
        return self.reached.nothing(self.b.emit("full", start, *ns, dtype=dtype, adjoint=True))

    def contribute(self, scope: Scope, v: Atom, part: Contribution, of: Atom | None = None) -> None:
        """Add to the adjoint of a forward variable what may be that `of` another, handed on."""
        if part is None or not isinstance(v, Var):
            return
        v, of = scope.origin.get(v, v), scope.origin.get(of, of)  # type: ignore[arg-type]
        if v not in self.active:
            return
        if v in self.watched and of not in self.watched:
            part = unsigned(self.b, part)
        now = scope.adjoint(v)
        if isinstance(part, Into):
            if now is None:
                # a whole one may still come (the array's next version): then no zeros are needed
                scope.pending.setdefault(v, []).append(part)
            else:
                scope.adjoints[v] = self.reached.into(now, part)
            return
        now = part if now is None else self.reached.plus(now, part)
        for waiting in scope.pending.pop(v, ()):
            now = self.reached.into(now, waiting)
        scope.adjoints[v] = now

    def added(self, whole: Atom | None, parts: list[Atom | Into]) -> Atom | None:
        for part in parts:
            join = self.reached.into if isinstance(part, Into) else self.reached.plus
            whole = part if whole is None else join(whole, part)  # type: ignore[assignment, arg-type]
        return whole

    def gather(self, v: Var, scope: Scope) -> None:
        """Apply what is pending for one variable."""
        waiting = scope.pending.pop(v, ())
        if waiting:
            now: Atom = self.zero(v, scope)
            for part in waiting:
                now = self.reached.into(now, part)
            scope.adjoints[v] = now

    def take(self, v: Atom, scope: Scope) -> Atom | None:
        """The complete adjoint of a variable of this scope, which is then done with."""
        out = self.taken(v, scope)
        return None if out is None else self.reached.sure(out)

    def taken(self, v: Atom, scope: Scope) -> Atom | None:
        """The same; it may be doubtful."""
        if not isinstance(v, Var):
            return None
        self.gather(v, scope)
        out = scope.adjoints.pop(v, None)
        if v.name and isinstance(out, Var) and not out.name:
            out.name = f"{v.name}_bar"
        return out

    def adjoint(self, v: Atom, scope: Scope) -> Atom:
        """The same, zero if there is none."""
        a = self.take(v, scope)
        return a if a is not None else self.zero(v, scope)

    # -- equations ------------------------------------------------------------------------------

    def backward(self, equations: list[Equation], scope: Scope) -> None:
        unwinding = Unwinding(self.b, equations, scope)
        for e in reversed(equations):
            self.reverse(e, scope)
            unwinding.passed(e)

    def reverse(self, e: Equation, scope: Scope) -> None:
        self.passed.update(e.outs)
        changed = e.blocks and scope.versions.undone_of(e.outs)
        if changed or any(v in self.active for v in e.outs):
            self.b.pos = e.pos
            match e.op:
                case "for" | "while":
                    self.loop(e, scope)
                case "if":
                    self.branch(e, scope)
                case "implicit":
                    pulled(self, e, scope)
                case "push" | "pop":
                    self.record(e, scope)
                case "attach_rule":
                    self.by_rule(e, scope)
                case "call" | "act":
                    back(self, e, scope)
                case _:
                    self.primitive(e, scope)

    def primitive(self, e: Equation, scope: Scope) -> None:
        wanted = [isinstance(a, Var) and a in self.active for a in e.ins]
        many = len({a for a, want in zip(e.ins, wanted, strict=True) if want}) > 1
        ct = (self.take if many else self.taken)(e.outs[0], scope)
        if ct is None or not TABLE[e.op].differentiable:
            return
        ins = [scope.value(a) for a in e.ins]
        out, reached = scope.value(e.outs[0]), self.reached
        whole = scope.origin.get(e.outs[0], e.outs[0])
        parts = contributions(self.b, e, ins, out, ct, wanted, whole in self.watched)
        for k, (a, part) in enumerate(zip(e.ins, parts, strict=True)):
            doubtful = reached.doubtful(ct) or steep(e, k, reached.near)
            if a in reached.near or doubtful:
                made = part.args[0] if isinstance(part, Into) else part
                reached.made(made, reached.when(ct), doubtful)
            self.contribute(scope, a, part, whole if hands_on(TABLE[e.op], k) else None)

    def by_rule(self, e: Equation, scope: Scope) -> None:
        """The pullback that a function brings along."""
        cts = [self.take(v, scope) for v in e.outs]
        if any(ct is not None for ct in cts):
            for a, part in pull(self.b, e, cts, scope.value, lambda a: self.zero(a, scope)):
                self.contribute(scope, a, conform(self.b, part, scope.shaped(a)))

    def record(self, e: Equation, scope: Scope) -> None:
        """push and pop are each other's transposes."""
        if e.op == "push":
            ct = self.take(e.outs[0], scope)
            if ct is not None:
                s, v = e.ins
                s_bar, v_bar = self.b.emit("pop", ct, *(scope.value(a) for a in v.shape))
                scope.adjoints[s] = s_bar  # type: ignore[index]
                self.contribute(scope, v, v_bar)
            return
        rest, v = e.outs
        ct, v_bar = self.adjoint(rest, scope), self.adjoint(v, scope)
        scope.adjoints[e.ins[0]] = self.b.emit("push", ct, v_bar)  # type: ignore[index]

    # -- calls ----------------------------------------------------------------------------------

    def fusible(self, e: Equation, seeds: list[Atom], scope: Scope) -> bool:
        """May forward and reverse part of an equation be one, in the place of the reverse part?"""
        if not scope.visible or not independent(self.b, seeds, e):
            return False
        inside = [e, *(x for block in e.blocks for x in walk(block))]
        return not any(
            x.op == "print" or (x.op == "act" and self.library.prints(x.params["function"]))
            for x in inside
        )

    # -- branches -------------------------------------------------------------------------------

    def branch(self, e: Equation, scope: Scope) -> None:
        b = self.b
        seeds = [self.taken(v, scope) for v in e.outs]
        versions = scope.versions
        changed = versions.undone_of(e.outs)
        if all(s is None for s in seeds) and not changed:
            return
        predicate = scope.value(e.ins[0])
        scopes, blocks = [], []
        results = [list(block.results) for block in e.blocks]
        recursive = any(x.op in CALLS for block in e.blocks for x in walk(block))
        known = [s for s in seeds if s is not None]
        twin = recursive and not changed and self.fusible(e, known, scope)
        later = set_aside(b, e, scope) if twin else {}
        for j, block in enumerate(e.blocks):
            inner = Scope(scope, block, visible=twin, owner=e, branch=j)
            with b.block() as new:
                inner.reverse = new
                if twin:
                    block, results[j] = branch_again(self, inner, new)
                inner.own([], block.equations)
                for r, v in zip(results[j], e.outs, strict=False):
                    if v in changed:
                        inner.versions.begin(r, versions.current[v])  # type: ignore[arg-type]
                    elif v in versions.settled:
                        inner.versions.settle(trail(block, r), versions.current[v])
                for r, s, v in zip(results[j], seeds, e.outs, strict=False):
                    self.contribute(inner, r, s, v)
                self.backward(list(block.equations), inner)
            scopes.append(inner)
            blocks.append(new)
        touched: dict[Var, None] = {}
        for inner, new in zip(scopes, blocks, strict=True):
            with b.reopen(new):
                for v in [v for v in inner.pending if scope.finds(v)]:
                    self.gather(v, inner)
            touched |= {v: None for v in inner.adjoints if scope.finds(v)}
        for inner, new in zip(scopes, blocks, strict=True):
            with b.reopen(new):
                for v in touched:
                    a = inner.adjoints.get(v)
                    if a is None:
                        a = scope.adjoint(v)
                    new.results.append(a if a is not None else self.zero(v, inner))
                if twin:
                    new.results += results[blocks.index(new)]
        outs = [Var(v.type, tuple(scope.value(a) for a in v.shape), "") for v in touched]
        steps: list[tuple[Var, Var, Var]] = []
        for v in changed:
            root = before(e, v)
            assert root is not None
            for inner, new in zip(scopes, blocks, strict=True):
                new.results.append(inner.versions.current[root])
            q = Var(v.type, tuple(scope.value(a) for a in v.shape), v.name)
            outs.append(q)
            steps.append((v, root, q))
        for inner in scopes:
            settle(b, inner)
        for v, root, q in steps:
            versions.step(v, root, q, versions.region + 1)
        merged = dict(zip(touched, outs, strict=False))
        within = [new.results[: len(merged)] for new in blocks]
        if twin:
            primal = [Var(v.type) for v in e.outs]
            outs += primal
            scope.twins.append((e, tuple(primal)))
        for j, inner in enumerate(scopes):
            for t_out, g_t_in, g_t_out in inner.passing:
                blocks[j].results.append(t_out)
                blocks[1 - j].results.append(g_t_in)
                outs.append(g_t_out)
        for block in blocks:
            assert len(block.results) == len(outs)
        if outs:
            b.structured("if", (predicate,), tuple(outs), tuple(blocks))
        for (v, out), one, other in zip(merged.items(), *within, strict=True):
            if v in self.reached.near or self.reached.doubtful(one) or self.reached.doubtful(other):
                self.reached.branches(b.sources[out], out, one, other)
        for v, whole in merged.items():
            now: Atom = whole
            for waiting in scope.pending.pop(v, ()):  # neither branch has seen these
                now = self.reached.into(now, waiting)
            scope.adjoints[v] = now
        for v, parts in later.items():
            scope.adjoints[v] = self.added(scope.adjoints.get(v), parts)  # type: ignore[assignment]

    # -- loops ----------------------------------------------------------------------------------

    def loop(self, e: Equation, scope: Scope) -> None:
        b = self.b
        seeds = [self.take(v, scope) for v in e.outs]
        changed = bool(scope.versions.undone_of(e.outs))
        if all(s is None for s in seeds) and not changed:
            return
        body = e.blocks[-1]
        head, first = (1, 3) if e.op == "for" else (0, 0)
        params = list(body.params[head:])
        init = list(e.ins[first:])
        carried = [k for k, p in enumerate(params) if p in self.active]
        any_order = in_any_order(e, carried)
        asks = any(x.op == "callback" for x in walk(body))  # Python is asked once
        repeatable = not changed and not asks
        # a twin carries what the forward loop does, so it has the past
        twin = (
            repeatable and any_order and self.fusible(e, [s for s in seeds if s is not None], scope)
        )
        dear = any(x.op in CALLS for x in walk(body))  # what is dear, is recorded
        may = repeatable and e.op == "for" and not dear and not twin
        rerun = twin or (may and needs_no_past(e, self.active, scope))
        if rerun and not twin and better_recorded(e, self.active, scope):
            rerun = False
        there = in_place(e, self.active, scope) if may and not rerun else {}
        filled = states(e, self.active, scope) if may and not rerun and not there else None
        rerun = rerun or bool(there) or filled is not None
        op, index = ("while", 0) if twin and e.op == "while" else ("for", 1)
        count = trips(e, scope) if op == "for" else None
        kept = {} if rerun else lasting(e, self.active, scope)
        restored = [] if rerun else plan(e, self.active, scope, kept)
        any_order = any_order and not restored
        k_var = Var(INT, (), _counter(e))
        stateful = twin or filled is not None
        inner = Scope(scope, body, visible=rerun, owner=e, stateful=stateful)
        primal: list[Var] = []
        results: list[Atom]
        with b.block(*[k_var][:index], isolated=True) as new:
            inner.reverse = new
            if rerun:
                primal, results = again(self, e, inner, k_var, twin, there)
                forward = list(new.equations)
                inner.forward = new
                inner.own([*primal, *new.params], forward)
                params_now: list[Atom] = list(primal)
            else:
                inner.own(body.params, body.equations)
                inner.index(e, k_var, b)
                forward, results = list(body.equations), list(body.results)
                params_now = list(params)
            for k, versions in kept.items():
                inner.versions.settle(versions, scope.value(e.outs[k]))
            last: list[Var] = []  # versions of restored arrays that an iteration ended with
            for k in restored:
                p = params[k]
                q = Var(p.type, tuple(scope.value(a) for a in init[k].shape), p.name)
                inner.versions.begin(results[k], q)  # type: ignore[arg-type]
                last.append(q)
            bars = []
            for k in carried:
                p = params[k]
                shape = tuple(scope.value(a) for a in init[k].shape)
                bar = Var(p.type, shape, f"{p.name}_bar" if p.name else "")
                bars.append(bar)
            self.reached.open(body, (
                (bar, seeds[k] is not None) for k, bar in zip(carried, bars, strict=True)
                if params[k] in self.reached.near
                and (seeds[k] is None or not adds_up(body, params[k], body.results[k]))
            ))  # fmt: skip
            for k, bar in zip(carried, bars, strict=True):
                self.contribute(inner, results[k], bar, params[k])
            self.backward(forward, inner)
            for k in carried:
                p_now = params_now[k]
                new.results.append(self.adjoint(p_now, inner))
            gathered = list(inner.gathered)
            for v in gathered:
                new.results.append(self.reached.sure(inner.adjoints[v]))
            new.results += [inner.versions.current[params[k]] for k in restored]
        new.params += bars + [inner.gathered[v] for v in gathered] + last
        on = range(len(primal)) if twin else filled or ()
        new.params += [primal[k] for k in on]
        new.results += [results[k] for k in on]
        starts: list[Atom] = []
        for k in carried:
            s = seeds[k]
            starts.append(s if s is not None else self.zero(e.outs[k], scope))
        later: list[tuple[Var, Atom]] = []
        for v in gathered:
            self.gather(v, scope)
            a = scope.adjoint(v)
            if a is not None and twin and not independent(b, [a], e):
                later.append((v, a))
                a = None
            starts.append(self.reached.sure(a) if a is not None else self.zero(v, scope))
        adjoints = [*bars, *(inner.gathered[v] for v in gathered)]
        ends = new.results[: len(adjoints)]
        ways = self.reached.close(new, adjoints, ends, starts)
        starts += [scope.value(e.outs[k]) for k in restored]
        starts += [scope.value(init[k] if twin else e.outs[k]) for k in on]
        starts += ways.starts
        new.params += ways.params
        new.results += ways.results
        threads = settle(b, inner)
        if filled is not None:
            threads = keep(b, e, new, primal, filled)
        outs = [Var(p.type, s.shape, "") for p, s in zip(new.params[index:], starts, strict=False)]
        self.reached.leave(ways, outs, outs[len(outs) - len(ways.params) :], count)
        for t in threads:
            fo, ro = Var(t.s_in.type), Var(t.s_in.type)
            s_start, t_start = scope.lift(e, fo, ro)
            t.carry_forward(e, s_start, fo)
            b.sources[fo] = e
            new.params.append(t.t_in)
            new.results.append(t.t_out)
            starts.append(t_start)
            outs.append(ro)
        if count is None:
            blocks = (condition_again(self, e, scope, new, primal), new)
            b.structured("while", tuple(starts), tuple(outs), blocks)
        else:
            if any_order and not threads:
                first_k, step = lit(0), lit(1)  # forwards: vectorises better
            else:
                first_k, step = b.emit("sub", count, lit(1)), lit(-1)
            ins = (first_k, step, count, *starts)
            seeded = [k for k in range(len(carried)) if seeds[carried[k]] is not None]
            only = None if twin or threads or restored else condition(
                b, [starts[k] for k in seeded]
            )  # fmt: skip
            if only is None:
                b.structured("for", ins, tuple(outs), (new,))
            else:
                under(b, only, ins, outs, new)
        if twin:
            offset = len(carried) + len(gathered) + len(restored)
            scope.twins.append((e, tuple(outs[offset : offset + len(params)])))
        for v, out in zip(gathered, outs[len(carried) :], strict=False):
            scope.adjoints[v] = out
        for k, out in zip(restored, outs[len(carried) + len(gathered) :], strict=False):
            if e.outs[k] in scope.versions.current:
                scope.versions.step(e.outs[k], init[k], out, scope.versions.region + 1)  # type: ignore[arg-type]
        for v, a in later:
            scope.adjoints[v] = self.reached.plus(a, scope.adjoints[v])
        for k, out in zip(carried, outs, strict=False):
            self.contribute(scope, init[k], out, params[k])


def _counter(e: Equation) -> str:
    """What to call the number of an iteration: as the loop does, where it counts from zero."""
    counts = e.op == "for" and e.ins[:2] == (lit(0), lit(1))
    return (e.blocks[0].params[0].name if counts else "") or "k"
