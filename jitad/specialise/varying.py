"""What of a loop's body differs from iteration to iteration, in the loops and branches in it too?

A value varies that is computed from the loop's index, from what it carries, or by an equation that
keeps an order (prints, stacks, calls).  The indices of inner loops don't: they run through the same
numbers each time.  What an inner loop carries varies if it starts from, or is changed by, what
varies.  An array that such a loop carries on its way is at hand only in the loop: where varying
code reads it, it counts as varying itself, but for single elements and rows that are read at
places which don't vary.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.tape.ir import CALLS, Atom, Block, Equation, Var, free_vars, walk
from jitad.tape.types import Array, Stack

_STORES = ("store", "store_slice", "accum", "accum_slice")


class Varying:
    """The varying values of a `for`; `whole`: inner equations, by id, that are said to vary."""

    def __init__(self, loop: Equation, whole: set[int]) -> None:
        self.whole = whole
        self.family: dict[Atom, Var] = {}  # versions of an array -> what carries it in
        body = loop.blocks[0]
        self._families(body)
        self.values: set[Atom] = set(body.params)
        before = -1
        while before != len(self.values):
            before = len(self.values)
            self._block(body)

    def of(self, e: Equation) -> bool:
        """Does anything of this equation vary?"""
        return self._any(e.outs) or any(
            self._any(b.params) or self._any(b.results) or any(map(self.of, b.equations))
            for b in e.blocks
        ) or (not e.blocks and _ordered(e))  # fmt: skip

    def wholly(self, e: Equation) -> bool:
        """Is it one that is not taken apart?"""
        return (
            id(e) in self.whole or e.op not in ("for", "if")
            or self._any(e.ins[: 3 if e.op == "for" else 1])
        )  # fmt: skip

    def _any(self, atoms: object) -> bool:
        return not self.values.isdisjoint(atoms)  # type: ignore[arg-type]

    # -- arrays that are on their way -------------------------------------------------------------

    def _families(self, block: Block) -> None:
        of = self.family
        for e in block.equations:
            if e.op in ("for", "while"):
                of.update((p, p) for b in e.blocks for p in b.params if isinstance(p.type, Array))
            for b in e.blocks:
                self._families(b)
            if e.op in _STORES and e.ins[0] in of:
                of[e.outs[0]] = of[e.ins[0]]
            elif e.op in ("for", "while", "if"):
                for k, v in enumerate(e.outs):
                    carried = {"for": e.ins[3:], "while": e.ins}.get(e.op)
                    before = [carried[k]] if carried else [b.results[k] for b in e.blocks]
                    of.update((v, of[a]) for a in before if a in of)

    def _read(self, atoms: tuple[Atom, ...] | list[Var]) -> None:
        """Varying code has these: what is on its way has to go the same way."""
        self.values.update(self.family[a] for a in atoms if a in self.family)

    # -- one walk -----------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for e in block.equations:
            if e.op == "for" and not self.wholly(e):
                self._loop(e)
            elif e.op == "if" and not self.wholly(e):
                for b in e.blocks:
                    self._block(b)
                self._ends(e, [b.results for b in e.blocks])
            elif id(e) in self.whole or _ordered(e) or self._any((*e.ins, *free_vars(*e.blocks))):
                self._everything(e)

    def _loop(self, e: Equation) -> None:
        body = e.blocks[0]
        starts, params = list(e.ins[3:]), body.params[1:]
        for p, start in zip(params, starts, strict=True):
            if start in self.values:
                self.values.add(p)
        self._block(body)
        self._ends(e, [body.results, params, starts])
        for p, v in zip(params, e.outs, strict=True):
            if v in self.values:
                self.values.add(p)

    def _ends(self, e: Equation, sources: list) -> None:
        for k, v in enumerate(e.outs):
            ends = [s[k] for s in sources]
            if v in self.values or self._any(ends):
                self.values.add(v)
                self._read([a for a in ends if a not in self.values])

    def _everything(self, e: Equation) -> None:
        self.values.update(e.outs)
        for b in e.blocks:
            self.values.update(b.params)
            for x in walk(b):
                self.values.update(x.outs)
                self.values.update(p for inner in x.blocks for p in inner.params)
        self._read([*e.ins, *free_vars(*e.blocks)])  # type: ignore[list-item]


def _ordered(e: Equation) -> bool:
    """Does it keep its order, or may not be run at another place?"""
    if e.blocks:
        return any(map(_ordered, (x for b in e.blocks for x in b.equations)))
    return (
        e.op in CALLS or TABLE[e.op].effect
        or any(isinstance(a.type, Stack) for a in (*e.ins, *e.outs))
    )  # fmt: skip
