"""Do the iterations of a loop hang together by what it carries?

A carried value that goes into nothing but itself (a sum, an array that is only written to) leaves
the iterations free of one another: index sets can be found for each alone and joined at the end.
"""

from __future__ import annotations

from collections.abc import Iterable

from jitad.primitives import TABLE
from jitad.tape.ir import Block, Equation, Lit, Var
from jitad.tape.types import Array, Stack

_WRITING = ("store", "accum", "store_slice", "accum_slice", "store_take", "accum_take")


def entangled(body: Block, params: Iterable[int]) -> set[int]:
    """Which carried values (from 0 on) go into other results, or are read back."""
    chosen = list(params)
    head = chosen[0] if chosen else 0
    return {k - head for k in chosen if not _is_alone(body, k, k - head)}


def _is_alone(body: Block, param: int, result: int) -> bool:
    tainted = {body.params[param]}
    while True:
        before = len(tainted)
        if not _spread(body, tainted):
            return False
        if len(tainted) == before:
            break
    return all(a not in tainted for k, a in enumerate(body.results) if k != result)


def _spread(block: Block, tainted: set[Var]) -> bool:
    """Add what the tainted variables go into; False where an array's elements change places."""
    for e in block.equations:
        if e.blocks:
            _enter(e, tainted)
            if not all(_spread(b, tainted) for b in e.blocks):
                return False
            _leave(e, tainted)
            if e.op == "while" and e.blocks[0].results[0] in tainted:
                return False
            continue
        met = [k for k, a in enumerate(e.ins) if isinstance(a, Var) and a in tainted]
        if not met or not e.outs:
            continue
        arrays = any(isinstance(e.ins[k].type, (Array, Stack)) for k in met)
        in_place = (e.op in _WRITING and met == [0]) or TABLE[e.op].elementwise or (
            e.op in ("copy", "ident"))  # fmt: skip
        if arrays and not in_place:
            return False
        tainted.update(e.outs)
    return True


def _enter(e: Equation, tainted: set[Var]) -> None:
    if e.op in ("for", "while"):
        head = 3 if e.op == "for" else 0
        for b in e.blocks:
            skip = len(b.params) - len(e.outs)
            for k in range(len(e.outs)):
                if e.ins[head + k] in tainted or e.blocks[-1].results[k] in tainted:
                    tainted.add(b.params[skip + k])


def _leave(e: Equation, tainted: set[Var]) -> None:
    head = {"for": 3, "while": 0}.get(e.op)
    for k, v in enumerate(e.outs):
        results = [b.results[k] for b in (e.blocks[-1:] if head is not None else e.blocks)]
        if any(a in tainted for a in results) or (head is not None and e.ins[head + k] in tainted):
            tainted.add(v)
    if e.op == "if" and e.ins[0] in tainted:
        tainted.update(e.outs)
    if head is not None and any(a in tainted for a in e.ins[:head]):
        tainted.update(e.outs)


def increment(body: Block, param: int) -> int | None:
    """The literal that a carried int grows by in each iteration, if there is one."""
    p, r = body.params[param], body.results[param - 1]
    for e in body.equations:
        if r in e.outs and e.op == "add":
            x, y = e.ins
            if x is p and isinstance(y, Lit):
                return int(y.value)
            if y is p and isinstance(x, Lit):
                return int(x.value)
    return None
