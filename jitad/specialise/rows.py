"""Which operations over whole arrays become a loop over rows, so that threads can share it?

A row is what an array has at one index of its first axis: an element of a vector, a vector of a
matrix.  Elementwise operations, parts of arrays that they read, sums, and stores to parts of
arrays, all of as many rows: as far as they stand together, one loop computes them row by row (loop
fusion, as in `together.py`, along one axis).  What else is needed of an array later is stored;
parts of what the loop has stored are there afterwards, and what is cheap to compute from them is
left to what comes next.

Values are those of the tape, so any group is right.  What a loop reads at one row and writes at
another would be copied first, so such operations are not put together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from dataclasses import dataclass

from jitad.primitives import TABLE
from jitad.primitives.array import slice_extents
from jitad.specialise.together import Equal, Memory
from jitad.specialise.work import Work
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Atom, Block, Equation, Lit, Var, free_vars, is_array, lit
from jitad.tape.lent import STORES
from jitad.tape.linear import Forms
from jitad.tape.types import INT, Array, Scalar, Type

WORTH = 20  # operations, loads and stores an element: where there are fewer, memory takes the time
_DEAR = 20  # operations that a function takes
_FEW = 16  # rows: as many threads would be idle for the most part

VIEWS = ("slice", "transpose", "broadcast", "full", "iota")
_REDUCTIONS = ("sum", "amax", "amin")
_WRITES = {"store_slice": "store", "accum_slice": "accum"}

Rows = tuple[int, Atom, Atom]  # of an array: along which axis, from where on, by which step
_ALL: Rows = (0, lit(0), lit(1))


def as_loops(block: Block, least: int, equal: Equal, makers: dict[Var, Equation]) -> None:
    """Put loops in the place of such operations in a block, if they may have so much work (in
    place).  `equal`: which extents are, before the block; `makers`: what has made a variable."""
    equal = equal.copy()
    memory = Memory(block)
    out: list[Equation] = []
    group: _Group | None = None
    left = deque(block.equations)
    while left:
        e = left.popleft()
        equal.learn(e, makers)
        n = _count(e, equal)
        if group is not None and not group.takes(e, n):
            if not group.stops(e):
                group.before.append(e)
                continue
            left.appendleft(e)
            done, later = group.equations(_used(left, block), least)
            out += done
            makers.update((v, x) for x in done for v in x.outs)
            left.extendleft(reversed(later))
            group = None
            continue
        if group is None:
            if n is None or e.op in VIEWS:
                out.append(e)
                continue
            group = _Group(_extent(e), equal, memory, makers)
            if not group.takes(e, n):
                out.append(e)
                group = None
                continue
        group.add(e)
    if group is not None:
        done, later = group.equations(set(block.results), least)
        out += [*done, *later]
    block.equations = out


def _used(left: deque[Equation], block: Block) -> set[Atom]:
    """What is used from now on."""
    return set(free_vars(Block([], list(left), block.results)))


def _count(e: Equation, equal: Equal) -> Atom | None:
    """How many rows does an operation go over?  None for one that doesn't."""
    if e.blocks or not e.outs:
        return None
    v = e.outs[0]
    if e.op in _REDUCTIONS:
        (a,) = e.ins
        whole = e.op == "sum" and v.type.dtype == a.type.dtype and v.type.dtype[0] == "f"  # type: ignore[union-attr]
        if 0 in e.params["axes"] and not whole:
            return None
    elif e.op in _WRITES:
        if "r" not in e.params["kinds"]:
            return None
    elif not (is_array(v) and (TABLE[e.op].elementwise or e.op in VIEWS)):
        return None
    n = equal.find(_extent(e))
    return None if isinstance(n, Lit) and n.value < _FEW else n


def _extent(e: Equation) -> Atom:
    """How many rows, as the operation itself has it: another name may come later."""
    if e.op in _WRITES:
        return slice_extents(e.params["kinds"], e.ins[2:])[0]
    return (e.ins[0] if e.op in _REDUCTIONS else e.outs[0]).shape[0]


