"""Which loops run on several threads, each a part of the iterations?

Outermost loops whose iterations may run in any order: what they carry are sums, and arrays in which
an iteration touches elements of its own (*apart*) or to which it only adds.  The body becomes a
function of the tape, which runs the k-th part of the iterations, and a `spread` runs it for all.

* A sum is a number a part, added up in the order of the parts.
* Where an iteration adds to elements near its own (the adjoint of a stencil), the last iterations
  of a part meet the next part's first: those are left for later (`late`), when all parts are done.
* Where it adds to any element, each part adds in a copy of its own; the copies are added up.

Into how many parts a loop is divided is decided when it runs, by the operations that it will take:
one a thread at most, or several where iterations differ in length.
That and the order of all additions depend on nothing but trip counts, extents and the number of
threads, so results are the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from jitad.primitives import TABLE
from jitad.primitives.threads import MOST
from jitad.specialise.divisible import Plan, Serial, in_place, plan
from jitad.specialise.rows import VIEWS, as_loops
from jitad.specialise.slabs import slabs
from jitad.specialise.together import Equal
from jitad.specialise.work import Work
from jitad.tape.copy import lit_zero
from jitad.tape.ir import (
    Atom,
    Block,
    Equation,
    Lit,
    Pos,
    Tape,
    Var,
    free_vars,
    is_array,
    lit,
    walk,
)
from jitad.tape.linear import Forms
from jitad.tape.types import BOOL, INT, Array, Scalar

GRAIN = 100_000  # operations that a part must have: a thread wakes in 5 to 50 microseconds
PRIVATE = 8  # operations that are worth a private element, which is cleared and added up
FINER = 8  # parts a thread more than one, where iterations take more or less time
_DEEPEST = 2  # loops around one that is divided: each time it is asked how much there is to do


def parallel(tape: Tape, most: int = 0) -> Tape:
    """The tape with such loops divided into at most so many parts, 0: one a thread (in place)."""
    work = _Parallel(tape, most)
    slabs(tape.body, work.forms, work.fits, _DEEPEST)
    work.visit(tape.body, Equal())
    return Tape(tape.name, tape.body, tape.pos, {**tape.functions, **work.made})


def divisions(tape: Tape) -> Iterator[tuple[Pos | None, str]]:
    """What `parallel` does to each loop, in words; what is in a divided one is not asked."""
    work = _Parallel(tape, 0)
    forms = work.forms
    slabs(tape.body, forms, work.fits, _DEEPEST)

    def visit(
        block: Block, equal: Equal, depth: int = 0
    ) -> Iterator[tuple[Pos | None, str]]:
        for e in work.equations(block, equal, depth):
            if e.op == "for" and depth <= _DEEPEST:
                try:
                    how = plan(e, forms, tape.functions)
                    if Work(e, forms).enough(2 * GRAIN):
                        yield e.pos, _told(e, how)
                        continue
                    yield e.pos, "on one thread: it is short"
                except Serial as why:
                    yield e.pos, f"on one thread: {why}"
            for b in e.blocks:
                yield from visit(b, equal.copy(), depth + (e.op in ("for", "while")))

    yield from visit(tape.body, Equal())


def _told(e: Equation, how: Plan) -> str:
    def names(numbers: list[int]) -> str:
        return ", ".join(v.name or "an array" for v in (e.blocks[0].params[1 + k] for k in numbers))

    said = ["divided among threads"]
    if how.summed:
        said.append(f"each adds to a copy of {names(how.summed)}")
    if how.late:
        said.append(f"the last {how.late} iterations of each part afterwards")
    return "; ".join(said)


# -- rewriting ------------------------------------------------------------------------------------


class _Parallel:
    """The rewriting of one tape."""

    def __init__(self, tape: Tape, most: int) -> None:
        self.tape, self.most = tape, most
        self.forms = Forms()
        self.forms.learn(tape.body)
        self.made: dict[str, Tape] = {}
        self.makers: dict[Var, Equation] = {}
        blocks = [tape.body, *(b for e in walk(tape.body) for b in e.blocks)]
        self.params = frozenset(p for b in blocks for p in b.params)

    def fits(self, e: Equation, records: Set[int]) -> bool:
        """Could the loop be divided if its records were in arrays?"""
        try:
            plan(e, self.forms, self.tape.functions, records)
        except Serial:
            return False
        return Work(e, self.forms).enough(2 * GRAIN)

    def equations(self, block: Block, equal: Equal, depth: int) -> Iterator[Equation]:
        """Of a block, with loops in the place of operations over whole arrays; `equal` learns."""
        self.makers.update((v, e) for e in block.equations for v in e.outs)
        if depth < _DEEPEST:
            as_loops(block, 2 * GRAIN, equal, self.makers)
            self.forms.learn(block)
        for e in block.equations:
            equal.learn(e, self.makers)
            yield e

    def visit(self, block: Block, equal: Equal, depth: int = 0) -> None:
        """`depth`: how many loops are around."""
        out: list[Equation] = []
        for e in self.equations(block, equal, depth):
            if e.op == "for" and depth <= _DEEPEST:
                try:
                    out += self.divided(e, plan(e, self.forms, self.tape.functions))
                    continue
                except Serial:
                    pass
            for b in e.blocks:
                self.visit(b, equal.copy(), depth + (e.op in ("for", "while")))
            out.append(e)
        block.equations = out

    def divided(self, e: Equation, how: Plan) -> list[Equation]:
        """The equations in the place of the loop."""
        if not Work(e, self.forms).enough(2 * GRAIN):
            raise Serial("it is short")  # before anything of it is changed
        (body,) = e.blocks
        for k in how.summed:
            in_place(body, body.params[1 + k], body.results[k])
        fresh = [x for k in how.apart if not how.late for x in _stored(e, k, self.makers)]
        count = e.ins[2]
        work = Work(e, self.forms)
        out = _Writer(e)
        out.equations += fresh
        total = work.total(out)
        grain: Atom = lit(GRAIN)
        private = out.total([out.size(e.ins[3 + k]) for k in how.summed])
        if how.summed:
            grain = out("maximum", grain, out("mul", private, lit(PRIVATE)))
        most = lit(self.most) if self.most else out("threads")
        if work.uneven:  # who has done with a short part takes another one
            finer = out("add", out("mul", out("sub", most, lit(1)), lit(FINER)), lit(1))
            most = out("minimum", finer, lit(MOST))
        parts = out("minimum", most, out("floordiv", total, grain))
        parts = out("maximum", out("minimum", parts, count), lit(1))
        sums = [out.blank(parts, e.ins[3 + k], bool(how.late)) for k in how.sums]
        function = _Function(f"{self.tape.name}_part", e, how, [s.type for s in sums], self.makers,
                             self.params)  # fmt: skip
        name = f"{function.name}{len(self.made) + 1}"
        self.made[name] = function.tape(name)
        changed = [e.ins[3 + k] for k in (*how.summed, *how.apart)]
        ins = (lit(0), parts, *changed, *sums, *function.taken)
        summed_up = [Var(s.type, s.shape) for s in sums]
        outs = (*(e.outs[k] for k in (*how.summed, *how.apart)), *summed_up)
        params = {"function": name, "changed": tuple(range(2, 2 + len(outs))),
                  "summed": len(how.summed), "late": bool(how.late),
                  "most": self.most}  # fmt: skip
        out.equations.append(Equation("spread", ins, outs, params, (), e.pos))
        for k, partial in zip(how.sums, summed_up, strict=True):
            out.add_up(partial, e.ins[3 + k], e.outs[k])
        return out.equations


def _stored(e: Equation, k: int, makers: dict[Var, Equation]) -> list[Equation]:
    """Let an iteration's only addition to an array of zeros be a store; where it is to all elements
    of an array, that needn't be zero before."""
    (body,) = e.blocks
    init, p, index = e.ins[3 + k], body.params[1 + k], body.params[0]
    made = makers.get(init) if isinstance(init, Var) else None
    users = [x for x in walk(body) if p in x.ins]
    if made is None or made.op != "full" or made.ins[0] != lit(0.0) or len(users) != 1:
        return []
    (x,) = users
    if x.op != "accum" or x not in body.equations or x.outs[0] is not body.results[k]:
        return []
    x.op = "store"
    if (e.ins[:2], x.ins[2:], init.shape) != ((lit(0), lit(1)), (index,), e.ins[2:3]):
        return []
    start = Var(init.type, init.shape)
    e.ins = (*e.ins[: 3 + k], start, *e.ins[4 + k :])
    told = {"dtype": init.type.dtype, "start": "empty"}  # type: ignore[union-attr]
    return [Equation("blank", init.shape, (start,), told, (), e.pos)]


