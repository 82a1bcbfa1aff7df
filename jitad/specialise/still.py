"""Which iterations of a sweep in several directions move nothing, and are passed by?

A chunk of a Jacobian's columns moves few things: most bones of a hand, most nodes of a tree have no
tangent in any of its directions.  An iteration that makes the tangents of such rows reads the
tangents of others; where all of these are zero, so is what it makes, and nothing of it has to be
computed.  So in the loop over chunks (`along`, which says of itself that nothing but tangents
differs from one to the next) an inner loop over rows looks at what it is about to read, if that is
little beside what it would compute from it.

As in `sweeps/vacant.py`, whose subject are sums over rows: zeros are found while the kernel runs,
a tangent that is zero is none whatever it would be multiplied by, and only the outermost derivative
may do this.
References: Griewank & Walther, *Evaluating Derivatives*, ch. 7 (dynamic sparsity).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from jitad.primitives import TABLE
from jitad.specialise.work import Work
from jitad.tape.build import Builder
from jitad.tape.copy import (
    Env,
    as_type,
    copy_block,
    copy_equation,
    lit_zero,
    read,
    renew,
    structured,
)
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, is_array, lit, walk
from jitad.tape.linear import Forms
from jitad.tape.types import Array, Scalar, is_float

ALONG = "along"  # a loop over chunks of directions: what differs in its floats is tangents

_EACH = 4  # an extent that is not known
_WORTH = 8  # operations that looking at one number must be able to save
_STORES = ("store", "store_slice", "accum", "accum_slice")
_PLACED = ("full", "blank", "pack", "where", "reshape", "slice", "copy", "cast", *_STORES[:2])
_LINEAR = ("neg", "cast", "sum", "broadcast", "reshape", "transpose", "copy", "pack", "concatenate")
_ADDED = ("add", "sub", "where")


# -- said when a sweep is put in its place ---------------------------------------------------------


def only_tangents_differ(loop: Equation) -> bool:
    """Is it a loop around one sweep in several directions, with arithmetic nowhere else, of a
    function that is the same each time?"""
    if loop.op != "for":
        return False
    body = loop.blocks[0]
    sweeps = [e for e in body.equations if e.op == "jvp"]
    if len(sweeps) != 1 or len(sweeps[0].params.get("directions", ())) < 2:
        return False
    (sweep,) = sweeps
    inside = {*body.params, *(v for e in body.equations for v in e.outs)}
    primals = sweep.ins[: len(sweep.blocks[0].params)]
    if not inside.isdisjoint((*primals, *free_vars(*sweep.blocks))):
        return False
    return all(map(_places, (e for e in body.equations if e is not sweep)))


def _places(e: Equation) -> bool:
    """Does it move floats at most, and compute none?"""
    if e.op == "if":
        return all(_places(x) for b in e.blocks for x in b.equations)
    return e.op in _PLACED or not (e.blocks or any(is_float(v.type) for v in e.outs))


# -- the pass --------------------------------------------------------------------------------------


def still(tape: Tape) -> Tape:
    """The tape with such iterations passed by (changed in place)."""
    for e in list(walk(tape.body)):
        if e.op == "for" and e.params.get(ALONG):
            _visit(e.blocks[0], _Moving(e).values)
    return tape


def _visit(block: Block, moving: set[Atom]) -> None:
    for k, e in enumerate(block.equations):
        made = _Rows(e, moving).passing_by() if e.op == "for" else None
        if made is not None:
            block.equations[k] = made
            continue
        for inner in e.blocks:
            _visit(inner, moving)


class _Moving:
    """What is computed from a loop's index, or from what it carries."""

    def __init__(self, loop: Equation) -> None:
        self.values: set[Atom] = set(loop.blocks[0].params)
        before = -1
        while before != len(self.values):
            before = len(self.values)
            self.block(loop.blocks[0])

    def any(self, atoms: Iterable[Atom]) -> bool:
        return not self.values.isdisjoint(atoms)

    def block(self, block: Block) -> None:
        for e in block.equations:
            for inner in e.blocks:
                self.block(inner)
            if not e.blocks:
                if self.any(e.ins):
                    self.values.update(e.outs)
                continue
            head = {"for": 3, "if": 1}.get(e.op, 0)
            asked = e.ins[:head] + (tuple(e.blocks[0].results) if e.op == "while" else ())
            every = self.any(asked)
            ends = [b.results for b in (e.blocks[-1:] if e.op == "while" else e.blocks)]
            for k, v in enumerate(e.outs):
                if every or self.any([*e.ins[head + k : head + k + 1], *(r[k] for r in ends)]):
                    self.values.add(v)
                    if e.op in ("for", "while"):
                        count = len(e.outs)
                        self.values.update(b.params[len(b.params) - count + k] for b in e.blocks)


