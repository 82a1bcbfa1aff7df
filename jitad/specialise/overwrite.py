"""Which arrays are overwritten as a whole before they are read?  They carry nothing in.

A scratch array that is made once and filled anew in every iteration looks like a value carried
from iteration to iteration.  Where a loop (or a nest of loops, or assignments to slices side by
side) stores to every element of an array and reads none of them first, what the array held before
is of no importance: it starts from a fresh array instead.  An outer loop then carries nothing, and
its iterations are independent, which is what `sweeps.again` looks for (array privatisation; Tu &
Padua 1993).
"""

from __future__ import annotations

from collections.abc import Sequence

from jitad.specialise.simplify import simplify
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit, walk
from jitad.tape.linear import Forms, Linear, constant
from jitad.tape.types import Array, Scalar


def privatise(tape: Tape, given: Sequence[Atom] = ()) -> Tape:
    """The tape with fresh arrays in the place of those that are overwritten unread.

    `given`: what its parameters stand for, of whose extents the tape may speak, too.
    """
    changed = _Overwrites(tape.body, given).visit(tape.body)
    return simplify(tape) if changed else tape


def bare(tape: Tape) -> Tape:
    """The tape (changed in place) with new arrays that are filled before they are read left unset.

    Last of all: what other passes know of an array of zeros, they know of `full`.
    """
    overwrites = _Overwrites(tape.body)
    for block in [tape.body, *(x for e in walk(tape.body) for x in e.blocks)]:
        for e in block.equations:
            if e.op == "full" and overwrites.filled(block, e.outs[0], ()) is not None:
                e.op, e.ins = "blank", e.ins[1:]
                e.params = {"dtype": e.params["dtype"], "start": "empty"}
    return tape


