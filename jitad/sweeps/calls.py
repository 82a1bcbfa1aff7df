"""What are the derivatives of a function that the tape calls?  Functions again.

A `Library` has the functions of a tape and makes derived ones when a sweep asks for them, one for
each pattern of what is active: zeros stay symbolic across calls.  A function is entered before
its body is swept, so that the calls in it, which ask for the same derivative, find its name: the
derivative of a recursive function is recursive.

    tangent   (params, tangents of the active ones) -> (results, tangents of the float results)
    pullback  (params, seeds of the seeded results, adjoints so far)
              -> (results, adjoints of the active params)

What is so far the adjoint of an active array goes in and comes out, to be added to where it is,
unless the function gives the array back: then its adjoint is made of the seed of that.
A pullback runs the function's forward part itself.  Where the seeds are known before the call it
takes the place of the call (`twin` in `sweeps.reverse`), and value and gradient are one recursion.
Where they are not, running the forward part again costs as much again, once: but not inside of a
recursion, where each level would run all below it again.  There the derivative is cut into two
`halves`, with records between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.primitives.schedules import Memory
from jitad.sweeps.merging import OutOfOrder
from jitad.tape.build import Builder
from jitad.tape.copy import begin, copy_block
from jitad.tape.ir import CALLS, Atom, Block, Equation, Tape, walk
from jitad.tape.lent import Lent, lent
from jitad.tape.types import Array, Stack, Type, is_float

Key = tuple[str, tuple[int, ...], tuple[int, ...]]  # a function, what is active, what is seeded


@immutable
class Halves:
    """A derivative in two functions (see `sweeps.halves`), the parameters that the reverse part
    takes, and the types of the stacks."""

    forward: str
    reverse: str
    needed: tuple[int, ...] = ()
    kinds: tuple[Stack, ...] = ()


class Library:
    """The functions of a tape, and what is derived from them."""

    def __init__(self, functions: dict[str, Tape] | None = None) -> None:
        self.functions = dict(functions or {})
        self.derived: dict[tuple[Any, ...], str] = {}
        self.cut: dict[Key, Halves] = {}
        self.round: dict[Key, tuple[Block, Block] | None] = {}  # what is being cut
        self.uncut: set[Key] = set()
        self.sweeping: list[str] = []
        self.lent: dict[str, Lent] = {}
        self.again: set[str] = set()  # pullbacks whose recursion is not all in the calls' places
        self.names = set(self.functions)
        self.memory: Memory | None = None  # for the records of loops: see `schedule`
        self.copies = 1  # of them, by forward mode around
        self.outermost = False  # is what is swept now differentiated no further?
        # what a sweep is made of; `specialise.resolve` has more to say to both
        self.prepare: Callable[[Block], Block] = lambda block: block
        self.finish: Callable[[Block], Block] = lambda block: block

    def share(self, memory: Memory | None) -> Memory | None:
        """What of the memory a reverse sweep has that is differentiated forwards."""
        return max(memory // self.copies, 1) if isinstance(memory, int) else memory

    def body(self, name: str) -> Block:
        if name not in self.functions:
            raise JitadError(
                f"{name} calls itself through a derivative of itself", None,
                "Let an int that is known decide how deep the recursion goes.",
            )  # fmt: skip
        return self.functions[name].body

    def has(self, name: str) -> bool:
        """Is the function there, or still being made?"""
        return name in self.functions

    def prints(self, name: str) -> bool:
        """Does a call of this function print?"""
        seen: set[str] = set()
        todo = [name]
        while todo:
            f = todo.pop()
            if f in seen:
                continue
            seen.add(f)
            for e in walk(self.body(f)):
                if e.op == "print":
                    return True
                if e.op == "act":
                    todo.append(e.params["function"])
        return False

    def used_by(self, block: Block) -> dict[str, Tape]:
        """The functions that are called from a block, and from those."""
        out: dict[str, Tape] = {}
        todo = [block]
        while todo:
            for e in walk(todo.pop()):
                name = e.params.get("function")
                if name is not None and name not in out:
                    out[name] = self.functions[name]
                    todo.append(out[name].body)
        return out

    # -- derivatives ------------------------------------------------------------------------------

    def tangent(
        self, b: Builder, e: Equation, ins: list[Atom], tangents: list[Atom | None],
    ) -> tuple[list[Atom], dict[int, Atom]]:  # fmt: skip
        """A call with tangents: the results, and the tangents of those that have one."""
        from jitad.sweeps.forward import jvp_block

        active = tuple(k for k, t in enumerate(tangents) if t is not None)
        name = e.params["function"]
        floats = [k for k, v in enumerate(e.outs) if is_float(v.type)]
        types = [v.type for v in e.outs] + [e.outs[k].type for k in floats]
        derived = self._derive(
            (name, "tangent", active), f"{name}_dot",
            lambda body: jvp_block(body, active, self),
        )  # fmt: skip
        outs = call(b, e, derived, [*ins, *(tangents[k] for k in active)], types)
        return outs[: len(e.outs)], dict(zip(floats, outs[len(e.outs) :], strict=True))

    def pullback(
        self, b: Builder, e: Equation, ins: list[Atom], seeds: list[Atom | None],
        bars: list[Atom], active: tuple[int, ...], twin: bool,
    ) -> list[Atom]:  # fmt: skip
        """A call of the pullback: the results, then the adjoints of the active operands, which for
        arrays are added to those in `bars`.

        Unless it is a twin, which takes the call's place, checks and prints are left out.
        """
        seeded = tuple(k for k, s in enumerate(seeds) if s is not None)
        types = [v.type for v in e.outs] + [e.ins[k].type for k in active]
        derived = self._pullback(e.params["function"], active, seeded)
        operands = [*ins, *(seeds[k] for k in seeded), *bars]
        return call(b, e, derived, operands, types, quiet=not twin)

    def _pullback(self, name: str, active: tuple[int, ...], seeded: tuple[int, ...]) -> str:
        from jitad.sweeps.reverse import vjp_block

        return self._derive(
            (name, "pullback", active, seeded), f"{name}_vjp",
            lambda body: vjp_block(body, active, seeded, self, name),
        )  # fmt: skip

    def _derive(
        self, key: tuple[Any, ...], wish: str, sweep: Callable[[Block], Block]
    ) -> str:
        if key not in self.derived:
            body = self.prepare(self.body(key[0]))
            self.derived[key] = name = self._name(wish)
            self.sweeping.append(name)
            swept = self.finish(sweep(body))
            self.sweeping.pop()
            self.functions[name] = Tape(name, swept, self.functions[key[0]].pos)
        return self.derived[key]

    def _name(self, wish: str) -> str:
        name = unused(wish, self.names)
        self.names.add(name)
        return name

    # -- derivatives in two halves ----------------------------------------------------------------

    def halves(
        self, e: Equation, active: tuple[int, ...], seeded: tuple[int, ...], inside: str | None
    ) -> Halves | None:
        """The halves to use for a call in the body of a function, or in none; None if a pullback
        that runs the forward part again is as good."""
        name = e.params["function"]
        recorded = any(isinstance(a.type, Stack) for a in e.ins)
        inner = inside is not None and inside in self._reached(name)
        if inner and self.sweeping:
            self.again.add(self.sweeping[-1])
        if not (recorded or inner):
            reached = self._reached(self._pullback(name, active, seeded))
            if all(map(self.has, reached)) and not reached & self.again:
                return None
        key = (name, active, seeded)
        if key not in self.uncut and self._cut(key):
            return self.cut[key]
        if recorded:
            raise JitadError(f"the derivative of {name} needs its records in another order", e.pos)
        return None

    def _cut(self, key: Key) -> bool:
        """Cut a function in two; all functions that take part in its recursion with it."""
        if key in self.cut and (key in self.round or self.cut[key].forward in self.functions):
            return True
        name, active, seeded = key
        if key not in self.cut:
            self.cut[key] = Halves(self._name(f"{name}_record"), self._name(f"{name}_reverse"))
        from jitad.sweeps.halves import halve  # which uses this file

        first = not self.round
        try:
            while True:
                before = dict(self.cut)
                self.round[key] = None
                now, body = self.cut[key], self.prepare(self.body(name))
                forward, reverse, needed, kinds = halve(body, active, seeded, now, self, name)
                self.cut[key] = Halves(now.forward, now.reverse, needed, kinds)
                self.round[key] = (forward, reverse)
                if not first:
                    return True
                if before == self.cut:
                    break
                self.round.clear()
        except OutOfOrder:
            if not first:
                raise
            self.uncut.update(self.round)
            self.round.clear()
            return False
        for (f, *_), parts in self.round.items():
            assert parts is not None
            h = self.cut[f, *_]
            for half, block in zip((h.forward, h.reverse), parts, strict=True):
                self.functions[half] = Tape(half, self.finish(block), self.functions[f].pos)
        self.round.clear()
        return True

    def added_to(
        self, name: str, active: Sequence[int], seeded: Sequence[int]
    ) -> tuple[int, ...]:
        """The active arrays whose adjoints so far a pullback of this function takes."""
        if name not in self.lent:
            functions = {f: Tape(f, self.body(f)) for f in self._reached(name)}
            self.lent.update(lent(functions))
        back = self.lent[name]
        arrays = [k for k in active if isinstance(self.body(name).params[k].type, Array)]
        return tuple(k for k in arrays if back.get(k) not in seeded)

    def _reached(self, name: str) -> set[str]:
        """The function, and all that it calls, as far as they are there."""
        seen: set[str] = set()
        todo = [name]
        while todo:
            f = todo.pop()
            if f not in seen:
                seen.add(f)
                if self.has(f):
                    todo += [e.params["function"] for e in walk(self.body(f)) if e.op in CALLS]
        return seen


def call(
    b: Builder, e: Equation, name: str, ins: list[Any], types: Iterable[Type], quiet: bool = False
) -> list[Atom]:
    """Call a function in the place, or beside, of the call e."""
    params: dict[str, Any] = {"function": name, "results": tuple(types)}
    quiet = quiet or e.params.get("quiet", False)
    if quiet:
        params["quiet"] = True
    return list(b.emit("call" if quiet else e.op, *ins, **params))


def hushed(body: Block, functions: dict[str, Tape]) -> dict[str, Tape]:
    """The functions, and for quiet calls others without checks and prints (calls are changed)."""
    out = dict(functions)
    done: dict[str, str] = {}
    todo = [body, *(t.body for t in functions.values())]
    while todo:
        for e in walk(todo.pop()):
            if not e.params.get("quiet"):
                continue
            name = e.params["function"]
            if name not in done and any(TABLE[x.op].effect for x in _inside(out[name].body)):
                done[name] = quiet = unused(f"{name}_quiet", out)
                b = Builder()
                env = begin(b, out[name].body)
                new = b.blocks[0]
                new.results = copy_block(b, out[name].body, env, effects=False)
                out[quiet] = Tape(quiet, new, out[name].pos)
                todo.append(new)
            e.params = {k: v for k, v in e.params.items() if k != "quiet"}
            e.params["function"] = done.get(name, name)
    return out


def _inside(body: Block) -> Iterator[Equation]:
    return (e for e in walk(body) if e.op in TABLE)


def unused(wish: str, taken: Iterable[str]) -> str:
    """A name that is not taken yet."""
    names = set(taken)
    return wish if wish not in names else next(
        n for k in range(2, len(names) + 3) if (n := f"{wish}_{k}") not in names
    )
