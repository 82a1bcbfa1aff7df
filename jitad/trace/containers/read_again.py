"""What has changed of an element since it was read, and how do other copies of it follow?

A write to an element of a list whose length only the kernel knows changes some of its numbers:
these alone go back into the rows (`unchanged`).  Other names may hold what is perhaps the same
element; of each, whose place in the list is known, these numbers are read again (`renewals`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitad.closures import is_function
from jitad.tape.build import Leaf
from jitad.trace.containers.grown import variables
from jitad.trace.containers.writing import kind_of, note
from jitad.trace.containers.writtenback import is_mutable
from jitad.trace.joins.forms import Form, Grown, Handle, Number, Record
from jitad.trace.joins.join import signature
from jitad.trace.joins.snapshot import _part, stretch_of
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Snapshot
from jitad.trace.joins.unify import same
from jitad.trace.noting import note_attr
from jitad.values.array import ArrayHandle


def unchanged(f: Form, now: Snapshot, last: Snapshot | None) -> Iterator[bool]:
    """Of each variable of an element: is it what it was?"""
    if isinstance(f, Record):
        if isinstance(now, Rec) and isinstance(last, Rec) and now.keys == last.keys:
            if len(now.parts) == len(f.parts):
                for part, s, t in zip(f.parts, now.parts, last.parts, strict=True):
                    yield from unchanged(part, s, t)
                return
        last = None
    if isinstance(f, Grown) and _are_alike(f, now, last):
        yield from map(_same, now.parts[0].parts, last.parts[0].parts)  # type: ignore[union-attr]
        return
    as_before = last is not None and _same(now, last)
    yield from (as_before for _ in variables(f))


def _are_alike(f: Grown, *lists: Snapshot | None) -> bool:
    """Are these lists, of which the rows hold what they do, a count and numbers or arrays?"""
    stretches = [stretch_of(s) for s in lists]
    form = signature(f.element, {})
    return all(s is not None and signature(s.element, {}) == form for s in stretches)


def _same(s: Snapshot, t: Snapshot) -> bool:
    match s, t:
        case Arr(h, x), Arr(k, y):
            return h is k and _one(x, y)
        case Rec(), Rec():
            alike = type(s.value) is type(t.value) and s.keys == t.keys
            return alike and all(map(_same, s.parts, t.parts))
        case Per(a, p), Per(b, q):
            return _one(a, b) and p is not None and q is not None and _same(p, q)
    return same(s, t)


def _one(x: Any, y: Any) -> bool:
    return x is y or (isinstance(x, Leaf) and isinstance(y, Leaf) and x.atom is y.atom)


Renewal = tuple[Any, Any, Any]  # a container, the key of a part, what the part becomes


class Other(Exception):
    """The element can't become what it would be now, and stay the thing that it is."""


def renewals(f: Form, old: Snapshot, new: Snapshot, flags: Iterator[bool]) -> list[Renewal]:
    """The writes that make of an element what was read of its place just now."""
    out: list[Renewal] = []

    def is_another(f: Form, old: Snapshot, new: Snapshot) -> bool:
        """Is it another value now, which whoever holds it must be given?"""
        if not isinstance(f, Record):
            of_each = [next(flags) for _ in variables(f)]
            changed = not all(of_each)
            if changed and isinstance(f, Grown):
                out.extend(_other_rows(f, old, new, of_each))
                return False
            if changed and not isinstance(f, (Number, Handle)):
                raise Other
            return changed
        if not (isinstance(old, Rec) and isinstance(new, Rec) and old.keys == new.keys):
            raise Other
        parts = zip(old.keys, f.parts, old.parts, new.parts, strict=True)
        changed_at = [key for key, p, s, t in parts if is_another(p, s, t)]
        if isinstance(old.value, tuple):
            if changed_at and not all(isinstance(p, (Num, Obj, Arr)) for p in old.parts):
                raise Other  # there may be things in it which stay themselves
            return bool(changed_at)
        if changed_at and not _is_plain(old.value):
            raise Other
        out.extend((old.value, key, _part(new.value, key)) for key in changed_at)
        return False

    if is_another(f, old, new):
        raise Other  # a tuple, which the user holds
    return out


def _other_rows(f: Grown, old: Snapshot, new: Snapshot, flags: list[bool]) -> Iterator[Renewal]:
    """Of a list in the element, the rows that have changed, or all if it is longer or shorter."""
    if not isinstance(old, Rec) or type(old.value) is not list or is_mutable(f.element):
        raise Other
    was, now = stretch_of(old), stretch_of(new)
    if was is None or now is None or not _are_alike(f, old, new):
        raise Other
    if not flags[0]:
        yield old.value, 0, now
        return
    for unchanged, before, after in zip(flags[1:], was.stores, now.stores, strict=True):
        if not unchanged:
            yield before, "content", after.content


def _is_plain(owner: Any) -> bool:
    """Are its parts found, and written, by their keys alone?"""
    if type(owner) in (list, dict):
        return True
    others = is_function(owner) or isinstance(owner, BaseException)
    return kind_of(owner) is None and not others


def renew(renewal: Renewal) -> None:
    owner, key, value = renewal
    if isinstance(owner, ArrayHandle):
        owner.content = value
        return
    if isinstance(owner, (list, dict)):
        note(owner)
        owner[key] = value
        return
    note_attr(owner, key)
    own: Any = getattr(owner, "__dict__", ())
    if key in own:
        own[key] = value
    else:
        object.__setattr__(owner, key, value)
