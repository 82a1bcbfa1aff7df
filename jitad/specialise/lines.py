"""Which loops over whole planes run for one line of the planes after the other?

A sweep through levels, a recurrence in time at each point of a grid: NumPy code has a loop around
operations on planes, whose first axis is a bystander.  Every array that such loops hand to one
another is then as large as the data, and comes from memory each time.  Where loops, and what
stands between them, treat the lines of a plane each by itself, one loop over lines takes the
place of all: arrays that nothing else needs are a line long, and stay in the cache (interchange,
fusion and contraction; Allen & Kennedy 2001, *Optimizing Compilers for Modern Architectures*,
chapters 5 and 8).

What is asked for afterwards is stored line by line; sums over lines are carried; and what other
lines are added to (the adjoint of what was read at the neighbours' lines) is carried as a whole.
Extents, indices and their checks come first.  Done where that
leaves fewer arrays: what is light is rather computed again than stored, and what a line is made of
that nobody needs later gives its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitad.primitives import TABLE
from jitad.specialise.extents import Known
from jitad.specialise.linewise import Kinds, Loop
from jitad.tape.ir import (
    CALLS,
    Atom,
    Block,
    Equation,
    Lit,
    Tape,
    Var,
    free_vars,
    is_array,
    lit,
    walk,
)
from jitad.tape.lent import STORES
from jitad.tape.types import Array, Scalar, Stack

_LONG = 8  # operations that are done again rather than stored
_FEW = 16  # numbers of a line: fewer are no work for a loop of their own

_VIEWS = ("slice", "transpose", "broadcast", "full")


def lines(tape: Tape) -> Tape:
    """The tape with such loops over lines (in place)."""
    _visit(tape.body, Known())
    return tape


def _visit(block: Block, known: Known) -> None:
    stretches = list(_stretches(block))
    later = set(block.results)  # what is used from now on
    after: list[set[Atom]] = []
    for stretch in reversed(stretches):
        after.insert(0, {*later})
        later.update(free_vars(Block([], stretch)))
    out: list[Equation] = []
    for stretch, later in zip(stretches, after, strict=True):
        found = _by_lines(stretch, later, known)
        if found is None:
            found = stretch
            for e in stretch:
                for inner in e.blocks:
                    _visit(inner, known.copy())
        out += found
        for e in found:
            known.learn(e)
    block.equations = out


def _stretches(block: Block) -> Iterator[list[Equation]]:
    """The equations, cut before and behind those that nothing passes."""
    stretch: list[Equation] = []
    for e in block.equations:
        if e.op != "check" and any(map(_acts, (e, *(x for b in e.blocks for x in walk(b))))):
            yield stretch
            yield [e]
            stretch = []
        else:
            stretch.append(e)
    yield stretch


def _acts(e: Equation) -> bool:
    return TABLE[e.op].effect if e.op in TABLE else e.op in CALLS or not e.blocks


def _by_lines(
    stretch: list[Equation], later: set[Atom], known: Known
) -> list[Equation] | None:
    """The stretch with loops over lines in it; None if there are none."""
    if not any(e.op == "for" for e in stretch):
        return None
    known = known.copy()
    first = _early(stretch)
    for e in first:
        known.learn(e)
    early = {id(e) for e in first}
    left = [e for e in stretch if id(e) not in early]
    out, changed, k = first, False, 0
    while k < len(left):
        group = _Group(known)
        n = k
        if group.starts(left[k]):
            while n < len(left) and group.adds(left[n]):
                n += 1
        made = None
        if any(e.op == "for" for e in group.members):
            rest = free_vars(Block([], [*group.after, *left[n:]]))
            made = group.equations(later.union(rest))
        changed |= made is not None
        n = max(n, k + 1)
        done = left[k:n] if made is None else made
        out += done
        for e in done:
            known.learn(e)
        k = n
    return out if changed else None


def _early(stretch: list[Equation]) -> list[Equation]:
    """What computes and checks extents, indices and other numbers that no array is read for."""
    late: set[Atom] = set()
    out: list[Equation] = []
    effects = True  # do all checks so far come along?  They keep their order
    for e in stretch:
        scalar = not e.blocks and all(isinstance(a.type, Scalar) for a in (*e.ins, *e.outs))
        if (scalar or e.op == "dim") and late.isdisjoint(e.ins) and (e.op != "check" or effects):
            out.append(e)
        else:
            late.update(e.outs)
            effects = effects and e.op != "check"
    return out


def _light(e: Equation) -> bool:
    """Is an array made by few operations, that it needs no memory for?"""
    row = TABLE.get(e.op)
    return e.op in _VIEWS or (row is not None and row.elementwise and not row.dear)


def _of_others(e: Equation) -> bool:
    """Does a line of what it gives take other lines of its operand, or all of them?"""
    if e.op == "slice":
        return e.ins[1] != lit(0)
    return e.op == "broadcast" and 0 not in e.params["axes"]


class _Group:
    """Equations that treat lines each by itself."""

    def __init__(self, known: Known) -> None:
        self.known, self.equal = known, known.equal
        self.counts: list[Atom] = []  # of the loops that are looked into
        self.n: Atom = lit(0)  # how many lines
        self.kinds = Kinds()
        self.members: list[Equation] = []
        self.before: list[Equation] = []
        self.after: list[Equation] = []
        self.made: set[Atom] = set()
        self.behind: set[Atom] = set()

    # -- what belongs to it -----------------------------------------------------------------------

    def starts(self, e: Equation) -> bool:
        """Does it say how many lines there are?"""
        planes = [v for v in e.outs if is_array(v) and len(v.shape) > 1]
        if not planes or e.op in ("if", "while"):
            return False
        self.n = planes[0].shape[0]
        return not isinstance(self.equal.find(self.n), Lit)

    def adds(self, e: Equation) -> bool:
        """Is it in the group now, before or behind it?"""
        used = {*e.ins, *free_vars(*e.blocks), *(n for v in e.outs for n in v.shape)}
        late = not used.isdisjoint(self.behind)
        if not late and self.fits(e, outermost=True):
            self.members.append(e)
            self.made.update(e.outs)
            return True
        if not late and used.isdisjoint(self.made):
            if e.blocks or e.op in STORES or e.op == "check":
                return False
            self.before.append(e)
            return True
        kinds = self.kinds
        if e.blocks or e.op in STORES or e.op == "check":
            return False
        if any(a in kinds.lines or a in kinds.whole for a in used):
            return False
        self.after.append(e)
        self.behind.update(e.outs)
        return True

    def all_lines(self, a: Atom) -> bool:
        """Does an array have as many lines, and more than one number in each?"""
        return len(a.shape) > 1 and self.equal.find(a.shape[0]) == self.equal.find(self.n)

    def fits(self, e: Equation, outermost: bool = False) -> bool:
        """Can it be done line by line?  Notes what its results are then."""
        kinds = self.kinds
        if not kinds.totals.isdisjoint(e.ins):
            return False
        if e.op == "for":
            return self.loop(e)
        if e.blocks or e.op not in TABLE or TABLE[e.op].effect or len(e.outs) < 1:
            return False
        if all(isinstance(a.type, Scalar) for a in (*e.ins, *e.outs)):
            kinds.numbers.update(e.outs)
            return not outermost and TABLE[e.op].elementwise
        if not kinds.totals.isdisjoint(n for v in e.outs for n in v.shape):
            return False
        match e.op:
            case "stack":
                element = e.params["element"]
                good = isinstance(element, Array) and element.ndim > 1
            case "push":
                good = e.ins[0] in kinds.lines and self.is_lines(e.ins[1])
            case "pop":
                good = e.ins[0] in kinds.lines and self.all_lines(e.outs[1])
            case "accum_slice" if not self.is_lines(e.ins[0]):
                return self.addition(e)
            case "sum" | "amax" | "amin" if 0 in e.params["axes"]:
                if e.op != "sum" or not outermost or e.outs[0].type.dtype[0] != "f":  # type: ignore[union-attr]
                    return False
                if self.is_lines(e.ins[0]):
                    kinds.totals.update(e.outs)
                return self.is_lines(e.ins[0])
            case _:
                good = self.all_lines(e.outs[0]) and self.keeps_lines(e)
        if good:
            kinds.lines.update(e.outs)
        return good

    def is_lines(self, a: Atom) -> bool:
        """Is there a line of it?  Of arrays from outside, as they are before the group."""
        kinds = self.kinds
        return a in kinds.lines or (
            is_array(a) and self.all_lines(a) and a not in kinds.whole and a not in kinds.totals
        )

    def keeps_lines(self, e: Equation) -> bool:
        arrays = [a for a in e.ins if not isinstance(a.type, Scalar)]
        there, kinds = all(map(self.is_lines, arrays)), self.kinds
        match e.op:
            case "full":
                return True
            case "broadcast":
                if 0 in e.params["axes"]:
                    return there
                return not any(a in kinds.lines or a in kinds.whole for a in arrays)
            case "transpose":
                return there and e.params["perm"][0] == 0
            case "copy" | "sum" | "amax" | "amin":
                return there
            case "slice":
                (a,) = arrays
                if a in kinds.whole or a in kinds.totals or not self.over_lines(e, 1):
                    return False
                return a not in kinds.lines or e.ins[1] == lit(0)
            case "store_slice" | "accum_slice":
                return there and self.over_lines(e, 2) and e.ins[2] == lit(0)
        return TABLE[e.op].elementwise and there

    def over_lines(self, e: Equation, head: int) -> bool:
        """Is its first axis, of array or slice, the lines one after the other?"""
        if e.params["kinds"][0] != "r":
            return False
        _, step, count = e.ins[head : head + 3]
        return step == lit(1) and self.equal.find(count) == self.equal.find(self.n)

    def addition(self, e: Equation) -> bool:
        """Does it add lines to those of an array that is only added to?"""
        a, v = e.ins[:2]
        if a in self.kinds.lines or not self.over_lines(e, 2) or not self.is_lines(v):
            return False
        self.kinds.whole[e.outs[0]] = self.kinds.whole.get(a, a)
        return True

    def loop(self, e: Equation) -> bool:
        kinds, body = self.kinds, e.blocks[0]
        carried = list(zip(body.params[1:], body.results, e.ins[3:], e.outs, strict=True))
        kinds.numbers.add(body.params[0])
        for p, _, a, _ in carried:
            if isinstance(p.type, Scalar):
                kinds.numbers.add(p)
            elif self.is_lines(a):
                kinds.lines.add(p)
            elif is_array(a):
                kinds.whole[p] = p
            else:
                return False
        around = self.equal
        self.counts.append(e.ins[2])
        self.equal = self.known.inside(self.counts)
        good = all(map(self.fits, body.equations))
        self.equal = around
        self.counts.pop()
        if not good:
            return False
        for p, r, _, _ in carried:
            if p in kinds.whole and kinds.whole.get(r) is not p:
                return False
            if p in kinds.lines and not self.is_lines(r):
                return False
        for p, _, a, v in carried:
            if p in kinds.numbers:
                kinds.numbers.add(v)
            elif p in kinds.lines:
                kinds.lines.add(v)
            else:
                kinds.whole[v] = kinds.whole.get(a, a)
        return True

    # -- what becomes of it -----------------------------------------------------------------------

    def held(self) -> list[Atom]:
        """The lines that have memory: what loops make of them, and read in parts."""
        lines, loops = self.kinds.lines, [e for e in self.members if e.op == "for"]
        found = [v for e in loops for v in (*e.outs, *free_vars(*e.blocks)) if v in lines]
        return list(dict.fromkeys(found))

    def equations(self, later: set[Atom]) -> list[Equation] | None:
        """The loop, with what stands before and behind it; None if it is not worth it."""
        if self.scarce():
            return None
        asked, again = self.asked(later)
        held, stored = set(self.held()), {v for v in asked if v in self.kinds.lines}
        if len(held - stored) <= len(stored - held):  # they might lie in one place
            return None
        if any(isinstance(v.type, Stack) or v in self.kinds.numbers for v in asked):
            return None
        if not self.added_once(asked):
            return None
        later = later.union(*(e.ins for e in again))
        self.remade(later)
        homes = self.homes(asked, later)
        loop = Loop(self.members, self.n, self.kinds, asked, homes).equations()
        return [*self.before, *loop, *again, *self.after]

    def asked(self, later: set[Atom]) -> tuple[list[Var], list[Equation]]:
        """What is stored, as it is used later; and what is rather computed from that again."""
        makers: dict[Atom, Equation] = {v: e for e in self.members for v in e.outs}
        again: set[Equation] = set()
        leaves: set[Atom] = set()

        def light(e: Equation | None, chain: set[Equation], found: set[Atom]) -> bool:
            if e is None or not _light(e) or len(chain) >= _LONG:
                return False
            chain.add(e)
            for a in e.ins:
                if a in self.made and not light(makers.get(a), chain, found):
                    found.add(a)
            return True

        asked = [v for e in self.members for v in e.outs if v in later]
        made = 0
        for v in asked:
            chain: set[Equation] = set()
            found: set[Atom] = set()
            if light(makers[v], chain, found):
                again |= chain
                leaves |= found
                made += bool(found - later)
        if made and len(leaves - later) >= made:  # as many arrays, and more to compute
            again = {e for e in again if e.op in _VIEWS and self.made.isdisjoint(e.ins)}
            leaves = set()
        gone = {v for e in again for v in e.outs}
        made_here = (v for e in self.members for v in e.outs)
        stored = [v for v in made_here if (v in later or v in leaves) and v not in gone]
        return stored, [e for e in self.members if e in again]

    def everything(self) -> Iterator[Equation]:
        for e in self.members:
            yield e
            for inner in e.blocks:
                yield from walk(inner)

    def remade(self, later: set[Atom]) -> None:
        """Take in what computes arrays from outside that nobody else needs, where it is light."""
        elsewhere = {x.ins[0] for x in self.everything() if _of_others(x)}
        order: dict[Atom, int] = {v: k for k, v in enumerate(self.known.makers)}
        todo = [a for x in self.everything() for a in x.ins]
        taken: dict[Equation, int] = {}
        while todo:
            a = todo.pop()
            e = self.known.makers.get(a) if isinstance(a, Var) and is_array(a) else None
            if e is None or e in taken or a in self.made or a in later or a in elsewhere:
                continue
            others = _of_others(e) and is_array(e.ins[0]) and self.all_lines(e.ins[0])
            if others or e.op == "slice" or not _light(e) or a in self.kinds.whole.values():
                continue
            if self.fits(e, outermost=True):
                taken[e] = order[a]
                todo += e.ins
        self.members[:0] = sorted(taken, key=taken.__getitem__)
        self.made.update(v for e in taken for v in e.outs)

    def homes(self, stored: list[Var], later: set[Atom]) -> dict[Var, Var]:
        """Arrays from outside in whose place others may be stored: each line of them is read in its
        own iteration, and nobody needs them later."""
        free: dict[Atom, bool] = {}
        for x in self.everything():
            for a in (*x.ins, *(r for b in x.blocks for r in b.results)):
                if is_array(a) and a not in self.made:
                    e = self.known.makers.get(a)  # type: ignore[arg-type]
                    good = e is not None and (e.op == "for" or e.op in STORES) and a not in later
                    good = good and not _of_others(x) and a not in self.kinds.whole.values()
                    free[a] = good and self.is_lines(a) and free.get(a, True)
        found: dict[Var, Var] = {}
        for v in stored:
            for a, good in free.items():
                if good and v in self.kinds.lines and v.type == a.type and [
                    *map(self.equal.find, v.shape)] == [*map(self.equal.find, a.shape)
                ]:  # fmt: skip
                    found[v] = a  # type: ignore[assignment]
                    free[a] = False
                    break
        return found

    def scarce(self) -> bool:
        """Are there only a few numbers in a line?"""
        def few(v: Var) -> bool:
            size = 1
            for n in v.shape[1:]:
                n = self.equal.find(n)
                if not isinstance(n, Lit):
                    return False
                size *= n.value
            return size < _FEW

        lines = self.kinds.lines
        return any(few(v) for x in self.everything() for v in x.outs if v.shape and v in lines)

    def added_once(self, asked: list[Var]) -> bool:
        """Has each version of what is added to one use, the last one of the outside's?"""
        uses: dict[Atom, int] = {}
        kept: set[Atom] = {*asked}
        starts: set[Atom] = set()
        for x in self.everything():
            for a in (*x.ins, *(r for b in x.blocks for r in b.results)):
                uses[a] = uses.get(a, 0) + 1
        for v, start in self.kinds.whole.items():
            if uses.get(v, 0) + (v in kept) > 1 or uses.get(start, 0) > 1:
                return False
            if v in self.made:
                starts.add(start)
        lasts = [v for v in self.kinds.whole if v in self.made and v not in uses]
        begun = [self.kinds.whole[v] for v in lasts]
        return len(set(begun)) == len(begun) == len(starts)
