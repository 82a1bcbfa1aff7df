"""How do terms get to their places, while the tape is written that computes them?

A *site* is a number or an array that goes to the result, in some loops; its terms are its
derivatives by inputs.  What is written to is an array that goes through all loops: the entries,
or, where the places are asked for, arrays of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jitad.immutable import immutable
from jitad.sparsity.elements import Known, element
from jitad.sparsity.places import Layout, NotLocal, Number
from jitad.sparsity.places import Site as Plan
from jitad.sweeps.partials import Edges, Graph, eliminated
from jitad.tape.build import Builder
from jitad.tape.copy import lit_zero, structured
from jitad.tape.ir import Atom, Block, Lit, Var, lit
from jitad.tape.types import INT, Array

MOST = 64  # inputs of one number
ONE, ZERO = lit(1), lit(0)


@dataclass
class Site:
    """A number or an array that goes to the result, in a place of the tape."""

    value: Var
    cells: Atom  # to which it is added
    loops: tuple[Loop, ...]
    number: int
    batch: int = 0  # sites of one batch write in turn, in each iteration of the same loops


@immutable
class Loop:
    iteration: Atom
    count: Atom


@dataclass
class Streams:
    """Arrays that a block and the loops in it write to: their present versions."""

    versions: dict[int, Atom] = field(default_factory=dict)
    first: dict[int, Var] = field(default_factory=dict)
    is_branch: bool = False  # of an `if`, whose blocks take no parameters


class Writing:
    """A tape that is written, and what is known of its variables' derivatives."""

    def __init__(self, b: Builder, layout: Layout | None, dtype: str) -> None:
        self.b, self.layout, self.dtype = b, layout, dtype
        self.graph: Graph = {}
        self.inputs: dict[Var, Atom] = {}  # their numbers among all inputs
        self.loops: tuple[Loop, ...] = ()
        self.pending: list[list[Site]] = [[]]
        self.streams = [Streams()]
        self.sites = self.batches = 0
        self.results: dict[int, tuple[int, int, int]] = {}
        self.parameters: list[Atom] = []

    def begin(self) -> None:
        """The parameters of the layout, and the entries before anything is written."""
        b = self.b
        if self.layout is None:
            return
        self.parameters = [b.input(t, "place") for t in self.layout.types]
        size = b.emit("load", self.parameters[0], ZERO)
        made = b.emit("full", lit_zero(self.dtype), size, dtype=self.dtype)
        if self.layout.covered:
            start = "zeros" if self.layout.zero else "empty"
            made = b.emit("blank", size, dtype=self.dtype, start=start)
        self.stream(0, made)

    def written(self) -> list[Atom]:
        """The entries; or, for each site in turn, its extents, cells and inputs."""
        versions = self.streams[0].versions
        if self.layout is not None:
            return [versions[0]]
        return [versions[k] for number in range(self.sites) for k in self.results[number]]

    def numbered(self, like: Atom, first: Atom) -> Atom:
        """The elements counted by rows."""
        if not isinstance(like.type, Array):
            return first
        b = self.b
        numbers = b.emit("add", b.emit("iota", self.size(like), dtype="i8"), first)
        return numbers if is_flat(like) else b.emit("reshape", numbers, *like.shape)

    def size(self, a: Atom) -> Atom:
        out: Atom = ONE
        for n in a.shape:
            out = self.b.emit("mul", out, n)
        return out

    def around(self, size: Atom) -> Atom:
        """How many there are of what has this size, in all iterations."""
        for loop in self.loops:
            size = self.b.emit("mul", size, loop.count)
        return size

    def at(self) -> Atom:
        """The number of the present iteration among all."""
        b, out = self.b, ZERO
        for loop in self.loops:
            out = b.emit("add", b.emit("mul", out, loop.count), loop.iteration)
        return out

    # -- what a site writes -----------------------------------------------------------------------

    def note(self, value: Var, cells: Atom) -> None:
        self.pending[-1].append(Site(value, cells, self.loops, self.sites))
        self.sites += 1

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

    def write_places(self, s: Site, terms: list[Atom]) -> None:
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
                self.stream(key, b.emit("full", ZERO, n, dtype="i8"))
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
        self.update(key, b.emit("store_slice", old, self.flat(v, like, size), start, ONE, size,
                                kinds="r"))  # fmt: skip

    def flat(self, v: Atom, like: Atom, size: Atom) -> Atom:
        """The elements of an array, or a number as often as the other has elements."""
        if isinstance(v, Lit):
            dtype = v.type.dtype
            return self.b.emit("full", v, size, dtype=dtype)
        if not isinstance(v.type, Array):
            return self.b.emit("broadcast", v, size, axes=())
        return v if is_flat(v) else self.b.emit("reshape", v, size)

    def write_values(self, found: list[tuple[Site, Edges]]) -> None:
        """Each term to its place; arrays of equal extents in one loop over their elements."""
        together: dict[tuple[Atom, ...], list[tuple[Site, list[Atom]]]] = {}
        for s, edges in found:
            together.setdefault(s.value.shape, []).append((s, list(edges.values())))
        for shape, sites in together.items():
            self.each(shape, (), sites)

    def each(
        self, shape: tuple[Atom, ...], index: tuple[Atom, ...],
        sites: list[tuple[Site, list[Atom]]],
    ) -> None:  # fmt: skip
        b = self.b
        if shape:
            i = Var(INT, (), "i")
            with b.block(i) as new, self.inside() as streams:
                around, self.loops = self.loops, (*self.loops, Loop(i, shape[0]))
                self.each(shape[1:], (*index, i), sites)
                self.loops = around
            self.close([ZERO, ONE, shape[0]], new, [], streams, {})
            return
        assert self.layout is not None
        known: Known = {}
        ready = [
            (self.layout.sites[s.number], [self.cast(element(b, c, index, known)) for c in terms])
            for s, terms in sites
        ]
        for plan, terms in ready:
            if not plan.box:
                self.place(plan, terms)
        if boxed := [(plan, terms) for plan, terms in ready if plan.inner is not None]:
            self.place_boxed(boxed)

    def place_boxed(self, sites: list[tuple[Plan, list[Atom]]]) -> None:
        """Inside the box by arithmetic, at its border by table."""
        b, before = self.b, self.version(0)
        is_inside: Atom = lit(True)
        for loop, (low, high) in zip(self.loops, sites[0][0].box, strict=True):
            for op, limit in (("ge", low), ("lt", high)):
                test = b.emit(op, loop.iteration, self.number(limit))
                is_inside = b.emit("logical_and", is_inside, test)
        blocks = []
        for inner in (True, False):
            self.update(0, before)
            with b.block() as block:
                for plan, terms in sites:
                    self.place(plan.inner if inner and plan.inner else plan, terms)
                block.results = [self.version(0)]
            blocks.append(block)
        (out,) = structured(b, "if", (is_inside,), tuple(blocks), [before.type], {})
        self.update(0, out)

    def place(self, plan: Plan, terms: list[Atom]) -> None:
        b = self.b
        for k, c in enumerate(terms):
            if plan.table is not None:
                self.add_by_table(plan, k, c)
                continue
            at = self.number(plan.first[k])
            for loop, step in zip(self.loops, plan.strides, strict=True):
                at = b.emit("add", at, b.emit("mul", loop.iteration, self.number(step)))
            op = "store" if plan.stored[k] else "accum"
            self.update(0, b.emit(op, self.version(0), c, at))

    def add_by_table(self, plan: Plan, k: int, c: Atom) -> None:
        """What comes first to a place is stored: its number is complemented in the table."""
        b, old = self.b, self.version(0)
        column, distance = plan.columns[k]
        at = b.emit("add", b.emit("mul", self.at(), lit(plan.width)), lit(column))
        at = b.emit("load", self.parameters[plan.table or 0], at)
        at = b.emit("cast", at, dtype="i8", py=True)
        is_first = b.emit("lt", at, ZERO)
        if any(not stored and plan.columns[j][0] == column for j, stored in enumerate(plan.stored)):
            at = b.emit("where", is_first, b.emit("sub", lit(-1), at), at)
        at = b.emit("add", at, lit(distance))
        if not plan.stored[k]:
            before = b.emit("where", is_first, lit_zero(self.dtype), b.emit("load", old, at))
            c = b.emit("add", before, c)
        self.update(0, b.emit("store", old, c, at))

    def cast(self, c: Atom) -> Atom:
        if c.type.dtype == self.dtype:  # type: ignore[union-attr]
            return c
        return self.b.emit("cast", c, dtype=self.dtype)

    def number(self, n: Number) -> Atom:
        """A number of the layout: written out, or read from its parameter."""
        if n.at is None:
            return lit(n.value)
        b = self.b
        with b.at_root():  # as an exact integer: what is known of sums counts for it
            known = b.emit("load", self.parameters[0], lit(n.at))
            known = b.emit("cast", known, dtype="i8", py=True)
            return b.emit("add", known, lit(n.value))

    # -- arrays that go through loops -------------------------------------------------------------

    def stream(self, key: int, start: Atom) -> None:
        self.streams[0].versions[key] = start

    def version(self, key: int, depth: int = -1) -> Atom:
        """The present version in a block; what comes from outside enters as a parameter."""
        depth %= len(self.streams)
        s = self.streams[depth]
        if key not in s.versions:
            outside = self.version(key, depth - 1)
            if s.is_branch:
                return outside
            s.first[key] = Var(outside.type, outside.shape, "")
            s.versions[key] = s.first[key]
        return s.versions[key]

    def update(self, key: int, new: Atom) -> None:
        self.streams[-1].versions[key] = new

    # -- loops ------------------------------------------------------------------------------------

    def close(
        self, ins: list[Atom], body: Block, types: list[Any], streams: Streams,
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
    def inside(self, streams: Streams | None = None) -> Iterator[Streams]:
        self.pending.append([])
        self.streams.append(streams or Streams())
        try:
            yield self.streams[-1]
        finally:
            self.pending.pop()
            self.streams.pop()


def one(a: Atom) -> Lit:
    dtype = a.type.dtype  # type: ignore[union-attr]
    return lit(1.0) if dtype == "f8" else lit(np.dtype(dtype).type(1))


def is_flat(a: Atom) -> bool:
    return len(a.shape) == 1
