"""From which elements of its operands is each element of a result made?

Operations that move elements are run on the elements' own numbers: what comes out tells where each
came from.  Sums and products of matrices are written down; of any other operation on arrays each
element is taken to depend on all elements of all operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives import TABLE
from jitad.sparsity.values import Known, Lanes, Sets, known, matrix, union
from jitad.tape.ir import Equation
from jitad.tape.types import is_float

MOVING = frozenset(
    ("slice", "store_slice", "accum_slice", "take", "store_take", "accum_take", "full", "copy",
     "pack", "pad", "broadcast", "reshape", "transpose", "concatenate", "ident", "iota")
)  # fmt: skip
_ADDING = {"accum_slice": "slice", "accum_take": "take"}  # and what reads the same elements
REDUCING = frozenset(("sum", "amax", "amin"))


def moved(e: Equation, ins: list[Any], lanes: Lanes) -> Any:
    """The result of an operation that moves elements."""
    row = TABLE[e.op]
    level = max((v.level for v in ins), default=0)
    numbers = [v for v in ins if isinstance(v, Known)]
    if len(numbers) == len(ins):
        if level == 0:
            return known(row.evaluate(*(v.data[0] for v in ins), **e.params))
        datas = [lanes.raised(v, level).data for v in ins]
        out = [row.evaluate(*(d[k] for d in datas), **e.params) for k in range(len(datas[0]))]
        return Known(np.stack(out), level)
    if not is_float(e.outs[0].type):
        return Sets(None, _shape(e, ins, lanes))
    if e.op in _ADDING and isinstance(ins[0], Sets):
        return _added(e, ins, level, lanes)
    varying = [v for v in numbers if v.level > 0]
    own: list[Any] = []
    base = 1
    for v in ins:
        if isinstance(v, Sets):
            size = v.size
            own.append(np.arange(base, base + size, dtype=np.float64).reshape(v.shape)[()])
            base += size
        else:
            own.append(None)
    datas = [lanes.raised(v, level if varying else 0).data if isinstance(v, Known) else None
             for v in ins]  # fmt: skip
    maps = []
    for k in range(lanes.counts[level] if varying else 1):
        args = [o if d is None else d[k] for o, d in zip(own, datas, strict=True)]
        maps.append(np.asarray(row.evaluate(*args, **e.params)))
    table = np.stack(maps).reshape(len(maps), -1).astype(np.int64)
    return _assembled(ins, table, maps[0].shape, level, lanes)


def _added(e: Equation, ins: list[Any], level: int, lanes: Lanes) -> Any:
    """What is added goes where it would be read from: several may go to one element."""
    a, v, *where = ins
    if not isinstance(v, Sets) or v.rows is None:
        return a
    count = lanes.counts[level]
    read = TABLE[_ADDING[e.op]]
    ids = np.arange(a.size, dtype=np.float64).reshape(a.shape)
    at = [lanes.raised(w, level).data for w in where]
    to = np.stack([np.asarray(read.evaluate(ids, *(w[k] for w in at), **e.params))
                   for k in range(count)])  # fmt: skip
    source = np.broadcast_to(np.arange(v.size).reshape((1, *v.shape)), to.shape)
    lane = np.arange(count).reshape((-1,) + (1,) * (to.ndim - 1))
    own = lanes.ancestor(v.level, level).reshape(lane.shape)
    join = matrix(
        (lane * a.size + to.astype(np.int64)).ravel(), (own * v.size + source).ravel(),
        (count * a.size, lanes.counts[v.level] * v.size),
    )  # fmt: skip
    return Sets(union(lanes.raised(a, level).rows, join @ v.rows), a.shape, level)


def _assembled(
    ins: list[Any], table: Any, shape: tuple[int, ...], level: int, lanes: Lanes
) -> Sets:
    """`table`: for each lane and element of the result, which element (from 1 on) it is."""
    count = lanes.counts[level]
    size = table.shape[1]
    rows = None
    lane = np.arange(count * size) // max(size, 1)
    source = np.broadcast_to(table, (count, size)).ravel()
    base = 1
    for v in ins:
        if not isinstance(v, Sets):
            continue
        if v.rows is not None:
            mine = np.flatnonzero((source >= base) & (source < base + v.size))
            own = lanes.ancestor(v.level, level)[lane[mine]]
            of = own * v.size + source[mine] - base
            total = lanes.counts[v.level] * v.size
            rows = union(rows, matrix(mine, of, (count * size, total)) @ v.rows)
        base += v.size
    return Sets(rows, shape, level)


def _shape(e: Equation, ins: list[Any], lanes: Lanes) -> tuple[int, ...]:
    """The extents of an integer result whose numbers aren't known."""
    args = [np.zeros(v.shape) if isinstance(v, Sets) else v.data[0] for v in ins]
    return np.shape(TABLE[e.op].evaluate(*args, **e.params))


def reduced(e: Equation, a: Sets, lanes: Lanes) -> Sets:
    axes = tuple(k % max(len(a.shape), 1) for k in e.params["axes"])
    shape = tuple(n for k, n in enumerate(a.shape) if k not in axes)
    if a.rows is None:
        return Sets(None, shape)
    size = int(np.prod(shape, dtype=np.int64))
    kept = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    to = np.broadcast_to(np.arange(size).reshape(kept), a.shape).ravel()
    count = lanes.counts[a.level]
    at = (np.arange(count)[:, None] * size + to).ravel()
    join = matrix(at, np.arange(len(at)), (count * size, count * a.size))
    return Sets(join @ a.rows, shape, a.level)


def product(a: Sets, b: Sets, lanes: Lanes) -> Sets:
    """Rows of the first and columns of the second, whatever the numbers are."""
    level = max(a.level, b.level)
    a, b = lanes.raised(a, level), lanes.raised(b, level)
    left = np.zeros(a.shape)
    shape = np.shape(left @ np.zeros(b.shape))
    count, size = lanes.counts[level], int(np.prod(shape, dtype=np.int64))
    rows = None
    inner = a.shape[-1]
    for v, is_left in ((a, True), (b, False)):
        if v.rows is None:
            continue
        ids = np.arange(v.size).reshape(v.shape)
        at, of = [], []
        for k in range(inner):  # the elements that meet in the sum
            part = ids[..., k] if is_left else (ids[k] if ids.ndim == 1 else ids[..., k, :])
            if is_left:
                spread = part[..., None] if len(b.shape) > 1 else part
            else:
                spread = part[..., None, :] if len(a.shape) > 1 and ids.ndim > 1 else part
            of.append(np.broadcast_to(spread, shape).ravel())
            at.append(np.arange(size))
        lane = np.arange(count)[:, None]
        to, source = np.concatenate(at), np.concatenate(of)
        join = matrix(
            (lane * size + to).ravel(), (lane * v.size + source).ravel(),
            (count * size, count * v.size),
        )  # fmt: skip
        rows = union(rows, join @ v.rows)
    return Sets(rows, shape, level)


def mixed(ins: list[Any], shape: tuple[int, ...], lanes: Lanes) -> Sets:
    """Each element depends on all elements of all operands."""
    parts = [v for v in ins if isinstance(v, Sets) and v.rows is not None]
    if not parts:
        return Sets(None, shape)
    level = max(v.level for v in parts)
    count = lanes.counts[level]
    rows: Any = None
    for v in parts:
        w = lanes.raised(v, level)
        to = np.repeat(np.arange(count), w.size)
        rows = union(rows, matrix(to, np.arange(len(to)), (count, len(to))) @ w.rows)
    size = int(np.prod(shape, dtype=np.int64))
    return Sets(rows[np.repeat(np.arange(count), size)], shape, level)
