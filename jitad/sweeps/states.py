"""Which loops keep the state that each iteration starts from, and run the iteration again from it?

The reverse of a loop with a past needs what its inner loops have recorded, of every iteration.
Where what the loop carries takes far less room than that, its state is kept instead, and the
forward part runs again in the reverse iteration, whose inner loops then record one iteration only:
steps in time that sweep several times over scratch arrays.

No part of the state is an array that each iteration fills before it reads it.  Every read must be
of places to which the same iteration has stored before, or to which the loop never stores; then it
does not matter which iteration's numbers the array holds at first, and the reverse loop carries it
on from one iteration to the next.  The places are boxes, of integer sums; stores in loops are taken
together, as far as they lie side by side, and boxes are lined up along one axis until they reach
from one end of what is read to the other.
Source: array privatisation, Tu & Padua 1993; checkpoints, Griewank & Walther, ch. 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitad.sweeps.again import adds_up, keeps_arrays
from jitad.sweeps.restore import carried_params, records, whole
from jitad.sweeps.scope import Scope, Thread
from jitad.sweeps.settled import Access, Accesses
from jitad.tape.build import Builder
from jitad.tape.ir import Block, Equation, Lit, Var, free_vars, walk
from jitad.tape.linear import Linear, variable
from jitad.tape.types import Array, Stack

_LESS = 3  # so many times more would be recorded otherwise, at least
_BOXES = 6  # stores that are looked at for one read

Box = list[tuple[Linear, Linear]]  # of each axis, the first place and the last


def states(e: Equation, active: set[Var], scope: Scope) -> list[int] | None:
    """Numbers of the carried arrays that no iteration of this loop gets anything from, if it is to
    run again from its states; None if not."""
    if not scope.visible or e.op != "for" or not keeps_arrays(e, active, ()):
        return None
    body = e.blocks[0]
    stacks = any(isinstance(p.type, Stack) for p in body.params)
    if stacks or any(v in scope.lost for x in walk(body) for v in x.outs):
        return None
    dear = records(e, active, scope)
    filled: list[int] = []
    room = 0
    for k, (p, r) in enumerate(zip(carried_params(e), body.results, strict=True)):
        if p is r or adds_up(body, p, r):
            continue
        if isinstance(p.type, Array) and is_filled(e, k, scope.sources):
            filled.append(k)
        else:
            room += whole(p)
    return filled if dear > _LESS * room else None


def keep(
    b: Builder, e: Equation, new: Block, primal: Sequence[Var], filled: Sequence[int]
) -> list[Thread]:
    """Let the reverse body begin with the state that the iteration started from; gives stacks."""
    threads: list[Thread] = []
    used = set(free_vars(new))
    pops: list[Equation] = []
    for k, (p, old) in enumerate(zip(primal, carried_params(e), strict=True)):
        if p in used and k not in filled:
            kind = Stack(p.type)  # type: ignore[arg-type]
            t = Thread(Var(kind), Var(kind), Var(kind), Var(kind))
            threads.append(t)
            b.sources[p] = pop = Equation("pop", (t.t_in, *p.shape), (t.t_out, p), {}, (), e.pos)
            pops.append(pop)
            push = Equation("push", (t.s_in, old), (t.s_out,), {}, (), e.pos)
            e.blocks[0].equations.insert(0, push)
    new.equations[:0] = pops
    return threads


# -- what an iteration fills ----------------------------------------------------------------------


def is_filled(e: Equation, number: int, sources: Mapping[Var, Equation]) -> bool:
    """Does each iteration read of a carried array only what it has stored, or nobody stores?"""
    body = e.blocks[0]
    found = Accesses(e.blocks, sources)
    found.enter(e)
    end = found.block(body, body.params[1 + number])
    if end is not body.results[number] or not found.once(body) or found.whole or not found.plain:
        return False
    writes = [a for a in found.all if a.written]
    if any("accum" in a.equation.op or a.stale for a in found.all):
        return False
    doubtful = {id(x) for y in walk(body) if y.op in ("if", "while")
                for b in y.blocks for x in walk(b)}  # fmt: skip
    sure = [w for w in writes if id(w.equation) not in doubtful]
    return all(
        a.written or _Places(found, a).covered(sure)
        or all(found.never(a, w, (), lambda theirs: ()) for w in writes)
        for a in found.all
    )  # fmt: skip


@dataclass
class _Places:
    """The places of one read, beside those that were stored to before it."""

    found: Accesses
    read: Access

    def covered(self, writes: Sequence[Access]) -> bool:
        known = self.found.integers.known
        before = known.mark()
        for held in (*self.read.facts, self.read.filled):
            known.assume(held)
        boxes = [box for w in writes for box in [self._stored(w)] if box is not None][:_BOXES]
        axes = range(len(self.read.low))
        proved = any(self._reached(axis, self._across(axis, boxes)) for axis in axes)
        known.forget(before)
        return proved

    def _across(self, axis: int, boxes: Sequence[Box]) -> list[tuple[Linear, Linear]]:
        """Where along an axis there are boxes that are as wide as the read along the others."""
        proves, read = self.found.integers.known.proves, self.read
        return [
            box[axis] for box in boxes
            if all(
                proves(read.low[k] - box[k][0]) and proves(box[k][1] - read.high[k])
                for k in range(len(box)) if k != axis
            )
        ]  # fmt: skip

    def _reached(self, axis: int, spans: Sequence[tuple[Linear, Linear]]) -> bool:
        """Do spans of the axis, one going on where the other ends, hold all that is read?"""
        proves = self.found.integers.known.proves
        low, high = self.read.low[axis], self.read.high[axis]

        def on(to: Linear | None, left: Sequence[tuple[Linear, Linear]]) -> bool:
            if to is not None and proves(to - high):
                return True
            return any(
                on(last, [s for j, s in enumerate(left) if j != k])
                for k, (first, last) in enumerate(left)
                if proves((low if to is None else to.plus(1)) - first)
            )

        return on(None, spans)

    def _stored(self, w: Access) -> Box | None:
        """What a write has stored to in this iteration when it comes to the read."""
        box: Box = list(zip(w.low, w.high, strict=True))
        if not _dense(w.equation):
            return None
        common = sum(1 for _ in _together(self.read.loops, w.loops))
        earlier = w.at < self.read.at
        for level in range(len(w.loops) - 1, 0, -1):
            loop = w.loops[level]
            if level < common - 1:
                break  # of the loops around both, only the innermost has gone on
            if loop.op != "for":
                return None
            index = loop.blocks[0].params[0]
            start, step, count = (self.found.integers.of(a) for a in loop.ins[:3])
            by = step.constant
            if step.terms or abs(by) != 1:
                return None
            last = start + count.plus(-1) * by
            if level == common - 1:
                last = variable(index) if earlier else variable(index).plus(-by)
            elif not any(v is index for side in box for s in side for v, _ in s.terms) and (
                any(count.coefficient(x.blocks[0].params[0]) for x in w.loops if x.op == "for")
                or not self.found.integers.known.proves(count.plus(-1))
            ):
                return None  # it may not have run at all
            if not _grown(box, index, *((start, last) if by > 0 else (last, start))):
                return None
        return box if earlier or (common > 1 and self._goes_on(w, common)) else None

    def _goes_on(self, w: Access, common: int) -> bool:
        """Does what w stores move on with the innermost loop around both?"""
        index = w.loops[common - 1].blocks[0].params[0]
        return any(v is index for s in (*w.low, *w.high) for v, _ in s.terms)


def _together(one: Sequence[Equation], other: Sequence[Equation]) -> Iterator[Equation]:
    for x, y in zip(one, other, strict=False):
        if x is not y:
            return
        yield x


def _grown(box: Box, index: Var, first: Linear, last: Linear) -> bool:
    """Widen a box by a loop's index, which moves it along one axis by one place at a time."""
    moved = [k for k, side in enumerate(box) if any(v is index for s in side for v, _ in s.terms)]
    if not moved:
        return True
    if len(moved) > 1:
        return False
    low, high = box[moved[0]]
    factors = {dict(s.terms).get(index, 0) for s in (low, high)}
    if len(factors) != 1:
        return False
    (by,) = factors
    if abs(by) != 1:
        return False
    ends = (first, last) if by > 0 else (last, first)
    box[moved[0]] = (low.replace(index, ends[0]), high.replace(index, ends[1]))
    return True


def _dense(store: Equation) -> bool:
    """Does a store leave out no place between its first and its last?"""
    rest = iter(store.ins[2:])
    for kind in store.params.get("kinds") or "i" * (len(store.ins) - 2):
        next(rest)
        if kind == "r":
            by = next(rest)
            next(rest)
            if not (isinstance(by, Lit) and abs(int(by.value)) == 1):
                return False
    return True
