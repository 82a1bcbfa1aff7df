"""How are the functions of a tape closed, once all of them are traced?

A traced body uses variables from outside, as a Python function reads what is around it: captured
inputs, and what surrounds the place where it was first called.  They become parameters, and every
call hands them on (lambda lifting; Johnsson 1985).  The blocks of derivative rules are closed
already: what they call must not need anything from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.primitives.custom import Rule
from jitad.tape.build import Builder
from jitad.tape.copy import Around, Env, copy_block
from jitad.tape.ir import CALLS, Block, Equation, Lit, Pos, Tape, Var, free_vars, walk

_Call = tuple[str, Around]
_HERE = Around()  # of a call that is closed already: the blocks of a rule are met in each user


@immutable
class Definition:
    """A body that may use variables from outside."""

    body: Block
    pos: Pos


@dataclass
class Functions:
    """The functions that a trace has defined so far."""

    known: dict[str, Definition] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)

    def name(self, wish: str) -> str:
        """A name of its own for a function."""
        wish = wish if wish.isidentifier() else "function"
        k = self.names[wish] = self.names.get(wish, 0) + 1
        return wish if k == 1 else f"{wish}_{k}"

    def add(self, name: str, definition: Definition) -> None:
        self.known[name] = definition

    def closed(self, main: Block) -> dict[str, Tape]:
        """The functions as tapes; the calls in all bodies are given what these need."""
        calls = {
            name: [_called(e) for e, _ in _everywhere(d.body) if e.op in CALLS]
            for name, d in self.known.items()
        }
        free = _free(self.known, calls)
        acting = _acting(self.known, {n: {f for f, _ in found} for n, found in calls.items()})
        for body in (main, *(d.body for d in self.known.values())):
            for e, rule in _everywhere(body):
                if e.op in CALLS:
                    name, around = _called(e)
                    if rule is not None and free[name]:
                        raise JitadError(
                            f"{rule.name} has derivative rules, and calls a function that calls "
                            "itself and takes something from around it", e.pos,
                            "Pass all that it takes as arguments.",
                        )  # fmt: skip
                    e.ins = (*e.ins, *map(around.of, free[name]))
                    e.params = {k: v for k, v in e.params.items() if k != "around"}
                    e.op = "act" if name in acting else "call"
        return {
            name: Tape(name, _with_parameters(d.body, list(free[name])), d.pos)
            for name, d in self.known.items()
        }


def _everywhere(body: Block, rule: Rule | None = None) -> Iterator[tuple[Equation, Rule | None]]:
    """All equations, with the rule in whose blocks they are; those of a rule once."""
    seen: set[int] = set()
    todo = [(body, rule)]
    while todo:
        block, inside = todo.pop()
        for e in walk(block):
            yield e, inside
            if e.op == "custom" and id(e.params["rule"]) not in seen:
                seen.add(id(e.params["rule"]))
                todo += [(b, e.params["rule"]) for b in e.params["rule"].blocks]


def _acts(e: Equation) -> bool:
    return e.op not in (*CALLS, "custom") and e.op in TABLE and TABLE[e.op].effect


def _called(e: Equation) -> _Call:
    return e.params["function"], e.params.get("around", _HERE)


def _free(
    known: dict[str, Definition], calls: dict[str, list[_Call]]
) -> dict[str, dict[Var, None]]:
    """What each body takes from outside, itself or in functions that it calls."""
    free = {name: dict.fromkeys(free_vars(d.body)) for name, d in known.items()}
    own = {name: _defined(d.body) for name, d in known.items()}
    changed = True
    while changed:
        changed = False
        for name, others in calls.items():
            for other, around in others:
                for v in map(around.of, list(free[other])):
                    if isinstance(v, Var) and v not in free[name] and v not in own[name]:
                        free[name][v] = None
                        changed = True
    return free


def _defined(body: Block) -> set[Var]:
    out = set(body.params)
    for e in walk(body):
        out.update(e.outs)
        for inner in e.blocks:
            out.update(inner.params)
    return out


def _acting(known: dict[str, Definition], calls: dict[str, set[str]]) -> set[str]:
    """The functions that have effects."""
    acting = {
        name for name, d in known.items()
        if any(_acts(e) for e, _ in _everywhere(d.body))
    }  # fmt: skip
    while more := {name for name, others in calls.items() if others & acting} - acting:
        acting |= more
    return acting


def _with_parameters(body: Block, free: list[Var]) -> Block:
    b = Builder()
    env: Env = {}
    for p in (*body.params, *free):
        env[p] = new = b.input(p.type, p.name)
        if p.shape:
            assert isinstance(new, Var)
            pairs = zip(p.shape, new.shape, strict=True)
            new.shape = tuple(d if isinstance(d, Lit) else n for d, n in pairs)
    new_body = b.blocks[0]
    new_body.results = copy_block(b, body, env)
    return new_body
