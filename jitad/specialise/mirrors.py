"""Which matrices are best held twice, by rows and by columns?

A factorisation written with products of rows and columns goes through `m[i, :j]` and `m[:j, j]` in
its inner loops: however the matrix lies, one of them strides.  Where much more is read along both
axes than is written, a *mirror* is held beside the matrix, its transpose: what is stored goes to
both, and columns are read as rows of the mirror.

To the adjoint of such a matrix rows and columns are added.  It is held as the sum of two, rows
being added to the one, columns as rows to the transpose of the other; where it is read, they are
added.  Only what starts as an adjoint's zeros is divided: the order of a sweep's additions is free.

Matrices that inner loops go through along one axis only are turned instead (`layout`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jitad.tape.copy import lit_zero
from jitad.tape.ir import CALLS, Atom, Block, Equation, Lit, Pos, Tape, Var, lit, walk
from jitad.tape.lent import STORES
from jitad.tape.linear import Forms
from jitad.tape.types import Array, Scalar, Stack

_PER_LOOP = 8  # a loop is taken to run so many times
_SHORT = 8  # an axis of fewer elements is not worth it
_TURN = {"perm": (1, 0)}
_HEAD = {"load": 1, "slice": 1, "store": 2, "accum": 2, "store_slice": 2, "accum_slice": 2}


def mirrors(tape: Tape) -> Tape:
    """The tape with such matrices held twice (in place)."""
    if any(e.op in CALLS for e in walk(tape.body)):  # functions are lent the memory of arrays
        return tape
    groups = _Groups(tape.body)
    _Votes(groups).visit(tape.body, None, 0)
    kinds = {v: kind for v, g in groups.of.items() if (kind := g.kind()) is not None}
    if kinds:
        _Double(kinds).block(tape.body, [None] * len(tape.body.results))
    return tape


# -- which ----------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class _Group:
    """The versions of a matrix, and what is done to them, inner loops weighing most."""

    members: list[Var] = field(default_factory=list)
    reads: list[int] = field(default_factory=lambda: [0, 0])  # along an axis
    sums: list[int] = field(default_factory=lambda: [0, 0])  # additions along an axis
    others: int = 0  # elements here and there, read, written or added to
    made: int = 0  # whole matrices made or read
    fixed: bool = False
    begun: int = 0  # times that it is begun, at most once a loop around
    adjoints: int = 0  # of them as zeros to which a sweep adds

    def kind(self) -> str | None:
        """"mirror", "sum", or None for a matrix that stays as it is."""
        if self.fixed:
            return None
        if _pays(self.reads, sum(self.sums) + self.others + self.made):
            return "mirror"
        swept = 0 < self.begun == self.adjoints
        if swept and _pays(self.sums, sum(self.reads) + self.others + self.made):
            return "sum"
        return None


def _pays(both: Sequence[int], cost: int) -> bool:
    less, more = sorted(both)
    return less > 2 * cost and _PER_LOOP * less > more


class _Groups:
    """Versions of a matrix that share storage; parameters of the tape are in none."""

    def __init__(self, body: Block) -> None:
        self.of: dict[Var, _Group] = {}
        self._inputs = set(body.params)
        for e in walk(body):
            for versions in _same(e):
                self._join(versions)

    def find(self, a: Atom) -> _Group | None:
        if not isinstance(a, Var) or not _is_matrix(a) or a in self._inputs:
            return None
        if a not in self.of:
            short = any(isinstance(n, Lit) and n.value < _SHORT for n in a.shape)
            self.of[a] = _Group([a], fixed=short or len(a.shape) != 2)
        return self.of[a]

    def _join(self, versions: Sequence[Atom]) -> None:
        first: _Group | None = None
        for a in versions:
            g = self.find(a)
            if g is None or g is first:
                continue
            if first is None:
                first = g
                continue
            first.members += g.members
            first.fixed |= g.fixed
            for v in g.members:
                self.of[v] = first


def _is_matrix(a: Atom) -> bool:
    return isinstance(a.type, Array) and a.type.ndim == 2


def _same(e: Equation) -> Iterator[Sequence[Atom]]:
    """Versions that an equation makes share storage."""
    match e.op:
        case "for":
            (body,) = e.blocks
            yield from zip(e.ins[3:], body.params[1:], body.results, e.outs, strict=True)
        case "while":
            cond, body = e.blocks
            yield from zip(e.ins, cond.params, body.params, body.results, e.outs, strict=True)
        case "if":
            yield from zip(*(b.results for b in e.blocks), e.outs, strict=True)
        case _ if e.op in STORES:
            yield (e.ins[0], e.outs[0])


class _Votes:
    """How do the loops of a tape go through its matrices?"""

    def __init__(self, groups: _Groups) -> None:
        self._groups = groups
        self._forms = Forms()

    def visit(self, block: Block, index: Var | None, loops: int) -> None:
        """`index`: of the innermost loop, if it counts."""
        for e in block.equations:
            form = self._forms.result(e.op, e.ins)
            if form is not None:
                self._forms.of_var[e.outs[0]] = form
            if e.blocks:
                self._begins(e, loops)
                for b in e.blocks:
                    i = b.params[0] if e.op == "for" else index if e.op == "if" else None
                    self.visit(b, i, loops + (e.op != "if"))
                continue
            at = e.outs[0] if e.op in STORES else e.ins[0] if e.ins else None
            g = self._groups.find(at) if at is not None and e.op in _HEAD else None
            if g is not None:
                self._touch(g, e, index, loops)
            else:
                self._whole(e, loops)

    def _touch(self, g: _Group, e: Equation, index: Var | None, loops: int) -> None:
        axis, length = self._way(e, index)
        if e.op in STORES and self._groups.find(e.ins[0]) is None:
            g.begun += 1
            g.made += _PER_LOOP ** (loops + 2)
        weight = _PER_LOOP ** (loops + length)
        if axis is None or e.op in ("store", "store_slice"):
            g.others += weight
        elif e.op in ("load", "slice"):
            g.reads[axis] += weight
        else:
            g.sums[axis] += weight
        if "slice" in e.op and e.op != "slice" and 0 < len(e.ins[1].shape) < length:
            g.fixed = True  # a row that is stretched

    def _way(self, e: Equation, index: Var | None) -> tuple[int | None, int]:
        """The axis along which neighbours are gone through, and how many axes there are."""
        if "slice" in e.op:
            along = [k for k, n in enumerate(_counts(e)) if n is not None and n != lit(1)]
            return (along[0] if len(along) == 1 else None), len(along)
        if index is None:
            return None, 0
        moves = [self._forms.of(a).coefficient(index) for a in e.ins[_HEAD[e.op] :]]
        moving = [k for k, c in enumerate(moves) if c]
        return (moving[0] if len(moving) == 1 and abs(moves[moving[0]]) == 1 else None), 0

    def _whole(self, e: Equation, loops: int) -> None:
        """Matrices that are made, taken or handed over as a whole."""
        handed_over = e.op in STORES or any(isinstance(v.type, Stack) for v in e.outs)
        for a in (*e.ins, *e.outs):
            g = self._groups.find(a)
            if g is not None and e.op != "dim":
                g.begun += a in e.outs
                g.adjoints += bool(a in e.outs and e.params.get("adjoint"))
                g.fixed |= handed_over
                g.made += _PER_LOOP ** (loops + 2)

    def _begins(self, e: Equation, loops: int) -> None:
        """Matrices that a loop starts from, or a branch ends with, as the first of their group."""
        ways = [e.ins[-len(e.outs) :]] if e.op != "if" else [b.results for b in e.blocks]
        for way in ways if e.outs else ():
            for a, v in zip(way, e.outs, strict=True):
                g = self._groups.find(v)
                if g is not None and self._groups.find(a) is None:
                    g.begun += 1
                    g.made += _PER_LOOP ** (loops + 2)


def _counts(e: Equation) -> list[Atom | None]:
    """Of each axis of the base the number of elements in a slice; None where it takes one."""
    return [part[2] if len(part) == 3 else None for part in _parts(e)]


def _parts(e: Equation) -> list[list[Atom]]:
    """The operands of a slice, axis by axis."""
    rest = iter(e.ins[_HEAD[e.op] :])
    return [[next(rest) for _ in range(3 if k == "r" else 1)] for k in e.params["kinds"]]


# -- how ------------------------------------------------------------------------------------------


class _Double:
    """Rewrites a tape: every version of such a matrix gets a companion, which is transposed."""

    def __init__(self, kinds: dict[Var, str]) -> None:
        self._kinds = kinds
        self._other: dict[Var, Var] = {}
        self._out: list[Equation] = []
        self._pos: Pos | None = None

    def block(self, block: Block, kinds: Sequence[str | None]) -> None:
        """`kinds`: what companions the block's results are handed on with."""
        outer, self._out = self._out, []
        for e in block.equations:
            self._pos = e.pos
            self._equation(e)
        block.results = self._handed(block.results, kinds)
        block.equations, self._out = self._out, outer

    def _handed(self, atoms: Sequence[Atom], kinds: Sequence[str | None]) -> list[Atom]:
        """What a block is entered or left with: those that have companions, then these."""
        pairs = list(zip(atoms, kinds, strict=True))
        here = [a if kind else self._plain(a) for a, kind in pairs]
        return here + [self._companion(a, kind) for a, kind in pairs if kind]

    def _equation(self, e: Equation) -> None:
        kind = self._kinds.get(e.ins[0]) if e.ins and isinstance(e.ins[0], Var) else None
        if e.blocks:
            self._structured(e)
        elif e.op in STORES and e.outs[0] in self._kinds:
            self._update(e, self._kinds[e.outs[0]])
        elif kind is not None and e.op in ("load", "slice"):
            self._read(e, kind)
        elif e.op == "dim":
            self._out.append(e)
        else:
            e.ins = tuple(self._plain(a) for a in e.ins)
            self._out.append(e)
            for v in e.outs:
                if v in self._kinds:  # inner loops may read it as it is
                    self._companion(v, self._kinds[v])

    def _structured(self, e: Equation) -> None:
        kinds = [self._kinds.get(v) for v in e.outs]
        head = len(e.ins) if e.op == "if" else 3 if e.op == "for" else 0
        e.ins = (*e.ins[:head], *self._handed(e.ins[head:], kinds[: len(e.ins) - head]))
        for b in e.blocks:
            b.params += [self._beside(p) for p in b.params if p in self._kinds]
            condition = e.op == "while" and b is e.blocks[0]
            self.block(b, [None] if condition else kinds)
        e.outs = (*e.outs, *(self._beside(v) for v in e.outs if v in self._kinds))
        self._out.append(e)

    def _update(self, e: Equation, kind: str) -> None:
        a, v, *_ = e.ins
        b = self._companion(a, kind)
        out = self._beside(e.outs[0])
        if kind == "mirror":
            self._out.append(e)
            if e.op.startswith("accum"):  # added once, so that both have the same number
                v = self._sum(e)
        elif e.op.startswith("store"):
            self._out.append(e)
            v = lit_zero(a.type.dtype)  # type: ignore[union-attr]
        elif self._along_columns(e):
            self._same(a, e.outs[0])
        else:
            self._out.append(e)
            self._same(b, out)
            return
        if len(v.shape) == 2:
            v = self._emit("transpose", (v,), v, _TURN, turned=True)
        op = e.op.replace("accum", "store") if kind == "mirror" else e.op
        self._out.append(_across(e, (b, v), (out,), op))

    def _sum(self, e: Equation) -> Var:
        """What an addition to a part has given."""
        (whole,) = e.outs
        dtype: str = whole.type.dtype  # type: ignore[union-attr]
        if e.op == "accum":
            v = Var(Scalar(dtype))
            self._out.append(Equation("load", (whole, *e.ins[2:]), (v,), {}, (), e.pos))
            return v
        extents = tuple(n for n in _counts(e) if n is not None)
        v = Var(Array(dtype, len(extents)), extents)
        params = {"kinds": e.params["kinds"]}
        self._out.append(Equation("slice", (whole, *e.ins[2:]), (v,), params, (), e.pos))
        return v

    def _along_columns(self, e: Equation) -> bool:
        return "slice" in e.op and [n is not None for n in _counts(e)] == [True, False]

    def _read(self, e: Equation, kind: str) -> None:
        b = self._other[e.ins[0]]  # type: ignore[index]
        (out,) = e.outs
        if kind == "mirror":
            self._out.append(_across(e, (b,), (out,)) if self._along_columns(e) else e)
            return
        one, other = Var(out.type, out.shape), Var(out.type, out.shape)
        self._out.append(Equation(e.op, e.ins, (one,), e.params, (), e.pos))
        if len(out.shape) == 2:
            turned = Var(out.type, out.shape[::-1])
            self._out.append(_across(e, (b,), (turned,)))
            other = self._emit("transpose", (turned,), turned, _TURN, turned=True)
        else:
            self._out.append(_across(e, (b,), (other,)))
        self._out.append(Equation("add", (one, other), (out,), {}, (), e.pos))

    def _plain(self, a: Atom) -> Atom:
        """A matrix as operations see it that know nothing of companions."""
        if not isinstance(a, Var) or self._kinds.get(a) != "sum":
            return a
        b = self._other[a]
        return self._emit("add", (a, self._emit("transpose", (b,), b, _TURN, turned=True)), a)

    def _companion(self, a: Atom, kind: str | None) -> Var:
        assert isinstance(a, Var)
        if a not in self._other:
            self._other[a] = self._fresh(a, kind)
        return self._other[a]

    def _fresh(self, a: Var, kind: str | None) -> Var:
        """The companion of a matrix that is made as a whole."""
        if kind == "sum":
            zero, dtype = lit_zero(a.type.dtype), a.type.dtype  # type: ignore[union-attr]
            return self._emit("full", (zero, *a.shape[::-1]), a, {"dtype": dtype}, turned=True)
        view = self._emit("transpose", (a,), a, _TURN, turned=True)
        return self._emit("copy", (view,), view)

    def _beside(self, v: Var) -> Var:
        """A name for the companion of a version that is made with it."""
        self._other[v] = Var(v.type, v.shape[::-1], v.name)
        return self._other[v]

    def _same(self, a: Atom, v: Var) -> None:
        self._out.append(Equation("ident", (a,), (v,), {}, (), self._pos))

    def _emit(
        self, op: str, ins: tuple[Atom, ...], like: Atom, params: dict | None = None,
        turned: bool = False,
    ) -> Var:  # fmt: skip
        v = Var(like.type, like.shape[::-1] if turned else like.shape)
        self._out.append(Equation(op, ins, (v,), dict(params or {}), (), self._pos))
        return v


def _across(
    e: Equation, head: tuple[Atom, ...], outs: tuple[Var, ...], op: str = ""
) -> Equation:
    """The same of the transpose."""
    op = op or e.op
    if "slice" not in op:
        return Equation(op, (*head, *e.ins[: len(head) - 1 : -1]), outs, {}, (), e.pos)
    params = {"kinds": e.params["kinds"][::-1]}
    operands = [a for part in reversed(_parts(e)) for a in part]
    return Equation(op, (*head, *operands), outs, params, (), e.pos)
