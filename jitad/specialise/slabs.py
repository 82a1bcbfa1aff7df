"""Which records are kept in an array, a place an iteration, and not on a stack?

A loop that pushes the same numbers in each iteration, and a reverse loop that pops them, keep the
order of their iterations for the stack's sake alone.  Where that is the only reason, each number
gets an array, written and read at the loop's index: then both loops can be divided among threads.
Arrays that are recorded get one with an axis more, whether or not their loop can be divided: what
computes them, and stores them there, may be (`rows.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Var, free_vars, is_array, lit, walk
from jitad.tape.linear import Forms
from jitad.tape.types import INT, Array, Scalar, Stack

Fits = Callable[[Equation, set[int]], bool]  # can a loop be divided but for what it carries so?


@dataclass(frozen=True)
class _Records:
    """One stack: where it is made, and what goes on and off it in an iteration."""

    made: Equation
    there: int  # its number among what the loop carries
    back: int  # and among what the reverse loop carries
    pushes: list[Equation]
    pops: list[Equation]  # of the same numbers, in the same order


def slabs(block: Block, forms: Forms, fits: Fits, arrays: int) -> None:
    """Replace such stacks in a block and in the blocks in it (in place); those of arrays as far as
    so many blocks deep."""
    for e in block.equations:
        for b in e.blocks:
            slabs(b, forms, fits, arrays - 1)
    users: dict[Atom, list[Equation]] = {}
    makers = {v: e for e in block.equations for v in e.outs}
    for e in block.equations:
        for a in {*e.ins, *free_vars(*e.blocks)}:
            users.setdefault(a, []).append(e)
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
            _replace(block, e, back, records)


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


def _replace(block: Block, e: Equation, back: Equation, records: list[_Records]) -> None:
    count = e.ins[2]
    length = Var(INT)
    before = [Equation("maximum", (count, lit(0)), (length,), {}, (), e.pos)]
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
            start, inside, after, out = (Var(kind, (length, *shape)) for _ in range(4))
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
    at = block.equations.index(e)
    block.equations[at:at] = before
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
