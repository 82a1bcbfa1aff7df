"""How does a function that calls itself on traced values become a function of the tape?

Its body is traced once, into a block of its own; the calls of itself in there become `call`
equations.  What the block takes and gives is found as for loops (`rolled`), by trying: the
arguments, the result, and the places that it writes, each with a form that is widened until it
holds for all calls.  The first pass knows no result, so its inner calls lead nowhere (`Bottom`)
and the result is that of the paths which end the recursion: Kleene's iteration from below.

Arguments that are the same thing in all calls stay that thing, so an array that is filled by a
recursion is written where it is.  An array that differs from call to call is a parameter; what
was written to it goes back to the caller's.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from jitad.errors import JitadError
from jitad.tape.build import Leaf
from jitad.tape.copy import Around
from jitad.tape.ir import Atom, Pos, Var, lit
from jitad.tape.types import Type
from jitad.trace.containers.grown import of_any_length
from jitad.trace.context import Bottom, Region, Trace, Written, assign, reopened
from jitad.trace.flow.boundaries import Boundary, handed_on, wanted
from jitad.trace.flow.functions import Definition
from jitad.trace.joins.forms import Form, Handle, Keep, Maybe, OneOf, Record, changeable, depth
from jitad.trace.joins.join import build, extract, kinds, signature
from jitad.trace.joins.mismatch import Mismatch
from jitad.trace.joins.selected import key, kind_of_exception, things
from jitad.trace.joins.snapshot import snapshot, stretch_of
from jitad.trace.joins.state import Arr, Num, Per, Rec, Sel, Snapshot
from jitad.trace.joins.unify import Unifier, in_cells
from jitad.trace.joins.unset import UNSET
from jitad.trace.joins.widen import widen, wider, without_extents
from jitad.values.array import ArrayHandle

MAX_PASSES = 24
_APART = (tuple, FunctionType, BaseException)  # taken apart wherever they were made
MAX_DEEPER = 4  # passes that each put what is returned one level deeper
MAX_NESTED = 6  # definitions of one function inside each other


def called(
    trace: Trace, f: FunctionType, twin: FunctionType, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """A call of a function that is known to be recursive."""
    bound = inspect.signature(twin).bind(*args, **kwargs)
    bound.apply_defaults()
    given = list(bound.arguments.values())
    mine = [r for r in trace.recursions if r.function.__code__ is f.__code__]
    for r in reversed(mine):
        forms = r.fitting(f, given)
        if forms is not None:
            return r.again(given, forms)
    if len(mine) >= MAX_NESTED:
        raise JitadError(
            f"{f.__qualname__} calls itself with ever other kinds of arguments",
            trace.builder.pos, "Give it arguments of the same kinds in all calls.",
        )  # fmt: skip
    return Recursion(trace, f, twin, bound).first()


class Recursion:
    """A function of the tape while it is traced."""

    def __init__(
        self, trace: Trace, f: FunctionType, twin: FunctionType, bound: inspect.BoundArguments
    ) -> None:
        self.trace, self.function, self.twin, self.bound = trace, f, twin, bound
        self.operators = trace.operators
        self.entry = self._snapshots(list(bound.arguments.values()))
        self.forms: list[Form] = [_first_form(s) for s in self.entry]
        self.result: Form | None = None  # of the value, and of what is raised
        self.kinds = wanted(trace)  # of the exceptions that callers catch
        self.places: dict[Any, Written] = {}  # with their values before the first call
        self.place_forms: list[Form] = []
        self.written: dict[int, Type] = {}  # parameters that are arrays and written, by number
        self.aliases: dict[int, dict[int, ArrayHandle]] = {}  # what else a parameter may be
        self.start = Var(lit(0).type).serial
        self.name = trace.functions.name(f.__name__)
        self.level = 0
        self.handles: list[ArrayHandle] = []
        self.ends = False

    def _snapshots(self, values: list[Any]) -> list[Snapshot]:
        seen: dict[int, Snapshot] = {}
        return [snapshot(v, seen) for v in values]

    # -- calls ----------------------------------------------------------------------------------

    def first(self) -> Any:
        """The call from outside: the function is defined, then called."""
        self.trace.recursions.append(self)
        try:
            self._define()
        finally:
            self.trace.recursions.remove(self)
        return self._call(self.entry)

    def fitting(self, f: FunctionType, given: list[Any]) -> list[Form] | None:
        """The forms that hold for these arguments too; None where there are none."""
        if not _same_function(f, self.function) or len(given) != len(self.entry):
            return None
        unifier = Unifier(free=True)
        try:
            return [
                widen(was, unifier.unify(entry, now))
                for was, entry, now in zip(
                    self.forms, self.entry, self._snapshots(given), strict=True
                )
            ]
        except Mismatch:
            return None

    def again(self, given: list[Any], forms: list[Form]) -> Any:
        """A call from inside the function."""
        if self.trace.operators != self.operators:
            raise JitadError(
                f"{self.function.__qualname__} calls itself through a derivative of itself",
                self.trace.builder.pos, "Let an int that is known decide how deep it goes.",
            )  # fmt: skip
        wider = _signature(forms) != _signature(self.forms)
        if wider:
            self.forms = [without_extents(f) for f in forms]
        kinds = wanted(self.trace, self.kinds)
        if kinds != self.kinds:
            self.kinds, self.result = kinds, None
        if wider or self.result is None:
            raise Bottom
        return self._call(self._snapshots(given))

    def _call(self, given: list[Snapshot]) -> Any:
        b, journal = self.trace.builder, self.trace.journal
        ins: list[Atom] = []
        seen: set[int] = set()
        for f, s in zip(self.forms, given, strict=True):
            extract(b, f, s, ins, seen)
        for w, f in zip(self.places.values(), self.place_forms, strict=True):
            extract(b, f, snapshot(w.write.read()), ins, seen)
        actual = _handles(self.forms, given)
        self._keep_apart(actual, given)
        results = tuple(self._types())
        outs = iter(b.emit("act", *ins, function=self.name, results=results, around=Around()))
        made: dict[int, Any] = {}
        join = journal.joiner()
        sources = [h.root for h in actual]
        lists = [s.value for s in given if isinstance(s, Rec) and isinstance(s.value, list)]
        assert self.result is not None

        def of_sources(new: Any, sides: tuple[Any, ...]) -> None:
            if isinstance(new, ArrayHandle):
                sides = tuple(sources)
            join(new, (*lists, *sides) if isinstance(new, list) else sides)

        value, raised = build(b, self.result, outs, made, of_sources)
        for w, f in zip(self.places.values(), self.place_forms, strict=True):
            assign(w.write, build(b, f, outs, made, join))
        join.finish()
        for k in self.written:
            actual[k].content = b.leaf(next(outs))
        handed_on(self.trace, raised)
        if value is UNSET:  # all that is known is what the function raises
            raise Bottom
        return value

    def _types(self) -> list[Type]:
        needed: list[Any] = []
        seen: set[int] = set()
        for f in (self.result, *self.place_forms):
            assert f is not None
            kinds(f, needed, seen)
        return [t for t, _ in needed] + list(self.written.values())

    def _keep_apart(self, actual: list[ArrayHandle], given: list[Snapshot]) -> None:
        """An array that is written by the call must not be reached in another way as well."""
        journal = self.trace.journal
        kept = [f.of.value for f in self.forms if isinstance(f, Keep) and isinstance(f.of, Arr)]
        targets = [w.write.target for w in self.places.values()]
        for k, h in enumerate(actual):
            if not self._inside(h.root) and id(h.root) not in self.aliases.setdefault(k, {}):
                self.aliases[k][id(h.root)] = h.root
        for k in self.written:
            root = actual[k].root
            others = [h.root for j, h in enumerate(actual) if j != k] + [h.root for h in kept]
            others += [t for t in targets if isinstance(t, ArrayHandle)]
            if any(journal.may_alias(root, other) for other in others):
                raise JitadError(
                    f"{self.function.__qualname__} is given an array twice, and writes to it",
                    self.trace.builder.pos, "Pass a copy of one of them.",
                )  # fmt: skip

    def _inside(self, thing: object) -> bool:
        """Was it made while the body was traced?"""
        return self.trace.journal.made_since(thing, self.level)

    def _apart(self, s: Snapshot) -> bool:
        """Is it a container that is taken apart, part by part?"""
        return isinstance(s, Rec) and (isinstance(s.value, _APART) or self._inside(s.value))

    def _there(self, cell: Any) -> bool:
        return self.trace.journal.is_made(cell) and not self._inside(cell)

    # -- the body ---------------------------------------------------------------------------------

    def _define(self) -> None:
        deeper = 0
        for _ in range(MAX_PASSES):
            before, was = self._state(), depth(self.result)
            error = self._pass()
            deeper = deeper + 1 if depth(self.result) > was else 0
            if deeper > MAX_DEEPER:  # a tree, say, each with two of the last: it doubles each time
                break
            if self._state() == before:
                if self.result is None:
                    raise error or JitadError(
                        f"{self.function.__qualname__} calls itself on every path",
                        self.trace.builder.pos, "Let one path return without a call.",
                    )  # fmt: skip
                if error is None:
                    self._finish()
                    return
                raise error
        raise JitadError(
            f"the types of what {self.function.__qualname__} takes and returns do not settle",
            self.trace.builder.pos,
        )

    def _state(self) -> Any:
        numbers: dict[int, int] = {}
        result = None if self.result is None else signature(self.result, numbers)
        aliases = {k: tuple(v) for k, v in self.aliases.items()}
        places = (tuple(self.places), _signature(self.place_forms))
        return (_signature(self.forms), self.kinds, result, places, tuple(self.written), aliases)

    def _pass(self) -> Exception | None:
        """Trace the body once; what it shows is noted.  An error may be one of this pass only."""
        trace = self.trace
        b, journal = trace.builder, trace.journal
        needed: list[Any] = []
        seen: set[int] = set()
        for f in (*self.forms, *self.place_forms):
            kinds(f, needed, seen)
        self.params = [Var(t, shape) for t, shape in needed]
        self.region = region = Region(trace, self.params)
        self.level = len(journal.fresh)
        swallowed, trace.swallowed = trace.swallowed, False
        region.open()
        try:
            for v in self.params:
                b.measure(v)
            result = self._run()
            self._observe(result)
        except Bottom:
            region.drop()
            return None
        except BaseException as e:
            region.drop()
            if trace.swallowed and isinstance(e, (JitadError, NameError)):
                return e
            raise
        finally:
            trace.swallowed = swallowed
        self.ends = True
        region.close()
        self._widen()
        return None

    def _run(self) -> Any:
        from jitad.trace.places import local  # which calls, too

        journal = self.trace.journal
        supply, made = iter(self.params), dict[int, Any]()
        join = journal.joiner()
        self.handles = []
        self.containers: set[int] = set()

        def noted(new: Any, objects: tuple[Any, ...]) -> None:
            if not isinstance(new, ArrayHandle):
                join(new, objects)
                return
            k = len(self.handles)
            self.handles.append(new)
            sides = tuple(self.aliases.get(k, {}).values())
            join(new, sides)
            if k in self.written:
                for side in sides:  # read under its own name it would be stale
                    if not side._lost:
                        journal.retire(side, _STALE)

        b = self.trace.builder
        values = [build(b, f, supply, made, noted) for f in self.forms]
        self.containers = {id(made[k]) for f in self.forms for k in changeable(f)}
        for w, f in zip(self.places.values(), self.place_forms, strict=True):
            assign(w.write, build(b, f, supply, made, join))
        join.finish()
        bound = inspect.BoundArguments(
            self.bound.signature, dict(zip(self.bound.arguments, values, strict=True))
        )
        whole = Boundary(self.trace, self.kinds)
        with whole:
            whole.leave((local(self.twin(*bound.args, **bound.kwargs)),))
        return whole.ended()

    def _observe(self, result: Any) -> None:
        """What the pass has left behind, before it is undone."""
        journal = self.trace.journal
        frame = journal.frames[-1]
        if any(w.slot != "_lost" and id(w.target) in self.containers for w in frame.values()):
            raise JitadError(
                f"{self.function.__qualname__} writes to an object that differs from call to call",
                self.trace.builder.pos, "Return what is new instead.",
            )  # fmt: skip
        seen: dict[int, Snapshot] = {}
        self.end = snapshot(result, seen)
        self.now = self._result_form(self.end, {})
        self.contents = [snapshot(h) if not h._lost else None for h in self.handles]
        self.touched = {
            k: h.type for k, h in enumerate(self.handles) if (id(h), "content") in frame
        }

    def _result_form(self, s: Snapshot, seen: dict[int, Form]) -> Form:
        """What is made in the body is taken apart; what was there before is itself."""
        if id(s) in seen:
            return seen[id(s)]
        out: Form
        match s:
            case Num(value) if isinstance(value, (Leaf, float)) or hasattr(value, "ndim"):
                out = Unifier().alone(s, "")
            case Arr(h, _):
                out = Unifier().alone(s, "") if self._inside(h) else Keep(s)
            case Rec(list() | tuple() as value) if (stretch := stretch_of(s)) is not None and (
                isinstance(value, tuple) or self._inside(value)
            ):
                out = of_any_length(s, stretch.element, (value,))
            case Rec() if self._apart(s):
                kept = in_cells(s, self._there)
                out = seen[id(s)] = Record(s, ())
                parts = zip(s.keys, s.parts, strict=True)
                out.parts = tuple(kept.get(k) or self._result_form(p, seen) for k, p in parts)
                if kept and len(kept) == len(s.keys):
                    out = Keep(s)
            case Per(_, part, name, none=True) if part is not None:
                out = Maybe(self._result_form(part, seen), name, True)
            case Per(_, None):
                out = Keep(s)
            case Per():
                raise JitadError("a value that is bound on some paths only is returned")
            case Sel(parts=parts) if kind_of_exception(parts[0]):
                found = [self._result_form(t, seen) for t in things(s)]
                out = OneOf(list(map(key, things(s))), found)
            case Sel() if all(map(self._apart, things(s))):
                raise JitadError(
                    f"what {self.function.__qualname__} returns has other parts on other paths",
                    self.trace.builder.pos, "Return the same kind of value on every path.",
                )  # fmt: skip
            case Sel():
                raise JitadError(
                    f"{self.function.__qualname__} returns an argument, or what was there before "
                    "the call, on some paths, and it may be the same as what is written meanwhile",
                    self.trace.builder.pos, "Return a copy.",
                )  # fmt: skip
            case _:
                out = Keep(s)
        seen[id(s)] = out
        return out

    def _widen(self) -> None:
        """Widen what the function gives by what this pass gave."""
        self.written = {**self.written, **self.touched}
        if self.result is None:
            self.result = self.now
        else:
            try:
                self.result = wider(self.result, self.now)
            except Mismatch as e:
                raise JitadError(
                    f"{self.function.__qualname__} returns {e}", self.trace.builder.pos,
                    "Return the same kind of value on every path.",
                ) from None  # fmt: skip
        found = {w.write.place: w for w in self.region.written if w.write.slot != "_lost"}
        unifier = Unifier(free=True)
        forms: list[Form] = []
        for (place, w), was in zip(self.places.items(), self.place_forms, strict=True):
            now = found.pop(place, None)
            end = w.value if now is None else now.value
            if isinstance(w.write.slot, tuple):
                self._check_same(w.value, end)
            forms.append(self._place_form(unifier, was, w.value, end))
        for place, w in found.items():
            entry = snapshot(w.write.read())
            if self._visible(entry):
                if isinstance(w.write.slot, tuple):
                    self._check_same(entry, w.value)
                self.places[place] = Written(w.write, entry)
                forms.append(self._place_form(unifier, Keep(entry), entry, w.value))
        self.place_forms = forms

    def _check_same(self, entry: Snapshot, end: Snapshot) -> None:
        """A name outside may not stand for another thing that was there: all are told by copies."""
        there, thing = (getattr(s, "value", None) for s in (entry, end))
        if thing is not there and isinstance(end, (Arr, Rec)) and not isinstance(thing, _APART):
            if not self._inside(thing):
                raise JitadError(
                    f"{self.function.__qualname__} lets a name outside stand for another thing "
                    "that was there before", self.trace.builder.pos, "Return which one it is.",
                )  # fmt: skip

    def _place_form(self, unifier: Unifier, was: Form, entry: Snapshot, end: Snapshot) -> Form:
        try:
            return widen(was, unifier.unify(entry, end))
        except Mismatch as e:
            raise JitadError(
                f"{self.function.__qualname__} changes something from {e}", self.trace.builder.pos,
                "Let it stay the same kind of value.",
            ) from None  # fmt: skip

    def _visible(self, s: Snapshot) -> bool:
        """False of what was made in the body."""
        value = getattr(s, "value", None)
        if not isinstance(value, Leaf) or value.atom.serial < self.start:
            return True
        root = self.trace.builder.blocks[0]
        return value.atom in root.params

    def _finish(self) -> None:
        results: list[Atom] = []
        seen: set[int] = set()
        written = {w.write.place: w.value for w in self.region.written}
        b = self.trace.builder
        with reopened(self.trace, self.region.block):
            assert self.result is not None
            extract(b, self.result, self.end, results, seen)
            for (place, w), f in zip(self.places.items(), self.place_forms, strict=True):
                extract(b, f, written.get(place, w.value), results, seen)
            for k in self.written:
                s = self.contents[k]
                if not isinstance(s, Arr):
                    raise JitadError(_STALE, b.pos)
                results.append(b.atom(s.content))
        self.region.block.results = results
        code = self.function.__code__
        where = Pos(code.co_filename, code.co_firstlineno)
        self.trace.functions.add(self.name, Definition(self.region.block, where))


_STALE = (
    "this array may be the same as one that a recursive function was given and writes to. "
    "Pass a copy of it."
)


def _same_function(f: FunctionType, g: FunctionType) -> bool:
    if f is g:
        return True
    cells = [[id(c) for c in x.__closure__ or ()] for x in (f, g)]
    return f.__code__ is g.__code__ and cells[0] == cells[1] and f.__defaults__ == g.__defaults__


def _first_form(s: Snapshot) -> Form:
    """Floats and traced numbers vary from call to call; the rest may be the same in all."""
    if isinstance(s, Num):
        value = s.value
        if isinstance(value, float) or (isinstance(value, Leaf) and not value.shape):
            return Unifier().alone(s, "")
    return Keep(s)


def _signature(forms: list[Form]) -> tuple[Any, ...]:
    numbers: dict[int, int] = {}
    return tuple(signature(f, numbers) for f in forms)


def _handles(forms: list[Form], given: list[Snapshot]) -> list[ArrayHandle]:
    """The handles that stand where the forms have parameters, in order."""
    out: list[ArrayHandle] = []
    seen: set[int] = set()

    def visit(f: Form, s: Snapshot | None) -> None:
        if id(f) in seen:
            return
        seen.add(id(f))
        match f, s:
            case Handle(), Arr(h, _):
                out.append(h)
            case Record(), Rec():
                for p, q in zip(f.parts, s.parts, strict=True):
                    visit(p, q)

    for f, s in zip(forms, given, strict=True):
        visit(f, s)
    return out
