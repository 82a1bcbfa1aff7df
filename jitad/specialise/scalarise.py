"""Which arrays are so small that they are better held element by element?

`np.array([a, b, c])`, `x[0:3]`, `np.zeros(3)`: arrays whose extents are literals and few become
one scalar an element; operations on them become scalar operations, loops carry the scalars.  They
then live in registers, need no allocation, and the sweeps meet no array at all (scalar
replacement of aggregates).  An array that is indexed by a traced index stays an array, with all
the versions that it shares storage with.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from jitad.primitives import TABLE
from jitad.primitives.array import slice_extents
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_equation, read, renew, structured
from jitad.tape.dead import remove_dead
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit, walk
from jitad.tape.types import Array, Scalar, Type

LARGEST = 16  # elements
MOST = 27  # multiplications of a product of matrices: as a loop the compiler unrolls it as well

_UPDATES = ("store", "accum", "store_slice", "accum_slice")


def scalarise(tape: Tape) -> Tape:
    """The tape with small arrays taken apart."""
    if not any(_small(v) for e in walk(tape.body) for v in e.outs):
        return tape
    chosen = _choose(tape.body)
    if not chosen:
        return tape
    b = Builder()
    work = _Scalarise(b, chosen, begin(b, tape.body))
    work.block(tape.body)
    new = b.blocks[0]
    new.results = [work.whole(a) for a in tape.body.results]
    return Tape(tape.name, remove_dead(new), tape.pos)


def _small(v: Atom) -> bool:
    if not (isinstance(v, Var) and isinstance(v.type, Array) and len(v.shape) == v.type.ndim):
        return False
    extents = [d.value for d in v.shape if isinstance(d, Lit)]
    return len(extents) == v.type.ndim and 0 < math.prod(extents) <= LARGEST


# -- which ----------------------------------------------------------------------------------------


def _choose(block: Block) -> set[Var]:
    """The small arrays all of whose versions are only ever met at literal places."""
    leader: dict[Atom, Atom] = {}

    def find(a: Atom) -> Atom:
        while leader.get(a, a) is not a:
            leader[a] = leader.get(leader[a], leader[a])
            a = leader[a]
        return a

    def join(atoms: Sequence[Atom]) -> None:
        arrays = [a for a in atoms if isinstance(a, Var) and isinstance(a.type, Array)]
        for a, c in itertools.pairwise(arrays):
            leader[find(a)] = find(c)

    inputs = set(block.params)
    small: set[Var] = set()
    bad: list[Atom] = list(inputs)
    for e in walk(block):
        small.update(v for v in e.outs if _small(v))
        for inner in e.blocks:
            small.update(v for v in inner.params if _small(v))
        match e.op:
            case "for" | "while":
                # initial values and those at the end of the body may come from any array
                groups = [x.params[len(x.params) - len(e.outs) :] for x in e.blocks]
                for same in zip(e.outs, *groups, strict=True):
                    join(same)
            case "if":
                pass
            case "vjp" | "jvp" | "implicit":
                bad += [a for x in e.blocks for a in x.params]
                bad += [*e.outs, *free_vars(*e.blocks)]
            case _ if e.op in _UPDATES:
                if e.ins[0] not in inputs:
                    join((e.ins[0], e.outs[0]))
                if not _literal_places(e) or (_small(e.ins[1]) and not _fits(e)):
                    bad += [e.ins[0], e.outs[0]]
            case "load" | "slice":
                if not _literal_places(e):
                    bad.append(e.ins[0])
            case "full" | "pack" | "iota" | "copy" | "ident":
                pass
            case "matmul" if _products(e) > MOST:
                bad += [a for a in (*e.ins, *e.outs) if isinstance(a.type, Array)]
            case "sum" | "matmul" | "concatenate" | "reshape" | "transpose" | "broadcast":
                if not _all_small(e) or not _spreads(e):  # its extents do not tell the operands'
                    bad += [v for v in e.outs if isinstance(v.type, Array)]
            case _ if TABLE[e.op].elementwise:
                pass
            case _:  # results of everything else are made as arrays
                bad += [v for v in e.outs if isinstance(v.type, Array)]
    refused = {find(a) for a in bad if isinstance(a, Var)}
    refused |= {find(v) for v in list(leader) if isinstance(v, Var) and not _small(v)}
    return {v for v in small if find(v) not in refused}


def _products(e: Equation) -> int:
    """How many multiplications a product of small matrices takes; 0 if its extents are unknown."""
    extents = [d.value for d in (*e.outs[0].shape, e.ins[0].shape[-1]) if isinstance(d, Lit)]
    return math.prod(extents) if len(extents) == len(e.outs[0].shape) + 1 else 0


def _literal_places(e: Equation) -> bool:
    """Are they literal, and inside?  What is behind a check that fails may not be."""
    operands = e.ins[2 if e.op in _UPDATES else 1 :]
    if not all(isinstance(a, Lit) for a in operands):
        return False
    numbers = [a.value for a in operands]  # type: ignore[union-attr]
    for kind, extent in zip(e.params.get("kinds", "i" * len(numbers)), e.ins[0].shape, strict=True):
        start, step, count = (numbers.pop(0), 0, 1) if kind == "i" else (
            numbers.pop(0), numbers.pop(0), numbers.pop(0))  # fmt: skip
        ends = (start, start + step * (count - 1)) if count > 0 else ()
        if isinstance(extent, Lit) and not all(0 <= k < extent.value for k in ends):
            return False
    return True


# -- how ------------------------------------------------------------------------------------------


class _Scalarise:
    def __init__(self, b: Builder, chosen: set[Var], env: Env) -> None:
        self.b, self.chosen, self.env = b, chosen, env
        self.parts: dict[Var, list[Atom]] = {}

    def read(self, a: Atom) -> Atom:
        return read(a, self.env)

    def whole(self, a: Atom) -> Atom:
        """The atom itself, or an array made of its elements."""
        if not isinstance(a, Var) or a not in self.parts:
            return self.read(a)
        packed = self.b.emit("pack", *self.parts[a])
        return self.b.emit("reshape", packed, *a.shape) if len(a.shape) > 1 else packed

    def elements(self, a: Atom, shape: Sequence[Atom] = ()) -> list[Atom]:
        """The elements of a small array, whether it is taken apart or not.

        `shape` has the extents as literals, where those of `a` were checked to be equal to them.
        """
        if isinstance(a, Var) and a in self.parts:
            return self.parts[a]
        now = self.read(a)
        return [self.b.emit("load", now, *map(lit, k)) for k in _grid(shape or a.shape)]

    def define(self, v: Var, parts: list[Atom]) -> None:
        self.parts[v] = [self.typed(p, v.type.dtype) for p in parts]  # type: ignore[union-attr]

    def typed(self, a: Atom, dtype: str) -> Atom:
        """An element has the dtype of its array, and is a NumPy number."""
        if a.type == Scalar(dtype):
            return a
        if isinstance(a, Lit):
            return Lit(np.dtype(dtype).type(a.value), Scalar(dtype))
        return self.b.emit("cast", a, dtype=dtype)

    def block(self, block: Block) -> None:
        for e in block.equations:
            self.b.pos = e.pos
            self.equation(e)

    def equation(self, e: Equation) -> None:
        if e.blocks:
            self.structured(e)
            return
        apart = any(v in self.chosen for v in e.outs)
        if apart:
            self.define(e.outs[0], self.compute(e))
            return
        if not any(isinstance(a, Var) and a in self.parts for a in e.ins):
            copy_equation(self.b, e, self.env)
            return
        match e.op:
            case "load":
                at = tuple(a.value for a in e.ins[1:])  # type: ignore[union-attr]
                self.env[e.outs[0]] = self.elements(e.ins[0])[_flat(e.ins[0], at)]
            case "slice" if not e.outs[0].shape:
                at = tuple(a.value for a in e.ins[1:])  # type: ignore[union-attr]
                self.env[e.outs[0]] = self.elements(e.ins[0])[_flat(e.ins[0], at)]
            case "sum" | "matmul" if not e.outs[0].shape and _all_small(e):
                (self.env[e.outs[0]],) = self.compute(e)
            case "store_slice" | "accum_slice" if _fits(e):
                self.env[e.outs[0]] = self.store_each(e)
            case _:
                ins = tuple(self.whole(a) for a in e.ins)
                copy_equation(self.b, Equation(e.op, ins, e.outs, e.params, (), e.pos), self.env)

    def store_each(self, e: Equation) -> Atom:
        """A small array is stored into a large one element by element."""
        a = self.read(e.ins[0])
        operands = [self.read(x) for x in e.ins[2:]]
        op = "store" if e.op == "store_slice" else "accum"
        places = list(self.places(e.params["kinds"], operands))
        for at, v in zip(places, self.elements(e.ins[1]), strict=True):
            a = self.b.emit(op, a, v, *at)
        return a

    def places(self, kinds: str, operands: Sequence[Atom]) -> Iterator[tuple[Atom, ...]]:
        """The index of every element of a slice, in order."""
        axes: list[list[Atom]] = []
        rest = list(operands)
        for kind in kinds:
            if kind == "i":
                axes.append([rest.pop(0)])
                continue
            start, step, count = rest.pop(0), rest.pop(0), rest.pop(0)
            assert isinstance(count, Lit)
            emit = self.b.emit
            axes.append([emit("add", start, emit("mul", step, lit(k))) for k in range(count.value)])
        return itertools.product(*axes)

    def compute(self, e: Equation) -> list[Atom]:
        """The elements of the equation's result."""
        b, out = self.b, e.outs[0]
        size = len(list(_indices(out)))
        match e.op:
            case "full" | "broadcast" if not e.ins[0].shape:
                return [self.read(e.ins[0])] * size
            case "pack":
                return [self.read(a) for a in e.ins]
            case "iota":
                return [lit(np.dtype(e.params["dtype"]).type(k)) for k in range(size)]
            case "copy" | "ident":
                return self.elements(e.ins[0], out.shape)
            case "reshape":
                parts = self.elements(e.ins[0])
                return parts if len(parts) == size else self.never(out, size)
            case "transpose":
                perm = e.params["perm"]
                parts = self.elements(e.ins[0])
                return [
                    parts[_flat(e.ins[0], tuple(k[perm.index(j)] for j in range(len(k))))]
                    for k in _indices(out)
                ]
            case "broadcast":
                axes, parts = e.params["axes"], self.elements(e.ins[0])
                return [parts[_flat(e.ins[0], tuple(k[a] for a in axes))] for k in _indices(out)]
            case "slice":
                return self.sliced(e)
            case "concatenate":
                return self.concatenated(e)
            case "sum":
                return self.summed(e)
            case "matmul":
                return self.multiplied(e)
            case _ if e.op in _UPDATES:
                return self.updated(e)
        operands = [
            self.elements(a, out.shape) if a.shape else [self.read(a)] * size for a in e.ins
        ]
        if any(len(xs) != size for xs in operands):
            return self.never(out, size)
        return [b.emit(e.op, *xs, **e.params) for xs in zip(*operands, strict=True)]

    def never(self, out: Var, size: int) -> list[Atom]:
        """A check in front of it, that extents are equal, does not hold: it is never run."""
        return [lit(np.dtype(out.type.dtype).type(0))] * size  # type: ignore[union-attr]

    def sliced(self, e: Equation) -> list[Atom]:
        a = e.ins[0]
        places = self.places(e.params["kinds"], [self.read(x) for x in e.ins[1:]])
        if isinstance(a, Var) and a in self.parts:
            parts = self.parts[a]
            return [parts[_flat(a, tuple(i.value for i in at))] for at in places]  # type: ignore[union-attr]
        return [self.b.emit("load", self.read(a), *at) for at in places]

    def updated(self, e: Equation) -> list[Atom]:
        a, v = e.ins[:2]
        parts = list(self.elements(a))
        kinds = e.params.get("kinds", "i" * (len(e.ins) - 2))
        places = list(self.places(kinds, e.ins[2:]))
        shape = slice_extents(kinds, e.ins[2:])
        values = self.elements(v, shape) if v.shape else [self.read(v)] * len(places)
        for at, new in zip(places, values, strict=True):
            k = _flat(a, tuple(i.value for i in at))  # type: ignore[union-attr]
            add = e.op in ("accum", "accum_slice")
            parts[k] = self.b.emit("add", parts[k], new) if add else new
        return parts

    def concatenated(self, e: Equation) -> list[Atom]:
        axis = e.params["axis"]
        grids = []
        for a in e.ins[:-1]:
            shape = [d.value for d in a.shape]  # type: ignore[union-attr]
            grid = np.empty(len(self.elements(a)), object)
            grid[:] = self.elements(a)
            grids.append(grid.reshape(shape))
        return list(np.concatenate(grids, axis=axis).ravel())

    def summed(self, e: Equation) -> list[Atom]:
        a, axes = e.ins[0], e.params["axes"]
        dtype = e.outs[0].type.dtype  # type: ignore[union-attr]
        totals: dict[tuple[int, ...], Atom] = {}
        for k, x in zip(_indices(a), self.elements(a), strict=True):
            x = self.typed(x, dtype)  # bools are counted, and small integers sum to int64
            kept = tuple(i for j, i in enumerate(k) if j not in axes)
            totals[kept] = self.b.emit("add", totals[kept], x) if kept in totals else x
        return list(totals.values())

    def multiplied(self, e: Equation) -> list[Atom]:
        x, y = e.ins
        xs, ys = self.elements(x), self.elements(y)
        inner = x.shape[-1].value  # type: ignore[union-attr]
        rows = len(xs) // inner
        columns = len(ys) // inner
        out: list[Atom] = []
        for i, j in itertools.product(range(rows), range(columns)):
            total: Atom | None = None
            for k in range(inner):
                term = self.b.emit("mul", xs[i * inner + k], ys[k * columns + j])
                total = term if total is None else self.b.emit("add", total, term)
            assert total is not None
            out.append(total)
        return out

    # -- loops and branches -----------------------------------------------------------------------

    def structured(self, e: Equation) -> None:
        if e.op in ("vjp", "jvp", "implicit"):
            primals = tuple(self.whole(a) for a in e.ins)
            whole = Equation(e.op, primals, e.outs, e.params, e.blocks, e.pos)
            copy_equation(self.b, whole, self.env)
            return
        b = self.b
        first = {"for": 3, "while": 0, "if": 1}[e.op]
        ins = [self.read(a) for a in e.ins[:first]]
        for a, v in zip(e.ins[first:], e.outs, strict=False):
            ins += self.spread(a, v)
        blocks: list[Block] = []
        for block in e.blocks:
            head = len(block.params) - len(e.outs) if e.op != "if" else 0
            params: list[Var] = []
            for k, p in enumerate(block.params):
                if p in self.chosen:
                    kind = Scalar(p.type.dtype)  # type: ignore[union-attr]
                    new = [Var(kind, (), p.name) for _ in _indices(p)]
                    self.parts[p] = list(new)
                    params += new
                else:
                    like = e.ins[first + k - head] if k >= head else None
                    params.append(renew(p, self.read(like) if like is not None else None, self.env))
            with b.block(*params) as new_block:
                self.block(block)
                is_body = e.op == "if" or block is e.blocks[-1]
                for k, a in enumerate(block.results):
                    new_block.results += self.spread(a, e.outs[k]) if is_body else [self.read(a)]
            blocks.append(new_block)
        types: list[Type] = []
        for v in e.outs:
            apart = v in self.chosen
            types += [Scalar(v.type.dtype)] * len(list(_indices(v))) if apart else [v.type]  # type: ignore[union-attr]
        outs = iter(structured(b, e.op, tuple(ins), tuple(blocks), types, e.params))
        for v in e.outs:
            if v in self.chosen:
                self.parts[v] = [next(outs) for _ in _indices(v)]
            else:
                self.env[v] = next(outs)

    def spread(self, a: Atom, like: Var) -> list[Atom]:
        """A carried value: its elements where `like` is taken apart."""
        if like in self.chosen:
            return [self.typed(x, like.type.dtype) for x in self.elements(a, like.shape)]  # type: ignore[union-attr]
        return [self.whole(a)]