class _Overwrites:
    """One walk over a tape, which knows its integers as sums."""

    def __init__(self, body: Block, given: Sequence[Atom] = ()) -> None:
        self.forms = Forms()
        # extents of parameters that no equation computes: what speaks of them has the other name
        self.given: dict[Atom, Atom] = {}
        computed = {e.outs[0] for e in walk(body) if e.op == "dim"} if given else set()
        for p, a in zip(body.params, given, strict=False):
            for d, n in zip(p.shape, a.shape, strict=True):
                if isinstance(d, Var):
                    self.forms.of_var[d] = self.forms.of(n)
                    if d not in computed:
                        self.given[d] = n
        self.least: dict[Atom, Atom] = {}  # max(n, 0) -> n
        self.users: dict[Block, dict[Atom, list[Equation]]] = {}
        for e in walk(body):
            form = self.forms.result(e.op, e.ins)
            if form is not None:
                self.forms.of_var[e.outs[0]] = form
            elif e.op == "maximum" and lit(0) in e.ins:
                self.least[e.outs[0]] = e.ins[0] if e.ins[1] == lit(0) else e.ins[1]

    def visit(self, block: Block) -> bool:
        changed = False
        out: list[Equation] = []
        for e in block.equations:
            for inner in e.blocks:
                changed |= self.visit(inner)
            if e.op == "for":
                for k, init in enumerate(e.ins[3:]):
                    if isinstance(init.type, Array) and self.covers(e, k, ()):
                        changed |= self.start_afresh(e, 3 + k, out)
            elif e.op == "store_slice" and self.filled(block, e.ins[0], ()) is not None:
                changed |= self.start_afresh(e, 0, out)
            out.append(e)
        block.equations = out
        return changed

    def start_afresh(self, e: Equation, k: int, before: list[Equation]) -> bool:
        """Let operand k of e be a new array, unless it is one."""
        old = e.ins[k]
        if any(old in x.outs and x.op == "full" for x in before[-8:]):
            return False
        assert isinstance(old.type, Array)
        shape = tuple(self.given.get(d, d) for d in old.shape)
        new = Var(old.type, shape)
        params = {"dtype": old.type.dtype}
        zero = lit_zero(old.type.dtype)
        before.append(Equation("full", (zero, *shape), (new,), params, (), e.pos))
        e.ins = (*e.ins[:k], new, *e.ins[k + 1 :])
        return True

    def covers(self, e: Equation, k: int, outer: tuple[Var, ...]) -> bool:
        """Does the loop store to all of carried array k, the leading indices being outer?"""
        body = e.blocks[0]
        start, step, count = e.ins[:3]
        init = e.ins[3 + k]
        axis = len(outer)
        if not (_is(start, 0) and _is(step, 1) and axis < len(init.shape)):
            return False
        if count not in (init.shape[axis], self.least.get(init.shape[axis])):
            return False
        index, now, end = body.params[0], body.params[1 + k], body.results[k]
        # what is read after the store, or kept, must not be an element that this loop has yet to
        # write
        later = self.filled(body, now, (*outer, index))
        return later is not None and later is end and _uses(body, later) == 1

    def filled(self, block: Block, now: Atom, here: tuple[Var, ...]) -> Atom | None:
        """The version in which all elements at these leading indices are new, unread before."""
        boxes: list[list[tuple[Linear, Linear]]] = []
        while True:
            x = self.only_user(block, now)
            if x is None:
                return None
            match x.op:
                case "store" if x.ins[0] is now and x.ins[2:] == here:
                    return x.outs[0] if not boxes else None
                case "store" if x.ins[0] is now and x.ins[2 : 2 + len(here)] == here:
                    rest = x.ins[2 + len(here) :]
                    boxes.append([(self.forms.of(a), constant(1)) for a in rest])
                    now = x.outs[0]
                case "for" if not boxes:
                    at = [j for j, a in enumerate(x.ins[3:]) if a is now]
                    fits = len(at) == 1 and now not in x.ins[:3] and self.covers(x, at[0], here)
                    return x.outs[at[0]] if fits else None
                case "store_slice" if x.ins[0] is now and now not in x.ins[1:]:
                    box = self.box(x, here)
                    if box is None:
                        return None
                    boxes.append(box)
                    now = x.outs[0]
                case _:
                    return None
            if self.tile(boxes, now.shape[len(here) :]):
                return now

    def only_user(self, block: Block, a: Atom) -> Equation | None:
        """The equation of the block that takes a, where nothing else does."""
        if block not in self.users:
            self.users[block] = users = dict[Atom, list[Equation]]()
            for x in block.equations:
                for v in {*x.ins, *free_vars(*x.blocks)}:
                    users.setdefault(v, []).append(x)
        takers = self.users[block].get(a, [])
        if len(takers) != 1 or a in block.results or a in free_vars(*takers[0].blocks):
            return None
        return takers[0]

    def box(self, e: Equation, here: tuple[Var, ...]) -> list[tuple[Linear, Linear]] | None:
        """(start, count) of each axis after those that are indexed as here."""
        kinds, operands = e.params["kinds"], list(e.ins[2:])
        if tuple(operands[: len(here)]) != here or "r" in kinds[: len(here)]:
            return None
        of, least = self.forms.of, self.least
        out: list[tuple[Linear, Linear]] = []
        rest = iter(operands[len(here) :])
        for kind in kinds[len(here) :]:
            start = next(rest)
            step, n = (next(rest), next(rest)) if kind == "r" else (lit(1), lit(1))
            if not _is(step, 1):
                return None
            # a negative count writes nothing, and what comes next then starts lower: no gap is left
            out.append((of(start), of(least.get(n, n))))
        return out

    def tile(self, boxes: list[list[tuple[Linear, Linear]]], shape: tuple[Atom, ...]) -> bool:
        """Do boxes that lie side by side along one axis fill an array of this shape?"""
        whole = [(constant(0), self.forms.of(self.least.get(d, d))) for d in shape]
        for axis in range(len(shape)):
            if any(x[k] != w for x in boxes for k, w in enumerate(whole) if k != axis):
                continue
            counts = dict(x[axis] for x in boxes)
            at = constant(0)
            while at in counts:
                at = at + counts.pop(at)
            if at == whole[axis][1]:
                return True
        return False


def _uses(body: Block, a: Atom) -> int:
    """How often the body and the blocks in it mention a variable."""
    inner = [x for e in walk(body) for x in (e.ins, *(b.results for b in e.blocks))]
    return sum(a is one for atoms in (*inner, body.results) for one in atoms)


def _is(a: Atom, value: int) -> bool:
    return isinstance(a, Lit) and isinstance(a.type, Scalar) and a.value == value
