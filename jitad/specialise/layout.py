"""Along which of its axes should an array's elements be neighbours in memory?

A loop over points that reads `x[i, 0]`, `x[i, 1]`, `x[i, 2]` steps over the coordinates that it
doesn't want, and can't run in vector lanes.  Such an array is better held transposed, point by
point in each coordinate ("structure of arrays"); a person who writes for speed does that by hand.

An array is turned together with all that it shares storage with: versions, carried values,
records.  What loops over them do is counted, inner loops weighing most.  Arrays that the tape makes
itself are turned at no cost, but what is returned is turned back by a copy, and a parameter is
turned by one: where that pays, and where the tape goes over an array of its extents anyway, so that
no function does more work than its data ask for.
A turned array is an ordinary array with its axes in another order.  Operations on elements and
elementwise ones are rewritten; all others see it through a `transpose`, which is only a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jitad.primitives import TABLE
from jitad.tape.ir import CALLS, Atom, Block, Equation, Lit, Tape, Var, free_vars, walk
from jitad.tape.linear import Forms, Linear
from jitad.tape.types import Array, Stack

Perm = tuple[int, ...]  # axis k of a turned array is axis perm[k] of what it stands for

_PER_LOOP = 8  # a loop is taken to run so many times
_SHORT = 8  # an axis of fewer elements is not worth lanes
_ELEMENTS = ("load", "store", "accum")
_SLICES = ("slice", "store_slice", "accum_slice")
_ALL = ("full", "copy", "sum", "push")  # go over all of an array
_ANY_ORDER = ("push", "pop", "copy", "transpose", "concatenate")  # as good for a turned array
_PARTS = ("store_take", "accum_take")  # write in place, untaught


def lay_out(tape: Tape, copying: bool = True) -> Tape:
    """The tape with such arrays turned (in place); parameters too, if they may be copied."""
    copies = _copies(tape.body) if copying else {}
    groups = _Groups(tape.body, copies, stay=not copying)
    if copying:
        groups.give(tape.body.results)
    _Votes(groups).visit(tape.body, None, 0, set())
    turned = groups.turned()
    if turned:
        copied = {p: v for p, v in copies.items() if p in turned}
        _Turn(turned, copied).tape(tape.body)
    return tape


def _copies(body: Block) -> dict[Var, Var]:
    """The parameters that may be copied, with names for the copies."""
    if any(e.op in CALLS for e in walk(body)):  # each call would copy
        return {}
    gone_over = {
        a.shape for e in body.equations if not e.blocks
        if e.op in _ALL or TABLE[e.op].elementwise
        for a in (*e.ins, *e.outs) if _ndim(a) > 1
    }  # fmt: skip
    return {p: Var(p.type, p.shape, p.name) for p in body.params
            if _ndim(p) > 1 and isinstance(p.type, Array) and p.shape in gone_over}  # fmt: skip


def _ndim(a: Atom) -> int:
    t = a.type.element if isinstance(a.type, Stack) else a.type
    return t.ndim if isinstance(t, Array) else 0


# -- which ----------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class _Group:
    """Arrays that share storage, or are computed element by element from each other."""

    ndim: int
    members: list[Var] = field(default_factory=list)
    votes: dict[int, int] = field(default_factory=dict)  # how often loops move along an axis
    copies: int = 0  # parameters among the members, and results: they are turned back
    fixed: bool = False

    def vote(self, axis: int, loops: int) -> None:
        axis %= self.ndim
        self.votes[axis] = self.votes.get(axis, 0) + _PER_LOOP**loops

    def perm(self) -> Perm | None:
        """The order of axes that loops ask for, unless it is the one that it has."""
        last = self.ndim - 1
        best = max(self.votes, key=lambda axis: self.votes[axis], default=last)
        against = self.votes.get(last, 0) + self.copies * _PER_LOOP**self.ndim
        if self.fixed or self.votes.get(best, 0) <= 2 * against:
            return None
        for v in self.members:
            if v.shape and isinstance(n := v.shape[best], Lit) and n.value < _SHORT:
                return None
        return (*(k for k in range(self.ndim) if k != best), best)


class _Groups:
    """The groups of a tape's arrays of two axes or more; other parameters are in none."""

    def __init__(self, body: Block, copies: Mapping[Var, Var], stay: bool) -> None:
        self._of: dict[Var, _Group] = {}
        self._copies = copies
        self._inputs = set(body.params).difference(copies)
        self._staying = self._inputs if stay else set()  # what is stored to them stays with them
        for e in walk(body):
            self._join_equation(e)

    def of(self, a: Atom) -> _Group | None:
        if not isinstance(a, Var) or _ndim(a) < 2 or a in self._inputs:
            return None
        if a not in self._of:
            self._of[a] = _Group(_ndim(a), [a], copies=int(a in self._copies))
        return self._of[a]

    def give(self, results: Iterable[Atom]) -> None:
        """What the caller gets lies as it expects."""
        for a in results:
            if (g := self.of(a)) is not None:
                g.copies += 1

    def turned(self) -> dict[Var, Perm]:
        perms = {g: g.perm() for g in set(self._of.values())}
        return {v: perm for v, g in self._of.items() if (perm := perms[g]) is not None}

    def _join_equation(self, e: Equation) -> None:
        match e.op:
            case "for":
                body = e.blocks[0]
                for together in zip(e.ins[3:], body.params[1:], body.results, e.outs, strict=True):
                    self._join(together)
            case "while":
                cond, body = e.blocks
                for same in zip(e.ins, cond.params, body.params, body.results, e.outs, strict=True):
                    self._join(same)
            case "if":
                one, other = e.blocks
                for choice in zip(one.results, other.results, e.outs, strict=True):
                    self._join(choice)
            case "store" | "accum":
                self._join((e.ins[0], e.outs[0]))
            case "store_slice" | "accum_slice":
                self._join((e.ins[0], e.outs[0]))
                stretched = 0 < _ndim(e.ins[1]) < e.params["kinds"].count("r")
                if stretched and (g := self.of(e.ins[0])) is not None:
                    g.fixed = True
            case "push":
                self._join((*e.ins, e.outs[0]))
            case "pop":
                self._join((e.ins[0], *e.outs))
            case "spread":  # what its parts do with them has been counted before
                for a in (*e.ins, *e.outs):
                    if (g := self.of(a)) is not None:
                        g.fixed = True
            case _ if e.op in _PARTS:
                for a in (e.ins[0], e.outs[0]):
                    if (g := self.of(a)) is not None:
                        g.fixed = True
                self._join((e.ins[0], e.outs[0]))
            case _ if TABLE[e.op].elementwise:
                self._join((*e.ins, *e.outs), storage=False)

    def _join(self, atoms: Iterable[Atom], storage: bool = True) -> None:
        first: _Group | None = None
        atoms = tuple(atoms)
        fixed = storage and not self._staying.isdisjoint(atoms)
        for a in atoms:
            g = self.of(a)
            if g is None or g is first:
                continue
            g.fixed |= fixed
            if first is None:
                first = g
                continue
            if len(g.members) > len(first.members):
                first, g = g, first
            first.members += g.members
            first.fixed |= g.fixed
            first.copies += g.copies
            for v in g.members:
                self._of[v] = first


