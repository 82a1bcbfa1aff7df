"""How do the two paths from a check that may fail in an attempt meet again?  See `attempts`.

Checks that follow each other, with nothing but arithmetic between them, are one detour: were each
in a block inside of the last one's, what is done for a block would be done as often as there are
checks before it.  Whether all of them hold is found ahead, from values computed for that alone,
and so are exceptions that nobody catches, where the checks before them hold.
What is differentiated stays where they hold: elsewhere `0 * inf` would come of a quotient.
"""

from __future__ import annotations

from typing import Any

from jitad.errors import JitadError
from jitad.primitives import TABLE
from jitad.primitives.table import partial
from jitad.tape.build import Leaf
from jitad.tape.ir import Atom, Equation, Lit
from jitad.tape.types import Array, is_float
from jitad.trace.context import Region, Trace
from jitad.trace.flow.attempts import PLACE, RAISED, immaterial, surely
from jitad.trace.flow.branches import Branches, is_pure
from jitad.trace.joins.selected import one_of
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Snapshot
from jitad.trace.joins.unset import Among, Perhaps
from jitad.trace.syntax.hooking import Site
from jitad.values.number import bind

_MOST_APART = 8  # exceptions that tell where each was raised
_ELSEWHERE = "\nThis was the first place in the `try` where it may have been raised."


class Detour(Branches):
    """What comes after a check, and what the check leads to."""

    def __init__(self, trace: Trace, ok: Leaf, error: Any, values: dict[str, Any]) -> None:
        assert trace.builder.pos is not None
        super().__init__(trace, ok, (), Site(trace.builder.pos, ()))
        self.held, self.attempt = values, trace.attempts[-1]
        # whether all checks before one hold, and it does itself, and what is raised otherwise
        self.checks: list[tuple[Any, Leaf, Any]] = [(True, ok, error)]
        self.regions.append(Region(trace, escapes=True))
        self.regions[0].open()
        self.here: dict[Atom, Equation] = {}  # what the block computes
        self.seen = 0  # equations of it that were looked at
        self.ahead: dict[Atom, Atom] = {}  # what was computed before it as well
        self.whole = False  # no other check belongs to it

    def goes_on(self, ok: Leaf, error: Any, values: dict[str, Any]) -> bool:
        """Another check may fail: True where it has become one of this detour's."""
        trace, region, b = self.trace, self.regions[0], self.trace.builder
        if self.whole or trace.attempts[-1] is not self.attempt or trace.regions[-1] is not region:
            return False
        same = values.keys() == self.held.keys()
        if not same or any(v is not self.held[n] for n, v in values.items()) or not _is_bare(error):
            return False
        new = region.block.equations[self.seen :]
        uncaught = [e for e in new if e.op == "check"]
        others = [e for e in new if e.op != "check"]
        if b.blocks[-1] is not region.block or not all(map(is_pure, others)):
            return False
        if trace.journal.written():
            return False
        self.here |= {v: e for e in others for v in e.outs}
        told = [f.atom for f in _flags(error) if isinstance(f, Leaf)]
        needed = self._needed([*(a for e in uncaught for a in e.ins), ok.atom, *told])
        if needed is None:
            return False
        region.block.equations[self.seen :] = others
        self.seen += len(others)
        before = self.test
        with b.at(len(b.blocks) - 2):
            for e in needed:
                b.pos = e.pos
                ins = [self._apart(a) for a in e.ins]
                self.ahead[e.outs[0]] = b.emit(e.op, *ins, **e.params)
            for e in uncaught:
                b.pos = e.pos
                first, *rest = (self._apart(a) for a in e.ins)
                either = b.emit("logical_or", b.emit("logical_not", before.atom), first)
                b.emit("check", either, *rest, **e.params)
            holds = b.leaf(self.ahead.get(ok.atom, ok.atom))
            test = bind("logical_and", before, holds)
        if type(error) is Among:  # which it is has been found ahead, too
            flags = (f if isinstance(f, bool) else self.ahead.get(f.atom, f.atom)
                     for f in error.flags)  # fmt: skip
            error = Among(tuple(f if isinstance(f, bool) else b.leaf(f) for f in flags),
                          error.among)  # fmt: skip
        if not isinstance(test, Leaf):
            return False
        self.test = test
        self.checks.append((before, holds, error))
        return True

    def errors(self) -> list[Any]:
        return [error for _, _, error in self.checks]

    def _needed(self, atoms: list[Atom]) -> list[Equation] | None:
        """What the block computes atoms from, in order; None if that is not mere arithmetic."""
        out: list[Equation] = []
        todo = [(a, False) for a in reversed(atoms)]
        met: set[Atom] = set()
        while todo:
            a, ready = todo.pop()
            e = self.here.get(a)
            if e is None or a in self.ahead:
                continue
            if ready:
                out.append(e)
            elif a not in met:
                met.add(a)
                if not _is_arithmetic(e):
                    return None
                todo += [(a, True), *((x, False) for x in e.ins)]
        return out

    def _apart(self, a: Atom) -> Atom:
        """An operand of what is computed before the block: no derivative goes through it."""
        if a in self.ahead or isinstance(a, Lit) or not is_float(a.type):
            return self.ahead.get(a, a)
        return self.trace.builder.emit("stop", a)

    def close(
        self, mine: bool, names: tuple[str, ...], values: tuple[Any, ...], raised: Any
    ) -> tuple[tuple[Any, ...], Any]:
        """The variables and the exception, after both paths."""
        names = (*names, RAISED)
        self.site = Site(self.site.pos, names, (), frozenset(names))
        there = self.held if mine else {}
        elsewhere = [there[n] if n in there else _any_of_its_kind(n, w)
                     for n, w in zip(names, values, strict=False)]  # fmt: skip
        self._end(0, (*values, raised))
        self.regions.append(Region(self.trace))
        self.regions[1].open()
        self._end(1, (*elsewhere, self._error()))
        *out, error = self._join()
        kept = tuple(  # what the other path does not know does not matter there
            surely(v) if n not in there and not isinstance(w, Perhaps) else v
            for n, v, w in zip(names, out, values, strict=False)
        )
        return kept, error

    def _end(self, k: int, exit: tuple[Any, ...]) -> None:
        seen: dict[int, Snapshot] = {}
        self.ends.append([snapshot(v, seen) for v in exit])
        self.regions[k].close()

    def _error(self) -> Any:
        """What the first check that fails leads to; of many, not all tell where it was."""
        apart = len(self.checks) <= _MOST_APART
        flags: list[Any] = []
        errors: list[Any] = []
        for before, ok, error in self.checks:
            fails = bind("logical_not", ok)
            first = fails if before is True else bind("logical_and", before, fails)
            alike = (k for k, e in enumerate(errors) if _are_alike(e, error, apart))
            k = next(alike, None)
            if k is None:
                flags.append(first)
                errors.append(error)
            else:
                flags[k] = bind("logical_or", flags[k], first)
                errors[k] = _either(errors[k], error)
        return one_of(flags[:-1], errors)


