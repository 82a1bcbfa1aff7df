"""How does an element get into the rows of a list whose length only the kernel knows, and out?

Every variable of the element's form has an array of a row an element.  One of several static things
is a boolean each but for the last; a list inside is a count, and a row of rows, as many as lists in
lists have room for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jitad.tape.build import Builder, Leaf
from jitad.tape.copy import as_type
from jitad.tape.types import Scalar
from jitad.trace.containers.grown import enough, fill, variables
from jitad.trace.containers.stretch import Stretch
from jitad.trace.containers.writtenback import became_element
from jitad.trace.joins import selected
from jitad.trace.joins.forms import Form, Grown, Handle, Keep, Maybe, Number, OneOf, Record
from jitad.trace.joins.join import _container, _rebuilt
from jitad.trace.joins.snapshot import stretch_of
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Sel, Snapshot
from jitad.values.array import ArrayHandle
from jitad.values.chosen import each
from jitad.values.copies import note_copy
from jitad.values.journal import keep_as_it_is
from jitad.values.number import Number as Traced
from jitad.values.number import bind
from jitad.values.stale import check_object
from jitad.values.views import At, Range, all_of

# -- in -------------------------------------------------------------------------------------------


def write_row(b: Builder, f: Form, s: Snapshot, stores: Any, k: Any, owner: Any) -> None:
    """A value becomes element number k of the owner, where there is room.

    None among the stores: what is in this one is there already."""
    _write(b, f, s, iter(stores), k)
    hold(s, owner, k)


def _write(b: Builder, f: Form, s: Snapshot | None, stores: Iterator[Any], k: Any) -> None:
    """The variables of a value in this form, into row k of a store each; None: nothing there."""
    if not isinstance(f, Record):
        own = [next(stores) for _ in variables(f)]
        if any(store is not None for store in own):
            _write_own(b, f, s, own, k)
        return
    if isinstance(s, Sel):
        _write_one_of(b, f, s, [next(stores) for _ in variables(f)], k)
        return
    parts = s.parts if isinstance(s, Rec) else (None,) * len(f.parts)
    for p, q in zip(f.parts, parts, strict=True):
        _write(b, p, q, stores, k)


def _write_own(b: Builder, f: Form, s: Snapshot | None, own: list[Any], k: Any) -> None:
    """The same of what is no container of a known length."""
    if isinstance(s, Sel) and not isinstance(f, OneOf):
        _write_one_of(b, f, s, own, k)
        return
    stores = iter(own)
    match f:
        case Number(t):
            value = s.value if isinstance(s, Num) else 0
            _put(next(stores), k, b.leaf(as_type(b, b.atom(value), t)))
        case Handle():
            store = next(stores)
            if isinstance(s, (Arr, Num)) and len(store.shape) == 1:
                _put(store, k, s.content if isinstance(s, Arr) else s.value)
            elif isinstance(s, Arr):
                store.row(k).assign(ArrayHandle(s.content))
        case Maybe(part):
            there, inner = _there(s)
            _put(next(stores), k, there)
            _write(b, part, inner, stores, k)
        case OneOf():
            flags: list[Any] = [False] * len(f.parts)
            for flag, thing in [] if s is None else selected.flagged(s):
                at = f.keys.index(selected.key(thing))
                flags[at] = selected.either(flags[at], flag)
            for flag in flags[:-1]:
                _put(next(stores), k, flag)
        case Grown():
            counts = next(stores)
            count = _write_list(b, f, s, [*stores], k)
            if counts is not None:
                _put(counts, k, count)


def _write_one_of(b: Builder, f: Form, s: Sel, stores: list[ArrayHandle], k: Any) -> None:
    """Of several things, the one that it is."""
    flags, things = zip(*selected.flagged(s), strict=True)
    each(selected.fork, flags[:-1], things, lambda thing: _write(b, f, thing, iter(stores), k))


def _there(s: Snapshot | None) -> tuple[Any, Snapshot | None]:
    match s:
        case Obj(None) | None:
            return False, None
        case Per(flag, inner):
            return flag, inner
    return True, s


def _write_list(b: Builder, f: Grown, s: Snapshot | None, stores: list[Any], k: Any) -> Any:
    """The elements of a list, into row k of a store each; gives how many."""
    if not isinstance(s, Rec):
        return 0
    assert f.room is not None
    inside = [None if store is None else store.row(k) for store in stores]
    stretch = stretch_of(s)
    if stretch is None:
        enough(b, b.leaf(f.room), len(s.keys))
        for j, part in enumerate(s.parts):
            _write(b, f.element, part, iter(inside), j)
        return len(s.keys)
    count, contents = contents_of(s)
    enough(b, b.leaf(f.room), count)
    held = converted(b, stretch.element, f.element, contents, count)
    for row, c in zip(inside, held, strict=True):
        if row is not None and c is not None:
            fill(row, c, count)
    return count


def contents_of(s: Rec) -> tuple[Any, list[Any]]:
    """How many elements a list of unknown length has, and its rows."""
    (inner,) = s.parts
    assert isinstance(inner, Rec)
    count, *stores = inner.parts
    assert isinstance(count, Num) and all(isinstance(r, Arr) for r in stores)
    return count.value, [r.content for r in stores]  # type: ignore[union-attr]


def _put(store: ArrayHandle, k: Any, x: Any) -> None:
    """A number, as the array holds it."""
    dtype = store.type.dtype
    x = bind("cast", x, dtype=dtype) if isinstance(x, Traced) else np.dtype(dtype).type(x)
    store._store_element((k,), x)


def hold(s: Snapshot | None, owner: Any, k: Any, path: tuple[int, ...] = ()) -> None:
    """What became element number k is written to no more, but by what is read of the owner."""
    match s:
        case Arr(h, _):
            keep_as_it_is(h.root)
        case Rec(Stretch()):
            pass  # its arrays are the list's alone
        case Rec(value):
            if not isinstance(value, tuple):
                check_object(value)  # it may have been written under another name
                became_element(value, owner, k, path)
                keep_as_it_is(value)
            for j, p in enumerate(s.parts):
                hold(p, owner, k, (*path, j))
        case Per(_, part):
            hold(part, owner, k, path)
        case Sel(parts=parts):
            for p in parts:
                hold(p, owner, k, path)


# -- out ------------------------------------------------------------------------------------------


def read_row(b: Builder, stretch: Stretch, k: Any) -> Any:
    """Element number k, which is there."""
    stores = iter(stretch.stores)

    def number(t: Scalar) -> Any:
        x = next(stores).row(k)
        return bind("cast", x, dtype=t.dtype, py=t.py) if isinstance(x, Leaf) else x

    def part(f: Form) -> Any:
        out: Any
        match f:
            case Number(Scalar() as t):
                return number(t)
            case Handle(t, or_number=or_number):
                row = next(stores).row(k)
                out = ArrayHandle(row.content if t.ndim else row, or_number=or_number)
                keep_as_it_is(out)
                return out
            case Record():
                out = _container(f, [part(p) for p in f.parts])
            case Maybe(inner, name):
                flag, value = number(_BOOL), part(inner)
                return selected.perhaps(flag, value, name)
            case OneOf(parts=parts):
                flags = [number(_BOOL) for _ in parts[1:]]
                return selected.one_of(flags, [part(p) for p in parts])
            case Grown():
                count = number(_INT)
                inside = []
                for _ in variables(f.element):
                    row = next(stores).row(k)
                    taken = row._window((Range(0, 1, count), *all_of(row.shape).entries[1:]))
                    inside.append(ArrayHandle(taken.content))
                out = type(f.of.value)([Stretch(count, tuple(inside), f.element, 0)])
            case Keep(s):
                return _rebuilt(s)
        if isinstance(out, tuple):
            note_copy(out)
        else:
            keep_as_it_is(out)
        return out

    return part(stretch.element)


_BOOL, _INT = Scalar("b1", py=True), Scalar("i8", py=True)

# -- of another form ------------------------------------------------------------------------------


def converted(b: Builder, was: Form, now: Form, contents: list[Any], count: Any) -> list[Any]:
    """The rows of elements of one form as those of a wider one; None: zeros will do."""
    supply = iter(contents)

    def all_rows(value: bool) -> Any:
        known = contents and contents[0] is not None
        return bind("full", value, contents[0].shape[0] if known else count, dtype="b1")

    def part(p: Form | None, q: Form) -> list[Any]:
        match p, q:
            case None, _:
                return [None] * len(variables(q))
            case (Number(s) | Handle(s, or_number=True)), (Number(t) | Handle(t, or_number=True)):
                content = next(supply)
                if s.dtype == t.dtype:
                    return [content]
                return [bind("cast", content, dtype=t.dtype)]
            case Handle(), Handle():
                return [next(supply)]
            case Record(), Record():
                return [x for pq in zip(p.parts, q.parts, strict=True) for x in part(*pq)]
            case Grown(), Grown():
                return [next(supply), *part(p.element, q.element)]
            case Record(), Grown():
                return _as_lists(q, [part(e, q.element) for e in p.parts])
            case Maybe(inner), Maybe(other):
                return [next(supply), *part(inner, other)]
            case Keep(Obj(None)), Maybe(other):
                return [None, *part(None, other)]
            case _, Maybe(other):
                return [all_rows(True), *part(p, other)]
            case (Keep() | OneOf()), OneOf():
                return _flags(p, q)
        return []

    def _as_lists(q: Grown, columns: list[list[Any]]) -> list[Any]:
        """Lists of one known length, as such of any."""
        if not columns:
            return [None] * (1 + len(variables(q.element)))
        assert contents and contents[0] is not None and q.room is not None
        rows, room = contents[0].shape[0], b.leaf(q.room)
        enough(b, room, len(columns))
        out = [bind("full", len(columns), rows, dtype="i8")]
        for v, (t, shape) in enumerate(variables(q.element)):
            dims = map(b.leaf, shape)
            zero = np.dtype(t.dtype).type(0)  # type: ignore[union-attr]
            held = ArrayHandle(bind("full", zero, rows, room, *dims, dtype=t.dtype))  # type: ignore[union-attr]
            for j, column in enumerate(columns):
                every, _, *others = all_of(held.shape).entries
                if column[v] is not None:
                    held._window((every, At(j), *others)).assign(ArrayHandle(column[v]))
            out.append(held.content)
        return out

    def _flags(p: Keep | OneOf, q: OneOf) -> list[Any]:
        if isinstance(p, Keep):
            mine = selected.key(p.of)
            return [all_rows(True) if k == mine else None for k in q.keys[:-1]]
        flags = [next(supply) for _ in p.keys[1:]]
        last = flags[0]
        for flag in flags[1:]:
            last = bind("logical_or", last, flag)
        known = dict(zip(p.keys, [*flags, bind("logical_not", last)], strict=True))
        return [known.get(k) for k in q.keys[:-1]]

    return part(was, now)
