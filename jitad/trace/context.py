"""What is going on while a function is traced?

A `Trace` holds the tape being built, the journal of writes, the captured values and the budgets.
A `Region` is a block of the tape that is being filled: a branch, or a pass through a loop body.
It opens and closes a frame of the journal, too; `splice` makes it part of what is around it.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.primitives.schedules import Memory
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom, Block, Pos, Var
from jitad.trace.around.libraries import AS_WRITTEN
from jitad.trace.containers.stretch import FIRST_INSIDE
from jitad.trace.flow.functions import Functions
from jitad.trace.flow.observe import Decisions
from jitad.trace.joins.snapshot import snapshot, things_within
from jitad.trace.joins.state import Snapshot
from jitad.trace.joins.unset import UNSET, of_its_own
from jitad.trace.ongoing import traces
from jitad.trace.rewrite import is_rewritten_code
from jitad.trace.traced import Room
from jitad.values import journal as journals
from jitad.values.array import ArrayHandle
from jitad.values.journal import MISSING, Journal, Write

if TYPE_CHECKING:
    from jitad.trace.around.captures import Captures
    from jitad.trace.around.paths import Path
    from jitad.trace.flow.foreseen import Inside
    from jitad.trace.flow.recursion import Recursion
    from jitad.trace.joins.mismatch import Mismatch

MAX_STEPS = 2_000_000  # hooked operations in one trace
MAX_UNROLLED = 20_000  # iterations of one loop that is written out
MAX_RELIED = 1_000  # iterations of one that is written out because its length was relied on
UNROLLED = 4  # a range of so few iterations is written out


@immutable
class Insight:
    """What earlier attempts at a trace have found out."""

    relied: frozenset[Pos] = frozenset()  # places of conditions that must be known
    written_out: frozenset[Any] = frozenset()  # loops, and lists of floats, of known lengths
    altering: frozenset[Pos] = frozenset()  # loops that change what is in objects of libraries
    recursive: frozenset[CodeType] = frozenset()  # functions that become functions of the tape
    unfolded: frozenset[CodeType] = frozenset()  # recursive ones whose calls are written out
    tried: frozenset[CodeType] = frozenset()  # those that could not become one
    ending: frozenset[Pos] = frozenset()  # places of conditions under which functions recur
    changing: frozenset[Pos] = frozenset()  # loops that change the length of the list they are over
    acting: frozenset[Pos] = frozenset()  # loops that are left, and whose generators then would act
    long: frozenset[Pos] = frozenset()  # loops that would be long, written out
    yielding: frozenset[CodeType] = frozenset()  # generators that yield in blocks, to no loop
    apart: frozenset[Pos] = frozenset()  # where paths meet whose things other names tell apart
    joined: frozenset[Pos] = frozenset()  # where that was tried in vain, and can do without
    tabled: frozenset[Pos] = frozenset()  # where dicts are made that get keys of the kernel's
    keys: bool = False  # are ints relied on that dicts are asked for? one is a new key
    contents: bool = False  # the numbers in arrays of ints, and extents, must be known
    floats: bool = False  # floats that the function reads, other than its arguments, must be known
    # where arrays are that don't lie in C order, if that matters, and what is known of them
    orders: frozenset[tuple[Path, str]] = frozenset()


class Again(BaseException):
    """The trace must start anew, knowing more; if it fails then, with what there is `instead`."""

    def __init__(self, insight: Insight, instead: Insight | None = None) -> None:
        self.insight, self.instead = insight, instead


class DeadPath(BaseException):
    """Control can't come here: every branch above has raised."""


class Bottom(DeadPath):
    """Nothing is known yet of what comes back from here: see `recursion`."""


