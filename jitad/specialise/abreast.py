"""Which loops over points run in strips, all points of a strip abreast?

A likelihood goes over observations, and for each over components, rows and columns: many short
loops, each too short for vector lanes.  Where the iterations of the outer loop commute, a strip of
them is run together: what is a number in an iteration becomes an array over the strip (one *lane*
an iteration), which every operation goes through from end to end.  The short loops then surround
a long one, which runs in vector lanes (strip-mining, interchange and scalar expansion; Allen &
Kennedy 2001, *Optimizing Compilers for Modern Architectures*, sections 5.7 and 5.9).

What the loop carries is a sum, added to once a strip, or an array of which every iteration has a
place of its own.  What does not depend on the iteration stays as it is.  Done where the inner
loops are known to be short: those of a triangle, and those of few iterations.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitad.errors import GuardMiss
from jitad.primitives import TABLE
from jitad.specialise.chains import apart, summed
from jitad.specialise.short import has_short_loops
from jitad.tape.build import Builder
from jitad.tape.copy import copy_equation, renew
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import (
    Atom,
    Block,
    Equation,
    Tape,
    Var,
    free_vars,
    lit,
    walk,
)
from jitad.tape.linear import Forms, Linear
from jitad.tape.types import INT, Array, Stack

_STRIP = 64  # lanes: what a strip needs should stay in the nearest cache


def abreast(tape: Tape) -> Tape:
    """The tape with such loops in strips (in place)."""
    _visit(tape.body, tape.body.params)
    return tape


def _visit(block: Block, given: list[Var]) -> None:
    out: list[Equation] = []
    for e in block.equations:
        strips = _in_strips(e, given) if e.op == "for" and has_short_loops(e) else None
        if strips is None:
            for inner in e.blocks:
                _visit(inner, given)
        out += [e] if strips is None else strips
    block.equations = out


def _may_run_anyway(y: Equation) -> bool:
    """Is it cheap arithmetic without traps?  Integers are not divided."""
    row = TABLE.get(y.op)
    whole = all(v.type.dtype[0] == "i" for v in y.outs)  # type: ignore[union-attr]
    return (
        row is not None
        and row.elementwise
        and not row.dear
        and not (whole and y.op not in ("add", "sub", "mul", "neg", "where", "maximum", "minimum"))
    )


def _in_strips(e: Equation, given: list[Var]) -> list[Equation] | None:
    """The loop in strips; None if something in it is not for lanes."""
    try:
        return _Strips(e, given).equations()
    except _Unsuited:
        return None


class _Unsuited(Exception):
    """Something is not done for all lanes at once."""


class _Strips:
    """The rewriting of one loop."""

    def __init__(self, e: Equation, given: list[Var]) -> None:
        self.e, self.body = e, e.blocks[0]
        whole = e.ins[2] if e.ins[0] == lit(0) else None  # of a part, the parameter that counts all
        self.within = given[e.params["part_of"]] if "part_of" in e.params else whole
        self.index, self.forms = self.body.params[0], Forms()
        self.forms.learn(self.body)
        self.sums: set[Var] = set()
        self.apart: set[Var] = set()
        for p, r in zip(self.body.params[1:], self.body.results, strict=True):
            found = summed(self.body, p, r)
            if found is not None:
                self.sums |= found
                continue
            found = apart(self.body, p, r, lambda a: self.forms.of(a).coefficient(self.index) == 1)
            if found is None:
                raise _Unsuited
            self.apart |= found
        kept = self.sums | self.apart

        def follow(x: Equation, a: Var, out: Var) -> bool:
            return out not in kept and x.op != "dim"

        edges = successors(predecessors(self.body, follow, control=True))
        self.varying = closure([self.index], edges)
        if self.varying & kept:
            raise _Unsuited
        self.b = Builder()
        self.env: dict[Var, Atom] = {}
        self.packed: dict[Var, tuple[int, Atom]] = {}
        self.waiting: list[tuple[Equation, Atom]] = []  # additions, at the end of a block

    # -- the loops ------------------------------------------------------------------------------

    def equations(self) -> list[Equation]:
        """Strips of equal width, then what is left as one more strip."""
        e, b = self.e, self.b
        b.pos = e.pos
        self.check_all()
        start, _, count, *init = e.ins
        n = b.emit("maximum", count, lit(0))
        most = b.emit("minimum", b.emit("maximum", n, lit(1)), lit(_STRIP))
        whole = b.emit("floordiv", n, most)
        done = b.emit("mul", whole, most)
        rest = b.emit("sub", n, done)
        rounds = b.emit("where", b.emit("gt", rest, lit(0)), lit(2), lit(1))
        # the width of the strips changes once: buffers of that width are made once a round
        turn = Var(INT)
        outer = [renew(p, p, {}) for p in self.body.params[1:]]
        with b.block(turn, *outer) as round_:
            first = b.emit("eq", turn, lit(0))
            self.width = b.emit("where", first, most, rest)
            trips = b.emit("where", first, whole, lit(1))
            base = b.emit("add", start, b.emit("where", first, lit(0), done))
            strip = Var(INT)
            inner = [renew(p, p, {}) for p in self.body.params[1:]]
            with b.block(strip, *inner) as block:
                self.first = b.emit("add", base, b.emit("mul", strip, self.width))
                self.env.update(zip(self.body.params[1:], inner, strict=True))
                self.pack()
                if self.index in {a for x in walk(self.body) for a in x.ins}:
                    iota = b.emit("iota", self.width, dtype="i8")
                    self.env[self.index] = b.emit("add", iota, self.first)
                for x in self.body.equations:
                    self.equation(x)
                self.settle()
                block.results = [
                    self.uniform(r, p) for p, r in zip(inner, self.body.results, strict=True)
                ]
            outs = [renew(p, p, {}) for p in outer]
            b.structured("for", (lit(0), lit(1), trips, *outer), tuple(outs), (block,))
            round_.results = list(outs)
        b.structured("for", (lit(0), lit(1), rounds, *init), e.outs, (round_,))
        return b.blocks[0].equations

    def check_all(self) -> None:
        """Arrays of many numbers a lane would not stay in the cache; nor has each its extents."""
        for x in walk(self.body):
            if x.op not in ("for", "if", "check") and (x.op not in TABLE or TABLE[x.op].effect):
                raise _Unsuited
            for v in (*x.outs, *(p for block in x.blocks for p in block.params)):
                if isinstance(v.type, Stack):
                    raise _Unsuited
                if v in self.varying and isinstance(v.type, Array):
                    if v.type.ndim > 1 or not v.shape or not self.varying.isdisjoint(v.shape):
                        raise _Unsuited

    # -- values ---------------------------------------------------------------------------------

    def now(self, a: Atom) -> Atom:
        return self.env.get(a, a) if isinstance(a, Var) else a

    def varies(self, a: Atom) -> bool:
        return a in self.varying

    def uniform(self, a: Atom, like: Atom) -> Atom:
        """What is carried keeps its type."""
        if self.varies(a):
            raise _Unsuited
        return self.typed(self.now(a), like)

    def typed(self, a: Atom, like: Atom) -> Atom:
        if a.type.dtype != like.type.dtype:  # type: ignore[union-attr]
            raise _Unsuited
        return a

    def lanes(self, a: Atom) -> Atom:
        """The values of all lanes, along the last axis."""
        x = self.now(a)
        if self.varies(a):
            return x
        made = self.b.sources.get(x) if isinstance(x, Var) else None
        if made is not None and made.op == "full":
            return self.b.emit("full", *made.ins, self.width, **made.params)
        n = len(x.shape)
        out: Atom = self.b.emit("broadcast", x, *x.shape, self.width, axes=tuple(range(n)))
        return out

    def total(self, a: Atom) -> Atom:
        """The sum over the lanes."""
        x = self.lanes(a)
        out: Atom = self.b.emit("sum", x, axes=(len(x.shape) - 1,))
        return self.typed(out, a)

    def start(self, a: Atom) -> Atom:
        """An index of the first lane, where that of each lane is one more."""
        form = self.forms.of(a)
        if form.coefficient(self.index) != 1 or not self.steady(form):
            raise _Unsuited
        out: Atom = self.b.emit("add", self.first, lit(form.constant))
        for v, c in form.terms:
            if v is not self.index:
                out = self.b.emit("add", out, self.b.emit("mul", self.now(v), lit(c)))
        return out

    def steady(self, form: Linear) -> bool:
        return not any(v in self.varying for v, _ in form.terms if v is not self.index)

    # -- equations ------------------------------------------------------------------------------

    def block(self, block: Block, like: Sequence[Var]) -> list[Atom]:
        """The equations of an inner block; its results in lanes where those of `like` are."""
        for x in block.equations:
            self.equation(x)
        self.settle()
        return [
            self.lanes(r) if v in self.varying else self.uniform(r, v)
            for r, v in zip(block.results, like, strict=True)
        ]

    def equation(self, x: Equation) -> None:
        b = self.b
        b.pos = x.pos
        if x.op == "for":
            self.settle()
            self.loop(x)
        elif x.op == "if":
            self.settle()
            self.branch(x)
        elif any(v in self.sums for v in x.outs):
            self.add_up(x)
        elif not any(map(self.varies, x.ins)) and not any(map(self.varies, x.outs)):
            copy_equation(b, x, self.env)
        else:
            self.enter(x, self.in_lanes(x))

    def enter(self, x: Equation, out: Atom | None) -> None:
        for v in x.outs:
            assert out is not None
            self.env[v] = self.typed(out, v)
            if isinstance(out, Var) and not out.name:
                out.name = v.name

    def add_up(self, x: Equation) -> None:
        """An addition to a sum over all iterations.

        It waits for the end of its block, so that the totals of a block are taken in one go.
        """
        total = not any(map(self.varies, x.ins[2:]))
        k = 1 if x.op != "add" or x.ins[0] in self.sums else 0
        self.waiting.append((x, self.total(x.ins[k]) if total else self.lanes(x.ins[k])))

    def settle(self) -> None:
        for x, v in self.waiting:
            self.b.pos = x.pos
            kinds = x.params.get("kinds", "i" * len(x.ins[2:]))
            match x.op:
                case "add" if x.ins[0] not in self.sums:
                    out = self.b.emit("add", v, self.now(x.ins[1]))
                case "add" | "sub":
                    out = self.b.emit(x.op, self.now(x.ins[0]), v)
                case _ if any(map(self.varies, x.ins[2:])):
                    out = self.part("accum_slice", x, kinds, v)
                case _:
                    ins = (self.now(x.ins[0]), v, *map(self.now, x.ins[2:]))
                    out = self.b.emit(x.op, *ins, **x.params)
            self.enter(x, out)
        self.waiting = []

    def in_lanes(self, x: Equation) -> Atom | None:
        b = self.b
        ins = [self.now(a) for a in x.ins]
        out: Atom
        match x.op:
            case "check" if x.params["exception"] is not GuardMiss and len(x.ins) == 1:
                failed = b.emit("cast", b.emit("logical_not", ins[0]), dtype="i8")
                none = b.emit("eq", b.emit("sum", failed, axes=(0,)), lit(0))
                b.emit("check", none, **x.params)
                return None
            case "load":
                return self.load(x)
            case "slice":
                return self.slice(x, x.params["kinds"])
            case "store" | "accum":
                kinds = "i" * len(x.ins[2:])
                return self.part(f"{x.op}_slice", x, kinds, self.value(x))
            case "store_slice" | "accum_slice":
                return self.part(x.op, x, x.params["kinds"], self.value(x))
            case "sum" | "amax" | "amin":
                out = b.emit(x.op, ins[0], **x.params)
            case "broadcast" if not any(map(self.varies, x.ins[1:])):
                axes = (*x.params["axes"], len(ins) - 1)
                out = b.emit("broadcast", *ins, self.width, axes=axes)
            case "full" if not any(map(self.varies, x.ins[1:])):
                wide = b.emit("broadcast", *ins, self.width, axes=(len(ins) - 1,))
                out = b.emit("copy", wide)
            case "copy":
                out = b.emit("copy", ins[0])
            case "dim":
                out = ins[0].shape[x.params["axis"]]
            case _ if x.op in TABLE and TABLE[x.op].elementwise and len(x.outs) == 1:
                out = self.elementwise(x)
            case _:
                raise _Unsuited
        return out

    def elementwise(self, x: Equation) -> Atom:
        b, rank = self.b, max(len(a.shape) for a in (*x.ins, *x.outs))
        shape = next((a.shape for a in (*x.outs, *x.ins) if len(a.shape) == rank), ())
        wide = (*map(self.now, shape), self.width)

        def operand(a: Atom) -> Atom:
            v = self.now(a)
            if not self.varies(a) and not a.shape:
                return v
            if len(a.shape) == rank:
                return self.lanes(a)
            out: Atom = b.emit("broadcast", v, *wide, axes=(rank,))
            return out

        out: Atom = b.emit(x.op, *map(operand, x.ins), **x.params)
        return out

    # -- parts of arrays ------------------------------------------------------------------------

    def value(self, x: Equation) -> Atom:
        """What is written: a number may be written everywhere."""
        v = x.ins[1]
        return self.now(v) if not self.varies(v) and not v.shape else self.lanes(v)

    def operands(self, kinds: str, ins: Sequence[Atom]) -> tuple[str, list[Atom], int | None]:
        """(kinds, operands) of a slice with the lanes' axis in it, and which axis that is."""
        out: list[Atom] = []
        new, at, moving = "", 0, None
        for axis, kind in enumerate(kinds):
            mine = ins[at : at + (1 if kind == "i" else 3)]
            at += len(mine)
            if not any(map(self.varies, mine)):
                out += map(self.now, mine)
                new += kind
                continue
            if kind == "r" or moving is not None:
                raise _Unsuited
            out += [self.start(mine[0]), lit(1), self.width]
            new += "r"
            moving = axis
        return new, out, moving

    def load(self, x: Equation) -> Atom:
        a, *at = x.ins
        out: Atom
        if a in self.packed and self.varies(at[axis := self.packed[a][0]]):  # type: ignore[index]
            rest = [self.now(k) for j, k in enumerate(at) if j != axis]
            whole = self.packed[a][1]  # type: ignore[index]
            out = self.b.emit(
                "slice", whole, *rest, lit(0), lit(1), self.width, kinds="i" * len(rest) + "r"
            )
            return out
        return self.slice(x, "i" * len(at))

    def slice(self, x: Equation, kinds: str) -> Atom:
        a, *at = x.ins
        new, operands, moving = self.operands(kinds, at)
        out: Atom
        if self.varies(a):
            if moving is not None:
                raise _Unsuited
            operands += [lit(0), lit(1), self.width]
            out = self.b.emit("slice", self.now(a), *operands, kinds=new + "r")
            return out
        if moving is None:
            raise _Unsuited
        out = self.b.emit("slice", self.now(a), *operands, kinds=new)
        here = new[:moving].count("r")
        n = new.count("r")
        perm = (*(k for k in range(n) if k != here), here)
        return out if here == n - 1 else self.b.emit("transpose", out, perm=perm)

    def part(self, op: str, x: Equation, kinds: str, v: Atom) -> Atom:
        """A part of an array is changed in all lanes."""
        a, _, *at = x.ins
        new, operands, moving = self.operands(kinds, at)
        out: Atom
        if a not in self.sums | self.apart:
            if moving is not None:
                raise _Unsuited
            operands += [lit(0), lit(1), self.width]
            out = self.b.emit(op, self.lanes(a), v, *operands, kinds=new + "r")
            return out
        if moving is None:
            raise _Unsuited
        here, n = new[:moving].count("r"), new.count("r")
        if v.shape and here != n - 1:
            before = iter(range(n - 1))
            perm = tuple(n - 1 if k == here else next(before) for k in range(n))
            v = self.b.emit("transpose", v, perm=perm)
        out = self.b.emit(op, self.now(a), v, *operands, kinds=new)
        return out

    def pack(self) -> None:
        """Rows that inner loops read number by number lie lane by lane in a copy of the strip's.

        `x[p, j]` for the points p of a strip would step over all the numbers of a point.
        """
        places: dict[Var, set[int]] = {}
        inside = {p for x in walk(self.body) if x.op == "for" for p in x.blocks[0].params}
        reached = closure(inside, successors(predecessors(self.body)))
        outside = set(free_vars(self.body))
        for x in walk(self.body):
            if x.op == "load" and x.ins[0] in outside:
                moving = [k for k, a in enumerate(x.ins[1:]) if self.varies(a)]
                others = [a for k, a in enumerate(x.ins[1:]) if k not in moving]
                if len(moving) == 1 and any(a in inside | reached for a in others):
                    start = self.forms.of(x.ins[1 + moving[0]])
                    if moving[0] < len(x.ins) - 2 and start == Linear(((self.index, 1),)):
                        places.setdefault(x.ins[0], set()).add(moving[0])  # type: ignore[arg-type]
        for a, axes in places.items():
            (axis, *more) = axes
            # rows of the strip are there, whether or not a loop reads them
            if more or not a.shape or self.within != a.shape[axis]:
                continue
            n = len(a.shape)
            operands = [x for extent in a.shape for x in (lit(0), lit(1), extent)]
            operands[3 * axis : 3 * axis + 3] = self.first, lit(1), self.width
            rows = self.b.emit("slice", a, *operands, kinds="r" * n)
            perm = (*(k for k in range(n) if k != axis), axis)
            turned = self.b.emit("transpose", rows, perm=perm)
            self.packed[a] = axis, self.b.emit("copy", turned)

    # -- inner loops and branches ---------------------------------------------------------------

    def loop(self, x: Equation) -> None:
        if any(map(self.varies, x.ins[:3])):
            raise _Unsuited
        body = x.blocks[0]
        head = [self.now(a) for a in x.ins[:3]]
        params = body.params[1:]
        init = [
            self.lanes(a) if p in self.varying else self.uniform(a, p)
            for p, a in zip(params, x.ins[3:], strict=True)
        ]
        index = Var(INT, (), body.params[0].name)
        new = [Var(a.type, a.shape, p.name) for p, a in zip(params, init, strict=True)]
        for p, v in zip(params, new, strict=True):
            if v.type.dtype != p.type.dtype:  # type: ignore[union-attr]
                raise _Unsuited
            if p not in self.varying:
                v.type = p.type
        self.env[body.params[0]] = index
        self.env.update(zip(params, new, strict=True))
        with self.b.block(index, *new) as block:
            block.results = self.block(body, params)
        outs = tuple(Var(v.type, v.shape, o.name) for v, o in zip(new, x.outs, strict=True))
        self.b.structured("for", (*head, *init), outs, (block,))
        self.env.update(zip(x.outs, outs, strict=True))

    def branch(self, x: Equation) -> None:
        if self.varies(x.ins[0]):
            self.choice(x)
            return
        blocks = []
        for one in x.blocks:
            with self.b.block() as block:
                block.results = self.block(one, x.outs)
            blocks.append(block)
        outs = tuple(
            Var(r.type, (*map(self.now, v.shape), *([self.width] if v in self.varying else [])))
            if isinstance(r.type, Array) else Var(r.type)
            for v, r in zip(x.outs, blocks[0].results, strict=True)
        )  # fmt: skip
        self.b.structured("if", (self.now(x.ins[0]),), outs, tuple(blocks))
        self.env.update(zip(x.outs, outs, strict=True))

    def choice(self, x: Equation) -> None:
        """Lanes go different ways: each computes both, where both are but arithmetic."""
        for one in x.blocks:
            for y in one.equations:
                if not _may_run_anyway(y):
                    raise _Unsuited
                self.equation(y)
        results = zip(x.outs, x.blocks[0].results, x.blocks[1].results, strict=True)
        for v, yes, no in list(results):
            if isinstance(v.type, Array) or v not in self.varying:
                raise _Unsuited
            out = self.b.emit("where", self.now(x.ins[0]), self.lanes(yes), self.lanes(no))
            self.env[v] = self.typed(out, v)
