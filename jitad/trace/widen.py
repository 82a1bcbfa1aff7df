"""Which form covers two forms of one variable, from two passes through a loop or a function?"""

from __future__ import annotations

import functools
from dataclasses import replace

from jitad.trace.forms import (
    Form,
    Grown,
    Handle,
    Keep,
    Maybe,
    Number,
    OneOf,
    Record,
    Resized,
    Shown,
)
from jitad.trace.grown import cover, element, of_any_length
from jitad.trace.snapshot import Num, Per, Rec, stretch_of
from jitad.trace.unify import Mismatch, _scalar, join_types, same


def widen(was: Form, now: Form) -> Form:
    """The narrowest form that holds what both hold."""
    match was, now:
        case Keep(), _:
            return now
        case _, OneOf():
            return now
        case (Record() | Grown()), Grown():
            return now
        case Grown(), (Record() | Keep()):
            return was
        case Number(s, shape), Number(t):
            return Number(join_types(s, t), shape)
        case Number(s, shape), Keep(Num(x)):
            return Number(join_types(s, _scalar(x)), shape)
        case Record(), Record() if len(was.parts) == len(now.parts):
            return Record(now.of, tuple(map(widen, was.parts, now.parts)))
        case Maybe(p, name, none), Maybe(q, _, other) if none == other:
            return Maybe(widen(p, q), name, none)
        case Maybe(p, name, none), _ if not isinstance(now, Maybe):
            return Maybe(widen(p, now), name, none)
        case Number(), Maybe(q, name, none):
            return Maybe(widen(was, q), name, none)
        case Handle(), Handle():
            return Handle(was.type, was.shape if was.shape == now.shape else (), now.of)
        case Resized(), Handle():
            return replace(was, of=now.of)
        case Shown(), Shown():
            numbers = tuple(map(widen, was.numbers, now.numbers))
            return Shown(now.of, widen(was.parent, now.parent), numbers)
        case _, Shown():
            return now
        case _, Keep():
            return was
    raise Mismatch("a value of changing kind")


# -- of what functions give ---------------------------------------------------------------------


def without_extents(f: Form) -> Form:
    match f:
        case Handle(type=t, of=of):
            return Handle(t, (), of)
        case Record():
            f.parts = tuple(map(without_extents, f.parts))
    return f


def wider(was: Form, now: Form) -> Form:
    if (found := _as_list(was, now)) is not None:
        return found
    if isinstance(was, Keep) and isinstance(now, Keep):
        if isinstance(was.of, Per):  # no path has returned yet
            return now
        if not same(was.of, now.of):
            raise Mismatch("now one thing and now another")
        return was
    if isinstance(was, Keep) and isinstance(now, Number) and isinstance(was.of, Num):
        return widen(now, was)
    if isinstance(was, Keep) != isinstance(now, Keep) and (
        isinstance(was, Handle) or isinstance(now, Handle)
    ):
        return without_extents(now if isinstance(was, Keep) else was)
    if isinstance(was, Record) and isinstance(now, Record):
        if len(was.parts) != len(now.parts):
            raise Mismatch(f"{len(was.parts)} or {len(now.parts)} values")
        return Record(now.of, tuple(map(wider, was.parts, now.parts)))
    return widen(was, now)


def _as_list(was: Form, now: Form) -> Form | None:
    """Of lists of different lengths: one of any length.  None of anything else."""
    known: set[int | None] = set()
    elements: list[Form] = []
    for f in (was, now):
        s = getattr(f, "of", None)
        if isinstance(f, (Handle, Number)) or not isinstance(s, Rec) or type(s.value) not in _LISTS:
            return None
        if isinstance(f, Grown):
            known.add(None)
            elements.append(f.element)
        elif (stretch := stretch_of(s)) is not None:
            known.add(None)
            elements.append(stretch.element)
        else:
            known.add(len(s.keys))
            elements += map(element, s.parts)
    first, second = was.of, now.of  # type: ignore[union-attr]
    alike = type(first.value) is type(second.value)  # type: ignore[union-attr]
    if not alike or (len(known) == 1 and None not in known):
        return None
    if isinstance(was, Keep) and isinstance(now, Keep) and same(was.of, now.of):
        return None
    sides = (*getattr(was, "sides", ()), first.value, second.value)  # type: ignore[union-attr]
    sides = tuple({id(x): x for x in sides}.values())
    return of_any_length(second, functools.reduce(cover, elements), sides)  # type: ignore[arg-type]


_LISTS = (list, tuple)
