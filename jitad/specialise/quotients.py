"""Which divisions by one number, many times, are made by multiplying with its reciprocal?

A division takes a processor as long as five or ten multiplications, in lanes too.  In the innermost
loops, and over arrays, x / d with d from outside becomes `quotient(x, D, r, s)`: s a power of two
that makes D = d * s moderate, r = 1 / D, all three known before the loop.  The result is that of
the division: x * r is corrected by its remainder, which a fused multiply-add gives exactly
(Markstein 1990; Brisebarre, Muller & Raina 2004, "Accelerating correctly rounded floating-point
division when the divisor is known in advance").  Only near the ends of the range of numbers
(below 1e-290) may the last bit differ.

The correction is left out where the last bit can neither decide anything (`tape.rounding`) nor be
seen by itself: x / d is then x * r * s, as one would write by hand.  A quotient that is handed
out as it is keeps its last bit, so whole numbers divide to whole numbers.

With its correction it is not for an x that depends on earlier iterations: there the loop waits for
each result, and a division is no slower than what would stand in its place.
"""

from __future__ import annotations

import math

from jitad.primitives import TABLE
from jitad.tape.flow import closure, predecessors
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Lit, Tape, Var, lit, walk
from jitad.tape.rounding import exact
from jitad.tape.types import Scalar, is_float

_SHORT = 8  # iterations that are too few


def quotients(tape: Tape) -> Tape:
    """The tape with such divisions replaced (in place)."""
    if any(e.op == "div" for e in walk(tape.body)):
        _visit(tape.body, None, exact(tape.body) | _handed_out(tape.body))
    return tape


def _handed_out(block: Block) -> set[Var]:
    """What becomes a result without any arithmetic on the way."""

    def hands_on(e: Equation, a: Var, out: Var) -> bool:
        return e.op in STRUCTURED or not (TABLE[e.op].elementwise and is_float(out.type)) or (
            e.op in ("where", "cast", "neg")
        )

    results = [a for a in block.results if isinstance(a, Var)]
    return closure(results, predecessors(block, hands_on))


class _Loop:
    """The innermost loop around an equation: what is made in it, and from what."""

    def __init__(self, e: Equation) -> None:
        body = e.blocks[0]
        self.made = {*body.params, *(v for x in walk(body) for v in x.outs)}
        self.carried = set(body.params[1:])
        self.edges = {
            v: [a for a in found if a in self.made] for v, found in predecessors(body).items()
        }

    def suits(self, x: Atom, d: Atom, precise: bool) -> bool:
        if d in self.made or not isinstance(x, Var) or x not in self.made:
            return False
        reached = closure([x], self.edges)
        return not precise or self.carried.isdisjoint(reached)


def _visit(block: Block, loop: _Loop | None, precise: set[Var]) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner, loop if e.op == "if" else _innermost(e), precise)
        if e.op == "div" and _divides(e):
            (x, d), seen = e.ins, e.outs[0] in precise
            if e.outs[0].shape or (loop is not None and loop.suits(x, d, seen)):
                out += _replaced(e, seen)
                continue
        out.append(e)
    block.equations = out


def _innermost(e: Equation) -> _Loop | None:
    if e.op != "for" or any(x.op in ("for", "while") for x in walk(e.blocks[0])):
        return None
    count = e.ins[2]
    return None if isinstance(count, Lit) and count.value <= _SHORT else _Loop(e)


def _divides(e: Equation) -> bool:
    """By a number, in double precision; a literal power of two is LLVM's to turn round."""
    x, d = e.ins
    if any(a.type.dtype != "f8" for a in (x, d, *e.outs)) or not isinstance(d.type, Scalar):  # type: ignore[union-attr]
        return False
    return isinstance(x, Var) and not (isinstance(d, Lit) and math.frexp(abs(d.value))[0] == 0.5)


def _replaced(e: Equation, precise: bool) -> list[Equation]:
    x, d = e.ins
    scale, moderate, inverse = (Var(Scalar("f8")) for _ in range(3))
    one = lit(1.0)
    known = [
        Equation("rescale", (d,), (scale,), {}, (), e.pos),
        Equation("mul", (d, scale), (moderate,), {}, (), e.pos),
        Equation("div", (one, moderate), (inverse,), {}, (), e.pos),
    ]
    if precise:
        return [*known, Equation("quotient", (x, moderate, inverse, scale), e.outs, {}, (), e.pos)]
    (out,) = e.outs
    first = Var(out.type, out.shape)
    return [
        *known,
        Equation("mul", (x, inverse), (first,), {}, (), e.pos),
        Equation("mul", (first, scale), (out,), {}, (), e.pos),
    ]