class _Writer:
    """Equations one after the other, numbers folded."""

    def __init__(self, e: Equation) -> None:
        self.pos = e.pos
        self.equations: list[Equation] = []

    def __call__(self, op: str, *ins: Atom) -> Atom:
        row = TABLE[op]
        if ins and all(isinstance(a, Lit) for a in ins):
            return lit(int(row.evaluate(*(a.value for a in ins))))  # type: ignore[union-attr]
        if op == "mul" and lit(1) in ins:
            return ins[1] if ins[0] == lit(1) else ins[0]
        out = Var(INT)
        self.equations.append(Equation(op, ins, (out,), {}, (), self.pos))
        return out

    def test(self, op: str, *ins: Atom) -> Var:
        out = Var(BOOL)
        self.equations.append(Equation(op, ins, (out,), {}, (), self.pos))
        return out

    def total(self, atoms: list[Atom]) -> Atom:
        out: Atom = lit(0)
        for a in atoms:
            out = a if out == lit(0) else self("add", out, a)
        return out

    def size(self, a: Atom) -> Atom:
        out: Atom = lit(1)
        for n in a.shape:
            out = self("mul", out, n)
        return out

    def blank(self, parts: Atom, like: Atom, twice: bool) -> Var:
        """A number of this type for each part."""
        n = self("mul", parts, lit(2)) if twice else parts
        dtype = like.type.dtype  # type: ignore[union-attr]
        out = Var(Array(dtype, 1), (n,))
        params = {"dtype": dtype, "start": "empty"}
        self.equations.append(Equation("blank", (n,), (out,), params, (), self.pos))
        return out

    def add_up(self, partial: Var, start: Atom, out: Var) -> None:
        """out = start + the sum of the partial sums, in their order."""
        k, now, after = Var(INT), Var(out.type, (), out.name), Var(out.type)
        one = Var(Scalar(partial.type.dtype))  # type: ignore[union-attr]
        body = Block([k, now], [
            Equation("load", (partial, k), (one,), {}, (), self.pos),
            Equation("add", (now, one), (after,), {}, (), self.pos),
        ], [after])  # fmt: skip
        ins = (lit(0), lit(1), partial.shape[0], start)
        self.equations.append(Equation("for", ins, (out,), {}, (body,), self.pos))


