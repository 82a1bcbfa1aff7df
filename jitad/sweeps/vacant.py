"""Which rows of tangents are zero, so that a sum over rows can pass them by?

In a sweep along several directions, the columns of a Jacobian, each direction moves few things: of
the rows of an array on the way most have a tangent of zero.  A loop that adds up over such rows,
and is itself in a loop, goes over the rows that have a tangent, which are looked for once, where
the tangents are complete; if those are half of all or more, over all.

Zeros are found while the kernel runs, and a number that is zero may have a derivative that is not.
So only the outermost derivative may do this.
References: Griewank & Walther, *Evaluating Derivatives*, ch. 7 (dynamic sparsity); inspector and
executor: Saltz et al. 1991.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from jitad.sweeps.again import in_any_order
from jitad.tape.build import Builder
from jitad.tape.copy import structured
from jitad.tape.ir import Atom, Equation, Lit, Var, free_vars, lit, walk
from jitad.tape.types import INT, Array, Scalar

Rows = dict[Var, list[tuple[Lit, ...]]]  # of an array, what is read of a row


def rows_of(e: Equation, varied: Iterable[Var]) -> Rows | None:
    """What a sum over rows reads of these arrays in each; None for any other loop."""
    if e.op != "for" or e.ins[0] != lit(0) or e.ins[1] != lit(1) or not e.outs:
        return None
    if not all(isinstance(v.type, Scalar) for v in e.outs):
        return None
    if not in_any_order(e, list(range(len(e.outs)))):
        return None
    body = e.blocks[0]
    rows: Rows = {v: [] for v in varied}
    for x in walk(body):
        for a in (*x.ins, *(r for block in x.blocks for r in block.results)):
            if not isinstance(a, Var) or a not in rows:
                continue
            rest = x.ins[2:]
            if x.op != "load" or a is not x.ins[0] or x.ins[1] is not body.params[0]:
                return None
            if not all(_inside(k, n) for k, n in zip(rest, a.shape[1:], strict=True)):
                return None
            if rest not in rows[a]:
                rows[a].append(rest)  # type: ignore[arg-type]
    return rows if rows and all(rows.values()) else None


def _inside(k: Atom, n: Atom) -> bool:
    return isinstance(k, Lit) and isinstance(n, Lit) and 0 <= k.value < n.value


def level_of(b: Builder, atoms: Iterable[Atom]) -> int:
    """The innermost of the open blocks that one of these is defined in."""
    wanted, level = set(atoms), 0
    for k, block in enumerate(b.blocks):
        defined = {*block.params, *(v for e in block.equations for v in e.outs)}
        level = k if defined & wanted else level
    return level


def moved_rows(
    b: Builder, count: Atom, rows: Rows, tangents: Mapping[Var, Sequence[Atom | None]]
) -> tuple[Atom, Atom] | None:
    """The numbers of the rows that have a tangent, and how many they are; None where the tangents
    are made in the very block that is being written."""
    read = [(t, at) for v, places in rows.items() for t in tangents[v] if isinstance(t, Var)
            for at in places]  # fmt: skip
    extents = dict.fromkeys(t.shape[0] for t, _ in read)
    level = level_of(b, [count, *extents, *(t for t, _ in read)])
    if not read or level == len(b.blocks) - 1:
        return None
    key = ("rows with a tangent", count, tuple(read))
    known = b.known(key)
    if known is not None:
        return known[0], known[1]
    with b.at(level):
        places, number = _look(b, count, list(extents), read)
        b.remember(key, (places, number))
    return places, number


def _look(
    b: Builder, count: Atom, extents: list[Atom], read: list[tuple[Var, tuple[Lit, ...]]]
) -> tuple[Var, Var]:
    """The loop over all rows.  The sum may never run, and its checks with it: stay inside."""
    n = count
    for d in extents:
        n = n if n == d else b.emit("minimum", n, d)
    n = b.emit("maximum", n, lit(0))
    places = b.emit("full", Lit(np.int64(0), Scalar("i8")), n, dtype="i8")
    row, to, found = Var(INT), Var(Array("i8", 1), (n,)), Var(INT)
    with b.block(row, to, found) as body:
        some: Atom | None = None
        for t, at in read:
            moves = b.emit("ne", b.emit("load", t, row, *at), lit(0.0))
            some = moves if some is None else b.emit("logical_or", some, moves)
        assert some is not None
        body.results = [
            b.emit("store", to, row, found),
            b.emit("add", found, b.emit("cast", some, dtype="i8", py=True)),
        ]
    ins = (lit(0), lit(1), n, places, lit(0))
    places, number = structured(b, "for", ins, (body,), [to.type, INT])
    assert isinstance(places, Var) and isinstance(number, Var)
    return places, number


def used_arrays(e: Equation, tangents: Mapping[Var, object]) -> list[Var]:
    """What a loop takes from around it that has tangents."""
    return [v for v in free_vars(*e.blocks) if v in tangents]
