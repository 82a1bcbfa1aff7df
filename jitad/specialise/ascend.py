"""Which loops of a reverse sweep may run upwards, reading their records like an array?

A reverse loop runs downwards because the last record comes off the stack first.  Where nothing
else keeps its order (it carries sums, and arrays that each iteration touches at a place of its
own), the records of all iterations are taken off at once, as an array (`pops`), and the loop runs
upwards: lanes then need not be turned round, and addresses are those of the forward loop.
"""

from __future__ import annotations

from collections.abc import Iterable

from jitad.primitives import TABLE
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Tape, Var, free_vars, lit, walk
from jitad.tape.linear import Forms, Linear
from jitad.tape.types import INT, Array, Scalar, Stack

_TOUCHES = {"load": 1, "store": 2, "accum": 2}  # operands before the index


def ascend(tape: Tape) -> Tape:
    """The tape with such loops turned round (in place)."""
    _visit(tape.body, Forms())
    return tape


def _visit(block: Block, forms: Forms) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner, forms)
        if (form := forms.result(e.op, e.ins)) is not None:
            forms.of_var[e.outs[0]] = form
        out += _turned(e, forms) or [e]
    block.equations = out


def _turned(e: Equation, forms: Forms) -> list[Equation] | None:
    """The loop upwards, with what comes before it."""
    if e.op != "for" or e.ins[1] != lit(-1) or not _downwards(e, forms):
        return None
    body = e.blocks[0]
    if any(x.op not in STRUCTURED and TABLE[x.op].effect for x in walk(body)):
        return None
    uses = _uses(body)
    pops: dict[int, list[Equation]] = {}
    for k, (p, r) in enumerate(zip(body.params[1:], body.results, strict=True)):
        if isinstance(p.type, Stack):
            found = _popped(p, r, uses)
            if found is None:
                return None
            pops[k] = found
        elif not (_adds_up(p, r, uses) or _keeps_apart(p, r, uses, body, forms)):
            return None
    return _upwards(e, pops) if any(pops.values()) else None


def _downwards(e: Equation, forms: Forms) -> bool:
    """Does the index go from count - 1 to 0?"""
    start, _, count = e.ins[:3]
    return not (apart := forms.of(start) - forms.of(count)).terms and apart.constant == -1


# -- what is carried ------------------------------------------------------------------------------

Uses = dict[Atom, list[Equation | None]]  # None: as a result


def _uses(body: Block) -> Uses:
    """Which equations of the body use a variable; those with blocks count for all in them."""
    out: Uses = {}
    for x in body.equations:
        for a in {*x.ins, *free_vars(*x.blocks)}:
            out.setdefault(a, []).append(x)
    for a in body.results:
        out.setdefault(a, []).append(None)
    return out


def _popped(start: Var, end: Atom, uses: Uses) -> list[Equation] | None:
    """The pops of single numbers that are all that happens to a stack."""
    found: list[Equation] = []
    now: Atom = start
    while now is not end:
        (x, *more) = uses.get(now, [None])
        if more or x is None or x.op != "pop" or not isinstance(x.outs[1].type, Scalar):
            return None
        found.append(x)
        now = x.outs[0]
    return found if uses.get(end) == [None] else None


def _adds_up(start: Var, end: Atom, uses: Uses) -> bool:
    """Is it only added to?"""
    now: Atom = start
    while now is not end:
        (x, *more) = uses.get(now, [None])
        if more or x is None or x.ins.count(now) != 1:
            return False
        if not (x.op == "add" or (x.op in ("sub", "accum", "accum_slice") and x.ins[0] is now)):
            return False
        now = x.outs[0]
    return uses.get(end) == [None] and (start is end or start.type.dtype[0] == "f")  # type: ignore[union-attr]


def _keeps_apart(start: Var, end: Atom, uses: Uses, body: Block, forms: Forms) -> bool:
    """Is it an array that an iteration reads and writes at one element, another each time?"""
    if not isinstance(start.type, Array):
        return False
    index = body.params[0]
    inside = {v for x in walk(body) for v in x.outs}
    places: set[tuple[Linear, ...]] = set()
    now: Atom = start
    while True:
        following: list[Atom] = []
        for x in uses.get(now, []):
            if x is None:
                following.append(now)
            elif x.op in _TOUCHES and x.ins.count(now) == 1 and x.ins[0] is now:
                places.add(tuple(forms.of(a) for a in x.ins[_TOUCHES[x.op] :]))
                following += x.outs if x.op != "load" else ()
            else:
                return False
        if following == [now]:
            break
        if len(following) != 1:
            return False
        (now,) = following
    if now is not end or len(places) > 1:
        return False
    return all(_moves(place, index, inside) for place in places)


def _moves(place: Iterable[Linear], index: Var, inside: set[Var]) -> bool:
    """Does this place differ between any two iterations?"""
    return any(
        f.coefficient(index) and all(v is index or v not in inside for v, _ in f.terms)
        for f in place
    )


# -- the loop upwards -----------------------------------------------------------------------------


def _upwards(e: Equation, pops: dict[int, list[Equation]]) -> list[Equation]:
    (body,) = e.blocks
    index, count = body.params[0], e.ins[2]
    before: list[Equation] = []
    times = Var(INT)
    before.append(Equation("maximum", (count, lit(0)), (times,), {}, (), e.pos))
    instead: dict[int, list[Equation]] = {}
    for k, found in pops.items():
        if not found:
            continue
        p, stack = len(found), e.ins[3 + k]
        assert isinstance(stack.type, Stack) and isinstance(stack.type.element, Scalar)
        dtype = stack.type.element.dtype
        size = times
        if p > 1:
            size = Var(INT)
            before.append(Equation("mul", (times, lit(p)), (size,), {}, (), e.pos))
        records = Var(Array(dtype, 1), (size,))
        outs = (e.outs[k], records)
        before.append(Equation("pops", (stack, size), outs, {"dtype": dtype}, (), e.pos))
        for j, x in enumerate(found):  # what was pushed last comes first
            at, steps = _place(index, p, p - 1 - j)
            out = x.outs[1]
            if stack.type.element.py:  # an array holds NumPy's numbers, and float32 meets them so
                number = Var(Scalar(dtype))
                params = {"dtype": dtype, "py": True}
                steps.append(Equation("load", (records, at), (number,), {}, (), x.pos))
                instead[id(x)] = [*steps, Equation("cast", (number,), (out,), params, (), x.pos)]
                continue
            instead[id(x)] = [*steps, Equation("load", (records, at), (out,), {}, (), x.pos)]
    gone = {k for k, found in pops.items() if found}
    kept = [k for k in range(len(e.outs)) if k not in gone]
    new = Block(
        [index, *(body.params[1 + k] for k in kept)],
        [y for x in body.equations for y in instead.get(id(x), (x,))],
        [body.results[k] for k in kept],
    )
    ins = (lit(0), lit(1), count, *(e.ins[3 + k] for k in kept))
    loop = Equation("for", ins, tuple(e.outs[k] for k in kept), e.params, (new,), e.pos)
    return [*before, loop]


def _place(index: Var, stride: int, offset: int) -> tuple[Var, list[Equation]]:
    """index * stride + offset"""
    at, steps = index, []
    for op, c, neutral in (("mul", stride, 1), ("add", offset, 0)):
        if c != neutral:
            out = Var(INT)
            steps.append(Equation(op, (at, lit(c)), (out,)))
            at = out
    return at, steps
