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

What a stencil has written is zero in its adjoint when it is added to: there the sum is all there
is, and nothing is read or set to zero; only the rim is added to (`_with_a_rim`).  Where the sum is
taken away again at once, as with two buffers in turns, it never goes to the array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from jitad.immutable import immutable
from jitad.tape.ir import Atom, Block, Equation, Lit, Pos, Tape, Var, free_vars, lit, walk
from jitad.tape.linear import Forms
from jitad.tape.types import BOOL, INT, Array, Scalar

_FARTHEST = 4  # elements between two windows along an axis


def shifts(tape: Tape) -> Tape:
    """The tape with such additions joined (in place)."""
    if any(e.op == "accum_slice" for e in walk(tape.body)):
        _visit(tape.body, Forms(), {})
    return tape


@immutable
class _Window:
    """An addition to a window: `way` leads from `base` to what is added, last operation first."""

    e: Equation
    base: Var
    way: tuple[Equation, ...]
    offsets: tuple[int, ...]


def _visit(block: Block, forms: Forms, zeros: dict[Atom, Equation]) -> None:
    """`zeros`: arrays of which a window is zero, as this store would have left it."""
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
            _visit(inner, forms, _always_zero(e, made) if e.op == "for" else {})
        where[id(e)] = len(out)
        out.append(e)
    following = {e.ins[0]: e for e in block.equations if e.op == "accum_slice"}
    instead: dict[int, list[Equation]] = {}
    for e in block.equations:
        if e.op == "accum_slice" and id(e) not in instead:
            for group in _groups(_chain(e, following, users), made, forms):
                for w in group:
                    instead[id(w.e)] = []
                if _two_rows(group):
                    instead[id(group[-1].e)] = list(_overlapping(group))
                    continue
                inside = _zero_inside(group, zeros, made, users, forms)
                if inside is None:
                    instead[id(group[-1].e)] = _joined(group)
                else:
                    instead.update(_with_a_rim(group, *inside, block))
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


@immutable
class _Box:
    """Part of what the windows of a group reach: where from its start, and how many elements."""

    start: tuple[Atom, ...]
    counts: tuple[Atom, ...]


class _Gather:
    """What all windows of a group add, gathered from frames of zeros around what they add."""

    def __init__(self, group: list[_Window]) -> None:
        self.group = group
        self.first, self.last = group[0].e, group[-1].e
        self.equations: list[Equation] = []
        self.kinds = self.first.params["kinds"]
        self.kind: Array = self.first.ins[1].type  # type: ignore[assignment]
        self.row, ranges = _parts(self.first)
        self.extremes = _extremes(group)
        self.starts = [
            next(_parts(w.e)[1][k][0] for w in group if w.offsets[k] == low)
            for k, (low, _) in enumerate(self.extremes)
        ]
        self.n = [n for _, _, n in ranges]
        # windows of no elements may lie anywhere: so has their sum none
        self.some = [
            self.emit("gt", n, lit(0), out=Var(BOOL)) if high > low else None
            for n, (low, high) in zip(self.n, self.extremes, strict=True)
        ]
        self.counts = [self.wider(k, high - low) for k, (low, high) in enumerate(self.extremes)]
        sizes = tuple(
            self.plus(n, 2 * (high - low))
            for n, (low, high) in zip(self.n, self.extremes, strict=True)
        )
        far = [lit(high - low) for low, high in self.extremes]
        self.framed = {
            base: self.emit("pad", base, *far, *sizes, out=Var(self.kind, sizes))
            for base in dict.fromkeys(w.base for w in group)
        }

    def emit(self, op: str, *ins: Atom, out: Var, **params: object) -> Var:
        self.equations.append(Equation(op, ins, (out,), dict(params), (), self.last.pos))
        return out

    def plus(self, a: Atom, b: int) -> Atom:
        return self.emit("add", a, lit(b), out=Var(INT)) if b else a

    def wider(self, axis: int, by: int) -> Atom:
        """So many more elements than a window has, and none where it has none."""
        some = self.some[axis]
        if some is None:
            return self.n[axis]
        return self.if_any(axis, self.plus(self.n[axis], by))

    def if_any(self, axis: int, count: Atom) -> Atom:
        some = self.some[axis]
        return count if some is None else self.emit("where", some, count, lit(0), out=Var(INT))

    def operands(self, box: _Box) -> list[Atom]:
        """Of the slice that the box is of the array."""
        indices = iter(self.row)
        parts = iter(
            [self.sum(a, b), lit(1), n]
            for a, b, n in zip(self.starts, box.start, box.counts, strict=True)
        )
        return [a for k in self.kinds for a in ([next(indices)] if k == "i" else next(parts))]

    def sum(self, a: Atom, b: Atom) -> Atom:
        if isinstance(b, Lit):
            return self.plus(a, int(b.value))
        return self.emit("add", a, b, out=Var(INT))

    def total(self, box: _Box, windows: Sequence[_Window], total: Atom | None = None) -> Var:
        """What these add there, after what was there before, if anything."""
        frame = "r" * len(self.n)
        for w in windows:
            at: list[Atom] = []
            shifts = [high - c for c, (_, high) in zip(w.offsets, self.extremes, strict=True)]
            for shift, start, n in zip(shifts, box.start, box.counts, strict=True):
                at += [self.sum(lit(shift), start), lit(1), n]
            into = Var(self.kind, box.counts)
            v = self.emit("slice", self.framed[w.base], *at, out=into, kinds=frame)
            for x in reversed(w.way):
                ins = tuple(a if isinstance(a, Lit) else v for a in x.ins)
                v = self.emit(x.op, *ins, out=Var(self.kind, box.counts), **x.params)
            if total is not None:
                v = self.emit("add", total, v, out=Var(self.kind, box.counts))
            total = v
        assert isinstance(total, Var)
        return total

    def added(
        self, whole: Atom, box: _Box, windows: Sequence[_Window], out: Var | None = None
    ) -> Var:
        """The array with what these add in the box."""
        at = self.operands(box)
        before = self.emit("slice", whole, *at, out=Var(self.kind, box.counts), kinds=self.kinds)
        out = out or Var(whole.type, whole.shape)
        return self.emit(
            "store_slice", whole, self.total(box, windows, before), *at, out=out, kinds=self.kinds
        )


