"""Which checks can wait until their loop has ended?

A check that leaves a loop in the middle keeps it from being vectorised.  Checks of floating-point
conditions (domains of `math` functions, division by zero) guard no memory access, and arithmetic
on the tape is total: so their failures are gathered in a flag, and raised after the loop.  Nothing
can be seen of the iterations in between.  Done in counted loops all of whose effects are the
engine's own checks; a user's `raise` keeps its place.  A loop goes on with numbers that its check
has refused: so none is touched where the end of an inner loop, or a check of integers that stays,
depends on floats that the loop computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from jitad.errors import GuardMiss, JitadError
from jitad.primitives import TABLE
from jitad.tape.flow import Edges, closure, predecessors
from jitad.tape.ir import CALLS, STRUCTURED, Atom, Block, Equation, Tape, Var, lit, walk
from jitad.tape.types import BOOL, Scalar, is_float


def gather(tape: Tape) -> Tape:
    """The tape with failures gathered (changed in place)."""
    edges = predecessors(tape.body, control=True)
    _visit(tape.body, _Known({}, set(), edges))
    return tape


@dataclass
class _Known:
    """What is known of the tape's variables."""

    sources: dict[Var, Equation]
    flags: set[Var]  # failures gathered in an inner loop
    edges: Edges  # what each depends on


def _visit(block: Block, known: _Known) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner, known)
        for v in e.outs:
            known.sources[v] = e
        out.append(e)
        if e.op == "for" and _only_engine_checks(e) and _sound(e, known):
            out += _gathered(e, known)
    block.equations = out


def _only_engine_checks(e: Equation) -> bool:
    effects = [x for x in walk(e.blocks[0]) if x.op not in STRUCTURED and TABLE[x.op].effect]
    return bool(effects) and all(
        x.op == "check" and issubclass(x.params["exception"], (JitadError, GuardMiss))
        for x in effects
    )


def _sound(e: Equation, known: _Known) -> bool:
    """Do the loops inside end, and the other checks pass, whatever floats the body computes?"""
    body = e.blocks[0]
    decides: list[Atom] = []
    for x in walk(body):
        if x.op in ("while", *CALLS):
            return False
        if x.op == "for":
            decides.append(x.ins[2])
        elif x.op == "check" and not _is_of_floats(x.ins[0], known):
            decides.append(x.ins[0])
    made = {*body.params, *(v for x in walk(body) for v in (*x.outs, *_params(x)))}
    within = {v: [a for a in known.edges.get(v, ()) if a in made] for v in made}
    reached = closure((a for a in decides if a in made), within)  # type: ignore[misc]
    return not any(is_float(v.type) for v in reached)


def _params(e: Equation) -> list[Var]:
    return [p for inner in e.blocks for p in inner.params]


def _gathered(e: Equation, known: _Known) -> list[Equation]:
    """Take checks out of the loop's body; gives those to make after the loop."""
    body = e.blocks[0]
    stay: list[Equation] = []
    flags: dict[tuple[type, str], tuple[Var, Var, Equation]] = {}
    for x in body.equations:
        # a guard's miss is not an error: what follows it must not run, for it might be one
        wait = x.op == "check" and not issubclass(x.params["exception"], GuardMiss)
        if not wait or not _is_of_floats(x.ins[0], known):
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
        known.sources[out] = e
        known.flags.add(out)
        test = Equation("logical_not", (out,), (ok,), {}, (), x.pos)
        known.sources[ok] = test
        checks += [test, Equation("check", (ok,), (), x.params, (), x.pos)]
    return checks


def _is_of_floats(a: object, known: _Known) -> bool:
    """Does the condition look at floating-point values only?"""
    if not isinstance(a, Var):
        return False
    if a in known.flags:
        return True
    e = known.sources.get(a)
    if e is None:
        return False
    if e.op in ("logical_not", "logical_and", "logical_or"):
        return all(_is_of_floats(x, known) for x in e.ins)
    return e.op in ("lt", "le", "gt", "ge", "eq", "ne", "isinf", "isnan", "isfinite") and all(
        isinstance(x.type, Scalar) and (x.type.dtype[0] == "f" or not isinstance(x, Var))
        for x in e.ins
    )
