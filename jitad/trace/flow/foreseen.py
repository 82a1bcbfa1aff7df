"""What does one pass over a loop's body tell the next about the loops inside?

A loop needs a second pass where the first has found what it writes.  In a nest each level would
double how often the innermost body is traced.  But what a loop has come to carry, it carries in the
next pass of the loop around it as well, in which more is left to the kernel, not less: so it begins
with that.  Foreseen is what consists of numbers and arrays; where it was wrong, the loop begins
anew without.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from jitad.immutable import immutable
from jitad.tape.build import Leaf
from jitad.tape.ir import Atom, Pos, Var, lit
from jitad.tape.types import BOOL, INT, Array, Scalar
from jitad.trace.containers.stretch import Stretch
from jitad.trace.joins.forms import Form, Grown, Handle, Keep, Maybe, Number, Record
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Snapshot
from jitad.trace.joins.unify import same
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.journal import Journal, Write
from jitad.values.kind import type_of

if TYPE_CHECKING:
    from jitad.trace.context import Region, Trace

NOTHING = Per(False, None)
Key = tuple[Pos, int]  # a loop of a pass: where it is, and how many there were before


@immutable
class Made:
    """The content of an array that the body of a loop makes: which of those is it?"""

    frame: int
    number: int

    def again(self, journal: Journal) -> Write | None:
        """That place in the present pass."""
        if self.frame >= len(journal.fresh):
            return None
        things = itertools.islice(journal.fresh[self.frame].values(), self.number, None)
        h = next(things, None)
        if not isinstance(h, ArrayHandle) or h.root is not h or h.choice is not None:
            return None
        return Write(h, "content", h._content, lambda: h._content, h.restore)


def _place_of(write: Write, journal: Journal, frame: int) -> Write | Made | None:
    """The place, as it can be found again; what is made in the frame or inside comes anew."""
    for k, fresh in enumerate(journal.fresh[frame:], frame):
        if id(write.target) in fresh:
            is_content = write.slot == "content" and isinstance(write.target, ArrayHandle)
            return Made(k, list(fresh).index(id(write.target))) if is_content else None
    return write


@dataclass
class Found:
    """What a loop has come to carry: its names in order, places, and the same of loops inside."""

    names: Sequence[Form]
    places: Sequence[tuple[Write | Made, Form]]
    inside: dict[Key, Found]


@dataclass
class Inside:
    """The loops of a pass."""

    frame: int  # of the journal, which what is made inside of any loop is in, or in a later one
    known: dict[Key, Found]  # from the pass before
    found: dict[Key, Found] = field(default_factory=dict)
    begun: Counter[Pos] = field(default_factory=Counter)


class Foresight:
    """What is known of a loop before its first pass, and what it tells the next one like it."""

    def __init__(self, trace: Trace, pos: Pos) -> None:
        self.trace = trace
        self.around = next((r.inside for r in reversed(trace.regions) if r.inside), None)
        self.frame = len(trace.journal.fresh) if self.around is None else self.around.frame
        self.variables: dict[Any, Snapshot] = {}  # foreseen: what they are when the first begins
        self.found: Found | None = None
        self.inside: dict[Key, Found] = {}
        if self.around is not None:
            self.around.begun[pos] += 1
            self.key = (pos, self.around.begun[pos])
            self.found = self.around.known.get(self.key)
            self.inside = self.found.inside if self.found is not None else {}

    def forget(self) -> None:
        self.variables, self.inside, self.found = {}, {}, None

    def begins(self) -> Inside:
        """A pass begins."""
        return Inside(self.frame, self.inside)

    def starts(self, values: Mapping[Any, Any]) -> None:
        """The names and places hold this when a pass begins."""
        self.variables = {key: snapshot(values[key]) for key in self.variables}

    def ends(self, region: Region, values: Mapping[Any, Snapshot]) -> bool:
        """A pass has ended with this; False where what was foreseen is not so."""
        if region.inside is not None:
            self.inside = region.inside.found

        foreseen, self.variables = self.variables, {}  # to be looked at once: later ones are found
        return not any(
            same(begun, values[key])
            or not self._is_new(values[key], begun.value if isinstance(begun, Arr) else None)
            for key, begun in foreseen.items()
        )

    def _is_new(self, end: Snapshot, begun: Any) -> bool:
        """Is it no array, or one that iterations make?  It may be that of another name, too."""
        if not isinstance(end, Arr) or not isinstance(begun, ArrayHandle):
            return not isinstance(end, Arr)
        journal, todo, seen = self.trace.journal, [end.value], {id(begun)}
        while todo:
            h = todo.pop()
            if id(h) in seen:
                continue
            seen.add(id(h))
            join = journal.joins.get(id(h))
            if join is not None:
                todo += [x for side in join.sides for x in side]
            elif not journal.is_gone(h):
                return False
        return True

    def tell(
        self, names: Sequence[Form], begun: Sequence[Any], ends: Sequence[Snapshot],
        places: Iterable[tuple[Write, Form]],
    ) -> None:  # fmt: skip
        """The loop has settled."""
        if self.around is not None:
            names = [
                Handle(f.type, f.shape, ()) if isinstance(f, Handle) and not new else f
                for f, new in zip(names, map(self._is_new, ends, begun), strict=True)
            ]
            found = [(_place_of(w, self.trace.journal, self.frame), f) for w, f in places]
            again = [(p, f) for p, f in found if p is not None]
            self.around.found[self.key] = Found(names, again, self.inside)

    def name(self, k: int, entry: Snapshot) -> Snapshot | None:
        """What a name may hold after an iteration; None where that is not foreseen."""
        assert self.found is not None
        form = self.found.names[k]
        match form, entry:
            case Handle(t, extents, (_, _), or_number=False), Arr(value=h) if h.type == t:
                b = self.trace.builder
                shape: list[Atom] = [b.atom(n) if extents else Var(INT) for n in h.shape]
                content = b.leaf(Var(t, tuple(shape)))
                return Arr(ArrayHandle(content), content)
        return self._at_end(form, entry)

    def places(self) -> Iterator[tuple[Write, Snapshot, Snapshot]]:
        """The places written: what they hold before the loop and may hold after an iteration."""
        assert self.found is not None
        joins = self.trace.journal.joins.values()
        replaced = {id(x) for j in joins for side in j.sides for x in side}
        for place, form in self.found.places:
            write = place.again(self.trace.journal) if isinstance(place, Made) else place
            if write is not None and id(write.target) not in replaced:
                entry = snapshot(write.read())
                end = self._at_end(form, entry, (list, dict))
                if end is not None:
                    yield write, entry, end

    def _at_end(
        self, form: Form, entry: Snapshot, contents: tuple[type, ...] = ()
    ) -> Snapshot | None:
        """Something of this form, made of variables that are only there to be looked at.

        Nothing in it may be known by another name, too: so it may be the content of a list, but
        not a list.
        """
        b = self.trace.builder
        match form, entry:
            case Keep(of), _:
                return of if same(of, entry) or (entry is NOTHING and isinstance(of, Obj)) else None
            case Number(Array() as t), Num(np.ndarray() as x):
                shape = tuple(map(lit, x.shape))
                return Num(b.leaf(Var(t, shape))) if x.ndim == t.ndim else None
            case Number(Array() as t), Num(Leaf(type=was, atom=atom)):
                return Num(b.leaf(Var(t, atom.shape))) if was == t else None
            case Number(Scalar() as t), (Num() | Per()):
                return Num(b.leaf(Var(t)))
            case Maybe(part, name, none), _:
                before = entry.part if isinstance(entry, Per) else entry
                inside = self._at_end(part, before or NOTHING)
                return None if inside is None else Per(b.leaf(Var(BOOL)), inside, name, none)
            case Grown(), Rec(value, keys, (Rec(Stretch() as of, _, stores),)) if contents:
                anew = [self._at_end(Number(type_of(s.value)), s) for s in stores]  # type: ignore[union-attr]
                grown = of.with_parts([s.value for s in anew if isinstance(s, Num)])
                return Rec([grown], keys, (snapshot(grown),))
            case Record(Rec(value, keys)), _ if type(value) in (tuple, Complex, Stretch, *contents):
                known = entry.parts if isinstance(entry, Rec) else (NOTHING,) * len(keys)
                if isinstance(entry, Rec) and entry.keys != keys:
                    return None
                parts = map(self._at_end, form.parts, known)
                there = tuple(p for p in parts if p is not None)
                return Rec(value, keys, there) if len(there) == len(keys) else None
        return None
