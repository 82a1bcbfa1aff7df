"""Which indices from data take one comparison where they are what they nearly always are?

An index may count from the end, and it may be out of bounds: two checks come before it, and a
choice behind.  One comparison of numbers without a sign says that it is neither.  Where that fails,
both checks are made, and the extent is added; what goes from one index to the next waits for
nothing else then.  A check that was passed before is not made again.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from jitad.errors import JitadIndexError
from jitad.primitives import TABLE
from jitad.tape.dead import remove_dead
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Tape, Var, lit, walk
from jitad.tape.types import BOOL, Scalar

_Place = tuple[Atom, Atom]  # an index, the extent
_INTEGERS = (Scalar("i8", True), Scalar("i8"))


def indices(tape: Tape) -> Tape:
    """The tape with such checks and choices made together (changed in place)."""
    if any(e.op == "check" for e in walk(tape.body)):
        made = {v: e for e in walk(tape.body) for v in e.outs}
        if _Pass(made).block(tape.body, _Known(set(), {}, {})):
            remove_dead(tape.body)
    return tape


class _Known(NamedTuple):
    """What holds at a place."""

    passed: set[Atom]  # conditions of checks
    counted: dict[_Place, Var]  # indices that count from the start
    same: dict[Var, Atom]

    def within(self) -> _Known:
        """For a block in which it holds, too."""
        return _Known(set(self.passed), dict(self.counted), dict(self.same))


class _Pass:
    def __init__(self, made: dict[Var, Equation]) -> None:
        self.made = made

    def block(self, block: Block, known: _Known) -> bool:
        """Whether anything was changed."""
        out: list[Equation] = []
        changed = False
        later = Counter(p for e in walk(block) if (p := self.chosen(e)) is not None)
        lower: Equation | None = None  # the check before, if nothing acts since
        for e in block.equations:
            e.ins = tuple(_read(a, known) for a in e.ins)
            place = self.chosen(e)
            if place is not None:
                later[place] -= 1
                if place in known.counted:
                    known.same[e.outs[0]] = known.counted[place]
                    changed = True
                    continue
            for b in e.blocks:
                changed |= self.block(b, known.within())
            if e.op == "check":
                if e.ins[0] in known.passed:
                    changed = True
                    continue
                known.passed.add(e.ins[0])
                both = self.both(lower, e) if lower is not None else None
                if both is not None and later[both] > 0 and both not in known.counted:
                    assert lower is not None
                    out.remove(lower)
                    new = Var(both[0].type)
                    out += self.together(both, lower, e, new)
                    known.counted[both] = new
                    lower, changed = None, True
                    continue
                lower = e
            elif e.op in STRUCTURED or TABLE[e.op].effect:
                lower = None
            out.append(e)
        block.equations = out
        block.results = [_read(a, known) for a in block.results]
        return changed

    def chosen(self, e: Equation) -> _Place | None:
        """k and n of `where(k < 0, k + n, k)`."""
        if e.op != "where" or not isinstance(e.outs[0].type, Scalar):
            return None
        test, total, k = e.ins
        below, more = self.made.get(test), self.made.get(total)  # type: ignore[arg-type]
        if below is None or below.op != "lt" or below.ins != (k, lit(0)):
            return None
        n = self.added(more, k)
        return None if n is None or not k.type == total.type == e.outs[0].type else (k, n)

    def added(self, e: Equation | None, k: Atom) -> Var | None:
        """What is added to k, an index that isn't known."""
        if e is None or e.op != "add" or k not in e.ins or not isinstance(k, Var):
            return None
        other = e.ins[1] if e.ins[0] is k else e.ins[0]
        return other if isinstance(other, Var) and k.type in _INTEGERS else None

    def both(self, lower: Equation, upper: Equation) -> _Place | None:
        """k and n, if one checks that n + k >= 0 of an index, the other that k < n, the extent."""
        one, two = (self.made.get(x.ins[0]) for x in (lower, upper))  # type: ignore[arg-type]
        if lower.params["exception"] is not JitadIndexError:
            return None
        if one is None or two is None or one.op != "ge" or two.op != "lt":
            return None
        k, n = two.ins
        if one.ins[1] != lit(0) or lower.params != upper.params or lower.pos != upper.pos:
            return None
        found = self.added(self.made.get(one.ins[0]), k)  # type: ignore[arg-type]
        return (k, n) if isinstance(n, Var) and found is n else None

    def together(
        self, place: _Place, lower: Equation, upper: Equation, new: Var
    ) -> list[Equation]:
        (k, n), at = place, upper.pos
        usual, total, above, below = Var(BOOL), Var(new.type), Var(BOOL), Var(BOOL)
        rare = [
            Equation("add", (n, k), (total,), {}, (), at),
            Equation("ge", (total, lit(0)), (above,), {}, (), at),
            Equation("check", (above,), (), lower.params, (), at),
            Equation("lt", (k, n), (below,), {}, (), at),
            Equation("check", (below,), (), upper.params, (), at),
        ]
        sides = Block([], [], [k]), Block([], rare, [total])
        return [
            Equation("inside", (k, n), (usual,), {}, (), at),
            Equation("if", (usual,), (new,), {}, sides, at),
        ]


def _read(a: Atom, known: _Known) -> Atom:
    return known.same.get(a, a) if isinstance(a, Var) else a
