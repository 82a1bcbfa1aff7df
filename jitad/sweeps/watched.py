"""Of which arrays does the adjoint tell which elements nothing was added to (`untouched`)?

Of those that come from an operation whose rule may have an infinite factor, at once or element by
element, and of which parts alone are read, or overwritten.  What is stored into an array, row by
row or number by number, makes it one of them where value and factor are not infinite together: a
program that leaves infinite numbers unread is rare, one that leaves the root of zero is not, and
recurrences, which divide by what they carry, would pay for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from jitad.primitives import TABLE
from jitad.primitives.array import EXTREMES, JOINS, MOVES, PARTS, STORES
from jitad.primitives.elementwise import UPRIGHT
from jitad.primitives.table import tame
from jitad.sweeps.reached import steep
from jitad.tape.flow import Edges, closure, predecessors, successors
from jitad.tape.intervals import Intervals
from jitad.tape.ir import CALLS, Block, Equation, Var, is_array, walk
from jitad.tape.types import is_float

_READ = (*PARTS, *STORES)  # or overwritten
_ROOTS = ("sqrt", "cbrt")


def watched(block: Block, active: set[Var]) -> set[Var]:
    """These arrays, and the numbers that they are made of; of those that have an adjoint."""
    equations = list(walk(block))
    if not any(e.op in _READ or e.op in EXTREMES for e in equations):
        return set()
    wild = _infinite(block)
    rules = (e for e in equations if _elementwise(e) and e.outs[0] in active)
    sharp = [e for e in rules if _steep(e, active, wild)]
    if not sharp:
        return set()
    before = _edges(block, _hands_on)
    made = closure([e.outs[0] for e in sharp], successors(before)) & active
    bounds = Intervals({v: e for e in equations for v in e.outs})
    upright = [e.outs[0] for e in sharp if e.op in UPRIGHT and not _keeps_off(e, bounds)]
    kept, stored = set[Var](), Edges()
    if upright:
        filled = {e.outs[0] for e, body in _stores(block) if body is None or _fills(e, body)}
        stored = _edges(block, partial(_is_stored, filled), carried=True)
        kept = closure(upright, successors(stored)) & active - made
        made |= kept
    values = predecessors(block, _is_value)
    moved = {e.outs[0] for e in equations if e.op in MOVES}
    found: set[Var] = set()
    for e in equations:
        # an extreme is a choice, as long as nothing is moved
        if e.op in _READ or (e.op in EXTREMES and e.ins[0] in moved):
            found.update({e.ins[0]} & made)  # type: ignore[arg-type]
        if e.op == "where":
            found.update(a for a in e.ins[1:] if a in kept and is_array(a))  # type: ignore[misc]
    versions = successors(predecessors(block, _updated))
    edges = (before, stored, values, versions)
    near = {v: [a for es in edges for a in es.get(v, ()) if a in made] for v in made}
    found = closure(found, near)
    under = {a for e in equations if e.op == "if" for b in e.blocks for x in walk(b) for a in x.ins}
    under &= active
    for e in equations:
        if e.op in MOVES and e.ins[0] in found and e.outs[0] in under:
            found.add(e.outs[0])
    # What a function adds to the adjoint of an operand, it adds as it is.
    found.difference_update(a for e in equations if e.op in CALLS for a in e.ins)
    for e in equations:
        if e.op in ("for", "while"):
            params = e.blocks[-1].params[e.op == "for" :]
            found.difference_update(
                p for p, out in zip(params, e.outs, strict=True) if out not in found
            )
    return found


def _edges(
    block: Block, follow: Callable[[Equation, Var, Var], bool], carried: bool = False
) -> Edges:
    """`predecessors`; numbers that conditions choose, and loops if not `carried`, have none."""
    edges = predecessors(block, follow)
    for e in walk(block):
        if e.blocks:
            loop, known = e.op in ("for", "while"), e.op in ("for", "while", "if")
            for v in (*e.outs, *(p for body in e.blocks for p in body.params)):
                if not (known if is_array(v) else loop and carried):
                    edges[v] = []
    return edges


def _hands_on(e: Equation, operand: Var, out: Var) -> bool:
    """Is what nothing was added to of the result, so of the operand?"""
    if e.op in JOINS or _elementwise(e):
        return True
    return operand is e.ins[0] and (e.op in MOVES or _updates(e))


def _keeps_off(e: Equation, bounds: Intervals) -> bool:
    """Is it a root of what is above zero, as of distances that are softened?"""
    return e.op in _ROOTS and bounds.of(e.ins[0])[0] > 0.0


def _is_stored(filled: set[Var], e: Equation, operand: Var, out: Var) -> bool:
    """The same, of numbers that become elements, and rows that become rows, of what is filled."""
    if _is_value(e, operand, out):
        return out in filled  # not where it is only added
    return _hands_on(e, operand, out) and (is_array(operand) or not is_array(out) or e.op in JOINS)


def _stores(block: Block, body: Block | None = None) -> Iterator[tuple[Equation, Block | None]]:
    """Where parts of arrays are overwritten, and the body of the loop right around."""
    for e in block.equations:
        if e.op in STORES:
            yield e, body
        for inner in e.blocks:
            yield from _stores(inner, inner if e.op in ("for", "while") else body)


def _fills(store: Equation, body: Block) -> bool:
    """Does the loop read nothing of the array but what has just been stored?"""
    versions = predecessors(body, _updated)
    later = successors(versions)
    one = closure([store.outs[0]], {v: [*versions.get(v, ()), *later.get(v, ())]
                                    for v in (*versions, *later)})  # fmt: skip
    reads = (e for e in walk(body) if not e.blocks and not one.isdisjoint(e.ins))
    at = store.ins[2:]
    return all(
        (_updates(e) and one.isdisjoint(e.ins[1:])) or (e.op == "load" and e.ins[1:] == at)
        for e in reads
    )


def _is_value(e: Equation, operand: Var, out: Var) -> bool:
    return _updates(e) and operand is e.ins[1]


def _updated(e: Equation, operand: Var, out: Var) -> bool:
    return _updates(e) and operand is e.ins[0]


def _elementwise(e: Equation) -> bool:
    return not e.blocks and TABLE[e.op].elementwise


def _updates(e: Equation) -> bool:
    return not e.blocks and TABLE[e.op].update is not None


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
    if e.op == "div" and not is_array(e.ins[1]):
        return False
    if not is_array(e.outs[0]):
        return any(a in active and steep(e, k, wild) for k, a in enumerate(e.ins))
    return any(a in active and is_array(a) and steep(e, k, wild) for k, a in enumerate(e.ins))
