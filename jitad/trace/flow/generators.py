"""What happens where a generator yields under a traced condition, or in a loop of the tape?

The body of the loop over it is traced there, inside the block in which the generator waits.  So
the loop's variables are places of the journal, which branches join and loops carry.  The loop is
left by an exception of its own, raised where the generator waits: what comes after it in the
generator is a detour (`attempts`), and all blocks on the way out hand it on.
"""

from __future__ import annotations

import dis
import functools
import heapq
import itertools
import math
import operator
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from inspect import CO_GENERATOR
from types import BuiltinMethodType, CodeType, FrameType, FunctionType, GeneratorType
from typing import Any
from weakref import WeakKeyDictionary

from jitad.errors import JitadError
from jitad.plain import as_written, endless, passed_on
from jitad.plain.as_written import each_one
from jitad.plain.taken_in import TAKING, put_all
from jitad.tape.build import Leaf
from jitad.trace.around.libraries import is_ours
from jitad.trace.calls import WHILE_TRACING, call
from jitad.trace.containers.iterables import ENDLESS, iterators_in, leave, pick
from jitad.trace.containers.lists import run
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.tabled import begun
from jitad.trace.context import Again, Trace
from jitad.trace.flow.attempts import (
    Attempt,
    Left,
    detour,
    detours_begun,
    held,
    settled,
    without,
)
from jitad.trace.flow.branches import Branches
from jitad.trace.flow.idly import Idly
from jitad.trace.flow.loops import Session, State, stopped
from jitad.trace.flow.raising import raises_for_the_user
from jitad.trace.joins.unset import UNSET, Among
from jitad.trace.library import native
from jitad.trace.ongoing import current
from jitad.trace.rewrite import is_rewritten_code
from jitad.trace.syntax.hooking import Site
from jitad.values import operators
from jitad.values.journal import MISSING, made, record
from jitad.values.kind import fail
from jitad.values.number import bind


def is_generator(thing: Any) -> bool:
    """Is it one of the user's?"""
    return isinstance(thing, GeneratorType) and is_rewritten_code(thing.gi_code)


def awaited(trace: Trace, frame: FrameType | None) -> bool:
    """Does a loop wait for what the generator of this frame yields, maybe through others?"""
    while frame is not None:
        waiting = [c for c in trace.consumers if c.generator.gi_frame is frame]
        if waiting:  # a loop that yields itself is gone on with by whoever advances its generator
            return not any(c.site.waits for c in waiting)
        frame = _yielding_from(frame)
    return False


def _yielding_from(inner: FrameType) -> FrameType | None:
    """Who yields on what this generator does, by `yield from`."""
    frame = inner.f_back
    if frame is None or dis.opname[frame.f_code.co_code[frame.f_lasti]] not in _YIELD_FROM:
        return None
    return frame


def only_for_loops(trace: Trace, frame: FrameType) -> None:
    """Only the kernel knows when the generator yields: whoever takes it next takes it as a loop."""
    yielding = trace.insight.yielding | _handing_on(trace, frame)
    if yielding != trace.insight.yielding:
        raise Again(replace(trace.insight, yielding=yielding))


def _handing_on(trace: Trace, frame: FrameType) -> frozenset[CodeType]:
    """The code of this generator, and of those that loop over what it yields and yield it on."""
    around = [c.frame for c in trace.consumers if c.generator.gi_frame is frame]
    if (outer := _yielding_from(frame)) is not None:
        around.append(outer)
    inner = frozenset({frame.f_code})
    return inner.union(*(_handing_on(trace, f) for f in around if f.f_code.co_flags & CO_GENERATOR))


_YIELD_FROM = ("SEND", "YIELD_VALUE", "RESUME")  # the others where something is thrown into it


