"""Which functions of the tape are none that call themselves, and can stand where they are called?

A trace makes a function where one meets itself again; as a rule it is a recursion.  But derivatives
that nest meet themselves, too, each time as the derivative of something else: an inner gradient
has the code of the outer one.  Those end after some levels.  Where they stand in the place of their
calls, what they share is computed once, and derivatives go through them as through any code.

Of small functions that do call themselves, once the derivatives are there, each goes two steps at a
time (`strides`): half of the calls are gone, with what they hand over, and what is the same in
all calls is looked at once in two.
"""

from __future__ import annotations

from typing import Any

from jitad.specialise.affine import AffineBuilder
from jitad.tape.copy import begin, copy_block
from jitad.tape.dead import remove_dead
from jitad.tape.flow import closure
from jitad.tape.ir import Atom, Block, Tape, walk

_MOST = 1000  # equations that a tape may always grow by; else to twice of what there are
_SMALL = 150  # equations of a function that goes two steps at a time


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
        small = calls == [name] and sum(1 for _ in walk(t.body)) <= _SMALL
        functions[name] = Tape(t.name, _copied(t.body, {name: t.body}), t.pos) if small else t
    return Tape(tape.name, tape.body, tape.pos, functions)


def _called(body: Block) -> list[str]:
    return [e.params["function"] for e in walk(body) if e.op in ("call", "act")]


class _Unfolding(AffineBuilder):
    """Appends what functions do, instead of their calls; of one that calls itself, one step."""

    def __init__(self, plain: dict[str, Block]) -> None:
        super().__init__()
        self.plain = plain
        self.open: set[str] = set()

    def emit(self, op: str, *ins: Atom, **params: Any) -> Any:
        name = params["function"] if op in ("call", "act") else ""
        if name not in self.plain or name in self.open:
            return super().emit(op, *ins, **params)
        body = self.plain[name]
        self.open.add(name)
        env = dict(zip(body.params, ins, strict=True))
        out = copy_block(self, body, env, effects=not params.get("quiet", False))
        self.open.remove(name)
        return tuple(out)


def _copied(body: Block, plain: dict[str, Block]) -> Block:
    b = _Unfolding(plain)
    env = begin(b, body)
    new = b.blocks[0]
    new.results = copy_block(b, body, env)
    return remove_dead(new)
