"""Which parts of the loops in a loop are the same each time, and are done once before it?

A Jacobian's columns run the same loops one chunk of directions after the other; what they compute
of the values depends on no direction.  An inner loop is taken apart into the part that is the same
in all iterations of the loop around it and the part that varies (`varying.py`): the first comes to
stand in front of the loop around, and keeps in arrays, a place an iteration, what the second needs
and would not rather compute again.  That is chosen by a minimum cut, as records of reverse sweeps
are; where the records are many beside what they save, or may be larger than any array there is (a
number for each pair of two loops), the loop stays in one.  So forward mode over several chunks
linearises first, and then runs the linear part only.
Source: loop distribution, Kennedy & McKinley 1990; linearisation, Radul et al. 2023 (*You Only
Linearize Once*).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod

from jitad.primitives import TABLE
from jitad.primitives.table import costly
from jitad.specialise.varying import Varying
from jitad.specialise.work import Work
from jitad.sweeps.cut import INFINITE, minimum_cut
from jitad.tape.build import Builder
from jitad.tape.copy import Env, copy_equation, lit_zero, read, renew
from jitad.tape.dead import remove_dead
from jitad.tape.ir import (
    STRUCTURED,
    Atom,
    Block,
    Equation,
    Lit,
    Tape,
    Var,
    free_vars,
    lit,
    walk,
)
from jitad.tape.linear import Forms
from jitad.tape.types import BOOL, INT, Array

_SOME = 16  # an extent that is not known
_SAVED = 2  # operations that a record must save
_ENOUGH = 100  # operations that must be saved
_TRIES = 8
_VIEWS = {"slice", "broadcast", "reshape", "transpose"}
_AGAIN = {*_VIEWS, "full", "iota", "pack", "copy", "store", "store_slice", "load", "dim"}


def once(tape: Tape) -> Tape:
    """The tape with such parts in front of the loops (changed in place)."""
    _visit(tape.body)
    return tape


def _visit(block: Block) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner)
        out += (_parts(e) if e.op == "for" else None) or [e]
    block.equations = out


def _parts(loop: Equation) -> list[Equation] | None:
    """What is done once, and the loop without it; None where there is nothing to gain."""
    inside = list(walk(loop.blocks[0]))
    count = loop.ins[2]
    if not any(e.op == "for" for e in inside) or (isinstance(count, Lit) and count.value < 2):
        return None
    if any(e.op not in STRUCTURED and TABLE[e.op].effect for e in inside):
        return None
    whole: set[int] = set()
    for _ in range(_TRIES):
        apart = _Apart(loop, whole)
        equations = apart.block(loop.blocks[0].equations)
        if not apart.refused:
            return _in_front(loop, equations, apart)
        whole |= apart.refused
    return None


def _in_front(loop: Equation, equations: list[Equation], apart: _Apart) -> list[Equation] | None:
    body, count = loop.blocks[0], loop.ins[2]
    same = [e for e in equations if not apart.varying.of(e)]
    makers = {v: e for e in same for v in e.outs}
    todo = [e for e in same if e.blocks or _is_work(e)]
    moved: set[int] = set()
    while todo:
        e = todo.pop()
        if id(e) not in moved:
            moved.add(id(e))
            todo += [makers[a] for a in _uses(e) if isinstance(a, Var) and a in makers]
    first = [*apart.lengths.values(), *(e for e in same if id(e) in moved)]
    if not any(e.blocks for e in first) or _work(loop, first) < _ENOUGH:
        return None
    rest = [e for e in equations if id(e) not in moved]
    runs = isinstance(count, Lit)
    outs = loop.outs if runs else tuple(Var(v.type, v.shape, v.name) for v in loop.outs)
    again = Equation("for", loop.ins, outs, loop.params,
                     (Block(body.params, rest, body.results),), loop.pos)  # fmt: skip
    new = [*first, again]
    if not runs:  # what is done once needs an iteration that would do it
        some = Var(BOOL)
        ways = Block([], new, list(outs)), Block([], [], list(loop.ins[3:]))
        new = [
            Equation("gt", (count, lit(0)), (some,), {}, (), loop.pos),
            Equation("if", (some,), loop.outs, {}, ways, loop.pos),
        ]
    remove_dead(Block([], new, list(loop.outs)))
    return new


def _is_work(e: Equation) -> bool:
    row = TABLE[e.op]
    return row.dear or (
        not row.fresh and e.op not in _VIEWS and any(isinstance(v.type, Array) for v in e.outs)
    )


def _uses(e: Equation) -> list[Atom]:
    return [*e.ins, *free_vars(*e.blocks)]


def _work(loop: Equation, equations: list[Equation]) -> int:
    """The operations of these in one iteration, about."""
    block = Block(loop.blocks[0].params[:1], equations, [])
    return Work(Equation("for", loop.ins[:3], (), {}, (block,)), Forms()).about(_SOME)


class _Apart:
    """The equations of a loop, each of which either varies or is the same each time."""

    def __init__(self, loop: Equation, whole: set[int]) -> None:
        self.varying = Varying(loop, whole)
        self.refused: set[int] = set()  # inner equations that would rather stay in one
        body = loop.blocks[0]
        self.inside = {v for e in walk(body) for v in e.outs}
        self.inside |= {p for e in walk(body) for b in e.blocks for p in b.params}
        self.defined = self.inside | set(body.params)
        self.inside -= {v for e in body.equations for v in e.outs}  # those come along
        self.lengths: dict[Atom, Equation] = {}
        self.counts: dict[Atom, Atom] = {}  # extents that are lengths of loops -> their trip counts
        around = [*free_vars(body), *body.params]
        self.arrays = [Counter(v.shape) for v in around if isinstance(v.type, Array)]

    def block(self, equations: list[Equation]) -> list[Equation]:
        out: list[Equation] = []
        for e in equations:
            if not e.blocks or not self.varying.of(e) or self.varying.wholly(e):
                out.append(e)
            else:
                out += self.loop(e) if e.op == "for" else self.branch(e)
        return out

    # -- loops ------------------------------------------------------------------------------------

    def loop(self, e: Equation) -> list[Equation]:
        body, (start, step, count) = e.blocks[0], e.ins[:3]
        params, inits = body.params[1:], e.ins[3:]
        equations = self.block(body.equations)
        same = [x for x in equations if not self.varying.of(x)]
        fixed = [k for k, p in enumerate(params) if p not in self.varying.values]
        ends = [r for k, r in enumerate(body.results) if k not in fixed]
        kept = self.kept([params[k] for k in fixed], same, equations, ends)
        if kept is None or (kept and step != lit(1)) or (
            kept and _work(e, same) < _SAVED * sum(map(self.size, kept))
        ) or not all(self.has_room(count, *v.shape) for v in kept):  # fmt: skip
            self.refused.add(id(e))
            return [e]
        if len(ends) == len(params) and not kept:
            return [e if equations == body.equations else self.again(e, [equations], {})]
        index, pos = body.params[0], e.pos
        before: list[Equation] = []
        length = self.length(count, before)
        at, place = _place(index, start)
        loaded: dict[Var, tuple[Var, Atom]] = {}
        rows: list[tuple[Var, ...]] = []
        stores: list[Equation] = []
        for v in kept:
            kind = Array(v.type.dtype, 1 + len(v.shape))  # type: ignore[union-attr]
            blank, inner, stored, out = (Var(kind, (length, *v.shape)) for _ in range(4))
            told = {"dtype": kind.dtype, "start": "empty"}
            before.append(Equation("blank", blank.shape, (blank,), told, (), pos))
            op, params_ = ("store_slice", {"kinds": _kinds(v)}) if v.shape else ("store", {})
            stores.append(Equation(op, (inner, v, at, *_all(v)), (stored,), params_, (), pos))
            rows.append((blank, inner, stored, out))
            loaded[v] = out, start
        block = Block(
            [index, *(params[k] for k in fixed), *(r[1] for r in rows)],
            [*place, *same, *stores] if rows else same,
            [*(body.results[k] for k in fixed), *(r[2] for r in rows)],
        )
        ins = (start, step, count, *(inits[k] for k in fixed), *(r[0] for r in rows))
        outs = (*(e.outs[k] for k in fixed), *(r[3] for r in rows))
        first = [*before, Equation("for", ins, outs, e.params, (block,), pos)] if outs else []
        if not ends:
            return first
        return [*first, self.again(e, [equations], loaded)]

    def length(self, count: Atom, before: list[Equation]) -> Atom:
        """A trip count as an extent; what is known before the loop around is said there."""
        if isinstance(count, Lit):
            return lit(max(int(count.value), 0))
        if count not in self.lengths:
            made = Equation("maximum", (count, lit(0)), (Var(INT),))
            self.counts[made.outs[0]] = count
            if count in self.defined:
                before.append(made)
                self.inside.add(made.outs[0])
                return made.outs[0]
            self.lengths[count] = made
        return self.lengths[count].outs[0]

    def again(
        self, e: Equation, blocks: list[list[Equation]], loaded: dict[Var, tuple[Var, Atom]]
    ) -> Equation:
        """The equation with these equations in its blocks, variables of its own in them, and what
        was kept read from there."""
        b = Builder()
        made: list[Block] = []
        inits = [None, *e.ins[3:]] if e.op == "for" else []
        for block, equations in zip(e.blocks, blocks, strict=True):
            env: Env = {}
            params = [renew(p, a, env) for p, a in zip(block.params, inits, strict=True)]
            with b.block(*params, isolated=True) as new:
                b.pos = e.pos
                back = {v: _load(b, v, *where, params) for v, where in loaded.items()}
                env.update(back)
                for x in equations:
                    copy_equation(b, x, env)
                    env.update((v, back[v]) for v in x.outs if v in back)
                new.results = [read(a, env) for a in block.results]
            made.append(new)
        values = self.varying.values
        outs = tuple(v if v in values else Var(v.type, v.shape, v.name) for v in e.outs)
        return Equation(e.op, e.ins, outs, e.params, tuple(made), e.pos)

    # -- branches -----------------------------------------------------------------------------

    def branch(self, e: Equation) -> list[Equation]:
        blocks = [self.block(b.equations) for b in e.blocks]
        fixed = [k for k, v in enumerate(e.outs) if v not in self.varying.values]
        results = [[b.results[k] for k in fixed] for b in e.blocks]
        parts: list[list[Equation]] = []
        loaded: dict[Var, tuple[Var, Atom]] = {}
        taken: dict[Var, int] = {}  # the branch that has it
        worth = 0
        for j, equations in enumerate(blocks):
            same = [x for x in equations if not self.varying.of(x)]
            ends = [r for k, r in enumerate(e.blocks[j].results) if k not in fixed]
            kept = self.kept([], same, equations, ends)
            if kept is None:
                self.refused.add(id(e))
                return [e]
            worth += _work(Equation("for", (lit(0), lit(1), lit(1)), (), {}, (Block([Var(INT)]),)),
                           same) - _SAVED * sum(map(self.size, kept))  # fmt: skip
            parts.append(same)
            for v in kept:
                loaded[v] = Var(v.type, v.shape, v.name), lit(0)
                taken[v] = j
        if loaded and worth < 0:
            self.refused.add(id(e))
            return [e]
        unused: list[list[Equation]] = [[], []]
        for v, j in taken.items():
            results[j].append(v)
            if not isinstance(v.type, Array):
                results[1 - j].append(lit_zero(v.type.dtype))  # type: ignore[union-attr]
                continue
            none = Var(v.type, v.shape)
            told = {"dtype": v.type.dtype, "start": "empty"}
            unused[1 - j].append(Equation("blank", v.shape, (none,), told, (), e.pos))
            results[1 - j].append(none)
        outs = (*(e.outs[k] for k in fixed), *(out for out, _ in loaded.values()))
        ways = tuple(
            Block([], [*part, *more], ends)
            for part, more, ends in zip(parts, unused, results, strict=True)
        )
        first = [Equation("if", e.ins, outs, e.params, ways, e.pos)] if outs else []
        if len(fixed) == len(e.outs):
            return first
        if not first and all(x == b.equations for x, b in zip(blocks, e.blocks, strict=True)):
            return [e]
        return [*first, self.again(e, blocks, loaded)]

    # -- what is kept -----------------------------------------------------------------------------

    def kept(
        self, params: list[Var], same: list[Equation], equations: list[Equation],
        ends: Sequence[Atom],
    ) -> list[Var] | None:  # fmt: skip
        """Of what is the same each time, what the varying rest is handed; None if it can't be."""
        makers = {v: e for e in same for v in e.outs}
        order = {v: k for k, v in enumerate([*params, *makers])}
        alike = {id(e) for e in same}
        used = [a for e in equations if id(e) not in alike for a in _uses(e)]
        needed = [v for v in dict.fromkeys([*used, *ends]) if isinstance(v, Var) and v in order]
        inputs: dict[Var, list[Var]] = {}
        cost: dict[Var, int] = {}
        fixed: set[Var] = set()
        todo = list(needed)
        while todo:
            v = todo.pop()
            if v in cost:
                continue
            cost[v] = self.size(v)
            e = makers.get(v)
            if e is None or not self.repeatable(e):
                fixed.add(v)
                continue
            inputs[v] = [a for a in e.ins if isinstance(a, Var) and a in order]
            todo += inputs[v]
        kept = minimum_cut(inputs, cost, fixed, needed)
        if any(cost[v] >= INFINITE for v in kept):
            return None
        return sorted(kept, key=order.__getitem__)

    def repeatable(self, e: Equation) -> bool:
        if e.blocks or costly(e) or any(a in self.varying.family for a in (*e.ins, *e.outs)):
            return False
        return TABLE[e.op].elementwise or e.op in _AGAIN

    def size(self, v: Var) -> int:
        """How many numbers it is."""
        if not isinstance(v.type, Array):
            return 1
        if v in self.varying.family or not v.shape or self.inside.intersection(v.shape):
            return INFINITE
        return prod(max(int(d.value), 1) if isinstance(d, Lit) else _SOME for d in v.shape)


    def has_room(self, *extents: Atom) -> bool:
        """Is a record of these extents one of a single loop, or no larger than some array?"""
        unknown = Counter(self.counts.get(n, n) for n in extents if not isinstance(n, Lit))
        return unknown.total() < 2 or any(unknown <= shape for shape in self.arrays)


def _place(index: Var, start: Atom) -> tuple[Var, list[Equation]]:
    """The number of the iteration."""
    if start == lit(0):
        return index, []
    at = Var(INT)
    return at, [Equation("sub", (index, start), (at,))]


def _load(b: Builder, v: Var, kept: Var, start: Atom, params: list[Var]) -> Atom:
    """What was kept: of this iteration, or, of a branch, itself."""
    if not params:
        return kept
    at = b.emit("sub", params[0], start)
    if not v.shape:
        return b.emit("load", kept, at)
    return b.emit("slice", kept, at, *_all(v), kinds=_kinds(v))


def _kinds(v: Var) -> str:
    return "i" + "r" * len(v.shape)


def _all(v: Var) -> Iterable[Atom]:
    return (a for n in v.shape for a in (lit(0), lit(1), n))
