"""Which checks can never fail, which conditions are decided, and what can run before a loop?

One walk with what is known at each place: loop indices lie in their ranges, extents are not
negative, a check that was passed holds from there on, and a branch knows its condition.
  * A comparison of integers that is sure to hold, or to fail, becomes a literal: bounds checks
    vanish, and `where(i < 0, i + n, i)` becomes `i` (the next copy of the tape folds it).
  * A check that is affine in the index of the loop around it is made once in front of the loop,
    for the index where it is tightest, if the loop runs at all.
  * Equations that compute the same in every iteration move out (see `invariant`).

Order.  A check that does not change from iteration to iteration fails in the first one or never:
it moves if nothing stays in the loop in front of it but checks that raise the same class.  One
that depends on the index fails before the iterations that come before its own, so it moves only
where nothing can be seen of them: all that stays in the loop are checks of its class.  The
engine's own classes count as one (bounds, domains): where two such checks fail, which one is
reported may change.  A hoisted check raises if and only if the loop would have raised.
"""

from __future__ import annotations

from jitad.errors import GuardMiss, JitadError
from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.specialise.conditions import COMPARISONS, compared, facts, proved
from jitad.specialise.invariant import move_invariants
from jitad.tape.intervals import Intervals
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Lit, Tape, Var, lit, walk
from jitad.tape.linear import Forms, Linear, is_integer, variable
from jitad.tape.prove import Known
from jitad.tape.types import BOOL, INT, Array


def ranges(tape: Tape) -> Tape:
    """The tape with provable checks removed and others hoisted (changed in place)."""
    _Walk().block(tape.body)
    return tape


_RECALLED = 32  # how many hoisted checks are looked at again where a loop begins


def _effects(e: Equation) -> set[object]:
    """What an equation and those inside it may do: raise a class, or (None) something else."""
    inside = [e] if not e.blocks else [x for b in e.blocks for x in walk(b)]
    return {
        _raised(x) if x.op == "check" else None
        for x in inside
        if x.op not in STRUCTURED and TABLE[x.op].effect
    }


def _raised(check: Equation) -> type:
    raised = check.params["exception"]
    return JitadError if issubclass(raised, JitadError) else raised


def _alike(kinds: set[object]) -> bool:
    """True of exception classes whose order nobody relies on; None stands for other effects."""
    if len(kinds) <= 1:
        return None not in kinds
    return all(isinstance(k, type) and issubclass(k, (JitadError, GuardMiss)) for k in kinds)


@immutable(slots=True)
class _Clause:
    """`need` >= 0 all and `ok`, wherever `guards` >= 0 all: what a check asks for."""

    need: tuple[Linear, ...]
    guards: tuple[Linear, ...] = ()
    ok: Atom | None = None


