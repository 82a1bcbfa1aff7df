"""How do accumulations at neighbouring elements become one an iteration?

The adjoint of a stencil adds to `a[i]`, `a[i+1]`, ... in every iteration.  The additions of
successive iterations meet in the same element, so that each has to wait for the one before it and
the loop can't be vectorised.  Here what an iteration has for a later element is handed on in a
scalar instead, until the loop comes to that element; every element is then added to once (a
scatter turned into a gather, by delay).  What is left when the loop ends is added after it.

Only where the loop does nothing else with the array, and moves through it one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jitad.specialise.linear import Forms, Linear
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit
from jitad.tape.types import BOOL, INT, Array, Scalar

_FARTHEST = 4  # elements between the accumulations of one iteration


def delay(tape: Tape) -> Tape:
    """The tape with such loops changed (in place)."""
    forms = Forms()
    _visit(tape.body, forms, set(tape.body.params))
    return tape


def _visit(block: Block, forms: Forms, outside: set[Var]) -> None:
    """`outside`: all variables defined so far, here and in the blocks around."""
    out: list[Equation] = []
    for e in block.equations:
        after: list[Equation] = []
        if e.op == "for" and isinstance(e.ins[1], Lit) and e.ins[1].value in (1, -1):
            _learn(e.blocks[0], forms)
            for k, init in enumerate(e.ins[3:]):
                changed = _change(e, k, forms, outside) if isinstance(init.type, Array) else None
                if changed is not None:
                    e = changed[0]
                    after += changed[1]
        for inner in e.blocks:
            _visit(inner, forms, outside | set(inner.params))
        for x in (e, *after):
            out.append(x)
            outside.update(x.outs)
            _note(x, forms)
    block.equations = out


def _learn(block: Block, forms: Forms) -> None:
    for x in block.equations:
        _note(x, forms)


def _note(x: Equation, forms: Forms) -> None:
    form = forms.result(x.op, x.ins)
    if form is not None:
        forms.of_var[x.outs[0]] = form


@dataclass(frozen=True)
class _Place:
    """Where an accumulation goes: the same for all of a group but for `offset`."""

    axis: int
    rest: tuple[Linear, ...]  # the indices, without the offset
    offset: int


def _change(
    e: Equation, k: int, forms: Forms, outside: set[Var]
) -> tuple[Equation, list[Equation]] | None:
    """The loop with the accumulations into carried array k delayed, and what follows it."""
    body = e.blocks[0]
    chain = _chain(body, body.params[1 + k], body.results[k])
    if len(chain) < 2:
        return None
    index = body.params[0]
    groups: dict[tuple[int, tuple[Linear, ...]], list[tuple[Equation, int]]] = {}
    for x in chain:
        place = _place(x, index, forms, outside)
        if place is not None:
            groups.setdefault((place.axis, place.rest), []).append((x, place.offset))
    chosen = {
        key: group for key, group in groups.items()
        if 0 < max(c for _, c in group) - min(c for _, c in group) <= _FARTHEST
    }  # fmt: skip
    if not chosen:
        return None
    work = _Work(e, k, body)
    for (axis, rest), group in chosen.items():
        moves = rest[axis].coefficient(index) * e.ins[1].value  # type: ignore[union-attr]
        work.group(axis, rest, group, moves)
    return work.finish(chain)


def _chain(body: Block, start: Var, end: Atom) -> list[Equation]:
    """The accumulations from start to end, if nothing else uses the array on the way."""
    users: dict[Atom, list[Equation]] = {}
    for x in body.equations:
        for a in {*x.ins, *free_vars(*x.blocks)}:
            users.setdefault(a, []).append(x)
    chain: list[Equation] = []
    now: Atom = start
    while now is not end:
        using = users.get(now, [])
        if len(using) != 1 or using[0].op != "accum" or using[0].ins[0] is not now:
            return []
        if now in using[0].ins[1:] or now in body.results:
            return []
        chain.append(using[0])
        now = using[0].outs[0]
    return [] if users.get(end) or sum(a is end for a in body.results) != 1 else chain


def _place(x: Equation, index: Var, forms: Forms, outside: set[Var]) -> _Place | None:
    indices = [forms.of(a) for a in x.ins[2:]]
    moving = [j for j, f in enumerate(indices) if f.coefficient(index)]
    if len(moving) != 1 or indices[moving[0]].coefficient(index) not in (1, -1):
        return None
    if any(v is not index and v not in outside for f in indices for v, _ in f.terms):
        return None
    (axis,) = moving
    offset = indices[axis].constant
    indices[axis] = indices[axis].plus(-offset)
    return _Place(axis, tuple(indices), offset)


class _Work:
    """The rewriting of one loop."""

    def __init__(self, e: Equation, k: int, body: Block) -> None:
        self.e, self.k, self.body = e, k, body
        self.dtype = e.ins[3 + k].type.dtype  # type: ignore[union-attr]
        self.instead: dict[int, list[Equation]] = {}  # by id of a chain's equation
        self.joined: dict[int, tuple[Var, tuple[Atom, ...]]] = {}  # the sum to add, and where
        self.registers: list[tuple[Var, Var, Var]] = []  # parameter, result, out of the loop
        self.left: list[tuple[int, tuple[Linear, ...], int, Var]] = []

    def group(
        self, axis: int, rest: tuple[Linear, ...], group: list[tuple[Equation, int]], moves: int
    ) -> None:
        first = min(c for _, c in group) if moves > 0 else max(c for _, c in group)
        depth = max(abs(c - first) for _, c in group)
        kind = Scalar(self.dtype)
        waiting = [Var(kind, (), "waiting") for _ in range(depth)]
        new: list[Equation] = []

        def typed(x: Equation) -> Atom:
            """What x adds, as an element of the array: it may have to wait alone."""
            v = x.ins[1]
            if v.type.dtype == self.dtype:  # type: ignore[union-attr]
                return v
            if isinstance(v, Lit):
                return Lit(np.dtype(self.dtype).type(v.value), kind)
            out = Var(kind)
            new.append(Equation("cast", (v,), (out,), {"dtype": self.dtype}, (), x.pos))
            return out

        def total(start: Atom | None, distance: int) -> Atom:
            now = start
            for x, c in group:
                if abs(c - first) == distance:
                    v = typed(x)
                    if now is None:
                        now = v
                    else:
                        out = Var(kind)
                        new.append(Equation("add", (now, v), (out,), {}, (), x.pos))
                        now = out
            return now if now is not None else lit_zero(self.dtype)

        # what is handed on comes first, the farthest first of all: see `emit.demand.early`
        handed = [total(waiting[d] if d < depth else None, d) for d in range(depth, 0, -1)][::-1]
        add = total(waiting[0], 0)
        last = group[-1][0]
        self.instead[id(last)] = new
        at = next(x for x, c in group if c == first)
        self.joined[id(last)] = (add, at.ins[2:])  # type: ignore[assignment]
        for x, _ in group[:-1]:
            self.instead[id(x)] = []
        for d, (p, r) in enumerate(zip(waiting, handed, strict=True), 1):
            out = Var(kind)
            self.registers.append((p, r, out))  # type: ignore[arg-type]
            far = rest[axis].plus(first + (d if moves > 0 else -d))
            places = (*rest[:axis], far, *rest[axis + 1 :])
            self.left.append((axis, places, d, out))

    def finish(self, chain: list[Equation]) -> tuple[Equation, list[Equation]]:
        e, body = self.e, self.body
        now: Atom = body.params[1 + self.k]
        links = {id(x) for x in chain}
        equations: list[Equation] = []
        for x in body.equations:
            if id(x) not in links:
                equations.append(x)
                continue
            if id(x) not in self.instead:
                out = x.outs[0]
                equations.append(Equation("accum", (now, *x.ins[1:]), (out,), {}, (), x.pos))
                now = out
                continue
            equations += self.instead[id(x)]
            if id(x) in self.joined:
                v, at = self.joined[id(x)]
                out = Var(x.outs[0].type, x.outs[0].shape, x.outs[0].name)
                equations.append(Equation("accum", (now, v, *at), (out,), {}, (), x.pos))
                now = out
        results = list(body.results)
        results[self.k] = now
        params = [p for p, _, _ in self.registers]
        new_body = Block(
            [*body.params, *params], equations, [*results, *(r for _, r, _ in self.registers)]
        )
        old_out = e.outs[self.k]
        inner = Var(old_out.type, old_out.shape, old_out.name)
        outs = list(e.outs)
        outs[self.k] = inner
        zeros = [lit_zero(self.dtype)] * len(params)
        loop = Equation(
            "for", (*e.ins, *zeros), (*outs, *(v for _, _, v in self.registers)),
            e.params, (new_body,), e.pos,
        )  # fmt: skip
        return loop, self.after(loop, inner, old_out)

    def after(self, loop: Equation, array: Var, out: Var) -> list[Equation]:
        """If the loop has run: what was still waiting goes to the elements behind the last."""
        start, step, count = loop.ins[:3]
        ran = Var(BOOL)
        test = Equation("gt", (count, lit(0)), (ran,))
        then = Block()

        def emit(op: str, *ins: Atom) -> Atom:
            v = Var(INT)
            then.equations.append(Equation(op, ins, (v,)))
            return v

        end = emit("sub", count, lit(1))
        moved = end if step.value == 1 else emit("neg", end)  # type: ignore[union-attr]
        last = emit("add", start, moved)
        index = self.body.params[0]
        now: Atom = array
        for _, places, _, v in self.left:
            at = [self.written(f, index, last, emit) for f in places]
            new = Var(array.type, array.shape)
            then.equations.append(Equation("accum", (now, v, *at), (new,)))
            now = new
        then.results = [now]
        return [test, Equation("if", (ran,), (out,), {}, (then, Block([], [], [array])))]

    @staticmethod
    def written(f: Linear, index: Var, last: Atom, emit) -> Atom:  # type: ignore[no-untyped-def]
        now: Atom = lit(f.constant)
        for v, c in f.terms:
            a: Atom = last if v is index else v
            if c == 1:
                now = a if now == lit(0) else emit("add", now, a)
            else:
                now = emit("add", now, emit("mul", a, lit(c)))
        return now
