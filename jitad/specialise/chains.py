"""What does a loop do with a value that it carries: only add to it, or only touch its own place?

Iterations commute as far as such values go.  Both questions are answered with the variables that
hold the value on its way through the body, loops and branches inside it included.
"""

from __future__ import annotations

from collections.abc import Callable

from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import Atom, Block, Equation, Var, free_vars, walk
from jitad.tape.types import Array, is_float

_PARTS = {"load": 1, "store": 2, "accum": 2, "slice": 1, "store_slice": 2, "accum_slice": 2}


def summed(block: Block, start: Var, end: Atom) -> set[Var] | None:
    """The versions of a float that is only added to, and read nowhere; None if it isn't one."""
    if not is_float(start.type):
        return None
    users: dict[Atom, list[Equation]] = {}
    for x in block.equations:
        for a in {*x.ins, *free_vars(*x.blocks)}:
            users.setdefault(a, []).append(x)
    found = {start}
    now: Atom = start
    while now is not end:
        using = users.get(now, [])
        if len(using) != 1 or now in block.results or not isinstance(now, Var):
            return None
        x = using[0]
        match x.op:
            case "add" if x.ins.count(now) == 1:
                now = x.outs[0]
            case "sub" | "accum" | "accum_slice" if x.ins[0] is now and now not in x.ins[1:]:
                now = x.outs[0]
            case "for" if x.ins[3:].count(now) == 1 and now not in (
                *x.ins[:3], *free_vars(*x.blocks)
            ):  # fmt: skip
                k = x.ins[3:].index(now)
                inner = x.blocks[0]
                within = summed(inner, inner.params[1 + k], inner.results[k])
                if within is None:
                    return None
                found |= within
                now = x.outs[k]
            case "if" if now is not x.ins[0]:
                ways = [
                    (k, found_)
                    for k in range(len(x.outs))
                    if all(found_ := [summed(b, now, b.results[k]) for b in x.blocks])
                ]
                if len(ways) != 1:
                    return None
                k, withins = ways[0]
                found = found.union(*withins)  # type: ignore[arg-type]
                now = x.outs[k]
            case _:
                return None
        if now.type.dtype != start.type.dtype:  # type: ignore[union-attr]
            return None
        found.add(now)
    return found if not users.get(end) and sum(a is end for a in block.results) == 1 else None


def apart(
    block: Block, start: Var, end: Atom, own: Callable[[Atom], bool]
) -> set[Var] | None:
    """The versions of an array in which an iteration touches one place, at an index of its `own`.

    All its reads and writes have that index along one axis: the same index, at the same axis.
    """
    if not isinstance(start.type, Array):
        return None

    def follow(x: Equation, a: Var, out: Var) -> bool:
        return x.op in ("store", "accum", "store_slice", "accum_slice") and a is x.ins[0]

    versions = closure([start], successors(predecessors(block, follow)))
    if end not in versions or sum(a in versions for a in block.results) != 1:
        return None
    if not all(_all_or_none(x, versions) for x in walk(block)):
        return None
    places: set[tuple[int, Atom]] = set()
    for x in walk(block):
        touched = [k for k, a in enumerate(x.ins) if a in versions]
        if not touched or x.op == "for":
            continue
        if touched != [0] or x.op not in _PARTS:
            return None
        index = x.ins[_PARTS[x.op] :]
        kinds = x.params.get("kinds", "i" * len(index))
        mine, at = [], 0
        for axis, kind in enumerate(kinds):
            if kind == "i" and own(index[at]):
                mine.append((axis, index[at]))
            at += 1 if kind == "i" else 3
        if len(mine) != 1:
            return None
        places.update(mine)
    return versions if len(places) <= 1 else None


def _all_or_none(x: Equation, versions: set[Var]) -> bool:
    """Where ways meet, does each bring a version of the array, or none of them?"""
    match x.op:
        case "for":
            body = x.blocks[0]
            ways = zip(x.ins[3:], body.params[1:], body.results, x.outs, strict=True)
        case "if":
            ways = zip(*(b.results for b in x.blocks), x.outs, strict=True)
        case _:
            return not any(a in versions for b in x.blocks for a in b.results)
    return all(len({a in versions for a in way}) == 1 for way in ways)
