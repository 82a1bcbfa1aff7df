"""What does a loop go over whose elements are in a list because only the kernel knows them?

Of what is no list, a dict, set or deque, none may come or go meanwhile, as Python says, too.
"""

from __future__ import annotations

from collections import deque
from types import GeneratorType
from typing import Any

from jitad.trace.calls import call
from jitad.trace.containers.iterables import Counted, by_number, listed, sequence
from jitad.trace.containers.partial import View
from jitad.values import extents
from jitad.values.kind import require
from jitad.values.number import bind


def unchanging(given: Any, iterable: Any) -> Any:
    """The iterable, for what the user has `given`, or what sees to that."""
    if isinstance(given, (list, tuple, GeneratorType)) or iterable is given:
        return iterable
    owner = given.owner if type(given) is View else given
    if type(iterable) not in (list, Counted) or not isinstance(owner, (dict, set, deque)):
        return iterable
    s = sequence(iterable) or listed(iterable)
    s.begin()
    s.changes = lambda: None
    n, what = call(len, owner), _ERRORS[_kind(owner)]

    def check(early: Any) -> None:
        now = call(len, owner)
        if early is not True and not extents.same(now, n):
            same = bind("eq", now, n)
            same = bind("logical_or", same, early) if early is not False else same
            require(same, RuntimeError, what)

    def item(k: Any) -> Any:
        check(False)
        return s.item(k)

    out = by_number(s.count, item)
    out.ended = check
    return out


def _kind(owner: Any) -> type:
    return next(kind for kind in _ERRORS if isinstance(owner, kind))


_ERRORS: dict[type, str] = {
    dict: "dictionary changed size during iteration", set: "Set changed size during iteration",
    deque: "deque mutated during iteration",
}  # fmt: skip
