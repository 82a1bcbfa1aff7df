"""Which arrays are computed once more behind a loop, rather than held while it runs?

What a sweep goes back over, it takes from the function's own computation.  An array that is
computed element by element from arrays of fewer axes, as the distances of all pairs are from the
points, is larger than all that it is computed from, and a loop between its making and its last use
leaves nothing of it in a cache.  Behind the loop it is computed anew, where it is used: in the loop
nest that reads it, so that it needs no memory in either place (rematerialisation; Briggs, Cooper &
Torczon 1992).  A person writing the adjoint of an n-body step has no n x n array, either.

That goes for what loop nests read element by element, and if no more than a few of the operations
are dear.  What somebody needs in memory stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, free_vars, is_array, walk

_DEAR = 2  # operations of an element such as `exp`, which are made again
_LONG = 64  # equations that are made again for one array


def remake(tape: Tape) -> Tape:
    """The tape with such arrays computed again (in place)."""
    for block in [tape.body, *(b for e in walk(tape.body) for b in e.blocks)]:
        if any(e.op in ("for", "while") for e in block.equations):
            block.equations = list(_Block(block).equations())
    return tape


class _Block:
    """The equations of a block; `_since` counts the loops before each."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._made: dict[Atom, Equation] = {}
        self._since: dict[Atom, int] = {}
        self._uses: dict[Atom, list[tuple[int, Equation | None]]] = defaultdict(list)
        self._again: dict[tuple[int, Atom], Var] = {}
        loops = 0
        for e in block.equations:
            loop = e.op in ("for", "while")
            for a in {*e.ins, *free_vars(*e.blocks)}:
                self._uses[a].append((loops + loop, e))
            loops += loop
            for v in e.outs:
                self._made[v], self._since[v] = e, loops
        for a in block.results:
            self._uses[a].append((loops, None))
        self._chains = {a: self._chain(a) for a in self._made if self._outlives(a)}

    def equations(self) -> Iterator[Equation]:
        loops = 0
        for e in self._block.equations:
            loops += e.op in ("for", "while")
            new: dict[Atom, Atom] = {}
            for a in e.ins:
                if self._chains.get(a) and loops > self._since[a]:
                    for made in self._chains[a]:
                        yield from self._anew(made, loops)
                    new[a] = self._again[loops, a]
            e.ins = tuple(new.get(a, a) for a in e.ins)
            yield e

    def _anew(self, e: Equation, loops: int) -> Iterator[Equation]:
        (v,) = e.outs
        if (loops, v) not in self._again:
            new = self._again[loops, v] = Var(v.type, v.shape, v.name)
            ins = tuple(self._again.get((loops, a), a) for a in e.ins)
            yield Equation(e.op, ins, (new,), e.params, (), e.pos)

    def _outlives(self, v: Atom) -> bool:
        """Is it used behind a loop that comes after it, and only by loop nests?"""
        late = [e for loops, e in self._uses[v] if loops > self._since[v]]
        return len(v.shape) > 1 and bool(late) and all(self._streams(v, e) for e in late)

    def _streams(self, v: Atom, e: Equation | None) -> bool:
        """Does an equation read v element by element, in a loop nest?"""
        if e is None or e.blocks:
            return False
        if e.op == "transpose":
            return all(self._streams(e.outs[0], user) for _, user in self._uses[e.outs[0]])
        if e.op == "matmul":  # with a vector: a sum, if the matrix is used for it alone
            return {len(a.shape) for a in e.ins} == {1, 2}
        return e.op == "sum" or (TABLE[e.op].elementwise and is_array(e.outs[0]))

    def _chain(self, v: Atom) -> list[Equation]:
        """What computes it from arrays of fewer axes, in order; nothing, if that isn't so."""
        out: dict[Equation, None] = {}
        dear = 0

        def visit(a: Atom) -> bool:
            nonlocal dear
            e = self._made.get(a)
            if not is_array(a) or e in out:
                return True
            if e is None or e.blocks or len(out) >= _LONG:
                return False
            if e.op == "broadcast":
                return not is_array(e.ins[0]) or len(e.ins[0].shape) < len(a.shape)
            if e.op == "full":
                return True
            if e.op != "transpose" and not TABLE[e.op].elementwise:
                return False
            dear += TABLE[e.op].dear
            if dear > _DEAR or not all(map(visit, e.ins)):
                return False
            out[e] = None
            return True

        return list(out) if visit(v) else []
