"""How do cotangents flow back over the tape of one application?

In one pass from the newest cell to the oldest, so that a cell's cotangent is complete when its
rule runs, once.  Cotangents may themselves carry older tags.

Cotangents of arrays are *owned* where the sweep made their buffer and nothing else refers to it;
then contributions are added in place, and those to a part (`Into`) cost O(part).  The cotangent of
a version made by a store is handed on to the version before it the same way: n element reads or
writes cost O(n) in all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.primitives import TABLE, Into
from jitad.primitives.array import EXTREMES, STORES, hands_on, hits
from jitad.runtime.masks import among, replaces, taken
from jitad.runtime.reverse import Cell
from jitad.runtime.rules import factors_of, operations
from jitad.runtime.tagged import fit, zeros_like
from jitad.runtime.untouched import start, touched, unsigned, watched
from jitad.values.number import Operations, bind, o, update
from jitad.where import caller


class _Updates(Operations):
    """Operations for transposes of updates: an update of the owned cotangent is in place."""

    def __init__(self) -> None:
        super().__init__()
        self.mine: Any = None  # the cotangent at hand, if its buffer may be reused
        self.result: Any = None  # of the last update: a buffer that nobody else has

    def __getattr__(self, name: str) -> Any:
        row = TABLE.get(name)
        if row is None or row.update is None:
            return super().__getattr__(name)

        def operation(a: Any, *args: Any, **params: Any) -> Any:
            how = update if a is self.mine and a is not None else bind
            self.result = how(name, a, *args, **params)
            return self.result

        setattr(self, name, operation)
        return operation


class Adjoints:
    """The cotangents of the cells of a tape while it is swept."""

    def __init__(self, tape: list[Cell]) -> None:
        self.tape = tape
        self.values: list[Any] = [None] * len(tape)
        self.owned = bytearray(len(tape))
        self.updates = _Updates()
        # where a cotangent is known to be zero because `where` took the other branch: there the
        # factors of rules may be infinite or nan
        self.masks: dict[int, Any] = {}
        self.watched = watched(tape)

    def of(self, cell: Cell) -> tuple[Any, bool]:
        """A cell's cotangent (None for zero), and whether its buffer is ours alone."""
        return self.values[cell.id], bool(self.owned[cell.id])

    def add(self, i: int, part: Any, owned: bool = False, handed: bool = False) -> None:
        """A contribution to cell number i; `handed` on from a watched cell."""
        if i in self.watched and not handed:
            part = unsigned(part)
            owned = type(part) is np.ndarray
        old = self.values[i]
        if old is None:
            self.values[i] = part
            self.owned[i] = owned
        elif self.owned[i] and type(old) is np.ndarray and type(part) is np.ndarray:
            old += part
        else:
            self.values[i] = total = old + part
            # Sums of tagged arrays may share the buffers of a tangent.
            self.owned[i] = type(total) is np.ndarray

    def add_into(self, cell: Cell, part: Into, handed: bool = False) -> None:
        """A contribution to a part of a cell's cotangent."""
        i = cell.id
        if i in self.watched and not handed:
            part = unsigned(part)
        old = self.values[i]
        if old is None:
            old = (start if i in self.watched else zeros_like)(cell.primal)
            self.owned[i] = True
        how = update if self.owned[i] else bind
        self.values[i] = how(part.op, old, *part.args, **part.params)
        self.owned[i] = True

    def sweep(self) -> None:
        """Run every rule whose cell has a cotangent; what is left is that of the inputs."""
        values = self.values
        for i in range(len(self.tape) - 1, -1, -1):
            ct = values[i]
            if ct is None:
                continue
            cell = self.tape[i]
            if cell.id != i:
                raise JitadError("a derivative was computed by several threads at once", caller(),
                                 "Let each thread call the derivative itself.")  # fmt: skip
            row = cell.row
            if row is None:
                continue
            values[i] = None
            if row.partials is None:
                self._transpose(cell, ct)
                continue
            tag = cell.tag
            args = cell.args
            primals = [a.primal if type(a) is Cell and a.tag == tag else a for a in args]
            active = [type(a) is Cell and a.tag == tag for a in args]
            mask = self.masks.pop(i, None) if self.masks else None
            if i in self.watched:
                mask = among(touched(ct), mask)
            factors = factors_of(row, primals, cell.primal, cell.params, active)
            for a, factor, wanted in zip(args, factors, active, strict=True):
                if factor is None or not wanted:
                    continue
                within = among(taken(factor), mask) if row.chooses else mask
                if within is False:
                    continue
                part = ct if type(factor) is float and factor == 1.0 else factor * ct
                j = a.id
                handed = within is not None and j in self.watched
                if within is not None:
                    chosen = (unsigned(part), -0.0) if handed else (part, 0.0)
                    part = bind("where", within, *chosen)
                if within is not None or self.masks:
                    self._mask(a, within)
                if type(part) is float and j not in self.watched:
                    old = values[j]
                    values[j] = part if old is None else old + part
                elif type(part) is np.ndarray is type(a.primal) and part.ndim == a.primal.ndim:
                    self.add(j, part, False, handed)
                else:
                    self.add(j, fit(part, a.primal), False, handed)

    def _mask(self, cell: Cell, mask: Any) -> None:
        """A contribution that is zero outside the mask (None: nowhere) is about to be added."""
        i = cell.id
        if mask is not None and np.shape(mask) not in ((), getattr(cell.primal, "shape", ())):
            mask = None
        old = self.masks.pop(i, None)
        if self.values[i] is None:
            old = False
        if mask is not None and old is not None:
            self.masks[i] = np.logical_or(mask, old)

    def _transpose(self, cell: Cell, ct: Any) -> None:
        """The rule of a primitive that is not elementwise."""
        row, tag, owned = cell.row, cell.tag, bool(self.owned[cell.id])
        assert row is not None
        if row.vjp is None:
            raise JitadError(f"{row.name} has no reverse rule", caller(), "Use forward mode.")
        primals = [a.primal if type(a) is Cell and a.tag == tag else a for a in cell.args]
        active = tuple([type(a) is Cell and a.tag == tag for a in cell.args])
        reused = None
        if row.update is None:
            parts = row.vjp(operations(active), ct, *primals, cell.primal, **cell.params)
        else:
            rules = self.updates
            rules.mine, rules.result = ct if owned else None, None
            parts = row.vjp(rules, ct, *primals, cell.primal, **cell.params)
            reused = rules.result
        passed, told = row.update is not None, cell.id in self.watched
        if told and row.name in STORES and parts[0] is not None:
            how = update if parts[0] is reused else bind
            reused = how(row.name, parts[0], -0.0, *primals[2:], **cell.params)
            parts = (reused, *parts[1:])
        mask = self.masks.pop(cell.id, None) if self.masks else None
        if replaces(row, cell.primal, primals[2:], cell.params):
            parts = (None, *parts[1:])
        branches = (None, None, None)
        if row.name == "where":
            c = primals[0]
            within = True if mask is None else mask
            branches = (None, np.logical_and(c, within), np.logical_and(np.logical_not(c), within))
        for k, (a, part, wanted) in enumerate(zip(cell.args, parts, active, strict=True)):
            if part is None or not wanted:
                continue
            if row.name == "where" or self.masks:
                self._mask(a, branches[k] if row.name == "where" else None)
            handed = told and hands_on(row, k)
            if row.name in EXTREMES and a.id in self.watched:
                there, handed = hits(o, primals[0], cell.primal, **cell.params), True
                part = bind("where", there, unsigned(part), -0.0)
            if type(part) is Into:
                self.add_into(a, part, handed)
            elif passed and (part is reused or (part is ct and owned)):
                self.add(a.id, part, True, handed)
            elif row.elementwise:  # a choice: the branch not taken gets a symbolic zero
                if type(part) is not float or part != 0.0:
                    if row.name == "where" and a.id in self.watched:
                        chosen = (unsigned(ct), -0.0) if k == 1 else (-0.0, unsigned(ct))
                        part, handed = bind("where", primals[0], *chosen), True
                    self.add(a.id, fit(part, a.primal), False, handed)
            else:
                self.add(a.id, part, False, handed)
