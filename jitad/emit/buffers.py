"""Which array values may share memory, and when may a store write in place?

On the tape arrays are values; a kernel that copied at each store would be quadratic.  The
question is the old one of copy elision in languages of immutable arrays: destructive update is
right where the old version has no use left (Hudak & Bloss 1985, "The aggregate update problem";
SISAL's build-in-place analysis, Cann 1989; Schnorr et al. and Futhark's memory reuse for loops).
Reference counts would find out at run time; here it is decided while emitting, in one forward
walk, from last uses.

A *root* is an allocation that a value may live in, as seen from one iteration: an input, a fresh
buffer, the buffer that a carried parameter has at the start of the iteration.  Every array value
has a set of roots (several after an `if`); a view has its base's.  The rules:

1. A root is *owned* if this kernel allocated it.  Inputs and constants are not, nor what the
   condition of a `while` is handed.
2. A store is in place iff all roots of its operand are owned and no other value that may live in
   one of them is live after the store.  Live: used later in this block, or later in a block
   around it, or anywhere in a loop around it that it enters from outside.
3. Carried parameters are pairwise distinct owned roots, distinct from all others.  Entering a
   loop, the initial value's buffer is *moved* in if rule 2 would allow to overwrite it, else
   copied.  At the end of the body each result must again be in a buffer of its own that this
   loop's iteration owns; then binding the names anew is all there is to do (`u, un = un, u`).
   So what holds at the start of one iteration holds at the start of the next, and no fixpoint
   has to be computed.
4. A buffer that is allocated in a loop and has extents known outside is allocated outside
   (*hoisted*, `Root.depth` says how far).  It may not simply stay with a carried value, since
   the next iteration writes it again: it is exchanged for the buffer that the carried value had
   before, if that is free, else copied.  Exchanging binds names: a hoisted buffer that a value
   has under another name (a reshaped one, one that an `if` chose) is copied.
5. Results of the kernel are owned and pairwise distinct.

Whatever isn't proved here is copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jitad.emit.demand import Analysis
from jitad.tape.ir import Block, Var


@dataclass(eq=False, slots=True)
class Root:
    """One allocation.  `depth`: loops around its memory; `born`: loops around its definition.

    `name` is what the kernel writes it by when it is computed again.  The result of a loop that
    exchanges buffers is in one of its `origins`, apart from the loop's other results.
    """

    owned: bool
    depth: int = 0
    born: int = 0
    origins: frozenset[Root] = frozenset()
    name: str = ""
    watched: bool = False  # not owned, but who is in it is asked: a frame of zeros
    values: list[Var] = field(default_factory=list)


Roots = frozenset[Root]


@dataclass(slots=True)
class Level:
    """A block that is being emitted, and how far it is."""

    block: Block
    index: int = 0
    around: tuple[Block, ...] = ()  # of a loop: its blocks, which run again


class Buffers:
    """Roots of all array values met so far, and the walk's position."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.levels: list[Level] = []
        self.roots: dict[Var, Roots] = {}

    # -- liveness -------------------------------------------------------------------------------

    def live(self, v: Var, inside: tuple[Block, ...] = ()) -> bool:
        """Is the value used after the present equation, or in these blocks of it?"""
        last, home = self.analysis.last, self.analysis.home.get(v)
        if any(v in last[b] for b in inside):
            return True
        for level in reversed(self.levels):
            if last[level.block].get(v, -1) > level.index:
                return True
            if home is level.block:
                return False
            if any(v in last[b] for b in level.around):
                return True
        return False

    # -- values ---------------------------------------------------------------------------------

    def place(self, v: Var, roots: Roots) -> None:
        """The value lives in one of these."""
        self.roots[v] = roots
        for r in origins(roots):
            if r.owned or r.watched:  # nobody asks who else is in the others
                r.values.append(v)

    def writable(self, v: Var, inside: tuple[Block, ...] = ()) -> bool:
        """May v's memory be written once the present equation has read its operands?

        For a loop, `inside` are its blocks: nothing in there may use what is in that memory.
        """
        roots = self.roots[v]
        return all(r.owned and not self.occupied(r, inside) for r in roots)

    def occupied(
        self, root: Root, inside: tuple[Block, ...] = (), but: Var | None = None
    ) -> bool:
        """Is a value in this root live, `but` one?  Forgets on the way those that never will be
        again."""
        *outer, here = self.levels
        around = [b for level in outer for b in (level.block, *level.around)] + [*here.around]
        kept: list[Var] = []
        occupied = False
        for v in root.values:
            home = self.analysis.home.get(v)
            if v is but or self.live(v, inside):
                occupied = occupied or v is not but
                kept.append(v)
            elif home is None or any(home is b for b in around):
                kept.append(v)  # dead in this branch, may be live in the other
        root.values = kept
        return occupied


def origins(roots: Roots) -> Roots:
    """The roots, with those that they may be the same memory as."""
    return roots.union(*(r.origins for r in roots))


def disjoint(sets: list[Roots]) -> list[bool]:
    """For each set in turn: is it apart from all sets before it?"""
    seen: set[Root] = set()
    out = []
    for s in sets:
        out.append(seen.isdisjoint(s))
        seen |= s
    return out