def _grid(shape: Sequence[Atom]) -> Iterator[tuple[int, ...]]:
    return np.ndindex(*(max(d.value, 0) for d in shape))  # type: ignore[union-attr]


def _indices(a: Atom) -> Iterator[tuple[int, ...]]:
    return _grid(a.shape)


def _all_small(e: Equation) -> bool:
    return all(_small(a) for a in e.ins if isinstance(a.type, Array))


def _flat(a: Atom, index: tuple[int, ...]) -> int:
    shape = tuple(d.value for d in a.shape)  # type: ignore[union-attr]
    return int(np.ravel_multi_index(index, shape))


def _spreads(e: Equation) -> bool:
    """Has what is broadcast the extents that the result says?  See `_literal_places`."""
    if e.op != "broadcast":
        return True
    along = (e.outs[0].shape[k] for k in e.params["axes"])
    return all(m == n for m, n in zip(e.ins[0].shape, along, strict=True))


def _fits(e: Equation) -> bool:
    """Is a small array as large as the part that it is stored to?  See `_literal_places`."""
    at, size, rest = 0, 1, e.ins[2:]
    for kind in e.params.get("kinds", ""):
        if kind == "r":
            count = rest[at + 2]
            if not isinstance(count, Lit):
                return False
            size *= max(count.value, 0)
        at += 1 if kind == "i" else 3
    v = e.ins[1]
    return _small(v) and math.prod(d.value for d in v.shape) == size  # type: ignore[union-attr]
