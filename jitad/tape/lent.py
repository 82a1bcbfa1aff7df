"""Which arrays does a function write where its caller has them?

An array that a function takes, stores to and gives back (an argument that it fills, the adjoint
that it adds to) is *lent*: it is written in place, and does not come back by itself.  For the
caller such a call is what a store is (`buffers`): it happens in memory that no other value needs,
else in a copy.  So a recursion that fills an array costs no copy a call.

Which parameter a result comes from is followed through the body.  What a call gives comes from what
is found of the function called: of nothing yet at first, from below, until it holds for all.
"""

from __future__ import annotations

from collections.abc import Mapping

from jitad.tape.ir import CALLS, Atom, Block, Equation, Lit, Tape, Var, is_array

STORES = ("store", "accum", "store_slice", "accum_slice", "store_take", "accum_take")

Lent = dict[int, int]  # number of a parameter -> of the result that it becomes

# what a result comes from: a parameter's number, nothing that is known yet, or something else
_UNKNOWN, _OTHER = -1, -2
_Origins = dict[str, list[int]]


def lent(functions: Mapping[str, Tape]) -> dict[str, Lent]:
    """For each function, the parameters that it writes in place."""
    found = {name: [_UNKNOWN] * len(t.body.results) for name, t in functions.items()}
    while True:
        now = {name: _origins(t.body, found) for name, t in functions.items()}
        if now == found:
            break
        found = now
    return {name: _single(t.body, found[name]) for name, t in functions.items()}


def _single(body: Block, origins: list[int]) -> Lent:
    """Of results that come from one parameter the first; results that are given twice none."""
    out: Lent = {}
    for j, k in enumerate(origins):
        if k >= 0 and k not in out and body.results.count(body.results[j]) == 1:
            out[k] = j
    return out


def _origins(body: Block, found: _Origins) -> list[int]:
    numbers: dict[Atom, int] = {p: k for k, p in enumerate(body.params)}
    out = []
    for r in body.results:
        if not is_array(r):
            out.append(_OTHER)
            continue
        start = _follow(body, r, found)
        out.append(start if isinstance(start, int) else numbers.get(start, _OTHER))
    return out


def _follow(block: Block, a: Atom, found: _Origins) -> Atom | int:
    """The variable from outside of this block whose memory a would be in, if all goes in place."""
    made = {v: e for e in block.equations for v in e.outs}
    now: Atom | int = a
    while not isinstance(now, (int, Lit)) and now in made:
        now = _before(made[now], now, found)
    return now


def _before(e: Equation, v: Var, found: _Origins) -> Atom | int:
    k = e.outs.index(v)
    match e.op:
        case op if op in STORES:
            return e.ins[0]
        case "spread":
            return e.ins[e.params["changed"][k]]
        case op if op in CALLS:
            origin = found[e.params["function"]][k]
            return origin if origin < 0 else e.ins[origin]
        case "if":
            ends = [_follow(b, b.results[k], found) for b in e.blocks]
            known = [end for end in ends if end != _UNKNOWN]
            if not known:
                return _UNKNOWN
            return known[0] if all(end is known[0] for end in known) else _OTHER
        case "for" | "while":
            skip, head = (1, 3) if e.op == "for" else (0, 0)
            body = e.blocks[-1]
            end = _follow(body, body.results[k], found)
            return e.ins[head + k] if end in (body.params[skip + k], _UNKNOWN) else _OTHER
    return _OTHER
