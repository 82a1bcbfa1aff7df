"""Of what extents are arrays in the forms of what a loop carries, and of what branches wrote?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from jitad.errors import JitadExtentError, message
from jitad.primitives import TABLE
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Pos, Var
from jitad.tape.types import Array
from jitad.trace.containers.listed import LISTED
from jitad.trace.joins.as_complex import array_as_complex
from jitad.trace.joins.forms import (
    Form,
    Grown,
    Handle,
    Maybe,
    Number,
    OneOf,
    Record,
    Resized,
    Shown,
)
from jitad.trace.joins.mismatch import Mismatch
from jitad.trace.joins.resized import resized
from jitad.trace.joins.snapshot import by_elements, by_keys
from jitad.trace.joins.state import Arr, Num, Rec, Snapshot
from jitad.trace.joins.unify import content_shape


def with_extents(
    b: Builder, f: Form, entry: Snapshot, end: Snapshot, outside: Callable[[Atom], bool],
    room: Callable[[], Atom],
) -> Form:  # fmt: skip
    """Carried arrays have the extents from before the loop, or such as change in it."""
    if isinstance(f, Record) and f.of.keys in LISTED:
        entry, end = by_elements(entry) or entry, by_elements(end) or end
    match f:
        case Handle() | Resized() if f.type.ndim:
            source = entry if isinstance(entry, Arr) else end
            if not isinstance(source, Arr):
                return f
            # of one that is made in the loop nothing is known before it
            before = tuple(n if outside(b.atom(n)) else 0 for n in source.value.shape)
            after = end.value.shape if isinstance(end, Arr) else before
            return resized(b, f, before, after, outside, room)
        case Shown(of, parent, numbers):
            whole: tuple[Any, Any] = getattr(entry, "parent", None), getattr(end, "parent", None)
            return Shown(of, with_extents(b, parent, *whole, outside, room), numbers)
        case Maybe(part, name, none):
            inner = getattr(end, "part", end)
            before_it = getattr(entry, "part", entry)
            return Maybe(with_extents(b, part, before_it, inner, outside, room), name, none)
        case Record() if hasattr(begins := array_as_complex(entry), "parts"):
            begun, ends = begins.parts, end.parts if hasattr(end, "parts") else begins.parts
            if isinstance(f.of.value, dict) and isinstance(entry, Rec):
                begun = by_keys(entry, f.of.keys)
                ends = by_keys(end, f.of.keys) if isinstance(end, Rec) else begun
            triples = zip(f.parts, begun, ends, strict=True)
            f.parts = tuple(with_extents(b, *x, outside, room) for x in triples)
        case Grown(element=element):
            f.element = _measured(b, element, outside)  # of all places where this list is
    return f


def written(f: Form, s: Snapshot, t: Snapshot, old: Any) -> Form:
    """What two paths leave in an array, of the extents that it had.

    What one of them wrote to all of it may have names of its own for them, which are checked to be
    the same on that path alone.
    """
    if not (isinstance(f, Number) and isinstance(f.type, Array)):
        return f
    first, second, before = (
        content_shape(x.value if isinstance(x, Num) else x) for x in (s, t, old)
    )
    return Number(f.type, tuple(
        n if n == m else k for n, m, k in zip(first, second, before, strict=True)
    ))  # fmt: skip


def _measured(b: Builder, f: Form, outside: Callable[[Atom], bool]) -> Form:
    """The form of an element, by extents that are computed before the loop: so long are rows."""
    match f:
        case Handle(shape=shape):
            return replace(f, shape=tuple(_before(b, n, outside) for n in shape))
        case Record(of, parts):
            return Record(of, tuple(_measured(b, p, outside) for p in parts))
        case Maybe(part, name, none):
            return Maybe(_measured(b, part, outside), name, none)
        case Grown(element=inner):
            return replace(f, element=_measured(b, inner, outside))
    return f


def _before(b: Builder, n: Atom, outside: Callable[[Atom], bool]) -> Atom:
    """An integer of the loop's body, computed before the loop."""
    if outside(n):
        return n
    source = b.sources.get(n)  # type: ignore[arg-type]
    if source is None or source.op not in TABLE or not TABLE[source.op].elementwise:
        raise Mismatch("a list of unknown length of arrays whose extents the loop changes")
    ins = [_before(b, m, outside) for m in source.ins]
    out: Atom = b.emit(source.op, *ins, **source.params)
    return out


def entries(f: Form) -> list[Any]:
    """The handles before the loop whose place a form takes."""
    match f:
        case Handle(of=(first, *_)) | Resized(of=(first, *_)):
            return [first.root]
        case Record():
            return [h for p in f.parts for h in entries(p)]
        case Shown(parent=parent):
            return entries(parent)
        case Maybe(part):
            return entries(part)
    return []


def handles_of(f: Form) -> Iterator[Any]:
    """All handles whose place a form takes."""
    match f:
        case Handle(of=of) | Resized(of=of):
            yield from (h.root for h in of)
        case Record():
            for p in f.parts:
                yield from handles_of(p)
        case OneOf(parts=parts):
            for p in parts:
                yield from handles_of(p)
        case Shown(parent=parent):
            yield from handles_of(parent)
        case Maybe(part):
            yield from handles_of(part)


def check_extents(b: Builder, begins: Var, ends: Atom, pos: Pos) -> None:
    """The kernel looks whether a carried array keeps its extents in an iteration."""
    for n, m in zip(begins.shape, ends.shape, strict=True):
        if n != m:
            text = message("an array changes its extents in a loop", pos,
                           "Make it large enough before the loop.")  # fmt: skip
            b.emit("check", b.emit("eq", n, m), exception=JitadExtentError, message=text)