def _rows(e: Equation) -> Rows:
    """Which rows of its base a slice or a store reaches."""
    kinds = e.params["kinds"]
    axis = kinds.index("r")
    operands = e.ins[2 if e.op in _WRITES else 1 :]
    return axis, operands[axis], operands[axis + 1]


@dataclass
class _Written:
    """An array that a group stores to."""

    first: Atom  # its version before
    version: Atom  # and now
    rows: Rows


class _Group:
    """Equations over as many rows, none of which waits for a sum of another over all rows."""

    def __init__(self, n: Atom, equal: Equal, memory: Memory, makers: dict[Var, Equation]) -> None:
        self.n, self.equal, self.memory, self.makers = n, equal, memory, makers
        self.before: list[Equation] = []  # what stands between them and waits for none
        self.members: list[Equation] = []
        self.made: set[Atom] = set()
        self.there: set[Atom] = set()  # of what is made, slices that are there without it
        self.totals: set[Atom] = set()
        self.written: dict[Atom, _Written] = {}  # by memory
        self.read: dict[Atom, set[tuple[Atom, Rows | None]]] = {}

    # -- what belongs to it -----------------------------------------------------------------------

    def takes(self, e: Equation, n: Atom | None) -> bool:
        if n != self.equal.find(self.n) or (e.op in VIEWS and self.made.isdisjoint(e.ins)):
            return False
        slices = self.slices(e)
        return all(map(self.fits, slices)) and self.fits(e, {x.outs[0] for x in slices})

    def slices(self, e: Equation) -> list[Equation]:
        """The parts of arrays that it goes over, which are to be read where they are."""
        found = (self.makers.get(a) for a in e.ins if a not in self.made)  # type: ignore[arg-type]
        n = self.equal.find(self.n)
        return [x for x in found if x is not None and x.op == "slice"
                and _count(x, self.equal) == n and self.memory.direct(x.ins[0])]  # fmt: skip

    def fits(self, e: Equation, made: Set[Atom] = frozenset()) -> bool:
        """Can it be done row by row beside the others, once these slices are there?"""
        reads = self.reads(e, made)
        if reads is None or not self.totals.isdisjoint(e.ins):
            return False
        for home, version, rows in reads:
            w = self.written.get(home)
            if w is not None and (w.version, w.rows) != (version, rows):
                return False
        if e.op not in _WRITES:
            return True
        base, home, mine = e.ins[0], self.memory.home(e.ins[0]), _rows(e)
        w = self.written.get(home)
        if w is not None:
            return (w.version, w.rows) == (base, mine)
        known = {(v, r) for h, v, r in reads if h == home}.union(
            self.read.get(home, ()), *(((v, r) for h, v, r in self.reads(x) or () if h == home)
                                       for x in self.slices(e)))  # fmt: skip
        return base not in self.made and mine[2] != lit(0) and known <= {(base, mine)}

    def reads(
        self, e: Equation, made: Set[Atom] = frozenset()
    ) -> list[tuple[Atom, Atom, Rows | None]] | None:
        """The memory from outside that it reads, of which version, and which of its rows in an
        iteration; None if it wants other rows of what is made here."""
        out: list[tuple[Atom, Atom, Rows | None]] = []
        for k, a in enumerate(e.ins):
            if not is_array(a) or a in made or (k == 0 and e.op in _WRITES):
                continue
            rows: Rows | None = _ALL
            match e.op:
                case "slice":
                    rows = _rows(e)
                case "transpose":
                    rows = (e.params["perm"][0], lit(0), lit(1))
                case "broadcast" if 0 not in e.params["axes"]:
                    rows = None
            if a in self.made and not self.stored(a):
                if rows != _ALL or self.equal.find(a.shape[0]) != self.equal.find(self.n):
                    return None
                continue
            out += [(home, a, rows if self.memory.direct(a) else None)
                    for home in self.memory.of(a)]  # fmt: skip
        return out

    def stored(self, a: Atom) -> bool:
        """Is it a version of an array that the group stores to?"""
        return any(a is w.version for w in self.written.values())

    def stops(self, e: Equation) -> bool:
        """Must it stay behind the group?  Memory that the group reads must not change before, and
        what it writes has been written when an error is raised."""
        if e.blocks or e.op in STORES:
            return True
        row = TABLE[e.op]
        if (row.fresh and e.op != "full") or (row.effect and (e.op != "check" or self.written)):
            return True
        needs = {*e.ins, *(n for v in e.outs for n in v.shape)}
        return not (self.made.isdisjoint(needs) and self.totals.isdisjoint(needs))

    def add(self, e: Equation) -> None:
        for x in self.slices(e):
            self.add(x)
            self.there.add(x.outs[0])
        for home, version, rows in self.reads(e) or ():
            self.read.setdefault(home, set()).add((version, rows))
        self.members.append(e)
        (v,) = e.outs
        if e.op in _WRITES:
            home = self.memory.home(e.ins[0])
            w = self.written.setdefault(home, _Written(e.ins[0], v, _rows(e)))
            w.version = v
        total = e.op == "sum" and 0 in e.params["axes"]
        (self.totals if total else self.made).add(v)

    # -- what becomes of it -----------------------------------------------------------------------

    def equations(self, later: set[Atom], least: int) -> tuple[list[Equation], list[Equation]]:
        """The loop, with what stands before it; and what is left for what comes next."""
        own = [e for e in self.members if e.outs[0] not in self.there]
        as_they_were: tuple[list[Equation], list[Equation]] = [*self.before, *own], []
        members, views, rest = self.divided(later)
        if not any(e.op not in VIEWS for e in members):
            return as_they_were
        versions = {e.outs[0] for e in members if e.op in _WRITES}
        if later & (versions - {w.version for w in self.written.values()}):
            return as_they_were
        known = {v for e in (*views, *rest) for v in e.outs} | self.there | versions
        loop = _Loop(self, members, later - known)
        if loop.weight < WORTH or not Work(loop.equation, Forms()).enough(least):
            return as_they_were
        return [*self.before, *loop.first, loop.equation, *views], rest

    def divided(self, later: set[Atom]) -> tuple[list[Equation], list[Equation], list[Equation]]:
        """What is done in the loop; parts of arrays that it has stored; and what is computed from
        what is there afterwards."""
        final = {w.version for w in self.written.values()}
        views = [e for e in self.members if e.op == "slice" and e.ins[0] in final]
        there = self.there | (later & self.made) | {e.outs[0] for e in views}  # at no cost
        members: list[Equation] = []
        rest: list[Equation] = []
        used: set[Atom] = set()
        for e in reversed(self.members):
            (v,) = e.outs
            cheap = TABLE[e.op].elementwise and not TABLE[e.op].dear
            if v in self.there or e in views:
                members[:0] = [e] if v in used else []
            elif cheap and v in later and v not in used and self.at_hand(e, there):
                rest.insert(0, e)
            elif v in later or v in used or e.op in _WRITES:
                members.insert(0, e)
                used.update(e.ins)
        needed = later | {a for e in rest for a in e.ins}
        return members, [e for e in views if e.outs[0] in needed], rest

    def at_hand(self, e: Equation, there: set[Atom]) -> bool:
        """Is all that it reads there after the loop, unchanged?"""
        for a in e.ins:
            if a in self.made and a not in there:
                return False
            if is_array(a) and a not in self.made and self.memory.of(a) & set(self.written):
                return False
        return True


