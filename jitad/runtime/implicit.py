"""How is the solution of an equation differentiated by the eager engine?

As on the tape (`sweeps.implicit`): x, which was found without tags, is the fixed point of f, and f
closes over numbers with live tags.  One tag after the other, the newest last, x gets the tangent
or the cell that the implicit function theorem says.  A tag that is not looked at is put to sleep:
numbers read as their primals, as if its application had returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadUnsolvedError
from jitad.primitives import Primitive
from jitad.primitives.table import same_as_first
from jitad.runtime import leaves
from jitad.runtime.forward import Bundle
from jitad.runtime.operators import jvp, vjp
from jitad.runtime.reverse import Cell
from jitad.runtime.tagged import Tagged, dtype_of, shape_of
from jitad.runtime.tags import LIVE, alive, asleep
from jitad.values.array import ArrayHandle
from jitad.values.number import bind
from jitad.where import caller

Leaves = list[Any]
Map = Callable[[Leaves], Leaves]

UNSOLVED = "the derivative of a solution did not converge"
CONTRACT = "The map must contract near its fixed point: |f'| < 1 in some norm."


def plain(leaf: Any) -> Any:
    """The innermost primal of a leaf."""
    value = leaves.content(leaf)
    if isinstance(value, Tagged):
        value = value.base
    return _leaf(value)


def _leaf(content: Any) -> Any:
    return ArrayHandle(content) if shape_of(content) else content


def implicit(f: Map, x: Leaves, tol: float, most: int) -> Leaves:
    """The plain x as the fixed point of f, with a derivative for every live tag f depends on."""
    tag, kind = _newest(f(x))
    if not tag:
        return x
    with asleep(tag):
        at = implicit(f, x, tol, most)
    ends = [_content(leaf) for leaf in f(at)]
    how = _forward if kind is Bundle else _reverse
    return how(tag, _without(f, tag), at, ends, tol, most)


def _content(leaf: Any) -> Any:
    return alive(leaves.content(leaf))


def _newest(ends: Leaves) -> tuple[int, type]:
    found = [c for c in map(_content, ends) if isinstance(c, Tagged)]
    top = max(found, key=lambda c: c.tag, default=None)
    return (0, float) if top is None else (top.tag, type(top))


def _without(f: Map, tag: int) -> Map:
    """f, with this tag asleep."""

    def below(x: Leaves) -> Leaves:
        with asleep(tag):
            return [_leaf(_content(leaf)) for leaf in f(x)]

    return below


def _forward(
    tag: int, f: Map, at: Leaves, ends: Leaves, tol: float, most: int
) -> Leaves:
    def own(c: Any) -> Any:
        return _leaf(c.tangent) if isinstance(c, Bundle) and c.tag == tag else 0.0

    moved = [own(c) for c in ends]

    def step(d: Leaves) -> Leaves:
        along = jvp(f, (at,), (d,))[1]
        return [m + a for m, a in zip(moved, along, strict=True)]

    solution = _linear(step, [_zero(leaf) for leaf in at], tol, most)
    return [
        _leaf(Bundle(tag, leaves.content(p), leaves.content(t)))
        for p, t in zip(at, solution, strict=True)
    ]


def _reverse(
    tag: int, f: Map, at: Leaves, ends: Leaves, tol: float, most: int
) -> Leaves:
    with asleep(tag):
        _, pullback = vjp(f, at)

    def adjoint(ct: Any) -> Any:
        given = _unpacked(ct, at)

        def step(sensitivity: Leaves) -> Leaves:
            (back,) = pullback(sensitivity)
            return [g + b for g, b in zip(given, back, strict=True)]

        return _packed(_linear(step, given, tol, most))

    # One cell for all leaves: their adjoints converge together.
    tape = LIVE[tag]
    towards = _packed(list(map(_leaf, ends)))
    cell = Cell(tag, len(tape), _packed(at), _SOLUTION, (towards,), {"adjoint": adjoint})
    tape.append(cell)
    return _unpacked(cell, at)


# The value is known already; what is left is the way back.
_SOLUTION = Primitive(
    "solution", lambda ends, adjoint: ends, same_as_first,
    vjp=lambda o, ct, ends, y, adjoint: (adjoint(ct),),
)  # fmt: skip


def _linear(step: Map, start: Leaves, tol: float, most: int) -> Leaves:
    """The fixed point of a linear map: first without tags, then with them."""
    with asleep():
        now = list(map(plain, start))
        for _ in range(most):
            before, now = now, list(map(plain, step(now)))
            gap = sum(np.sum(np.abs(_content(a - b))) for a, b in zip(now, before, strict=True))
            size = sum(np.sum(np.abs(_content(a))) for a in now)
            if not gap > tol * size:  # converged, or no numbers
                break
    if not (gap <= tol * size and size < math.inf):
        raise JitadUnsolvedError(UNSOLVED, caller(), CONTRACT)
    return implicit(step, now, tol, most)


def _zero(leaf: Any) -> Any:
    content = leaves.content(leaf)
    return _leaf(np.zeros(shape_of(content), dtype_of(content))) if shape_of(content) else 0.0


def _packed(xs: Leaves) -> Any:
    """All leaves in one vector (a content)."""
    parts = []
    for leaf in xs:
        c = _content(leaf)
        if dtype_of(c) != np.float64:
            c = bind("cast", c, dtype="f8")
        parts.append(bind("reshape", c, _size(c)) if shape_of(c) else bind("pack", c))
    return bind("concatenate", *parts, sum(map(_size, parts)), axis=0)


def _unpacked(vector: Any, like: Leaves) -> Leaves:
    out = []
    at = 0
    for leaf in like:
        shape, count = shape_of(leaf), _size(leaf)
        if shape:
            c = bind("reshape", bind("slice", vector, at, 1, count, kinds="r"), *shape)
        else:
            c = bind("load", vector, at)
        if dtype_of(leaf) != np.float64:
            c = bind("cast", c, dtype=dtype_of(leaf).str[1:])
        out.append(_leaf(float(c) if type(c) is np.float64 else c))
        at += count
    return out


def _size(leaf: Any) -> int:
    return math.prod(shape_of(leaf))
