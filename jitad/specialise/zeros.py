"""Which zeros does a sweep write that nobody reads again, and which sums begin with zero?

The reverse of `a[i] = v` takes the adjoint of `a[i]` and leaves zero, since what was there before
has no influence.  Where nothing was added before either, as in arrays that a loop fills, nobody
asks for that zero: the sweep only takes the adjoint, as a person would write.  A loop that changes
nothing else of the array does not carry it any more.  And what is added to an array of zeros where
nothing was written before is stored, without being read.

A zero is unread if no access that comes later, in this iteration or in a later one, touches its
place; an addition is the first if it is no such access of any write.  Both are the dependence test
of `sweeps.settled`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jitad.sweeps.settled import Accesses
from jitad.sweeps.versions import READ
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, walk

_PAIRS = 200  # of accesses looked at, for one array
_STORED = {"accum": "store", "accum_slice": "store_slice"}


def stores(tape: Tape) -> Tape:
    """The tape with first additions to zeros as stores (changed in place).

    What is stored is 0.0 + v, which is v but for the sign of a zero.
    """
    made = {v: e for e in walk(tape.body) for v in e.outs}
    added = {e for e in walk(tape.body) if e.op in _STORED}
    for maker, v, users in _changed(tape.body, added):
        if maker.op == "full" and _is_zero(maker.ins[0]):
            for x in _first(v, users, made):
                x.op = _STORED[x.op]
    return tape


def unread(tape: Tape) -> Tape:
    """The tape without such zeros (changed in place)."""
    made = {v: e for e in walk(tape.body) for v in e.outs}
    zeroing = {e for e in walk(tape.body) if _is_zeroing(e, made)}
    gone: dict[Atom, Atom] = {}
    for _, v, users in _changed(tape.body, zeroing):
        for x in _unread(v, users, zeroing, made):
            gone[x.outs[0]] = x.ins[0]
    if gone:
        _without(tape.body, gone)
    return tape


def _changed(body: Block, some: set[Equation]) -> Iterator[tuple[Equation, Var, Block]]:
    """What makes an array that one of these equations changes, the array, and all that uses it.

    Only what uses it is looked at then, so that the work grows as the tape does.
    """
    before = _before(body) if some else {}
    roots = {_root(e.ins[0], before) for e in some}
    for block in [body, *(b for e in walk(body) for b in e.blocks)] if some else ():
        makers = {v: e for e in block.equations for v in e.outs if v in roots}
        users: dict[Atom, dict[Equation, None]] = {v: {} for v in makers}
        for e in block.equations if makers else ():
            for a in {_root(a, before) for a in (*e.ins, *free_vars(*e.blocks))}:
                if a in users:
                    users[a][e] = None
        for v, maker in makers.items():
            yield maker, v, Block([], list(users[v]), block.results)


def _is_zeroing(e: Equation, made: Mapping[Var, Equation]) -> bool:
    if e.op not in ("store", "store_slice"):
        return False
    value: Atom | None = e.ins[1]
    filled = made.get(value) if isinstance(value, Var) else None
    if filled is not None and filled.op == "full":
        value = filled.ins[0]
    return _is_zero(value)


def _is_zero(a: Atom | None) -> bool:
    return isinstance(a, Lit) and not a.value


def _before(body: Block) -> dict[Atom, Atom]:
    """Of what is a version of an array, the one before."""
    out: dict[Atom, Atom] = {}
    for e in walk(body):
        if e.op in READ:
            out[e.outs[0]] = e.ins[0]
        elif e.op in ("for", "while"):
            first = 3 if e.op == "for" else 0
            carried = e.ins[first:]
            for b in e.blocks:
                out.update(zip(b.params[len(b.params) - len(carried) :], carried, strict=True))
            out.update(zip(e.outs, carried, strict=True))
        elif e.op == "if":
            out.update(zip(e.outs, e.blocks[0].results, strict=True))
    return out


def _root(a: Atom, before: dict[Atom, Atom]) -> Atom:
    """The first version of an array; the way to it is short from then on."""
    last = a
    while last in before:
        last = before[last]
    while a in before:
        before[a], a = last, before[a]
    return last


def _unread(
    v: Var, users: Block, zeroing: set[Equation], made: Mapping[Var, Equation]
) -> list[Equation]:
    """The stores of zeros to array v that nothing reads."""
    found = _accesses(v, users, made)
    if found.whole or not found.plain or not found.versions.isdisjoint(users.results):
        return []
    mine = [a for a in found.all if a.equation in zeroing]
    reads = [a for a in found.all if a.equation.op not in ("store", "store_slice")]
    if len(mine) * len(reads) > _PAIRS:
        return []
    return [a.equation for a in mine if all(found.apart(a, r) for r in reads)]


def _first(v: Var, users: Block, made: Mapping[Var, Equation]) -> list[Equation]:
    """The additions to array v, which is zero, at places that nothing has written to before."""
    found = _accesses(v, users, made)
    mine = [a for a in found.all if a.equation.op in _STORED and _fits(a.equation)]
    writes = [a for a in found.all if a.written]
    if not found.plain or len(mine) * len(writes) > _PAIRS:
        return []
    return [a.equation for a in mine if all(found.apart(w, a) for w in writes)]


def _fits(e: Equation) -> bool:
    """May what is added be stored as it is?"""
    to, v = (a.type.dtype for a in e.ins[:2])  # type: ignore[union-attr]
    return bool(to == v)


def _accesses(v: Var, users: Block, made: Mapping[Var, Equation]) -> Accesses:
    found = Accesses([b for e in users.equations for b in e.blocks], made)
    found.block(users, v)
    return found


def _without(block: Block, gone: dict[Atom, Atom]) -> None:
    def now(a: Atom) -> Atom:
        while a in gone:
            a = gone[a]
        return a

    block.equations = [e for e in block.equations if not gone.keys() & {*e.outs}]
    for e in block.equations:
        e.ins = tuple(map(now, e.ins))
        for b in e.blocks:
            _without(b, gone)
    block.results = list(map(now, block.results))
