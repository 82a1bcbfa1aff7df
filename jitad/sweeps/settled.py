"""Which numbers of an array that a loop overwrites are still in place when the loop has ended?

A recurrence writes row after row and reads rows that it has written: x[i] from x[:i], y[:, j] from
y[:, j-1]; an elimination reads what is left of the pivot and above it.  What no later write touches
has the same numbers in the last version, so nothing of it needs to be recorded or restored: neither
what was read, nor what was written there.

A write comes later if one of the loops around both accesses has gone on while those further out
stand still, or if it stands behind in the same iteration.  In each of these cases an axis is looked
for along which the two places are apart.  The proof is of integer sums; where there is none, the
number is said to be overwritten.
Source: the dependence test of loop-carried levels, Allen & Kennedy 1987.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from jitad.immutable import immutable
from jitad.primitives.table import TABLE, costly
from jitad.sweeps.versions import READ
from jitad.tape.ir import Atom, Block, Equation, Lit, Var, free_vars, walk
from jitad.tape.linear import Forms, Linear, is_integer, variable
from jitad.tape.prove import Known
from jitad.tape.types import Array

Theirs = Callable[[Linear], Linear]

_DEEP = 12  # equations looked through
_PAIRS = 200  # of accesses looked at


@dataclass
class Settled:
    """What can be had from the last version of an array, and what can't."""

    lost: set[Var] = field(default_factory=set)  # read, and overwritten or not proved to stay
    kept: dict[Var, Equation] = field(default_factory=dict)  # stored value -> how it is read there
    versions: set[Var] = field(default_factory=set)  # of the array, in the loop
    reads: set[Var] = field(default_factory=set)  # all that is read of them


def settled(e: Equation, number: int, sources: Mapping[Var, Equation]) -> Settled | None:
    """What becomes of the carried array with this number, in a counted loop.

    None where something else than its elements is used: its last version won't do then.
    """
    body = e.blocks[0]
    found = Accesses(e.blocks, sources)
    found.enter(e)
    end = found.block(body, body.params[1 + number])
    if end is not body.results[number] or not found.once(body):
        return None
    if found.whole or not found.plain:
        return None
    out = Settled(versions=found.versions)
    reads = [a for a in found.all if not a.written]
    stored = [a for a in found.all if a.written and _worth(a.equation, sources)]
    writes = [a for a in found.all if a.written]
    if (len(reads) + len(stored)) * len(writes) > _PAIRS:
        return None
    for a in reads:
        out.reads.add(a.equation.outs[0])
        if a.stale or not all(found.apart(a, w) for w in writes):
            out.lost.add(a.equation.outs[0])
    for a in stored:
        v = a.equation.ins[1]
        if isinstance(v, Var) and v not in out.kept and all(found.apart(a, w) for w in writes):
            out.kept[v] = _reread(a.equation, v)
    return out


def _worth(e: Equation, sources: Mapping[Var, Equation]) -> bool:
    """Is the number stored one that would rather be read again than computed again?"""
    v, to = e.ins[:2][::-1]
    made = sources.get(v) if isinstance(v, Var) else None
    if made is None or e.op not in ("store", "store_slice") or made.blocks:
        return False
    dtype = v.type.dtype  # type: ignore[union-attr]
    if dtype != to.type.dtype or isinstance(v.type, Array) != (e.op == "store_slice"):  # type: ignore[union-attr]
        return False
    return made.op == "div" or costly(made) or not TABLE[made.op].elementwise


def _reread(store: Equation, v: Var) -> Equation:
    op = READ[store.op]
    return Equation(op, (store.outs[0], *store.ins[2:]), (v,), store.params, (), store.pos)


@immutable
class Access:
    """A read or a write: where, in which loops, and as which in the order of the text."""

    equation: Equation
    written: bool
    at: int
    loops: tuple[Equation, ...]
    facts: tuple[tuple[Linear, ...], ...]  # of each of the loops, what holds in it
    low: tuple[Linear, ...]  # of each axis, the first place and the last
    high: tuple[Linear, ...]
    filled: tuple[Linear, ...]  # there is an element at all
    stale: bool = False  # it reads a version that has been superseded


class Integers:
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


