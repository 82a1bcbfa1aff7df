"""Which operations over whole vectors become a loop, so that it can be divided among threads?

Elementwise operations, parts of arrays that they read, and sums, over vectors of one length: as far
as they stand together, one loop computes them all element by element.  What else is needed of a
vector later is stored.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.specialise.together import Equal
from jitad.specialise.work import Work
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Atom, Block, Equation, Lit, Var, free_vars, lit
from jitad.tape.lent import STORES
from jitad.tape.linear import Forms
from jitad.tape.types import INT, Array, Scalar, element

_WORTH = 12  # operations an element: where there are fewer it is memory that takes the time


def as_loops(block: Block, least: int, equal: Equal) -> None:
    """Put loops in the place of such operations in a block, if they may have so much work (in
    place).  `equal`: which lengths are."""
    out: list[Equation] = []
    group: _Group | None = None
    for k, e in enumerate(block.equations):
        n = _length(e, equal)
        if group is not None and not group.takes(e, n):
            if not group.stops(e):
                group.before.append(e)
                continue
            out += group.equations(_used(block, k), least)
            group = None
        if group is None:
            if n is None or e.op in ("slice", "full", "iota"):
                out.append(e)
                continue
            group = _Group(n)
        group.add(e)
    if group is not None:
        out += group.equations(set(block.results), least)
    block.equations = out


def _used(block: Block, k: int) -> set[Atom]:
    """What is used from an equation on."""
    later = Block([], block.equations[k:], block.results)
    return set(free_vars(later))


def _length(e: Equation, equal: Equal) -> Atom | None:
    """Of the vectors that an equation goes over; None for others."""
    if e.blocks or not e.outs:
        return None
    if e.op == "sum":
        (a,) = e.ins
        whole = isinstance(a.type, Array) and a.type.ndim == 1 and a.type.dtype[0] == "f"
        return equal.find(a.shape[0]) if whole and a.shape else None
    v = e.outs[0]
    if not isinstance(v.type, Array) or v.type.ndim != 1 or not v.shape:
        return None
    if TABLE[e.op].elementwise or e.op in ("full", "iota"):
        return equal.find(v.shape[0])
    if e.op == "slice" and e.params["kinds"].count("r") == 1:
        return equal.find(v.shape[0])
    return None


class _Group:
    """Equations over vectors of one length, none of which waits for a sum of another."""

    def __init__(self, n: Atom) -> None:
        self.n = n
        self.before: list[Equation] = []  # what stands between them and waits for none
        self.members: list[Equation] = []
        self.made: set[Atom] = set()
        self.sums: set[Atom] = set()

    def takes(self, e: Equation, n: Atom | None) -> bool:
        return n == self.n and self.sums.isdisjoint(e.ins)

    def stops(self, e: Equation) -> bool:
        """Must it stay behind the group?  Memory that the group reads must not change before."""
        if e.blocks or e.op in STORES or TABLE[e.op].effect or TABLE[e.op].fresh:
            return True
        needs = {*e.ins, *(n for v in e.outs for n in v.shape)}
        return not (self.made.isdisjoint(needs) and self.sums.isdisjoint(needs))

    def add(self, e: Equation) -> None:
        self.members.append(e)
        (self.sums if e.op == "sum" else self.made).update(e.outs)

    def equations(self, later: set[Atom], least: int) -> list[Equation]:
        """What stands before them, and the loop."""
        work = [e for e in self.members if e.op not in ("slice", "full", "iota")]
        loop = self.loop(later) if len(work) > 1 or later.intersection(self.made) else None
        each = Work(loop[-1], Forms()) if loop is not None else None
        if loop is None or each is None or each.least() < _WORTH or not each.enough(least):
            return [*self.before, *self.members]
        return [*self.before, *loop]

    def loop(self, later: set[Atom]) -> list[Equation]:
        index = Var(INT)
        body = Block([index])
        first: list[Equation] = []
        init: list[Atom] = []
        outs: list[Var] = []
        values: dict[Atom, Atom] = {}  # the elements of vectors

        def write(op: str, ins: tuple[Atom, ...], out: Var, e: Equation, params: dict) -> Var:
            body.equations.append(Equation(op, ins, (out,), params, (), e.pos))
            return out

        def read(a: Atom, e: Equation) -> Atom:
            if not isinstance(a.type, Array):
                return a
            if a not in values:
                values[a] = write("load", (a, index), Var(element(a.type)), e, {})
            return values[a]

        for e in self.members:
            (v,) = e.outs
            match e.op:
                case "sum":
                    start, after = Var(v.type, (), v.name), Var(v.type)
                    write("add", (start, read(e.ins[0], e)), after, e, {})
                    body.params.append(start)
                    body.results.append(after)
                    init.append(_zero(v))
                    outs.append(v)
                    continue
                case "slice":
                    place = [self.place(x, index, write, e) for x in _parts(e)]
                    values[v] = write("load", (e.ins[0], *place), Var(_scalar(v)), e, {})
                case "full":
                    values[v] = write("cast", (e.ins[0],), Var(_scalar(v)), e,
                                      {"dtype": v.type.dtype})  # type: ignore[union-attr]
                case "iota":
                    values[v] = index
                case _:
                    ins = tuple(read(a, e) for a in e.ins)
                    values[v] = write(e.op, ins, Var(_scalar(v), (), v.name), e, e.params)
            if v in later:
                blank = Var(v.type, v.shape)
                told = {"dtype": v.type.dtype, "start": "empty"}  # type: ignore[union-attr]
                first.append(Equation("blank", v.shape, (blank,), told, (), e.pos))
                inside, after = Var(v.type, v.shape, v.name), Var(v.type, v.shape)
                write("store", (inside, values[v], index), after, e, {})
                body.params.append(inside)
                body.results.append(after)
                init.append(blank)
                outs.append(v)
        at = next(e.pos for e in self.members if e.op not in ("slice", "full", "iota"))
        ins = (lit(0), lit(1), self.n, *init)
        return [*first, Equation("for", ins, tuple(outs), {}, (body,), at)]

    @staticmethod
    def place(part: tuple[Atom, ...], index: Var, write, e: Equation) -> Atom:  # type: ignore[no-untyped-def]
        """Where an element of a part of an array lies along one axis."""
        if len(part) == 1:
            return part[0]
        start, step, _ = part
        at: Atom = index
        if step != lit(1):
            at = write("mul", (at, step), Var(INT), e, {})
        return at if start == lit(0) else write("add", (at, start), Var(INT), e, {})


def _parts(e: Equation) -> list[tuple[Atom, ...]]:
    operands = iter(e.ins[1:])
    return [tuple(next(operands) for _ in range(3 if kind == "r" else 1))
            for kind in e.params["kinds"]]  # fmt: skip


def _scalar(v: Var) -> Scalar:
    return element(v.type)  # type: ignore[arg-type]


def _zero(v: Var) -> Lit:
    return lit_zero(v.type.dtype)  # type: ignore[union-attr]