class _Function:
    """The function that runs a part of a loop's iterations."""

    def __init__(
        self, name: str, e: Equation, how: Plan, sums: list, makers: dict[Var, Equation],
        params: Set[Var],
    ) -> None:  # fmt: skip
        self.name, self.e, self.how = name, e, how
        self.sums = [Var(t, (Var(INT),)) for t in sums]
        body = e.blocks[0]
        own = [body.params[1 + k] for k in (*how.summed, *how.apart)]
        free = [a for a in e.ins[:3] if isinstance(a, Var)]
        seen: list[Var] = [*free, *free_vars(body)]
        inside = {v for x in walk(body) for v in x.outs} | set(body.params)
        inside |= {p for x in walk(body) for b in x.blocks for p in b.params}
        inner = sorted(inside, key=lambda v: v.serial)
        for v in (*seen, *own, *inner):  # extents that are spoken of
            seen += [n for n in v.shape if isinstance(n, Var) and n not in inside]
        self.taken: dict[Var, None] = {}
        self.views: dict[Var, Equation] = {}  # of what it takes: they have no memory to be handed
        # extents that no equation computes, of which array: those that a branch or a loop chose
        self.asked: dict[Var, tuple[Var, int]] = {}
        used = {*free, *free_vars(body)}

        def take(v: Atom) -> None:
            if not isinstance(v, Var) or v in inside or v in self.taken or v in self.views:
                return
            made = makers.get(v)
            changed = made is not None and is_array(made.ins[0]) and made.ins[0] in e.ins
            if made is not None and made.op in VIEWS and not changed:
                for a in (*made.ins, *v.shape):
                    take(a)
                self.views[v] = made
            else:
                self.taken[v] = None
                for k, a in enumerate(v.shape):
                    if isinstance(a, Var) and not (a in used or a in makers or a in params):
                        self.asked.setdefault(a, (v, k))
                    else:
                        take(a)

        for v in seen:
            if v in used or v in makers or v in params or is_array(v):
                take(v)
        self.own = own

    def tape(self, name: str) -> Tape:
        e, how = self.e, self.how
        (body,) = e.blocks
        env = {v: Var(v.type, v.shape, v.name) for v in (*self.taken, *self.views, *self.asked)}

        def new(a: Atom) -> Atom:
            return env.get(a, a) if isinstance(a, Var) else a

        part, parts = Var(INT, (), "part"), Var(INT, (), "parts")
        arrays = [Var(p.type, p.shape, p.name) for p in self.own]
        sizes = [v.shape[0] for v in self.sums]
        for v in [*env.values(), *arrays]:
            v.shape = tuple(map(new, v.shape))
        _rename(body, env)
        w = _Writer(e)
        for s, n in zip(self.sums, sizes, strict=True):
            w.equations.append(Equation("dim", (s,), (n,), {"axis": 0}))  # type: ignore[arg-type]
        for v, (a, k) in self.asked.items():
            w.equations.append(Equation("dim", (env[a],), (env[v],), {"axis": k}))
        for v, x in self.views.items():
            w.equations.append(Equation(x.op, tuple(map(new, x.ins)), (env[v],), x.params))
        start, step, count = map(new, e.ins[:3])
        first, times = self.range(w, part, parts, start, step, count)
        init: list[Atom] = [lit(0)] * len(e.outs)
        outs: list[Var] = [Var(v.type, (), v.name) for v in e.outs]
        for k, a in zip((*how.summed, *how.apart), arrays, strict=True):
            init[k], outs[k].shape = a, a.shape
        for k in how.sums:
            dtype = e.outs[k].type.dtype  # type: ignore[union-attr]
            init[k] = lit_zero(dtype)
        turned = lit(abs(step.value)) if isinstance(step, Lit) else step
        params = [part, parts, *arrays, *self.sums, *(env[v] for v in self.taken)]
        told = e.params
        if (start, step) == (lit(0), lit(1)) and count in params:  # passes may rely on that
            told = {**told, "part_of": params.index(count)}  # type: ignore[arg-type]
        ins = (first, turned, times, *init)
        w.equations.append(Equation("for", ins, tuple(outs), told, (body,), e.pos))
        results: list[Atom] = [outs[k] for k in (*how.summed, *how.apart)]
        for k, s in zip(how.sums, self.sums, strict=True):
            after = Var(s.type, s.shape)
            w.equations.append(Equation("store", (s, outs[k], part), (after,), {}, (), e.pos))
            results.append(after)
        return Tape(name, Block(params, w.equations, results), e.pos)

    def range(
        self, w: _Writer, part: Atom, parts: Atom, start: Atom, step: Atom, count: Atom
    ) -> tuple[Atom, Atom]:
        """The first index of the part, upwards, and how many there are."""
        number, late = part, None
        if self.how.late:
            late = w.test("ge", part, parts)
            rest = w("sub", part, parts)
            number = Var(INT)
            w.equations.append(Equation("where", (late, rest, part), (number,)))
        first = w("floordiv", w("mul", number, count), parts)
        last = w("floordiv", w("mul", w("add", number, lit(1)), count), parts)
        if late is not None:
            middle = w("maximum", w("sub", last, lit(self.how.late)), first)
            both = []
            for x, y in ((middle, first), (last, middle)):
                both.append(Var(INT))
                w.equations.append(Equation("where", (late, x, y), (both[-1],)))
            first, last = both
        times = w("sub", last, first)
        at = first
        if isinstance(step, Lit) and step.value < 0:
            at = w("sub", last, lit(1))
        if start == lit(0) and step == lit(1):
            return at, times
        return w("add", start, w("mul", at, step)), times


def _rename(block: Block, env: dict[Var, Var]) -> None:
    def new(a: Atom) -> Atom:
        return env.get(a, a) if isinstance(a, Var) else a

    def shape(v: Var) -> None:
        v.shape = tuple(map(new, v.shape))

    for p in block.params:
        shape(p)
    for x in block.equations:
        x.ins = tuple(map(new, x.ins))
        for v in x.outs:
            shape(v)
        for b in x.blocks:
            _rename(b, env)
    block.results = list(map(new, block.results))
