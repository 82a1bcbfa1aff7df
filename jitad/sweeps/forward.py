"""Forward mode: how does a block become one that also pushes tangents along?

Every variable with a non-zero tangent gets a second one beside it; loops carry both.  Zero
tangents are symbolic, so that inactive parts are copied as they are.
Source: Wengert 1964; Griewank & Walther, *Evaluating Derivatives*, ch. 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitad.primitives import TABLE
from jitad.sweeps.calls import Library
from jitad.sweeps.custom import push, refuse
from jitad.sweeps.implicit import inlined, opened, solved, zeros
from jitad.sweeps.rules import tangent
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_equation, read, renew, structured, zero
from jitad.tape.flow import closure, differentiable_edge, predecessors, successors
from jitad.tape.ir import CALLS, Atom, Block, Equation, Var, free_vars
from jitad.tape.types import Array, Stack, is_float
from jitad.values.number import in_rules

Tangents = dict[Var, Atom]


@in_rules  # a literal times an array of the tape is a content, not a user's handle
def jvp_block(block: Block, active: Sequence[int], library: Library | None = None) -> Block:
    """(params..., tangents of the active params) -> (results..., tangents of the float results)."""
    b = Builder()
    env = begin(b, block)
    new = b.blocks[0]
    tangents: Tangents = {}
    for k in active:
        p = block.params[k]
        twin = Var(p.type, env[p].shape, f"d{p.name}" if p.name else "")
        new.params.append(twin)
        tangents[p] = twin
    varied = _varied(block, [block.params[k] for k in active])
    refuse(block, varied)
    sweep = Forward(b, varied, library or Library())
    sweep.run(block, env, tangents)
    results = [read(a, env) for a in block.results]
    new.results = results + [
        _read(a, tangents) or zero(b, read(a, env)) for a in block.results if is_float(a.type)
    ]
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


def _read(a: Atom, tangents: Tangents) -> Atom | None:
    return tangents.get(a) if isinstance(a, Var) else None


class Forward:
    def __init__(self, b: Builder, varied: set[Var], library: Library) -> None:
        self.b, self.varied, self.library = b, varied, library

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
        ts = [_read(a, tangents) for a in e.ins]
        if e.op in (*CALLS, "custom") and any(t is not None for t in ts):
            if e.op == "custom":
                outs, dots = push(b, e, ins, ts, self.library)
            else:
                outs, dots = self.library.tangent(b, e, ins, ts)
            env.update(zip(e.outs, outs, strict=True))
            tangents.update((e.outs[k], t) for k, t in dots.items())
            return
        copy_equation(b, e, env)
        if e.op in ("stack", "push", "pop"):
            if e.outs[0] in self.varied:
                self.record(e, ins, ts, tangents)
            return
        if all(t is None for t in ts) or not any(is_float(v.type) for v in e.outs):
            return
        row = TABLE[e.op]
        silent = row.effect or e.op in ("constant", "stop")
        if row.constant or (silent and not row.differentiable):
            return
        t = tangent(b, e, ins, ts, tuple(env[v] for v in e.outs))
        if t is not None:
            tangents[e.outs[0]] = t

    def record(self, e: Equation, ins: list[Atom], ts: list[Atom | None], out: Tangents) -> None:
        """A stack of records has a stack of tangents beside it."""
        b = self.b
        match e.op:
            case "stack":
                out[e.outs[0]] = b.emit("stack", **e.params)
            case "push":
                s, t = ts
                assert s is not None
                out[e.outs[0]] = b.emit("push", s, t if t is not None else zero(b, ins[1]))
            case _:
                assert ts[0] is not None
                out[e.outs[0]], out[e.outs[1]] = b.emit("pop", ts[0], *ins[1:])

    def zero(self, a: Atom) -> Atom:
        if isinstance(a.type, Stack):
            return self.b.emit("stack", element=a.type.element)
        return zero(self.b, a)

    def structured(self, e: Equation, env: Env, tangents: Tangents) -> None:
        uses = [v for v in free_vars(*e.blocks) if v in tangents]
        touched = [v for v in e.outs if v in self.varied]
        stacks = any(isinstance(v.type, Stack) for v in touched)
        if not stacks and (not touched or not (uses or any(_read(a, tangents) for a in e.ins))):
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
        types = [v.type for v in e.outs] + [e.outs[k].type for k in which]
        outs = structured(b, "if", (read(e.ins[0], env),), tuple(blocks), types, e.params)
        self.enter(e, which, outs, env, tangents)

    def loop(self, e: Equation, env: Env, tangents: Tangents) -> None:
        b = self.b
        head = 3 if e.op == "for" else 0
        which = [k for k, v in enumerate(e.outs) if v in self.varied]
        ins = [read(a, env) for a in e.ins]
        for k in which:
            t = _read(e.ins[head + k], tangents)
            ins.append(t if t is not None else self.zero(ins[head + k]))
        start = [None, *ins[3:]] if e.op == "for" else list(ins)
        count = len(e.outs)
        blocks = []
        for block in e.blocks:
            skip = len(block.params) - count
            params = [renew(p, a, env) for p, a in zip(block.params, start, strict=False)]
            for k in which:
                p = block.params[skip + k]
                # a tangent keeps the extents of its primal
                twin = Var(p.type, env[p].shape if isinstance(p.type, Array) else (), "")
                params.append(twin)
                tangents[p] = twin
            with b.block(*params) as new:
                self.run(block, env, tangents)
                is_body = block is e.blocks[-1]
                new.results = self.results(block, which if is_body else [], env, tangents)
            blocks.append(new)
        types = [v.type for v in e.outs] + [e.outs[k].type for k in which]
        outs = structured(b, e.op, tuple(ins), tuple(blocks), types, e.params)
        self.enter(e, which, outs, env, tangents)

    def implicit(self, e: Equation, env: Env, tangents: Tangents) -> None:
        """The tangent of a solution: the fixed point of its linearised equation."""
        b = self.b
        copy_equation(b, e, env)
        count = len(e.outs)
        free = [v for v in free_vars(*e.blocks) if v in tangents]
        swept = jvp_block(opened(e, free), range(count + len(free)), library=self.library)
        given = [read(a, env) for a in e.ins[count:]]
        at = [env[v] for v in e.outs]
        around, moved = [env.get(v, v) for v in free], [tangents[v] for v in free]

        def step(d: Sequence[Atom]) -> list[Atom]:
            return inlined(b, swept, [*at, *around, *d, *moved], env)[count:]

        solution = solved(b, e, step, zeros(b, at), given)
        tangents.update(zip(e.outs, solution, strict=True))

    def results(
        self, block: Block, which: list[int], env: Env, tangents: Tangents
    ) -> list[Atom]:
        """The results of a block, then the tangents of some of them."""
        values = [read(a, env) for a in block.results]
        out = list(values)
        for k in which:
            t = _read(block.results[k], tangents)
            out.append(t if t is not None else self.zero(values[k]))
        return out

    @staticmethod
    def enter(
        e: Equation, which: list[int], outs: tuple[Atom, ...], env: Env, tangents: Tangents
    ) -> None:
        env.update(zip(e.outs, outs, strict=False))
        for k, t in zip(which, outs[len(e.outs) :], strict=True):
            tangents[e.outs[k]] = t
