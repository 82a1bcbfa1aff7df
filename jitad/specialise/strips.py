"""Which loops compute first and write afterwards, a strip of iterations at a time?

A loop that writes here and there (a scatter: several places in an iteration, places from a table)
runs one iteration at a time, and so do the roots and exponentials that it writes.  Where nothing
that it computes depends on what it has written, a strip of iterations is computed first, in vector
lanes, into a buffer that stays in the nearest cache; a second loop takes the numbers to their
places, in the same order as before.  What ints say where those are is computed in the second one.

Source: loop distribution with strip-mining and scalar expansion; Allen & Kennedy, *Optimizing
Compilers for Modern Architectures* (2001), ch. 5.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.tape.build import Builder
from jitad.tape.copy import Env, copy_equation, read, renew, structured
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Lit, Tape, Var, free_vars, lit, walk
from jitad.tape.types import INT, Array, Scalar

_STRIP = 64  # iterations; what they compute should stay in the nearest cache
_MOST = 48  # numbers of an iteration

ONE, ZERO = lit(1), lit(0)


def strips(tape: Tape) -> Tape:
    """The tape with such loops in strips (changed in place)."""
    _visit(tape.body)
    return tape


def _visit(block: Block) -> None:
    out: list[Equation] = []
    for e in block.equations:
        found = _in_strips(e) if e.op == "for" else None
        if found is None:
            for inner in e.blocks:
                _visit(inner)
        out += [e] if found is None else found
    block.equations = out


def _in_strips(e: Equation) -> list[Equation] | None:
    body = e.blocks[0]
    if isinstance(e.ins[2], Lit) and e.ins[2].value <= _STRIP:
        return None
    params = body.params[1:]
    if not params or not all(isinstance(p.type, Array) for p in params):
        return None
    inside = list(walk(body))
    if any(x.op in ("for", "while") or _has_effect(x) for x in inside):
        return None
    edges = predecessors(body, control=True)
    written = closure(params, successors(edges))
    first = [x for x in body.equations if not written.intersection(x.outs)]
    second = [x for x in body.equations if written.intersection(x.outs)]
    if not any(TABLE[x.op].dear for x in first if not x.blocks):
        return None
    if not all(r in written for r in body.results):
        return None
    made = {v: x for x in first for v in x.outs}
    wanted = [a for x in second for a in (*x.ins, *free_vars(*x.blocks))
              if isinstance(a, Var) and a in made]  # fmt: skip
    handed = list(dict.fromkeys(v for v in wanted if _is_float(v)))
    again = closure((v for v in wanted if not _is_float(v)), edges)
    if any(v in made and _is_float(v) for v in again) or not 0 < len(handed) <= _MOST:
        return None
    if any(isinstance(v.type, Array) for v in (*handed, *made)):
        return None
    moved = [x for x in first if not again.isdisjoint(x.outs)]
    return _apart(e, first, moved, second, handed)


def _has_effect(x: Equation) -> bool:
    return x.op not in STRUCTURED and TABLE[x.op].effect


def _is_float(v: Atom) -> bool:
    return isinstance(v.type, Scalar) and v.type.dtype[0] == "f"


def _apart(
    e: Equation, first: list[Equation], moved: list[Equation], second: list[Equation],
    handed: list[Var],
) -> list[Equation]:  # fmt: skip
    """A loop over strips: in each a loop that computes, then one that writes."""
    b, body = Builder(), e.blocks[0]
    b.pos = e.pos
    start, step, count, *init = e.ins
    index, *carried = body.params
    n = b.emit("maximum", count, ZERO)
    trips = b.emit("floordiv", b.emit("add", n, lit(_STRIP - 1)), lit(_STRIP))
    outer: Env = {}
    strip = Var(INT)
    arrays = [renew(p, a, outer) for p, a in zip(carried, init, strict=True)]
    with b.block(strip, *arrays) as around:
        done = b.emit("mul", strip, lit(_STRIP))
        width = b.emit("minimum", lit(_STRIP), b.emit("sub", n, done))
        base = b.emit("add", start, b.emit("mul", done, step))
        buffers = {
            dtype: b.emit("blank", lit(_STRIP * sum(v.type.dtype == dtype for v in handed)),  # type: ignore[union-attr]
                          dtype=dtype, start="empty")
            for dtype in dict.fromkeys(v.type.dtype for v in handed)  # type: ignore[union-attr]
        }  # fmt: skip
        row: dict[Var, int] = {}
        for v in handed:
            row[v] = sum(w.type.dtype == v.type.dtype for w in row)  # type: ignore[union-attr]

        def place(v: Var, lane: Atom) -> Atom:
            return b.emit("add", lane, lit(row[v] * _STRIP))

        def at(lane: Atom) -> Atom:
            return b.emit("add", base, b.emit("mul", lane, step))

        lane = Var(INT)
        now: dict[str, Atom] = {k: Var(a.type, a.shape, "strip") for k, a in buffers.items()}
        with b.block(lane, *now.values()) as compute:  # type: ignore[arg-type]
            env: Env = {index: at(lane)}
            for x in first:
                copy_equation(b, x, env)
            for v in handed:
                dtype = v.type.dtype  # type: ignore[union-attr]
                now[dtype] = b.emit("store", now[dtype], read(v, env), place(v, lane))
            compute.results = list(now.values())
        filled = structured(b, "for", (ZERO, ONE, width, *buffers.values()), (compute,),
                            [a.type for a in buffers.values()])  # fmt: skip
        full = dict(zip(buffers, filled, strict=True))

        lane, env = Var(INT), {}
        params = [renew(p, outer[p], env) for p in carried]
        with b.block(lane, *params) as write:
            env[index] = at(lane)
            for x in moved:
                copy_equation(b, x, env)
            for v in handed:
                env[v] = b.emit("load", full[v.type.dtype], place(v, lane))  # type: ignore[union-attr]
            for x in second:
                copy_equation(b, x, env)
            write.results = [read(r, env) for r in body.results]
        around.results = list(structured(
            b, "for", (ZERO, ONE, width, *(outer[p] for p in carried)), (write,),
            [p.type for p in carried],
        ))  # fmt: skip
    b.structured("for", (ZERO, ONE, trips, *init), e.outs, (around,))
    return b.blocks[0].equations