class Trace:
    """One run of a function with traced values."""

    def __init__(self, builder: Builder, captures: Captures) -> None:
        self.builder = builder
        self.captures = captures
        self.journal = Journal()
        self.regions: list[Region] = []
        self.attempts: list[Any] = []  # the open `try` statements, see `attempts`
        # those in which generators wait, which end when nobody else has them
        self.waiting: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()
        self.detours: list[Any] = []
        self.seeded: dict[int, Any] = {}  # generators of random numbers, and the blocks they are of
        self.left: dict[int, Any] = {}  # generators that a loop has left before they were done
        self.consumers: list[Any] = []  # loops over generators that go on where those yield
        # kinds of exception that must be known, and the number of regions around
        self.sealed: list[tuple[tuple[type, ...], int]] = []
        # the calls in progress, by abstract signature and by function, with the number of regions
        # and conditions around each
        self.calls: dict[tuple[Any, ...], tuple[int, int]] = {}
        self.nested: dict[CodeType, list[tuple[int, int]]] = {}
        self.depth = 0  # of calls
        self.guessed: dict[Any, str] = {}  # opaque functions that are taken to give a float
        # functions without rules that the derivative being traced may not call, as `tags.REFUSED`
        self.refused: dict[tuple[str, str], Pos | None] = {}
        self.orders = 0  # how many derivatives of what is being traced may be taken
        # of the branches that are being traced, and which one it is
        self.conditions: list[tuple[Pos, Leaf, bool]] = []
        self.insight = Insight()
        self.functions = Functions()
        self.recursions: list[Recursion] = []  # functions of the tape that are being traced
        self.operators = 0  # derivative operators around the present place
        self.swallowed = False  # was a loop left out because of `Bottom`?
        self.told: list[tuple[Any, Any]] = []  # managers of a `with`, and whether they swallow
        self.parted: dict[int, object] = {}  # cells of functions that a join has made anew
        self.rolling: list[Pos] = []  # the loops that are being traced, as such
        self.instead = 0  # iterations that are written out of loops that could not be rolled
        self.tried: list[Var] = []  # the indices of those that could be written out as well
        # those of loops that would be long, written out, each with the journal's frame of it
        self.at_length: list[tuple[list[Var], int]] = []
        self.wanted: list[list[Any]] = []  # the lists that should be ones of rows for them
        self.in_rows = False  # has one of these become one?
        self.decisions: Decisions | None = None  # how conditions turned out in an earlier run
        self.decided = 0  # how many of them have been met
        self.steps = 0
        self.ran: dict[int, Any] = {}  # the functions that were called, by their ids
        self.filters = warnings.filters  # a `with catch_warnings` makes another list of them
        self.memory: Memory | None = None  # for the records of loops
        self.rooms: dict[Pos | None, tuple[Leaf, Room]] = {}  # by the loops that they grow in
        self.moved: list[Any] | None = None  # iterators that are moved on, if `flow/idly` asks
        self.begun: dict[int, tuple[Any, Pos]] = {}  # dicts, and where they were made
        self.new_keys: dict[str, Pos] = {}  # the same of those in which a key may be new
        # such loops, if they could be written out as well, and lists of floats from outside
        self.needless: set[Any] = set()
        # where elements of such lists were read; may two lists share one?; the loops in which some
        # were written, and others that were read before, see `writtenback`
        self.homes: dict[int, Any] = {}
        self.owners: dict[int, tuple[Any, Any, Any]] = {}
        self.sharing = False
        self.written_back: set[Pos] = set()
        self.relied_on: set[Pos] = set()
        self.moves: list[Any] = []  # lists whose elements have changed their places
        self.slices: dict[int, tuple[list[Any], list[Any], slice]] = {}  # there for loops alone
        # which calls of functions that keep their results are told apart, and what they keep
        self.keeping: dict[tuple[Any, ...], int] = {}
        self.kept: dict[int, Any] = {}
        self.journal.made(self.kept)
        self.journal.refused = self.keep_apart

    def counts_out(self, k: Leaf) -> bool:
        """Would the number be known if a loop around were written out?"""
        found = self._made_of(k)
        return found.isdisjoint(self.captures.columns) and not found.isdisjoint(self.tried)

    def counts_out_at_length(self, k: Leaf) -> bool:
        """Only if loops were written out that would be long?"""
        found = self._made_of(k).intersection(self.tried)
        return bool(found) and found <= {own for loop, _ in self.at_length for own in loop}

    def _made_of(self, k: Leaf) -> set[Atom]:
        found: set[Atom] = {k.atom}
        for block in reversed(self.builder.blocks):
            for e in reversed(block.equations):
                if not found.isdisjoint(e.outs):
                    found.update(e.ins)
        return found

    def keep_apart(self, places: frozenset[Pos]) -> None:
        """A thing is read that may be the one written meanwhile: trace anew, and know which."""
        if not places <= self.insight.apart:
            raise Again(replace(self.insight, apart=self.insight.apart | places))

    def come_apart(self, target: list[Any]) -> None:
        """A list from outside gets an element of another kind: the others stay what they are."""
        path, apart = self.captures.path_of(target), self.insight.written_out
        if path in self.needless - apart:
            raise Again(replace(self.insight, written_out=apart | {path}))

    def may_be_copied(self, written: Any) -> None:
        """What is written outside may be an element of a long list, of which there are copies."""
        copied = self.captures.copied
        if copied and isinstance(written, (list, dict, ArrayHandle)):
            raise Again(replace(self.insight, written_out=self.insight.written_out | copied))

    def keep_outside(self, value: Any) -> None:
        """What a place outside holds in the end: things from outside had better stay themselves.

        Where a branch or loop chose between one of them and another, the trace has made a third.
        """
        journal, known = self.journal, self.insight
        things = things_within(value, False) if journal.joins else []
        things = [x for x in things if self._may_be_outside(x)]
        places = {p for thing in things for p in journal.places(thing)}
        if new := places - known.apart - known.joined:
            raise Again(replace(known, apart=known.apart | new),
                        replace(known, joined=known.joined | new))  # fmt: skip
        if self.operators and any(journal.touched(x, "content") for x in things):
            raise JitadError(
                "a derivative writes to an array that may be one from outside, or another",
                self.builder.pos, "Copy it before the branch or loop: np.array(a).",
            )  # fmt: skip

    def _may_be_outside(self, thing: Any) -> bool:
        if id(thing) not in self.journal.joins:
            return False
        return any(self.captures.path_of(x) is not None for x in self.journal.relatives(thing))

    def gone_over(self, pos: Pos | None) -> None:
        """A list gets longer or shorter while it is gone over there: trace anew, and go on as long
        as there are elements."""
        if pos is not None and pos not in self.insight.changing:
            raise Again(replace(self.insight, changing=self.insight.changing | {pos}))

    def refuse_lost(self, target: object) -> None:
        """What was written may be this, if it is from outside, or another: trace anew, and know."""
        path = self.captures.path_of(target)
        if path is None:
            return
        self.keep_apart(self.journal.places(target))
        what = "array" if isinstance(target, ArrayHandle) else "object"
        raise JitadError(
            f"the {what} {path} may have been written to under another name: a branch or a loop "
            f"chose between it and another {what}", self.builder.pos,
            f"Copy the {what}s before they change places.",
        )  # fmt: skip

    @contextmanager
    def remembering(self, memory: Memory | None) -> Iterator[None]:
        """Derivatives that are taken meanwhile have this much memory, if any is given."""
        before, self.memory = self.memory, self.memory if memory is None else memory
        try:
            yield
        finally:
            self.memory = before

    def room(self, pos: Pos | None) -> Leaf:
        """How many elements lists may have that grow here: an argument of the kernel.

        None: lists that are elements of such lists.
        """
        if pos not in self.rooms:
            number = len(self.rooms) + 1
            if pos is None:
                room = Room(f"list {number}, of those inside of others, is shorter", FIRST_INSIDE)
            else:
                room = Room(f"list {number}, which grows in line {pos.line}, is shorter")
            from jitad.trace.around.longlists import hidden  # which knows of forms

            self.rooms[pos] = hidden(self.captures, room, "room"), room
        return self.rooms[pos][0]

    def room_message(self, room: Atom) -> str | None:
        """What the kernel says if this room does not suffice; None of what is no room."""
        return next((r.message for leaf, r in self.rooms.values() if leaf.atom is room), None)

    def around(self) -> frozenset[Pos]:
        """Where the conditions are under which the trace is at present."""
        return frozenset((*(p for p, *_ in self.conditions), *self.rolling))

    def mismatched(self, error: Mismatch, pos: Pos, test: Any) -> None:
        """Things have no common form: the trace may know more when it starts anew."""
        if error.endless:
            self.keep_apart(frozenset({pos}))
        if error.functions:
            self.undecided(pos, test)

    def undecided(self, pos: Pos, test: Any) -> None:
        """Functions would have to be joined here: their nesting depends on a condition.

        One on ints and extents is relied on; others are not known to a trace.
        """
        known = not isinstance(test, Leaf) or self.builder.example(test.atom) is not None
        if known and pos not in self.insight.relied:
            raise Again(replace(self.insight, relied=self.insight.relied | {pos}))

    def next_decision(self, place: Pos | None) -> bool | None:
        """How this condition turned out in the run whose path is traced."""
        if self.decisions is None or self.rolling or place not in self.decisions.places:
            return None  # in a rolled loop one decision would stand for all iterations
        assert place is not None
        self.decided += 1
        return self.decisions.of(place, self.decided - 1)

    def at(self, pos: Pos) -> None:
        """Note the user's position: at a loop or condition of Python's library, who called it."""
        if pos.file not in AS_WRITTEN:
            self.builder.pos = pos

    def step(self, frame: FrameType) -> None:
        """Note the user's position; every hook of a traced operation calls this."""
        self.builder.pos = position(frame) or self.builder.pos
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise JitadError(
                f"the trace exceeds its budget of {MAX_STEPS} operations", self.builder.pos,
                "A loop is written out operation by operation: loop over range() or an array.",
            )  # fmt: skip


