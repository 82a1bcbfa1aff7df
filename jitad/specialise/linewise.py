"""How are equations over whole arrays done line by line?  Each is written once more, for a line.

A line is what an array has at one index of its first axis.  See `lines.py`, which says of what this
is done; the arrays' lines, as they are in an iteration, are values of the loop's body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jitad.tape.build import Builder
from jitad.tape.copy import Env, copy_equation, lit_zero, read
from jitad.tape.ir import Atom, Equation, Var, is_array, lit
from jitad.tape.types import INT, Array, Scalar


@dataclass
class Kinds:
    """What the variables of a group are, inside the loop over lines."""

    lines: set[Atom] = field(default_factory=set)  # arrays and stacks of which there is a line
    whole: dict[Atom, Atom] = field(default_factory=dict)  # added to: the version, where it began
    totals: set[Atom] = field(default_factory=set)  # known when all lines are done
    numbers: set[Atom] = field(default_factory=set)  # indices in inner loops


class Loop:
    """The loop over `n` lines that does what these equations do; `asked`: what is used later,
    and stored in the place of its home, if it has one."""

    def __init__(
        self, members: list[Equation], n: Atom, kinds: Kinds, asked: list[Var],
        homes: Mapping[Var, Var],
    ) -> None:  # fmt: skip
        self.members, self.n, self.kinds = members, n, kinds
        self.b, self.env = Builder(), Env()
        self.index = Var(INT)
        self.params: list[Var] = []
        self.init: list[Atom] = []
        self.outs: list[Var] = []
        self.ends: list[Atom] = []
        self.asked, self.homes = asked, homes

    def equations(self) -> list[Equation]:
        b, kinds, members = self.b, self.kinds, self.members
        b.pos = next(e.pos for e in members if e.op == "for")
        totals = [v for v in self.asked if v in kinds.totals]
        kept = [v for v in self.asked if v in kinds.lines]
        used = {a for e in members for a in e.ins}
        whole = [v for e in members for v in e.outs if v in kinds.whole and v not in used]
        starts = [self.carry(v, self.nothing(v)) for v in totals]
        for v in whole:
            start = kinds.whole[v]
            self.env[start] = self.carry(v, start)  # type: ignore[index]
        blanks = []
        for v in kept:
            told = {"dtype": v.type.dtype, "start": "empty"}  # type: ignore[union-attr]
            home = self.homes.get(v)
            blanks.append(self.carry(v, home or b.emit("blank", *v.shape, **told)))
            if home is not None:
                self.env[home] = blanks[-1]
        with b.block(self.index, *self.params) as block:
            for e in members:
                self.equation(e)
            ends: list[Atom] = [
                b.emit("add", start, self.env[v]) for start, v in zip(starts, totals, strict=True)
            ]
            ends += [self.env[v] for v in whole]
            for blank, v in zip(blanks, kept, strict=True):
                ends.append(self.put(blank, self.env[v], v.shape))
            block.results = ends
        ins = (lit(0), lit(1), self.n, *self.init)
        b.structured("for", ins, tuple(self.outs), (block,))
        return b.blocks[0].equations

    def carry(self, v: Var, init: Atom) -> Var:
        p = Var(v.type, v.shape, v.name)
        self.params.append(p)
        self.init.append(init)
        self.outs.append(v)
        return p

    def nothing(self, v: Var) -> Atom:
        zero = lit_zero(v.type.dtype)  # type: ignore[union-attr]
        if not v.shape:
            return zero
        out: Atom = self.b.emit("full", zero, *v.shape, dtype=v.type.dtype)  # type: ignore[union-attr]
        return out

    def put(self, a: Atom, line: Atom, shape: tuple[Atom, ...]) -> Atom:
        kinds = "i" + "r" * (len(shape) - 1)
        out: Atom = self.b.emit(
            "store_slice", a, line, self.index, *_everything(shape), kinds=kinds
        )
        return out

    # -- lines ------------------------------------------------------------------------------------

    def line(self, a: Atom) -> Atom:
        """What there is of an operand in this iteration."""
        if not is_array(a) or a in self.kinds.lines or a in self.kinds.whole:
            return read(a, self.env)
        kinds = "i" + "r" * (len(a.shape) - 1)
        now = read(a, self.env)
        out: Atom = self.b.emit("slice", now, self.index, *_everything(a.shape), kinds=kinds)
        return out

    def at(self, start: Atom) -> Atom:
        out: Atom = self.b.emit("add", self.index, read(start, self.env))
        return out

    def equation(self, e: Equation) -> None:
        b, kinds = self.b, self.kinds
        b.pos = e.pos
        if e.op == "for":
            self.loop(e)
            return
        if all(isinstance(a.type, Scalar) for a in (*e.ins, *e.outs)):
            copy_equation(b, e, self.env)
            return
        ins = [read(a, self.env) for a in e.ins]
        out: Atom | tuple[Atom, ...]
        match e.op:
            case "stack":
                element = e.params["element"]
                out = b.emit("stack", element=Array(element.dtype, element.ndim - 1))
            case "push":
                out = b.emit("push", ins[0], self.line(e.ins[1]))
            case "pop":
                out = b.emit("pop", ins[0], *ins[2:])
            case "slice" if e.ins[0] in kinds.lines:
                out = self.part("slice", (ins[0],), ins[4:], e.params["kinds"][1:])
            case "slice":
                at = (self.at(e.ins[1]), *ins[4:])
                out = self.part("slice", (ins[0],), at, "i" + e.params["kinds"][1:])
            case "accum_slice" if e.ins[0] in kinds.whole or e.outs[0] in kinds.whole:
                at = (self.at(e.ins[2]), *ins[5:])
                value = self.line(e.ins[1])
                out = self.part("accum_slice", (ins[0], value), at, "i" + e.params["kinds"][1:])
            case "store_slice" | "accum_slice":
                both = self.line(e.ins[0]), self.line(e.ins[1])
                out = self.part(e.op, both, ins[5:], e.params["kinds"][1:])
            case "full":
                out = b.emit("full", ins[0], *ins[2:], **e.params)
            case "broadcast":
                axes = e.params["axes"]
                a = self.line(e.ins[0]) if 0 in axes else ins[0]
                axes = tuple(k - 1 for k in axes if k)
                whole = len(axes) == len(ins) - 2
                out = a if whole else b.emit("broadcast", a, *ins[2:], axes=axes)
            case "transpose":
                perm = tuple(k - 1 for k in e.params["perm"][1:])
                out = b.emit("transpose", self.line(e.ins[0]), perm=perm)
            case "sum" | "amax" | "amin":
                axes = tuple(k - 1 for k in e.params["axes"] if k)
                out = self.line(e.ins[0])
                out = b.emit(e.op, out, axes=axes) if axes else out
            case _:
                out = b.emit(e.op, *map(self.line, e.ins), **e.params)
        for v, new in zip(e.outs, out if isinstance(out, tuple) else (out,), strict=True):
            self.env[v] = new
            if isinstance(new, Var) and not new.name:
                new.name = v.name

    def part(self, op: str, arrays: Iterable[Atom], at: Iterable[Atom], kinds: str) -> Atom:
        out: Atom
        if "r" in kinds:
            out = self.b.emit(op, *arrays, *at, kinds=kinds)
        else:
            out = self.b.emit({"slice": "load"}.get(op, op.removesuffix("_slice")), *arrays, *at)
        return out

    def loop(self, e: Equation) -> None:
        b, body, env = self.b, e.blocks[0], self.env
        head = [read(a, env) for a in e.ins[:3]]
        init = [self.line(a) if p in self.kinds.lines else read(a, env)
                for p, a in zip(body.params[1:], e.ins[3:], strict=True)]  # fmt: skip
        index = Var(INT, (), body.params[0].name)
        new = [Var(a.type, a.shape, p.name)
               for p, a in zip(body.params[1:], init, strict=True)]  # fmt: skip
        env[body.params[0]] = index
        env.update(zip(body.params[1:], new, strict=True))
        with b.block(index, *new) as block:
            for x in body.equations:
                self.equation(x)
            block.results = [
                self.line(r) if p in self.kinds.lines else read(r, env)
                for p, r in zip(body.params[1:], body.results, strict=True)
            ]
        outs = tuple(Var(p.type, p.shape, v.name) for p, v in zip(new, e.outs, strict=True))
        b.pos = e.pos
        b.structured("for", (*head, *init), outs, (block,))
        env.update(zip(e.outs, outs, strict=True))


def _everything(shape: tuple[Atom, ...]) -> list[Atom]:
    """The operands of a slice that has all of an array but its first axis."""
    return [a for n in shape[1:] for a in (lit(0), lit(1), n)]
