"""Which factors of adjoints are the same along what is added up, and which are quotients by now?

The adjoint of e where y = e / s[:, None], s the sums of its rows, is r * g - sum(y * r * g, 1) with
r = 1 / s[:, None].  Written by hand it is r * (g - sum(y * g, 1)), and where it is multiplied with
e, that is y * (g - sum(y * g, 1)): a softmax needs its result, and nothing of what it is made from.
So a factor that does not vary along the axes of a sum is taken out of it; one that two terms have
in common is taken out of both; and e * (1 / s) is e / s where that is at hand.  No step takes more
operations than it finds.

Only what a sweep has added is written anew, arrays of real numbers in the block itself: what the
user computes keeps its last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Lit, Pos, Var, free_vars, is_array
from jitad.tape.types import Scalar, Stack, is_float

_DEPTH = 6  # operations between a factor and what it was stretched from

_FEW = frozenset(("add", "sub", "mul", "div", "neg", "sqrt"))

_Made = tuple[str, tuple[Atom, ...], dict[str, Any]]  # op, ins, params


def factored(block: Block, primal: Iterable[Equation]) -> None:
    """The block with such sums and products rewritten, but for these equations (in place)."""
    kept = set(primal)
    if any(e.op == "sum" and e not in kept for e in block.equations):
        _Factors(block, kept).run()


class _Factors:
    def __init__(self, block: Block, kept: set[Equation]) -> None:
        self.block, self.kept = block, kept
        self.out: list[Equation] = []
        self.made: dict[Atom, Equation] = {}
        self.quotients: dict[tuple[Atom, ...], Var] = {}
        self.narrow: dict[Any, Atom] = {}  # by what they are computed from
        self.taken: dict[Atom, tuple[Atom, Var]] = {}  # of sums: a factor, before it was narrow
        self.pos: Pos | None = None
        self.uses: Counter[Atom] = Counter(block.results)
        for e in block.equations:
            self.uses.update(e.ins)
            self.uses.update(free_vars(*e.blocks))

    def run(self) -> None:
        for e in self.block.equations:
            new = None
            if e not in self.kept and e.op in ("sum", "add", "mul") and _alike(e, e.outs[0]):
                self.pos = e.pos
                new = getattr(self, f"_{e.op}")(e)
            if new is not None:
                op, ins, params = new
                e = Equation(op, ins, e.outs, params, (), e.pos)
            self.append(e)
        self.block.equations = self.out

    def append(self, e: Equation) -> None:
        self.out.append(e)
        self.made.update((v, e) for v in e.outs)
        if e.op == "div":
            self.quotients.setdefault(e.ins, e.outs[0])

    def emit(self, op: str, *ins: Atom, **params: Any) -> Var:
        ((type_, shape),) = TABLE[op].infer(*ins, **params)
        v = Var(type_, tuple(shape))
        self.uses.update(ins)
        self.append(Equation(op, ins, (v,), params, (), self.pos))
        return v

    # -- products ---------------------------------------------------------------------------------

    def factors(self, a: Atom, depth: int = _DEPTH) -> tuple[bool, list[Atom]]:
        """Is it the negative of a product, and of which factors?"""
        e = self.made.get(a)
        if e is None or e in self.kept or e.op not in ("mul", "neg") or not depth:
            return False, [a]
        if self.uses[a] > 1 or not _alike(e, a):
            return False, [a]
        signs, parts = zip(*(self.factors(x, depth - 1) for x in e.ins), strict=True)
        return (sum(signs) + (e.op == "neg")) % 2 == 1, [f for part in parts for f in part]

    def product(self, factors: list[Atom]) -> Atom:
        whole = factors[0]
        for f in factors[1:]:
            whole = self.emit("mul", whole, f)
        return whole

    # -- sums -------------------------------------------------------------------------------------

    def _sum(self, e: Equation) -> _Made | None:
        (t,), axes = e.ins, e.params["axes"]
        kept = tuple(k for k in range(len(t.shape)) if k not in axes)
        negative, factors = self.factors(t)
        outer = [f for f in factors if not is_array(f) or self.is_narrow(f, kept)]
        rest = [f for f in factors if f not in outer]
        if not outer or not rest:
            return None
        part = self.emit("sum", self.product(rest), axes=axes)
        if negative:
            part = self.emit("neg", part)
        if len(outer) == 1:
            self.taken[e.outs[0]] = outer[0], part
        return "mul", (self.product([self.narrowed(f, kept) for f in outer]), part), {}

    def is_narrow(self, a: Atom, kept: tuple[int, ...], depth: int = _DEPTH) -> bool:
        """Is it stretched from what has these axes only?"""
        e = self.made.get(a)
        if e is None or not depth:
            return False
        if e.op == "broadcast":
            return e.params["axes"] == kept
        return e.op in _FEW and _alike(e, a) and all(
            self.is_narrow(x, kept, depth - 1) for x in e.ins if is_array(x))  # fmt: skip

    def narrowed(self, a: Atom, kept: tuple[int, ...]) -> Atom:
        if not is_array(a):
            return a
        e = self.made[a]
        if e.op == "broadcast":
            return e.ins[0]
        ins = tuple(self.narrowed(x, kept) for x in e.ins)
        key = (e.op, ins)
        if key not in self.narrow:
            self.narrow[key] = self.emit(e.op, *ins, **e.params)
        return self.narrow[key]

    # -- a factor that two terms have in common ---------------------------------------------------

    def _add(self, e: Equation) -> _Made | None:
        for x, y in (e.ins, e.ins[::-1]):
            found = self.stretched(y)
            negative, factors = self.factors(x)
            if found is None or found[0] not in factors or len(factors) < 2:
                continue
            factor, part, wide = found
            factors.remove(factor)
            rest = self.emit("broadcast", part, *wide.ins[1:], **wide.params)
            join = "sub" if negative else "add"
            return "mul", (factor, self.emit(join, rest, self.product(factors))), {}
        return None

    def stretched(self, a: Atom) -> tuple[Atom, Var, Equation] | None:
        """Of a sum that was stretched over the axes it went over: a factor, the rest, and how."""
        wide = self.made.get(a)
        if wide is None or wide.op != "broadcast" or self.uses[a] > 1:
            return None
        (source, *_), steps = wide.ins, _DEPTH
        while source not in self.taken and steps:
            e = self.made.get(source)
            if e is None or e.op != "reshape":
                return None
            source, steps = e.ins[0], steps - 1
        if source not in self.taken or source.shape != wide.ins[0].shape:
            return None
        factor, part = self.taken[source]
        return (factor, part, wide) if self.is_narrow(factor, wide.params["axes"]) else None

    # -- quotients that are at hand ---------------------------------------------------------------

    def _mul(self, e: Equation) -> _Made | None:
        signs, parts = zip(*map(self.factors, e.ins), strict=True)
        factors = [f for part in parts for f in part]
        for at, r in enumerate(factors):
            x = self.made.get(r)
            if x is None or x.op != "div" or not _one(x.ins[0]) or len(factors) < 3:
                continue
            rest = factors[:at] + factors[at + 1 :]
            for k, f in enumerate(rest):
                y = self.quotients.get((f, x.ins[1]))
                if y is not None and y is not r and y.type == r.type:
                    rest[k] = self.emit("neg", y) if sum(signs) == 1 else y
                    return "mul", (rest[0], self.product(rest[1:])), {}
        return None


def _one(a: Atom) -> bool:
    return isinstance(a, Lit) and bool(a.value == 1.0)


def _alike(e: Equation, a: Atom) -> bool:
    """Are operands and result real numbers of one precision?"""
    if isinstance(a.type, Stack) or a.type.dtype not in ("f4", "f8"):
        return False
    return all(
        not isinstance(x.type, Stack) and is_float(x.type)
        and (x.type.dtype == a.type.dtype or (isinstance(x.type, Scalar) and x.type.py))
        for x in e.ins
    )  # fmt: skip
