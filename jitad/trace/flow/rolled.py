"""How does a loop become one equation of the tape?

Its body is traced once, with variables for what it carries: the names that it assigns and that are
live at its head, and the places that it writes.  Their forms are found by trying.  At first only
floats and traced numbers are variables; where a pass ends with something else than it began with,
the form is widened (a static number becomes a variable, an int a float) and the pass repeated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Any

from jitad.errors import JitadError
from jitad.tape.build import Leaf
from jitad.tape.ir import Atom, Lit, Var
from jitad.tape.types import BOOL, INT, Array
from jitad.trace.containers.elements import hold
from jitad.trace.context import Bottom, DeadPath, Region, Trace, Written, assign, reopened
from jitad.trace.flow.attempts import (
    at_dead_end,
    at_raise,
    dead_end,
    exception_of,
    is_caught,
    settled,
    with_raised,
)
from jitad.trace.flow.branches import _place_name, is_content
from jitad.trace.flow.foreseen import Foresight
from jitad.trace.flow.raising import emit_raise, raises_for_the_user
from jitad.trace.joins.carried import check_extents, entries, handles_of, with_extents
from jitad.trace.joins.forms import Form, Grown, Keep, Maybe, Number
from jitad.trace.joins.join import build, extract, given, kinds, signature
from jitad.trace.joins.mismatch import Mismatch, check_end, explain
from jitad.trace.joins.selected import has_function, holds_inner, is_nested, things
from jitad.trace.joins.snapshot import snapshot, stretch_of
from jitad.trace.joins.state import Num, Rec, Snapshot
from jitad.trace.joins.unify import Paths, Unifier
from jitad.trace.joins.unset import UNSET, is_optional
from jitad.trace.joins.widen import widen
from jitad.trace.syntax.hooking import Site
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.number import bind

MAX_PASSES = 24
MANY = 32  # variables that a loop carries
State = tuple[Any, ...]


class Rolled:
    """Passes over one loop's body, until the forms of what it carries settle."""

    traced = True
    long = False  # would it be long, written out?
    by_condition = False  # is it a `while`?
    why: BaseException | None = None  # it has failed
    flags: tuple[int, ...] = ()  # positions of variables that are booleans of the tape

    def __init__(self, trace: Trace, state: State, site: Site, may_fail: bool) -> None:
        self.trace, self.site, self.may_fail = trace, site, may_fail
        seen: dict[int, Snapshot] = {}
        self.entry = [snapshot(v, seen) for v in state]
        self.state = self.exit = state
        self.before = [dict(held) for held in trace.journal.held]
        self.forms: list[Form] = [self._first_form(k, s) for k, s in enumerate(self.entry)]
        self.places: dict[Any, Written] = {}  # with their values before the loop
        self.start = Var(INT).serial
        self.lost: dict[int, Written] = {}  # arrays that an iteration makes stale
        self.past: dict[int, object] = {}  # made in earlier passes
        self.region = Region(trace)
        self.ends: list[Snapshot] = []
        self.done, self.given = False, len(state)
        self.result: State = state
        self.raised: Any = None  # what leaves the loop as an exception, if caught outside
        self.event = ""
        self.foresight = Foresight(trace, site.pos)
        if self.foresight.found is not None:
            try:
                self._foresee(self.foresight, len(self.foresight.found.names))
            except JitadError:
                self._begin_anew()

    def _foresee(self, foresight: Foresight, names: int) -> None:
        """Begin with what the loop came to carry in the last pass of the one around it."""
        if names > self.given:
            self._escapes()
        unifier, fresh = self._unifier(), self.trace.journal.fresh[-1]
        before = set(fresh)
        for k, (first, s) in enumerate(zip(self.forms, self.entry, strict=True)):
            end = None if k in self.flags else foresight.name(k, s)
            if end is not None:
                self.region.fresh.update({i: fresh.pop(i) for i in fresh.keys() - before})
                self.forms[k] = self._next_form(unifier, first, s, end, self.site.names[k])
                if isinstance(first, Keep) and not isinstance(self.forms[k], Keep):
                    foresight.variables[k] = s
        for w, s, end in foresight.places():
            if self._visible(s):
                form = self._next_form(unifier, Keep(s), s, end, _place_name(w), is_content(w))
                if not isinstance(form, Keep):
                    foresight.variables[w.place] = s
                    self.places[w.place] = Written(w, s)
                    self.forms.append(form)

    def _begin_anew(self) -> None:
        """With nothing foreseen."""
        self.event = "anew"
        self.foresight.forget()
        self.forms = [self._first_form(k, s) for k, s in enumerate(self.entry)]
        self.places.clear()
        self.lost.clear()

    def _first_form(self, k: int, s: Snapshot) -> Form:
        if k in self.flags:
            return Number(BOOL)
        if isinstance(s, Num):
            value = s.value
            if isinstance(value, Leaf) and not isinstance(value.type, Array):
                return Number(value.type)  # type: ignore[arg-type]
            if isinstance(value, float):
                return Unifier().alone(s, "")
        return Keep(s)

    # -- passes -------------------------------------------------------------------------------

    def passes(self) -> Iterator[tuple[Any, State]]:
        sizes: list[int] = []
        while len(sizes) < MAX_PASSES and not _without_end(sizes):
            self.event = ""
            self.held = self._held()
            try:
                begun = self._begin()
            except (JitadError, TypeError):  # an item that a traced number can't choose
                if self.may_fail:
                    return
                raise
            sizes.append(len(self.carried))
            tried = self._own if self.may_fail else []
            self.trace.tried += tried
            long = [(tried, len(self.trace.journal.fresh) - 1)] if tried and self.long else []
            self.trace.at_length += long
            yield begun
            del self.trace.tried[len(self.trace.tried) - len(tried) :]
            del self.trace.at_length[len(self.trace.at_length) - len(long) :]
            if self.event in ("failed", "raised"):
                self.done = self.event == "raised"
                return
            try:
                settled = self.event != "anew" and self._settled()
            except JitadError:
                self.event = self.event or "unsettled"
                if self.may_fail:
                    return
                raise
            if settled:
                if self.may_fail and self._is_static():
                    return
                self._finish()
                self.done = True
                return
        if not self.may_fail:
            raise JitadError(
                "the types of this loop's variables do not settle", self.site.pos,
                "What it carries has more parts after each iteration (a tree that grows?): keep "
                "the numbers in arrays, and where they belong in arrays of ints.",
            )  # fmt: skip

    def _params(self) -> tuple[list[Var], list[Var]]:
        """Variables of the kind of loop, and one each for what is carried."""
        needed: list[Any] = []
        names: list[str] = []
        seen: set[int] = set()
        for f, name in zip(self.forms, chain(self.site.names, repeat("")), strict=False):
            kinds(f, needed, seen)
            names += [given(name)] * (len(needed) - len(names))
        carried = [Var(t, shape, n) for (t, shape), n in zip(needed, names, strict=True)]
        return self._own_params(), carried

    def _begin(self) -> tuple[Any, State]:
        own, carried = self._params()
        self.params = [*own, *carried]
        self.carried = carried
        self.past.update(self.region.fresh)
        self.region = Region(self.trace, self.params, escapes=True, trial=self.may_fail,
                             rather_rolled=self.long or not self.by_condition,
                             inside=self.foresight.begins())  # fmt: skip
        self.depth = len(self.trace.detours)
        self._own, self._values = own, carried
        return self._enter_pass()

    def _built(self, atoms: Iterable[Atom]) -> list[Any]:
        """The carried values made of atoms; the places written get theirs."""
        supply, made = iter(atoms), dict[int, Any]()
        join = self.trace.journal.joiner(self.site.pos)
        values = [build(self.trace.builder, f, supply, made, join) for f in self.forms]
        for w, value in zip(self.places.values(), values[len(self.entry) :], strict=True):
            assign(w.write, value)
        join.finish()
        return values

    def _enter_pass(self) -> tuple[Any, State]:
        self.region.open()
        try:
            self.trace.at(self.site.pos)
            for w in self.lost.values():
                assign(w.write, w.value.value)  # type: ignore[union-attr]
            values = self._built(self._values)
            self.begun = values[: len(self.entry)]
            self.foresight.starts(dict(zip(self._keys(), values, strict=True)))
            for f, s in zip(self.forms, chain(self.entry, self._places_before()), strict=True):
                if isinstance(f, Grown) and stretch_of(s) is None and isinstance(s, Rec):
                    for j, part in enumerate(s.parts):  # which are copied before the loop
                        hold(part, s.value, j)
            for k in self.flags:
                values[k] = self._flag_inside(k, values[k])
            item = self._item(self._own)  # reads what the body has written before
            return item, tuple(values[: self.given])
        except BaseException:
            self.region.drop()
            raise

    def _places_before(self) -> list[Snapshot]:
        return [w.value for w in self.places.values()]

    def _held(self) -> list[bool]:
        """Which of the carried arrays and containers may have become elements of a list?"""
        journal = self.trace.journal
        if not journal.holding:
            return []
        carried = [any(map(journal.is_held, handles_of(f))) for f in self.forms]
        return carried + [journal.is_held(w.write.target) for w in self.places.values()]

    def _flag_inside(self, k: int, value: Any) -> Any:
        return value

    def __enter__(self) -> None:
        pass

    def leave(self, state: State) -> None:
        self.exit = state

    def __exit__(self, kind: Any, error: BaseException | None, _: object) -> bool:
        caught = error is not None and is_caught(self.trace, error)
        dead = error is not None and not caught and dead_end(self.trace, self.depth, error)
        if error is None or caught or dead:
            raised, names = None, self.site.names[: self.given]
            if dead:
                self.exit = at_dead_end(names)
            elif error is not None:
                raised, self.exit = exception_of(error), at_raise(self.trace, names, self.begun)
            self.exit, raised = settled(self.trace, self.depth, None, names, self.exit, raised)
            if raised is not None:
                self._escapes()
            if len(self.entry) > self.given:
                self.exit = (*self.exit, _is_raised(raised), raised)
            seen: dict[int, Snapshot] = {}
            self.ends = [snapshot(v, seen) for v in self.exit]
            self.region.close()
            return error is not None
        refused = isinstance(error, JitadError) and not raises_for_the_user(error)
        if self.foresight.found is not None and refused:
            self.region.drop()
            self._begin_anew()
            return True
        if self.may_fail and (refused or isinstance(error, TypeError)):  # it can be written out
            self.region.drop()
            self.event, self.why = "failed", error
            return True
        self.region.drop()
        if not raises_for_the_user(error):
            return False
        if isinstance(error, Bottom):  # then for all that is known it does not run
            self.trace.swallowed = True
            self.event = "raised"
            return True
        if isinstance(error, DeadPath):
            return False
        self._raise_at_once(error)
        self.event = "raised"
        return True

    def _escapes(self) -> None:
        """An exception may leave the loop: a flag and a variable more, from the next pass on."""
        if len(self.entry) > self.given:
            return
        self.site = with_raised(self.site, "_jraised")
        self.flags = (*self.flags, self.given)
        self.entry += [snapshot(False), snapshot(None)]
        self.forms[self.given : self.given] = [Number(BOOL), Keep(self.entry[-1])]

    def _raise_at_once(self, error: BaseException) -> None:
        """The first iteration raises, so the loop is a check that there is none."""
        b = self.trace.builder
        region = Region(self.trace)
        region.open()
        emit_raise(self.trace, error)
        last = region.block.equations[-1]
        region.drop()
        b.emit("check", b.atom(bind("logical_not", self._runs())), **last.params)

    # -- settling -----------------------------------------------------------------------------

    def _settled(self) -> bool:
        """True where the forms hold for the pass just made; else they are widened."""
        ends = dict(zip(self._keys(), self._all_ends(), strict=True))
        if not self.foresight.ends(self.region, ends):
            self._begin_anew()
            return False
        unifier = self._unifier()
        n = len(self.entry)
        before = (len(self.lost), self._signature())
        for w in self.region.written:
            if w.write.slot == "_lost" and self._was_there(w.write.target):
                self.lost.setdefault(id(w.write.target), w)
        forms: list[Form] = []
        before_replaced = self._replaced()
        for k, (s, t) in enumerate(zip(self.entry, self.ends, strict=True)):
            if k in self.flags:
                forms.append(self.forms[k])
                continue
            forms.append(self._next_form(unifier, self.forms[k], s, t, self.site.names[k]))
        found = {w.write.place: w for w in self.region.written if w.write.slot != "_lost"}
        replaced = {id(h) for f in forms for h in entries(f)}
        for k, (place, w) in enumerate(list(self.places.items())):
            if place[0] in replaced and place[1] == "content":
                found.pop(place)
                del self.places[place]
                continue
            now = found.pop(place).value
            name = _place_name(w.write)
            forms.append(self._next_form(unifier, self.forms[n + k], w.value, now, name,
                                         is_content(w.write)))  # fmt: skip
        for place, w in found.items():
            if place[0] in before_replaced and place[1] == "content":
                raise JitadError(
                    "an array is written in this loop under two names that part in it",
                    self.site.pos, "Copy one of them before the loop.",
                )  # fmt: skip
            if place[0] in replaced and place[1] == "content":
                continue  # it was written by a name that from now on has its own handle
            entry = snapshot(w.write.read())
            if not self._visible(entry):
                continue  # made in the body
            self.places[place] = Written(w.write, entry)
            forms.append(self._next_form(unifier, Keep(entry), entry, w.value,
                                         _place_name(w.write), is_content(w.write)))  # fmt: skip
        self.forms = forms
        settled = before == (len(self.lost), self._signature())
        return settled and (not self.trace.journal.holding or self.held == self._held())

    def _keys(self) -> Iterable[Any]:
        """By which the carried names and places are known, also when others come between them."""
        return chain(range(len(self.entry)), self.places)

    def _all_ends(self) -> list[Snapshot]:
        """What the pass has left in the names and in the places."""
        written = {w.write.place: w.value for w in self.region.written}
        return [*self.ends, *(written[place] for place in self.places)]

    def _unifier(self) -> Unifier:
        apart = self.site.pos in self.trace.insight.apart
        paths = Paths(apart, self._made, self._selects, self._outside, self._is_held)
        return Unifier(self._room, paths)

    def _made(self, s: Snapshot, side: int) -> bool:
        if not side:
            return False
        value = getattr(s, "value", None)
        value = value.re if isinstance(value, Complex) else value  # which is its parts
        return id(value) in self.region.fresh or holds_inner(s, self.region)

    def _is_held(self, s: Rec, side: int) -> bool:
        """Was it before the loop, or at the end of an iteration, an element of another list?"""
        return self.trace.journal.is_held(s.value, None if side else self.before)

    def _selects(self, a: Snapshot, b: Snapshot) -> bool:
        """What an iteration makes is another thing in each; a short loop is rather written out."""
        if is_nested(a) or is_nested(b) or any(self._made(t, 1) for t in things(b)):
            return False
        if has_function(a) or has_function(b):
            self.trace.undecided(self.site.pos, self._runs())
        return not (self.may_fail and self._is_short())

    def _was_there(self, thing: Any) -> bool:
        """Is it no array or object that an iteration makes?"""
        if isinstance(thing, ArrayHandle):
            return all(self._visible(Num(h._content)) for h in thing.roots)
        return id(thing) not in self.region.fresh and id(thing) not in self.past

    def _room(self) -> Atom:
        """For lists that grow; a short loop is rather written out, and their lengths are known."""
        short = self._is_short() or self._is_static()
        if self.may_fail and (short or self.site.pos in self.trace.insight.written_out):
            self.event = "listed"
            raise Mismatch("a list of one or of another length")
        if self.may_fail:
            self.trace.needless.add(self.site.pos)
        return self.trace.room(self.site.pos).atom

    def _is_short(self) -> bool:
        return False

    def _is_static(self) -> bool:
        """Is nothing in it that has to wait for the kernel?"""
        return False

    def _replaced(self) -> set[int]:
        return {id(h) for f in self.forms for h in entries(f)}

    def _signature(self) -> list[Any]:
        numbers: dict[int, int] = {}
        return [signature(f, numbers) for f in self.forms]

    def _next_form(
        self, unifier: Unifier, was: Form, entry: Snapshot, end: Snapshot, name: str,
        content: bool = False,
    ) -> Form:  # fmt: skip
        try:
            now = unifier.unify(entry, end, name, content)
            check_end(now)
            if name == "_jv" and isinstance(now, Maybe) and not now.none:
                now = now.part
            b = self.trace.builder
            return with_extents(b, widen(was, now), entry, end, self._outside, self._room)
        except Mismatch as e:
            if e.functions and not self.may_fail:
                self.trace.undecided(self.site.pos, self._runs())
            raise explain(name, e, self.site.pos, "before and after an iteration of this loop",
                          self.trace.around()) from None  # fmt: skip

    def _outside(self, atom: Atom) -> bool:
        """True of what is defined before the loop; captures join the outermost block later."""
        if isinstance(atom, Lit) or atom.serial < self.start:
            return True
        root = self.trace.builder.blocks[0]
        return atom in root.params or any(atom in e.outs for e in root.equations if not e.blocks)

    def _visible(self, s: Snapshot) -> bool:
        value = getattr(s, "value", None)
        return not isinstance(value, Leaf) or self._outside(value.atom)

    # -- the equation -------------------------------------------------------------------------

    def _atoms(self, snapshots: list[Snapshot]) -> list[Atom]:
        out: list[Atom] = []
        seen: set[int] = set()
        for f, s in zip(self.forms, snapshots, strict=True):
            extract(self.trace.builder, f, s, out, seen)
        return out

    def _finish(self) -> None:
        self.trace.at(self.site.pos)
        ends = self._all_ends()
        n, writes = len(self.entry), [w.write for w in self.places.values()]
        places = zip(writes, self.forms[n:], strict=True)
        self.foresight.tell(self.forms[:n], self.begun, self.ends, places)
        with reopened(self.trace, self.region.block):
            final = self._atoms(ends)
            for var, atom in zip(self.carried, final, strict=True):
                check_extents(self.trace.builder, var, atom, self.site.pos)
        start = self._atoms([*self.entry, *(w.value for w in self.places.values())])
        outs = tuple(Var(v.type, v.shape, v.name) for v in self.carried)
        self._equation(start, final, outs)
        values = self._built(outs)
        for w in self.lost.values():
            assign(w.write, w.value.value)  # type: ignore[union-attr]
        self.result = tuple(
            v if name in self.site.live or name.startswith("_j") else UNSET
            for v, name in zip(values[: len(self.entry)], self.site.names, strict=True)
        )
        if len(self.entry) > self.given:
            self.raised, self.result = self.result[-1], self.result[: self.given]

    def _own_params(self) -> list[Var]:
        raise NotImplementedError

    def _item(self, own: list[Var]) -> Any:
        raise NotImplementedError

    def _runs(self) -> Any:
        """Is there a first iteration?"""
        raise NotImplementedError

    def _equation(self, start: list[Atom], final: list[Atom], outs: tuple[Var, ...]) -> None:
        raise NotImplementedError


def _is_raised(raised: Any) -> Any:
    return raised.flag if is_optional(raised) else raised is not None


def _without_end(sizes: list[int]) -> bool:
    """Does a loop carry more in each pass, by ever more, as if what it carries were a tree?"""
    more = [b - a for a, b in itertools.pairwise(sizes)][-4:]
    grows = len(more) == 4 and all(0 < 1.5 * a <= b for a, b in itertools.pairwise(more))
    return grows and sizes[-1] > MANY
