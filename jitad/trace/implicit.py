"""What does a solution become inside a traced function?  An `implicit` equation.

It takes the numbers that the traced iteration ended with, and a block: the map whose fixed point
they are, traced once more with parameters of its own (see `sweeps.implicit`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.errors import JitadError, JitadTypeError, message
from jitad.tape.build import Leaf
from jitad.tape.ir import Atom, Var
from jitad.tape.types import Array
from jitad.trace.context import Region
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.number import bind

Leaves = list[Any]


def implicit(
    f: Callable[[Leaves], Leaves], x: Leaves, tol: Any, most: Any
) -> Leaves:
    """x, as the fixed point of f; leaves are traced numbers, floats and arrays."""
    trace = current()
    assert trace is not None
    b = trace.builder
    pos = b.pos

    def atom(leaf: Any) -> Atom:
        return b.atom(leaf.content if isinstance(leaf, ArrayHandle) else leaf)

    def leaf(a: Atom) -> Any:
        return ArrayHandle(b.leaf(a)) if isinstance(a.type, Array) else b.leaf(a)

    def like(a: Atom) -> Var:
        return Var(a.type, a.shape)

    start = list(map(atom, x))
    params = list(map(like, start))
    region = Region(trace, params)
    region.open()
    try:
        results = list(map(atom, f(list(map(leaf, params)))))
        for k, (r, s) in enumerate(zip(results, start, strict=True)):
            if r.type != s.type and r.type.dtype == s.type.dtype:  # type: ignore[union-attr]
                results[k] = b.emit("cast", r, dtype=s.type.dtype, py=s.type.py)  # type: ignore[union-attr]
    except BaseException:
        region.drop()
        raise
    region.close()
    region.block.results = results
    b.pos = pos
    for r, s in zip(results, start, strict=True):
        if r.type != s.type or len(r.shape) != len(s.shape):
            raise JitadTypeError(
                f"a state of {s.type} became {r.type}", pos, "The map must keep types and axes."
            )
    ins = (*start, b.atom(tol), b.atom(most))
    outs = b.structured("implicit", ins, tuple(map(like, start)), (region.block,))
    return list(map(leaf, outs))


def constant(leaf: Any) -> Any:
    """The same value, which no derivative is taken by."""
    return ArrayHandle(bind("stop", leaf.content)) if isinstance(leaf, ArrayHandle) else (
        bind("stop", leaf) if isinstance(leaf, Leaf) else leaf
    )


def demand(ok: Any, kind: type[JitadError], what: str, remedy: str) -> None:
    """Raise at run time, where the trace stands, unless the traced `ok` holds."""
    trace = current()
    assert trace is not None
    b = trace.builder
    if ok is True:
        return
    text = message(what, b.pos, remedy)
    b.emit("check", b.atom(ok), exception=kind, message=text)
