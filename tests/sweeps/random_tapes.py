"""How are random tapes drawn?

A `Maker` writes one tape through a `Builder`, asking for every choice (hypothesis makes them, so
that a failure shrinks; or a seed does, which is faster).  It keeps the values in scope by kind:

    f   scalar float        n, m   vectors of extents n, m        nm, mn   matrices
    i   integer             c      bool

Statements compute new values from them; loops and branches open a scope and close it again.
Functions are chosen so that numbers stay moderate, and indices are in bounds by construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from jitad.specialise.resolve import resolve
from jitad.tape.build import Builder
from jitad.tape.copy import copy_block
from jitad.tape.ir import Block, Tape
from jitad.tape.show import show
from jitad.tape.types import INT
from jitad.values.number import o
from tests.sweeps.handmade import MATRIX, REAL, VECTOR, for_, if_, jvp_, tape_of, vjp_, while_

INPUTS = (
    ("x", REAL), ("y", REAL), ("u", VECTOR), ("v", VECTOR), ("w", VECTOR), ("a", MATRIX),
    ("k", INT),
)  # fmt: skip
ACTIVE = (0, 1, 2, 3, 4, 5)
VECTORS = ("n", "m")
ARRAYS = ("n", "m", "nm", "mn")
CARRIED = ("f", "f", "n", "i", "m", "nm", "f")


@dataclass
class Case:
    """A random tape with a point to try it at and how often each feature occurs in it."""

    block: Block
    args: list[Any]
    active: list[int]
    zeros: int  # so many results, the last ones, are zero
    features: Counter[str]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What hypothesis prints of a failing case."""
        printer.text(f"active={self.active} args={self.args}\n{show(Tape('random', self.block))}")


Choose = Callable[[int, int], int]  # a number from ... to


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    """Cases whose every choice is hypothesis's, so that failures shrink."""
    return make(lambda low, high: draw(st.integers(low, high)))


def make(choose: Choose) -> Case:
    """A case by these choices."""
    statements, depth = choose(2, 6), choose(1, 3)
    n, m = choose(1, 3), choose(1, 3)
    rng = np.random.default_rng(choose(0, 5))
    args = [
        float(rng.uniform(-1.5, 1.5)),
        float(rng.uniform(-1.5, 1.5)),
        rng.uniform(-1.5, 1.5, n),
        rng.uniform(-1.5, 1.5, n),
        rng.uniform(-1.5, 1.5, m),
        rng.uniform(-1.5, 1.5, (n, m)),
        choose(-1, 3),
    ]
    features: Counter[str] = Counter()
    zeros: list[int] = []

    def function(b: Builder, *inputs: Any) -> Any:
        maker = Maker(b, choose, features)
        results = maker.program(inputs, statements, depth)
        zeros.append(len(maker.zeros))
        return (*results, *maker.zeros)

    with np.errstate(all="ignore"):  # constants are computed at once, poles among them
        block = resolve(Tape("random", tape_of(INPUTS, function))).body
    active = (list(ACTIVE), [0], [2], [0, 2, 5], [2, 3])[choose(0, 4)]
    return Case(block, args, active, zeros[0], features)


