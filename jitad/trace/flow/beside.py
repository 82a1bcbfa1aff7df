"""What do `zip` and `groupby` do where only the kernel knows how they go on?

Of several generators one goes on as the loop over `zip` does, and what stands beside it is taken by
number.  Of another one a list is made when the loop begins, as of the keys of groups: then that may
change nothing, nor may the loop change what would still have been read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from types import FunctionType, GeneratorType
from typing import Any

from jitad.errors import JitadError
from jitad.plain import as_written
from jitad.trace.around.unnoted import parts
from jitad.trace.calls import call
from jitad.trace.containers.iterables import ENDLESS, SOURCES, made_of, sequence, zip_
from jitad.trace.containers.lists import become_rows, run
from jitad.trace.containers.stretch import stretched
from jitad.trace.flow import generators
from jitad.trace.library import native
from jitad.trace.ongoing import current
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.journal import MADE, Write, made
from jitad.values.kind import fail, require
from jitad.values.number import Number

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
    order = _Order([v for k, v in enumerate(values) if hasattr(v, "__next__") and k != at])
    before, after = values[:at], values[at + 1 :]
    return generators.written(as_written.each_beside, values[at], before, after, order)


def _is_long(value: Any) -> bool:
    counted = sequence(value)
    return counted is not None and counted.static is None


def grouped(values: Any, key: Any = None) -> Any:
    """The keys first: where they are traced, the kernel sees where groups end."""
    order = _Order([values], "groupby()")
    values = generators.listed(values)
    if hasattr(values, "__next__"):
        first = call(next, values, grouped)
        if first is grouped:
            return native(itertools.groupby, ())
        values = made_of(itertools.chain((first,), values), values)
        if not any_traced([first if key is None else call(key, first)]):
            return native(itertools.groupby, values, key)
        values = run(as_written.listed, values)
    order.begin()
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

    def __init__(self, others: list[Any], what: str = "zip() of several generators") -> None:
        self.others = others  # of which lists are made
        self.what = what
        self.known: dict[int, Any] = {}
        self.written: dict[Any, Write] = {}

    def begin(self) -> None:
        if self.others and (trace := current()) is not None:
            self.known = _known(self.others)
            trace.journal.watched.append(self.written)

    def listed(self) -> None:
        """The others, which must have changed nothing."""
        if self._old():
            raise fail(JitadError, f"what goes through {self.what} writes to what is there before",
                       "Make a list of it first.")  # fmt: skip

    def go_on(self) -> None:
        """The loop has run once more, and must not have changed what the others read."""
        every = len(self.known) >= _MOST
        arrays = every or any(isinstance(t, ArrayHandle) for t in self.known.values())
        for thing in self._old():
            if every or id(thing) in self.known or (arrays and isinstance(thing, ArrayHandle)):
                raise fail(JitadError, f"a loop over {self.what} writes to what that goes over",
                           "Make lists first.")  # fmt: skip

    def sure(self, reached: Any) -> None:
        """Those that are asked before the generator: had they ended, it would not have gone on."""
        if reached is not True:
            require(reached, JitadError, "zip() goes on with a generator beside what is empty",
                    "Make a list of it first.")  # fmt: skip

    def _old(self) -> list[Any]:
        made = {id(w.target) for w in self.written.values() if w.slot == MADE}
        return [w.target for w in self.written.values() if id(w.target) not in made]


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
                todo += [c.cell_contents for c in thing.__closure__ or () if _is_full(c)]
                todo += parts(thing)
            case _ if type(thing) in SOURCES:
                todo += vars(thing).values()
            case _:
                todo += parts(thing)
    return met


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