def enter(trace: Trace) -> None:
    traces().append(trace)
    journals.push(trace.journal)


def leave() -> None:
    _drop_suspended(traces()[-1])
    traces().pop()
    journals.pop()


class _Over(BaseException):
    """The trace is over: the `finally` of a generator that nobody goes on with does nothing."""


class _Ended:
    def __getattr__(self, name: str) -> Any:
        raise _Over


def _drop_suspended(trace: Trace) -> None:
    """End generators without a trace of it.

    Where Python drops one, its `finally` runs; those of paths and passes that were undone would
    write to what is there in the meantime, and those that are left would write Python's own things.
    """
    waiting = trace.journal.suspended()
    if not waiting:
        return
    traces().append(_Ended())  # type: ignore[arg-type]
    trace.journal.open()
    frames = len(trace.journal.frames)
    try:
        for g in reversed(waiting):
            with contextlib.suppress(BaseException):
                g.close()
    finally:
        while len(trace.journal.frames) >= frames:
            trace.journal.close()
        traces().pop()


# By the id of the code, since hashing it is slow: itself, its positions, those made so far.
_positions: dict[int, tuple[CodeType, list[Any] | None, dict[int, Pos]]] = {}


def position(frame: FrameType) -> Pos | None:
    """Where in the user's source a frame is; None of one that is not rewritten code."""
    code = frame.f_code
    known = _positions.get(id(code))
    if known is None:
        ours = is_rewritten_code(code) and code.co_filename not in AS_WRITTEN
        known = _positions[id(code)] = (code, list(code.co_positions()) if ours else None, {})
    _, places, made = known
    if places is None:
        return None
    at = max(frame.f_lasti, 0) // 2
    pos = made.get(at)
    if pos is None:
        line, _, column, _ = places[at]
        pos = made[at] = Pos(code.co_filename, line or code.co_firstlineno, column or 0)
    return pos


