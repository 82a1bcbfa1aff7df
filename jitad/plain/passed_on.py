"""Which of the things that are iterated over does a function of Python's pass on?

Traced like a user's code (`generators.written`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def each_kept(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        if v if f is None else f(v):
            yield v


def each_not_kept(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        if not (v if f is None else f(v)):
            yield v


def each_after(f: Any, values: Any) -> Iterator[Any]:
    waiting = True
    for v in values:
        waiting = waiting and f(v)
        if not waiting:
            yield v


def each_while(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        if not f(v):
            break
        yield v


def each_flagged(values: Any, flags: Any) -> Iterator[Any]:
    for v, flag in zip(values, flags, strict=False):
        if flag:
            yield v


def each_applied(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        yield f(*v)


def each_between(values: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    k = start
    while k < len(values) if stop is None else k < stop and k < len(values):
        yield values[k]
        k += step


def each_pair(values: Any) -> Iterator[Any]:
    if len(values) > 1:
        before = values[0]
        k = 1
        while k < len(values):
            v = values[k]
            yield before, v
            before = v
            k += 1