class _Votes:
    """Along which axes do the loops of a tape move through its arrays?"""

    def __init__(self, groups: _Groups) -> None:
        self._groups = groups
        self._forms = Forms()

    def visit(self, block: Block, index: Var | None, loops: int, inside: set[Var]) -> None:
        """`index`: of the innermost loop, if it counts; `inside`: what is computed in it."""
        for e in block.equations:
            form = self._forms.result(e.op, e.ins)
            if form is not None:
                self._forms.of_var[e.outs[0]] = form
            if e.op == "for":
                (body,) = e.blocks
                self.visit(body, body.params[0], loops + 1, set(body.params[1:]))
            elif e.op == "if":
                for b in e.blocks:
                    self.visit(b, index, loops, inside)
            elif e.op == "while":
                for b in e.blocks:
                    self.visit(b, None, loops + 1, set(b.params))
            elif e.op in _SLICES:
                self._part(e, loops)
            elif e.op not in _ELEMENTS and e.op not in _ANY_ORDER:
                self._whole(e, loops)
            elif index is not None:
                self._element(e, index, loops, inside)
            inside.update(e.outs)

    def _element(self, e: Equation, index: Var, loops: int, inside: set[Var]) -> None:
        g = self._groups.of(e.ins[0])
        if g is None:
            return
        moving = [
            (axis, form)
            for axis, form in enumerate(map(self._forms.of, e.ins[-g.ndim :]))
            if any(v is index or v in inside for v, _ in form.terms)
        ]
        if len(moving) == 1 and _one_by_one(moving[0][1], index, inside):
            g.vote(moving[0][0], loops)
        elif moving:  # here and there: what is neighbours now should stay so
            g.vote(-1, loops)

    def _part(self, e: Equation, loops: int) -> None:
        """Rows, columns, planes: their elements are gone through, the last axis innermost."""
        g = self._groups.of(e.ins[0])
        operands = iter(e.ins[1 if e.op == "slice" else 2 :])
        along = []
        for axis, kind in enumerate(e.params["kinds"]):
            part = [next(operands) for _ in range(3 if kind == "r" else 1)]
            if kind == "r" and not (isinstance(n := part[-1], Lit) and n.value == 1):
                along.append(axis)
        if g is not None and along:
            g.vote(along[-1], loops + len(along))

    def _whole(self, e: Equation, loops: int) -> None:
        """Nests over whole arrays go along the last axis of those that can't be turned."""
        atoms = [a for a in (*e.ins, *e.outs) if _ndim(a) > 1]
        groups = [self._groups.of(a) for a in atoms]
        if len(atoms) > 1 and (None in groups or not TABLE[e.op].elementwise):
            for a, g in zip(atoms, groups, strict=True):
                if g is not None:
                    g.vote(-1, loops + _ndim(a))


