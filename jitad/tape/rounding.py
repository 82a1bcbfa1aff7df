"""Whose rounding can decide anything?  Values from which a comparison or a function's edge follows.

A processor that multiplies and adds in one instruction rounds once instead of twice.  That is
faster and no less accurate, but `a * b - a * b` need not be zero any more.  So it must not happen
where a program could take another way for it: a value is *exact* if it reaches, through any
operations, loops and arrays, something that jumps (a comparison, `floor`, a divisor, `sqrt` and all
else that has an edge).  All other rounding shows in the last bits of results only.

Adjoints rarely decide anything, so what a sweep adds to a tape is nearly all free.
"""

from __future__ import annotations

import math

from jitad.primitives import TABLE
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Lit, Var, walk
from jitad.tape.types import is_float

# Elementwise primitives that are continuous in every operand, wherever it lies.
_CONTINUOUS = frozenset(
    "add sub mul neg abs where maximum minimum fmax fmin square exp exp2 expm1 sin cos sinh cosh "
    "tanh atan asinh erf erfc expit sech2 logaddexp hypot".split()
)
# What is no product, and stays none if it is rewritten.
_NO_PRODUCT = frozenset(
    "add sub div quotient sqrt exp log sin cos tanh pow floor cast pop sum amax amin matmul".split()
)


def exact(block: Block) -> set[Var]:
    """Variables whose last bits may decide something; the block has no derivative operators."""
    seeds = [a for e in walk(block) for a in _edges(e) if isinstance(a, Var) and is_float(a.type)]
    return closure(seeds, predecessors(block))


def rounded(block: Block) -> set[Equation]:
    """Exact sums of what may be a product, which must be rounded before it is added."""
    decisive = exact(block)
    sums = {
        e for e in walk(block)
        if e.op in ("add", "sub") and e.outs[0] in decisive and is_float(e.outs[0].type)
    }  # fmt: skip
    if not sums:
        return sums
    makers = {v: e for e in walk(block) for v in e.outs}

    def hands_on(e: Equation, a: Var, out: Var) -> bool:
        if e.op == "load":  # of what was stored just now; all else comes from memory
            return a in makers and makers[a].op in ("store", "accum")
        return e.op not in _NO_PRODUCT

    found = [
        v for v, e in makers.items() if e.op == "mul" and not any(map(_power_of_two, e.ins))
    ]
    products = closure(found, successors(predecessors(block, hands_on)))
    return {e for e in sums if not products.isdisjoint(e.ins)}


def _power_of_two(a: Atom) -> bool:
    """Times such a number nothing is rounded."""
    return isinstance(a, Lit) and isinstance(a.value, float) and abs(math.frexp(a.value)[0]) == 0.5


def _edges(e: Equation) -> tuple[Atom, ...]:
    """Operands at which the equation may jump."""
    if e.op in STRUCTURED or e.op in _CONTINUOUS:
        return ()
    if e.op in ("div", "quotient"):
        return e.ins[1:]
    if e.op == "pow" and isinstance(e.ins[1], Lit) and e.ins[1].value in range(1, 10):
        return ()
    if e.op == "cast" and e.params["dtype"][0] in "fc":
        return ()
    row = TABLE[e.op]
    return e.ins if row.elementwise or row.effect else ()
