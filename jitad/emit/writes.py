"""Where in a block is the memory of arrays written, unless they are copied before?

Versions of an array and views of them are one *family*: what is written in place in one of them,
between two uses of another, would have to be written to a copy of it all.
"""

from __future__ import annotations

from collections.abc import Iterable

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Equation, Var, is_array
from jitad.tape.lent import STORES

VIEWS = ("slice", "transpose", "broadcast")


class Writes:
    """Of the block whose equations with arrays or blocks these are, with their numbers."""

    def __init__(self, equations: Iterable[tuple[int, Equation]]) -> None:
        self._family: dict[Atom, Atom] = {}
        self._reads: dict[Atom, frozenset[Atom]] = {}  # families that an element is computed from
        self._written: dict[Atom, list[tuple[int, bool]]] = {}  # where, and by a block?
        for k, e in equations:
            if e.op in VIEWS:
                self._family[e.outs[0]] = self._of(e.ins[0])
            elif e.op in STORES:
                self._write(e.ins[0], k, e.outs[0], False)
            elif e.op in ("for", "while"):
                body = e.blocks[-1]
                init = e.ins[3 if e.op == "for" else 0 :]
                params = body.params[1 if e.op == "for" else 0 :]
                for a, p, r, v in zip(init, params, body.results, e.outs, strict=True):
                    if is_array(v) and p is not r:
                        self._write(a, k, v, True)
            elif not e.blocks and e.op in TABLE and (TABLE[e.op].elementwise or e.op == "take"):
                reads = [self.families(a) for a in e.ins if is_array(a)]
                own = [frozenset(e.outs)] if reads else []
                self._reads[e.outs[0]] = frozenset().union(*reads, *own)

    def _of(self, a: Atom) -> Atom:
        return self._family.get(a, a)

    def _write(self, a: Atom, k: int, new: Var, by_block: bool) -> None:
        self._family[new] = self._of(a)
        self._written.setdefault(self._of(a), []).append((k, by_block))

    def families(self, a: Atom) -> frozenset[Atom]:
        """Of all memory that computing an element of this may read."""
        return self._reads.get(a) or frozenset([self._of(a)])

    def between(self, families: frozenset[Atom], since: int, until: int) -> bool:
        """Is any of them written after one equation and before another, or inside of that?"""
        return any(since < k < until or (k == until and inside)
                   for f in families for k, inside in self._written.get(f, ()))  # fmt: skip
