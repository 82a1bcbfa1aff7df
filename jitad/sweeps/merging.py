"""How do all records of a function go on one stack for each type?

Sweeping the body of a function gives every recorded value, and every call inside, a stack of its
own.  But those of the calls inside *are* the function's own stacks, so all stacks of one type have
to become one, which is pushed and popped in mirrored order: in each block of the forward part
first what its calls, loops and branches push, in order, then its own values; in each block of the
reverse part first its own values, then the rest, backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from jitad.sweeps.scope import Thread
from jitad.tape.ir import CALLS, Atom, Block, Equation, Var
from jitad.tape.types import Stack

T = TypeVar("T", bound=Atom)


class OutOfOrder(Exception):
    """Records are not needed in the mirrored order of their making."""


def merge(forward: Block, reverse: Block, threads: Sequence[Thread]) -> tuple[Stack, ...]:
    """Give both parts a stack for each type, last of parameters and of results; the types."""
    kinds: dict[Stack, list[Thread]] = {}
    for t in threads:
        assert isinstance(t.s_in.type, Stack)
        kinds.setdefault(t.s_in.type, []).append(t)
    for kind in sorted(kinds, key=str):
        group = kinds[kind]
        back = _Merging({t.t_in: k for k, t in enumerate(group)}, "pop")
        _replaced(reverse, back, kind)
        there = _Merging({t.s_in: k for k, t in enumerate(group)}, "push")
        there.rank = {k: -n for n, k in enumerate(back.popped)}
        _replaced(forward, there, kind)
        if there.events != back.events[::-1]:
            raise OutOfOrder
    return tuple(sorted(kinds, key=str))


def _replaced(block: Block, merging: _Merging, kind: Stack) -> None:
    start = Var(kind)
    end = merging.walk(block, start)
    block.params.append(start)
    block.results.append(end)


class _Merging:
    """One walk over the forward or the reverse part, for the stacks of one type."""

    def __init__(self, family: dict[Var, int], own: str) -> None:
        self.family = family  # the versions of all these stacks, by the number of the thread
        self.own = own  # what the function does to its own values
        self.rank: dict[int, int] = {}
        self.popped: list[int] = []
        self.events: list[tuple[int, ...]] = []  # threads that calls and values belong to

    def walk(self, block: Block, now: Var) -> Var:
        """Thread one stack through the block; gives its last version."""
        out: list[Equation] = []
        own: list[Equation] = []
        passed = False
        equations = block.equations
        for e in equations:
            if e.op in ("push", "pop") and e.ins[0] in self.family:
                if passed and e.op == "pop":
                    raise OutOfOrder
                self.family[e.outs[0]] = self.family[e.ins[0]]  # type: ignore[index]
                own.append(e)
                if e.op == "pop":
                    now = self.take(e, now)
                    out.append(e)
                continue
            version = self.through(e, now)
            passed |= version is not now
            now = version
            out.append(e)
        if self.own == "push":
            for e in sorted(own, key=lambda e: self.rank[self.family[e.outs[0]]]):
                now = self.take(e, now)
                out.append(e)
        block.equations = out
        return now

    def take(self, e: Equation, now: Var) -> Var:
        number = self.family[e.outs[0]]
        self.popped.append(number)
        self.events.append((number,))
        e.ins = (now, *e.ins[1:])
        return e.outs[0]

    def through(self, e: Equation, now: Var) -> Var:
        """An equation that hands stacks on: it gets the one, and the others leave it."""
        at: Sequence[int]
        if e.op in CALLS:
            at = [k for k, a in enumerate(e.ins) if a in self.family]
            if not at:
                return now
            (k,) = at
            out = e.outs[k - len(e.ins)]  # stacks come last
            self.family[out] = number = self.family[e.ins[k]]  # type: ignore[index]
            self.events.append((number,))
            e.ins = (*e.ins[:k], now, *e.ins[k + 1 :])
            return out
        if e.op in ("for", "while"):
            head = 3 if e.op == "for" else 0
            at = [k for k, a in enumerate(e.ins[head:]) if a in self.family]
            return self.loop(e, now, head, at) if at else now
        if e.op == "if":
            blocks = e.blocks if self.own == "push" else e.blocks[::-1]
            ends = {id(b): self.walk(b, now) for b in blocks}
            at = [k for k in range(len(e.outs)) if any(b.results[k] in self.family for b in blocks)]
            if not at:
                return now
            for k in at:
                self.family[e.outs[k]] = next(
                    self.family[b.results[k]] for b in blocks if b.results[k] in self.family  # type: ignore[index]
                )  # fmt: skip
            for b in e.blocks:
                b.results[at[0]] = ends[id(b)]
                b.results = _without(b.results, at[1:])
            out = e.outs[at[0]]
            e.outs = tuple(_without(e.outs, at[1:]))
            return out
        return now

    def loop(self, e: Equation, now: Var, head: int, at: Sequence[int]) -> Var:
        body = e.blocks[-1]
        skip = 1 if e.op == "for" else 0
        for k in at:
            number = self.family[e.ins[head + k]]  # type: ignore[index]
            self.family[body.params[skip + k]] = self.family[e.outs[k]] = number
        first, more = at[0], at[1:]
        end = self.walk(body, body.params[skip + first])
        body.results[first] = end
        e.ins = (*e.ins[: head + first], now, *e.ins[head + first + 1 :])
        out = e.outs[first]
        e.ins = tuple(_without(e.ins, [head + k for k in more]))
        e.outs = tuple(_without(e.outs, more))
        body.results = _without(body.results, more)
        body.params = _without(body.params, [skip + k for k in more])
        if e.op == "while":
            e.blocks[0].params = _without(e.blocks[0].params, more)
        return out


def _without(items: Sequence[T], at: Sequence[int]) -> list[T]:
    return [a for k, a in enumerate(items) if k not in at]
