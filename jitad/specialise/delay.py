"""How do accumulations at neighbouring elements become one an iteration, and at a fixed one none?

The adjoint of a stencil adds to `a[i]`, `a[i+1]`, ... in every iteration.  The additions of
successive iterations meet in the same element, so that each has to wait for the one before it and
the loop can't be vectorised.  Here what an iteration has for a later element is handed on in a
scalar instead, until the loop comes to that element; every element is then added to once (a
scatter turned into a gather, by delay).  What is left when the loop ends is added after it.
What goes to the same element in all iterations is summed in a scalar, and added after the loop.

Only where the loop does nothing else with the array, so that its sums may be made in any order,
but for stores at places of their own.  Neighbours are what the loop comes to in its next
iterations, in steps of whatever size.  Of an array that nothing was added to before (`blank`), an
element that one iteration adds to is stored.
"""

from __future__ import annotations

import numpy as np

from jitad.immutable import immutable
from jitad.tape.copy import lit_zero
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit, walk
from jitad.tape.linear import Forms, Linear
from jitad.tape.types import BOOL, INT, Array, Scalar

_FARTHEST = 4  # elements between the accumulations of one iteration


def delay(tape: Tape) -> Tape:
    """The tape with such loops changed (in place)."""
    forms = Forms()
    _visit(tape.body, forms, set(tape.body.params))
    _leave_unset(tape.body)
    return tape


def _leave_unset(block: Block) -> None:
    """What is promised to be written need not be zero before, if all that writes to it stores."""
    made = [e for e in block.equations if e.op == "blank" and e.params["start"] == "zeros"]
    if not made:
        return
    onwards = successors(predecessors(block))
    for e in made:
        versions = closure(e.outs, onwards)
        touching = [x for x in walk(block) if not x.blocks and versions.intersection(x.ins)]
        if all(x.op == "store" and x.ins[1] not in versions for x in touching):
            e.params = {**e.params, "start": "empty"}


def _visit(block: Block, forms: Forms, outside: set[Var]) -> None:
    """`outside`: all variables defined so far, here and in the blocks around."""
    out: list[Equation] = []
    blanks = {v for e in block.equations if e.op == "blank" for v in e.outs}
    for e in block.equations:
        after: list[Equation] = []
        if e.op == "for":
            _learn(e.blocks[0], forms)
            for k, init in enumerate(e.ins[3:]):
                if not isinstance(init.type, Array):
                    continue
                changed = _change(e, k, forms, outside, init in blanks)
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


@immutable
class _Place:
    """Where an accumulation goes: the same for all of a group but for `offset`."""

    axis: int | None  # along which the loop moves
    rest: tuple[Linear, ...]  # the indices, without the offset
    offset: int


def _change(
    e: Equation, k: int, forms: Forms, outside: set[Var], is_blank: bool
) -> tuple[Equation, list[Equation]] | None:
    """The loop with the accumulations into carried array k delayed, and what follows it."""
    body = e.blocks[0]
    chain = _chain(body, body.params[1 + k], body.results[k])
    if not chain:
        return None
    index, step = body.params[0], e.ins[1]
    known = isinstance(step, Lit) and step.value != 0
    groups: dict[tuple[int | None, tuple[Linear, ...], int], list[tuple[Equation, int]]] = {}
    for x in chain:
        place = _place(x, index, forms, outside)
        if place is None or not (known or place.axis is None):
            continue
        moves = 1 if place.axis is None else _moves(place, index, step)
        key = (place.axis, place.rest, place.offset % abs(moves))
        groups.setdefault(key, []).append((x, place.offset))
    places = {(axis, rest) for axis, rest, _ in groups}
    apart = len(places) == 1 and sum(map(len, groups.values())) == len(chain)
    stores = [x for x in chain if x.op == "store"]
    for group in groups.values():
        apart &= len(group) == 1 or not any(x in stores for x, _ in group)
    if stores and (not apart or None in (axis for axis, _ in places)):
        return None
    work = _Work(e, k, body)
    for (axis, rest, _), group in groups.items():
        offsets = [c for _, c in group]
        if axis is None:
            work.fixed(rest, group)
            continue
        moves = _moves(_Place(axis, rest, 0), index, step)
        if 0 < max(offsets) - min(offsets) <= _FARTHEST * abs(moves):
            work.moving(axis, rest, group, moves)
        else:
            apart &= len(group) == 1
    if is_blank and apart:
        work.op = "store"
    return work.finish(chain) if work.registers else None


def _moves(place: _Place, index: Var, step: Atom) -> int:
    """How far the place is from that of the iteration before."""
    assert place.axis is not None
    return int(place.rest[place.axis].coefficient(index) * step.value)  # type: ignore[union-attr]


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
        if len(using) != 1 or using[0].op not in ("accum", "store") or using[0].ins[0] is not now:
            return []
        if now in using[0].ins[1:] or now in body.results:
            return []
        chain.append(using[0])
        now = using[0].outs[0]
    return [] if users.get(end) or sum(a is end for a in body.results) != 1 else chain