class _Loop:
    """The loop that does what a group's members do, row by row."""

    def __init__(self, group: _Group, members: list[Equation], later: set[Atom]) -> None:
        self.index = Var(INT)
        self.body = Block([self.index])
        self.first: list[Equation] = []
        self.weight = 0
        self.init: list[Atom] = []
        self.outs: list[Var] = []
        self.values: dict[Atom, Atom] = {}  # rows
        self.inside: dict[Atom, Var] = {}  # versions of arrays that are stored to
        self.pos = next(e.pos for e in members if e.op not in VIEWS)
        for w in group.written.values():
            p = Var(w.first.type, w.first.shape, getattr(w.first, "name", ""))
            self.inside[w.first] = p
            self.carry(p, w.first, w.version)
        for e in members:
            self.member(e, later)
        for k, w in enumerate(group.written.values()):
            self.body.results[k] = self.inside[w.version]
        ins = (lit(0), lit(1), group.n, *self.init)
        self.equation = Equation("for", ins, tuple(self.outs), {}, (self.body,), self.pos)

    def carry(self, p: Var, init: Atom, out: Atom, after: Atom | None = None) -> None:
        assert isinstance(out, Var)
        self.body.params.append(p)
        self.body.results.append(p if after is None else after)
        self.init.append(init)
        self.outs.append(out)

    def write(self, op: str, ins: tuple[Atom, ...], out: Var, params: dict | None = None) -> Var:
        self.body.equations.append(Equation(op, ins, (out,), params or {}, (), self.pos))
        return out

    def member(self, e: Equation, later: set[Atom]) -> None:
        self.pos = e.pos
        (v,) = e.outs
        if e.op not in VIEWS:
            self.weight += _DEAR if TABLE[e.op].dear and e.op != "pow" else 1
        if e.op in _WRITES:
            self.inside[v] = self.stored(e)
            return
        if e.op in _REDUCTIONS and 0 in e.params["axes"]:
            self.total(e, v)
            return
        row = self.values[v] = self.row(e, v)
        if v in later:
            self.weight += 1
            blank = Var(v.type, v.shape)
            told = {"dtype": v.type.dtype, "start": "empty"}  # type: ignore[union-attr]
            self.first.append(Equation("blank", v.shape, (blank,), told, (), e.pos))
            inside, after = Var(v.type, v.shape, v.name), Var(v.type, v.shape)
            self.put(inside, row, after, _ALL, v.shape)
            self.carry(inside, blank, v, after)

    # -- a row of each kind of member -------------------------------------------------------------

    def row(self, e: Equation, v: Var) -> Atom:
        shape = v.shape[1:]
        match e.op:
            case "slice":
                return self.part(e, v)
            case "transpose":
                return self.turned(e, v)
            case "broadcast":
                axes = e.params["axes"]
                a = self.read(e.ins[0]) if 0 in axes else e.ins[0]
                axes = tuple(k - 1 for k in axes if k)
                if len(axes) == len(shape):
                    return a
                return self.write("broadcast", (a, *shape), _fresh(v, shape), {"axes": axes})
            case "full":
                dtype = {"dtype": v.type.dtype}  # type: ignore[union-attr]
                if not shape:
                    return self.write("cast", (e.ins[0],), _fresh(v, shape), dtype)
                return self.write("full", (e.ins[0], *shape), _fresh(v, shape), dtype)
            case "iota":
                dtype = {"dtype": v.type.dtype}  # type: ignore[union-attr]
                return self.write("cast", (self.index,), _fresh(v, shape), dtype)
            case "sum" | "amax" | "amin":
                params = {"axes": tuple(k - 1 for k in e.params["axes"])}
                return self.write(e.op, (self.read(e.ins[0]),), _fresh(v, shape), params)
            case _:
                ins = tuple(self.read(a) for a in e.ins)
                return self.write(e.op, ins, _fresh(v, shape), e.params)

    def read(self, a: Atom) -> Atom:
        if not isinstance(a.type, Array):
            return a
        if a in self.inside:  # may have another row by now
            return self.taken(self.inside[a], _ALL, a)
        if a not in self.values:
            self.weight += 1
            self.values[a] = self.taken(a, _ALL, a)
        return self.values[a]

    def taken(self, a: Atom, rows: Rows, like: Atom) -> Var:
        kinds, place = self.place(rows, a.shape)
        op = "slice" if "r" in kinds else "load"
        shape = a.shape[:0] + tuple(n for k, n in enumerate(a.shape) if k != rows[0])
        return self.write(op, (a, *place), _fresh(like, shape), {"kinds": kinds} if shape else {})

    def put(self, a: Var, row: Atom, after: Var, rows: Rows, shape: tuple[Atom, ...]) -> None:
        kinds, place = self.place(rows, shape)
        op = "store_slice" if "r" in kinds else "store"
        self.write(op, (a, row, *place), after, {"kinds": kinds} if "r" in kinds else {})

    def place(self, rows: Rows, shape: tuple[Atom, ...]) -> tuple[str, tuple[Atom, ...]]:
        """The kinds and operands of the slice that is this row of a whole array."""
        kinds, place = "", []
        for k, n in enumerate(shape):
            kinds += "i" if k == rows[0] else "r"
            place += [self.at(rows)] if k == rows[0] else [lit(0), lit(1), n]
        return kinds, tuple(place)

    def at(self, rows: Rows) -> Atom:
        """Where the row is along its axis."""
        _, start, step = rows
        at: Atom = self.index
        if step != lit(1):
            at = self.write("mul", (at, step), Var(INT))
        return at if start == lit(0) else self.write("add", (at, start), Var(INT))

    def narrowed(self, e: Equation) -> tuple[str, tuple[Atom, ...]]:
        """The kinds and operands of a slice or store at one of its rows."""
        rows = _rows(e)
        axis = rows[0]
        kinds = e.params["kinds"]
        operands = e.ins[2 if e.op in _WRITES else 1 :]
        place = (*operands[:axis], self.at(rows), *operands[axis + 3 :])
        return kinds[:axis] + "i" + kinds[axis + 1 :], place

    def part(self, e: Equation, v: Var) -> Atom:
        base = e.ins[0]
        if base in self.values and base not in self.inside:  # of what is made here, the same row
            row, kinds, place = self.values[base], e.params["kinds"][1:], e.ins[4:]
            if not kinds:
                return row
        else:
            self.weight += 1
            row = self.inside.get(base, base)
            kinds, place = self.narrowed(e)
        op = "slice" if "r" in kinds else "load"
        params = {"kinds": kinds} if "r" in kinds else {}
        return self.write(op, (row, *place), _fresh(v, v.shape[1:]), params)

    def turned(self, e: Equation, v: Var) -> Atom:
        (a,), perm = e.ins, e.params["perm"]
        if a in self.values and a not in self.inside:
            row = self.values[a]
        else:
            self.weight += 1
            row = self.taken(self.inside.get(a, a), (perm[0], lit(0), lit(1)), a)
        rest = tuple(k - (k > perm[0]) for k in perm[1:])
        if rest == tuple(range(len(rest))):
            return row
        return self.write("transpose", (row,), _fresh(v, v.shape[1:]), {"perm": rest})

    def stored(self, e: Equation) -> Var:
        base, value, *_ = e.ins
        kinds, place = self.narrowed(e)
        op = e.op if "r" in kinds else _WRITES[e.op]
        params = {"kinds": kinds} if "r" in kinds else {}
        after = Var(base.type, base.shape)
        return self.write(op, (self.inside[base], self.read(value), *place), after, params)

    def total(self, e: Equation, v: Var) -> None:
        """A sum over all rows."""
        row = self.read(e.ins[0])
        others = tuple(k - 1 for k in e.params["axes"] if k)
        if others:
            row = self.write("sum", (row,), _fresh(v, v.shape), {"axes": others})
        start, after = Var(v.type, v.shape, v.name), Var(v.type, v.shape)
        self.write("add", (start, row), after)
        init: Atom = lit_zero(v.type.dtype)  # type: ignore[union-attr]
        if v.shape:
            zeros = Var(v.type, v.shape)
            told = {"dtype": v.type.dtype}  # type: ignore[union-attr]
            self.first.append(Equation("full", (init, *v.shape), (zeros,), told, (), e.pos))
            init = zeros
        self.carry(start, init, v, after)


def _fresh(like: Atom, shape: tuple[Atom, ...]) -> Var:
    dtype = like.type.dtype  # type: ignore[union-attr]
    kind: Type = Array(dtype, len(shape)) if shape else Scalar(dtype)
    return Var(kind, shape, getattr(like, "name", ""))
