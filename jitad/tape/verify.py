"""Is a tape well formed?  Checked between passes, so that a broken pass is named."""

from __future__ import annotations

from collections.abc import Iterable

from jitad.primitives import TABLE
from jitad.tape.ir import CALLS, STRUCTURED, Block, Equation, Tape, Var, walk
from jitad.tape.types import Array, Scalar, Stack


class BrokenTape(AssertionError):
    """A pass made a tape that breaks the rules of the form: a fault of jitad, not of the user."""


def verify(tape: Tape, after: str = "") -> Tape:
    """The tape itself, or BrokenTape saying what is wrong and after which pass."""
    try:
        for t in (tape, *tape.functions.values()):
            seen: set[type] = set()
            _block(t.body, set(), seen)
            if Stack in seen:
                _once(t.body)
            if Equation in seen:
                for e in walk(t.body):
                    if e.op in CALLS:
                        _call(e, tape.functions)
    except AssertionError as e:
        raise BrokenTape(f"{tape.name} after {after or 'tracing'}: {e}") from e
    return tape


def _block(block: Block, known: set[Var], seen: set[type]) -> None:
    """`known`: what is defined around the block; what it defines itself leaves it at the end.

    `seen` gets `Stack` where there are stacks and `Equation` where there are calls.
    """
    own: list[Var] = []

    def define(var: Var) -> None:
        assert var not in known, f"{var} is defined twice"
        known.add(var)
        own.append(var)
        if isinstance(var.type, Array):
            assert len(var.shape) in (0, var.type.ndim), f"{var} has no extents"
        elif isinstance(var.type, Stack):
            seen.add(Stack)

    for p in block.params:
        define(p)
    for e in block.equations:
        for a in e.ins:
            assert type(a) is not Var or a in known, f"{a} is used before it is defined, in {e.op}"
        if e.op in STRUCTURED:
            _structured(e)
        else:
            assert e.op in TABLE, f"no primitive {e.op}"
            if e.op in CALLS:
                seen.add(Equation)
        for b in e.blocks:
            _block(b, known, seen)
        for v in e.outs:
            if type(v.type) is Scalar:
                assert v not in known, f"{v} is defined twice"
                known.add(v)
                own.append(v)
                continue
            define(v)
            for a in v.shape:
                # extents of a parameter are read by `dim` equations that come right after it
                assert not isinstance(a, Var) or isinstance(a.type, Scalar)
    for a in block.results:
        assert type(a) is not Var or a in known, f"{a} is used before it is defined, in results"
    known.difference_update(own)


def _once(block: Block) -> set[Var]:
    """Each version of a stack is used once on every way; those from outside that are used here."""
    used: set[Var] = set()

    def take(stacks: Iterable[Var], what: str) -> None:
        for v in stacks:
            assert v not in used, f"the stack {v} is used twice, by {what}"
            used.add(v)

    for e in block.equations:
        take([a for a in e.ins if isinstance(a, Var) and isinstance(a.type, Stack)], e.op)
        take(set().union(*map(_once, e.blocks)), e.op)
    take([a for a in block.results if isinstance(a, Var) and isinstance(a.type, Stack)], "results")
    own = {*block.params, *(v for e in block.equations for v in e.outs)}
    return used - own


def _structured(e: Equation) -> None:
    def agree(name: str, left: object, right: object) -> None:
        assert _kinds(left) == _kinds(right), f"{e.op}: {name}: {_kinds(left)} != {_kinds(right)}"

    match e.op:
        case "if":
            agree("branches", e.blocks[0].results, e.blocks[1].results)
            agree("results", e.blocks[0].results, e.outs)
        case "for":
            body = e.blocks[0]
            agree("initial values", e.ins[3:], body.params[1:])
            agree("carried values", body.results, body.params[1:])
            agree("results", body.results, e.outs)
        case "while":
            cond, body = e.blocks
            agree("initial values", e.ins, body.params)
            agree("condition's parameters", cond.params, body.params)
            agree("carried values", body.results, e.outs)
            assert len(cond.results) == 1


def _call(e: Equation, functions: dict[str, Tape]) -> None:
    name = e.params["function"]
    assert name in functions, f"there is no function {name}"
    body = functions[name].body
    if e.op == "spread":
        assert [e.ins[k].type for k in e.params["changed"]] == [v.type for v in e.outs]
    for what, left, right in (("operands", e.ins, body.params), ("results", e.outs, body.results)):
        assert _kinds(left) == _kinds(right), f"{what} of {name}: {_kinds(left)} != {_kinds(right)}"


def _kinds(atoms: object) -> list[object]:
    out: list[object] = []
    for a in atoms:  # type: ignore[attr-defined]
        t = a.type
        out.append(t if isinstance(t, (Array, Stack)) else t.dtype)
    return out
