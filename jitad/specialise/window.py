"""How do additions to neighbouring elements become one load and one store an iteration?

The adjoint of a stencil adds to a[i-1], a[i] and a[i+1] in iteration i: every iteration waits for
what the one before it has stored, and none run in lanes.  Here the elements between are kept in
numbers that the loop carries, a window that slides along with it: an element is loaded when the
loop first adds to it and stored after it last did.  Each element meets the same additions in the
same order, so results are the same to the bit.

Only where the loop does nothing else with the array, and where the additions go along one axis in
single steps (other places that they go to must be certain to be elsewhere).  The elements at both
ends are loaded before and stored after the loop, which must then run at least once: a branch
sees to it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from jitad.specialise.linear import Forms, Linear, is_integer
from jitad.specialise.simplify import simplify
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit
from jitad.tape.types import BOOL, INT, Array, Scalar

_WIDEST = 4  # numbers that one window carries


def slide(tape: Tape) -> Tape:
    """The tape with windows in its loops."""
    return simplify(tape) if _visit(tape.body, Forms()) else tape


def _visit(block: Block, forms: Forms) -> bool:
    changed = False
    out: list[Equation] = []
    for e in block.equations:
        form = forms.result(e.op, e.ins)
        if form is not None:
            forms.of_var[e.outs[0]] = form
        for inner in e.blocks:
            changed |= _visit(inner, forms)
        made = _with_windows(e, forms) if e.op == "for" else None
        changed |= made is not None
        out += made or [e]
    block.equations = out
    return changed


@dataclass
class _Window:
    """Additions along one line of elements: (place, equation), places in the order of the loop."""

    sums: list[tuple[int, Equation]]
    index: tuple[Linear, ...]  # of place 0
    axis: int
    turn: int  # 1 or -1: place + 1 is index + turn

    @property
    def first(self) -> int:
        return min(t for t, _ in self.sums)

    @property
    def last(self) -> int:
        return max(t for t, _ in self.sums)

    def at(self, place: int) -> tuple[Linear, ...]:
        return tuple(
            f.plus(place * self.turn) if k == self.axis else f for k, f in enumerate(self.index)
        )


def _with_windows(e: Equation, forms: Forms) -> list[Equation] | None:
    """The loop with windows, and what goes around it; None where there is nothing to gain."""
    step = e.ins[1]
    if not isinstance(step, Lit) or abs(step.value) != 1 or not is_integer(e.ins[2]):
        return None
    body = e.blocks[0]
    uses = Counter(body.results)
    for x in body.equations:
        uses.update({*x.ins, *free_vars(*x.blocks)} if x.blocks else x.ins)
    users = {a: x for x in body.equations for a in x.ins if isinstance(a, Var)}
    chains = {}
    for k, p in enumerate(body.params[1:]):
        if isinstance(p.type, Array) and p.type.dtype[0] == "f":
            chain = _chain(p, body.results[k], uses, users)
            if len(chain) > 1:
                chains[k] = chain
    if not chains:
        return None
    inside = {v for x in body.equations for v in x.outs} | set(body.params[1:])
    found = {k: w for k, chain in chains.items()
             if (w := _windows(chain, body.params[0], int(step.value), forms, inside))}  # fmt: skip
    return _Rewrite(e, found, forms).equations() if found else None


def _chain(p: Var, end: Atom, uses: Counter, users: dict[Var, Equation]) -> list[Equation]:
    """The additions that lead from a carried array to its next version, if nothing else does."""
    out: list[Equation] = []
    now: Atom = p
    while now is not end:
        x = users.get(now) if isinstance(now, Var) and uses[now] == 1 else None
        if x is None or x.op != "accum" or x.ins[0] is not now:
            return []
        out.append(x)
        now = x.outs[0]
    return out if uses[now] == 1 else []


def _windows(
    chain: list[Equation], i: Var, step: int, forms: Forms, inside: set[Var]
) -> list[_Window] | None:
    """The additions by lines, if no two lines can meet and one of them has neighbours."""
    lines: dict[tuple[Linear, ...], _Window] = {}
    for x in chain:
        a, v, *index = x.ins
        if not all(map(is_integer, index)) or v.type.dtype != a.type.dtype:  # type: ignore[union-attr]
            return None
        at = [forms.of(k) for k in index]
        if any(w in inside for f in at for w, _ in f.terms):
            return None
        moving = [k for k, f in enumerate(at) if f.coefficient(i)]
        if len(moving) != 1 or abs(at[moving[0]].coefficient(i)) != 1:
            return None
        (axis,) = moving
        turn = at[axis].coefficient(i) * step
        offset = at[axis].constant
        at[axis] = at[axis].plus(-offset)
        line = lines.setdefault(tuple(at), _Window([], tuple(at), axis, turn))
        line.sums.append((offset * turn, x))
    found = list(lines.values())
    for k, one in enumerate(found):
        if any(not _apart(one, other) for other in found[:k]):
            return None
    widths = [w.last - w.first for w in found]
    return found if 0 < max(widths) and max(widths) <= _WIDEST else None


def _apart(one: _Window, other: _Window) -> bool:
    """Lines that differ in another axis by a number other than zero."""
    if one.axis != other.axis:
        return False
    differences = [f - g for f, g in zip(one.index, other.index, strict=True)]
    return any(not d.terms and d.constant for d in differences)


class _Rewrite:
    """Writes the loop anew."""

    def __init__(self, e: Equation, found: dict[int, list[_Window]], forms: Forms) -> None:
        self.e, self.found, self.forms = e, found, forms
        self.out: list[Equation] = []

    def emit(self, op: str, type: Scalar | Array, *ins: Atom, shape: tuple = ()) -> Var:
        v = Var(type, shape)
        self.out.append(Equation(op, ins, (v,), {}, (), self.e.pos))
        return v

    def sum(self, form: Linear) -> Atom:
        total: Atom = lit(form.constant)
        for v, c in form.terms:
            total = self.emit("add", INT, self.emit("mul", INT, v, lit(c)), total)
        return total

    def index(self, window: _Window, place: int, i: Linear | None = None) -> list[Atom]:
        """The indices of a place in the window, in the body or for the loop index i."""
        here = self.e.blocks[0].params[0]
        return [self.sum(f if i is None else f.replace(here, i)) for f in window.at(place)]

    def equations(self) -> list[Equation]:
        e = self.e
        start, step, count = e.ins[:3]
        first = self.forms.of(start)
        final = first + self.forms.of(count).plus(-1) * int(step.value)  # type: ignore[union-attr]
        init = list(e.ins[3:])
        carried: list[Atom] = []  # elements in the windows before the loop
        for k, windows in self.found.items():
            for w in windows:
                carried += [self.load(init[k], self.index(w, t, first))
                            for t in range(w.first, w.last)]  # fmt: skip
        body, after = self.body()
        outs = tuple(Var(v.type, v.shape, v.name) for v in e.outs)
        left = tuple(Var(p.type) for p in body.params[1 + len(init) :])
        self.out.append(
            Equation("for", (*e.ins, *carried), (*outs, *left), e.params, (body,), e.pos)
        )
        results: list[Atom] = list(outs)
        rest = iter(left)
        for k, w, t in after:
            results[k] = self.store(results[k], next(rest), self.index(w, t, final))
        if isinstance(count, Lit) and count.value > 0:
            same = [Equation("ident", (r,), (v,)) for r, v in zip(results, e.outs, strict=True)]
            return [*self.out, *same]
        runs = Var(BOOL)
        return [
            Equation("gt", (count, lit(0)), (runs,), {}, (), e.pos),
            Equation("if", (runs,), e.outs, {}, (
                Block([], self.out, results), Block([], [], list(init))), e.pos),
        ]  # fmt: skip

    def body(self) -> tuple[Block, list[tuple[int, _Window, int]]]:
        """The new body; which elements its windows hold in the end."""
        old = self.e.blocks[0]
        sums = {id(x) for ws in self.found.values() for w in ws for _, x in w.sums}
        outside, self.out = self.out, [x for x in old.equations if id(x) not in sums]
        params, results = list(old.params), list(old.results)
        held: list[Atom] = []
        after: list[tuple[int, _Window, int]] = []
        for k, windows in self.found.items():
            p = old.params[1 + k]
            number = Scalar(p.type.dtype)  # type: ignore[union-attr]
            cells: list[dict[int, Atom]] = []
            for w in windows:  # all loads before the first store
                if len(w.sums) == 1:
                    cells.append({})
                    continue
                cell: dict[int, Atom] = {t: Var(number) for t in range(w.first, w.last)}
                params += cell.values()  # type: ignore[arg-type]
                cell[w.last] = self.load(p, self.index(w, w.last))
                for t, x in w.sums:
                    cell[t] = self.emit("add", number, cell[t], x.ins[1])
                cells.append(cell)
            now: Atom = p
            for w, cell in zip(windows, cells, strict=True):
                if not cell:
                    _, v, *index = w.sums[0][1].ins
                    now = self.emit("accum", p.type, now, v, *index, shape=p.shape)  # type: ignore[arg-type]
                    continue
                now = self.store(now, cell[w.first], self.index(w, w.first))
                for t in range(w.first + 1, w.last + 1):
                    held.append(cell[t])
                    after.append((k, w, t))
            results[k] = now
        inside, self.out = self.out, outside
        return Block(params, inside, results + held), after

    def load(self, a: Atom, index: list[Atom]) -> Var:
        return self.emit("load", Scalar(a.type.dtype), a, *index)  # type: ignore[union-attr]

    def store(self, a: Atom, v: Atom, index: list[Atom]) -> Var:
        return self.emit("store", a.type, a, v, *index, shape=a.shape)  # type: ignore[arg-type]
