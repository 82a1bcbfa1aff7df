"""Which loops take from all later columns, and are turned so that each column's turn comes whole?

    for k: finish column k, then for j > k: change column j by what k has become
    for j: for k < j: change column j by what k has become, then finish column j

Both do the same to each column, in the same order (modified Gram-Schmidt, right-looking and
left-looking).  In the first, all later columns have a new past in every step, and where the change
is not linear in the column, as is a part along a direction, a derivative must keep them all.  In
the second a column is a vector that an inner loop carries, and what it is made of stays in place.

Done where derivatives are taken, if no two accesses that change places touch the same elements,
one of them writing: changes of different columns (k < k' < j' < j), and finishing column k where
an earlier step has yet to change a later column (k' < k < j').
Source: loop interchange of imperfect nests; Allen & Kennedy, Optimizing Compilers, ch. 5 and 11.
"""

from __future__ import annotations

from collections.abc import Mapping

from jitad.primitives import TABLE
from jitad.sweeps.again import wants
from jitad.sweeps.settled import Access, Accesses, Theirs
from jitad.sweeps.versions import READ
from jitad.tape.build import Builder
from jitad.tape.copy import Env, copy_equation, read, renew, structured
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import CALLS, STRUCTURED, Atom, Block, Equation, Tape, Var, free_vars, lit, walk
from jitad.tape.linear import Linear, variable
from jitad.tape.types import INT, Array

_PAIRS = 400  # of accesses looked at


def turn(tape: Tape) -> Tape:
    """The tape with such loops turned where derivatives are taken of them (in place)."""
    operators = [e for e in walk(tape.body) if e.op == "vjp"]
    if any(x.op == "for" for e in operators for x in walk(e.blocks[0])):
        sources = {v: e for e in walk(tape.body) for v in e.outs}
        for e in operators:
            _visit(e.blocks[0], sources)
    return tape


def _visit(block: Block, sources: Mapping[Var, Equation]) -> None:
    for n, e in enumerate(block.equations):
        for b in e.blocks:
            _visit(b, sources)
        if e.op == "for" and e.blocks[0].equations and e.blocks[0].equations[-1].op == "for":
            nest = _Nest(e, sources)
            if nest.may_turn():
                block.equations[n] = nest.turned()


