"""What happens at an `if` on a traced condition?

Both branches are traced, each into a block of its own; then what they left in the variables that
live on, and in the places that they wrote, is joined: an `if` equation.  A branch that raises
becomes a `check` in front of the other one, which then needs no block.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

from jitad.errors import GuardMiss, JitadError
from jitad.primitives import TABLE
from jitad.tape.build import Leaf
from jitad.tape.ir import STRUCTURED, Atom, Block, Lit, Pos, Var, shape_outside
from jitad.tape.types import BOOL
from jitad.trace.around.unseen import untouched
from jitad.trace.calls import call, special
from jitad.trace.containers import partial
from jitad.trace.containers.listed import inside
from jitad.trace.containers.stretch import stretched
from jitad.trace.context import Region, Trace, assign, reopened
from jitad.trace.flow.attempts import (
    at_dead_end,
    at_raise,
    dead_end,
    exception_of,
    immaterial,
    is_caught,
    onward,
    settled,
    with_raised,
)
from jitad.trace.flow.observe import observe
from jitad.trace.flow.raising import emit_end, raises_for_the_user
from jitad.trace.joins.carried import written
from jitad.trace.joins.forms import Form, Maybe
from jitad.trace.joins.join import build, extract, given, kinds
from jitad.trace.joins.mismatch import Mismatch, check_end, explain
from jitad.trace.joins.selected import has_function, holds_inner, is_nested, spread
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Rec, Snapshot
from jitad.trace.joins.unify import APPENDED, Paths, Unifier
from jitad.trace.joins.unset import UNSET, Among, is_optional
from jitad.trace.ongoing import current
from jitad.trace.syntax.hooking import Site
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.journal import Joiner
from jitad.values.kind import primal
from jitad.values.number import bind


def decided(condition: Any, pos: Pos | None) -> Any:
    """The truth of a condition; relied on where recursion would not end otherwise."""
    known = truth(condition)
    trace = current()
    if trace is None:
        if isinstance(known, bool):
            observe(pos, known)
        return known
    if pos not in trace.insight.relied:
        return known
    seen = trace.next_decision(pos)
    if not isinstance(known, Leaf):
        return known
    value = trace.builder.rely(known.atom)
    if value is not None:
        return bool(value)
    if seen is None:
        return known
    trace.at(pos)
    ok = known if seen else bind("logical_not", known)
    trace.builder.emit("check", trace.builder.atom(ok), exception=GuardMiss,
                       message=f"the condition in line {pos.line} is {seen}")  # fmt: skip
    return seen


def truth(value: Any) -> Any:
    """The truth of a value as Python sees it: a bool, or a boolean leaf of the tape."""
    if type(value) is Among:
        known = spread(truth, value)
        return truth(known)
    if is_optional(value):
        there = truth(value.value)
        if isinstance(there, bool):
            return value.flag if there else False
        return bind("logical_and", value.flag, there)
    if isinstance(value, Complex):
        value = value != 0
    if isinstance(value, ArrayHandle):
        if value.shape or value.concrete:
            return bool(value)
        value = value.content
    if (stretch := stretched(value := inside(value))) is not None:
        value = bind("gt", stretch.count, 0)
    if partial.is_partial(value):
        value = bind("gt", partial.length(value), 0)
    value = primal(value)
    if not isinstance(value, Leaf):
        for name in () if type(value) in _PLAIN else ("__bool__", "__len__"):
            found = special(value, name)
            if found is not None:
                return truth(call(found, value))
        reads = any(hasattr(type(value), n) for n in ("__bool__", "__len__"))  # else it is true
        return untouched(current(), (value,) if reads else (), "its truth", bool, value)
    if value.type.dtype == "b1":  # type: ignore[union-attr]
        return value
    return bind("ne", value, 0)


_PLAIN = frozenset({bool, int, float, str, list, tuple, dict, type(None)})


class Decided:
    """A condition that is known: the branch just runs."""

    __slots__ = ("orelse", "state", "then")

    def __init__(self, then: bool, state: tuple[Any, ...]) -> None:
        self.then, self.orelse, self.state = then, not then, state

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def leave(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def joined(self) -> tuple[Any, ...]:
        return self.state

    traced = False


def if_(condition: Any, state: tuple[Any, ...], site: Site) -> Decided | Branches:
    known = decided(condition, site.pos)
    if isinstance(known, bool):
        return Decided(known, state)
    trace = current()
    if trace is None:
        raise JitadError("a traced value is used after its trace has ended", site.pos)
    trace.at(site.pos)
    return Branches(trace, known, state, site)


class Branches:
    """Entered once a branch; `joined` gives the variables afterwards."""

    then = orelse = traced = True

    def __init__(
        self, trace: Trace, test: Leaf, state: tuple[Any, ...], site: Site, apart: bool = False
    ) -> None:
        self.trace, self.test, self.state, self.site = trace, test, state, site
        self.apart = apart  # does what the paths know stay what it is?
        self.ends: list[list[Snapshot]] = []
        self.values: list[tuple[Any, ...]] = []
        self.regions: list[Region] = []
        self.dead: list[bool] = []
        self.exit = state
        self.raised: list[Any] = []  # what leaves the branches as exceptions, if caught outside
        self.inline = False  # the other branch raises, so this one needs no block

    def __enter__(self) -> None:
        self.trace.conditions.append((self.site.pos, self.test, not self.ends))
        if not self.inline:
            self.depth = len(self.trace.detours)
            self.regions.append(Region(self.trace, escapes=True))
            self.regions[-1].open()

    def leave(self, state: tuple[Any, ...]) -> None:
        self.exit = state

    def __exit__(self, kind: Any, error: BaseException | None, _: object) -> bool:
        self.trace.conditions.pop()
        if self.inline:
            return False
        region = self.regions[-1]
        caught = error is not None and is_caught(self.trace, error)
        dead = error is not None and not caught and dead_end(self.trace, self.depth, error)
        if error is None or caught or dead:
            raised, names = None, self.site.names
            if dead:
                self.exit = at_dead_end(names)
            elif error is not None:
                raised, self.exit = exception_of(error), at_raise(self.trace, names)
            # what nobody reads afterwards may be of a block that is closed, such as a loop's body
            self.exit = tuple(
                v if n in self.site.live else immaterial(n)
                for n, v in zip(names, self.exit, strict=True)
            )
            self.exit, raised = settled(self.trace, self.depth, None, names, self.exit, raised)
            self.raised.append(raised)
            seen: dict[int, Snapshot] = {}
            self.ends.append([snapshot(v, seen) for v in (*self.exit, raised)])
            self.values.append(self.exit)
            region.close()
            self.dead.append(False)
            return error is not None
        assert error is not None
        if not raises_for_the_user(error):
            region.drop()
            return False
        emit_end(self.trace, error)
        region.close()
        self.ends.append([])
        self.values.append(self.state)
        self.dead.append(True)
        if len(self.dead) == 1:
            self._instead(0)
            self.inline, self.exit = True, self.state
        return True

    def _instead(self, k: int) -> None:
        """Branch k raises: emit what is left of it."""
        b = self.trace.builder
        self.trace.at(self.site.pos)
        block = self.regions[k].block
        *before, last = block.equations
        plain = last.op == "check" and isinstance(last.ins[0], Lit)
        if plain and all(map(is_pure, before)) and not (before and last.ins[1:]):
            ok = self.test if k else bind("logical_not", self.test)
            b.pos = last.pos
            b.emit("check", b.atom(ok), *last.ins[1:], **last.params)
            self.trace.at(self.site.pos)
        else:
            other = Block()
            pair = (block, other) if k == 0 else (other, block)
            b.structured("if", (self.test.atom,), (), pair)

    def joined(self) -> tuple[Any, ...]:
        if self.inline:
            return self.exit
        if len(self.ends) == 1:  # there is no else
            region = Region(self.trace)
            region.open()
            region.close()
            self.regions.append(region)
            self.ends.append([snapshot(v) for v in (*self.state, None)])
            self.values.append(self.state)
            self.dead.append(False)
            self.raised.append(None)
        if self.dead[1]:
            self._instead(1)
            self.regions[0].redo()
            return onward(self.trace, self.raised[0], self.site, self.values[0])
        if not any(r is not None for r in self.raised):
            for end in self.ends:
                end.pop()
            return self._join()
        site, self.site = self.site, with_raised(self.site)
        *values, raised = self._join()
        return onward(self.trace, raised, site, tuple(values))

    def _join(self) -> tuple[Any, ...]:
        apart = self.apart or self.site.pos in self.trace.insight.apart
        inner = {v for region in self.regions for e in region.block.equations for v in e.outs}
        paths = Paths(apart, self._made, self._selects, lambda atom: atom not in inner, self._held)
        unifier = Unifier(paths=paths)
        forms: list[Form | None] = []
        pairs: list[tuple[Snapshot, Snapshot]] = []
        names = self.site.names
        for name, s, t in zip(names, *self.ends, strict=True):
            pairs.append((s, t))
            forms.append(self._unify(unifier, s, t, name) if name in self.site.live else None)
        places = self._places()
        for w, s, t in places:
            pairs.append((s, t))
            form = self._unify(unifier, s, t, _place_name(w), is_content(w))
            forms.append(written(form, s, t, w.old) if w.slot == "content" else form)
        join = self.trace.journal.joiner(self.site.pos)
        values = self._select(forms, pairs, join)
        for (w, _, _), value in zip(places, values[len(names) :], strict=True):
            assign(w, value)
        join.finish()
        return tuple(values[: len(names)])

    def _made(self, s: Snapshot, side: int) -> bool:
        region = self.regions[side]
        return id(getattr(s, "value", None)) in region.fresh or holds_inner(s, region)

    def _held(self, s: Rec, side: int) -> bool:
        frames = [*self.regions[0].before, self.regions[side].held]
        return self.trace.journal.is_held(s.value, frames)

    def _selects(self, a: Snapshot, b: Snapshot) -> bool:
        """May they stay apart?  Functions had better not, where ints decide which it is."""
        if has_function(a) or has_function(b):
            self.trace.undecided(self.site.pos, self.test)
        return not is_nested(a) and not is_nested(b)

    def _unify(
        self, unifier: Unifier, s: Snapshot, t: Snapshot, name: str, content: bool = False
    ) -> Form:
        try:
            form = unifier.unify(s, t, name, content)
            check_end(form)
        except Mismatch as e:
            self.trace.mismatched(e, self.site.pos, self.test)
            around = self.trace.around()
            raise explain(name, e, self.site.pos, "after this branch", around) from None
        return form.part if name == "_jv" and isinstance(form, Maybe) and not form.none else form

    def _places(self) -> list[tuple[Any, Snapshot, Snapshot]]:
        """Every place that a branch wrote, with its value at the end of either."""
        first, second = self.regions
        found: dict[Any, list[Any]] = {}
        for k, region in enumerate((first, second)):
            for x in region.written:
                entry = found.setdefault(x.write.place, [x.write, None, None])
                entry[k + 1] = x.value
        out = []
        for w, s, t in found.values():
            if w.slot == "_lost":
                assign(w, (s or t).value)
            else:
                out.append([w, s, t])
        for k, region in enumerate((first, second), 1):
            unwritten = [entry for entry in out if entry[k] is None]
            if unwritten:  # these hold what they did before, as the branch has left it
                with region.at_end(), reopened(self.trace, region.block):
                    seen: dict[int, Snapshot] = {}
                    for entry in unwritten:
                        entry[k] = snapshot(entry[0].read(), seen)
        return [(w, s, t) for w, s, t in out]

    def _select(
        self, forms: list[Form | None], pairs: list[tuple[Snapshot, Snapshot]], join: Joiner
    ) -> list[Any]:
        b = self.trace.builder
        self.trace.at(self.site.pos)
        sides: list[list[Atom]] = []
        for k, region in enumerate(self.regions):
            atoms: list[Atom] = []
            seen: set[int] = set()
            with reopened(self.trace, region.block):
                for f, pair, name in zip(
                    forms, pairs, chain(self.site.names, ["a place"] * len(forms)), strict=False
                ):
                    try:
                        if f is not None:
                            extract(b, f, pair[k], atoms, seen)
                    except Mismatch as e:
                        raise explain(name, e, self.site.pos, "after this branch") from None
            sides.append(atoms)
        needed: list[Any] = []
        names: list[str] = []
        counted: set[int] = set()
        for f, name in zip(forms, chain(self.site.names, repeat("")), strict=False):
            if f is not None:
                kinds(f, needed, counted)
            names += [given(name)] * (len(needed) - len(names))
        results = self._equation(sides, needed, names)
        supply = iter(results)
        made: dict[int, Any] = {}
        return [UNSET if f is None else build(b, f, supply, made, join) for f in forms]

    def _equation(
        self, sides: list[list[Atom]], needed: list[Any], names: list[str]
    ) -> list[Atom]:
        """The `if` equation; results that need none are found without it."""
        b = self.trace.builder
        logic = self._as_logic(sides)
        if logic is not None:
            return logic
        blocks = [r.block for r in self.regions]
        results: list[Atom | None] = []
        outs: list[Var] = []
        for x, y, (t, shape), name in zip(*sides, needed, names, strict=True):
            easy = self._easily(x, y)
            results.append(easy)
            if easy is None:
                outs.append(Var(t, shape_outside(shape, *blocks), name))
                results[-1] = outs[-1]
        kept = [k for k, r in enumerate(results) if isinstance(r, Var) and r in outs]
        for block, side in zip(blocks, sides, strict=True):
            block.results = [side[k] for k in kept]
        if outs or not all(is_pure(e) for block in blocks for e in block.equations):
            b.structured("if", (self.test.atom,), tuple(outs), tuple(blocks))
        return results  # type: ignore[return-value]

    def _as_logic(self, sides: list[list[Atom]]) -> list[Atom] | None:
        """Booleans that a branch sets, or leaves, need no `if`: `c and x`, `c or x`."""
        blocks = [r.block for r in self.regions]
        if not sides[0] or sum(len(block.equations) for block in blocks) > 4:
            return None
        if not all(is_pure(e) and not e.blocks for block in blocks for e in block.equations):
            return None
        pairs = list(zip(*sides, strict=True))
        for x, y in pairs:
            booleans = x.type == y.type == BOOL
            if x != y and not (booleans and (isinstance(x, Lit) or isinstance(y, Lit))):
                return None
        b = self.trace.builder
        for block in blocks:
            b.blocks[-1].equations.extend(block.equations)
        no = b.atom(bind("logical_not", self.test))
        out: list[Atom] = []
        for x, y in pairs:
            easy = self._easily(x, y)
            if easy is not None:
                out.append(easy)
            elif isinstance(x, Lit):
                out.append(b.emit("logical_or", self.test.atom, y) if x.value
                           else b.emit("logical_and", no, y))  # fmt: skip
            else:
                assert isinstance(y, Lit)
                out.append(b.emit("logical_or", no, x) if y.value
                           else b.emit("logical_and", self.test.atom, x))  # fmt: skip
        return out

    def _easily(self, x: Atom, y: Atom) -> Atom | None:
        if x == y:
            return x
        if isinstance(x, Lit) and isinstance(y, Lit) and x.type.dtype == y.type.dtype == "b1":
            b = self.trace.builder
            return b.atom(self.test if x.value else bind("logical_not", self.test))
        return None


def is_pure(e: Any) -> bool:
    if e.op in STRUCTURED:
        return all(is_pure(inner) for block in e.blocks for inner in block.equations)
    return not TABLE[e.op].effect


def is_content(w: Any) -> bool:
    """Is what is written the content of a container, and not another thing in its place?"""
    return w.slot in ("items", "content", APPENDED)


def _place_name(w: Any) -> str:
    if w.slot == APPENDED:
        return APPENDED
    return str(w.slot[1]) if isinstance(w.slot, tuple) else ""


def require_or_raise(trace: Trace, ok: Leaf, args: Callable[[], tuple[Any, ...]]) -> None:
    """assert ok, *args()"""
    assert trace.builder.pos is not None
    session = Branches(trace, ok, (), Site(trace.builder.pos, ()))
    with session:
        pass
    with session:
        raise AssertionError(*args())
    session.joined()
