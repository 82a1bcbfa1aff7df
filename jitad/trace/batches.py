"""Which shapes do the results of a function have, told before it runs on an element of a batch?

The function is traced once for an element of any number, and what that recorded is forgotten but
for the shapes and dtypes of the results.  Extents that are computed inside, from other extents,
are computed once more outside; those that depend on the element's values are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadValueError
from jitad.primitives import TABLE
from jitad.runtime.leaves import is_array
from jitad.runtime.tagged import dtype_of, shape_of
from jitad.structures import Structure, flatten
from jitad.tape.build import Leaf
from jitad.tape.copy import copy_block
from jitad.tape.ir import Atom, Block, Lit, Var, lit, walk
from jitad.tape.types import Array, Scalar
from jitad.trace.context import Region
from jitad.trace.joins.optional import present
from jitad.trace.ongoing import current
from jitad.values.kind import require
from jitad.values.number import bind

_INDEX = Scalar("i8", py=True)


def results(
    run: Callable[[Any], Any], count: Any
) -> tuple[Structure, list[Any], list[tuple[Any, str]]]:
    """The structure of `run(i)`, its leaves, and the shape and dtype of those that are numbers.

    `count`: how many elements there are.
    """
    trace = current()
    assert trace is not None
    b = trace.builder
    pos = b.pos
    i = Var(_INDEX, (), "i")
    region = Region(trace, [i])
    region.open()
    try:
        leaves, structure = flatten(present(run(b.leaf(i))))
        likes = [_like(leaf) for leaf in leaves]
    finally:
        inside = {i} | {v for e in walk(region.block) for v in e.outs}
        inside |= {p for e in walk(region.block) for block in e.blocks for p in block.params}
        region.drop()
    b.pos = pos

    def outside(atom: Atom) -> Any:
        """The same number, computed here."""
        if isinstance(atom, Lit):
            return atom.value
        if atom not in inside:
            return b.leaf(atom)
        source = b.sources.get(atom)
        if source is not None and source.op == "dim":
            array = source.ins[0]
            if array not in inside:
                return b.leaf(b.emit("dim", array, **source.params))
            known = array.shape[source.params["axis"]] if array.shape else atom
            return outside(known) if known is not atom else of_the_first(atom)
        elif source is not None and source.op in TABLE and TABLE[source.op].elementwise:
            if atom.type.dtype[0] in "iub" and not isinstance(atom.type, Array):  # type: ignore[union-attr]
                args = [b.atom(outside(a)) for a in source.ins]
                return b.leaf(b.emit(source.op, *args, **source.params))
        raise JitadError(
            "the shape of a result depends on the values of the element", pos,
            "A batch has results of one shape: give all of them the largest, or use a loop.",
        )  # fmt: skip

    def of_the_first(atom: Atom) -> Any:
        """An extent that only the recorded code tells: run once more, for element 0."""
        some = count >= 1 if isinstance(count, int) else bind("ge", count, 1)
        require(some, JitadValueError, "batch: there are no elements")
        block = Block([i], region.block.equations, [atom])
        return b.leaf(copy_block(b, block, {i: lit(0, _INDEX)}, effects=False)[0])

    def extent(n: Any) -> Any:
        return outside(n.atom) if isinstance(n, Leaf) else n

    return structure, leaves, [(tuple(map(extent, shape)), dtype) for shape, dtype in likes]


def _like(leaf: Any) -> tuple[Any, str]:
    """Shape and dtype; of what is no number neither."""
    if is_array(leaf) or isinstance(leaf, (Leaf, bool, int, float, np.generic)):
        return tuple(shape_of(leaf)), np.dtype(dtype_of(leaf)).str[1:]
    return (), ""
