"""Random plain tapes: arrays, views, stores, loops, branches, swaps, stacks.

Numbers are small integers in float64 and stay so (products are taken modulo 97), so that sums are
exact in any order and results can be compared exactly.
"""

from __future__ import annotations

import random
from typing import Any

from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Block, Lit, Tape, Var, lit
from jitad.tape.types import BOOL, FLOAT, INT, Array, Scalar, Stack

VECTOR, MATRIX = Array("f8", 1), Array("f8", 2)


class Pool:
    """Values in sight."""

    def __init__(self, floats: list[Atom], ints: list[Atom], arrays: list[Var]) -> None:
        self.floats, self.ints, self.arrays = floats, ints, arrays

    def inner(self) -> Pool:
        return Pool(list(self.floats), list(self.ints), list(self.arrays))


class Generator:
    def __init__(self, rng: random.Random, sums: bool = False) -> None:
        self.rng = rng
        self.sums = sums
        self.b = Builder()
        self.features: set[str] = set()
        b = self.b
        x, y, a = b.input(VECTOR, "x"), b.input(VECTOR, "y"), b.input(MATRIX, "A")
        self.n, self.m = a.shape
        x.shape = y.shape = (self.n,)  # the callers see to it
        s, k = b.input(FLOAT, "s"), b.input(INT, "k")
        self.pool = Pool([s, lit(2.0), lit(3.0)], [k, lit(0), lit(1)], [x, y, a])

    def tape(self, size: int = 6) -> Tape:
        self.block(self.pool, size, 3)
        b = self.b.blocks[0]
        for p in self.pool.floats[-2:]:
            b.results.append(p)
        for v in self.rng.sample(self.pool.arrays, min(3, len(self.pool.arrays))):
            b.results.append(v)
        b.results.append(self.pool.arrays[-1])
        return Tape("program", b)

    def block(self, pool: Pool, size: int, depth: int) -> None:
        kinds = [self.scalar, self.load, self.store, self.store, self.store_slice, self.view,
                 self.elementwise, self.elementwise, self.make, self.reduce,
                 self.product]  # fmt: skip
        if depth:
            kinds += [self.for_, self.for_, self.while_, self.if_, self.if_, self.record]
        for _ in range(self.rng.randint(1, size)):
            if self.sums and self.rng.random() < 0.4:
                self.grow(pool, kinds[:11])
                continue
            kind = self.rng.choice(kinds)
            self.features.add(kind.__name__.strip("_"))
            self.b.pos = None
            if kind in kinds[11:]:
                kind(pool, max(2, size - 1), depth - 1)  # type: ignore[operator]
            else:
                kind(pool)  # type: ignore[operator]

    # -- pieces ---------------------------------------------------------------------------------

    def float(self, pool: Pool) -> Atom:
        return self.rng.choice(pool.floats[-4:] if self.rng.random() < 0.7 else pool.floats)

    def array(self, pool: Pool, ndim: int | None = None) -> Var:
        some = [a for a in pool.arrays if ndim is None or len(a.shape) == ndim]
        return self.rng.choice(some[-4:] if self.rng.random() < 0.7 else some)

    def like(self, pool: Pool, a: Atom) -> Var:
        return self.rng.choice([v for v in pool.arrays if v.shape == a.shape])

    def index(self, pool: Pool, a: Var) -> list[Atom]:
        out = []
        for extent in a.shape:
            k = self.rng.choice(pool.ints)
            if self.rng.random() < 0.3:
                k = self.b.emit("add", k, lit(1))
            out.append(self.b.emit("mod", k, extent))
        return out

    def small(self, x: Atom) -> Any:
        return self.b.emit("mod", x, lit(97.0))

    def calculate(self, x: Atom, y: Atom) -> Any:
        op = self.rng.choice(["add", "sub", "mul", "maximum", "where"])
        if op == "where":
            return self.b.emit("where", self.b.emit("lt", x, y), x, y)
        z = self.b.emit(op, x, y)
        return z if op == "maximum" else self.small(z)

    def scalar(self, pool: Pool) -> None:
        pool.floats.append(self.calculate(self.float(pool), self.float(pool)))

    def load(self, pool: Pool) -> None:
        a = self.array(pool)
        pool.floats.append(self.b.emit("load", a, *self.index(pool, a)))

    def store(self, pool: Pool) -> None:
        a = self.array(pool)
        op = self.rng.choice(["store", "accum"])
        v = self.b.emit(op, a, self.float(pool), *self.index(pool, a))
        self.became(pool, a, v)

    def became(self, pool: Pool, a: Var, v: Var) -> None:
        if self.rng.random() < 0.7:  # the usual case: the old version is dead
            pool.arrays = [v if x is a else x for x in pool.arrays]
        else:
            pool.arrays.append(v)

    def range(self, extent: Atom) -> tuple[Atom, Atom, Atom]:
        last = self.b.emit("sub", extent, lit(1))
        return self.rng.choice([
            (lit(0), lit(1), extent), (lit(1), lit(1), last), (lit(0), lit(1), last),
            (last, lit(-1), extent),
        ])  # fmt: skip

    def parts(self, pool: Pool, a: Var) -> tuple[str, list[Atom]]:
        kinds, operands = "", []
        for extent in a.shape:
            if self.rng.random() < 0.3 and (kinds.count("r") or len(kinds) + 1 < len(a.shape)):
                kinds += "i"
                operands.append(self.b.emit("mod", self.rng.choice(pool.ints), extent))
            else:
                kinds += "r"
                operands += self.range(extent)
        return kinds, operands

    def store_slice(self, pool: Pool) -> None:
        a = self.array(pool)
        kinds, operands = self.parts(pool, a)
        shape = tuple(operands[k] for k in counts(kinds))
        some = [v for v in pool.arrays if v.shape == shape]
        value: Atom = self.float(pool)
        if some and self.rng.random() < 0.8:
            value = self.rng.choice(some)
            if self.rng.random() < 0.5:
                value = self.calculate(value, self.rng.choice([self.float(pool), value]))
        elif self.rng.random() < 0.6:  # a slice of the array itself: overlapping
            k2, o2 = self.parts(pool, a)
            if tuple(o2[k] for k in counts(k2)) == shape:
                value = self.b.emit("slice", a, *o2, kinds=k2)
                if self.rng.random() < 0.5:
                    value = self.calculate(value, self.float(pool))
        op = self.rng.choice(["store_slice", "accum_slice"])
        self.became(pool, a, self.b.emit(op, a, value, *operands, kinds=kinds))

    def view(self, pool: Pool) -> None:
        a = self.array(pool)
        kind = self.rng.choice(["slice", "transpose", "broadcast", "reshape"])
        if kind == "transpose" and len(a.shape) == 2:
            pool.arrays.append(self.b.emit("transpose", a, perm=(1, 0)))
        elif kind == "broadcast" and len(a.shape) == 1:
            other = self.rng.choice([self.n, self.m])
            if self.rng.random() < 0.5:
                out = self.b.emit("broadcast", a, other, a.shape[0], axes=(1,))
            else:
                out = self.b.emit("broadcast", a, a.shape[0], other, axes=(0,))
            pool.arrays.append(out)
        elif kind == "reshape" and len(a.shape) == 2:
            total = self.b.emit("mul", *a.shape)
            pool.arrays.append(self.b.emit("reshape", a, total))
        else:
            kinds, operands = self.parts(pool, a)
            pool.arrays.append(self.b.emit("slice", a, *operands, kinds=kinds))

    def elementwise(self, pool: Pool) -> None:
        a = self.array(pool)
        for _ in range(self.rng.randint(1, 3)):
            other = self.like(pool, a) if self.rng.random() < 0.6 else self.float(pool)
            a = self.calculate(a, other)
            if self.rng.random() < 0.3:
                pool.arrays.append(a)
        pool.arrays.append(a)

    def make(self, pool: Pool) -> None:
        a = self.array(pool)
        match self.rng.choice(["full", "copy", "iota", "pack", "concatenate"]):
            case "full":
                v = self.b.emit("full", self.float(pool), *a.shape, dtype="f8")
            case "copy":
                v = self.b.emit("copy", a)
            case "iota":
                v = self.b.emit("iota", self.n, dtype="f8")
            case "pack":
                v = self.b.emit("pack", self.float(pool), self.float(pool), self.float(pool))
            case _:
                c = self.like(pool, a)
                total = self.b.emit("add", a.shape[0], c.shape[0])
                v = self.b.emit("concatenate", a, c, total, axis=0)
        pool.arrays.append(v)

    def reduce(self, pool: Pool) -> None:
        a = self.array(pool)
        if self.rng.random() < 0.5:
            a = self.calculate(a, self.float(pool))
        axes = self.rng.choice([(0,), (0, 1), (1,)]) if len(a.shape) == 2 else (0,)
        v = self.small(self.b.emit("sum", a, axes=axes))
        (pool.arrays if v.shape else pool.floats).append(v)

    def grow(self, pool: Pool, others: list[Any]) -> None:
        """Sums along an axis, which are handed on and added to an array as they are."""
        a = self.array(pool, 2)
        if self.rng.random() < 0.7:
            a = self.calculate(a, self.rng.choice([self.float(pool), self.like(pool, a)]))
        axis = self.rng.choice([0, 1, 1])
        sums = [self.b.emit("sum", a, axes=(axis,))]
        if self.rng.random() < 0.4:
            sums.append(self.b.emit("sum", self.small(a), axes=(self.rng.choice([axis, 1]),)))
        self.rng.shuffle(sums)
        for v in sums:
            while self.rng.random() < 0.3:
                self.rng.choice(others)(pool)
            into = [w for w in pool.arrays if w.shape == v.shape]
            match self.rng.choice(["add", "add", "part", "keep"]):
                case "add" if into:
                    w = self.rng.choice(into[-3:])
                    self.became(pool, w, self.b.emit("add", *self.rng.sample([v, w], 2)))
                case "part" if (rows := [w for w in pool.arrays if w.shape[0] == v.shape[0]]):
                    to = self.rng.choice(rows)
                    kinds, operands = "r", [lit(0), lit(1), to.shape[0]]
                    if len(to.shape) == 2:
                        kinds = "ri"
                        operands.append(self.b.emit("mod", self.rng.choice(pool.ints), self.m))
                    op = self.rng.choice(["store_slice", "accum_slice"])
                    self.became(pool, to, self.b.emit(op, to, v, *operands, kinds=kinds))
                case _:
                    pool.arrays.append(v)

    def product(self, pool: Pool) -> None:
        a = self.array(pool)
        some = [v for v in pool.arrays if v.shape[0] == a.shape[-1]]
        if some:
            v = self.small(self.b.emit("matmul", a, self.rng.choice(some)))
            (pool.arrays if v.shape else pool.floats).append(v)

    # -- structure ------------------------------------------------------------------------------

    def chosen(self, pool: Pool) -> list[Atom]:
        init: list[Atom] = self.rng.sample(pool.arrays[-5:], self.rng.randint(0, 3) % 4
                                           if len(pool.arrays) > 3 else 1)  # fmt: skip
        if init and self.rng.random() < 0.15:
            init.append(init[0])
        return init + [self.float(pool) for _ in range(self.rng.randint(0, 2))]

    def result(self, pool: Pool, like: Atom) -> Atom:
        if like.shape:
            some = [v for v in pool.arrays if v.shape == like.shape]
            return self.rng.choice(some[-3:] if self.rng.random() < 0.8 else some)
        return self.float(pool)

    def params(self, init: list[Atom]) -> list[Var]:
        return [Var(Scalar("f8") if not a.shape else a.type, a.shape,
                    self.rng.choice(["", "u", "v"])) for a in init]  # fmt: skip

    def forget(self, pool: Pool, init: list[Atom], outs: list[Var]) -> None:
        for a, v in zip(init, outs, strict=True):
            if not v.shape:
                pool.floats.append(v)
            elif self.rng.random() < 0.7:
                pool.arrays = [v if x is a else x for x in pool.arrays]
                if v not in pool.arrays:
                    pool.arrays.append(v)
            else:
                pool.arrays.append(v)

    def body(self, pool: Pool, init: list[Atom], params: list[Var], size: int,
             depth: int) -> tuple[Pool, list[Atom]]:  # fmt: skip
        inside = pool.inner()
        if self.rng.random() < 0.7:  # what is carried is usually not used from outside
            inside.arrays = [a for a in inside.arrays if a not in init] or inside.arrays
        inside.arrays += [p for p in params if p.shape]
        inside.floats += [p for p in params if not p.shape]
        self.block(inside, size, depth)
        return inside, [self.result(inside, p) for p in params]

    def for_(self, pool: Pool, size: int, depth: int) -> None:
        init = self.chosen(pool)
        params, index = self.params(init), Var(INT, (), "i")
        start, step = self.rng.choice([(lit(0), lit(1)), (lit(1), lit(2)), (lit(3), lit(-1))])
        count = self.rng.choice([lit(0), lit(2), lit(3), self.rng.choice(pool.ints)])
        if isinstance(count, Var):
            count = self.b.emit("mod", count, lit(4))
        with self.b.block(index, *params) as body:
            outer = pool.inner()
            outer.ints.append(index)
            _, body.results = self.body(outer, init, params, size, depth)
        outs = tuple(Var(p.type, p.shape) for p in params)
        self.b.structured("for", (start, step, count, *init), outs, (body,))
        self.forget(pool, init, list(outs))

    def while_(self, pool: Pool, size: int, depth: int) -> None:
        init = [lit(0), *self.chosen(pool)]
        params = [Var(INT, (), "c"), *self.params(init[1:])]
        tested = [Var(p.type, p.shape, p.name) for p in params]
        with self.b.block(*tested) as cond:
            bound: Atom = lit(3)
            arrays = [t for t in tested if t.shape]
            if arrays and self.rng.random() < 0.3:
                inside = pool.inner()
                inside.arrays += arrays
                self.block(inside, 2, 0)
                last = inside.floats[-1]
                bound = self.b.emit("where", self.b.emit("lt", last, lit(9.0)), lit(3), lit(2))
            cond.results = [self.b.emit("lt", tested[0], bound)]
        with self.b.block(*params) as body:
            outer = pool.inner()
            outer.ints.append(params[0])
            _, results = self.body(outer, init[1:], params[1:], size, depth)
            body.results = [self.b.emit("add", params[0], lit(1)), *results]
        outs = tuple(Var(p.type, p.shape) for p in params)
        self.b.structured("while", tuple(init), outs, (cond, body))
        self.forget(pool, init[1:], list(outs[1:]))

    def if_(self, pool: Pool, size: int, depth: int) -> None:
        test = self.b.emit("lt", self.float(pool), self.float(pool))
        if isinstance(test, Lit):
            test = self.b.emit("lt", self.pool.floats[0], lit(5.0))
        like = self.chosen(pool)
        blocks: list[Block] = []
        for _ in range(2):
            with self.b.block() as branch:
                inside = pool.inner()
                if self.rng.random() < 0.7:
                    self.block(inside, size, depth)
                branch.results = [self.result(inside, a) for a in like]
            blocks.append(branch)
        outs = tuple(Var(FLOAT if not a.shape else a.type, a.shape) for a in like)
        self.b.structured("if", (test,), outs, tuple(blocks))
        self.forget(pool, like, list(outs))

    def record(self, pool: Pool, size: int, depth: int) -> None:
        """A forward loop that pushes and a loop that pops, as sweeps make them."""
        a = self.array(pool) if self.rng.random() < 0.5 else None
        element = a.type if a is not None else FLOAT
        stack = self.b.emit("stack", element=element)
        count = self.b.emit("mod", self.rng.choice(pool.ints), lit(5))
        guarded = self.rng.random() < 0.3
        one = Var(Stack(element))
        init: list[Atom] = [a if a is not None else self.float(pool)]
        params, index = self.params(init), Var(INT, (), "i")
        with self.b.block(index, one, *params) as body:
            outer = pool.inner()
            outer.ints.append(index)
            pushed = self.b.emit("push", one, params[0])
            if guarded:  # a push under a condition that always holds
                with self.b.block() as yes:
                    yes.results = [self.b.emit("push", one, params[0])]
                with self.b.block() as no:
                    no.results = [self.b.emit("push", one, params[0])]
                body.equations = [e for e in body.equations if pushed not in e.outs]
                test = self.b.emit("lt", self.float(pool), lit(50.0))
                if isinstance(test, Lit):
                    test = self.b.emit("lt", self.pool.floats[0], lit(5.0))
                (pushed,) = self.b.structured("if", (test,), (Var(Stack(element)),), (yes, no))
            _, results = self.body(outer, init, params, size, 0)
            body.results = [pushed, *results]
        outs = (Var(Stack(element)), *(Var(p.type, p.shape) for p in params))
        self.b.structured("for", (lit(0), lit(1), count, stack, *init), outs, (body,))
        again, back = Var(Stack(element)), Var(INT, (), "i")
        carried = self.params(init)
        with self.b.block(back, again, *carried) as body:
            left, value = self.b.emit("pop", again, *(a.shape if a is not None else ()))
            outer = pool.inner()
            outer.ints.append(back)
            (outer.arrays if a is not None else outer.floats).append(value)
            _, results = self.body(outer, init, carried, size, 0)
            body.results = [left, *results]
        final = (Var(Stack(element)), *(Var(p.type, p.shape) for p in carried))
        start = self.b.emit("sub", count, lit(1))
        self.b.structured("for", (start, lit(-1), count, outs[0], *init), final, (body,))
        self.forget(pool, init, list(final[1:]))
        pool.floats += [v for v in outs[1:] if not v.shape]


def counts(kinds: str) -> list[int]:
    out, at = [], 0
    for kind in kinds:
        if kind == "r":
            out.append(at + 2)
        at += 1 if kind == "i" else 3
    return out


def random_tape(seed: int, size: int = 6, sums: bool = False) -> tuple[Tape, set[str]]:
    """A tape, and what is in it; with `sums`, many sums that are added to arrays as they are."""
    g = Generator(random.Random(seed), sums)
    return g.tape(size), g.features


__all__ = ["BOOL", "random_tape"]
