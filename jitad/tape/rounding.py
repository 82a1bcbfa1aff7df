"""Whose rounding can decide anything?  Values from which a comparison or a function's edge follows.

A processor that multiplies and adds in one instruction rounds once instead of twice.  That is
faster and no less accurate, but `a * b - a * b` need not be zero any more.  So it must not happen
where a program could take another way for it: a value is *exact* if it reaches, through any
operations, loops and arrays, something that jumps (a comparison, `floor`, a divisor, `sqrt` and all
else that has an edge).  All other rounding shows in the last bits of results only.

Adjoints rarely decide anything, so what a sweep adds to a tape is nearly all free.

What is handed to a function, or comes back from it, decides if it does so on the other side.  Both
halves of a derivative (`sweeps.halves`) must take the same ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jitad.primitives import TABLE
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import CALLS, STRUCTURED, Atom, Block, Equation, Lit, Tape, Var, walk
from jitad.tape.types import is_float

# Elementwise primitives that are continuous in every operand, wherever it lies.
_CONTINUOUS = frozenset(
    "add sub mul neg abs where maximum minimum fmax fmin square exp exp2 expm1 sin cos sinh cosh "
    "tanh atan asinh erf erfc expit sech2 logaddexp hypot unsigned touched".split()
)
# Whatever a processor's multiplication ends.
_PRODUCTS = frozenset("mul square pow".split())
# What is no product, and stays none if it is rewritten.
_NO_PRODUCT = frozenset(
    "add sub div quotient sqrt exp log sin cos tanh floor pop sum amax amin matmul".split()
)


@dataclass
class Deciding:
    """Numbers of a function's parameters and results from which a decision may follow."""

    params: set[int] = field(default_factory=set)
    results: set[int] = field(default_factory=set)


def deciding(tape: Tape) -> dict[str, Deciding]:
    """What is found for the functions of a tape, from one to the other until all hold."""
    known = {name: Deciding() for name in tape.functions}
    bodies = [(t.body, known[name]) for name, t in tape.functions.items()]
    bodies.append((tape.body, Deciding()))
    changed = bool(known)
    while changed:
        changed = False
        for body, mine in bodies:
            decisive = exact(body, known, mine)
            found = [(mine.params, k) for k, p in enumerate(body.params) if p in decisive]
            for e in walk(body):
                if e.op in CALLS:
                    there = known[e.params["function"]].results
                    found += [(there, k) for k, v in enumerate(e.outs) if v in decisive]
            for numbers, k in found:
                changed |= k not in numbers
                numbers.add(k)
    return known


def exact(
    block: Block, known: Mapping[str, Deciding] = MappingProxyType({}), mine: Deciding | None = None
) -> set[Var]:
    """Variables whose last bits may decide something; the block has no derivative operators.

    `known` are the functions that it calls, `mine` is what it is to others.
    """
    seeds: list[Atom] = []
    for e in walk(block):
        if e.op not in _CONTINUOUS and e.op not in STRUCTURED:
            seeds += _edges(e, known)
    seeds += [block.results[k] for k in (mine.results if mine is not None else ())]
    numbers = [a for a in seeds if isinstance(a, Var) and is_float(a.type)]
    return closure(numbers, predecessors(block))


def rounded(
    block: Block, known: Mapping[str, Deciding] = MappingProxyType({}), mine: Deciding | None = None
) -> set[Equation]:
    """Exact sums of what may be a product, which must be rounded before it is added."""
    decisive = exact(block, known, mine)
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
        if e.op == "cast":  # between Python's floats and NumPy's it is nothing
            return a.type.dtype == out.type.dtype  # type: ignore[union-attr]
        return e.op not in _NO_PRODUCT

    found = [
        v for v, e in makers.items()
        if e.op in _PRODUCTS and not (e.op == "mul" and any(map(_power_of_two, e.ins)))
    ]
    if mine is not None:  # the compiler may put a function in the place of its call
        found += [p for p in block.params if is_float(p.type)]
    found += [v for v, e in makers.items() if e.op in CALLS and is_float(v.type)]
    products = closure(found, successors(predecessors(block, hands_on)))
    return {e for e in sums if not products.isdisjoint(e.ins)}


def _power_of_two(a: Atom) -> bool:
    """Times such a number nothing is rounded."""
    return isinstance(a, Lit) and isinstance(a.value, float) and abs(math.frexp(a.value)[0]) == 0.5


def _edges(e: Equation, known: Mapping[str, Deciding]) -> Iterable[Atom]:
    """Operands at which the equation may jump, of one that isn't continuous everywhere."""
    if e.op in CALLS:
        there = known.get(e.params["function"])
        return e.ins if there is None else [e.ins[k] for k in there.params]
    if e.op in ("div", "quotient"):
        return e.ins[1:]
    if e.op == "pow" and isinstance(e.ins[1], Lit) and e.ins[1].value in range(1, 10):
        return ()
    if e.op == "cast" and e.params["dtype"][0] in "fc":
        return ()
    row = TABLE[e.op]
    return e.ins if row.elementwise or row.effect else ()
