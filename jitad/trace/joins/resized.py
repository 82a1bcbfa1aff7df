"""How does a loop carry an array whose extents change in it?

Arrays that a loop of the tape carries keep their extents.  So such an array lies in the corner of a
larger one, its `hull`, and its extents are numbers that are carried beside.  An axis that no
iteration makes longer has the extent from before the loop for its hull; others have a `Room`, as
lists have that grow (`stretch.py`): the kernel runs again where that does not suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from jitad.errors import RoomMiss
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Lit, Var, lit
from jitad.tape.types import INT, Type
from jitad.trace.joins.forms import Handle, Resized
from jitad.trace.joins.state import Arr, Lost, Snapshot
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.extents import Int
from jitad.values.kind import require
from jitad.values.number import bind
from jitad.values.stale import refuse_stale
from jitad.values.views import Range

DEPTH = 8  # of clipped numbers within each other


def resized(
    b: Builder, f: Handle | Resized, entry: tuple[Int, ...], end: tuple[Int, ...],
    outside: Callable[[Atom], bool], room: Callable[[], Atom],
) -> Handle | Resized:  # fmt: skip
    """The form for these extents before the loop and after an iteration.

    An extent that an iteration leaves alone, or sets to what was known before the loop, is fixed:
    where it is not what it was, a check says so.
    """
    changing = tuple(_changes(b, m, n, outside) for m, n in zip(entry, end, strict=True))
    hull, begun, limit = tuple(map(b.atom, entry)), entry, None
    if isinstance(f, Resized):
        changing = tuple(c or d for c, d in zip(f.changing, changing, strict=True))
        hull, begun, limit = f.hull, f.begun or entry, f.room
    if not any(changing):
        return Handle(f.type, hull, f.of)
    grows = [
        c and not _at_most(b, b.atom(n), m) for c, m, n in zip(changing, begun, end, strict=True)
    ]
    if any(grows):
        limit = limit or room()
        larger = [b.atom(extents.largest(n, b.leaf(limit))) for n in entry]
        known = f.growing if isinstance(f, Resized) else (False,) * len(grows)
        new = [g and not was for g, was in zip(grows, known, strict=True)]
        hull = tuple(x if n else h for n, h, x in zip(new, hull, larger, strict=True))
        grows = [was or g for was, g in zip(known, grows, strict=True)]
    elif isinstance(f, Resized):
        grows = list(f.growing)
    return Resized(f.type, hull, changing, tuple(grows), limit, f.of)


def _changes(b: Builder, before: Int, after: Int, outside: Callable[[Atom], bool]) -> bool:
    """Is the extent another one after an iteration, for all that is known?"""
    m, n = b.example(b.atom(before)), b.example(b.atom(after))
    if None not in (m, n) and m != n:  # in the call that is traced for
        return True
    own: dict[Var, int] = {}
    extents._gather(b, b.atom(before), 1, own)
    apart: dict[Var, int] = {}
    constant = extents._gather(b, b.atom(after), 1, apart)
    constant += extents._gather(b, b.atom(before), -1, apart)
    found = list(_differences(b, apart, constant, DEPTH))
    if any(not terms and not constant for terms, constant in found):
        return False
    return all(
        own.keys().isdisjoint(terms) or not all(map(outside, terms)) or _of_one_sign(terms, rest)
        for terms, rest in found
    )


def _of_one_sign(terms: dict[Var, int], constant: int) -> bool:
    """Of a difference of extents: is it none only where nothing has elements?"""
    signs = {c > 0 for c in (*terms.values(), constant) if c}
    return len(signs) == 1


def _differences(
    b: Builder, terms: dict[Var, int], constant: int, depth: int
) -> Iterator[tuple[dict[Var, int], int]]:
    """What a linear form may be, whichever way the numbers in it are clipped, but at zero."""
    terms = {v: c for v, c in terms.items() if c}
    for v, c in terms.items():
        source = b.sources.get(v)
        if depth and source is not None and source.op in ("maximum", "minimum"):
            for x in [x for x in source.ins if not _is_zero(x)]:
                rest = {w: k for w, k in terms.items() if w is not v}
                shift = extents._gather(b, x, c, rest)
                yield from _differences(b, rest, constant + shift, depth - 1)
            return
    yield terms, constant


def _is_zero(atom: Atom) -> bool:
    return isinstance(atom, Lit) and atom.value == 0


def _at_most(b: Builder, n: Atom, most: Int, depth: int = DEPTH) -> bool:
    """True where n <= most is known, most being an extent."""
    if extents.at_least(most, b.leaf(n)):
        return True
    source = b.sources.get(n) if isinstance(n, Var) else None
    if source is None or not depth:
        return False
    known = (_at_most(b, x, most, depth - 1) for x in source.ins)
    match source.op:
        case "maximum":
            return all(known)
        case "minimum":
            return any(known)
    return False


def kinds_of(f: Resized) -> list[tuple[Type, tuple[Atom, ...]]]:
    out: list[tuple[Type, tuple[Atom, ...]]] = [(INT, ()) for c in f.changing if c]
    return [*out, (f.type, f.hull)]


def build(b: Builder, f: Resized, atoms: Iterator[Atom]) -> ArrayHandle:
    """An array of this form."""
    f.begun = tuple(
        extents.largest(b.leaf(next(atoms)), 0) if c else b.leaf(h)
        for c, h in zip(f.changing, f.hull, strict=True)
    )
    whole = ArrayHandle(b.leaf(next(atoms)))
    return ArrayHandle(_corner(whole, f.begun).content)


def extract(b: Builder, f: Resized, s: Snapshot | None, out: list[Atom]) -> None:
    """The atoms of an array in this form."""
    from jitad.trace.ongoing import current

    trace = current()
    assert trace is not None
    zero = lit(np.dtype(f.type.dtype).type(0))
    hull = ArrayHandle(b.leaf(b.emit("full", zero, *f.hull, dtype=f.type.dtype)))
    if not isinstance(s, Arr):
        out += [lit(0) for c in f.changing if c] + [b.atom(hull.content)]
        return
    if isinstance(s.content, Lost):
        refuse_stale(s.value, s.content.why)
    array = ArrayHandle(s.content)
    text = None if f.room is None else trace.room_message(f.room)
    for grows, h, n in zip(f.growing, f.hull, array.shape, strict=True):
        if grows and text is not None and not extents.at_least(b.leaf(h), n):
            require(bind("ge", b.leaf(h), n), RoomMiss, text)
    _corner(hull, array.shape).assign(array)
    out += [b.atom(n) for c, n in zip(f.changing, array.shape, strict=True) if c]
    out.append(b.atom(hull.content))


def _corner(a: ArrayHandle, shape: tuple[Int, ...]) -> ArrayHandle:
    return a._window(tuple(Range(0, 1, n) for n in shape))
