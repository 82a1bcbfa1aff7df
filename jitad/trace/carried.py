"""Which arrays are in the forms of what a loop carries, and of what extents are they?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jitad.tape.ir import Atom
from jitad.trace.forms import Form, Handle, Maybe, OneOf, Record, Shown
from jitad.trace.snapshot import Arr, Snapshot
from jitad.trace.unify import Mismatch, _shape


def with_extents(
    f: Form, entry: Snapshot, end: Snapshot, outside: Callable[[Atom], bool]
) -> Form:
    """Carried arrays keep their extents: those of the value before the loop."""
    match f:
        case Handle(type=t, shape=shape) if t.ndim:
            source = entry if isinstance(entry, Arr) else end
            if not isinstance(source, Arr):
                return f
            shape = _shape(source)
            if not all(map(outside, shape)):
                raise Mismatch("an array of unknown size, or unbound,")
            return Handle(f.type, shape, f.of)
        case Maybe(part, name, none):
            inner = getattr(end, "part", end)
            before = getattr(entry, "part", entry)
            return Maybe(with_extents(part, before, inner, outside), name, none)
        case Record() if hasattr(entry, "parts"):
            ends = end.parts if hasattr(end, "parts") else entry.parts
            triples = zip(f.parts, entry.parts, ends, strict=True)
            f.parts = tuple(with_extents(*x, outside) for x in triples)
    return f


def entries(f: Form) -> list[Any]:
    """The handles before the loop whose place a form takes."""
    match f:
        case Handle(of=(first, *_)):
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
        case Handle(of=of):
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