class Accesses:
    """Where an array is read and written, in the order of the text.

    What is made in the blocks `within` differs from one access to the other.
    """

    def __init__(self, within: Iterable[Block], sources: Mapping[Var, Equation]) -> None:
        self.integers = Integers(sources)
        self.all: list[Access] = []
        self.plain = True  # all that happens to it is understood
        self.whole = False  # something reads all of it
        self.inside: set[Var] = set()
        for block in within:
            self.inside.update(block.params)
            for x in walk(block):
                self.inside.update(x.outs)
                self.inside.update(p for b in x.blocks for p in b.params)
        self.versions: set[Var] = set()
        self._loops: tuple[Equation, ...] = ()
        self._facts: tuple[tuple[Linear, ...], ...] = ()

    def enter(self, e: Equation) -> None:
        """What comes next is in this loop."""
        facts: tuple[Linear, ...] = ()
        if e.op == "for":
            start, step, count = (self.integers.of(a) for a in e.ins[:3])
            index = variable(e.blocks[0].params[0])
            if not step.terms and step.constant:
                towards = 1 if step.constant > 0 else -1
                last = start + count.plus(-1) * step.constant
                facts = ((index - start) * towards, (last - index) * towards)
            facts += (count.plus(-1),)
        self._loops += (e,)
        self._facts += (facts,)

    def block(self, block: Block, now: Atom) -> Atom:
        """Enter all accesses; gives the version that the block ends with."""
        assert isinstance(now, Var)
        self.versions.add(now)
        for e in block.equations:
            mine = [a for a in e.ins if a in self.versions]
            if e.op in READ and e.ins[0] in self.versions:
                self.plain &= len(mine) == 1 and e.ins[0] is now
                self._access(e, 2, True)
                now = e.outs[0]
                self.versions.add(now)
            elif e.op in ("load", "slice") and mine:
                self._access(e, 1, False, stale=e.ins[0] is not now)
            elif e.op in ("for", "while", "if"):
                now = self._structured(e, now)
            elif e.blocks and self.versions.intersection((*e.ins, *free_vars(*e.blocks))):
                self.plain = False
            elif mine and e.op != "dim":
                self.whole = True
        return now

    def _structured(self, e: Equation, now: Var) -> Var:
        loops, facts = self._loops, self._facts
        if e.op != "if":
            self.enter(e)
        carried = e.ins[3:] if e.op == "for" else e.ins[1:] if e.op == "if" else e.ins
        mine = [k for k, a in enumerate(carried) if a in self.versions]
        after = now
        if e.op == "if":
            ends = [self.block(b, now) for b in e.blocks]
            outs = [k for k in range(len(e.outs))
                    if any(b.results[k] in self.versions for b in e.blocks)]  # fmt: skip
            self.plain &= not mine and len(outs) <= 1
            if outs:
                self.plain &= all(
                    b.results[outs[0]] is end for b, end in zip(e.blocks, ends, strict=True)
                )
                after = e.outs[outs[0]]
            else:
                self.plain &= all(end is now for end in ends)
        elif mine:
            self.plain &= e.op == "for" and len(mine) == 1 and carried[mine[0]] is now
            self.plain &= not any(a in self.versions for a in e.ins[:3])
            k, body = mine[0], e.blocks[-1]
            if self.plain:
                end = self.block(body, body.params[1 + k])
                self.plain &= body.results[k] is end
                self.plain &= self.once(body)
                after = e.outs[k]
        else:
            for b in e.blocks:
                end = self.block(b, now)  # which may find that it is not plain
                self.plain &= end is now and not any(r in self.versions for r in b.results)
        self.versions.add(after)
        self._loops, self._facts = loops, facts
        return after

    def once(self, block: Block) -> bool:
        """Is one version a result of the block, and no other?"""
        return sum(r in self.versions for r in block.results) == 1

    def _access(self, e: Equation, head: int, written: bool, stale: bool = False) -> None:
        low: list[Linear] = []
        high: list[Linear] = []
        filled: list[Linear] = []
        kinds = e.params.get("kinds") or "i" * (len(e.ins) - head)
        rest = iter(e.ins[head:])
        for kind in kinds:
            first = last = self.integers.of(next(rest))
            if kind == "r":
                by, n = next(rest), self.integers.of(next(rest))
                filled.append(n.plus(-1))
                if isinstance(by, Lit):
                    last = first + n.plus(-1) * int(by.value)
                    if by.value < 0:
                        first, last = last, first
                else:
                    first, last = variable(Var(e.ins[head].type)), variable(Var(e.ins[head].type))
            low.append(first)
            high.append(last)
        access = Access(
            e, written, len(self.all), self._loops, self._facts,
            tuple(low), tuple(high), tuple(filled), stale,
        )  # fmt: skip
        self.all.append(access)

    # -- the proof ------------------------------------------------------------------------------

    def apart(self, a: Access, w: Access) -> bool:
        """Does no run of the write w that comes after one of the access a touch its place?"""
        common = 0
        for x, y in zip(a.loops, w.loops, strict=False):
            if x is not y:
                break
            common += 1
        levels: list[int | None] = list(range(common))
        if w.at > a.at:
            levels.append(None)
        return all(self._apart(a, w, common, level) for level in levels)

    def _apart(self, a: Access, w: Access, common: int, level: int | None) -> bool:
        """The same where the loop of this level has gone on, the ones around it standing still."""
        still = common if level is None else level
        same = {x.blocks[0].params[0] for x in w.loops[:still] if x.op == "for"}

        def gone(theirs: Theirs) -> list[Linear]:
            loop = w.loops[level] if level is not None else None
            if loop is None or loop.op != "for":
                return []
            step = self.integers.of(loop.ins[1])
            if step.terms or not step.constant:
                return []
            index = variable(loop.blocks[0].params[0])
            by = theirs(index) - index
            return [(by if step.constant > 0 else by * -1).plus(-abs(step.constant))]

        return self.never(a, w, same, gone)

    def never(
        self, a: Access, w: Access, same: Collection[Var],
        facts: Callable[[Theirs], Iterable[Linear]],
    ) -> bool:  # fmt: skip
        """Do a run of a and one of w never touch one place, where these facts hold?

        Indices of loops are the same in both if they are in `same`; else `theirs` of a sum has
        those of w's.
        """
        new: dict[Var, Linear] = {}

        def theirs(form: Linear) -> Linear:
            for v, _ in form.terms:
                if v in self.inside and v not in same:
                    if v not in new:
                        new[v] = variable(Var(v.type))
                    form = form.replace(v, new[v])
            return form

        known = self.integers.known
        before = known.mark()
        for held in (*a.facts, a.filled):
            known.assume(held)
        for held in (*w.facts, w.filled):
            known.assume(map(theirs, held))
        known.assume(facts(theirs))
        proved = any(
            known.proves((theirs(wl) - ah).plus(-1)) or known.proves((al - theirs(wh)).plus(-1))
            for al, ah, wl, wh in zip(a.low, a.high, w.low, w.high, strict=True)
        )
        known.forget(before)
        return proved
