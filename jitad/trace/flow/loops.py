"""What happens at a loop?

Over plain Python things it runs, iteration by iteration, within a budget.  A loop of traced
length, or with an exit under a traced condition, becomes a `for` or `while` equation (`rolled`).
A range of known length is written out where it is short; else it is rolled, unless its body turns
out to need the index as a plain number.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby
from operator import length_hint
from typing import Any, cast

from jitad.errors import GuardMiss, JitadError, JitadExtentError
from jitad.plain.as_written import each_as_long_as_there_are
from jitad.tape.build import Leaf
from jitad.tape.ir import Block, Equation, walk
from jitad.tape.types import Array
from jitad.trace import context, protocols
from jitad.trace.containers.iterables import (
    Counted,
    Together,
    begun,
    is_table,
    leave,
    read,
    table,
)
from jitad.trace.containers.steady import steady
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.unchanging import unchanging
from jitad.trace.context import Again, Region, Trace
from jitad.trace.flow.attempts import detours_begun, onward
from jitad.trace.flow.branches import Branches, decided, truth
from jitad.trace.flow.counted import RolledFor, RolledWhile
from jitad.trace.flow.idly import Idly
from jitad.trace.flow.plain import Plain, PlainWhile
from jitad.trace.flow.raising import raises_for_the_user
from jitad.trace.flow.rolled import Rolled
from jitad.trace.joins.optional import present
from jitad.trace.joins.selected import among_parts
from jitad.trace.ongoing import current
from jitad.trace.syntax.hooking import Site
from jitad.values.journal import made
from jitad.values.kind import require
from jitad.values.number import bind

State = tuple[Any, ...]
MAX_WRITTEN = 200  # operations of a loop that is written out although it could perhaps be rolled
MAX_BESIDE_ROWS = 1500  # the same, if lists had to become arrays: what is written out is faster
LOOP_WEIGHT = 30  # what a loop inside counts then, as time to compile
BEGUN = 3  # iterations that are written out, one by one, before a loop is taken to be none
ARRAY_WEIGHT = 4  # what an operation on whole arrays counts, as code


def for_(iterable: Any, state: State, site: Site) -> Any:
    trace = current()
    if trace is not None:
        trace.at(site.pos)
        iterable = among_parts(present(iterable))
    given, iterable = iterable, protocols.items(iterable)
    if trace is None:
        counted = begun(iterable)
        items = iterable if counted is None or counted.static is None else counted.static
        return Plain(items, state, site)
    from jitad.trace.flow import generators  # which are loops

    if site.waits and generators.awaited(trace, sys._getframe(1)):
        site = replace(site, waits=False)
    if type(iterable) is Together and not site.waits:
        _refuse_advancing(trace, iterable)
        iterable = iterable.whole()
    iterable = unchanging(given, iterable)
    if isinstance(iterable, list) and site.pos in trace.insight.changing:
        iterable = generators.written(each_as_long_as_there_are, iterable)
    counted = begun(iterable)
    if counted is None and site.pos in trace.insight.acting:
        iterable = generators.one_after_the_other(iterable, sys._getframe(1))
    if site.waits and counted is not None and isinstance(counted.count, Leaf):
        if trace.builder.example(counted.count.atom) is None:
            generators.only_for_loops(trace, sys._getframe(1))
    if generators.is_generator(iterable):
        _refuse_advancing(trace, iterable)
        return generators.Inlined(trace, iterable, state, site)
    if counted is not None and (counted.static is None or counted.count > context.UNROLLED):
        written = counted.static is not None and site.waits
        out = Unrolled(trace, counted.static, None if written else counted, state, site)
        out.over_counted(counted, iterable)
        if counted.static is not None and not site.waits:
            out.may_be_long(counted.count)
        return out
    if counted is None:
        trace.journal.iterated.note([iterable])
        _refuse_advancing(trace, iterable)
    items = iterable if counted is None else counted.static
    out = Unrolled(trace, items, None, state, site)
    if counted is not None:
        out.over_counted(counted, iterable)
    if not site.waits and site.pos not in trace.insight.written_out:
        from jitad.trace.containers.in_rows import gone_over, in_rows  # which call

        if site.pos in trace.insight.long:
            if counted is None:
                out.items = read(in_rows(iterable))
            out.counted, out.long = counted or begun(out.items) or table(out.items), True
        elif counted is not None or is_table(iterable, site.stops) or gone_over(iterable):
            out.most = length_hint(iterable, 1)
    return out


def while_(state: State, site: Site) -> Any:
    trace = current()
    if trace is None:
        return PlainWhile((), state, site)
    from jitad.trace.flow import generators  # which are loops

    trace.at(site.pos)
    if site.waits and generators.awaited(trace, sys._getframe(1)):
        site = replace(site, waits=False)
    return While(trace, state, site)


def _refuse_advancing(trace: Trace, iterable: Any) -> None:
    if iter(iterable) is iterable:
        protocols.check_advanced(trace, iterable)


def stopped(site: Site, state: Any) -> Any:
    """Was the loop left in an iteration before?"""
    out: Any = False
    for k in site.stops:
        flag = truth(state[k])
        if flag is True:
            return True
        if isinstance(flag, Leaf):
            out = bind("logical_or", out, flag) if isinstance(out, Leaf) else flag
    return out


class Session:
    """A loop of a trace; `inner` is what the `with` of the present iteration means."""

    traced = False

    def __init__(self, trace: Trace, state: State, site: Site) -> None:
        self.trace, self.state, self.site = trace, state, site
        self.inner: Any = None
        self.raised: Any = None
        self.exit = state

    def __enter__(self) -> None:
        if self.inner is not None:
            self.inner.__enter__()

    def __exit__(self, kind: Any, error: Any, where: Any) -> bool:
        if self.inner is not None:
            return bool(self.inner.__exit__(kind, error, where))
        return False

    def leave(self, state: State) -> None:
        self.state = state
        if self.inner is not None:
            self.inner.leave(state)

    def joined(self) -> State:
        return onward(self.trace, self.raised, self.site, self.state)

    def roll(self, rolled: Rolled, with_item: bool, begins: bool) -> Iterator[Any]:
        """Run the passes of a rolled loop; `rolled.done` is False where it must be written out.

        Where an iteration leaves another kind of thing than there was before, that is an error;
        unless the loop `begins`: one iteration is written out then, and the rest tried again.
        """
        before = self.state
        self.inner = rolled
        self.traced = True
        self.trace.rolling.append(self.site.pos)
        try:
            for item, state in rolled.passes():
                yield (item, state) if with_item else state
        except JitadError:
            if not begins or rolled.event != "unsettled":
                raise
        finally:
            self.trace.rolling.pop()
        self.inner = None
        self.traced = False
        self.state = before
        if rolled.done:
            self.state, self.raised = rolled.result, rolled.raised

    def entered(self, goes_on: Any, kind: type[JitadError] = JitadExtentError) -> None:
        """There is an iteration more, in calls of this kernel."""
        self.trace.at(self.site.pos)
        require(goes_on, kind, "this loop ends before its variables are of the kinds that they "
                "have after more iterations",
                "Begin with what they become: np.zeros(n), say, not 0.0.")  # fmt: skip


class Unrolled(Session):
    """A `for` that is rolled where it can be, and else written out."""

    def __init__(
        self, trace: Trace, items: Any, counted: Counted | None, state: State, site: Site
    ) -> None:
        super().__init__(trace, state, site)
        self.items, self.counted = items, counted
        self.iterable = items
        self.most = 0  # how many iterations there are, if it is to be rolled should it get long
        self.long = False  # it has got long in an earlier trace
        self.why: BaseException | None = None  # it can't be rolled
        self.over = False
        self.ended: Callable[[Any], None] = lambda early: None  # see `Counted`

    def over_counted(self, counted: Counted, iterable: Any) -> None:
        self.ended = counted.ended
        if isinstance(iterable, list):
            self.iterable, counted.changes = iterable, self.changes

    def joined(self) -> State:
        early, out = stopped(self.site, self.state), super().joined()
        self.ended(early)
        return out

    def __iter__(self) -> Iterator[Any]:
        if self.counted is not None:
            if self.site.waits:
                self.items = self.counted.each()  # its length is relied on
                yield from self.written_out()
                return
            yield from self.rolled_or_begun(self.counted)
            if self.over:
                return
            if self.items is None:  # its length is relied on
                self.items = map(self.relied, range(self.counted.count.known("a count")))
        yield from self.written_out()

    def rolled_or_begun(self, counted: Counted) -> Iterator[Any]:
        """Rolled, if need be after some iterations that are written out.

        What is a number before a loop, and an array in it, is an array once the loop has begun.
        """
        static, begun = self.items is not None, 0
        if self.site.pos in self.trace.insight.altering:
            return
        may_fail = static or self.expected(counted.count) is not None
        while not self.over:
            begins = begun < BEGUN and self.begins(counted.count) is not False
            rolled = RolledFor(self.trace, counted, self.state, self.site, may_fail, self.long)
            yield from self.roll(rolled, True, begins)
            if not rolled.done and self.trace.wanted and self.give_rows():
                continue
            if self.long:
                self.or_written_out(rolled.done)
            self.over, self.why = rolled.done, rolled.why
            if self.over or not begins or rolled.event != "unsettled":
                return
            if not static:
                known = self.begins(counted.count)
                self.entered(bind("gt", counted.count, 0), GuardMiss if known else JitadExtentError)
            yield from self.iteration(counted.item(0))
            self.counted = counted = counted.rest()
            self.items, begun = counted.static, begun + 1
            gone = stopped(self.site, self.state) is True
            self.over = gone or (static and counted.count == 0)

    def begins(self, count: Any) -> bool | None:
        """Is there an iteration in the call that is traced for, if that is known?

        In a loop around it there may be none in the first, as in `for j in range(i)`.
        """
        found = self.trace.builder.example(count.atom) if isinstance(count, Leaf) else count
        return bool(found > 0) if found is not None else False if self.trace.rolling else None

    def may_be_long(self, count: int) -> None:
        """Should it get long, lists of floats become arrays, so that it can be rolled."""
        insight, pos = self.trace.insight, self.site.pos
        if pos not in insight.written_out:
            self.long = pos in insight.long
            self.most = 0 if self.long else count

    def expected(self, count: Any) -> int | None:
        """The length in the call that is traced for, if the loop could be written out for it."""
        found = self.trace.builder.example(count.atom) if isinstance(count, Leaf) else None
        return found if found is not None and found <= context.MAX_RELIED else None

    def relied(self, k: int) -> Any:
        assert self.counted is not None
        item = self.counted.item(k)
        known = self.trace.builder.rely(item.atom) if isinstance(item, Leaf) else None
        return item if known is None else known

    def written_out(self) -> Iterator[Any]:
        size, block = 0, self.trace.builder.blocks[-1]
        detours = detours_begun(self.trace)
        limit, inside = (MAX_WRITTEN, 1) if self.counted is None else (MAX_BESIDE_ROWS, LOOP_WEIGHT)
        items, over = iter(steady(self.items, self.changes)), cast(Any, False)
        for k in itertools.count():
            try:
                with Idly(self.trace, self.site.pos) if isinstance(over, Leaf) else nullcontext():
                    item = next(items)
            except StopIteration:
                return
            begin = len(block.equations)
            present(self.iterable)  # it may be another one, written in the loop
            self.trace.instead += self.why is not None
            if self.why is not None and self.trace.instead > context.MAX_UNROLLED:
                raise self.why  # many of them, in one another
            if k >= context.MAX_UNROLLED:
                raise JitadError(
                    f"this loop is written out, and has more than {context.MAX_UNROLLED} "
                    "iterations", self.site.pos, "Loop over range() or an array.",
                )  # fmt: skip
            if type(self.iterable) is groupby and self.trace.journal.is_fresh(self.iterable):
                made(item[1])
            yield from self.iteration(item)
            over = stopped(self.site, self.state)
            if isinstance(over, Leaf) or len(self.trace.detours) > detours:
                leave(self.trace.left, self.iterable)
            if over is True:
                return
            if self.most:
                size += _weight(block.equations[begin:], inside)
                if size * max(1, self.most // (k + 1)) > limit:
                    insight = self.trace.insight
                    raise Again(replace(insight, long=insight.long | {self.site.pos}))

    def changes(self) -> None:
        """The loop changes the length of the list that it is over: it becomes a `while`."""
        if isinstance(self.iterable, list):
            self.trace.gone_over(self.site.pos)

    def give_rows(self) -> bool:
        """Lists that the loop is to count in become ones of rows, before the first loop around."""
        from jitad.trace.containers.in_rows import into_rows  # which calls

        trace, journal = self.trace, self.trace.journal
        wanted = [x for x in trace.wanted if x and stretched(x) is None]
        around = trace.at_length[-1:]  # if any
        if not all(journal.made_since(x, frame) for _, frame in around for x in wanted):
            raise JitadError("this loop counts in a list", self.site.pos)
        trace.wanted = []
        for target in wanted:
            into_rows(target)
        return bool(wanted)

    def or_written_out(self, rolled: bool) -> None:
        """A long loop is written out after all where that is needed, be it only later."""
        insight, pos = self.trace.insight, self.site.pos
        if not rolled:
            raise Again(replace(insight, written_out=insight.written_out | {pos}))
        self.trace.needless.add(pos)

    def iteration(self, item: Any) -> Iterator[Any]:
        """One that is written out, and only happens unless the loop was left."""
        gone = stopped(self.site, self.state)
        if not isinstance(gone, Leaf):
            yield item, self.state
            return
        names = self.site.names
        site = Site(self.site.pos, names, self.site.stops, frozenset(names))
        self.inner = Branches(self.trace, bind("logical_not", gone), self.state, site)
        self.traced = True
        yield item, self.state
        self.state = self.inner.joined()
        self.inner, self.traced = None, False


def _weight(equations: list[Equation], loop: int = 1) -> int:
    """About how much code they become; those over whole arrays are loop nests."""

    def weight(e: Equation) -> int:
        if loop > 1 and e.op in ("for", "while"):
            return loop
        whole = e.op != "store" and any(isinstance(v.type, Array) for v in e.outs)
        return ARRAY_WEIGHT if whole else 1

    return sum(map(weight, walk(Block([], equations))))


class While(Session):
    """A `while`: written out while its condition is known, rolled when it is not."""

    PATIENCE = 4  # iterations written out before it is tried to roll the loop

    def __iter__(self) -> Iterator[Any]:
        pos = self.site.pos
        patience = 0 if self.trace.attempts else self.PATIENCE
        insight = self.trace.insight
        needed = pos in insight.relied or pos in insight.written_out
        patience, long = -1 if needed else patience, pos in insight.long
        count, size, block = 0, 0, self.trace.builder.blocks[-1]
        go, begun = self.goes_on(), 0
        while True:
            if go is False:
                return
            if self.site.waits:
                if isinstance(go, Leaf):
                    from jitad.trace.flow import generators  # which are loops

                    generators.only_for_loops(self.trace, sys._getframe(1))
                    raise JitadError(
                        "yield in a loop that goes on depending on traced values can't be traced",
                        self.site.pos, "Collect the values in an array, or loop over a range.",
                    )  # fmt: skip
                count = self.counted(count)
                yield self.state
                go = self.goes_on()
                continue
            if isinstance(go, Leaf) or count == patience:
                begins = isinstance(go, Leaf) and begun < BEGUN
                rolled = RolledWhile(self.trace, self.state, self.site, go is True, long)
                yield from self.roll(rolled, False, begins)
                if long and rolled.done:
                    self.trace.needless.add(pos)
                if rolled.done:
                    return
                if begins:
                    self.entered(go)
                    begun += 1
                    yield self.state
                    go = self.goes_on()
                    continue
                if long:
                    raise Again(replace(insight, written_out=insight.written_out | {pos}))
                patience = -1
            count = self.counted(count)
            begin = len(block.equations)
            if self.trace.attempts:  # which may make detours: no iteration is undone
                yield self.state
                size += _weight(block.equations[begin:])
                if size > MAX_WRITTEN and not (needed or long):
                    raise Again(replace(insight, long=insight.long | {pos}))
                go = self.goes_on()
                continue
            before = self.state
            self.inner = iteration = _Iteration(Region(self.trace, certain=True))
            yield self.state
            self.inner = None
            go = self.goes_on()
            if isinstance(go, Leaf):  # an exit under a traced condition
                iteration.region.drop()
                self.state = before
                rolled = RolledWhile(self.trace, self.state, self.site, False, long)
                yield from self.roll(rolled, False, begun < BEGUN)
                if rolled.done:
                    return
                begun += 1
                yield self.state
                go = self.goes_on()
                continue
            iteration.region.splice()
            size += _weight(block.equations[begin:])
            if size > MAX_WRITTEN and not (needed or long):
                raise Again(replace(insight, long=insight.long | {pos}))

    def goes_on(self) -> Any:
        """The condition; where the trace must know it, as it is in the call that is traced for."""
        go, b, pos = decided(self.state[0], self.site.pos), self.trace.builder, self.site.pos
        if isinstance(go, Leaf) and b.example(go.atom) is not None:
            self.trace.needless.add(pos)
            return bool(b.rely(go.atom)) if pos in self.trace.insight.written_out else go
        return go

    def counted(self, count: int) -> int:
        """One iteration more is written out."""
        relied = self.site.pos in self.trace.insight.written_out
        most = context.MAX_RELIED if relied else context.MAX_UNROLLED
        if count >= most:
            raise JitadError(
                f"this loop is written out, and has more than {most} "
                "iterations", self.site.pos, "Let its condition depend on an argument.",
            )  # fmt: skip
        return count + 1


class _Iteration:
    """One iteration, which stays or is undone when its end is known."""

    def __init__(self, region: Region) -> None:
        self.region = region

    def __enter__(self) -> None:
        self.region.open()

    def leave(self, state: State) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, _: object) -> None:
        if error is not None:
            if raises_for_the_user(error):
                self.region.splice()
            else:
                self.region.drop()
