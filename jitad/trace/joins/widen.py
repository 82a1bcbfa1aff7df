"""Which form covers two forms of one variable, from two passes through a loop or a function?"""

from __future__ import annotations

import functools
from dataclasses import replace

from jitad.errors import JitadError
from jitad.tape.types import Array, Scalar
from jitad.trace.containers.grown import cover, element, of_any_length
from jitad.trace.containers.listed import LISTED, of_both
from jitad.trace.joins.forms import (
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
    contains_itself,
)
from jitad.trace.joins.mismatch import Mismatch, scalar
from jitad.trace.joins.snapshot import stretch_of
from jitad.trace.joins.state import Num, Per, Rec
from jitad.trace.joins.unify import join_types, number_or_array, same


def widen(was: Form, now: Form) -> Form:
    """The narrowest form that holds what both hold."""
    match was, now:
        case Keep(), _:
            return now
        case Maybe(p, name, none), Maybe(q, _, other) if none == other:
            return Maybe(widen(p, q), name, none)
        case Maybe(p, name, none), _ if not isinstance(now, Maybe):
            return Maybe(widen(p, now), name, none)
        case _, OneOf():
            return now
        case (Record() | Grown()), Grown():
            return now
        case Grown(), (Record() | Keep()):
            return was
        case Number(s, shape), Number(t):
            return Number(join_types(s, t), shape)
        case Number(s, shape), Keep(Num(x)):
            return Number(join_types(s, scalar(x)), shape)
        case Record(Rec(dict())), Record(Rec(dict())) if was.of.keys != now.of.keys:
            known = dict(zip(was.of.keys, was.parts, strict=True))
            pairs = zip(now.of.keys, now.parts, strict=True)
            parts = tuple(widen(known[k], p) if k in known else p for k, p in pairs)
            return Record(now.of, parts, now.sides)
        case Record(), Record() if was.of.keys != now.of.keys and now.of.keys in LISTED:
            if was.of.keys not in LISTED:  # a deque that was of a known length
                return now
            of = was.of if of_both(was.of.keys, now.of.keys) == was.of.keys else now.of
            return Record(of, tuple(map(widen, was.parts, now.parts)), now.sides)
        case Record(), Record() if was.of.keys in LISTED and now.of.keys not in LISTED:
            return was
        case Record(), Record() if len(was.parts) == len(now.parts):
            return Record(now.of, tuple(map(widen, was.parts, now.parts)), now.sides)
        case (Number() | OneOf()), Maybe(q, name, none):
            return Maybe(widen(was, q), name, none)
        case Handle(), Handle():
            if was.or_number or now.or_number:
                return number_or_array(now, Scalar(was.type.dtype))
            shape = was.shape if was.shape == now.shape else ()
            return replace(now, type=_wider_array(was.type, now.type), shape=shape)
        case (Number(Scalar() as t), Handle(or_number=True) as h) | (
            Handle(or_number=True) as h, (Number(Scalar() as t))
        ):
            return number_or_array(h, t)
        case Handle(or_number=True), Keep(Num(x)):
            return number_or_array(was, scalar(x))
        case Resized(), Handle():
            return replace(was, of=now.of, type=_wider_array(was.type, now.type))
        case Shown(), Shown():
            numbers = tuple(map(widen, was.numbers, now.numbers))
            return Shown(now.of, widen(was.parent, now.parent), numbers)
        case _, Shown():
            return now
        case _, Keep():
            return was
    raise Mismatch("a value of changing kind")


def _wider_array(was: Array, now: Array) -> Array:
    """What is made in a loop may be of a wider type in a later pass: of what got wider itself."""
    return Array(join_types(Scalar(was.dtype), Scalar(now.dtype)).dtype, was.ndim)


# -- of what functions give ---------------------------------------------------------------------


def without_extents(f: Form) -> Form:
    match f:
        case Handle():
            return replace(f, shape=())
        case Record():
            if contains_itself(f):
                raise JitadError("a thing that may be a part of itself is returned on some paths")
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
        return Record(now.of, tuple(map(wider, was.parts, now.parts)), now.sides)
    return widen(was, now)


def _as_list(was: Form, now: Form) -> Form | None:
    """Of lists of different lengths: one of any length.  None of anything else."""
    if not isinstance(was, _COMPOSED) or not isinstance(now, _COMPOSED):
        return None
    a, b = was.of, now.of
    if not isinstance(a, Rec) or not isinstance(b, Rec) or type(a.value) is not type(b.value):
        return None
    if type(a.value) not in _LISTS or (a.value is b.value and isinstance(now, Keep)):
        return None
    grown = [isinstance(f, Grown) or stretch_of(s) is not None for f, s in ((was, a), (now, b))]
    if len(a.keys) == len(b.keys) and not any(grown):
        return None
    sides = {id(x): x for x in (*getattr(was, "sides", ()), a.value, b.value)}
    covering = functools.reduce(cover, (*_elements(was), *_elements(now)))
    return of_any_length(b, covering, tuple(sides.values()))


def _elements(f: Keep | Record | Grown) -> list[Form]:
    if isinstance(f, Grown):
        return [f.element]
    assert isinstance(f.of, Rec)
    stretch = stretch_of(f.of)
    return list(map(element, f.of.parts)) if stretch is None else [stretch.element]


_COMPOSED = (Keep, Record, Grown)
_LISTS = (list, tuple)
