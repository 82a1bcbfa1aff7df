"""What does emission know of the values met so far, and how does it get memory and names?

A scalar is an `Expr`; an array is an `Access` to memory or a `Formula` without any; a stack is a
buffer and a top.  Extents are names or literals that never change while they are in sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from jitad.emit.access import Access, Affine, Map, identity, linear, names_in
from jitad.emit.buffers import Buffers, Level, Root
from jitad.emit.demand import Analysis
from jitad.emit.joining import Written
from jitad.emit.just_stored import Stored, Waiting
from jitad.emit.lanes import Lanes
from jitad.emit.lengths import Ends, longest
from jitad.emit.print_python import ATOM, LIMIT, PRODUCT, Expr, Names, Page, dtype_name, literal
from jitad.immutable import immutable
from jitad.tape.ir import Atom, Block, Equation, Lit, Pos, Var
from jitad.tape.lent import Handed
from jitad.tape.types import INT, Scalar

Extents = tuple[Expr, ...]
Step = Callable[["Scope", Equation], None]


@immutable(slots=True)
class Formula:
    """An array without memory: one number everywhere, or a count along an index."""

    value: Expr | Affine


@dataclass(slots=True)
class Loop:
    """A loop around the present statement; `before` are lines in front of it.

    `ends`: where its counter starts, by what it goes on, and how often, if that is known before.
    `frames`: the frames of zeros that are allocated there, by all that they have to agree in.
    """

    before: Page
    counter: str = ""
    ends: Ends | None = None
    frames: dict[tuple[object, ...], list[tuple[str, Root]]] = field(default_factory=dict)


@immutable
class Unused:
    """A buffer that nothing was pushed on so far: where it was made, and the line that did."""

    page: Page
    indent: int
    line: Page
    dtype: str


class Scope:
    """Everything that lowering an equation reads and adds to."""

    def __init__(
        self, analysis: Analysis, names: Names, hints: dict[Var, str], step: Step
    ) -> None:
        self.step = step
        self.analysis = analysis
        self.buffers = Buffers(analysis)
        self.names = names
        self.hints = hints
        self.page = Page()
        self.loops: list[Loop] = []
        self.exprs: dict[Var, Expr] = {}
        self.access: dict[Var, Access] = {}
        self.formulas: dict[Var, Formula] = {}
        self.lanes = Lanes({}, {})
        self.stacks: dict[Var, tuple[str, str]] = {}
        self.extents: dict[Var, Extents] = {}
        self.depth_of: dict[str, int] = {}  # loops around the definition of a scalar's name
        self.sums: dict[str, tuple[str, int]] = {}  # names of `name + number`
        self.integers: dict[str, str] = {}  # what integers were computed as, by their names
        self.pinned: set[str] = set()  # names that texts kept for later refer to
        self.counting: set[str] = set()  # names of loop counters that are never negative
        self.natural: set[str] = set()  # names of numbers that are never negative
        self.equal: dict[str, str] = {}  # names of extents that are known to be those of others
        self.places: dict[Var, Var] = {}  # where a loop carried what this is the next value of
        self.unused: dict[str, Unused] = {}  # buffers of records, by their names
        self.reserved: set[Equation] = set()  # pushes that have room
        self.ahead: set[Equation] = set()  # pushes of what is on the stack already
        self.read_in: dict[Equation, set[Atom]] = {}  # what equations in branches read
        self.done: set[Equation] = set()  # additions that the sum before them has made
        self.last_nest: Written | None = None
        self.nests: list[Written] = []
        self.stored: list[Stored] = []
        self.waiting: list[Waiting] = []
        self.exceptions: dict[type, str] = {}  # names of what checks raise
        self.called: dict[str, str] = {}  # names of the functions that calls name
        self.handed = Handed({}, {}, frozenset())  # what those write in place, and push
        self.given: dict[Var, str] = {}  # array parameters as they are called at the beginning
        self.is_kernel = True  # or a function, which arrays are handed to as whole buffers
        self.room = ""  # the name of the lowest address that a frame may have
        self._pos: Pos | None = None  # of the last equation, and what was noted of it
        self._note = ""

    def run(
        self, block: Block, finish: Callable[[], None], around: tuple[Block, ...] = ()
    ) -> None:
        """Write a block; `around`: the blocks that run again with it, if it is a loop's."""
        level = Level(block, 0, around)
        self.buffers.levels.append(level)
        for k, e in enumerate(block.equations):
            level.index = k
            if e.pos is not None:
                if e.pos is not self._pos:  # mostly that of the equation before
                    self._pos, self._note = e.pos, f"# {e.pos}"
                self.page.note(self._note)
            self.step(self, e)
        level.index = len(block.equations)
        finish()
        self.buffers.levels.pop()

    # -- scalars --------------------------------------------------------------------------------

    def expr(self, atom: Atom) -> Expr:
        return literal(atom) if isinstance(atom, Lit) else self.exprs[atom]

    def local(self, atom: Atom) -> Expr:
        """A name or a literal that stays right however much later it is used."""
        e = self.expr(atom)
        if e.is_name:
            self.pinned.add(e.text)
        return e

    def define(self, v: Var, e: Expr) -> None:
        """A scalar's value: kept for its one use, or given a name."""
        if v in self.analysis.inline and len(e.text) <= LIMIT:
            self.exprs[v] = e
        else:
            self.name(v, e)

    def name(self, v: Var, e: Expr, reads: bool = False) -> str:
        """Give the value a name; `reads`: it comes from memory, as what has elements in it does."""
        text = self.new_name(v)
        line = f"{text} = {e.text}"
        if reads or "[" in line or "load(" in line:  # which the nest right before may write
            self.page.write(line)
        else:
            self.early([line])
        self.exprs[v] = Expr(text)
        if v.type == INT:
            self.integers[text] = e.text
        if (base := linear(e)[0]).isidentifier() and base != e.text:
            self.sums[text] = linear(e)
            self.pinned.add(base)
        return text

    def expanded(self, e: Expr) -> tuple[str, int]:
        """(name, number) of an integer `name + number`, seen through a name of its own."""
        name, number = linear(e)
        base, more = self.sums.get(name, (name, 0))
        return base, number + more

    def resolved(self, at: Map) -> Map:
        """The map with names of `name + number` seen through, so that maps can be compared."""
        out = []
        for x in at:
            constant, names = x.constant, []
            for name, c in x.names:
                base, number = self.expanded(Expr(name)) if isinstance(c, int) else (name, 0)
                constant += number * c if isinstance(c, int) else 0
                if base:
                    names.append((base, c))
            out.append(Affine(constant, tuple(names), x.terms))
        return tuple(out)

    def new_name(self, v: Var, otherwise: str = "") -> str:
        kind = v.type.dtype[0] if isinstance(v.type, Scalar) else "a"
        standard = {"f": "t", "i": "k", "u": "k", "b": "p", "c": "z"}.get(kind, "a")
        text = self.names.new(self.hints.get(v, ""), otherwise or standard)
        self.depth_of[text] = len(self.loops)
        return text

    def temporary(self, e: Expr, otherwise: str) -> Expr:
        """An integer under a new name."""
        text = self.names.new("", otherwise)
        self.depth_of[text] = len(self.loops)
        self.pinned.add(text)
        self.page.write(f"{text} = {e.text}")
        return Expr(text)

    def counters(self, n: int) -> list[str]:
        """Loop counters for a nest of n loops from zero."""
        names = self.names.counters(n)
        self.counting.update(names)
        return names

    # -- arrays ---------------------------------------------------------------------------------

    def locals(self, atoms: Iterable[Atom]) -> Extents:
        return tuple(self.local(a) for a in atoms)

    def bind(self, v: Var, access: Access, extents: Extents) -> None:
        self.access[v] = access
        self.extents[v] = extents
        self.pinned.update(names_in(access.map))

    def equate(self, a: Atom, b: Atom) -> None:
        """From here on the two are one number: loops that go so far can be joined."""
        if a.type != INT or b.type != INT:
            return
        one, other = self.local(a), self.local(b)
        if not all(x.is_name or x.text.isdecimal() for x in (one, other)):
            return
        (x,), (y,) = self.same((one,)), self.same((other,))
        if y.text.isdecimal() or (y.text in self.natural and not x.text.isdecimal()):
            x, y = y, x
        if not y.text.isdecimal() and x.text != y.text:
            self.equal[y.text] = x.text

    def same(self, extents: Extents) -> Extents:
        """The extents by the names that speak for all equal ones."""
        out = []
        for x in extents:
            text = x.text
            while text in self.equal:
                text = self.equal[text]
            out.append(x if text == x.text else Expr(text))
        return tuple(out)

    def whole(self, v: Var) -> bool:
        """Is the value all of its memory, in order?"""
        access = self.access[v]
        return not access.partial and access.map == identity(len(self.extents[v]))

    def hoists(self, extents: Extents) -> bool:
        """Is a buffer of these extents allocated outside of the present loop?"""
        return self.depth(extents) < len(self.loops)

    def depth(self, extents: Extents) -> int:
        """How many loops are around the definitions of these?"""
        return max((self.depth_of.get(e.text, 0) for e in extents), default=0)

    def allocate(self, v: Var, extents: Extents) -> tuple[str, Root]:
        """A buffer for this value, not bound to it."""
        name = self.new_name(v)
        return name, self.allocate_as(name, v.type.dtype, extents)  # type: ignore[union-attr]

    def allocate_as(self, name: str, dtype: str, extents: Extents, how: str = "empty",
                    hoist: bool = True) -> Root:  # fmt: skip
        """A buffer, as far out as its extents are known.  `how`: a function of the preamble."""
        born = len(self.loops)
        depth = min(self.depth(extents), born) if hoist else born
        page = self.loops[depth].before if depth < born else self.page
        sizes = ", ".join(self._size(e) for e in extents)
        line = f"{name} = {how}({dtype_name(dtype)}, {sizes})"
        if page is self.page:
            self.early([line])
        else:
            page.write(line)
        return Root(True, depth, born, name=name)

    def early(self, lines: list[str]) -> None:
        """Lines that needn't wait for the nest right before, so that the next one may join it."""
        last = self.last_nest
        if last is not None and all(last.precedes(self.page, line) for line in lines):
            last.put_before(lines)
        else:
            for line in lines:
                self.page.write(line)

    def _size(self, e: Expr) -> str:
        if e.text.isdecimal() or e.text in self.natural:
            return e.text
        return f"max({e.text}, 0)"

    def new_array(self, v: Var, extents: Extents, how: str = "empty") -> str:
        """Memory for a value, bound to it."""
        name = self.new_name(v)
        if self.loops and how == "empty" and len(extents) == 1 and v not in self.analysis.whole:
            if self.depth(extents) == len(self.loops):
                self._scratch(name, v, extents)
                return name
        root = self.allocate_as(name, v.type.dtype, extents, how)  # type: ignore[union-attr]
        self.bind(v, Access(name, identity(len(extents))), extents)
        self.buffers.place(v, frozenset([root]))
        return name

    def cleared(self, v: Var, extents: Extents, start: Expr) -> str:
        """Memory for sums of a nest, all of it `start`: nobody else has it, so it may come before
        the nest right before."""
        name = self.new_array(v, extents)
        counters = self.counters(len(extents))
        names = self.same(extents)
        lines = [f"{'    ' * k}for {counters[k]} in range({x.text}):" for k, x in enumerate(names)]
        place = f"{name}[{', '.join(counters[: len(names)])}]"
        lines.append(f"{'    ' * len(names)}{place} = {start.text}")
        self.early(lines)
        return name


    def _scratch(self, name: str, v: Var, extents: Extents) -> None:
        """A vector whose length the loop decides: in one buffer for all iterations, which grows if
        its greatest length isn't known before."""
        dtype = dtype_name(v.type.dtype)  # type: ignore[union-attr]
        around = [(loop.counter, loop.ends) for loop in reversed(self.loops)]
        most, names = longest(extents[0].text, self.integers, around)
        if any(self.depth_of.get(n, 0) for n in names):
            most = None
        self.pinned.update(names)
        self.loops[0].before.write(f"{name} = empty({dtype}, {most or 0})")
        if most is None:
            with self.page.block(f"if {extents[0].text} > len({name}):"):
                self.page.write(f"{name} = grown({name}, {extents[0].text})")
        self.bind(v, Access(name, identity(1), partial=True), extents)
        self.buffers.place(v, frozenset([Root(True, 0, len(self.loops))]))


def product(extents: Extents) -> Expr:
    """The number of elements."""
    numbers = [int(e.text) for e in extents if e.text.isdecimal()]
    names = [e.text for e in extents if not e.text.isdecimal()]
    count = int(np.prod(numbers)) if numbers else 1
    parts = ([str(count)] if count != 1 or not names else []) + names
    return Expr(" * ".join(parts), PRODUCT if len(parts) > 1 else ATOM)


def row_major(offset: str, extents: Extents) -> Map:
    """Where an array lies in a flat buffer, from `offset` on."""
    terms = tuple(
        (k, _number(product(extents[k + 1 :]).text)) for k in range(len(extents))
    )
    return (Affine(names=((offset, 1),), terms=terms),)


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
