"""Which stacks of numbers share a buffer?

Those that are pushed and popped side by side: the numbers that one iteration of a loop records.
One buffer then holds a record an iteration, with a lane for each number: one test for room, one
address.  Two stacks go side by side if they begin in one block and their histories, the blocks and
loops that their versions pass through, are the same.  Counted loops keep their stacks apart, as
apart they vectorise; unless each iteration has to wait for the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jitad.immutable import immutable
from jitad.tape.flow import closure, predecessors
from jitad.tape.ir import Atom, Block, Equation, Var, walk
from jitad.tape.types import Scalar, Stack, is_float

_MOST = 32  # numbers in a record

History = tuple[object, ...]


@immutable
class Lane:
    """Where in a record a number is, and whether its push or pop is the first or last of them."""

    number: int
    width: int
    first: bool
    last: bool


@immutable
class Lanes:
    """The stacks that share the buffer of another one, and the lanes of pushes and pops."""

    leader: dict[Var, Var]
    at: dict[Equation, Lane]


def lanes(body: Block, dead: set[Equation]) -> Lanes:
    """All records of a tape; the pushes and pops that are `dead` are not written."""
    found = Lanes({}, {})
    if not any(e.op == "stack" for e in walk(body)):
        return found
    uses = _Uses(body)
    for block in uses.blocks:
        groups: dict[History, list[_Course]] = {}
        for e in block.equations:
            if e.op == "stack" and isinstance(e.outs[0].type.element, Scalar):  # type: ignore[union-attr]
                course = _Course(uses, e.outs[0], block)
                if course.known and course.waiting and not dead.intersection(course.sites):
                    key = (e.outs[0].type, *course.history)
                    groups.setdefault(key, []).append(course)
        for group in groups.values():
            for k in range(0, len(group), _MOST):
                _share(group[k : k + _MOST], uses, found)
    return found


class _Uses:
    """Who takes each version of a stack: an equation, or an `if` whose branches do."""

    def __init__(self, body: Block) -> None:
        self.blocks: list[Block] = []
        self.home: dict[Equation, Block] = {}
        self.place: dict[Equation, int] = {}
        self.of: dict[Var, list[Equation]] = {}
        self.inside: dict[Block, set[Var]] = {}  # versions taken in a block or further inside
        self._waits: dict[Equation, bool] = {}
        self._visit(body)

    def waits(self, loop: Equation) -> bool:
        """Does each iteration need what the one before has computed, other than a sum?"""
        if loop not in self._waits:
            self._waits[loop] = loop.op == "while" or _is_chain(loop.blocks[0])
        return self._waits[loop]

    def _visit(self, block: Block) -> set[Var]:
        self.blocks.append(block)
        taken = _stacks(block.results)
        for k, e in enumerate(block.equations):
            self.home[e], self.place[e] = block, k
            mine = _stacks(e.ins)
            for inner in e.blocks:
                deeper = self._visit(inner)
                taken |= deeper
                mine |= deeper
            for v in mine:
                self.of.setdefault(v, []).append(e)
            taken |= mine
        self.inside[block] = taken
        return taken


def _is_chain(body: Block) -> bool:
    numbers = [
        (p, r) for p, r in zip(body.params[1:], body.results, strict=True)
        if isinstance(p.type, Scalar) and is_float(p.type) and isinstance(r, Var)
    ]  # fmt: skip
    if not numbers:
        return False
    edges = predecessors(body)
    sums = {e.outs[0]: e for e in body.equations if e.op in ("add", "sub")}
    for p, r in numbers:
        last = sums.get(r)
        rest = [r] if last is None or p not in last.ins else [a for a in last.ins if a is not p]
        if p in closure((a for a in rest if isinstance(a, Var)), edges):
            return True
    return False


def _stacks(atoms: Iterable[Atom]) -> set[Var]:
    return {a for a in atoms if isinstance(a, Var) and isinstance(a.type, Stack)}


class _Course:
    """The way of one stack through the tape."""

    def __init__(self, uses: _Uses, start: Var, block: Block) -> None:
        self.uses, self.start = uses, start
        self.known = True  # False: something else happens to it than is described here
        self.waiting = False  # is it pushed in a loop that can't run in vector lanes?
        self.sites: list[Equation] = []  # its pushes and pops
        self.history, _ = self._follow(start, block, False)

    def _follow(self, v: Var, block: Block, waiting: bool) -> tuple[History, Var]:
        """What happens to v, until nothing more does in this block; the version at the end."""
        steps: list[object] = []
        while self.known:
            takers = [e for e in self.uses.of.get(v, ()) if self.uses.home[e] is block]
            if not takers:
                break
            if len(takers) > 1:
                self.known = False
                break
            (e,) = takers
            where = id(self.uses.home[e])
            match e.op:
                case "push" | "pop" if e.op == "pop" or e.ins[1] is not v:
                    if (e.op, where) in steps:
                        self.known = False  # two sites in one block: whose record is it?
                    steps.append((e.op, where))
                    self.sites.append(e)
                    self.waiting |= waiting and e.op == "push"
                    v = e.outs[0]
                case "for" | "while" if v in e.ins:
                    head = 3 if e.op == "for" else 0
                    body = e.blocks[-1]
                    k = e.ins[head:].index(v)
                    p = body.params[k + (1 if e.op == "for" else 0)]
                    inner, end = self._follow(p, body, self.uses.waits(e))
                    self.known &= end is body.results[k]
                    steps.append((e.op, id(e), inner))
                    v = e.outs[k]
                case "if":
                    inners, ends = zip(*(self._follow(v, b, waiting) for b in e.blocks),
                                       strict=True)  # fmt: skip
                    at = [
                        k for k in range(len(e.outs))
                        if all(b.results[k] is w for b, w in zip(e.blocks, ends, strict=True))
                    ]  # fmt: skip
                    if len(at) != 1:
                        self.known = False
                        break
                    steps.append(("if", id(e), inners))
                    v = e.outs[at[0]]
                case _:
                    self.known = False
        return tuple(steps), v


def _share(group: list[_Course], uses: _Uses, found: Lanes) -> None:
    if len(group) < 2:
        return
    sites: dict[tuple[Block, str], list[tuple[Equation, int]]] = {}
    for number, course in enumerate(group):
        for e in course.sites:
            sites.setdefault((uses.home[e], e.op), []).append((e, number))
    records = [sorted(s, key=lambda site: uses.place[site[0]]) for s in sites.values()]
    if not all(_together(record, uses) for record in records):
        return
    for record in records:
        for k, (e, number) in enumerate(record):
            found.at[e] = Lane(number, len(group), k == 0, k == len(record) - 1)
    for course in group[1:]:
        found.leader[course.start] = group[0].start


def _together(record: list[tuple[Equation, int]], uses: _Uses) -> bool:
    """Is the record complete before any of its stacks is touched otherwise?"""
    first, last = uses.place[record[0][0]], uses.place[record[-1][0]]
    block = uses.home[record[0][0]]
    mine = {e.ins[0] for e, _ in record} | {e.outs[0] for e, _ in record}
    others = [e for e in block.equations[first : last + 1] if e.blocks]
    return not any(mine & {*e.ins, *_within(e, uses)} for e in others)


def _within(e: Equation, uses: _Uses) -> Iterator[Var]:
    for b in e.blocks:
        yield from uses.inside[b]
