"""Which loops are better differentiated forwards, although reverse mode is asked for?

A `while` loop of unknown length keeps a record of every iteration for a reverse loop.  Where all
that is differentiable in it is scalars, and depends on one scalar s, its tangents cost less than
that: they are computed beside the values, nothing is recorded, and the adjoint of s is a product
(local preaccumulation; Griewank & Walther, *Evaluating Derivatives*, ch. 10.2).  On the tape

    y = while ... s ...      becomes      y', slope = while ... frozen(s) ...
                                          y = attach(y', s, slope)

`frozen` and `attach` are for the sweep that follows at once; then they go (`specialise.affine`),
so that a derivative of the result sees how the slope depends on s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitad.primitives import TABLE
from jitad.sweeps.calls import Library
from jitad.sweeps.forward import Forward, Tangents
from jitad.sweeps.reached import Steep
from jitad.tape.build import Builder
from jitad.tape.copy import Env
from jitad.tape.flow import closure, differentiable_edge, predecessors, successors
from jitad.tape.ir import Block, Equation, Var, free_vars, lit, walk
from jitad.tape.types import Scalar

_LONGEST = 16  # equations from s to what the loop starts from


def preaccumulate(
    block: Block, active: Sequence[int], library: Library | None = None
) -> Block:
    """The block with such loops changed (in place); `active` as for the sweep."""
    if any(e.op == "while" for e in walk(block)):
        inputs = [block.params[k] for k in active]
        varied = closure(inputs, successors(predecessors(block, differentiable_edge)))
        _visit(block, varied, library or Library(), Steep.of(block))
    return block


def _visit(block: Block, varied: set[Var], library: Library, steep: Steep) -> None:
    out: list[Equation] = []
    for e in block.equations:
        new = _changed(e, out, varied, library, steep) if e.op == "while" else None
        if new is None:
            for inner in e.blocks:
                _visit(inner, varied, library, steep)
        out += [e] if new is None else new
    block.equations = out


def _changed(
    e: Equation, before: list[Equation], varied: set[Var], library: Library, steep: Steep
) -> list[Equation] | None:
    """What takes the place of the loop, `before` being what comes before it in its block."""
    if any(x.op == "custom" for x in walk(e.blocks[1])):  # it may have a rule for reverse mode
        return None
    inside = {v for x in walk(e.blocks[1]) for v in x.outs} | set(e.blocks[1].params)
    if not all(isinstance(v.type, Scalar) for v in (*inside, *e.outs) if v in varied):
        return None
    entering = [*e.ins, *free_vars(*e.blocks)]
    found = _source({a for a in entering if isinstance(a, Var) and a in varied}, before, varied)
    if found is None:
        return None
    s, way = found
    b = Builder()
    frozen = b.emit("frozen", s)
    env: Env = {s: frozen}
    one = np.dtype(s.type.dtype).type(1)  # type: ignore[union-attr]
    slopes: Tangents = {s: (lit(one),)}
    forward = Forward(b, varied, library, 1, steep)
    for x in (*way, e):
        forward.step(x, env, slopes)
    out = b.blocks[0].equations
    b.pos = e.pos
    for v in e.outs:
        (slope,) = forward.read(v, slopes)
        if slope is None:
            out.append(Equation("ident", (env[v],), (v,), {}, (), e.pos))
        else:
            out.append(Equation("attach", (env[v], s, slope), (v,), {}, (), e.pos))
    return out


def _source(
    needed: set[Var], before: list[Equation], varied: set[Var]
) -> tuple[Var, list[Equation]] | None:
    """The one scalar that all these depend on, and the equations from it to them."""
    made = {v: (k, x) for k, x in enumerate(before) for v in x.outs}
    way: list[Equation] = []
    while len(needed) > 1:
        last = max(needed, key=lambda v: made[v][0] if v in made else -1)
        if last not in made or len(way) == _LONGEST:
            return None
        x = made[last][1]
        row = None if x.blocks else TABLE[x.op]
        if row is None or not (row.elementwise or x.op == "attach"):
            return None
        needed = (needed - {last}) | {a for a in x.ins if isinstance(a, Var) and a in varied}
        way.append(x)
    if not needed:
        return None
    (s,) = needed
    return (s, way[::-1]) if isinstance(s.type, Scalar) and s.type.dtype[0] == "f" else None
