"""Which comparisons of a square root with a number need no square root?

`sqrt(x) <= c`, the usual end of an iteration, is `x <= d` with d the last number whose root is not
above c.  Roots are rounded correctly and never decrease, so there is such a number, next to c * c,
and the comparison comes out the same, always.  A root takes a processor as long as five or ten
multiplications.  Of negative x, whose root is none, the one comparison might be true and the
other not: then x must be known to be never negative.
"""

from __future__ import annotations

import math

from jitad.tape.intervals import Intervals
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, lit, walk

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def roots(tape: Tape) -> Tape:
    """The tape with such comparisons replaced (in place); roots that this frees are dead."""
    if any(e.op == "sqrt" for e in walk(tape.body)):
        _visit(tape.body, {}, {})
    return tape


def _visit(block: Block, sources: dict[Atom, Equation], squares: dict[Var, Atom]) -> None:
    intervals = Intervals(sources)
    for k, e in enumerate(block.equations):
        for inner in e.blocks:
            _visit(inner, sources, squares)
        if e.op == "sqrt" and _is_double(e.ins[0]):
            squares[e.outs[0]] = e.ins[0]
        elif e.op == "cast" and e.ins[0] in squares and _is_double(e.outs[0]):
            squares[e.outs[0]] = squares[e.ins[0]]  # type: ignore[index]  # of another class
        elif e.op in _MIRRORED:
            block.equations[k] = _without_root(e, intervals, squares)
        sources.update(dict.fromkeys(e.outs, e))


def _without_root(e: Equation, intervals: Intervals, squares: dict[Var, Atom]) -> Equation:
    op, (root, bound) = e.op, e.ins
    if isinstance(root, Lit):
        op, root, bound = _MIRRORED[op], bound, root
    if not (isinstance(root, Var) and root in squares and isinstance(bound, Lit)):
        return e
    x = squares[root]
    if not _has_square(bound.value) or (op in ("lt", "le") and not intervals.never_negative(x)):
        return e
    above = op in ("lt", "ge")  # the first whose root is not below, or the last not above
    return Equation(op, (x, lit(threshold(float(bound.value), above))), e.outs, {}, (), e.pos)


def threshold(c: float, above: bool) -> float:
    """The least double whose square root is `c` or more, if `above`; else the largest up to it."""
    away, back = (math.inf, 0.0) if above else (0.0, math.inf)
    x = c * c
    while (math.sqrt(x) >= c) if above else (math.sqrt(x) <= c):
        x = math.nextafter(x, back)
    while not ((math.sqrt(x) >= c) if above else (math.sqrt(x) <= c)):
        x = math.nextafter(x, away)
    return x


def _has_square(c: object) -> bool:
    """A positive double, neither so small nor so large that its square is none."""
    return isinstance(c, (int, float)) and 1e-150 < c < 1e150


def _is_double(a: Atom) -> bool:
    return getattr(a.type, "dtype", None) == "f8"