def instead(f: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What stands in for a function of Python's that is given a generator; None: nothing does.

    Those that take all make a list of it first, the others are generators themselves.
    """
    if not isinstance(f, (type, BuiltinMethodType, FunctionType)):
        return None
    if isinstance(f, BuiltinMethodType) and any(map(yields_in_blocks, args)):
        own: Any = f.__self__  # which takes in by a loop what Python can't put in by itself
        if (by := TAKING.get((type(own), f.__name__))) is not None:
            return functools.partial(run, by, own)
    if f in _WHOLE:
        return lambda *args, **kwargs: call(f, *map(as_list, args), **kwargs)
    return WRITTEN.get(f)


def stops(f: Any, args: tuple[Any, ...]) -> bool:
    """Does it ask an iterator for no more than what decides?"""
    return (f is any or f is all) and len(args) == 1 and hasattr(type(args[0]), "__next__")


def taken_in(target: Any, values: Any) -> bool:
    """target += values, where that is a generator which Python itself can't take from."""
    by = TAKING.get((type(target), "extend"))
    if by is None or not yields_in_blocks(values):
        return False
    run(by, target, values)
    return True


def yields_in_blocks(value: Any) -> bool:
    trace = current()
    return trace is not None and is_generator(value) and value.gi_code in trace.insight.yielding


def as_list(value: Any) -> Any:
    return run(as_written.listed, value) if is_generator(value) else value


def listed(value: Any) -> Any:
    """A generator that yields in blocks of the tape, where no loop goes on, as a list."""
    trace = current()
    if trace is None or not is_generator(value):
        return value
    refuse_left(trace, value)
    return as_list(value) if yields_in_blocks(value) else value


def _next(values: Any, *default: Any) -> Any:
    """The next that a generator yields; where the kernel knows which, it yields no more."""
    trace = current()
    if trace is not None:
        refuse_left(trace, values)
    if trace is not None and values in _COUNTS:
        return run(endless.counted_on, _COUNTS[values])
    if trace is None or values.gi_code not in trace.insight.yielding:
        return resumed(trace, values, lambda: native(next, values, *default))
    return run(as_written.first_yielded_or if default else as_written.first_yielded,
               values, *default)  # fmt: skip


def resumed(trace: Trace | None, generator: Any, go_on: Callable[[], Any]) -> Any:
    """What a generator gives when it goes on; its `try` statements are open only meanwhile."""
    if trace is None:
        return go_on()
    outside = trace.attempts
    trace.attempts = [*outside, *trace.waiting.pop(generator, ())]
    try:
        return go_on()
    finally:
        if inside := trace.attempts[len(outside) :]:
            trace.waiting[generator] = inside
        trace.attempts = outside


def refuse_left(trace: Trace, generator: Any) -> None:
    """What a generator would yield next, only the kernel knows, which can't go on with it."""
    if id(generator) in trace.left:
        raise fail(JitadError, "a generator can't go on after a loop that a traced condition left",
                   "Make a list of it first.")  # fmt: skip


def written(f: Any, *args: Any) -> Any:
    out = run(f, *args)
    made(out)
    return out


def one_after_the_other(iterable: Any, frame: FrameType) -> Any:
    """What a loop goes over that is left, by a generator, which can be told; in that, as it is."""
    told = frame.f_code.co_name == each_one.__name__ and is_ours(frame.f_code)
    return iterable if told or is_generator(iterable) else written(each_one, iterable)


def one_by_one(value: Any) -> Any:
    """Instead of a list whose length only the kernel knows, a generator of its elements."""
    return value if stretched(value) is None else written(as_written.each, value)


def _mapped(f: Any, *values: Any) -> Any:
    if len(values) == 1:
        return written(as_written.each_mapped, f, *values)
    return written(as_written.each_mapped_over, f, values)


def _islice(values: Any, *bounds: Any) -> Any:
    trace = current()
    if trace is not None:
        refuse_left(trace, values)
    if trace is None or values.gi_code not in trace.insight.yielding:
        return native(itertools.islice, values, *bounds)
    if len(bounds) == 1 and bounds[0] is not None:
        return written(as_written.first_few, values, *bounds)
    return native(itertools.islice, values, *bounds)


def _dict(pairs: Any, **named: Any) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    made(out)
    begun(out)
    run(put_all, out, pairs)
    out.update(named)
    return out


def _cycle(values: Any) -> Any:
    if hasattr(values, "__next__"):
        return native(itertools.cycle, values)
    out = written(endless.cycling, values)
    if type(values) in (list, tuple) and values and stretched(values) is None:
        ENDLESS[out] = lambda: functools.partial(_in_turns, values, list(values))
    return out


def _in_turns(values: Any, items: list[Any], k: Any) -> Any:
    if len(values) != len(items) or any(map(operator.is_not, values, items)):
        raise fail(JitadError, "a list is written while cycle() goes through it",
                   "Let it go through a tuple of the list.")  # fmt: skip
    return pick(items, operators.mod(k, len(items)))


def _repeat(value: Any, *times: Any, **named: Any) -> Any:
    if times or named:
        return native(itertools.repeat, value, *times, **named)
    out = written(endless.repeating, value)
    ENDLESS[out] = lambda: lambda k: value
    return out


def _count(start: Any = 0, step: Any = 1) -> Any:
    count = endless.Count(start, step)
    made(count)
    out = written(endless.counting, count)
    _COUNTS[out] = count
    ENDLESS[out] = lambda: lambda k: count.at + k * count.step
    return out


# where those stand that `next` may advance under a condition, as any number may change there
_COUNTS: WeakKeyDictionary[Any, endless.Count] = WeakKeyDictionary()


# iterators that end only where the loop over them does
WHILE_TRACING.update({itertools.count: _count, itertools.cycle: _cycle, itertools.repeat: _repeat})
_WHOLE = {list, tuple, set, sorted, min, max, functools.reduce, math.fsum, deque, Counter,
          heapq.nlargest, heapq.nsmallest}  # fmt: skip
WRITTEN: dict[Any, Callable[..., Any]] = {
    enumerate: lambda values, start=0: written(as_written.enumerated, values, start),
    map: _mapped,
    filter: lambda f, values: written(passed_on.each_kept, f, values),
    itertools.chain: lambda *values: written(as_written.each_of, values),
    itertools.chain.from_iterable: lambda values: written(as_written.each_of, values),
    itertools.filterfalse: lambda f, values: written(passed_on.each_not_kept, f, values),
    itertools.dropwhile: lambda f, values: written(passed_on.each_after, f, values),
    itertools.takewhile: lambda f, values: written(passed_on.each_while, f, values),
    itertools.islice: _islice,
    next: _next, dict: _dict,
    any: lambda values: run(as_written.any_of, values),
    all: lambda values: run(as_written.all_of, values),
}


class Inlined(Session):
    """A loop over a generator, which goes on wherever the generator yields."""

    def __init__(self, trace: Trace, generator: Any, state: State, site: Site) -> None:
        super().__init__(trace, state, site)
        refuse_left(trace, generator)
        self.generator = generator
        self.over = iterators_in(generator)
        self.values = list(state)
        self.frame = sys._getframe(2)
        self.running = False  # is the body being traced, and not the generator?
        self.error: BaseException | None = None  # of the body
        self.kinds = (Left,)  # as of an attempt
        self.left = Left(self)
        made(self)  # what a block begins, it also ends: nobody else asks for its variables

    variables_there = Attempt.variables

    def variables(self, joined: dict[str, Any]) -> dict[str, Any]:
        """The loop's variables as they are now, where an exception is raised."""
        if self.running and is_rewritten_code(self.frame.f_code):
            now = self.variables_there(joined)  # type: ignore[misc]
        else:
            given = zip(self.site.names, self.values, strict=True)
            now = {n: joined.get(n, v) for n, v in given}
        self._store(tuple(now.values()))  # blocks of the generator's know nothing else
        return now

    # -- the loop -------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        trace = self.trace
        self.depth = len(trace.detours)
        self.regions, self.blocks = len(trace.regions), len(trace.builder.blocks)
        trace.consumers.append(self)
        trace.attempts.append(self)
        left: Left | None = None
        try:
            while True:
                try:
                    item = self._next()
                except StopIteration:
                    break
                except Left as e:
                    if e.loop is not self:
                        raise
                    left = e
                    break
                yield from self._body(item)
            generator, self.generator = self.generator, None  # closed, unless somebody else has it
            values, raised = settled(
                trace, self.depth, self, self.site.names, tuple(self.values), left
            )
            self.state, self.raised = values, without(raised, self._is_left)
            # this loop is left, or one around that goes on through it
            if raised is not None or isinstance(stopped(self.site, values), Leaf):
                leave(trace.left, generator, *self.over)
        finally:
            if self.generator is not None:  # an error leaves no block of it open
                trace.left[id(self.generator)] = self.generator
                with suppress(RuntimeError):  # it may go on as if nothing was; the error says more
                    resumed(trace, self.generator, self.generator.close)
            trace.consumers = [c for c in trace.consumers if c is not self]
            trace.attempts = [a for a in trace.attempts if a is not self]

    def _body(self, item: Any) -> Iterator[Any]:
        trace = self.trace
        depth = detours_begun(trace)
        gone = stopped(self.site, self.values)
        if gone is not True:
            if isinstance(gone, Leaf):
                names = self.site.names
                site = Site(self.site.pos, names, self.site.stops, frozenset(names))
                go_on = bind("logical_not", gone)
                self.inner = Branches(trace, go_on, tuple(self.values), site)
            self.traced = self.inner is not None
            self.running = True
            yield item, tuple(self.values)
            self.running = False
            if self.inner is not None:
                self._store(self.inner.joined())
                self.inner, self.traced = None, False
        for error in itertools.chain.from_iterable(d.errors() for d in trace.detours[depth:]):
            self._let_pass(error)

    def _is_left(self, error: Any) -> bool:
        return isinstance(error, Left) and error.loop is self

    def _let_pass(self, error: Any) -> None:
        """What the body raises passes the generator, whose own `try` must not catch it."""
        waiting = self.trace.waiting.get(self.generator, ())
        kinds = tuple(k for a in waiting if isinstance(a, Attempt) for k in a.kinds)
        errors = error.among if type(error) is Among else (error,)
        if any(isinstance(e, kinds) and type(e) is not Left for e in errors):
            self.error = JitadError(
                "an exception that depends on traced values leaves the body of a loop over a "
                "generator, which waits in a `try` that would catch it", self.site.pos,
                "Yield outside of the `try`.",
            )  # fmt: skip

    def _next(self) -> Any:
        """What the generator yields next, having been told how the body ended."""
        return resumed(self.trace, self.generator, self._gone_on)

    def _gone_on(self) -> Any:
        if self.error is not None:
            error, self.error = self.error, None
            return self.generator.throw(error)
        gone = stopped(self.site, self.values)
        deeper = len(self.trace.regions) > self.regions
        if gone is True:
            if not deeper:
                raise StopIteration
            return self.generator.throw(self.left)
        told = self.site.pos in self.trace.insight.acting
        if isinstance(gone, Leaf) and (deeper or told):
            detour(self.trace, bind("logical_not", gone), self.left, self.variables({}))
            for k in self.site.stops:
                self._write(k, False)
        if len(self.trace.detours) == self.depth if told else deeper or not isinstance(gone, Leaf):
            return next(self.generator)
        with Idly(self.trace, self.site.pos, told):
            return next(self.generator)

    # -- what the body hands over ------------------------------------------------------------------

    def leave(self, state: State) -> None:
        if self.inner is not None:
            self.inner.leave(state)
        else:
            self._store(state)

    def __exit__(self, kind: Any, error: Any, where: Any) -> bool:
        if super().__exit__(kind, error, where):
            return True
        if error is None or len(self.trace.regions) <= self.regions:
            return False
        held(self)
        self.running, self.inner, self.error = False, None, error
        if raises_for_the_user(error):
            self._let_pass(error)
        return True

    def _store(self, state: State) -> None:
        for k, value in enumerate(state):
            self._write(k, value)

    def _write(self, k: int, value: Any) -> None:
        if value is self.values[k]:
            return

        def read() -> Any:
            return MISSING if self.values[k] is UNSET else self.values[k]

        def assign(value: Any) -> None:
            self.values[k] = UNSET if value is MISSING else value

        record(self, ("state", self.site.names[k]), read(), read, assign)
        self.values[k] = value
