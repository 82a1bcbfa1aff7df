"""Can the entries of a sparse Jacobian be computed where the results are: row by row, in passing?

Where each number that a result is made of depends on a fixed, small number of inputs, its
derivatives by those are a handful of numbers.  They are computed beside it, by elimination on the
graph of partial derivatives (`sweeps.partials`), and go straight to their places among the
entries: no directions, no dense products, one run.  Two tapes are made by one walk over a plain
one.  That of the *places* says, for each number that is written to the result, to which *cell* it
is added, and by which inputs it is differentiated; it is made of ints only and is run once.  That
of the *values* computes the entries, given where each has its place.

A cell stands for an element of an array on its way to the result.  A store begins a new one, an
addition goes on with the one that is there; whatever moves elements moves the cells' numbers.
Where this can't be done (sums over all inputs, recurrences, decisions by floats about places),
`NotLocal` is raised, and colouring is there.

Source: preaccumulation of local Jacobians; Griewank & Walther, *Evaluating Derivatives*, ch. 10.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jitad.primitives import TABLE
from jitad.sparsity.elements import Known, element
from jitad.sparsity.places import Layout, NotLocal, Number, Site
from jitad.specialise.simplify import simplify
from jitad.sweeps.partials import Edges, Graph, eliminated
from jitad.sweeps.rules import factors
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_equation, read, renew, structured
from jitad.tape.flow import closure, differentiable_edge, predecessors, successors
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit, walk
from jitad.tape.types import INT, Array, Scalar, is_float
from jitad.values.number import in_rules

MOST = 64  # inputs of one number
_MOVING = ("load", "slice", "full", "take", "broadcast", "reshape", "transpose", "copy", "ident")
_WRITING = ("store", "accum", "store_slice", "accum_slice", "store_take", "accum_take")
_ONE, _ZERO = lit(1), lit(0)


@dataclass
class _Site:
    """A number or an array that goes to the result, in a place of the tape."""

    value: Var
    cells: Atom  # to which it is added
    loops: tuple[_Loop, ...]
    number: int
    batch: int = 0  # sites of one batch write in turn, in each iteration of the same loops


@dataclass(frozen=True)
class _Loop:
    iteration: Atom
    count: Atom


@dataclass
class _Streams:
    """Arrays that a block and the loops in it write to: their present versions."""

    versions: dict[int, Atom] = field(default_factory=dict)
    first: dict[int, Var] = field(default_factory=dict)


def places(tape: Tape, active: Sequence[int]) -> Tape:
    """The tape whose results are the cells of the result and, of each site in turn, its extents,
    the cells that it adds to and the inputs of each of its terms, an array of ints each.

    `active`: the parameters that are differentiated by, in the order in which they are counted.
    """
    return _made(tape, active, None)


def values(tape: Tape, active: Sequence[int], layout: Layout) -> Tape:
    """The tape that gives the entries; its last parameters are those of the layout."""
    return _made(tape, active, layout)


@in_rules
def _made(tape: Tape, active: Sequence[int], layout: Layout | None) -> Tape:
    b = Builder()
    env = begin(b, tape.body)
    walk_ = _Walk(b, tape, active, layout)
    results = walk_.run(tape.body, env)
    out = b.blocks[0]
    out.results = results
    made = simplify(Tape(tape.name, out, tape.pos))
    if layout is None:
        _refuse_floats(made)
    return made


class _Walk:
    def __init__(
        self, b: Builder, tape: Tape, active: Sequence[int], layout: Layout | None
    ) -> None:
        self.b, self.layout = b, layout
        self.active = [tape.body.params[k] for k in active]
        edges = successors(predecessors(tape.body, differentiable_edge))
        self.varied = closure(self.active, edges)
        self.uses = Counter(
            a for e in walk(tape.body) for inner in (e.ins, *(k.results for k in e.blocks))
            for a in inner if isinstance(a, Var) and e.op != "dim"
        )  # fmt: skip
        self.uses.update(a for a in tape.body.results if isinstance(a, Var))
        self.dtype = self.active[0].type.dtype  # type: ignore[union-attr]
        self.graph: Graph = {}
        self.inputs: dict[Var, Atom] = {}  # their numbers among all inputs
        self.cells: dict[Var, Atom] = {}  # of the elements of arrays that are written to
        self.loops: tuple[_Loop, ...] = ()
        self.pending: list[list[_Site]] = [[]]
        self.streams = [_Streams()]
        self.sites = self.batches = 0
        self.next: Atom = _ONE  # the first cell that is free
        self.outer: set[Var] = set(b.blocks[0].params)
        self.results: dict[int, tuple[int, int, int]] = {}
        self.adds = self.shares = False  # additions to cells; cells that stand in two places

    def run(self, body: Block, env: Env) -> list[Atom]:
        b = self.b
        first: Atom = _ZERO
        for p in self.active:
            x = env[p]
            assert isinstance(x, Var)
            self.inputs[x] = self.numbered(x, first)
            first = b.emit("add", first, self.size(x))
        if self.layout is not None:
            self.places = [b.input(t, "place") for t in self.layout.types]
            size = b.emit("load", self.places[0], _ZERO)
            made = b.emit("full", _zero(self.dtype), size, dtype=self.dtype)
            if self.layout.covered:
                made = b.emit("blank", size, dtype=self.dtype, zero=self.layout.zero)
            self.stream(0, made)
        self.block(body, env)
        (result,) = body.results
        if result not in self.varied:
            raise NotLocal("a result that depends on nothing")
        assert isinstance(result, Var)
        cells = self.cells_of(result, env)
        self.settle()
        if self.adds and self.shares:
            raise NotLocal("an array that is added to has another use")
        versions = self.streams[0].versions
        if self.layout is not None:
            return [versions[0]]
        keys = (k for number in range(self.sites) for k in self.results[number])
        return [cells, *(versions[k] for k in keys)]

    def block(self, block: Block, env: Env) -> None:
        for e in block.equations:
            self.step(e, env)

    # -- equations --------------------------------------------------------------------------------

    def step(self, e: Equation, env: Env) -> None:
        b = self.b
        b.pos = e.pos
        if not any(v in self.varied for v in e.outs):
            copy_equation(b, e, env)
            return
        if e.op == "for":
            self.loop(e, env)
        elif e.op == "if":
            self.branch(e, env)
        elif e.blocks or e.op not in TABLE:
            raise NotLocal(e.op)
        elif e.op in _WRITING:
            self.write(e, env)
        elif e.op == "concatenate":
            self.concatenate(e, env)
        elif e.op == "pack":
            self.pack(e, env)
        else:
            copy_equation(b, e, env)
            self.differentiate(e, env)

    def differentiate(self, e: Equation, env: Env) -> None:
        row = TABLE[e.op]
        if len(e.outs) > 1:
            raise NotLocal(e.op)
        out = env[e.outs[0]]
        if not isinstance(out, Var) or out in self.graph or out in self.inputs:
            return
        ins = [read(a, env) for a in e.ins]
        varied = [isinstance(a, Var) and a in self.varied for a in e.ins]
        if row.elementwise and row.partials is not None:
            if any(v and a in self.cells for v, a in zip(varied, ins, strict=True)):
                raise NotLocal("what is written to is read")
            edges: Edges = {}
            found = factors(self.b, e, ins, out, [v and self.moves(a) for v, a in
                                                  zip(varied, ins, strict=True)])  # fmt: skip
            for a, p in zip(ins, found, strict=True):
                if p is not None and isinstance(a, Var):
                    edges[a] = p
            self.graph[out] = edges
        elif e.op in _MOVING:
            self.move(e, ins, out)
        else:
            raise NotLocal(e.op)

    def moves(self, a: Atom) -> bool:
        return isinstance(a, Var) and (a in self.graph or a in self.inputs)

    def move(self, e: Equation, ins: list[Atom], out: Var) -> None:
        """What moves elements moves the numbers of inputs, and factors."""
        b, a = self.b, ins[0]
        assert isinstance(a, Var)

        def moved(x: Atom) -> Atom:
            return b.emit(e.op, x, *ins[1:], **e.params) if isinstance(x.type, Array) else x

        if a in self.cells:
            if e.op == "load":
                raise NotLocal("what is written to is read")
            self.shares |= e.op in ("take", "broadcast") or self.uses[e.ins[0]] > 1
            self.cells[out] = moved(self.cells[a])
            return
        if not self.moves(a):
            return
        if not isinstance(a.type, Array):
            self.graph[out] = {a: _one(a)}
            return
        if a in self.inputs:
            self.inputs[out] = moved(self.inputs[a])
            return
        edges: Edges = {}
        for u, c in self.terms(a).items():
            at = moved(self.inputs[u])
            known = b.known(("input", at))
            if known is None:
                # a stand-in with the type of what is read: nobody asks for its value
                (u_,) = known = (Var(out.type, out.shape if isinstance(at.type, Array) else ()),)
                if not isinstance(at.type, Array):
                    u_.type = Scalar(out.type.dtype)  # type: ignore[union-attr]
                b.remember(("input", at), known)
                self.inputs[u_] = at
            u_ = known[0]
            edges[u_] = moved(c) if u_ not in edges else b.emit("add", edges[u_], moved(c))
        self.graph[out] = edges

    def terms(self, v: Var) -> Edges:
        """The derivatives of a variable by the inputs that it depends on."""
        (edges,) = eliminated(self.b, self.graph, [v], self.inputs.__contains__)
        return edges

    # -- what is written to -----------------------------------------------------------------------

    def write(self, e: Equation, env: Env) -> None:
        """A store begins new cells; an addition goes to the cells that are there."""
        b = self.b
        copy_equation(b, e, env)
        a, v, *at = e.ins
        out, (old, value, *where) = env[e.outs[0]], [read(x, env) for x in e.ins]
        assert isinstance(out, Var)
        before = self.cells_of(a, env)
        part = e.op.removeprefix("store").removeprefix("accum")
        varied = v in self.varied and self.moves(value)
        if v in self.varied and not varied and value in self.cells:
            raise NotLocal("what is written to is read")
        if e.op.startswith("accum"):
            self.adds = True
            self.cells[out] = before
            if varied:
                there = b.emit({"": "load", "_slice": "slice", "_take": "take"}[part],
                               before, *where, **e.params)  # fmt: skip
                self.site(self.shaped(value, there), there)
            return
        if varied:
            there = b.emit({"": "load", "_slice": "slice", "_take": "take"}[part],
                           before, *where, **e.params)  # fmt: skip
            value = self.shaped(value, there)
        new = self.site(value) if varied else _ZERO
        self.cells[out] = b.emit(e.op, before, new, *where, **e.params)

    def shaped(self, value: Atom, like: Atom) -> Var:
        """A number that is written to many places, as an array of them."""
        assert isinstance(value, Var)
        if not isinstance(like.type, Array) or isinstance(value.type, Array):
            return value
        out = self.b.emit("broadcast", value, *like.shape, axes=())
        self.graph[out] = {value: _one(value)}
        return out  # type: ignore[no-any-return]

    def concatenate(self, e: Equation, env: Env) -> None:
        cells = [self.cells_of(a, env) for a in e.ins[:-1]]
        copy_equation(self.b, e, env)
        out = env[e.outs[0]]
        assert isinstance(out, Var)
        self.cells[out] = self.b.emit("concatenate", *cells, read(e.ins[-1], env), **e.params)

    def pack(self, e: Equation, env: Env) -> None:
        copy_equation(self.b, e, env)
        out = env[e.outs[0]]
        assert isinstance(out, Var)
        if len(self.loops):
            raise NotLocal("a vector made in a loop")
        cells = []
        for a in e.ins:
            v = read(a, env)
            varied = isinstance(a, Var) and a in self.varied and self.moves(v)
            cells.append(self.site(v) if varied and isinstance(v, Var) else _ZERO)
        self.cells[out] = self.b.emit("pack", *cells)

    def cells_of(self, a: Atom, env: Env) -> Atom:
        """The numbers of the cells that the elements of an array are."""
        b, new = self.b, read(a, env)
        if isinstance(new, Var) and new in self.cells:
            self.shares |= isinstance(a, Var) and self.uses[a] > 1
            return self.cells[new]
        if isinstance(new, Var) and a in self.varied and self.moves(new):
            return self.site(new)
        if self.loops or len(b.blocks) > 1:
            raise NotLocal("an array of an iteration is written to")
        return self.numbered(new, self.reserve(self.size(new)))

    def numbered(self, like: Atom, first: Atom) -> Atom:
        """The elements counted by rows."""
        if not isinstance(like.type, Array):
            return first
        b = self.b
        numbers = b.emit("add", b.emit("iota", self.size(like), dtype="i8"), first)
        return numbers if _flat(like) else b.emit("reshape", numbers, *like.shape)

    def size(self, a: Atom) -> Atom:
        out: Atom = _ONE
        for n in a.shape:
            out = self.b.emit("mul", out, n)
        return out

    def reserve(self, count: Atom) -> Atom:
        """So many cells; the number of the first."""
        first = self.next
        with self.b.at_root():
            self.next = self.b.emit("add", first, count)
        return first

    def around(self, size: Atom) -> Atom:
        """How many there are of what has this size, in all iterations."""
        for loop in self.loops:
            size = self.b.emit("mul", size, loop.count)
        return size

    def at(self) -> Atom:
        """The number of the present iteration among all."""
        b, out = self.b, _ZERO
        for loop in self.loops:
            out = b.emit("add", b.emit("mul", out, loop.count), loop.iteration)
        return out

    def site(self, value: Var, cells: Atom | None = None) -> Atom:
        """Note that a value goes to these cells, or to new ones; gives them."""
        b = self.b
        size = self.size(value)
        if cells is None:
            if isinstance(size, Var) and not self.is_outer(size):
                raise NotLocal("the size of an array differs between iterations")
            with b.at_root():
                total = self.around(size)
            first = b.emit("add", self.reserve(total), b.emit("mul", self.at(), size))
            cells = self.numbered(value, first)
        self.pending[-1].append(_Site(value, cells, self.loops, self.sites))
        self.sites += 1
        return cells

    def is_outer(self, a: Atom) -> bool:
        """Is it known before all loops?"""
        return isinstance(a, Lit) or a in self.b.blocks[0].params or any(
            a in e.outs for e in self.b.blocks[0].equations)  # fmt: skip

    # -- what a site writes -----------------------------------------------------------------------

    def settle(self) -> None:
        """Write the terms of the sites in the block that is about to be closed."""
        sites, self.pending[-1] = self.pending[-1], []
        if not sites:
            return
        found = eliminated(
            self.b, self.graph, [s.value for s in sites], self.inputs.__contains__
        )
        shapes = list(dict.fromkeys(s.value.shape for s in sites))
        for s in sites:
            s.batch = self.batches + shapes.index(s.value.shape)
        self.batches += len(shapes)
        if any(len(edges) > MOST for edges in found):
            raise NotLocal("a number depends on too many inputs")
        if self.layout is not None:
            self.write_values(list(zip(sites, found, strict=True)))
            return
        for s, edges in zip(sites, found, strict=True):
            self.write_places(s, [self.inputs[u] for u in edges])

    def write_places(self, s: _Site, terms: list[Atom]) -> None:
        """The cells of the site, then the inputs of its terms, one term after the other."""
        b, size = self.b, self.size(s.value)
        with b.at_root():
            total = self.around(size)
            every = b.emit("mul", total, lit(len(terms)))
            keys = (2 * s.number, 2 * s.number + 1)
            shape = [*(loop.count for loop in s.loops), *s.value.shape]
            about = (s.batch, len(s.loops), len(terms))
            extents = b.emit("pack", *map(lit, about), *shape)
            for key, n in zip(keys, (total, every), strict=True):
                self.stream(key, b.emit("full", _ZERO, n, dtype="i8"))
            self.stream(-1 - s.number, extents)
        self.results[s.number] = (-1 - s.number, *keys)
        at = self.at()
        self.put(keys[0], s.cells, at, size)
        first = b.emit("mul", at, lit(len(terms)))
        for k, number in enumerate(terms):
            self.put(keys[1], number, b.emit("add", first, lit(k)), size, s.value)

    def put(self, key: int, v: Atom, at: Atom, size: Atom, like: Atom | None = None) -> None:
        b, old = self.b, self.version(key)
        like = like if like is not None else v
        if not isinstance(like.type, Array):
            self.update(key, b.emit("store", old, v, at))
            return
        start = b.emit("mul", at, size)
        self.update(key, b.emit("store_slice", old, self.flat(v, like, size), start, _ONE, size,
                                kinds="r"))  # fmt: skip

    def flat(self, v: Atom, like: Atom, size: Atom) -> Atom:
        """The elements of an array, or a number as often as the other has elements."""
        if isinstance(v, Lit):
            dtype = v.type.dtype
            return self.b.emit("full", v, size, dtype=dtype)
        if not isinstance(v.type, Array):
            return self.b.emit("broadcast", v, size, axes=())
        return v if _flat(v) else self.b.emit("reshape", v, size)

    def write_values(self, found: list[tuple[_Site, Edges]]) -> None:
        """Each term to its place; arrays of equal extents in one loop over their elements."""
        together: dict[tuple[Atom, ...], list[tuple[_Site, list[Atom]]]] = {}
        for s, edges in found:
            together.setdefault(s.value.shape, []).append((s, list(edges.values())))
        for shape, sites in together.items():
            self.each(shape, (), sites)

    def each(
        self, shape: tuple[Atom, ...], index: tuple[Atom, ...],
        sites: list[tuple[_Site, list[Atom]]],
    ) -> None:  # fmt: skip
        b = self.b
        if shape:
            i = Var(INT, (), "i")
            with b.block(i) as new, self.inside() as streams:
                around, self.loops = self.loops, (*self.loops, _Loop(i, shape[0]))
                self.each(shape[1:], (*index, i), sites)
                self.loops = around
            self.close([_ZERO, _ONE, shape[0]], new, [], streams, {})
            return
        assert self.layout is not None
        known: Known = {}
        for s, terms in sites:
            plan = self.layout.sites[s.number]
            for k, c in enumerate(terms):
                c = self.cast(element(b, c, index, known))
                if plan.table is not None:
                    self.add_by_table(plan, k, c)
                    continue
                at = self.number(plan.first[k])
                for loop, step in zip(self.loops, plan.strides, strict=True):
                    at = b.emit("add", at, b.emit("mul", loop.iteration, self.number(step)))
                op = "store" if plan.alone[k] else "accum"
                self.update(0, b.emit(op, self.version(0), c, at))

    def add_by_table(self, plan: Site, k: int, c: Atom) -> None:
        """What comes first to a place is stored: its number is complemented in the table."""
        b, old = self.b, self.version(0)
        column, distance = plan.columns[k]
        at = b.emit("add", b.emit("mul", self.at(), lit(plan.width)), lit(column))
        at = b.emit("load", self.places[plan.table or 0], at)
        at = b.emit("cast", at, dtype="i8", py=True)
        is_first = b.emit("lt", at, _ZERO)
        if any(not alone and plan.columns[j][0] == column for j, alone in enumerate(plan.alone)):
            at = b.emit("where", is_first, b.emit("sub", lit(-1), at), at)
        at = b.emit("add", at, lit(distance))
        if not plan.alone[k]:
            before = b.emit("where", is_first, _zero(self.dtype), b.emit("load", old, at))
            c = b.emit("add", before, c)
        self.update(0, b.emit("store", old, c, at))

    def cast(self, c: Atom) -> Atom:
        if c.type.dtype == self.dtype:  # type: ignore[union-attr]
            return c
        return self.b.emit("cast", c, dtype=self.dtype)  # type: ignore[no-any-return]

    def number(self, n: Number) -> Atom:
        """A number of the layout: written out, or read from its parameter."""
        if n.at is None:
            return lit(n.value)
        b = self.b
        with b.at_root():  # as an exact integer: what is known of sums counts for it
            known = b.emit("cast", b.emit("load", self.places[0], lit(n.at)), dtype="i8", py=True)
            return b.emit("add", known, lit(n.value))  # type: ignore[no-any-return]

    # -- arrays that go through loops -------------------------------------------------------------

    def stream(self, key: int, start: Atom) -> None:
        self.streams[0].versions[key] = start

    def version(self, key: int, depth: int = -1) -> Atom:
        """The present version in a block; what comes from outside enters as a parameter."""
        depth %= len(self.streams)
        s = self.streams[depth]
        if key not in s.versions:
            outside = self.version(key, depth - 1)
            s.first[key] = Var(outside.type, outside.shape, "")
            s.versions[key] = s.first[key]
        return s.versions[key]

    def update(self, key: int, new: Atom) -> None:
        self.streams[-1].versions[key] = new

    # -- control ----------------------------------------------------------------------------------

    def loop(self, e: Equation, env: Env) -> None:
        b, (body,) = self.b, e.blocks
        which = [k for k, v in enumerate(e.outs) if v in self.varied]
        if not all(isinstance(e.outs[k].type, Array) for k in which):
            raise NotLocal("a number goes from iteration to iteration")
        ins = [read(a, env) for a in e.ins]
        start, step, count = ins[:3]
        if not self.is_outer(count):
            raise NotLocal("a loop whose length depends on another")
        companions = [self.cells_of(e.ins[3 + k], env) for k in which]
        self.resolve(e.blocks, env)
        params = [renew(p, a, env) for p, a in zip(body.params, [None, *ins[3:]], strict=True)]
        twins = [Var(c.type, c.shape, "") for c in companions]
        for k, twin in zip(which, twins, strict=True):
            self.cells[params[1 + k]] = twin
        loops = self.loops
        with b.block(*params, *twins) as new:
            with self.inside() as streams:
                at = b.emit("sub", params[0], start)
                at = at if step == _ONE else b.emit("floordiv", at, step)
                with b.at_root():
                    count = b.emit("maximum", count, _ZERO)
                self.loops = (*loops, _Loop(at, count))
                self.block(body, env)
                new.results = [read(a, env) for a in body.results]
                new.results += [self.cells_of(body.results[k], env) for k in which]
                self.settle()
                self.loops = loops
        given = [*ins, *companions]
        types = [v.type for v in e.outs] + [t.type for t in twins]
        outs = self.close(given, new, types, streams, e.params)
        env.update(zip(e.outs, outs, strict=False))
        for k, c in zip(which, outs[len(e.outs) :], strict=False):
            out = outs[k]
            assert isinstance(out, Var)
            self.cells[out] = c

    def close(
        self, ins: list[Atom], body: Block, types: list[Any], streams: _Streams,
        params: dict[str, Any],
    ) -> tuple[Atom, ...]:  # fmt: skip
        """A loop, with the arrays that are written to in it; its results without those."""
        keys, own = list(streams.first), len(types)
        body.params += streams.first.values()
        body.results += (streams.versions[key] for key in keys)
        given = [self.version(key) for key in keys]
        types = [*types, *(streams.first[key].type for key in keys)]
        outs = structured(self.b, "for", (*ins, *given), (body,), types, params)
        for key, v in zip(keys, outs[own:], strict=True):
            self.update(key, v)
        return outs[:own]

    @contextmanager
    def inside(self) -> Iterator[_Streams]:
        self.pending.append([])
        self.streams.append(_Streams())
        try:
            yield self.streams[-1]
        finally:
            self.pending.pop()
            self.streams.pop()

    def resolve(self, blocks: Sequence[Block], env: Env) -> None:
        """Of what is used in a loop, the derivatives by inputs are made before it."""
        for v in free_vars(*blocks):
            a = env.get(v)
            if v in self.varied and isinstance(a, Var) and a in self.graph:
                self.graph[a] = self.terms(a)

    def branch(self, e: Equation, env: Env) -> None:
        """Each side gives its derivatives by what comes from outside, and by what it reads."""
        b = self.b
        which = [k for k, v in enumerate(e.outs) if v in self.varied]
        if any(isinstance(e.outs[k].type, Array) for k in which):
            raise NotLocal("an array is chosen")
        test = read(e.ins[0], env)
        outside = set(self.graph) | set(self.inputs)
        blocks, sides = [], []
        for block in e.blocks:
            with b.block() as new, self.inside():
                self.block(block, env)
                results = [read(a, env) for a in block.results]
                if self.pending[-1]:
                    raise NotLocal("whether something is written is chosen")
                at = [results[k] for k in which]
                moving = [a for a in at if isinstance(a, Var) and self.moves(a)]
                found = dict(zip(moving, eliminated(
                    b, self.graph, moving, lambda v: v in outside or v in self.inputs),
                    strict=True))  # fmt: skip
                sides.append([found.get(a, {}) if isinstance(a, Var) else {} for a in at])
                new.results = results
            blocks.append(new)
        pairs: list[tuple[int, Var]] = []  # which result by what
        for j, (one, other) in enumerate(zip(*sides, strict=True)):
            pairs += [(j, u) for u in {**one, **other}]
        inner = list(dict.fromkeys(u for _, u in pairs if u not in outside))
        for new, side in zip(blocks, sides, strict=True):
            made = {u for edges in side for u in edges}
            for j, u in pairs:
                c = side[j].get(u)
                new.results.append(c if c is not None else _zero(u.type.dtype))  # type: ignore[union-attr]
            new.results += [self.inputs[u] if u in made else lit(-1) for u in inner]
        types: list[Any] = [v.type for v in e.outs]
        types += [Scalar(e.outs[which[j]].type.dtype) for j, _ in pairs]  # type: ignore[union-attr]
        types += [INT for _ in inner]
        outs = structured(b, "if", (test,), tuple(blocks), types, e.params)
        env.update(zip(e.outs, outs, strict=False))
        rest = outs[len(e.outs) :]
        twins: dict[Var, Var] = {}
        for u, at in zip(inner, rest[len(pairs) :], strict=True):
            twins[u] = Var(u.type)
            self.inputs[twins[u]] = at
        for (j, u), c in zip(pairs, rest, strict=False):
            out = outs[which[j]]
            assert isinstance(out, Var)
            missing = [u not in side[j] for side in sides]
            zero = _zero(c.type.dtype)  # type: ignore[union-attr]
            if missing[0]:
                c = b.emit("where", test, zero, c)
            elif missing[1]:
                c = b.emit("where", test, c, zero)
            self.graph.setdefault(out, {})[twins.get(u, u)] = c


def _one(a: Atom) -> Lit:
    dtype = a.type.dtype  # type: ignore[union-attr]
    return lit(1.0) if dtype == "f8" else lit(np.dtype(dtype).type(1))


def _flat(a: Atom) -> bool:
    return len(a.shape) == 1


def _zero(dtype: str) -> Lit:
    from jitad.tape.copy import lit_zero

    return lit_zero(dtype)


def _refuse_floats(tape: Tape) -> None:
    """Places must be the same whatever the floats are."""
    from jitad.tape.dead import remove_dead

    def silent(block: Block) -> Block:
        kept = [
            Equation(e.op, e.ins, e.outs, e.params, tuple(map(silent, e.blocks)), e.pos)
            for e in block.equations if e.op not in ("check", "print")
        ]  # fmt: skip
        return Block(block.params, kept, block.results)

    for e in walk(remove_dead(silent(tape.body))):
        if e.op != "dim" and any(is_float(a.type) for a in (*e.ins, *e.outs)):
            raise NotLocal("floats decide where something goes")