def _place(x: Equation, index: Var, forms: Forms, outside: set[Var]) -> _Place | None:
    indices = [forms.of(a) for a in x.ins[2:]]
    moving = [j for j, f in enumerate(indices) if f.coefficient(index)]
    if any(v is not index and v not in outside for f in indices for v, _ in f.terms):
        return None
    if not moving:
        return _Place(None, tuple(indices), 0)
    if len(moving) != 1:
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
        self.registers: list[tuple[Var, Atom, Var]] = []  # parameter, result, out of the loop
        self.left: list[tuple[tuple[Linear, ...], Var]] = []
        self.op = "accum"

    def fixed(self, places: tuple[Linear, ...], group: list[tuple[Equation, int]]) -> None:
        total = Var(Scalar(self.dtype), (), "total")
        new: list[Equation] = []
        now: Atom = total
        for x, _ in group:
            now = self.add(now, x, new)
        self.put(group, new)
        self.register(total, now, places)

    def moving(
        self, axis: int, rest: tuple[Linear, ...], group: list[tuple[Equation, int]], moves: int
    ) -> None:
        first = min(c for _, c in group) if moves > 0 else max(c for _, c in group)
        depth = max((c - first) // moves for _, c in group)
        kind = Scalar(self.dtype)
        waiting = [Var(kind, (), "waiting") for _ in range(depth)]
        new: list[Equation] = []

        def total(start: Atom | None, distance: int) -> Atom:
            now = start
            for x, c in group:
                if c - first == distance * moves:
                    now = self.add(now, x, new)
            return now if now is not None else lit_zero(self.dtype)

        # what is handed on comes first, the farthest first of all: see `emit.demand.early`
        handed = [total(waiting[d] if d < depth else None, d) for d in range(depth, 0, -1)][::-1]
        add = total(waiting[0], 0)
        at = next(x for x, c in group if c == first)
        self.put(group, new)
        self.joined[id(group[-1][0])] = (add, at.ins[2:])  # type: ignore[assignment]
        for d, (p, r) in enumerate(zip(waiting, handed, strict=True), 1):
            far = rest[axis].plus(first + d * moves)
            self.register(p, r, (*rest[:axis], far, *rest[axis + 1 :]))

    def add(self, now: Atom | None, x: Equation, new: list[Equation]) -> Atom:
        """The sum of `now` and what x adds, as an element of the array: it may wait alone."""
        v, kind = x.ins[1], Scalar(self.dtype)
        if isinstance(v, Lit):
            v = Lit(np.dtype(self.dtype).type(v.value), kind)
        elif v.type.dtype != self.dtype:  # type: ignore[union-attr]
            out = Var(kind)
            new.append(Equation("cast", (v,), (out,), {"dtype": self.dtype}, (), x.pos))
            v = out
        if now is None:
            return v
        out = Var(kind)
        new.append(Equation("add", (now, v), (out,), {}, (), x.pos))
        return out

    def put(self, group: list[tuple[Equation, int]], new: list[Equation]) -> None:
        """New equations in the place of the last accumulation of a group, none of the others'."""
        for x, _ in group:
            self.instead[id(x)] = []
        self.instead[id(group[-1][0])] = new

    def register(self, start: Var, end: Atom, places: tuple[Linear, ...]) -> None:
        """A scalar is carried, and added to the array when the loop has ended."""
        out = Var(start.type)
        self.registers.append((start, end, out))
        self.left.append((places, out))

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
                op = "store" if x.op == "store" else self.op
                equations.append(Equation(op, (now, *x.ins[1:]), (out,), {}, (), x.pos))
                now = out
                continue
            equations += self.instead[id(x)]
            if id(x) in self.joined:
                v, at = self.joined[id(x)]
                out = Var(x.outs[0].type, x.outs[0].shape, x.outs[0].name)
                equations.append(Equation(self.op, (now, v, *at), (out,), {}, (), x.pos))
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
        """If the loop has run: what is still waiting goes to the elements behind the last."""
        start, step, count = loop.ins[:3]
        ran = Var(BOOL)
        test = Equation("gt", (count, lit(0)), (ran,))
        then = Block()

        def emit(op: str, *ins: Atom) -> Atom:
            v = Var(INT)
            then.equations.append(Equation(op, ins, (v,)))
            return v

        end = emit("sub", count, lit(1))
        last = emit("add", start, emit("mul", end, step))
        index = self.body.params[0]
        now: Atom = array
        for places, v in self.left:
            at = [self.written(f, index, last, emit) for f in places]
            new = Var(array.type, array.shape)
            then.equations.append(Equation(self.op, (now, v, *at), (new,)))
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
