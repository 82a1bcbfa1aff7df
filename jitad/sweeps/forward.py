"""Forward mode: how does a block become one that also pushes tangents along?

Every variable with a non-zero tangent gets a second one beside it; loops carry both.  Zero
tangents are symbolic, so that inactive parts are copied as they are.  Tangents of several
*directions* go along together: what they share (the values, the partial derivatives) is computed
once, and the loops run once.
Source: Wengert 1964; Griewank & Walther, *Evaluating Derivatives*, ch. 3.1 and 3.3 (vector mode).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitad.primitives import TABLE
from jitad.sweeps.calls import Library
from jitad.sweeps.custom import asks, push, refuse
from jitad.sweeps.implicit import inlined, opened, solved, zeros
from jitad.sweeps.reached import NEVER, Reached, Steep, steep
from jitad.sweeps.rules import tangent
from jitad.sweeps.vacant import moved_rows, rows_of, used_arrays
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_equation, read, renew, structured, zero
from jitad.tape.flow import closure, differentiable_edge, predecessors, successors
from jitad.tape.ir import CALLS, Atom, Block, Equation, Lit, Var, free_vars, lit
from jitad.tape.types import INT, Array, Stack, Type, is_float
from jitad.values.number import in_rules

Tangent = tuple[Atom | None, ...]  # one a direction, None for zero; not all of them None
Tangents = dict[Var, Tangent]


@in_rules  # a literal times an array of the tape is a content, not a user's handle
def jvp_block(
    block: Block, active: Sequence[int], library: Library | None = None,
    *others: Sequence[int],
) -> Block:  # fmt: skip
    """(params..., tangents of the active params) -> (results..., tangents of the float results).

    `others`: the active params of further directions, whose tangents come after those of the first.
    """
    b = Builder()
    b.unknown = asks(block)
    env = begin(b, block)
    new = b.blocks[0]
    directions = (active, *others)
    twins: dict[Var, list[Atom | None]] = {}
    for d, those in enumerate(directions):
        for k in those:
            p = block.params[k]
            twin = Var(p.type, env[p].shape, f"d{p.name}" if p.name else "")
            twins.setdefault(p, [None] * len(directions))[d] = twin
            new.params.append(twin)
    tangents: Tangents = {p: tuple(its) for p, its in twins.items()}
    varied = _varied(block, list(twins))
    refuse(block, varied)
    sweep = Forward(b, varied, library or Library(), len(directions), Steep.of(block))
    sweep.run(block, env, tangents)
    floats = [a for a in block.results if is_float(a.type)]
    new.results = [read(a, env) for a in block.results] + [
        sweep.made(a, read(a, env), tangents)[d] for d in range(len(directions)) for a in floats
    ]  # fmt: skip
    return new


def _varied(block: Block, inputs: list[Var]) -> set[Var]:
    """The variables that have tangents.

    A stack that takes a tangent once has had them from its creation on: else tangents and
    records would get out of step.
    """
    edges = predecessors(block, differentiable_edge)
    onwards = successors(edges)
    back = {
        v: [a for a in before if isinstance(a.type, Stack)]
        for v, before in edges.items()
        if isinstance(v.type, Stack)
    }
    varied = closure(inputs, onwards)
    while True:
        stacks = closure((v for v in varied if isinstance(v.type, Stack)), back)
        if stacks <= varied:
            return varied
        varied |= closure(stacks, onwards)


class Forward:
    def __init__(
        self, b: Builder, varied: set[Var], library: Library, directions: int = 1,
        steep: Steep | None = None,
    ) -> None:  # fmt: skip
        self.b, self.varied, self.library = b, varied, library
        self.none: Tangent = (None,) * directions
        self.steep = steep or Steep()
        self.reached = Reached(b, self.steep.before)

    def read(self, a: Atom, tangents: Tangents) -> Tangent:
        return tangents.get(a, self.none) if isinstance(a, Var) else self.none

    def run(self, block: Block, env: Env, tangents: Tangents) -> None:
        for e in block.equations:
            self.step(e, env, tangents)

    def step(self, e: Equation, env: Env, tangents: Tangents) -> None:
        b = self.b
        b.pos = e.pos
        if e.blocks:
            self.structured(e, env, tangents)
            return
        ins = [read(a, env) for a in e.ins]
        along = list(zip(*(self.read(a, tangents) for a in e.ins), strict=True))
        along = along or [()] * len(self.none)
        if e.op in (*CALLS, "custom", "push"):
            along = [self.sure(ts) for ts in along]
        if e.op in (*CALLS, "custom") and any(t is not None for ts in along for t in ts):
            self.called(e, ins, along, env, tangents)
            return
        copy_equation(b, e, env)
        if e.op in ("stack", "push", "pop"):
            if e.outs[0] in self.varied:
                self.record(e, ins, along, tangents)
            return
        if not any(is_float(v.type) for v in e.outs):
            return
        row = TABLE[e.op]
        if row.constant or (row.effect and not row.differentiable):
            return
        outs = tuple(env[v] for v in e.outs)
        moved = tuple(
            None if all(t is None for t in ts) else self.primitive(e, ins, ts, outs)
            for ts in along
        )
        if moved != self.none:
            tangents[e.outs[0]] = moved

    def primitive(
        self, e: Equation, ins: list[Atom], ts: tuple[Atom | None, ...], outs: tuple[Atom, ...]
    ) -> Atom | None:
        """The tangent of a result, which is reached where that of an operand is."""
        reached = self.reached
        known, condition, doubtful = reached.to_add(*(t for t in ts if t is not None))
        rest = iter(known)
        ts = tuple(None if t is None else next(rest) for t in ts)
        made = tangent(self.b, e, ins, list(ts), outs)
        wild = self.steep.infinite
        doubtful = doubtful or any(t is not None and steep(e, k, wild) for k, t in enumerate(ts))
        if doubtful or e.outs[0] in reached.near:
            reached.made(made, condition, doubtful)
        return made

    def called(
        self, e: Equation, ins: list[Atom], along: list[tuple[Atom | None, ...]], env: Env,
        tangents: Tangents,
    ) -> None:  # fmt: skip
        """A call, or a function with rules, once a direction (of several only a twin has any:
        it prints nothing)."""
        moved: list[dict[int, Atom]] = []
        for ts in along:
            if e.op == "custom":
                outs, dots = push(self.b, e, ins, list(ts), self.library)
            else:
                outs, dots = self.library.tangent(self.b, e, ins, list(ts))
            moved.append(dots)
            env.update(zip(e.outs, outs, strict=True))
        for k in sorted({k for dots in moved for k in dots}):
            tangents[e.outs[k]] = tuple(dots.get(k) for dots in moved)

    def record(
        self, e: Equation, ins: list[Atom], along: list[tuple[Atom | None, ...]], out: Tangents
    ) -> None:
        """A stack of records has a stack of tangents beside it, one a direction."""
        b = self.b
        made: list[tuple[Atom, ...]] = []
        for ts in along:
            match e.op:
                case "stack":
                    made.append((b.emit("stack", **e.params),))
                case "push":
                    s, t = ts
                    assert s is not None
                    made.append((b.emit("push", s, t if t is not None else zero(b, ins[1])),))
                case _:
                    assert ts[0] is not None
                    made.append(tuple(b.emit("pop", ts[0], *ins[1:])))
        for v, its in zip(e.outs, zip(*made, strict=True), strict=False):
            out[v] = its

    def sure(self, ts: Tangent) -> Tangent:
        return tuple(None if t is None else self.reached.sure(t) for t in ts)

    def zero(self, a: Atom) -> Atom:
        if isinstance(a.type, Stack):
            return self.b.emit("stack", element=a.type.element)
        return zero(self.b, a)

    def made(self, a: Atom, value: Atom, tangents: Tangents) -> list[Atom]:
        """The tangents of an atom, zeros written out."""
        return [self.zero(value) if t is None else self.reached.sure(t)
                for t in self.read(a, tangents)]  # fmt: skip

    def structured(self, e: Equation, env: Env, tangents: Tangents) -> None:
        uses = [v for v in free_vars(*e.blocks) if v in tangents]
        before = {v: tangents[v] for v in uses if e.op != "if"}
        tangents.update((v, self.sure(ts)) for v, ts in before.items())
        self.inside(e, env, tangents, bool(uses))
        tangents.update(before)  # other blocks don't see what was made in this one

    def inside(self, e: Equation, env: Env, tangents: Tangents, uses: bool) -> None:
        touched = [v for v in e.outs if v in self.varied]
        stacks = any(isinstance(v.type, Stack) for v in touched)
        if not stacks and (not touched or not (uses or any(a in tangents for a in e.ins))):
            copy_equation(self.b, e, env)
            return
        if e.op == "if":
            self.branch(e, env, tangents)
        elif e.op == "implicit":
            self.implicit(e, env, tangents)
        else:
            self.loop(e, env, tangents)

    def branch(self, e: Equation, env: Env, tangents: Tangents) -> None:
        b = self.b
        which = [k for k, v in enumerate(e.outs) if v in self.varied]
        blocks = []
        for block in e.blocks:  # they share the maps: variables are unique
            with b.block() as new:
                self.run(block, env, tangents)
                new.results = self.results(block, which, env, tangents)
            blocks.append(new)
        types = [v.type for v in e.outs] + self.types(e, which)
        outs = structured(b, "if", (read(e.ins[0], env),), tuple(blocks), types, e.params)
        self.enter(e, which, outs, env, tangents)
        first = len(e.outs)
        ends = [new.results[first:] for new in blocks]
        near = [e.outs[k] in self.reached.near for k in which for _ in self.none]
        for out, one, other, follow in zip(outs[first:], *ends, near, strict=False):
            if follow and isinstance(out, Var):
                self.reached.branches(b.sources[out], out, one, other)

    def loop(self, e: Equation, env: Env, tangents: Tangents) -> None:
        b = self.b
        if self.library.outermost and len(self.none) > 1 and self.over_rows(e, env, tangents):
            return
        head = 3 if e.op == "for" else 0
        which = [k for k, v in enumerate(e.outs) if v in self.varied]
        ins = [read(a, env) for a in e.ins]
        starts = [t for k in which for t in self.made(e.ins[head + k], ins[head + k], tangents)]
        ins += starts
        start = [None, *ins[3:]] if e.op == "for" else list(ins)
        count = len(e.outs)
        blocks = []
        for block in e.blocks:
            skip = len(block.params) - count
            params = [renew(p, a, env) for p, a in zip(block.params, start, strict=False)]
            for k in which:
                p = block.params[skip + k]
                # a tangent keeps the extents of its primal
                shape = env[p].shape if isinstance(p.type, Array) else ()
                twins = [Var(p.type, shape, "") for _ in self.none]
                params += twins
                tangents[p] = tuple(twins)
            if block is e.blocks[-1]:
                began = zip(params[len(params) - len(starts) :], starts, strict=True)
                near = [e.outs[k] in self.reached.near for k in which for _ in self.none]
                self.reached.open(block, (
                    (t, self.reached.when(s) != NEVER)
                    for (t, s), is_near in zip(began, near, strict=True) if is_near
                ))  # fmt: skip
            with b.block(*params) as new:
                self.run(block, env, tangents)
                is_body = block is e.blocks[-1]
                new.results = self.results(block, which if is_body else [], env, tangents)
            blocks.append(new)
        body = blocks[-1]
        moved, ends = body.params[len(body.params) - len(starts) :], body.results[count:]
        ways = self.reached.close(body, moved, ends, starts)
        for block in blocks:
            block.params += ways.params if block is body else [Var(p.type) for p in ways.params]
        body.results += ways.results
        types = [v.type for v in (*e.outs, *(e.outs[k] for k in which for _ in self.none))]
        types += [p.type for p in ways.params]
        outs = structured(b, e.op, (*ins, *ways.starts), tuple(blocks), types, e.params)
        self.enter(e, which, outs, env, tangents)
        n = ins[2] if e.op == "for" else None
        flags = outs[len(outs) - len(ways.params) :]
        self.reached.leave(ways, outs[count:], flags, n)

    def over_rows(self, e: Equation, env: Env, tangents: Tangents) -> bool:
        """A sum over rows of arrays of which most have no tangent: the values first, as they are,
        then the tangents; False for any other loop."""
        b = self.b
        rows = rows_of(e, used_arrays(e, tangents))
        if rows is None or not all(v in self.varied for v in e.outs):
            return False
        count = read(e.ins[2], env)
        moved = moved_rows(b, count, rows, tangents)
        if moved is None:
            return False
        places, number = moved
        copy_equation(b, e, env)
        start = [t for a in e.ins[3:] for t in self.made(a, read(a, env), tangents)]
        types = self.types(e, list(range(len(e.outs))))
        with b.block() as few:
            few.results = self.sums(e, number, start, types, env, tangents, places)
        with b.block() as many:
            many.results = self.sums(e, count, start, types, env, tangents)
        less = b.emit("lt", b.emit("mul", number, lit(2)), count)
        dots = iter(structured(b, "if", (less,), (few, many), types))
        for v in e.outs:
            tangents[v] = tuple(next(dots) for _ in self.none)
        return True

    def sums(
        self, e: Equation, count: Atom, start: list[Atom], types: list[Type], env: Env,
        tangents: Tangents, places: Atom | None = None,
    ) -> list[Atom]:  # fmt: skip
        """The tangents of sums over all rows, or over those in these places."""
        b, body = self.b, e.blocks[0]
        at, twins = Var(INT), [Var(t) for t in types]
        rest = iter(twins)
        for p in body.params[1:]:
            env[p] = Lit(np.dtype(p.type.dtype).type(0), p.type)  # type: ignore[arg-type, union-attr]
            tangents[p] = tuple(next(rest) for _ in self.none)
        with b.block(at, *twins) as new:
            env[body.params[0]] = at if places is None else b.emit(
                "cast", b.emit("load", places, at), dtype="i8", py=True)  # fmt: skip
            for x in body.equations:
                if x.outs:  # what is checked was checked with the values
                    self.step(x, env, tangents)
            new.results = self.results(body, list(range(len(e.outs))), env, tangents)[len(e.outs):]
        ins = (lit(0), lit(1), count, *start)
        return list(structured(b, "for", ins, (new,), types, e.params))

    def implicit(self, e: Equation, env: Env, tangents: Tangents) -> None:
        """The tangent of a solution: the fixed point of its linearised equation."""
        b = self.b
        copy_equation(b, e, env)
        count = len(e.outs)
        free = [v for v in free_vars(*e.blocks) if v in tangents]
        swept = jvp_block(opened(e, free), range(count + len(free)), library=self.library)
        given = [read(a, env) for a in e.ins[count:]]
        at = [env[v] for v in e.outs]
        around = [env.get(v, v) for v in free]
        solutions = []
        for d in range(len(self.none)):
            moved = [tangents[v][d] or zero(b, env.get(v, v)) for v in free]

            def step(ds: Sequence[Atom], moved: list[Atom] = moved) -> list[Atom]:
                return inlined(b, swept, [*at, *around, *ds, *moved], env)[count:]

            solutions.append(solved(b, e, step, zeros(b, at), given))
        tangents.update(zip(e.outs, zip(*solutions, strict=True), strict=True))

    def results(
        self, block: Block, which: list[int], env: Env, tangents: Tangents
    ) -> list[Atom]:
        """The results of a block, then the tangents of some of them."""
        values = [read(a, env) for a in block.results]
        dots = (self.made(block.results[k], values[k], tangents) for k in which)
        return [*values, *(t for ts in dots for t in ts)]

    def types(self, e: Equation, which: list[int]) -> list[Type]:
        return [e.outs[k].type for k in which for _ in self.none]

    def enter(
        self, e: Equation, which: list[int], outs: tuple[Atom, ...], env: Env, tangents: Tangents
    ) -> None:
        env.update(zip(e.outs, outs, strict=False))
        count = len(self.none)
        for at, k in enumerate(which):
            first = len(e.outs) + at * count
            tangents[e.outs[k]] = tuple(outs[first : first + count])
