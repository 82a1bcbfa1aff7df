"""What do `zip` and `groupby` do where only the kernel knows how they go on?

Of several generators one goes on as the loop over `zip` does, and what stands beside it is taken by
number.  Of another one a list is made when the loop begins, as of the keys of groups: then that may
change nothing, nor may the loop change what would still have been read.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterable
from types import FunctionType, GeneratorType
from typing import Any

from jitad.errors import JitadError
from jitad.plain import as_written
from jitad.trace.around.unnoted import parts
from jitad.trace.calls import call
from jitad.trace.containers.iterables import ENDLESS, SOURCES, Counted, made_of, sequence, zip_
from jitad.trace.containers.lists import become_rows, run
from jitad.trace.containers.partial import View
from jitad.trace.containers.stretch import stretched
from jitad.trace.flow import generators
from jitad.trace.flow.idly import written_there
from jitad.trace.library import native
from jitad.trace.ongoing import current
from jitad.trace.places import get_item
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.journal import Write, made
from jitad.values.kind import fail
from jitad.values.number import Number, bind

_MOST = 10_000  # things that are looked through


def zipped(*values: Any, strict: bool = False) -> Any:
    lengths = any(_is_long(v) for v in values)
    going = [generators.yields_in_blocks(v)
             or (lengths and generators.is_generator(v) and v not in ENDLESS)
             for v in values]  # fmt: skip
    if not any(going):
        return zip_(*values, strict=strict)
    if strict:
        return zip_(*map(generators.as_list, values), strict=strict)
    at = going.index(True)
    beside = _Beside(values[at], values[:at], values[at + 1 :])
    return generators.written(as_written.each_beside, values[at], beside)


def _is_by_number(value: Any) -> bool:
    return sequence(value) is not None or type(value) in (list, tuple, str)


def _is_long(value: Any) -> bool:
    counted = sequence(value)
    return counted is not None and counted.static is None


def grouped(values: Any, key: Any = None) -> Any:
    """The keys first: where they are traced, the kernel sees where groups end."""
    order = _Order([values], "groupby()")
    order.watch()
    values = generators.listed(values)
    if hasattr(values, "__next__"):
        first = call(next, values, grouped)
        if first is grouped:
            return native(itertools.groupby, ())
        values, of_first = made_of(itertools.chain((first,), values), values), []
        of_first.append(first if key is None else call(key, first))
        if not any_traced(of_first):
            return native(itertools.groupby, values, lambda v: of_first.pop() if of_first else (
                v if key is None else call(key, v)))  # fmt: skip
        values = run(as_written.listed, values)
    keys = values if key is None else run(as_written.mapped, key, values)
    if stretched(keys) is not None or any_traced(keys):
        order.listed()
        return generators.written(as_written.each_group, _rows(keys), _rows(values), order)
    found = iter(keys)
    order.known = {id(values): values}

    def known(_: Any) -> Any:
        order.go_on()
        return next(found)

    return native(itertools.groupby, values, known)


def _rows(values: Any) -> Any:
    """Something whose parts traced numbers find."""
    if isinstance(values, (list, tuple)) and stretched(values) is None:
        values = list(values)
        made(values)
        become_rows(values)
    return values


class _Order:
    """Would it be the same if each of them went on in its turn?"""

    def __init__(self, others: list[Any], what: str) -> None:
        self.others, self.what = others, what  # of which lists are made
        self.known: dict[int, Any] = {}
        self.written: dict[Any, Write] = {}

    def watch(self) -> None:
        trace = current()
        if self.others and trace is not None:
            self.known = _known(self.others)
            trace.journal.watched.append(self.written)

    def listed(self) -> None:
        """The others, which must have changed nothing."""
        if written_there(self.written):
            raise fail(JitadError, f"what goes through {self.what} writes to what is there before",
                       "Make a list of it first.")  # fmt: skip

    def go_on(self) -> None:
        """The loop has run once more, and must not have changed what the others read."""
        every = len(self.known) >= _MOST
        for thing in written_there(self.written):
            if every or id(thing) in self.known or self._may_show(thing):
                raise fail(JitadError, f"a loop over {self.what} writes to what that goes over",
                           "Make lists first.")  # fmt: skip

    def _may_show(self, thing: Any) -> bool:
        """Is it an array of which one of the known ones may show something?"""
        if not isinstance(thing, ArrayHandle) or (trace := current()) is None:
            return False
        alike = trace.journal.may_alias
        arrays = [t for t in self.known.values() if isinstance(t, ArrayHandle)]
        return any(alike(a, b) for t in arrays for a in t.roots for b in thing.roots)


class _Beside(_Order):
    """What stands beside a generator in `zip`."""

    def __init__(self, going: Any, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        self.going = going
        self.sides = {"before": before, "after": after}
        listed = [v for v in (*before, *after) if not _is_by_number(v)]
        super().__init__(listed, "zip() of several generators")

    def begin(self) -> None:
        self.watch()
        here, there = _known([self.going]), _known(v for s in self.sides.values() for v in s)
        if any(hasattr(here[k], "__next__") for k in here.keys() & there.keys()):
            raise fail(JitadError, "zip() takes from one iterator in several places",
                       "Make a list of it first.")  # fmt: skip
        for side, several in self.sides.items():
            for v in several:
                if type(v) is Counted:
                    v.begin()
            self.sides[side] = tuple(v if _is_by_number(v) else call(list, v) for v in several)
        self.listed()
        self.first: dict[Any, Write] | None = {}  # what the generator writes before it yields
        if (trace := current()) is not None:
            trace.journal.watched.append(self.first)

    def began(self, k: Any) -> Any:
        """Is there one of those that are asked before the generator?  Were there none at first, it
        would not have gone on: it has, and may not have written anything."""
        reached = self.reach("before", k)
        if reached is not True and self.first is not None and written_there(self.first):
            raise fail(JitadError, "zip() goes on with a generator, which writes to what is there "
                       "before, beside what may be empty", "Make a list of it first.")  # fmt: skip
        self.first = None  # the next time, loops have been begun
        return reached

    def reach(self, side: str, k: Any) -> Any:
        """Has each of them an element number k?"""
        out: Any = True
        for v in self.sides[side]:
            n = v.count if type(v) is Counted else call(len, v)
            known = isinstance(k, int) and isinstance(n, int)
            more = k < n if known else bind("lt", k, n)
            out = more if out is True else bind("logical_and", out, more)
        return out

    def items(self, side: str, k: Any) -> list[Any]:
        return [get_item(v, k) for v in self.sides[side]]


def _known(things: Iterable[Any]) -> dict[int, Any]:
    """What generators, and what they know of, can read."""
    todo, met = [*things], dict[int, Any]()
    while todo and len(met) < _MOST:
        thing = todo.pop()
        if id(thing) in met:
            continue
        met[id(thing)] = thing
        match thing:
            case Number() | ArrayHandle():
                pass
            case GeneratorType():
                if thing.gi_frame is not None:
                    todo += thing.gi_frame.f_locals.values()
                    everywhere = thing.gi_frame.f_globals
                    todo += [everywhere[n] for n in thing.gi_code.co_names if n in everywhere]
            case FunctionType():
                todo += [x for c in thing.__closure__ or () for x in gc.get_referents(c)]
                todo += parts(thing)
            case _ if type(thing) in SOURCES or type(thing) is View:
                todo += vars(thing).values()
            case _ if type(thing).__module__ in ("builtins", "itertools") and _goes_over(thing):
                todo += gc.get_referents(thing)
            case _:
                todo += parts(thing)
    return met


def _goes_over(thing: Any) -> bool:
    """Is it an iterator, or a view of a dict?"""
    return hasattr(thing, "__next__") or hasattr(thing, "mapping")