def _one_by_one(form: Linear, index: Var, inside: set[Var]) -> bool:
    return abs(form.coefficient(index)) == 1 and not any(v in inside for v, _ in form.terms)


# -- turning --------------------------------------------------------------------------------------


def _rename(body: Block, p: Var, v: Var) -> None:
    """Let a parameter's copy take its place, but for its extents."""
    for e in walk(body):
        if e.op != "dim":
            e.ins = tuple(v if a is p else a for a in e.ins)
        for b in e.blocks:
            b.results = [v if a is p else a for a in b.results]
    body.results = [v if a is p else a for a in body.results]


def _copied(body: Block, p: Var, v: Var, perm: Perm) -> None:
    """Make the copy, turned, where it is first wanted."""
    at = next(k for k, e in enumerate(body.equations) if v in e.ins or v in free_vars(*e.blocks))
    view = Var(v.type, v.shape)
    body.equations[at:at] = [
        Equation("transpose", (p,), (view,), {"perm": perm}, (), body.equations[at].pos),
        Equation("copy", (view,), (v,), {}, (), body.equations[at].pos),
    ]


def _kept_in_order(perm: Perm, axes: tuple[int, ...]) -> bool:
    kept = [k for k in perm if k not in axes]
    return kept == sorted(kept)


def _inverse(perm: Perm) -> Perm:
    return tuple(perm.index(k) for k in range(len(perm)))


