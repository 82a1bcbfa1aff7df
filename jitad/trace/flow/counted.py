"""How does a `for` with a count, and a `while`, become an equation?  What is carried: `rolled`."""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.table import TABLE
from jitad.tape.build import Leaf
from jitad.tape.ir import STRUCTURED, Atom, Var, free_vars, lit, walk
from jitad.tape.types import INT
from jitad.trace.containers.iterables import Counted
from jitad.trace.context import Trace, reopened
from jitad.trace.flow.branches import truth
from jitad.trace.flow.rolled import Rolled, State
from jitad.trace.joins.forms import Keep
from jitad.trace.joins.join import kinds
from jitad.trace.joins.state import Num, Obj, Per, Rec, Snapshot
from jitad.trace.syntax.hooking import Site
from jitad.values.number import bind

MAX_STATIC = 20_000  # operations of a loop that knows all it needs, and is just run
LISTED = 8  # iterations of known number that are written out where lists get longer in them

class RolledFor(Rolled):
    """A loop with a count: a `for` equation, or a `while` where it may be left early."""

    def __init__(
        self, trace: Trace, counted: Counted, state: State, site: Site, may_fail: bool,
        long: bool = False,
    ) -> None:  # fmt: skip
        self.counted, self.long = counted, long
        self.flags = site.stops
        super().__init__(trace, state, site, may_fail)

    def _own_params(self) -> list[Var]:
        return [Var(INT)]

    def _item(self, own: list[Var]) -> Any:
        b = self.trace.builder
        (index,) = own
        start, stop, step = self.counted.bounds
        if self.flags or isinstance(step, Leaf):
            b.loops[index] = (lit(0), b.atom(self.counted.count), lit(1))
            return self.counted.item(b.leaf(index))
        b.loops[index] = (b.atom(start), b.atom(stop), b.atom(step))
        if self._is_range:
            return b.leaf(index)
        return self.counted.item(b.leaf(index))

    @property
    def _is_range(self) -> bool:
        start, _, step = self.counted.bounds
        return not (_is(start, 0) and _is(step, 1))

    def _flag_inside(self, k: int, value: Any) -> Any:
        return False  # the body only runs while no flag is set

    def _is_short(self) -> bool:
        if self.long:  # in lists of rows it is no longer known which of them get longer
            return not self.trace.in_rows
        return (
            not isinstance(self.counted.count, Leaf) and self.counted.count <= LISTED
        )

    def _is_static(self) -> bool:
        count, block = self.counted.count, self.region.block
        before = [*self.entry, *(w.value for w in self.places.values())]
        pairs = zip(self.forms, before, strict=False)  # a place may just have been found
        known = all(isinstance(f, Keep) or _is_known(s) for f, s in pairs)
        if isinstance(count, Leaf) or not known:
            return False
        equations = list(walk(block))
        if count * len(equations) > MAX_STATIC or free_vars(block):
            return False
        return not any(e.op not in (*STRUCTURED, "check") and TABLE[e.op].effect for e in equations)

    def _runs(self) -> Any:
        runs = bind("gt", self.counted.count, 0)
        return runs

    def _equation(self, start: list[Atom], final: list[Atom], outs: tuple[Var, ...]) -> None:
        b = self.trace.builder
        block = self.region.block
        if not self.flags:
            first, _, step = self.counted.bounds
            block.results = final
            if isinstance(step, Leaf):
                head: tuple[Any, ...] = (lit(0), lit(1))
            else:
                head = (b.atom(first), b.atom(step))
            b.structured("for", (*head, b.atom(self.counted.count), *start), outs, (block,))
            return
        (k,) = self._own
        with reopened(self.trace, block):
            block.results = [b.emit("add", k, lit(1)), *final]
        own, carried = self._params()
        with b.block(*own, *carried) as test:
            go = b.emit("lt", own[0], b.atom(self.counted.count))
            for f in self._flag_vars(carried):
                go = b.emit("logical_and", b.emit("logical_not", f), go)
            test.results = [go]
        b.structured("while", (lit(0), *start), (Var(INT), *outs), (test, block))

    def _flag_vars(self, carried: list[Var]) -> list[Var]:
        at, out = 0, []
        seen: set[int] = set()
        for k, f in enumerate(self.forms):
            width = len(kinds(f, [], seen))
            if k in self.flags:
                out.append(carried[at])
            at += width
        return out


class RolledWhile(Rolled):
    """A loop whose condition is its first variable."""

    by_condition = True

    def __init__(
        self, trace: Trace, state: State, site: Site, may_fail: bool, long: bool
    ) -> None:
        self.long = long
        self.flags = (0, *site.stops)
        super().__init__(trace, (truth(state[0]), *state[1:]), site, may_fail)

    def leave(self, state: State) -> None:
        super().leave((truth(state[0]), *state[1:]))  # as it is now: a list may change later

    def _own_params(self) -> list[Var]:
        return []

    def _is_short(self) -> bool:
        """Its condition was known so far, and it is no exit."""
        return not self.long and len(self.entry) == self.given

    def _item(self, own: list[Var]) -> Any:
        return None

    def _flag_inside(self, k: int, value: Any) -> Any:
        return k == 0  # the condition holds in the body, and no exit was taken before

    def _runs(self) -> Any:
        return truth(self.state[0])

    def _atoms(self, snapshots: list[Snapshot]) -> list[Atom]:
        first = snapshots[0]
        known = truth(first.value) if isinstance(first, Num) else truth(getattr(first, "value", 0))
        return super()._atoms([Num(known), *snapshots[1:]])

    def _equation(self, start: list[Atom], final: list[Atom], outs: tuple[Var, ...]) -> None:
        b = self.trace.builder
        self.region.block.results = final
        _, carried = self._params()
        with b.block(*carried) as test:
            test.results = [carried[0]]
        b.structured("while", tuple(start), outs, (test, self.region.block))


def _is_known(s: Snapshot) -> bool:
    match s:
        case Num(value):
            return not isinstance(value, (Leaf, np.ndarray))
        case Rec(tuple() | list() | dict(), _, parts):
            return all(map(_is_known, parts))
        case Per(_, part):
            return part is None
    return isinstance(s, Obj)


def _is(value: Any, number: int) -> bool:
    return not isinstance(value, Leaf) and value == number
