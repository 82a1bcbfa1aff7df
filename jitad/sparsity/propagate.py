"""Which inputs may each element of a tape's results depend on?  Index sets, equation by equation.

A plain tape is run with sets of inputs in the place of floats.  Ints and bools that no float
decides are computed, so the indices of loops and of data are followed exactly; what floats decide
is unknown, and then both branches count.  A loop is run for all its iterations at once, in lanes
(`values.py`); where they hang together, until the sets grow no more, or one after the other where
they are few.  What comes out is never too small; it may be larger than need be.

Source: Griewank & Walther, *Evaluating Derivatives*, ch. 7.1 (index domains).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from jitad.errors import JitadError
from jitad.primitives import TABLE
from jitad.sparsity.entangled import entangled, increment
from jitad.sparsity.movement import MOVING, REDUCING, mixed, moved, product, reduced
from jitad.sparsity.values import Known, Lanes, Pile, Sets, Value, known, matrix, union
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, walk
from jitad.tape.types import Array, is_float

STEPS = 20_000  # equations that loops may run one iteration after the other

Env = dict[Var, Any]


def pattern(tape: Tape, inputs: Sequence[Any], active: int, result: int) -> Any:
    """The pattern of d result / d input `active`, both vectors, as a CSR array of bools.

    `inputs`: the values of the tape's parameters; of the floats only the shapes matter.
    """
    n = len(inputs[active])
    args: list[Value] = []
    for k, (p, x) in enumerate(zip(tape.body.params, inputs, strict=True)):
        if k == active:
            args.append(Sets(sparse.csr_array(sparse.identity(n, dtype=bool)), (n,)))
        else:
            args.append(Sets(None, np.shape(x)) if is_float(p.type) else known(x))
    run = _Run(tape.functions)
    env: Env = {}
    run.block(tape.body, args, env)
    out = run.read(tape.body.results[result], env)
    if not isinstance(out, Sets) or out.rows is None:
        size = out.size if isinstance(out, Sets) else np.size(out.data)
        return sparse.csr_array((size, n), dtype=bool)
    rows = sparse.csr_array(out.rows)
    rows.sum_duplicates()
    return rows


class _Run:
    def __init__(self, functions: Mapping[str, Tape]) -> None:
        self.functions = functions
        self.lanes = Lanes()
        self.steps = 0

    def read(self, a: Atom, env: Env) -> Any:
        if isinstance(a, Var):
            return env[a]
        return Sets(None) if is_float(a.type) else known(a.value)

    def block(self, block: Block, args: Sequence[Any], env: Env) -> list[Any]:
        env.update(zip(block.params, args, strict=True))
        for e in block.equations:
            ins = [self.read(a, env) for a in e.ins]
            env.update(zip(e.outs, self.step(e, ins, env), strict=True))
        return [self.read(a, env) for a in block.results]

    def step(self, e: Equation, ins: list[Any], env: Env) -> Sequence[Any]:
        match e.op:
            case "if":
                return self.branch(e, ins[0], env)
            case "for":
                return self.counted(e, ins, env)
            case "while":
                return self.conditional(e, ins, env)
            case "check" | "print":
                return ()
            case "stack":
                return (Pile(),)
            case "push":
                return (self.pushed(*ins),)
            case "pop" | "pops":
                return self.popped(e, ins, env)
            case "dim":
                return (known(_shape(ins[0])[e.params["axis"]]),)
            case "load":
                return (self.load(ins[0], ins[1:]),)
            case "store" | "accum":
                return (self.store(ins[0], ins[1], ins[2:], e.op == "store"),)
            case "matmul" if all(isinstance(v, Sets) for v in ins):
                return (product(ins[0], ins[1], self.lanes),)
            case _ if e.op in TABLE and TABLE[e.op].elementwise:
                return (self.elementwise(e, ins),)
            case _ if e.op in REDUCING and isinstance(ins[0], Sets) and is_float(e.outs[0].type):
                return (reduced(e, ins[0], self.lanes),)
            case _ if e.op in MOVING and not any(map(_is_unknown_int, e.ins, ins)):
                return (moved(e, ins, self.lanes),)
        if e.op in TABLE and e.outs and all(isinstance(v, Known) and not v.level for v in ins):
            out = TABLE[e.op].evaluate(*(v.data[0] for v in ins), **e.params)
            return [known(x) for x in (out if len(e.outs) > 1 else (out,))]
        return [
            mixed(ins if is_float(v.type) else [], self.extents(v, ins, env), self.lanes)
            for v in e.outs
        ]

    def extents(self, v: Var, ins: list[Any], env: Env) -> tuple[int, ...]:
        """The extents of a result, as the tape tells them."""
        if not isinstance(v.type, Array):
            return ()
        found = [self.read(a, env) for a in v.shape]
        if len(found) < v.type.ndim or not all(isinstance(x, Known) for x in found):
            raise JitadError("the shape of an array depends on numbers", None,
                             "Give the pattern yourself (pattern=...).")  # fmt: skip
        return tuple(_one(x) for x in found)

    # -- numbers ----------------------------------------------------------------------------------

    def elementwise(self, e: Equation, ins: list[Any]) -> Any:
        level = max(v.level for v in ins)
        if all(isinstance(v, Known) for v in ins):
            datas = _aligned([self.lanes.raised(v, level).data for v in ins])
            with np.errstate(all="ignore"):
                return Known(_evaluated(e, datas), level)
        shape = max((_shape(v) for v in ins), key=len)
        if not is_float(e.outs[0].type):
            return Sets(None, shape)
        parts = ins
        if e.op == "where" and isinstance(ins[0], Known) and _uniform(ins[0]):
            parts = [ins[1 if ins[0].data.flat[0] else 2]]
        rows, parts = None, [v for v in parts if isinstance(v, Sets) and v.rows is not None]
        level = max((v.level for v in parts), default=0)
        for v in parts:
            rows = union(rows, self.lanes.raised(_stretched(v, shape, self.lanes), level).rows)
        return Sets(rows, shape, level)

    def load(self, a: Any, index: Sequence[Any]) -> Any:
        if not all(isinstance(i, Known) for i in index):
            return mixed([a], (), self.lanes) if isinstance(a, Sets) else Sets(None)
        level = max(a.level, *(i.level for i in index))
        at = [self.lanes.raised(i, level).data for i in index]
        clipped = [np.clip(i, 0, max(n - 1, 0)) for i, n in zip(at, _shape(a), strict=True)]
        own = self.lanes.ancestor(a.level, level)
        if isinstance(a, Known):
            return Known(a.data[(own, *clipped)], level)
        if a.rows is None or not a.size:
            return Sets(None)
        flat = np.ravel_multi_index(clipped, a.shape)
        return Sets(a.rows[own * a.size + flat], (), level)

    def store(self, a: Any, v: Any, index: Sequence[Any], replaces: bool) -> Any:
        lanes = self.lanes
        sure = all(isinstance(i, Known) for i in index)
        level = max(a.level, v.level, *(i.level for i in index))
        if isinstance(a, Sets) and a.shared:  # it is each of the present lanes that writes
            level = lanes.level
        if isinstance(a, Known):
            if not sure or not isinstance(v, Known) or not replaces:
                return Sets(None, _shape(a))
            data = np.array(lanes.raised(a, level).data)
            at = [np.clip(lanes.raised(i, level).data, 0, n - 1)
                  for i, n in zip(index, _shape(a), strict=True)]  # fmt: skip
            data[(np.arange(len(data)), *at)] = lanes.raised(v, level).data
            return Known(data, level)
        rows_of = v.rows if isinstance(v, Sets) else None
        if not a.size or (rows_of is None and (not sure or not replaces or a.rows is None)):
            return a
        if not a.shared and level > a.level:
            if lanes.fits(a.size):
                a = lanes.raised(a, level)
            else:  # all lanes together: more than each alone
                a = replace(a, shared=True)
        own = lanes.ancestor(a.level, level)
        total = lanes.counts[a.level] * a.size
        if not sure:
            every = np.arange(total).reshape(-1, a.size)[own]
            part = lanes.raised(v, level).rows
            to, of = every.ravel(), np.repeat(np.arange(len(own)), a.size)
            return replace(a, rows=union(a.rows, matrix(to, of, (total, len(own))) @ part))
        at = [np.clip(lanes.raised(i, level).data, 0, n - 1)
              for i, n in zip(index, a.shape, strict=True)]  # fmt: skip
        to = own * a.size + np.ravel_multi_index(at, a.shape)
        rows = a.rows
        if replaces and not a.shared and rows is not None:
            keep = np.ones(total, bool)
            keep[to] = False
            kept = np.flatnonzero(keep)
            rows = matrix(kept, kept, (total, total)) @ rows
        if rows_of is not None:
            part = lanes.raised(v, level).rows
            rows = union(rows, matrix(to, np.arange(len(to)), (total, len(to))) @ part)
        return replace(a, rows=rows)

    # -- records ----------------------------------------------------------------------------------

    def pushed(self, pile: Pile, v: Any) -> Pile:
        if pile.joined is None:
            return Pile((*pile.records, v))
        return Pile((), self.joined(pile.joined, self.lowered(v)))

    def lowered(self, v: Any) -> Any:
        """One value for all lanes."""
        if isinstance(v, Known):
            return v if v.level == 0 else Sets(None, _shape(v))
        return Sets(self.lanes.gathered(v, 0), v.shape)

    def joined(self, a: Any, b: Any) -> Any:
        return b if a == () else self.either(a, b)

    def popped(self, e: Equation, ins: list[Any], env: Env) -> Sequence[Any]:
        pile = ins[0]
        if pile.records and e.op == "pop":
            return Pile(pile.records[:-1]), pile.records[-1]
        every: Any = pile.joined if pile.joined is not None else ()
        for x in pile.records:
            every = self.joined(every, self.lowered(x))
        shape = self.extents(e.outs[1], ins, env)
        if every == () or isinstance(every, Known):
            return pile, Sets(None, shape)
        if every.shape == shape:
            return pile, every
        return pile, mixed([every], shape, self.lanes)

    # -- control ----------------------------------------------------------------------------------

    def branch(self, e: Equation, test: Any, env: Env) -> list[Any]:
        if not isinstance(test, Known):
            both = [self.block(b, (), env) for b in e.blocks]
            return [self.either(x, y) for x, y in zip(*both, strict=True)]
        if _uniform(test):
            return self.block(e.blocks[0 if test.data.flat[0] else 1], (), env)
        level = self.lanes.level
        holds = self.lanes.raised(test, level).data.astype(bool)
        found = []
        for block, chosen in zip(e.blocks, (holds, ~holds), strict=True):
            at = np.flatnonzero(chosen)
            self.lanes.push(at)
            outs = self.block(block, (), env)
            found.append((at, [self._inside(v) for v in outs]))
            self.lanes.pop()
        (at, xs), (other, ys) = found
        return [self._merged(at, x, other, y, level) for x, y in zip(xs, ys, strict=True)]

    def _inside(self, v: Any) -> Any:
        """A result of a branch in lanes of its own, unless it is shared."""
        if isinstance(v, Pile) or (isinstance(v, Sets) and (v.shared or v.rows is None)):
            return v
        return self.lanes.raised(v, self.lanes.level)

    def _merged(self, at: Any, x: Any, other: Any, y: Any, level: int) -> Any:
        if isinstance(x, Known) and isinstance(y, Known):
            data = np.zeros((len(at) + len(other), *_shape(x)), np.result_type(x.data, y.data))
            data[at], data[other] = x.data, y.data
            return Known(data, level)
        if isinstance(x, Pile) or isinstance(y, Pile):
            return self.either(x, y)
        if isinstance(x, Known) or isinstance(y, Known):
            return Sets(None, _shape(x))
        if x.shared or y.shared:
            return replace(x, rows=union(x.rows, y.rows), shared=True)
        rows, total = None, (len(at) + len(other)) * x.size
        for v, lanes in ((x, at), (y, other)):
            if v.rows is not None:
                to = (lanes[:, None] * v.size + np.arange(v.size)).ravel()
                rows = union(rows, matrix(to, np.arange(len(to)), (total, len(to))) @ v.rows)
        return Sets(rows, x.shape, level)

    def either(self, x: Any, y: Any) -> Any:
        """A value that is one of the two."""
        if isinstance(x, Pile) or isinstance(y, Pile):
            every: Any = ()
            for pile in (x, y):
                for v in (*pile.records, *([pile.joined] if pile.joined is not None else ())):
                    every = v if every == () else every if v == () else self.either(
                        every, self.lowered(v))  # fmt: skip
            return Pile((), every)
        if isinstance(x, Known) and isinstance(y, Known):
            if x.level == y.level and np.array_equal(x.data, y.data):
                return x
            return Sets(None, _shape(x))
        if isinstance(x, Known) or isinstance(y, Known):
            return Sets(None, _shape(x))
        if x.rows is None or y.rows is None:
            return replace(y if x.rows is None else x, shared=x.shared or y.shared)
        level = max(x.level, y.level)
        if x.shared or y.shared:
            level = min(x.level, y.level)
            x, y = (replace(v, rows=self.lanes.gathered(v, level), level=level) for v in (x, y))
            return replace(x, rows=union(x.rows, y.rows), shared=True)
        x, y = self.lanes.raised(x, level), self.lanes.raised(y, level)
        return replace(x, rows=union(x.rows, y.rows))

    def counted(self, e: Equation, ins: list[Any], env: Env) -> list[Any]:
        start, step, count, *init = ins
        body = e.blocks[0]
        lanes, level = self.lanes, self.lanes.level
        bound = entangled(body, range(1, len(body.params)))
        if not all(isinstance(v, Known) for v in (start, step, count)):
            return self.repeated(body, [Sets(None)], init, env)
        size = sum(1 for _ in walk(body))
        if bound and _uniform(count):
            n = max(_one(count), 0)
            if self.steps + n * size <= STEPS:
                self.steps += n * size
                for k in range(n):
                    at = Known(
                        _aligned_sum(lanes, start, step, k), max(start.level, step.level)
                    )
                    init = self.block(body, [at, *init], env)
                return init
        counts = np.maximum(lanes.raised(count, level).data, 0)
        parent = np.repeat(np.arange(lanes.counts[level]), counts)
        if not len(parent):
            return init
        first = np.cumsum(counts) - counts
        k = np.arange(len(parent)) - first[parent]
        now = list(init)
        while True:
            lanes.push(parent)
            begin, by = (lanes.raised(v, level + 1).data for v in (start, step))
            given = [
                self._entering(v, body, j, k, level, j in bound) for j, v in enumerate(now)
            ]
            outs = self.block(body, [Known(begin + k * by, level + 1), *given], env)
            then = [
                self._leaving(init[j], now[j], v, body, j, counts, level)
                for j, v in enumerate(outs)
            ]
            lanes.pop()
            if not bound or all(map(_settled, now, then)):
                return then
            now = then

    def _entering(
        self, v: Any, body: Block, j: int, k: Any, level: int, bound: bool
    ) -> Any:
        """A carried value as the lanes of a loop meet it."""
        if isinstance(v, Known):
            by = increment(body, j + 1)
            if by is not None and not _shape(v):
                return Known(self.lanes.raised(v, level + 1).data + k * by, level + 1)
            return v if body.results[j] is body.params[j + 1] else Sets(None, _shape(v))
        if isinstance(v, Pile):
            every: Any = v.joined if v.joined is not None else ()
            for x in v.records:
                every = self.joined(every, self.lowered(x))
            return Pile((), every)
        if v.shape:
            raised = self.lanes.raised(v, level) if v.rows is not None else replace(v, level=level)
            return replace(raised, shared=True)
        return v if bound else Sets(None)

    def _leaving(
        self, init: Any, now: Any, v: Any, body: Block, j: int, counts: Any, level: int
    ) -> Any:
        """A carried value after the loop, which may have run no iteration."""
        lanes = self.lanes
        if isinstance(init, Known):
            by = increment(body, j + 1)
            if by is not None and not _shape(init):
                return Known(lanes.raised(init, level).data + counts * by, level)
            if body.results[j] is body.params[j + 1]:
                return init
            return Sets(None, _shape(init))
        if isinstance(init, Pile):
            return v
        if isinstance(v, Known):
            return Sets(None, init.shape)
        rows = lanes.gathered(v, level)
        before = union(
            lanes.raised(init, level).rows if init.rows is not None else None,
            lanes.raised(now, level).rows if isinstance(now, Sets) and now.rows is not None
            else None,
        )  # fmt: skip
        rows = union(rows, before)
        return Sets(rows, init.shape, level if rows is not None else 0, init.shared)

    def conditional(self, e: Equation, ins: list[Any], env: Env) -> list[Any]:
        cond, body = e.blocks
        size = sum(1 for _ in walk(body)) + sum(1 for _ in walk(cond))
        while self.steps <= STEPS:
            (test,) = self.block(cond, ins, env)
            if not isinstance(test, Known) or not _uniform(test):
                break
            if not test.data.flat[0]:
                return ins
            self.steps += size
            ins = self.block(body, ins, env)
        return self.repeated(body, [], ins, env)

    def repeated(self, body: Block, first: list[Any], init: list[Any], env: Env) -> list[Any]:
        """A loop that runs any number of times: until the sets grow no more."""
        now = [
            Pile((), self.either(v, v).joined) if isinstance(v, Pile) else v for v in init
        ]
        while True:
            outs = self.block(body, [*first, *now], env)
            then = [self.either(x, y) for x, y in zip(now, outs, strict=True)]
            if all(map(_settled, now, then)):
                return then
            now = then


# -- shapes ---------------------------------------------------------------------------------------


def _shape(v: Any) -> tuple[int, ...]:
    return v.data.shape[1:] if isinstance(v, Known) else v.shape


def _uniform(v: Known) -> bool:
    return bool(v.data.size) and bool((v.data == v.data.flat[0]).all())


def _one(v: Known) -> int:
    """A number that is the same for all lanes."""
    if not _uniform(v):
        raise JitadError("the shape of an array differs between iterations", None,
                         "Give the pattern yourself (pattern=...).")  # fmt: skip
    return int(v.data.flat[0])


def _is_unknown_int(a: Atom, v: Any) -> bool:
    return isinstance(v, Sets) and not is_float(a.type)


def _aligned(datas: list[Any]) -> list[Any]:
    """Lanes first, numbers stretched to the axes of arrays."""
    ndim = max(d.ndim for d in datas)
    return [d.reshape(d.shape + (1,) * (ndim - d.ndim)) for d in datas]


def _evaluated(e: Equation, datas: list[Any]) -> Any:
    evaluate = TABLE[e.op].evaluate
    try:
        out = np.asarray(evaluate(*datas, **e.params))
        if out.shape == np.broadcast_shapes(*(d.shape for d in datas)):
            return out
    except (TypeError, ValueError):
        pass
    return np.vectorize(lambda *xs: evaluate(*xs, **e.params))(*datas)


def _aligned_sum(lanes: Lanes, start: Known, step: Known, k: int) -> Any:
    level = max(start.level, step.level)
    return lanes.raised(start, level).data + k * lanes.raised(step, level).data


def _stretched(v: Sets, shape: tuple[int, ...], lanes: Lanes) -> Sets:
    """A number as an array of equal elements."""
    if v.shape == shape:
        return v
    size = int(np.prod(shape, dtype=np.int64))
    return Sets(v.rows[np.repeat(np.arange(lanes.counts[v.level]), size)], shape, v.level)


def _settled(was: Any, now: Any) -> bool:
    """Sets only grow: as many elements are the same ones."""
    if isinstance(was, Pile) and isinstance(now, Pile):
        x, y = was.joined, now.joined
        if x is None or y is None or x == () or y == ():
            return type(x) is type(y) and len(was.records) == len(now.records)
        return _settled(x, y)
    if isinstance(was, Known) or isinstance(now, Known):
        return isinstance(was, Known) and isinstance(now, Known) and was.level == now.level and (
            bool(np.array_equal(was.data, now.data)))  # fmt: skip
    if was.rows is None or now.rows is None:
        return was.rows is now.rows
    return was.level == now.level and was.rows.nnz == now.rows.nnz
