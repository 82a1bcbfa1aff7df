"""Which functions of the tape are none that call themselves, and can stand where they are called?

A trace makes a function where one meets itself again; as a rule it is a recursion.  But derivatives
that nest meet themselves, too, each time as the derivative of something else: an inner gradient
has the code of the outer one.  Those end after some levels.  Where they stand in the place of their
calls, what they share is computed once, and derivatives go through them as through any code.

Of small functions that do call themselves, once the derivatives are there, each goes several steps
at a time (`strides`): most of the calls are gone, with what they hand over, and what is the same in
all calls is looked at once in so many.  Two steps; up to four where a loop makes the calls, which
then grow in number from step to step, so that nearly all time goes where the recursion ends.  A
call that would end at once is not made: whether it does is asked where it stands, and what it gives
is computed there.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from jitad.primitives import TABLE
from jitad.specialise.affine import AffineBuilder
from jitad.tape.copy import copy_block, rebuilt
from jitad.tape.flow import closure
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Tape, Var, walk
from jitad.tape.types import Scalar

_MOST = 1000  # equations that a tape may always grow by; else to twice of what there are
_SMALL = 150  # equations of a function that goes several steps at a time
_LONG = 400  # equations of what it then is, if it takes more than two
_LITTLE = 50  # equations that say whether a call ends at once, and what it gives then


def unfold(tape: Tape) -> Tape:
    """The tape and its functions without calls of functions that end by themselves."""
    if not tape.functions:
        return tape
    bodies = {name: t.body for name, t in tape.functions.items()}
    calls = {name: _called(body) for name, body in bodies.items()}
    sizes = {name: sum(1 for _ in walk(body)) for name, body in bodies.items()}
    ends = {name for name in bodies if name not in closure(calls[name], calls)}

    def size(name: str) -> int:
        """With what it calls in its place; each is looked at after those that it calls."""
        if name not in whole:
            whole[name] = sizes[name] + sum(size(f) for f in calls[name] if f in ends)
        return whole[name]

    whole: dict[str, int] = {}
    total = sum(size(f) for f in _called(tape.body) if f in ends)
    total += sum(size(f) for f in bodies if f not in ends)
    if not ends or total > max(_MOST, 2 * sum(sizes.values())):
        return tape
    plain = {name: bodies[name] for name in ends}
    body = _copied(tape.body, plain)
    kept = closure(_called(body), calls) - ends
    functions = {
        name: Tape(t.name, _copied(t.body, plain), t.pos)
        for name, t in tape.functions.items() if name in kept
    }  # fmt: skip
    return Tape(tape.name, body, tape.pos, functions)


def strides(tape: Tape) -> Tape:
    """The tape with the bodies of small functions in the place of their calls of themselves."""
    functions = {}
    for name, t in tape.functions.items():
        calls = _called(t.body)
        size = sum(1 for _ in walk(t.body))
        if calls == [name] and size <= _SMALL:
            loops = (e for e in walk(t.body) if e.op in ("for", "while"))
            many = any(_called(inner) for e in loops for inner in e.blocks)
            steps = min(max(_LONG // size, 2), 4) if many else 2
            body = _copied(t.body, {name: t.body}, _ending(t.body), steps - 1)
            t = Tape(t.name, body, t.pos)
        functions[name] = t
    return Tape(tape.name, tape.body, tape.pos, functions)


def _ending(body: Block) -> Block | None:
    """What a function that calls itself does where it ends at once, and a call of it where not.

    None unless a condition decides that, and finding out is little work.
    """
    if not body.equations or body.equations[-1].op != "if":
        return None
    *before, last = body.equations
    ends = [not _called(inner) for inner in last.blocks]
    work = len(before) + sum(1 for inner in last.blocks if not _called(inner) for _ in walk(inner))
    if sum(ends) != 1 or work > _LITTLE or not all(map(_may_be_repeated, before)):
        return None
    own = next(e for e in walk(body) if e.op in ("call", "act"))
    results = tuple(Var(r.type, r.shape) for r in body.results)
    again = tuple(Var(r.type, r.shape) for r in body.results)
    call = Equation(own.op, tuple(body.params), again, dict(own.params), (), own.pos)

    def branch(inner: Block, end: bool) -> Block:
        if not end:
            return Block([], [call], list(again))
        given = dict(zip(last.outs, inner.results, strict=True))
        return Block([], inner.equations, [given.get(r, r) for r in body.results])  # type: ignore[arg-type]

    asked = Equation("if", last.ins, results, dict(last.params),
                     tuple(map(branch, last.blocks, ends)), last.pos)  # fmt: skip
    return Block(body.params, [*before, asked], list(results))


def _may_be_repeated(e: Equation) -> bool:
    """A check, or numbers computed without any effect: the call does it again."""
    if e.op in STRUCTURED or not all(isinstance(v.type, Scalar) for v in e.outs):
        return False
    return e.op == "check" or not TABLE[e.op].effect


def _called(body: Block) -> list[str]:
    return [e.params["function"] for e in walk(body) if e.op in ("call", "act")]


class _Unfolding(AffineBuilder):
    """Appends what functions do, for their calls; of one that calls itself, so many steps."""

    def __init__(self, plain: dict[str, Block], ending: Block | None, steps: int) -> None:
        super().__init__()
        self.plain, self.ending, self.steps = plain, ending, steps
        self.open: Counter[str] = Counter()

    def emit(self, op: str, *ins: Atom, **params: Any) -> Any:
        name = params["function"] if op in ("call", "act") else ""
        taken = self.open[name] == self.steps
        if taken and self.ending is not None:
            body, self.ending = self.ending, None
            env = dict(zip(body.params, ins, strict=True))
            out = copy_block(self, body, env, effects=not params.get("quiet", False))
            self.ending = body
            return tuple(out)
        if taken or name not in self.plain:
            return super().emit(op, *ins, **params)
        body = self.plain[name]
        self.open[name] += 1
        env = dict(zip(body.params, ins, strict=True))
        out = copy_block(self, body, env, effects=not params.get("quiet", False))
        self.open[name] -= 1
        return tuple(out)


def _copied(
    body: Block, plain: dict[str, Block], ending: Block | None = None, steps: int = 1
) -> Block:
    return rebuilt(_Unfolding(plain, ending, steps), body)
