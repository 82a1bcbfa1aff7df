"""What is a number in reverse mode, and what does it remember?

`Cell(tag, id, primal, row, args, params)`: the primitive that made it with its operands, among
them the cells it depends on.  Its pullback is the row's rule on the operands' primals, run by
`sweep`.  A cell's id is its place on the tape of its application: creation order.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives import Primitive
from jitad.runtime.rules import without_rule
from jitad.runtime.tagged import Tagged, inside, is_floating
from jitad.runtime.tags import LIVE, alive
from jitad.values.number import apply, update

Params = dict[str, Any]
NO_PARAMS: Params = {}  # never written


class Cell(Tagged):
    """A primal with the equation that made it; inputs have none."""

    __slots__ = ("args", "id", "params", "primal", "row", "tag")

    def __init__(
        self,
        tag: int,
        id: int,
        primal: Any,
        row: Primitive | None = None,
        args: tuple[Any, ...] = (),
        params: Params = NO_PARAMS,
    ) -> None:
        self.tag = tag
        self.id = id
        self.primal = primal
        self.row = row
        self.args = args
        self.params = params

    def inside(self) -> str:
        made = "an input" if self.row is None else f"by {self.row.name}"
        return f"Cell(tag={self.tag}, id={self.id}, primal={inside(self.primal)}, {made})"

    def _apply(self, row: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        tag = self.tag
        tape = LIVE.get(tag)
        if tape is None:
            return apply(row, tuple(map(alive, args)), params)
        y = apply(
            row,
            tuple([a.primal if type(a) is Cell and a.tag == tag else a for a in args]),
            params,
        )
        if not row.differentiable:
            return without_rule(row, y)
        if row.flat:  # plain, as in forward mode: it may be a key of a dict
            return y
        if (params or row.update is not None) and not is_floating(y):
            return y  # a cast to int, a store into an array of ints
        cell = Cell(tag, len(tape), y, row, args, params)
        tape.append(cell)
        return cell

    def _store_in_place(self, row: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """As `_apply`, but the new version takes over the old one's buffer.

        The old cell's primal is wrong from then on.  No rule reads it: only loads, slices (which
        copy) and updates have it as operand, and their rules need its extents only.
        """
        tag = self.tag
        tape = LIVE.get(tag)
        if tape is None:
            return update(row.name, *map(alive, args), **params)
        y = update(
            row.name,
            *[a.primal if type(a) is Cell and a.tag == tag else a for a in args],
            **params,
        )
        if not is_floating(y):
            return y
        cell = Cell(tag, len(tape), y, row, args, params)
        tape.append(cell)
        return cell


def input_cell(tag: int, tape: list[Any], primal: Any) -> Cell:
    """A new independent variable."""
    cell = Cell(tag, len(tape), primal)
    tape.append(cell)
    return cell
