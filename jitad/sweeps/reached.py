"""Is a derivative reached at all?  Where it is not, it is none, whatever it would be multiplied by.

The eager engine knows: a value that no taken path uses has no cotangent, a value that comes from
constants alone on the path taken has no tangent.  On a tape both paths of a condition meet, and
the derivative is there as a number, zero on one of them.  0 * inf is nan, so what a rule makes of
it is *doubtful* where the rule may have an infinite factor, and it is chosen by the condition under
which the derivative is reached.  That follows from how the sweep has made the derivative:

  * of an `if`, one branch gives zero; of a `where` with one condition, one side is zero;
  * a loop starts from zero, and may not run; what it carries is reached from some iteration on;
  * a sum is reached where one of its terms is, any other contribution where its source is.

The choice is made where a doubtful derivative meets others, so that a chain of rules has one.
Conditions are kept only of values that such a rule is near to: in reverse mode, those that may be
infinite; in forward mode, those on the way to a rule with an infinite factor.  All others may be
multiplied by zero as they are.  Of arrays, elements are not told apart, and a loop that carries
one, or adds to it, is taken to reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jitad.immutable import immutable
from jitad.primitives import TABLE, Into
from jitad.primitives.table import tame
from jitad.sweeps.rules import plus
from jitad.tape.build import Builder
from jitad.tape.copy import lit_zero
from jitad.tape.flow import closure, predecessors, successors
from jitad.tape.ir import Atom, Block, Equation, Lit, Var, lit, walk
from jitad.tape.types import BOOL, Array, Scalar, is_float

_DEEPEST = 40  # nested conditions; what is further is taken to be reached


@immutable
class Unless:
    """Reached where this does not hold."""

    condition: Atom
    depth: int = 0


@immutable
class Runs:
    """Reached where a loop has an iteration."""

    count: Atom
    depth: int = 0


@immutable(eq=False)
class Of:
    """Reached where one of two conditions holds (or both of them do)."""

    op: str  # logical_or, logical_and
    one: Condition
    other: Condition
    depth: int


@dataclass(eq=False)
class Branches:
    """A result of an `if`, reached in each branch under a condition of that branch."""

    e: Equation
    within: tuple[Condition | None, Condition | None]
    depth: int
    out: Var | None = None


@dataclass(eq=False)
class Carried:
    """A parameter of a loop's body, which one more parameter may tell of."""

    flag: Var | None = None
    depth: int = 0


Condition = Atom | Unless | Runs | Of | Branches | Carried
NEVER = lit(False)


_CONSTANT = ("add", "sub", "neg", "cast", "pack", "concatenate", "push", "pop")  # factors


# -- what is near to an infinite factor -----------------------------------------------------------


def infinite(block: Block) -> set[Var]:
    """The values that may be infinite or nan where what the block is given is not."""
    made = (v for e in walk(block) if not e.blocks and not tame(e) for v in e.outs)
    return closure((v for v in made if is_float(v.type)), successors(predecessors(block)))


def steep(e: Equation, k: int, wild: set[Var]) -> bool:
    """May the factor of its derivative by operand k be infinite or nan?"""
    if TABLE[e.op].linear or e.op in _CONSTANT:
        return False
    if e.op in ("mul", "matmul"):
        return e.ins[1 - k] in wild
    return not tame(e) or any(a in wild for a in (*e.ins, *e.outs))


@immutable
class Steep:
    """The values of a block that may be infinite, and those that a rule uses, be it later, whose
    factor may be."""

    infinite: set[Var] = field(default_factory=set)
    before: set[Var] = field(default_factory=set)

    @classmethod
    def of(cls, block: Block) -> Steep:
        wild = infinite(block)
        rules = (e for e in walk(block) if not e.blocks and any(is_float(v.type) for v in e.outs))
        uses = {a for e in rules for k, a in enumerate(e.ins)
                if isinstance(a, Var) and steep(e, k, wild)}  # fmt: skip
        return cls(wild, closure(uses, predecessors(block)))


# -- conditions -----------------------------------------------------------------------------------