def _any_of_its_kind(name: str, value: Any) -> Any:
    """What a variable is where that does not matter, as it has this value elsewhere."""
    none = value is None or (isinstance(value, Perhaps) and value.none)
    return None if none else immaterial(name)


def _is_arithmetic(e: Equation) -> bool:
    """May it be computed of any numbers?"""
    if e.blocks or len(e.outs) > 1 or any(isinstance(a.type, Array) for a in (*e.ins, *e.outs)):
        return False
    return TABLE[e.op].elementwise and not partial(e)


def _flags(error: Any) -> tuple[Any, ...]:
    """What says which of several exceptions it is."""
    return error.flags if type(error) is Among else ()


def _is_bare(error: Any) -> bool:
    """Does an exception, or each of several, hold nothing but constants?"""
    if type(error) is Among:
        return all(type(x) is not Among and _is_bare(x) for x in error.among)
    if not isinstance(error, BaseException) or (not isinstance(error, JitadError) and vars(error)):
        return False
    return all(type(x) in (str, int, float, bool, type(None)) for x in error.args)


def _are_alike(a: Any, b: Any, apart: bool) -> bool:
    """Are they the same exceptions, maybe but for where they were raised?"""
    if a is b or type(a) is not type(b) or not isinstance(a, BaseException):
        return a is b
    if isinstance(a, JitadError) and not apart:
        return a.what.partition(PLACE)[0] == b.what.partition(PLACE)[0]
    return _is_bare(a) and _is_bare(b) and repr(a.args) == repr(b.args)


def _either(a: Any, b: Any) -> Any:
    """One of two exceptions that are alike, raised in either of two places."""
    if a.args == b.args or a.what.endswith(_ELSEWHERE):
        return a
    error = type(a)(a.what + _ELSEWHERE, a.where)
    error.of_program = True
    return error
