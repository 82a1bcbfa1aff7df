"""Which form covers two forms of one variable, from two passes through a loop or a function?"""

from __future__ import annotations

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
from jitad.trace.snapshot import Num
from jitad.trace.unify import Mismatch, _scalar, join_types


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
