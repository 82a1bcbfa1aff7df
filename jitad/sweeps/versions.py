"""Which versions of overwritten arrays does the reverse code of one block have, and where?

Going backwards, a block's reverse meets the versions of a restored array from the last to the
first.  `current` are those that are there at the place being written.  A structured equation that
touches such an array divides the reverse block into *regions*: stores between two of them are
undone at once where a region begins, so that what is read from the array must be read there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Equation, Var

READ = {"store": "load", "accum": "load", "store_slice": "slice", "accum_slice": "slice"}
_WRITE = {"load": "store", "slice": "store_slice"}


@dataclass
class Versions:
    """The restored versions of arrays in one scope, by their forward variables."""

    current: dict[Var, Atom] = field(default_factory=dict)
    ever: dict[Var, Atom] = field(default_factory=dict)
    region_of: dict[Var, int] = field(default_factory=dict)
    region: int = 0
    asked: dict[Var, int] = field(default_factory=dict)  # region of a value's first request
    undone: list[tuple[Var, int, Equation]] = field(default_factory=list)  # (version, region, undo)
    logs: dict[int, Equation] = field(default_factory=dict)  # to go in front of stores, by id
    settled: set[Atom] = field(default_factory=set)  # versions read from the last: none is undone
    logged: set[Var] = field(default_factory=set)  # overwritten values: they can only be recorded

    def begin(self, v: Var, restored: Atom) -> None:
        """The reverse code starts with this version."""
        self.current[v] = self.ever[v] = restored
        self.region_of[v] = self.region

    def settle(self, versions: list[Atom], last: Atom) -> None:
        """What is read of any of these is still the same in the last one."""
        self.settled.update(versions)
        for v in versions:
            self.begin(v, last)  # type: ignore[arg-type]

    def undone_of(self, outs: tuple[Var, ...]) -> list[Var]:
        """Those of an equation's results that the reverse code has to undo."""
        return [v for v in outs if v in self.current and v not in self.settled]

    def step(self, v: Var, previous: Var, restored: Atom, region: int) -> None:
        """Version v has become the one before it."""
        del self.current[v]
        self.current[previous] = self.ever[previous] = restored
        self.region_of[previous] = region

    def readable(self, a: Atom, region: int) -> bool:
        """May code of this region (or what it needs) read the version?"""
        return isinstance(a, Var) and a in self.ever and self.region_of[a] <= region

    def overwritten(self, store: Equation, known: dict[tuple, Var]) -> Var:
        """The forward value that a store overwrites, as the block loads it or will load it."""
        op = READ[store.op]
        ins = (store.ins[0], *store.ins[2:])
        v = known.get((op, ins, *store.params.values()))
        if v is None:
            ((t, shape),) = TABLE[op].infer(*ins, **store.params)
            v = Var(t, shape, "")
            self.logs[id(store)] = Equation(op, ins, (v,), store.params, (), store.pos)
        self.logged.add(v)
        return v


def undo(store: Equation) -> str:
    """The operation that puts an overwritten value back."""
    return _WRITE[READ[store.op]]


def reads(equations: list[Equation]) -> dict[tuple, Var]:
    """Loads and slices of a block by what they read."""
    return {
        (e.op, e.ins, *e.params.values()): e.outs[0]
        for e in equations
        if e.op in _WRITE
    }
