"""Do the sweeps of a tape agree with the truth and with each other, to second order?

For results y = f(x), a random direction v and random seeds w, all of these are computed:
    jvp                 J v                     against the complex step of f
    vjp                 w' J, dotted with v     against the same
    ff, fr, rf, rr      second derivatives      against the complex step of the vjp tape
Every tape that a sweep makes is verified as it comes and once simplified, and both forms are
interpreted: so simplification and dead-code removal are checked on all of them as well.  What a
program prints, all of its sweeps print, once and in the same order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitad.specialise.pipeline import stages
from jitad.specialise.simplify import simplify_block
from jitad.sweeps.forward import jvp_block
from jitad.sweeps.reverse import vjp_block
from jitad.tape.dead import remove_dead
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Tape
from jitad.tape.types import is_float
from jitad.tape.verify import verify
from tests.sweeps import truth

RELATIVE = 1e-8
LARGEST = 1e6


class Unsuitable(Exception):
    """The program's numbers are too large to be compared here."""


def check(
    block: Block, args: Sequence[Any], active: Sequence[int], order: int = 2, zeros: int = 0
) -> None:
    """All of the above for one program at one point; the last `zeros` results are zero."""
    args = list(args)
    rng = np.random.default_rng(1)
    values, said = run(block, args)
    _bounded(values)
    agree("zeros", [*values[len(values) - zeros :], 0.0], [0.0] * (zeros + 1))
    same_meaning(block, args, values, said)
    floats = [k for k, r in enumerate(block.results) if is_float(r.type)]
    v = [_like(rng, args[k]) for k in active]
    w = [_like(rng, values[k]) for k in floats]
    slopes = [truth.along(block, args, _spread(v, active, len(args)))[k] for k in floats]
    _bounded(slopes)

    forward, tangents = swept(jvp_block, block, active, [*args, *v], said, "jvp")
    agree("jvp: values", tangents[: len(values)], values)
    agree("jvp", tangents[len(values) :], slopes)
    reverse, adjoints = swept(vjp_block, block, active, [*args, *w], said, "vjp")
    agree("vjp: values", adjoints[: len(values)], values)
    adjoints = adjoints[len(values) :]
    _bounded(adjoints)
    for a, k in zip(adjoints, active, strict=True):
        assert np.shape(a) == np.shape(args[k]), f"vjp: adjoint of parameter {k} has another shape"
    agree("vjp", [_dot(adjoints, v)], [_dot(w, slopes)])
    if order < 2:
        return

    # d/dx (w' J) along v
    point = [*args, *w]
    bend = truth.along(reverse, point, _spread(v, active, len(point)))[len(values) :]
    _bounded(bend)
    _, fr = swept(jvp_block, reverse, active, [*point, *v], said, "fr")
    agree("fr", fr[-len(active) :], bend)
    none = [np.zeros(np.shape(r)) for r in w]
    _, rr = swept(vjp_block, reverse, active, [*point, *none, *v], said, "rr")
    agree("rr", rr[-len(active) :], bend)
    _, rf = swept(vjp_block, forward, active, [*args, *v, *none, *w], said, "rf")
    agree("rf", rf[-len(active) :], bend)
    _, ff = swept(jvp_block, forward, active, [*args, *v, *v], said, "ff")
    agree("ff", [_dot(w, ff[-len(w) :])], [_dot(bend, v)])


def swept(
    sweep: Callable[..., Block],
    block: Block,
    active: Sequence[int],
    args: list[Any],
    said: list[Any],
    name: str,
) -> tuple[Block, list[Any]]:
    """A sweep's tape, simplified, and its results, checked to be those of the raw one."""
    raw = verify(Tape(name, sweep(block, active)), "the sweep").body
    results, printed = run(raw, args)
    agree(f"{name}: printed", printed, said)
    simple = verify(Tape(name, simplify_block(raw)), "simplification").body
    agree_both(f"{name}: simplified", run(simple, args), (results, said))
    return simple, results


def run(block: Block, args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The results of a block, and what it prints."""
    said: list[Any] = []
    with truth.evaluating({"print": lambda *values, **_: said.extend(values)}):
        return interpret(block, list(args)), said


def same_meaning(
    block: Block, args: Sequence[Any], values: Sequence[Any], said: Sequence[Any]
) -> None:
    """Simplification and dead-code removal keep what a block computes."""
    simple = verify(Tape("simple", simplify_block(block)), "simplification").body
    agree_both("simplify", run(simple, args), (values, said))
    bare = verify(Tape("bare", remove_dead(copy.deepcopy(block))), "dead code").body
    agree_both("remove_dead", run(bare, args), (values, said))


def pipeline_keeps_meaning(block: Block, args: Sequence[Any], active: Sequence[int]) -> None:
    """Every pass keeps what a block computes, and what its reverse sweep computes."""
    args = list(args)
    rng = np.random.default_rng(1)
    values, _ = run(block, args)
    seeds = [_like(rng, x) for x, r in zip(values, block.results, strict=True) if is_float(r.type)]
    for tape, point in (
        (Tape("primal", copy.deepcopy(block)), args),
        (Tape("vjp", vjp_block(block, active)), [*args, *seeds]),
    ):
        wanted = run(tape.body, point)
        _bounded(wanted[0])
        for name, after in stages(tape):
            agree_both(f"{tape.name} after {name}", run(after.body, point), wanted)


def agree_both(what: str, got: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Results agree, and so does what is printed."""
    agree(what, got[0], wanted[0])
    agree(f"{what}: printed", got[1], wanted[1])


def agree(what: str, got: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Numbers and arrays equal to rounding, relative to the largest of them."""
    assert len(got) == len(wanted), f"{what}: {len(got)} results instead of {len(wanted)}"
    scale = max([1.0, *(float(np.max(np.abs(x), initial=0.0)) for x in wanted)])
    for k, (x, y) in enumerate(zip(got, wanted, strict=True)):
        assert np.shape(x) == np.shape(y), f"{what}: result {k} has the shape {np.shape(x)}"
        close = np.allclose(x, y, rtol=RELATIVE, atol=RELATIVE * scale)
        assert close, f"{what}: result {k} is {x}, not {y}"


def _bounded(values: Sequence[Any]) -> None:
    for x in values:
        if not np.all(np.abs(x) < LARGEST):
            raise Unsuitable


def _like(rng: np.random.Generator, x: Any) -> Any:
    return rng.normal(size=np.shape(x)) if np.ndim(x) else float(rng.normal())


def _spread(v: Sequence[Any], active: Sequence[int], count: int) -> list[Any]:
    """A direction in the active arguments, None for the others."""
    where = dict(zip(active, v, strict=True))
    return [where.get(k) for k in range(count)]


def _dot(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    return float(sum(np.sum(np.multiply(x, y)) for x, y in zip(xs, ys, strict=True)))
