"""What is a tape made of?

A `Tape` is a function in structured static-single-assignment form: a `Block` with parameters,
equations and results.  An `Equation` applies an operation to atoms (variables or literals) and
defines new variables.  Control flow is structured: equations own blocks, and a block may use the
variables of the blocks around it.

    for    ins (start, step, count, *init)  blocks (body,)        body: (index, *carried) -> carried
    while  ins (*init)                      blocks (cond, body)   cond: carried -> bool
    if     ins (pred,)                      blocks (then, else)   no parameters, equal results
    jvp    ins (*primals, *tangents)        blocks (function,)    outs (*results, *tangents)
           `directions`: what is active in each; tangents one direction after the other
    vjp    ins (*primals, *seeds)           blocks (function,)    outs (*results, *adjoints)
    implicit  ins (*solution, tol, most)  blocks (function,)      outs the solution, x = f(x)

Every other operation is a primitive: a row of the table in `jitad.primitives`.  All are pure but
those marked as effects, which keep their order.  `jvp` and `vjp` carry the tag of one application
of a derivative operator; `specialise` resolves them, so no tag is left in a plain tape.

A tape may have functions, which are tapes themselves: `call` (and `act`, where the function has
effects) runs the one named `params["function"]`.  Functions are closed, and call themselves or
each other: that is what they are there for.  `spread` runs one for each part of a loop, on threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jitad.immutable import immutable
from jitad.tape.types import Array, Scalar, Type, type_of_constant

STRUCTURED = ("for", "while", "if", "jvp", "vjp", "implicit")
CALLS = ("call", "act", "spread")


@immutable(slots=True)
class Pos:
    """A place in the user's source."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}"


@dataclass(eq=False, slots=True)
class Var:
    """A variable, defined once.  `shape`: one integer atom an axis, for arrays only."""

    type: Type
    shape: tuple[Atom, ...] = ()
    name: str = ""
    serial: int = field(default_factory=itertools.count().__next__)

    def __repr__(self) -> str:
        return f"{self.name or 'v'}.{self.serial}"


@immutable(slots=True, eq=False)
class Lit:
    """A literal number."""

    value: Any
    type: Scalar

    @property
    def shape(self) -> tuple[Atom, ...]:
        return ()

    # -0.0 is not 0.0, True is not 1, and nan is itself: equality is by representation.
    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Lit) and self.type == other.type
            and (self.value is other.value or repr(self.value) == repr(other.value))
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash(self.value) if self.value == self.value else 0

    def __repr__(self) -> str:
        return repr(self.value)


Atom = Var | Lit


def lit(value: Any, type: Scalar | None = None) -> Lit:
    """A literal of the number's own type, or of the one given."""
    return Lit(value, type or type_of_constant(value))


@dataclass(eq=False, slots=True)
class Equation:
    """outs = op(ins; params), with the blocks it owns."""

    op: str
    ins: tuple[Atom, ...]
    outs: tuple[Var, ...]
    params: dict[str, Any] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    pos: Pos | None = None


@dataclass(eq=False, slots=True)
class Block:
    """Parameters, equations in order, results."""

    params: list[Var] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    results: list[Atom] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Tape:
    """A traced function: its body and what names its parameters and results have for the user."""

    name: str
    body: Block
    pos: Pos | None = None
    functions: dict[str, Tape] = field(default_factory=dict)  # what calls may name


def walk(block: Block) -> Iterator[Equation]:
    """All equations of a block and of the blocks inside it, in order."""
    rows = [iter(block.equations)]
    while rows:
        for eqn in rows[-1]:
            yield eqn
            if eqn.blocks:
                rows += [iter(inner.equations) for inner in reversed(eqn.blocks)]
                break
        else:
            rows.pop()


def free_vars(*blocks: Block) -> list[Var]:
    """Variables the blocks use but do not define, in order of first use (shapes included)."""
    defined: set[Var] = set()
    free: dict[Var, None] = {}

    def use(atom: Atom) -> None:
        if isinstance(atom, Var) and atom not in defined:
            free[atom] = None

    def visit(block: Block) -> None:
        defined.update(block.params)
        for eqn in block.equations:
            for a in eqn.ins:
                use(a)
            for inner in eqn.blocks:
                visit(inner)
            defined.update(eqn.outs)
        for a in block.results:
            use(a)

    for block in blocks:
        visit(block)
    return list(free)


def shape_outside(shape: tuple[Atom, ...], *blocks: Block) -> tuple[Atom, ...]:
    """The extents of a result of these blocks, or () where some are known only inside."""
    inside = {v for block in blocks for e in block.equations for v in e.outs}
    return () if any(d in inside for d in shape if isinstance(d, Var)) else shape


def is_array(atom: Atom) -> bool:
    return isinstance(atom.type, Array)
