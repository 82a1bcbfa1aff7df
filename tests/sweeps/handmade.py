"""How do tests write a tape without a tracer?

Straight-line code is Python's operators and `o.exp(x)` on leaves; these functions add the
structured equations.  What they build is what tracing would record.  Without a builder (None)
they are Python's own loops and branches, so that a program can be run on plain numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Block, Tape, Var
from jitad.tape.types import INT, Array, Scalar, Type
from jitad.tape.verify import verify

REAL = Scalar("f8")
VECTOR = Array("f8", 1)
MATRIX = Array("f8", 2)

Values = Sequence[Any]
Body = Callable[..., Values]


def tape_of(types: Sequence[tuple[str, Type]], function: Callable[..., Any]) -> Block:
    """The block of `function(builder, *inputs)`, which gives a value or a tuple of values."""
    b = Builder()
    inputs = [b.leaf(b.input(t, name)) for name, t in types]
    out = function(b, *inputs)
    block = b.blocks[0]
    block.results = _atoms(b, out if isinstance(out, tuple) else (out,))
    return verify(Tape("handmade", block)).body


def for_(
    b: Builder | None, start: Any, step: Any, count: Any, init: Values, body: Body
) -> list[Any]:
    """carried = init; count times: carried = body(start + k*step, *carried)"""
    if b is None:
        for i in range(start, start + count * step, step) if count > 0 else ():
            init = body(i, *init)
        return list(init)
    first = _atoms(b, init)
    index, params = Var(INT, (), "i"), _twins(first)
    with b.block(index, *params) as block:
        block.results = _atoms(b, body(b.leaf(index), *map(b.leaf, params)))
    ins = (*_atoms(b, (start, step, count)), *first)
    return [b.leaf(v) for v in b.structured("for", ins, tuple(_twins(first)), (block,))]


def while_(b: Builder | None, init: Values, cond: Callable[..., Any], body: Body) -> list[Any]:
    """carried = init; while cond(*carried): carried = body(*carried)"""
    if b is None:
        while cond(*init):
            init = body(*init)
        return list(init)
    first = _atoms(b, init)
    tested, params = _twins(first), _twins(first)
    with b.block(*tested) as test:
        test.results = _atoms(b, (cond(*map(b.leaf, tested)),))
    with b.block(*params) as block:
        block.results = _atoms(b, body(*map(b.leaf, params)))
    outs = b.structured("while", tuple(first), tuple(_twins(first)), (test, block))
    return [b.leaf(v) for v in outs]


def if_(
    b: Builder | None, predicate: Any, then: Callable[[], Values], other: Callable[[], Values]
) -> list[Any]:
    """then() if predicate else other()"""
    if b is None:
        return list(then() if predicate else other())
    blocks = []
    for branch in (then, other):
        with b.block() as block:
            block.results = _atoms(b, branch())
        blocks.append(block)
    outs = tuple(Var(a.type) for a in blocks[0].results)
    return [b.leaf(v) for v in b.structured("if", (b.atom(predicate),), outs, tuple(blocks))]


def _atoms(b: Builder, values: Values) -> list[Atom]:
    return [b.atom(v) for v in values]


def _twins(atoms: Sequence[Atom]) -> list[Var]:
    return [Var(a.type, a.shape) for a in atoms]


# -- derivative operators -------------------------------------------------------------------------

_tags = itertools.count(1)


def vjp_(b: Builder, function: Body, args: Values, seeds: Values) -> tuple[list[Any], list[Any]]:
    """(results of function(*args), adjoints of the args), one seed a result."""
    return _operator(b, "vjp", function, args, seeds)


def jvp_(b: Builder, function: Body, args: Values, along: Values) -> tuple[list[Any], list[Any]]:
    """(results of function(*args), their tangents), one tangent an argument."""
    return _operator(b, "jvp", function, args, along)


def _operator(
    b: Builder, op: str, function: Body, args: Values, given: Values
) -> tuple[list[Any], list[Any]]:
    primals = _atoms(b, args)
    inner = _twins(primals)
    with b.block(*inner) as block:
        block.results = _atoms(b, function(*map(b.leaf, inner)))
    results = [Var(a.type) for a in block.results]
    derivatives = _twins(primals) if op == "vjp" else [Var(a.type) for a in block.results]
    params = {"tag": next(_tags), "active": tuple(range(len(primals)))}
    if op == "vjp":
        params["seeded"] = tuple(range(len(results)))
    ins = (*primals, *_atoms(b, given))
    outs = b.structured(op, ins, (*results, *derivatives), (block,), params)
    leaves = [b.leaf(v) for v in outs]
    return leaves[: len(results)], leaves[len(results) :]
