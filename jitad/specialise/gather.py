"""Which checks can wait until their loop has ended?

A check that leaves a loop in the middle keeps it from being vectorised.  Checks of floating-point
conditions (domains of `math` functions, division by zero) guard no memory access, and arithmetic
on the tape is total: so their failures are gathered in a flag, and raised after the loop.  Nothing
can be seen of the iterations in between.  Done in counted loops all of whose effects are the
engine's own checks; a user's `raise` keeps its place.
"""

from __future__ import annotations

from jitad.errors import GuardMiss, JitadError
from jitad.primitives import TABLE
from jitad.tape.ir import STRUCTURED, Block, Equation, Tape, Var, lit, walk
from jitad.tape.types import BOOL, Scalar


def gather(tape: Tape) -> Tape:
    """The tape with failures gathered (changed in place)."""
    _visit(tape.body, {})
    return tape


def _visit(block: Block, sources: dict[Var, Equation]) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner, sources)
        for v in e.outs:
            sources[v] = e
        out.append(e)
        if e.op == "for" and _only_engine_checks(e):
            out += _gathered(e, sources)
    block.equations = out


def _only_engine_checks(e: Equation) -> bool:
    effects = [x for x in walk(e.blocks[0]) if x.op not in STRUCTURED and TABLE[x.op].effect]
    return bool(effects) and all(
        x.op == "check" and issubclass(x.params["exception"], (JitadError, GuardMiss))
        for x in effects
    )


def _gathered(e: Equation, sources: dict[Var, Equation]) -> list[Equation]:
    """Take checks out of the loop's body; gives those to make after the loop."""
    body = e.blocks[0]
    stay: list[Equation] = []
    flags: dict[tuple[type, str], tuple[Var, Var, Equation]] = {}
    for x in body.equations:
        if x.op != "check" or not _is_of_floats(x.ins[0], sources):
            stay.append(x)
            continue
        failed, after = Var(BOOL), Var(BOOL)
        key = (x.params["exception"], x.params["message"])
        before = flags[key][1] if key in flags else Var(BOOL, (), "failed")
        stay.append(Equation("logical_not", x.ins, (failed,), {}, (), x.pos))
        stay.append(Equation("bitor", (before, failed), (after,), {}, (), x.pos))
        first = flags[key][0] if key in flags else before
        flags[key] = (first, after, x)
    body.equations = stay
    checks: list[Equation] = []
    for first, last, x in flags.values():
        out, ok = Var(BOOL), Var(BOOL)
        body.params.append(first)
        body.results.append(last)
        e.ins = (*e.ins, lit(False))
        e.outs = (*e.outs, out)
        sources[out] = e
        test = Equation("logical_not", (out,), (ok,), {}, (), x.pos)
        sources[ok] = test
        checks += [test, Equation("check", (ok,), (), x.params, (), x.pos)]
    return checks


def _is_of_floats(a: object, sources: dict[Var, Equation]) -> bool:
    """Does the condition look at floating-point values only?"""
    if not isinstance(a, Var):
        return False
    e = sources.get(a)
    if e is None:
        return False
    if e.op in ("logical_not", "logical_and", "logical_or"):
        return all(_is_of_floats(x, sources) for x in e.ins)
    if e.op == "for":  # a flag gathered in an inner loop, the only bool that comes out of one so
        return a.name == "" and a.type == BOOL
    return e.op in ("lt", "le", "gt", "ge", "eq", "ne", "isinf", "isnan", "isfinite") and all(
        isinstance(x.type, Scalar) and (x.type.dtype[0] == "f" or not isinstance(x, Var))
        for x in e.ins
    )
