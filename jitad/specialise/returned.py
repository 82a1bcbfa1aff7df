"""Which integers that functions are handed are extents of arrays that they are handed, too?

Around a recursion the extents of its arrays are known by other names: a function takes them beside
the arrays, and reads those of an array that it was lent and that came back off that array again.
Where all calls agree, those of the function itself included, they are one here, so that what was
proved of an index holds in the function, behind a call, and in the next round of a loop around it.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitad.specialise.affine import AffineBuilder
from jitad.tape.copy import begin, copy_block
from jitad.tape.dead import remove_dead
from jitad.tape.ir import CALLS, Atom, Block, Equation, Tape, Var, is_array, walk
from jitad.tape.lent import STORES, lent
from jitad.tape.types import INT, Array

Pair = tuple[int, int, int]  # of parameters: an integer, an array, and which of its extents it is


def returned(tape: Tape) -> Tape:
    """The tape and its functions with extents under one name, which functions take no more."""
    if not tape.functions:
        return tape
    bodies = {"": tape.body, **{name: t.body for name, t in tape.functions.items()}}
    before = dict(_before(tape))
    for body in bodies.values():
        for e in walk(body):
            if e.op == "dim":
                e.ins = (_first(e.ins[0], before),)
    same = _agreed(tape, bodies, before)
    for body in bodies.values():
        for e in walk(body):
            if e.op in CALLS:
                known = {i for i, _, _ in same[e.params["function"]]}
                e.ins = tuple(a for i, a in enumerate(e.ins) if i not in known)
    functions = {
        name: Tape(t.name, _renamed(t.body, same[name]), t.pos)
        for name, t in tape.functions.items()
    }
    return Tape(tape.name, _renamed(tape.body, set()), tape.pos, functions)


def _before(tape: Tape) -> Iterator[tuple[Atom, Atom]]:
    """Array versions, each with one of the same extents from before it."""
    back = lent(tape.functions)
    for t in (tape, *tape.functions.values()):
        for e in walk(t.body):
            match e.op:
                case op if op in STORES:
                    yield e.outs[0], e.ins[0]
                case op if op in CALLS:
                    for parameter, result in back[e.params["function"]].items():
                        yield e.outs[result], e.ins[parameter]
                case "for" | "while":  # what they carry keeps its extents
                    starts = e.ins[3 if e.op == "for" else 0 :]
                    for block in e.blocks:
                        params = block.params[len(block.params) - len(starts) :]
                        yield from zip(params, starts, strict=True)
                    yield from zip(e.outs, starts, strict=True)


def _first(a: Atom, before: dict[Atom, Atom]) -> Atom:
    while is_array(a) and a in before:
        a = before[a]
    return a


def _agreed(
    tape: Tape, bodies: dict[str, Block], before: dict[Atom, Atom]
) -> dict[str, set[Pair]]:
    """The pairs of each function that hold in all calls, if they hold in the calls' functions."""
    same = {name: set(_pairs(t.body.params)) for name, t in tape.functions.items()}
    calls: list[tuple[str, Equation]] = [
        (name, e) for name, body in bodies.items() for e in walk(body) if e.op in CALLS
    ]
    while True:
        count = sum(map(len, same.values()))
        for caller, e in calls:
            params = bodies[caller].params
            held = same.get(caller, set())
            names = {(params[i], params[j], axis) for i, j, axis in held}
            callee = e.params["function"]
            for i, j, axis in list(same[callee]):
                a = _first(e.ins[j], before)
                is_extent = bool(a.shape) and a.shape[axis] == e.ins[i]
                if not is_extent and (e.ins[i], a, axis) not in names:
                    same[callee].discard((i, j, axis))
        if sum(map(len, same.values())) == count:
            return same


def _pairs(params: list[Var]) -> Iterator[Pair]:
    for i, p in enumerate(params):
        for j, a in enumerate(params):
            if p.type == INT and isinstance(a.type, Array):
                yield from ((i, j, axis) for axis in range(a.type.ndim))


def _renamed(block: Block, same: set[Pair]) -> Block:
    b = AffineBuilder()
    env = begin(b, block)
    new = b.blocks[0]
    for i, j, axis in same:
        env[block.params[i]] = env[block.params[j]].shape[axis]
    known = {i for i, _, _ in same}
    new.params = [p for i, p in enumerate(new.params) if i not in known]
    new.results = copy_block(b, block, env)
    return remove_dead(new)