class Reached:
    """What a sweep knows of its derivatives; those that are not entered are always reached."""

    def __init__(self, b: Builder, near: set[Var]) -> None:
        self.b = b
        self.near = near  # forward variables whose derivatives are worth knowing of
        self.needed: set[Var] = set()  # what conditions are made of, which may be asked for later
        self._when: dict[Var, Condition] = {}
        self._doubtful: set[Var] = set()
        self._made: dict[tuple[str, Condition, Condition], Of] = {}

    def when(self, a: Atom | None) -> Condition | None:
        """The condition under which this derivative is reached; None: it always is."""
        if a is None:
            return NEVER
        if isinstance(a, Lit):
            return NEVER if a.value == 0 else None
        return self._when.get(a)

    def enter(self, a: Atom | None, condition: Condition | None, doubtful: bool = False) -> None:
        """This derivative has that condition; `doubtful`: it may be nan where it isn't reached."""
        if condition is None or not isinstance(a, Var) or _depth(condition) > _DEEPEST:
            return
        self._when[a] = condition
        if doubtful and not self._chosen_by(a, condition):
            self._doubtful.add(a)
        part = condition.condition if isinstance(condition, Unless) else condition
        if isinstance(part, Var):
            self.needed.add(part)

    def doubtful(self, a: Atom | None) -> bool:
        return a in self._doubtful

    def _chosen_by(self, a: Var, condition: Condition) -> bool:
        """Is it chosen by this very condition already?"""
        chosen = self._chosen(a)
        return chosen is not None and chosen in (condition, self._as_written(condition))

    def _as_written(self, condition: Condition | None) -> Atom | None:
        """The value that this condition is already, in what is being written."""
        match condition:
            case Carried():
                return condition.flag
            case Branches():
                return condition.out
            case Of():
                known = self.b.known(condition)
                return known[0] if known is not None else None
        return None

    def sure(self, a: Atom) -> Atom:
        """This derivative, zero where it is not reached."""
        if not self.doubtful(a):
            return a
        condition = self._written(self._when[a])  # type: ignore[index]
        zero = lit_zero(a.type.dtype)  # type: ignore[union-attr]
        out: Atom = self.b.emit("where", condition, a, zero)
        self.enter(out, self.when(a))
        return out

    def to_add(self, *terms: Atom) -> tuple[list[Atom], Condition | None, bool]:
        """Derivatives that are about to be added; what their sum is reached by, and if it is
        doubtful."""
        first = self.when(terms[0])
        if all(self.when(t) == first for t in terms[1:]):
            return list(terms), first, any(map(self.doubtful, terms))
        condition = first
        for t in terms[1:]:
            condition = self.either(condition, self.when(t))
        return [self.sure(t) for t in terms], condition, False

    def plus(self, one: Atom, other: Atom) -> Atom:
        """The sum of two derivatives."""
        terms, condition, doubtful = self.to_add(one, other)
        total = plus(self.b, *terms)
        self.enter(total, condition, doubtful)
        return total

    def into(self, whole: Atom, part: Into) -> Atom:
        """The sum of a derivative and what is added to a part of it."""
        value, *rest = part.args
        terms, condition, doubtful = self.to_add(whole, value)
        changed: Atom = self.b.emit(part.op, *terms, *rest, **part.params)
        self.enter(changed, condition, doubtful)
        return changed

    def nothing(self, zeros: Atom) -> Atom:
        self.enter(zeros, NEVER)
        return zeros

    def either(self, one: Condition | None, other: Condition | None) -> Condition | None:
        if one is None or other is None:
            return None
        if one == other or other == NEVER:
            return one
        return other if one == NEVER else self._of("logical_or", one, other)

    def made(self, a: Atom | None, source: Condition | None, doubtful: bool) -> None:
        """A derivative that a rule has made of one that is reached under this condition."""
        chosen = self._chosen(a)
        if chosen is not None and source not in (None, chosen, self._as_written(source)):
            chosen = self._of("logical_and", chosen, source)
        self.enter(a, source if chosen is None else chosen, doubtful)

    def _chosen(self, a: Atom | None) -> Condition | None:
        """The condition, if it is one, by which a derivative is chosen, and not zero."""
        e = self.b.sources.get(a) if isinstance(a, Var) else None
        if e is None or e.op != "where" or isinstance(e.ins[0].type, Array):
            return None
        if self.when(e.ins[2]) == NEVER:
            return e.ins[0]
        return Unless(e.ins[0]) if self.when(e.ins[1]) == NEVER else None

    def _of(self, op: str, one: Condition, other: Condition) -> Condition:
        """Both, but for what says no more: a or (a and b), (a and b) and b."""
        dual = "logical_and" if op == "logical_or" else "logical_or"
        for a, b in ((one, other), (other, one)):
            known = _terms(op, a)
            if all(t in known for t in _terms(op, b)) or a in _terms(dual, b):
                return a
        key = (op, one, other)
        if key not in self._made:
            self._made[key] = Of(*key, 1 + max(_depth(one), _depth(other)))
        return self._made[key]

    # -- structured equations -------------------------------------------------------------------

    def branches(self, e: Equation, out: Var, one: Atom, other: Atom) -> None:
        """A result of an `if`, and what its branches give for it."""
        within = self.when(one), self.when(other)
        depth = 1 + max(map(_depth, within))
        doubtful = self.doubtful(one) or self.doubtful(other)
        match within:
            case (None, None):
                return
            case (a, b) if a == b:
                condition = a
            case (None, Lit()):
                condition = e.ins[0]
            case _:
                condition = Branches(e, within, depth)
        self.enter(out, condition, doubtful)

    def open(self, body: Block, params: Iterable[tuple[Var, bool]]) -> None:
        """Parameters of the derivative of this body, which is about to be written, and whether they
        start from anything.  What starts from nothing is taken to be reached together; what an
        iteration can't but hand on, stays reached.
        """
        chooses = any(x.blocks or (x.op == "where" and not isinstance(x.ins[0].type, Array))
                      for x in body.equations)  # fmt: skip
        together = Carried()
        for p, started in params:
            if isinstance(p.type, Scalar) and (chooses or not started):
                self._when[p] = Carried() if started else together

    def close(
        self, body: Block, params: Sequence[Var], results: Sequence[Atom], starts: Sequence[Atom]
    ) -> Loop:
        """The body is complete: what its parameters are reached by, and what has to be carried."""
        carried = [self._when.get(p) for p in params]
        begins = [self.when(s) for s in starts]
        of: dict[Condition | None, Condition | None] = {}
        for c, r in zip(carried, results, strict=True):
            of[c] = self.either(of[c], self.when(r)) if c in of else self.when(r)
        ends = [of[c] for c in carried]
        always = {c for c, s in zip(carried, begins, strict=True)
                  if s is None and isinstance(c, Carried)}  # fmt: skip
        while True:
            lost = {c for c, end in zip(carried, ends, strict=True)
                    if c in always and not _sure(end, always)}  # fmt: skip
            if not lost:
                break
            always -= lost
        loop = Loop([], [], [], [])
        for c, s, end in zip(carried, begins, ends, strict=True):
            if not isinstance(c, Carried) or c in always:
                loop.after.append(None)
            elif end is c:
                loop.after.append(s)
            elif _sure(end, always):
                loop.after.append(_Ran(s))
            else:
                loop.after.append(self._flag(c))
        written: dict[Carried, Atom] = {}
        with self.b.reopen(body, isolated=True):
            more = True
            while more:  # what is written may ask for further ones
                more = False
                for c, end in zip(carried, ends, strict=True):
                    if isinstance(c, Carried) and c.flag is not None and c not in written:
                        written[c] = lit(True) if _sure(end, always) else self._written(end)
                        more = True
        same: dict[tuple[Atom, Atom], Var] = {}
        for c, s in dict(zip(carried, begins, strict=True)).items():
            if not isinstance(c, Carried) or c.flag is None:
                continue
            start = self._written(s)
            known = lit(True) if c in always else same.get((start, written[c]))
            if known is not None:  # a second name
                body.equations.insert(0, Equation("ident", (known,), (c.flag,)))
                continue
            same[start, written[c]] = c.flag
            loop.params.append(c.flag)
            loop.starts.append(start)
            loop.results.append(written[c])
        return loop

    def leave(
        self, loop: Loop, outs: Sequence[Atom], flags: Sequence[Atom], count: Atom | None
    ) -> None:
        """Results of the loop, and of the flags that it carries."""
        now = dict(zip(loop.params, flags, strict=True))
        for out, after in zip(outs, loop.after, strict=False):
            match after:
                case _Ran(start):
                    self.enter(out, self.either(Runs(count) if count is not None else None, start))
                case Var() if after in now:
                    self.enter(out, now[after])
                case Var() if after in loop.params or after.type == BOOL:
                    pass  # a second name of another one: taken to be reached
                case _:
                    self.enter(out, after)

    def _flag(self, c: Carried) -> Var:
        if c.flag is None:
            c.flag = Var(BOOL)
            self.needed.add(c.flag)
        return c.flag

    def _written(self, c: Condition | None) -> Atom:
        """The condition as a value of the block being written."""
        b = self.b
        match c:
            case None:
                return lit(True)
            case Unless():
                return b.emit("logical_not", c.condition)
            case Runs():
                return b.emit("gt", c.count, lit(0))
            case Of():
                known = b.known(c)
                if known is None:
                    known = (b.emit(c.op, self._written(c.one), self._written(c.other)),)
                    b.remember(c, known)
                return known[0]
            case Carried():
                return self._flag(c)
            case Branches():
                if c.out is None:
                    c.out = Var(BOOL)
                    self.needed.add(c.out)
                    for block, within in zip(c.e.blocks, c.within, strict=True):
                        with b.reopen(block, isolated=True):
                            block.results.append(self._written(within))
                    c.e.outs = (*c.e.outs, c.out)
                    b.sources[c.out] = c.e
                return c.out
        return c