class Maker:
    def __init__(self, b: Builder, choose: Choose, features: Counter[str]) -> None:
        self.b, self.choose, self.features = b, choose, features
        self.values: dict[str, list[Any]] = {}
        self.zeros: list[Any] = []
        self.talkative = self.chance(5)  # prints keep some loops from being fused
        self.marks: list[dict[str, int]] = [{}]  # how many values there were, per open scope

    # -- choices --------------------------------------------------------------------------------

    def chance(self, one_in: int) -> bool:
        return self.choose(0, one_in - 1) == one_in - 1

    def pick(self, kind: str) -> Any:
        """A value in scope, mostly a recent one: so most of the tape leads to its results."""
        have = self.values[kind]
        back = (0, 0, 1, 0, 2, len(have) - 1)[self.choose(0, 5)]
        if back > 2:
            back = self.choose(0, back)
        return have[-1 - min(back, len(have) - 1)]

    def new(self, kind: str) -> list[Any]:
        """What the innermost scope has made."""
        return self.values[kind][self.marks[-1].get(kind, 0) :]

    def outcome(self, kind: str) -> Any:
        """What a block hands on: for a scalar often something of all that it has computed."""
        if kind != "f" or self.chance(3):
            return self.pick(kind)
        total = self.pick("f")
        for v in self.new("f")[-4:]:
            total = total + v * 0.5
        for array in ARRAYS:
            for v in self.new(array)[-1:]:
                total = total + o.sum(o.sin(v), axes=tuple(range(len(array))))
        return total

    def add(self, kind: str, value: Any) -> None:
        self.values[kind].append(value)

    def extent(self, axis: str) -> Any:
        return self.n if axis == "n" else self.m

    def index(self, axis: str) -> Any:
        """An integer in 0 ... extent-1."""
        extent = self.extent(axis)
        match self.choose(0, 4):
            case 0:
                return 0
            case 1:
                return extent - 1
            case 2:
                return o.mod(self.pick("i") + self.choose(0, 2), extent)
            case 3:
                return o.mod(self.pick("i") * 2, extent)
            case _:
                inside = self.inside[axis]
                return inside[self.choose(0, len(inside) - 1)] if inside else 0

    # -- programs -------------------------------------------------------------------------------

    def program(self, inputs: tuple[Any, ...], statements: int, depth: int) -> tuple[Any, ...]:
        x, y, u, v, w, a, k = inputs
        self.n, self.m = a.shape
        self.inside: dict[str, list[Any]] = {"n": [], "m": []}
        self.values = {
            "f": [0.5, y, x],
            "n": [v, u],
            "m": [w],
            "nm": [a],
            "mn": [o.transpose(a, perm=(1, 0))],
            "i": [1, k],
            "c": [o.gt(x, y)],
        }
        self.statements(statements, depth)
        total = self.outcome("f")
        if self.chance(2):
            return (total,)
        return (total, self.pick("n"), self.pick("i"), self.pick("f"))

    def statements(self, count: int, depth: int) -> None:
        for _ in range(self.choose(min(2, count), count)):
            self.statement(count, depth)

    def statement(self, count: int, depth: int) -> None:
        kinds = [
            self.unary, self.binary, self.load, self.store, self.elementwise, self.slices,
            self.whole, self.integer, self.comparison, self.guarded,
        ]  # fmt: skip
        if self.talkative:
            kinds += [self.report, self.report]
        if depth > 0:
            kinds += [self.for_loop, self.for_loop, self.while_loop, self.branch, self.branch]
            kinds += [self.derivative]
        statement = kinds[self.choose(0, len(kinds) - 1)]
        self.features[statement.__name__] += 1
        if statement in (self.for_loop, self.while_loop, self.branch, self.derivative):
            statement(max(count - 2, 1), depth - 1)
        else:
            statement()

    def scope(self, body: Callable[[], Any]) -> Any:
        """Run `body`; what it defines goes out of scope again."""
        kept = {kind: list(have) for kind, have in self.values.items()}
        inside = {axis: list(have) for axis, have in self.inside.items()}
        self.marks.append({kind: len(have) for kind, have in kept.items()})
        try:
            return body()
        finally:
            self.values, self.inside = kept, inside
            self.marks.pop()

    # -- straight-line statements ---------------------------------------------------------------

    def unary_of(self, p: Any) -> Any:
        match self.choose(0, 8):
            case 0:
                return o.sin(p)
            case 1:
                return -p
            case 2:
                return o.tanh(p)
            case 3:
                return o.exp(o.sin(p))
            case 4:
                return o.sqrt(p * p + 0.5)
            case 5:
                return o.abs(p)
            case 6:
                return o.log(1.5 + o.cos(p))
            case 7:
                return o.atan(p) * 0.7
            case _:
                return o.floor(p) + 0.3 * p

    def binary_of(self, p: Any, q: Any) -> Any:
        match self.choose(0, 7):
            case 0:
                return p + q
            case 1:
                return p * q
            case 2:
                return p - q
            case 3:
                return p / (1.0 + q * q)
            case 4:
                return o.maximum(p, q)
            case 5:
                return o.where(o.gt(p, q), o.sin(p), q)
            case 6:
                return o.hypot(p, 1.0) * 0.5 - q
            case _:
                return o.pow(o.abs(p) + 0.5, o.sin(q))

    def unary(self) -> None:
        self.add("f", self.unary_of(self.pick("f")))

    def binary(self) -> None:
        self.add("f", self.binary_of(self.pick("f"), self.pick("f")))

    def elementwise(self) -> None:
        kind = self.array_kind()
        p = self.pick(kind)
        match self.choose(0, 2):
            case 0:
                self.add(kind, self.unary_of(p))
            case 1:
                self.add(kind, self.binary_of(p, self.pick(kind)))
            case _:
                self.add(kind, self.binary_of(p, self.pick("f")))

    def array_kind(self) -> str:
        return ARRAYS[self.choose(0, len(ARRAYS) - 1)]

    def load(self) -> None:
        kind = self.array_kind()
        self.add("f", o.load(self.pick(kind), *map(self.index, kind)))

    def store(self) -> None:
        kind = self.array_kind()
        op = o.accum if self.chance(3) else o.store
        self.add(kind, op(self.pick(kind), self.pick("f"), *map(self.index, kind)))

    def slices(self) -> None:
        vector = VECTORS[self.choose(0, 1)]
        extent = self.extent(vector)
        base = self.pick(vector)
        first, step = (0, 1) if self.chance(2) else (extent - 1, -1)
        window = (first, step, extent)
        shorter = (1, 1, extent - 1) if self.chance(2) else (0, 1, extent - 1)
        matrix = self.pick("nm")
        i, j = self.index("n"), self.index("m")
        row, column = (i, 0, 1, self.m), (0, 1, self.n, j)
        op = o.accum_slice if self.chance(3) else o.store_slice
        match self.choose(0, 7):
            case 0:
                self.add(vector, o.slice(base, *window, kinds="r"))
            case 1:
                part = o.slice(base, *shorter, kinds="r")
                self.add("f", o.sum(part * part, axes=(0,)))
            case 2:
                part = o.slice(base, *shorter, kinds="r")
                self.add(vector, op(self.pick(vector), o.sin(part), 0, 1, extent - 1, kinds="r"))
            case 3:
                self.add(vector, op(base, self.pick("f"), *shorter, kinds="r"))
            case 4:
                self.add("m", o.slice(matrix, *row, kinds="ir"))
            case 5:
                self.add("n", o.slice(matrix, *column, kinds="ri"))
            case 6:
                self.add("nm", op(matrix, self.pick("m"), *row, kinds="ir"))
            case _:
                self.add("nm", op(matrix, self.pick("n"), *column, kinds="ri"))

    def whole(self) -> None:
        n, m = self.n, self.m
        match self.choose(0, 14):
            case 0:
                self.add("f", o.sum(self.pick("n"), axes=(0,)))
            case 1:
                self.add("f", o.amax(self.pick("n"), axes=(0,)))
            case 2:
                self.add("n", o.full(self.pick("f"), n, dtype="f8"))
            case 3:
                self.add("n", o.copy(self.pick("n")))
            case 4:
                self.add("nm", o.broadcast(self.pick("n"), n, m, axes=(0,)))
            case 5:
                self.add("nm", o.broadcast(self.pick("m"), n, m, axes=(1,)))
            case 6:
                self.add("n", o.sum(self.pick("nm"), axes=(1,)))
            case 7:
                self.add("m", o.amin(self.pick("nm"), axes=(0,)))
            case 8:
                self.add("f", o.matmul(self.pick("n"), self.pick("n")))
            case 9:
                self.add("n", o.matmul(self.pick("nm"), self.pick("m")))
            case 10:
                self.add("m", o.matmul(self.pick("n"), self.pick("nm")))
            case 11:
                square = o.matmul(self.pick("nm"), self.pick("mn"))
                self.add("nm", o.sin(o.matmul(square, self.pick("nm"))))
            case 12:
                self.add("mn", o.transpose(self.pick("nm"), perm=(1, 0)))
            case 13:
                flat = o.reshape(self.pick("nm"), n * m)
                self.add("mn", o.reshape(flat, m, n))
            case _:
                both = o.concatenate(self.pick("n"), self.pick("m"), n + m, axis=0)
                packed = o.pack(self.pick("f"), self.pick("f"))
                self.add("f", o.load(packed, 1) * o.load(both, n))
                self.add("n", o.slice(both, m, 1, n, kinds="r"))

    def integer(self) -> None:
        p, q = self.pick("i"), self.pick("i")
        match self.choose(0, 3):
            case 0:
                self.add("i", o.mod(p + q, 5))
            case 1:
                self.add("i", p - 1)
            case 2:
                self.add("i", o.where(self.pick("c"), p, 2))
            case _:
                self.add("f", o.cast(o.mod(p, 3), dtype="f8") * 0.3)

    def comparison(self) -> None:
        match self.choose(0, 3):
            case 0:
                self.add("c", o.gt(self.pick("f"), 0.1))
            case 1:
                self.add("c", o.lt(self.pick("f"), self.pick("f")))
            case 2:
                self.add("c", o.eq(o.mod(self.pick("i"), 2), 0))
            case _:
                self.add("c", o.logical_not(self.pick("c")))

    def guarded(self) -> None:
        """A branch that protects from a pole: nothing of the other side may leak."""
        p, q = self.pick("f"), self.pick("f")
        shifted = p - 0.2
        (out,) = if_(
            self.b,
            o.gt(shifted, 0.3),
            lambda: [o.log(shifted) / o.sqrt(shifted)],
            lambda: [q if self.chance(2) else p],
        )
        self.add("f", out)

    def report(self) -> None:
        self.b.emit("print", self.b.atom(self.pick("f")))

    # -- structured statements ------------------------------------------------------------------

    def branch(self, count: int, depth: int) -> None:
        kinds = self.result_kinds()

        def one() -> Any:
            self.statements(count, depth)
            return [self.outcome(kind) for kind in kinds]

        outs = if_(self.b, self.pick("c"), lambda: self.scope(one), lambda: self.scope(one))
        self.enter(kinds, outs)

    def result_kinds(self) -> list[str]:
        count = self.choose(1, 3)
        return [CARRIED[self.choose(0, len(CARRIED) - 1)] for _ in range(count)]

    def enter(self, kinds: list[str], values: list[Any]) -> None:
        for kind, value in zip(kinds, values, strict=True):
            self.add(kind, value)

    def for_loop(self, count: int, depth: int) -> None:
        kinds = self.result_kinds()
        init = [self.pick(kind) for kind in kinds]
        over = ""
        match self.choose(0, 7):
            case 0:
                start, step, trips = 0, 1, self.pick("i")
            case 1:
                start, step, trips, over = 0, 1, self.n, "n"
            case 2:
                start, step, trips, over = 0, 1, self.m, "m"
            case 3:
                start, step, trips, over = self.n - 1, -1, self.n, "n"
            case 4:
                start, step, trips = 1, 2, 2
            case 5:
                start, step, trips = self.pick("i"), -1, 2
            case 6:
                start, step, trips, over = 1, 1, self.n - 1, "n"
            case _:
                start, step, trips = 0, 1, o.mod(self.pick("i"), 3)
        trips = o.minimum(trips, 3)

        def body(i: Any, *carried: Any) -> list[Any]:
            def inner() -> list[Any]:
                if over:
                    self.inside[over].append(i)
                self.add("i", i)
                self.enter(kinds, list(carried))
                self.statements(count, depth)
                return self.next_values(kinds, list(carried))

            return self.scope(inner)

        self.enter(kinds, for_(self.b, start, step, trips, init, body))

    def next_values(self, kinds: list[str], carried: list[Any]) -> list[Any]:
        """What a body hands on: new values, often its own parameters in another order."""
        return [
            self.outcome(kind) if not self.chance(4) else self.swapped(k, kinds, carried)
            for k, kind in enumerate(kinds)
        ]

    def swapped(self, k: int, kinds: list[str], carried: list[Any]) -> Any:
        self.features["swap"] += 1
        same = [c for kind, c in zip(kinds, carried, strict=True) if kind == kinds[k]]
        return same[self.choose(0, len(same) - 1)]

    def while_loop(self, count: int, depth: int) -> None:
        kinds = self.result_kinds()
        init = [self.pick(kind) for kind in kinds]
        limit = self.choose(0, 3)
        watched = kinds.index("f") if "f" in kinds and self.chance(2) else None

        def cond(trips: Any, *carried: Any) -> Any:
            going = o.lt(trips, limit)
            if watched is not None:
                going = o.logical_and(going, o.lt(carried[watched], 1.2))
            return going

        def body(trips: Any, *carried: Any) -> list[Any]:
            def inner() -> list[Any]:
                self.add("i", trips)
                self.enter(kinds, list(carried))
                self.statements(count, depth)
                return [trips + 1, *self.next_values(kinds, list(carried))]

            return self.scope(inner)

        trips, *outs = while_(self.b, [0, *init], cond, body)
        self.add("i", trips)
        self.enter(kinds, outs)

    # -- derivative operators -------------------------------------------------------------------

    def derivative(self, count: int, depth: int) -> None:
        """Forward and reverse of one function; that they agree is a result of the program."""
        b = self.b
        point = [self.pick("f"), self.pick("n")]

        def function(p: Any, q: Any) -> list[Any]:
            def inner() -> list[Any]:
                self.add("n", q)
                self.add("f", p)
                self.statements(count, depth)
                return [self.outcome("f")]

            return self.scope(inner)

        (value,), (p_bar, q_bar) = vjp_(b, function, point, [1.0])
        block = b.sources[p_bar.atom].blocks[0]

        def again(*now: Any) -> list[Any]:
            env = {old: b.atom(new) for old, new in zip(block.params, now, strict=True)}
            return copy_block(b, block, env)

        along = [self.pick("f"), self.pick("n")]
        _, (slope,) = jvp_(b, again, point, along)
        if len(self.marks) == 1:
            self.zeros.append(slope - (p_bar * along[0] + o.matmul(q_bar, along[1])))
        for v in (p_bar, slope, value):
            self.add("f", o.tanh(v))
        self.add("n", o.tanh(q_bar))
