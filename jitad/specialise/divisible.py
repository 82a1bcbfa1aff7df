"""Can the iterations of a loop be divided among threads, and what becomes of what it carries?

They can where iterations may run in any order: what is carried are sums, and arrays in which an
iteration touches elements of its own (*apart*), or to which it only adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import field

from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.sweeps.again import in_any_order
from jitad.tape.ir import (
    STRUCTURED,
    Atom,
    Block,
    Equation,
    Lit,
    Tape,
    Var,
    free_vars,
    is_array,
    lit,
    walk,
)
from jitad.tape.linear import Forms, Linear
from jitad.tape.types import Stack

_FARTHEST = 64  # iterations of a part that may be left for later

_ADDS = {"accum": 2, "accum_slice": 2}  # operands before the index
_TOUCHES = {"load": 1, "slice": 1, "store": 2, "store_slice": 2, **_ADDS}


@immutable
class Plan:
    """How a loop can be divided: numbers of what it carries."""

    sums: list[int] = field(default_factory=list)
    apart: list[int] = field(default_factory=list)
    summed: list[int] = field(default_factory=list)  # arrays added to anywhere
    late: int = 0  # the last iterations of a part that others may not see half done


class Serial(Exception):
    """Why a loop keeps its order."""


def plan(
    e: Equation, forms: Forms, functions: dict[str, Tape], records: Set[int] = frozenset()
) -> Plan:
    """How this `for` can be divided; Serial if it can't.  Of what it carries, the numbers `records`
    are not looked at."""
    (body,) = e.blocks
    step = e.ins[1]
    if not isinstance(step, Lit) or not step.value:
        raise Serial("its step is not known")
    if any(isinstance(v.type, Stack) for v in free_vars(body)):
        raise Serial("it records")
    _effects(body, functions)
    out = Plan()
    late = 0
    for k, (p, r) in enumerate(zip(body.params[1:], body.results, strict=True)):
        name = p.name or "a number"
        if k in records:
            continue
        if isinstance(p.type, Stack):
            raise Serial("it keeps records on a stack")
        if not is_array(p):
            if not in_any_order(e, [k]):
                raise Serial(f"an iteration needs {name} of the one before")
            out.sums.append(k)
            continue
        touches = list(_family(body, p, r))
        span = _span(touches, body, int(step.value), forms)
        adds = all(x.op in _ADDS or x.op == "add" for x in touches)
        if span == 0 or (adds and span is not None and span <= _FARTHEST):
            late = max(late, span)
            out.apart.append(k)
        elif adds and p.type.dtype[0] in "fiu":
            out.summed.append(k)
        else:
            raise Serial(f"iterations may meet in the same elements of {p.name or 'an array'}")
    return Plan(out.sums, out.apart, out.summed, late)


def _effects(block: Block, functions: dict[str, Tape]) -> None:
    """Nothing but checks: what is printed has an order, and Python has its lock."""
    seen: set[str] = set()

    def visit(b: Block) -> None:
        for x in walk(b):
            if x.op in ("act", "call"):
                name = x.params["function"]
                if name not in seen:
                    seen.add(name)
                    visit(functions[name].body)
            elif x.op not in STRUCTURED and x.op != "check" and TABLE[x.op].effect:
                raise Serial("it calls Python or prints")

    visit(block)


# -- arrays ---------------------------------------------------------------------------------------


def _family(body: Block, start: Var, end: Atom) -> Iterator[Equation]:
    """All that touches a carried array, whose versions come one from the other by stores."""
    versions: set[Atom] = {start}
    refused = Serial(f"{start.name or 'an array'} is used as a whole")

    def visit(block: Block) -> Iterator[Equation]:
        for x in block.equations:
            at = [k for k, a in enumerate(x.ins) if a in versions]
            if x.op in ("for", "while"):
                skip = 3 if x.op == "for" else 0
                carried = [k - skip for k in at]
                if min(carried, default=0) < 0:
                    raise refused
                for b in x.blocks:
                    head = 1 if x.op == "for" else 0
                    versions.update(b.params[head + k] for k in carried)
                for b in x.blocks:
                    yield from visit(b)
                ends = [k for k, r in enumerate(x.blocks[-1].results) if r in versions]
                if ends != carried or versions.intersection(
                    x.blocks[0].results if x.op == "while" else ()
                ):
                    raise refused
                versions.update(x.outs[k] for k in carried)
            elif x.op == "if":
                for b in x.blocks:
                    yield from visit(b)
                one, other = ([k for k, r in enumerate(b.results) if r in versions]
                              for b in x.blocks)  # fmt: skip
                if one != other:
                    raise refused
                versions.update(x.outs[k] for k in one)
            elif at:
                if x.op == "dim":
                    continue
                if x.op == "add" and len(at) == 1 and x.outs[0].shape:  # of all elements
                    at = [0]
                elif x.op not in _TOUCHES or at != [0]:
                    raise refused
                if x.op not in ("load", "slice"):
                    versions.update(x.outs)
                yield x

    yield from visit(body)
    if end not in versions or sum(r in versions for r in body.results) != 1:
        raise refused


def _span(touches: list[Equation], body: Block, step: int, forms: Forms) -> int | None:
    """How many iterations on an iteration still meets this one, along the best axis; None: any."""
    if not touches:
        return 0
    inside = {v for x in walk(body) for v in x.outs}
    inside.update(p for x in walk(body) for b in x.blocks for p in b.params)
    inside.update(body.params[1:])
    index = body.params[0]
    places = [_place(x, forms) for x in touches]
    spans = []
    for axis in range(len(places[0])):
        along = [place[axis] for place in places]
        offsets = [f.constant for f in along if f is not None]
        rests = {f.plus(-f.constant) for f in along if f is not None}
        if len(offsets) < len(along) or len(rests) != 1:
            continue
        (rest,) = rests
        moves = rest.coefficient(index) * step
        if moves and all(v is index or v not in inside for v, _ in rest.terms):
            spans.append((max(offsets) - min(offsets)) // abs(moves))
    return min(spans, default=None)


def _place(x: Equation, forms: Forms) -> list[Linear | None]:
    """The index of each axis, None where it is a range."""
    if x.op == "add":
        return [None] * len(x.outs[0].shape)
    operands = x.ins[_TOUCHES[x.op] :]
    if "slice" not in x.op:
        return [forms.of(a) for a in operands]
    rest = iter(operands)
    out: list[Linear | None] = []
    for kind in x.params["kinds"]:
        first = next(rest)
        if kind == "r":
            next(rest), next(rest)
        out.append(forms.of(first) if kind == "i" else None)
    return out


def in_place(body: Block, start: Var, end: Atom) -> None:
    """Let sums of a carried array with another be additions to its elements."""
    versions: set[Atom] = {start}
    for x in _family(body, start, end):
        if x.op == "add":
            a, b = x.ins if x.ins[0] in versions else x.ins[::-1]
            whole = [n for extent in a.shape for n in (lit(0), lit(1), extent)]
            x.op, x.ins = "accum_slice", (a, b, *whole)
            x.params = {"kinds": "r" * len(a.shape)}
        versions.update(x.outs)
