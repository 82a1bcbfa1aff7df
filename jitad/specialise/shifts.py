"""How do additions to shifted windows of an array become one pass over it?

The adjoint of a stencil on slices adds one array to several windows of another, each a pass over
memory:

    g[1:-1] += c; g[2:] += c; g[:-2] += c

Here c is put into a frame of zeros first (`pad`); then every element of g takes what it gets from
all windows at once, reading c at the shifts turned round (a scatter turned into a gather).  Two
windows of a matrix that lie apart along one axis need no frame: what both reach is one pass, the
few rows or columns that only one of them reaches are two short ones.  Each element still adds in
the order of the program.  Done where arrays are fewer than windows; what differs from another
array only by its sign or a number is that array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitad.tape.ir import Atom, Block, Equation, Lit, Pos, Tape, Var, free_vars, lit, walk
from jitad.tape.linear import Forms
from jitad.tape.types import BOOL, INT, Array, Scalar

_FARTHEST = 4  # elements between two windows along an axis


def shifts(tape: Tape) -> Tape:
    """The tape with such additions joined (in place)."""
    if any(e.op == "accum_slice" for e in walk(tape.body)):
        _visit(tape.body, Forms())
    return tape


@dataclass(frozen=True)
class _Window:
    """An addition to a window: `way` leads from `base` to what is added, last operation first."""

    e: Equation
    base: Var
    way: tuple[Equation, ...]
    offsets: tuple[int, ...]


def _visit(block: Block, forms: Forms) -> None:
    made = {v: e for e in block.equations for v in e.outs}
    users: dict[Atom, int] = {}
    for e in block.equations:
        for a in (*e.ins, *free_vars(*e.blocks)):
            users[a] = users.get(a, 0) + 1
        if (form := forms.result(e.op, e.ins)) is not None:
            forms.of_var[e.outs[0]] = form
    for a in block.results:
        users[a] = users.get(a, 0) + 1
    out: list[Equation] = []
    where: dict[int, int] = {}
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner, forms)
        where[id(e)] = len(out)
        out.append(e)
    following = {e.ins[0]: e for e in block.equations if e.op == "accum_slice"}
    instead: dict[int, list[Equation]] = {}
    for e in block.equations:
        if e.op == "accum_slice" and id(e) not in instead:
            for group in _groups(_chain(e, following, users), made, forms):
                for w in group:
                    instead[id(w.e)] = []
                joined = _overlapping(group) if _two_rows(group) else _joined(group)
                instead[id(group[-1].e)] = list(joined)
    if instead:
        block.equations = [x for e in out for x in instead.get(id(e), (e,))]


def _chain(e: Equation, following: dict[Atom, Equation], users: dict[Atom, int]) -> list[Equation]:
    """Additions from e on, each to what the one before it gave, which nobody else uses."""
    chain = [e]
    while users.get(v := chain[-1].outs[0]) == 1 and v in following:
        chain.append(following[v])
    return chain


def _groups(
    chain: list[Equation], made: dict[Var, Equation], forms: Forms
) -> Iterator[list[_Window]]:
    """Neighbours in a chain whose windows are of one size and not far from each other."""
    group: list[_Window] = []
    for e in [*chain, None]:
        w = _window(e, group[0].e if group else e, made, forms) if e is not None else None
        if w is not None and _near([*group, w]):
            group.append(w)
            continue
        if len({x.base for x in group}) < len(group):
            yield group
        w = _window(e, e, made, forms) if e is not None else None
        group = [w] if w is not None else []


def _window(
    e: Equation, first: Equation, made: dict[Var, Equation], forms: Forms
) -> _Window | None:
    """The addition as a window `offsets` away from that of the first; None if it isn't one."""
    v = e.ins[1]
    if not isinstance(v, Var) or not isinstance(v.type, Array) or e.params != first.params:
        return None
    (row, mine), (row_of_first, its) = _parts(e), _parts(first)
    if row != row_of_first or v.type != Array(e.ins[0].type.dtype, len(mine)):  # type: ignore[union-attr]
        return None
    if any(n != m or by != lit(1) for (_, by, n), (_, _, m) in zip(mine, its, strict=True)):
        return None
    apart = [forms.of(a) - forms.of(b) for (a, _, _), (b, _, _) in zip(mine, its, strict=True)]
    if any(d.terms for d in apart):
        return None
    base, way = v, []
    while (x := made.get(base)) is not None and (factor := _multiple(x)) is not None:
        way.append(x)
        base = factor
    return _Window(e, base, tuple(way), tuple(d.constant for d in apart))