class _Turn:
    """Rewrites a tape for arrays that are turned."""

    def __init__(self, perms: dict[Var, Perm], copies: Mapping[Var, Var]) -> None:
        self._perms = {copies.get(v, v): perm for v, perm in perms.items()}
        self._copies = copies
        self._out: list[Equation] = []

    def tape(self, body: Block) -> None:
        for p, v in self._copies.items():
            _rename(body, p, v)
        for v, perm in self._perms.items():
            if v.shape:
                v.shape = tuple(v.shape[k] for k in perm)
        self._block(body, [None] * len(body.results))
        for p, v in self._copies.items():
            _copied(body, p, v, self._perms[v])

    def _block(self, block: Block, perms: Sequence[Perm | None]) -> None:
        """`perms`: how the block's results are to be turned."""
        outer, self._out = self._out, []
        for e in block.equations:
            for b in e.blocks:
                ends = e.op == "if" or b is e.blocks[-1]
                self._block(b, [self._perm(v) for v in e.outs] if ends else [None])
            self._equation(e)
        results = zip(block.results, perms, strict=True)
        block.results = [self._turned(a, perm, None) for a, perm in results]
        block.equations, self._out = self._out, outer

    def _perm(self, a: Atom) -> Perm | None:
        return self._perms.get(a) if isinstance(a, Var) else None

    def _equation(self, e: Equation) -> None:
        first = self._perm(e.ins[0]) if e.ins else None
        out = self._perm(e.outs[0]) if e.outs else None
        match e.op:
            case "for" | "while":
                params = e.blocks[0].params[-len(e.outs) :] if e.outs else []
                head = len(e.ins) - len(params)
                init = zip(e.ins[head:], params, strict=True)
                e.ins = (*e.ins[:head], *(self._turned(a, self._perm(p), e) for a, p in init))
            case "if" | "stack":
                pass
            case "load" | "store" | "accum" if first is not None:
                n = len(first)
                e.ins = (*e.ins[:-n], *(e.ins[-n:][k] for k in first))
            case _ if e.op in _SLICES and first is not None:
                self._slice(e, first, out)
                return
            case "full" if out is not None:
                e.ins = (e.ins[0], *(e.ins[1:][k] for k in out))
            case "dim" if first is not None:
                e.params = {"axis": first.index(e.params["axis"])}
            case "sum" if first is not None and _kept_in_order(first, e.params["axes"]):
                e.params = e.params | {"axes": tuple(sorted(map(first.index, e.params["axes"])))}
            case "concatenate" if out is not None:
                *parts, total = e.ins
                e.ins = (*(self._turned(a, out, e) for a in parts), total)
                e.params = e.params | {"axis": out.index(e.params["axis"])}
            case "push":
                e.ins = (e.ins[0], self._turned(e.ins[1], first, e))
            case "pop" if first is not None:
                e.ins = (e.ins[0], *(e.ins[1:][k] for k in first))
            case _ if out is not None and (TABLE[e.op].elementwise or e.op == "copy"):
                e.ins = tuple(self._turned(a, out, e) for a in e.ins)
            case _:
                self._seen_through(e)
                return
        self._out.append(e)

    def _slice(self, e: Equation, first: Perm, out: Perm | None) -> None:
        """A part of a turned array, read or written."""
        head = 1 if e.op == "slice" else 2
        kinds: str = e.params["kinds"]
        rest = iter(e.ins[head:])
        operands = [[next(rest) for _ in range(3 if kind == "r" else 1)] for kind in kinds]
        ranges = [axis for axis, kind in enumerate(kinds) if kind == "r"]
        part = tuple(ranges.index(axis) for axis in first if axis in ranges)
        ordered = part == tuple(range(len(part)))
        e.params = {"kinds": "".join(kinds[axis] for axis in first)}
        turned = tuple(a for axis in first for a in operands[axis])
        if e.op != "slice":
            v = self._turned(e.ins[1], None if ordered else part, e)
            e.ins = (e.ins[0], v, *turned)
            self._out.append(e)
            return
        e.ins = (e.ins[0], *turned)
        self._out.append(e)
        (v,) = e.outs
        as_out = tuple(part.index(k) for k in out or range(len(part)))
        if as_out != tuple(range(len(part))) and isinstance(v, Var):
            shape = tuple(v.shape[as_out.index(k)] for k in range(len(part))) if v.shape else ()
            e.outs = (Var(v.type, shape, v.name),)
            self._out.append(
                Equation("transpose", e.outs, (v,), {"perm": as_out}, (), e.pos)
            )

    def _seen_through(self, e: Equation) -> None:
        """An operation that knows nothing of turned arrays."""
        e.ins = tuple(self._plain(a, e) for a in e.ins)
        turned = [(k, v, self._perms[v]) for k, v in enumerate(e.outs) if v in self._perms]
        outs = list(e.outs)
        for k, v, perm in turned:
            shape = tuple(v.shape[j] for j in _inverse(perm)) if v.shape else ()
            outs[k] = Var(v.type, shape, v.name)
        e.outs = tuple(outs)
        self._out.append(e)
        for k, v, perm in turned:
            self._out.append(Equation("transpose", (outs[k],), (v,), {"perm": perm}, (), e.pos))

    def _plain(self, a: Atom, e: Equation | None) -> Atom:
        perm = self._perm(a)
        return a if perm is None else self._view(a, _inverse(perm), e)

    def _turned(self, a: Atom, perm: Perm | None, e: Equation | None) -> Atom:
        if self._perm(a) == perm or not isinstance(a.type, Array):
            return a
        a = self._plain(a, e)
        return a if perm is None else self._view(a, perm, e)

    def _view(self, a: Atom, perm: Perm, e: Equation | None) -> Atom:
        v = Var(a.type, tuple(a.shape[k] for k in perm) if a.shape else ())
        self._out.append(
            Equation("transpose", (a,), (v,), {"perm": perm}, (), e.pos if e else None)
        )
        return v
