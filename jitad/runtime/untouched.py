"""Which elements of a cotangent has nothing been added to?  The eager mode of `sweeps.untouched`.

A cotangent of a *watched* cell starts from -0.0, and 0.0 is added to all that is added to it: then
-0.0 tells what nothing was added to, where a rule with an infinite factor would make nan of zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives import Into
from jitad.primitives.array import EXTREMES, JOINS, MOVES, PARTS, STORES
from jitad.primitives.elementwise import UPRIGHT
from jitad.runtime.reverse import Cell
from jitad.runtime.tagged import Tagged, shape_of, zeros_like
from jitad.values.number import bind

_READ = (*PARTS, *STORES, *EXTREMES, "where")


def watched(tape: list[Cell]) -> set[int]:
    """The arrays that a rule with an infinite factor has made, at once or element by element, and
    of which parts alone are read, or overwritten, with what they are made of: their cells' numbers.
    """
    rows = [c for c in tape if c.row is not None]
    made = {c.id for c in rows if c.row.elementwise and _steep(c)}  # type: ignore[union-attr]
    found: set[int] = set()
    if not made or not any(c.row.name in _READ for c in rows):  # type: ignore[union-attr]
        return found
    for c in rows:
        if any(a.id in made for a in _of_one_kind(c)):
            made.add(c.id)
    for c in rows:
        if c.row.name == "where":  # type: ignore[union-attr]
            found.update(a.id for a in _cells(c) if a.id in made and shape_of(a.primal))
        elif c.row.name in _READ and _first(c) in made:  # type: ignore[union-attr]
            found.add(_first(c))
        if _updates(c) and _first(c) in found:
            found.add(c.id)
    for c in reversed(rows):
        if c.id in found:
            found.update(a.id for a in _cells(c) if a.id in made)
    return found


def _of_one_kind(c: Cell) -> list[Cell]:
    """The operands of which nothing was added to what nothing of the result was added to."""
    row, cells = c.row, _cells(c)
    assert row is not None
    if row.name in JOINS or row.name in STORES:
        return cells
    if row.elementwise:
        plain = not shape_of(c.primal)
        return cells if plain else [a for a in cells if shape_of(a.primal)]
    return [a for a in cells if a is c.args[0]] if row.name in MOVES or _updates(c) else []


def _steep(c: Cell) -> bool:
    row = c.row
    if row is None or row.tame:
        return False
    if row.name == "pow" and isinstance(by := c.args[1], (int, float)) and by >= 1 and by % 1 == 0:
        return False  # as `primitives.table.tame` has it
    if not shape_of(c.primal):
        return row.name in UPRIGHT
    return isinstance(c.base, np.ndarray) and (row.name != "div" or bool(shape_of(c.args[1])))


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
    if not isinstance(ct, (float, np.floating, np.ndarray)):
        return None
    mask = (ct != 0.0) | ~np.signbit(ct)
    if not isinstance(ct, np.ndarray):
        return None if mask else False
    return None if mask.all() else mask