def _parts(e: Equation) -> tuple[list[Atom], list[tuple[Atom, ...]]]:
    """The indices of an addition to a slice, and (start, step, count) along its other axes."""
    rest = iter(e.ins[2:])
    row: list[Atom] = []
    ranges: list[tuple[Atom, ...]] = []
    for kind in e.params["kinds"]:
        if kind == "i":
            row.append(next(rest))
        else:
            ranges.append((next(rest), next(rest), next(rest)))
    return row, ranges


def _multiple(x: Equation) -> Var | None:
    """What x is a finite multiple of: zeros stay zeros."""
    match x.op, x.ins:
        case "neg", (Var() as a,):
            return a
        case "mul", (Var() as a, Lit() as c) | (Lit() as c, Var() as a):
            return a if math.isfinite(c.value) and a.type == x.outs[0].type else None
    return None


def _extremes(group: list[_Window]) -> list[tuple[int, int]]:
    """The lowest and the highest offset along each axis."""
    return [(min(c), max(c)) for c in zip(*(w.offsets for w in group), strict=True)]


def _near(group: list[_Window]) -> bool:
    return all(high - low <= _FARTHEST for low, high in _extremes(group))


def _joined(group: list[_Window]) -> Iterator[Equation]:
    """One addition in the place of many."""
    first, last = group[0].e, group[-1].e
    pos: Pos | None = last.pos
    kinds = first.params["kinds"]
    lowest = [low for low, _ in _extremes(group)]
    spread = [high - low for low, high in _extremes(group)]
    equations: list[Equation] = []

    def emit(op: str, *ins: Atom, out: Var, **params: object) -> Var:
        equations.append(Equation(op, ins, (out,), dict(params), (), pos))
        return out

    starts: list[Atom] = []
    counts: list[Atom] = []
    sizes: list[Atom] = []
    row, ranges = _parts(first)
    for k, (low, far) in enumerate(zip(lowest, spread, strict=True)):
        starts.append(next(_parts(w.e)[1][k][0] for w in group if w.offsets[k] == low))
        n = ranges[k][2]
        if far:  # windows of no elements may lie anywhere: so has their sum none
            some = emit("gt", n, lit(0), out=Var(BOOL))
            more = emit("add", n, lit(far), out=Var(INT))
            counts.append(emit("where", some, more, lit(0), out=Var(INT)))
            sizes.append(emit("add", n, lit(2 * far), out=Var(INT)))
        else:
            counts.append(n)
            sizes.append(n)
    shape = tuple(counts)

    def window(at: Sequence[Atom]) -> list[list[Atom]]:
        return [[a, lit(1), n] for a, n in zip(at, counts, strict=True)]

    def operands(at: Sequence[Atom]) -> list[Atom]:
        """Of the slice that all windows are in."""
        indices, parts = iter(row), iter(window(at))
        return [a for k in kinds for a in ([next(indices)] if k == "i" else next(parts))]

    whole = first.ins[0]
    kind = first.ins[1].type
    frame = "r" * len(counts)
    framed = {
        base: emit("pad", base, *map(lit, spread), *sizes, out=Var(kind, tuple(sizes)))
        for base in dict.fromkeys(w.base for w in group)
    }
    total = emit("slice", whole, *operands(starts), out=Var(kind, shape), kinds=kinds)
    for w in group:
        back: list[Atom] = [
            lit(far - (c - low))
            for far, c, low in zip(spread, w.offsets, lowest, strict=True)
        ]  # fmt: skip
        at = [a for part in window(back) for a in part]
        v = emit("slice", framed[w.base], *at, out=Var(kind, shape), kinds=frame)
        for x in reversed(w.way):
            ins = tuple(a if isinstance(a, Lit) else v for a in x.ins)
            v = emit(x.op, *ins, out=Var(kind, shape), **x.params)
        total = emit("add", total, v, out=Var(kind, shape))
    emit("store_slice", whole, total, *operands(starts), out=last.outs[0], kinds=kinds)
    yield from equations


