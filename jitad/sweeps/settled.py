"""Which arrays may the reverse of a loop read as the loop has left them?

A recurrence writes row after row and reads rows that it has written: x[i] from x[:i], y[:, j] from
y[:, j-1].  No later iteration writes what was read, so that its last version has the same numbers
there.  Nothing of such an array needs to be recorded or restored.

All writes must be at one place of one axis, which moves on with the loop's index, and every read
must be proved to stay behind it (or at it, after the write).  The proof is of integer sums.
"""

from __future__ import annotations

from collections.abc import Mapping

from jitad.sweeps.versions import READ
from jitad.tape.ir import Atom, Block, Equation, Lit, Var
from jitad.tape.linear import Forms, Linear, is_integer, variable
from jitad.tape.prove import Known

_DEEP = 12  # equations looked through


def stays_behind(
    e: Equation, versions: list[Atom], last: Atom, sources: Mapping[Var, Equation]
) -> bool:
    """True of a counted loop whose reads of an array are never overwritten afterwards.

    `versions` of the array in the body, `last` the one that the body ends with.
    """
    step = e.ins[1]
    if e.op != "for" or not isinstance(step, Lit) or not step.value:
        return False
    body = e.blocks[0]
    found = _Reads(set(versions), e, sources)
    if not found.block(body, True):
        return False
    index = body.params[0]
    for axis in range(len(last.shape)):
        places = [w[axis] for w in found.writes]
        if not places or any(len(p) != 1 for p in places):
            continue
        forms = [found.integers.of(p[0]) for p in places]
        moves = forms[0].coefficient(index) * int(step.value)
        if moves and all(f == forms[0] for f in forms):
            if all(_behind(found, *read, axis, forms[0], moves, last) for read in found.reads):
                return True
    return False


def _behind(
    found: _Reads, version: Atom, entries: list[tuple[Atom, ...]], mark: tuple[Linear, ...],
    axis: int, at: Linear, moves: int, last: Atom,
) -> bool:  # fmt: skip
    """Is a read of one axis at places that the writes have passed?"""
    known, of = found.integers.known, found.integers.of
    before = known.mark()
    known.assume(mark)
    start, *rest = entries[axis]
    first = end = of(start)
    if rest:
        by, count = rest
        if not isinstance(by, Lit):
            known.forget(before)
            return False
        n = of(count)
        known.assume([n.plus(-1)])  # an empty slice reads nothing
        end = first + n.plus(-1) * int(by.value)
    margin = 0 if version is last else -1
    sign = 1 if moves > 0 else -1
    proved = known.proves_all(((at - place) * sign).plus(margin) for place in (first, end))
    known.forget(before)
    return proved


class _Integers:
    """Integers as sums of what is not known further, with what follows from how they are made."""

    def __init__(self, sources: Mapping[Var, Equation]) -> None:
        self.sources, self.forms, self.known = sources, Forms(), Known()
        self._seen: set[Var] = set()

    def of(self, a: Atom, depth: int = _DEEP) -> Linear:
        if isinstance(a, Var) and a not in self._seen and is_integer(a):
            self._seen.add(a)
            e = self.sources.get(a)
            if e is not None and not e.blocks and depth:
                self._made(a, e, depth)
        return self.forms.of(a)

    def _made(self, a: Var, e: Equation, depth: int) -> None:
        if not all(map(is_integer, e.ins)):
            if e.op == "dim":
                self.known.assume([variable(a)])
            return
        ins = [self.of(x, depth - 1) for x in e.ins]
        form = self.forms.result(e.op, e.ins)
        if form is not None:
            self.forms.of_var[a] = form
        elif e.op in ("maximum", "minimum"):
            sign = 1 if e.op == "maximum" else -1
            self.known.assume([(variable(a) - x) * sign for x in ins])
            self.known.either[a] = (ins[0], ins[1])


class _Reads:
    """Where the body of a loop reads and writes an array."""

    def __init__(self, versions: set[Atom], e: Equation, sources: Mapping[Var, Equation]) -> None:
        self.versions = versions
        self.integers = _Integers(sources)
        self.reads: list[tuple[Atom, list[tuple[Atom, ...]], tuple[Linear, ...]]] = []
        self.writes: list[list[tuple[Atom, ...]]] = []
        self._around: tuple[Linear, ...] = ()  # what holds where the present block runs
        self._counted(e)

    def _counted(self, e: Equation) -> None:
        start, step, count = (self.integers.of(a) for a in e.ins[:3])
        index = variable(e.blocks[0].params[0])
        if not step.terms and step.constant:
            towards = 1 if step.constant > 0 else -1
            last = start + count.plus(-1) * step.constant
            self._around += ((index - start) * towards, (last - index) * towards)
        self._around += (count.plus(-1),)

    def block(self, block: Block, outermost: bool) -> bool:
        """Enter all of it; False where the array is used in a way that says no places."""
        for e in block.equations:
            mine = [a for a in e.ins if a in self.versions]
            if e.op in READ and e.ins[0] in self.versions:
                if not outermost or len(mine) > 1:
                    return False
                self.writes.append(_entries(e, 2))
            elif e.op in ("load", "slice"):
                if mine:
                    self.reads.append((e.ins[0], _entries(e, 1), self._around))
            elif mine:
                return False
            around = self._around
            for b in e.blocks:
                if e.op == "for":
                    self._counted(e)
                if any(a in self.versions for a in b.results) or not self.block(b, False):
                    return False
                self._around = around
        return True


def _entries(e: Equation, head: int) -> list[tuple[Atom, ...]]:
    """For each axis (place,) or (start, step, count)."""
    kinds = e.params.get("kinds") or "i" * (len(e.ins) - head)
    rest = iter(e.ins[head:])
    return [tuple(next(rest) for _ in range(3 if kind == "r" else 1)) for kind in kinds]