def _joined(group: list[_Window]) -> list[Equation]:
    """One addition in the place of many."""
    g = _Gather(group)
    everywhere = _Box((lit(0),) * len(g.counts), tuple(g.counts))
    g.added(g.first.ins[0], everywhere, group, g.last.outs[0])
    return g.equations


# -- additions around what is zero ----------------------------------------------------------------


def _always_zero(e: Equation, made: dict[Var, Equation]) -> dict[Atom, Equation]:
    """The arrays of a loop's iteration that begin with a window of zeros: each iteration ends
    with them, and so does what is before the loop."""
    (body,) = e.blocks
    stores = {x.outs[0]: x for x in body.equations if _is_zeroing(x)}
    inside = {*body.params, *(v for x in body.equations for v in x.outs)}
    found: dict[Atom, Equation] = {}
    for init, p, r in zip(e.ins[3:], body.params[1:], body.results, strict=True):
        x = made.get(init) if isinstance(init, Var) else None
        zeroing = stores.get(r) if isinstance(r, Var) else None
        if x is not None and x.op == "full" and _is_zero(x.ins[0]) and zeroing is not None:
            if inside.isdisjoint(zeroing.ins[2:]):
                found[p] = zeroing
    return found


def _is_zero(a: Atom) -> bool:
    return isinstance(a, Lit) and a.value == 0


def _is_zeroing(e: Equation) -> bool:
    return e.op == "store_slice" and _is_zero(e.ins[1])


def _zero_inside(
    group: list[_Window], zeros: dict[Atom, Equation], made: dict[Var, Equation],
    users: dict[Atom, int], forms: Forms,
) -> tuple[Equation, Atom, tuple[int, ...]] | None:  # fmt: skip
    """What leaves a window of the array zero, the array as it was before, and where the window is
    among the others: as large as they are, and not beyond."""
    whole, first = group[0].e.ins[0], group[0].e
    zeroing, before = zeros.get(whole), whole
    if zeroing is None and isinstance(whole, Var) and users[whole] == 1:
        zeroing = made.get(whole)
        if zeroing is None or not _is_zeroing(zeroing):
            return None
        before = zeroing.ins[0]
    if zeroing is None or zeroing.params != first.params:
        return None
    (row, mine), (row_of_first, its) = _parts(zeroing), _parts(first)
    if row != row_of_first or any(
        n != m or by != lit(1) for (_, by, n), (_, _, m) in zip(mine, its, strict=True)
    ):
        return None
    apart = [forms.of(a) - forms.of(b) for (a, _, _), (b, _, _) in zip(mine, its, strict=True)]
    offsets = tuple(d.constant for d in apart)
    if any(d.terms for d in apart) or not all(
        low <= c <= high for c, (low, high) in zip(offsets, _extremes(group), strict=True)
    ):
        return None
    return zeroing, before, offsets


def _with_a_rim(
    group: list[_Window], zeroing: Equation, before: Atom, offsets: tuple[int, ...], block: Block
) -> dict[int, list[Equation]]:
    """By the id of an equation what takes its place: additions around a window of zeros, in which
    the sum is all there is."""
    g = _Gather(group)
    below = [c - low for c, (low, _) in zip(offsets, g.extremes, strict=True)]
    above = [high - c for c, (_, high) in zip(offsets, g.extremes, strict=True)]
    axes = range(len(below))
    whole = before
    for k in axes:  # further axes all along, those before only in the middle
        begin, end = lit(0), g.sum(g.n[k], lit(below[k]))
        lower = [w for w in group if w.offsets[k] < offsets[k]]
        upper = [w for w in group if w.offsets[k] > offsets[k]]
        for start, width, windows in (begin, below[k], lower), (end, above[k], upper):
            if windows:
                count = g.if_any(k, lit(width))
                box = _Box(
                    tuple(lit(below[m]) if m < k else start if m == k else lit(0) for m in axes),
                    tuple(g.n[m] if m < k else count if m == k else g.counts[m] for m in axes),
                )
                whole = g.added(whole, box, windows)
    inside = g.total(_Box(tuple(map(lit, below)), tuple(g.n)), group)
    last, at = g.last.outs[0], zeroing.ins[2:]
    instead: dict[int, list[Equation]] = {id(g.last): g.equations}
    kept = last in block.results
    for x in block.equations:
        same = x.ins[:1] == (last,) and x.params == zeroing.params
        if same and x.op == "slice" and x.ins[1:] == at:
            instead[id(x)] = [Equation("ident", (inside,), x.outs, {}, (), x.pos)]
        elif same and _is_zeroing(x) and x.ins[2:] == at:
            x.ins = (whole, *x.ins[1:])
            if before is group[0].e.ins[0]:  # it was zero, and has not been changed
                instead[id(x)] = [Equation("ident", (whole,), x.outs, {}, (), x.pos)]
        elif last in x.ins or (x.blocks and last in free_vars(*x.blocks)):
            kept = True
    if kept:
        g.emit("store_slice", whole, inside, *at, out=last, kinds=g.kinds)
    if before is not group[0].e.ins[0]:
        instead[id(zeroing)] = []
    return instead


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
