"""Which records are kept in an array, a place an iteration, and not on a stack?

A loop that pushes the same numbers in each iteration, and a reverse loop that pops them, keep the
order of their iterations for the stack's sake alone.  Where that is the only reason, each number
gets an array, written and read at the loop's index: then both loops can be divided among threads.
Arrays that are recorded get one with an axis more, whether or not their loop can be divided: what
computes them, and stores them there, may be (`rows.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, free_vars, is_array, lit, walk
from jitad.tape.linear import Forms
from jitad.tape.types import INT, Array, Scalar, Stack

Fits = Callable[[Equation, set[int]], bool]  # can a loop be divided but for what it carries so?


RECORDS = "kept"  # what such arrays are called
Around = tuple[tuple[Equation, Block], ...]  # loops, and the blocks that they stand in


@immutable
class _Records:
    """One stack: where it is made, and what goes on and off it in an iteration."""

    made: Equation
    there: int  # its number among what the loop carries
    back: int  # and among what the reverse loop carries
    pushes: list[Equation]
    pops: list[Equation]  # of the same numbers, in the same order


def in_slabs(tape: Tape) -> Tape:
    """The tape with arrays that are recorded in such arrays (in place), which lie outside of all
    loops."""
    if any(e.op == "push" and is_array(e.ins[1]) for e in walk(tape.body)):
        forms = Forms()
        forms.learn(tape.body)
        _visit(tape.body, forms, ())
    return tape


def _visit(block: Block, forms: Forms, around: Around) -> None:
    for e in list(block.equations):
        for b in e.blocks:
            _visit(b, forms, (*around, (e, block)) if e.op in ("for", "while") else around)
    users, makers = _users(block)
    for e in list(block.equations):
        found = _matched(e, users, makers, forms) if e.op == "for" else None
        if found is None:
            continue
        back, records = found
        elements = [x.ins[1] for r in records for x in r.pushes]
        extents = [d for v in elements for d in v.shape]
        if any(map(is_array, elements)) and _outside(around, extents):
            count = _longest(e.ins[2], forms, around)
            if count is not None:
                loop, place = around[0] if around else (e, block)
                _before(place, loop, count)
                _replace(block, e, back, records, count[-1].outs[0])


def _before(block: Block, e: Equation, equations: list[Equation]) -> None:
    at = block.equations.index(e)
    block.equations[at:at] = equations


def _outside(around: Around, atoms: Iterable[Atom]) -> bool:
    """Is none of these made in one of the loops around?"""
    return not around or not _made_in(around[0][0]).intersection(atoms)


def _made_in(loop: Equation) -> set[Atom]:
    blocks = [loop.blocks[-1], *(b for x in walk(loop.blocks[-1]) for b in x.blocks)]
    return {v for b in blocks for vs in (b.params, *(x.outs for x in b.equations)) for v in vs}


def _longest(count: Atom, forms: Forms, around: Around) -> list[Equation] | None:
    """How to compute the most iterations that a loop has, in front of the loops around it."""
    form = forms.of(count)
    for loop, _ in reversed(around):
        index = loop.blocks[-1].params[0] if loop.op == "for" else None
        c = form.coefficient(index) if index is not None else 0
        if index is not None and c:
            start, step, trips = loop.ins[:3]
            if step not in (lit(1), lit(-1)):
                return None
            up, at = step == lit(1), forms.of(start)
            if up == (c > 0):  # then it is the last one
                at += (forms.of(trips).plus(-1)) * (1 if up else -1)
            form = form.replace(index, at)
    if around and not _made_in(around[0][0]).isdisjoint(v for v, _ in form.terms):
        return None
    b = Builder()
    total: Atom = lit(form.constant)
    for v, c in form.terms:
        total = b.emit("add", total, b.emit("mul", v, lit(c)))
    return [*b.blocks[0].equations, *_not_negative(total)]


def _not_negative(count: Atom) -> list[Equation]:
    return [Equation("maximum", (count, lit(0)), (Var(INT),))]


def slabs(block: Block, forms: Forms, fits: Fits, arrays: int) -> None:
    """Replace such stacks in a block and in the blocks in it (in place); those of arrays as far as
    so many blocks deep."""
    for e in block.equations:
        for b in e.blocks:
            slabs(b, forms, fits, arrays - 1)
    users, makers = _users(block)
    for e in list(block.equations):
        if e.op != "for" or not any(isinstance(v.type, Stack) for v in e.outs):
            continue
        found = _matched(e, users, makers, forms)
        if found is None:
            continue
        back, records = found
        whole = any(is_array(x.ins[1]) for r in records for x in r.pushes)
        if whole and arrays <= 0:
            continue
        if whole or (fits(e, {r.there for r in records}) and fits(back, {r.back for r in records})):
            length = _not_negative(e.ins[2])
            _before(block, e, length)
            _replace(block, e, back, records, length[0].outs[0])


def _users(block: Block) -> tuple[dict[Atom, list[Equation]], dict[Var, Equation]]:
    """Which equations of a block use a variable, and which makes it."""
    users: dict[Atom, list[Equation]] = {}
    for e in block.equations:
        for a in {*e.ins, *free_vars(*e.blocks)}:
            users.setdefault(a, []).append(e)
    return users, {v: e for e in block.equations for v in e.outs}


def _matched(
    e: Equation, users: dict[Atom, list[Equation]], makers: dict[Var, Equation], forms: Forms
) -> tuple[Equation, list[_Records]] | None:
    """The reverse loop of a loop over 0, 1, ..., if all stacks of both are theirs alone."""
    if e.ins[:2] != (lit(0), lit(1)):
        return None
    records: list[_Records] = []
    back: Equation | None = None
    for k, v in enumerate(e.outs):
        if not isinstance(v.type, Stack):
            continue
        init = e.ins[3 + k]
        made = makers.get(init) if isinstance(init, Var) else None
        after = users.get(v, [])
        if made is None or made.op != "stack" or len(after) != 1 or after[0].op != "for":
            return None
        if back not in (None, after[0]):
            return None
        (back,) = after
        if v not in back.ins[3:]:
            return None
        at = back.ins[3:].index(v)
        pushes = _chain(e.blocks[0], k, "push")
        pops = _chain(back.blocks[0], at, "pop")
        if pushes is None or pops is None or len(pushes) != len(pops):
            return None
        inside = {w for x in walk(e.blocks[0]) for w in x.outs} | set(e.blocks[0].params)
        if any(not inside.isdisjoint(x.ins[1].shape) for x in pushes):
            return None
        records.append(_Records(made, k, at, pushes, pops[::-1]))
    if back is None or back.ins[1] != lit(-1) or back.ins[2] != e.ins[2]:
        return None
    from_end = forms.of(back.ins[0]) - forms.of(back.ins[2])
    if from_end.terms or from_end.constant != -1:
        return None
    theirs = {r.back for r in records}
    left = [back.outs[k] for k in theirs]
    others = [k for k, v in enumerate(back.outs) if isinstance(v.type, Stack) and k not in theirs]
    return None if others or any(users.get(v) for v in left) else (back, records)


def _chain(body: Block, k: int, op: str) -> list[Equation] | None:
    """The pushes or pops that are all that happens to a carried stack."""
    found: list[Equation] = []
    now: Atom = body.params[1 + k]
    for x in body.equations:
        if x.blocks and now in free_vars(*x.blocks):
            return None
        if now in x.ins:
            if x.op != op or (op == "push" and len(x.ins) > 2):
                return None
            found.append(x)
            now = x.outs[0]
    return found if now is body.results[k] else None


def _replace(
    block: Block, e: Equation, back: Equation, records: list[_Records], length: Var
) -> None:
    before: list[Equation] = []
    init: list[Atom] = []
    params: list[Var] = []
    results: list[Atom] = []
    outs: list[Var] = []
    stores: dict[int, list[Equation]] = {}
    loads: dict[int, list[Equation]] = {}
    for r in records:
        assert isinstance(r.made.outs[0].type, Stack)
        element = r.made.outs[0].type.element
        assert isinstance(element, (Scalar, Array))
        for push, pop in zip(r.pushes, r.pops, strict=True):
            shape = push.ins[1].shape
            kind = Array(element.dtype, 1 + len(shape))
            start, inside, after, out = (
                Var(kind, (length, *shape), RECORDS) for _ in range(4)
            )
            told = {"dtype": element.dtype, "start": "empty"}
            before.append(Equation("blank", start.shape, (start,), told, (), e.pos))
            index, from_end = e.blocks[0].params[0], back.blocks[0].params[0]
            whole = tuple(x for n in shape for x in (lit(0), lit(1), n))
            kinds = {"kinds": "i" + "r" * len(shape)} if shape else {}
            value, maker = push.ins[1], _maker(e.blocks[0], push.ins[1])
            store = Equation("store_slice" if shape else "store", (inside, value, index, *whole),
                             (after,), kinds, (), push.pos)  # fmt: skip
            stores[id(push)] = [store]
            if maker is not None:  # from then on it is the record, and has no memory of its own
                now = Var(value.type, shape, maker.outs[0].name)
                store.ins = (inside, now, index, *whole)
                again = Equation("slice", (after, index, *whole), maker.outs, kinds, (), push.pos)
                maker.outs = (now,)
                stores |= {id(push): [], id(maker): [maker, store, again]}
            loads[id(pop)] = [Equation("slice" if shape else "load", (out, from_end, *whole),
                                       (pop.outs[1],), kinds, (), pop.pos)]  # fmt: skip
            init.append(start)
            params.append(inside)
            results.append(after)
            outs.append(out)
    _without(e, {r.there for r in records}, stores)
    _without(back, {r.back for r in records}, loads)
    e.ins, e.outs = (*e.ins, *init), (*e.outs, *outs)
    e.blocks[0].params += params
    e.blocks[0].results += results
    gone = {r.made for r in records}
    _before(block, e, before)
    block.equations = [x for x in block.equations if x not in gone]


def _maker(body: Block, value: Atom) -> Equation | None:
    """What computes an array element by element, in this block."""
    found = [x for x in body.equations if value in x.outs and not x.blocks]
    if not is_array(value) or not found or not TABLE[found[0].op].elementwise:
        return None
    return found[0]


def _without(e: Equation, numbers: set[int], instead: dict[int, list[Equation]]) -> None:
    """A loop that doesn't carry these, with equations in the place of others."""
    (body,) = e.blocks
    kept = [k for k in range(len(e.outs)) if k not in numbers]
    e.ins = (*e.ins[:3], *(e.ins[3 + k] for k in kept))
    e.outs = tuple(e.outs[k] for k in kept)
    body.params = [body.params[0], *(body.params[1 + k] for k in kept)]
    body.results = [body.results[k] for k in kept]
    body.equations = [y for x in body.equations for y in instead.get(id(x), [x])]