@dataclass(eq=False)
class Written:
    """A place that a region wrote, and the value that it had at the region's end."""

    write: Write
    value: Snapshot


@dataclass(eq=False)
class Region:
    """A block of the tape while it is filled."""

    trace: Trace
    params: list[Var] = field(default_factory=list)
    block: Block = field(default_factory=Block)
    written: list[Written] = field(default_factory=list)
    undone: list[tuple[Write, Any]] = field(default_factory=list)
    gone: list[ArrayHandle] = field(default_factory=list)  # made in it, and closed with it
    fresh: dict[int, object] = field(default_factory=dict)  # made in it
    escapes: bool = False  # may an exception leave it, as a variable?
    certain: bool = False  # it happens: an iteration that is written out
    trial: bool = False  # of a loop that may be written out instead
    rather_rolled: bool = False  # than written out: it has a count, or was long before
    inside: Inside | None = None  # of a pass over a loop's body: the loops in it
    before: list[dict[int, object]] = field(default_factory=list)  # what was held before it
    held: dict[int, object] = field(default_factory=dict)  # what it holds, see the journal

    def open(self) -> None:
        b = self.trace.builder
        self.block = Block(list(self.params))
        b.blocks.append(self.block)
        b._known.append({})
        journal = self.trace.journal
        self.before = [dict(held) for held in journal.held] if journal.holding else []
        journal.open()
        self.trace.regions.append(self)

    def _pop(self) -> dict[Any, Any]:
        b = self.trace.builder
        while self.trace.regions[-1] is not self:  # left by an error in an inner one
            self.trace.regions[-1].drop()
        self.trace.regions.pop()
        self.trace.detours = [d for d in self.trace.detours if d.regions[0] is not self]
        popped = b.blocks.pop()
        assert popped is self.block
        return b._known.pop()

    def close(self) -> None:
        """Finish the block; what was written is remembered and undone."""
        journal = self.trace.journal
        seen: dict[int, Snapshot] = {}
        self.written = [Written(w, snapshot(w.read(), seen)) for w in journal.written()]
        self.undone = [(w, w.read()) for w in journal.frames[-1].values()]
        self._pop()
        self.fresh = journal.fresh[-1]
        self.held = journal.held[-1]
        gone = [w.target for w in journal.close() if id(w.target) in self.fresh]
        self.gone = [x for x in gone if isinstance(x, ArrayHandle)]
        journal.held[-1].update(self.held)

    def redo(self) -> None:
        """After all, the finished block is what happens: add it to the block around it."""
        self.trace.builder.blocks[-1].equations.extend(self.block.equations)
        self.trace.journal.fresh[-1].update(self.fresh)
        self._retire("")
        for w, value in self.undone:
            assign(w, value)

    def _retire(self, why: str) -> None:
        """The arrays that were made in it."""
        for handle in self.gone:
            handle.retire(why)

    @contextmanager
    def at_end(self) -> Iterator[None]:
        """All places hold for a moment what they held at the end of the finished block."""
        before = [(w, w.read()) for w, _ in self.undone]
        try:
            self._retire("")
            for w, value in self.undone:
                put(w, value)
            yield
        finally:
            for w, value in before:
                put(w, value)
            self._retire(journals.GONE)

    def drop(self) -> None:
        """Forget the block, undo what was written."""
        self._pop()
        self.trace.journal.close()

    def splice(self) -> None:
        """Make the equations, and the writes, part of the surrounding block."""
        known = self._pop()
        b = self.trace.builder
        b.blocks[-1].equations.extend(self.block.equations)
        b._known[-1].update(known)
        self.trace.journal.merge()


def assign(w: Write, value: Any) -> None:
    """Write to a place once more, noted in the present frame."""
    journals.record(w.target, w.slot, of_its_own(w.read), w.read, w.assign)
    put(w, value)


def put(w: Write, value: Any) -> None:
    """Let a place hold a value, without a note of it."""
    w.assign(MISSING if value is UNSET else value)


class reopened:
    """Add equations to the end of a finished block: `with reopened(trace, block): ...`."""

    def __init__(self, trace: Trace, block: Block) -> None:
        self.builder, self.block = trace.builder, block

    def __enter__(self) -> None:
        self.builder.blocks.append(self.block)
        self.builder._known.append({})
        self.on_check, self.builder.on_check = self.builder.on_check, None

    def __exit__(self, *_: object) -> None:
        self.builder.on_check = self.on_check
        self.builder.blocks.pop()
        self.builder._known.pop()
