"""Of what form is a list whose length only the kernel knows?

Where paths leave lists of different lengths behind, or a loop makes a list longer, the list's form
is `Grown`: a count, and for every variable of an element (`join.kinds`) an array of a row an
element.  All elements are of one form, which covers those of either side.  Arrays and containers
are copied when they become elements, so from then on nobody may write to them (`hold`), and what
is read from the list may not be written to either: then no one can tell the copies apart.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from jitad.closures import is_function
from jitad.errors import JitadError, JitadExtentError, RoomMiss
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom, Lit, lit
from jitad.tape.types import INT, Array, Scalar, Type
from jitad.trace.containers.stretch import Stretch
from jitad.trace.joins import selected
from jitad.trace.joins.forms import Form, Grown, Handle, Keep, Maybe, Number, OneOf, Record
from jitad.trace.joins.join import kinds, signature
from jitad.trace.joins.mismatch import Mismatch, describe, scalar
from jitad.trace.joins.snapshot import snapshot, stretch_of
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Sel, Snapshot
from jitad.trace.joins.unify import Unifier, _kind, _shape, join_types, number_or_array, same
from jitad.values import extents, journal
from jitad.values.array import ArrayHandle
from jitad.values.kind import require
from jitad.values.number import bind
from jitad.values.views import Range, all_of

SPARE = 4  # more elements than there are, where a branch makes a list longer


# -- the form of an element -----------------------------------------------------------------------


def element(s: Snapshot, around: tuple[int, ...] = ()) -> Form:
    """The form of a value that becomes an element."""
    if id(s) in around:
        raise Mismatch("a list of unknown length of things that may be parts of themselves")
    match s:
        case Num(x):
            return Number(scalar(x))
        case Arr(h, _):
            return Handle(h.type, _shape(s), (), h.or_number)
        case Rec(value) if is_function(value):
            raise Mismatch("a list of unknown length that holds functions")
        case Rec() if (stretch := stretch_of(s)) is not None:
            return Grown(s, stretch.element, _room_inside(), None)
        case Rec():
            return Record(s, tuple(element(p, (*around, id(s))) for p in s.parts))
        case Per(_, part, name, none) if none and part is not None:
            return Maybe(element(part, around), name, True)
        case Per():
            raise Mismatch("a list that holds a value which is bound on some paths only")
        case Sel():
            return functools.reduce(cover, (element(x, around) for x in selected.things(s)))
    return Keep(s)


def _room_inside() -> Atom:
    return _trace().room(None).atom


def _room_here() -> Atom:
    trace = _trace()
    return trace.room(trace.builder.pos).atom


def _trace() -> Any:
    from jitad.trace.ongoing import current

    trace = current()
    assert trace is not None
    return trace


def cover(a: Form, b: Form) -> Form:
    """The form that holds what both hold."""
    match a, b:
        case Number(s), Number(t):
            return Number(join_types(s, t))
        case Handle(s, m), Handle(t, n) if s == t:
            for p, q in zip(m, n, strict=True):
                _same_extent(p, q)
            return a if a.or_number else b
        case (Number(Scalar() as t), Handle(s) as h) | (Handle(s) as h, Number(Scalar() as t)) if (
            not s.ndim
        ):
            return number_or_array(h, t)
        case Record(), Record() if a.of.keys == b.of.keys and _like(a.of.value, b.of.value):
            return Record(a.of, tuple(map(cover, a.parts, b.parts)))
        case Record(), Record() if _is_sequence(a.of.value) and _like(a.of.value, b.of.value):
            covering = functools.reduce(cover, (*a.parts, *b.parts))
            return Grown(a.of, covering, _room_inside(), None)
        case Grown(), Grown() if _like(a.of.value, b.of.value):
            return Grown(a.of, cover(a.element, b.element), a.room, None)
        case (Grown() as g, Record() as r) | (Record() as r, Grown() as g) if (
            _like(g.of.value, r.of.value)
        ):
            return Grown(g.of, functools.reduce(cover, r.parts, g.element), g.room, None)
        case Maybe(p, name), Maybe(q):
            return Maybe(cover(p, q), name, True)
        case (Maybe(), Keep(Obj(None))) | (Keep(Obj(None)), Keep(Obj(None))):
            return a
        case Keep(Obj(None)), Maybe():
            return b
        case Keep(Obj(None)), _:
            return Maybe(b, "an element", True)
        case _, Keep(Obj(None)):
            return Maybe(a, "an element", True)
        case Maybe(p, name), _:
            return Maybe(cover(p, b), name, True)
        case _, Maybe(q, name):
            return Maybe(cover(a, q), name, True)
        case Keep(s), Keep(t) if same(s, t):
            return a
        case (Keep() | OneOf()), (Keep() | OneOf()) if _are_static(a) and _are_static(b):
            return _one_of(a, b)
    raise Mismatch(f"a list of unknown length that holds {_described(a)} and {_described(b)}")


def _is_sequence(value: Any) -> bool:
    return type(value) in (list, tuple)


def _are_static(f: Form) -> bool:
    """Things that are told apart by booleans, as strings are; not functions, which nest."""
    parts = f.parts if isinstance(f, OneOf) else [f]
    return all(isinstance(p, Keep) and _is_static(p.of) for p in parts)


def _is_static(s: Snapshot) -> bool:
    return isinstance(s, Obj) and (isinstance(s.value, type) or not callable(s.value))


def _one_of(*forms: Form) -> OneOf:
    out = OneOf([], [])
    for f in forms:
        for p in f.parts if isinstance(f, OneOf) else [f]:
            assert isinstance(p, Keep)
            if (k := selected.key(p.of)) not in out.keys:
                out.keys.append(k)
                out.parts.append(p)
    return out


def _like(u: Any, v: Any) -> bool:
    return _kind(u) is _kind(v)


def _described(f: Form) -> str:
    match f:
        case Number(t):
            from jitad.tape.types import named

            return named(t)
        case Handle(t):
            return f"an array ({t})"
        case Record(of) | Keep(of) | Grown(of):
            return describe(of)
        case OneOf(parts=parts):
            return " or ".join(map(_described, parts))
    return "None or something else"


def _same_extent(p: Atom, q: Atom) -> None:
    trace = _trace()
    m, n = trace.builder.leaf(p), trace.builder.leaf(q)
    if extents.same(m, n):
        return
    b = trace.builder
    if _changes(b, p) != _changes(b, q) or not (_is_here(b, p) and _is_here(b, q)):
        raise Mismatch("a list of unknown length of arrays whose extents the loop changes")
    if not isinstance(m, Leaf) and not isinstance(n, Leaf):
        raise Mismatch(f"a list of unknown length of arrays of {m} and of {n} elements")
    require(bind("eq", m, n), JitadError,
            "a list of unknown length holds arrays of different extents")  # fmt: skip


def _is_here(b: Builder, n: Atom) -> bool:
    """Is it defined where the tape is being written, and not in an iteration that is over?"""
    if isinstance(n, Lit) or any(n in block.params for block in b.blocks):
        return True
    source = b.sources.get(n)
    return any(e is source for block in b.blocks for e in block.equations)


def _changes(b: Builder, n: Atom) -> bool:
    """True of an extent that is computed from what a loop carries."""
    if isinstance(n, Lit) or n in b.blocks[0].params:
        return False
    source = b.sources.get(n)
    return source is None or any(_changes(b, m) for m in source.ins)


def variables(f: Form) -> list[tuple[Type, tuple[Atom, ...]]]:
    """Type and extents of what an element is made of."""
    out: list[tuple[Type, tuple[Atom, ...]]] = kinds(f, [], set())
    return out


# -- lists ----------------------------------------------------------------------------------------


def unified(unifier: Unifier, a: Rec, b: Rec) -> Form | None:
    """The form of a list that is one of two; None where its length is known, and the same.

    Tuples of known lengths are different things, unless a loop makes them longer.
    """
    p, q = stretch_of(a), stretch_of(b)
    if not (_is_sequence(a.value) and _like(a.value, b.value)):
        return None
    longer = isinstance(a.value, list) or unifier.room is not None or unifier.free
    if p is None and q is None and (len(a.keys) == len(b.keys) or not longer):
        return None
    if p is not None and q is not None and _same_rows(p, q):
        (u,), (v,) = a.parts, b.parts
        assert isinstance(u, Rec) and isinstance(v, Rec)
        spare = None if p.spare is None else min(p.spare, q.spare)  # type: ignore[type-var]
        if unifier.room is None or spare is None or same(u.parts[0], v.parts[0]):
            like = Rec(Stretch(p.count, p.stores, p.element, spare), u.keys, u.parts)
            parts = tuple(map(unifier.unify, u.parts, v.parts))
            return Record(a, (Record(like, parts),))
    found: Form | None = None
    for s, stretch in ((a, p), (b, q)):
        for e in [stretch.element] if stretch is not None else map(element, s.parts):
            found = e if found is None else cover(found, e)
    assert found is not None
    sides, held = _sides(unifier, a, b), _is_held(unifier, a, b)
    if unifier.free:
        return of_any_length(a, found, sides)
    if unifier.room is not None:
        return Grown(a, found, unifier.room(), None, sides, held)
    bare = not variables(found)  # of such elements any number fits
    rooms = [r.room if r is not None and bare else rows_of(s, r) for s, r in ((a, p), (b, q))]
    paths = unifier.paths
    if paths is not None and not all(paths.outside(_atom(n)) for n in rooms):
        return Grown(a, found, _room_here(), None, sides, held)  # only the path knows for how many
    room = _atom(extents.add(extents.largest(*rooms), SPARE))
    return Grown(a, found, room, SPARE, sides, held)


def _sides(unifier: Unifier, a: Rec, b: Rec) -> tuple[Any, ...]:
    """The lists whose place a new one takes; those that a path has made are reached no more."""
    if isinstance(a.value, tuple) or a.value is b.value:
        return ()
    made = unifier.paths.made if unifier.paths is not None else lambda s, side: False
    return tuple(s.value for side, s in enumerate((a, b)) if not made(s, side))


def _is_held(unifier: Unifier, *paths: Rec) -> bool:
    """Did one of them become an element on its path?  Then nobody may write to the new one."""
    held = unifier.paths.held if unifier.paths is not None else None
    return held is not None and any(held(s, side) for side, s in enumerate(paths))


def of_any_length(s: Rec, element: Form, sides: tuple[Any, ...]) -> Grown:
    """The form of a list that has as many rows as it brings, where functions take and give it."""
    params = _trace().builder.blocks[0].params
    for _, shape in variables(element):
        if not all(isinstance(n, Lit) or n in params for n in shape):
            raise Mismatch("a list of unknown length of arrays whose extents vary")
    return Grown(s, element, None, 0, sides)


def _same_rows(p: Stretch, q: Stretch) -> bool:
    return len(p.stores) == len(q.stores) and all(map(_is, p.stores, q.stores))


def _is(a: Any, b: Any) -> bool:
    return a is b


def _atom(n: Any) -> Atom:
    return n.atom if isinstance(n, Leaf) else lit(int(n))


def kinds_of(f: Grown) -> list[tuple[Type, tuple[Atom, ...]]]:
    out: list[tuple[Type, tuple[Atom, ...]]] = [(INT, ())]
    for t, shape in variables(f.element):
        assert isinstance(t, (Array, Scalar))
        rows = () if f.room is None else (f.room, *shape)
        out.append((Array(t.dtype, len(shape) + 1), rows))
    return out


def build(b: Builder, f: Grown, atoms: Iterator[Atom], join: Any) -> list[Any]:
    """A list of this form."""
    count = b.leaf(next(atoms))
    stores = []
    for _ in variables(f.element):
        stores.append(ArrayHandle(b.leaf(next(atoms))))
        if f.room is None:
            journal.made(stores[-1])
        else:
            join(stores[-1], ())
    out = [Stretch(count, tuple(stores), f.element, f.spare)]
    made = type(f.of.value)(out)
    journal.made(made)
    if f.sides:
        join(made, f.sides)
    running = journal.active()
    if running is not None and f.room is not None:
        running.certain[id(made)] = made
        if f.held:
            running.hold(made)
    return made


def extract(b: Builder, f: Grown, s: Snapshot | None, out: list[Atom]) -> None:
    """The atoms of a list in this form."""
    stretch = stretch_of(s)
    if f.room is None:
        f = replace(f, room=_atom(rows_of(s, stretch)))
    assert f.room is not None
    stores = empty(b, f)
    if not isinstance(s, Rec):
        out += [lit(0), *(b.atom(h.content) for h in stores)]
        return
    room = b.leaf(f.room)
    if stretch is None:
        enough(b, room, len(s.keys))
        for k, part in enumerate(s.parts):
            elements.write_row(b, f.element, part, stores, k, s.value)
        out += [lit(len(s.keys)), *(b.atom(h.content) for h in stores)]
        return
    count, contents = elements.contents_of(s)
    out.append(b.atom(count))
    if signature(stretch.element, {}) == signature(f.element, {}) and all(
        extents.same(c.shape[0], room) for c in contents
    ):
        out += map(b.atom, contents)
        return
    enough(b, room, count)
    contents = elements.converted(b, stretch.element, f.element, contents, count)
    for h, c in zip(stores, contents, strict=True):
        if c is not None:
            fill(h, c, count)
        out.append(b.atom(h.content))


def rows_of(s: Snapshot | None, stretch: Stretch | None) -> Any:
    """How many rows a list has: those past its count are of no meaning."""
    if not isinstance(s, Rec):
        return 0
    if stretch is None:
        return len(s.keys)
    return stretch.room if stretch.stores else stretch.count


def empty(b: Builder, f: Grown) -> list[ArrayHandle]:
    """Rows for elements, all zero."""
    out = []
    for t, shape in kinds_of(f)[1:]:
        assert isinstance(t, (Array, Scalar))
        zero = lit(np.dtype(t.dtype).type(0))
        out.append(ArrayHandle(b.leaf(b.emit("full", zero, *shape, dtype=t.dtype))))
    return out


def fill(store: ArrayHandle, content: Any, count: Any) -> None:
    """The first rows become those of another array."""
    rows = Range(0, 1, count)
    source = ArrayHandle(content)
    taken = source._window((rows, *all_of(source.shape).entries[1:]))
    store._window((rows, *all_of(store.shape).entries[1:])).assign(taken)


def enough(b: Builder, room: Any, needed: Any) -> None:
    """Check that there is room for so many elements."""
    text = _trace().room_message(b.atom(room))
    if text is not None:  # others are made for as many as there can be
        require(bind("ge", room, needed), RoomMiss, text)


def of_columns(columns: list[ArrayHandle], sample: Any) -> Stretch:
    """Elements like `sample`, each of whose numbers and arrays is in an array of its own."""
    return Stretch(columns[0].shape[0], tuple(columns), element(snapshot(sample)), 0)


def not_empty(rows: ArrayHandle, count: Any) -> ArrayHandle:
    """An array of a list of arrays or ints; of an empty one, NumPy knows neither axes nor dtype."""
    if extents.assume_at_least(count, 1):
        return rows
    if isinstance(count, int) and count == 0:
        return ArrayHandle(np.zeros(0), owned=True)
    what, remedy = "arrays is an array of one axis, where its arrays have more", "of the shape"
    if rows.ndim == 1:
        what, remedy = f"{rows.dtype} is an array of float64", "of the dtype, and np.append"
    require(bind("ge", count, 1), JitadExtentError, f"an empty list of {what}",
            f"Start from np.zeros {remedy}.")  # fmt: skip
    return rows


from jitad.trace.containers import elements  # noqa: E402  which is made of these forms
