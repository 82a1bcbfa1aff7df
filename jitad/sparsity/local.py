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

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from jitad.primitives import TABLE
from jitad.sparsity.additions import uses
from jitad.sparsity.places import Layout, NotLocal
from jitad.sparsity.writing import MOST, ONE, ZERO, Loop, Streams, Writing, one
from jitad.specialise.simplify import simplify
from jitad.sweeps.partials import Edges, eliminated
from jitad.sweeps.rules import factors
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_equation, lit_zero, read, renew, structured
from jitad.tape.dead import remove_dead
from jitad.tape.flow import closure, differentiable_edge, predecessors, successors
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit, walk
from jitad.tape.types import INT, Array, Scalar, is_float
from jitad.values.number import in_rules

_MOVING = ("load", "slice", "full", "take", "broadcast", "reshape", "transpose", "copy", "ident")
_WRITING = ("store", "accum", "store_slice", "accum_slice", "store_take", "accum_take")


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
    out = b.blocks[0]
    out.results = _Walk(b, tape, active, layout).run(tape.body, env)
    made = simplify(Tape(tape.name, out, tape.pos))
    if layout is None:
        _refuse_floats(made)
    return made


class _Walk(Writing):
    def __init__(
        self, b: Builder, tape: Tape, active: Sequence[int], layout: Layout | None
    ) -> None:
        self.active = [tape.body.params[k] for k in active]
        super().__init__(b, layout, self.active[0].type.dtype)  # type: ignore[union-attr]
        edges = successors(predecessors(tape.body, differentiable_edge))
        self.varied = closure(self.active, edges)
        self.uses = uses(tape.body)
        self.cells: dict[Var, Atom] = {}  # of the elements of arrays that are written to
        self.unread: dict[Var, Callable[[], Edges]] = {}  # terms of those, should they be read
        self.next: Atom = ONE  # the first cell that is free
        self.adds: set[Atom] = set()  # the cells of arrays that are added to
        self.shares: set[Atom] = set()  # of arrays that stand in two places
        self.leaders: dict[Atom, Atom] = {}  # of cells that have come from one another

    def run(self, body: Block, env: Env) -> list[Atom]:
        b = self.b
        first: Atom = ZERO
        for p in self.active:
            x = env[p]
            assert isinstance(x, Var)
            self.inputs[x] = self.numbered(x, first)
            first = b.emit("add", first, self.size(x))
        self.begin()
        self.block(body, env)
        (result,) = body.results
        if result not in self.varied:
            raise NotLocal("a result that depends on nothing")
        assert isinstance(result, Var)
        cells = self.cells_of(result, env)
        self.settle()
        if {*map(self.leader, self.adds)} & {*map(self.leader, self.shares)}:
            raise NotLocal("an array that is added to has another use")
        return self.written() if self.layout is not None else [cells, *self.written()]

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
            wanted = [v and self.moves(a) for v, a in zip(varied, ins, strict=True)]
            if any(a in self.cells and v and not w
                   for a, v, w in zip(ins, varied, wanted, strict=True)):  # fmt: skip
                raise NotLocal("what is written to is read")
            edges: Edges = {}
            found = factors(self.b, e, ins, out, wanted)
            for a, p in zip(ins, found, strict=True):
                if p is not None and isinstance(a, Var):
                    edges[a] = p
            self.graph[out] = edges
        elif e.op in _MOVING:
            self.move(e, ins, out)
        else:
            raise NotLocal(e.op)

    def moves(self, a: Atom) -> bool:
        """Are the derivatives of a variable known?  Those of what was written to are made now, if
        there are not too many."""
        if isinstance(a, Var) and a in self.unread:
            made = self.unread.pop(a)
            with self.b.at_root(), suppress(NotLocal):
                self.graph[a] = made()
        return isinstance(a, Var) and (a in self.graph or a in self.inputs)

    def move(self, e: Equation, ins: list[Atom], out: Var) -> None:
        """What moves elements moves the numbers of inputs, and factors; and cells."""
        a = ins[0]
        assert isinstance(a, Var)
        if a in self.cells and e.op != "load":
            cells = self.b.emit(e.op, self.cells[a], *ins[1:], **e.params)
            self.enter(out, cells, self.cells[a])
            if e.op in ("take", "broadcast") or (
                    isinstance(e.ins[0], Var) and self.uses[e.ins[0]] > 1):  # fmt: skip
                self.shares.add(cells)
        if not self.moves(a):
            if a in self.cells and e.op == "load":
                raise NotLocal("what is written to is read")
            return
        self.move_terms(e, ins, a, out)

    def move_terms(self, e: Equation, ins: list[Atom], a: Var, out: Var) -> None:
        b = self.b

        def moved(x: Atom) -> Atom:
            return b.emit(e.op, x, *ins[1:], **e.params) if isinstance(x.type, Array) else x

        if not isinstance(a.type, Array):
            self.graph[out] = {a: one(a)}
            return
        if a in self.inputs:
            self.inputs[out] = moved(self.inputs[a])
            return
        edges: Edges = {}
        for u, c in self.terms(a).items():
            v = self.input(moved(self.inputs[u]), out)
            edges[v] = moved(c) if v not in edges else b.emit("add", edges[v], moved(c))
        self.graph[out] = edges

    def input(self, at: Atom, like: Var) -> Var:
        """A stand-in for inputs with these numbers: nobody asks for its value."""
        known = self.b.known(("input", at))
        if known is None:
            dtype = like.type.dtype  # type: ignore[union-attr]
            is_array = isinstance(at.type, Array)
            known = (Var(like.type if is_array else Scalar(dtype), like.shape if is_array else ()),)
            self.b.remember(("input", at), known)
            self.inputs[known[0]] = at
        return known[0]

    def terms(self, v: Var) -> Edges:
        """The derivatives of a variable by the inputs that it depends on."""
        (edges,) = eliminated(self.b, self.graph, [v], self.inputs.__contains__)
        return edges

    # -- what is written to -----------------------------------------------------------------------

    def write(self, e: Equation, env: Env) -> None:
        """A store begins new cells; an addition goes to the cells that are there."""
        b = self.b
        copy_equation(b, e, env)
        a, v = e.ins[:2]
        out, (value, *where) = env[e.outs[0]], [read(x, env) for x in e.ins[1:]]
        assert isinstance(out, Var)
        before = self.cells_of(a, env)
        part = e.op.removeprefix("store").removeprefix("accum")
        if len(b.blocks) == 1 and e.op != "accum_take":
            self.unread[out] = lambda: self.written_terms(e, [read(x, env) for x in e.ins], out)
        varied = v in self.varied and self.moves(value)
        if v in self.varied and not varied and value in self.cells:
            raise NotLocal("what is written to is read")
        there = b.emit({"": "load", "_slice": "slice", "_take": "take"}[part],
                       before, *where, **e.params)  # fmt: skip
        if e.op.startswith("accum"):
            self.adds.add(before)
            self.enter(out, before)
            if varied:
                self.note(self.shaped(value, there), there)
            return
        new = self.site(self.shaped(value, there)) if varied else self.new_cells(there)
        self.enter(out, b.emit(e.op, before, new, *where, **e.params), before, new)

    def written_terms(self, e: Equation, ins: list[Atom], out: Var) -> Edges:
        """The terms of an array that a part was stored or added to, for those who read it: in the
        part those of the part (input -1 elsewhere), elsewhere those of the array before."""
        b, (a, v, *where) = self.b, ins
        dtype = out.type.dtype  # type: ignore[union-attr]
        edges: Edges = {}
        for x, is_part in ((a, False), (v, True)):
            if not (isinstance(x, Var) and self.moves(x)):
                if x in self.cells:
                    raise NotLocal("what is written to is read")
                continue
            for u, c in self.terms(x).items():
                number, factor = self.inputs[u], c
                if is_part:
                    store = "store" + e.op[5:]
                    none = b.emit("full", lit(-1), *out.shape, dtype="i8")
                    number = b.emit(store, none, number, *where, **e.params)
                    zeros = b.emit("full", lit_zero(dtype), *out.shape, dtype=dtype)
                    factor = b.emit(store, zeros, factor, *where, **e.params)
                elif e.op.startswith("store"):
                    number, factor = self.full(number, out, "i8"), self.full(factor, out, dtype)
                    number = b.emit(e.op, number, lit(-1), *where, **e.params)
                    factor = b.emit(e.op, factor, lit_zero(dtype), *where, **e.params)
                edges[self.input(number, out)] = factor
        if len(edges) > MOST:
            raise NotLocal("a number depends on too many inputs")
        return edges

    def full(self, x: Atom, like: Var, dtype: str) -> Atom:
        """A number as an array; an array as it is."""
        if isinstance(x.type, Array):
            return x
        if isinstance(x, Lit):
            return self.b.emit("full", x, *like.shape, dtype=dtype)
        return self.b.emit("broadcast", x, *like.shape, axes=())

    def shaped(self, value: Atom, like: Atom) -> Var:
        """A number that is written to many places, as an array of them."""
        assert isinstance(value, Var)
        if not isinstance(like.type, Array) or isinstance(value.type, Array):
            return value
        out = self.b.emit("broadcast", value, *like.shape, axes=())
        self.graph[out] = {value: one(value)}
        return out

    def concatenate(self, e: Equation, env: Env) -> None:
        cells = [self.cells_of(a, env) for a in e.ins[:-1]]
        copy_equation(self.b, e, env)
        out = env[e.outs[0]]
        assert isinstance(out, Var)
        joined = self.b.emit("concatenate", *cells, read(e.ins[-1], env), **e.params)
        self.enter(out, joined, *cells)

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
            is_site = varied and isinstance(v, Var)
            cells.append(self.site(v) if is_site else self.new_cells(v))  # type: ignore[arg-type]
        self.cells[out] = self.b.emit("pack", *cells)

    def cells_of(self, a: Atom, env: Env) -> Atom:
        """The numbers of the cells that the elements of an array are."""
        b, new = self.b, read(a, env)
        if isinstance(new, Var) and new in self.cells:
            if isinstance(a, Var) and self.uses[a] > 1:
                self.shares.add(self.cells[new])
            return self.cells[new]
        if isinstance(new, Var) and a in self.varied and self.moves(new):
            return self.site(new)
        if self.loops or len(b.blocks) > 1:
            raise NotLocal("an array of an iteration is written to")
        return self.new_cells(new)

    def reserve(self, count: Atom) -> Atom:
        """So many cells; the number of the first."""
        first = self.next
        with self.b.at_root():
            self.next = self.b.emit("add", first, count)
        return first

    def site(self, value: Var) -> Atom:
        """Note that a value goes to new cells; gives them."""
        cells = self.new_cells(value)
        self.note(value, cells)
        return cells

    def new_cells(self, like: Atom) -> Atom:
        """A cell for each element, others in each iteration.  What depends on nothing has cells,
        too: something may be added to it."""
        b = self.b
        size = self.size(like)
        if not self.is_outer(size):
            raise NotLocal("the size of an array differs between iterations")
        with b.at_root():
            total = self.around(size)
        first = b.emit("add", self.reserve(total), b.emit("mul", self.at(), size))
        return self.numbered(like, first)

    def enter(self, out: Var, cells: Atom, *made_of: Atom) -> None:
        self.cells[out] = cells
        for other in made_of:
            self.leaders[self.leader(other)] = self.leader(cells)

    def leader(self, cells: Atom) -> Atom:
        while self.leaders.get(cells, cells) is not cells:
            cells = self.leaders[cells]
        return cells

    def is_outer(self, a: Atom) -> bool:
        """Is it known before all loops?"""
        root = self.b.blocks[0]
        return isinstance(a, Lit) or a in root.params or any(a in e.outs for e in root.equations)

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
        for k, twin, c in zip(which, twins, companions, strict=True):
            self.enter(params[1 + k], twin, c)
        loops = self.loops
        with b.block(*params, *twins) as new:
            with self.inside() as streams:
                at = b.emit("sub", params[0], start)
                at = at if step == ONE else b.emit("floordiv", at, step)
                with b.at_root():
                    count = b.emit("maximum", count, ZERO)
                self.loops = (*loops, Loop(at, count))
                self.block(body, env)
                new.results = [read(a, env) for a in body.results]
                new.results += [self.cells_of(body.results[k], env) for k in which]
                self.settle()
                self.loops = loops
        given = [*ins, *companions]
        types = [v.type for v in e.outs] + [t.type for t in twins]
        outs = self.close(given, new, types, streams, e.params)
        env.update(zip(e.outs, outs, strict=False))
        ends = new.results[len(e.outs) : len(e.outs) + len(which)]
        for k, c, twin, end in zip(which, outs[len(e.outs) :], twins, ends, strict=False):
            out = outs[k]
            assert isinstance(out, Var)
            self.enter(out, c, twin, end)

    def resolve(self, blocks: Sequence[Block], env: Env) -> None:
        """Of what is used in a loop, the derivatives by inputs are made before it."""
        for v in free_vars(*blocks):
            a = env.get(v)
            if v in self.varied and isinstance(a, Var) and a in self.graph:
                self.graph[a] = self.terms(a)

    def branch(self, e: Equation, env: Env) -> None:
        """Each side gives its derivatives by what comes from outside, and by what it reads; what
        it writes it writes itself."""
        b = self.b
        varied = [k for k, v in enumerate(e.outs) if v in self.varied]
        which = [k for k in varied if not isinstance(e.outs[k].type, Array)]
        arrays = [k for k in varied if k not in which]
        test = read(e.ins[0], env)
        outside = set(self.graph) | set(self.inputs)
        blocks, sides, written = [], [], []
        for block in e.blocks:
            with b.block() as new, self.inside(Streams(is_branch=True)) as streams:
                self.block(block, env)
                results = [read(a, env) for a in block.results]
                cells = [self.cells_of(block.results[k], env) for k in arrays]
                self.settle()
                at = [results[k] for k in which]
                moving = [a for a in at if isinstance(a, Var) and self.moves(a)]
                found = dict(zip(moving, eliminated(
                    b, self.graph, moving, lambda v: v in outside or v in self.inputs),
                    strict=True))  # fmt: skip
                sides.append([found.get(a, {}) if isinstance(a, Var) else {} for a in at])
                new.results = results
                written.append((cells, streams.versions))
            blocks.append(new)
        pairs: list[tuple[int, Var]] = []  # which result by what
        for j, (then, otherwise) in enumerate(zip(*sides, strict=True)):
            pairs += [(j, u) for u in {**then, **otherwise}]
        inner = list(dict.fromkeys(u for _, u in pairs if u not in outside))
        keys = list(dict.fromkeys(key for _, versions in written for key in versions))
        for new, side, (cells, versions) in zip(blocks, sides, written, strict=True):
            made = {u for edges in side for u in edges}
            for j, u in pairs:
                c = side[j].get(u)
                new.results.append(c if c is not None else lit_zero(u.type.dtype))  # type: ignore[union-attr]
            new.results += [self.inputs[u] if u in made else lit(-1) for u in inner]
            new.results += [*cells, *(versions.get(key) or self.version(key) for key in keys)]
        types: list[Any] = [v.type for v in e.outs]
        types += [Scalar(e.outs[which[j]].type.dtype) for j, _ in pairs]  # type: ignore[union-attr]
        types += [INT for _ in inner] + [a.type for a in written[0][0]]
        types += [self.version(key).type for key in keys]
        outs = structured(b, "if", (test,), tuple(blocks), types, e.params)
        env.update(zip(e.outs, outs, strict=False))
        rest = outs[len(e.outs) :]
        twins: dict[Var, Var] = {}
        for u, number in zip(inner, rest[len(pairs) :], strict=False):
            twins[u] = Var(u.type)
            self.inputs[twins[u]] = number
        for (j, u), c in zip(pairs, rest, strict=False):
            out = outs[which[j]]
            assert isinstance(out, Var)
            missing = [u not in side[j] for side in sides]
            zero = lit_zero(c.type.dtype)  # type: ignore[union-attr]
            if missing[0]:
                c = b.emit("where", test, zero, c)
            elif missing[1]:
                c = b.emit("where", test, c, zero)
            self.graph.setdefault(out, {})[twins.get(u, u)] = c
        rest = rest[len(pairs) + len(inner) :]
        for j, k in enumerate(arrays):
            out = outs[k]
            assert isinstance(out, Var)
            self.enter(out, rest[j], *(cells[j] for cells, _ in written))
        for key, new_ in zip(keys, rest[len(arrays) :], strict=True):
            self.update(key, new_)


def _refuse_floats(tape: Tape) -> None:
    """Places must be the same whatever the floats are."""

    def silent(block: Block) -> Block:
        kept = [
            Equation(e.op, e.ins, e.outs, e.params, tuple(map(silent, e.blocks)), e.pos)
            for e in block.equations if e.op not in ("check", "print")
        ]  # fmt: skip
        return Block(block.params, kept, block.results)

    for e in walk(remove_dead(silent(tape.body))):
        if e.op != "dim" and any(is_float(a.type) for a in (*e.ins, *e.outs)):
            raise NotLocal("floats decide where something goes")