class _Rows:
    """An inner loop: which tangents an iteration reads, and whether they decide what it makes."""

    def __init__(self, loop: Equation, moving: set[Atom]) -> None:
        self.loop, self.moving = loop, moving
        self.body = loop.blocks[0]
        self.root: dict[Atom, Atom] = {}  # versions of an array -> what they were at first
        self.zero: set[Atom] = set()  # tangents that are zero if all that are read are
        self.sources: list[Equation | Atom] = []
        self.makers: dict[Atom, Equation] = {}

    def passing_by(self) -> Equation | None:
        loop, body = self.loop, self.body
        if not loop.outs or not all(v in self.moving and is_float(_element(v)) for v in loop.outs):
            return None
        if self.moving.intersection((*loop.ins[:3], body.params[0])):
            return None
        inside = {v for e in walk(body) for v in e.outs}
        self.live = {p: p for p in body.params[1:]}
        self.live.update((v, v) for v in free_vars(body) if v in self.moving and v not in inside)
        for v in self.live:
            if not is_float(_element(v)):
                return None
            if is_array(v):
                self.root[v] = v
            else:
                self.zero.add(v)
                self.sources.append(v)
        if not self.block(body) or not all(map(self.is_none, body.results)):
            return None
        if any(is_array(r) and self.root.get(r) is not p
               for p, r in zip(body.params[1:], body.results, strict=True)):  # fmt: skip
            return None
        looked = sum(map(_size, self.sources))
        work = Work(loop, Forms()).about(_EACH)
        if work < _WORTH * looked or not any(map(self.is_row, self.sources)):
            return None
        return self.rewritten()

    def is_row(self, s: Equation | Atom) -> bool:
        """Is it a row, or made by another iteration?  Else several iterations may go at a time."""
        if not isinstance(s, Equation):
            return False
        return s.op == "slice" or self.root[s.ins[0]] in self.body.params

    # -- is everything zero that is made? ------------------------------------------------------

    def is_none(self, a: Atom) -> bool:
        """Is it zero, or an array that keeps what it has but for zeros?"""
        if isinstance(a, Lit):
            return bool(a.value == 0)
        return a in self.zero or a in self.root

    def blank(self, a: Atom) -> bool:
        made = self.makers.get(a)
        return a in self.zero or (made is not None and made.op == "full" and _is_zero(made.ins[0]))

    def stored(self, array: Atom, read: Equation) -> bool:
        """Has this very iteration stored what is read here?"""
        made = self.makers.get(array)
        if made is None:
            return False
        if made.op == "if":
            k = made.outs.index(array)
            return all(self.stored(b.results[k], read) for b in made.blocks)
        if made.op in _STORES[:2] and (made.ins[2:], made.params) == (read.ins[1:], read.params):
            return True
        return self.stored(made.ins[0], read)

    def block(self, block: Block) -> bool:
        return all(map(self.equation, block.equations))

    def equation(self, e: Equation) -> bool:
        self.makers.update((v, e) for v in e.outs)
        if e.op == "if":
            return self.branch(e)
        if e.blocks or TABLE.get(e.op) is None or TABLE[e.op].effect:
            return False
        moved = self.moving.intersection(e.ins)
        array = e.ins[0] if e.ins else None
        if e.op in _STORES and array is not None:
            if self.moving.intersection(e.ins[2:]):
                return False
            nothing = self.is_none(e.ins[1]) and e.ins[1] not in self.root
            if nothing and array in self.root:
                self.root[e.outs[0]] = self.root[array]
            elif nothing and self.blank(array):
                self.zero.add(e.outs[0])
            else:
                return not moved
            return True
        if not moved:
            return True
        if not all(is_float(_element(v)) for v in e.outs) or len(e.outs) != 1:
            return False
        (out,) = e.outs
        if e.op in ("load", "slice"):
            if self.moving.intersection(e.ins[1:]):
                return False
            if array in self.root and not self.stored(array, e):
                self.sources.append(e)
            self.zero.add(out)
            return True
        if self.root.keys() & moved:
            return False  # a whole array of tangents
        match e.op:
            case _ if e.op in _LINEAR:
                known = all(a in self.zero or _is_zero(a) for a in e.ins if is_float(_element(a)))
            case "mul" | "matmul":
                known = True  # of factors one is zero
            case "div":
                known = e.ins[1] not in self.moving
            case _ if e.op in _ADDED:
                floats = [a for a in e.ins if is_float(_element(a))]
                known = all(a in self.zero or _is_zero(a) for a in floats)
            case _:
                known = False
        if known:
            self.zero.add(out)
        return known

    def branch(self, e: Equation) -> bool:
        if e.ins[0] in self.moving or not all(map(self.block, e.blocks)):
            return False
        for k, v in enumerate(e.outs):
            if v not in self.moving:
                continue
            ends = [b.results[k] for b in e.blocks]
            if is_array(v) and all(r in self.root for r in ends):
                if len({self.root[r] for r in ends}) > 1:
                    return False
                self.root[v] = self.root[ends[0]]
            elif all(self.is_none(r) and r not in self.root for r in ends):
                self.zero.add(v)
            else:
                return False
        return True

    # -- the loop that looks first -------------------------------------------------------------

    def rewritten(self) -> Equation:
        loop, body = self.loop, self.body
        b = Builder()
        env: Env = {}
        inits = [None, *loop.ins[3:]]
        params = [renew(p, a, env) for p, a in zip(body.params, inits, strict=True)]
        with b.block(*params, isolated=True) as new:
            b.pos = loop.pos
            looked: Atom = lit(0.0)
            for s in self.sources:
                if isinstance(s, Var):
                    looked = _add(b, looked, _size_of(b, read(s, env)))
            looked = _add(b, looked, self.look(b, body, dict(env)))
            some = b.emit("ne", looked, lit(0.0))
            with b.block() as moved:
                moved.results = copy_block(b, body, dict(env))
            with b.block() as none:
                none.results = self.results(b, body, body.results, dict(env))
            types = [v.type for v in loop.outs]
            new.results = list(structured(b, "if", (some,), (moved, none), types))
        return Equation("for", loop.ins, loop.outs, loop.params, (new,), loop.pos)

    def wanted(self, b: Builder, a: Atom, env: Env) -> Atom:
        """A place or an extent, which depends on no tangent, computed here."""
        if isinstance(a, Var) and a not in env and a in self.makers:
            e = self.makers[a]
            for x in (*e.ins, *free_vars(*e.blocks)):
                self.wanted(b, x, env)
            copy_equation(b, e, env)
        return read(a, env)

    def look(self, b: Builder, block: Block, env: Env) -> Atom:
        """The sum of the sizes of all that is read in a block, as it is before the iteration."""
        total: Atom = lit(0.0)
        sources = {id(s) for s in self.sources}
        for e in block.equations:
            b.pos = e.pos
            if id(e) in sources:
                at = [self.wanted(b, k, env) for k in e.ins[1:]]
                root = read(self.root[e.ins[0]], env)
                row = b.emit(e.op, root, *at, **e.params)
                total = _add(b, total, _size_of(b, row))
            elif e.op == "if" and any(id(x) in sources for y in e.blocks for x in walk(y)):
                test = self.wanted(b, e.ins[0], env)
                ways = []
                for inner in e.blocks:
                    with b.block() as new:
                        new.results = [self.look(b, inner, dict(env))]
                    ways.append(new)
                (found,) = structured(b, "if", (test,), tuple(ways), [Scalar("f8")])
                total = _add(b, total, found)
        return as_type(b, total, Scalar("f8"))

    def results(self, b: Builder, block: Block, wanted: Iterable[Atom], env: Env) -> list[Atom]:
        """What a block gives where it reads zeros only: zeros, in their places."""
        for e in block.equations:
            b.pos = e.pos
            if e.op in ("store", "store_slice") and e.ins[0] in self.root:
                at = [self.wanted(b, k, env) for k in e.ins[2:]]
                array, value = read(e.ins[0], env), self.nothing(b, e.ins[1], env)
                env[e.outs[0]] = b.emit(e.op, array, value, *at, **e.params)
            elif e.op in ("accum", "accum_slice") and e.ins[0] in self.root:
                env[e.outs[0]] = read(e.ins[0], env)
            elif e.op == "if" and any(v in self.root for v in e.outs):
                test = self.wanted(b, e.ins[0], env)
                which = [k for k, v in enumerate(e.outs) if v in self.root]
                ways = []
                for inner in e.blocks:
                    with b.block() as new:
                        ends = [inner.results[k] for k in which]
                        new.results = self.results(b, inner, ends, dict(env))
                    ways.append(new)
                types = [e.outs[k].type for k in which]
                outs = structured(b, "if", (test,), tuple(ways), types)
                env.update((e.outs[k], v) for k, v in zip(which, outs, strict=True))
        return [read(a, env) if a in self.root else self.nothing(b, a, env) for a in wanted]

    def nothing(self, b: Builder, a: Atom, env: Env) -> Atom:
        t = a.type
        if isinstance(t, Array):
            shape = [self.wanted(b, n, env) for n in a.shape]
            return b.emit("full", lit_zero(t.dtype), *shape, dtype=t.dtype)
        return as_type(b, lit_zero(t.dtype), t)  # type: ignore[union-attr]


def _element(a: Atom) -> Scalar:
    return Scalar(a.type.dtype) if isinstance(a.type, Array) else a.type  # type: ignore[return-value]


def _is_zero(a: Atom) -> bool:
    return isinstance(a, Lit) and bool(a.value == 0)


def _size(s: Equation | Atom) -> int:
    """How many numbers are looked at?"""
    shape = s.outs[0].shape if isinstance(s, Equation) else ()
    return prod(int(n.value) if isinstance(n, Lit) else _EACH for n in shape)


def _size_of(b: Builder, a: Atom) -> Atom:
    """Zero for a number, or an array, that is; for nan it is nan."""
    size = b.emit("abs", a)
    return b.emit("sum", size, axes=tuple(range(len(a.shape)))) if is_array(a) else size


def _add(b: Builder, total: Atom, a: Atom) -> Atom:
    return a if _is_zero(total) else b.emit("add", total, a)