class _Walk:
    def __init__(self) -> None:
        self.forms = Forms()
        self.known = Known()
        self.sources: dict[Atom, Equation] = {}
        self.intervals = Intervals(self.sources)
        self.decided: dict[Var, Atom] = {}
        self.depth: dict[Var, int] = {}  # number of loops around the definition
        self.loops = 0
        self.clauses: dict[int, _Clause] = {}  # of checks that were hoisted already, by id
        self.passed: list[_Clause] = []  # those in front of the present place

    def mark(self) -> tuple[int, int]:
        return self.known.mark(), len(self.passed)

    def forget(self, mark: tuple[int, int]) -> None:
        self.known.forget(mark[0])
        del self.passed[mark[1] :]

    # -- equations ------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for p in block.params:
            self.define(p)
        kept: list[Equation] = []
        for e in block.equations:
            if self.decided:
                e.ins = tuple(self.read(a) for a in e.ins)
            kept += self.equation(e)
        block.equations = kept
        block.results = [self.read(a) for a in block.results]

    def read(self, a: Atom) -> Atom:
        return self.decided.get(a, a) if isinstance(a, Var) else a

    def define(self, v: Var, source: Equation | None = None) -> None:
        self.depth[v] = self.loops
        if source is not None:
            self.sources[v] = source

    def equation(self, e: Equation) -> list[Equation]:
        """What the equation becomes: itself, nothing, or itself with hoisted ones in front."""
        before: list[Equation] = []
        match e.op:
            case "check":
                if proved(e.ins[0], True, self.sources, self.forms, self.known):
                    return []
                self.known.assume(facts(e.ins[0], True, self.sources, self.forms))
                self.passed += self.guarded(e.ins[0])
            case "for":
                before = self.counted(e)
            case "while":
                before = self.conditional(e)
            case "if":
                self.branches(e)
            case "jvp" | "vjp" | "implicit":
                for b in e.blocks:
                    mark = self.mark()
                    self.block(b)
                    self.forget(mark)
            case _:
                if e.op in COMPARISONS or e.op in ("maximum", "minimum"):
                    decided = self.decide(e) if e.op in COMPARISONS else self.larger(e)
                    if decided is not None:
                        self.decided[e.outs[0]] = decided
                        return []
        for v in e.outs:
            self.define(v, e)
        if e.op not in STRUCTURED and len(e.outs) == 1 and e.outs[0].type == INT:
            self.integer(e, e.outs[0])
        return [*before, e]

    def decide(self, e: Equation) -> Lit | None:
        if e.outs[0].type != BOOL:
            return None
        truth = self.intervals.decided(e.op, e.ins)
        if truth is not None:
            return Lit(truth, BOOL)
        if not all(map(is_integer, e.ins)):
            return None
        self.sources[e.outs[0]] = e
        for truth in (True, False):
            if proved(e.outs[0], truth, self.sources, self.forms, self.known):
                return Lit(truth, BOOL)
        return None

    def larger(self, e: Equation) -> Atom | None:
        """The operand of a maximum or minimum of integers that is sure to be it."""
        if not all(map(is_integer, (*e.ins, *e.outs))):
            return None
        p, q = map(self.forms.of, e.ins)
        sign = 1 if e.op == "maximum" else -1
        if self.known.proves((p - q) * sign):
            return e.ins[0]
        return e.ins[1] if self.known.proves((q - p) * sign) else None

    def guarded(self, c: Atom) -> list[_Clause]:
        """What a check makes sure of unless a loop does not run at all, as `write` puts it."""
        guards: list[Linear] = []
        while (e := self.sources.get(c)) is not None and e.op == "logical_or":
            empty = self.sources.get(e.ins[0])
            runs = compared(empty, self.forms, False) if empty is not None else None
            if runs is None:
                return []
            guards += runs
            c = e.ins[1]
        return [_Clause((), tuple(guards), c)] if guards else []

    def integer(self, e: Equation, v: Var) -> None:
        """What an equation says about the integer it defines."""
        form = self.forms.result(e.op, e.ins)
        if form is not None:
            self.forms.of_var[v] = form
            return
        y = variable(v)
        match e.op:
            case "dim":
                self.known.assume([y])
            case "maximum" | "minimum" if all(map(is_integer, e.ins)):
                p, q = map(self.forms.of, e.ins)
                sign = 1 if e.op == "maximum" else -1
                self.known.assume([(y - p) * sign, (y - q) * sign])
                self.known.either[v] = (p, q)
            case "where" if all(map(is_integer, e.ins[1:])):
                p, q = map(self.forms.of, e.ins[1:])
                if isinstance(e.ins[0], Lit):
                    self.forms.of_var[v] = p if e.ins[0].value else q
                else:
                    self.known.either[v] = (p, q)
                    self.chosen(e, y)
            case "cast" if e.ins[0].type.dtype == "b1":  # type: ignore[union-attr]
                self.known.assume([y, (y * -1).plus(1)])
            case "cast" if e.ins[0].type.dtype[0] == "u" and e.ins[0].type.dtype != "u8":  # type: ignore[union-attr]
                self.known.assume([y])
            case "floordiv" | "mod" if all(map(is_integer, e.ins)):
                self.divided(e, y)
            case "mul" if all(map(is_integer, e.ins)):
                if self.known.proves_all(map(self.forms.of, e.ins)):
                    self.known.assume([y])

    def chosen(self, e: Equation, y: Linear) -> None:
        """`a if a < b else b` is the lesser one: so Python's `min` and `max` are traced."""
        test = self.sources.get(e.ins[0])
        if test is None or test.op not in ("lt", "le", "gt", "ge"):
            return
        if test.ins not in (e.ins[1:], e.ins[:0:-1]):
            return
        lesser = (test.ins == e.ins[1:]) == (test.op in ("lt", "le"))
        sign = -1 if lesser else 1
        self.known.assume([(y - self.forms.of(a)) * sign for a in e.ins[1:]])

    def divided(self, e: Equation, y: Linear) -> None:
        x, d = map(self.forms.of, e.ins)
        if not d.terms and d.constant > 0 and e.op == "floordiv":
            rest = x - y * d.constant  # 0 <= rest < d
            self.known.assume([rest, (rest * -1).plus(d.constant - 1)])
        elif self.known.proves(d.plus(-1)):
            natural = self.known.proves(x)
            if natural or e.op == "mod":
                self.known.assume([y])
            if e.op == "mod":
                self.known.assume([(d - y).plus(-1)])
            if natural:
                self.known.assume([x - y])

    # -- control --------------------------------------------------------------------------------

    def branches(self, e: Equation) -> None:
        for b, truth in zip(e.blocks, (True, False), strict=True):
            mark = self.mark()
            self.known.assume(facts(e.ins[0], truth, self.sources, self.forms))
            self.block(b)
            self.forget(mark)
        inside = {v for b in e.blocks for x in b.equations for v in x.outs}
        for k, v in enumerate(e.outs):
            ends = [self.forms.of(b.results[k]) for b in e.blocks if v.type == INT]
            # only sums of what is visible out here say anything
            if ends and not any(w in inside for f in ends for w, _ in f.terms):
                self.known.either[v] = (ends[0], ends[1])

    def counted(self, e: Equation) -> list[Equation]:
        body = e.blocks[0]
        start, step, count = (self.forms.of(a) for a in e.ins[:3])
        mark = self.mark()
        self.loops += 1
        index = body.params[0]
        i = variable(index)
        self.known.assume(self.trips(e.ins[2], count))
        if not step.terms and step.constant:
            towards = 1 if step.constant > 0 else -1
            last = start + count.plus(-1) * step.constant
            self.known.assume([(i - start) * towards, (last - i) * towards])
            if abs(step.constant) == 1:
                self.counters(e, (i - start) * towards)
        self.rising(body.params[1:], e.ins[3:], body)
        for clause in self.passed[-_RECALLED:]:
            self.recall(clause)
        self.block(body)
        self.loops -= 1
        self.forget(mark)
        # hoisted checks let more loads move
        moved = self.move_out(e)
        hoisted = self.hoist(e)
        return moved + hoisted + (self.move_out(e) if hoisted else [])

    def trips(self, atom: Atom, count: Linear) -> list[Linear]:
        """In a body the trip count is at least one; a count max(0, n) is n there."""
        out = [count.plus(-1)]
        source = self.sources.get(atom)
        if source is not None and source.op == "maximum":
            for p, q in (source.ins, source.ins[::-1]):
                if isinstance(q, Lit) and q.value <= 0:
                    out.append(self.forms.of(p) - count)
        return out

    def counters(self, e: Equation, trip: Linear) -> None:
        """A carried integer to which every iteration adds the same literal."""
        body = e.blocks[0]
        made = {v: x for x in body.equations for v in x.outs}
        for p, r, init in zip(body.params[1:], body.results, e.ins[3:], strict=True):
            x = made.get(r) if isinstance(r, Var) else None
            if p.type == INT and x is not None and x.op in ("add", "sub") and x.ins[0] is p:
                by = x.ins[1]
                if isinstance(by, Lit):
                    factor = int(by.value) * (1 if x.op == "add" else -1)
                    self.forms.of_var[p] = self.forms.of(init) + trip * factor

    def rising(self, params: list[Var], init: tuple[Atom, ...], body: Block) -> None:
        """A carried integer that never falls below its initial value, or never rises above it."""
        made = {v: x for x in body.equations for v in x.outs}
        for p, r, start in zip(params, body.results, init, strict=True):
            x = made.get(r) if isinstance(r, Var) else None
            if p.type != INT or x is None or x.op not in ("add", "sub") or x.ins[0] is not p:
                continue
            if isinstance(x.ins[1], Lit):
                sign = 1 if (x.op == "add") == (x.ins[1].value >= 0) else -1
                self.known.assume([(variable(p) - self.forms.of(start)) * sign])

    def conditional(self, e: Equation) -> list[Equation]:
        cond, body = e.blocks
        mark = self.mark()
        self.loops += 1
        for p, q in zip(body.params, cond.params, strict=True):
            self.forms.of_var[q] = variable(p)  # one carried value under two names
            self.define(p)
        self.rising(body.params, e.ins, body)
        self.block(cond)
        self.known.assume(facts(cond.results[0], True, self.sources, self.forms))
        self.block(body)
        self.loops -= 1
        self.forget(mark)
        return self.move_out(e)

    # -- before the loop ------------------------------------------------------------------------

    def hoist(self, e: Equation) -> list[Equation]:
        """Checks of the loop's body that can be made in front of the loop, in their order."""
        body = e.blocks[0]
        if not any(map(_effects, body.equations)):
            return []
        before: list[Equation] = []
        stay: list[Equation] = []
        met: set[object] = set()  # what the effects do that stay in the loop
        for x in body.equations:
            if x.op == "check" and self.outer(x.ins[0]) and _alike({*met, x.params["exception"]}):
                before += self.write(self.first(x, e), x)
            else:
                met.update(_effects(x))
                stay.append(x)
        body.equations = stay
        step = self.forms.of(e.ins[1])
        if met and _alike(met) and not step.terms and step.constant:
            body.equations = []
            for x in stay:
                clause = self.outside(x, e, step.constant) if x.op == "check" else None
                if clause is None:
                    body.equations.append(x)
                elif not self.known.proves_all(clause.need):
                    before += self.write(clause, x)
        return before

    def outer(self, a: Atom) -> bool:
        """Is it defined outside the loop that has just been left?"""
        return isinstance(a, Lit) or self.depth.get(a, self.loops + 1) <= self.loops

    def first(self, x: Equation, e: Equation) -> _Clause:
        """What a check asks for that is the same in all iterations: the first one decides."""
        clause = self.clauses.get(id(x), _Clause((), (), x.ins[0]))
        return _Clause(clause.need, (*clause.guards, self.forms.of(e.ins[2]).plus(-1)), clause.ok)

    def outside(self, x: Equation, e: Equation, step: int) -> _Clause | None:
        """What the check asks for, of all iterations at once."""
        clause = self.clauses.get(id(x))
        if clause is not None and clause.ok is not None:
            return None
        if clause is None:
            need = self.exactly(x.ins[0])
            if need is None:
                return None
            clause = _Clause(tuple(need))
        index = e.blocks[0].params[0]
        start, count = self.forms.of(e.ins[0]), self.forms.of(e.ins[2])
        last = start + count.plus(-1) * step
        need = [
            n.replace(index, start if n.coefficient(index) * step > 0 else last)
            for n in clause.need
        ]
        guards = (*clause.guards, count.plus(-1))
        inside = self.loops + 1
        for form in (*need, *guards):
            if any(self.depth.get(v, inside) >= inside for v, _ in form.terms):
                return None
        return _Clause(tuple(need), guards)

    def exactly(self, c: Atom) -> list[Linear] | None:
        """Sums that are all >= 0 if and only if the condition holds."""
        e = self.sources.get(c)
        if e is None:
            return None
        if e.op == "logical_and":
            parts = [self.exactly(a) for a in e.ins]
            return None if None in parts else [x for p in parts for x in p or ()]
        return compared(e, self.forms)

    def write(self, clause: _Clause, x: Equation) -> list[Equation]:
        """The check as equations: no iteration, or all that is needed."""
        out: list[Equation] = []

        def emit(op: str, *ins: Atom) -> Var:
            v = Var(BOOL)
            out.append(Equation(op, ins, (v,), {}, (), x.pos))
            self.define(v, out[-1])
            return v

        ok: Atom = lit(True) if clause.ok is None else clause.ok
        for n in clause.need:
            ok = emit("logical_and", ok, emit("ge", self.sum(n, out, x), lit(0)))
        guards = tuple(g for g in clause.guards if not self.known.proves(g))
        for g in guards:
            ok = emit("logical_or", emit("lt", self.sum(g, out, x), lit(0)), ok)
        clause = _Clause(clause.need, guards, clause.ok)
        check = Equation("check", (ok,), (), x.params, (), x.pos)
        self.clauses[id(check)] = clause
        self.passed.append(clause)
        self.recall(clause)
        return [*out, check]

    def recall(self, clause: _Clause) -> None:
        """Use what a hoisted check made sure of, where its guards hold."""
        if all(map(self.known.proves, clause.guards)):
            self.known.assume(clause.need)
            if clause.ok is not None:
                self.known.assume(facts(clause.ok, True, self.sources, self.forms))

    def sum(self, form: Linear, out: list[Equation], x: Equation) -> Atom:
        def emit(op: str, *ins: Atom) -> Var:
            v = Var(INT)
            out.append(Equation(op, ins, (v,), {}, (), x.pos))
            self.define(v)
            self.integer(out[-1], v)
            return v

        total: Atom = lit(form.constant)
        for v, c in form.terms:
            total = emit("add", emit("mul", v, lit(c)), total)
        return total

    def move_out(self, e: Equation) -> list[Equation]:
        runs = e.op == "for" and self.known.proves(self.forms.of(e.ins[2]).plus(-1))
        moved = move_invariants(e, self.in_bounds, runs)
        for x in moved:
            for v in x.outs:
                self.define(v, x)
                if v.type == INT:
                    self.integer(x, v)
        return moved

    def in_bounds(self, e: Equation) -> bool:
        """Are a load's indices sure to be in bounds at the present place?"""
        a, *index = e.ins
        if not isinstance(a.type, Array) or len(a.shape) != len(index):
            return False
        for i, n in zip(index, a.shape, strict=True):
            if not (is_integer(i) and is_integer(n)):
                return False
            at = self.forms.of(i)
            if not self.known.proves_all([at, (self.forms.of(n) - at).plus(-1)]):
                return False
        return True


