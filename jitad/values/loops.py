"""How does a replacement loop over a traced extent?

`fold` carries numbers and array contents through `count` iterations: a `for` equation where
anything is a leaf of a tape, plain iteration otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Var, lit
from jitad.tape.types import INT
from jitad.values.extents import Int

UNROLLED = 4  # so few iterations of known number are written out


def fold(
    count: Int, initial: tuple[Any, ...], body: Callable[..., tuple[Any, ...]], *used: Any
) -> tuple[Any, ...]:
    """body(k, *carried) -> carried, for k = 0, ..., count - 1; `used`: what the body reads.

    Initial values have the types and extents of the results.
    """
    leaf = next((x for x in (count, *initial, *used) if isinstance(x, Leaf)), None)
    short = isinstance(count, int) and count <= UNROLLED
    if leaf is None or short:
        carried = initial
        for k in range(count):
            carried = body(k, *carried)
        return carried
    return _loop(leaf.builder, count, initial, body)


def _loop(
    b: Builder, count: Int, initial: tuple[Any, ...], body: Callable[..., tuple[Any, ...]]
) -> tuple[Any, ...]:
    start = [b.atom(x) for x in initial]
    index = Var(INT)
    params = [Var(a.type, a.shape) for a in start]
    b.loops[index] = (lit(0), b.atom(count), lit(1))
    with b.block(index, *params) as block:
        results = body(b.leaf(index), *map(b.leaf, params))
        block.results = [b.atom(r) for r in results]
    for was, now in zip(start, block.results, strict=True):
        assert was.type.dtype == now.type.dtype, f"carried {was.type} became {now.type}"  # type: ignore[union-attr]
    outs = tuple(Var(a.type, a.shape) for a in start)
    b.structured("for", (lit(0), lit(1), b.atom(count), *start), outs, (block,))
    return tuple(map(b.leaf, outs))
