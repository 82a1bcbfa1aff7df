"""Which arrays does a function write where its caller has them?

An array that a function takes, stores to and gives back (an argument that it fills, the adjoint
that it adds to) is *lent*: it is written in place, and does not come back by itself.  For the
caller such a call is what a store is (`buffers`): it happens in memory that no other value needs,
else in a copy.  So a recursion that fills an array costs no copy a call.

Which parameter a result comes from is followed through the body.  What a call gives comes from what
is found of the function called: of nothing yet at first, from below, until it holds for all.  So it
is with the stacks that a function takes and gives back: its caller has to know which is which.
"""

from __future__ import annotations

from collections.abc import Mapping

from jitad.immutable import immutable
from jitad.tape.ir import CALLS, Atom, Block, Equation, Lit, Tape, Var, is_array, walk
from jitad.tape.types import Stack

STORES = ("store", "accum", "store_slice", "accum_slice", "store_take", "accum_take")

Lent = dict[int, int]  # number of a parameter -> of the result that it becomes

# what a result comes from: a parameter's number, nothing that is known yet, or something else
_UNKNOWN, _OTHER = -1, -2
_Origins = dict[str, list[int]]


@immutable
class Handed:
    """What callers have to know of the functions of a tape."""

    arrays: dict[str, Lent]  # what each of them writes in place
    stacks: dict[str, Lent]  # which stacks go on as which results
    pushing: frozenset[str]  # those that push on stacks, if only in what they call


def handed(functions: Mapping[str, Tape]) -> Handed:
    found = _settled(functions)
    return Handed(
        _arrays(functions, found),
        {
            name: {k: j for j, k in enumerate(found[name])
                   if k >= 0 and isinstance(t.body.results[j].type, Stack)}
            for name, t in functions.items()
        },
        _pushing(functions),
    )  # fmt: skip


def lent(functions: Mapping[str, Tape]) -> dict[str, Lent]:
    """For each function, the parameters that it writes in place."""
    return _arrays(functions, _settled(functions))


def _arrays(functions: Mapping[str, Tape], found: _Origins) -> dict[str, Lent]:
    return {name: _single(t.body, found[name]) for name, t in functions.items()}


def _pushing(functions: Mapping[str, Tape]) -> frozenset[str]:
    out: set[str] = set()
    while True:
        new = {
            name for name, t in functions.items() if name not in out and any(
                e.op == "push" or (e.op in CALLS and e.params["function"] in out)
                for e in walk(t.body)
            )
        }  # fmt: skip
        if not new:
            return frozenset(out)
        out |= new


def _settled(functions: Mapping[str, Tape]) -> _Origins:
    found = {name: [_UNKNOWN] * len(t.body.results) for name, t in functions.items()}
    while True:
        now = {name: _origins(t.body, found) for name, t in functions.items()}
        if now == found:
            return found
        found = now


def _single(body: Block, origins: list[int]) -> Lent:
    """Of results that come from one parameter the first; results that are given twice none."""
    out: Lent = {}
    for j, k in enumerate(origins):
        r = body.results[j]
        if k >= 0 and is_array(r) and k not in out and body.results.count(r) == 1:
            out[k] = j
    return out


def _origins(body: Block, found: _Origins) -> list[int]:
    numbers: dict[Atom, int] = {p: k for k, p in enumerate(body.params)}
    out = []
    for r in body.results:
        if not (is_array(r) or isinstance(r.type, Stack)):
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
        case "push" | "pop" | "pops" if k == 0:
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