def _two_rows(group: list[_Window]) -> bool:
    """Are these windows of a matrix, or more, at two places along one axis?"""
    return len(group[0].offsets) > 1 and len({w.offsets for w in group}) == 2 and (
        sum(low != high for low, high in _extremes(group)) == 1
    )


def _overlapping(group: list[_Window]) -> Iterator[Equation]:
    """One addition where two windows overlap, and one on either side.

    Windows shorter than they are apart have no overlap: then its count is zero, and the sides are
    all of the windows.
    """
    first, last = group[0].e, group[-1].e
    pos: Pos | None = last.pos
    kinds = first.params["kinds"]
    row, ranges = _parts(first)
    axis = next(k for k, (low, high) in enumerate(_extremes(group)) if low != high)
    low, high = _extremes(group)[axis]
    far = lit(high - low)
    n = ranges[axis][2]
    starts = {w.offsets[axis]: _parts(w.e)[1][axis][0] for w in group}
    equations: list[Equation] = []

    def emit(op: str, *ins: Atom, type: Array | Scalar = INT, shape: tuple[Atom, ...] = (),
             **params: object) -> Var:  # fmt: skip
        out = Var(type, shape)
        equations.append(Equation(op, ins, (out,), dict(params), (), pos))
        return out

    side = emit("minimum", far, n)
    middle = emit("maximum", emit("sub", n, far), lit(0))
    beyond = emit("add", starts[low], emit("maximum", far, n))
    rest = emit("sub", n, side)
    parts: list[tuple[Atom, Atom, dict[int, Atom]]] = [  # start, count, where in each window
        (starts[low], side, {low: lit(0)}),
        (starts[high], middle, {low: far, high: lit(0)}),
        (beyond, side, {high: rest}),
    ]
    kind = first.ins[1].type
    assert isinstance(kind, Array)
    whole = first.ins[0]
    for start, count, inside in parts:
        shape = tuple(count if k == axis else m for k, (_, _, m) in enumerate(ranges))
        indices = iter(row)
        first_of = [start if k == axis else a for k, (a, _, _) in enumerate(ranges)]
        spans = iter([(a, lit(1), m) for a, m in zip(first_of, shape, strict=True)])
        at = [a for each in kinds for a in ([next(indices)] if each == "i" else next(spans))]
        total = emit("slice", whole, *at, type=kind, shape=shape, kinds=kinds)
        for w in group:
            if w.offsets[axis] not in inside:
                continue
            inner = [inside[w.offsets[axis]] if k == axis else lit(0) for k in range(len(shape))]
            own = [x for a, m in zip(inner, shape, strict=True) for x in (a, lit(1), m)]
            v = emit("slice", w.base, *own, type=kind, shape=shape, kinds="r" * len(shape))
            for x in reversed(w.way):
                ins = tuple(a if isinstance(a, Lit) else v for a in x.ins)
                v = emit(x.op, *ins, type=kind, shape=shape, **x.params)
            total = emit("add", total, v, type=kind, shape=shape)
        new = Var(whole.type, whole.shape)
        ins = (whole, total, *at)
        equations.append(Equation("store_slice", ins, (new,), {"kinds": kinds}, (), pos))
        whole = new
    equations[-1].outs = last.outs
    yield from equations
