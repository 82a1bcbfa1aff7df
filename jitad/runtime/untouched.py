"""Which elements of a cotangent has nothing been added to?  The eager mode of `sweeps.untouched`.

A cotangent of a *watched* cell starts from -0.0, and 0.0 is added to all that is added to it: then
-0.0 tells what nothing was added to, where a rule with an infinite factor would make nan of zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives import Into
from jitad.primitives.array import EXTREMES, JOINS, MOVES, PARTS, STORES
from jitad.runtime.reverse import Cell
from jitad.runtime.tagged import Tagged, shape_of, zeros_like
from jitad.values.number import bind


def watched(tape: list[Cell]) -> set[int]:
    """The arrays that a rule with an infinite factor has made, at once or element by element, and
    of which parts alone are read, or overwritten: the numbers of their cells."""
    made = {c.id for c in tape if type(c.primal) is not float and _steep(c)}
    found: set[int] = set()
    if not made:
        return found
    for c in tape:
        name = c.row.name if c.row is not None else ""
        if name in JOINS or (c.row is not None and c.row.elementwise):
            known = any(a.id in made for a in _cells(c))
        else:
            known = (name in MOVES or _updates(c)) and _first(c) in made
        if known and shape_of(c.primal):
            made.add(c.id)
    for c in reversed(tape):
        if c.row is not None and c.row.name in (*PARTS, *STORES, *EXTREMES):
            found.update({_first(c)} & made)
        if c.id in found:
            found.update(a.id for a in _cells(c) if a.id in made)
    for c in tape:
        if _updates(c) and _first(c) in found:
            found.add(c.id)
    return found


def _steep(c: Cell) -> bool:
    row = c.row
    if row is None or not row.elementwise or row.tame or not isinstance(c.base, np.ndarray):
        return False
    if row.name == "div":
        return bool(shape_of(c.args[1]))
    return not (row.name == "pow" and isinstance(c.args[1], (int, float)) and c.args[1] >= 1)


def _cells(c: Cell) -> list[Cell]:
    return [a for a in c.args if type(a) is Cell and a.tag == c.tag]


def _first(c: Cell) -> int:
    a = c.args[0]
    return a.id if type(a) is Cell and a.tag == c.tag else -1


def _updates(c: Cell) -> bool:
    return c.row is not None and c.row.update is not None


def start(primal: Any) -> Any:
    """What the cotangent of a watched cell starts from."""
    return -zeros_like(primal)


def unsigned(part: Any) -> Any:
    """A contribution to the cotangent of a watched cell: no element of it is -0.0."""
    if isinstance(part, Into):
        return Into(part.op, (unsigned(part.args[0]), *part.args[1:]), part.params)
    return part + 0.0 if isinstance(part, (float, np.ndarray)) else bind("unsigned", part)


def touched(ct: Any) -> Any:
    """Where something was added to the cotangent of a watched cell; None: everywhere."""
    while isinstance(ct, Tagged):
        ct = ct.primal
    if not isinstance(ct, np.ndarray):
        return None
    mask = (ct != 0.0) | ~np.signbit(ct)
    return None if mask.all() else mask
