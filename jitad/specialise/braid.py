"""Which arrays are read and written at the same places all along, and lie element by element?

The tangents of several directions go through the same loops together: what one is read at, all
are.  In arrays of their own they are as many addresses, and a processor that could do with them in
one instruction loads one after the other.  Such arrays become one, whose last axis says which of
them it is, so that what is read together lies together and comes in vector lanes.  Where a loop
runs through them element by element it has its lanes already: there they stay apart.

An array is known by what happens to it: the operation that makes it, loops that carry it, branches
that change it, and all accesses with their places, in the order of the text.  At each place the
version of the tape in use must be the last one, since there will be one for all.
Source: arrays of structures by affinity, Chilimbi, Davidson & Larus 1999; Larsen & Amarasinghe 2000
for the lanes (superword-level parallelism).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from jitad.primitives import TABLE
from jitad.tape.ir import CALLS, Atom, Block, Equation, Lit, Tape, Var, free_vars, lit
from jitad.tape.linear import Forms
from jitad.tape.types import Array, Scalar

_PER_LOOP = 8  # a loop is taken to run so many times
_SAVED = 2  # what a number gains that comes in a lane, where one that is by itself loses 1
_WIDTH = 4  # so many are put together
_MAKERS = ("full", "blank", "pack")
_STORES = {"store": 2, "accum": 2, "store_slice": 2, "accum_slice": 2}  # operands before the place
_READS = {"load": 1, "slice": 1}


def braid(tape: Tape) -> Tape:
    """The tape with such arrays put together (changed in place)."""
    found = _Found(tape.body)
    for group in found.groups():
        _Together(group).block(tape.body, None)
    return tape


@dataclass(eq=False, slots=True)
class _Strand:
    """An array, from where it is made, in all its versions."""

    maker: Equation
    at: int  # its number among the makers
    block: Block
    events: list[tuple] = field(default_factory=list)
    versions: list[Var] = field(default_factory=list)
    votes: int = 0  # how often it is read as a number, less how often in other ways
    fit: bool = True


class _Found:
    """The arrays of a tape that are made by it and have one version at a time."""

    def __init__(self, body: Block) -> None:
        self.forms = Forms()
        self.forms.learn(body)
        self.strands: list[_Strand] = []
        self.now: dict[Var, _Strand] = {}  # the versions in use
        self.old: dict[Var, _Strand] = {}
        self._walk(body, None, 0)
        self._escape(body.results)

    def groups(self) -> list[list[_Strand]]:
        alike: dict[tuple, list[_Strand]] = defaultdict(list)
        for s in self.strands:
            if s.fit and s.votes > 0:
                e = s.maker
                made = () if e.op == "pack" else e.ins
                told = tuple(sorted(e.params.items()))
                alike[(id(s.block), e.op, made, told, e.outs[0].shape, *s.events)].append(s)
        out = []
        for strands in alike.values():
            while len(strands) >= _WIDTH:
                group, strands = strands[-_WIDTH:], strands[:-_WIDTH]  # values precede tangents
                if group[0].maker.op != "pack" or _made_before_use(group):
                    out.append(group)
        return out

    # -- one walk -----------------------------------------------------------------------------

    def _walk(self, block: Block, index: Var | None, loops: int) -> None:
        """`index`: of the innermost loop, if no loop is in it."""
        for k, e in enumerate(block.equations):
            if e.op == "for":
                self._loop(e, loops)
            elif e.op == "if":
                self._branches(e, index, loops)
            elif e.blocks:
                self._escape([*e.ins, *free_vars(*e.blocks)])
                for b in e.blocks:
                    self._walk(b, None, loops + 1)
            else:
                self._plain(e, index, loops)
            if e.op in _MAKERS and isinstance(e.outs[0].type, Array) and e.outs[0].shape:
                self._make(e, block, k)

    def _make(self, e: Equation, block: Block, k: int) -> None:
        (v,) = e.outs
        scalar = isinstance(e.ins[0].type, Scalar) and v.type.dtype == "f8"  # type: ignore[union-attr]
        s = _Strand(e, k, block, fit=scalar)
        self.strands.append(s)
        self._advance(s, v)

    def _advance(self, s: _Strand, v: Var) -> None:
        if s.versions:
            last = s.versions[-1]
            self.now.pop(last, None)
            self.old[last] = s
        s.versions.append(v)
        self.now[v] = s
        self.old.pop(v, None)

    def _escape(self, atoms: Sequence[Atom]) -> None:
        for a in atoms:
            if isinstance(a, Var) and (s := self.now.get(a) or self.old.get(a)) is not None:
                s.fit = False

    def _plain(self, e: Equation, index: Var | None, loops: int) -> None:
        head = {**_STORES, **_READS}.get(e.op)
        for k, a in enumerate(e.ins):
            if not isinstance(a, Var):
                continue
            if a in self.old:
                self.old[a].fit = False
            s = self.now.get(a)
            if s is None:
                continue
            if k or head is None:
                s.fit &= e.op not in CALLS and (TABLE[e.op].update is None or bool(k))
                s.votes -= _all_of(a, loops)
                continue
            if e.op != "slice":
                s.events.append((e.op, *e.ins[head:], *e.params.items()))
            if e.op in ("load", "store", "accum"):
                forwards = index is not None and (
                    self.forms.of(e.ins[-1]).coefficient(index) in (1, -1)
                )
                s.votes += (-1 if forwards else _SAVED) * _PER_LOOP**loops
            else:
                s.votes -= _all_of(a, loops)
            if e.op in _STORES:
                self._advance(s, e.outs[0])

    def _loop(self, e: Equation, loops: int) -> None:
        (body,) = e.blocks
        self._escape(e.ins[:3])
        carried: list[tuple[int, _Strand]] = []
        for k, a in enumerate(e.ins[3:]):
            s = self.now.get(a) if isinstance(a, Var) else None
            if s is None or any(s is other for _, other in carried):
                self._escape([a])
            else:
                carried.append((k, s))
        begun = {id(s): len(s.versions) for s in self.strands}
        for k, s in carried:
            s.events.append(("for", id(e)))
            self._advance(s, body.params[1 + k])
        inner = any(x.op in ("for", "while") for x in body.equations) or any(
            x.blocks and any(y.blocks for b in x.blocks for y in b.equations)
            for x in body.equations
        )
        self._walk(body, None if inner else body.params[0], loops + 1)
        self._end(body.results, dict(carried), begun)
        for k, s in carried:
            self._advance(s, e.outs[k])

    def _end(self, results: list[Atom], slots: dict[int, _Strand], begun: dict[int, int]) -> None:
        """A block ends with the last version of what it hands on, and has changed nothing else."""
        handed = {id(s) for s in slots.values()}
        for k, r in enumerate(results):
            s = slots.get(k)
            if s is None:
                self._escape([r])
            elif s.versions[-1] is not r:
                s.fit = False
                self._escape([r])
        for s in self.strands:
            if id(s) in begun and id(s) not in handed and len(s.versions) != begun[id(s)]:
                s.fit = False

    def _branches(self, e: Equation, index: Var | None, loops: int) -> None:
        slots: dict[int, _Strand] = {}
        before = dict(self.now)
        for j, b in enumerate(e.blocks):
            begun = {id(s): len(s.versions) for s in self.strands}
            start = {id(s): v for v, s in self.now.items()}
            self._walk(b, index, loops)
            mine: dict[int, _Strand] = {}
            for k, r in enumerate(b.results):
                s = self.now.get(r) if isinstance(r, Var) else None
                if s is not None and id(s) in start and not any(s is o for o in mine.values()):
                    mine[k] = s
            if j and {k: id(s) for k, s in mine.items()} != {k: id(s) for k, s in slots.items()}:
                for s in (*mine.values(), *slots.values()):
                    s.fit = False
            self._end(b.results, mine, begun)
            slots |= mine
            for s in list(self.strands):  # the other branch begins where this one did
                v = start.get(id(s))
                if v is not None and s.versions[-1] is not v:
                    self._advance(s, v)
        assert set(before) <= set(self.now)
        for k, s in slots.items():
            s.events.append(("if", id(e)))
            self._advance(s, e.outs[k])


def _all_of(a: Var, loops: int) -> int:
    """The numbers that an operation on a whole array, or a part of it, goes through."""
    extents = (int(n.value) if isinstance(n, Lit) else _PER_LOOP for n in a.shape)
    return prod(extents) * _PER_LOOP**loops


def _made_before_use(group: list[_Strand]) -> bool:
    """Is nothing done to those made first before the last one is made?"""
    first, last = min(s.at for s in group), max(s.at for s in group)
    versions = {v for s in group for v in s.versions}
    between = group[0].block.equations[first : last + 1]
    return not any(versions.intersection([*e.ins, *free_vars(*e.blocks)]) for e in between)


class _Together:
    """Rewrites a tape for arrays that become one."""

    def __init__(self, group: list[_Strand]) -> None:
        self.number = {v: d for d, s in enumerate(group) for v in s.versions}
        self.makers = {id(s.maker): s.at for s in group}
        self.group = group
        v = group[0].maker.outs[0]
        assert isinstance(v.type, Array)
        self.kind = Array(v.type.dtype, v.type.ndim + 1)
        self.shape = (*v.shape, lit(len(group)))
        self.now = Var(self.kind, self.shape)

    def new(self) -> Var:
        self.now = Var(self.kind, self.shape)
        return self.now

    def block(self, block: Block, slots: list[int] | None) -> None:
        """`slots`: of the results, those that are versions of the arrays."""
        out: list[Equation] = []
        for e in block.equations:
            if id(e) in self.makers:
                self.make(e, out)
            elif e.op == "for":
                self.loop(e, out)
            elif e.op == "if":
                self.branches(e, out)
            else:
                for b in e.blocks:
                    self.block(b, None)
                self.plain(e, out)
        block.equations = out
        if slots:
            block.results = self.one(block.results, slots, self.now)

    def slots(self, atoms: Sequence[Atom]) -> list[int]:
        return [k for k, a in enumerate(atoms) if a in self.number]

    @staticmethod
    def one(atoms: Sequence[Atom], slots: list[int], now: Var) -> list[Atom]:
        """With one atom in the place of those."""
        return [now if k == slots[0] else a for k, a in enumerate(atoms)
                if k == slots[0] or k not in slots]  # fmt: skip

    def make(self, e: Equation, out: list[Equation]) -> None:
        places = sorted(self.makers.values())
        width, at = lit(len(self.group)), self.makers[id(e)]
        if e.op != "pack":
            if at == places[0]:
                out.append(Equation(e.op, (*e.ins, width), (self.now,), e.params, (), e.pos))
        elif at == places[-1]:
            told = {"dtype": self.kind.dtype, "start": "empty"}
            out.append(Equation("blank", self.shape, (self.now,), told, (), e.pos))
            for k, row in enumerate(zip(*(s.maker.ins for s in self.group), strict=True)):
                for d, a in enumerate(row):
                    place = (self.now, a, lit(k), lit(d))
                    out.append(Equation("store", place, (self.new(),), {}, (), e.pos))

    def plain(self, e: Equation, out: list[Equation]) -> None:
        d = self.number.get(e.ins[0]) if e.ins else None  # type: ignore[arg-type]
        alone = d is not None and e.op in (*_READS, *_STORES)
        rest = e.ins[1:] if alone else e.ins
        views: dict[Atom, Var] = {}
        for a in rest:
            if a in self.number and a not in views:
                places = [x for n in a.shape for x in (lit(0), lit(1), n)]
                part = (self.now, *places, lit(self.number[a]))  # type: ignore[index]
                kinds = {"kinds": "r" * len(a.shape) + "i"}
                views[a] = Var(a.type, a.shape)
                out.append(Equation("slice", part, (views[a],), kinds, (), e.pos))
        rest = tuple(views.get(a, a) for a in rest)
        if alone:
            rest = (self.now, *rest, lit(d))
            if "kinds" in e.params:
                e.params = {**e.params, "kinds": e.params["kinds"] + "i"}
            if e.op in _STORES:
                e.outs = (self.new(),)
        e.ins = rest
        out.append(e)

    def loop(self, e: Equation, out: list[Equation]) -> None:
        slots = self.slots(e.ins[3:])
        (body,) = e.blocks
        if slots:
            e.ins = (*e.ins[:3], *self.one(e.ins[3:], slots, self.now))
            params = self.one(body.params[1:], slots, self.new())
            body.params = [body.params[0], *params]  # type: ignore[list-item]
        self.block(body, slots)
        if slots:
            e.outs = tuple(self.one(e.outs, slots, self.new()))  # type: ignore[arg-type]
        out.append(e)

    def branches(self, e: Equation, out: list[Equation]) -> None:
        slots, before = self.slots(e.outs), self.now
        for b in e.blocks:
            self.now = before
            self.block(b, slots)
        self.now = before
        if slots:
            e.outs = tuple(self.one(e.outs, slots, self.new()))  # type: ignore[arg-type]
        out.append(e)