class _Nest:
    """A loop that ends with an inner loop over what comes after its index."""

    def __init__(self, e: Equation, sources: Mapping[Var, Equation]) -> None:
        self.e, self.body = e, e.blocks[0]
        *self.first, self.inner = self.body.equations
        self.k, self.j = self.body.params[0], self.inner.blocks[0].params[0]
        self.arrays = [Accesses(e.blocks, sources) for _ in self.body.params[1:]]
        for array in self.arrays:
            array.enter(e)
        self.versions: dict[Atom, int] = {}  # of the arrays, by their numbers
        self.counted: set[Var] = set()  # integers of the first part that the inner loop uses
        self.column, self.axis = -1, -1  # the number of the array that is changed, and along what

    def may_turn(self) -> bool:
        """Can it be turned, and does it pay?"""
        return (
            self._follows() and self._plain() and self._independent() and self._pays()
            and all(map(self._apart, self.arrays))
        )  # fmt: skip

    def _follows(self) -> bool:
        """Does the inner loop go from the next index to where the outer loop ends?"""
        if not self.arrays or any(x.ins[1] != lit(1) for x in (self.e, self.inner)):
            return False
        of = self.arrays[0].integers.of
        start, count = of(self.e.ins[0]), of(self.e.ins[2])
        after, left = of(self.inner.ins[0]), of(self.inner.ins[2])
        return after == variable(self.k).plus(1) and after + left == start + count

    def _plain(self) -> bool:
        """Are arrays all that is carried, is only their content used, and has nothing an effect?"""
        for x in walk(self.body):
            if x.op in CALLS or (x.op not in STRUCTURED and TABLE[x.op].effect):
                return False
        results = self.body.results
        for n, (found, p) in enumerate(zip(self.arrays, self.body.params[1:], strict=True)):
            if not isinstance(p.type, Array) or found.block(self.body, p) is not results[n]:
                return False
            if found.whole or not (found.plain and found.once(self.body)):
                return False
            if any(a.stale for a in found.all):
                return False
            self.versions.update((v, n) for v in found.versions)
        return all(a in self.versions for a in self.inner.ins[3:])

    def _independent(self) -> bool:
        """Does what the inner loop uses of the first part follow from the index alone?"""
        made = {v: x for x in self.first for v in x.outs}
        todo = [v for v in free_vars(*self.inner.blocks) if v in made and v not in self.versions]
        while todo:
            v = todo.pop()
            x = made[v]
            if v.type != INT or x.blocks or not TABLE[x.op].elementwise:
                return False
            self.counted.add(v)
            todo += [a for a in x.ins if isinstance(a, Var) and a in made]
        return True

    def _pays(self) -> bool:
        """Is there one array whose columns change, and not linearly in themselves?"""
        chosen = [
            (n, axis) for n, array in enumerate(self.arrays) for axis in [self._axis(array)]
            if axis is not None and self._bends(array, axis)
        ]  # fmt: skip
        if len(chosen) == 1:
            self.column, self.axis = chosen[0]
        return len(chosen) == 1

    def _bends(self, array: Accesses, axis: int) -> bool:
        """Would a derivative ask for what a column was before the change?"""
        body = self.inner.blocks[0]
        own = [a.equation.outs[0] for a in array.all
               if not a.written and self._inside(a) and self._at(a, self.j, axis)]  # fmt: skip
        late = closure(own, successors(predecessors(body)))
        return any(
            isinstance(a.type, Array) and a in late and a not in self.versions
            for x in walk(body) for a in wants(x, late)
        )  # fmt: skip

    def _axis(self, array: Accesses) -> int | None:
        """The axis along which the inner loop writes at its index and the first part at its own,
        all of it outside of further loops and branches."""
        if len(array.all[0].low if array.all else ()) < 2:
            return None
        top = {id(x) for x in (*self.first, *self.inner.blocks[0].equations)}
        dtype = self.body.params[1:][self.arrays.index(array)].type.dtype  # type: ignore[union-attr]
        inner = [a for a in array.all if self._inside(a)]
        written = [a for a in inner if a.written]
        if not written or len(inner) == len(array.all):
            return None
        for axis in range(len(written[0].low)):
            if all(
                id(a.equation) in top
                and (not a.written or a.equation.ins[1].type.dtype == dtype)  # type: ignore[union-attr]
                and (self._at(a, self.j, axis) if self._inside(a) and a.written
                     else self._at(a, self.k, axis)
                     or (self._inside(a) and self._at(a, self.j, axis)))
                for a in array.all
            ):  # fmt: skip
                return axis
        return None

    def _inside(self, a: Access) -> bool:
        return self.inner in a.loops

    def _at(self, a: Access, v: Var, axis: int | None = None) -> bool:
        axis = self.axis if axis is None else axis
        return a.low[axis] == a.high[axis] == variable(v)

    def _apart(self, array: Accesses) -> bool:
        """Is nothing of this array touched in another order than before?"""
        if len(array.all) ** 2 > _PAIRS:
            return False
        k, j = variable(self.k), variable(self.j)

        def later_column(theirs: Theirs) -> list[Linear]:  # k < k' < j' < j
            return [(theirs(k) - k).plus(-1), (j - theirs(j)).plus(-1)]

        def not_yet(theirs: Theirs) -> list[Linear]:  # k' < k < j'
            return [(k - theirs(k)).plus(-1), (theirs(j) - k).plus(-1)]

        return all(
            array.never(a, w, (), later_column if self._inside(a) else not_yet)
            for a in array.all for w in array.all
            if self._inside(w) and (a.written or w.written)
        )  # fmt: skip

    # -- the turned loop ------------------------------------------------------------------------

    def turned(self) -> Equation:
        e, body = self.e, self.body
        self.b = b = Builder()
        b.pos = e.pos
        env: Env = {}
        at = Var(self.j.type, (), self.j.name)
        params = [renew(p, a, env) for p, a in zip(body.params[1:], e.ins[3:], strict=True)]
        with b.block(at, *params) as new:
            now: list[Atom] = list(params)
            column = self._changed(at, now, self._taken(e.ins[3 + self.column], at))
            new.results = self._finished(at, now, column)
        return Equation("for", e.ins, e.outs, e.params, (new,), e.pos)

    def _changed(self, at: Var, now: list[Atom], column: Atom) -> Atom:
        """The column after all changes; `now`: the versions of the other arrays, changed too."""
        b, inner, start = self.b, self.inner, self.e.ins[0]
        block = inner.blocks[0]
        numbers = [self.versions[a] for a in inner.ins[3:]]
        init = [column if n == self.column else now[n] for n in numbers]
        count = b.emit("sub", at, start)
        env: Env = {self.j: at, self.k: Var(self.k.type, (), self.k.name)}
        for v, n in self.versions.items():
            env[v] = now[n]  # type: ignore[index]
        params = [Var(a.type, a.shape, p.name)
                  for p, a in zip(block.params[1:], init, strict=True)]  # fmt: skip
        env.update((p, q) for p, q, n in zip(block.params[1:], params, numbers, strict=True)
                   if n != self.column)  # fmt: skip
        with b.block(env[self.k], *params) as new:  # type: ignore[arg-type]
            for x in self.first:
                if self.counted.intersection(x.outs):
                    copy_equation(b, x, env)
            column = params[numbers.index(self.column)]
            for x in block.equations:
                column = self._copied(x, env, column)
            new.results = [column if n == self.column else read(r, env)
                           for n, r in zip(numbers, block.results, strict=True)]  # fmt: skip
        b.pos = inner.pos
        outs = structured(b, "for", (start, lit(1), count, *init), (new,), [a.type for a in init])
        for n, out in zip(numbers, outs, strict=True):
            if n == self.column:
                column = out
            else:
                now[n] = out
        return column

    def _finished(self, at: Var, now: list[Atom], column: Atom) -> list[Atom]:
        """The first part, which ends a column's turn, and the versions that it leaves."""
        env: Env = {self.k: at}
        env.update(zip(self.body.params[1:], now, strict=True))
        own = {a.equation.outs[0] for a in self.arrays[self.column].all}
        back = False
        for x in (*self.first, None):
            write = x is None or (x.op in READ and x.outs[0] in own)
            if write and not back:
                p = self.body.params[1 + self.column]
                env[p] = self._put(env[p], column, at)
                back = True
            if x is None:
                break
            if back:
                copy_equation(self.b, x, env)
            else:
                self._copied(x, env, column)
        last = dict(enumerate(self.body.results))
        last.update((self.versions[a], a) for a in self.inner.ins[3:])
        return [read(last[n], env) for n in range(len(now))]

    # -- accesses to the column -----------------------------------------------------------------

    def _copied(self, x: Equation, env: Env, column: Atom) -> Atom:
        """Copy an equation; what it does at the column's place is done to the column, which is
        given as it then is."""
        b = self.b
        mine = next((a for a in self.arrays[self.column].all if a.equation is x), None)
        if mine is None or not self._at(mine, self.j if self._inside(mine) else self.k):
            copy_equation(b, x, env)
            return column
        b.pos = x.pos
        head = 2 if mine.written else 1
        kinds = x.params.get("kinds") or "i" * len(mine.low)
        operands = iter(read(a, env) for a in x.ins[head:])
        axes = [[next(operands) for _ in range(1 if kind == "i" else 3)] for kind in kinds]
        whole = [[lit(0), lit(1), n] for n in x.ins[0].shape]
        del axes[self.axis], whole[self.axis]
        if axes != whole:
            params = dict(x.params)
            if "kinds" in params:
                params["kinds"] = kinds[: self.axis] + kinds[self.axis + 1 :]
            rest = [a for axis in axes for a in axis]
            value = [read(x.ins[1], env)] if mine.written else []
            made: Atom = b.emit(x.op, column, *value, *rest, **params)
        elif not mine.written:
            made = column
        elif x.op.startswith("accum"):
            made = b.emit("add", column, read(x.ins[1], env))
        else:
            made = read(x.ins[1], env)
            if not isinstance(made.type, Array):
                made = b.emit("broadcast", made, *column.shape, axes=())
        if mine.written:
            return made
        env[x.outs[0]] = made
        return column

    def _taken(self, array: Atom, at: Var) -> Atom:
        kinds, operands = self._place(array, at)
        return self.b.emit("slice", array, *operands, kinds=kinds)

    def _put(self, array: Atom, column: Atom, at: Var) -> Atom:
        kinds, operands = self._place(array, at)
        return self.b.emit("store_slice", array, column, *operands, kinds=kinds)

    def _place(self, array: Atom, at: Var) -> tuple[str, list[Atom]]:
        """The operands that name the column."""
        axes = [[lit(0), lit(1), n] for n in array.shape]
        axes[self.axis] = [at]
        kinds = "".join("ri"[len(axis) == 1] for axis in axes)
        return kinds, [a for axis in axes for a in axis]
