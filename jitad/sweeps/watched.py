"""Of which arrays does the adjoint tell which elements nothing was added to (`untouched`)?

Of those that come from an operation whose rule may have an infinite factor, at once or element by
element, and of which parts alone are read, or overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitad.primitives import TABLE
from jitad.primitives.array import EXTREMES, JOINS, MOVES, PARTS, STORES
from jitad.primitives.table import tame
from jitad.sweeps.reached import steep
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import CALLS, Block, Equation, Var, is_array, walk
from jitad.tape.types import is_float

_READ = (*PARTS, *STORES)  # or overwritten


def watched(block: Block, active: set[Var]) -> set[Var]:
    """These arrays, and the numbers that they are packed of; of those that have an adjoint."""
    equations = list(walk(block))
    if not any(map(_is_whole, equations)) or not any(map(_is_partial, equations)):
        return set()
    wild = _infinite(block)
    made: set[Var] = set()
    for e in equations:
        for before, now in _carried(e):
            if before in made:
                made.update(now)
        if e.blocks or not e.outs or e.outs[0] not in active:
            continue
        if _elementwise(e):
            known = any(a in made for a in e.ins) or _steep(e, active, wild)
        else:
            of = e.ins if e.op in JOINS else e.ins[:1] if e.op in MOVES or _updates(e) else ()
            known = any(a in made for a in of)
        if known:
            made.add(e.outs[0])
    moved = {e.outs[0] for e in equations if e.op in MOVES}
    found: set[Var] = set()
    for e in reversed(equations):
        if not e.blocks and e.ins and e.ins[0] in made and is_array(e.ins[0]):
            # an extreme is a choice, as long as nothing is moved
            if e.op in _READ or (e.op in EXTREMES and e.ins[0] in moved):
                found.add(e.ins[0])  # type: ignore[arg-type]
        if not e.blocks and e.outs and e.outs[0] in found:
            found.update(a for a in e.ins if a in made)  # type: ignore[misc]
        for before, now in _carried(e):
            if before in made and not found.isdisjoint(now):
                found.add(before)
    for e in equations:
        for before, now in _carried(e):
            if before in found:
                found.update(now)
        if _updates(e) and e.ins[0] in found:
            found.add(e.outs[0])
    # What a function adds to the adjoint of an operand, it adds as it is.
    return found.difference(a for e in equations if e.op in CALLS for a in e.ins)


def _is_whole(e: Equation) -> bool:
    return bool(e.outs) and is_array(e.outs[0]) and (e.op in JOINS or _elementwise(e))


def _is_partial(e: Equation) -> bool:
    return e.op in _READ or e.op in EXTREMES


def _elementwise(e: Equation) -> bool:
    return not e.blocks and TABLE[e.op].elementwise


def _updates(e: Equation) -> bool:
    return not e.blocks and TABLE[e.op].update is not None


def _carried(e: Equation) -> Iterator[tuple[Var, tuple[Var, Var]]]:
    """What a loop that does nothing but store to an array starts from; what it carries and gives.

    So are elements stored that an array of indices names.
    """
    if e.op != "for":
        return
    body = e.blocks[0]
    for start, p, end, out in zip(e.ins[3:], body.params[1:], body.results, e.outs, strict=True):
        if isinstance(start, Var) and is_array(start):
            uses = [x for x in walk(body) if p in x.ins]
            if len(uses) == 1 and _updates(uses[0]) and uses[0].outs[0] is end:
                if p not in uses[0].ins[1:]:
                    yield start, (p, out)


def _infinite(block: Block) -> set[Var]:
    """The arrays that may have infinite elements among others; what numbers make infinite, is so
    as a whole."""
    made = (e.outs[0] for e in walk(block) if e.outs and _is_wild(e) and is_array(e.outs[0]))
    edges = successors(predecessors(block))
    return closure(made, {a: [v for v in after if is_array(v)] for a, after in edges.items()})


def _is_wild(e: Equation) -> bool:
    if not _elementwise(e) or not is_float(e.outs[0].type):
        return False
    return not tame(e) and not (e.op == "div" and not is_array(e.ins[1]))


def _steep(e: Equation, active: set[Var], wild: set[Var]) -> bool:
    """May the factor of a rule be infinite, in one element and not in others?"""
    if not is_array(e.outs[0]):
        return any(a in active and steep(e, k, wild) for k, a in enumerate(e.ins))
    if e.op == "div" and not is_array(e.ins[1]):
        return False
    return any(a in active and is_array(a) and steep(e, k, wild) for k, a in enumerate(e.ins))