@immutable
class _Ran:
    """Reached after a loop that has had an iteration, or that starts from what is reached."""

    start: Condition | None


@dataclass
class Loop:
    """What a loop carries beside derivatives, and what its results are reached by."""

    params: list[Var]
    starts: list[Atom]
    results: list[Atom]
    after: list[Condition | _Ran | None]


def _sure(c: Condition | None, always: set[Carried], seen: dict[int, bool] | None = None) -> bool:
    """Is what has this condition reached, if these parameters are?"""
    seen = {} if seen is None else seen
    if id(c) not in seen:
        match c:
            case None:
                known = True
            case Of():
                found = [_sure(x, always, seen) for x in (c.one, c.other)]
                known = any(found) if c.op == "logical_or" else all(found)
            case Branches():
                known = all(_sure(x, always, seen) for x in c.within)
            case _:
                known = isinstance(c, Carried) and c in always
        seen[id(c)] = known
    return seen[id(c)]


def _terms(op: str, c: Condition) -> list[Condition]:
    """What is joined by this operation in a condition."""
    if isinstance(c, Of) and c.op == op:
        return _terms(op, c.one) + _terms(op, c.other)
    return [c]


def _depth(c: Condition | None) -> int:
    return 0 if c is None or isinstance(c, (Var, Lit)) else c.depth
